"""Actions <-> the steps of a recording: one table, read both ways.

A step is first made `flat`: two sides of a line become `one` and `other`, a list of addresses `broker`
and `others`, `queue` or `topic` a destination, options of a URL and what stands beside them `options`,
milliseconds a text such as ``"2s"``. A step that names several brokers is as many actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product

from mqlab.errors import BadValue, MqlabError
from mqlab.spec import action as shared
from mqlab.spec import faults
from mqlab.spec.action import Action
from mqlab.spec.artemis import actions as own
from mqlab.spec.artemis.options import Options, read_options
from mqlab.spec.artemis.steps import STEPS
from mqlab.spec.clients import CloseClient
from mqlab.spec.json_types import JsonDict
from mqlab.spec.noun import as_usual
from mqlab.spec.step import Step
from mqlab.spec.steps import GROUP
from mqlab.spec.values import Destination, duration

Flat = JsonDict
EITHER = "|"  # between roles of which one is waited for
SIZE = 10  # bytes of a message in a step that does not say, as the recorder sends it


@dataclass(frozen=True)
class Word:
    """An action, the step it is, field -> key of the flat step, and keys that it always has."""

    action: type[Action]
    do: str
    keys: Mapping[str, str]
    fixed: Options

    def fits(self, flat: Flat) -> bool:
        """Whether it has a place for all keys of a flat step."""
        known = {*self.keys.values(), *self.fixed, "at"}
        same = all(flat.get(key) == value for key, value in self.fixed.items())
        return same and set(flat) <= known


def _word(action: type[Action], do: str, keys: str = "", **fixed: object) -> Word:
    """Return a word; in *keys* ``field=key``, or one name for both."""
    pairs = (key.partition("=") for key in keys.split())
    return Word(action, do, {field: key or field for field, _, key in pairs}, fixed)


_OPEN = "on=broker others options"
_SENT = (
    "sends=count to others persistent size properties every=interval_ms time_to_live=time_to_live_ms "
    "in_background options"
)
_READ = (
    "reads=to selector receiving ack_mode acknowledge subscription_name=durable_name client_id delay=delay_ms"
)
# Of the words for a step the first that has a place for all of its keys is taken.
WORDS: tuple[Word, ...] = (
    _word(shared.Start, "start"),
    _word(shared.Restart, "start_broker", "broker wait"),
    _word(own.StartAs, "start_broker", "broker written=with"),
    _word(faults.Crash, "kill", "broker"),
    _word(shared.Stop, "stop", "broker wait"),
    _word(own.ForcedFailover, "stop", "broker wait", failover=True),
    _word(shared.Pause, "pause", "who=broker"),
    _word(shared.Pause, "hold", "who=consumer"),
    _word(shared.Resume, "resume_broker", "who=broker"),
    _word(shared.Resume, "resume", "who=consumer"),
    _word(faults.Cut, "cut", "one other how"),
    _word(faults.Heal, "heal", "one other"),
    _word(own.Isolate, "cut", "brokers=isolate how clients"),
    _word(own.Rejoin, "heal", "brokers=isolate clients"),
    _word(own.SlowLine, "slow", "one other bytes_per_second"),
    _word(own.Gateway, "gateway", "answers broker"),
    _word(own.WaitForRole, "wait_until", "broker role timeout=timeout_ms"),
    _word(own.WaitForFailover, "wait_failover", "client times timeout=timeout_ms"),
    _word(own.WaitForDepth, "wait_depth", "broker queue depth timeout=timeout_ms"),
    _word(own.WaitForConsumers, "wait_consumers", "broker queue count timeout=timeout_ms"),
    _word(shared.Consumer, "open_consumer", f"name=consumer {_OPEN} {_READ}"),
    _word(own.Session, "open_client", f"name=client to transacted xa {_OPEN}"),
    _word(shared.Receive, "receive", "consumer count options"),
    _word(shared.Close, "close_consumer", "consumer"),
    _word(CloseClient, "close_client", "client"),
    _word(shared.Producer, "send", f"name on=broker {_SENT}"),
    _word(shared.Producer, "send", f"name on=client {_SENT}"),
    _word(shared.Commit, "commit", "who=client"),
    _word(shared.Rollback, "rollback", "who=client"),
    _word(shared.Recover, "recover", "who=client"),
    _word(own.Xa, "xa", "client act id"),
    _word(shared.Wait, "wait", "time=ms"),
    _word(own.WaitForSends, "wait_for_sends", "timeout=timeout_ms"),
    _word(shared.WaitForSends, "wait_for_sends"),
    _word(own.Settle, "settle", "quiet=quiet_ms at_most=timeout_ms"),
    _word(shared.Settle, "settle", "quiet=quiet_ms at_most=timeout_ms"),
    _word(own.Files, "files", "label broker"),
    _word(own.Snapshot, "snapshot", "label topology"),
    _word(shared.Snapshot, "snapshot", "label"),
)
_SAME = {"restart": "start_broker", "open_producer": "open_client", "wait_replicas": "settle"}
# What stands beside the options of a client's URL and has no unit.
_PLAIN = ("in_background", "acknowledge", "commit_each", "stop_at_failure")
_BESIDE = {
    "time_limit_ms": "time_limit",
    "delivery_delay_ms": "delivery_delay",
    "wait_ms": "timeout",
}


# Actions to steps


def word_of(action: Action, brokers: Sequence[str]) -> Word:
    """Return the word for an action; raises `BadValue` for one that Artemis does not know."""
    words = [word for word in WORDS if word.action is type(action)]
    if not words:
        raise BadValue(
            f"{action}: Artemis does not know this action; `mqlab actions` lists which product takes which"
        )
    of_broker = any(getattr(action, name, None) in brokers for name in ("on", "who"))
    if (kind := getattr(action, "kind", None)) is not None:
        of_broker = kind == "broker"
    return words[0] if of_broker or len(words) == 1 else words[-1]


def to_step(action: Action, brokers: Sequence[str]) -> Step:
    """Return the step that an action of a script is.

    >>> to_step(faults.Cut("M1", "S1", how="hang"), ["M1", "S1"])
    Step(do='cut', keys={'between': ['M1', 'S1'], 'silent': True})
    """
    word = word_of(action, brokers)
    needed = STEPS[word.do][0].split()
    given = {
        f.name: getattr(action, f.name)
        for f in fields(action)
        if f.name == "size"  # usual is another one in a step
        or (f.name != "kind" and (not as_usual(f, getattr(action, f.name)) or word.keys.get(f.name) in needed))
    }
    if isinstance(action, faults.Cut | faults.Heal) and action.other is None:
        given["other"] = [name for name in (*brokers, "clients") if name != action.one]
    if given.pop("durable", False):
        given.setdefault("subscription_name", given["name"])
    flat = {**word.fixed, **({"at": given.pop("at")} if "at" in given else {})}
    flat |= {word.keys[name]: value for name, value in given.items()}
    return Step(word.do, _unfolded(flat))


def _unfolded(flat: Flat) -> Flat:
    """Return the keys of a step in place of those of a flat one."""
    found: Flat = {}
    others = flat.pop("others", ())
    for key, value in flat.items():
        if key == "to":
            found["queue" if value.is_queue else "topic"] = value.name
        elif key == "one":
            found["between"] = [value, flat["other"]]
        elif key == "options":
            found |= _written(value)
        elif key == "how":
            found["silent"] = value == "hang"
        elif key == "ms" or key.endswith("_ms"):
            found[key] = _ms(value)
        elif key == "broker" and others:
            found[key] = [value, *others]
        elif key == "role" and EITHER in value:
            found[key] = value.split(EITHER)
        elif key != "other":
            found[key] = list(value) if isinstance(value, tuple) else value
    return found


def _ms(time: int | str) -> int | float:
    ms = duration(time, "time") / 1000
    return int(ms) if ms.is_integer() else ms


def _written(options: Options) -> Flat:
    beside = {name: key for key, name in _BESIDE.items()}
    beside |= {key: key for key in _PLAIN}
    found = {
        key: _ms(options[name]) if key in _BESIDE else options[name]
        for name, key in beside.items()
        if name in options
    }
    url = {name: value for name, value in options.items() if name not in beside}
    return {**found, **({"url": read_options("url", url, "url")} if url else {})}


# Steps to actions


def actions_of(steps: Iterable[Step]) -> Iterator[Action]:
    """Yield the actions that steps are; senders without a name have that of their step.

    >>> list(actions_of([Step("kill", {"brokers": ["A", "B"]})]))
    [Crash('A'), Crash('B')]
    """
    homes: dict[str, Destination] = {}  # where sessions send what says nothing
    for no, step in enumerate(steps):
        try:
            yield from [_read(one, no, homes) for one in _split(step)]
        except MqlabError as error:
            raise type(error)(f"step {no + 1} ({step.do}): {error}") from None


def _read(step: Step, no: int, homes: dict[str, Destination]) -> Action:
    flat = _flat(step)
    if step.do.startswith("open_") and "to" in flat:
        homes[str(flat.get("consumer") or flat.get("client"))] = flat["to"]
    if step.do == "send":
        client = flat.get("client", "")
        usual = {"name": client or f"sender{no}", "size": SIZE}
        flat = {**usual, **({"to": homes[client]} if client in homes else {}), **flat}
        if "to" not in flat or not (client or "broker" in flat):
            raise BadValue("write 'producer', or 'broker', and 'queue' or 'topic'")
    return _action(_SAME.get(step.do, step.do), flat)


def numbering(steps: Iterable[Step]) -> list[int]:
    """Return for each action the number of the step that it comes from, which outcomes of recordings name."""
    return [no for no, step in enumerate(steps) for _ in _split(step)]


def _split(step: Step) -> Iterator[Step]:
    """Yield a step for each broker, or each line, that a step names."""
    keys = dict(step.keys)
    if step.do == "restart":
        halves = {key: it for key, it in keys.items() if key in ("broker", "brokers", "failover")}
        keys.pop("failover", None)
        yield from (*_split(Step("stop", halves)), *_split(Step("start_broker", keys)))
    elif step.do == "send" and keys.pop("commit", False):
        if "client" not in keys and "producer" not in keys:
            raise BadValue("'commit' ends a client's transaction: write 'client' or 'producer'")
        yield from (Step("send", keys), Step("commit", {"client": keys.get("client", keys.get("producer"))}))
    elif "between" in keys:
        sides = [[side] if isinstance(side, str) else side for side in keys.pop("between")]
        yield from (Step(step.do, {**keys, "between": list(pair)}) for pair in product(*sides))
    elif ("broker" in keys or "brokers" in keys) and not step.do.startswith(("open_", "send")):
        given = keys.pop("brokers", None) or keys.pop("broker")
        do = "start_broker" if step.do == "start" else step.do
        names = [given] if isinstance(given, str) else given
        if do.startswith("wait_") and given is names:
            raise BadValue(f"broker is {given!r}; expected one name")
        # Not one by one: all are started before the last one is waited for.
        beside = {} if keys.pop("one_by_one", True) else {"wait": False}
        for name in names:
            yield Step(do, {**keys, **(beside if name is not names[-1] else {}), "broker": name})
    elif "one_by_one" in keys:
        raise BadValue("'one_by_one': name the 'brokers' that start together")
    else:
        yield step


def _flat(step: Step) -> Flat:
    found: Flat = {}
    options = dict(step.keys.get("url", {}))
    do = _SAME.get(step.do, step.do)
    own = {key for word in WORDS if word.do == do for key in word.keys.values()}
    for key, value in step.keys.items():
        if key in ("queue", "topic") and not step.do.startswith("wait_"):
            found["to"] = Destination(key, value)
        elif key == "between":
            found["one"], found["other"] = value
        elif key in _BESIDE:
            options[_BESIDE[key]] = _text(value)
        elif key in _PLAIN and key not in own and "options" in own:
            options[key] = value
        elif key == "role" and not isinstance(value, str):
            found[key] = EITHER.join(value)
        elif key == "silent":
            found |= {"how": "hang"} if value else {}
        elif key == "ms" or key.endswith("_ms"):
            found[key] = _text(value)
        elif key == "brokers" or (key == "broker" and not isinstance(value, str)):
            found["broker"], *others = value
            found |= {"others": tuple(others)} if others else {}
        elif key != "url":
            found["client" if key == "producer" else key] = tuple(value) if isinstance(value, list) else value
    if found.pop("transacted", False) if step.do == "open_consumer" else False:
        found["ack_mode"] = "transacted"
    if "durable_name" in found:  # the recorder's program subscribes without a selector (Recordings rule 7.3)
        found.pop("selector", None)
    if "group" in found:
        found["properties"] = {GROUP: found.pop("group"), **found.get("properties", {})}
    return {**found, **({"options": options} if options else {})}


def _text(ms: float) -> str:
    """Return a time as one writes it.

    >>> _text(30000), _text(500), _text(1.5)
    ('30s', '500ms', '1.5ms')
    """
    return f"{ms // 1000}s" if ms and ms % 1000 == 0 and isinstance(ms, int) else f"{ms}ms"


def _action(do: str, flat: Flat) -> Action:
    word = next((word for word in WORDS if word.do == do and word.fits(flat)), None)
    if word is None:
        raise BadValue(f"step {do!r} with the keys {', '.join(flat)} is not an action")
    values = {field: flat[key] for field, key in word.keys.items() if key in flat}
    more: Flat = {"durable": True} if "durable_name" in flat else {}
    if "who" in word.keys and word.action in (shared.Pause, shared.Resume) and "consumer" in flat:
        more = {"kind": "consumer"}
    return word.action(**values, **more, **({"at": flat["at"]} if "at" in flat else {}))
