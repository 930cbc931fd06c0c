"""What real clients and brokers accept of locks, sets and addresses, and what strands or loses messages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mqlab.checks.example import Example, mended
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules import examples_in_time as ex
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.spec.clients import Client
from mqlab.spec.member import BrokerSettings
from mqlab.spec.uri import Uri

UNSAFE_LOCKS = {
    "nfs3": "NFSv3 does not release the lock of a crashed master: no slave can take over",
    "ocfs2": "OCFS2 grants Java file locks to every broker: several brokers become master",
}
Member = tuple[Element, BrokerSettings]
Part = tuple[Element, str]
SetLink = tuple[Link, Mapping[str, str | None]]  # beside the set that each broker is of
AddressedClient = tuple[Element, Uri, CheckContext]


def members(context: CheckContext) -> Iterator[Member]:
    """Yield each broker as one of a set."""
    return ((context.broker(member.name), member) for member in context.members)


def filters(member: Member) -> Iterator[Part]:
    """Yield each part of a broker's updateClusterFilter."""
    element, settings = member
    return ((element, part) for part in (settings.updates.filter or "").strip().split(","))


@rule(
    "filter-expression",
    "error",
    finds="an updateClusterFilter that is not a regular expression: no network at all",
    what="updateClusterFilter {part!r} is not a regular expression: every bridge fails as soon as it "
    "is up, so there is no network",
    fix="use {better!r}",
    source="ActiveMQ rule 7.13",
    example=lambda: Example(ex.told_of("*A*"), ex.told_of(".*A.*")),
    of=(members, filters),
)
def _filter_expression(of: Part) -> Found:
    element, part = of
    try:
        re.compile(part)
    except re.error:
        yield element, {"part": part, "better": part.replace("*", ".*")}


@rule(
    "filter-blank",
    "error",
    finds="a space in an updateClusterFilter",
    what="the space in updateClusterFilter {part!r} is part of the expression, so it matches no broker name",
    fix="use {better!r}",
    source="ActiveMQ rule 7.14",
    example=lambda: Example(ex.told_of("X.*, A.*"), ex.told_of("X.*,A.*")),
    of=(members, filters),
)
def _filter_blank(of: Part) -> Found:
    element, part = of
    if part != part.strip():
        yield element, {"part": part, "better": part.strip()}


