"""A picture and its desk in a page without a notebook: the host's own code, this process as its kernel."""

import json

from mqlab.views import host
from mqlab.workbench import WorkbenchSession
from mqlab.workbench.picture import WorkbenchView
from tests.browser.conftest import STEADY

TRAITS = ("item", "columns", "props", "watch", "seen", "answers", "version", "served", "template")
# What anywidget gives to `render`, as far as the host uses it.
MODEL = """async ({ host, traits }) => {
  const heard = [], values = traits;
  const fire = (name, ...more) => heard.filter(([n]) => n === name).forEach(([, f]) => f(...more));
  window.model = {
    heard, fire, get: (name) => values[name], save_changes: () => {},
    set: (name, value) => { values[name] = value; },
    on: (name, f) => heard.push([name, f]),
    off: (name, f) => { const at = heard.findIndex(([n, g]) => n === name && g === f);
      if (at >= 0) heard.splice(at, 1); },
    widget_manager: { get_model: async (id) => { const text = await textOf(id); return { get: () => text }; } },
    send: (content) => { if (window.dead) throw new Error('Cannot send');
      toKernel(JSON.stringify(content)).then((text) => {
        const { changed, messages } = JSON.parse(text);
        modelSet(changed);
        for (const message of messages) fire('msg:custom', message); }); },
  };
  // What the kernel sets of its own accord.
  window.modelSet = (changed) => { Object.assign(values, changed);
    for (const name of Object.keys(changed)) fire('change:' + name); };
  const address = URL.createObjectURL(new Blob([host], { type: 'text/javascript' }));
  const { render } = (await import(address)).default;
  window.show = async () => { const el = document.createElement('div'); document.body.append(el);
    const gone = await render({ model, el }); return async () => { await gone(); el.remove(); }; };
  window.clear = await show();
}"""
READY = "() => Bokeh.documents.at(-1)?.mqlab?.player?.begun && Bokeh.documents.at(-1).is_idle"


def open_desk(page, trace, name=""):
    """Show a picture of *trace* in *page*; returns it."""
    picture = WorkbenchView(WorkbenchSession(trace, name))
    picture.served = False

    def to_kernel(text):
        sent, before = [], picture.get_state(TRAITS)
        picture.send = sent.append
        picture._answer(picture, json.loads(text), None)
        after = picture.get_state(TRAITS)
        changed = {trait: after[trait] for trait in TRAITS if after[trait] != before[trait]}
        return json.dumps({"changed": changed, "messages": sent})

    page.expose_function("toKernel", to_kernel)
    page.expose_function("textOf", lambda id: {one.model_id: one.text for one in host._TEMPLATES.values()}[id])
    page.goto("about:blank")
    text = host.HERE.joinpath("host.js").read_text(encoding="utf-8")
    traits = picture.get_state(TRAITS)
    page.evaluate(MODEL, {"host": text, "traits": traits})
    page.wait_for_function(READY)
    page.evaluate(STEADY)
    return picture
