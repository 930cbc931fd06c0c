"""What clients do, with an address or on a broker by themselves.

Each call of one with an address is a `PendingCall`, which the script waits for unless told. One on a broker
by itself has a connection of its own, over links alone: it knows no address but a list of brokers, the first
of which that serves is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.engine.completion import AT_ONCE, Completion
from mqlab.engine.in_vain import CLOSED, SessionState
from mqlab.products.activemq.client import line
from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.calls import SendJob, session_of
from mqlab.products.activemq.client.connection import ClientConnection
from mqlab.products.activemq.client.direct_consumer import DirectConsumer
from mqlab.products.activemq.client.direct_producer import DirectProducer, produce
from mqlab.products.activemq.client.message_consumer import MessageConsumer
from mqlab.products.activemq.client.session import Session
from mqlab.products.activemq.script.steps import RunningStep, script_option
from mqlab.products.activemq.transport.openwire import (
    RemoveSubscriptionInfo,
    SessionInfo,
)
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec.values import Destination, duration

if TYPE_CHECKING:
    from mqlab.products.activemq.client.calls import PendingCall
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.script.runner import ScriptRunner

LONGEST_RECEIVE = 5000  # ms that a consumer waits for one message, unless told
UNMADE = Refused("IllegalArgumentException", "the temporary queue has not been made")
UNNAMED = Refused("IllegalArgumentException", "Invalid destination name: a non-empty name is required")


def session_state(lab: Lab, name: str, session: str | None = None) -> SessionState | None:
    """Return what the session of a consumer is, or one of a client; None if there is none."""
    found = lab.consumers.get(name)
    if found is not None:
        held = len(found.unacknowledged)
        own = getattr(found, "session", None)  # of one on a client's connection
        if own is not None and own.transacted:
            held = held or int(own.transaction is not None or own.rollback_only)
        gone = CLOSED if found.closed else ""
        return SessionState(gone, found.allowance is None, found.spec.ack_mode, found.by_action, held)
    client = lab.clients_by_name.get(name)
    if client is None or session is None:
        return None
    own = client.session(session, True)
    open_ = own.transaction is not None or own.rollback_only
    return SessionState("", None, "transacted", own.transacted, int(open_))


def connect(runner: ScriptRunner, action: c.Client) -> None:
    """A client opens its connection."""
    client = runner.lab.clients_by_name[action.name] = ClientConnection(runner.lab, action)
    client.open(runner.call(action.name))


def _own_mode(client: ClientConnection, action: a.Consumer | a.Producer, session: str) -> str | None:
    """Return how the session acknowledges that an action makes beside one which is being made."""
    return script_option(action, "own_mode") if client.is_making(session) else None


def open_session(runner: ScriptRunner, action: c.OpenSession) -> None:
    """A client opens a session."""
    client = runner.lab.clients_by_name[action.client]
    call = runner.call(client.name)

    def opens() -> None:
        client.session(action.session, action.transacted)
        client.request(SessionInfo(action.session), call)

    client.with_session(call, opens)


def _named(runner: ScriptRunner, action: a.Consumer | a.Producer, dest: Destination) -> Destination:
    """Return the destination; raises `Refused` for one that has no name, or that the program does not have yet.

    It has a temporary queue once the call that makes it has come back (`found/temporary_made_slowly`).
    """
    if script_option(action, "unnamed"):
        raise UNNAMED
    calls = runner.calls if dest.is_temporary else ()
    made = [one for one in calls if isinstance(one.action, c.TemporaryQueue) and one.action.name == dest.name]
    if made and not any(one.row.get("ok") for one in made):
        raise UNMADE
    return dest


def open_consumer(runner: ScriptRunner, action: a.Consumer) -> None:
    """A consumer opens, on a broker by itself or on a client's connection, and takes what it can."""
    lab, before = runner.lab, runner.lab.consumers.get(action.name)
    if before is not None and not before.closed:
        lab.tell("a consumer of that name was open already; close it before, or take a new name")
    if action.on in lab.brokers:
        direct = DirectConsumer(lab, action, lab.directory.home(action))
        lab.consumers[action.name] = direct
        direct.open()
        return
    client = lab.clients_by_name[action.on]
    call, loop = runner.call(client.name), script_option(action, "loop", True)
    try:
        dest = _named(runner, action, action.reads)
    except Refused as error:
        call.fail(error.kind, str(error))
        return

    def opens() -> None:
        session = session_of(lab, action)
        mode = _own_mode(client, action, session)
        spec = replace(action, ack_mode=mode) if mode else action
        consumer = AddressedConsumer(client, spec, dest, session, loop)
        client.open_consumer(consumer, call)

    client.with_session(call, opens)


def temporary_queue(runner: ScriptRunner, action: c.TemporaryQueue) -> None:
    """A client makes a temporary queue."""
    client = runner.lab.clients_by_name[action.client]
    call, session = runner.call(client.name), session_of(runner.lab, action)
    client.with_session(call, lambda: client.make_temp(action.name, session, call))


