"""The steps of a script that clients take: connect, receive, send, commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mqlab.runtime.artemis.clients import NOT_CONNECTED, Client
from mqlab.runtime.artemis.consumers import Consumer
from mqlab.runtime.artemis.lab import HaLab
from mqlab.runtime.artemis.messages import Message
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind

MS = 1000
PATIENCE = 30_000  # ms that a step waits if it does not say
BLOCKED = 20_000  # ms after which a call counts as blocked


class Calls:
    """What clients do."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab
        self.numbers = 0
        self.sending = 0  # messages of send steps that are not through

    def _blocking(
        self, client: Client, what: str, call: Iterator[int], limit_ms: float = BLOCKED
    ) -> None:
        """Let a call go on; blocked for too long it is told, and goes on behind the script."""
        ended: list[bool] = []

        def whole() -> Iterator[int]:
            yield from call
            ended.append(True)

        step, client.calling = self.lab.step, self.lab.clock.now
        self.lab.run(whole())
        while not ended and self.lab.clock.now - client.calling <= limit_ms * MS:
            self.lab.clock.step()
        if not ended:
            client.results.append(f"step {step} {what}: still blocked")

    def wait_for(
        self, holds: Callable[[], bool], keys: Mapping[str, Any], who: str, role: str
    ) -> None:
        """Wait until something holds, and note how the wait ended."""
        reached = self.lab.pass_until(holds, keys.get("timeout_ms", PATIENCE))
        self.lab.waits.append(
            {"step": self.lab.step, "broker": who, "role": role, "reached": reached}
        )

    def do_wait_failover(self, keys: Mapping[str, Any]) -> None:
        """Wait until a client has reconnected so often."""
        client, done = self.lab.clients.named(keys["client"]), "failover_completed"
        often = lambda: client.failovers.count(done) >= keys.get("times", 1)  # noqa: E731
        self.wait_for(often, keys, client.name, done)

    def do_wait_for_sends(self, keys: Mapping[str, Any]) -> None:
        """Wait until sends in the background have ended."""
        self.lab.pass_until(lambda: not self.sending, keys.get("timeout_ms", 60_000))

    # Clients

    def do_open_consumer(self, keys: Mapping[str, Any]) -> None:
        """Open a connection, a session and a consumer."""
        name = keys["consumer"]
        consumer = self.lab.clients.consumers[name] = Consumer(self.lab, name, keys)
        self._open(consumer, keys, "open_consumer")

    def do_open_client(self, keys: Mapping[str, Any]) -> None:
        """Open a client that stays, for sends and transactions."""
        name = keys.get("producer") or keys["client"]
        client = self.lab.clients.senders[name] = Client(self.lab, name, keys)
        self._open(client, keys, "open")

    do_open_producer = do_open_client

    def _open(self, client: Client, keys: Mapping[str, Any], what: str) -> None:
        call = client.connect(client.options["initial_connect_attempts"])
        self._blocking(client, what, call, keys.get("time_limit_ms", BLOCKED))
        for said in dict.fromkeys(("open", what)) if client.state == "failed" else ():
            client.results.append(f"step {self.lab.step} {said}: {NOT_CONNECTED}")

    def do_receive(self, keys: Mapping[str, Any]) -> None:
        """Take so many messages, or what comes in the time."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        for _ in range(keys["count"]):
            self.lab.pass_until(lambda: bool(consumer.buffer), keys.get("wait_ms", 2000))
            if not consumer.receive_one(keys.get("acknowledge", True)):
                break
        consumer.see_closed()

    def do_resume(self, keys: Mapping[str, Any]) -> None:
        """Take everything from now on."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        consumer.receiving = True
        consumer.see_closed()
        self.lab.later(MS, consumer.go_on)  # it reads while the script goes on

    def do_hold(self, keys: Mapping[str, Any]) -> None:
        """Take nothing any more."""
        self.lab.clients.consumers[keys["consumer"]].receiving = False

    def do_close_consumer(self, keys: Mapping[str, Any]) -> None:
        """Close the connection; one that looks for its broker is blocked in it."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        broker, blocked = consumer.at, consumer.state == "seeking"
        consumer.leave(taken=True, buffered=False)
        consumer.state, consumer.at = "closed", None
        if broker is not None:
            self.lab.event(Kind.Unsubscribed, broker, frm=consumer.node, sub=consumer.sub,
                           dest=consumer.dest)  # fmt: skip
        self.lab.deliver()
        if blocked:
            consumer.failovers.append("failover_failed")
            consumer.results.append(f"step {self.lab.step} close_consumer: still blocked")
            self.lab.pass_time(BLOCKED)

    # Sending

    def do_send(self, keys: Mapping[str, Any]) -> None:
        """Send messages one by one; the next one when the broker has the last."""
        sends = self._sends(self._sender(keys), keys, self.numbers + 1)
        self.numbers += keys["count"]
        self.sending += keys["count"]
        if keys.get("in_background"):
            self.lab.run(sends)
        else:
            self._blocking(self._sender(keys), "send", sends, keys.get("time_limit_ms", BLOCKED))

    def _sender(self, keys: Mapping[str, Any]) -> Client:
        name = keys.get("producer") or keys.get("client") or f"sender{self.lab.step}"
        if name not in self.lab.clients.senders:
            self.lab.clients.senders[name] = Client(self.lab, name, keys)
            self.lab.run(self.lab.clients.senders[name].connect(-1))
        return self.lab.clients.senders[name]

    def _sends(self, client: Client, keys: Mapping[str, Any], first: int) -> Iterator[int]:
        for no in range(keys["count"]):
            wait = int(keys.get("interval_ms", 0) * MS) if no > 0 else 0
            client.calling += wait
            yield wait
            yield from client.ready(keys.get("persistent", True))
            client.send(self._message(client, keys, first + no, no))
            self.sending -= 1
        if client.keys is keys:  # its connection was for this step
            client.state, client.at = "closed", None

    def _message(self, client: Client, keys: Mapping[str, Any], number: int, no: int) -> Message:
        where = {**client.keys, **keys}
        kind = "topic" if "topic" in where else "queue"
        dealt = {key: value[no % len(value)] if isinstance(value, list) else value
                 for key, value in keys.get("properties", {}).items()}  # fmt: skip
        delay = int(keys.get("delivery_delay_ms", 0) * MS)
        return Message(number, Destination(kind, where[kind]), keys.get("persistent", True), dealt,
                       keys.get("size", 0), self.lab.clock.now + delay if delay else 0)  # fmt: skip

    # Transactions

    def do_commit(self, keys: Mapping[str, Any]) -> None:
        """Commit a client's transaction."""
        self._call(keys, "commit")

    def do_rollback(self, keys: Mapping[str, Any]) -> None:
        """Roll a client's transaction back."""
        self._call(keys, "rollback")

    def do_xa(self, keys: Mapping[str, Any]) -> None:
        """One call of an XA resource."""
        if keys["act"] not in ("start", "end"):
            self._call(keys, "xa", keys["act"])

    def _call(self, keys: Mapping[str, Any], *what: str) -> None:
        client = self.lab.clients.named(keys["client"])
        self._blocking(client, " ".join(what), self._made(client, self.lab.step, what))

    @staticmethod
    def _made(client: Client, step: int, what: tuple[str, ...]) -> Iterator[int]:
        yield from client.ready()
        getattr(client, what[0])(step, *what[1:])
