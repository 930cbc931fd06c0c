"""Whether a cluster can do what a script says: who is there, and what was opened before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from mqlab.errors import BadValue, UnknownName
from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.naming import BEGIN, DESTINATIONS, bare
from mqlab.spec.noun import as_usual
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.options import PROPERTIES, QUEUES_ONLY
from mqlab.spec.openmq.words import BY_NOUN, NOT_KEYS, options_of
from mqlab.spec.scenario import check_named, check_new, check_no_producer, check_opened

ANYBODY = (a.Consumer, o.OpenProducer, o.Connect)  # go to "any" broker, too
BROKERS = ("on", "broker", "others", "brokers", "one", "other", "of", "target")  # fields that name such
UNTIL = ("linked", "ready", "none")
XA = ("start", "end", "prepare", "commit", "rollback", "recover")
ACK_MODES = ("auto", "client", "dups_ok", "transacted")


class ScriptReader:
    """Reads actions one by one: clients are opened before they are used."""

    def __init__(self, brokers: Sequence[str]) -> None:
        self.brokers, self.count = brokers, 0
        self.consumers, self.producers = set[str](), set[str]()  # that were opened
        self.closed = set[str]()  # clients whose names are free again
        self.bound: dict[str, str] = {}  # those that end with their broker -> that
        self.sending = set[str]()  # producers that end by themselves

    def read(self, action: a.Action) -> list[a.Action]:
        """Return the next action as a lab plays it: each line that it cuts, or heals, by itself.

        Raises `UnknownName` or `BadValue` for what the cluster cannot do.
        """
        self.count += action is not BEGIN
        inner = bare(action)
        where = f"action {self.count} ({type(inner).__name__})"
        check_no_producer(inner, self.sending - self.consumers - self.producers, where)
        _check_known(inner)
        self._check_brokers(inner, where)
        _check_values(inner, where)
        self._check_clients(inner, where)
        if isinstance(inner, (f.Cut, f.Heal)) and not inner.other:
            ends = [name for name in self.brokers if name != inner.one]
            return [_within(action, replace(inner, other=other)) for other in ends]
        if isinstance(inner, (a.Pause, a.Resume)) and self._is_consumers(inner):
            return [_within(action, replace(inner, kind="consumer"))]
        return [action]

    def _check_brokers(self, action: a.Action, where: str) -> None:
        if isinstance(action, ANYBODY) and action.on == "any" and not action.others:
            return
        given = [getattr(action, name, None) for name in BROKERS]
        if isinstance(action, (a.Pause, a.Resume)) and not self._is_consumers(action):
            given.append(action.who)
        if isinstance(action, o.ChangeMaster):
            given.append(action.to)
        check_named(given, self.brokers, where)

    def _is_consumers(self, action: a.Pause | a.Resume) -> bool:
        return action.kind == "consumer" or (action.kind is None and action.who not in self.brokers)

    def _check_clients(self, action: a.Action, where: str) -> None:
        if isinstance(action, (a.Consumer, o.OpenProducer)):
            known = self.consumers if isinstance(action, a.Consumer) else self.producers
            check_new(action.name, known - self.closed, where)
            known.add(action.name)
            self.closed.discard(action.name)
            self.bound.pop(action.name, None)
            if not (action.others or action.options.get("reconnect")):
                self.bound[action.name] = action.on
        elif isinstance(action, a.Producer):
            self.sending.add(action.name)
        consumer, producer = getattr(action, "consumer", None), getattr(action, "producer", None)
        if isinstance(action, (a.Commit, a.Rollback, a.Recover, o.Xa)):
            of_producer = not isinstance(action, a.Recover) and action.who in self.producers
            consumer = None if of_producer else action.who
        elif isinstance(action, (a.Pause, a.Resume)) and self._is_consumers(action):
            consumer = action.who
        if consumer is not None:
            check_opened("consumer", consumer, self.consumers, where)
        if producer is not None:
            check_opened("producer", producer, self.producers, where)
        if isinstance(action, (a.Stop, o.Shutdown, f.Crash, o.CrashAndRestart)):
            self.closed |= {name for name, broker in self.bound.items() if broker == action.broker}
        if isinstance(action, (a.Close, o.CloseProducer, o.KillClient)) and not getattr(action, "options", {}):
            self.closed |= {name for name in (consumer, producer) if name is not None}


def _check_known(action: a.Action) -> None:
    """Raise `BadValue` for an action, or a field, that OpenMQ does not know, and for such options."""
    where, row = type(action).__name__, BY_NOUN.get(type(action))
    if row is None:
        raise BadValue(
            f"{where}: OpenMQ does not know this action; see mqlab.openmq for those it does (a client's "
            "list of brokers is on='b1', others=('b2',) of a consumer or a producer)"
        )
    if isinstance(action, f.Cut) and action.how != "hang":
        raise BadValue(f"Cut: how={action.how!r}; OpenMQ supports only silent cuts: how='hang'")
    has = {*DESTINATIONS, *NOT_KEYS, *row.keys.values()}
    for known in fields(action) if not isinstance(action, (f.Cut, f.Heal)) else ():  # one key is all of a line
        if known.name == "options":
            options_of(action, where)
        elif known.name not in has and not as_usual(known, getattr(action, known.name)):
            raise BadValue(f"{where}: OpenMQ knows no {known.name}; remove it")


def _within(action: a.Action, inner: a.Action) -> a.Action:
    """Return an action that is another one, called as it was."""
    return replace(action, action=inner) if isinstance(action, o.Call) else inner


def _check_values(action: a.Action, where: str) -> None:
    """Raise for a value of no meaning to OpenMQ."""
    for name in action.properties if isinstance(action, o.Look) else ():
        if name not in PROPERTIES:
            raise UnknownName.of("destination property", name, PROPERTIES, where)
    of_topic = isinstance(action, o.OfDestination) and not action.destination.is_queue
    for name in options_of(action) if of_topic else ():
        if name in QUEUES_ONLY:
            raise BadValue(f"{where}: {name} is a property of queues only; remove it")
    for name, value, known in (
        ("until", getattr(action, "until", None), () if isinstance(action, o.Knock) else UNTIL),
        ("action", getattr(action, "action", None), XA),
        ("ack_mode", getattr(action, "ack_mode", None), ACK_MODES),
    ):
        if known and value is not None and value not in known:
            raise UnknownName.of(name, value, known, where)
