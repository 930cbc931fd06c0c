"""Scripts of Artemis brokers and of Open Message Queue's clusters: how they start, wait and are asked."""

from __future__ import annotations

import signal

from mqlab.real.artemis import ArtemisBrokers
from mqlab.real.connections import Places
from mqlab.real.openmq import OpenMQBrokers
from mqlab.real.processes import Processes
from mqlab.real.steps import Script, Step

LINKED_SECONDS = 60
ROLE_MS = 30_000


class _ClusterScript(Script):
    """What scripts of both have: brokers one by one, and producers that stay."""

    def __init__(self, brokers: Processes, until: float) -> None:
        super().__init__(brokers, until)
        self.producers: dict[str, Step] = {}
        self.queues: dict[str, None] = {}  # destinations that the script has named, with their kind

    def do(self, step: Step) -> None:
        """Do one step, and note the destination that it names."""
        for kind in ("queue", "topic"):
            if kind in step:
                self.queues[f"{kind}://{step[kind]}"] = None
        super().do(step)

    def do_start(self, step: Step) -> None:
        """Start brokers one after the other."""
        for name in step.get("brokers", self.brokers.names):
            self.brokers.start([name])
        self.rest()

    def do_start_broker(self, step: Step) -> None:
        """Start a broker, or several one after the other, again or for the first time."""
        for name in named(step):
            self.brokers.start([name])
        self.rest()

    def do_restart(self, step: Step) -> None:
        """Kill a broker and start it again."""
        self._end(step, orderly=False)
        self.do_start_broker(step)

    def do_stop(self, step: Step) -> None:
        """Stop a broker in an orderly way."""
        self._end(step, orderly=True)

    def do_kill(self, step: Step) -> None:
        """Kill a broker's processes."""
        self._end(step, orderly=False)

    def _end(self, step: Step, *, orderly: bool) -> None:
        for name in named(step):
            self.brokers.end(name, orderly=orderly)
        self.rest()

    def do_pause(self, step: Step) -> None:
        """Freeze a broker, or let a consumer take nothing."""
        if "broker" in step:
            self.brokers.signal(step["broker"], signal.SIGSTOP)
        else:
            super().do_pause(step)

    def do_resume(self, step: Step) -> None:
        """Let a frozen broker go on, or a consumer take all it can."""
        if "broker" in step:
            self.brokers.signal(step["broker"], signal.SIGCONT)
            self.rest()
        else:
            super().do_resume(step)

    def do_open_producer(self, step: Step) -> None:
        """Note where a producer sends from then on."""
        self.producers[step["producer"]] = step

    def do_close_producer(self, step: Step) -> None:
        """Forget a producer."""
        del self.producers[step["producer"]]

    def do_send(self, step: Step) -> None:
        """Send messages, as the producer that is named was opened."""
        super().do_send({**self.producers.get(step.get("producer", ""), {}), **step})


def named(step: Step) -> list[str]:
    """Return the brokers that a step names, one or several."""
    return [step["broker"]] if "broker" in step else list(step["brokers"])


class ArtemisScript(_ClusterScript):
    """Does the steps of Artemis brokers; clients know the brokers that may take over from theirs."""

    brokers: ArtemisBrokers

    def places(self, of: str | list[str]) -> Places:
        """Return where clients connect: the brokers that are named, then those that may take over."""
        names = of if isinstance(of, list) else [of]
        more = [other for name in names for other in self.brokers.partners(name)]
        return super().places(list(dict.fromkeys([*names, *more])))

    def do_resume_broker(self, step: Step) -> None:
        """Let a frozen broker go on."""
        self.do_resume(step)

    def do_hold(self, step: Step) -> None:
        """Let a consumer take nothing."""
        self.do_pause(step)

    def do_wait_until(self, step: Step) -> None:
        """Wait until a broker has a role."""
        name, role = step["broker"], step["role"]
        seconds = step.get("timeout_ms", ROLE_MS) / 1000
        reached = self.wait_until(lambda: self.brokers.role(name) == role, seconds)
        if reached and role == "live":
            self.wait_until(lambda: self.brokers.serves(name))
        if not reached:
            self.problems.append(f"{name} is {self.brokers.role(name)}, not {role}")

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


class OpenMQScript(_ClusterScript):
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
        return len(there) < 2 or all(there <= self.brokers.linked(name) for name in there)

    def do_create_destination(self, step: Step) -> None:
        """Create a destination as the administrator does."""
        options = [word for key, value in step.get("options", {}).items()
                   for word in ("-o", f"{key[0].lower()}{key[1:]}={value}")]  # fmt: skip
        self._destination(step, "create", *options)

    def do_destroy_destination(self, step: Step) -> None:
        """Destroy a destination as the administrator does."""
        self._destination(step, "destroy")

    def _destination(self, step: Step, *words: str) -> None:
        kind = "queue" if "queue" in step else "topic"
        said = (words[0], "dst", "-t", kind[0], "-n", step[kind], *words[1:])
        self.brokers.administer(step["broker"], *said)
        self.rest()

    def do_wait_received(self, step: Step) -> None:
        """Wait until a consumer has received so many."""
        self.open[step["consumer"]].wait_for(step["count"], step.get("limit_ms", 30_000) / 1000)

    def state(self, name: str) -> dict[str, object]:
        """Return whether a broker runs, and what lies in the script's queues there."""
        if not self.brokers.is_running(name):
            return {"running": False}
        queues = [queue for queue in self.queues if queue.startswith("queue:")]
        return {
            "running": True,
            "destinations": {queue: self.brokers.held(name, queue) for queue in queues},
        }
