"""Sessions of a client: what their consumers hold together, and what a loss does to it.

At a loss everything that was received and not acknowledged is forgotten by the client, because the
broker gives it out again; a transaction that had received anything can only be rolled back
(recordings `client_ack_after_reconnect`, `commit_of_received_after_cut`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client import line
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport.openwire import (
    CommitTransaction,
    RemoveInfo,
    RollbackTransaction,
    Send,
)
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer
    from mqlab.products.activemq.client.calls import PendingCall, SendJob
    from mqlab.products.activemq.client.connection import ClientConnection


class Session:
    """One session of a connection; a transacted one has an open transaction at most."""

    def __init__(self, client: ClientConnection, name: str, transacted: bool = False) -> None:
        self.client, self.name, self.transacted = client, name, transacted
        self.needs = client.attachments + (client.state != "connected")  # that many connections
        self.count = 0
        self.transaction: str | None = None
        self.sends: list[Send] = []  # of transactions that are not over
        self.producers: list[Destination] = []  # where its producers send to
        self.senders: list[SendJob] = []  # the first sends, the others wait (`sendMutex` of 5.17)
        self.rollback_only = False
        self.committing: str | None = None  # the transaction whose commit is under way
        self.leaving: list[AddressedConsumer] = []  # closed, but their transaction was open
        self.opened_after_close = client.state in (
            "failed",
            "closed",
        )  # there was no connection to open it on

    @property
    def made(self) -> bool:
        """Whether a recorder's program has it: the call that makes it is back, which waits for a broker."""
        client = self.client
        return not client.lab.by_calls or (client.started and client.attachments >= self.needs)

    def let_others_send(self, job: SendJob) -> None:
        """Who waits sends once *job* pauses or has ended, not between two messages."""
        if job in self.senders:
            self.senders.remove(job)
            if self.senders:
                clock = job.lab.clock
                clock.schedule(clock.now, self.senders[0].next, None)

    def begin(self) -> str | None:
        """Return the transaction of this session, a new one if there is none."""
        if self.transacted and self.transaction is None:
            self.count += 1
            self.transaction = f"{self.client.name}/{self.name}:{self.count}"
        return self.transaction

    def end(self, transaction: str | None) -> None:
        """A transaction is over: what was closed in it leaves its queue now."""
        self.transaction = self.transaction if transaction != self.transaction else None
        leaving, self.leaving = self.leaving, []
        for consumer in leaving:
            consumer.close()
            self.client.send(RemoveInfo(consumer.name, consumer.last))
        self.sends = [command for command in self.sends if command.transaction != transaction]
        self.rollback_only, self.committing = False, None

    def on_committed(self, well: bool) -> None:
        """A commit was answered; what a failed one was to acknowledge comes again (`TransactionContext`)."""
        self.end(self.committing)
        for consumer in self.consumers() if not well else ():
            consumer.take_back_committed()

    def finish(self, how: str, call: PendingCall) -> None:
        """Commit or roll back; what had been received before a loss can only be rolled back."""
        client, transaction = self.client, self.transaction
        call.session = self
        if client.refuses(call):
            return
        if not self.transacted:
            call.fail("IllegalStateException", "Not a transacted session")
            return
        if transaction is None and not self.rollback_only:
            call.finish()  # nothing is sent (`TransactionContext` of 5.17.2)
            return
        lacks = any(consumer.expected.keys() - consumer.again for consumer in self.consumers())
        if how == "commit" and transaction is not None and not (self.rollback_only or lacks):
            for consumer in self.consumers():
                consumer.commit()
            # What is sent from now on is of the next one (`TransactionContext.commit` of 5.17.2).
            self.committing, self.transaction = transaction, None
            client.request(CommitTransaction(transaction, self.name), call)
            return
        acknowledged = {consumer.name: consumer.count_anew() for consumer in self.consumers()}
        for consumer in self.consumers():
            consumer.give_back()
        self.end(transaction)
        if how == "commit":
            call.error_on_reply = Refused("TransactionRolledBackException", "received before a loss")
        client.request(RollbackTransaction(transaction, acknowledged), call)

    def abandon(self) -> None:
        """Its connection closes: what is rolled back then may be a dead letter (`ActiveMQSession.dispose`)."""
        for consumer in self.consumers() if self.transaction is not None else ():
            consumer.give_back()

    def recover(self, call: PendingCall) -> None:
        """Let what its consumers have not acknowledged come again; a transacted session cannot."""
        if self.client.refuses(call):
            return
        if self.transacted:
            call.fail("IllegalStateException", "This session is transacted")
            return
        # What dups_ok has put off is not held (`isAutoAcknowledgeBatch`).
        held = [one for one in self.consumers() if not one.puts_off and (one.holds or one.expected)]
        for consumer in held:
            consumer.give_back()
        line.after_round(self.client, call) if held else call.finish()

    def acknowledge(self) -> None:
        """Acknowledge what its consumers have received: in client mode it is the session that does."""
        for consumer in self.consumers():
            consumer.acknowledge()

    def consumers(self) -> list[AddressedConsumer]:
        """Return the consumers of this session."""
        return [c for c in self.client.consumers.values() if c.session is self]

    def interrupted(self) -> None:
        """The connection is lost: what it had received cannot be committed any more.

        In 5.5 it can once all has come again (`rollbackOnFailedRecoveryRedelivery` of 5.5.1).
        """
        marks = self.transacted and self.client.lab.edition != "5.5"
        if marks and any(consumer.holds for consumer in self.consumers()):
            self.rollback_only = True
