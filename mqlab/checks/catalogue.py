"""The rules of `mqlab check` that are no functions yet: what each finds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mqlab.checks.example import Example
from mqlab.checks.rule import Rule

ACTIVEMQ = "ActiveMQ"

# Why no run of the lab shows what comes of a rule -> the rules.
UNSHOWN = {
    "the broker does not start": "port-twice bad-address no-agent later-option unknown-name removed no-value",
    "nothing comes of it: an option without effect": "replay-off policy-twice discovery-option",
    "nothing comes of it: the connector is dropped": "loopback",
    "it hangs on the order in which the broker reads them": "ttl-twice",
    "it hangs on which route is heard of first": "suppress-alone",
    "the lab finds a broker by its name, whatever the port": "port-closed",
    "in the lab each broker has a name and an id of its own, for good":
        "no-broker-name same-broker-name no-broker-id same-broker-id",
    "the bridge comes back all the same, recorded too": "failover-inside",
    "in the lab all messages arrive all the same": "set-static static-wildcard",
    "in the lab whether a store is used is no option of a broker": "store-unused",
}  # fmt: skip


def _reason(rule: str) -> str:
    return next((reason for reason, rules in UNSHOWN.items() if rule in rules.split()), "")


ROWS = {
    ACTIVEMQ: """
ttl-zero | a TTL of 0: nothing crosses | activemq/hops_and_ttl/chain3_ttl_zero
ttl-short | a consumer farther away than the TTL at its producer | activemq/hops_and_ttl/chain4_default_ttl
ttl-distance | a TTL below the distance of the farthest broker | activemq/hops_and_ttl/chain4_default_ttl
ttl-twice | networkTTL beside messageTTL or consumerTTL |
no-target | an address by which nobody is found |
unknown-host | one address of several that leads to no broker of the files |
port-closed | an address with a port that the broker does not listen on |
port-twice | two transport connectors of one broker on one port |
bad-address | an address that no broker reads |
no-agent | a network connector with the address of a transport, or of an agent that is gone |
failover-inside | failover inside static without maxReconnectAttempts=0 |
conduit-off-topics | topics without conduit: copies | activemq/conduit_topics/conduit_off_topic_two_subscribers
topic-cycle | cycles in which topic subscribers get copies | topic_triangle
selector-conduit | a selector behind conduit subscriptions | activemq/selectors/selector_conduit_same_broker
suppress-alone | duplicates suppressed without decreased priorities: the long route may stay |
static-no-consumer | static destinations that nobody reads |
static-wildcard | wildcards among static destinations in 5.5 |
excluded-static | a destination both static and excluded |
excluded-included | a destination both included and excluded |
excluded-wildcard | wildcard consumer and exclusion | activemq/filters/wildcard_queue_consumer_behind_exclude
wildcard-inside | > in the middle of a name |
advisory-off | demand of a broker that sends no advisories | advisory_off_dynamic
filter-prefix | a destinationFilter with parts that are no advisory topics |
no-effect | an option that another one makes idle |
same-name | connectors of one name to one broker |
prefetch-zero | a bridge that cannot pull |
loopback | a connector to its own broker |
later-option | an option that the edition does not have yet |
unknown-name | an attribute or element that the schema has not: the broker does not start |
removed | what later editions have taken out: pure master/slave, old stores |
no-broker-name | a broker called localhost among others |
same-broker-name | two brokers of one name that share no store |
no-broker-id | no fixed broker id: what has been here may come again after a restart |
same-broker-id | two brokers of one id |
no-value | a placeholder without a value |
policy-twice | two policy entries for one pattern |
replay-off | options of replay without replayWhenNoConsumers |
store-unused | a store beside persistent="false" |
update-off | updates of clients that are switched off |
filter-expression | an updateClusterFilter that is no regular expression: no network at all |
filter-blank | a blank in an updateClusterFilter |
lease-short | a lease that ends before it is renewed |
lease-name | two holders of one lease under one name |
lock-unsafe | a lock on a file system that does not keep it |
lock-off | a shared store without a lock |
own-set | a connector into one's own set of master and slaves |
set-static | static: towards master and slaves |
discovery-option | an option that discovery: swallows |
reconnect-zero | maxReconnectAttempts=0 of a client |
""",
}


def rules(family: str, pairs: Mapping[str, Example]) -> tuple[Rule, ...]:
    """Return rules that are no functions yet."""
    found = []
    for row in ROWS[family].strip().splitlines():
        id_, finds, see = (part.strip() for part in row.split("|"))
        example = partial(pairs.__getitem__, id_) if id_ in pairs else None
        found.append(Rule(id_, "error", finds, "", "", "", see, _reason(id_), example, (), iter))
    return tuple(found)
