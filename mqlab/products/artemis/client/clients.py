"""JMS clients: connections that follow a broker's pair, sessions, transactions (Artemis rules 2 and 9)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker, Refused
from mqlab.products.artemis.broker.messages import Message
from mqlab.products.artemis.client.reconnection import LOOKS, MS, Attempts, Reconnection, await_line
from mqlab.products.artemis.client.xa import XAResource
from mqlab.spec.action import Consumer as Consumes
from mqlab.spec.action import Producer
from mqlab.spec.artemis.actions import Session
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.artemis.script import url_options
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site
    from mqlab.products.artemis.client.producer_credits import ProducerCredits
    from mqlab.products.artemis.client.requests import Request
    from mqlab.products.artemis.client.session_calls import CreateSession

_CLOSED = "IllegalStateException / ActiveMQObjectClosedException"
CLOSED = f"receive: {_CLOSED} AMQ119017"
SESSION_CLOSED = f"{_CLOSED} AMQ119019"
TAKEN = "InvalidClientIDException"  # Artemis rule 9.20
TIMED_OUT = "JMSException / ActiveMQConnectionTimedOutException AMQ119013"
OVER = ("failed", "closed")  # a connection: each call is told so
ROLLED_BACK = "TransactionRolledBackException / ActiveMQTransactionRolledBackException AMQ119030"

Opening = Session | Consumes | Producer  # what makes a connection


class Client:
    """A connection of its own. `at` is where its session is.

    `state`: new, connected, seeking, failed (given up), closed.
    """

    role = "producer"
    client_id: str | None = None

    def __init__(self, lab: Site, action: Opening) -> None:
        self.lab, self.name = lab, action.name
        self.begin(action)
        self.sending = 0  # sends of the script that are under way
        self.stays = True  # until it is closed; else as long as it sends
        self.at: Broker | None = None
        self.backup = "-"  # of its broker, as far as it was told (a process)
        self.epoch = 0  # counts its connections, so that a late answer to an old one is dropped
        self.line: list[Request] = []  # blocked in its opening, or sends in the background, and those behind
        self.opening: CreateSession | None = None  # the call that connects it
        self.stuck = False  # a call that receives waits for its connection, others behind it
        self.calling = 0  # since when (us) it is in a call
        self.failovers: list[str] = []
        self.results: list[str] = []
        self.rollback_only = False  # its open transaction can only be rolled back
        self.worked = False  # since its last commit; a rollback leaves that (`ClientSessionImpl.workDone`)
        self.refusal = ""  # what its commit is answered: an address in it was full
        self.credits: dict[str, ProducerCredits] = {}  # by address
        self.work: list[Message] = []
        self.sent = array("i")
        self.blocked_step = -1  # of the script, in which a call was told to be blocked still
        self.failed: list[str] = []
        self.node: int = lab.notes.recorder.add_node(self.name, self.role, action.on)

    def begin(self, action: Opening) -> None:
        """Take what an action says of the connection: a producer that sends once more has a new one."""
        self.addresses = [action.on, *action.others]
        defaults = {name: row.default for name, row in OPTIONS["url"].items()}
        self.options = {**defaults, **self.lab.network.clients, **url_options(action)}
        session = action if isinstance(action, Session) else None
        self.resource = XAResource(self) if session and session.xa else None
        self.transacted = session.transacted if session else getattr(action, "ack_mode", "") == "transacted"
        self.at_once = self.resource is None and not self.transacted  # what is sent becomes visible
        self.state, self.node_id = "new", ""

    def connect(self, attempts: Attempts) -> None:
        """Try the addresses so often; with unlimited attempts it stays with the one it began with."""
        if self.state != "new":
            return
        addresses = self.addresses[:1] if attempts.left < 0 else self.addresses
        brokers = [self.lab.brokers[name] for name in addresses]
        broker = next(filter(self.reaches, brokers), None)
        silent = broker or brokers[0]
        deaf = next((one for one in brokers if one is broker or self.is_deaf(one)), None)
        if deaf is not None and deaf is not broker:
            await_line((self, deaf, self.lab.clock.now, attempts))
        elif self._tells_no_topology(silent):
            end = self.lab.clock.now + self.options["call_timeout"] * MS
            self.lab.later(LOOKS, self._await_topology, (silent, end, attempts))
        elif broker is not None:
            self._attach(broker)
        elif attempts.left in (0, 1):
            self.give_up()
        else:
            self.lab.later(attempts.next(), self.connect, attempts)

    def is_deaf(self, broker: Broker) -> bool:
        """Whether the line to a broker that serves swallows what is sent, and tells nobody."""
        line = frozenset(("clients", broker.process_name))
        return broker.serves and self.lab.partitions.cuts.get(line, False)

    def give_up(self, *why: str) -> None:
        """No attempt is left."""
        self.state = "failed"
        if self.opening is not None:
            self.opening.note_failure(*why)

    def _tells_no_topology(self, broker: Broker) -> bool:
        """Whether a broker accepts a connection and says nothing of its cluster (Artemis rule 9.7).

        One that served and is suspended: its machine still accepts. Or one that knows of no live broker, not
        even of itself: what it had of itself has gone with another live one of its node id.
        """
        served = broker.role == "paused" and broker.suspended[0] == "live"
        silent = served or (broker.serves and not broker.topology)
        return silent and self.lab.partitions.joined("clients", broker.process_name)

    def _await_topology(self, waiting: tuple[Broker, int, Attempts]) -> None:
        """Connected, wait for the broker's topology, at most callTimeout (`ServerLocatorImpl`, AMQ119013)."""
        broker, end, attempts = waiting
        if self.state != "new":
            return
        if not self._tells_no_topology(broker):
            self.connect(attempts)
        elif self.lab.clock.now < end:
            self.lab.later(LOOKS, self._await_topology, waiting)
        else:
            self.give_up(TIMED_OUT)

    def attempts(self, left: int) -> Attempts:
        """Return so many attempts, at the intervals of its options."""
        wait = ("retry_interval", "retry_interval_multiplier", "max_retry_interval")
        return Attempts(left, *(self.options[name] for name in wait))

    def reaches(self, broker: Broker) -> bool:
        """Whether a broker serves and the line from the clients to it is whole."""
        return broker.serves and self.lab.partitions.joined("clients", broker.process_name)

    def _attach(self, broker: Broker) -> None:
        taken = self.client_id and any(one.client_id == self.client_id for one in self.lab.clients.at(broker))
        if taken and not self.epoch:
            self.give_up(TAKEN)
            return
        if broker.process_name == self.backup:
            self.backup = "-"
        self.at, self.state, self.node_id = broker, "connected", broker.node_id
        self.take_lines(broker)
        self.epoch += 1
        self.lab.event(Kind.Attached, broker, frm=self.node, to=broker.node)
        self.opened()

    def take_lines(self, broker: Broker) -> None:
        """Take the lines to and from its broker as they are now."""
        self.uplink = self.lab.way(self.name, broker.process_name)
        self.downlink = self.lab.way(broker.process_name, self.name)

    def opened(self) -> None:
        """The connection is up: a session is made anew, if the old one did not stay."""
        if self.resource is not None:
            self.resource.opened()

    def end_session(self, tried: bool) -> None:
        """Its session is gone with all that was open in it."""
        self.rollback_only |= bool(self.work) or self.worked
        if self.resource is not None:
            self.resource.lose()
        self.drop(Reason.connection_lost)
        self.at = None

    def on_disconnected(self, tried: bool) -> None:
        """Its broker is gone, in order or not, or has given the session up."""
        broker = self.at
        self.end_session(tried)
        if broker is not None and self.state == "connected":
            self.reconnect(broker)

    def cut(self, silent: bool) -> None:
        """The line to its broker is cut: without a word that is noticed after the ttl.

        With a confirmation window the session stays at the broker, and waits for it so long.
        """
        window = self.options["confirmation_window_size"] > 0
        if self.at is not None and self.state == "connected" and not silent:
            broker = self.at
            if not window:
                self.end_session(tried=True)
            self.reconnect(broker)
            self.lab.balancing.dispatch(broker)
        if silent or window:
            self.lab.later(self.options["connection_ttl"] * MS, self._fell_silent, self.epoch)

    def _fell_silent(self, epoch: int) -> None:
        broker = self.at
        if broker is None or self.epoch != epoch or self.reaches(broker):
            return
        self.on_disconnected(tried=True)
        self.lab.balancing.dispatch(broker)

    def reconnect(self, broker: Broker) -> None:
        """The connection broke: look for the broker, or for its backup, as often as allowed."""
        self.state = "reconnecting"
        self.failovers.append("failure_detected")
        self.epoch += 1
        self.lab.event(Kind.Interrupted, broker, frm=self.node, rule=Reason.connection_lost)
        attempts = self.attempts(self.options["reconnect_attempts"])
        pair = self.lab.topology.entry(broker, self.node_id)
        # Of another live one's backup it is not told, and of none it keeps what it knew (`setBackupConnector`).
        self.backup = pair[1] if pair[0] == broker.process_name and pair[1] != "-" else self.backup
        names = [broker.process_name, self.backup]
        self.lab.later(0, self._reconnect, (broker, self.epoch, attempts, names))

    def _reconnect(self, search: Reconnection) -> None:
        before, epoch, attempts, names = search
        if self.epoch != epoch or self.state != "reconnecting":
            return
        left = attempts.left
        found = self._again(before, names) if left != 0 else None
        over = found is not None or left in (0, 1)
        if over and self.at is not None and found is not self.at:  # the old session is given up
            self.end_session(tried=True)
        if found is not None:
            self.failovers.append("failover_completed")
            self._attach(found)
        elif over:
            self.on_attempts_exhausted()
        else:
            self.lab.later(attempts.next(), self._reconnect, search)

    def _again(self, before: Broker, names: list[str]) -> Broker | None:
        """With ha=true it follows the pair, as far as its broker was told of it; else one address."""
        pair = [b for b in self.lab.all_brokers() if b.hosting_broker or b.process_name in names]
        choice = [before, *(pair if self.options["ha"] else ())]  # of hosted ones it is not recorded
        own = (b for b in choice if b.node_id == self.node_id and b.connectors_reach(before))
        return next(filter(self.reaches, own), None)

    def on_attempts_exhausted(self) -> None:
        """No attempt is left: the connection is closed for good."""
        self.state = "failed"
        self.failovers.append("failover_failed")
        self.lab.event(Kind.Failed, None, frm=self.node, rule=Reason.gave_up)

    def is_blocked(self, persistent: bool) -> bool:
        """Whether a call has to wait: while it looks for its broker.

        What is to be persistent waits for a slave that hangs, until its master gives that up.
        """
        live = self.at.served_journal if self.at is not None and persistent else None
        hangs = live is not None and live.replica is not None and live.replica.role == "paused"
        return self.state in ("new", "reconnecting") or hangs

    def send(self, message: Message) -> None:
        """The broker has one message: for the transaction, or for its address."""
        if self.state in OVER:
            self.failed.append(f"{message.number} IllegalStateException")
            return
        self.sent.append(message.number)
        at_once = self.at_once or (self.resource is not None and self.resource.open is None)
        if at_once or not self._is_full_for(message):
            self.work.append(message)
        if at_once:
            self.publish()

    def _is_full_for(self, message: Message) -> bool:
        """Whether a message in a transaction is dropped, or refused: then it cannot be committed.

        The client does not wait for an answer to each (`ServerSessionImpl.markTXFailed` of 2.4.0).
        """
        assert self.at is not None
        try:
            self.lab.balancing.plan(self.at, message)
            return self.lab.paging.drops(self.at, message)
        except Refused as refused:
            if self.resource is not None:
                self.resource.refuse()
            else:
                self.refusal = self.refusal or str(refused) or "JMSException / ActiveMQException"
            self.lab.message(Kind.Failed, message, self.at, self.node, rule=refused.rule, cause=message.row)
            return True

    def settle(self) -> None:
        """The work of the open transaction is done."""
        self.publish()

    def publish(self) -> None:
        """What was sent becomes visible; the broker may refuse it with an error."""
        work, self.work = self.work, []
        for message in work:
            assert self.at is not None  # a call is made when it is connected
            try:
                self.lab.balancing.route(self.at, message)
            except Refused as refused:
                said, rule = str(refused), refused.rule
                if message.persistent or (said and not rule):  # who sends another waits for no broker's answer
                    self.sent.remove(message.number)
                    said = said or "JMSException / ActiveMQInternalErrorException"
                    self.failed.append(f"{message.number} {said}")
                self.lab.message(Kind.Failed, message, self.at, self.node, rule=rule, cause=message.row)

    def is_refused(self, step: int, what: str) -> bool:
        """Whether its session has no transaction to end (JMS 2.0, 6.2.10); a distributed one ends otherwise."""
        if self.transacted:
            return False
        said = "TransactionInProgressException" if self.resource is not None else "IllegalStateException"
        self.results.append(f"step {step} {what}: {said}")
        return True

    def commit(self, step: int, what: str = "commit") -> None:
        """Commit: refused if the connection broke while there was work."""
        if self.is_refused(step, what):
            return
        said = SESSION_CLOSED if self.state in OVER else ROLLED_BACK if self.rollback_only else self.refusal
        if said:
            self.roll_back()
        else:
            self.settle()
            self.worked = False
        self.results.append(f"step {step} {what}: {said or 'ok'}")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Undo the work of the open transaction; a connection that was given up cannot be told."""
        if self.is_refused(step, what):
            return
        self.roll_back()
        said = SESSION_CLOSED if self.state in OVER else "ok"
        self.results.append(f"step {step} {what}: {said}")

    def roll_back(self) -> None:
        """The work of the transaction is undone."""
        self.worked |= bool(self.work)
        self.rollback_only, self.refusal = False, ""
        self.drop(Reason.asked)

    def drop(self, rule: Reason) -> None:
        """What was sent in the open transaction never becomes visible; a branch is its broker's."""
        for message in self.work if self.resource is None else ():
            self.lab.message(Kind.Discarded, message, self.at, rule=rule, cause=message.row)
        self.work = []
