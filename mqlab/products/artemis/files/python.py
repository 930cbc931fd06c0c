"""An Artemis scenario as the Python code that a user would write."""

from __future__ import annotations

from mqlab.files.code import Code, in_lines
from mqlab.spec.artemis import HaScenario
from mqlab.spec.artemis.broker import Broker


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


def python(scenario: HaScenario) -> str:
    """Return code that makes the same `scenario`, in the words of `mqlab.artemis`."""
    more = {
        "version": scenario.version,
        "queues": scenario.queues,
        "clients": scenario.clients,
        "about": scenario.about,
        **scenario.cluster,
        **scenario.addresses,
    }
    told = {name: it for name, it in more.items() if it is not None and it not in ({}, ())}
    parts = [*map(_CODE.written, scenario.brokers), *_CODE.named(told)]
    actions = [_CODE.written(action) for action in scenario.actions]
    network, made = in_lines("artemis.Network", parts), in_lines("net.with_actions", actions)
    return f"from mqlab import artemis\n\nnet = {network}\nscenario = {made}\n"