@rule(
    "lease-short",
    "error",
    finds="a lease that expires before it is renewed",
    what="its lease ({locker.acquire_sleep} ms) expires before it is renewed (every {locker.check_period} "
    "ms): a slave takes over from a healthy master",
    fix="set lockKeepAlivePeriod below lockAcquireSleepInterval, such as {half}",
    source="ActiveMQ rule 16.4",
    example=lambda: mended(ex.lease(), {name: {"lock_keep_alive_period_ms": 500} for name in "AB"}),
    of=(members,),
)
def _lease_short(of: Member) -> Found:
    element, locker = of[0], of[1].locker
    if locker and locker.kind == "lease" and locker.check_period >= locker.acquire_sleep:
        yield element, {"locker": locker, "half": locker.acquire_sleep // 2}


@rule(
    "lock-unsafe",
    "error",
    finds="a lock on a file system that does not honour it",
    what="{harm}",
    fix="use NFSv4 or a SAN file system",
    source="Fuse 4, Shared file system master/slave",
    example=lambda: Example(ex.crash(ex.pair(file_system="nfs3")), ex.crash(ex.pair(file_system="local"))),
    of=(members,),
)
def _lock_unsafe(of: Member) -> Found:
    element, locker = of[0], of[1].locker
    if locker and locker.file_system in UNSAFE_LOCKS:
        yield element, {"harm": UNSAFE_LOCKS[locker.file_system]}


@rule(
    "lock-off",
    "error",
    finds="a shared store without a lock",
    what="useLock=false: every member is a master",
    fix="remove useLock",
    source="ActiveMQ rule 15.8",
    example=lambda: Example(ex.two_ends(ex.pair(use_lock=False)), ex.two_ends(ex.pair())),
    of=(members,),
)
def _lock_off(of: Member) -> Found:
    element, locker = of[0], of[1].locker
    if locker and not locker.use_lock:
        yield element, {}


@rule(
    "lockers-differ",
    "error",
    finds="brokers on one store that lock it in different ways",
    what="{other} locks the store {store!r} by {theirs!r} and this broker by {mine!r}: neither lock keeps the "
    "other broker out, so both become masters",
    fix="give both the same locker",
    source="ActiveMQ, pluggable storage lockers",
    example=lambda: Example(
        ex.two_ends(ex.two_lockers("lease", "file")), ex.two_ends(ex.two_lockers("file", "file"))
    ),
)
def _lockers_differ(context: CheckContext) -> Found:
    first: dict[str, BrokerSettings] = {}
    for element, member in members(context):
        if locker := member.locker:
            other = first.setdefault(locker.store, member)
            if other.locker and other.locker.kind != locker.kind:
                facts = {"other": other.name, "theirs": other.locker.kind, "mine": locker.kind}
                yield element, {**facts, "store": locker.store}


@rule(
    "memory-shared",
    "error",
    finds="a shared store that is memory: nothing is shared",
    what="shared_store={locker.store!r} beside store='memory': messages in memory are not shared, so a slave "
    "that takes over has none of them",
    fix="remove store='memory'",
    source="Fuse 4, Shared file system master/slave",
    example=lambda: Example(ex.kept(store="memory"), ex.kept()),
    of=(members,),
)
def _memory_shared(of: Member) -> Found:
    element, settings = of
    if settings.locker and settings.store == "memory" and not element.file:  # of files another rule says it
        yield element, {"locker": settings.locker}


@rule(
    "lease-name",
    "error",
    finds="two lease holders with the same leaseHolderId",
    what="it uses the same leaseHolderId {holder!r} as {other}: after the lease lapses both become master",
    fix="give each its own leaseHolderId",
    source="ActiveMQ rule 7.20",
    example=lambda: Example(ex.hung(ex.one_lease("same", "same")), ex.hung(ex.one_lease("one", "two"))),
)
def _lease_name(context: CheckContext) -> Found:
    holders: dict[str, str] = {}
    for element, member in members(context):
        locker = member.locker
        if locker is None or locker.kind != "lease":
            continue
        holder = locker.holder or member.broker_name
        other = holders.setdefault(holder, member.name)
        if other != member.name:
            yield element, {"holder": holder, "other": other}


def _set_of(member: BrokerSettings, masters: set[str]) -> str | None:
    """Return what the members of a broker's set have in common; None if it is in none."""
    if member.locker is not None:
        return f"store {member.locker.store}"
    master = member.pure.slave_of or (member.name if member.name in masters else None)
    return None if master is None else f"pure {master}"


def set_links(context: CheckContext) -> Iterator[SetLink]:
    """Yield each connector beside the sets of the brokers."""
    masters = {m.pure.slave_of for m in context.members if m.pure.slave_of}
    set_of = {member.name: _set_of(member, masters) for member in context.members}
    return ((link.called("connector"), set_of) for link in context.links())


def targets(uri: str, known: Mapping[str, object]) -> list[str]:
    """Return the known brokers that an address names."""
    hosts = re.findall(r"\{(\w+)\}|//([^:/,)?]+)", uri)
    return [name for pair in hosts for name in pair if name in known]


@rule(
    "own-set",
    "error",
    finds="a network connector to a member of the broker's own master/slave set",
    what="{other} belongs to the same set and never serves while {home} does: the connector retries forever",
    fix="connect only to brokers of other sets",
    source="ActiveMQ rule 7.22",
    example=lambda: Example(ex.onward("A2"), ex.onward("B")),
    of=(set_links,),
)
def _own_set(of: SetLink) -> Found:
    link, set_of = of
    home = link.broker.name
    inside = [n for n in targets(link.connector.uri, set_of) if set_of[n] == set_of[home]]
    if inside and set_of[home] is not None:
        yield link.element, {"other": inside[0], "home": home}


@rule(
    "set-static",
    "error",
    finds="static: towards master and slaves",
    what="static: tries to bridge to every member of the set, but slaves do not listen",
    fix="use masterslave:(...)",
    source="ActiveMQ rule 12.5",
    unshown="in mqlab all messages arrive anyway",
    of=(set_links,),
)
def _set_static(of: SetLink) -> Found:
    link, set_of = of
    uri = link.connector.uri
    sets = [set_of[name] for name in targets(uri, set_of)]
    plain = uri.startswith("static:(") and "failover:" not in uri
    if plain and any(one is not None and sets.count(one) > 1 for one in sets):
        yield link.element, {}


def clients(context: CheckContext) -> Iterator[AddressedClient]:
    """Yield each client whose address can be read: of another the client itself says so."""
    for no, action in enumerate(context.actions, 1):
        if isinstance(action, Client) and action.address is not None:
            yield Element(f"step {no}, client {action.name}"), action.address, context


@rule(
    "reconnect-zero",
    "error",
    finds="maxReconnectAttempts=0 on a client",
    what="maxReconnectAttempts=0: after an established connection is lost, no other address is tried",
    fix="set it to -1, or to 1 or more",
    source="ActiveMQ rule 7.2",
    example=lambda: Example(ex.crash(ex.pair(), f"{ex.BOTH}&maxReconnectAttempts=0"), ex.crash(ex.pair())),
    of=(clients,),
)
def _reconnect_zero(of: AddressedClient) -> Found:
    element, uri, context = of
    tries = uri.parameters.get("maxReconnectAttempts")
    if tries == "0" and context.network.edition != "5.5":
        yield element, {}
