"""What every product has behind its folder: how scenarios are read, written, played, judged, checked and shown.

A product's rooms are entered when it is asked for something: nobody waits for the brokers of another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar, Unpack

from mqlab.errors import CannotRun
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.link import LikeLinks
from mqlab.spec.origin import Origin, SourceFile
from mqlab.spec.scenario import AnyNetwork
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.checks.rule import Rule
    from mqlab.engine.lab import Lab
    from mqlab.products.observation import Scenery
    from mqlab.products.story import Story
    from mqlab.real.home import Home
    from mqlab.real.processes import Processes
    from mqlab.real.steps import Script
    from mqlab.spec.edition import EditionRules
    from mqlab.spec.option import Option
    from mqlab.spec.problem import Problem
    from mqlab.spec.running import Running
    from mqlab.spec.scenario import Scenario
    from mqlab.spec.shape import Record

N = TypeVar("N", bound=AnyNetwork)  # the networks of a product
Options = Mapping[str, Mapping[str, "Option"]]  # element -> Python name -> row


class LabSettings(TypedDict, total=False):
    """What a run hangs on besides its scenario, for labs of every product."""

    seed: int
    jitter: int | str  # us
    limit: int | None  # of events
    links: LikeLinks
    inverted: Collection[str]  # rules of the edition, played the other way round


@dataclass(frozen=True, slots=True)
class Player:
    """What runs a product's own brokers, and what does the steps of a script on them."""

    brokers: Callable[[Any, Home], Processes]
    script: Callable[[Any, float, str], Script]


class Product(ABC, Generic[N]):
    """A product. A fourth one is a folder with a heir of this class, and a row in `PRODUCTS`."""

    name: str
    title: str

    @abstractmethod
    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file's scenario object is one of its own."""

    @abstractmethod
    def read(self, value: JsonObject, where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file's JSON value; raises `MqlabError`."""

    def built(self, body: JsonObject, where: str) -> Scenario:
        """Return the scenario of a figure's object, of whose shape a test is sure."""
        return self.read(body, where)

    @abstractmethod
    def write(self, scenario: Scenario) -> JsonDict:
        """Return the lab file of a scenario."""

    @abstractmethod
    def python(self, scenario: Scenario) -> str:
        """Return code with nouns that makes a scenario."""

    @abstractmethod
    def shape(self) -> Record:
        """Return the shape of its lab files, from which their schema follows."""

    @abstractmethod
    def options(self) -> Options:
        """Return its option rows."""

    @abstractmethod
    def edition_rules(self) -> Mapping[str, EditionRules]:
        """Return edition -> its rules, where they differ from those of others; the latest comes last."""

    @abstractmethod
    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> Lab:
        """Return a lab with a scenario's script before it."""

    @abstractmethod
    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run, in the form of the product's recordings."""

    @abstractmethod
    def check(self, what: N | Scenario) -> Iterable[Problem]:
        """Return the problems of a scenario or a network, errors first."""

    @abstractmethod
    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of `check`, in their order."""

    @abstractmethod
    def read_files(
        self, sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
    ) -> AnyNetwork:
        """Return the network that the product's configuration files make; raises `BadFile`."""

    def read_running(
        self,
        consoles: Sequence[str],
        sources: tuple[SourceFile, ...],
        values: Mapping[str, str],
        hosts: Mapping[str, str],
    ) -> AnyNetwork:
        """Return what running brokers, and files beside them, make; raises `CannotRun`, `BadFile`."""
        raise CannotRun(f"brokers of {self.title} are not read while they run; give their files")

    def reread(self, network: AnyNetwork) -> AnyNetwork:
        """Return a running network as it is now, with the same files beside it; raises `CannotRun`."""
        if network.running is None:
            raise CannotRun("this network was not read while it runs; use mq.load('jolokia:http://...')")
        origin = network.origin or Origin(())
        consoles = [one.console for one in network.running.brokers]
        return self.read_running(consoles, origin.files, dict(origin.values), dict(origin.hosts))

    def scenery(self, network: N, running: Running) -> Scenery:
        """Return what a picture of a running network shows beside what stands there; raises `CannotRun`."""
        raise CannotRun(f"brokers of {self.title} are not read while they run; give their files")

    def stories(self, network: N, queue: str | None = None, on: str | None = None) -> Iterator[Story]:
        """Yield what stands in a running network as scripts for the lab, the likeliest first."""
        return iter(())

    @abstractmethod
    def write_files(self, network: N) -> dict[str, str]:
        """Return path -> text of the product's configuration files."""

    @abstractmethod
    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""


AnyProduct = Product[Any]  # which one is told by what it is asked
