"""The products, in one table: how the scenarios of each are read, written, played, judged and checked.

What a product has stands in `face`; its folder has a module `product`, which is that face.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from mqlab.errors import BadValue, CannotRun, UnknownName
from mqlab.files import detect_product, files
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.product import ActiveMQ
from mqlab.products.artemis.product import Artemis
from mqlab.products.face import Product
from mqlab.products.openmq.product import OpenMQ
from mqlab.spec import Network, Scenario
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.link import LikeLinks
from mqlab.spec.origin import SourceFile
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab
    from mqlab.products.activemq.figures import AnyFigure
    from mqlab.spec.any_scenario import AnyScenario

ACTIVEMQ, OPENMQ, ARTEMIS = ActiveMQ(), OpenMQ(), Artemis()
PRODUCTS: tuple[Product, ...] = (
    OPENMQ,
    ARTEMIS,
    ACTIVEMQ,
)  # in this order they are asked whose a file is
BY_NAME = {product.name: product for product in PRODUCTS}
# Guide -> who has its figures: a product, or all of them (`crash`).
GUIDES: dict[str, Callable[[], tuple[AnyFigure, ...]]] = {
    "fuse": ACTIVEMQ.figures,
    "amq6": ACTIVEMQ.figures,
    "article": ACTIVEMQ.figures,
    "unsafe": ACTIVEMQ.figures,
    "openmq": OPENMQ.figures,
    "artemis": ARTEMIS.figures,
    "crash": lambda: _crash(),
}


def _crash() -> tuple[AnyFigure, ...]:
    from mqlab.products import crash

    return crash.figures({product.name: (product.read, product.python) for product in PRODUCTS})


def product_of(value: JsonObject) -> Product:
    """Return the product of a lab file's JSON value; ActiveMQ's reader says what is no lab file."""
    body = detect_product.scenario_in(value)
    if not isinstance(body, Mapping):
        return ACTIVEMQ
    return next(product for product in PRODUCTS if product.claims(body))


def product_of_scenario(scenario: object) -> Product:
    """Return the product of a scenario value; raises `CannotRun` for what is none."""
    for product in PRODUCTS:
        if is_scenario(scenario) and scenario.product == product.name:
            return product
    raise CannotRun(f"{type(scenario).__name__} is not a scenario of a product")


def _product_of(what: object) -> Product:
    """Return the product of a scenario, or of a network, which only ActiveMQ has without one."""
    return ACTIVEMQ if isinstance(what, Network) else product_of_scenario(what)


def is_scenario(what: object) -> TypeGuard[AnyScenario]:
    """Whether a value is a scenario of some product."""
    return isinstance(getattr(type(what), "product", None), str)


def figures(guide: str | None = None) -> tuple[AnyFigure, ...]:
    """Return the figures of every product, or of one guide; raises `UnknownName` for no guide."""
    if guide is not None and guide not in GUIDES:
        raise UnknownName.of("guide", guide, GUIDES)
    rooms = GUIDES.values() if guide is None else (GUIDES[guide],)
    found = [figure for room in dict.fromkeys(rooms) for figure in room()]
    return tuple(f for f in found if guide is None or f.id.startswith(f"{guide}:"))


def figure(id: str) -> AnyFigure:
    """Return a figure of any product by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``."""
    from mqlab.products.activemq import figures as printed

    if not isinstance(id, str):
        raise UnknownName.of("figure", id, ["fuse:2.20", "openmq:4-1", "artemis:21.1"])
    try:
        return printed.figure(id)
    except UnknownName:
        guide = id.partition(":")[0]
        ours = _known(guide if guide in GUIDES else None)
        found = ours.get(id) or ours.get(f"{id}a")
        if found is None:
            raise UnknownName.of("figure", id, ours) from None
        return copy.deepcopy(found)


@cache
def _known(guide: str | None) -> Mapping[str, AnyFigure]:
    """Return id -> figure, read once; who asks for one has a copy, and what he does to it stays with him."""
    return {figure.id: figure for figure in figures(guide)}


def load(path: str | Path) -> AnyScenario:
    """Read the scenario of a lab file or recording of any product; raises `BadFile`."""
    value = lab_file.read_json(path)
    return product_of(value).read(value, str(path))


def from_files(
    sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
) -> Network | AnyScenario:
    """Return the network that configuration files make; raises `BadFile`."""
    name = files.product_of(sources)
    product = next(product for product in PRODUCTS if product.name == name)
    network: Network | AnyScenario = product.read_files(sources, values, hosts)
    return network


def configuration(what: Network | AnyScenario) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network or a scenario."""
    network = what.network if isinstance(what, Scenario) else what
    return files.relative(_product_of(network).write_files(network))


def python(scenario: AnyScenario) -> str:
    """Return code with nouns that makes a scenario of any product, under the name `scenario`."""
    return product_of_scenario(scenario).python(scenario)


def under(scenario: Any, edition: str) -> Any:
    """Return a scenario run by another edition; raises `BadValue` for products that have it within."""
    if isinstance(scenario, (Scenario, Network)):
        return scenario.under(edition)
    kind = type(scenario).__name__
    raise BadValue(f"a {kind} has its own version; set it there (version=...)")


def option_name(scenario: Network | AnyScenario, option: str) -> str:
    """Return the Python name of an option of a scenario's product, which may be given by the guide's."""
    tables = _product_of(scenario).options().values()
    known = {row.guide: row.name for rows in tables for row in rows.values()}
    return known.get(option, option)


def lab_of(
    scenario: AnyScenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Lab:
    """Return the lab of a scenario of any product, with its script before it."""
    return product_of_scenario(scenario).lab(scenario, seed, jitter, limit, links=links)


def play(
    scenario: AnyScenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Play a scenario of any product, or *until* a time; raises `BadValue` beyond *limit* events."""
    lab = lab_of(scenario, seed, jitter, limit, links)
    lab.play(until)
    return lab.trace


def outcome_of(trace: Trace) -> JsonDict:
    """Return a trace's outcome in the form of its product's recordings."""
    body = trace.header.get("scenario", {})
    return product_of(body if isinstance(body, Mapping) else {}).outcome(trace)


def real_note(what: str) -> str:
    """Return what a figure says of the real broker that differs from the guide."""
    try:
        return str(getattr(figure(what), "real", ""))
    except UnknownName:
        return ""
