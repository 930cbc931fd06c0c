"""Faults and time: what a timed scenario is made of, as frozen values.

A timed scenario is a set-up of brokers (alone, or members of a master/slave set), connectors and
listeners that are no brokers, and a script of steps, each of which begins when the one before has
come to its end (Fuse 1, "Failover"; Fuse 4, "Master/slave").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.option import edition_of
from mqlab.spec.rows import policy_of, read_options

LOCKERS = ("file", "database", "lease")
FILE_SYSTEMS = ("local", "san", "nfs4", "nfs3", "ocfs2")
MODES = ("refuse", "accept_close", "silent")
WAYS = ("refuse", "reset_once", "hang", "drop_replies")


def _check(where: str, what: str, given: str, known: Iterable[str]) -> None:
    names = list(known)
    if given not in names:
        raise UnknownName.of(what, given, names, where)


def _number(where: str, what: str, given: Any, whole: bool, least: int = 0) -> None:
    if given is None:
        return
    wrong = isinstance(given, bool) or not isinstance(given, int if whole else (int, float))
    if wrong or given < least:
        raise BadValue(
            f"{where}: {what} is {given!r}; write a {'whole ' * whole}number from {least} on"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Locker:
    """How a member of a set gets to be the master; times in ms (Fuse 4, Tables 4.2 to 4.4).

    `store` names what is shared: a directory, or the database. `acquire_sleep` is a slave's
    polling period (and the length of a lease), `keep_alive` how often the master looks whether the
    lock is still its own (None is the locker's default).
    """

    kind: str
    store: str
    acquire_sleep: int = 10_000
    keep_alive: int | None = None
    use_lock: bool = True
    fail_if_locked: bool = False
    stop_on_error: bool = False
    holder: str | None = None
    max_diff: int = 0
    query_timeout: int = 500
    file_system: str = "local"

    def __post_init__(self) -> None:
        _check("locker", "kind", self.kind, LOCKERS)
        _check("locker", "file system", self.file_system, FILE_SYSTEMS)
        _number("locker", "keep_alive", self.keep_alive, whole=True, least=-1)
        for name in ("acquire_sleep", "max_diff", "query_timeout"):
            _number("locker", name, getattr(self, name), whole=True)
        if self.acquire_sleep <= 0:
            raise BadValue(f"lockAcquireSleepInterval {self.acquire_sleep}: write 1 ms or more")

    @property
    def check_period(self) -> int:
        """The keep-alive period in ms that holds; 0 is never."""
        if self.keep_alive is not None:
            return max(0, self.keep_alive)
        return 0 if self.kind == "file" else 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUpdates:
    """What a transport connector tells its failover clients of other brokers (Fuse 1, Table 1.1)."""

    clients: bool = False
    rebalance: bool = False
    on_remove: bool = False
    filter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pure:
    """Pure master/slave of 5.5 (Fuse 4, "Pure master/slave"); times in ms."""

    slave_of: str | None = None
    wait_for_slave: bool = False
    wait_for_slave_timeout: int = 600_000
    shutdown_on_slave_failure: bool = False
    shutdown_on_master_failure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A broker of a timed scenario.

    With `process` it is a process of its own, which can be killed and suspended; with `link` a line
    lies in front of its port, which can be cut. `clock_offset` is in seconds, `io_resume` (ms) is
    how often the lease's I/O error handler looks whether the database is back (None: no handler).
    `options` and `policies` are those of `mqlab.spec.Broker`.
    """

    name: str
    broker_name: str = ""
    process: bool = False
    link: bool = False
    store: str = "memory"
    locker: Locker | None = None
    restart_allowed: bool = True
    io_resume: int | None = None
    clock_offset: float = 0
    updates: ClusterUpdates = field(default_factory=ClusterUpdates)
    discovery: str | None = None
    pure: Pure = field(default_factory=Pure)
    host: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    policies: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise BadValue("a broker needs a name")
        if not self.broker_name:
            object.__setattr__(self, "broker_name", self.name)
        _number(f"broker {self.name}", "io_resume", self.io_resume, whole=True)
        where = f"broker {self.name!r}"
        object.__setattr__(self, "options", read_options("broker", self.options, where))
        policies = tuple(policy_of(policy, f"{where}, policy") for policy in self.policies)
        object.__setattr__(self, "policies", policies)
        if self.store not in ("memory", "kahadb"):
            raise UnknownName.of("store", self.store, ("memory", "kahadb"), f"broker {self.name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """A network connector of a timed scenario; `{X}` in the uri is the address of X."""

    name: str
    home: str
    uri: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        where = f"networkConnector {self.name!r}"
        read = read_options("networkConnector", self.options, where)
        object.__setattr__(self, "options", read)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A listener that is no broker: it refuses, accepts and closes, or accepts and is silent."""

    name: str
    mode: str = "refuse"

    def __post_init__(self) -> None:
        _check(f"endpoint {self.name!r}", "mode", self.mode, MODES)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRow:
    """One kind of step: the keys that it must and may have, and what it does."""

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    sentence: str


_CALL = ("label", "in_background", "max_ms")
_WHOLE = ("count", "size", "prefetch")
_TIMES = (
    "ms",
    "quiet_ms",
    "wait_ms",
    "jitter_ms",
    "max_ms",
    "delay_ms",
    "interval_ms",
    "timeout_ms",
)
STEPS: dict[str, StepRow] = {
    "start_broker": StepRow(needs=("broker",), may=("wait", "wait_ms", "jitter_ms", "max_ms", "broker_id",
                            "store"), sentence="Start a broker; a member of a set begins as a slave."),
    "start_brokers": StepRow(needs=("brokers",), may=("wait", "max_ms"),
                             sentence="Start several brokers at once."),
    "stop_broker": StepRow(needs=("broker",), may=("wait",), sentence="Stop in an orderly way."),
    "kill": StepRow(needs=("broker",), sentence="End the process at once, as SIGKILL does."),
    "pause": StepRow(needs=("broker",), sentence="Suspend the process, as SIGSTOP does."),
    "resume": StepRow(needs=("broker",), sentence="Let the suspended process go on."),
    "host_down": StepRow(needs=("host",), sentence="All brokers of a host die at once."),
    "cut": StepRow(needs=("link",), may=("how",), sentence="Break the line to a broker."),
    "heal": StepRow(needs=("link",), sentence="Make the line whole again."),
    "database_down": StepRow(may=("how",), sentence="The database cannot be reached."),
    "database_up": StepRow(sentence="The database can be reached again."),
    "disk_slow": StepRow(needs=("factor",), may=("broker", "shared_store"), sentence="A disk takes so "
                         "many times as long for what it reads and writes; 1 is its usual speed."),
    "delete_lock_file": StepRow(needs=("shared_store",), sentence="Somebody deletes the lock."),
    "touch_lock_file": StepRow(needs=("shared_store",), sentence="Somebody writes into the lock."),
    "copy_store": StepRow(needs=("from", "to"), sentence="Copy the data directory of a broker."),
    "write_file": StepRow(needs=("name", "text"), sentence="Write a file of addresses."),
    "set_endpoint": StepRow(needs=("endpoint", "mode"), sentence="Change what a listener does."),
    "connect": StepRow(needs=("client", "uri"), sentence="A client opens a connection.",
                       may=(*_CALL, "prefetch", "watch_topic_advisories", "client_id",
                            "max_redeliveries")),
    "open_session": StepRow(needs=("client", "session"), may=(*_CALL, "transacted"),
                            sentence="Open a session."),
    "open_consumer": StepRow(
        needs=("client", "consumer"), sentence="Open a consumer, which takes all it can.",
        may=(*_CALL, "session", "queue", "temp", "topic", "receiving", "loop", "delay_ms",
             "ack_mode", "acknowledge", "transacted", "selector", "priority", "prefetch", "exclusive",
             "durable_name")),
    "temp_queue": StepRow(needs=("client", "name"), may=(*_CALL, "session"),
                          sentence="Make a temporary queue."),
    "send": StepRow(needs=("client",), sentence="Send messages one after the other.",
                    may=(*_CALL, "queue", "temp", "topic", "count", "session", "persistent",
                         "interval_ms", "size", "properties", "group", "jms_priority", "time_to_live_ms")),
    "unsubscribe": StepRow(needs=("client", "durable_name"), may=(*_CALL, "session"),
                           sentence="End a durable subscription."),
    "commit": StepRow(needs=("client", "session"), may=_CALL, sentence="Commit the session."),
    "rollback": StepRow(needs=("client", "session"), may=_CALL, sentence="Roll it back."),
    "acknowledge": StepRow(needs=("consumer",), may=_CALL, sentence="Acknowledge what it had."),
    "receive_once": StepRow(needs=("consumer",), may=(*_CALL, "client", "timeout_ms"),
                            sentence="Ask for one message and wait for it."),
    "close_consumer": StepRow(needs=("consumer",), may=_CALL, sentence="Close a consumer."),
    "close_client": StepRow(needs=("client",), may=_CALL, sentence="Close the connection."),
    "receive": StepRow(needs=("consumer",), may=("count", "max_ms"),
                       sentence="Let a held consumer take so many messages."),
    "hold_consumer": StepRow(needs=("consumer",), sentence="Let it take nothing more."),
    "start_connector": StepRow(needs=("from", "connector"), sentence="Start a connector."),
    "stop_connector": StepRow(needs=("from", "connector"), sentence="Stop a connector."),
    "resume_consumer": StepRow(needs=("consumer",), sentence="Let it take all it can."),
    "tell_reconnect": StepRow(needs=("broker", "to"), sentence="Send the clients to another."),
    "advertise": StepRow(needs=("endpoint", "uri"), sentence="Announce a listener by multicast."),
    "stop_advertising": StepRow(needs=("endpoint",), sentence="Announce it no more."),
    "sniff": StepRow(needs=("uri",), sentence="Write down the datagrams of a group."),
    "sample_orders": StepRow(needs=("uri", "count", "label"), sentence="Draw address orders."),
    "wait_ms": StepRow(needs=("ms",), sentence="Let time pass."),
    "wait_master": StepRow(needs=("brokers",), may=("max_ms",), sentence="Until one is master."),
    "wait_role": StepRow(needs=("broker", "role"), may=("max_ms",), sentence="Until it is that."),
    "wait_connected": StepRow(needs=("client",), may=("to", "max_ms"), sentence="Until it is."),
    "wait_received": StepRow(needs=("consumer", "count"), may=("max_ms",), sentence="Until had."),
    "wait_bridge": StepRow(needs=("from", "to"), may=("max_ms", "up"), sentence="Until it is up."),
    "wait_configured": StepRow(needs=("client", "count"), may=("max_ms", "label"),
                               sentence="Until a client knows so many addresses."),
    "wait_attempts": StepRow(needs=("by", "count"), may=("max_ms",), sentence="Until tried."),
    "wait_acts": StepRow(may=("max_ms",), sentence="Until the steps in the background end."),
    "settle": StepRow(may=("quiet_ms", "max_ms"), sentence="Until nothing has moved for so long."),
    "snapshot": StepRow(needs=("label",), may=("moving",), sentence="Note the state under a label."),
}  # fmt: skip


def _disk(keys: Mapping[str, Any]) -> None:
    factor = keys["factor"]
    if isinstance(factor, bool) or not isinstance(factor, (int, float)) or factor <= 0:
        raise BadValue(f"disk_slow: factor is {factor!r}; write a number above 0")
    if ("broker" in keys) == ("shared_store" in keys):
        raise BadValue("disk_slow: say whose disk it is, by 'broker' or by 'shared_store'")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the script: what to `do`, and its keys. With `at` (ms) it happens then, beside the others."""

    do: str
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)
    at: int | None = None

    def __post_init__(self) -> None:
        _check("", "step", self.do, STEPS)
        row = STEPS[self.do]
        for key in row.needs:
            if key not in self.keys:
                raise BadValue(f"{self.do}: the key {key!r} is missing")
        for key in self.keys:
            _check(self.do, "key", key, (*row.needs, *row.may, "at_ms"))
        for key in (*_WHOLE, *_TIMES):
            _number(self.do, key, self.keys.get(key), whole=key in _WHOLE)
        if self.at is not None and (self.at < 0 or self.do.startswith("wait_")):
            raise BadValue(f"{self.do}: at {self.at}: only what acts can have a time, from 0 on")
        if self.do == "disk_slow":
            _disk(self.keys)
        if self.do == "cut":
            _check(self.do, "way to cut", self.keys.get("how", "refuse"), WAYS)
        if self.do == "set_endpoint":
            _check(self.do, "mode", self.keys["mode"], MODES)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key."""
        return self.keys.get(key, default)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedScenario:
    """A set-up and a script. Raises `UnknownName` when a step names what is not there."""

    members: tuple[Member, ...] = ()
    connectors: tuple[Connector, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    lines: Mapping[str, str] = field(default_factory=dict, hash=False)
    steps: tuple[Step, ...] = ()
    version: str = "5.17.2"
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        edition_of(self.version)
        self._check_names()
        brokers = [member.name for member in self.members]
        endpoints = [endpoint.name for endpoint in self.endpoints]
        opened: dict[str, list[str]] = {"client": [], "consumer": []}
        for place, step in enumerate(self.steps):
            for kind, opens in (("client", "connect"), ("consumer", "open_consumer")):
                if step.do == opens:
                    opened[kind].append(step.keys[kind])
            for key, names in {"broker": brokers, "endpoint": endpoints, **opened}.items():
                if key in step.keys:
                    _check(f"step {place} ({step.do})", key, step.keys[key], names)
            for name in step.keys.get("brokers", ()):
                _check(f"step {place} ({step.do})", "broker", name, brokers)
            if "link" in step.keys:
                lines = [*(m.name for m in self.members if m.link), *self.lines]
                _check(f"step {place} ({step.do})", "link", step.keys["link"],
                       [*lines, "database"])  # fmt: skip

    def _check_names(self) -> None:
        seen: set[str] = set()
        for name in [*(m.name for m in self.members), *(e.name for e in self.endpoints)]:
            if name in seen:
                raise BadValue(f"two brokers or endpoints are called {name!r}; rename one")
            seen.add(name)
        for line, broker in self.lines.items():
            _check(f"line {line!r}", "broker", broker, [m.name for m in self.members])
        for connector in self.connectors:
            _check(f"connector {connector.name!r}, key 'from'", "broker", connector.home,
                   [m.name for m in self.members])  # fmt: skip
        for member in self.members:
            if member.pure.slave_of is not None:
                _check(f"broker {member.name!r}", "broker", member.pure.slave_of,
                       [m.name for m in self.members])  # fmt: skip

    @property
    def edition(self) -> str:
        """The edition that stands for the version."""
        return edition_of(self.version)

    def member(self, name: str) -> Member:
        """Return the broker called *name*."""
        return next(member for member in self.members if member.name == name)
