"""Nouns and steps: each action that an OpenMQ cluster knows, and the step of a recording that it is.

One table for both directions (Recordings rule 6.3 has the steps); `steps` writes them. Several nouns
may be one step: its keys say which. Times in steps are milliseconds; a list of addresses is `on` and `others`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import DESTINATIONS
from mqlab.spec.noun import required
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.options import OPTIONS, Options, to_guide, to_python
from mqlab.spec.step import Step
from mqlab.spec.values import Destination

Keys = JsonDict  # of a step, or fields of an action

SIZE = len("message 1")  # bytes of a message in a step that does not say: its text is its number
CALL = ("id", "limit_ms", "in_background", "lead_ms", "rest_ms", "at")  # what any step may have
IMQ = "imq"  # options that begin so are properties of a client's connection, by their real names
NOT_KEYS = ("at", "others", "kind")
# What the application of a client does, as options of nouns that have no rows of such.
OF_APPLICATIONS: Mapping[type[a.Action], frozenset[str]] = {
    a.Producer: frozenset(("transacted", "stop_at_error")),
    a.Close: frozenset(("consumer_only",)),
}
NO_ACKNOWLEDGE = "none"  # an acknowledge mode of OpenMQ's own
TEMPORARY = "temporary"  # a consumer's step with a destination of its own


@dataclass(frozen=True, slots=True)
class Row:
    """A noun, its step, step keys -> fields, keys that never vary, the rows of its options."""

    noun: type[a.Action]
    step: str
    keys: Mapping[str, str] = field(default_factory=dict)
    constant: Options = field(default_factory=dict)
    options: str = ""
    nested: bool = False  # the step has its options under a key of that name
    silent: tuple[str, ...] = ()  # keys that change nothing
    needs: tuple[str, ...] = ()  # keys that have to be there, though the noun has them as usual


def _same(*names: str, **renamed: str) -> dict[str, str]:
    return {**{name: name for name in names}, **renamed}


_ON = {"broker": "on"}
_SEND = _same(
    "persistent",
    "properties",
    "jms_priority",
    "size",
    count="sends",
    time_to_live_ms="time_to_live",
)
_CONSUMER = _same(
    "receiving",
    "selector",
    "durable",
    "client_id",
    "subscription_name",
    "ack_mode",
    "acknowledge",
    consumer="name",
    broker="on",
    delay_ms="delay",
)
ROWS = (
    Row(a.Start, "start"),
    Row(o.StartBrokers, "start", _same("brokers")),
    Row(a.Restart, "start_broker", _same("broker")),
    Row(o.StartBroker, "start_broker", _same("broker", "until"), options="broker", nested=True),
    Row(o.CrashAndRestart, "restart", _same("broker", "until"), options="broker", nested=True),
    Row(f.Crash, "kill", _same("broker")),
    Row(a.Stop, "stop", _same("broker"), silent=("signal",)),  # SIGTERM is an orderly stop, too
    Row(o.Shutdown, "stop", _same("broker", "no_failover")),
    Row(o.CrashOwner, "kill_owner", _same("of")),
    Row(a.Pause, "pause", {"broker": "who", "consumer": "who"}),
    Row(a.Resume, "resume", {"broker": "who", "consumer": "who"}),
    Row(f.Cut, "cut", {"between": "one"}),
    Row(f.Heal, "heal", {"between": "one"}),
    Row(f.DatabaseDown, "database", constant={"action": "stop"}),
    Row(f.DatabaseUp, "database", constant={"action": "start"}),
    Row(o.CreateDestination, "create_destination", _ON, options="destination", nested=True),
    Row(o.UpdateDestination, "update_destination", _ON, options="destination", nested=True, needs=("options",)),
    Row(o.DestroyDestination, "destroy_destination", _ON),
    Row(o.PurgeDestination, "purge", _ON),
    Row(o.PauseDestination, "pause_destination", _ON),
    Row(o.ResumeDestination, "resume_destination", _ON),
    Row(o.Browse, "browse", _ON),
    Row(a.Consumer, "open_consumer", {**_CONSUMER, **_same("no_local")}, options="consumer"),
    Row(a.Consumer, TEMPORARY, {key: name for key, name in _CONSUMER.items() if key != "selector"},
        options="consumer", silent=("selector",)),
    Row(a.Close, "close_consumer", _same("consumer", "unsubscribe"),
        silent=("subscription_name", "consumer_only")),
    Row(o.KillClient, "kill_client", _same("consumer")),
    Row(o.Receive, "receive", _same("consumer", "count", within_ms="within"), needs=("count",)),
    Row(a.Receive, "receive", _same("consumer", "count"), needs=("count",)),
    Row(a.Acknowledge, "acknowledge", _same("consumer")),
    Row(a.Commit, "commit", {"consumer": "who", "producer": "who"}),
    Row(a.Rollback, "rollback", {"consumer": "who", "producer": "who"}),
    Row(a.Recover, "recover", {"consumer": "who"}),
    Row(o.Unsubscribe, "unsubscribe", _same("client_id", "subscription_name", broker="on")),
    Row(o.OpenProducer, "open_producer", {"producer": "name", **_ON}, options="producer"),
    Row(o.Send, "send", _same("producer", "stop_at_error", **_SEND)),
    Row(a.Producer, "send", _same("name", "in_background", broker="on", interval_ms="every", **_SEND),
        silent=("transacted", "stop_at_error")),
    Row(o.CloseProducer, "close_producer", _same("producer")),
    Row(o.Xa, "xa", _same("action", "xid", "one_phase", broker="on", consumer="who", producer="who")),
    Row(o.Connect, "connect", _ON),
    Row(o.Knock, "knock", _same("brokers", "until", every_ms="every")),
    Row(o.ChangeMaster, "admin", _same("to", broker="on"), {"command": "change_master"},
        silent=("from", "target")),
    Row(o.TakeOver, "admin", _same("target", broker="on"), {"command": "takeover"},
        silent=("from", "to")),
    *(Row(noun, "admin", _ON, {"command": command}, silent=("from", "to", "target"))
      for noun, command in ((o.Reload, "reload"), (o.Quiesce, "quiesce"), (o.Unquiesce, "unquiesce"))),
    Row(a.Wait, "wait", {"ms": "time"}),
    Row(a.Settle, "settle", silent=("ms",)),
    Row(o.WaitFor, "wait_for", _same("event", "about", "by", settle_ms="settle")),
    Row(o.WaitForReceived, "wait_received", _same("consumer", "count")),
    Row(a.WaitForSends, "wait_background"),
    Row(a.Snapshot, "snapshot", _same("label")),
    Row(o.Look, "snapshot", _same("label", "properties")),
)  # fmt: skip
BY_NOUN = {row.noun: row for row in reversed(ROWS)}  # of a consumer the first row


def _guide_names(element: str) -> list[str]:
    return [row.guide for row in OPTIONS[element].values()]


def _given(row: Row, name: str) -> list[str]:
    """Return the keys of which one gives a field; a temporary destination is called as who reads it."""
    if name in DESTINATIONS and name not in row.keys.values():
        return ["queue", "topic"] if row.step != TEMPORARY else ["kind"]
    return [key for key, own in row.keys.items() if own == name]


def _words(row: Row) -> list[str]:
    """Return the keys that a step may have."""
    given = [key for known in fields(row.noun) for key in _given(row, known.name)]
    options = ["options"] if row.nested else [*_guide_names(row.options), "client"] if row.options else []
    return [*given, *row.constant, *row.silent, *options]


def _needed(row: Row) -> list[str]:
    named = ["|".join(_given(row, name)) for name in required(row.noun)]
    return [*(one for one in named if one not in ("", "kind")), *row.constant, *row.needs]


def _steps() -> Iterator[tuple[str, tuple[str, str]]]:
    for do in dict.fromkeys(row.step for row in ROWS):
        rows = [row for row in ROWS if row.step == do]
        needed = [key for key in _needed(rows[0]) if all(key in _needed(row) for row in rows)]
        known = [*"|".join(needed).split("|"), *CALL]
        more = dict.fromkeys(key for row in rows for key in _words(row) if key not in known)
        yield do, (" ".join(needed), " ".join(more))


# Step -> the keys that it needs (of those joined by a bar one), and those that it may have.
STEPS = dict(_steps())


# Steps -> nouns


def nouns_of(steps: Iterable[Step]) -> tuple[a.Action, ...]:
    """Return the actions of steps; errors say which one it is."""
    found, topics = [], set()
    for place, step in enumerate(steps, start=1):
        if step.do == TEMPORARY and step.keys.get("kind") == "topic":
            topics.add(f"temp:{step.keys['consumer']}")
        try:
            found.append(noun_of(step))
            if step.keys.get("queue") in topics:  # the recorder finds it by its name, whatever it is
                found[-1] = _of_topic(found[-1])
        except (MqlabError, TypeError, ValueError) as error:
            kind = type(error) if isinstance(error, MqlabError) else BadValue
            raise kind(f"step {place} ({step.do}): {error}") from None
    return tuple(found)


def _of_topic(action: a.Action) -> a.Action:
    """Return what is done to a temporary topic instead of a queue of that name."""
    if isinstance(action, o.Call):
        return replace(action, action=_of_topic(action.action))
    field_name = next(name for name in DESTINATIONS if hasattr(action, name))
    return replace(action, **{field_name: Destination("temp-topic", getattr(action, field_name).name)})  # type: ignore[arg-type]


def noun_of(step: Step) -> a.Action:
    """Return the action of a step."""
    keys = {key: value for key, value in step.keys.items() if key not in CALL}
    if step.do == "send" and "producer" not in keys:
        _destination(step)  # it has to say one
    row = next((row for row in ROWS if row.step == step.do and _fits(row, keys)), None)
    if row is None:
        raise _misfit(step.do, keys)
    return _with_call(_noun(row, keys, step), step)


def _misfit(do: str, keys: Options) -> UnknownName:
    """Return in what a step's keys fit no action: in one that says which it is, or as a whole."""
    constants = [row.constant for row in ROWS if row.step == do]
    for key, value in keys.items():
        known = [str(constant[key]) for constant in constants if key in constant]
        if known and value not in known:
            return UnknownName.of(key, value, known)
    return UnknownName.of("step", do, {row.step for row in ROWS})


