"""What real brokers did, beside what mqlab does: every recording with which mqlab is validated, by name.

The recordings are packed into the installed package; in a checkout they lie in ``tests/recordings``.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab import conform, products
from mqlab.errors import BadFile, BadValue, UnknownName, shown
from mqlab.products.activemq import figures
from mqlab.spec.json_types import JsonObject
from mqlab.trace.spans import numbers
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

Outcome = JsonObject
WHO = {"openmq": "Open Message Queue 6.5.0", "artemis": "Artemis 2.4.0"}
ACTIVEMQ = "5.17.2"  # what was recorded where no edition is named


@dataclass(frozen=True)
class Recorded:
    """One scenario as real brokers played it: `runs` times, with one or several outcomes.

    It goes where a figure goes: ``mq.run(it)``, ``mq.view(it)``, ``mq.check(it)``.
    """

    name: str
    value: JsonObject

    @property
    def title(self) -> str:
        """What the recorded scenario is about, in a line."""
        return str(self.value["scenario"].get("title", self.name))

    @property
    def runs(self) -> int:
        """How often the real brokers played it."""
        return int(self.value["observed"]["runs"])

    @property
    def broker(self) -> str:
        """The product and the version that was recorded."""
        observed = self.value["observed"]
        family = self.name.partition("/")[0]
        if family == "artemis" and "version" in observed:
            return f"Artemis {observed['version']}"
        if self.name.split("/")[1] == "version_5_1":
            return "Open Message Queue 5.1"
        edition = self.value.get("edition") or self.value["scenario"].get("edition") or ACTIVEMQ
        return WHO.get(family, f"ActiveMQ {edition}")

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes that were seen, the most frequent first."""
        seen = self.value["observed"].get("outcomes", ())
        ordered = sorted(seen, key=lambda entry: -entry.get("seen_in_runs", 0))
        return tuple(entry["outcome"] for entry in ordered)

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario, as every verb takes it."""
        return products.product_of(self.value).read(self.value, self.name)

    @cached_property
    def trace(self) -> Trace:
        """The lab's run of it, with the times of the machine that recorded it."""
        return conform.played(self.value, self.name)

    @cached_property
    def outcome(self) -> Outcome:
        """The outcome of mqlab's run, in the form of the recording."""
        return products.product_of(self.value).outcome(self.trace)

    @property
    def agrees(self) -> bool:
        """Whether mqlab's run is as one of the recorded ones, in as much detail as the recording promises."""
        return conform.compare(self.value, self.name, lambda *_: self.trace).result == "agree"

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the outcomes in rows: what is compared, what the real broker gave, what mqlab gave."""
        real = dict(_told(self.outcomes[0])) if self.outcomes else {}
        here = dict(_told(self.outcome))
        return [(what, real.get(what, "-"), here.get(what, "-")) for what in {**real, **here}]

    def __repr__(self) -> str:
        head, *rows = ("", f"{self.broker}, {self.runs} runs", "mqlab"), *self.rows()
        wide = [max(len(row[i]) for row in (head, *rows)) for i in range(3)]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, wide, strict=True)).rstrip()
            for row in (head, *rows)
        ]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'>{escape(what)}</th>"
            f"<td>{escape(real)}</td><td>{escape(here)}</td></tr>"
            for what, real, here in self.rows()
        )
        head = f"<th scope='col'></th><th scope='col'>{escape(self.broker)}, {self.runs} runs</th>"
        return (
            f"<table><caption style='text-align:left'>{escape(self.title)}</caption>"
            f"<tr>{head}<th scope='col'>mqlab</th></tr>{rows}</table>"
        )


def recorded(what: object) -> Recorded:
    """Return what real brokers did: the recording of a figure, or one by its name or the end of it.

    Raises `UnknownName` for a name that no recording has, or that several have, and for a figure of which no
    recording exists.

    >>> recorded("priority_over_chain_consumer_priority_7").broker
    'ActiveMQ 5.17.2'
    """
    if not isinstance(what, str) and not hasattr(what, "id"):
        raise BadValue(f"{shown(what)} is neither a figure nor the name of a recording")
    name = str(getattr(what, "id", what))
    if ":" in name or not isinstance(what, str):
        name = figures.recording_of(name)
    known = names()
    ends = [full for full in known if f"/{full}".endswith(f"/{name}")]
    if len(ends) != 1:
        if ends:
            raise UnknownName(f"{name} is the name of {', '.join(ends)}; use one of them")
        raise UnknownName.of("recording", name, [full.rpartition("/")[2] for full in known])
    return Recorded(ends[0], _read(*known[ends[0]]))


@cache
def names() -> Mapping[str, tuple[str, str]]:
    """Return the name of every recording -> the archive that has it, and its path there."""
    found: dict[str, tuple[str, str]] = {}
    for archive in sorted(folder().glob("*.tar.*")):
        with tarfile.open(archive) as tar:
            for member in tar.getnames():
                parts = member.split("/")
                if member.endswith(".json") and len(parts) > 2 and parts[-1] != "same.json":
                    name = "/".join(part for part in parts if part != "scenarios")
                    found[name.removesuffix(".json")] = (archive.name, member)
    if not found:
        raise BadFile("no recordings found, neither in the package nor in tests/recordings")
    return found


def pack(chosen: Iterable[str]) -> bytes:
    """Return an archive of some recordings, for a place where only these are wanted; it needs no lzma."""
    packed, known = io.BytesIO(), names()
    places = [known[name] for name in sorted(set(chosen))]
    values: dict[tuple[str, str], dict[str, object]] = {}
    for archive in {archive for archive, _ in places}:
        values |= _values(archive, {member for of, member in places if of == archive})
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as inner,
        tarfile.open(fileobj=inner, mode="w") as tar,
    ):
        for place in places:
            text = json.dumps(values[place]).encode()
            info = tarfile.TarInfo(place[1])
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return packed.getvalue()


def folder() -> Path:
    """Return where the archives of recordings are: in the checkout, or in the installed package."""
    package = Path(str(resources.files("mqlab")))
    checkout = package.parent / "tests" / "recordings"
    return checkout if checkout.is_dir() else package / "conform" / "recordings"


@cache
def _read(archive: str, member: str) -> dict[str, object]:
    return _values(archive, {member})[archive, member]


def _values(archive: str, members: set[str]) -> dict[tuple[str, str], dict[str, object]]:
    """Return some recordings of an archive, which is unpacked once."""
    with tarfile.open(folder() / archive) as tar:
        found = {member.name: tar.extractfile(member) for member in tar if member.name in members}
        return {(archive, name): json.load(file) for name, file in found.items() if file is not None}


def _told(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield what an outcome says in the end, in words: received, given again, roles, what waits."""
    for name, got in outcome.get("consumers", {}).items():
        yield f"{name} received", _text(got.get("count"))
        if got.get("redelivered"):
            yield f"{name}: of them flagged redelivered", _text(_count(got["redelivered"]))
    shots = list(outcome.get("snapshots", {}).values())
    for name, broker in shots[-1]["brokers"].items() if shots else ():
        if "role" in broker:
            yield f"{name} is", str(broker["role"])
        for queue, state in {**broker.get("queues", {}), **broker.get("destinations", {})}.items():
            depth = state.get("depth", state.get("messages")) if isinstance(state, dict) else state
            yield f"{queue.removeprefix('queue://')} at {name}", _text(depth)


def _text(value: object) -> str:
    if isinstance(value, list) and len(value) == 2:
        return f"{value[0]} to {value[1]}"
    return "-" if value is None else str(value)


def _count(told: object) -> object:
    """Return how many messages are told, as a list or as a text such as ``3, 5-8``."""
    found = numbers(told) if isinstance(told, str) else told
    return len(found) if isinstance(found, list) else found
