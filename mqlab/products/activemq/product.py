"""ActiveMQ behind the face of `products.face`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Unpack

from mqlab.files import detect_product
from mqlab.products.face import LabSettings, Player, Product
from mqlab.spec.edition import ACTIVEMQ
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.observation import Scenery
    from mqlab.products.story import Story
    from mqlab.spec import Network, Scenario
    from mqlab.spec.running import Running


class ActiveMQ(Product["Network"]):
    """ActiveMQ."""

    name = "activemq"
    title = "ActiveMQ"
    edition_rules = ACTIVEMQ
    files = "files"
    live = "live.network"

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

    def lab(self, scenario: Scenario, **settings: Unpack[LabSettings]) -> Lab:
        """Return a lab with a scenario's script before it."""
        from mqlab.products.activemq.lab import Lab

        return Lab(scenario, **settings)

    def outcome(self, trace: Trace) -> JsonDict:
        """Return what came of a run."""
        from mqlab.products.activemq import runtime

        return runtime.outcome(trace)

    def scenery(self, network: Network, running: Running) -> Scenery:
        """Return what a picture of a running network shows beside what stands there."""
        from mqlab.products.activemq.live import picture

        return picture.scenery(network, running)

    def stories(self, network: Network, queue: str | None = None, on: str | None = None) -> Iterator[Story]:
        """Yield what stands in a running network as a script for the lab."""
        from mqlab.products.activemq.live.story import story

        yield story(network, queue, on)

    def player(self) -> Player:
        """Return what plays a scenario on the product's own brokers."""
        from mqlab.products.activemq.real.brokers import Brokers
        from mqlab.products.activemq.real.networks import NetworkScript

        return Player(Brokers, NetworkScript)
