"""Open Message Queue clusters: brokers, the cluster they make, and the script of what happens.

Sources: the Technical Overview, chapter 4; OpenMQ rules 14.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from mqlab.errors import BadValue, UnknownName, nearest, shown
from mqlab.spec.action import Action, Producer, Restart, Start
from mqlab.spec.calls import fitting
from mqlab.spec.manual import documented
from mqlab.spec.naming import BEGIN, bare
from mqlab.spec.openmq_actions import StartBroker, StartBrokers
from mqlab.spec.openmq_options import OPTIONS, Options, to_guide
from mqlab.spec.openmq_words import steps_of
from mqlab.spec.option import release_of
from mqlab.spec.origin import Origin
from mqlab.spec.scenario import AnyNetwork, check_change, check_no_producer, no_broker, others
from mqlab.spec.shape import check_noun
from mqlab.spec.step import Step, check_keys

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import OpenmqBrokerOptions

EDITIONS = ("6.5", "5.1")
MODELS = {
    "master": "conventional, with a master broker",
    "none": "conventional, without one",
    "peer": "conventional, with a shared change record",
    "enhanced": "with one JDBC store",
}

_BROKER = "an OpenMQ broker; use 'b1' or openmq.Broker('b1')"

# Properties that must be alike on linked brokers, and what they are if nobody sets them
# (Administration Guide, chapter 10; the numbers of consumers may differ, OpenMQ rule 6.9).
LINKED_ALIKE = {
    "imq.service.activelist": "jms,admin",
    "imq.autocreate.queue": "true",
    "imq.autocreate.topic": "true",
}

# Properties of destinations by their administration names, and what they are if nobody sets them.
PROPERTIES: Options = {row.guide: row.default for row in OPTIONS["destination"].values()}
QUEUES_ONLY = {row.guide for row in OPTIONS["destination"].values() if row.queues_only}
# What a broker gives auto-created ones: property -> (the broker's own property, its default).
AUTO_CREATED: dict[str, tuple[str, object]] = {
    part[0].upper() + part[1:]: (row.guide, row.default)
    for row in OPTIONS["broker"].values()
    for head, _, part in [row.guide.rpartition(".")]
    if head in ("imq.autocreate.destination", "imq.autocreate.queue")
}
CHOICES = {
    "LimitBehavior": OPTIONS["destination"]["limit_behavior"].choices,
    "command": ("change_master", "takeover", "reload", "quiesce", "unquiesce"),
    "action": ("stop", "start", "end", "prepare", "commit", "rollback", "recover"),
    "until": ("linked", "ready", "none"), "kind": ("queue", "topic"),
    "ack_mode": ("auto", "client", "dups_ok", "transacted"),
}  # fmt: skip

# Steps: the keys that each needs (of those joined by a bar one), and those that it may have.
_CONSUMER = (
    "receiving selector durable client_id subscription_name no_client_id shared flow_limit "
    "ack_mode acknowledge delay_ms xa process reconnect reconnect_attempts "
    "reconnect_interval_ms iterations client"
)
STEPS: dict[str, tuple[str, str]] = {
    "start": ("", "brokers"),
    "start_broker": ("broker", "until options"), "restart": ("broker", "until options"),
    "kill": ("broker", ""), "stop": ("broker", "no_failover"), "kill_owner": ("of", ""),
    "pause": ("broker|consumer", ""), "resume": ("broker|consumer", ""),
    "cut": ("between", ""), "heal": ("between", ""), "database": ("action", ""),
    "create_destination": ("broker queue|topic", "options"),
    "update_destination": ("broker queue|topic options", ""),
    "destroy_destination": ("broker queue|topic", ""), "purge": ("broker queue|topic", ""),
    "pause_destination": ("broker queue|topic", ""),
    "resume_destination": ("broker queue|topic", ""),
    "open_consumer": ("consumer broker queue|topic", _CONSUMER),
    "temporary": ("consumer broker", f"kind {_CONSUMER}"),
    "kill_client": ("consumer", ""), "close_consumer": ("consumer", ""),
    "receive": ("consumer count", "within_ms"), "acknowledge": ("consumer", ""),
    "commit": ("consumer|producer", ""), "rollback": ("consumer|producer", ""),
    "recover": ("consumer", ""), "unsubscribe": ("broker client_id subscription_name", ""),
    "open_producer": ("producer broker queue|topic", "ack_mode xa client_id reconnect reconnect_attempts "
                      "reconnect_interval_ms iterations client"),
    "close_producer": ("producer", ""),
    "send": ("count", "name broker producer queue topic persistent transacted properties jms_priority size "
             "time_to_live_ms interval_ms"),
    "xa": ("action", "xid consumer producer broker one_phase"), "connect": ("broker", ""),
    "knock": ("brokers until", "every_ms"), "browse": ("broker queue|topic", ""),
    "admin": ("broker command", "from to target"), "wait": ("ms", ""), "settle": ("", "ms"),
    "wait_for": ("event", "about settle_ms"), "wait_received": ("consumer count", ""),
    "wait_background": ("", ""), "snapshot": ("label", "properties"),
}  # fmt: skip
ANY_STEP = ("id", "limit_ms", "rest_ms", "in_background", "at")
SILENT = ("start", "settle", "snapshot", "wait", "wait_for", "wait_received", "wait_background")
ANYBODY = ("open_consumer", "temporary", "open_producer", "connect")  # go to "any" broker, too
OPENS = {"open_consumer": "consumer", "temporary": "consumer", "open_producer": "producer"}


@dataclass(frozen=True, slots=True, repr=False)
class Member:
    """One broker: its name, its own properties, and whether the others' list names it."""

    name: str
    options: Options = field(default_factory=dict, hash=False)
    not_listed: bool = False

    def __post_init__(self) -> None:
        check_noun(self, f"broker {shown(self.name)}")

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Broker({self.name!r}{given}{', not_listed=True' if self.not_listed else ''})"


