"""The host: a widget that shows a Bokeh document and replaces its columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import anywidget
import bokeh
import ipywidgets
import traitlets
from bokeh.document import Document
from bokeh.embed import json_item

from mqlab.errors import MqlabError
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.views import bokehjs, player
from mqlab.views.tracks import Table

HERE = resources.files(__package__)
# What host.js says itself, key -> text.
HOST_TEXTS = {
    key: text
    for key, text in player.words().items()
    if key in ("bokeh_not_served", "loading", "kernel_gone", "choosers_need_the_kernel")
}


class Template(ipywidgets.Widget):
    """What is the same in every picture of so many runs: a kernel sends it once, before the first of them.

    A page that asked for it would show nothing as long as the kernel is busy with another cell.
    """

    text = traitlets.Unicode().tag(sync=True)


_TEMPLATES: dict[str, Template] = {}  # by the names that items give


class View(anywidget.AnyWidget):
    """Shows a document, or the text of one. `columns` (set by `show`) replaces what is in it, not itself.

    `props` sets properties of named models (``{"time.value": 2}``); the properties that *watch*
    names come back in `seen`. *answer* is called with what the page asks, and its data; what it
    returns goes to the page, and so does the text of an `MqlabError`.
    """

    _esm = Path(str(HERE.joinpath("host.js")))
    version = traitlets.Unicode(bokeh.__version__).tag(sync=True)
    served = traitlets.Bool(True).tag(sync=True)
    words = traitlets.Dict(HOST_TEXTS).tag(sync=True)
    item = traitlets.Unicode().tag(sync=True)  # a text: notebooks sort the keys of objects
    template = traitlets.Unicode("").tag(sync=True)  # the id of its model, which other pictures share
    columns = traitlets.Unicode("").tag(sync=True)
    props = traitlets.Dict().tag(sync=True)
    watch = traitlets.List().tag(sync=True)
    seen = traitlets.Dict().tag(sync=True)
    answers = traitlets.Bool(False).tag(sync=True)  # whether somebody answers what the page asks

    def __init__(
        self,
        shown: Document | str,
        answer: Callable[[str, JsonDict], object] | None = None,
        **traits: object,
    ) -> None:
        served = bokehjs.is_installed()
        super().__init__(**_item(shown), served=served, answers=answer is not None, **traits)
        self._answers = answer
        self.on_msg(self._answer)

    def _answer(self, widget: object, content: JsonObject, buffers: object) -> None:
        """Send a page what it lacks of BokehJS and of the player; answer what it asks."""
        kind = content.get("kind") if isinstance(content, dict) else None
        if kind == "bokehjs?":
            self.send({"kind": "bokehjs", "texts": bokehjs.texts()})
        elif kind == "template?":
            self.send({"kind": "template", "text": player.template(content["panels"])})
        elif kind == "ask" and self._answers is not None:
            told: JsonDict = {"kind": "answer", "id": content["id"]}
            try:
                told["value"] = self._answers(content["what"], content["data"])
            except MqlabError as error:
                told["error"] = str(error)
            self.send(told)

    def show(self, columns: dict[str, Table]) -> None:
        """Replace what is shown by other columns of the same names."""
        self.columns = json.dumps(columns)

    def replace(self, shown: Document | str) -> None:
        """Show another document in the same place; what was shown as `columns` belonged to the old one."""
        with self.hold_sync():
            self.columns = ""
            for trait, value in _item(shown).items():
                self.set_trait(trait, value)

    def __repr__(self) -> str:
        return "<mqlab.View>"


def _item(shown: Document | str) -> dict[str, object]:
    """Return the traits of a document: its text, which `player.item` gives at once, and its template."""
    if not isinstance(shown, str):
        return {"item": json.dumps(json_item(shown.roots[0]))}
    given = json.loads(shown)
    name = given["template"]
    if name not in _TEMPLATES or _TEMPLATES[name].comm is None:  # closed, as by `Widget.close_all`
        _TEMPLATES[name] = Template(text=player.template(given["panels"]))
    return {"item": shown, "template": _TEMPLATES[name].model_id}
