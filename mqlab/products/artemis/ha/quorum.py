"""Votes of replication: who is asked, who answers, and how long that is waited for (Artemis rules 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker
from mqlab.spec.artemis import votes_needed
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site

LOOKS = 100_000  # us between two looks whether a voter that hangs has gone on


@dataclass(eq=False, slots=True)
class Ballot:
    """A vote that is held: until when (us) it is waited for, what was said, what follows, with which words."""

    agrees: Callable[[Broker], bool]
    end: int
    then: Callable[..., None]
    more: tuple[int, ...]
    said: dict[str, bool] = field(default_factory=dict)  # by the voter's name


def hold(
    asker: Broker, agrees: Callable[[Broker], bool], patience: int, then: Callable[..., None], *more: int
) -> None:
    """Hold a vote: whether enough of the other pairs' lives that a broker knows and reaches agree.

    It goes on as soon as they do, or all have answered. One that hangs answers once it goes on; none without
    a policy of replication: only that registers a `ServerConnectVoteHandler` (2.4.0; Artemis rule 3.2).
    """
    _count(asker, Ballot(agrees, asker.lab.clock.now + patience, then, more))


def _count(asker: Broker, ballot: Ballot) -> None:
    lab, said, mute = asker.lab, ballot.said, False
    for voter in lab.all_brokers():
        if voter.node_id == asker.node_id or voter.node_id not in asker.topology or voter.name in said:
            continue
        if voter.serves and asker.reaches(voter):
            if voter.spec.policy == "replication" and not (said and _is_stuck(asker)):
                said[voter.name] = ballot.agrees(voter)
            else:
                mute = True
        mute |= hangs(voter) and asker.joined(voter)
    size = asker.element("quorum_size")
    votes, needed = sum(said.values()), votes_needed(asker.max_cluster_size if size == -1 else size)
    yes = votes >= needed
    if mute and not yes and lab.clock.now < ballot.end:
        lab.soon(asker, min(LOOKS, ballot.end - lab.clock.now), _count, ballot)
        return
    ballots = {name: "yes" if agreed else "no" for name, agreed in said.items()}
    ballots |= dict.fromkeys(_silent(lab, asker, said), "no answer")
    tell(asker, yes, {"votes": votes, "needed": needed, "ballots": ballots})
    ballot.then(asker, yes, *ballot.more)


def _silent(lab: Site, asker: Broker, said: dict[str, bool]) -> list[str]:
    """Return whom a broker asks in vain: lives of its topology that it does not reach, or that are gone."""
    brokers = lab.all_brokers()
    answered = {broker.node_id for broker in brokers if broker.name in said}
    asked = {pair: live for pair, (live, _) in asker.topology.items() if pair not in answered | {asker.node_id}}
    return [broker.name for broker in brokers if broker.process_name in asked.values()]


def _is_stuck(asker: Broker) -> bool:
    """Whether a slave was told that its master is gone as it votes: it asks no second voter.

    Who tells it waits for the vote (`SharedNothingBackupQuorum.nodeDown` of 2.5.0; Artemis rule 3.8).
    """
    told = asker.lab.rules.forgets_crashed and asker.node_id not in asker.topology
    return told and asker.master is not None and asker.master.role != "stopped"


def tell(broker: Broker, yes: bool, told: dict[str, object]) -> None:
    """Write down how a vote, or what stands above it, has ended."""
    rule = Reason.vote_won if yes else Reason.vote_lost
    broker.lab.event(Kind.Voted, broker, rule=rule, told=told)


def hangs(broker: Broker) -> bool:
    """Whether a broker that was live hangs: its machine still accepts connections."""
    return broker.role == "paused" and broker.suspended[0] == "live"
