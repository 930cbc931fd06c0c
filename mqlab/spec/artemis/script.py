"""What of a script Artemis brokers and their clients can do: who is there, and what was opened before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from mqlab.errors import BadValue, UnknownName
from mqlab.spec import action as shared
from mqlab.spec import faults
from mqlab.spec import uri as uris
from mqlab.spec.action import Action
from mqlab.spec.artemis import actions as own
from mqlab.spec.artemis.options import OPTIONS, Options, read_options
from mqlab.spec.artemis.words import EITHER, word_of
from mqlab.spec.clients import Client, CloseClient
from mqlab.spec.naming import BEGIN
from mqlab.spec.noun import as_usual, written
from mqlab.spec.scenario import check_named, check_new, check_no_producer, check_opened
from mqlab.spec.values import Destination, duration

STATES = (
    "live",
    "live_with_replica",
    "backup_in_sync",
    "backup_searching",
    "backup_announced",
    "backup_holding_lock",
    "backup_queued",
    "backup",
    "starting",
    "stopping",
    "stopped",
    "down",
    "paused",
    "not_started",
)
CALLS = ("start", "end", "prepare", "commit", "rollback", "recover")  # of an XA resource
# Options that stand beside those of a client's URL. What is not among them is one of the URL.
BESIDE: Mapping[type[Action], tuple[str, ...]] = {
    shared.Consumer: ("time_limit", "in_background", "acknowledge", "commit_each"),
    own.Session: ("time_limit", "in_background"),
    shared.Producer: ("time_limit", "in_background", "delivery_delay", "stop_at_failure"),
    shared.Receive: ("timeout", "acknowledge"),
}
Configured = shared.Consumer | own.Session | shared.Producer | shared.Receive  # what has such options
OWN: Mapping[type[Action], type[Action]] = {
    shared.Settle: own.Settle,
    shared.WaitForSends: own.WaitForSends,
}
TIMES = ("time_limit", "delivery_delay", "timeout")
PLACES = ("on", "others", "broker", "brokers", "one", "other")  # fields that name brokers
OPENED = (shared.Consumer, own.Session)
OF_SESSIONS = (shared.Commit, shared.Rollback, shared.Recover)


def url_options(action: Action, where: str = "") -> Options:
    """Return an action's options of a client's URL, each in its type; raises for others."""
    given, beside = getattr(action, "options", {}), BESIDE.get(type(action), ())
    url = {name: value for name, value in given.items() if name not in beside}
    if isinstance(action, shared.Receive) and url:
        raise UnknownName.of("option", next(iter(url)), beside, where)
    return read_options("url", url, f"{where}, url") if url else {}


def time_option(action: Configured, name: str, usual: int) -> int:
    """Return a time (us) among an action's options."""
    given: Options = action.options
    return duration(given[name]) if name in given else usual


def in_background(action: shared.Producer) -> bool:
    """Whether the script goes on while it sends."""
    return bool(action.options.get("in_background", action.in_background))


def lasting(dest: Destination) -> Destination:
    """Return the queue or topic of a name: none is temporary here."""
    return Destination("queue" if dest.is_queue else "topic", dest.name) if dest.is_temporary else dest


