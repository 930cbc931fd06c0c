"""Actions written down: each kind of step of a lab file, the action that it is, and its keys.

One table for both directions. What a script of its own says (a `label`, `in_background`, `max_ms`) goes
into an action's `options`; times are in milliseconds, destinations under `queue`, `topic` or `temp`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec import faults as f
from mqlab.spec.json_types import JsonDict
from mqlab.spec.noun import written
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.shape import NAME, TEXT, TRUTH, ListOf, OneOf, Shape, choice, number, whole
from mqlab.spec.values import Destination

_CALL = ("label", "in_background", "max_ms")
_SILENT = ("wait_for_bridges", "for_bridges")  # the lab always comes to rest
GROUP = "JMSXGroupID"
SMALLEST = 1024  # bytes that a message counts at least, besides its body


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of step: its action, step keys that are called otherwise there, further keys, a sentence."""

    noun: type[a.Action]
    sentence: str
    keys: Mapping[str, str] = field(default_factory=dict)
    more: tuple[str, ...] = ()


_OF = {"broker": "on", "client": "on"}
_WHO = {"broker": "who", "consumer": "who", "client": "who"}
STEPS: dict[str, Row] = {
    "start": Row(a.Start, "Start all brokers, then the connectors."),
    "start_broker": Row(a.Restart, "Start a broker; a member of a master/slave set starts as a slave.",
                        more=("wait_ms", "jitter_ms", "max_ms")),
    "start_brokers": Row(c.StartBrokers, "Start several brokers at once.", more=("max_ms",)),
    "stop_broker": Row(a.Stop, "Stop a broker cleanly."),
    "kill": Row(f.Crash, "Kill the process (SIGKILL)."),
    "pause": Row(a.Pause, "Suspend a broker (SIGSTOP), or pause a consumer.", _WHO),
    "resume": Row(a.Resume, "Resume it.", _WHO),
    "host_down": Row(f.HostDown, "All brokers of a host crash at once."),
    "cut": Row(f.Cut, "Cut a link.", {"link": "one"}),
    "heal": Row(f.Heal, "Restore it.", {"link": "one"}),
    "database_down": Row(f.DatabaseDown, "The database cannot be reached."),
    "database_up": Row(f.DatabaseUp, "The database can be reached again."),
    "disk_slow": Row(f.SlowDisk, "Slow a disk down by this factor; 1 = normal speed.",
                     {"broker": "of", "shared_store": "of"}),
    "delete_lock_file": Row(f.DeleteLock, "Delete the lock file."),
    "touch_lock_file": Row(f.TouchLock, "Overwrite the lock file."),
    "copy_store": Row(f.CopyStore, "Copy the data directory of a broker.",
                      {"from": "source", "to": "target"}),
    "write_file": Row(f.WriteFile, "Write a file of addresses."),
    "set_endpoint": Row(f.SetEndpoint, "Change the behaviour of an endpoint."),
    "advertise": Row(f.Advertise, "Advertise a listener by multicast."),
    "stop_advertising": Row(f.StopAdvertising, "Stop advertising it."),
    "sniff": Row(f.Sniff, "Capture the datagrams of a multicast group."),
    "tell_reconnect": Row(f.SendAway, "Send the clients to another broker."),
    "start_connector": Row(a.StartConnector, "Start a connector.", {"from": "of"}),
    "stop_connector": Row(a.StopConnector, "Stop a connector.", {"from": "of"}),
    "connect": Row(c.Client, "Open a client connection.", {"client": "name"},
                   (*_CALL, "max_redeliveries", "start")),
    "close_client": Row(c.CloseClient, "Close the connection.", more=_CALL),
    "open_session": Row(c.OpenSession, "Open a session.", more=_CALL),
    "temp_queue": Row(c.TemporaryQueue, "Create a temporary queue.", more=_CALL),
    "open_consumer": Row(a.Consumer, "Open a consumer that consumes as fast as it can.",
                         {**_OF, "consumer": "name", "durable_name": "subscription_name"},
                         (*_CALL, "loop", "transacted", "unnamed", "own_mode")),
    "close_consumer": Row(a.Close, "Close a consumer.", more=_CALL),
    "unsubscribe": Row(c.Unsubscribe, "End a durable subscription.",
                       {"durable_name": "subscription_name"}, (*_CALL, "session")),
    "send": Row(a.Producer, "Send messages one after the other.",
                {**_OF, "producer": "name", "count": "sends"},
                ("label", "max_ms", "group", "unnamed", "continue_on_error", "transacted", "own_mode")),
    "receive": Row(a.Receive, "Let a paused consumer receive this many messages.", more=("max_ms",)),
    "receive_once": Row(c.ReceiveOnce, "Request one message and wait for it.",
                        more=(*_CALL, "client")),
    "acknowledge": Row(a.Acknowledge, "Acknowledge received messages.", more=_CALL),
    "commit": Row(a.Commit, "Commit the session.", _WHO, _CALL),
    "rollback": Row(a.Rollback, "Roll it back.", _WHO, _CALL),
    "recover": Row(a.Recover, "Let what it has not acknowledged come again.", _WHO, _CALL),
    "request_reply": Row(a.RequestReply, "Send requests, which a responder answers.",
                         {"broker": "on", "responder_broker": "responder_on"}),
    "sample_orders": Row(c.SampleOrders, "Sample address orders."),
    "wait": Row(a.Wait, "Let time pass."),
    "wait_for_sends": Row(a.WaitForSends, "Wait until sends in the background have ended."),
    "settle": Row(a.Settle, "Wait until there has been no activity for this long."),
    "snapshot": Row(a.Snapshot, "Record the state under a label."),
}  # fmt: skip
# What only a script says of an action, in its `options`.
_MORE: dict[str, Shape] = {
    **dict.fromkeys(("label", "session", "client"), TEXT),
    **dict.fromkeys(("in_background", "loop", "transacted", "unnamed", "continue_on_error", "start"), TRUTH),
    **dict.fromkeys(("max_ms", "wait_ms", "jitter_ms"), number()),
    "max_redeliveries": whole(-1), "group": OneOf((TEXT, ListOf(TEXT, least=1))),
    "own_mode": choice(a.ACK_MODES),
}  # fmt: skip
# What a script can wait for, and the keys that it says.
_WAITED: dict[str, Shape] = {
    **dict.fromkeys(("broker", "client", "to", "consumer", "from", "label", "by"), TEXT),
    "list": choice(("uris", "updated", "backups")),
    "role": choice(("master", "slave", "running", "down")),
    "brokers": ListOf(NAME, least=1), "count": whole(0), "up": TRUTH, "max_ms": number(),
}  # fmt: skip
WAITS: dict[str, tuple[str, ...]] = {
    "master": ("brokers",),
    "role": ("broker", "role"),
    "connected": ("client", "to"),
    "received": ("consumer", "count"),
    "bridge": ("from", "to", "up"),
    "configured": ("client", "count", "label", "list"),
    "attempts": ("by", "to", "count"),
    "acts": (),
}
MAY_LACK = (("connected", "to"), ("bridge", "up"), ("configured", "label"), ("configured", "list"),
            ("attempts", "by"), ("attempts", "to"))  # fmt: skip
