"""Single changes of a run: an option taken back or set, a fault or an action left out.

A run is written down as a lab file (`Trace.header["scenario"]`), whatever the product, and that is
where a `Change` is made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mqlab import products
from mqlab.errors import BadValue
from mqlab.products import inputs
from mqlab.spec.change import Body, Change, Edit, Path
from mqlab.spec.network import Network
from mqlab.spec.option import Option
from mqlab.spec.rows import GUIDE_NAMES, OPTIONS
from mqlab.spec.scenario import AnyNetwork, Scenario
from mqlab.spec.values import as_text

# What says which thing an element or a step is, and is no option of it.
_ELEMENT_KEYS = {
    "name",
    "from",
    "to",
    "uri",
    "at",
    "process",
    "queue",
    "topic",
    "policy",
    "role",
    "model",
    "master",
    "links",
    "link",
}
_TOP = ("brokers", "connectors", "cluster", "address_settings", "clients")
_FIELDS = {
    "do",
    "name",
    "on",
    "who",
    "consumer",
    "producer",
    "client",
    "broker",
    "reads",
    "to",
    "sends",
    "session",
    "uri",
    "label",
    "at",
    "id",
    "limit",
    "max_ms",
    "unnamed",
    "own_mode",
    "options",
    "properties",
}
OPENERS = ("Consumer", "OpenProducer", "Producer", "Send", "Client", "Session")

# Faults, and the actions that mend them: such a one goes with its fault.
_STARTS = ("Restart", "StartBroker", "StartBrokers", "StartAs")
_FAULTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("Crash", "Stop", "Shutdown", "ForcedFailover", "HostDown"), _STARTS),
    "Cut": ("Heal",), "Isolate": ("Rejoin",), "Pause": ("Resume",), "SlowLine": ("Heal",),
    "DatabaseDown": ("DatabaseUp",), "SlowDisk": (), "Gateway": (), "DeleteLock": (), "TouchLock": (),
    "SetEndpoint": (), "StopAdvertising": (), "CrashOwner": (), "KillClient": (),
    "PauseDestination": ("ResumeDestination",), "DestroyDestination": (),
    "PurgeDestination": (),
    "StopConnector": ("StartConnector",),
}  # fmt: skip
_ACTIONS = (
    "Close",
    "CloseClient",
    "CloseProducer",
    "Unsubscribe",
    "Rollback",
    "Recover",
    "Commit",
    "Receive",
    "Acknowledge",
    "SendAway",
    "UpdateDestination",
    "ChangeMaster",
    "TakeOver",
    "Reload",
    "Quiesce",
    "Unquiesce",
    "CopyStore",
)
_SAID = {"Consumer": "open consumer", "Producer": "send", "Client": "connect", "Session": "open client"}


class Proposal(Change):
    """A `Change` that applies to everything that `run` takes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Change(kind={self.kind!r}, text={self.text!r})"

    def apply(self, what: object) -> Any:
        """Return *what* with the change made: lab files and networks stay such, all else is a scenario.

        The change is that of the scenario it was found in: the same brokers, connectors and actions. Raises
        `BadValue` where it is one of an action and *what* is a network alone.
        """
        if isinstance(what, Mapping):
            return super().apply(what)
        alone = isinstance(what, AnyNetwork)
        if alone and any(edit.path[0] == "actions" for edit in self.edits):
            raise BadValue(f"{self.text}: that is about an action; apply it to net.with_actions(...)")
        before = Scenario(what) if isinstance(what, AnyNetwork) else inputs.scenario_of(what)
        product = products.product_of_scenario(before)
        after = product.read(super().apply(product.write(before)))
        kept = _of_files(after.network, before.network)
        return kept if alone else replace(after, network=kept)


def _of_files(network: AnyNetwork, before: AnyNetwork) -> AnyNetwork:
    """Return a network that remembers the files that the one before was read from."""
    if isinstance(network, Network) and isinstance(before, Network):
        return before.made_of(*network.brokers, edition=network.edition)
    return replace(network, origin=before.origin)  # type: ignore[type-var]


