"""What every product has behind its folder: how scenarios are read, written, played, judged, checked and shown.

The folders of all products have modules of the same names, which are entered when one is asked for something:
nobody waits for the brokers of another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypedDict, TypeVar, Unpack

from mqlab.errors import CannotRun
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.link import LikeLinks
from mqlab.spec.options import tables
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
    """A product. A fourth one is a folder with these modules, an heir of this class, a row in `PRODUCTS`."""

    name: ClassVar[str]
    title: ClassVar[str]
    # Edition -> its rules, where they differ from those of others; the latest comes last.
    edition_rules: ClassVar[Mapping[str, EditionRules]]
    files: ClassVar[str]  # module of its folder that reads and writes configuration files
    live: ClassVar[str] = ""  # and which reads running brokers, if one does

    def room(self, name: str) -> ModuleType:
        """Return a module of the product's folder."""
        return import_module(f"mqlab.products.{self.name}.{name}")

    @abstractmethod
    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file's scenario object is one of its own."""

    def read(self, value: JsonObject, where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file's JSON value; raises `MqlabError`."""
        found: Scenario = self.room("files.lab_file").read(value, where)
        return found

    def built(self, body: JsonObject, where: str) -> Scenario:
        """Return the scenario of a figure's object, of whose shape a test is sure."""
        return self.read(body, where)

    def write(self, scenario: Scenario) -> JsonDict:
        """Return the lab file of a scenario."""
        body: JsonDict = self.room("files.lab_file").write(scenario)
        return body

    def python(self, scenario: Scenario) -> str:
        """Return code with nouns that makes a scenario."""
        return str(self.room("files.python").python(scenario))

    def shape(self) -> Record:
        """Return the shape of its lab files, from which their schema follows."""
        shape: Record = self.room("files.shapes").scenario()
        return shape

    def options(self) -> Options:
        """Return its option rows."""
        return tables(self.name)

    @abstractmethod
    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> Lab:
        """Return a lab with a scenario's script before it."""

    @abstractmethod
    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run, in the form of the product's recordings."""

    def check(self, what: N | Scenario) -> Iterable[Problem]:
        """Return the problems of a scenario or a network, errors first."""
        problems: Iterable[Problem] = self.room("rules").check(what)
        return problems

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of `check`, in their order."""
        rules: tuple[Rule, ...] = self.room("rules").RULES
        return rules

    def read_files(
        self, sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
    ) -> AnyNetwork:
        """Return the network that the product's configuration files make; raises `BadFile`."""
        network: AnyNetwork = self.room(self.files).read(sources, values, hosts)
        return network

    def read_running(
        self,
        consoles: Sequence[str],
        sources: tuple[SourceFile, ...],
        values: Mapping[str, str],
        hosts: Mapping[str, str],
    ) -> AnyNetwork:
        """Return what running brokers, and files beside them, make; raises `CannotRun`, `BadFile`."""
        if not self.live:
            raise CannotRun(f"brokers of {self.title} are not read while they run; give their files")
        network: AnyNetwork = self.room(self.live).read(consoles, sources, values, hosts)
        return network

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

    def write_files(self, network: N) -> dict[str, str]:
        """Return path -> text of the product's configuration files."""
        texts: dict[str, str] = self.room(self.files).write(network)
        return texts

    @abstractmethod
    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""


AnyProduct = Product[Any]  # which one is told by what it is asked
