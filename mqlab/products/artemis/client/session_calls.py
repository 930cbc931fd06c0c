"""Calls of a client's session: its opening, and what ends a transaction (commit, rollback, recover, XA)."""

from __future__ import annotations

from collections.abc import Callable

from mqlab.products.artemis.client.clients import Client
from mqlab.products.artemis.client.receiving_client import ReceivingClient
from mqlab.products.artemis.client.reconnection import MS
from mqlab.products.artemis.client.requests import NO_ANSWER, NO_SESSION, Request
from mqlab.products.artemis.client.xa import FAILED, RETRY

NOT_CONNECTED = "JMSException / ActiveMQNotConnectedException AMQ119007"
TIMED_OUT = "JMSException / ActiveMQTransactionOutcomeUnknownException AMQ119031"


class CreateSession(Request):
    """A client opens its connection, as often as it may try."""

    def make(self, _: object = None) -> None:
        """Connect."""
        client, self.client.opening = self.client, self
        client.connect(client.attempts(client.options["initial_connect_attempts"]))

    def act(self) -> None:
        """No broker is asked for more than the connection."""

    def is_over(self, _: object = None) -> bool:
        """Whether it is connected, has given up, or tries for too long."""
        self.answered = self.client.state != "new"
        return super().is_over()

    def note_failure(self, why: str = NOT_CONNECTED) -> None:
        """No attempt is left, maybe long after the script has gone on."""
        for said in dict.fromkeys(("open", self.what)):
            self.client.results.append(f"step {self.step} {said}: {why}")


class Transaction(Request):
    """Commit, roll back, or a call of an XA resource."""

    def __init__(self, client: Client, call: Callable[..., None], *words: str) -> None:
        super().__init__(client, words[0])
        self.call, self.words = call, words[1:]
        self.named = " ".join(words[:2])  # such as "xa commit"
        self.queued = client.state == "new" or client.stuck  # it begins when another call is over

    def ends_unconnected(self) -> bool:
        """There is no session: a program that calls it all the same is told so, if that is not too late."""
        if not self.queued:
            self.client.results.append(f"step {self.step} {self.what}: {NO_SESSION}")
        self.answered = True
        return True

    def times_out(self) -> bool:
        """A commit of a branch is to be tried again; what became of another commit is not known."""
        said = {"commit": TIMED_OUT, "xa commit": "XAException 4"}.get(self.named)
        if said is not None:
            self.client.results.append(f"step {self.step} {self.named}: {said}")
            self.client.roll_back()
            self.answered = True
        return said is not None

    def hangs(self, since: int) -> bool:
        """A commit is followed by a rollback, which stops the session first: that is not answered either.

        Nothing of the rollback is done. A branch is to be committed or rolled back again, or its resource has
        failed (`ClientSessionImpl` of 2.4.0).
        """
        commits = self.what == "commit"
        if since < self.client.options["call_timeout"] * MS * (1 + commits):
            return False
        said = NO_ANSWER
        if self.what == "xa":
            said = f"XAException {RETRY if self.words[0] in ('commit', 'rollback') else FAILED}"
        self.client.results.append(f"step {self.step} {self.named}: {said}")
        self.on_answered()
        return True

    def act_late(self) -> None:
        """The broker commits, and ends what it was asked of a branch; a session that it has stopped rests."""
        client = self.client
        number = len(client.results)
        if self.what in ("commit", "xa") and self.words[:1] != ("rollback",):
            self.act()
        del client.results[number:]
        if self.what != "xa" and isinstance(client, ReceivingClient):
            client.rest()

    def act(self) -> None:
        """Let the session do it."""
        self.call(self.lab.step_no if self.queued else self.step, *self.words)
