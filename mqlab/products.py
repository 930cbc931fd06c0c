"""The products, in one table: how the scenarios of each are read, written, played, judged and checked.

A product's rooms are entered when it is asked for something: nobody waits for the brokers of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from mqlab.errors import BadValue, CannotRun, UnknownName
from mqlab.formats import claims
from mqlab.formats import lab as lab_files
from mqlab.spec import Scenario
from mqlab.spec.link import LikeLinks
from mqlab.trace.trace import Trace

Body = Mapping[str, Any]


def _anything(body: Body) -> bool:
    """What no other product claims is a network of ActiveMQ."""
    return True


def _activemq_reader(body: object) -> str:
    """Recordings in time have a form of their own."""
    in_time = isinstance(body, Mapping) and claims.activemq_in_time(body)
    return "formats.failover" if in_time else "formats.lab"


@dataclass(frozen=True, slots=True)
class Product:
    """A product, and the rooms that read, write, print, play, check and show its scenarios.

    Rooms are named as they stand in mqlab; `claims` says whether a lab file's scenario object is one of
    its own, `reader` which room reads it, `lab_noun` is the lab's name in the room `runtime`.
    """

    name: str
    claims: Callable[[Body], bool]
    reader: Callable[[object], str]
    writer: str
    printer: str
    runtime: str
    lab_noun: str
    checker: str
    shows: tuple[str, ...]

    def read(self, value: Body, where: str = "lab file") -> Any:
        """Return the scenario of a lab file's JSON value; raises `MqlabError`."""
        return _room(self.reader(_body(value))).read(value, where)

    def write(self, scenario: Any) -> dict[str, Any]:
        """Return the lab file of a scenario."""
        return dict(_room(self.writer).write(scenario))

    def python(self, scenario: Any) -> str:
        """Return code with nouns that makes a scenario."""
        return str(_room(self.printer).python(scenario))

    def lab(self, scenario: Any, *settings: Any, **more: Any) -> Any:
        """Return a lab with a scenario's script before it; seed, jitter and limit follow."""
        return getattr(_room(self.runtime), self.lab_noun)(scenario, *settings, **more)

    def outcome(self, trace: Trace) -> dict[str, Any]:
        """Return what came of a run, in the form of the product's recordings."""
        return dict(_room(self.runtime).outcome(trace))

    def check(self, scenario: Any) -> Any:
        """Return the problems of a scenario, errors first."""
        return _room(self.checker).check(scenario)

    def figures(self) -> tuple[Any, ...]:
        """Return the figures of the product's guides."""
        return tuple(figure for name in self.shows for figure in _room(name).figures())


def _room(name: str) -> ModuleType:
    return import_module(f"mqlab.{name}")


ACTIVEMQ = Product(
    "activemq", _anything, _activemq_reader, "formats.lab", "formats.python", "runtime.activemq", "Lab",
    "problems", ("scenarios", "scenarios.timed"),
)  # fmt: skip
OPENMQ = Product(
    "openmq", claims.openmq, lambda body: "formats.openmq", "formats.openmq", "formats.openmq_python",
    "runtime.openmq", "ClusterLab", "problems.openmq", ("scenarios.openmq",),
)  # fmt: skip
ARTEMIS = Product(
    "artemis", claims.artemis, lambda body: "formats.artemis", "formats.artemis",
    "formats.artemis.python", "runtime.artemis", "ArtemisLab", "problems.artemis", ("scenarios.artemis",),
)  # fmt: skip
PRODUCTS = (OPENMQ, ARTEMIS, ACTIVEMQ)  # in this order they are asked whose a file is
# Guide -> who has its figures: a product, or all of them (`crash`).
GUIDES: dict[str, Callable[[], tuple[Any, ...]]] = {
    "fuse": ACTIVEMQ.figures, "amq6": ACTIVEMQ.figures, "article": ACTIVEMQ.figures,
    "unsafe": ACTIVEMQ.figures, "openmq": OPENMQ.figures, "artemis": ARTEMIS.figures,
    "crash": lambda: _crash(),
}  # fmt: skip


