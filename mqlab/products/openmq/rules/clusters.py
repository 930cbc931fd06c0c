"""What brokers accept in a cluster's configuration and do harm with, each with the product's reason.

Sources: Administration Guide, chapter 10; OpenMQ rules 6, 7 and 9.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mqlab.checks.early import early, early_rule
from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, no_effect, not_played, rule
from mqlab.files.treatment import once
from mqlab.products.openmq.files import lab_file, properties, treatment
from mqlab.products.openmq.network.faults import RETRY_MS
from mqlab.spec.action import Action, Restart, Start
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import bare
from mqlab.spec.openmq import LINKED_ALIKE, OpenMQNetwork, delivery_policy
from mqlab.spec.openmq.actions import CrashAndRestart, StartBroker, StartBrokers
from mqlab.spec.openmq.words import options_of
from mqlab.spec.scenario import Scenario

_STARTS = (Start, StartBrokers, StartBroker, Restart)
QUEUES = "imq.autocreate.queue."
MASTER = {"model": "master", "master": "b1"}


def _read(cluster: dict[str, str], brokers: dict[str, dict[str, str]], *steps: JsonDict) -> Scenario:
    members = [{"name": name, **({"options": own} if own else {})} for name, own in brokers.items()]
    body = {"product": "openmq", "cluster": cluster, "brokers": members, "steps": [*steps, {"do": "settle"}]}
    return lab_file.read(body, "shown")


def start(*brokers: str) -> list[dict[str, object]]:
    """Return steps that start brokers one by one."""
    return [{"do": "start_broker", "broker": broker} for broker in brokers]


READS = {"do": "open_consumer", "consumer": "C", "broker": "b2", "queue": "Q"}
SENDS = (
    {"do": "open_producer", "producer": "P", "broker": "b1", "queue": "Q"},
    {"do": "send", "producer": "P", "count": 5},
)


def linked(**second: str) -> Scenario:
    """Return a broker that sends five messages, and a second one with options, where they are read."""
    return _read(MASTER, {"b1": {}, "b2": second}, {"do": "start"}, READS, *SENDS)


def begun(*steps: JsonDict) -> Scenario:
    """Return two brokers that start as told, before five messages are sent at the first."""
    return _read(MASTER, {"b1": {}, "b2": {}}, *steps, *SENDS)


def missed(cluster: dict[str, str]) -> Scenario:
    """Return a broker that is away while a durable subscription is made, and is asked for it later."""
    durable = {"do": "open_consumer", "topic": "T", "durable": True}
    return _read(
        cluster,
        {"b1": {}, "b2": {}, "b3": {}},
        {"do": "start"},
        {"do": "kill", "broker": "b3"},
        {**durable, "consumer": "S", "broker": "b2"},
        {"do": "close_consumer", "consumer": "S"},
        *start("b3"),
        {"do": "settle"},
        {"do": "kill", "broker": "b2"},
        {"do": "send", "broker": "b3", "topic": "T", "count": 5},
        {**durable, "consumer": "S2", "broker": "b3", "client_id": "S", "subscription_name": "S"},
    )


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the rules look at: a cluster, its own file under "cluster", and that of each broker by its name."""

    network: OpenMQNetwork
    files: dict[str, properties.Found]
    actions: tuple[Action, ...] = ()

    @staticmethod
    def of(scenario: Scenario) -> Cluster:
        """Return a cluster beside the files that it was read from."""
        found = properties.sources(origin.files) if (origin := scenario.network.origin) else []
        files = {one.broker or "cluster": one for one in found}
        return Cluster(scenario.network, files, scenario.actions)

    def text(self, name: str, key: str, default: object) -> str:
        """Return a property of a broker as it is compared."""
        return str(self.network.option(name, key, default)).strip("${}").lower()

    def element(self, where: str, key: str, *names: str) -> Element:
        """Return brokers at a property: in the file of the first that has it, else where the first begins."""
        there = [self.files[name] for name in (*names, "cluster") if name in self.files]
        for one in there:
            if key in one.entries:
                return Element(where, one.file.name, one.entries[key].line)
        return Element(where, there[0].file.name, 1) if there else Element(where)

    def whole(self) -> Element:
        """Return the cluster, where its file says the first of it."""
        own = self.files.get("cluster")
        if own is None:
            return Element("cluster")
        lines = (entry.line for entry in own.entries.values())
        return Element("cluster", own.file.name, min(lines, default=1))


