"""JMS clients: connections that follow a broker's pair, sessions, transactions.

AMQ Broker 7.1, 21.1 and 21.4; artemis-observed.md, sections 2 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.balancing import Refused
from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Held, Message, Queue
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000
DEFAULTS = {"ha": True, "reconnect_attempts": -1, "initial_connect_attempts": -1,
            "retry_interval": 200, "retry_interval_multiplier": 1.0, "connection_ttl": 60_000,
            "client_failure_check_period": 30_000, "confirmation_window_size": -1}  # fmt: skip
CLOSED = "receive: IllegalStateException / ActiveMQObjectClosedException AMQ119017"
NOT_CONNECTED = "JMSException / ActiveMQNotConnectedException AMQ119007"
ROLLED_BACK = "TransactionRolledBackException / ActiveMQTransactionRolledBackException AMQ119030"


class Client:
    """A connection of its own. `at` is its broker; `state` new, connected, seeking, failed, closed."""

    role = "producer"

    def __init__(self, lab: HaLab, name: str, keys: Mapping[str, Any]) -> None:
        self.lab, self.name, self.keys = lab, name, keys
        where = keys.get("broker", ())
        self.addresses = [where] if isinstance(where, str) else list(where)
        self.options = {**DEFAULTS, **lab.scenario.clients, **keys.get("url", {})}
        self.state, self.pair = "new", ""
        self.at: Broker | None = None
        self.epoch = 0  # counts its connections, so that a late answer to an old one is dropped
        self.failovers: list[str] = []
        self.results: list[str] = []
        self.spoilt = False  # its open transaction can only be rolled back
        self.work: list[Message] = []
        self.prepared: list[Message] | None = None
        self.sent: list[int] = []
        self.failed: list[str] = []
        self.node = lab.add_node(name, self.role, self.addresses[0] if self.addresses else "")

    # Connecting

    def connect(self) -> bool:
        """Try the first address that serves; with unlimited attempts it stays with the first one."""
        endless = self.options["initial_connect_attempts"] < 0
        for address in self.addresses[:1] if endless else self.addresses:
            broker = self.lab.brokers[address]
            if self.reaches(broker):
                self._attach(broker)
                return True
        return False

    def reaches(self, broker: Broker) -> bool:
        """Whether a broker serves and the line from the clients to it is whole."""
        return broker.serves and self.lab.net.joined("clients", broker.name)

    def _attach(self, broker: Broker) -> None:
        self.at, self.state, self.pair = broker, "connected", broker.pair
        self.epoch += 1
        self.lab.event(Kind.Attached, broker, frm=self.node, to=broker.node)
        self.opened()

    def opened(self) -> None:
        """The connection is up: sessions are made anew."""

    def close(self) -> None:
        """Close the connection in order."""
        self.state, self.at = "closed", None

    def lost(self) -> None:
        """The connection broke: look for the broker, or for its backup, as often as allowed."""
        self.spoilt |= self.has_work
        self.work = []
        broker, self.at, self.state = self.at, None, "seeking"
        self.failovers.append("failure_detected")
        self.epoch += 1
        self.lab.event(Kind.Interrupted, broker, frm=self.node, rule=Rule.connection_lost)
        wait = self.options["retry_interval"] * MS
        self.lab.later(
            0, self._retry, (self.epoch, self.options["reconnect_attempts"], wait, broker)
        )

    @property
    def has_work(self) -> bool:
        """Whether its transaction has something in it."""
        return bool(self.work)

    def _retry(self, due: tuple[int, int, int, Broker]) -> None:
        epoch, left, wait, before = due
        if epoch != self.epoch or self.state != "seeking":
            return
        found = None if left == 0 else self._again(before)
        if found is not None:
            self.failovers.append("failover_completed")
            self._attach(found)
        elif left in (0, 1):
            self.gave_up()
        else:
            later = int(wait * self.options["retry_interval_multiplier"])
            self.lab.later(wait, self._retry, (epoch, left - 1, later, before))

    def _again(self, before: Broker) -> Broker | None:
        """With ha=true it follows the pair, else it knows the one address only."""
        choice = [before]
        if self.options["ha"]:
            choice += [b for b in self.lab.brokers.values() if b.pair == self.pair]
        return next((b for b in choice if b.pair == self.pair and self.reaches(b)), None)

    def gave_up(self) -> None:
        """No attempt is left: the connection is closed for good."""
        self.state = "failed"
        self.failovers.append("failover_failed")
        self.lab.event(Kind.Failed, None, frm=self.node, rule=Rule.gave_up)

    # Transactions of a producer

    def commit(self, step: int, what: str = "commit") -> None:
        """Commit: refused if the connection broke while there was work."""
        if self.spoilt:
            self.spoilt, self.work = False, []
            self.results.append(f"step {step} {what}: {ROLLED_BACK}")
            return
        if self.at is not None:
            for message in self.work:
                self.lab.balancing.route(self.at, message)
            self.work = []
            self.results.append(f"step {step} {what}: ok")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Drop the work of the open transaction."""
        self.spoilt, self.work = False, []
        self.results.append(f"step {step} {what}: ok")

    def report(self) -> dict[str, Any]:
        """Return what the recordings say of a sender."""
        found: dict[str, Any] = {"sent": self.sent}
        for key in ("failed", "results", "failovers"):
            if getattr(self, key):
                found[key] = getattr(self, key)
        return found


