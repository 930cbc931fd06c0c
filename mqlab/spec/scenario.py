"""A network and what is done to it: all that a run needs besides a seed, the same for every product."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from mqlab.errors import BadValue, Suggests, UnknownName, shown
from mqlab.spec.action import Action, Consumer, Producer, Restart, Settle, Snapshot, Start
from mqlab.spec.calls import Called, fit_methods
from mqlab.spec.clients import Client
from mqlab.spec.json_types import JsonObject
from mqlab.spec.naming import BEGIN, bare
from mqlab.spec.origin import Origin

if TYPE_CHECKING:
    from mqlab.spec.running import Running

PACES = ("rest", "calls")
OF_NETWORKS = ("change", "under", "with_", "with_actions", "without")


Part = TypeVar("Part")


class _NetworkClass(Called, ABCMeta):
    """The class of classes of networks."""


class AnyNetwork(Suggests, metaclass=_NetworkClass):
    """Brokers of one product and edition: what a scenario asks of the network of any product."""

    __slots__ = ()
    product: ClassVar[str]
    edition: str
    origin: Origin | None
    running: Running | None = None  # what stood in it when it was read while it ran
    STARTS: ClassVar[tuple[type[Action], ...]] = (Start,)  # with one of these a script starts brokers by itself
    FIRST: ClassVar[tuple[type[Action], ...]] = (Restart,)  # and with one of these, if it comes first

    def __init_subclass__(cls) -> None:
        """Let the methods of a product's network answer a call that does not fit as verbs do."""
        fit_methods(cls, (name for name in ("broker", *OF_NETWORKS) if hasattr(cls, name)))

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The brokers' names in order."""

    @abstractmethod
    def change(self, path: str, **options: object) -> Self:
        """Return the network with *options* set on what *path* names; raises `UnknownName`."""

    @abstractmethod
    def under(self, edition: str) -> Self:
        """Return the same network run by another edition of its product; raises `UnknownName`."""

    @abstractmethod
    def with_(self, *brokers: Any) -> Self:
        """Return the network with these brokers added, such as ``mq.Broker("C")``."""

    @abstractmethod
    def without(self, path: str) -> Self:
        """Return the network without what *path* names: ``broker``, or ``broker/connector`` for ActiveMQ."""

    @abstractmethod
    def script(self, actions: tuple[Action, ...], pace: str) -> tuple[object, ...]:
        """Return *actions* as the product's lab plays them; raises for what this network cannot do."""

    def completed(self, actions: tuple[Action, ...]) -> tuple[Action, ...]:
        """Return *actions* after a start of all brokers, unless they start them.

        A broker that is started later on has been stopped before, or joins those that are there.
        """
        own = [bare(action) for action in actions]
        begun = any(isinstance(action, self.STARTS) for action in own)
        begun = begun or isinstance(next(iter(own), None), self.FIRST)
        return actions if begun else (BEGIN, *actions)

    def with_actions(self, *actions: Action) -> Scenario:
        """Return the scenario of just these actions."""
        return Scenario(self, actions)


def check_names(actions: Iterable[object], brokers: Collection[str]) -> None:
    """Raise `BadValue` for a client with the name of a broker: a run would not tell them apart."""
    for action in actions:
        if isinstance(action, (Client, Consumer, Producer)) and action.name in brokers:
            kind = type(action).__name__.lower()
            raise BadValue(f"{kind} {action.name!r}: a broker has this name; give the {kind} another one")


def no_broker(given: object, told: str) -> BadValue:
    """Return the error for what is no broker; *told* says which is expected, and what to write."""
    if isinstance(given, (list, tuple)):
        return BadValue("a list of brokers is passed; pass the brokers themselves: *brokers")
    return BadValue(f"{shown(given)} is not {told}")


def check_no_producer(action: Action, producers: Collection[str], where: str) -> None:
    """Raise `UnknownName` for an action of clients that stay, but names a producer, which ends by itself."""
    name = getattr(action, "who", None) or getattr(action, "consumer", None)
    if name in producers:
        raise UnknownName(f"{where}: {name} is a producer, which ends by itself when it has sent all")


def check_named(given: Iterable[object], brokers: Collection[str], where: str) -> None:
    """Raise `UnknownName` for a name of no broker; in *given* are names, tuples of some, and None."""
    for one in given:
        for name in one if isinstance(one, tuple) else (one,):
            if name is not None and name not in brokers:
                raise UnknownName.of("broker", str(name), brokers, where)


def check_new(name: str, opened: Collection[str], where: str) -> None:
    """Raise `BadValue` for a client whose name another one has."""
    if name in opened:
        raise BadValue(f"{where}: two are called {name!r}; give each its own name")


