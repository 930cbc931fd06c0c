"""A broker process, what it believes of its cluster, and who can reach whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mqlab.spec.artemis import Server

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab
    from mqlab.runtime.artemis.messages import Journal, Live

GONE = ("down", "stopped", "not_started")
PORT = 61616


class Broker:
    """A broker process, or a backup hosted in another's process (`host`).

    `pair` is the node id it carries, by the name of the broker that first was live with it. `view` is
    its topology: pair -> [live, backup]; `largest` the most live brokers it has ever seen there.
    """

    def __init__(self, lab: HaLab, server: Server, host: Broker | None = None) -> None:
        self.lab, self.server, self.host = lab, server, host
        self.name = server.name
        self.role, self.pair = "not_started", ""
        self.live: Live | None = None
        self.disk: Journal | None = None
        self.master: Broker | None = None  # whom it copies
        self.refused_by: set[str] = set()
        self.broken = False  # its first copy was cut off: it does not begin another
        self.isolated = False  # its network check found nobody: it has stopped itself
        self.asleep_role = ""
        self.view: dict[str, list[str]] = {}
        self.largest = 0
        self.votes_left = 0
        self.lives = 0  # counts its starts, so that what belongs to an earlier one is dropped
        self.moved: dict[str, list[int]] = {}  # folder -> numbers of the old sets in it
        self.hosted: dict[str, Broker] = {}
        self.node = lab.notes.recorder.add_node(self.name, "broker")

    @property
    def runs(self) -> bool:
        """Whether its process is there and awake."""
        at = self.host or self
        return at.role not in (*GONE, "paused") and self.role not in GONE

    @property
    def serves(self) -> bool:
        """Whether clients can use it."""
        return self.role == "live" and self.runs

    @property
    def place(self) -> str:
        """The process it is in, by its broker's name."""
        return (self.host or self).name

    def element(self, name: str) -> Any:
        """Return an element of its HA policy."""
        return self.server.element(name)

    def finds(self, other: Broker) -> bool:
        """Whether its connectors lead to another broker: a hosted one's may be shifted away."""
        if self.host is None or other.place == self.place:
            return True
        if self.lab.scenario.option(self.server, "discovery"):
            return True  # by what the others say of themselves
        return self.server.scale_down is not None or f"to_{other.place}" in self.excludes

    @property
    def excludes(self) -> Iterable[str]:
        """The connectors that a hosting broker does not shift."""
        return self.host.element("excludes") or () if self.host is not None else ()


class Net:
    """Which lines are cut; silently cut lines swallow everything. Clients are all in one place."""

    def __init__(self) -> None:
        self.cuts: dict[frozenset[str], bool] = {}
        self.slow: dict[frozenset[str], int] = {}

    def change(self, keys: Mapping[str, Any], brokers: Iterable[str]) -> Iterator[frozenset[str]]:
        """Yield the lines that a step names: `between` two sides, or to `isolate` from all others."""
        if "isolate" in keys:
            inside: list[str] = list(keys["isolate"])
            sides = [inside, [name for name in brokers if name not in inside]]
        else:
            sides = [[side] if isinstance(side, str) else side for side in keys["between"]]
        for a in sides[0]:
            for b in sides[1]:
                yield frozenset((a, b))

    def joined(self, a: str, b: str) -> bool:
        """Whether a line is whole."""
        return frozenset((a, b)) not in self.cuts


class Topology:
    """What brokers tell each other about who is live (artemis-observed.md, sections 1 and 3)."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab

    def reach(self, a: Broker, b: Broker) -> bool:
        """Whether two brokers can talk now."""
        return (
            a.runs and b.runs and self.lab.net.joined(a.place, b.place) and a.finds(b)
        )  # fmt: skip

    def lives(self) -> list[Broker]:
        """Return all brokers that are live and awake."""
        return [b for b in self.lab.all_brokers() if b.serves]

    def gossip(self) -> None:
        """Every broker learns of the live ones it reaches; a searching one also what they believe."""
        for broker in self.lab.all_brokers():
            if not broker.runs or broker.role in ("stopping", "starting") or self._deaf(broker):
                continue
            for live in self.lives():
                if live is broker or self.reach(broker, live):
                    if broker.role == "backup_searching":
                        broker.view.update({k: list(v) for k, v in live.view.items()
                                            if k not in broker.view})  # fmt: skip
                    broker.view[live.pair] = [live.place, self._backup(live, broker)]
            seen = sum(entry[0] != "-" for entry in broker.view.values())
            if seen > 1 or not broker.serves:
                broker.largest = max(broker.largest, seen)

    def _deaf(self, broker: Broker) -> bool:
        """Whether it is hosted and its connectors lead to no other process: it hears of nobody."""
        others = (live for live in self.lives() if live.place != broker.place)
        return broker.host is not None and not any(self.reach(broker, live) for live in others)

    def _backup(self, live: Broker, viewer: Broker) -> str:
        """Return the announced backup of a live broker."""
        known = viewer.view.get(live.pair, ["", ""])
        for other in self.lab.all_brokers():
            announced = other.role in ("backup_in_sync", "backup_announced") and other.runs
            told = known[1] == other.place or self.reach(other, live)
            if announced and other.pair == live.pair and told:
                return other.place
        return self._remembered(known[1], live) if known[0] == live.place else "-"

    def _remembered(self, name: str, live: Broker) -> str:
        """A backup that went away without a word stays in the topology while its cut lasts."""
        other = self.lab.brokers.get(name)
        if other is None or (other.runs and self.lab.net.joined(name, live.place)):
            return "-"
        return name if other.runs else "-"

    def forget(self, gone: Broker, orderly: bool) -> None:
        """Brokers that notice a live broker's end drop it: 2.4 only when it says goodbye.

        The host of its backup goes on seeing it in 2.5 too, unless a third live broker tells it
        otherwise (artemis-observed.md, section 7).
        """
        if not orderly and not self.lab.scenario.forgets_crashed:
            return
        for broker in self.lab.all_brokers():
            entry = broker.view.get(gone.pair)
            hosts = not orderly and any(h.pair == gone.pair for h in broker.hosted.values())
            sees = hosts and len(broker.view) < 3
            if broker is not gone and not sees and entry is not None and entry[0] == gone.place:
                del broker.view[gone.pair]

    def lose_sight(self, a: Broker, b: Broker) -> None:
        """Two brokers have lost each other: from 2.5 on each forgets the other."""
        if not self.lab.scenario.forgets_crashed:
            return
        for one, other in ((a, b), (b, a)):
            entry = one.view.get(other.pair)
            own = one.pair == other.pair
            if entry is not None and entry[0] == other.place and not own:
                del one.view[other.pair]

    def rows(self, broker: Broker) -> list[str]:
        """Return what a broker believes, as the recordings write it."""
        if broker.role == "backup_searching":
            return []
        return [f"{pair}: live {live}, backup {backup}"
                for pair, (live, backup) in sorted(broker.view.items())]  # fmt: skip
