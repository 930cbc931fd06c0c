"""Producers: how a step that sends goes on, and how it ends."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, cast

from mqlab.engine.clock import NEVER
from mqlab.products.openmq.broker import physical_destinations, transactions
from mqlab.products.openmq.broker.messages import Message, packet_size
from mqlab.products.openmq.broker.model import DEAD, Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.send_job import CONNECTS, SendJob, Sends
from mqlab.products.openmq.client.state import PRIORITY, Client
from mqlab.products.openmq.script.operation import Outcome, Row, RunningStep, ScriptStep
from mqlab.spec.action import Producer
from mqlab.spec.headers import dealt, dealt_one
from mqlab.spec.openmq.actions import CloseProducer, OpenProducer, Send, Xa
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster
    from mqlab.spec.values import Destination


def do_open_producer(lab: Cluster, step: ScriptStep[OpenProducer]) -> Outcome:
    """Open a producer on a connection of its own."""
    return clients.looks(lab, step, _open_named)


def _open_named(asked: tuple[Cluster, ScriptStep[OpenProducer]]) -> Outcome:
    """Open it now, or once all brokers have answered for its client id: that fails after a time (C4330)."""
    lab, step = asked
    broker, id = clients.reachable(lab, step), clients.client_id(step)
    if clients.is_used(lab, id):
        return False
    if not (broker and id and broker.asks_in_vain):
        return _open(lab, step.action.name, step) is not None
    return clients.asks_all(broker, step, _open_at_last)


def _open_at_last(asked: tuple[Broker, ScriptStep[OpenProducer], int]) -> bool:
    broker, step, end = asked
    late = broker.lab.clock.now >= end or not broker.serves
    return not late and _open(broker.lab, step.action.name, step) is not None


def is_full(broker: Broker, dest: Destination) -> bool:
    """Whether a destination has as many producers at a broker as it may have; -1 is any number."""
    return 0 <= int(broker.instances[dest].option("MaxNumProducers")) <= broker.producers(dest)


def _open(lab: Cluster, key: str, step: ScriptStep[OpenProducer | Producer]) -> Client | None:
    broker, dest, name = clients.reachable(lab, step), step.dest, step.action.name
    if broker is None or dest == DEAD or not broker.find(dest):
        return None  # only a broker writes to its dead messages (B4183)
    owner = lab.consumers.get(str(broker.instances[dest].owner))
    if owner is not None and owner.step.options.get("process"):
        return None  # nobody else learns the name of what a client in a process of its own has made
    if is_full(broker, dest):
        return None
    node = lab.notes.node(name, "producer", broker.name)
    links = lab.new_link(name, broker.name), lab.new_link(broker.name, name)
    lab.producers[key] = Client(name, lab.destination(dest), step, broker, node, *links)
    lab.reapable.add(broker.instances[dest])
    lab.producers[key].stamp()
    broker.instances[dest].producers.open(lab.producers[key])
    return lab.producers[key]


def do_close_producer(lab: Cluster, step: ScriptStep[CloseProducer]) -> Outcome:
    """Close a producer."""
    producer = lab.producers[step.action.producer]
    return RunningStep(clients.may_close, producer, step.limit, _close_named, insists=True)


def _close_named(producer: Client) -> None:
    """A producer leaves; what it has not committed is gone."""
    lab = producer.home.lab
    del lab.producers[producer.name]
    transactions.close(lab, producer)
    close(producer)
    clients.close(producer)
    producer.open = False
    transactions.end_transaction(producer.home, producer.name, commit=False)


def close(producer: Client) -> None:
    """A producer is at its broker no more; a consumer never was."""
    instance = producer.at.instances.get(producer.home)
    if instance is not None:
        instance.producers.close(producer)


def do_send(lab: Cluster, step: ScriptStep[Sends]) -> Outcome:
    """Send messages one by one; under flow control the rest waits."""
    first, count = lab.numbers + 1, step.action.sends
    lab.expect(count)
    lab.numbers += count
    # A call beside the script is not waited for, so that it is never blocked.
    row = {"first": first, "count": count, **({} if step.in_background else {"result": "blocked"})}
    producer = lab.producers.get(step.action.producer) if isinstance(step.action, Send) else None
    if producer is not None and clients.is_told(producer):
        return {**row, "result": "refused"}  # it makes no message (C4313)
    job = SendJob(row, step, range(first, first + count), [], producer)
    if producer is not None and producer.mode == "transacted" and clients.is_made_again(producer):
        return _refuse((lab, job))
    if producer is not None:
        _keep(job, producer)
    if job.left and producer and producer.mode == "transacted" and clients.fails_looking(producer):
        return RunningStep(_can_send, (lab, job), step.limit, _refuse, insists=True)
    waits = producer is not None and not producer.open and clients.comes_back(producer)
    if job.left and producer and waits and producer.mode != "transacted":
        looks = clients.is_reconnecting(producer)
        if not looks:
            _send_into_nothing(job, producer)
        if job.persistent or looks:
            return RunningStep(_can_send, (lab, job), step.limit, _begin)
    return _begin((lab, job))


def _keep(job: SendJob, producer: Client) -> None:
    """Let a producer keep the time to live and the priority that it is told."""
    action = job.step.action
    if action.time_to_live is None:
        job.time_to_live = producer.time_to_live
    if action.jms_priority is None:
        job.priority = producer.priority
    producer.time_to_live = job.time_to_live
    producer.priority = dealt_one(job.priority, len(job.left) - 1) if job.left else job.priority


def _can_send(asked: tuple[Cluster, SendJob]) -> bool:
    producer = asked[1].producer
    return producer is None or clients.has_broker(producer)


def _refuse(asked: tuple[Cluster, SendJob]) -> Row:
    """A transacted session has lost its broker: it sends once its transaction is ended (OpenMQ rule 8.11)."""
    job = asked[1]
    job.end_with(job.left)
    return {**job.row, "sent": 0, "refused": job.refused, "result": "refused"}


def _begin(asked: tuple[Cluster, SendJob]) -> Outcome:
    lab, job = asked
    lab.burst = NEVER if job.step.in_background else lab.clock.now
    lab.jobs.append(job)
    if job.producer is None:
        job.until = lab.clock.now + clients.CONNECTING
        lab.later(clients.CONNECTING)
    if job.step.in_background:
        go_on(lab, job)
        return RunningStep(None, job, job.step.lead, attrgetter("row")) if lab.recorded else job.row
    pauses = job.interval / 1000 * len(job.left)
    return RunningStep(_has_ended, asked, job.step.limit + pauses, _say_how, told=True)


def _has_ended(asked: tuple[Cluster, SendJob]) -> bool:
    lab, job = asked
    return job not in lab.jobs


def _say_how(asked: tuple[Cluster, SendJob]) -> Row:
    lab, job = asked
    job.late = job in lab.jobs
    return job.row


def _send_into_nothing(job: SendJob, producer: Client) -> None:
    """A producer has no broker: one message is lost; others wait, or are refused if not persistent (6.5.0)."""
    first, job.left = job.left[0], job.left[1:]
    if job.persistent:
        job.refuse(first)
    else:
        job.end_with([first, *job.left] if producer.rollback_only else job.left)
        producer.rollback_only = True


def go_on(lab: Cluster, job: SendJob) -> bool:
    """Send what a producer can send now; True if something moved."""
    producer, moved = job.producer, False
    if producer is None:  # a step that sends at a broker has one for itself
        where = clients.addresses(lab, job.step)[0]
        over = where.suspended and lab.clock.now >= job.until
        if not (where.answers or where.refuses) and not over:
            return False
        producer = job.producer = _open(lab, f"#{job.row['first']}", cast("ScriptStep[Producer]", job.step))
        if producer is None:
            job.row["later" if job.late else "result"] = "refused"
            lab.end_job(job)
            return True
        if job.interval and lab.recorded:  # its first message is sent once the connection is there
            job.wait(CONNECTS)
    if lab.blocked and _waits_its_turn(lab, job):
        return False
    if not producer.open and not clients.comes_back(producer) and not _fails_in_turn(lab, job, producer):
        return True
    # Where its destination was made anew, by whoever, its messages are taken again, and nobody counts it.
    if producer.cut_off and producer.home not in producer.at.instances:
        job.end_with(job.left if job.persistent else ())  # else it waits for no answer
    # The next message may wait for its time, or for the receipt of the one before.
    while (
        job.left
        and lab.clock.now >= job.due
        and not (job.under_way and job.persistent)
        and producer.open
        and producer.home.answers
        and producer.credit
    ):
        message = _message(job, producer)
        result = physical_destinations.admit(message, producer)
        if result == "blocked":
            break
        moved = True
        job.left = job.left[1:]
        if result == "refused":
            job.refuse(message.number)
            job.say_how_many()
        else:
            job.under_way += 1
            arrives = on_sent if result == "ok" else on_dropped
            producer.to_home.carry(arrives, (job, producer, message), 0, message.size)
        pause = job.interval or (result == "refused" and 2 * lab.timing.link)  # its answer takes its time, too
        if pause and job.left:
            job.wait(pause)
    if not job.left and not job.under_way:
        _end(lab, job)
    return moved


def _waits_its_turn(lab: Cluster, job: SendJob) -> bool:
    """Whether a call that its session was given before still waits for its broker (OpenMQ rule 8.20)."""
    place, producer = lab.plan.index(job.step), job.producer
    own = (call for call in lab.blocked if producer is not None and call.client == producer.name)
    return any(lab.plan.index(call) < place for call in own if isinstance(call.action, Xa))


def _fails_in_turn(lab: Cluster, job: SendJob, producer: Client) -> bool:
    """A producer has lost its broker for good: what it has in hand fails (C4064), then its session is closed.

    That makes no message more (C4059, later C4313), which ends the whole step: False. Nobody waits for what is
    not persistent: the first such message is lost unnoticed, the others fail before the session is closed.
    """
    if producer.closed and job.late:  # closed by its client in the middle of the call
        job.end_with(job.left)
    elif (producer.closed and not job.step.in_background) or (job.persistent and len(job.left) > 1):
        if not producer.closed:
            job.say_how_many()
        job.row["later" if job.late else "result"] = "refused"
        lab.producers.pop(f"#{job.row['first']}", None)
        lab.end_job(job)
    else:
        job.end_with(job.left if job.persistent else job.left[1:])
    producer.closed = True
    return job in lab.jobs


Sent = tuple[SendJob, Client, Message]


def on_sent(what: Sent) -> None:
    """A message has come to its home."""
    job, producer, message = what
    lab = message.home.lab
    if message.asks:
        _ask(message, producer)
    if not physical_destinations.take_in(message, producer):
        job.refuse(message.number)
    elif job.time_to_live:
        message.expires = message.sent + job.time_to_live
        physical_destinations.may_expire(message)
    if message.persistent:  # its producer waits for the receipt
        producer.from_home.carry(on_receipt, what)
        lab.schedule_dispatch(message.at)
    else:
        on_receipt(what)


def on_dropped(what: Sent) -> None:
    """A message that is not persistent has come to a home that has no room for it."""
    _, producer, message = what
    if message.asks:
        _ask(message, producer)
    message.home.lab.notes.message(Kind.Discarded, message, rule=Reason.limit_reached)
    on_receipt(what)


def _ask(message: Message, producer: Client) -> None:
    """A message asks for more credit."""
    instance = message.at.instances.get(message.home)
    if instance is not None and not producer.cut_off:  # that is not heard of a new destination's room
        instance.producers.ask(producer)


def on_receipt(what: Sent) -> None:
    """A producer knows that a message has come to its home."""
    job, _, message = what
    job.under_way -= 1
    job.say_how_many()
    message.home.lab.schedule_dispatch(message.at)


def _end(lab: Cluster, job: SendJob) -> None:
    """All is sent or refused: say how it ended."""
    row = job.row
    if job.step.options.get("transacted") and job.producer is not None:  # its own connection: commits at last
        transactions.end_transaction(job.producer.home, job.producer.name, commit=True)
    row["sent"] = row["count"] - len(job.refused) - job.unsent
    if job.refused:
        row["refused"] = job.refused
    how = "ok" if not job.refused else "partly refused" if row["sent"] else "refused"
    row["later" if job.late else "result"] = "ok" if job.late else how  # a late call's end is all that is told
    own = lab.producers.pop(f"#{row['first']}", None)
    if own is not None and own.dest in own.home.instances:
        close(own)
        lab.reapable.add(own.home.instances[own.dest])
    lab.end_job(job)


def _message(job: SendJob, producer: Client) -> Message:
    number, properties, priority = job.left[0], job.properties, job.priority
    place = number - job.row["first"]
    message = Message(
        number,
        producer.home,
        producer.at,
        producer.at.number,
        job.persistent,
        priority if priority == PRIORITY else dealt_one(priority, place),
        dealt(properties, place) if properties else {},
        job.size,
        producer.home.lab.clock.now,
    )
    if producer.mode == "transacted" or (producer.xid and producer.in_branch):
        message.transaction = producer.name
    message.weight = packet_size(message)
    return message
