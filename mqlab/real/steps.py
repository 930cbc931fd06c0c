"""A scenario's script on real brokers: each step is done, then the brokers come to rest.

The steps are those of the recordings. What every product's scripts have in common stands here; how its
brokers are started, stopped and asked in `networks` (ActiveMQ) and `clusters` (Artemis, OpenMQ).
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from mqlab.errors import CannotRun
from mqlab.real.connections import Places, Refused
from mqlab.real.consumers import Consumer
from mqlab.real.processes import Processes, busy
from mqlab.real.producers import send
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.values import duration

Step = JsonObject
QUIET_SECONDS = 0.5  # without a frame or a line in a log: the brokers are at rest
LOOK_SECONDS = 0.05
# A broker at rest uses less of a processor than this; measured 0.002 to 0.02. One that has to wait for a
# processor is silent, too, but not at rest.
IDLE = 0.05
ENDLESS = 10  # times that a log grows while one waits for it to rest, as with an address that is tried for ever
RECEIVED_MS = 30_000  # that a wait for messages takes at most, unless told
REST_SECONDS = 20  # the longest that it is waited for, on a machine that does nothing else


class Script(ABC):
    """Does steps, and keeps what came of them."""

    prefetch = 1000  # that consumers ask for whose step says nothing: messages, as ActiveMQ counts
    restless = False  # whether a broker logs without end: from then on clients alone are waited for

    def __init__(self, brokers: Processes, until: float, pace: str = "rest") -> None:
        self.brokers, self.until, self.by_calls = brokers, until, pace == "calls"
        self.consumers: dict[str, list[Consumer]] = {}
        self.open: dict[str, Consumer] = {}
        self.refused: set[str] = set()  # consumers that a broker did not let in
        self.background: list[threading.Thread] = []
        self.timers: list[threading.Timer] = []
        self.sent = 0
        self.snapshots: dict[str, object] = {}
        self.problems: list[str] = []

    def play(self, steps: Sequence[Step], began: Mapping[int, float]) -> None:
        """Do all steps; those with a time of their own when the lab does them (*began*: step -> s).

        Real brokers take longer to start than the lab's. So a time counts from the step in which it falls.
        """
        own = {no: began.get(no, 0.0) for no, step in enumerate(steps) if not is_timed(step)}
        beside = defaultdict[int, list[int]](list)
        for no, at in began.items():
            if no not in own:
                beside[max((other for other in own if own[other] <= at), default=0)].append(no)
        for no in own:
            for other in beside[no]:
                self._later(began[other] - own[no], steps[other])
            self.do(steps[no])
        for thread in self.timers:
            thread.join()

    def _later(self, seconds: float, step: Step) -> None:
        """Do a step in so many seconds, beside those of the script."""

        def do() -> None:
            try:
                self.do(step)
            except CannotRun as error:
                self.problems.append(f"{step['do']}: {error}")

        timer = threading.Timer(seconds, do)
        timer.daemon = True
        timer.start()
        self.timers.append(timer)

    def do(self, step: Step) -> None:
        """Do one step; raises `CannotRun` when time is over. A consumer that was refused does nothing."""
        if time.monotonic() > self.until:
            raise CannotRun("the time limit for the real brokers was exceeded; raise --limit")
        if step.get("consumer") in self.refused and step["do"] != "open_consumer":
            return
        does: Callable[[Step], None] = getattr(self, f"do_{step['do']}")
        does(step)

    def places(self, of: str | list[str]) -> Places:
        """Return where the clients of a broker connect, or of several in the order in which they are tried."""
        names = of if isinstance(of, list) else [of]
        return [place for name in names for place in self.brokers.places(name)]

    def partners(self, of: str | list[str]) -> Places:
        """Return where clients of a broker go when it ends, as it has told them; none begins there."""
        return []

    def do_open_consumer(self, step: Step) -> None:
        """Open a consumer, and let the network hear of it; a broker may refuse it."""
        name = step["consumer"]
        made = self.consumers.setdefault(name, [])
        try:
            broker = step["broker"]
            consumer = Consumer(self.places(broker), step, self.prefetch, self.partners(broker))
        except Refused as error:
            self.refused.add(name)
            self.problems.append(f"consumer {name}: {error}")
            return
        self.refused.discard(name)
        self.open[name] = consumer
        made.append(consumer)
        self.rest()

    def do_close_consumer(self, step: Step) -> None:
        """Close a consumer, and let the network hear of it."""
        self.open.pop(step["consumer"]).close(bool(step.get("unsubscribe")))
        self.rest()

    def do_receive(self, step: Step) -> None:
        """Let a consumer take some messages."""
        consumer = self.open[step["consumer"]]
        before = len(consumer.taken)
        consumer.allow(int(step["count"]))
        consumer.wait_for(before + int(step["count"]), REST_SECONDS / 2 * busy())

    def do_acknowledge(self, step: Step) -> None:
        """Let a consumer acknowledge what it has taken."""
        self.open[step["consumer"]].acknowledge(step.get("count"))
        self.rest()

    def do_commit(self, step: Step) -> None:
        """Commit the transaction of a consumer's session."""
        self.open[step["consumer"]].commit()
        self.rest()

    def do_resume(self, step: Step) -> None:
        """Let a consumer take all it can."""
        self.open[step["consumer"]].allow(None)

    def do_pause(self, step: Step) -> None:
        """Let a consumer take nothing."""
        self.open[step["consumer"]].hold()

    def do_send(self, step: Step) -> None:
        """Send messages, in the background if that is said."""
        first = self.sent + 1
        self.sent += int(step["count"])
        if not step.get("in_background"):
            self._send(step, first)
            return
        thread = threading.Thread(target=self._send, args=(step, first), daemon=True)
        thread.start()
        self.background.append(thread)

    def _send(self, step: Step, first: int) -> None:
        try:
            send(self.places(step["broker"]), step, first, self.partners(step["broker"]))
        except CannotRun as error:
            self.problems.append(f"send to {step['broker']}: {error}")

    def do_wait(self, step: Step) -> None:
        """Let time pass."""
        time.sleep(duration(step["time"] if "time" in step else step["ms"]) / 1_000_000)

    def do_wait_for_sends(self, step: Step) -> None:
        """Wait for what is sent in the background."""
        for thread in self.background:
            thread.join(REST_SECONDS * busy())

    def do_wait_received(self, step: Step) -> None:
        """Wait until a consumer has received so many."""
        most = step.get("limit_ms", step.get("max_ms", RECEIVED_MS))
        self.open[step["consumer"]].wait_for(step["count"], most / 1000)

    def do_settle(self, step: Step) -> None:
        """Wait until nothing moves any more."""
        self.rest()

    def rest(self) -> None:
        """Wait until for a while no frame has come, no log has grown and no broker has worked.

        Looks are counted and not time: who was held up together with the brokers has not seen them rest.
        """
        limit = time.monotonic() + REST_SECONDS * busy()
        slowest = max((consumer.delay for consumer in self.open.values()), default=0)
        looks = max(QUIET_SECONDS * busy(), 2 * slowest) / LOOK_SECONDS
        growths = 0
        while time.monotonic() < limit:
            before, worked, since, calm = self._moved(), self.brokers.worked(), time.monotonic(), 0
            while calm < looks and (now := self._moved()) == before and time.monotonic() < limit:
                time.sleep(LOOK_SECONDS)
                calm += self.restless or not self.brokers.at_work()
            growths += now[1] != before[1]
            spent = (now - worked.get(name, now) for name, now in self.brokers.worked().items())
            idle = self.restless or max(spent, default=0) < IDLE * (time.monotonic() - since)
            if calm >= looks and idle:
                return
        if growths > ENDLESS and not self.restless:
            self.restless = True
            self.problems.append(
                "a broker logs without end; from then on only what clients receive is waited for"
            )

    def _moved(self) -> tuple[int, int]:
        all_ = [consumer for each in self.consumers.values() for consumer in each]
        return sum(len(c.frames.messages) for c in all_), 0 if self.restless else self.brokers.logged()

    def do_snapshot(self, step: Step) -> None:
        """Note what each consumer has received, and how each broker is and what lies in its queues."""
        so_far = {name: sum(len(c.taken) for c in each) for name, each in self.consumers.items()}
        with ThreadPoolExecutor() as pool:  # some are told by a program of the product
            states = dict(zip(self.brokers.names, pool.map(self.state, self.brokers.names), strict=True))
        self.snapshots[step["label"]] = {"received_so_far": so_far, "brokers": states}

    @abstractmethod
    def state(self, name: str) -> dict[str, object]:
        """Return how a broker is, and what lies in its queues."""

    def wait_until(self, holds: Callable[[], bool], seconds: float = REST_SECONDS) -> bool:
        """Wait until something holds or time is over, longer on a busy machine; returns whether it held."""
        limit = time.monotonic() + seconds * busy()
        while not (held := holds()) and time.monotonic() < limit:
            time.sleep(0.05)
        return held

    def outcome(self) -> dict[str, object]:
        """Return what came of it."""
        consumers: JsonDict = {}
        for name, each in self.consumers.items():
            received = [number for consumer in each for number in consumer.taken]
            redelivered = [number for consumer in each for number in consumer.redelivered]
            ways: dict[tuple[str, ...], list[int]] = {}
            for one in (one for consumer in each for one in consumer.seen):
                ways.setdefault(one.path, []).append(one.number)
            paths = [{"path": list(path), "numbers": numbers} for path, numbers in ways.items()]
            consumers[name] = {"count": len(received), "received": received, "paths": paths}
            if redelivered:
                consumers[name]["redelivered"] = redelivered
        for consumer in self.open.values():
            consumer.close()
        return {"consumers": consumers, "snapshots": self.snapshots, "problems": self.problems}


def is_timed(step: Step) -> bool:
    """Whether a step has a time of its own, beside those that are done one after the other."""
    return "at" in step or "at_ms" in step
