"""Open Message Queue behind the face of `products.face`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Options, Player, Product
from mqlab.spec.edition import OPENMQ
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.openmq.lab import ClusterLab
    from mqlab.spec.openmq import OpenMQNetwork
    from mqlab.spec.problem import Problem


class OpenMQ(Product["OpenMQNetwork"]):
    """Open Message Queue."""

    name = "openmq"
    title = "Open Message Queue"
    edition_rules = OPENMQ
    files = "files.properties"

    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file is one of a cluster."""
        return detect_product.openmq(body)

    def options(self) -> Options:
        """Return its option rows, where consumers have those of their connections, too."""
        from mqlab.spec.openmq.options import OPTIONS

        return OPTIONS

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> ClusterLab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.openmq.lab import ClusterLab

        return ClusterLab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        return {key: trace.header[key] for key in ("consumers", "operations", "snapshots")}

    def check(self, what: OpenMQNetwork | Scenario) -> Iterable[Problem]:
        """Return the problems of a scenario, or of a network in which nothing happens, errors first."""
        return super().check(what if isinstance(what, Scenario) else Scenario(what))

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.openmq.real.brokers import OpenMQBrokers
        from mqlab.products.openmq.real.script import OpenMQScript

        return Player(OpenMQBrokers, OpenMQScript)
