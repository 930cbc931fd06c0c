"""The products, in one table: how the scenarios of each are read, written, played, judged and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mqlab import problems, scenarios
from mqlab.errors import CannotRun, UnknownName
from mqlab.formats import artemis as artemis_files
from mqlab.formats import failover
from mqlab.formats import lab as lab_files
from mqlab.formats import openmq as openmq_files
from mqlab.formats import openmq_python as openmq_code
from mqlab.formats import python as activemq_code
from mqlab.formats.artemis import python as artemis_code
from mqlab.problems import artemis as artemis_problems
from mqlab.problems import openmq as openmq_problems
from mqlab.runtime import activemq, artemis, openmq
from mqlab.scenarios import artemis as artemis_figures
from mqlab.scenarios import crash, timed
from mqlab.scenarios import openmq as openmq_figures
from mqlab.spec import Scenario
from mqlab.spec.artemis import HaScenario
from mqlab.spec.link import LikeLinks
from mqlab.spec.openmq import ClusterScenario
from mqlab.trace.trace import Trace

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Product:
    """A product: `claims` says whether a lab file's scenario object is one of its own.

    `lab(scenario, seed, jitter, limit, links=...)` makes a lab with the scenario's script before it.
    """

    name: str
    scenario: type
    claims: Callable[[Body], bool]
    read: Callable[[Body, str], Any]
    write: Callable[[Any], dict[str, Any]]
    python: Callable[[Any], str]
    lab: Callable[..., Any]
    outcome: Callable[[Trace], dict[str, Any]]
    check: Callable[[Any], Any]
    figures: Callable[[], tuple[Any, ...]]


def _read_activemq(value: Body, where: str = "lab file") -> Scenario:
    """Return the scenario of a lab file, or of a recording at rest or in time."""
    body = value.get("scenario", value)
    return failover.read(value, where) if failover.claims(body) else lab_files.read(value, where)


def _figures_of_activemq() -> tuple[Any, ...]:
    return (*scenarios.figures(), *timed.figures())


def _anything(body: Body) -> bool:
    """What no other product claims is a network of ActiveMQ."""
    return True


ACTIVEMQ = Product(
    "activemq", Scenario, _anything, _read_activemq, lab_files.write,
    activemq_code.python, activemq.Lab, activemq.outcome, problems.check, _figures_of_activemq,
)  # fmt: skip
OPENMQ = Product(
    "openmq", ClusterScenario, openmq_files.claims, openmq_files.read, openmq_files.write,
    openmq_code.python, openmq.ClusterLab, openmq.outcome, openmq_problems.check, openmq_figures.figures,
)  # fmt: skip
ARTEMIS = Product(
    "artemis", HaScenario, artemis_files.claims, artemis_files.read, artemis_files.write,
    artemis_code.python, artemis.ArtemisLab, artemis.outcome, artemis_problems.check,
    artemis_figures.figures,
)  # fmt: skip
PRODUCTS = (OPENMQ, ARTEMIS, ACTIVEMQ)  # in this order they are asked whose a file is


def product_of(value: Body) -> Product:
    """Return the product of a lab file's JSON value."""
    body = value.get("scenario", value)
    return next(p for p in PRODUCTS if isinstance(body, Mapping) and p.claims(body))


def product_of_scenario(scenario: Any) -> Product:
    """Return the product of a scenario value; raises `CannotRun` for what is none."""
    for product in PRODUCTS:
        if isinstance(scenario, product.scenario):
            return product
    raise CannotRun(f"{type(scenario).__name__} is no scenario of a product")


def is_scenario(what: Any) -> bool:
    """Whether a value is a scenario of some product."""
    return isinstance(what, tuple(product.scenario for product in PRODUCTS))


def figures(guide: str | None = None) -> tuple[Any, ...]:
    """Return the figures of every product, or of one guide; raises `UnknownName` for no guide."""
    found = [figure for p in (ACTIVEMQ, OPENMQ, ARTEMIS) for figure in p.figures()]
    found += crash.figures({product.name: (product.read, product.python) for product in PRODUCTS})
    guides = list(dict.fromkeys(figure.id.partition(":")[0] for figure in found))
    if guide is not None and guide not in guides:
        raise UnknownName.of("guide", guide, guides)
    return tuple(f for f in found if guide is None or f.id.startswith(f"{guide}:"))


def figure(id: str) -> Any:
    """Return a figure of any product by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``."""
    try:
        return scenarios.figure(id)
    except UnknownName:
        ours = {figure.id: figure for figure in figures()}
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


def lab_of(
    scenario: Any,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Any:
    """Return the lab of a scenario of any product, with its script before it."""
    return product_of_scenario(scenario).lab(scenario, seed, jitter, limit, links=links)


def play(scenario: Any, seed: int = 0, jitter: int | str = 0, limit: int | None = None) -> Trace:
    """Play a scenario of any product; raises `BadValue` beyond *limit* events."""
    lab = lab_of(scenario, seed, jitter, limit)
    lab.play()
    trace: Trace = lab.trace
    return trace


def outcome_of(trace: Trace) -> Any:
    """Return a trace's outcome in the form of its product's recordings."""
    body = trace.header.get("scenario", {})
    return product_of(body if isinstance(body, Mapping) else {}).outcome(trace)
