"""Calls of a broker that hangs: each waits for its answer for `callTimeout` (Artemis rule 9.17).

What a client has asked for is done once the broker goes on, though nobody waits for it any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.products.artemis.client.reconnection import LOOKS, MS

if TYPE_CHECKING:
    from mqlab.products.artemis.client.requests import Request
    from mqlab.products.artemis.client.sends import SendRequest


@dataclass(eq=False, slots=True)
class HangingCall:
    """A request that lies at a broker which hangs, over one of its client's connections, since when (us)."""

    request: Request
    epoch: int
    since: int
    ended: bool = False  # nobody waits for it any more


def look(call: HangingCall) -> None:
    """Look whether the broker goes on, or the client has ended the call."""
    request, client = call.request, call.request.client
    lab = request.lab
    if client.at is not None and client.epoch == call.epoch and client.at.role == "paused":
        call.ended = call.ended or request.hangs(lab.clock.now - call.since)
        lab.later(LOOKS, look, call)
    elif not call.ended:
        request.on_request(call.epoch)
    elif client.epoch == call.epoch:
        request.act_late()


def query(asked: tuple[SendRequest, int]) -> None:
    """A program makes a producer on a broker that hangs: it asks for the address since a time (us)."""
    request, since = asked
    client = request.client
    if client.at is None or client.at.role != "paused":
        request.make()
    elif request.lab.clock.now >= since + client.options["call_timeout"] * MS:
        request.refuse_query()
    else:
        request.lab.later(LOOKS, query, asked)