def _fits(row: Row, keys: Options) -> bool:
    if any(keys.get(key) != value for key, value in row.constant.items()):
        return False
    return set(_words(row)) >= set(keys)


def _noun(row: Row, keys: Options, step: Step) -> a.Action:
    names = {known.name for known in fields(row.noun)}
    given: Keys = {}
    written: Options = keys.get("options", {}) if row.nested else {}
    # A word of the step among the properties is no attribute of a destination, which is refused then.
    dropped = () if row.options == "destination" else CALL
    options = {name: value for name, value in written.items() if name not in dropped}
    for key, value in keys.items():
        name = row.keys.get(key)
        if key == "between":
            given["one"], given["other"] = value
        elif name == "on" and isinstance(value, (list, tuple)):
            given["on"], given["others"] = value[0], tuple(value[1:])
        elif name is not None:
            given[name] = (
                tuple(value) if key in ("brokers", "properties") and not isinstance(value, Mapping) else value
            )
        elif row.options and not row.nested and key in _guide_names(row.options):
            options[key] = value
    options |= keys.get("client", {})
    if options.get("xa"):  # the recorder gives such a connection no client id
        given.pop("client_id", None)
        options = {name: value for name, value in options.items() if name != "client_id"}
        options |= {"no_client_id": True} if given.get("durable") else {}
    for place in DESTINATIONS:
        if place in names and place not in given:
            given[place] = _destination(step)
    given = {"size": SIZE, **given} if step.do == "send" else given
    if row.noun is a.Producer:
        given = {"name": f"P.{given['on']}", **given}
        given["in_background"] = bool(step.keys.get("in_background", False))
    if row.noun in OF_APPLICATIONS:
        options |= {name: True for name in sorted(OF_APPLICATIONS[row.noun]) if keys.get(name)}
    if row.noun in (a.Pause, a.Resume) and "consumer" in keys:
        given["kind"] = "consumer"
    if row.noun is f.Cut:
        given["how"] = "hang"
    if given.get("ack_mode") == NO_ACKNOWLEDGE:
        options["ack_mode"] = given.pop("ack_mode")
    if options:
        given["options"] = to_python(row.options, options) if row.options else options
    return row.noun(**given)