class ScriptReader:
    """Reads actions one by one: clients are opened before they are used."""

    def __init__(self, brokers: Sequence[str]) -> None:
        self.brokers, self.count = brokers, 0
        self.sessions: dict[str, own.Session] = {}
        self.consumers, self.senders = set[str](), set[str]()  # that were opened
        self.producers = set[str]()  # that end by themselves

    def read(self, action: Action, where: str = "") -> Action:
        """Return the next action as its lab plays it; raises for what the brokers and clients cannot do."""
        played = self._played(action)
        self.count += action is not BEGIN
        where = where or f"action {self.count} ({type(action).__name__})"
        self._check_known(played)
        check_no_producer(action, self.producers - self.consumers - self.senders, where)
        self._check_brokers(played, where)
        _check_values(played, where)
        self._check_clients(played, where)
        return played

    def _played(self, action: Action) -> Action:
        """Return a client as its session, and what other products share in Artemis' own form."""
        if isinstance(action, Client):
            self.sessions[action.name] = _session(action)
            return self.sessions[action.name]
        if isinstance(action, shared.Consumer) and action.on in self.sessions:
            client = self.sessions[action.on]
            options = {**client.options, **action.options}
            return replace(action, on=client.on, others=client.others, options=options)
        if type(action) in OWN:  # what is as usual there is as usual here
            return OWN[type(action)](**dict(written(action)))
        if isinstance(action, (shared.Pause, shared.Resume)) and self._is_consumers(action):
            return replace(action, kind="consumer")
        return action

    def _is_consumers(self, action: shared.Pause | shared.Resume) -> bool:
        return action.kind == "consumer" or (action.kind is None and action.who not in self.brokers)

    def _check_known(self, action: Action) -> None:
        """Raise `BadValue` for an action, or a field, that Artemis does not know."""
        word = word_of(action, self.brokers)
        for known in fields(action):
            had = known.name in (*word.keys, "kind", "durable", "at")
            if not had and not as_usual(known, getattr(action, known.name)):
                raise BadValue(f"{action}: Artemis has no {known.name} here; remove it")
        if isinstance(action, (faults.Cut, own.Isolate)) and action.how not in ("refuse", "hang"):
            raise BadValue(f"how={action.how!r}: a line of Artemis brokers is cut by 'refuse' or by 'hang'")

    def _check_brokers(self, action: Action, where: str) -> None:
        line = isinstance(action, (faults.Cut, faults.Heal, own.SlowLine))
        given = [getattr(action, name, None) for name in PLACES]
        if isinstance(action, (shared.Pause, shared.Resume)) and action.kind != "consumer":
            given.append(action.who)
        if isinstance(action, shared.Producer) and action.on not in self.brokers:
            given.remove(action.on)  # a client's
        check_named((one for one in given if not (line and one == "clients")), self.brokers, where)

    def _check_clients(self, action: Action, where: str) -> None:
        """Raise for a client that is opened twice, or used and never opened."""
        if isinstance(action, OPENED):
            known = self.consumers if isinstance(action, shared.Consumer) else self.senders
            check_new(action.name, known, where)
            known.add(action.name)
        elif isinstance(action, shared.Producer):
            self.producers.add(action.name)
            clients = self.consumers | self.senders
            if action.on not in self.brokers and action.on not in clients:
                places = [*self.brokers, *sorted(clients)]
                raise UnknownName.of("broker or client", action.on, places, where)
        elif isinstance(action, own.Xa):
            check_opened("client", action.client, self.senders, where)
        elif isinstance(action, OF_SESSIONS):
            check_opened("client", action.who, self.consumers | self.senders, where)
        elif isinstance(action, (CloseClient, own.WaitForFailover)):
            check_opened("client", action.client, self.consumers | self.senders, where)
        elif isinstance(action, (shared.Receive, shared.Close)):
            check_opened("consumer", action.consumer, self.consumers, where)
        elif isinstance(action, (shared.Pause, shared.Resume)) and action.kind == "consumer":
            check_opened("consumer", action.who, self.consumers, where)


def _check_values(action: Action, where: str) -> None:
    """Raise for a value of no meaning to Artemis."""
    if isinstance(action, shared.Consumer):
        if (action.durable or action.subscription_name) and action.client_id is None:
            raise BadValue(f"{where}: a durable subscription needs a client id, e.g. client_id='shop'")
    elif isinstance(action, own.WaitForRole):
        for role in action.role.split(EITHER):
            if role not in STATES:
                raise UnknownName.of("role", role, STATES, where)
    elif isinstance(action, own.Xa) and action.act not in CALLS:
        raise UnknownName.of("act", action.act, CALLS, where)
    url_options(action, where)
    given: Options = getattr(action, "options", {})
    for name in (name for name in BESIDE.get(type(action), ()) if name in TIMES and name in given):
        duration(given[name], f"{where}, {name}")


def _session(client: Client) -> own.Session:
    """Return the session of a client that is described by a URL such as ``(tcp://A,tcp://B)?ha=true``."""
    uri = uris.parse(f"static:{client.uri}" if client.uri.startswith("(") else client.uri)
    if uri.components and uri.scheme != "static":
        right = ",".join(map(str, uri.components))
        told = f"{uri.scheme}:(...) is not an address of Artemis"
        raise BadValue(f"client {client.name!r}: {told}; use '({right})'")
    hosts = [leaf.host or leaf.path or "" for leaf in uri.leaves()]
    rows = {row.guide: row for row in OPTIONS["url"].values()}
    options = {}
    for guide, given in uri.parameters.items():
        if guide not in rows:
            raise BadValue(f"client {client.name!r}: unknown option {guide!r}; known: {', '.join(rows)}")
        row = rows[guide]
        text = given or ""
        options[row.name] = row.read(text, client.name)
    return own.Session(client.name, hosts[0], others=tuple(hosts[1:]), options=options, at=client.at)