@dataclass(frozen=True, slots=True, repr=False)
class OpenMQNetwork(AnyNetwork):
    """A cluster of brokers.

    `model` is one of `MODELS`: with a master broker, without any record, of peers with a shared
    record, or enhanced. `origin` is the files that it was read from, if it was. Raises `UnknownName` or
    `BadValue` for a cluster that cannot be.
    """

    product: ClassVar[str] = "openmq"
    STARTS: ClassVar[tuple[type[Action], ...]] = (Start, StartBrokers)
    FIRST: ClassVar[tuple[type[Action], ...]] = (Restart, StartBroker)
    brokers: tuple[Member, ...]
    model: str
    master: str | None
    options: Options = field(default_factory=dict, hash=False)
    edition: str = "6.5"
    origin: Origin | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for broker in self.brokers:
            if not isinstance(broker, Member):
                raise no_broker(broker, _BROKER)
            if not isinstance(broker.name, str) or not broker.name:
                raise BadValue(f"{shown(broker)} is not {_BROKER}")
        edition = release_of(self.edition) if isinstance(self.edition, str) else ""
        if edition not in EDITIONS:
            raise UnknownName.of("edition of OpenMQ", self.edition, EDITIONS)
        object.__setattr__(self, "edition", edition)
        if self.model not in MODELS:
            known = [f"{model} ({kind})" for model, kind in MODELS.items()]
            raise UnknownName.of("cluster model", self.model, known, near=nearest(self.model, MODELS))
        if not self.brokers:
            raise BadValue('a cluster without brokers; add \'brokers\': ["b1", "b2"]')
        for name in self.names:
            if self.names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        self._check_master()

    def _check_master(self) -> None:
        if self.master is not None and self.master not in self.names:
            raise UnknownName.of("master broker", self.master, self.names)
        if self.model == "master" and self.master is None:
            raise BadValue(
                "a cluster with a master broker needs one: every other broker waits for it and "
                "refuses clients (C4090); add the key 'master'"
            )
        if self.model != "master" and self.master is not None:
            reason = {
                "enhanced": "an enhanced cluster has no master broker: the product ignores "
                "imq.cluster.masterbroker with a warning",
                "peer": "peers keep the change record in their database (imq.cluster.nomasterbroker=true)",
                "none": "the model none has no imq.cluster.masterbroker",
            }[self.model]
            raise BadValue(f"{reason}; omit 'master', or use the model 'master'")

    def __repr__(self) -> str:
        return f"Network({', '.join(map(repr, self.brokers))}, model={self.model!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The brokers' names in order."""
        return tuple(broker.name for broker in self.brokers)

    def script(self, actions: tuple[Action, ...], pace: str = "rest") -> tuple[Step, ...]:
        """Return the steps of actions; raises for those that this cluster cannot do."""
        reader = self.reader()
        return tuple(step for action in actions for step in reader.read(action))

    def reader(self) -> ScriptReader:
        """Return what reads actions one by one."""
        return ScriptReader([*self.names])

    def change(self, path: str, **options: Any) -> OpenMQNetwork:
        """Return the network with options changed: of the broker called *path*, or with ``*`` of the cluster.

        Options have Python names; the cluster has a `model` and a `master` too. None takes one back.

        >>> Network("b1", "b2").change("*", model="peer").model
        'peer'
        """
        if path != "*" and path not in self.names:
            raise UnknownName.of("broker", path, [*self.names, "*"])
        check_change(path, options)
        if path == "*":
            own = {key: options.pop(key) for key in ("model", "master") if key in options}
            return replace(self, **own, options=_changed(self.options, options, "cluster"))
        brokers = (
            replace(broker, options=_changed(broker.options, options, f"broker {path!r}"))
            if broker.name == path
            else broker
            for broker in self.brokers
        )
        return replace(self, brokers=tuple(brokers))

    def under(self, edition: str) -> OpenMQNetwork:
        """Return the same cluster of another edition; raises `UnknownName` for what is none."""
        return replace(self, edition=edition)

    def with_(self, *brokers: Member | str) -> OpenMQNetwork:
        """Return the cluster with these brokers added.

        >>> Network("b1").with_("b2").names
        ('b1', 'b2')
        """
        added = (Member(broker) if isinstance(broker, str) else broker for broker in brokers)
        return replace(self, brokers=(*self.brokers, *added))

    def without(self, path: str) -> OpenMQNetwork:
        """Return the cluster without the broker called *path*; raises `UnknownName`."""
        return replace(self, brokers=others(self, self.brokers, path))

    def option(self, name: str, key: str, default: object = None) -> object:
        """Return a property of a broker: its own, else the cluster's, else the default."""
        broker = next(broker for broker in self.brokers if broker.name == name)
        return broker.options.get(key, self.options.get(key, default))


