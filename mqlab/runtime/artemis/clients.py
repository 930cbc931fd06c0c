"""JMS clients: connections that follow a broker's pair, sessions, transactions.

AMQ Broker 7.1, 21.1 and 21.4; artemis-observed.md, sections 2 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.balancing import Refused
from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Message
from mqlab.spec.artemis import CLIENTS
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.consumers import Consumer
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000
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
        self.options = {**CLIENTS, **lab.scenario.clients, **keys.get("url", {})}
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
        self.node = lab.notes.recorder.add_node(
            name, self.role, self.addresses[0] if self.addresses else ""
        )

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

    def detach(self, flagged: bool) -> None:
        """Its session at the broker is gone."""

    def lost(self, flagged: bool = False) -> None:
        """The connection broke: look for the broker, or for its backup, as often as allowed."""
        self.spoilt |= self.has_work
        self.detach(flagged)
        self.drop(Rule.connection_lost)
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
            self.spoilt = False
            self.drop(Rule.connection_lost)
            self.results.append(f"step {step} {what}: {ROLLED_BACK}")
            return
        if self.at is not None:
            for message in self.work:
                self.lab.clients.deliver(self, message)
            self.work = []
            self.results.append(f"step {step} {what}: ok")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Drop the work of the open transaction."""
        self.spoilt = False
        self.drop(Rule.asked)
        self.results.append(f"step {step} {what}: ok")

    def drop(self, rule: Rule) -> None:
        """What was sent in the open transaction never becomes visible."""
        for message in self.work:
            self.lab.message(Kind.Discarded, message, self.at, rule=rule, cause=message.row)
        self.work = []

    def report(self) -> dict[str, Any]:
        """Return what the recordings say of it."""
        told = ("failed", "redelivered", "results", "failovers")
        return self.counted() | {
            key: getattr(self, key) for key in told if getattr(self, key, None)
        }

    def counted(self) -> dict[str, Any]:
        """Return what it sent, or got."""
        return {"sent": self.sent}


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
            if client.at is broker:
                client.lost(flagged)

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
        client.lost(flagged=True)
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
        to = client.at.node if client.at is not None else -1
        message.row = self.lab.message(Kind.Sent, message, client.at, client.node, to)
        if client.keys.get("transacted") or client.keys.get("xa"):
            client.work.append(message)
            return
        self.deliver(client, message)

    def deliver(self, client: Client, message: Message) -> None:
        """Give a message to the client's broker, which may refuse it with an error."""
        try:
            assert client.at is not None
            self.lab.balancing.route(client.at, message)
        except Refused:
            client.sent.remove(message.number)
            client.failed.append(f"{message.number} JMSException / ActiveMQInternalErrorException")
            self.lab.message(Kind.Failed, message, client.at, client.node, cause=message.row)
