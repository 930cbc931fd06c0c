"""A network and what is done to it: all that a run needs besides a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.action import (
    Acknowledge,
    Action,
    Close,
    Commit,
    Consumer,
    Pause,
    Producer,
    Receive,
    RequestReply,
    Restart,
    Resume,
    Rollback,
    Settle,
    Snapshot,
    Start,
    StartConnector,
    Stop,
    StopConnector,
)  # fmt: skip
from mqlab.spec.network import Network

OF_A_CONSUMER = (Receive, Close, Acknowledge, Commit, Rollback)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A network, actions in order, and what a guide says will come of it.

    `about` holds the descriptive keys of a lab file (name, theme, title, guide, guide_says).
    Raises `UnknownName` when an action names a broker, consumer or connector that is not there.
    """

    network: Network
    actions: tuple[Action, ...]
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        consumers: list[str] = []
        connectors = [connector.name for _, connector in self.network.connectors()]
        for place, action in enumerate(self.actions, start=1):
            where = f"action {place} ({type(action).__name__})"
            for broker in _brokers(action):
                _known("broker", broker, self.network.names, where)
            if isinstance(action, Consumer):
                consumers.append(action.name)
            elif isinstance(action, OF_A_CONSUMER):
                _known("consumer", action.consumer, consumers, where)
            elif isinstance(action, (Pause, Resume)):
                _known("consumer", action.who, consumers, where)
            elif isinstance(action, (StartConnector, StopConnector)):
                _known("connector", action.connector, connectors, where)

    @classmethod
    def of(cls, network: Network, *actions: Action, **about: Any) -> Scenario:
        """Return the scenario that starts *network*, does *actions* and lets it come to rest."""
        for action in actions:
            if not isinstance(action, Action):
                raise BadValue(f"{action!r} is not an action; write for example mq.Consumer(...)")
        first = () if any(isinstance(a, Start) for a in actions) else (Start(),)
        return cls(network, (*first, *actions, Settle(), Snapshot("final")), about)

    def change(self, path: str, **options: Any) -> Scenario:
        """Return the scenario with options changed, as `Network.change` does."""
        return replace(self, network=self.network.change(path, **options))

    def under(self, edition: str) -> Scenario:
        """Return the same scenario for another edition."""
        return replace(self, network=self.network.under(edition))


def _known(what: str, name: str, names: Sequence[str], where: str) -> None:
    if name not in names:
        raise UnknownName.of(what, name, names, where)


def _brokers(action: Action) -> tuple[str, ...]:
    if isinstance(action, (Consumer, Producer)):
        return (action.on, *action.others)
    if isinstance(action, RequestReply):
        return (action.on, action.responder_on)
    return (action.broker,) if isinstance(action, (Restart, Stop)) else ()
