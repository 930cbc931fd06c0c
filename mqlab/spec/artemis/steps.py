"""The steps of an Artemis script as the recordings write them (Recordings rule 7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mqlab.errors import BadValue, SelectorError, UnknownName
from mqlab.spec.artemis.options import read_options
from mqlab.spec.json_types import JsonObject
from mqlab.spec.selector import Selector
from mqlab.spec.step import Step, check_keys
from mqlab.spec.values import duration

Keys = JsonObject  # what a step says, by key

# Step -> keys it needs (a|b: either), keys it may have.
_OPEN = "queue topic transacted xa url time_limit_ms in_background"
STEPS: dict[str, tuple[str, str]] = {
    "start": ("", "brokers broker with wait"), "start_broker": ("broker|brokers", "with wait"),
    "kill": ("broker|brokers", ""), "stop": ("broker|brokers", "failover"),
    "restart": ("broker|brokers", "with wait"), "pause": ("broker|brokers", ""),
    "resume_broker": ("broker|brokers", ""), "cut": ("between|isolate", "silent"),
    "heal": ("between|isolate", ""), "slow": ("between|isolate bytes_per_second", ""),
    "gateway": ("answers", "broker brokers"), "wait_until": ("broker role", "timeout_ms"),
    "wait_failover": ("client", "times timeout_ms"),
    "open_consumer": ("consumer broker queue|topic", "receiving ack_mode acknowledge selector "
                      "durable_name client_id url time_limit_ms in_background"),
    "open_producer": ("producer broker", _OPEN), "open_client": ("client|producer broker", _OPEN),
    "receive": ("consumer count", "acknowledge wait_ms"), "resume": ("consumer", ""),
    "hold": ("consumer", ""), "close_consumer": ("consumer", ""), "close_client": ("client", ""),
    "send": ("count", "broker producer client queue topic persistent size interval_ms properties "
             "delivery_delay_ms time_to_live_ms in_background time_limit_ms url name"),
    "commit": ("client", ""), "rollback": ("client", ""), "recover": ("client", ""), "xa": ("client act", "id"),
    "wait": ("ms", ""), "wait_for_sends": ("", "timeout_ms"),
    "settle": ("", "quiet_ms timeout_ms"), "files": ("label", "broker brokers"),
    "snapshot": ("label", "topology"),
}  # fmt: skip
OPENS = ("open_consumer", "open_producer", "open_client")
STATES = (
    "live",
    "live_with_replica",
    "backup_in_sync",
    "backup_searching",
    "backup_announced",
    "backup_holding_lock",
    "backup_queued",
    "backup",
    "starting",
    "stopping",
    "stopped",
    "down",
    "paused",
    "not_started",
)
CHOICES: dict[str, tuple[str, ...]] = {
    "role": STATES,
    "ack_mode": ("auto", "client", "transacted"),
    "act": ("start", "end", "prepare", "commit", "rollback", "recover"),
}


class StepCheck:
    """Checks steps one after the other: clients are opened before they are used."""

    def __init__(self, brokers: Sequence[str]) -> None:
        self.brokers = brokers
        self.opened: dict[str, dict[str, bool]] = {"consumer": {}, "producer": {}}

    def read(self, step: Step, where: str) -> Step:
        """Return a step with its URL options in their types.

        Raises for a step with unknown or missing keys, or names of what is not there.
        """
        _check_step(step, where, self.brokers, self.opened)
        if not step.keys.get("url"):
            return step
        return Step(step.do, {**step.keys, "url": read_options("url", step.keys["url"], f"{where}, url")})


def _check_step(step: Step, where: str, brokers: Sequence[str], opened: dict[str, dict[str, bool]]) -> None:
    """Raise for a step with unknown or missing keys, or names of what is not there."""
    check_keys(step, where, STEPS, ("at",))
    for key in ("broker", "brokers", "between", "isolate"):
        for name in _flat(step.keys.get(key, ())):
            if name not in brokers and (name, key) != ("clients", "between"):
                raise UnknownName.of("broker", name, brokers, where)
    if step.at is not None:
        duration(step.at, f"{where}, at")
    if step.do == "wait_until" and not isinstance(step.keys["broker"], str):
        raise BadValue(f"{where}: broker is {step.keys['broker']!r}; expected one name")
    if "durable_name" in step.keys and "client_id" not in step.keys:
        raise BadValue(f"{where}: a durable subscription needs a client id, e.g. client_id='shop'")
    if "selector" in step.keys:
        try:
            Selector(step.keys["selector"])
        except SelectorError as error:
            raise SelectorError(f"{where}: {error}") from None
    for key, choices in CHOICES.items():
        if step.keys.get(key, choices[0]) not in choices:
            raise UnknownName.of(key, step.keys[key], choices, where)
    for key in (
        "count",
        "ms",
        "timeout_ms",
        "time_limit_ms",
        "interval_ms",
        "time_to_live_ms",
        "bytes_per_second",
    ):
        value = step.keys.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise BadValue(f"{where}: {key} is {value!r}; expected a number, 0 or more")
    _check_clients(step, where, opened, brokers)


def _flat(given: str | Iterable[str | Iterable[str]]) -> Iterator[str]:
    for item in [given] if isinstance(given, str) else given:
        yield from [item] if isinstance(item, str) else item


def _check_clients(step: Step, where: str, opened: dict[str, dict[str, bool]], brokers: Sequence[str]) -> None:
    """Raise for a client that is opened twice, or used and never opened."""
    keys = step.keys
    if step.do in OPENS:
        kind = "consumer" if "consumer" in keys else "producer"
        name = str(keys.get("consumer") or keys.get("producer") or keys.get("client"))
        if name in opened[kind]:
            raise BadValue(f"{where}: two are called {name!r}; give each its own name")
        opened[kind][name] = bool({"queue", "topic"} & set(keys))
        return
    anybody = {**opened["consumer"], **opened["producer"]}
    senders = opened["producer"] if step.do in ("send", "xa") else anybody
    for key, known in (("consumer", opened["consumer"]), ("producer", senders), ("client", senders)):
        if key in keys and str(keys[key]) not in known:
            if (step.do, key) == ("send", "client"):  # what a producer is on
                raise UnknownName.of("broker or client", keys[key], [*brokers, *sorted(known)], where)
            raise UnknownName.of(key, keys[key], sorted(known), where)
    if step.do != "send":
        return
    name = keys.get("producer", keys.get("client"))
    dest = bool({"queue", "topic"} & set(keys)) or opened["producer"].get(str(name), False)
    if not dest or (name is None and "broker" not in keys):
        raise BadValue(f"{where}: write 'producer', or 'broker', and 'queue' or 'topic'")