# The steps of networks at rest: what other steps a script has make it one in time.
PLAIN = (
    "start",
    "start_broker",
    "stop_broker",
    "start_connector",
    "stop_connector",
    "open_consumer",
    "receive",
    "resume",
    "pause",
    "acknowledge",
    "commit",
    "rollback",
    "close_consumer",
    "send",
    "request_reply",
    "wait",
    "wait_for_sends",
    "settle",
    "snapshot",
)
ALIASES = {"resume_consumer": "resume", "hold_consumer": "pause", "wait_ms": "wait"}
STEP_OF = {row.noun: step for step, row in STEPS.items()}
TIMES = {
    "delay": "delay_ms",
    "every": "interval_ms",
    "time_to_live": "time_to_live_ms",
    "time": "ms",
    "quiet": "quiet_ms",
    "at_most": "max_ms",
    "timeout": "timeout_ms",
}
DESTINATION = {a.Consumer: "reads", a.Producer: "to", a.RequestReply: "to"}
KINDS = {"queue": "queue", "topic": "topic", "temp": "temp-queue"}


def actions_of(items: Sequence[Mapping[str, object]]) -> tuple[a.Action, ...]:
    """Return the actions of a recording's steps; errors name the step."""
    nameless = [i for i in items if i.get("do") == "send" and not {"producer", "client"} & set(i)]
    senders = {str(item.get("broker")) for item in nameless}
    actions = []
    for place, item in enumerate(items, start=1):
        try:
            if item in nameless:
                name = "P" if len(senders) < 2 else f"P.{item.get('broker')}"
                item = {**item, "producer": name}
            actions.append(noun_of(item))
        except (MqlabError, TypeError, ValueError) as error:
            kind = type(error) if isinstance(error, MqlabError) else BadValue
            raise kind(f"step {place} ({item.get('do')}): {error}") from None
    return tuple(actions)


