"""Scripts of brokers that are started one by one, with producers that stay: Artemis and Open Message Queue."""

from __future__ import annotations

import signal

from mqlab.real.processes import Processes
from mqlab.real.steps import Script, Step


class ClusterScript(Script):
    """What scripts of both have: brokers one by one, and producers that stay."""

    def __init__(self, brokers: Processes, until: float, pace: str = "rest") -> None:
        super().__init__(brokers, until, pace)
        self.producers: dict[str, Step] = {}
        self.queues: dict[str, None] = {}  # destinations that the script has named, with their kind

    def do(self, step: Step) -> None:
        """Do one step, and note the destination that it names."""
        for kind in ("queue", "topic"):
            if kind in step:
                self.queues[f"{kind}://{step[kind]}"] = None
        super().do(step)

    def do_start(self, step: Step) -> None:
        """Start brokers one after the other, each when what the one before came to is at rest."""
        names = step.get("brokers", self.brokers.names)
        self.brokers.make_ready(names)
        for name in names:
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

    def outcome(self) -> dict[str, object]:
        """Return what came of it, once nothing moves any more: a script need not end with a rest."""
        self.rest()
        return super().outcome()


def named(step: Step) -> list[str]:
    """Return the brokers that a step names, one or several."""
    return [step["broker"]] if "broker" in step else list(step["brokers"])