def taken_away(body: Body) -> Iterator[Change]:
    """Yield every option that is written, taken back to its default, then every fault and action."""
    actions = body.get("actions", ())
    for top in _TOP:
        yield from _options(body, (top,), body.get(top))
    for no, action in enumerate(actions):
        given = action.get("options", {})
        if action["do"] in OPENERS:
            who = action.get("name") or action.get("producer") or "a send"
            for path, value in [((key,), action[key]) for key in action] + [
                (("options", k), given[k]) for k in given
            ]:
                if path[-1] not in _FIELDS:
                    text = f"{who} without {GUIDE_NAMES.get(path[-1], path[-1])}={as_text(value)}"
                    yield Proposal("option", text, (Edit(("actions", no, *path)),), (path[-1],))
        else:
            for key in given:  # of a destination, or a start
                text = f"{told(action)} without {key}={as_text(given[key])}"
                yield Proposal("option", text, (Edit(("actions", no, "options", key)),), (key,))
    for no, action in enumerate(actions):
        if action["do"] in _FAULTS:
            places = [no, *_menders(actions, no)]
            yield Proposal("fault", f"without {told(action)}", _without(places), (action["do"],))
    for no, action in enumerate(actions):
        if action["do"] in _ACTIONS:
            yield Proposal("action", f"without {told(action)}", _without([no]), (action["do"],))


def _options(body: Body, path: Path, place: object) -> Iterator[Change]:
    if isinstance(place, list):
        for no, item in enumerate(place):
            yield from _options(body, (*path, no), item)
    elif isinstance(place, Mapping):
        for key, value in place.items():
            inner = (*path, key)
            if isinstance(value, Mapping) or (
                isinstance(value, list) and value and isinstance(value[0], Mapping)
            ):
                yield from _options(body, inner, value)
            elif key not in _ELEMENT_KEYS:
                text = f"{element(body, path)} without {GUIDE_NAMES.get(key, key)}={as_text(value)}"
                yield Proposal("option", text, (Edit(inner),), _names(inner))


def _names(path: Path) -> tuple[str, ...]:
    """Return the option that a place is: a policy's are known by the policies, too."""
    return (*(key for key in path if key == "policies"), str(path[-1]))


def _without(places: Sequence[int]) -> tuple[Edit, ...]:
    return tuple(Edit(("actions", no)) for no in places)


def _menders(actions: Sequence[Body], fault: int) -> Iterator[int]:
    """Yield the place of the action that mends a fault: the next of its kind about the same thing."""
    names = about(actions[fault])
    for no in range(fault + 1, len(actions)):
        if actions[no]["do"] in _FAULTS[actions[fault]["do"]] and names & about(actions[no]):
            yield no
            return


def about(action: Body) -> set[str]:
    """Return the names that an action speaks of; without any it is about the one there is."""
    keys = ("broker", "brokers", "name", "on", "who", "consumer", "one", "other", "host", "connector", "of")
    found: set[str] = set()
    for key in keys:
        value = action.get(key)
        found |= set(value) if isinstance(value, (list, tuple)) else {value} if value else set()
    places = [str(action.get(key, "")).partition("://")[2] for key in ("reads", "to", "destination")]
    found |= {name for name in places if name}
    return found or {""}


def without_client(body: Body, name: str) -> Change | None:
    """Return the run without a consumer, producer or client, and all that it does; None for nobody."""
    keys = ("name", "consumer", "producer", "client", "who", "on")
    actions = body.get("actions", ())
    places = [no for no, action in enumerate(actions) if name in [action.get(key) for key in keys]]
    return Proposal("action", f"without {name}", _without(places), (name,)) if places else None


def earlier(body: Body, name: str) -> Change | None:
    """Return the run in which a consumer subscribes before anything is sent; None if it does."""
    actions = list(body.get("actions", ()))
    opened = [n for n, one in enumerate(actions) if one["do"] == "Consumer" and one["name"] == name]
    sent = [n for n, one in enumerate(actions) if one["do"] in ("Producer", "Send")]
    if not opened or not sent or opened[0] < sent[0] or "at" in actions[sent[0]]:
        return None
    order = [*range(sent[0]), opened[0], *(n for n in range(sent[0], len(actions)) if n != opened[0])]
    moved = tuple(Edit(("actions", n), actions[old]) for n, old in enumerate(order))
    text = f"{name} subscribes before anything is sent"
    return Proposal("action", text, moved, ("subscribes",))


def element(body: Body, path: Path) -> str:
    """Return what a place of a lab file is called: ``A/ab`` is connector ab of broker A."""
    top, *inner = path
    if top in ("brokers", "connectors") and inner:
        item = body[str(top)][inner[0]]
        home = item.get("from")
        return f"{home}/{item.get('name', 'bridge')}" if home else str(item.get("name"))
    return "the network"


def told(action: Body) -> str:
    """Return an action as a reader says it, such as ``crash A at 30ms``."""
    names = " ".join(sorted(about(action) - {""}))
    who = names or str(action.get("client") or action.get("producer") or "")
    at = f" at {action['at']}" if "at" in action else ""
    noun = str(action["do"])
    return f"{_SAID.get(noun) or re.sub('(?<=.)(?=[A-Z])', ' ', noun).lower()} {who}".strip() + at


