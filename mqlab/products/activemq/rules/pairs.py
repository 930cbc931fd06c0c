"""Masters without slaves, slaves without masters, and connectors to brokers that are neither.

Sources: Fuse 4, Master/slave; the rule as observed that is named in each.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules import examples_in_time as ex
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.products.activemq.rules.failover import Member, SetLink, members, set_links, targets
from mqlab.products.activemq.rules.option_conflicts import Home, brokers
from mqlab.spec.member import BrokerSettings
from mqlab.spec.rows import OPTIONS


@rule(
    "masterslave-apart",
    "warning",
    finds="masterslave: towards brokers that share nothing",
    what="{names} share no store, and none is a slave of another: they are independent brokers, and the "
    "connector leads to one of them at a time",
    fix="give them one shared_store, or a connector each",
    source="ActiveMQ rule 12.3",
    example=lambda: Example(ex.towards(), ex.towards(shared_store="store")),
    of=(set_links,),
)
def _masterslave_apart(of: SetLink) -> Found:
    link, set_of = of
    names = targets(link.connector.uri, set_of) if link.connector.uri.startswith("masterslave:") else []
    sets = [set_of[name] for name in names]
    if len(names) > 1 and not any(one is not None and sets.count(one) > 1 for one in sets):
        yield link.element, {"names": " and ".join(names)}


@rule(
    "masterslave-one",
    "error",
    finds="masterslave: with fewer than two addresses",
    what="masterslave: has one address, and needs two or more: the broker does not start",
    fix="list the master and its slaves, or use static:(...)",
    source="ActiveMQ rule 12.3",
    unshown="the broker does not start",
    of=(set_links,),
)
def _masterslave_one(of: SetLink) -> Found:
    link, _ = of
    address = link.connector.address
    if address is not None and address.scheme == "masterslave" and len(address.leaves()) == 1:
        yield link.element, {}


@rule(
    "store-alone",
    "warning",
    finds="a shared store of a single broker beside stores that are shared",
    what="no other broker has shared_store={store!r}: it has no slave, while {others} share theirs",
    fix="give its slave the same shared_store, or remove it",
    source="Fuse 4, Shared file system master/slave",
    example=lambda: Example(ex.two_ends(ex.one_alone("other")), ex.two_ends(ex.one_alone("store"))),
)
def _store_alone(context: CheckContext) -> Found:
    stores = {
        b.name: str(b.options["shared_store"]) for b in context.network.brokers if b.options.get("shared_store")
    }
    sharing = [name for name, store in stores.items() if [*stores.values()].count(store) > 1]
    for name, store in stores.items():
        if sharing and name not in sharing:
            yield context.broker(name), {"store": store, "others": " and ".join(sharing)}


@rule(
    "store-emptied",
    "error",
    finds="deleteAllMessagesOnStartup at a store that brokers share",
    what="deleteAllMessagesOnStartup, and {other} has the same store: who takes over deletes all its messages",
    fix="remove deleteAllMessagesOnStartup",
    source="Fuse 4, Shared file system master/slave",
    example=lambda: Example(ex.kept(delete_all_messages_on_startup=True), ex.kept()),
)
def _store_emptied(context: CheckContext) -> Found:
    for element, member, other in _sharing(context):
        if context.network.broker(member.name).options.get("delete_all_messages_on_startup"):
            yield element, {"other": other.name}


@rule(
    "stores-differ",
    "error",
    finds="brokers that share a store and keep their messages in different ways",
    what="{other.name} keeps the messages of this store in {other.store}, and this broker in {member.store}: "
    "neither has those of the other",
    fix="give both the same store",
    source="Fuse 4, Master/slave",
    unshown="mqlab shares what has one name",
)
def _stores_differ(context: CheckContext) -> Found:
    for element, member, other in _sharing(context):
        if member.store != other.store and "memory" not in (member.store, other.store):
            yield element, {"member": member, "other": other}


def _sharing(context: CheckContext) -> Iterator[tuple[Element, BrokerSettings, BrokerSettings]]:
    """Yield each broker of a set that shares a store, beside another one of it."""
    stores = {member.name: member.locker.store for member in context.members if member.locker}
    for element, member in members(context):
        for other in context.members:
            if other is not member and stores.get(member.name, "") == stores.get(other.name):
                yield element, member, other
                break


@rule(
    "lock-database",
    "warning",
    finds="a locker that needs a database, beside a store that has none",
    what="locker {kind!r} locks a row of a database, and the store {store} has none: a real broker starts only "
    "if its locker has a dataSource",
    fix="set store to jdbc, or write a dataSource at the locker in activemq.xml",
    source="ActiveMQ, pluggable storage lockers",
    unshown="mqlab has a database for each lock",
    of=(members,),
)
def _lock_database(of: Member) -> Found:
    element, settings = of
    if settings.locker and settings.locker.kind != "file" and settings.store != "jdbc" and not element.file:
        yield element, {"kind": settings.locker.kind, "store": settings.store}


PURE = ("pure_slave_of", "wait_for_slave", "shutdown_on_slave_failure", "shutdown_on_master_failure")


@rule(
    "pure-removed",
    "error",
    finds="pure master/slave in an edition that no longer has it",
    what="{guide}: pure master/slave was removed after 5.5, so nothing is mirrored",
    fix="use edition='5.5', or a shared_store",
    source="ActiveMQ rule 7.24",
    unshown="no effect: the option is ignored",
    of=(brokers,),
)
def _pure_removed(of: Home) -> Found:
    context, broker = of
    given = next((name for name in PURE if broker.options.get(name)), None)
    element = context.broker(broker.name)
    if given and context.network.edition != "5.5" and not element.file:  # of files another rule says it
        yield element, {"guide": OPTIONS["broker"][given].guide}


@rule(
    "pure-split-brain",
    "warning",
    finds="a pure slave, which cannot tell a dead master from a cut link",
    what="a slave of {master}, which it cannot tell from a cut link: if only the link fails, or {master} "
    "restarts after its takeover, both serve (split brain)",
    fix="use a shared_store; before a restart of {master} stop {name} and copy its store",
    source="Fuse 4, Pure master/slave",
    example=lambda: Example(
        ex.restarts({"pure_slave_of": "A1"}, {}), ex.restarts(*2 * ({"shared_store": "store"},))
    ),
    of=(brokers,),
)
def _pure_split_brain(of: Home) -> Found:
    context, broker = of
    master, edition = broker.options.get("pure_slave_of"), context.network.edition
    alone = master == broker.name
    if edition == "5.5" and master and not alone and not broker.get("shutdown_on_master_failure", edition):
        yield context.broker(broker.name), {"master": master, "name": broker.name}


@rule(
    "pure-circle",
    "error",
    finds="a pure slave that is its own master, or its master's master",
    what="its masters lead back to it ({way}): who starts first finds no master, and serves",
    fix="remove pure_slave_of from one of them",
    source="ActiveMQ, failover and master/slave as observed (slave_without_master)",
    unshown="who starts first serves, as if it had no master",
)
def _pure_circle(context: CheckContext) -> Found:
    masters = {member.name: member.pure.slave_of for member in context.members}
    for element, member in members(context) if context.network.edition == "5.5" else ():
        way = [member.name]
        while (master := masters.get(way[-1])) and master not in way:
            way.append(master)
        if master == member.name:
            yield element, {"way": " -> ".join((*way, master))}


@rule(
    "no-slave",
    "error",
    finds="waitForSlave at a master without a slave",
    what="no broker is a slave of {name}: it accepts no clients, and stops after "
    "waitForSlaveTimeout ({wait} ms)",
    fix="give its slave pure_slave_of={name!r}, or remove wait_for_slave",
    source="Fuse 4, Pure master/slave",
    example=lambda: Example(ex.lone_master(wait_for_slave=True), ex.lone_master()),
)
def _no_slave(context: CheckContext) -> Found:
    masters = {member.pure.slave_of for member in context.members}
    if context.network.edition != "5.5" or (context.found and len(context.found) == 1):
        return  # of one file alone it is not known who else there is
    for element, member in members(context):
        if member.pure.wait_for_slave and member.name not in masters and not member.pure.slave_of:
            yield element, {"name": member.name, "wait": member.pure.wait_for_slave_timeout}
