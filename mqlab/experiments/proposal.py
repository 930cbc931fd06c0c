"""A change that was found by running, and applies to what a user has: a network, a scenario, a figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mqlab import products
from mqlab.errors import BadValue
from mqlab.products import inputs
from mqlab.spec.change import Change
from mqlab.spec.network import Network
from mqlab.spec.scenario import AnyNetwork, Scenario


class Proposal(Change):
    """A `Change` that applies to everything that `run` takes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Change(kind={self.kind!r}, text={self.text!r})"

    def apply(self, what: object) -> Any:
        """Return *what* with the change made: lab files and networks stay such, all else is a scenario.

        The change is that of the scenario it was found in: the same brokers, connectors and actions. Raises
        `BadValue` where it is one of an action and *what* is a network alone.
        """
        if isinstance(what, Mapping):
            return super().apply(what)
        alone = isinstance(what, AnyNetwork)
        if alone and any(edit.path[0] == "actions" for edit in self.edits):
            raise BadValue(f"{self.text}: that is about an action; apply it to net.with_actions(...)")
        before = Scenario(what) if isinstance(what, AnyNetwork) else inputs.scenario_of(what)
        product = products.product_of_scenario(before)
        after = product.read(super().apply(product.write(before)))
        kept = _of_files(after.network, before.network)
        return kept if alone else replace(after, network=kept)


def _of_files(network: AnyNetwork, before: AnyNetwork) -> AnyNetwork:
    """Return a network that remembers the files that the one before was read from."""
    if isinstance(network, Network) and isinstance(before, Network):
        return before.made_of(*network.brokers, edition=network.edition)
    return replace(network, origin=before.origin)  # type: ignore[type-var]
