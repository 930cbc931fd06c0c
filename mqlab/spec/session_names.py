"""What an action of ActiveMQ says of sessions and connections, held against those that clients have opened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache

from mqlab.errors import BadValue, Call, UnknownName
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec.options import tables

# What a consumer or producer says of a connection of its own, and not on that of a client.
_OF_CONNECTION = ("others", "connection", "connection_options", "client_id", "redelivery")

# What ends a consumer's work -> the acknowledge modes that have it (JMS 2.0, 6.2.10); Rollback recovers, too.
ENDS: Mapping[type[a.Action], tuple[str, ...]] = {
    a.Commit: ("transacted",),
    a.Rollback: ("transacted", "client", "individual"),
    a.Recover: ("client", "individual"),
    a.Acknowledge: ("client", "individual"),
}


FAILOVER = [row.guide for row in tables("addresses")["failover:(...)"].values()]


@cache
def _of_connections(kind: type[a.Action]) -> tuple[tuple[str, object], ...]:
    """Return the fields of a kind of action that are about its connection or session, with their defaults."""
    known = (one for one in fields(kind) if one.name in (*_OF_CONNECTION, "session"))
    return tuple((one.name, None if one.default is MISSING else one.default) for one in known)


@dataclass(eq=False)
class KnownSessions:
    """The sessions that clients have opened, and how consumers acknowledge.

    `opened` is client -> session -> whether it is transacted, `modes` of consumers that wait for a commit or an
    acknowledgement. With `by_use` a session opens as soon as it is used, too, as in the recordings in time.
    """

    by_use: bool = False
    opened: dict[str, dict[str, bool]] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)

    def copy(self) -> KnownSessions:
        """Return the same, which may go on by itself."""
        opened = {client: {**sessions} for client, sessions in self.opened.items()}
        return KnownSessions(self.by_use, opened, {**self.modes})

    def add(self, action: a.Action) -> None:
        """Remember what an action opens."""
        if isinstance(action, c.Client):
            self.opened[action.name] = {}
        elif isinstance(action, c.CloseClient) and not self.by_use:
            self.opened[action.client] = {}
        elif isinstance(action, c.OpenSession):
            self.opened.setdefault(action.client, {})[action.session] = action.transacted
        elif self.by_use and isinstance(action, (a.Consumer, a.Producer, c.TemporaryQueue)):
            client = action.client if isinstance(action, c.TemporaryQueue) else action.on
            transacted = getattr(action, "ack_mode", "") == "transacted" or action.options.get("transacted")
            self.opened.setdefault(client, {}).setdefault(action.session or "session", bool(transacted))
        if isinstance(action, a.Consumer):
            self.modes.pop(action.name, None)  # of one before of that name
            if action.acknowledge is False:
                self.modes[action.name] = action.ack_mode

    def check(self, action: a.Action, where: str, clients: Collection[str]) -> None:
        """Raise for a session that is not there, or has not what the action asks of it."""
        if isinstance(action, c.OpenSession):
            if action.session in self.opened.get(action.client, ()):
                told = f"session {action.session!r} of {action.client} is open already; take a new name"
                raise BadValue(f"{where}: {told}")
        elif isinstance(action, (a.Commit, a.Rollback, a.Recover, a.Acknowledge)):
            self._check_end(action, where, clients)
        elif isinstance(action, (a.Consumer, a.Producer)):
            _check_connection(action, where, clients)
            if action.session is not None and not self.by_use:
                self._check_there(action.on, action.session, where)
        elif isinstance(action, c.TemporaryQueue) and action.session is not None and not self.by_use:
            self._check_there(action.client, action.session, where)

    def _check_there(self, client: str, session: str, where: str, transacted: bool = False) -> None:
        known = self.opened.get(client, {})
        if session not in known:
            error = UnknownName.of(f"session of {client}", session, known, where)
            opening = _opening(client, session, transacted)
            raise UnknownName(f"{error} Open it with {opening} before.", calls=(opening,))

    def _check_end(
        self, action: a.Commit | a.Rollback | a.Recover | a.Acknowledge, where: str, clients: Collection[str]
    ) -> None:
        """Raise for what a session of that mode has not: transactions, or messages to acknowledge."""
        who = action.consumer if isinstance(action, a.Acknowledge) else action.who
        if not isinstance(action, a.Acknowledge) and who in clients:
            if action.session is None:
                raise BadValue(f"{where}: {who!r} is a client; pass session=...")
            self._check_there(who, action.session, where, transacted=not isinstance(action, a.Recover))
            if self.by_use:
                return  # the call is made, and answered as the product does
            if isinstance(action, a.Recover):
                if self.opened[who][action.session]:
                    told = f"session {action.session!r} of {who} is transacted; this action needs mq.Rollback"
                    raise BadValue(f"{where}: {told}")
            elif not self.opened[who][action.session]:
                needs = _opening(who, action.session, transacted=True)
                told = f"session {action.session!r} of {who} is not transacted; this action needs {needs}"
                raise BadValue(f"{where}: {told}", calls=(needs,))
        mode, modes = self.modes.get(who), ENDS[type(action)]
        if mode is not None and mode not in modes:
            told = " or ".join(map(repr, modes))
            raise BadValue(f"{where}: {who} has ack_mode={mode!r}; this action needs ack_mode={told}")


def _opening(client: str, session: str, transacted: bool) -> Call:
    return Call("OpenSession", client, session, **({"transacted": True} if transacted else {}))


def _check_connection(action: a.Consumer | a.Producer, where: str, clients: Collection[str]) -> None:
    """Raise for what only a client has that opens a connection of its own, or that opens none."""
    if isinstance(action, a.Consumer) and action.durable and action.reads.kind == "queue":
        told = "a queue keeps its messages anyway; only topics have durable subscriptions"
        raise BadValue(f"{where}, {action.name!r}: durable=True, but it reads {action.reads}; {told}")
    if isinstance(action, a.Consumer) and action.exclusive and action.reads.kind == "topic":
        told = "each subscriber of a topic gets all messages; only queues have exclusive consumers"
        raise BadValue(f"{where}, {action.name!r}: exclusive=True, but it reads {action.reads}; {told}")
    if isinstance(action, a.Consumer):
        for pair in filter(None, action.connection_options.split("&")):
            if (option := pair.partition("=")[0]) not in FAILOVER:
                raise UnknownName.of("connection option", option, FAILOVER, f"{where}, {action.name!r}")
    for name, default in _of_connections(type(action)):
        if (name != "session") == (action.on in clients) and getattr(action, name) != default:
            if action.on not in clients:
                what = f"only a client has sessions, and {action.on!r} is a broker"
            elif name in ("client_id", "redelivery"):
                what = f"it belongs to the connection; use mq.Client({action.on!r}, ...) with it"
            else:
                what = f"it is only for consumers and producers on a broker, and {action.on!r} is a client"
            raise BadValue(f"{where}, {action.name!r}: {name} is given; {what}")
