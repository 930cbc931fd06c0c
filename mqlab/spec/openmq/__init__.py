"""Open Message Queue clusters: brokers, the cluster they make, and the script of what happens.

Sources: the Technical Overview, chapter 4; OpenMQ rules 14.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mqlab.errors import BadValue, UnknownName, nearest, shown
from mqlab.spec.action import Action, Restart, Start
from mqlab.spec.calls import fitting
from mqlab.spec.edition import OPENMQ, OpenMQRules
from mqlab.spec.json_types import JsonValue
from mqlab.spec.manual import documented
from mqlab.spec.openmq.actions import StartBroker, StartBrokers
from mqlab.spec.openmq.options import OPTIONS, Options, to_guide
from mqlab.spec.openmq.script import ScriptReader
from mqlab.spec.option import release_of
from mqlab.spec.origin import Origin
from mqlab.spec.scenario import AnyNetwork, check_change, no_broker, others
from mqlab.spec.shape import check_noun

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import OpenmqBrokerOptions

EDITIONS = tuple(OPENMQ)
MODELS = {
    "master": "conventional, with a master broker",
    "none": "conventional, without one",
    "peer": "conventional, with a shared change record",
    "enhanced": "with one JDBC store",
}

_BROKER = "an OpenMQ broker; use 'b1' or openmq.Broker('b1')"

# Properties that must be alike on linked brokers, and what they are if nobody sets them
# (Administration Guide, chapter 10; OpenMQ rule 6.9).
LINKED_ALIKE = {
    "imq.service.activelist": "jms,admin",
    "imq.autocreate.queue": "true",
    "imq.autocreate.topic": "true",
}


def link_properties(option: Callable[[str, object], object]) -> tuple[str, ...]:
    """Return what of a broker's properties has to be alike on linked brokers."""
    texts = {**LINKED_ALIKE, "imq.cluster.clusterid": ""}
    return (*(str(option(key, default)).lower() for key, default in texts.items()), delivery_policy(option))


def delivery_policy(option: Callable[[str, object], object]) -> str:
    """Return what a broker calls the delivery of auto-created queues by their numbers of consumers.

    The numbers may differ between linked brokers, this may not (`imq.queue.deliverypolicy` of 6.5.0; OpenMQ
    rule 6.9).
    """
    active, backup = (
        int(str(option(f"imq.autocreate.queue.maxNum{which}Consumers", default)))
        for which, default in (("Active", -1), ("Backup", 0))
    )
    return "failover" if backup else "single" if active == 1 else "round-robin"


# What a broker gives auto-created ones, by their kind: property -> the row of the broker's own property.
AUTO_CREATED = {
    kind: {
        (own := part.removeprefix("is"))[0].upper() + own[1:]: row
        for row in OPTIONS["broker"].values()
        for head, _, part in [row.guide.rpartition(".")]
        if head in ("imq.autocreate.destination", f"imq.autocreate.{kind}")
    }
    for kind in ("queue", "topic")
}


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

    def script(self, actions: tuple[Action, ...], pace: str = "rest") -> tuple[Action, ...]:
        """Return actions as its lab plays them; raises for those that this cluster cannot do."""
        reader = self.reader()
        return tuple(one for action in actions for one in reader.read(action))

    def reader(self) -> ScriptReader:
        """Return what reads actions one by one."""
        return ScriptReader(self.names)

    def change(self, path: str, **options: JsonValue) -> OpenMQNetwork:
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

    @property
    def rules(self) -> OpenMQRules:
        """In what its edition differs from the other one."""
        return OPENMQ[self.edition]

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
