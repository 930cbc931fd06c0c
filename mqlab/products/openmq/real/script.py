"""A script on Open Message Queue's own brokers: how they start, wait and are asked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from mqlab.products.openmq.real.brokers import OpenMQBrokers
from mqlab.real.clusters import ClusterScript
from mqlab.real.steps import Step

LINKED_SECONDS = 60


class OpenMQScript(ClusterScript):
    """Does the steps of a cluster; it is started when all its brokers are linked."""

    brokers: OpenMQBrokers

    def do_start(self, step: Step) -> None:
        """Start brokers one after the other, and wait until they are linked."""
        super().do_start(step)
        self.linked()

    def do_start_broker(self, step: Step) -> None:
        """Start a broker, and wait until it is linked."""
        super().do_start_broker(step)
        if step.get("until", "linked") == "linked":
            self.linked()

    def linked(self) -> None:
        """Wait until all brokers that run see each other operate."""
        if not self.wait_until(self._all_linked, LINKED_SECONDS):
            self.problems.append("the brokers are not linked to each other")

    def _all_linked(self) -> bool:
        there = {name for name in self.brokers.names if self.brokers.is_running(name)}
        if len(there) < 2:
            return True
        with ThreadPoolExecutor() as pool:
            return all(there <= seen for seen in pool.map(self.brokers.linked, there))

    def do_create_destination(self, step: Step) -> None:
        """Create a destination as the administrator does."""
        options = [
            word
            for key, value in step.get("options", {}).items()
            for word in ("-o", f"{key[0].lower()}{key[1:]}={value}")
        ]
        self._destination(step, "create", *options)

    def do_destroy_destination(self, step: Step) -> None:
        """Destroy a destination as the administrator does."""
        self._destination(step, "destroy")

    def do_purge(self, step: Step) -> None:
        """Remove what a broker has of a destination, as the administrator does."""
        self._destination(step, "purge")

    def _destination(self, step: Step, *words: str) -> None:
        kind = "queue" if "queue" in step else "topic"
        said = (words[0], "dst", "-t", kind[0], "-n", step[kind], *words[1:])
        self.brokers.administer(step["broker"], *said)
        self.rest()

    def state(self, name: str) -> dict[str, object]:
        """Return whether a broker runs, and what lies in the script's queues there."""
        if not self.brokers.is_running(name):
            return {"running": False}
        queues = [queue for queue in self.queues if queue.startswith("queue:")]
        return {
            "running": True,
            "destinations": {queue: self.brokers.held(name, queue) for queue in queues},
        }
