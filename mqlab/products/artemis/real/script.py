"""A script on Artemis' own brokers: how they start, wait and are asked."""

from __future__ import annotations

from mqlab.products.artemis.real.brokers import ArtemisBrokers
from mqlab.real.clusters import ClusterScript
from mqlab.real.connections import Places
from mqlab.real.steps import Step

ROLE_MS = 30_000


class ArtemisScript(ClusterScript):
    """Does the steps of Artemis brokers; clients know the brokers that may take over from theirs."""

    brokers: ArtemisBrokers
    # Bytes, as Artemis takes `activemq.prefetchSize`: consumerWindowSize of JMS clients. With 1000 a consumer
    # that acknowledges nothing, as one of a topic, got four messages.
    prefetch = 1 << 20

    def partners(self, of: str | list[str]) -> Places:
        """Return where the brokers are that may take over: clients have heard of them from the first one."""
        names = of if isinstance(of, list) else [of]
        more = (other for name in names for other in self.brokers.partners(name) if other not in names)
        return self.places(list(dict.fromkeys(more)))

    do_resume_broker, do_hold = ClusterScript.do_resume, ClusterScript.do_pause

    def do_wait_until(self, step: Step) -> None:
        """Wait until a broker has a role."""
        name, role = step["broker"], step["role"]
        seconds = step.get("timeout_ms", ROLE_MS) / 1000
        reached = self.wait_until(lambda: self._has(name, role), seconds)
        if reached and role == "live":
            self.wait_until(lambda: self.brokers.serves(name))
        if not reached:
            self.problems.append(f"{name} is {self.brokers.role(name)}, not {role}")

    def _has(self, name: str, role: str) -> bool:
        """Whether a broker has a role; it is live with a replica once its backup says that it is in sync."""
        if role != "live_with_replica":
            return self.brokers.role(name) == role
        backups = map(self.brokers.role, self.brokers.partners(name))
        return self.brokers.role(name) == "live" and "backup_in_sync" in backups

    def do_open_client(self, step: Step) -> None:
        """Note where a client sends from then on."""
        self.producers[step["client"]] = step

    def do_send(self, step: Step) -> None:
        """Send messages, as the client that is named was opened."""
        super().do_send({**self.producers.get(step.get("client", ""), {}), **step})

    def do_wait_failover(self, step: Step) -> None:
        """Wait until a client has found the broker that took over."""
        self.open[step["client"]].wait_until_open()

    def state(self, name: str) -> dict[str, object]:
        """Return a broker's role, and of a live one how many messages lie in its queues."""
        role = self.brokers.role(name)
        if role != "live":
            return {"role": role}
        own = [queue.partition("://")[2] for queue in self.queues if queue.startswith("queue:")]
        depths = self.brokers.depths(name, own)
        return {
            "role": role,
            "queues": {queue: {"depth": depth} for queue, depth in depths.items()},
        }
