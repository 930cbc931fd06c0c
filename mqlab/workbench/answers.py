"""What one run answers by itself: questions of a page that change nothing."""

from __future__ import annotations

from collections.abc import Callable

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.json_types import JsonDict
from mqlab.trace.trace import Trace
from mqlab.workbench import breaking, exports, moving, panels, questions, spread
from mqlab.workbench.branch import Branch


class Request(dict[str, object]):
    """What a request says; asking for what it does not say is the asker's mistake."""

    def __missing__(self, key: str) -> object:
        raise BadValue(f"the request lacks {key!r}")


def microseconds(ms: object) -> int:
    """Return milliseconds of a request in microseconds; raises `BadValue` for what is no time of a run."""
    if isinstance(ms, bool) or not isinstance(ms, (int, float)) or not 0 <= ms < 1e12:
        raise BadValue(f"the time is {shown(ms)}; expected milliseconds, 0 or more")
    return round(ms * 1000)


def why(branch: Branch, data: JsonDict) -> JsonDict:
    """Answer why something did what it did: `kind` and `name` of what is selected."""
    return questions.why(branch, data.get("kind") or "", str(data.get("name", ""))).value()


def why_not(branch: Branch, data: JsonDict) -> JsonDict:
    """Answer why `consumer` did not get `message`."""
    return questions.why_not(branch, data["message"], data["consumer"]).value()


def ends(branch: Branch, data: JsonDict) -> JsonDict:
    """Return how the run ends with seeds from `first` on, as many as a moment has room for."""
    return spread.ends(branch, data["first"])


def outcomes(branch: Branch, data: JsonDict) -> JsonDict:
    """Return how the run ends with the fault `action` at each of `times` (ms), as many as there is room for."""
    return moving.ends(branch, data["action"], [microseconds(ms) for ms in data["times"]])


def code(branch: Branch, data: JsonDict) -> JsonDict:
    """Return the run as Python and as a lab file."""
    return panels.code(branch)


def take(branch: Branch, data: JsonDict) -> JsonDict:
    """Return the run in another `form`: mermaid, dot, or timeline (Chrome trace JSON)."""
    if data["form"] not in exports.FORMS:
        raise UnknownName.of("form", data["form"], exports.FORMS)
    write: Callable[[Trace], str] = getattr(exports, data["form"])
    return {"text": write(branch.trace)}


def deeds(branch: Branch, data: JsonDict) -> JsonDict:
    """Return what can be done at `ms`, the part `kind`, `name` first: each with the part `of` which it is."""
    at = microseconds(data["ms"])
    found = breaking.available_actions(branch, data.get("kind") or "", data.get("name", ""), at)
    return {"deeds": [{"text": deed.text, "step": deed.step, "of": deed.of} for deed in found]}


ANSWERS: dict[str, Callable[[Branch, JsonDict], JsonDict]] = {
    "why": why,
    "why not": why_not,
    "spread": ends,
    "outcomes": outcomes,
    "code": code,
    "take": take,
    "deeds": deeds,
}
