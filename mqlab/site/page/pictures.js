// Pictures: each is shown by host.js, as a kernel's widget is in a notebook; the engine is its kernel.
const pictures = [];
globalThis.__mqlabBokeh = Promise.resolve(); // host.js need not fetch it: it stands in the page

// A document of its own for each picture: Bokeh knows its models by their ids.
const itemOf = ({ stages, columns, title = "" }, number) => {
  const fill = {
    '["mqlab:columns"]': columns ? JSON.stringify([columns]) : "[]",
    "mqlab:title": JSON.stringify(title).slice(1, -1),
    '"mqlab:script"': JSON.stringify(mqlabStages.player)
  };
  let text = mqlabStages.items[stages - 1].replace(/"p(\d+)"/g, `"m${number}-$1"`);
  for (const [open, value] of Object.entries(fill)) text = text.replaceAll(open, () => value);
  return text;
};

// One picture as a page of its own: BokehJS, the document that all pictures share, and the columns that are shown now.
globalThis.mqlabPage = async (doc) => {
  const read = (url) => fetch(url).then((answer) => answer.text());
  const bokeh = await read(document.querySelector("script[src$='assets/bokeh.js']").src).catch(() => {
    throw new Error(words.one_file);
  });
  const sources = [...doc._all_models.values()].filter(
    ({ type, name }) => type === "ColumnDataSource" && name && !name.startsWith("draw ")
  );
  const tables = Object.fromEntries(sources.map(({ name, data }) => [name, data])),
    title = tables.meta.title[0] ?? "";
  const inScript = (text) => text.replace(/<\/(?=script)|<!--/gi, (found) => (found === "</" ? "<\\/" : "<\\!--"));
  const told = (value) =>
    inScript(JSON.stringify(JSON.stringify(value, (_, one) => (Number.isNaN(one) ? { nan: 1 } : one))));
  const item = itemOf({ stages: doc.get_model_by_name("stage 2") ? 2 : 1, title }, 0);
  const named = make("title", {}, title).outerHTML;
  return (
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">${named}</head><body style="margin:0"><div id="place"></div>` +
    `<script>${inScript(bokeh)}</script><script>(async () => {
const item = JSON.parse(${told(JSON.parse(item))}), tables = JSON.parse(${told(tables)}, (_, one) => (one?.nan === 1 ? NaN : one));
await Bokeh.embed.embed_item(item, "place");
const [shown] = Bokeh.documents, names = Object.keys(tables).sort((a, b) => a.startsWith("meta") - b.startsWith("meta"));
for (const name of names) shown.get_model_by_name(name).data = tables[name];
})();</script></body></html>`
  );
};

let items = 0;
// What a front end's model is to a widget: properties with a voice, and a line to whom answers.
const makeModel = (picture, shown) => {
  const heard = new Map();
  const has = {
    version: Bokeh.version,
    served: false,
    item: itemOf(shown, ++items),
    columns: "",
    props: {},
    watch: [],
    seen: {},
    answers: false,
    words
  };
  const emit = (name, ...values) => {
    for (const f of heard.get(name) ?? []) f(...values);
  };
  return {
    get: (name) => has[name],
    set: (name, value) => {
      has[name] = value;
      emit(`change:${name}`);
    },
    on: (name, f) => heard.set(name, [...(heard.get(name) ?? []), f]),
    off: (name, f) =>
      heard.set(
        name,
        (heard.get(name) ?? []).filter((one) => one !== f)
      ),
    save_changes: () => {},
    send: async ({ id, what, data }) => {
      const told = { kind: "answer", id };
      try {
        told.value = await picture.ask(what, data);
      } catch (error) {
        told.error = error.message;
      }
      emit("msg:custom", told);
    },
    show(news) {
      const text = JSON.stringify(news.columns);
      if (news.stages === picture.stages) {
        this.set("columns", text);
        return;
      }
      picture.stages = has.stages = news.stages;
      has.columns = text;
      this.set("item", itemOf({ stages: news.stages, title: shown.title }, ++items));
    }
  };
};

// A picture in its place; `shown` holds its columns, packed or not, and the run that it is of.
const makePicture = (element, shown) => {
  const place = document.createElement("div");
  place.className = "place";
  element.hidden = false;
  element.replaceChildren(place);
  const picture = {
    element,
    place,
    stages: shown.stages,
    id: shown.view ?? `shown-${pictures.length}`,
    opened: shown.view ? engine.generation : 0
  };
  picture.ask = async (kind, data) => {
    const generation = engine.generation;
    if (picture.opened !== generation) {
      const { digest } = await engine.ask("open", { view: picture.id, run: shown.run, name: shown.name });
      Object.assign(picture, { opened: generation });
      place.dataset.digest = digest;
    }
    const { value, news, digest } = await engine.ask("ask", { view: picture.id, kind, data });
    if (news) picture.model.show(news);
    place.dataset.digest = digest;
    return value;
  };
  picture.wake = () => {
    if (shown.run && picture.model && engine.state === "ready") picture.model.set("answers", true);
  };
  picture.draw = async () => {
    if (picture.model) return;
    const packed = typeof shown.columns === "string";
    picture.model = makeModel(picture, packed ? shown : { ...shown, columns: "" });
    if (!packed) picture.model.set("columns", JSON.stringify(shown.columns));
    await mqlabHost.render({ model: picture.model, el: place });
    place.classList.add("drawn");
    if (shown.digest) place.dataset.digest ??= shown.digest;
    picture.wake();
  };
  if (shown.choices) element.prepend(makeChoices(picture, shown.choices));
  pictures.push(picture);
  inSight.observe(place);
  return picture;
};

const inSight = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      inSight.unobserve(target);
      pictures.find((one) => one.place === target)?.draw();
    }
  },
  { rootMargin: "500px" }
);
document.addEventListener("mqlab-engine", () => {
  for (const picture of pictures) picture.wake();
});

// Of the workbench: another figure, or a network of a shape and a size.
const makeChoices = (picture, choices) => {
  const bar = make("div", { class: "choose" });
  const select = (label, options, value) => {
    const found = make(
      "select",
      {},
      ...options.map(([id, text]) => make("option", { value: id, selected: id === value }, text))
    );
    bar.append(make("label", {}, label, found));
    return found;
  };
  const shape = select(
    words.choose_topology,
    [["", words.figure], ...choices.topologies.map((name) => [name, name])],
    ""
  );
  const figure = select(
    words.choose_figure,
    choices.figures.map(([id, title]) => [id, `${id}  ${title}`]),
    choices.figure
  );
  const size = make("input", { type: "number", min: 2, max: 60, value: choices.size });
  bar.append(make("label", {}, words.choose_size, size));
  const trouble = make("p", { class: "note", role: "status", hidden: true });
  const choose = async () => {
    figure.parentElement.hidden = Boolean(shape.value);
    size.parentElement.hidden = !shape.value;
    trouble.hidden = true;
    try {
      await picture.ask(
        "begin",
        shape.value ? { topology: shape.value, size: Number(size.value) } : { figure: figure.value }
      );
    } catch (error) {
      trouble.textContent = error.message;
      trouble.hidden = false;
    }
  };
  for (const one of [shape, figure, size]) one.addEventListener("change", choose);
  size.parentElement.hidden = true;
  const wake = () => {
    for (const one of [shape, figure, size]) one.disabled = engine.state !== "ready";
  };
  document.addEventListener("mqlab-engine", wake);
  wake();
  bar.append(trouble);
  return bar;
};
