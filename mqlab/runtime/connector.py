"""A network connector at work: which bridges it opens, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.bridge import Bridge
from mqlab.runtime.settings import BridgeSettings
from mqlab.spec import NetworkConnector
from mqlab.spec import uri as uris

if TYPE_CHECKING:
    from mqlab.runtime.lab import Lab


class Connector:
    """A connector of the broker *owner*: one bridge for each broker its address lists.

    With `masterslave:` or a nested `failover:` there is one bridge, to the first broker of the
    list that serves (Fuse 4, Example 4.8).
    """

    def __init__(self, lab: Lab, owner: str, spec: NetworkConnector) -> None:
        self.lab, self.owner, self.spec, self.name = lab, owner, spec, spec.name
        self.settings = BridgeSettings(spec, lab.edition)
        self.title = spec.get("configured_name") or spec.name  # what the broker itself calls it
        parsed = uris.parse(spec.uri)
        inner = parsed.components[0].scheme if len(parsed.components) == 1 else ""
        self.picks_one = parsed.scheme == "masterslave" or inner == "failover"
        self.wanted = False
        self.bridges: list[Bridge] = []

    def start(self) -> None:
        """Open what bridges can be opened; a duplex connector opens each both ways."""
        self.wanted = True
        home = self.lab.broker(self.owner)
        self.bridges = [bridge for bridge in self.bridges if bridge.up]
        if not home.running:
            return
        for target in self.spec.targets:
            remote = self.lab.broker(target)
            if self.picks_one and self.bridges:
                return
            if not remote.running or self.leads_to(target):
                continue
            if remote is home or self.name_in_use(target):
                self.lab.problem(f"bridge {self.name} did not come up")
                continue
            ways = [Bridge(self.lab, home, remote, self.title, self.settings, mirror=False)]
            if self.settings.duplex:
                ways.append(Bridge(self.lab, remote, home, self.title, self.settings, mirror=True))
            self.bridges += ways
            for bridge in ways:
                bridge.start()

    def name_in_use(self, target: str) -> bool:
        """Whether the broker has a bridge of that configured name to *target*, which is refused."""
        return any(
            other is not self and other.owner == self.owner and other.title == self.title
            and other.leads_to(target)
            for other in self.lab.connectors
        )  # fmt: skip

    def leads_to(self, broker: str) -> bool:
        """Whether a live bridge to *broker* exists."""
        return any(bridge.remote.name == broker for bridge in self.bridges)

    def stop(self) -> None:
        """Close all bridges and do not open them again."""
        self.wanted = False
        for bridge in self.bridges:
            bridge.stop()
        self.bridges = []
