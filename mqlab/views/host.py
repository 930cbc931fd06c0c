"""The host: a widget that shows a Bokeh document and replaces its columns."""

from __future__ import annotations

import json
import uuid
from importlib import resources
from pathlib import Path
from typing import Any

import anywidget
import bokeh
import traitlets
from bokeh.document import Document
from bokeh.embed import json_item

from mqlab.views import bokehjs

HERE = resources.files(__package__)


class View(anywidget.AnyWidget):
    """Shows a document. `columns` (set by `show`) replaces what is in it, not the document itself.

    `props` sets properties of named models (``{"time.value": 2}``); the properties that *watch*
    names come back in `seen`.
    """

    _esm = Path(str(HERE.joinpath("host.js")))
    version = traitlets.Unicode(bokeh.__version__).tag(sync=True)
    served = traitlets.Bool(True).tag(sync=True)
    item = traitlets.Unicode().tag(sync=True)  # a text: notebooks sort the keys of objects
    columns = traitlets.Unicode("").tag(sync=True)
    props = traitlets.Dict().tag(sync=True)
    watch = traitlets.List().tag(sync=True)
    seen = traitlets.Dict().tag(sync=True)

    def __init__(self, document: Document, **traits: Any) -> None:
        item = json_item(document.roots[0], target=uuid.uuid4().hex)
        served = bokehjs.is_installed()
        super().__init__(item=json.dumps(item), served=served, **traits)
        self.on_msg(self._answer)

    def _answer(self, widget: Any, content: Any, buffers: Any) -> None:
        """Send BokehJS to a page that cannot get it from its server."""
        if isinstance(content, dict) and content.get("kind") == "bokehjs?":
            self.send({"kind": "bokehjs", "texts": bokehjs.texts()})

    def show(self, columns: dict[str, dict[str, list[Any]]]) -> None:
        """Replace what is shown by other columns of the same names."""
        self.columns = json.dumps(columns)

    def __repr__(self) -> str:
        return "<mqlab.View>"