def _destination(step: Step) -> Destination:
    if step.do == TEMPORARY:
        return Destination(f"temp-{step.keys.get('kind', 'queue')}", step.keys["consumer"])
    kind = "queue" if "queue" in step.keys else "topic"
    if kind not in step.keys:
        raise BadValue("write 'producer', or 'broker' with 'queue' or 'topic'")
    name = str(step.keys[kind])
    temporary = kind == "queue" and name.startswith("temp:")  # of a topic that is a name like others
    return Destination(f"temp-{kind}" if temporary else kind, name.removeprefix("temp:") if temporary else name)


def _with_call(action: a.Action, step: Step) -> a.Action:
    """Return the action as it was called: by which name, at which time, with what patience."""
    keys = step.keys
    said: Keys = {"id": keys.get("id"), "limit": keys.get("limit_ms"), "lead": keys.get("lead_ms")}
    if not isinstance(action, a.Producer):
        said["in_background"] = keys.get("in_background") or None
    said = {name: value for name, value in said.items() if value is not None}
    if said:
        action = o.Call(action, **said)
    return replace(action, at=keys["at"]) if "at" in keys else action


# What a script holds


def word_of(action: a.Action) -> str:
    """Return the step that an action is in recordings."""
    return TEMPORARY if makes_temporary(action) else BY_NOUN[type(action)].step


def makes_temporary(action: a.Action) -> bool:
    """Whether a consumer reads a temporary destination of its own."""
    own = isinstance(action, a.Consumer) and action.reads.is_temporary
    return own and action.reads.name == action.name  # type: ignore[attr-defined]


def options_of(action: a.Action, where: str = "") -> Keys:
    """Return an action's options by the product's names, each in its type; raises for those it has not."""
    row, given = BY_NOUN[type(action)], getattr(action, "options", {})
    if not given or (given.keys() <= OF_APPLICATIONS.get(row.noun, frozenset())):
        return dict(given)
    if not row.options:
        raise BadValue(f"{where}: OpenMQ takes no options here")
    # A property of the connection, or what a recording has among those of a destination, stays as it is.
    stays = CALL if row.options == "destination" else ()
    own = {n: v for n, v in given.items() if n not in stays and (row.nested or not n.startswith(IMQ))}
    return {**to_guide(row.options, own, where), **{n: v for n, v in given.items() if n not in own}}
