"""Drawing a network by hand: parts are added, connected and removed in the lab file of each product."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping

from mqlab import products
from mqlab.errors import BadValue, UnknownName
from mqlab.spec.change import Body, Path
from mqlab.spec.json_types import JsonDict
from mqlab.workbench.options import BadOptions
from mqlab.workbench.parts import destinations, free_name, names, parts

Body_ = JsonDict
FOO = ("queue", "TEST.FOO")
STARTS = ("Restart", "StartBroker", "StartBrokers")
MESSAGES = 10
# Where new actions go: before what only waits and looks.
_LAST = ("Settle", "Snapshot", "Wait", "WaitForSends")


def new(product: str) -> Body_:
    """Return the smallest network of a product in which a message moves."""
    consumer = {"do": "Consumer", "name": "C1", "on": "A", "reads": "queue://TEST.FOO"}
    actions = [{"do": "Start"}, consumer, {"do": "Settle"}, {"do": "Snapshot", "label": "final"}]
    body: Body_ = {"title": "My network", "brokers": [{"name": "A"}], "actions": actions}
    if product == "activemq":
        body |= {"connectors": []}
    elif product == "openmq":
        body |= {"product": product, "cluster": {"model": "none"}}
    elif product == "artemis":
        body |= {"product": product, "queues": [{"name": "TEST.FOO"}]}
    else:
        raise UnknownName.of("product", product, ("activemq", "openmq", "artemis"))
    return add(body, "producer", {"on": "A"})


def add(body: Body, what: str, given: dict[str, object]) -> Body_:
    """Return the lab file with one part more; *given* has what is known of it (name, on, to, queue ...).

    Raises `UnknownName` for brokers that are not there, `BadOptions` for what a field does not take,
    `BadValue` for what the product has not.
    """
    if what not in _ADD:
        raise UnknownName.of("part", what, _ADD)
    changed: Body_ = copy.deepcopy(dict(body))
    for key in ("on", "from", "to"):
        if key in given and given[key] not in names(body, "broker"):
            raise UnknownName.of("broker", given[key], names(body, "broker"))
    if errors := list(_refused(body, given)):
        raise BadOptions(errors)
    _ADD[what](changed, given)
    return changed


def _refused(body: Body, given: Mapping[str, object]) -> Iterator[tuple[Path, str]]:
    """Yield each field of a form that holds what it does not take, with a sentence."""
    for field, label in (("name", "Name"), ("queue", "Queue"), ("topic", "Topic")):
        if re.search(r"[\s/]", str(given.get(field) or "")):
            yield (field,), f"{label}: no spaces and no slash"
    name = given.get("name")
    if name and name in [part.name for part in parts(body)]:
        yield ("name",), f"{name!r} already exists; choose another name"
    count = given.get("count")
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
        yield ("count",), "Messages: a whole number from 0"


def _broker(body: Body_, given: JsonDict) -> None:
    name = given.get("name") or _letter(body)
    body["brokers"].append({"name": name})
    _started(body, name)


def _letter(body: Body) -> str:
    """Return the next letter as long as there is one."""
    taken = [part.name for part in parts(body)]
    letters = (letter for letter in "ABDEFGHIJKLMNOQRSTUVWXYZ" if letter not in taken)
    return next(letters, free_name(taken, "B"))


def _started(body: Body_, name: str) -> None:
    """A script that starts its brokers one by one starts the new one, too."""
    actions = body["actions"]
    if any(action["do"] == "Start" for action in actions):
        return
    begun = [no for no, action in enumerate(actions) if action["do"] in STARTS]
    actions.insert(begun[-1] + 1 if begun else 0, {"do": "Restart", "broker": name})


def _pair(body: Body_, given: dict[str, object]) -> None:
    """Add a master and its slave, as the product has them."""
    product = products.product_of(body).name
    stem = given.get("name") or _letter(body)
    one, other = f"{stem}1", f"{stem}2"
    if product == "openmq":
        raise BadValue(
            "OpenMQ has no master/slave pairs; add brokers: in an enhanced cluster any broker can take "
            "over for another"
        )
    if product == "artemis":
        replicas = [{"policy": "replication", "role": role, "group_name": stem} for role in ("master", "slave")]
        body["brokers"] += [{"name": one, "ha": replicas[0]}, {"name": other, "ha": replicas[1]}]
    else:
        store = f"{stem}Data"
        body["brokers"] += [{"name": name, "shared_store": store} for name in (one, other)]
    for name in (one, other):
        _started(body, name)


def _connector(body: Body_, given: dict[str, object]) -> None:
    product = products.product_of(body).name
    if product != "activemq":
        raise BadValue(f"brokers of {product} are fully meshed by their cluster; connectors cannot be drawn")
    one, other = str(given.get("from")), str(given.get("to"))
    if one == other:
        raise BadValue(f"a connector needs two different brokers; {one!r} was given twice")
    taken = [part.name for part in parts(body) if part.kind == "connector" and part.home == one]
    name = given.get("name") or f"{one}_to_{other}"
    made = {
        "name": name if name not in taken else free_name(taken, f"{name}_"),
        "from": one,
        "to": other,
    }
    if given.get("duplex"):
        made["duplex"] = True
    body.setdefault("connectors", []).append(made)


def _destination(body: Body_, given: dict[str, object]) -> str:
    known = destinations(body)
    kind, name = ("topic" if given.get("topic") else "queue"), ""
    name = str(given.get("topic") or given.get("queue") or "")
    if not name:
        kind, name = known[0] if known else FOO
    queues = body.get("queues")
    if queues is not None and kind == "queue" and name not in [queue["name"] for queue in queues]:
        queues.append({"name": name})
    return f"{kind}://{name}"


def _consumer(body: Body_, given: JsonDict) -> None:
    name = given.get("name") or free_name([part.name for part in parts(body)], "C")
    action: Body_ = {"do": "Consumer", "name": name, "reads": _destination(body, given)}
    if given.get("selector"):
        action["selector"] = given["selector"]
    sends = [no for no, old in enumerate(body["actions"]) if "sends" in old]
    _insert(body, sends[0] if sends else _end(body), action, str(given["on"]))


def _producer(body: Body_, given: JsonDict) -> None:
    name = given.get("name") or free_name([part.name for part in parts(body)], "P")
    sends = given.get("count", MESSAGES)
    action = {"do": "Producer", "name": name, "sends": sends, "to": _destination(body, given)}
    _insert(body, _end(body), action, str(given["on"]))


def _insert(body: Body_, place: int, action: Body_, on: str) -> None:
    """Put an action of a client in; in a script of calls it opens a connection first."""
    if body.get("pace") == "calls":
        client = {"do": "Client", "name": action["name"], "uri": f"tcp://{on}:61616"}
        body["actions"][place:place] = [client, {**action, "on": action["name"]}]
    else:
        body["actions"].insert(place, {**action, "on": on})


def _end(body: Body) -> int:
    """Return the place behind the last action that does something."""
    doing = [no for no, action in enumerate(body["actions"]) if action["do"] not in _LAST]
    return doing[-1] + 1 if doing else 0


_ADD: dict[str, Callable[[Body_, dict[str, object]], None]] = {
    "broker": _broker,
    "pair": _pair,
    "connector": _connector,
    "consumer": _consumer,
    "producer": _producer,
}


def remove(body: Body, kind: str, name: str) -> Body_:
    """Return the lab file without a part, and without what cannot be without it."""
    if name not in names(body, kind):
        raise UnknownName.of(kind, name, names(body, kind))
    changed: Body_ = copy.deepcopy(dict(body))
    if kind == "connector":
        changed["connectors"] = [c for c in changed["connectors"] if c["name"] != name]
        gone = {name}
    elif kind == "broker":
        if len(names(body, "broker")) == 1:
            raise BadValue(f"{name} is the only broker; a network needs at least one")
        changed["brokers"] = [b for b in changed["brokers"] if _called(b) != name]
        connectors = changed.get("connectors", [])
        lost = [c for c in connectors if c["from"] == name or name in _list(c.get("to"))]
        if "connectors" in changed:
            changed["connectors"] = [c for c in connectors if c not in lost]
        gone = {name, *(c["name"] for c in lost)}
        gone |= {part.name for part in parts(body) if part.home == name}
    else:
        gone = {name} | {part.name for part in parts(body) if part.home == name}
    changed["actions"] = [action for action in changed["actions"] if not _about(action) & gone]
    return changed


def _called(broker: str | Body) -> str:
    return broker if isinstance(broker, str) else str(broker["name"])


def _list(value: object) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []


def _about(action: Body) -> set[str]:
    """Return the names of parts that an action speaks of."""
    keys = (
        "name",
        "on",
        "broker",
        "brokers",
        "consumer",
        "producer",
        "client",
        "who",
        "connector",
        "one",
        "other",
    )
    return {name for key in keys for name in _list(action.get(key))}