def steps_of(actions: Sequence[a.Action], brokers: Collection[str]) -> list[JsonDict]:
    """Return the steps that `actions_of` makes the same actions of."""
    clients = {action.name for action in actions if isinstance(action, c.Client)}
    return [item_of(action, clients, brokers) for action in actions]


def noun_of(item: Mapping[str, object]) -> a.Action:
    """Return the action of a step; raises `UnknownName` or `BadValue` for what cannot be one."""
    keys = dict(item)
    step = str(keys.pop("do", None))
    keys = {("at" if key == "at_ms" else key): value for key, value in keys.items()}
    step = ALIASES.get(step, step)
    if step.removeprefix("wait_") in WAITS and step.startswith("wait_"):
        check_wait(step.removeprefix("wait_"), keys)
        return c.WaitUntil(step.removeprefix("wait_"), keys)
    if step not in STEPS:
        raise UnknownName.of("step", step, [*STEPS, *(f"wait_{what}" for what in WAITS)])
    return _noun(STEPS[step], keys)


def check_options(kind: type[a.Action], given: Mapping[str, object], where: str) -> None:
    """Raise `UnknownName` or `BadValue` for what a script cannot say of an action of a kind."""
    known = STEPS[STEP_OF[kind]].more
    for key, value in given.items():
        if key not in known:
            raise UnknownName.of("option", key, known, where)
        _MORE[key].check(value, f"{where}, {key}")


def check_wait(what: str, about: Mapping[str, object], where: str = "") -> None:
    """Raise `UnknownName` or `BadValue` for what cannot be waited for."""
    if what not in WAITS:
        raise UnknownName.of("thing to wait for", what, WAITS, where)
    for key in about:
        if key not in (*WAITS[what], "max_ms"):
            raise UnknownName.of("key", key, (*WAITS[what], "max_ms"), where)
        _WAITED[key].check(about[key], f"{where}, {key}" if where else key)
    for key in WAITS[what]:
        if key not in about and (what, key) not in MAY_LACK:
            raise BadValue(f"{where}{': ' if where else ''}the key {key!r} is missing")


