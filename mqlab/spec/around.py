"""What lies around the brokers of a network: listeners that are no brokers, lines, files."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.errors import UnknownName

MODES = ("refuse", "accept_close", "silent")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener that is no broker: it refuses, accepts and closes, or accepts and is silent."""

    name: str
    mode: str = "refuse"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownName.of("mode", self.mode, MODES, f"endpoint {self.name!r}")


@dataclass(frozen=True, slots=True)
class Around:
    """What lies around the brokers of a network.

    `endpoints` are listeners that are no brokers, `lines` names of lines that lead to a broker and can
    be cut (line: broker), `files` texts that clients read.
    """

    endpoints: tuple[Endpoint, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()