def _crash() -> tuple[Any, ...]:
    from mqlab.scenarios import crash

    return crash.figures({product.name: (product.read, product.python) for product in PRODUCTS})


def _body(value: object) -> object:
    return value.get("scenario", value) if isinstance(value, Mapping) else value


def product_of(value: Body) -> Product:
    """Return the product of a lab file's JSON value; ActiveMQ's reader says what is no lab file."""
    body = _body(value)
    if not isinstance(body, Mapping):
        return ACTIVEMQ
    return next(product for product in PRODUCTS if product.claims(body))


def product_of_scenario(scenario: Any) -> Product:
    """Return the product of a scenario value; raises `CannotRun` for what is none."""
    for product in PRODUCTS:
        if is_scenario(scenario) and scenario.product == product.name:
            return product
    raise CannotRun(f"{type(scenario).__name__} is no scenario of a product")


def is_scenario(what: Any) -> bool:
    """Whether a value is a scenario of some product."""
    return isinstance(getattr(type(what), "product", None), str)


def figures(guide: str | None = None) -> tuple[Any, ...]:
    """Return the figures of every product, or of one guide; raises `UnknownName` for no guide."""
    if guide is not None and guide not in GUIDES:
        raise UnknownName.of("guide", guide, GUIDES)
    rooms = GUIDES.values() if guide is None else (GUIDES[guide],)
    found = [figure for room in dict.fromkeys(rooms) for figure in room()]
    return tuple(f for f in found if guide is None or f.id.startswith(f"{guide}:"))


def figure(id: str) -> Any:
    """Return a figure of any product by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``."""
    from mqlab import scenarios

    if not isinstance(id, str):
        raise UnknownName.of("figure", id, ["fuse:2.20", "openmq:4-1", "artemis:21.1"])
    try:
        return scenarios.figure(id)
    except UnknownName:
        guide = id.partition(":")[0]
        ours = {figure.id: figure for figure in figures(guide if guide in GUIDES else None)}
        found = ours.get(id) or ours.get(f"{id}a")
        if found is None:
            raise UnknownName.of("figure", id, ours) from None
        return found


def load(path: str | Path) -> Any:
    """Read the scenario of a lab file or recording of any product; raises `BadFile`."""
    value = lab_files.read_json(path)
    return product_of(value).read(value, str(path))


def python(scenario: Any) -> str:
    """Return code with nouns that makes a scenario of any product, under the name `scenario`."""
    return product_of_scenario(scenario).python(scenario)


def under(scenario: Any, edition: str) -> Any:
    """Return a scenario run by another edition; raises `BadValue` for products that have it within."""
    if isinstance(scenario, Scenario):
        return scenario.under(edition)
    kind = type(scenario).__name__
    raise BadValue(f"a {kind} has an edition of its own; write it there (version=...)")


def option_name(scenario: Any, option: str) -> str:
    """Return the Python name of an option of a scenario's product, which may be given by the guide's."""
    from mqlab.reference import options_of

    known = {row.guide: row.name for row in options_of(product_of_scenario(scenario).name)}
    return known.get(option, option)


def lab_of(
    scenario: Any,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Any:
    """Return the lab of a scenario of any product, with its script before it."""
    return product_of_scenario(scenario).lab(scenario, seed, jitter, limit, links=links)


def play(
    scenario: Any,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Play a scenario of any product, or *until* a time; raises `BadValue` beyond *limit* events."""
    lab = lab_of(scenario, seed, jitter, limit, links)
    lab.play(until)
    trace: Trace = lab.trace
    return trace


def outcome_of(trace: Trace) -> Any:
    """Return a trace's outcome in the form of its product's recordings."""
    body = trace.header.get("scenario", {})
    return product_of(body if isinstance(body, Mapping) else {}).outcome(trace)