def check_opened(kind: str, name: str, opened: Collection[str], where: str) -> None:
    """Raise `UnknownName` for a client that is used and was never opened."""
    if name not in opened:
        raise UnknownName.of(kind, name, sorted(opened), where)


def check_actions(actions: Iterable[object]) -> None:
    """Raise `BadValue` for what is no action."""
    for action in actions:
        if isinstance(action, (list, tuple)):
            raise BadValue("a list of actions is passed; pass the actions themselves: *actions")
        if not isinstance(action, Action):
            part = is_dataclass(action) and type(action).__module__.startswith("mqlab.spec")
            use = "it is a part of a network: pass it to Network(...)" if part else "use e.g. mq.Consumer(...)"
            raise BadValue(f"{action!r} is not an action; {use}")


@dataclass(frozen=True, slots=True)
class Scenario(metaclass=Called):
    """A network, actions in order, and the outcome the guide predicts.

    By its `pace` each action begins when the network has come to *rest* from the one before, or when
    the *calls* of the one before have been answered, as the recordings in time were made; there
    addresses are taken as they are written. `about` holds the descriptive keys of a lab file (name, theme,
    title, guide, guide_says). `script` is what its product's lab plays. Raises `UnknownName` when an action
    names what is not there.
    """

    network: Any  # an `AnyNetwork`; its product knows which
    actions: tuple[Action, ...] = ()
    about: JsonObject = field(default_factory=dict, hash=False)
    pace: str = "rest"
    script: tuple[Any, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.pace not in PACES:
            raise UnknownName.of("pace", self.pace, PACES)
        if not isinstance(self.network, AnyNetwork):
            raise BadValue(
                f"Scenario: network is {shown(self.network)}; expected e.g. mq.Network(mq.Broker('A'))"
            )
        if not isinstance(self.actions, (tuple, list)):
            raise BadValue(f"Scenario: actions is {shown(self.actions)}; expected a list of actions")
        check_actions(self.actions)
        object.__setattr__(self, "actions", tuple(self.actions))
        object.__setattr__(self, "script", self.network.script(self.actions, self.pace))

    @property
    def product(self) -> str:
        """The product of its network: activemq, openmq or artemis."""
        return str(self.network.product)

    @classmethod
    def of(cls, network: AnyNetwork, *actions: Action, **about: object) -> Scenario:
        """Return the scenario that starts *network*, does *actions* and lets it come to rest."""
        return cls(network, network.completed(actions), about)

    @property
    def doing(self) -> tuple[Action, ...]:
        """Its actions without the end that a run adds: the last rest and look."""
        last = len(self.actions)
        while last and isinstance(self.actions[last - 1], (Settle, Snapshot)):
            last -= 1
        return self.actions[:last]

    def with_actions(self, *actions: Action) -> Scenario:
        """Return the scenario with these actions after its own."""
        return replace(self, actions=(*self.actions, *actions))

    def planned(self, actions: Iterable[Action], script: Iterable[object]) -> Scenario:
        """Return the scenario of other actions, whose *script* was read and checked one by one."""
        made = copy(self)
        object.__setattr__(made, "actions", tuple(actions))
        object.__setattr__(made, "script", tuple(script))
        return made

    def change(self, path: str, **options: object) -> Scenario:
        """Return the scenario with options changed, as its network's `change` does."""
        return replace(self, network=self.network.change(path, **options))

    def with_(self, *brokers: object) -> Scenario:
        """Return the scenario with brokers added to its network."""
        return replace(self, network=self.network.with_(*brokers))

    def without(self, path: str) -> Scenario:
        """Return the scenario without a broker or connector; actions that name it are an error."""
        return replace(self, network=self.network.without(path))

    def under(self, edition: str) -> Scenario:
        """Return the same scenario for another edition."""
        return replace(self, network=self.network.under(edition))


fit_methods(Scenario, OF_NETWORKS)


def check_change(path: object, options: Mapping[str, object]) -> None:
    """Raise `BadValue` for a change of nothing."""
    if not options:
        raise BadValue(
            f"change({path!r}): nothing to change; name an option, e.g. change({path!r}, option=value)"
        )


def check_slash(path: str, names: Iterable[str], known: Iterable[str]) -> None:
    """Raise `UnknownName` for a *known* connector that has a dot where its broker ends; *names* are brokers."""
    meant = next((one for one in known if one.replace("/", ".") == path), None)
    if meant is not None and path not in names:
        raise UnknownName(f"unknown broker {path!r}; the connector is {meant!r}, with a slash")


def others(network: AnyNetwork, brokers: tuple[Part, ...], name: str) -> tuple[Part, ...]:
    """Return the brokers of a network but the one called *name*; raises `UnknownName` where none is."""
    if name not in network.names:
        raise UnknownName.of("broker", name, network.names)
    return tuple(broker for broker, own in zip(brokers, network.names, strict=True) if own != name)