def _noun(row: Row, keys: JsonDict) -> a.Action:
    given: JsonDict = {}
    names = field_of(row)
    known_keys = {*names, *row.more, *_SILENT, *(KINDS if row.noun in DESTINATION else ())}
    for key in keys:
        if key not in known_keys:
            raise UnknownName.of("key", key, sorted(known_keys - {*_SILENT}))
    if row.noun in DESTINATION:
        given[DESTINATION[row.noun]] = _destination(keys)
    if isinstance(keys.get("broker"), list):  # a failover address: the first, and the others
        keys["broker"], *others = keys["broker"]
        given["others"] = tuple(others)
    options = {}
    for key, value in keys.items():
        if key in names:
            if names[key] in given and key != "broker":
                both = [k for k, name in names.items() if name == names[key] and k in keys]
                raise BadValue(f"write {' or '.join(map(repr, both))}, not both")
            given[names[key]] = tuple(value) if key == "brokers" else value
        elif key in row.more:
            options[key] = value
    _translate(row.noun, keys, given, options)
    for known in fields(row.noun):
        needed = known.default is MISSING and known.default_factory is MISSING
        if needed and known.name not in given:
            ways = [repr(key) for key, name in row.keys.items() if name == known.name]
            key = " or ".join(ways) or repr(known.name)
            raise BadValue(f"the key {key} is missing")
    if options:
        given["options"] = options
    return row.noun(**given)


def field_of(row: Row) -> dict[str, str]:
    """Return step key -> field of the action."""
    names = [
        known.name for known in fields(row.noun) if known.name not in ("options", DESTINATION.get(row.noun))
    ]
    times = {TIMES[name]: name for name in names if name in TIMES}
    return {**row.keys, **times, **{name: name for name in names}}


def _translate(noun: type[a.Action], keys: JsonDict, given: JsonDict, options: JsonDict) -> None:
    """Turn what steps say in words of their own into an action's fields."""
    if noun is a.Consumer:
        if "subscription_name" in given:
            given.setdefault("durable", True)
        if options.pop("transacted", False):
            given.setdefault("ack_mode", "transacted")
    elif noun is a.Producer:
        given.setdefault("name", str(given.get("on")))
        given.setdefault("sends", 1)
        if "group" in options:
            given["properties"] = {**given.get("properties", {}), GROUP: options.pop("group")}
    elif noun in (a.Pause, a.Resume) and "consumer" in keys:
        given["kind"] = "consumer"
    elif noun is c.Client and "max_redeliveries" in options:
        most = options.pop("max_redeliveries")
        given["redelivery"] = Redelivery(maximum=most, initial_delay=0, delay=0)


def _destination(keys: JsonDict) -> Destination:
    for key, kind in KINDS.items():
        if key in keys:
            return Destination(kind, keys.pop(key))
    raise BadValue("the destination is missing; add the key 'queue' or 'topic'")


def item_of(
    action: a.Action, clients: Collection[str] = (), brokers: Collection[str] = ()
) -> dict[str, object]:
    """Return the step of an action; *clients* and *brokers* are names that decide between two keys."""
    step = name_of(action)
    if isinstance(action, c.WaitUntil):
        return {"do": step, **action.about, **_at(action)}
    row = STEPS[step]
    item: dict[str, object] = {"do": step}
    keys = {name: key for key, name in reversed(field_of(row).items())}
    for name, value in written(action):
        if name == DESTINATION.get(type(action)):
            item[next(key for key, kind in KINDS.items() if kind == value.kind)] = value.name
        elif name == "options":
            item |= value
        elif name not in ("at", "kind"):
            key = keys[name]
            if name == "on":
                key = "client" if value in clients else "broker"
            elif name == "who":
                key = getattr(action, "kind", None) or ("broker" if value in brokers else "consumer")
                if value in clients and isinstance(action, (a.Commit, a.Rollback, a.Recover)):
                    key = "client"
            elif name == "of" and step == "disk_slow":
                key = "broker" if value in brokers else "shared_store"
            elif name in TIMES and isinstance(value, str):
                key = name  # a text with its unit, such as "20ms"
            item[key] = _plain(value)
    if item.pop("others", None):
        item["broker"] = [item["broker"], *action.others]  # type: ignore[attr-defined]
    return {**item, **_at(action)}


def name_of(action: a.Action) -> str:
    """Return what the step of an action is called."""
    return f"wait_{action.what}" if isinstance(action, c.WaitUntil) else STEP_OF[type(action)]


def _at(action: a.Action) -> dict[str, object]:
    return {} if action.at is None else {"at": action.at}


def _plain(value: object) -> object:
    if isinstance(value, Redelivery):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
