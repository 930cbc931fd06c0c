"""What becomes of masters that return, of slaves that vote, and of backups that look for a host.

Sources: AMQ Broker 7.1, chapter 21; the rule as observed that is named in each.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.checks.example import Example
from mqlab.checks.rule import Found, rule
from mqlab.products.artemis.rules import examples as ex
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.artemis import votes_needed
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.plural import counted


def _store(broker: Broker) -> object:
    """Return what a broker's store is called: by itself it is its own."""
    return broker.keys.get("shared_store", broker.name)


def _group(half: Broker) -> object:
    return half.elements.get("group_name")


@rule(
    "duplicates",
    "error",
    finds="failback without check-for-live-server: two live servers",
    what="check-for-live-server is false: after a failover a restarted master goes live "
    "alongside its slave with the same node ID and redelivers what the slave already delivered",
    fix="set check-for-live-server to true",
    source="AMQ Broker 7.1, 21.1.2",
    see="artemis:21.1",
    example=lambda: Example(ex.returns(), ex.returns(check_for_live_server=True)),
)
def _duplicates(set_up: SetUp) -> Found:
    slaves = set_up.replicated("slave")
    for master in set_up.replicated("master"):
        own = [slave for slave in slaves if _group(slave) == _group(master)]
        back = any(slave.element("allow_failback") for slave in own)
        if back and not master.element("check_for_live_server") and not master.element("manager"):
            yield set_up.element(master), {}


@rule(
    "no-failback",
    "warning",
    finds="a slave without allow-failback: the master stays a slave after its return",
    what="allow-failback is not set and defaults to false: after a failover the returning master stays in "
    "the slave role",
    fix="set allow-failback to true",
    source="Artemis rule 4.3",
    example=lambda: Example(ex.comes_back(), ex.comes_back(allow_failback=True)),
)
def _no_failback(set_up: SetUp) -> Found:
    masters = set_up.replicated("master")
    checked = {_group(one) for one in masters if one.element("check_for_live_server")}
    for slave in set_up.replicated("slave"):
        # colocated halves pair whatever their groups (recorded: colocated/guide_last_sample)
        half = bool(checked) and slave not in set_up.network.brokers
        pairs = _group(slave) in checked or half
        if pairs and "allow_failback" not in slave.elements and slave.scale_down is None:
            yield set_up.element(slave), {}


@rule(
    "group-alone",
    "error",
    finds="a slave without a master, or without one in its group",
    what="there is no master {whose}: it never pairs and can never take over",
    fix="give it a master of the same {same}",
    source="AMQ Broker 7.1, 21.1.3",
    example=lambda: Example(ex.grouped("fish", "bird"), ex.grouped("fish", "fish")),
)
def _group_alone(set_up: SetUp) -> Found:
    if not set_up.is_whole():
        return
    there = {_group(half) for half in set_up.replicated("master", "colocated")}
    slaves = set_up.replicated("slave")
    for slave in (one for one in set_up.network.brokers if one in slaves):
        if not there or (_group(slave) is not None and _group(slave) not in there):
            group = _group(slave)
            whose = "in the network" if group is None else f"in its group {group!r}"
            yield set_up.element(slave), {"whose": whose, "same": "group-name"}
    shared = [one for one in set_up.network.brokers if one.policy == "shared_store"]
    stores = {_store(one) for one in shared if one.role != "slave"}
    for slave in (one for one in shared if one.role == "slave" and _store(one) not in stores):
        whose = f"with its store {_store(slave)!r}"
        yield set_up.element(slave), {"whose": whose, "same": "shared store"}


@rule(
    "journal-twice",
    "error",
    finds="two brokers with one journal whose policy is not shared_store",
    what="{other} has the same journal {store!r}, and the policy here is {policy}: a real broker waits until "
    "the other one has ended",
    fix="use the policy shared_store for both, or give each a journal of its own",
    source="AMQ Broker 7.1, 21.2",
    unshown="mqlab shares a journal only with the policy shared_store",
)
def _journal_twice(set_up: SetUp) -> Found:
    first: dict[object, Broker] = {}
    for broker in set_up.network.brokers:
        if store := broker.keys.get("shared_store"):
            other = first.setdefault(store, broker)
            if other is not broker and broker.policy != "shared_store":
                facts = {"other": other.name, "store": store, "policy": broker.policy}
                yield set_up.element(broker), facts


def _votes(set_up: SetUp) -> Iterator[tuple[Broker, int, int]]:
    """Yield each slave that asks voters, the votes that it needs, and the voters (Artemis rule 13.1)."""
    if not set_up.is_whole():
        return  # who votes is not known
    brokers = set_up.network.brokers
    lives = [s for s in brokers if s.role in ("master", "colocated", "live")]
    if not lives:
        return  # nothing that it could take over
    for slave in set_up.replicated("slave"):
        starts = not slave.refusal(set_up.network.edition, set_up.network.cluster_of(slave))
        if not slave.checks_network and starts and not slave.element("manager"):
            size = slave.element("quorum_size")
            yield slave, votes_needed(len(lives) if size == -1 else size), len(lives) - 1


@rule(
    "split-brain",
    "warning",
    finds="a single pair, where no vote is needed",
    what="there is no other broker to vote: if only the link to its master fails, both are live and deliver "
    "the same messages (split brain)",
    fix="use three or more pairs, or a network check",
    source="Artemis rule 3.4; AMQ Broker 7.1, 21.1",
    example=lambda: Example(ex.cut(1), ex.cut(3)),
)
def _split_brain(set_up: SetUp) -> Found:
    for slave, votes, _ in _votes(set_up):
        if votes == 0:
            yield set_up.element(slave), {}


@rule(
    "never-live",
    "error",
    finds="a slave that can never get the votes it needs",
    what="{why}",
    fix="{fix}",
    source="{source}",
    example=lambda: Example(ex.dies(quorum_size=2), ex.dies()),
)
def _never_live(set_up: SetUp) -> Found:
    for slave, votes, voters in _votes(set_up):
        if votes and votes > voters:
            why = (
                f"it needs {counted(votes, 'vote')} but there are only {counted(voters, 'voter')}: it "
                "can never take over "
                "from a crashed master"
            )
            fix, source = "lower quorum-size or add pairs", "Artemis rules 3.1 and 13.1"
        elif votes and not set_up.network.rules.forgets_crashed:
            why = "in version 2.4 voters still list the crashed broker and vote no: the slave never takes over"
            fix, source = "use version 2.5", "Artemis rule 1.1"
        else:
            continue
        yield set_up.element(slave), {"why": why, "fix": fix, "source": source}


@rule(
    "no-host",
    "error",
    finds="a backup is requested but no broker hosts it",
    what="request-backup is true but no other broker hosts a backup (max-backups 0): it keeps requesting "
    "and never gets one",
    fix="raise max-backups of another colocated broker",
    source="Artemis rule 7.1",
    example=lambda: Example(ex.hosted(0, excludes=["to_B"]), ex.hosted(1, excludes=["to_B"])),
)
def _no_host(set_up: SetUp) -> Found:
    colocated = [server for server in set_up.network.brokers if server.role == "colocated"]
    for server in colocated if set_up.is_whole() else ():  # another may have room whose file is not here
        room = sum(other.element("max_backups") for other in colocated if other is not server)
        if server.element("request_backup") and room == 0:
            yield set_up.element(server), {}
