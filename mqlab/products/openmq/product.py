"""Open Message Queue behind the face of `products.face`: each method enters the room that does the work."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Options, Player, Product
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.origin import SourceFile
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.checks.rule import Rule
    from mqlab.products.openmq.lab import ClusterLab
    from mqlab.spec.edition import OpenMQRules
    from mqlab.spec.openmq import OpenMQNetwork
    from mqlab.spec.problem import Problem
    from mqlab.spec.shape import Record


class OpenMQ(Product["OpenMQNetwork"]):
    """Open Message Queue."""

    name = "openmq"
    title = "Open Message Queue"

    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file is one of a cluster."""
        return detect_product.openmq(body)

    def read(self, value: JsonObject, where: str = "lab file") -> Scenario:
        """Return the scenario of a lab file's JSON value."""
        from mqlab.products.openmq.files import lab_file

        return lab_file.read(value, where)

    def write(self, scenario: Scenario) -> JsonDict:
        """Return the lab file of a scenario."""
        from mqlab.products.openmq.files import lab_file

        return lab_file.write(scenario)

    def python(self, scenario: Scenario) -> str:
        """Return code with nouns that makes a scenario."""
        from mqlab.products.openmq.files import python

        return python.python(scenario)

    def shape(self) -> Record:
        """Return the shape of its lab files."""
        from mqlab.products.openmq.files import shapes

        return shapes.scenario()

    def options(self) -> Options:
        """Return its option rows."""
        from mqlab.spec.openmq.options import OPTIONS

        return OPTIONS

    def edition_rules(self) -> dict[str, OpenMQRules]:
        """Return the rules of its editions."""
        from mqlab.spec.edition import OPENMQ

        return OPENMQ

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> ClusterLab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.openmq.lab import ClusterLab

        return ClusterLab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        return {key: trace.header[key] for key in ("consumers", "operations", "snapshots")}

    def check(self, what: OpenMQNetwork | Scenario) -> list[Problem]:
        """Return the problems of a scenario or a network, errors first."""
        from mqlab.products.openmq import rules

        return rules.check(what if isinstance(what, Scenario) else Scenario(what))

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules of `check`, in their order."""
        from mqlab.products.openmq.rules import RULES

        return RULES

    def read_files(
        self, sources: tuple[SourceFile, ...], values: Mapping[str, str], hosts: Mapping[str, str]
    ) -> OpenMQNetwork:
        """Return what configuration files make."""
        from mqlab.products.openmq.files import properties

        return properties.read(sources, values, hosts)

    def write_files(self, network: OpenMQNetwork) -> dict[str, str]:
        """Return path -> text of configuration files."""
        from mqlab.products.openmq.files import properties

        return properties.write(network)

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.openmq.real.brokers import OpenMQBrokers
        from mqlab.products.openmq.real.script import OpenMQScript

        return Player(OpenMQBrokers, OpenMQScript)
