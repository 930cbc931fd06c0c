"""At which places two JSON values differ: one line each, for what disagrees with a recording."""

from __future__ import annotations

import json

from mqlab.spec.json_types import JsonValue


def differ(where: str, real: JsonValue, run: JsonValue) -> list[str]:
    """Return one line for each leaf that differs, with its place below *where*."""
    if isinstance(real, dict) and isinstance(run, dict):
        lines = []
        for key in {**real, **run}:
            place = f"{where}/{key}"
            if key not in run:
                lines.append(f"{place}: real {_short(real[key])}, run has none")
            elif key not in real:
                lines.append(f"{place}: real has none, run {_short(run[key])}")
            else:
                lines += differ(place, real[key], run[key])
        return lines
    if _rows(real) and _rows(run) and len(real) == len(run):
        return [
            line
            for no, pair in enumerate(zip(real, run, strict=True))
            for line in differ(f"{where}/{no}", *pair)
        ]
    return [] if real == run else [f"{where}: real {_short(real)}, run {_short(run)}"]


def _rows(value: object) -> bool:
    """Whether it is a list of objects; a list of numbers is told whole."""
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 90 else text[:87] + "..."
