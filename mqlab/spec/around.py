"""The surroundings of a network: listeners that are not brokers, links, files."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.errors import UnknownName, shown
from mqlab.spec.calls import Called
from mqlab.spec.shape import check_noun

MODES = ("refuse", "accept_close", "silent")


@dataclass(frozen=True, slots=True)
class Endpoint(metaclass=Called):
    """A listener that is not a broker: it refuses, accepts and closes, or accepts and stays silent."""

    name: str
    mode: str = "refuse"

    def __post_init__(self) -> None:
        check_noun(self, f"endpoint {shown(self.name)}")
        if self.mode not in MODES:
            raise UnknownName.of("mode", self.mode, MODES, f"endpoint {self.name!r}")


@dataclass(frozen=True, slots=True)
class Around(metaclass=Called):
    """The surroundings of a network: endpoints, links and files.

    `endpoints` are listeners that are not brokers, `lines` names of lines that lead to a broker and can
    be cut (line: broker), `files` texts that clients read.
    """

    endpoints: tuple[Endpoint, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        check_noun(self, "Around")
