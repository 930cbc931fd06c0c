// Shows a Bokeh document in any Jupyter front end, and gives it new columns without a new document.
// BokehJS comes from the Jupyter server itself; failing that from the kernel, so that it works offline.
const NAMES = ["bokeh", "bokeh-widgets"];

// A text of words.toml, which the widget brings.
const said = (model, key) => model.get("words")?.[key] ?? key;

const fromServer = async (model, version) => {
  const element = document.getElementById("jupyter-config-data");
  const config = element ? JSON.parse(element.textContent) : {};
  const base = config.fullLabextensionsUrl ?? `${config.baseUrl ?? "/"}lab/extensions`;
  const texts = await Promise.all(
    NAMES.map(async (name) => {
      const answer = await fetch(`${base}/mqlab-bokehjs/static/${name}.min.js?v=${version}`);
      if (!answer.ok) throw new Error(`${said(model, "bokeh_not_served")}: ${answer.status}`);
      return answer.text();
    })
  );
  return texts;
};

// What the kernel sends of a kind ("bokehjs", "template") when it is asked: late, if it is busy with a cell.
const fromKernel = (model, kind, more = {}) =>
  new Promise((done, fail) => {
    const leave = () => {
      model.off("msg:custom", listen);
      model.off("comm_live_update", restarted);
    };
    const listen = (message) => {
      if (message?.kind !== kind) return;
      leave();
      done(message);
    };
    const restarted = () => {
      leave();
      fail(new Error(said(model, "kernel_gone")));
    };
    model.on("msg:custom", listen);
    model.on("comm_live_update", restarted);
    model.send({ kind: `${kind}?`, ...more });
  });
const bokehFromKernel = async (model) => (await fromKernel(model, "bokehjs")).texts;

// A plot of Bokeh 3.9 listens to the window's zoom and never stops: each one that was ever shown would stay.
const letGo = () => {
  const plot = Bokeh.Models.get("Plot").prototype.default_view.prototype;
  if (Object.hasOwn(plot, "mqlab")) return;
  const { connect_signals, remove } = plot;
  plot.mqlab = new WeakMap();
  plot.connect_signals = function () {
    const heard = /** @type {[string, EventListener][]} */ ([]);
    visualViewport.addEventListener = (name, f) => heard.push([name, f]);
    try {
      connect_signals.call(this);
    } finally {
      delete visualViewport.addEventListener;
    }
    for (const about of heard) visualViewport.addEventListener(...about);
    plot.mqlab.set(this, heard);
  };
  plot.remove = function () {
    for (const about of /** @type {[string, EventListener][]} */ (plot.mqlab.get(this) ?? []))
      visualViewport.removeEventListener(...about);
    remove.call(this);
  };
};

const load = (model) =>
  (window.__mqlabBokeh ??= (async () => {
    await bokeh(model);
    letGo();
  })().catch((error) => {
    delete window.__mqlabBokeh; // the next picture asks again
    throw error;
  }));

const bokeh = async (model) => {
  const version = model.get("version");
  if (window.Bokeh?.version === version && window.Bokeh.Models?.has?.("Div")) return;
  const served = model.get("served");
  const texts = served
    ? await fromServer(model, version).catch(() => bokehFromKernel(model))
    : await bokehFromKernel(model);
  for (const text of texts) {
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
  }
};

const setColumns = (doc, text) => {
  if (!text) return;
  const tables = JSON.parse(text);
  for (const name of Object.keys(tables)
    .filter((n) => !n.startsWith("meta"))
    .concat(Object.keys(tables).filter((n) => n.startsWith("meta")))) {
    // last: its change begins the new scene
    const source = doc.get_model_by_name(name);
    if (source) source.data = tables[name];
  }
};

// Asks the kernel; what it says to a question comes back under the question's number.
const makeAsk = (model, on) => {
  const open = new Map();
  on("msg:custom", (message) => {
    if (message?.kind !== "answer" || !open.has(message.id)) return;
    const { done, fail } = open.get(message.id);
    open.delete(message.id);
    if (message.error == null) done(message.value);
    else fail(new Error(message.error));
  });
  const ask = (what, data) =>
    new Promise((done, fail) => {
      const id = Math.random().toString(36).slice(2);
      open.set(id, { done, fail });
      try {
        model.send({ kind: "ask", id, what, data });
      } catch {
        open.delete(id);
        fail(new Error(said(model, "kernel_gone")));
      }
    });
  return {
    ask,
    end: () => {
      for (const { fail } of open.values()) fail(new Error(said(model, "kernel_gone")));
      open.clear();
    }
  };
};

// What is the same in every picture is a model of its own, which the kernel sends before the first of them: it
// need not be asked, as it may be busy. A page that was loaded again may not know the model.
const templateOf = async (model, panels) => {
  try {
    return (await model.widget_manager.get_model(model.get("template"))).get("text");
  } catch {
    return (await fromKernel(model, "template", { panels })).text;
  }
};

