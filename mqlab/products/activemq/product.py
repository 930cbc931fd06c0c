"""ActiveMQ behind the face of `products.face`: each method enters the room that does the work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Options, Player, Product
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.origin import SourceFile
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.checks.rule import Rule
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.observation import Scenery
    from mqlab.products.story import Story
    from mqlab.spec import Network, Scenario
    from mqlab.spec.edition import ActiveMQRules
    from mqlab.spec.problem import Problem
    from mqlab.spec.running import Running
    from mqlab.spec.shape import Record


class ActiveMQ(Product["Network"]):
    """ActiveMQ."""

    name = "activemq"
    title = "ActiveMQ"

    def claims(self, body: JsonObject) -> bool:
        """What no other product claims is a network of ActiveMQ."""
        return True

    def read(self, value: JsonObject, where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file's JSON value."""
        from mqlab.products.activemq.files import lab_file, timed_recordings

        body = detect_product.scenario_in(value)
        in_time = isinstance(body, Mapping) and detect_product.activemq_in_time(body)
        read = timed_recordings.read if in_time else lab_file.read
        return read(value, where)

    def built(self, body: JsonObject, where: str) -> Scenario:
        """Return the scenario of a figure's object without looking at its shape again."""
        from mqlab.products.activemq.files import lab_file

        return lab_file.build(body, where)

    def write(self, scenario: Scenario) -> JsonDict:
        """Return the lab file of a scenario."""
        from mqlab.products.activemq.files import lab_file

        return lab_file.write(scenario)

    def python(self, scenario: Scenario) -> str:
        """Return code with nouns that makes a scenario."""
        from mqlab.products.activemq.files import python

        return python.python(scenario)

    def shape(self) -> Record:
        """Return the shape of its lab files."""
        from mqlab.products.activemq.files import shapes

        return shapes.scenario()

    def options(self) -> Options:
        """Return its option rows."""
        from mqlab.spec.rows import OPTIONS

        return OPTIONS

    def edition_rules(self) -> dict[str, ActiveMQRules]:
        """Return the rules of its editions."""
        from mqlab.spec.edition import ACTIVEMQ

        return ACTIVEMQ

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> Lab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.activemq.lab import Lab

        return Lab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        from mqlab.products.activemq import runtime

        return runtime.outcome(trace)

    def check(self, what: Network | Scenario) -> list[Problem]:
        """Return the problems of a scenario or a network, errors first."""
        from mqlab.products.activemq import rules

        return rules.check(what)

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of `check`, in their order."""
        from mqlab.products.activemq.rules import RULES

        return RULES

    def read_files(
        self, sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
    ) -> Network:
        """Return what configuration files make."""
        from mqlab.products.activemq import files

        return files.read(sources, values, hosts)

    def read_running(
        self,
        consoles: Sequence[str],
        sources: tuple[SourceFile, ...],
        values: Mapping[str, str],
        hosts: Mapping[str, str],
    ) -> Network:
        """Return what running brokers, and files beside them, make."""
        from mqlab.products.activemq import live

        return live.read(consoles, sources, values, hosts)

    def scenery(self, network: Network, running: Running) -> Scenery:
        """Return what a picture of a running network shows beside what stands there."""
        from mqlab.products.activemq.live import picture

        return picture.scenery(network, running)

    def stories(self, network: Network, queue: str | None = None, on: str | None = None) -> Iterator[Story]:
        """Yield what stands in a running network as a script for the lab."""
        from mqlab.products.activemq.live.story import story

        yield story(network, queue, on)

    def write_files(self, network: Network) -> dict[str, str]:
        """Return path -> text of configuration files."""
        from mqlab.products.activemq import files

        return files.write(network)

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.activemq.real.brokers import Brokers
        from mqlab.products.activemq.real.networks import NetworkScript

        return Player(Brokers, NetworkScript)
