"""Brokers of ActiveMQ that are not told from one another by their files, or from themselves after a restart."""

from __future__ import annotations

from mqlab.checks.rule import Found, rule
from mqlab.products.activemq.rules.context import BrokerFile, files

OF_ITS_OWN = "in the lab each broker has a name and an id of its own, for good"


@rule(
    "no-broker-name",
    "warning",
    finds="a broker called localhost among others",
    what="without a brokerName it is called localhost, as any other such broker is",
    fix='write brokerName="..."',
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
    what="{others} has the brokerName {name!r} too: of bridges to one broker, which are called by it, "
    "the second is refused",
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
    finds="no fixed broker id: what has been here may come again after a restart",
    what="without a brokerId it has a new one after each restart: messages that have been here may come "
    "here again, and go round",
    fix='write brokerId="..."',
    source="amq6 3, Broker ID",
    unshown=OF_ITS_OWN,
    of=(files,),
)
def _no_broker_id(file: BrokerFile) -> Found:
    if file.has_others and "brokerId" not in file.broker.element.attributes:
        yield file.at(file.broker.element), {}


@rule(
    "same-broker-id",
    "error",
    finds="two brokers of one id",
    what="another broker has the brokerId {own!r} too: each takes the other for itself, and a connection "
    "between them is dropped for good",
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