// Each picture has its own names for the models of a template (player.filled).
const fromTemplate = async (model, { template, panels, prefix, title, columns }) => {
  window.__mqlabTemplates ??= {};
  window.__mqlabTemplates[template] ??= await templateOf(model, panels);
  const text = window.__mqlabTemplates[template],
    inside = (value) => JSON.stringify(value).slice(1, -1);
  return text
    .replace(/(?<!\\)"(p\d+)"/g, `"${prefix}-$1"`)
    .replaceAll("mqlab:columns", () => inside(columns))
    .replaceAll("mqlab:title", () => inside(title));
};

// One document in its place; `clear` takes both away.
const embed = async (model, host) => {
  const given = JSON.parse(model.get("item")),
    item = given.template ? JSON.parse(await fromTemplate(model, given)) : given,
    place = document.createElement("div");
  place.id = item.target_id = `mq${Math.random().toString(36).slice(2)}`;
  host.append(place);
  while (!place.isConnected) await new Promise((go) => requestAnimationFrame(go));
  await Bokeh.embed.embed_item(item, place);
  // By its root, not by its age: the views of one widget come up at the same time.
  const doc = Bokeh.documents.findLast((d) => d.roots().some((root) => root.id === item.root_id));
  // Bokeh's place for notes about a server, one a document, which nobody takes away.
  const notes = doc.config?.notifications,
    seen = notes && doc.views_manager?.get(notes);
  if (seen) {
    seen.remove();
    seen.el?.remove();
    doc.views_manager.delete(seen);
  }
  const clear = () => {
    doc.mqlab?.player?.emit("end");
    doc.clear();
    const number = Bokeh.documents.indexOf(doc);
    if (number >= 0) Bokeh.documents.splice(number, 1);
    place.remove();
  };
  doc.mqlab ??= {};
  return { doc, clear, shared: doc.mqlab };
};

// The choosers beside a picture are plain widgets, which no longer reach the kernel either: they say so and rest.
const stopChoosers = (model, host) => {
  const box = host.closest(".mqlab-workbench");
  if (!box || box.querySelector("[data-mqlab=stopped]")) return;
  for (const part of box.children)
    if (!part.contains(host)) {
      part.inert = true;
      part.style.opacity = "0.5";
    }
  const note = document.createElement("p");
  note.dataset.mqlab = "stopped";
  note.setAttribute("role", "status");
  note.textContent = said(model, "choosers_need_the_kernel");
  box.prepend(note);
};

const render = async ({ model, el }) => {
  const note = document.createElement("p");
  el.append(note);
  const late = setTimeout(() => {
    note.textContent = said(model, "loading");
  }, 2000);
  const failed = (error) => {
    clearTimeout(late);
    note.textContent = error.message;
    throw error;
  };
  await load(model).catch(failed);
  const heard = [],
    host = document.createElement("div");
  const on = (name, f) => {
    model.on(name, f);
    heard.push([name, f]);
  };
  host.setAttribute("data-lm-suppress-shortcuts", "true");
  host.dataset.mqlab = "view";
  el.append(host);
  const memory = {}; // what the page keeps when its document is replaced by another
  let answers = model.get("answers") ? makeAsk(model, on) : null,
    shown = null;
  const tell = () => {
    host.mqlab = { document: shown.doc };
    shown.shared.memory = memory;
    shown.shared.ask = answers?.ask ?? null;
    shown.shared.player?.emit("kernel");
  };
  const put = () => {
    for (const [path, value] of Object.entries(model.get("props"))) {
      const dot = path.lastIndexOf("."),
        target = shown.doc.get_model_by_name(path.slice(0, dot));
      if (target) target[path.slice(dot + 1)] = value;
    }
  };
  const watch = () => {
    for (const path of model.get("watch")) {
      const dot = path.lastIndexOf("."),
        target = shown.doc.get_model_by_name(path.slice(0, dot)),
        name = path.slice(dot + 1);
      target?.properties[name].change.connect(() => {
        model.set("seen", { ...model.get("seen"), [path]: target[name] });
        model.save_changes();
      });
    }
  };
  const show = async () => {
    host.style.minHeight = shown ? `${host.clientHeight}px` : ""; // nothing below it jumps
    const before = shown,
      next = await embed(model, host);
    before?.clear();
    shown = next;
    setColumns(shown.doc, model.get("columns"));
    tell();
    put();
    watch();
    host.style.minHeight = "";
  };
  await show().catch(failed);
  clearTimeout(late);
  note.remove();
  let busy = Promise.resolve();
  on("change:item", () => {
    busy = busy.then(show);
  });
  on("change:columns", () => {
    busy = busy.then(() => setColumns(shown.doc, model.get("columns")));
  });
  on("change:props", put);
  on("change:answers", () => {
    answers = model.get("answers") ? makeAsk(model, on) : null;
    tell();
  });
  // A restarted kernel closes the line; the picture plays on.
  on("comm_live_update", () => {
    answers?.end();
    answers = null;
    memory.lost = true;
    tell();
    stopChoosers(model, host);
  });
  return () => {
    for (const [name, f] of heard) model.off(name, f);
    shown.clear();
    host.remove();
  };
};

export default { render };