@rule(
    "must-match",
    "error",
    finds="properties that must match but differ: brokers do not link",
    what="{key} is {said!r} and {own!r}: {harm}",
    fix="give both the same {key}",
    source="Administration Guide, chapter 10; OpenMQ rules 6.7, 6.9, 7.4 and 9.16",
    example=lambda: Example(linked(**{"imq.cluster.clusterid": "other"}), linked()),
)
def _must_match(cluster: Cluster) -> Found:
    network = cluster.network
    first = network.names[0]
    alike = {**LINKED_ALIKE, "imq.cluster.clusterid": ""}
    if network.model == "master":
        alike["imq.cluster.masterbroker"] = network.master or ""
    for key, default in alike.items():
        said = cluster.text(first, key, default)
        harm = "the brokers refuse to connect, and no messages are exchanged"
        if network.model == "enhanced" and key == "imq.cluster.clusterid":
            harm = "they form two separate clusters in the same database"
        for name in network.names[1:]:
            own = cluster.text(name, key, default)
            if own != said:
                both = cluster.element(f"brokers {first} and {name}", key, name, first)
                yield both, {"key": key, "said": said, "own": own, "harm": harm}


@rule(
    "delivery-policy",
    "error",
    finds="numbers of consumers by which brokers deliver differently: they do not link",
    what="auto-created queues are {said!r} at one and {own!r} at the other, by {key} and {more}: "
    "the brokers refuse to connect, and no messages are exchanged",
    fix="give both the same {key} and {more}",
    source="OpenMQ rule 6.9 (B3098 of 6.5.0)",
    example=lambda: Example(linked(**{f"{QUEUES}maxNumActiveConsumers": "1"}), linked()),
)
def _delivery_policy(cluster: Cluster) -> Found:
    active, backup = f"{QUEUES}maxNumActiveConsumers", f"{QUEUES}maxNumBackupConsumers"
    first, *others = cluster.network.names
    said = delivery_policy(partial(cluster.text, first))
    for name in others:
        own = delivery_policy(partial(cluster.text, name))
        if own != said:
            both = cluster.element(f"brokers {first} and {name}", active, name, first)
            yield both, {"key": active, "more": backup, "said": said, "own": own}


@rule(
    "broker-id",
    "error",
    finds="two brokers with one imq.brokerid",
    what="it has the imq.brokerid {id!r} of {other}: the second one to start exits immediately (status 1)",
    fix="give each broker its own imq.brokerid",
    source="OpenMQ rule 9.16",
    unshown="the broker does not start",
)
def _broker_id(cluster: Cluster) -> Found:
    key, seen = "imq.brokerid", dict[str, str]()
    starts = (one for one in map(bare, cluster.actions) if isinstance(one, (StartBroker, CrashAndRestart)))
    given_later = ((one.broker, options_of(one)) for one in starts)
    later = {name: options[key] for name, options in given_later if key in options}
    for name in cluster.network.names:
        given = later.get(name, cluster.network.option(name, key))
        if given is None:
            continue
        other = seen.setdefault(str(given), name)
        if other != name:
            yield cluster.element(f"broker {name}", key, name), {"id": given, "other": other}


@rule(
    "ignored",
    "warning",
    finds="properties that an enhanced cluster ignores",
    what="{key} is ignored with a warning: brokers of an enhanced cluster find each other in their "
    "store, and there is no master broker",
    fix="remove {key}",
    source="OpenMQ rule 9.16",
    unshown="no effect: the option is ignored",
)
def _ignored(cluster: Cluster) -> Found:
    network = cluster.network
    for key in ("imq.cluster.brokerlist", "imq.cluster.masterbroker"):
        given = [name for name in network.names if network.option(name, key) is not None]
        if given and network.model == "enhanced":
            yield cluster.element(f"broker {', '.join(given)}", key, *given), {"key": key}


