"""The steps of a script that clients take: connect, receive, send, commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.runtime.artemis.clients import CLOSED, NOT_CONNECTED, Client
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
        self.sending = 0  # background sends that have not ended

    def waited(self, who: str, role: str, reached: bool) -> None:
        """Note how a timed wait ended."""
        row = {"step": self.lab.step, "broker": who, "role": role, "reached": reached}
        self.lab.waits.append(row)

    def do_wait_failover(self, keys: Mapping[str, Any]) -> None:
        """Wait until a client has reconnected so often."""
        client, times = self.lab.clients.named(keys["client"]), keys.get("times", 1)
        reached = self.lab.pass_until(
            lambda: client.failovers.count("failover_completed") >= times,
            keys.get("timeout_ms", PATIENCE),
        )
        self.waited(client.name, "failover_completed", reached)

    def do_wait_for_sends(self, keys: Mapping[str, Any]) -> None:
        """Wait until sends in the background have ended."""
        self.lab.pass_until(lambda: self.sending == 0, keys.get("timeout_ms", 60_000))

    # Clients

    def do_open_consumer(self, keys: Mapping[str, Any]) -> None:
        """Open a connection, a session and a consumer."""
        consumer = Consumer(self.lab, keys["consumer"], keys)
        self.lab.clients.consumers[consumer.name] = consumer
        self._open(consumer, keys, "open_consumer")

    def do_open_client(self, keys: Mapping[str, Any]) -> None:
        """Open a client that stays, for sends and transactions."""
        client = Client(self.lab, keys.get("producer") or keys["client"], keys)
        self.lab.clients.senders[client.name] = client
        self._open(client, keys, "open")

    do_open_producer = do_open_client

    def _open(self, client: Client, keys: Mapping[str, Any], what: str) -> None:
        tries = client.options["initial_connect_attempts"]
        wait = client.options["retry_interval"]
        if tries >= 0:
            for no in range(max(tries, 1)):
                if client.connect():
                    return
                if no < tries - 1:
                    self.lab.pass_time(wait)
            client.state = "failed"
            for call in dict.fromkeys(("open", what)):
                client.results.append(f"step {self.lab.step} {call}: {NOT_CONNECTED}")
            return
        self._connecting(client)
        limit = keys.get("time_limit_ms", BLOCKED)
        if not self.lab.pass_until(lambda: client.state != "new", limit):
            client.results.append(f"step {self.lab.step} {what}: still blocked")

    def _connecting(self, client: Client) -> None:
        if client.state == "new" and not client.connect():
            self.lab.later(client.options["retry_interval"] * MS, self._connecting, client)

    def do_receive(self, keys: Mapping[str, Any]) -> None:
        """Take so many messages, or what comes in the time."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        for _ in range(keys["count"]):
            if not consumer.buffer:
                self.lab.pass_until(lambda: bool(consumer.buffer), keys.get("wait_ms", 2000))
            if not consumer.receive_one(keys.get("acknowledge", True), self.lab.step):
                break
        if consumer.state == "failed" and CLOSED not in consumer.results:
            consumer.results.append(CLOSED)

    def do_resume(self, keys: Mapping[str, Any]) -> None:
        """Take everything from now on."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        consumer.receiving = True
        if consumer.state == "failed" and CLOSED not in consumer.results:
            consumer.results.append(CLOSED)
        self.lab.later(MS, lambda _: consumer.go_on(), None)  # it reads while the script goes on

    def do_hold(self, keys: Mapping[str, Any]) -> None:
        """Take nothing any more."""
        self.lab.clients.consumers[keys["consumer"]].receiving = False

    def do_close_consumer(self, keys: Mapping[str, Any]) -> None:
        """Close the connection; one that looks for its broker is blocked in it."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        if consumer.state == "seeking":
            consumer.results.append(f"step {self.lab.step} close_consumer: still blocked")
            consumer.failovers.append("failover_failed")
        elif consumer.at is not None:
            broker = consumer.at
            consumer.leave(taken=True, buffered=False)
            self.lab.event(Kind.Unsubscribed, broker, frm=consumer.node, sub=consumer.sub,
                           dest=consumer.dest)  # fmt: skip
            self.lab.balancing.dispatch(broker)
            self.lab.balancing.redistribute()
        consumer.state, consumer.at = "closed", None

    # Sending

    def do_send(self, keys: Mapping[str, Any]) -> None:
        """Send messages one by one."""
        client = self._sender(keys)
        first, interval = self.numbers + 1, keys.get("interval_ms", 0)
        self.numbers += keys["count"]
        if keys.get("in_background"):
            self.sending += keys["count"]
            for no in range(keys["count"]):
                self.lab.later(
                    no * interval * MS, self._send_behind, (client, keys, first + no, no)
                )
            return
        for no in range(keys["count"]):
            ready = lambda: client.state == "connected" and not self._waits(client)  # noqa: E731
            if not self.lab.pass_until(ready, keys.get("time_limit_ms", BLOCKED)):
                client.results.append(f"step {self.lab.step} send: still blocked")
                return
            self.lab.clients.send(client, self._message(client, keys, first + no, no))
            self.lab.pass_time(interval)
        if client.name == f"sender{self.lab.step}":
            client.close()

    def _sender(self, keys: Mapping[str, Any]) -> Client:
        name = keys.get("producer") or keys.get("client")
        if name is not None:
            return self.lab.clients.senders[name]
        client = Client(self.lab, f"sender{self.lab.step}", keys)
        self.lab.clients.senders[client.name] = client
        self._connecting(client)
        return client

    @staticmethod
    def _waits(client: Client) -> bool:
        """A persistent send waits for a slave that hangs, until its connection's ttl is over."""
        live = client.at.live if client.at is not None else None
        return live is not None and live.replica is not None and live.replica.role == "paused"

    def _send_behind(self, due: tuple[Client, Mapping[str, Any], int, int]) -> None:
        client, keys, number, no = due
        if client.state == "connected":
            self.lab.clients.send(client, self._message(client, keys, number, no))
            self.sending -= 1
            if no + 1 == keys["count"]:
                client.close()
        else:
            self.lab.later(client.options["retry_interval"] * MS, self._send_behind, due)

    def _message(self, client: Client, keys: Mapping[str, Any], number: int, no: int) -> Message:
        where = {**client.keys, **keys}
        dest = Destination(
            *(("topic", where["topic"]) if "topic" in where else ("queue", where["queue"]))
        )
        dealt = {key: value[no % len(value)] if isinstance(value, list) else value
                 for key, value in keys.get("properties", {}).items()}  # fmt: skip
        delay = keys.get("delivery_delay_ms", 0) * MS
        now = self.lab.clock.now
        return Message(number, dest, keys.get("persistent", True), dealt, keys.get("size", 0), now,
                       now + delay if delay else 0)  # fmt: skip

    def do_commit(self, keys: Mapping[str, Any]) -> None:
        """Commit a client's transaction."""
        self.lab.clients.named(keys["client"]).commit(self.lab.step)

    def do_rollback(self, keys: Mapping[str, Any]) -> None:
        """Roll a client's transaction back."""
        self.lab.clients.named(keys["client"]).rollback(self.lab.step)

    def do_xa(self, keys: Mapping[str, Any]) -> None:
        """One call of an XA resource."""
        client, act = self.lab.clients.senders[keys["client"]], keys["act"]
        live = client.at.live if client.at is not None else None
        if act in ("start", "end") or live is None:
            return
        if act == "prepare" and not client.spoilt:
            live.prepared.append(client.work)
            client.work = []
            client.results.append(f"step {self.lab.step} prepare: ok")
        elif act == "recover":
            client.results.append(f"step {self.lab.step} xa recover: {len(live.prepared)} in doubt")
        elif act in ("commit", "rollback") and live.prepared:
            client.work = live.prepared.pop(0)
            getattr(client, act)(self.lab.step, f"xa {act}")
        else:
            client.commit(self.lab.step, f"xa {act}")
