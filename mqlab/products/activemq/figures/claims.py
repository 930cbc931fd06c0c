"""What a guide says will happen, beside what happened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.products.activemq.files import lab_file
from mqlab.spec import graph
from mqlab.spec.json_types import JsonObject
from mqlab.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Claim:
    """One number of a guide: `subject` in words, what the guide says and what the run gave."""

    subject: str
    said: int
    got: int

    @property
    def holds(self) -> bool:
        """Whether the run gave what the guide says."""
        return self.said == self.got

    def __str__(self) -> str:
        verdict = "agrees" if self.holds else f"differs, the run gave {self.got}"
        return f"{self.subject}: the guide says {self.said}; {verdict}"


def claims(guide_says: JsonObject, trace: Trace) -> tuple[Claim, ...]:
    """Return every number of a lab file's `guide_says` beside that of the run.

    `received` and `depth` speak of the end, `snapshots` of the states noted on the way.
    """
    shots = trace.header["snapshots"]
    found: list[Claim] = []
    if shots:
        last = list(shots.values())[-1]
        found += _at(guide_says, last, "")
    for label, says in guide_says.get("snapshots", {}).items():
        if label in shots:
            found += _at(says, shots[label], f" at '{label}'")
    return (*found, *_graph(guide_says, trace))


def _graph(guide_says: JsonObject, trace: Trace) -> Iterator[Claim]:
    """Yield the distances and the diameter that the guide gives for its graph."""
    if not {"distances", "diameter"} & set(guide_says):
        return
    network = lab_file.read(trace.header["scenario"]).network
    for pair, hops in guide_says.get("distances", {}).items():
        here, _, there = pair.partition("-")
        got = graph.distances(network, here).get(there, -1)
        yield Claim(f"distance from {here} to {there}", hops, got)
    if "diameter" in guide_says:
        yield Claim("diameter", guide_says["diameter"], graph.diameter(network))


def _at(says: JsonObject, shot: JsonObject, when: str) -> Iterator[Claim]:
    for consumer, count in says.get("received", {}).items():
        got = shot["received_so_far"].get(consumer, 0)
        yield Claim(f"{consumer} received{when}", count, got)
    for broker, depth in says.get("depth", {}).items():
        queues = shot["brokers"].get(broker, {}).get("queues", {})
        got = sum(queue["depth"] for queue in queues.values())
        yield Claim(f"messages left at {broker}{when}", depth, got)
