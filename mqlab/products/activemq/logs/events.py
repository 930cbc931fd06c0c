"""What brokers said, in the order of time, as events: who is up, which bridges stand, what crosses them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from mqlab.products.activemq.logs.lines import Said
from mqlab.products.activemq.logs.names import Known
from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import Recorder

ADVISORY = "topic://ActiveMQ.Advisory."
_WHY = {
    "restricted": Reason.consumer_ttl,
    "already routed": Reason.loop,
    "destination": Reason.not_permitted,
    "sub": Reason.duplicate_route,
}


@dataclass
class _Bridge:
    remote: str
    link: str
    subs: dict[str, int] = field(default_factory=dict)  # consumer of the bridge -> number of its subscription


class Teller:
    """Turns what was said into events, in the order of time."""

    def __init__(self, known: Known, began: int) -> None:
        self.known, self.began = known, began
        self.recorder = Recorder()
        self.now = 0
        self.nodes: dict[str, int] = {}
        self.details: list[tuple[int, JsonDict]] = []
        self.seen: set[str] = set()  # brokers that have started
        self.ended: dict[str, int] = {}  # broker that is down -> row of its end
        self.up: dict[tuple[str, str], _Bridge] = {}  # broker, address -> the bridge
        self.fallen: set[tuple[str, str]] = set()  # bridges that have been down
        self.lost: dict[tuple[str, str], int] = defaultdict(int)  # bridges whose stop is still to be said
        self.subs: dict[str, tuple[int, _Bridge]] = {}
        self.own: dict[tuple[str, str], tuple[int, str]] = {}  # broker, consumer -> subscription, client
        self.without_destination = 0
        self.messages: dict[str, int] = {}
        self.sent: dict[int, int] = {}  # message -> when it was first seen
        self.first: dict[int, int] = {}  # message -> row with which it was sent
        self.crossed: dict[tuple[int, str, str], int] = {}  # message, from, to -> row of its forward

    def tell(self, one: Said) -> None:
        """Add what somebody said."""
        self.now = one.time - self.began
        told = getattr(self, f"_{one.what}", None)
        if told is not None:
            told(one.broker, one.words)

    # Rows

    def _node(self, name: str, role: str = "broker", home: str = "") -> int:
        if name not in self.nodes:
            self.nodes[name] = self.recorder.add_node(name, role, home)
        return self.nodes[name]

    def _add(self, kind: Kind, broker: str = "", frm: str = "", to: str = "", **more: int) -> int:
        ends = (self._node(name) if name else -1 for name in (broker, frm, to))
        message, (where, whence, whither) = more.pop("message", -1), ends
        return self.recorder.add(self.now, kind, message, where, whence, whither, **more)

    def _role(self, broker: str, role: str) -> None:
        self.details.append((self._add(Kind.RoleChanged, broker), {"role": role}))

    def _is_up(self, broker: str) -> None:
        """A broker that does something has started, if not in these logs."""
        if broker not in self.seen:
            self.seen.add(broker)
            self._role(broker, "running")

    # What is said

    def _started(self, broker: str, words: Mapping[str, str]) -> None:
        if broker in self.seen and broker not in self.ended:
            return
        before = self.ended.pop(broker, None)
        self.seen.add(broker)
        self._role(broker, "running")
        kind = Kind.Started if before is None else Kind.Restarted
        self._add(kind, broker, cause=-1 if before is None else before)

    def _stopping(self, broker: str, words: Mapping[str, str]) -> None:
        self._is_up(broker)
        if broker not in self.ended:
            self.ended[broker] = self._add(Kind.Stopped, broker)
            self._role(broker, "down")

    _stopped = _stopping

    def _crashed(self, broker: str, words: Mapping[str, str]) -> None:
        self._is_up(broker)
        self.ended[broker] = self._add(Kind.Crashed, broker)
        self._role(broker, "down")
        for key, bridge in [(key, one) for key, one in self.up.items() if key[0] == broker]:
            self._fall(key, bridge, Reason.broker_stopped, told={})

    def _up(self, broker: str, words: Mapping[str, str]) -> None:
        remote, address = words["remote"], words["address"]
        self._is_up(broker)
        self._is_up(remote)
        if address.startswith("advisory of") and any(
            key[0] == broker and one.remote == remote for key, one in self.up.items()
        ):
            return  # its log has said so
        bridge = _Bridge(remote, self.known.link(broker, address, remote))
        self.up[broker, address] = bridge
        row = self._add(Kind.BridgeUp, broker, broker, remote)
        self._add(Kind.Connected, broker, broker, remote, link=self._link(bridge, broker), cause=row)

    def _link(self, bridge: _Bridge, broker: str) -> int:
        return self.recorder.name_link(bridge.link, broker, bridge.remote)

    def _lost(self, broker: str, words: Mapping[str, str]) -> None:
        key = broker, words["address"]
        if key in self.fallen and key not in self.up:  # said twice
            return
        remote = self.known.remotes.get(key) or self.known.broker_at(words["address"])
        bridge = self.up.get(key) or _Bridge(remote, self.known.link(broker, words["address"], remote))
        self._is_up(broker)
        self.lost[broker, bridge.remote] += 1
        self._fall(key, bridge, Reason.connection_lost, {"error": words["error"]})

    def _down(self, broker: str, words: Mapping[str, str]) -> None:
        remote = words["remote"]
        if self.lost[broker, remote]:  # told already, and why
            self.lost[broker, remote] -= 1
            return
        for key, bridge in self.up.items():
            if key[0] == broker and bridge.remote == remote:
                rule = Reason.broker_stopped if broker in self.ended else Reason.none
                self._fall(key, bridge, rule, {})
                return

    def _fall(self, key: tuple[str, str], bridge: _Bridge, rule: Reason, told: JsonDict) -> None:
        """A bridge is down, and with it go its subscriptions."""
        broker, link = key[0], self._link(bridge, key[0])
        self.up.pop(key, None)
        self.fallen.add(key)
        cause = self.ended.get(bridge.remote, self.ended.get(broker, -1))
        row = self._add(Kind.BridgeDown, broker, broker, bridge.remote, rule=rule, cause=cause)
        down = self._add(Kind.Disconnected, broker, broker, bridge.remote, link=link, rule=rule, cause=row)
        if told:
            self.details.append((down, told))
        for sub in list(bridge.subs):
            self._end(broker, sub, Reason.bridge_down, row)

    def _tried(self, broker: str, words: Mapping[str, str]) -> None:
        self._is_up(broker)
        refused = "refused" in words["error"].lower()
        rule = Reason.nobody_listens if refused else Reason.none
        row = self._add(Kind.Attempted, broker, broker, self.known.broker_at(words["address"]), rule=rule)
        if not refused:
            self.details.append((row, {"error": words["error"]}))

    # Demand

    def _bridge_of(self, broker: str, sub: str, remote: str) -> _Bridge | None:
        """Return the bridge whose consumer that is: its ID begins with both ends, where it is not of 5.5."""
        own = (one for key, one in self.up.items() if key[0] == broker)
        found = [one for one in own if sub.startswith(f"{broker}->{one.remote}-") or one.remote == remote]
        return found[-1] if found else None

    def _demand(self, broker: str, words: Mapping[str, str]) -> None:
        sub = words["sub"]
        if sub in self.subs:  # an advisory tells what its log tells, too
            return
        destination = self.known.destinations.get(sub)
        if destination is not None and destination.startswith(ADVISORY):
            return
        remote = words.get("remote") or sub.removeprefix(f"{broker}->").split("-")[0]
        bridge = self._bridge_of(broker, sub, remote) or _Bridge(remote, self.known.link(broker, "", remote))
        self.without_destination += destination is None
        label = f"{destination or f'{sub}, whose destination no line tells,'} at {broker} by {bridge.link}"
        number = bridge.subs[sub] = self.recorder.name_subscription(label)
        self.subs[sub] = number, bridge
        self._about_demand(Kind.Subscribed, broker, bridge, destination, number, Reason.remote_demand)

    def _about_demand(
        self,
        kind: Kind,
        broker: str,
        bridge: _Bridge,
        destination: str | None,
        sub: int,
        rule: Reason,
        cause: int = -1,
    ) -> None:
        dest = -1 if destination is None else self.recorder.name_destination(destination)
        link = self._link(bridge, broker)
        self._add(kind, broker, bridge.remote, broker, link=link, dest=dest, sub=sub, rule=rule, cause=cause)

    def _merged(self, broker: str, words: Mapping[str, str]) -> None:
        if (found := self.subs.get(words["sub"])) is not None:
            destination = self.known.destinations.get(words["sub"])
            self._about_demand(Kind.Merged, broker, found[1], destination, found[0], Reason.conduit)

    def _gone(self, broker: str, words: Mapping[str, str]) -> None:
        replaced = words["sub"] in self.known.replaced
        self._end(broker, words["sub"], Reason.better_route if replaced else Reason.consumer_left, -1)

    def _replaced(self, broker: str, words: Mapping[str, str]) -> None:
        self._end(broker, words["sub"], Reason.better_route, -1)

    def _end(self, broker: str, sub: str, rule: Reason, cause: int) -> None:
        """A subscription is gone, for once."""
        found = self.subs.pop(sub, None)
        if found is not None:
            number, bridge = found
            bridge.subs.pop(sub, None)
            self._about_demand(
                Kind.Unsubscribed, broker, bridge, self.known.destinations.get(sub), number, rule, cause
            )

    def _refused(self, broker: str, words: Mapping[str, str]) -> None:
        destination, remote = words["destination"], words["remote"]
        if destination.startswith(ADVISORY):
            return
        bridge = self._bridge_of(broker, "", remote) or _Bridge(remote, self.known.link(broker, "", remote))
        self._about_demand(Kind.Refused, broker, bridge, destination, -1, _WHY[words["why"]])

    # Consumers of clients, of which advisories alone tell

    def _consumer(self, broker: str, words: Mapping[str, str]) -> None:
        client = self.known.clients.get(words["sub"].rsplit(":", 2)[0], words["sub"])
        self._is_up(broker)
        self._node(broker)
        self._node(client, "consumer", broker)
        number = self.recorder.name_subscription(f"{words['destination']} at {broker} by {client}")
        self.own[broker, words["sub"]] = number, client
        self._of_client(Kind.Subscribed, broker, words, number, client, Reason.local_consumer)

    def _consumer_gone(self, broker: str, words: Mapping[str, str]) -> None:
        found = self.own.pop((broker, words["sub"]), None)
        if found is not None:
            self._of_client(Kind.Unsubscribed, broker, words, *found, Reason.consumer_left)

    def _of_client(
        self, kind: Kind, broker: str, words: Mapping[str, str], sub: int, client: str, rule: Reason
    ) -> None:
        dest = self.recorder.name_destination(words["destination"])
        self._add(kind, broker, client, broker, dest=dest, sub=sub, rule=rule)

    # Messages

    def _bridging(self, broker: str, words: Mapping[str, str]) -> None:
        destination, remote = words["destination"], words["remote"]
        if destination.startswith(ADVISORY):
            return
        path = [self.known.ids.get(one, one) for one in re.findall(r"ID:[^,\]\s]+", words["path"])] or [broker]
        if path[-1] != broker:
            path.append(broker)
        number = self.messages.setdefault(words["message"], len(self.messages) + 1)
        dest = self.recorder.name_destination(destination)
        cause = self._before(number, path, dest)
        if (number, broker, remote) in self.crossed:  # the next broker's log was before this one
            return
        bridge = self._bridge_of(broker, words["sub"], remote) or _Bridge(
            remote, self.known.link(broker, "", remote)
        )
        # Whether a topic's copy was lost with its subscription no line tells.
        sub = -1 if destination.startswith("topic:") else bridge.subs.get(words["sub"], -1)
        self._forward(number, broker, bridge, len(path) - 1, dest, cause, sub)

    def _forward(
        self, number: int, broker: str, bridge: _Bridge, hop: int, dest: int, cause: int, sub: int = -1
    ) -> int:
        row = self.crossed[number, broker, bridge.remote] = self._add(
            Kind.Forwarded,
            broker,
            broker,
            bridge.remote,
            message=number,
            link=self._link(bridge, broker),
            dest=dest,
            sub=sub,
            hop=hop,
            age=self.now - self.sent[number],
            cause=cause,
        )
        return row

    def _before(self, number: int, path: list[str], dest: int) -> int:
        """Return the row that brought a message to the last broker of its path, in whichever log it is."""
        if number not in self.sent:
            home = path[0]
            producers = f"producers at {home}"
            self._node(home)
            self._node(producers, "producer", home)
            self.sent[number] = self.now
            self.first[number] = self._add(Kind.Sent, home, producers, home, message=number, dest=dest)
        cause = self.first[number]
        for hop, (name, to) in enumerate(pairwise(path)):
            row = self.crossed.get((number, name, to))
            if row is None:
                row = self._forward(number, name, _Bridge(to, self.known.link(name, "", to)), hop, dest, cause)
            cause = row
        return cause
