"""The options of a part as rows: name, type, default, sentence, source, and what is written there.

A lab file of each product has its options in other places; where, and by which table, stands here.
Script rows are what an action says of times and counts, line rows what all lines are like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.experiments.changes import told
from mqlab.experiments.rerun import Setting
from mqlab.spec.change import Body, Change, Edit, Path
from mqlab.spec.json_types import JsonDict, JsonValue
from mqlab.spec.link import Link, Links
from mqlab.spec.openmq.options import OPTIONS as OF_OPENMQ
from mqlab.spec.option import EDITIONS, Option
from mqlab.spec.options import tables
from mqlab.spec.values import as_text, duration
from mqlab.workbench.branch import Branch
from mqlab.workbench.parts import Part, find, names

ALL = "*"
LINES = "lines"  # the first key of the path of what is no part of a lab file
_LINE = tuple(tables("clients")["line"].values())
_LINE_DEFAULT = {row.name: row.default for row in _LINE}
_TIMES = (
    "at",
    "time",
    "timeout",
    "limit",
    "quiet",
    "at_most",
    "settle",
    "within",
    "sends",
    "count",
    "times",
    "factor",
    "bytes_per_second",
)
_COUNTS = ("sends", "count", "times", "factor", "bytes_per_second")
_EDITION = replace(tables("clients")["network"]["edition"], choices=EDITIONS)
# The fields of the actions that open consumers, producers and clients: the tables hold those of brokers alone.
_NAMES = {
    "activemq": {
        "consumer": "prefetch selector delay priority exclusive receiving ack_mode",
        "producer": "sends persistent every time_to_live jms_priority size",
        "client": "uri",
    },
    "openmq": {"consumer": "selector delay receiving", "producer": "", "client": ""},
    "artemis": {
        "consumer": "selector receiving ack_mode",
        "producer": "sends persistent every size",
        "client": "",
    },
}
_ROWS = tables("clients")  # of a kind, and what one product has otherwise: "artemis consumer"
CLIENT_ROWS = {
    product: {
        kind: tuple({**_ROWS[kind], **_ROWS.get(f"{product} {kind}", {})}[name] for name in names.split())
        for kind, names in kinds.items()
    }
    for product, kinds in _NAMES.items()
}


@dataclass(frozen=True, slots=True)
class Place:
    """An option of a part: its row, where it is written, and under which heading it is shown."""

    row: Option
    path: Path
    section: str


def places(body: Body, part: Part | None) -> list[Place]:
    """Return every option that a part has; of the network as a whole without one."""
    product = body.get("product", "activemq")
    if part is None:
        return [*_of_network(body, product), *_script(body), *_lines()]
    return list(_of_part(body, product, part))


def _of_network(body: Body, product: str) -> Iterator[Place]:
    if product == "activemq":
        yield Place(_EDITION, ("edition",), "network")
    elif product == "openmq":
        yield from _rows(_table("openmq", "broker"), ("cluster", "options"), "cluster", by_guide=True)
    else:
        yield from _rows(_table("artemis", "cluster-connection"), ("cluster",), "cluster-connection")
        yield from _rows(_table("artemis", "address-setting"), ("address_settings",), "address-setting")
        yield from _rows(_table("artemis", "url"), ("clients",), "clients' URL")


def _of_part(body: Body, product: str, part: Part) -> Iterator[Place]:
    if part.kind == "broker":
        yield from _of_broker(body, product, part)
    elif part.kind == "connector":
        yield from _rows(_table("activemq", "networkConnector"), part.path, "networkConnector")
    elif part.kind in ("consumer", "producer"):
        yield from _rows(CLIENT_ROWS[product][part.kind], part.path, part.kind)
        own = {"artemis": "url", "openmq": part.kind}.get(product)
        if own is not None:
            yield from _rows(
                _table(product, own), (*part.path, "options"), "URL" if own == "url" else part.kind
            )
    elif part.kind == "client":
        yield from _rows(CLIENT_ROWS[product].get("client", ()), part.path, "client")


def _of_broker(body: Body, product: str, part: Part) -> Iterator[Place]:
    broker = body["brokers"][part.path[1]]
    if product == "openmq":
        yield from _rows(_table("openmq", "broker"), (*part.path, "options"), "broker", by_guide=True)
        return
    if product == "artemis":
        yield from _rows(_table("artemis", "broker"), part.path, "broker")
        policy = broker.get("ha", {})
        if policy:
            rows = [
                row
                for row in _table("artemis", "ha-policy")
                if policy["policy"] in row.policies
                and (not policy.get("role") or policy["role"] in row.roles)
                and row.type is not dict
            ]
            yield from _rows(rows, (*part.path, "ha"), f"ha-policy {policy['policy']}")
        yield from _rows(_table("artemis", "core"), (*part.path, "core"), "core")
        return
    yield from _rows(_table("activemq", "broker"), part.path, "broker")
    place = (*part.path, "transport_connector")
    yield from _rows(_table("activemq", "transportConnector"), place, "transportConnector")
    for no, policy in enumerate(broker.get("policies", ())):
        called = policy.get("queue") or policy.get("topic")
        at = (*part.path, "policies", no)
        yield from _rows(_table("activemq", "policyEntry"), at, f"policyEntry {called}")


def _rows(rows: Iterable[Option], at: Path, section: str, by_guide: bool = False) -> Iterator[Place]:
    for row in rows:
        yield Place(row, (*at, row.guide if by_guide else row.name), section)


def _table(product: str, element: str) -> Iterable[Option]:
    """Return the rows of an element."""
    rows = OF_OPENMQ if product == "openmq" else tables(product)
    return rows[element].values()


def _script(body: Body) -> Iterator[Place]:
    """Yield the times and counts of the script's actions, faults among them."""
    for no, action in enumerate(body.get("actions", ())):
        for key in _TIMES:
            if isinstance(action.get(key), (int, float, str)):
                kind = int if isinstance(action[key], int) else str
                row = Option(
                    guide=key,
                    name=key,
                    type=kind,
                    default=action[key],
                    low=0 if kind is int else None,
                    unit="ms" if kind is int and key not in _COUNTS else "",
                    source="mqlab",
                    often=key in _COUNTS,
                    sentence=f"Action {no + 1}: {told(action)}.",
                )
                yield Place(row, ("actions", no, key), "script")


