"""The Bokeh document of a picture, once for the whole site; what differs between pictures is left open."""

from __future__ import annotations

import json

from mqlab.views import bokehjs, player

PLAYER = "mqlab:player"  # beside what `player.template` leaves open
MOST_STAGES = 2


def script() -> str:
    """Return a script that gives ``mqlabStages``: documents for one and two runs, and the player they share."""
    code, items = "", []
    for count in range(1, MOST_STAGES + 1):
        text = player.template(count)
        code = max(_codes(json.loads(text)), key=len)
        items.append(text.replace(json.dumps(code), json.dumps(PLAYER)))
    told = json.dumps({"player": code, "items": items}).replace("</", "<\\/")
    return f"globalThis.mqlabStages = {told};\n"


def bokeh() -> str:
    """Return BokehJS as one script."""
    return "\n".join(bokehjs.texts())


def _codes(value: object) -> list[str]:
    """Return all scripts that stand in a document."""
    if isinstance(value, dict):
        own = [value["code"]] if isinstance(value.get("code"), str) else []
        return own + [code for inner in value.values() for code in _codes(inner)]
    return [code for inner in value for code in _codes(inner)] if isinstance(value, list) else []