class Consumer(Client):
    """A consumer with a connection and a session of its own."""

    role = "consumer"

    def __init__(self, lab: HaLab, name: str, keys: Mapping[str, Any]) -> None:
        super().__init__(lab, name, keys)
        self.dest = Destination(*(("queue", keys["queue"]) if "queue" in keys
                                  else ("topic", keys["topic"])))  # fmt: skip
        self.selector = keys.get("selector")
        self.mode = keys.get("ack_mode", "auto")
        self.receiving = bool(keys.get("receiving", True))
        self.acknowledges = bool(keys.get("acknowledge", True))
        self.queue: Queue | None = None
        self.buffer: list[Held] = []
        self.taken: list[Held] = []
        self.received: list[int] = []
        self.redelivered: list[int] = []

    @property
    def has_work(self) -> bool:
        """Whether it holds messages that it has taken and not acknowledged."""
        return self.mode != "auto" and bool(self.taken)

    def wants(self, message: Message) -> bool:
        """Whether its selector lets a message pass."""
        return self.lab.selects(self.selector, message)

    def opened(self) -> None:
        """Subscribe: to the queue, to the durable subscription, or with a queue of its own."""
        assert self.at is not None
        name = self.dest.name
        if self.dest.is_queue:
            self.queue = self.lab.queue(self.at, name)
        elif "durable_name" in self.keys:
            name = f"{self.keys['client_id']}.{self.keys['durable_name']}"
            self.queue = self.lab.queue(self.at, name, self.dest.name, self.selector)
        else:
            self.queue = self.lab.temporary(self.at, self.dest.name, self.selector)
        self.queue.consumers.append(self)
        self.lab.event(Kind.Subscribed, self.at, frm=self.node, rule=Rule.local_consumer)
        self.lab.balancing.dispatch(self.at)
        self.lab.balancing.redistribute()

    def take(self, item: Held) -> None:
        """A message is in the client's buffer; a receiving one takes it at once."""
        self.buffer.append(item)
        self.go_on()

    def go_on(self) -> None:
        """Take what is there, while receiving."""
        while self.receiving and self.buffer and self.state == "connected":
            if not self.receive_one(self.acknowledges):
                return

    def receive_one(self, acknowledge: bool = True, step: int | None = None) -> bool:
        """Take one message; False if there is none, or if its acknowledgement rolled all back."""
        if not self.buffer:
            return False
        item = self.buffer.pop(0)
        number = item.message.number
        self.received.append(number)
        if item.tries:
            self.redelivered.append(number)
        kind = Kind.Redelivered if item.tries else Kind.Received
        self.lab.message(kind, item.message, self.at, to=self.node, cause=item.message.row)
        self.taken.append(item)
        if self.mode == "transacted" or not acknowledge:
            return True
        if self.mode == "client" and self.spoilt:
            now = self.lab.step if step is None else step
            self.results.append(f"step {now} acknowledge {number}: {ROLLED_BACK}")
            self.roll_back()
            return False
        self.settle()
        return True

    def settle(self) -> None:
        """Acknowledge all that was taken."""
        for item in self.taken:
            if self.queue is not None and item in self.queue.held:
                self.queue.held.remove(item)
            self.lab.message(Kind.Acknowledged, item.message, self.at, frm=self.node)
        self.taken = []

    def roll_back(self) -> None:
        """Everything comes again; what had been taken counts as tried."""
        self.spoilt = False
        items, self.buffer = [(i, True) for i in self.taken] + [(i, False) for i in self.buffer], []
        self.taken = []
        for item, tried in items:
            if self.queue is not None and item in self.queue.held:
                self.queue.give_back(item, tried)
        if self.at is not None:
            self.lab.balancing.dispatch(self.at)

    def commit(self, step: int, what: str = "commit") -> None:
        """Commit what was taken; after a lost connection it is rolled back."""
        if self.spoilt:
            self.results.append(f"step {step} {what}: {ROLLED_BACK}")
            self.roll_back()
        else:
            self.settle()
            self.results.append(f"step {step} {what}: ok")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Give back what was taken."""
        self.roll_back()
        self.results.append(f"step {step} {what}: ok")

    def roll_back_taken(self) -> None:
        """A session that ends in order: what was taken and not acknowledged counts as tried."""
        for item in self.taken:
            if self.queue is not None and item in self.queue.held:
                self.queue.give_back(item, True)
        self.taken = []

    def detach(self, flagged: bool) -> None:
        """Leave the queue: what it held goes back to its place; a queue of its own ends with it."""
        queue, self.queue = self.queue, None
        if queue is None:
            return
        for item in self.buffer + self.taken:
            if item in queue.held:
                queue.give_back(item, flagged)
        self.buffer, self.taken = [], []
        if self in queue.consumers:
            queue.consumers.remove(self)
        if not queue.durable and self.at is not None and self.at.live is not None:
            self.at.live.queues.pop(queue.name, None)

    def gave_up(self) -> None:
        """A receiver sees that its connection is closed."""
        super().gave_up()
        if self.receiving:
            self.results.append(CLOSED)

    def report(self) -> dict[str, Any]:
        """Return what the recordings say of a consumer."""
        found: dict[str, Any] = {"count": len(self.received), "received": self.received}
        for key in ("redelivered", "results", "failovers"):
            if getattr(self, key):
                found[key] = getattr(self, key)
        return found


class Clients:
    """All clients, and what happens to them together."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab
        self.consumers: dict[str, Consumer] = {}
        self.senders: dict[str, Client] = {}

    def all(self) -> Iterable[Client]:
        """Every client that was ever opened."""
        return [*self.consumers.values(), *self.senders.values()]

    def named(self, name: str) -> Client:
        """Return a client by its name."""
        return self.consumers.get(name) or self.senders[name]

    def dismiss(self, broker: Broker, flagged: bool) -> None:
        """A broker's connections are gone: what its clients held is back in its queues."""
        for client in self.all():
            if client.at is not broker:
                continue
            if isinstance(client, Consumer):
                had = client.has_work
                client.detach(flagged)
                client.spoilt |= had
            client.lost()

    def cut(self, broker: Broker, silent: bool) -> None:
        """The line from the clients to a broker is cut."""
        for client in self.all():
            if client.at is not broker:
                continue
            if silent:
                ttl = client.options["connection_ttl"] * MS
                self.lab.later(ttl, self._silent, (client, client.epoch))
            elif client.options["confirmation_window_size"] > 0:
                self._suspend(client)
            else:
                self._break(client)

    def _break(self, client: Client) -> None:
        broker = client.at
        if isinstance(client, Consumer):
            had = client.has_work
            client.detach(flagged=True)
            client.spoilt |= had
        client.lost()
        if broker is not None:
            self.lab.balancing.dispatch(broker)

    def _silent(self, due: tuple[Client, int]) -> None:
        client, epoch = due
        broken = client.at is not None and not self.lab.net.joined("clients", client.at.name)
        if client.epoch == epoch and broken:
            self._break(client)

    def _suspend(self, client: Client) -> None:
        """With a confirmation window the session stays at the broker, and goes on afterwards."""
        client.failovers.append("failure_detected")
        self.lab.later(0, self._resume, (client, client.epoch))

    def _resume(self, due: tuple[Client, int]) -> None:
        client, epoch = due
        if client.epoch != epoch or client.at is None:
            return
        if self.lab.net.joined("clients", client.at.name):
            client.failovers.append("failover_completed")
        else:
            self.lab.later(client.options["retry_interval"] * MS, self._resume, due)

    def send(self, client: Client, message: Message) -> None:
        """Send one message: into the transaction, or straight to the broker."""
        client.sent.append(message.number)
        message.row = self.lab.message(Kind.Sent, message, client.at, frm=client.node)
        if client.keys.get("transacted") or client.keys.get("xa"):
            client.work.append(message)
            return
        try:
            assert client.at is not None
            self.lab.balancing.route(client.at, message)
        except Refused:
            client.sent.pop()
            client.failed.append(f"{message.number} JMSException / ActiveMQInternalErrorException")
            self.lab.message(Kind.Failed, message, client.at, frm=client.node)