def _lines() -> Iterator[Place]:
    for row in _LINE:
        yield Place(row, (LINES, row.name), "all lines")


# Reading


def value_at(branch: Branch, path: Path) -> object:
    """Return what is written at a place; None if nothing is."""
    if path[0] == LINES:
        setting = branch.setting
        every = setting.links.every if isinstance(setting.links, Links) else Link()
        return setting.seed if path[1] == "seed" else getattr(every, str(path[1]))
    place: JsonValue = branch.body
    for key in path:
        try:
            place = place[key]
        except (KeyError, IndexError, TypeError):
            return None
    return place


def listed(branch: Branch, base: Branch, kind: str, name: str) -> dict[str, object]:
    """Return the options of a part, each with its value, its default, and whether the base has another."""
    several = kind == "connector" and name == ALL
    first = next(iter(names(branch.body, "connector")), "") if several else name
    part = find(branch.body, kind, first) if kind else None
    if kind and part is None:
        raise UnknownName.of(kind, name, names(branch.body, kind))
    edition = str(branch.body.get("edition", "5.17"))
    rows = [_told(place, branch, base, edition) for place in places(branch.body, part)]
    count = len(names(branch.body, "connector"))
    title = f"All {count} connectors" if several else f"{kind} {name}" if kind else "The network"
    return {
        "title": title[:1].upper() + title[1:],
        "kind": kind,
        "name": name,
        "rows": rows,
        "connectors": count if kind == "connector" else 0,
    }