def _changed(before: Options, options: Options, where: str) -> dict[str, object]:
    """Return options by the guide's names with some changed, which have Python names."""
    rows = OPTIONS["broker"]
    gone = {rows[name].guide for name, value in options.items() if value is None and name in rows}
    set_to = {name: value for name, value in options.items() if value is not None or name not in rows}
    kept = {name: value for name, value in before.items() if name not in gone}
    return {**kept, **to_guide("broker", set_to, where)}


@documented(OPTIONS["broker"].values())
@partial(fitting, first=True)
def Broker(  # noqa: N802 - a noun
    name: str, *, listed: bool = True, **options: Unpack[OpenmqBrokerOptions]
) -> Member:
    """Return a broker with properties of its own, by their names without ``imq.`` in snake case.

    Without `listed` the others' broker list does not name it.

    >>> Broker("b3", autocreate_queue=False).options
    {'imq.autocreate.queue': False}
    """
    return Member(name, to_guide("broker", {**options}, f"broker {name!r}"), not listed)


@documented(OPTIONS["broker"].values())
@partial(fitting, first=True)
def Network(  # noqa: N802 - a noun
    *brokers: Member | str,
    model: str = "none",
    master: str | None = None,
    edition: str = "6.5",
    **options: Unpack[OpenmqBrokerOptions],
) -> OpenMQNetwork:
    """Return a cluster in which nothing happens yet; `options` hold for all of its brokers.

    >>> Network("b1", "b2", model="master", master="b1").names
    ('b1', 'b2')
    """
    if "brokers" in options:
        raise BadValue("pass the brokers themselves: openmq.Network('b1', 'b2'), not brokers=")
    members = tuple(Member(b) if isinstance(b, str) else b for b in brokers)
    return OpenMQNetwork(members, model, master, to_guide("broker", {**options}, "cluster"), edition)


class ScriptReader:
    """Reads actions one by one: clients are opened before they are used."""

    def __init__(self, brokers: list[str]) -> None:
        self.brokers, self.count, self.producers = brokers, 0, set[str]()
        self.opened: dict[str, set[str]] = {"consumer": set(), "producer": set()}

    def read(self, action: Action) -> list[Step]:
        """Return the steps of the next action; raises for those that the cluster cannot do."""
        self.count += action is not BEGIN
        where = f"action {self.count} ({type(bare(action)).__name__})"
        opened = {name for known in self.opened.values() for name in known}
        check_no_producer(bare(action), self.producers - opened, where)
        self.producers |= {inner.name} if isinstance(inner := bare(action), Producer) else set()
        steps = steps_of(action, self.brokers, self.opened["producer"])
        for step in steps:
            _check_step(step, where, self.brokers, self.opened)
        return steps


def _check_step(step: Step, where: str, brokers: list[str], opened: dict[str, set[str]]) -> None:
    """Raise for a step with unknown or missing keys, or names of what is not there."""
    check_keys(step, where, STEPS, ANY_STEP)
    for key in ("broker", "brokers", "between", "of", "to", "target"):
        given = step.keys.get(key)
        for broker in given if isinstance(given, (list, tuple)) else [given]:
            anybody = given == "any" and step.do in ANYBODY
            if broker is not None and not anybody and broker not in brokers:
                raise UnknownName.of("broker", broker, brokers, where)
    for key in step.keys.get("properties", ()) if step.do == "snapshot" else ():
        if key not in PROPERTIES:
            raise UnknownName.of("destination property", key, PROPERTIES, where)
    if step.do in ("create_destination", "update_destination"):
        for key in step.keys.get("options", {}):
            if key not in (*PROPERTIES, *ANY_STEP):
                raise UnknownName.of("destination property", key, PROPERTIES, where)
            if key in QUEUES_ONLY and "topic" in step.keys:
                raise BadValue(f"{where}: {key} is a property of queues only; remove it")
    for key, value in {**step.keys, **dict(step.keys.get("options", {}))}.items():
        if key in CHOICES and step.do != "knock" and value not in CHOICES[key]:
            raise UnknownName.of(key, value, CHOICES[key], where)
    _check_clients(step, where, opened)


def _check_clients(step: Step, where: str, opened: dict[str, set[str]]) -> None:
    for kind, known in opened.items():
        name = step.keys.get(kind)
        if OPENS.get(step.do) == kind:
            if name in known:
                raise BadValue(f"{where}: two are called {name!r}; give each its own name")
            known.add(str(name))
        elif name is not None and name not in known:
            raise UnknownName.of(kind, name, sorted(known), where)
    for key in ("count", "ms"):
        value = step.keys.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise BadValue(f"{where}: {key} is {value!r}; expected a number, 0 or more")
