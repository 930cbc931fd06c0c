"""JMS clients: connections that follow a broker's pair, sessions, transactions.

AMQ Broker 7.1, 21.1 and 21.4; artemis-observed.md, sections 2 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
LOOKS = 20 * MS  # how often a blocked call looks whether it can go on
_CLOSED = "IllegalStateException / ActiveMQObjectClosedException"
CLOSED = f"receive: {_CLOSED} AMQ119017"
SESSION_CLOSED = f"{_CLOSED} AMQ119019"
NOT_CONNECTED = "JMSException / ActiveMQNotConnectedException AMQ119007"
ROLLED_BACK = "TransactionRolledBackException / ActiveMQTransactionRolledBackException AMQ119030"


class Client:
    """A connection of its own. `at` is where its session is.

    `state`: new, connected, seeking, failed (given up), closed.
    """

    role = "producer"

    def __init__(self, lab: HaLab, name: str, keys: Mapping[str, Any]) -> None:
        self.lab, self.name, self.keys = lab, name, keys
        where = keys.get("broker", ())
        self.addresses = [where] if isinstance(where, str) else list(where)
        self.options = {**CLIENTS, **lab.scenario.clients, **keys.get("url", {})}
        self.state, self.pair = "new", ""
        self.at: Broker | None = None
        self.epoch = 0  # counts its connections, so that a late answer to an old one is dropped
        self.calling = 0  # since when (us) it is in a call
        self.failovers: list[str] = []
        self.results: list[str] = []
        self.spoilt = False  # its open transaction can only be rolled back
        self.work: list[Message] = []
        self.prepared: list[Message] = []
        self.sent: list[int] = []
        self.failed: list[str] = []
        home = self.addresses[0] if self.addresses else ""
        self.node = lab.notes.recorder.add_node(name, self.role, home)

    # Connecting

    def connect(self, left: int) -> Iterator[int]:
        """Try the addresses so often; with unlimited attempts it stays with the one it began with."""
        addresses = self.addresses[:1] if left < 0 else self.addresses
        while True:
            broker = next(
                (b for b in map(self.lab.brokers.get, addresses) if self.reaches(b)), None
            )
            if broker is not None or left in (0, 1):
                break
            left -= 1
            yield self.options["retry_interval"] * MS
        if broker is not None:
            self._attach(broker)
        else:
            self.state = "failed"

    def reaches(self, broker: Broker | None) -> bool:
        """Whether a broker serves and the line from the clients to it is whole."""
        return broker is not None and broker.serves and self.lab.net.joined("clients", broker.place)

    def _attach(self, broker: Broker) -> None:
        self.at, self.state, self.pair = broker, "connected", broker.pair
        self.epoch += 1
        self.lab.event(Kind.Attached, broker, frm=self.node, to=broker.node)
        self.opened()

    def opened(self) -> None:
        """The connection is up: a session is made anew, if the old one did not stay."""

    def detach(self, tried: bool) -> None:
        """Its session at the broker is gone."""

    def end_session(self, tried: bool) -> None:
        """Its session is gone with all that was open in it."""
        self.spoilt |= self.has_work
        self.detach(tried)
        self.drop(Rule.connection_lost)
        self.at = None

    def seek(self, broker: Broker) -> None:
        """The connection broke: look for the broker, or for its backup, as often as allowed."""
        self.state = "seeking"
        self.failovers.append("failure_detected")
        self.epoch += 1
        self.lab.event(Kind.Interrupted, broker, frm=self.node, rule=Rule.connection_lost)
        self.lab.later(0, self.lab.run, self._reconnect(broker))

    def _reconnect(self, before: Broker) -> Iterator[int]:
        epoch, left = self.epoch, self.options["reconnect_attempts"]
        wait, found = self.options["retry_interval"] * MS, None
        while self.epoch == epoch and self.state == "seeking":
            found = self._again(before) if left != 0 else None
            if found is not None or left in (0, 1):
                break
            left -= 1
            yield int(wait)
            wait *= self.options["retry_interval_multiplier"]
        else:
            return
        if self.at is not None and found is not self.at:
            self.end_session(tried=True)
        if found is not None:
            self.failovers.append("failover_completed")
            self._attach(found)
        else:
            self.gave_up()

    def _again(self, before: Broker) -> Broker | None:
        """With ha=true it follows the pair, as far as brokers were told of it; else one address."""
        choice = [before, *(self.lab.all_brokers() if self.options["ha"] else ())]
        return next((b for b in choice if b.pair == self.pair and b.finds(before)
                     and self.reaches(b)), None)  # fmt: skip

    def gave_up(self) -> None:
        """No attempt is left: the connection is closed for good."""
        self.state = "failed"
        self.failovers.append("failover_failed")
        self.lab.event(Kind.Failed, None, frm=self.node, rule=Rule.gave_up)

    @property
    def hangs(self) -> bool:
        """Whether its broker waits for a slave that hangs, with all that is to be persistent."""
        replica = self.at.live.replica if self.at is not None and self.at.live else None
        return replica is not None and replica.role == "paused"

    def ready(self, persistent: bool = True) -> Iterator[int]:
        """Wait until a call can be made: while it looks for its broker it is blocked."""
        self.calling = self.lab.clock.now
        while self.state in ("new", "seeking") or (persistent and self.hangs):
            yield LOOKS

    # Transactions of a producer

    @property
    def has_work(self) -> bool:
        """Whether its transaction has something in it."""
        return bool(self.work)

    def commit(self, step: int, what: str = "commit") -> None:
        """Commit: refused if the connection broke while there was work."""
        if self.state == "failed" or self.spoilt:
            said = SESSION_CLOSED if self.state == "failed" else ROLLED_BACK
            self.results.append(f"step {step} {what}: {said}")
            self.roll_back()
            return
        self.settle()
        self.results.append(f"step {step} {what}: ok")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Undo the work of the open transaction."""
        self.roll_back()
        self.results.append(f"step {step} {what}: ok")

    def xa(self, act: str, step: int) -> None:
        """Prepare, recover, commit, roll back: what is in doubt may be another client's."""
        live = self.at.live if self.at is not None else None
        if live is not None and act == "recover":
            self.results.append(f"step {step} xa recover: {len(live.prepared)} in doubt")
        elif live is not None and act == "prepare" and not self.spoilt:
            live.prepared.append(self.work)
            self.prepared, self.work = self.work, []
            self.results.append(f"step {step} prepare: ok")
        else:
            if live is not None and live.prepared and not self.work and not self.spoilt:
                self.work = self.prepared if self.prepared in live.prepared else live.prepared[0]
                live.prepared.remove(self.work)
            (self.rollback if act == "rollback" else self.commit)(step, f"xa {act}")

    def settle(self) -> None:
        """The work of the transaction becomes visible."""
        for message in self.work:
            self.lab.clients.deliver(self, message)
        self.work = []

    def roll_back(self) -> None:
        """The work of the transaction is undone."""
        self.spoilt = False
        self.drop(Rule.asked)

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

    def dismiss(self, broker: Broker, tried: bool) -> None:
        """A broker's connections are gone: what its clients held is back in its queues."""
        for client in [client for client in self.all() if client.at is broker]:
            client.end_session(tried)
            if client.state == "connected":
                client.seek(broker)

    def cut(self, broker: Broker, silent: bool) -> None:
        """The line from the clients to a broker is cut."""
        for client in [client for client in self.all() if client.at is broker]:
            if silent:
                wait = client.options["connection_ttl"] * MS
                self.lab.later(wait, self._noticed, client, client.epoch)
            else:
                self._lost(client)

    def _noticed(self, client: Client, epoch: int) -> None:
        broker = client.at
        if broker is None or client.epoch != epoch:
            return
        if not self.lab.net.joined("clients", broker.place):
            self._lost(client)

    def _lost(self, client: Client) -> None:
        """A line is dead: with a confirmation window the session stays at the broker for a while."""
        broker = client.at
        if client.state == "connected" and broker is not None:
            if client.options["confirmation_window_size"] <= 0:
                client.end_session(tried=True)
            client.seek(broker)
            self.lab.balancing.dispatch(broker)

    def send(self, client: Client, message: Message) -> None:
        """Send one message: into the transaction, or straight to the broker."""
        if client.state == "failed":
            client.failed.append(f"{message.number} IllegalStateException")
            return
        client.sent.append(message.number)
        to = client.at.node if client.at is not None else -1
        message.row = self.lab.message(Kind.Sent, message, client.at, client.node, to)
        if client.keys.get("transacted") or client.keys.get("xa"):
            client.work.append(message)
        else:
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