def _told(place: Place, branch: Branch, base: Branch, edition: str) -> dict[str, object]:
    row = place.row
    written, was = (_in_unit(row, value_at(one, place.path)) for one in (branch, base))
    default = row.default_for(edition)
    new = place.section == "script" and was is None  # a step that the first run has not
    kind = (
        "choice"
        if row.choices
        else {bool: "switch", int: "number", float: "number", tuple: "list", list: "list"}.get(row.type, "text")
    )
    return {
        "path": list(place.path),
        "name": row.guide,
        "section": place.section,
        "type": kind,
        "default": _plain(default),
        "value": _plain(default if written is None else written),
        "written": written is not None and written != default,
        "changed": written != was and not new,
        "was": _plain(default if was is None else was),
        "sentence": row.sentence,
        "source": row.source,
        "unit": row.unit,
        "choices": list(row.choices),
        "low": row.low,
        "often": row.often,
    }


def _in_unit(row: Option, value: object) -> object:
    """Return a length of time such as ``"2s"`` as the number that its row shows."""
    return duration(value) / 1000 if row.unit == "ms" and isinstance(value, str) else value


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


# Writing


@dataclass(frozen=True, slots=True)
class Changed:
    """A lab file with other options: the body, the setting, and what was changed in words."""

    body: dict[str, object]
    setting: Setting
    text: str


class BadOptions(BadValue):
    """Values that their options do not take: `errors` has a sentence for each path."""

    def __init__(self, errors: list[tuple[Path, str]]) -> None:
        super().__init__("; ".join(text for _, text in errors))
        self.errors = errors


def changed(branch: Branch, kind: str, name: str, edits: Iterable[tuple[Path, object]]) -> Changed:
    """Return the lab file with edits made, each checked by its row; raises `BadOptions`."""
    several = kind == "connector" and name == ALL
    first = next(iter(names(branch.body, "connector")), "") if several else name
    part = find(branch.body, kind, first) if kind else None
    known = {place.path: place for place in places(branch.body, part)}
    errors: list[tuple[Path, str]] = []
    made: list[Edit] = []
    setting, texts = branch.setting, []
    for path, value in edits:
        if path not in known:
            raise BadValue(f"there is no option at {'/'.join(map(str, path))}")
        row = known[path].row
        try:
            read = _read(row, value)
            if path[0] == LINES:
                setting = _lined(setting, row.name, read)
        except MqlabError as error:
            errors.append((path, _said(error, row)))
            continue
        if path[0] != LINES:
            made += [Edit(one, read) for one in (_same(branch.body, path) if several else [path])]
        texts.append(f"{row.guide} {'default' if read is None else as_text(read)}")
    if errors:
        raise BadOptions(errors)
    where = ("all connectors" if several else name) if kind else ""
    text = f"{where}: {', '.join(texts)}" if where else ", ".join(texts)
    return Changed(_opened(branch.body, made), setting, text)


def _opened(body: Body, edits: list[Edit]) -> dict[str, object]:
    return Change("option", "", tuple(edits)).apply(body)


def _read(row: Option, value: object) -> object:
    """Return a value as its option reads it; None where it is the default's own."""
    if value is None or (value == "" and row.default is None):
        return None
    read = row.read(value, "")
    return list(read) if isinstance(read, tuple) else read


def _said(error: MqlabError, row: Option) -> str:
    return str(error).removeprefix(f": {row.guide}: ")


def _same(body: Body, path: Path) -> list[Path]:
    """Return the place of an option in every connector."""
    return [(path[0], no, *path[2:]) for no in range(len(body["connectors"]))]


def _lined(setting: Setting, name: str, value: JsonValue) -> Setting:
    if name == "seed":
        return replace(setting, seed=value or 0)
    links = setting.links if isinstance(setting.links, Links) else Links()
    chosen: JsonDict = {row.name: getattr(links.every, row.name) for row in _LINE[:-1]}
    chosen[name] = _LINE_DEFAULT[name] if value is None else value
    return replace(setting, links=replace(links, every=Link(**chosen)))
