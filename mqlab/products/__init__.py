"""The products, in one table: how the scenarios of each are read, written, played, judged and checked.

What a product has stands in `face`; its folder has a module `product`, which is that face.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import BadFile, BadValue, CannotRun, Interrupted, UnknownName, shown
from mqlab.files import detect_product, files, markup
from mqlab.products import guide_figures
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.product import ActiveMQ
from mqlab.products.artemis.product import Artemis
from mqlab.products.face import AnyProduct
from mqlab.products.foresight import Foresight
from mqlab.products.guide_figures import GUIDES as GUIDES
from mqlab.products.guide_figures import Figure, FigureTable
from mqlab.products.openmq.product import OpenMQ
from mqlab.products.story import Story
from mqlab.real import jolokia
from mqlab.spec import Scenario
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.link import LikeLinks
from mqlab.spec.origin import SourceFile
from mqlab.spec.scenario import AnyNetwork
from mqlab.spec.values import check_seed
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab
    from mqlab.spec.scenario import Scenario

ACTIVEMQ, OPENMQ, ARTEMIS = ActiveMQ(), OpenMQ(), Artemis()
PRODUCTS: tuple[AnyProduct, ...] = (
    OPENMQ,
    ARTEMIS,
    ACTIVEMQ,
)  # in this order they are asked whose a file is
BY_NAME = {product.name: product for product in PRODUCTS}


def product_of(value: JsonObject, where: str = "lab file") -> AnyProduct:
    """Return the product of a lab file's JSON value; ActiveMQ's reader says what is no lab file.

    Raises `UnknownName` for a product that mqlab does not have.
    """
    body = detect_product.scenario_in(value)
    if not isinstance(body, Mapping):
        return ACTIVEMQ
    named = body.get("product")
    if isinstance(named, str):
        if named not in BY_NAME:
            raise UnknownName.of("product", named, reversed(BY_NAME), where)
        return BY_NAME[named]
    return next(product for product in PRODUCTS if product.claims(body))


def product_of_scenario(scenario: object) -> AnyProduct:
    """Return the product of a scenario or a network; raises `CannotRun` for what is none."""
    if not isinstance(scenario, (AnyNetwork, Scenario)):
        raise CannotRun(f"{type(scenario).__name__} is not a scenario of a product")
    return BY_NAME[scenario.product]


def figures(guide: str | None = None) -> FigureTable:
    """Return the figures of every guide, of one, or with a word (`guide_figures.ids`); raises `UnknownName`."""
    return FigureTable(map(figure, guide_figures.ids(guide)))


def figure(id: str) -> Figure:
    """Return a figure of any guide by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``."""
    found = guide_figures.find(id)
    product = BY_NAME[found.pop("product")]
    found["scenario"] = product.built(found["scenario"], found["id"])
    return Figure(**found, printer=product.python)


def load(path: str | Path) -> Scenario:
    """Read the scenario of a lab file or recording of any product; raises `BadFile`."""
    value = lab_file.read_json(path)
    return product_of(value, str(path)).read(value, str(path))


def from_running(
    consoles: Sequence[str],
    sources: tuple[SourceFile, ...],
    values: Mapping[str, str],
    hosts: Mapping[str, str],
) -> AnyNetwork:
    """Return the network of running brokers, and of files beside them; raises `CannotRun`, `BadFile`."""
    name = jolokia.product_of(consoles)
    of_files = files.product_of(sources) if sources else name
    if of_files != name:
        raise BadFile(f"{sources[0].name} is of {of_files}, and the running brokers are of {name}")
    return BY_NAME[name].read_running(consoles, sources, values, hosts)


def reread(network: AnyNetwork) -> AnyNetwork:
    """Return a running network as it is now, with the same files beside it; raises `CannotRun`."""
    return product_of_scenario(network).reread(network)


def observed(network: AnyNetwork, earlier: AnyNetwork | None = None) -> Trace:
    """Return the trace of what stands in a running network, with rates since it was read *earlier*.

    Raises `BadValue` for a network that was not read while it runs.
    """
    if network.running is None:
        raise BadValue("this network was not read while it runs; use mq.load('jolokia:http://...')")
    from mqlab.products import observation

    scenery = product_of_scenario(network).scenery(network, network.running)
    return observation.trace(scenery, network.running, earlier.running if earlier is not None else None)


def stories(network: AnyNetwork, queue: str | None = None, on: str | None = None) -> Iterator[Story]:
    """Yield what stands in a running network as scripts for the lab, or only what is about one queue."""
    return product_of_scenario(network).stories(network, queue, on) if network.running else iter(())


def standing(network: AnyNetwork) -> tuple[Action, ...]:
    """Return the actions that bring about what stood in a network when it was read; of others none."""
    return next((story.actions for story in stories(network)), ())


def configuration(what: AnyNetwork | Scenario) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network or a scenario."""
    network = what.network if isinstance(what, Scenario) else what
    return files.relative(product_of_scenario(network).write_files(network))


def encoded(what: AnyNetwork | Scenario) -> dict[str, bytes]:
    """Return file name -> content of the configuration files, each in the encoding it was read in."""
    network = what.network if isinstance(what, Scenario) else what
    origin = network.origin
    read = {file.name: file.encoding for file in origin.files} if origin is not None else {}
    texts = product_of_scenario(network).write_files(network)
    made = {
        name: markup.encoded(text, read.get(name) or markup.encoding_of(text)) for name, text in texts.items()
    }
    return files.relative(made)


def python(scenario: Scenario) -> str:
    """Return code with nouns that makes a scenario of any product, under the name `scenario`."""
    return product_of_scenario(scenario).python(scenario)


def option_name(scenario: AnyNetwork | Scenario, option: str) -> str:
    """Return the Python name of an option of a scenario's product, which may be given by the guide's."""
    tables = product_of_scenario(scenario).options().values()
    known = {row.guide: row.name for rows in tables for row in rows.values()}
    return known.get(option, option)


def lab_of(
    scenario: Scenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    links: LikeLinks = None,
) -> Lab:
    """Return the lab of a scenario of any product, with its script before it."""
    check_seed(seed)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise BadValue(f"limit is {shown(limit)}; expected a whole number of events, 1 or more")
    return product_of_scenario(scenario).lab(scenario, seed=seed, jitter=jitter, limit=limit, links=links)


def play(
    scenario: Scenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    until: int | str | None = None,
    links: LikeLinks = None,
    *,
    foretold: bool = False,
) -> Trace:
    """Play a scenario of any product, or *until* a time. Of one *foretold* it does not say that it takes long.

    Raises `BadValue` beyond *limit* events, and `Interrupted`, which has the trace so far, on Ctrl-C.
    """
    lab = lab_of(scenario, seed, jitter, limit, links)
    go_on(lab, until, foretold)
    return lab.trace


def go_on(lab: Lab, until: int | str | None = None, foretold: bool = False) -> None:
    """Play a lab's script, and say after a second if that will take long; raises as `play` does."""
    lab.onlooker = None if foretold else Foresight(lab).look
    try:
        lab.play(until)
    except KeyboardInterrupt:
        lab.recorder.mend()
        lab.cut_at = lab.clock.now
        raise Interrupted(lab.trace) from None
    finally:
        lab.onlooker = None


def outcome_of(trace: Trace) -> JsonDict:
    """Return a trace's outcome in the form of its product's recordings."""
    body = trace.header.get("scenario", {})
    return product_of(body if isinstance(body, Mapping) else {}).outcome(trace)


def real_note(what: str) -> str:
    """Return what a figure says of the real broker that differs from the guide."""
    try:
        return figure(what).real
    except UnknownName:
        return ""
