"""Artemis behind the face of `products.face`: each method enters the room that does the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Options, Player, Product
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.origin import SourceFile
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.checks.rule import Rule
    from mqlab.products.artemis.lab import ArtemisLab
    from mqlab.products.observation import Scenery
    from mqlab.products.story import Story
    from mqlab.spec.artemis import ArtemisNetwork
    from mqlab.spec.edition import ArtemisRules
    from mqlab.spec.problem import Problem
    from mqlab.spec.running import Running
    from mqlab.spec.shape import Record

OUTCOME = (
    "consumers",
    "senders",
    "waits",
    "lost",
    "files",
    "received_more_than_once",
    "refused",
    "snapshots",
)


class Artemis(Product["ArtemisNetwork"]):
    """Artemis."""

    name = "artemis"
    title = "Artemis"

    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file is one of Artemis brokers."""
        return detect_product.artemis(body)

    def read(self, value: JsonObject, where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file's JSON value."""
        from mqlab.products.artemis.files import lab_file

        return lab_file.read(value, where)

    def write(self, scenario: Scenario) -> JsonDict:
        """Return the lab file of a scenario."""
        from mqlab.products.artemis.files import lab_file

        return lab_file.write(scenario)

    def python(self, scenario: Scenario) -> str:
        """Return code with nouns that makes a scenario."""
        from mqlab.products.artemis.files import python

        return python.python(scenario)

    def shape(self) -> Record:
        """Return the shape of its lab files."""
        from mqlab.products.artemis.files import shapes

        return shapes.scenario()

    def options(self) -> Options:
        """Return its option rows."""
        from mqlab.spec.artemis.options import OPTIONS

        return OPTIONS

    def edition_rules(self) -> dict[str, ArtemisRules]:
        """Return the rules of its editions."""
        from mqlab.spec.edition import ARTEMIS

        return ARTEMIS

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> ArtemisLab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.artemis.lab import ArtemisLab

        return ArtemisLab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        return {key: trace.header[key] for key in OUTCOME}

    def check(self, what: ArtemisNetwork | Scenario) -> list[Problem]:
        """Return the problems of a scenario or a network, errors first."""
        from mqlab.products.artemis import rules

        return rules.check(what if isinstance(what, Scenario) else Scenario(what))

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of `check`, in their order."""
        from mqlab.products.artemis.rules import RULES

        return RULES

    def read_files(
        self, sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
    ) -> ArtemisNetwork:
        """Return what configuration files make."""
        from mqlab.products.artemis.files import broker_xml

        return broker_xml.read(sources, values, hosts)

    def read_running(
        self,
        consoles: Sequence[str],
        sources: tuple[SourceFile, ...],
        values: Mapping[str, str],
        hosts: Mapping[str, str],
    ) -> ArtemisNetwork:
        """Return what running brokers, and files beside them, make."""
        from mqlab.products.artemis.live import network

        return network.read(consoles, sources, values, hosts)

    def scenery(self, network: ArtemisNetwork, running: Running) -> Scenery:
        """Return what a picture of a running cluster shows beside what stands there."""
        from mqlab.products.observation import Scenery

        body = self.write(Scenario(network))
        return Scenery(
            self.name, network.edition, body, network.names, lambda one: f"{one.broker}-{one.remote}"
        )

    def stories(
        self, network: ArtemisNetwork, queue: str | None = None, on: str | None = None
    ) -> Iterator[Story]:
        """Yield what stands in a running cluster as scripts for the lab."""
        from mqlab.products.artemis.live.network import stories

        return stories(network, queue, on)

    def write_files(self, network: ArtemisNetwork) -> dict[str, str]:
        """Return path -> text of configuration files."""
        from mqlab.products.artemis.files import broker_xml

        return broker_xml.write(network)

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.artemis.real.brokers import ArtemisBrokers
        from mqlab.products.artemis.real.script import ArtemisScript

        return Player(ArtemisBrokers, ArtemisScript)
