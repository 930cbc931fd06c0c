"""One thing of a lab file done otherwise, as a value: told, applied, compared."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from mqlab.spec.json_types import JsonDict, JsonObject, JsonValue

Body = JsonObject
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One place of a lab file (keys and indices from the outside in); without a value it goes."""

    path: Path
    value: object = None


@dataclass(frozen=True, slots=True)
class Change:
    """One thing done otherwise: `kind` is option, fault or action, `text` says what in words.

    `about` are the names that it is about: of options (`network_ttl`), actions (`Crash`) and clients. `lesser`
    are smaller ones of the same kind, the least first: where this one does it, one of them may do. `but` is
    what else it does that nobody would want, such as messages that are lost.
    """

    kind: str
    text: str
    edits: tuple[Edit, ...] = field(repr=False)
    about: tuple[str, ...] = field(default=(), repr=False)
    lesser: tuple[Change, ...] = field(default=(), repr=False, compare=False)
    but: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.text} (but {self.but})" if self.but else self.text

    def apply(self, body: Body) -> dict[str, object]:
        """Return the lab file with the change made; *body* stays as it is."""
        changed: JsonDict = copy.deepcopy(dict(body))
        for edit in self.edits:
            _write(changed, edit)
        changed["actions"] = [action for action in changed.get("actions", ()) if action is not None]
        return changed


def _write(body: dict[str, object], edit: Edit) -> None:
    place: JsonValue = body
    *outer, last = edit.path
    for key in outer:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    if edit.value is not None or isinstance(place, list):
        place[last] = edit.value
    else:
        place.pop(last, None)
