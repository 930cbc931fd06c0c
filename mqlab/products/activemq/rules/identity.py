"""Brokers of ActiveMQ that are not told from one another by their files, or from themselves after a restart."""

from __future__ import annotations

from mqlab.checks.rule import Found, rule
from mqlab.products.activemq.rules.context import BrokerFile, files

OF_ITS_OWN = "in mqlab every broker always has a unique name and ID"


@rule(
    "no-broker-name",
    "warning",
    finds="a broker called localhost among others",
    what="without brokerName it is called localhost, like every other broker without one",
    fix='set brokerName="..."',
    source="Fuse 2, Example 2.1",
    unshown=OF_ITS_OWN,
    of=(files,),
)
def _no_broker_name(file: BrokerFile) -> Found:
    if file.has_others and "brokerName" not in file.broker.element.attributes:
        yield file.at(file.broker.element), {}


@rule(
    "same-broker-name",
    "error",
    finds="two brokers of one name that share no store",
    what="the brokerName {name!r} is also used by {others}: a second bridge to a broker of the same name "
    "is refused",
    fix="give each broker a name of its own",
    source="ActiveMQ rule 26.2",
    unshown=OF_ITS_OWN,
    of=(files,),
)
def _same_broker_name(file: BrokerFile) -> Found:
    context, name = file.context, file.broker.name
    alike = [n for n, b in context.found.items() if b.name == name and n != file.name]
    if not alike or "brokerName" not in file.broker.element.attributes:
        return
    sets = {m.name: m.locker.store for m in context.members if m.locker}
    own = sets.get(file.name)
    apart = [n for n in alike if sets.get(n) is None or sets.get(n) != own]
    if apart:
        yield file.at(file.broker.element), {"others": ", ".join(apart), "name": name}


@rule(
    "no-broker-id",
    "warning",
    finds="no fixed broker ID: after a restart messages may return to a broker they have visited",
    what="without a fixed brokerId it gets a new one at each restart: messages that already visited it may "
    "return and loop",
    fix='set brokerId="..."',
    source="JBoss A-MQ 3, Broker ID",
    unshown=OF_ITS_OWN,
    of=(files,),
)
def _no_broker_id(file: BrokerFile) -> Found:
    joined = any(broker.connectors for broker in file.context.found.values())
    if joined and file.has_others and "brokerId" not in file.broker.element.attributes:
        yield file.at(file.broker.element), {}


@rule(
    "same-broker-id",
    "error",
    finds="two brokers of one id",
    what="another broker has the same brokerId {own!r}: each mistakes the other for itself and drops the "
    "connection permanently",
    fix="give each broker its own",
    source="ActiveMQ rule 26.2",
    unshown=OF_ITS_OWN,
    of=(files,),
)
def _same_broker_id(file: BrokerFile) -> Found:
    ids = [b.element.attributes.get("brokerId") for b in file.context.found.values()]
    own = file.broker.element.attributes.get("brokerId")
    if own is not None and ids.count(own) > 1:
        yield file.at(file.broker.element), {"own": own}
