"""What an action of ActiveMQ names, held against its network: brokers, connectors, clients, lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, Call, UnknownName, UriError, shown
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec import faults as f
from mqlab.spec import uri as uris
from mqlab.spec.connector import HEARD
from mqlab.spec.naming import BEGIN
from mqlab.spec.scenario import check_actions, check_names
from mqlab.spec.session_names import KnownSessions
from mqlab.spec.steps import STEP_OF, check_options, check_wait
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from mqlab.spec.network import Network
    from mqlab.spec.values import Destination

DATABASE = "database"  # the line to it has this name
# What has the network come to rest, and is no call.
_AT_REST = (a.Start, a.RequestReply, a.WaitForSends)

# What a field of this name names, in every action that has it.
_NAMING = {
    "broker": "broker", "brokers": "broker", "of": "broker", "on": "broker or client", "others": "broker",
    "responder_on": "broker", "source": "broker", "target": "broker", "who": "consumer or broker",
    "connector": "connector", "consumer": "consumer", "client": "client", "endpoint": "endpoint",
    "host": "host", "shared_store": "shared store",
}  # fmt: skip
# Where `KnownNames` has what is there of a kind.
_THERE = {
    "broker": "brokers",
    "connector": "connectors",
    "endpoint": "endpoints",
    "client": "clients",
    "consumer": "consumers",
    "shared store": "stores",
    "host": "hosts",
}
_OWN_NAMING: dict[type[a.Action], dict[str, str]] = {
    a.Commit: {"who": "consumer or client"},
    a.Rollback: {"who": "consumer or client"},
    a.Recover: {"who": "consumer or client"},
    a.RequestReply: {"on": "broker"},
    f.SendAway: {"to": "broker or endpoint"},
    f.Advertise: {"endpoint": "endpoint or broker"},
    f.StopAdvertising: {"endpoint": "endpoint or broker"},
    f.SlowDisk: {"of": "broker or shared store"},
}


def check(network: Network, actions: Iterable[a.Action], strictly: bool) -> KnownNames:
    """Return what is known after *actions*; raises for the first that names what is not there.

    Not *strictly*, addresses are taken as they are written, as the recordings in time have them.
    """
    known, script = KnownNames(network, strictly), tuple(actions)
    for no, action in enumerate((one for one in script if one is not BEGIN), 1):
        if isinstance(action, (c.Client, a.Consumer)):
            known.later.setdefault(action.name, no)
    for action in script:
        known.add(action)
    return known


def _need(what: str, name: str | None, names: Sequence[str], where: str) -> None:
    if name is not None and name not in names:
        raise UnknownName.of(what, name, names, where)


@cache
def _naming(kind: type[a.Action]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a kind of action that name something, each with what it must be."""
    known = {**_NAMING, **_OWN_NAMING.get(kind, {})}
    return tuple((one.name, known[one.name]) for one in fields(kind) if one.name in known)


def mentions(action: a.Action) -> Iterator[tuple[str, str | None]]:
    """Yield what an action names, each with what it must be."""
    for name, what in _naming(type(action)):
        value = getattr(action, name)
        for one in value if isinstance(value, tuple) else (value,):
            yield what, one
    if isinstance(action, c.WaitUntil):
        yield from (("broker", name) for name in action.about.get("brokers", ()))
        for key in ("broker", "client", "consumer"):
            if key in action.about:
                yield key, action.about[key]


