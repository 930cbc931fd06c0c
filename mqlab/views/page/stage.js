// What stays until something happens: depths, counts, who is up.
const loadStage = (p) => {
  p.shown = -1;
  p.scale = 1;
  p.changes = Float64Array.from([...p.data("depths").t, ...p.data("received").t, ...p.data("states").t]).sort();
  p.brokerOf = new Map(p.data("brokers").node.map((node, i) => [node, i]));
  p.clientOf = new Map(p.data("clients").node.map((node, i) => [node, i]));
  p.data("words").text[0] = p.data("meta").title[0] ?? "";
  p.source("words").change.emit();
};

// The last value that each node has at time t.
const valuesAt = (table, t) => {
  const found = new Map();
  for (let i = 0, n = after(table.t, t); i < n; i++) found.set(table.node[i], table.value[i]);
  return found;
};

const drawStanding = (p, t) => {
  const brokers = p.data("brokers"), clients = p.data("clients"), links = p.data("links");
  const depths = valuesAt(p.data("depths"), t), got = valuesAt(p.data("received"), t);
  brokers.up.fill(1); clients.up.fill(0.25); links.up.fill(0.15);
  const s = p.data("states");
  for (let i = 0, n = after(s.t, t); i < n; i++) {
    if (s.what[i] === "broker") brokers.up[p.brokerOf.get(s.number[i])] = s.up[i] || 0.25;
    else if (s.what[i] === "link") links.up[s.number[i]] = s.up[i] || 0.15;
    else clients.up[p.clientOf.get(s.number[i])] = 1;
  }
  for (const [node, i] of p.brokerOf) {
    brokers.font[i] = `${Math.max(6, Math.round(brokers.letters[i] * p.scale))}px`;
    const depth = depths.get(node) ?? 0;
    brokers.depth[i] = depth;
    brokers.gauge[i] = depth ? String(depth) : "";
    brokers.shown[i] = depth ? 1 : 0;
  }
  for (const [node, i] of p.clientOf) {
    const counts = clients.role[i] === "consumer";
    clients.text[i] = counts ? `${clients.name[i]}: ${got.get(node) ?? 0}` : clients.name[i];
  }
  for (const name of ["brokers", "clients", "links"]) p.source(name).change.emit();
};

// Letters inside the circles shrink with the picture; all other words keep their size.
const pixelsPerUnit = (p) => {
  const stage = p.source("stage");
  return (viewOf(stage)?.frame?.bbox?.width ?? stage.x_range.end) / stage.x_range.end;
};

const drawStage = () => {
  for (const p of player.panels) {
    const changed = after(p.changes, player.t), scale = pixelsPerUnit(p);
    if (scale !== p.scale) { p.scale = scale; p.shown = -1; }
    if (changed !== p.shown) { drawStanding(p, player.t); p.shown = changed; }
  }
};

player.on("load", () => player.panels.forEach(loadStage));
player.on("time", drawStage);
player.on("size", drawStage);
player.on("theme", () => {
  for (const p of player.panels) {
    for (const name of ["client names", "legend words", "title words"]) p.glyph(name).text_color = player.colour("ink");
    const line = player.colour("line2"), paper = player.colour("bg");
    p.glyph("edges").line_color = p.glyph("heads").fill_color = p.glyph("tethers").line_color = line;
    p.glyph("circles").line_color = p.glyph("marks").line_color = p.glyph("discs").fill_color = paper;
  }
});
