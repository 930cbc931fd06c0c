"""The Bokeh document of a picture, once for the whole site; what differs between pictures is left open."""

from __future__ import annotations

import json

from mqlab.views import bokehjs, player

MOST_STAGES = 2


def script() -> str:
    """Return a script that gives ``mqlabStages``: documents for one and two runs, and the player they share."""
    items = [player.models(count) for count in range(1, MOST_STAGES + 1)]
    told = json.dumps({"player": player.script(), "items": items}).replace("</", "<\\/")
    return f"globalThis.mqlabStages = {told};\n"


def bokeh() -> str:
    """Return BokehJS as one script."""
    return "\n".join(bokehjs.texts())
