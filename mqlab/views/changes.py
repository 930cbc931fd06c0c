"""How a network's state changes in a run, in rows that a page applies one after the other.

A row is (t, what, a, b, c, d): the second of playing, a code (`StateChange`), and up to four numbers that
the code explains. The state at a time is what all rows up to it have made: so a page can go to any moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.questions import BLOCKS
from mqlab.views.cast import STANDING, SceneParts
from mqlab.views.repeats import repeats
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

COLUMNS = ("kind", "rule", "broker", "frm", "to", "link", "dest", "msg", "sub", "cause", "age")
ROLES = {
    "running": "serves", "master": "serves", "live": "serves", "slave": "waits", "backup": "waits",
    "backup_in_sync": "waits", "backup_announced": "waits", "backup_holding_lock": "waits",
    "backup_queued": "starts", "backup_searching": "starts", "starting": "starts", "down": "down",
    "waiting for its master": "starts",
}  # fmt: skip


class StateChange(IntEnum):
    """The codes of changes, as `page/model.js` reads them."""

    role = 0  # broker a has the role number b
    state = 1  # broker a: b is 0 not there, 1 up, 2 crashed, 3 stopped, 4 suspended, 5 goes on
    put = 2  # broker a has message c in its queue b
    take = 3  # broker a lets go of message c of destination b; d had it, or -1
    out = 4  # broker a hands message c of destination b to consumer d, or to the bridge ~d
    back = 5  # message c of destination b is again broker a's alone
    work = 6  # consumer a has received message c of destination b; d is its flags (`repeats`)
    bridge = 7  # bridge a is up (b is 1) or down
    at = 8  # client a is connected to broker b, or to none (-1)
    attempt = 9  # a tries to connect to broker b; c is 1 if it is accepted
    wait = 10  # a waits b ms until its next try; c is 1 if it is for a lock
    sent = 11  # client a has sent message c
    subscribe = 12  # the subscription c stands at the near end of bridge a for one more consumer
    unsubscribe = 13  # the subscription c is gone
    lock = 14  # broker a holds its set's lock (b is 1) or has lost it
    cut = 15  # the lines between brokers a and b (-1: all of a) are cut (c is 1) or whole
    left = 16  # consumer a has closed
    stands = 17  # broker a has the subscription c of destination b, for consumer d or for the bridge ~d
    vote = 18  # broker a has asked for votes: b of c that it needs; d is 1 if that was enough
    full = 19  # the memory for destination b at broker a is used up: client d has to wait
    ballot = 20  # in the vote of broker a broker b said c: 0 no, 1 yes, 2 nothing
    before = 21  # consumer a had received b messages when a running network was read


BALLOTS = {"no": 0, "yes": 1, "no answer": 2}
Row = tuple[int, int, int, int, int]


def columns(cast: SceneParts, story: PlaybackTime) -> Table:
    """Return the changes of a run as columns t, what, a, b, c, d."""
    times = cast.trace.column("t")
    found: Table = {name: [] for name in ("t", "what", "a", "b", "c", "d")}
    for index, (what, a, b, c, d) in _Reader(cast).rows():
        story_time = round(story.at(times[index]), 4) if index >= 0 else 0.0
        for name, value in zip(found, (story_time, int(what), a, b, c, d), strict=True):
            found[name].append(value)
    return found


def role_words(cast: SceneParts) -> dict[str, list[str]]:
    """Return the roles of a run as columns: the word as the family says it, and what it comes to."""
    words = cast.trace.header.get("words", ("master", "slave"))
    known = _role_numbers(cast)
    family = {"backup_in_sync": f"{words[1]}, in sync", "backup": words[1]}
    said = [family.get(name, name.replace("_", " ")) for name in known]
    return {"word": said, "kind": [ROLES.get(name, "down") for name in known]}


def _role_numbers(cast: SceneParts) -> dict[str, int]:
    found: dict[str, int] = {}
    for _, detail in cast.trace.header.get("details", ()):
        if "role" in detail:
            found.setdefault(str(detail["role"]), len(found))
    return found


@dataclass
class _Reader:
    """Reads events one by one; remembers who has which message in hands, and who is connected."""

    cast: SceneParts
    holders: dict[tuple[int, int, int], int] = field(default_factory=dict)
    takers: dict[int, int] = field(default_factory=dict)  # subscription -> who its messages go to
    at: dict[int, int] = field(default_factory=dict)
    senders: dict[int, int] = field(default_factory=dict)  # message -> who sent it last

    def __post_init__(self) -> None:
        trace = self.cast.trace
        self.queue = [name.startswith(("queue://", "temp-queue://")) for name in trace.names["dest"]]
        self.details = dict(trace.header.get("details", ()))
        self.roles = _role_numbers(self.cast)
        self.actors = self.cast.actors
        standing = set(self.cast.standing)
        self.standing = standing
        self.clients = {c.node for c in self.cast.clients}
        self.repeats = repeats(trace)

    def rows(self) -> Iterator[tuple[int, Row]]:
        """Yield (row of the trace, change); -1 stands for the beginning."""
        trace = self.cast.trace
        yield from ((-1, change) for change in self._beginning())
        columns = (trace.column(name) for name in COLUMNS)
        for index, event in enumerate(zip(*columns, strict=True)):
            reader = _READERS.get(event[0])
            if reader is not None:
                for change in reader(self, index, dict(zip(COLUMNS, event, strict=True))):
                    yield index, change

    def _beginning(self) -> Iterator[Row]:
        """Yield what is there from the start: in a part cut out of a run, all that came before."""
        trace = self.cast.trace
        kinds = set(trace.column("kind"))
        born = {
            trace.column("broker")[i]
            for i, kind in enumerate(trace.column("kind"))
            if kind in (Kind.Started, Kind.RoleChanged)
        }
        window = "window" in trace.header
        for node, count in trace.header.get("received_before", ()):
            yield StateChange.before, node, count, 0, 0
        for no in self.cast.standing:
            if window or no not in born or not kinds & {Kind.Started, Kind.RoleChanged}:
                yield StateChange.state, no, 1, 0, 0
        if window:
            yield from ((StateChange.bridge, bridge, 1, 0, 0) for bridge in range(len(trace.names["link"])))
            yield from (
                (StateChange.at, client.node, client.homes[0], 0, 0)
                for client in self.cast.clients
                if client.homes
            )

    def _joined(self, node: int, broker: int) -> Iterator[Row]:
        client = self.cast.card(node)
        if client in self.clients and client not in self.at:
            self.at[client] = broker
            yield StateChange.at, client, broker, 0, 0

    def role(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        name = str(self.details.get(index, {}).get("role", ""))
        if name in self.roles:
            yield StateChange.role, e["broker"], self.roles[name], 0, 0
        if ROLES.get(name) not in (None, "down"):
            yield StateChange.state, e["broker"], 1, 0, 0

    def begun(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["rule"] != Reason.asks_restart:
            yield StateChange.state, e["broker"], 1, 0, 0

    def ended(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        codes = {Kind.Crashed: 2, Kind.Stopped: 3, Kind.Suspended: 4, Kind.Resumed: 5}
        node = e["broker"] if e["broker"] >= 0 else e["frm"]
        if node in self.standing:
            yield StateChange.state, node, codes[Kind(e["kind"])], 0, 0

    def bridge(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["link"] >= 0:
            yield StateChange.bridge, e["link"], int(e["kind"] == Kind.Connected), 0, 0

    def subscribed(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        taker = ~e["link"] if e["link"] >= 0 else self.actors.get(e["frm"], e["frm"])
        if e["kind"] == Kind.Subscribed and e["sub"] >= 0 and (e["link"] >= 0 or taker >= 0):
            self.takers[e["sub"]] = taker
            yield StateChange.stands, e["broker"], e["dest"], e["sub"], taker
        if e["link"] >= 0:
            yield StateChange.subscribe, e["link"], e["dest"], e["sub"], 0
        elif e["frm"] >= 0:
            yield from self._joined(e["frm"], e["broker"])

    def unsubscribed(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["sub"] >= 0:
            yield StateChange.unsubscribe, e["link"], e["dest"], e["sub"], 0
            taker = self.takers.get(e["sub"], -1)
            if e["rule"] == Reason.consumer_left and taker >= 0:
                yield StateChange.left, taker, 0, 0, 0

    def sent(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        yield from self._joined(e["frm"], e["broker"] if e["broker"] >= 0 else e["to"])
        self.senders[e["msg"]] = self.cast.card(e["frm"])
        yield StateChange.sent, self.senders[e["msg"]], e["dest"], e["msg"], 0

    def enqueued(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if self.queue[e["dest"]]:
            yield StateChange.put, e["broker"], e["dest"], e["msg"], 0

    def held(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        client = self.senders.get(e["msg"], -1)
        if e["rule"] in BLOCKS and self.at.get(client) == e["broker"]:
            yield StateChange.full, e["broker"], e["dest"], e["msg"], client

    def voted(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        told = self.details.get(index, {})
        if "votes" in told:
            won = int(e["rule"] == Reason.vote_won)
            yield StateChange.vote, e["broker"], int(told["votes"]), int(told["needed"]), won
        for voter, said in told.get("ballots", {}).items():
            yield StateChange.ballot, e["broker"], self.cast.numbers[voter], BALLOTS[said], 0

    def taken_over(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if self.queue[e["dest"]]:
            if e["frm"] >= 0:
                yield StateChange.take, e["frm"], e["dest"], e["msg"], self._let_go(e["frm"], e)
            yield StateChange.put, e["broker"], e["dest"], e["msg"], 0

    def handed(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["kind"] == Kind.Forwarded and e["link"] < 0:
            return
        to = ~e["link"] if e["kind"] == Kind.Forwarded else self.actors.get(e["to"], e["to"])
        self.holders[e["broker"], e["dest"], e["msg"]] = to
        if e["sub"] >= 0:
            self.takers[e["sub"]] = to
        yield StateChange.out, e["broker"], e["dest"], e["msg"], to

    def received(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        again = self.repeats.get(index, 0)
        yield StateChange.work, self.actors.get(e["to"], e["to"]), e["dest"], e["msg"], again

    def returned(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        yield StateChange.back, e["broker"], e["dest"], e["msg"], self._let_go(e["broker"], e)

    def gone(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["broker"] >= 0 and e["dest"] >= 0:
            yield StateChange.take, e["broker"], e["dest"], e["msg"], self._let_go(e["broker"], e)

    def _let_go(self, broker: int, e: dict[str, int]) -> int:
        """Return who had a message in hands, and forget it: a consumer, or ~bridge; -1 means nobody known.

        Of a topic each subscription has its own copy.
        """
        held = self.holders.pop((broker, e["dest"], e["msg"]), -1)
        return held if self.queue[e["dest"]] else self.takers.get(e["sub"], held)

    def attached(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        client = self.cast.card(e["frm"])
        self.at[client] = self.actors.get(e["to"], e["to"])
        yield StateChange.at, client, self.at[client], 0, 0

    def interrupted(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        client = self.cast.card(e["frm"])
        self.at[client] = -1
        yield StateChange.at, client, -1, 0, 0

    def attempted(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["frm"] >= 0 and e["to"] >= 0:
            good = int(e["rule"] == Reason.accepted)
            yield (
                StateChange.attempt,
                self.cast.card(e["frm"]),
                self.actors.get(e["to"], e["to"]),
                good,
                0,
            )

    def waited(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        node = e["broker"] if e["broker"] >= 0 else self.cast.card(e["frm"])
        yield StateChange.wait, node, e["age"] // 1000, int(e["rule"] == Reason.lock_held), 0

    def lock(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        if e["rule"] != Reason.first_to_lock:
            yield StateChange.lock, e["broker"], int(e["kind"] == Kind.Locked), 0, 0

    def cut(self, index: int, e: dict[str, int]) -> Iterator[Row]:
        cut = int(e["kind"] == Kind.Partitioned)
        one, other = self._ends(self.details.get(index, {}), e)
        if one in self.standing:
            yield StateChange.cut, one, other if other in self.standing else -1, cut, 0

    def _ends(self, told: JsonDict, e: dict[str, int]) -> tuple[int, int]:
        """Return between whom a line is: one node, and the other or -1 for all lines of the one."""
        said = str(told.get("between") or told.get("line") or "")
        names = {
            name: self.actors[no]
            for no, (name, role) in reversed([*enumerate(self.cast.nodes)])
            if role in (*STANDING, "line")
        }
        if said in names:
            return names[said], -1
        for place in (at for at in range(len(said)) if said.startswith(" and ", at)):
            ends = names.get(said[:place], -1), names.get(said[place + len(" and ") :], -1)
            if min(ends) >= 0:
                return ends
        known = [self.actors.get(no, no) for no in (e["broker"], e["frm"], e["to"]) if no >= 0]
        return (known[0], known[1] if len(known) > 1 else -1) if known and not said else (-1, -1)


_READERS = {
    Kind.RoleChanged: _Reader.role, Kind.Started: _Reader.begun, Kind.Restarted: _Reader.begun,
    Kind.Stopped: _Reader.ended, Kind.Crashed: _Reader.ended, Kind.Suspended: _Reader.ended,
    Kind.Resumed: _Reader.ended, Kind.Connected: _Reader.bridge, Kind.Disconnected: _Reader.bridge,
    Kind.Subscribed: _Reader.subscribed, Kind.Merged: _Reader.subscribed,
    Kind.Unsubscribed: _Reader.unsubscribed, Kind.Sent: _Reader.sent, Kind.Enqueued: _Reader.enqueued,
    Kind.TakenOver: _Reader.taken_over, Kind.Dispatched: _Reader.handed, Kind.Forwarded: _Reader.handed,
    Kind.Received: _Reader.received, Kind.Returned: _Reader.returned, Kind.Acknowledged: _Reader.gone,
    Kind.Held: _Reader.held, Kind.Voted: _Reader.voted,
    Kind.Discarded: _Reader.gone, Kind.Expired: _Reader.gone, Kind.DeadLettered: _Reader.gone,
    Kind.Attached: _Reader.attached, Kind.Interrupted: _Reader.interrupted,
    Kind.Attempted: _Reader.attempted, Kind.Waited: _Reader.waited, Kind.Locked: _Reader.lock,
    Kind.LockLost: _Reader.lock, Kind.Partitioned: _Reader.cut, Kind.Healed: _Reader.cut,
}  # fmt: skip
