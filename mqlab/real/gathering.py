"""Several running brokers read: those whose management was named, and those that these are connected to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ClassVar

from mqlab.errors import CannotRun, MqlabError
from mqlab.files import management
from mqlab.real import jolokia
from mqlab.real.jolokia import Row, Rows

FOUND_SECONDS = 3.0  # for a management that was not named, but may be where a broker is connected to


@dataclass(slots=True)
class Answered(ABC):
    """What one address told: its rows by kind, and what it did not tell."""

    # The property of MBeans that says of which broker they are, and the attributes of its name and id.
    BROKER: ClassVar[str]
    NAME: ClassVar[str]
    ID: ClassVar[str]

    console: str
    rows: Rows
    notes: list[str] = field(default_factory=list)

    @property
    def ids(self) -> dict[str, str]:
        """Its brokers: id -> name."""
        return {id_: row.text(self.NAME) for id_, row in self.of("brokers")}

    @property
    @abstractmethod
    def leads(self) -> list[tuple[str, str]]:
        """The ids of other brokers to which its own are connected, each with the host where it is."""

    def of(self, kind: str) -> Iterator[tuple[str, Row]]:
        """Yield the id of its broker and a row, for all rows of a kind."""
        ids = {row.properties.get(self.BROKER): row.text(self.ID) for row in self.rows["brokers"]}
        for row in self.rows.get(kind, ()):
            if (broker := ids.get(row.properties.get(self.BROKER))) is not None:
                yield broker, row


@dataclass(slots=True)
class Gathered:
    """What was told so far."""

    answered: list[Answered] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)

    @property
    def ids(self) -> dict[str, str]:
        """The brokers that were read: id -> name."""
        return {id_: name for one in self.answered for id_, name in one.ids.items()}

    def of(self, kind: str) -> Iterator[tuple[str, Row]]:
        """Yield the id of its broker and a row, for all rows of a kind."""
        return (pair for one in self.answered for pair in one.of(kind))

    def names(self) -> dict[str, str]:
        """Return id -> name of the brokers that were read; of two with one name the second has another here."""
        found: dict[str, str] = {}
        for id_, name in self.ids.items():
            found[id_] = free(name, found.values())
        return found

    def told(self, names: dict[str, str]) -> list[str]:
        """Return the notes, and who of *names* was not read, or is called otherwise here."""
        read = self.ids
        unread = [
            f"broker {name} was not read: a bridge leads to it, and its management was not found; it is here "
            "by its name alone. Give its address (jolokia:...) or its file"
            for id_, name in names.items()
            if id_ not in read
        ]
        renamed = [(own, names[id_]) for id_, own in read.items() if names[id_] != own]
        called = [
            f"two brokers are called {own!r}; the second is called {name!r} here" for own, name in renamed
        ]
        return [*self.notes, *unread, *called]


def now() -> str:
    """Return the time at which brokers are read, as a running network tells it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def free(name: str, taken: Iterable[str]) -> str:
    """Return a name that is not taken: the one given, or with a number."""
    used, number, found = set(taken), 1, name
    while found in used:
        number += 1
        found = f"{name}-{number}"
    return found


def gather(consoles: Sequence[str], asked: Callable[[str, float], Answered]) -> Gathered:
    """Return what the management at each address tells, and at the hosts that these lead to.

    Raises `CannotRun` if none of them can be read; one of several that cannot be is a note.
    """
    gathered = Gathered()
    for console in dict.fromkeys(consoles):
        gathered.tried.add(console)
        try:
            _take(gathered, asked(console, jolokia.SECONDS))
        except CannotRun as error:
            if len(set(consoles)) == 1:
                raise
            gathered.notes.append(str(error))
    if not gathered.answered:
        raise CannotRun("; ".join(gathered.notes))
    _follow(gathered, asked)
    return gathered


def _take(gathered: Gathered, answered: Answered) -> None:
    """Add what an address told, unless its brokers were read at another one."""
    if set(answered.ids) <= set(gathered.ids):
        names = ", ".join(answered.ids.values())
        gathered.notes.append(f"{answered.console}: broker {names} was read at another address")
        return
    gathered.answered.append(answered)
    gathered.notes += answered.notes


def _follow(gathered: Gathered, asked: Callable[[str, float], Answered]) -> None:
    """Read the brokers to which others lead, where they have their management at the same port and path."""
    place = 0
    while place < len(gathered.answered):
        answered = gathered.answered[place]
        place += 1
        for remote, host in answered.leads:
            console = management.at_host(answered.console, host or management.host_of(answered.console))
            if remote in gathered.ids or console in gathered.tried:
                continue
            gathered.tried.add(console)
            try:
                _take(gathered, asked(console, FOUND_SECONDS))
            except MqlabError as error:
                gathered.notes.append(str(error))
