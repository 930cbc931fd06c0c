"""Replication: a slave copies its master over the network and takes over by a vote.

AMQ Broker 7.1, 21.1; reference/artemis-ha.md, sections 2 to 4; artemis-observed.md, sections 2 to 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.scaledown import scale_down_backup
from mqlab.spec.artemis import votes_needed
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000
NOTICED = 100 * MS  # a broken connection is noticed at once, by and large
COPYING = 400 * MS  # the least that a first copy takes
SHUTTING = 10_000 * MS  # how long a master that lost its vote takes to stop itself
LOADING = 400 * MS  # a journal is read before its broker serves
WAKES = 4500 * MS  # a slave notices this much later that its master had been asleep


class Replication:
    """Pairs, copies, votes, fail-back."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab

    # Start

    def start_master(self, broker: Broker) -> None:
        """A master that may check looks for a live broker with its node id first (21.1.2)."""
        acting = self._acting(broker)
        if acting is not None and broker.element("check_for_live_server"):
            self._search(broker, [acting])
        else:
            self.lab.go_live(broker, broker.disk)

    def _acting(self, broker: Broker) -> Broker | None:
        pair = broker.disk.pair if broker.disk else broker.name
        reached = (o for o in self.lab.topology.lives() if self.lab.topology.reach(broker, o))
        return next((live for live in reached if live.pair == pair), None)

    def start_slave(self, broker: Broker) -> None:
        """A slave moves what it has aside and looks for a master that has none yet (21.1)."""
        self._move_aside(broker)
        broker.pair, broker.master, broker.broken = "", None, False
        self._search(broker)

    def _move_aside(self, broker: Broker) -> None:
        keep = broker.element("max_saved_replicated_journals_size")
        folders = ["journal", *(["bindings", "paging"] if broker.disk is not None else [])]
        for folder in folders:
            saved = broker.moved.setdefault(folder, [0])
            saved[0] += 1
            saved.append(saved[0])
            del saved[1 : len(saved) - keep if keep >= 0 else 1]
        self.lab.forget(broker)

    def _search(self, broker: Broker, only: list[Broker] | None = None) -> None:
        broker.refused_by = set()
        broker.view, broker.largest = {}, 0
        self.lab.role(broker, "backup_searching")
        self.look(broker, only)

    def look(self, slave: Broker, only: list[Broker] | None = None) -> None:
        """Ask each master that can be reached; one that has a slave already refuses."""
        if slave.role != "backup_searching" or not slave.runs or slave.broken or slave.master:
            return
        for live in only or self._in_some_order(self.lab.topology.lives()):
            if not self._may_copy(slave, live) or live.name in slave.refused_by:
                continue
            if live.live is not None and live.live.replica is not None:
                slave.refused_by.add(live.name)
                continue
            self._copy(slave, live)
            return

    def _in_some_order(self, lives: list[Broker]) -> list[Broker]:
        """Which master a slave hears of first is a race, which the seed decides."""
        return self.lab.random.sample(lives, len(lives))

    def _may_copy(self, slave: Broker, live: Broker) -> bool:
        if not self.lab.topology.reach(slave, live) or slave.place == live.place:
            return False
        if live.server.policy != "replication" or slave.element("cluster_name") is not None:
            return False
        if slave.host is not None:
            return slave.pair == live.name
        if slave.server.role == "master":
            return live.pair == slave.name
        wanted = slave.element("group_name")
        return wanted is None or wanted == live.element("group_name")

    def look_again(self, new: Broker | None = None) -> None:
        """A broker came live, or one said goodbye: who was refused may ask again."""
        for slave in self.lab.all_brokers():
            if new is None:
                slave.refused_by.clear()
            else:
                slave.refused_by.discard(new.name)
            if self._is_slave(slave):
                self.look(slave)

    @staticmethod
    def _is_slave(broker: Broker) -> bool:
        return broker.server.policy == "replication" and broker.role == "backup_searching"

    # The first copy

    def _copy(self, slave: Broker, live: Broker) -> None:
        assert live.live is not None
        slave.master, live.live.replica = live, slave
        speed = self.lab.net.slow.get(frozenset((slave.place, live.place)))
        time = COPYING
        if speed:
            time += live.live.journal().bytes * 1_000_000 // speed
        limit = live.element("initial_replication_sync_timeout") * MS
        if time > limit:
            self.lab.soon(slave, limit, self._drop_copy, live)
        else:
            self.lab.soon(slave, time, self._in_sync, live, live.live)

    def _drop_copy(self, slave: Broker, live: Broker) -> None:
        """The slave did not confirm the end of the copy in time: the master serves on alone."""
        if slave.master is live:
            self._part(slave)
            slave.broken = True

    def _in_sync(self, slave: Broker, live: Broker, memory: object) -> None:
        if slave.master is not live or live.live is not memory:
            return
        slave.pair = live.pair
        self.lab.role(slave, "backup_in_sync")
        self.lab.event(Kind.Replicated, live, to=slave.node, rule=Rule.copied)
        if slave.server.role == "master" and live.element("allow_failback"):
            self.lab.soon(slave, MS, self._fail_back, live)

    def _part(self, slave: Broker) -> None:
        live, slave.master = slave.master, None
        if live is not None and live.live is not None and live.live.replica is slave:
            live.live.replica = None

    # Fail-back

    def _fail_back(self, master: Broker, acting: Broker) -> None:
        """The acting live steps down as soon as its old master is in sync (21.1.2)."""
        if master.master is not acting or acting.live is None:
            return
        journal = acting.live.journal(orderly=True)
        self._part(master)
        self.lab.end_live(acting, orderly=True)
        self.lab.role(acting, "stopping")
        self.lab.go_live(master, journal, Rule.fail_back)
        acting.lives += 1
        self.lab.soon(acting, LOADING, self._restart)

    def _restart(self, broker: Broker) -> None:
        if broker.runs:
            broker.lives += 1
            self._move_aside(broker)
            broker.pair, broker.master = broker.pair if broker.host is not None else "", None
            self._search(broker)

    # The master is gone, or out of reach

    def lost_master(self, slave: Broker, after: int = NOTICED, orderly: bool = False) -> None:
        """A slave loses its master: it votes, or begins anew if its copy was not complete."""
        live = slave.master
        if live is None:
            return
        in_sync = slave.role == "backup_in_sync"
        if in_sync and live.live is not None and live.live.replica is slave:
            slave.disk = live.live.journal(orderly)
        if not in_sync:
            self._part(slave)
            slave.broken = True
            return
        slave.votes_left = slave.element("vote_retries") if self.lab.scenario.forgets_crashed else 0
        self.lab.soon(slave, after, self._vote)

    def _vote(self, slave: Broker) -> None:
        if slave.role != "backup_in_sync" or not slave.runs:
            return
        master = slave.master
        yes, told = self._result(slave)
        rule = Rule.vote_won if yes else Rule.vote_lost
        self.lab.event(Kind.Voted, slave, rule=rule, told=told)
        if yes:
            self._take_over(slave)
        elif slave.votes_left > 0:
            slave.votes_left -= 1
            self.lab.soon(slave, slave.element("vote_retry_wait") * MS, self._vote)
        else:
            self._part(slave)
            self._begin_anew(slave, master)

    def _result(self, slave: Broker) -> tuple[bool, dict[str, Any]]:
        """Return whether a slave may take over, and what decides it."""
        if slave.server.checks_network:  # its answer stands above the vote
            answers = self.lab.answers(slave)
            return answers, {"network check": "answered" if answers else "silent"}
        size = slave.element("quorum_size")
        votes, least = self.votes(slave), votes_needed(slave.largest if size == -1 else size)
        return votes >= least, {"votes": votes, "needed": least}

    def votes(self, asker: Broker) -> int:
        """Return how many voters that can be reached do not see the asker's pair live."""
        voters = [v for v in self.lab.topology.lives()
                  if v.pair != asker.pair and v.pair in asker.view
                  and self.lab.topology.reach(asker, v)]  # fmt: skip
        return sum(asker.pair not in voter.view for voter in voters)

    def _begin_anew(self, slave: Broker, master: Broker | None) -> None:
        """A slave that lost the vote restarts as slave; its copy is moved aside (21.1).

        With no other broker in sight its end hangs on the cut line until that is whole again.
        """
        slave.lives += 1
        alone = slave.largest < 2 and master is not None
        if alone and master is not None and not self.lab.net.joined(slave.place, master.place):
            self.lab.role(slave, "stopping")
            slave.asleep_role = "hangs"
        else:
            self._restart(slave)

    def _take_over(self, slave: Broker) -> None:
        journal = slave.disk
        self._part(slave)
        slave.lives += 1
        self.lab.role(slave, "starting")
        if slave.server.scale_down is not None:
            if slave.host is not None:
                scale_down_backup(self.lab, slave, journal)
            return  # outside a colocated broker it fails there, in every version that was watched
        self.lab.soon(slave, LOADING, self._serve)

    def _serve(self, slave: Broker) -> None:
        if slave.runs:
            self.lab.go_live(slave, slave.disk, Rule.vote_won)

    # The slave is gone, or out of reach

    def lost_replica(self, live: Broker) -> None:
        """A master goes on alone, unless it is to vote and has no majority (21.1)."""
        if live.live is None or live.live.replica is None:
            return
        live.live.replica = None
        if live.element("vote_on_replication_failure"):
            self.lab.soon(live, NOTICED, self._master_votes)

    def _master_votes(self, live: Broker) -> None:
        if not live.serves:
            return
        voters = [v for v in self.lab.topology.lives()
                  if v is not live and self.lab.topology.reach(live, v)]  # fmt: skip
        size = live.element("quorum_size")
        won = len(voters) >= votes_needed(live.largest if size == -1 else size)
        self.lab.event(Kind.Voted, live, rule=Rule.vote_won if won else Rule.vote_lost)
        if not won:
            self.lab.soon(live, SHUTTING, self._give_up)

    def _give_up(self, live: Broker) -> None:
        if live.serves:
            self.lab.end_live(live, orderly=True)
            self.lab.role(live, "stopped")

    # The line between two brokers

    def healed(self) -> None:
        """Lines are whole again: who was waiting for that goes on."""
        for slave in self.lab.all_brokers():
            if slave.asleep_role == "hangs" and slave.role == "stopping":
                slave.asleep_role = ""
                self._restart(slave)
            elif self._is_slave(slave):
                self.look(slave)
