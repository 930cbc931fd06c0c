"""How clients lose their broker, and how they find another."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from mqlab.products.openmq.broker import acknowledgement
from mqlab.products.openmq.broker.active_consumers import takes_no_more
from mqlab.products.openmq.broker.flow import Flow
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import clients, producers
from mqlab.products.openmq.client.clients import CONNECTING, RECONNECT, ROUND, TELL_LATER
from mqlab.products.openmq.client.state import Client, Consumer
from mqlab.products.openmq.network import changes
from mqlab.trace.kinds import Kind, Reason


def lose(client: Client, cause: int) -> None:
    """A client has lost its broker, with what its session had there."""
    lab, client.open = client.home.lab, False
    lab.happens("client_connection_lost", client.name)
    client.lost = lab.notes.add(
        Kind.Interrupted,
        frm=client.node,
        to=client.home.node,
        rule=Reason.broker_stopped,
        cause=cause,
    )
    producers.close(client)
    client.rollback_only = client.mode == "transacted"  # C4074
    lab.removed.pop(client.name, None)
    if isinstance(client, Consumer):
        # A session that is made again takes nothing until recover or rollback (C4106), whatever it has lost
        # (`SessionImpl.recreateSession` of 6.5.0).
        fails = client.mode in ("transacted", "client") or bool(client.xid)
        client.rollback_only = fails and (bool(client.taken) or clients.comes_back(client))
        client.hung = False
        reads_on = client.mode in TELL_LATER and not client.gone
        client.unread = deque(replace(claim) for claim in client.buffer if claim.delivered and reads_on)
        acknowledgement.requeue(client, Reason.broker_stopped)
    if clients.comes_back(client):
        pause = ROUND if lab.enhanced else RECONNECT
        client.looks_from = lab.clock.now + pause
        lab.later(pause, on_attempt, (client, 0))
    elif client.home.orderly:  # its broker has said goodbye
        client.looks_from = lab.clock.now
        lab.happens("client_exception_listener", client.name)
    else:  # 3.00 to 3.06 s later in 30 plays (OpenMQ rule 8.18)
        client.looks_from = lab.clock.now + RECONNECT
        lab.later(RECONNECT, on_given_up, client)


def on_given_up(client: Client) -> None:
    """A client that looks for no other broker tells its exception listener, if it has not been closed."""
    if not client.closed:
        client.home.lab.happens("client_exception_listener", client.name)


def on_no_answer(consumer: Consumer) -> None:
    """A client whose pings are not answered gives up, and hangs in its next attempt at that address."""
    if consumer.open and consumer.home.suspended:
        consumer.gone = True
        consumer.home.lab.happens("client_connection_lost", consumer.name)


def on_attempt(attempt: tuple[Client, int]) -> None:
    """A client tries its brokers, each so many times; after a takeover it is sent to the owner."""
    client, tries = attempt
    lab, options = client.home.lab, client.step.options
    if client.closed or client.open:
        return
    names, most = clients.addresses(lab, client.step), max(1, int(options.get("reconnect_attempts", 3)))
    pause = int(options.get("reconnect_interval_ms", 500)) * 1000
    rounds = int(options.get("iterations", -1))
    turn = names.index(client.home) if client.home in names else 0  # it begins with the broker that it had
    home = names[(turn + tries // most) % len(names)]
    if lab.enhanced:
        home, pause, rounds = client.home, ROUND, -1
        while home.taken_over_by:
            home = home.taken_over_by
    if home.suspended:  # it accepts the connection, and says nothing (OpenMQ rule 8.8)
        lab.hanging[client] = home, tries
        lab.later(CONNECTING, on_hung, (client, home, tries))
        return
    if not lab.enhanced:
        lab.notes.add(
            Kind.Attempted,
            frm=client.node,
            to=home.node,
            cause=client.lost,
            rule=Reason.accepted if clients.takes_clients(home) else Reason.nobody_listens,
        )
    if clients.takes_clients(home) and _is_made_again(client, home):
        attach(client, home)
    elif clients.takes_clients(home):
        lab.later(RECONNECT, on_attempt, (client, tries // most * most))
    elif rounds < 0 or tries + 1 < most * len(names) * rounds:
        lab.later(pause, on_attempt, (client, tries + 1))
    else:
        client.closed = True
        lab.happens("client_exception_listener", client.name)


def on_hung(attempt: tuple[Client, Broker, int]) -> None:
    """An attempt has hung for too long at a broker that is suspended: the client makes its next one."""
    client, home, tries = attempt
    if home.lab.hanging.get(client) == (home, tries):
        del home.lab.hanging[client]
        on_attempt((client, tries + 1))


def let_on(home: Broker) -> None:
    """A broker goes on, or ends: so do the attempts that hang there."""
    for client, (where, tries) in list(home.lab.hanging.items()):
        if where is home:
            del home.lab.hanging[client]
            on_attempt((client, tries if home.serves else tries + 1))


def _is_made_again(client: Client, home: Broker) -> bool:
    """Whether a broker takes in a client that reconnects: it opens once more what it had opened there.

    Who is refused comes again 3 s later, to the same broker (`ConnectionRecover.recover` of 6.5.0).
    """
    if clients.is_used(home.lab, clients.client_id(client.step)):
        return False
    if client.dest.name.startswith("temp:"):
        home.add(client.dest, "temporary", owner=client.name)
    if not home.find(client.dest):
        return False
    if not isinstance(client, Consumer):
        return not producers.is_full(home, client.dest)
    if takes_no_more(home, client.dest):
        return False
    return not client.step.action.durable or changes.subscribe(home, changes.asked_for(client.step))


def attach(client: Client, home: Broker) -> None:
    """A client that lost its broker has another, where it registers as a new one."""
    lab, former = home.lab, client.home
    lab.moved.setdefault(client.name, [former.name]).append(home.name)
    if client.dest.is_queue and isinstance(client, Consumer):
        client.position = home.free_position(client.dest)  # as long as it is not among those who are known
    client.home, client.open, client.strays = home, True, int(bool(client.xid) and not lab.enhanced)
    client.cut_off = False  # its destination is there again
    client.xid = ""  # its branch was of the former broker
    client.to_home = lab.new_link(client.name, home.name)
    client.from_home = lab.new_link(home.name, client.name)
    client.stamp()
    lab.notes.add(Kind.Attached, frm=client.node, to=home.node, cause=client.lost)
    if isinstance(client, Consumer):
        if client.flow is not None:
            client.flow = Flow(client.flow.limit, client.flow.first, client.flow.percent, home)
        client.unheard_by = clients.unheard_by(client, former)
        lab.register(client)
        home.spread(client.dest)
    elif client.dest in home.instances:
        home.instances[client.dest].producers.open(client)
    lab.happens("client_reconnected", client.name)