def set_otherwise(body: Body, destination: str) -> Iterator[Change]:
    """Yield options that are set to what they are not: those of the rows with two or few values.

    First all connectors alike, then one at a time; a TTL is raised to the number of brokers.
    *destination* is whose policies are changed, such as ``queue://TEST.FOO``.
    """
    product = body.get("product", "activemq")
    if product == "artemis":
        yield from _artemis(body)
    elif product == "activemq":
        yield from _connectors(body)
        yield from _policies(body, destination)


def _connectors(body: Body) -> Iterator[Change]:
    connectors = body.get("connectors", ())
    most = max(1, len(body.get("brokers", ())))
    ways = [range(len(connectors)), *([n] for n in range(len(connectors)) if len(connectors) > 1)]
    values = [
        (row, not bool(row.default_for(body.get("edition", "5.17"))))
        for row in OPTIONS["networkConnector"].values()
        if row.routes
    ]
    for places in ways:
        where = "every connector" if len(places) > 1 else ""
        where = where or (element(body, ("connectors", places[0])) if places else "")
        yield from _farther(connectors, places, where, most)
        for row, value in values:
            if any(connectors[n].get(row.name) != value for n in places):
                edits = tuple(Edit(("connectors", n, row.name), value) for n in places)
                yield Proposal("option", f"{where} with {row.guide}={as_text(value)}", edits, (row.name,))


def _farther(connectors: Sequence[Body], places: Sequence[int], where: str, most: int) -> Iterator[Change]:
    """Yield the greatest TTL that can matter; its lesser changes are those between it and today's."""
    if all(connectors[n].get("network_ttl") == most for n in places):
        return
    # What was written of its two halves would hide it.
    halves = [Edit(("connectors", n, half)) for n in places for half in ("message_ttl", "consumer_ttl")]
    least = min(int(connectors[n].get("network_ttl", 1)) for n in places)
    *lesser, greatest = (
        Proposal(
            "option",
            f"{where} with networkTTL={ttl}",
            (*(Edit(("connectors", n, "network_ttl"), ttl) for n in places), *halves),
            ("network_ttl",),
        )
        for ttl in range(min(least + 1, most), most + 1)
    )
    yield replace(greatest, lesser=tuple(lesser))


def _policies(body: Body, destination: str) -> Iterator[Change]:
    kind, _, name = destination.partition("://")
    if kind != "queue":
        return
    policy = {"queue": name, "replay_when_no_consumers": True}
    edits = tuple(
        Edit(("brokers", n, "policies"), [policy, *broker.get("policies", ())])
        for n, broker in enumerate(body.get("brokers", ()))
    )
    text = f"replayWhenNoConsumers for {destination} at every broker"
    yield Proposal("option", text, edits, ("policies", "replay_when_no_consumers"))


def _written(body: Body, top: str, row: Option) -> dict[Path, object]:
    """Return place -> value of an option of Artemis: the network's, and what brokers have of their own."""
    found: dict[Path, object] = {(top, row.name): body.get(top, {}).get(row.name, row.default)}
    for n, broker in enumerate(body.get("brokers", ())):
        own = broker.get(top) or {}
        tables = {(): own} if top == "cluster" else {(match,): of for match, of in own.items()}
        for inner, options in tables.items():
            if row.name in options:
                found["brokers", n, top, *inner, row.name] = options[row.name]
    return found


def _artemis(body: Body) -> Iterator[Change]:
    from mqlab.spec.artemis.options import OPTIONS as ROWS

    def routing(section: str) -> Iterator[Option]:
        return (row for row in ROWS[section].values() if row.routes)

    for top, section in (("cluster", "cluster-connection"), ("address_settings", "address-setting")):
        for row in routing(section):
            written = _written(body, top, row)
            for value in row.choices or (0,) * (row.type is int):
                if {*written.values()} != {value}:
                    edits = tuple(Edit(place, value) for place in written)
                    yield Proposal("option", f"{row.guide} {value}", edits, (row.name,))
    for n, broker in enumerate(body.get("brokers", ())):
        policy = broker.get("ha", {})
        for row in routing("ha-policy"):
            if policy.get("role") == "master" and not policy.get(row.name):
                text = f"{broker['name']} with {row.guide}=true"
                edit = Edit(("brokers", n, "ha", row.name), True)
                yield Proposal("option", text, (edit,), (row.name,))
