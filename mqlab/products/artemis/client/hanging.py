"""Calls of a broker that hangs: each waits for its answer for `callTimeout` (Artemis rule 9.17).

What a client has asked for is done once the broker goes on, though nobody waits for it any more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.client.reconnection import LOOKS, MS

if TYPE_CHECKING:
    from mqlab.products.artemis.client.requests import Request
    from mqlab.products.artemis.client.sends import SendRequest


def look(call: tuple[Request, int, int, bool]) -> None:
    """Look whether the broker goes on with a request of a connection that lies there since a time (us).

    Or whether the client has *ended* it.
    """
    request, epoch, since, ended = call
    client, lab = request.client, request.lab
    if client.at is not None and client.epoch == epoch and client.at.role == "paused":
        ended = ended or request.hangs(lab.clock.now - since)
        lab.later(LOOKS, look, (request, epoch, since, ended))
    elif not ended:
        request.on_request(epoch)
    elif client.epoch == epoch:
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
