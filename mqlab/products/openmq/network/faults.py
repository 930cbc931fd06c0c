"""What happens to brokers and to the network between them: the steps of whoever breaks things."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement, delivery
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import reconnection
from mqlab.products.openmq.client.state import Consumer
from mqlab.products.openmq.ha import takeover
from mqlab.products.openmq.network import changes, cluster
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep
from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.openmq import actions as o
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

WITH_DATABASE = ("peer", "enhanced")  # models of clusters whose record, or store, is in one
RETRY_MS = 5000  # between two attempts at a broker that is away
UP_MS = 1200  # until a broker that starts takes clients: 0.85 to 2.5 s in ten plays
READY_MS = 2000  # until a broker that starts is ready, and linked: 1.0 to 4.3 s in 16 scenarios of 3 to 5 plays
CALLED_MS = 5350  # where another calls it, 5 s after its end: 5.34 to 5.46 s in 46 scenarios of 2 to 5 plays
STOP_MS = 2000  # until the process of one that is stopped has ended: 1.91 to 2.68 s in 8 scenarios of 3 plays
LINKED_MS = 25_000  # how long it is waited for its links after that
# us until TCP sends again what was not acknowledged: first a probe, and from then on after this pause, which
# doubles. Measured in 12 plays of a message into a cut, with `ss -ti` in the brokers' network namespace: the
# time-out of the link is 204 to 212 ms, and it sends again after 0.42, 0.84, 1.7 and 3.4 s. Timers fire some
# ms late: 64 times as much is later than 13.7 s (cut_queue_consumer_asks_all, six plays), 256 times at most
# 55.0 s (created_in_cut).
RETRANSMISSION = 214_800
LONGEST_PAUSE = 120_000_000  # us between two of these (Linux)
LOOKS = 30_000  # us that a recorder's session looks for calls before it receives
GIVES_UP = 8_000_000  # us until a client with imqPingAckTimeout leaves a silent broker


Starts = a.Restart | o.StartBroker | o.CrashAndRestart


def do_start(lab: Cluster, step: ScriptStep[a.Start | o.StartBrokers]) -> Outcome:
    """Start all listed brokers, or those named, one after the other."""
    for name in step.action.brokers if isinstance(step.action, o.StartBrokers) else lab.listed:
        if lab.brokers[name].running:
            lab.tell_in_vain(f"Start of {name}", "the broker was running already")
        else:
            cluster.start(lab.brokers[name])
    return RunningStep(None, None, RETRY_MS)


def do_start_broker(lab: Cluster, step: ScriptStep[Starts]) -> Outcome:
    """Start one broker; it may have to wait for its master, or end by itself."""
    broker = lab.brokers[step.action.broker]
    broker.configure(step.options)
    if not lab.database_up and lab.network.model in WITH_DATABASE:
        lab.tell("the broker ended at once, as its database was down")
        return "ended"
    addresses = " ".join(map(str, step.options.values()))
    if strange := set(re.findall(r"\$\{(.*?)\}", addresses)) - lab.brokers.keys():
        lab.tell(f"the broker ended at once, as there is no broker {min(strange)} whose address it was told")
        return "ended"
    patience = float(broker.option("imq.cluster.ha.takeoverWaitTimeout", 300)) * 1000
    return RunningStep(_is_left_alone, (broker, step), patience, _start)


def _is_left_alone(asked: tuple[Broker, ScriptStep[Starts]]) -> bool:
    """Whether nobody is taking a broker over: so long it waits before it joins (Administration Guide)."""
    return asked[0].taking_over_broker is None


def _start(asked: tuple[Broker, ScriptStep[Starts]]) -> Outcome:
    broker, step = asked
    until = "linked" if isinstance(step.action, a.Restart) else step.action.until
    if not takeover.may_start(broker):
        broker.lab.tell("its store belongs to another broker by now, so it ended")
        return "ended"
    if broker.running:  # the second process finds its port taken, and ends (`Broker._start` of 6.5.0)
        broker.lab.tell_in_vain(f"Start of {broker.name}", "the broker was running already")
        return "ended"
    cluster.start(broker)
    if until in ("none", "ready"):  # a broker that waits for its master counts as ready, too
        return RunningStep(None, None, UP_MS if until == "ready" else 0)
    called = isinstance(step.action, o.CrashAndRestart) and _is_called(broker)
    wait = CALLED_MS if called else READY_MS
    return RunningStep(None, asked, wait, _wait) if until == "linked" else _wait(asked)


def _is_called(broker: Broker) -> bool:
    """Whether a broker waits for another to call: the later of two in the list does (OpenMQ rule 8.16)."""
    *_, last = (b for b in broker.lab.brokers.values() if b.running)
    return last is not broker


def _wait(asked: tuple[Broker, ScriptStep[Starts]]) -> RunningStep:
    return RunningStep(_is_linked, asked, min(LINKED_MS, asked[1].limit), _say_how)


def _is_linked(asked: tuple[Broker, ScriptStep[Starts]]) -> bool:
    """Whether a broker is linked to all that are there; without its master it is to none."""
    broker = asked[0]
    others = [b for b in broker.lab.brokers.values() if b is not broker and b.running]
    there = [b for b in others if not b.suspended or b.name == broker.named_master]
    lacks = any(broker.lab.is_unlinked(broker, other) or not broker.accepts(other) for other in there)
    return not there or (broker.ready and not lacks)


def _say_how(asked: tuple[Broker, ScriptStep[Starts]]) -> str:
    if _is_linked(asked):
        return "ok"
    asked[0].lab.tell("the broker had not found its links to all others when the wait was over")
    return "not linked"


def do_crash_and_restart(lab: Cluster, step: ScriptStep[o.CrashAndRestart]) -> Outcome:
    """Kill a broker and start it again."""
    broker = lab.brokers[step.action.broker]
    if not broker.running:
        lab.tell("the broker was not running, so it was only started")
    _kill(broker)
    return do_start_broker(lab, step)


def do_crash(lab: Cluster, step: ScriptStep[f.Crash]) -> None:
    """Kill a broker."""
    _kill(lab.brokers[step.action.broker])


def _kill(broker: Broker) -> None:
    if broker.running:
        takeover.fault(broker)
        cluster.down(broker, Kind.Crashed)


def do_crash_owner(lab: Cluster, step: ScriptStep[o.CrashOwner]) -> bool:
    """Kill the broker that took over another."""
    owner = lab.brokers[step.action.of].taken_over_by
    if owner is not None:
        _kill(owner)
    return owner is not None


def do_stop(lab: Cluster, step: ScriptStep[a.Stop | o.Shutdown]) -> Outcome:
    """Stop a broker in an orderly way: its clients lose it at once, its process ends later."""
    broker = lab.brokers[step.action.broker]
    if not broker.serves:
        return False
    alone = isinstance(step.action, o.Shutdown) and step.action.no_failover
    takeover.fault(broker, orderly=True, failover=not alone)
    cluster.down(broker, Kind.Stopped)
    return RunningStep(None, None, STOP_MS)


def do_pause(lab: Cluster, step: ScriptStep[a.Pause]) -> None:
    """Let a consumer take nothing more, or freeze a broker: in a conventional cluster unnoticed."""
    if step.client:
        lab.consumers[step.client].allowance = 0
    elif lab.brokers[step.action.who].running:
        broker = lab.brokers[step.action.who]
        if broker.suspended:
            lab.tell("the broker was paused already")
        broker.suspended = True
        takeover.fault(broker)
        broker.ended = lab.notes.add(Kind.Suspended, broker=broker.node)
        for consumer in lab.consumers.values():
            if consumer.home is broker and "imqPingAckTimeout" in consumer.step.options:
                lab.later(GIVES_UP, reconnection.on_no_answer, consumer)


def on_let_go(consumer: Consumer) -> None:
    """A consumer takes all it can from now on."""
    consumer.allowance, consumer.let_go = None, False


def do_resume(lab: Cluster, step: ScriptStep[a.Resume]) -> None:
    """Let a consumer take all it can, or a frozen broker go on: it ends if it was taken over."""
    if step.client:
        consumer = lab.consumers[step.client]
        consumer.had = len(consumer.received)
        after = lab.plan[lab.plan.index(step) + 1 :][:1] if lab.recorded else []
        called = next((one.action for one in after if one.client == step.client), None)
        if called is None:
            on_let_go(consumer)
        elif not isinstance(called, (a.Pause, a.Receive, o.Receive, a.Close)):  # Recordings rule 6.3
            consumer.let_go = True
            lab.later(LOOKS, on_let_go, consumer)
    elif lab.brokers[step.action.who].suspended:
        broker = lab.brokers[step.action.who]
        broker.suspended = False
        lab.looked_at.discard(broker)
        row = lab.notes.add(Kind.Resumed, broker=broker.node)
        for consumer in list(lab.consumers.values()):
            if consumer.gone and consumer.home is broker:
                reconnection.lose(consumer, row)
                consumer.gone = False
            elif consumer.home is broker:
                delivery.go_on(consumer)
        delivery.release_held(lab)  # what comes only now finds such a consumer gone (6.5.0)
        for pair in [pair for pair in lab.unlinked if broker.name in pair]:
            other = lab.brokers[next(name for name in pair if name != broker.name)]
            if broker.name == min(pair, key=list(lab.brokers).index) or other.ended < broker.ended:
                # The later of two brokers calls the other: it is answered now. So does one that was frozen
                # while it looked for the other, whose end it knew: its next attempt is overdue.
                cluster.on_retry((lab, pair))
            else:  # who asks all brokers waits for it, beyond the end of the script too
                lab.pause(RETRY_MS * 1000, lab.on_due, (cluster.on_retry, (lab, pair)))
        if broker.taken_over_by:
            cluster.down(broker, Kind.Crashed)
        reconnection.let_on(broker)
    else:
        lab.tell("the broker was not paused")


def _line(lab: Cluster, action: f.Cut | f.Heal, kind: int) -> frozenset[str]:
    one, other = (lab.brokers[str(name)] for name in (action.one, action.other))
    lab.notes.add(kind, frm=one.node, to=other.node)
    return frozenset((one.name, other.name))


def do_cut(lab: Cluster, step: ScriptStep[f.Cut]) -> None:
    """Cut the network silently: what is under way waits for the healing.

    Only enhanced brokers notice: they miss the heartbeats.
    """
    line = _line(lab, step.action, Kind.Partitioned)
    if line in lab.cuts and line not in lab.healing:
        lab.tell("the link was cut already")
    lab.cuts.add(line)
    lab.healing.discard(line)
    for name in (step.action.one, str(step.action.other)):
        takeover.fault(lab.brokers[name])


def do_heal(lab: Cluster, step: ScriptStep[f.Heal]) -> None:
    """Make the network between two brokers whole again: what was under way arrives when it is sent again."""
    line = _line(lab, step.action, Kind.Healed)
    if line not in lab.cuts or line in lab.healing:
        lab.tell("the link was not cut")
    lab.healing.add(line)
    since = lab.lost.pop(line, None)  # its packets go on being sent again, ever more rarely (OpenMQ rule 8.14)
    if since is None:
        on_whole((lab, line))
    else:
        lab.later(_until_sent_again(lab.clock.now - since), on_whole, (lab, line))


def _until_sent_again(us: int) -> int:
    """Return when what was first sent so long ago is sent again: TCP doubles its pause behind the probe."""
    pause = sent = RETRANSMISSION
    while sent < us:
        sent += pause
        pause = min(2 * pause, LONGEST_PAUSE)
    return sent - us


def on_whole(what: tuple[Cluster, frozenset[str]]) -> None:
    """What was under way in a line that is whole again arrives, unless that was cut once more."""
    lab, line = what
    if line in lab.healing:
        lab.healing.discard(line)
        lab.cuts.discard(line)
        one, other = (lab.brokers[name] for name in line)
        one.unnoticed.discard(other)
        other.unnoticed.discard(one)
        for _, broker, place in [news for news in lab.news if news[0] == line]:
            changes.hear(broker, place)
        lab.news = [news for news in lab.news if news[0] != line]
        for consumer in lab.consumers.values() if one.linked(other) else ():
            if consumer.home in (one, other):
                hears = consumer.unheard_by & ({one, other} - {consumer.home})
                consumer.unheard_by -= hears
                for home in hears if consumer.closed else ():
                    acknowledgement.hear_of_end(consumer, home)
                for home in (one, other) if consumer.closed and consumer.ends_destination else ():
                    home.drop(consumer.dest)
        for consumer in lab.consumers.values():
            if consumer.home in (one, other) and not consumer.home.running and consumer.unacknowledged:
                acknowledgement.hear_of_end(consumer, other if consumer.home is one else one)
        if one.linked(other):
            cluster.tell_each_other(one, other)
        if line in lab.unlinked:
            lab.later(RETRY_MS * 1000, cluster.on_retry, (lab, line))
        delivery.release_held(lab)


def do_database(lab: Cluster, step: ScriptStep[f.DatabaseDown | f.DatabaseUp]) -> None:
    """Stop or start the database of the record, or of the shared store."""
    starts = isinstance(step.action, f.DatabaseUp)
    if lab.network.model not in WITH_DATABASE:
        lab.tell(
            f"no broker uses a database: the model is {lab.network.model}, and not {' or '.join(WITH_DATABASE)}"
        )
    elif lab.database_up == starts:
        lab.tell(f"the database was {'up' if starts else 'down'} already")
    lab.database_up = starts
    for broker in lab.brokers.values():
        broker.lost_database |= not lab.database_up and lab.network.model == "peer"
        broker.hangs &= not lab.database_up  # its next retry comes through
    delivery.release_held(lab)
