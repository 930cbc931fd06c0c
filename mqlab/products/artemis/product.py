"""Artemis behind the face of `products.face`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Player, Product
from mqlab.spec.edition import ARTEMIS
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.artemis.lab import ArtemisLab
    from mqlab.products.observation import Scenery
    from mqlab.products.story import Story
    from mqlab.spec.artemis import ArtemisNetwork
    from mqlab.spec.problem import Problem
    from mqlab.spec.running import Running

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
    edition_rules = ARTEMIS
    files = "files.broker_xml"
    live = "live.network"

    def claims(self, body: JsonObject) -> bool:
        """Whether a lab file is one of Artemis brokers."""
        return detect_product.artemis(body)

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> ArtemisLab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.artemis.lab import ArtemisLab

        return ArtemisLab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        return {key: trace.header[key] for key in OUTCOME}

    def check(self, what: ArtemisNetwork | Scenario) -> Iterable[Problem]:
        """Return the problems of a scenario, or of a network in which nothing happens, errors first."""
        return super().check(what if isinstance(what, Scenario) else Scenario(what))

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

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.artemis.real.brokers import ArtemisBrokers
        from mqlab.products.artemis.real.script import ArtemisScript

        return Player(ArtemisBrokers, ArtemisScript)
