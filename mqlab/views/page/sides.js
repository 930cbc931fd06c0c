// A partition: where the lines of a run are cut such that some brokers are apart from the others, that side is hatched
// and named, and a zigzag stands between them.
/** @param {Panel} p @param {RunState} s */
const joinedTo = (p, s, start) => {
  const links = p.data("links"),
    found = new Set([start]),
    todo = [start];
  while (todo.length) {
    const node = todo.pop();
    for (let i = 0; i < links.name.length; i++) {
      const other = links.a[i] === node ? links.b[i] : links.b[i] === node ? links.a[i] : -1;
      if (other < 0 || found.has(other) || isCut(s, node, other)) continue;
      found.add(other);
      todo.push(other);
    }
  }
  return found;
};

// What stands on a side, as [x, y, w, h]: its brokers, and the clients that are connected to one of them.
/** @param {Panel} p @param {RunState} s */
const cardsOf = (p, s, side) => {
  const b = p.data("brokers"),
    c = p.data("clients"),
    boxes = [];
  b.node.forEach((node, i) => {
    if (side.has(node)) boxes.push([b.x[i], b.y[i], b.w[i], b.h[i]]);
  });
  c.node.forEach((node, i) => {
    if (side.has(s.clients.get(node)?.at)) boxes.push([c.x[i], c.y[i], c.w[i], c.h[i]]);
  });
  return boxes;
};
const around = (boxes) => {
  const far = (f) => Math.max(...boxes.map(f));
  return {
    left: -far(([x, , w]) => w / 2 - x),
    right: far(([x, , w]) => x + w / 2),
    top: -far(([, y, , h]) => h / 2 - y),
    bottom: far(([, y, , h]) => y + h / 2)
  };
};

// From corner to corner in teeth, each line as a path of its own.
const TOOTH = 8;
/** @param {Ink} ink */
const zigzag = (ink, corners) => {
  for (let k = 1; k < corners.length; k++) {
    const [[ax, ay], [bx, by]] = [corners[k - 1], corners[k]],
      long = Math.hypot(bx - ax, by - ay),
      teeth = Math.max(2, Math.round(long / TOOTH / 2) * 2);
    const [nx, ny] = [(ay - by) / long, (bx - ax) / long],
      xs = [],
      ys = [];
    for (let i = 0; i <= teeth; i++) {
      const off = i === 0 || i === teeth ? 0 : i % 2 ? 4 : -4,
        u = i / teeth;
      xs.push(ax + u * (bx - ax) + nx * off);
      ys.push(ay + u * (by - ay) + ny * off);
    }
    ink.path(xs, ys, "fault", 2.2);
  }
};

// Between the sides from rim to rim where one is left of, or above, the other; else all around the one that is cut off.
/** @param {Panel} p @param {Ink} ink @param {RunState} s */
const drawSides = (p, ink, s) => {
  if (!s.cuts.size || p.groupOf.size) return; // of groups the lines tell it
  const nodes = p.data("brokers").node.filter((node) => s.brokers.has(node)),
    { x_range: xr, y_range: yr } = p.source("stage");
  const side = nodes.map((node) => joinedTo(p, s, node)).reduce((a, b) => (b.size < a.size ? b : a), new Set(nodes));
  if (side.size > nodes.length / 2) return;
  const other = new Set(nodes.filter((node) => !side.has(node))),
    others = cardsOf(p, s, other),
    a = around(cardsOf(p, s, side)),
    b = around(others);
  const shade = (x0, y0, x1, y1) =>
    ink.box("frames", (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, {
      fill: null,
      edge: null,
      hatch: "/",
      hatched: "fault"
    });
  const names = worded(
    "cut_off",
    nodes
      .filter((node) => side.has(node))
      .map((node) => cardName(p, node))
      .join(", ")
  );
  const flat = Math.max(b.left - a.right, a.left - b.right),
    deep = Math.max(b.top - a.bottom, a.top - b.bottom),
    look = { bold: true, token: "fault" };
  if (flat >= 8) {
    const first = a.right < b.left,
      [top, bottom] = [yr.end, yr.start],
      x = first ? (a.right + b.left) / 2 : (b.right + a.left) / 2;
    shade(first ? xr.start : x, top, first ? x : xr.end, bottom);
    zigzag(ink, [
      [x, top + 2],
      [x, bottom - 2]
    ]);
    ink.say(x + (first ? -12 : 12), top + 12, names, 11.5, {
      ...look,
      align: first ? "right" : "left",
      room: (first ? x - xr.start : xr.end - x) - 16
    });
  } else if (deep >= 8) {
    const first = a.bottom < b.top,
      y = first ? (a.bottom + b.top) / 2 : (b.bottom + a.top) / 2;
    shade(xr.start, first ? yr.end : y, xr.end, first ? y : yr.start);
    zigzag(ink, [
      [xr.start + 2, y],
      [xr.end - 2, y]
    ]);
    ink.say(xr.start + 12, y + (first ? -16 : 16), names, 11.5, { ...look, room: (xr.end - xr.start) / 2 });
  } else {
    const near = (more) =>
      others.some(
        ([x, y, ow, oh]) =>
          x - ow / 2 < a.right + more &&
          x + ow / 2 > a.left - more &&
          y - oh / 2 < a.bottom + more &&
          y + oh / 2 > a.top - more
      );
    const more = [16, 11, 7].find((one) => !near(one));
    if (more == null) return; // they stand among each other: the scissors on the lines have to do
    const [x0, y0, x1, y1] = [a.left - more, a.top - more, a.right + more, a.bottom + more];
    shade(x0, y0, x1, y1);
    zigzag(ink, [
      [x0, y0],
      [x1, y0],
      [x1, y1],
      [x0, y1],
      [x0, y0]
    ]);
    ink.say(Math.max(xr.start + 6, x0), y0 - 11, names, 11.5, { ...look, room: xr.end - x0 });
  }
};