class KnownNames:
    """What is there when an action comes: brokers, and the clients and consumers that were opened."""

    def __init__(self, network: Network, strictly: bool) -> None:
        self.network, self.strictly, self.actions = network, strictly, 0
        self.brokers = network.names
        self.connectors = [connector.name for _, connector in network.connectors()]
        self.database = any(b.get("store", network.edition) == "jdbc" for b in network.brokers)
        self.endpoints = [endpoint.name for endpoint in network.around.endpoints]
        self.clients: dict[str, str] = {}  # name -> address
        self.consumers: dict[str, Destination] = {}  # name -> what it reads
        # consumer or producer -> the client that it is on, or the brokers that it may be on
        self.places: dict[str, tuple[str, ...]] = {}
        self.open: set[str] = set()
        self.later: dict[str, int] = {}  # client or consumer -> the number of the action that opens it first
        self.gone: set[str] = set()  # clients that have been closed
        self.ids: dict[str, c.Client | a.Consumer] = {}  # client ID -> who has it
        self.sessions = KnownSessions(by_use=not strictly)
        options = [broker.options for broker in network.brokers]
        self.stores = dict.fromkeys(str(store) for given in options if (store := given.get("shared_store")))
        self.hosts = dict.fromkeys(str(host) for given in options if (host := given.get("host")))

    def with_next(self, action: a.Action) -> KnownNames:
        """Return what is known after one more action; raises as `check` does, and stays as it is."""
        check_actions((action,))
        check_names((action,), self.brokers)
        known = copy(self)
        known.clients, known.consumers, known.places = {**self.clients}, {**self.consumers}, {**self.places}
        known.open, known.gone, known.sessions = {*self.open}, {*self.gone}, self.sessions.copy()
        known.ids = {**self.ids}
        known.add(action)
        return known

    def add(self, action: a.Action) -> None:
        """Raise for what the next action names and is not there; remember what it opens."""
        self.actions += action is not BEGIN
        where = f"action {self.actions} ({type(action).__name__})"
        if type(action) not in STEP_OF and not isinstance(action, c.WaitUntil):
            raise BadValue(
                f"{where}: ActiveMQ does not know this action; `mqlab actions` lists which product takes which"
            )
        if action.at is not None:
            duration(action.at, f"{where}, at")
        if isinstance(action, c.WaitUntil):
            check_wait(action.what, action.about, where)
        for what, name in mentions(action):
            if name is None or any(name in getattr(self, _THERE[kind]) for kind in what.split(" or ")):
                continue
            self.check_other(action, name, what, where)
            if what == "host" and not self.hosts:
                told = f"unknown host {shown(name)}; no broker is on a host"
                raise UnknownName(f"{where}: {told}; use mq.Broker(..., host={name!r})")
            called = "broker" if what == "broker or client" and not self.clients else what
            raise UnknownName.of(called, name, self.names(what), where)
        self.check_kind(action, where)
        if isinstance(action, (c.Client, a.Consumer)) and action.client_id:
            self.ids[action.client_id] = action
        self.sessions.add(action)
        if isinstance(action, c.Client):
            if self.strictly:
                self.check_address(action, where)
            if action.name in self.clients and action.name not in self.gone:
                raise BadValue(
                    f"{where}: {action.name!r} already exists; close that client or use another name"
                )
            self.clients[action.name] = action.uri
            self.gone.discard(action.name)
        elif isinstance(action, c.CloseClient):
            if self.strictly:  # calls of a closed client are made, and answered as the product does
                self.clients.pop(action.client, None)
            self.gone.add(action.client)
        elif isinstance(action, (f.DatabaseDown, f.DatabaseUp)) and not self.database:
            raise BadValue(f'{where}: there is no database, because no broker has store="jdbc"')
        elif isinstance(action, a.Consumer):
            if self.strictly and action.name in self.open and action.at is None:
                raise BadValue(
                    f"{where}: consumer {action.name!r} is open already; close it, or take a new name"
                )
            self.consumers[action.name] = action.reads
            self.places[action.name] = (action.on, *action.others)
            self.open.add(action.name)
        elif isinstance(action, a.Close):
            self.open.discard(action.consumer)
        elif isinstance(action, (a.Stop, f.Crash, f.HostDown)):
            self.open.clear()  # with its broker its connection may be gone
        elif isinstance(action, a.Producer):
            self.places[action.name] = (action.on, *action.others)

    def names(self, what: str) -> list[str]:
        """Return what is there of a kind such as ``broker``, or of several, ``broker or client``."""
        return [name for kind in what.split(" or ") for name in getattr(self, _THERE[kind])]

    def check_other(self, action: a.Action, name: str, what: str, where: str) -> None:
        """Raise for a name that is not there, but is that of something else, or was or will be there."""
        kinds, call = what.split(" or "), Call("Close", name)
        if isinstance(action, c.Unsubscribe) and name in self.consumers:
            call = Call("Close", name, unsubscribe=True)
            told = f"{name!r} is a consumer; use {call}"
            if self.consumers[name].is_queue:
                told = f"{name!r} reads a queue, and only topics have durable subscriptions"
        elif isinstance(action, c.Unsubscribe) and (owner := self.ids.get(name)):
            call = Call("Close", owner.name, unsubscribe=True)
            if isinstance(owner, c.Client):
                call = Call("Unsubscribe", owner.name, action.subscription_name)
            told = f"{name!r} is the client ID of {owner.name}; use {call}"
        elif "consumer" in kinds and name in self.clients:
            call = Call("CloseClient", name)
            told = f"; use {call}" if isinstance(action, a.Close) else ", and a consumer is expected"
            told = f"{name!r} is a client{told}"
        elif isinstance(action, c.CloseClient) and name in self.consumers:
            told = f"{name!r} is a consumer; use {call}"
        elif "consumer" in kinds and name in self.places:
            told = f"{name} is a producer, which ends by itself when it has sent all"
        elif "client" in kinds and name in self.gone:
            told = f"client {name!r} has been closed; open it again before"
        elif self.later.get(name, 0) > self.actions:
            told = f"{name!r} opens later, as action {self.later[name]}; move that one before"
        else:
            return
        raise UnknownName(f"{where}: {told}", calls=(call,))

    def check_kind(self, action: a.Action, where: str) -> None:
        """Raise for what an action of this kind cannot mean here."""
        if isinstance(action, (a.StartConnector, a.StopConnector)):
            self.check_path(action, where)
        if isinstance(action, (f.Cut, f.Heal)):
            self.check_line(action, where)
        if not self.strictly:
            self.check_call(action, where)
        if options := getattr(action, "options", {}):
            check_options(type(action), options, where)
        self.sessions.check(action, where, self.clients)
        if isinstance(action, c.ReceiveOnce) and self.places[action.consumer][0] in self.brokers:
            call = Call("Receive", action.consumer)
            told = f"{action.consumer!r} is on a broker by itself; use {call}, or put it on an mq.Client"
            raise BadValue(f"{where}: {told}", calls=(call,))

    def check_path(self, action: a.StartConnector | a.StopConnector, where: str) -> None:
        """Raise for a connector that its broker has not, or for a name that several brokers use."""
        if action.connector is None:
            _need("broker", action.of or "", list(self.network.names), where)
        elif action.of is not None:
            ours = [con.name for con in self.network.broker(action.of).connectors]
            _need(f"connector of {action.of}", action.connector, ours, where)
        elif self.connectors.count(action.connector) > 1:
            name = action.connector
            places = [f"{b.name}/{c.name}" for b, c in self.network.connectors() if c.name == name]
            raise BadValue(
                f"{where}: connector {name!r} is {' and '.join(places)}; say which, e.g. {places[0]!r}"
            )

    def check_call(self, action: a.Action, where: str) -> None:
        """Raise for what nobody can call: brokers start one by one, and clients stand apart."""
        if isinstance(action, _AT_REST):
            remedy = "start brokers one by one, and put clients on connections of their own"
            raise BadValue(f'{where}: only available with pace "rest"; {remedy}')
        if isinstance(action, (a.Consumer, a.Producer)) and action.on not in self.clients:
            raise BadValue(f"{where}: {action.on!r} is a broker; open an mq.Client first and use it here")

    def check_line(self, action: f.Cut | f.Heal, where: str) -> None:
        """Raise for a line that is not there: each end is known, and two ends talk to one another."""
        lines = [line for line, _ in self.network.around.lines]
        ends_at = [b.name for b in self.network.brokers if self.strictly or b.get("link")]
        database = [DATABASE] if self.database else []
        users = [*self.clients, *(name for name in self.places if name not in self.clients)]
        for end in (action.one, action.other):
            home = self.places.get(end or "", ("",))[0]
            if self.strictly and home in self.clients and end not in self.clients:
                raise BadValue(
                    f"{where}: {end!r} has no connection of its own; it uses that of client {home!r}"
                )
            if end in self.brokers and end not in ends_at:
                raise BadValue(f"{where}: broker {end!r} has no line that can be cut; give it link=True")
        many = [*ends_at, *lines, *database]
        if action.other is None:
            _need("end of a line (a broker's link)", action.one, many, where)
            return
        ends = {action.one, action.other}
        for end in (action.one, action.other):
            _need("end of a line", end, [*many, *users], where)
        talks = any(self._may_reach(c, other) for c in ends & set(users) for other in ends - {c})
        bridged = any({b.name, t} == ends for b, con in self.network.connectors() for t in con.targets)
        if not bridged and not talks:
            raise BadValue(
                f"{where}: {action.one} and {action.other} are not directly connected; give the two ends of a "
                "network connector or client connection"
            )

    def _may_reach(self, client: str, broker: str) -> bool:
        """Whether a client's address leads to a broker, or somebody may tell it of that one."""
        homes = self.places.get(client, ())
        if client not in self.clients and homes and homes[0] not in self.clients:
            return broker in homes
        uri = self.clients.get(client, "")
        told = any(b.transport.get("update_cluster_clients") for b in self.network.brokers)
        if told or not uri or "updateURIsURL" in uri or any(way in uri for way in HEARD):
            return True
        address = uris.read(uri)  # none is taken as it is written
        return address is None or broker in [leaf.host or leaf.path for leaf in address.leaves()]

    def check_address(self, client: c.Client, where: str) -> None:
        """Raise for an address that does not parse, or leads to a host that is not there."""
        try:
            parsed = uris.parse(client.uri)
        except UriError as error:
            raise UriError(f"{where}: {error}") from None
        if not parsed.components and "," in client.uri:
            raise UriError(f"{where}: {client.uri!r} is several addresses; use failover:({client.uri})")
        for leaf in parsed.leaves():
            if leaf.scheme not in HEARD:
                _need("host", leaf.host or leaf.path, [*self.brokers, *self.endpoints], where)
