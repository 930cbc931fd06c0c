"""An XA resource: branches of distributed transactions, as a client's session and its broker see them.

A branch belongs to the broker: it outlives its session, and whoever knows its id goes on with it. Source:
`ClientSessionImpl` and `ServerSessionImpl` of 2.4.0, and thirteen scenarios asked of it (Artemis rule 9.10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.messages import Branch, Journal
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.client.clients import Client

# Codes of an XAException (JTA 1.1).
RETRY, NOT_KNOWN, PROTOCOL, FAILED, DUPLICATE = 4, -4, -6, -7, -8
# Call -> what a branch is before it (JTA 1.1, 3.4).
AFTER = {
    "start": ("",),
    "end": ("started",),
    "prepare": ("ended",),
    **dict.fromkeys(("commit", "rollback"), ("ended", "prepared")),
}


class XAException(Exception):
    """A call is refused, with a code."""


class XAResource:
    """The branches of one session. `open` is the one it works in, from its start to its end; `xid` its id.

    A branch whose id was taken already is one that nobody finds: what is sent in it is lost.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.open: Branch | None = None
        self.xid = ""
        self.states: dict[str, str] = {}  # id -> started, ended or prepared: what was called in turn

    def call(self, step: int, act: str, xid: str) -> None:
        """Do a call, and write down how it ended; a start and an end say nothing if they succeed."""
        try:
            said = getattr(self, f"_{act}")(xid)
        except XAException as refused:
            said = f"xa {act}: XAException {refused}"
        if said:
            self.client.results.append(f"step {step} {said}")

    def _journal(self, code: int = FAILED) -> Journal:
        live = self.client.at.served_journal if self.client.at is not None else None
        if live is None:  # the connection was given up
            raise XAException(code)
        return live

    def _start(self, xid: str) -> None:
        live = self._journal()
        if self.open is not None:
            self._forget(self.open)
            live.branches.pop(self.xid, None)
        self.open, self.xid = Branch(self.client.name), xid
        self.client.work = self.open.work
        if xid in live.branches:
            self.open.lost = True
            raise XAException(DUPLICATE)
        live.branches[xid] = self.open

    def _end(self, xid: str) -> None:
        client, live = self.client, self._journal()
        branch, self.open = self.open, self.open if self.xid != xid and not self.client.rollback_only else None
        if client.rollback_only:
            client.rollback_only = False
            if branch is not None:
                self._forget(branch)
            client.work = []
            raise XAException(FAILED)
        if branch is None or self.xid != xid:
            raise XAException(PROTOCOL if xid in live.branches else NOT_KNOWN)
        client.worked |= bool(branch.work)
        client.work = []
        if branch.lost:
            self._forget(branch)

    def _prepare(self, xid: str) -> str:
        if self.client.rollback_only:
            raise XAException(FAILED)
        branch = self._found(self._journal(), xid)
        if branch.state == "refused":
            self._forget(branch)
            raise XAException(FAILED)
        if branch.state == "active":
            branch.state = "prepared"
        return "prepare: ok"

    def _commit(self, xid: str) -> str:
        client, live = self.client, self._journal(RETRY)
        branch = self._found(live, xid)
        del live.branches[xid]
        if branch.state != "prepared":
            self._forget(branch)
            raise XAException(RETRY)
        client.work, before = branch.work, client.work
        client.publish()
        client.work, client.worked = before, False
        return "xa commit: ok"

    def _rollback(self, xid: str) -> str:
        live = self._journal()
        branch = self._found(live, xid)
        del live.branches[xid]
        self._forget(branch)
        self.client.worked = False
        return "xa rollback: ok"

    def _recover(self, _: str) -> str:
        return f"xa recover: {len(self._journal().prepared)} in doubt"

    def _found(self, live: Journal, xid: str) -> Branch:
        """Return a branch of the broker; raises for one that the session works in, or that is not there."""
        if self.open is not None and self.xid == xid:
            raise XAException(PROTOCOL)
        if xid not in live.branches:
            raise XAException(NOT_KNOWN)
        return live.branches[xid]

    def _forget(self, branch: Branch) -> None:
        """What was sent in a branch never becomes visible."""
        branch.state = "rolled back"
        for message in branch.work:
            self.client.lab.message(
                Kind.Discarded, message, self.client.at, rule=Reason.rolled_back, cause=message.row
            )
        branch.work.clear()

    # The connection

    def lose(self) -> None:
        """The connection breaks: a branch that it works in can only be rolled back, here and at the broker."""
        if self.open is not None:
            self._forget(self.open)

    def opened(self) -> None:
        """The session is made anew: its broker learns of a branch that has failed (`xaFailed`)."""
        if self.open is None or self.open.lost:
            return
        self.client.rollback_only = True
        self.open = self._journal().branches.setdefault(self.xid, self.open)
        self._forget(self.open)

    def refuse(self) -> None:
        """What was sent found no queue, or no room: the branch cannot be prepared."""
        if self.open is not None:
            self.open.state = "refused"

    def judge(self, act: str, xid: str) -> None:
        """Tell of a call that is out of turn: start, end, prepare, then commit or rollback (JTA)."""
        client = self.client
        live = client.at.served_journal if client.at is not None else None
        in_doubt = live is not None and live.prepared and act in ("commit", "rollback")
        state = self.states.get(xid, "")
        if state == "started" and act in ("prepare", "commit", "rollback"):
            told = f"refused (XAER_PROTO), as the branch of {client.name} has not ended"
            client.lab.tell(f"{told}; add artemis.Xa({client.name!r}, 'end')")
            return
        if act == "recover":
            return
        if state not in AFTER[act] and not in_doubt:
            begun = f"was {state} already" if state else "had not been started"
            client.lab.tell(f"the branch of {client.name} {begun}")
        self.states[xid] = {"start": "started", "end": "ended", "prepare": "prepared"}.get(act, "")
