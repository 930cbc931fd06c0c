"""What clients with addresses do: each call is a `PendingCall`, which the script waits for unless told."""

from __future__ import annotations

from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.calls import SendJob, session_of
from mqlab.products.activemq.client.connection import ClientConnection
from mqlab.products.activemq.client.session import MessageConsumer
from mqlab.products.activemq.script.steps import RunningStep, Stage, script_option
from mqlab.products.activemq.transport.openwire import (
    RemoveInfo,
    RemoveSubscriptionInfo,
    SessionInfo,
)
from mqlab.spec import action as a
from mqlab.spec import clients as c
from mqlab.spec.values import Destination, duration

LONGEST_RECEIVE = 5000  # ms that a consumer waits for one message, unless told
UNNAMED = Refused("IllegalArgumentException", "Invalid destination name: a non-empty name is required")


def connect(stage: Stage, action: c.Client) -> None:
    """A client opens its connection."""
    client = stage.lab.clients_by_name[action.name] = ClientConnection(stage.lab, action)
    client.open(stage.call(action.name))


def open_session(stage: Stage, action: c.OpenSession) -> None:
    """A client opens a session."""
    client = stage.lab.clients_by_name[action.client]
    client.session(action.session, action.transacted)
    client.request(SessionInfo(action.session), stage.call(client.name))


def _named(action: a.Consumer | a.Producer, dest: Destination) -> Destination:
    """Return the destination; raises `Refused` for one that a script wants without a name."""
    if script_option(action, "unnamed"):
        raise UNNAMED
    return dest


def open_consumer(stage: Stage, action: a.Consumer) -> None:
    """A client opens a consumer, which takes what it can from then on."""
    client = stage.lab.clients_by_name[action.on]
    dest, loop = _named(action, action.reads), script_option(action, "loop", True)
    consumer = MessageConsumer(client, action, dest, session_of(stage.lab, action), loop)
    client.open_consumer(consumer, stage.call(client.name))


def temporary_queue(stage: Stage, action: c.TemporaryQueue) -> None:
    """A client makes a temporary queue."""
    client = stage.lab.clients_by_name[action.client]
    client.make_temp(action.name, session_of(stage.lab, action), stage.call(client.name))


def send(stage: Stage, action: a.Producer) -> None:
    """A client sends."""
    client = stage.lab.clients_by_name[action.on]
    first = stage.lab.reserve_numbers(action.sends)
    try:
        dest = _named(action, action.to)
    except Refused as error:
        stage.call(client.name).fail(error.kind, str(error))
        return
    session = session_of(stage.lab, action)
    call = SendJob(stage.lab, stage.now.no, action, client, dest, session, first)
    stage.wait_for(call)
    call.next()


def commit(stage: Stage, action: a.Commit) -> None:
    """A transaction takes effect."""
    _end_transaction(stage, action, "commit")


def rollback(stage: Stage, action: a.Rollback) -> None:
    """A transaction is forgotten."""
    _end_transaction(stage, action, "rollback")


def _end_transaction(stage: Stage, action: a.Commit | a.Rollback, how: str) -> None:
    client = stage.lab.clients_by_name.get(action.who)
    if client is None:  # a consumer: its own session
        session = stage.lab.consumers_by_name[action.who].session
        session.finish(how, stage.call(session.client.name))
    else:
        call = stage.call(client.name)
        client.session(str(action.session), True).finish(how, call)


def acknowledge(stage: Stage, action: a.Acknowledge) -> None:
    """A consumer acknowledges what it had, by its last message: without any it cannot."""
    consumer = stage.lab.consumers_by_name[action.consumer]
    call = stage.call(consumer.client.name)
    if not consumer.count:
        call.fail("NullPointerException", "it has received no message that it could acknowledge")
    elif not consumer.client.refuses(call):
        consumer.acknowledge(action.count)
        call.finish()


def receive_once(stage: Stage, action: c.ReceiveOnce) -> None:
    """A consumer asks for one message and waits."""
    consumer = stage.lab.consumers_by_name[action.consumer]
    timeout = LONGEST_RECEIVE if action.timeout is None else action.timeout
    consumer.receive_once(stage.call(consumer.client.name), duration(timeout))


def close_consumer(stage: Stage, action: a.Close) -> None:
    """A consumer closes, and its durable subscription ends if that is said."""
    consumer = stage.lab.consumers_by_name[action.consumer]
    call = stage.call(consumer.client.name)
    waits = consumer.session.transaction is not None and (consumer.unacknowledged or consumer.expected)
    consumer.close()
    transport = consumer.client.transport
    if waits:
        consumer.session.leaving.append(consumer)
        call.finish()
    elif transport is None or transport.away:
        consumer.client.after_round(call)
    else:
        consumer.client.request(RemoveInfo(consumer.name, consumer.last), call)
    if action.unsubscribe and consumer.durable is not None:
        consumer.client.send(RemoveSubscriptionInfo(*consumer.durable))


def close_client(stage: Stage, action: c.CloseClient) -> None:
    """A client closes its connection."""
    stage.lab.clients_by_name[action.client].close(stage.call(action.client))


def unsubscribe(stage: Stage, action: c.Unsubscribe) -> None:
    """A client ends its durable subscription."""
    client = stage.lab.clients_by_name[action.client]
    command = RemoveSubscriptionInfo(client.client_id, action.subscription_name)
    client.request(command, stage.call(client.name))


def receive(stage: Stage, action: a.Receive) -> None:
    """A held consumer takes so many messages."""
    consumer = stage.lab.consumers_by_name[action.consumer]
    stage.now.goal = consumer.count + action.count
    consumer.allow(action.count)


def has_received(stage: Stage, waiting: RunningStep, action: a.Receive) -> bool:
    """Whether it has them."""
    return stage.lab.consumers_by_name[action.consumer].count >= waiting.goal
