"""An Artemis scenario as the Python code that a user would write."""

from __future__ import annotations

from mqlab.files.code import Code, in_lines
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.scenario import Scenario


class _Code(Code):
    """Writes brokers too."""

    def element(self, value: object) -> str:
        """Return a broker or an action, or what is no noun."""
        if not isinstance(value, Broker):
            return super().element(value)
        kind = [] if value.policy == "live_only" else [value.policy, value.role]
        parts = [*map(self.written, [value.name, *kind]), *self.named(value.options)]
        return f"artemis.Broker({', '.join(parts)})"


_CODE = _Code("artemis")


def python(scenario: Scenario) -> str:
    """Return code that makes an equal scenario, under the name `scenario`."""
    network: ArtemisNetwork = scenario.network
    more = {
        "edition": network.edition,
        "queues": network.queues,
        "clients": network.clients,
        **network.cluster,
        **network.addresses,
    }
    told = {name: it for name, it in more.items() if it is not None and it not in ({}, ())}
    parts = [*map(_CODE.written, network.brokers), *_CODE.named(told)]
    return _CODE.scenario(in_lines("artemis.Network", parts), scenario)