@rule(
    "master-first",
    "warning",
    finds="a broker that starts before its master broker",
    what="it starts before its master broker {master} and rejects clients (C4090) until the master "
    "broker is up",
    fix="start the master broker first",
    source="Technical Overview 4, Conventional Clusters",
    example=lambda: Example(begun(*start("b2"), READS, *start("b1")), begun(*start("b1", "b2"), READS)),
)
def _master_first(cluster: Cluster) -> Found:
    network = cluster.network
    starts = (one for one in map(bare, cluster.actions) if isinstance(one, _STARTS))
    first = next(starts, None)
    if first is None or isinstance(first, Start) or network.model != "master":
        return  # a start of all begins with the master
    name = first.brokers[0] if isinstance(first, StartBrokers) else first.broker
    if name != network.master:
        yield Element(f"broker {name}"), {"master": network.master}


@rule(
    "no-record",
    "warning",
    finds="a cluster without a master broker or a shared record",
    what="without a master broker or a shared record a broker that was offline "
    "still has destroyed destinations and misses new ones",
    fix="name a master broker (imq.cluster.masterbroker)",
    source="OpenMQ rule 6.10",
    example=lambda: Example(missed({"model": "none"}), missed(MASTER)),
)
def _no_record(cluster: Cluster) -> Found:
    if cluster.network.model == "none":
        yield cluster.whole(), {}


@early_rule("early-openmq")
def _early(cluster: Cluster) -> Found:
    yield from early(cluster.actions, RETRY_MS)


@rule(
    "no-jms-service",
    "error",
    finds="a broker that starts no JMS service",
    what="imq.service.activelist is {services!r}, without jms: a real client cannot connect; in mqlab it can",
    fix="add jms",
    source="Administration Guide, chapter 6",
    unshown="mqlab's clients connect all the same",
)
def _no_jms_service(cluster: Cluster) -> Found:
    key = "imq.service.activelist"
    for name in cluster.network.names:
        services = str(cluster.network.option(name, key, "jms,admin"))
        if not {"jms", "ssljms", "httpjms", "httpsjms"} & {one.strip() for one in services.split(",")}:
            yield cluster.element(f"broker {name}", key, name), {"services": services}


@no_effect("no-effect-openmq", source="Administration Guide, chapters 16 and 18")
def _no_effect(cluster: Cluster) -> Found:
    for where, idle in treatment.idle_options(cluster.network, cluster.actions):
        place = f"broker {where}" if where in cluster.network.names else where
        yield cluster.element(place, idle.guide, where), {"idle": idle}


@not_played(
    "property-not-played",
    finds="what stands in a property file and is not played",
    source="Administration Guide, chapter 16",
)
def _not_played(cluster: Cluster) -> Found:
    for name, file in cluster.files.items():
        where = "cluster" if file.broker is None else f"broker {name}"
        for line, facts in once(treatment.told(file)):
            yield Element(where, file.file.name, line), facts


@rule(
    "store-not-shared",
    "error",
    finds="a broker of an enhanced cluster whose store is not jdbc",
    what="imq.persist.store is {store!r}: an enhanced cluster has one JDBC store for all its brokers",
    fix="set imq.persist.store=jdbc for every broker",
    source="Technical Overview 4, Enhanced Clusters",
    unshown="mqlab shares the store of an enhanced cluster, whatever the file says",
)
def _store_not_shared(cluster: Cluster) -> Found:
    key = "imq.persist.store"
    for name, file in cluster.files.items() if cluster.network.model == "enhanced" else ():
        store = file.text(key, "jdbc")
        if store != "jdbc":
            where = "cluster" if file.broker is None else f"broker {name}"
            yield Element(where, file.file.name, file.entries[key].line), {"store": store}
