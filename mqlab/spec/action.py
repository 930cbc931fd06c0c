"""What clients and operators do to a network, one frozen value each.

Actions without `at` happen one after the other, each when the network has come to rest;
an action with `at` (such as ``"2s"``) happens at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from mqlab.errors import BadValue, SelectorError, UnknownName, shown
from mqlab.spec.headers import check_headers
from mqlab.spec.noun import Count, Noun, Priority
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.shape import check_noun
from mqlab.spec.values import Destination

DESTINATION_OPTIONS: dict[str, tuple[str, Callable[[str], object]]] = {
    "consumer.prefetchSize": ("prefetch", int),
    "consumer.priority": ("priority", int),
    "consumer.exclusive": ("exclusive", lambda text: text.lower() == "true"),
    "consumer.noLocal": ("no_local", lambda text: text.lower() == "true"),
    "consumer.selector": ("selector", str),
}
KINDS = ("broker", "consumer")  # of what is paused and resumed
ACK_MODES = ("auto", "client", "dups_ok", "individual", "transacted")


class Action(metaclass=Noun):
    """The base of all actions. With `at` (such as ``"2s"``) it happens then, beside the others."""

    at: int | str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        own = vars(type(self))["__slots__"]
        name = getattr(self, own[0], None) if own else None
        kind = type(self).__name__
        where = f"{kind} {shown(name)}" if isinstance(name, str) else kind
        check_noun(self, where)


class Start(Action):
    """Start all brokers in order, then the connectors one by one."""


class Restart(Action):
    """Start one broker and the connectors it defines.

    `broker_id` is "fixed" or "new"; with `store` "new" it comes with an empty store. With `wait=False` the
    script does not wait until it is up.
    """

    broker: str
    broker_id: str = "fixed"
    store: str = field(default="kept", kw_only=True)
    wait: bool | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        where = f"broker {self.broker!r}"
        if self.broker_id not in ("fixed", "new"):
            raise UnknownName.of("broker_id", self.broker_id, ("fixed", "new"), where)
        if self.store not in ("kept", "new"):
            raise UnknownName.of("store", self.store, ("kept", "new"), where)


class Stop(Action):
    """Stop a broker cleanly."""

    broker: str
    wait: bool | None = field(default=None, kw_only=True)


def _read_path(action: StartConnector | StopConnector) -> None:
    """Take the broker out of a path such as ``A/ab``, as `Network.change` has it."""
    broker, slash, connector = (action.connector or "").partition("/")
    if slash and action.of is None:
        object.__setattr__(action, "of", broker)
        object.__setattr__(action, "connector", connector)


class StartConnector(Action):
    """Start one network connector: ``"ab"``, or ``"A/ab"``, which is that of the broker A; or all `of` one."""

    connector: str | None = None
    of: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        _read_path(self)


class StopConnector(Action):
    """Stop one network connector: ``"ab"``, or ``"A/ab"``, which is that of the broker A; or all `of` one."""

    connector: str | None = None
    of: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        _read_path(self)


class Consumer(Action):
    """Open a consumer: on a broker with one connection and one session, or on a client's connection.

    `ack_mode` is auto, client, dups_ok, individual or transacted. With `acknowledge` False nothing is
    acknowledged (client, individual) or committed (transacted) unless an action says so. `prefetch` None is the
    broker's default (1000 for a queue), `delay` the time it takes over each message. With `receiving=False`
    it does not consume: its prefetch buffer fills up. An `exclusive` consumer gets all messages of its queue
    while it is there; a `priority` (0 to 127) goes before lower ones. `others` are the brokers that it turns to
    when its own is gone, as a failover address lists them. A `durable` subscriber is known by `client_id` and
    `subscription_name`, which are its name unless given. `no_local` keeps away what its own `connection`
    sends; a connection is called like its consumer if it has no other name. A `browser` only looks.
    """

    name: str
    on: str
    reads: Destination
    selector: str | None = field(default=None, kw_only=True)
    priority: Priority = field(default=0, kw_only=True)
    prefetch: int | None = field(default=None, kw_only=True)
    exclusive: bool = field(default=False, kw_only=True)
    receiving: bool = field(default=True, kw_only=True)
    ack_mode: str = field(default="auto", kw_only=True)
    acknowledge: bool | None = field(default=None, kw_only=True)
    delay: int | str = field(default=0, kw_only=True)
    durable: bool = field(default=False, kw_only=True)
    client_id: str | None = field(default=None, kw_only=True)
    subscription_name: str | None = field(default=None, kw_only=True)
    others: tuple[str, ...] = field(default=(), kw_only=True)
    browser: bool = field(default=False, kw_only=True)
    connection_options: str = field(default="", kw_only=True)
    no_local: bool = field(default=False, kw_only=True)
    connection: str | None = field(default=None, kw_only=True)
    redelivery: Redelivery = field(default=Redelivery(), kw_only=True)
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        where = f"consumer {shown(self.name)}"
        if isinstance(self.redelivery, Mapping):
            object.__setattr__(self, "redelivery", Redelivery.read(self.redelivery, where))
        Action.__post_init__(self)
        if "?" in self.reads.name:
            self._read_options(where)
        if self.ack_mode not in ACK_MODES:
            raise UnknownName.of("acknowledge mode", self.ack_mode, ACK_MODES, where)
        if self.browser and not all(dest.is_queue for dest in self.reads.elements()):
            raise BadValue(f"{where}: browser=True, but it reads {self.reads}; only queues can be browsed")
        if self.selector is not None:
            self._check_selector(self.selector, where)

    def _read_options(self, where: str) -> None:
        """Take the options out of a name such as ``TEST.FOO?consumer.prefetchSize=10``."""
        name, _, query = self.reads.name.partition("?")
        object.__setattr__(self, "reads", Destination(self.reads.kind, name))
        for pair in query.split("&"):
            option, _, value = pair.partition("=")
            if option not in DESTINATION_OPTIONS:
                raise UnknownName.of("destination option", option, DESTINATION_OPTIONS, where)
            field_name, read = DESTINATION_OPTIONS[option]
            try:
                object.__setattr__(self, field_name, read(value))
            except ValueError:
                raise BadValue(f"{where}: {option}={value} is not a number") from None

    def _check_selector(self, selector: str, where: str) -> None:
        from mqlab.spec.selector import Selector  # its grammar is only loaded when needed

        try:
            Selector(selector, strict=True)
        except SelectorError as error:
            raise SelectorError(f"{where}: {error}") from None


class Producer(Action):
    """Send `sends` messages to one destination, one by one on one connection.

    Persistent sends each wait for the broker's receipt, others go in a burst. A list among the
    `properties`, or as `jms_priority`, is assigned to the messages in rotation; the property JMSXGroupID makes
    message groups. `every` is the time from one send to the next. With `in_background` the script goes on while
    it sends; without, the next action waits until it is done. `others` are the brokers that it turns to when
    its own is gone. `session` names one of its client's sessions, `size` is in bytes.
    """

    name: str
    on: str
    sends: int
    to: Destination
    persistent: bool = field(default=True, kw_only=True)
    properties: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)
    jms_priority: int | list[int] = field(default=4, kw_only=True)
    time_to_live: int | str = field(default=0, kw_only=True)
    every: int | str = field(default=0, kw_only=True)
    in_background: bool = field(default=False, kw_only=True)
    others: tuple[str, ...] = field(default=(), kw_only=True)
    size: int = field(default=1024, kw_only=True)
    connection: str | None = field(default=None, kw_only=True)
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        where = f"producer {shown(self.name)}"
        check_headers(where, self.jms_priority, self.properties)
        Action.__post_init__(self)
        if self.to.is_pattern and any(dest.has_wildcard for dest in self.to.elements()):
            raise BadValue(
                f"{where}: {self.to}: cannot send to a wildcard destination; name one queue or topic"
            )


class Receive(Action):
    """Let a paused consumer receive `count` messages, then pause it again."""

    consumer: str
    count: Count = 1
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


def _check_kind(action: Action, kind: str | None) -> None:
    Action.__post_init__(action)
    if kind not in (None, *KINDS):
        raise UnknownName.of("kind", kind, KINDS, type(action).__name__)


class Resume(Action):
    """Resume a paused consumer, or a suspended broker (SIGCONT); `kind` says which, as for `Pause`."""

    who: str
    kind: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_kind(self, self.kind)


class Pause(Action):
    """Pause a consumer (it receives nothing more) or suspend a broker (like SIGSTOP).

    `kind` (broker or consumer) says which of the two is meant where both have the name.
    """

    who: str
    kind: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check_kind(self, self.kind)


class Acknowledge(Action):
    """Acknowledge what a consumer has received: the last `count`, or all (`individual`: the last, once)."""

    consumer: str
    count: Count | None = None
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class Commit(Action):
    """Commit the transaction of a consumer's session, or of the `session` of a client."""

    who: str
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class Rollback(Action):
    """Roll back a transacted session, or recover one with client acknowledge: all its messages are redelivered.

    Messages redelivered as often as `Redelivery` allows go to the dead letter queue. `who` is a consumer, or
    a client with the `session`.
    """

    who: str
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class Recover(Action):
    """Recover a session that is not transacted: what it has received and not acknowledged comes again.

    `who` is a consumer, or a client with the `session` (JMS 2.0, 6.2.10).
    """

    who: str
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class Close(Action):
    """Close a consumer and its connection; `unsubscribe` drops its durable subscription too."""

    consumer: str
    unsubscribe: bool = False
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class RequestReply(Action):
    """Send requests that name a temporary queue; a responder on another broker answers there."""

    requester: str
    on: str
    responder_on: str
    to: Destination
    count: Count


class Wait(Action):
    """Let time pass."""

    time: int | float | str


class WaitForSends(Action):
    """Wait until the sends in the background have ended."""


class Settle(Action):
    """Wait until there has been no activity for `quiet`."""

    quiet: int | str = field(default="600ms", kw_only=True)
    at_most: int | str | None = field(default=None, kw_only=True)


class Snapshot(Action):
    """Record the state of everything under a label; `moving` if it is taken in the middle of movement."""

    label: str
    moving: bool = field(default=False, kw_only=True)
