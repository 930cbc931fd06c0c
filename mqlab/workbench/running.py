"""The picture of a running network: as it was read, and read again every few seconds in a notebook."""

from __future__ import annotations

import asyncio

from mqlab import products, views
from mqlab.errors import MqlabError
from mqlab.spec.scenario import AnyNetwork
from mqlab.trace.trace import Trace
from mqlab.views import player, svg
from mqlab.views.host import View
from mqlab.workbench.saved import StaticOutput

EVERY = 5.0  # s between two readings
MINUTES = 10.0  # for which a picture follows its network, unless it is asked to go on


class RunningView(StaticOutput, View):
    """Shows what stands in a running network; `refresh` reads it again.

    In a notebook it does so every 5 s, for 10 minutes or until `stop`; `follow` begins anew. `network` is what
    was read last, `problem` why a later reading failed: then the picture stays as it was.
    """

    following: asyncio.Task[None] | None = None

    def __init__(self, network: AnyNetwork) -> None:
        self.network, self.problem = network, ""
        self.observed = products.observed(network)
        self.scenes = views.scenes(self.observed)
        super().__init__(player.item(self.scenes))
        self.follow()

    @property
    def shown(self) -> tuple[Trace, ...]:
        """What is shown: the trace of one moment."""
        return (self.observed,)

    def stills(self) -> list[str]:
        """Return the picture as SVG."""
        return [svg.picture(one.columns) for one in self.scenes]

    def refresh(self) -> None:
        """Read the network again and show it; raises `CannotRun` if no broker can be read any more."""
        self._take(products.reread(self.network))

    def _take(self, network: AnyNetwork) -> None:
        self.observed = products.observed(network, self.network)
        self.network, self.problem = network, ""
        self.scenes = views.scenes(self.observed)
        self.show(self.scenes[0].columns)

    def follow(self, every: float = EVERY, minutes: float = MINUTES) -> None:
        """Read again every few seconds, for so many minutes; outside a notebook nothing is done."""
        self.stop()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:  # a script
            return
        self.following = loop.create_task(self._follow(every, loop.time() + 60 * minutes))

    def stop(self) -> None:
        """Read no more."""
        if self.following is not None:
            self.following.cancel()
            self.following = None

    def close(self) -> None:
        """Close the picture, and read no more."""
        self.stop()
        super().close()

    async def _follow(self, every: float, until: float) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() < until:
            await asyncio.sleep(every)
            try:
                self._take(await loop.run_in_executor(None, products.reread, self.network))
            except MqlabError as error:
                self.problem = str(error)
