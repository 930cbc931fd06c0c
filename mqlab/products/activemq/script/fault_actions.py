"""What happens around brokers: to lines, disks, locks, files, listeners, connectors; and looking at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.completion import Completion
from mqlab.products.activemq.broker import snapshot
from mqlab.products.activemq.broker.queue import Queue
from mqlab.products.activemq.client.addresses import failover_options, shuffle, split
from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector
from mqlab.products.activemq.transport.multicast import group_of
from mqlab.products.activemq.transport.sockets import NetworkPath
from mqlab.spec import faults as f
from mqlab.spec.action import Snapshot, StartConnector, StopConnector, Wait
from mqlab.spec.clients import SampleOrders
from mqlab.spec.network_names import DATABASE
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.script.runner import ScriptRunner


def cut(runner: ScriptRunner, action: f.Cut) -> None:
    """Break a line."""
    lines = [line for line in runner.lines(action.one, action.other) if isinstance(line, NetworkPath)]
    if lines and all(line.state == action.how for line in lines):
        runner.lab.tell("the link was cut already")
    _break(runner, action.one, action.other, action.how)


def database_down(runner: ScriptRunner, action: f.DatabaseDown) -> None:
    """The database cannot be reached."""
    if runner.lab.database.line.state == action.how:
        runner.lab.tell("the database was down already")
    _break(runner, DATABASE, None, action.how)


def _break(runner: ScriptRunner, one: str, other: str | None, how: str) -> None:
    told = _which(one, other) | {"how": how}
    row = runner.lab.record(Kind.Partitioned, rule=Reason.asked, detail=told)
    for line in runner.lines(one, other):
        line.cut(how, row)


def _which(one: str, other: str | None) -> dict[str, object]:
    """Return which line is meant, for the trace: between two, or all of one."""
    return {"line": one} if other is None else {"between": f"{one} and {other}"}


def heal(runner: ScriptRunner, action: f.Heal) -> None:
    """A line is whole again."""
    lines = [line for line in runner.lines(action.one, action.other) if isinstance(line, NetworkPath)]
    if lines and all(line.state == "open" for line in lines):
        told = "the link was not cut"
        for ends, line in runner.lab.directory.between.items() if action.other is None else ():
            if action.one in ends and line.state != "open":  # that of two alone, which this does not mend
                told += f"; that between {' and '.join(sorted(ends))} is: use mq.Heal{tuple(sorted(ends))}"
        runner.lab.tell(told)
        return
    _mend(runner, action.one, action.other)


def database_up(runner: ScriptRunner, action: f.DatabaseUp) -> None:
    """The database can be reached again."""
    if runner.lab.database.line.state == "open":
        runner.lab.tell("the database was up already")
        return
    _mend(runner, DATABASE, None)


def _mend(runner: ScriptRunner, one: str, other: str | None) -> None:
    runner.lab.record(Kind.Healed, rule=Reason.asked, detail=_which(one, other))
    for line in runner.lines(one, other):
        line.heal()
    for client in runner.lab.clients():
        client.find_broker()


def _intervene(runner: ScriptRunner, what: str) -> int:
    """Record that somebody changes what brokers and clients rely on; *what*, as a sentence."""
    return runner.lab.record(Kind.Intervened, rule=Reason.asked, detail={"what": what})


def slow_disk(runner: ScriptRunner, action: f.SlowDisk) -> None:
    """A disk takes so many times as long."""
    usual = "is as fast as usual" if action.factor == 1 else f"takes {action.factor:g} times as long"
    if runner.lab.disks.get(action.of, 1) == action.factor:
        runner.lab.tell("its disk was as fast already")
    _intervene(runner, f"the disk of {action.of} {usual}")
    runner.lab.disks[action.of] = action.factor


def delete_lock(runner: ScriptRunner, action: f.DeleteLock) -> None:
    """Somebody deletes the lock."""
    _intervene(runner, f"the lock file of {action.shared_store} was deleted")
    lock = runner.lab.lock_files[action.shared_store]
    if lock.written_by is None:
        runner.lab.tell("there was no lock file")
    lock.delete()


def touch_lock(runner: ScriptRunner, action: f.TouchLock) -> None:
    """Somebody writes into the lock."""
    _intervene(runner, f"the lock file of {action.shared_store} was overwritten")
    runner.lab.lock_files[action.shared_store].touch()


def copy_store(runner: ScriptRunner, action: f.CopyStore) -> None:
    """Copy the data directory of a broker over that of another, which loses what it had."""
    _intervene(runner, f"the store of {action.source} was copied over that of {action.target}")
    source, broker = (runner.lab.brokers[name] for name in (action.source, action.target))
    target = broker.store
    if told := _why_not_copied(runner.lab, source, broker):
        runner.lab.tell(told)
    for message in [m for kept in target.destinations.values() for m in kept]:
        broker.record_message(Kind.Discarded, message, rule=Reason.store_deleted, cause=message.row)
    target.destinations = {d: list(kept) for d, kept in source.store.destinations.items()}
    for message in [m for kept in target.destinations.values() for m in kept]:
        target.holders[message] = broker.node
        broker.record_message(Kind.TakenOver, message, to=broker.node, cause=message.row)


def _why_not_copied(lab: Lab, source: Broker, target: Broker) -> str:
    """Return why the copy of a store is nothing that an administrator could rely on; empty if it is."""
    if source.store is target.store:
        return f"{source.name} and {target.name} use one store"
    for broker in (source, target):
        if not broker.store.persistent:
            return f"{broker.name} keeps its messages in memory, and has no files to copy"
        if lab.processes[broker.name].alive:
            return f"{broker.name} was running, and files in use cannot be copied reliably; stop it before"
    return ""


def write_file(runner: ScriptRunner, action: f.WriteFile) -> None:
    """Somebody writes a file of addresses."""
    _intervene(runner, f"the file {action.name} was written: {action.text or 'it is empty'}")
    runner.lab.files[action.name] = action.text


def set_endpoint(runner: ScriptRunner, action: f.SetEndpoint) -> None:
    """A listener does something else from now on."""
    if runner.lab.directory.modes[action.endpoint] == action.mode:
        runner.lab.tell("it had that mode already")
    _intervene(runner, f"the listener {action.endpoint} changed its mode to {action.mode}")
    runner.lab.directory.modes[action.endpoint] = action.mode


def advertise(runner: ScriptRunner, action: f.Advertise) -> None:
    """A listener is announced."""
    _intervene(runner, f"{action.endpoint} is announced by multicast")
    address = runner.lab.directory.address_of(action.endpoint)
    runner.lab.lan.advertise(address, action.uri, None)


def stop_advertising(runner: ScriptRunner, action: f.StopAdvertising) -> None:
    """It is announced no more."""
    _intervene(runner, f"{action.endpoint} is no longer announced by multicast")
    runner.lab.lan.withdraw(runner.lab.directory.address_of(action.endpoint))


def sniff(runner: ScriptRunner, action: f.Sniff) -> None:
    """The datagrams of a group are written down."""
    runner.lab.lan.sniffed.add(group_of(action.uri))


def send_away(runner: ScriptRunner, action: f.SendAway) -> None:
    """A broker sends its clients to another."""
    _intervene(runner, f"{action.broker} was ordered to send its clients to {action.to}")
    to, process = runner.lab.directory.address_of(action.to), runner.lab.processes[action.broker]
    if not process.open:
        runner.lab.tell("the broker had opened no port, so it had no clients")
    elif action.to == action.broker:
        runner.lab.tell("it is sent to itself: its clients connect again to the same broker")
    process.cluster.send_away(to)


def start_connector(runner: ScriptRunner, action: StartConnector) -> None:
    """A connector starts, or all of a broker; of one that runs nothing is asked."""
    for connector in _connectors(runner, action):
        if connector.runs:
            runner.lab.tell("the connector was running already")
            continue
        if not connector.process.open:
            runner.lab.tell(f"its broker {connector.process.name} was not running")
        connector.start()


def stop_connector(runner: ScriptRunner, action: StopConnector) -> None:
    """A connector stops, or all of a broker."""
    for connector in _connectors(runner, action):
        if not connector.runs:
            runner.lab.tell("the connector was not running")
        connector.stop()


def _connectors(
    runner: ScriptRunner, action: StartConnector | StopConnector
) -> list[DiscoveryNetworkConnector]:
    found = (w for w in runner.lab.connectors if action.connector in (None, w.spec.name))
    return [w for w in found if action.of in (None, w.process.name)]


def wait(runner: ScriptRunner, action: Wait) -> Completion:
    """Let time pass."""
    return Completion(deadline=runner.lab.clock.now + duration(action.time))


def take_snapshot(runner: ScriptRunner, action: Snapshot) -> None:
    """Note the state of everything."""
    lab = runner.lab
    if lab.by_calls:
        moving = {"moving": True} if action.moving else {}
        lab.snapshots[action.label] = snapshot.take_timed(lab) | moving
        return
    lab.snapshots[action.label] = snapshot.take(lab)
    for broker in lab.brokers.values() if lab.rules.look_pages_in else ():
        # Their messages were read from the store for it. What had expired goes to a queue that may be new.
        for destination in [*broker.by_name.values()]:
            if isinstance(destination, Queue) and destination.not_paged_in:
                destination.page_in()


def sample_orders(runner: ScriptRunner, action: SampleOrders) -> None:
    """Draw the order of addresses so many times."""
    lab, found = runner.lab, split(action.uri)
    options = failover_options(found.options, lab.edition)
    names = [lab.directory.shown_configured(address) for address in found.elements]
    orders: dict[str, int] = {}
    for _ in range(action.count):
        drawn = " ".join(shuffle(names, lab.random) if options.randomize else names)
        orders[drawn] = orders.get(drawn, 0) + 1
    lab.snapshots[action.label] = {"orders": dict(sorted(orders.items()))}