def send(runner: ScriptRunner, action: a.Producer) -> Completion | None:
    """A producer on a broker by itself sends, or a client; in the background nobody waits for it."""
    lab = runner.lab
    if action.on in lab.brokers:
        producer = produce(lab, action)
        closes = lab.script and isinstance(getattr(lab.script[0], "action", None), a.Close)
        if action.in_background:
            return AT_ONCE
        if lab.timing.closing is not None and closes:
            # A consumer can go at once; anything else opens a connection, or settles, first.
            return Completion(has_sent, producer, then=on_sent)
        return Completion()
    client = lab.clients_by_name[action.on]
    try:
        dest = _named(runner, action, action.to)
    except Refused as error:
        lab.numbers += action.sends  # the next ones are what they would have been
        runner.call(client.name).fail(error.kind, str(error))
        return None
    session = session_of(lab, action)
    mode = _own_mode(client, action, session)
    transacted = mode == "transacted" if mode else bool(action.options.get("transacted"))
    call = SendJob(lab, runner.now.no, action, client, dest, client.session(session, transacted))
    runner.wait_for(call)
    client.with_session(call, call.next)
    return None


def has_sent(producer: DirectProducer) -> bool:
    """Whether it has sent all and has the receipts."""
    return producer.done


def on_sent(producer: DirectProducer) -> None:
    """A producer has sent all: it closes its connection."""
    lab, timing = producer.lab, producer.lab.timing
    wait = 2 * timing.link + lab.random_duration(timing.closing or 0)
    lab.under_way = Completion(deadline=lab.clock.now + wait)


def _in_session(
    runner: ScriptRunner,
    action: a.Commit | a.Rollback | a.Recover,
    then: Callable[[Session, PendingCall], None],
) -> None:
    """Let a client's session do it; one that is not made has to be made before (`createSession`)."""
    client, call = runner.lab.clients_by_name[action.who], runner.call(action.who)
    transacted = not runner.lab.by_calls and not isinstance(action, a.Recover)

    def ends() -> None:
        session = client.session(str(action.session), transacted)
        line.when_made(session, call, lambda: then(session, call))

    client.with_session(call, ends)


def recover(runner: ScriptRunner, action: a.Recover) -> None:
    """What was not acknowledged comes again."""
    lab = runner.lab
    if action.who in lab.consumers:
        lab.consumers[action.who].recover(runner.call)
    else:
        _in_session(runner, action, Session.recover)


def end_transaction(runner: ScriptRunner, action: a.Commit | a.Rollback) -> None:
    """A transaction takes effect, or is forgotten."""
    lab, how = runner.lab, "commit" if isinstance(action, a.Commit) else "rollback"
    if action.who in lab.consumers:  # its own session
        lab.consumers[action.who].end_transaction(how, runner.call)
    else:
        _in_session(runner, action, lambda session, call: session.finish(how, call))


def acknowledge(runner: ScriptRunner, action: a.Acknowledge) -> None:
    """A consumer acknowledges what it had."""
    runner.lab.consumers[action.consumer].settle(action.count, runner.call)


def receive_once(runner: ScriptRunner, action: c.ReceiveOnce) -> None:
    """A consumer asks for one message and waits."""
    consumer = runner.lab.consumers[action.consumer]
    assert isinstance(consumer, AddressedConsumer)
    timeout = LONGEST_RECEIVE if action.timeout is None else action.timeout
    consumer.pulls.receive(runner.call(consumer.client.name), duration(timeout))


def close_consumer(runner: ScriptRunner, action: a.Close) -> None:
    """A consumer closes, and its durable subscription ends if that is said."""
    consumer = runner.lab.consumers[action.consumer]
    if action.unsubscribe and consumer.durable is None:
        runner.lab.tell("it has no durable subscription to end; omit unsubscribe")
    consumer.leave(action.unsubscribe, runner.call)


def close_client(runner: ScriptRunner, action: c.CloseClient) -> None:
    """A client closes its connection."""
    line.close(runner.lab.clients_by_name[action.client], runner.call(action.client))


def unsubscribe(runner: ScriptRunner, action: c.Unsubscribe) -> None:
    """A client ends its durable subscription."""
    client = runner.lab.clients_by_name[action.client]
    command = RemoveSubscriptionInfo(client.client_id, action.subscription_name)
    client.request(command, runner.call(client.name))


def receive(runner: ScriptRunner, action: a.Receive) -> Completion | None:
    """A held consumer takes so many messages; at rest it has all that it will get."""
    consumer = runner.lab.consumers[action.consumer]
    runner.now.goal = consumer.count + action.count
    consumer.allow(action.count)
    return None if runner.lab.by_calls else Completion(then=on_received, argument=(consumer, runner.now))


def on_received(over: tuple[MessageConsumer, RunningStep]) -> None:
    """A consumer has received what it can get: say so if that is less than it was to."""
    consumer, asked = over
    assert isinstance(asked.action, a.Receive)
    got = asked.action.count - max(0, asked.goal - consumer.count)
    consumer.lab.tell_received(got, asked.action.count, consumer.name, asked.action)


def has_received(runner: ScriptRunner, waiting: RunningStep, action: a.Receive) -> bool:
    """Whether it has them."""
    return runner.lab.consumers[action.consumer].count >= waiting.goal
