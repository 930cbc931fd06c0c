"""What happens around brokers: to lines, disks, locks, files, listeners, connectors; and looking at it."""

from __future__ import annotations

from mqlab.engine.lab import Completion
from mqlab.products.activemq.broker import snapshot
from mqlab.products.activemq.client.addresses import failover_options, shuffle, split
from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector
from mqlab.products.activemq.script.steps import Stage
from mqlab.products.activemq.transport.multicast import group_of
from mqlab.spec import faults as f
from mqlab.spec.action import Snapshot, StartConnector, StopConnector, Wait
from mqlab.spec.clients import SampleOrders
from mqlab.spec.scenario import DATABASE
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason


def cut(stage: Stage, action: f.Cut) -> None:
    """Break a line."""
    _break(stage, action.one, action.other, action.how)


def database_down(stage: Stage, action: f.DatabaseDown) -> None:
    """The database cannot be reached."""
    _break(stage, DATABASE, None, action.how)


def _break(stage: Stage, one: str, other: str | None, how: str) -> None:
    told = _which(one, other) | {"how": how}
    row = stage.lab.record(Kind.Partitioned, rule=Reason.asked, detail=told)
    for line in stage.lines(one, other):
        line.cut(how, row)


def _which(one: str, other: str | None) -> dict[str, object]:
    """Return which line is meant, for the trace: between two, or all of one."""
    return {"line": one} if other is None else {"between": f"{one} and {other}"}


def heal(stage: Stage, action: f.Heal) -> None:
    """A line is whole again."""
    _mend(stage, action.one, action.other)


def database_up(stage: Stage, action: f.DatabaseUp) -> None:
    """The database can be reached again."""
    _mend(stage, DATABASE, None)


def _mend(stage: Stage, one: str, other: str | None) -> None:
    stage.lab.record(Kind.Healed, rule=Reason.asked, detail=_which(one, other))
    for line in stage.lines(one, other):
        line.heal()
    for client in stage.lab.clients():
        client.find_broker()


def _intervene(stage: Stage, what: str) -> int:
    """Record that somebody changes what brokers and clients rely on; *what*, as a sentence."""
    return stage.lab.record(Kind.Intervened, rule=Reason.asked, detail={"what": what})


def slow_disk(stage: Stage, action: f.SlowDisk) -> None:
    """A disk takes so many times as long."""
    usual = "is as fast as usual" if action.factor == 1 else f"takes {action.factor:g} times as long"
    _intervene(stage, f"the disk of {action.of} {usual}")
    stage.lab.disks[action.of] = action.factor


def delete_lock(stage: Stage, action: f.DeleteLock) -> None:
    """Somebody deletes the lock."""
    _intervene(stage, f"the lock file of {action.shared_store} was deleted")
    stage.lab.lock_files[action.shared_store].delete()


def touch_lock(stage: Stage, action: f.TouchLock) -> None:
    """Somebody writes into the lock."""
    _intervene(stage, f"the lock file of {action.shared_store} was overwritten")
    stage.lab.lock_files[action.shared_store].touch()


def copy_store(stage: Stage, action: f.CopyStore) -> None:
    """Copy the data directory of a broker over that of another, which loses what it had."""
    _intervene(stage, f"the store of {action.source} was copied over that of {action.target}")
    source, broker = (stage.lab.brokers[name] for name in (action.source, action.target))
    target = broker.store
    for message in [m for kept in target.destinations.values() for m in kept]:
        broker.record_message(Kind.Discarded, message, rule=Reason.store_deleted, cause=message.row)
    target.destinations = {d: list(kept) for d, kept in source.store.destinations.items()}
    for message in [m for kept in target.destinations.values() for m in kept]:
        target.holders[message] = broker.node
        broker.record_message(Kind.TakenOver, message, to=broker.node, cause=message.row)


def write_file(stage: Stage, action: f.WriteFile) -> None:
    """Somebody writes a file of addresses."""
    _intervene(stage, f"the file {action.name} was written: {action.text or 'it is empty'}")
    stage.lab.files[action.name] = action.text


def set_endpoint(stage: Stage, action: f.SetEndpoint) -> None:
    """A listener does something else from now on."""
    _intervene(stage, f"the listener {action.endpoint} changed its mode to {action.mode}")
    stage.lab.directory.modes[action.endpoint] = action.mode


def advertise(stage: Stage, action: f.Advertise) -> None:
    """A listener is announced."""
    _intervene(stage, f"{action.endpoint} is announced by multicast")
    address = stage.lab.directory.address_of(action.endpoint)
    stage.lab.lan.advertise(address, action.uri, None)


def stop_advertising(stage: Stage, action: f.StopAdvertising) -> None:
    """It is announced no more."""
    _intervene(stage, f"{action.endpoint} is no longer announced by multicast")
    stage.lab.lan.withdraw(stage.lab.directory.address_of(action.endpoint))


def sniff(stage: Stage, action: f.Sniff) -> None:
    """The datagrams of a group are written down."""
    stage.lab.lan.sniffed.add(group_of(action.uri))


def send_away(stage: Stage, action: f.SendAway) -> None:
    """A broker sends its clients to another."""
    _intervene(stage, f"{action.broker} was told to send its clients to {action.to}")
    to = stage.lab.directory.address_of(action.to)
    stage.lab.processes[action.broker].cluster.send_away(to)


def start_connector(stage: Stage, action: StartConnector) -> None:
    """A connector starts."""
    _connector(stage, action).start()


def stop_connector(stage: Stage, action: StopConnector) -> None:
    """A connector stops."""
    _connector(stage, action).stop()


def _connector(stage: Stage, action: StartConnector | StopConnector) -> DiscoveryNetworkConnector:
    found = (w for w in stage.lab.connectors if w.spec.name == action.connector)
    return next(w for w in found if action.of in (None, w.process.name))


def wait(stage: Stage, action: Wait) -> Completion:
    """Let time pass."""
    return Completion(deadline=stage.lab.clock.now + duration(action.time))


def take_snapshot(stage: Stage, action: Snapshot) -> None:
    """Note the state of everything."""
    lab = stage.lab
    if lab.by_calls:
        moving = {"moving": True} if action.moving else {}
        lab.snapshots[action.label] = snapshot.take_timed(lab) | moving
        return
    lab.snapshots[action.label] = snapshot.take(lab)
    for broker in lab.brokers.values() if lab.rules.look_pages_in else ():
        broker.looked_into()


def sample_orders(stage: Stage, action: SampleOrders) -> None:
    """Draw the order of addresses so many times."""
    lab, found = stage.lab, split(action.uri)
    options = failover_options(found.options, lab.edition)
    names = [lab.directory.shown_configured(address) for address in found.elements]
    orders: dict[str, int] = {}
    for _ in range(action.count):
        drawn = " ".join(shuffle(names, lab.random) if options.randomize else names)
        orders[drawn] = orders.get(drawn, 0) + 1
    lab.snapshots[action.label] = {"orders": dict(sorted(orders.items()))}
