"""Replication: a slave copies its master over the network and takes over by a vote.

AMQ Broker 7.1, 21.1; Artemis rules 2 to 4 and 12 to 14.
"""

from __future__ import annotations

from mqlab.products.artemis.broker import network_check, redelivery
from mqlab.products.artemis.broker.broker import Broker, Subsystem
from mqlab.products.artemis.ha import quorum
from mqlab.trace.kinds import Kind, Reason

MS = 1000
NOTICED = 100 * MS  # a broken connection is noticed at once, by and large
# A master may miss the end of a slave that has only just come in sync: so it was in about a fourth of 56
# restarts, for 8 to 10 s or for longer than 25 (recordings `max_saved_*`).
UNNOTICED, UNNOTICED_FOR = 1 / 4, 30_000 * MS
TOLD = 10 * MS  # a master that is stopped tells its slave (`ReplicationLiveIsStoppingMessage`): 5 to 10 ms
# A master that checks for its node id waits for it where it reaches a live broker; else it tries once more
# (`SharedNothingLiveActivation.isNodeIdUsed` of 2.4.0: 5.3 to 6.0 s, and 2.3 to 3.2, from its start on).
LISTENS, TRIES_AGAIN = 5000 * MS, 2000 * MS
COPYING = 400 * MS  # the least that a first copy takes
ENDING = 10_000 * MS  # what a broker takes to stop whose end waits for a thread of its own
# A slave that has come in sync announces itself, which took a half of 521 slaves 71 ms or more; a cut that
# follows at once comes meanwhile (quorum/one_pair_quorum_size_2_cut).
ANNOUNCING = 70 * MS
LOADING = 200 * MS  # a journal is read before its broker serves: the least of ten were 120 to 270 ms
AGAIN = 2000 * MS  # after a fail-back the broker that served is slave again 2 to 5 s later (Artemis rule 4.1)
# A slave of 2.4 votes 4 to 5 s after its master wakes up; one of 2.5 waits for good (Artemis rule 3.2).
WAKES = 4500 * MS
LATCH, MASTER_LATCH = 30_000 * MS, 5000 * MS  # for how long a slave, and a master, waits for votes


class Replication(Subsystem):
    """Pairs, copies, votes, fail-back."""

    # Start

    def start(self, broker: Broker) -> None:
        """A slave looks for a master; a master that may check looks for its own node id first."""
        node_id = broker.stored_journal.node_id if broker.stored_journal is not None else broker.name
        reached = {live.node_id for live in self.lab.live_brokers() if broker.reaches(live)}
        if broker.spec.role == "slave" and not broker.has_taken_over:  # else it has a master's policy since
            self.search(broker, "")
        elif not broker.element("check_for_live_server"):
            self.lab.go_live(broker, broker.stored_journal)
        elif node_id in reached:
            self.search(broker, node_id)
        else:
            wait = LISTENS if reached else TRIES_AGAIN
            self.lab.soon(broker, wait, self.lab.go_live, broker.stored_journal)

    def search(self, slave: Broker, pair: str) -> None:
        """Move old data aside and look for a master that has no slave yet (21.1), or for one *pair*."""
        slave.has_taken_over, slave.told_by = False, ""
        keep = slave.element("max_saved_replicated_journals_size")
        for folder in ("journal", "bindings", "paging") if slave.stored_journal is not None else ("journal",):
            saved = slave.old_replicas.setdefault(folder, [0])  # the last number given, and those kept
            saved[0] += 1
            saved.append(saved[0])
            del saved[1 : len(saved) - keep if keep >= 0 else 1]
        if slave.stored_journal is not None and slave.stored_journal.home is slave:
            self.lab.notes.forgotten(slave, slave.stored_journal, moved=True)
        slave.stored_journal, slave.master, slave.node_id = None, None, pair
        slave.refused_by, slave.forgotten, slave.topology, slave.max_cluster_size = set(), set(), {}, 0
        slave.incarnation += 1
        self.lab.role(slave, "backup_searching")
        self._ask_masters(slave)

    def _ask_masters(self, slave: Broker) -> None:
        """Ask each master that can be reached; one that has a slave already refuses."""
        if slave.role != "backup_searching" or not slave.runs or slave.broken or slave.master:
            return
        lives = self.lab.live_brokers()
        mute = next((live for live in lives if self._never_answers(slave, live)), None)
        for live in self.lab.random.sample(lives, len(lives)):  # whom it hears of first is a race
            this_life = (live.name, live.incarnation)
            if not self._may_copy(slave, live) or this_life in slave.refused_by:
                continue
            if live.journal.replica is None:
                self._copy(slave, live)
                return
            slave.refused_by.add(this_life)
        slave.broken |= mute is not None and slave.role == "backup_searching" and slave.runs

    @staticmethod
    def _never_answers(slave: Broker, live: Broker) -> bool:
        """Whether a slave that asks a live broker waits for ever: that has no policy of replication.

        Nobody there takes the request, and the slave asks no other one meanwhile
        (`Activation.getActivationChannelHandler` and `SharedNothingBackupActivation.run` of 2.4.0).
        """
        free = not slave.node_id and slave.element("group_name") is None
        return free and live.spec.policy != "replication" and slave.reaches(live)

    def _may_copy(self, slave: Broker, live: Broker) -> bool:
        if live not in self.lab.topology.heard(slave) or slave.process_name == live.process_name:
            return False
        if live.spec.policy != "replication" or slave.element("cluster_name") is not None:
            return False
        if self.lab.topology.entry(live, live.node_id)[0] != live.process_name:  # it is told of another one
            return False
        wanted = slave.element("group_name")
        return live.node_id == slave.node_id if slave.node_id else wanted in (None, live.element("group_name"))

    def search_again(self, ended: bool = False) -> None:
        """Who searches looks whom it reaches; it asks nobody twice who has refused it.

        Only when one has left the topology, a slave without group asks all once more.
        """
        for slave in self.lab.all_brokers():
            if ended and slave.element("group_name") is None:
                slave.refused_by.clear()
            self._ask_masters(slave)

    # The first copy

    def _copy(self, slave: Broker, live: Broker) -> None:
        slave.master, live.journal.replica, slave.in_sync_since = live, slave, self.lab.clock.now
        time = self.lab.random_duration(COPYING)
        speed = self.lab.partitions.slow.get(frozenset((slave.process_name, live.process_name)))
        if speed:
            size = sum(item.message.size for _, item in live.journal.persisted().items())
            time += size * 1_000_000 // speed
        limit = live.element("initial_replication_sync_timeout") * MS
        # Who does not confirm the end of the copy in time is dropped: the master serves on alone.
        end = self._in_sync if time <= limit else self.lost_master
        self.lab.soon(slave, min(time, limit), end)

    def noticed(self, live: Broker, slave: Broker, copying: bool, orderly: bool) -> int:
        """Return how long (us) it takes a master to notice that its slave has ended.

        One that ends in its first copy is waited for as long as that may take: until then its master refuses
        others (`JournalStorageManager.startReplication` of 2.4.0 holds the lock; Artemis rule 2.12).
        """
        since = self.lab.clock.now - slave.in_sync_since
        if copying and since >= COPYING:  # all has been sent, and waits for an answer
            return max(0, int(live.element("initial_replication_sync_timeout")) * MS - since)
        late = orderly and self.lab.chance(UNNOTICED)
        return UNNOTICED_FOR if late else self.lab.random_duration(NOTICED)

    def _in_sync(self, slave: Broker) -> None:
        live = slave.master
        if live is None:
            return
        if not slave.runs or not live.serves:  # one of them hangs
            self.lab.soon(slave, self.lab.random_duration(COPYING), self._in_sync)
            return
        slave.node_id, slave.in_sync_since = live.node_id, self.lab.clock.now
        self.lab.topology.renew(live)
        self.lab.role(slave, "backup_in_sync")
        self.lab.event(Kind.Replicated, live, to=slave.node, rule=Reason.copied)
        if slave.spec.role != "slave" and live.element("allow_failback"):
            self.lab.soon(slave, MS, self._fail_back)

    @staticmethod
    def _unpair(slave: Broker) -> None:
        live, slave.master = slave.master, None
        if live is not None and live.served_journal is not None and live.served_journal.replica is slave:
            live.served_journal.replica = None

    # Fail-back

    def _fail_back(self, master: Broker) -> None:
        """The acting live steps down as soon as its old master is in sync (21.1.2)."""
        acting = master.master
        if acting is None or acting.served_journal is None:
            return
        data = redelivery.persisted(acting, orderly=True)
        self._unpair(master)
        self.lab.end_live(acting, orderly=True)
        self.lab.role(acting, "stopping")
        self.lab.go_live(master, data, Reason.fail_back)
        acting.incarnation += 1
        self.lab.soon(acting, self.lab.random_duration(AGAIN), self._restart)

    def _restart(self, broker: Broker) -> None:
        """Begin anew as slave; a hosted one goes on looking for its requester."""
        if broker.runs:
            self.search(broker, broker.node_id if broker.hosting_broker is not None else "")

    # The master is gone, or out of reach

    def lost_master(self, slave: Broker, wakes: bool = False, orderly: bool = False) -> None:
        """A slave loses its master, or that wakes up: it votes, or stays without if its copy is partial."""
        live = slave.master
        if live is None:
            return
        retries = self.lab.rules.forgets_crashed
        partial = "backup_in_sync" not in (slave.role, slave.role == "paused" and slave.suspended[0])
        if partial or (wakes and retries):  # a look whether a master answers that hung never ends
            self._unpair(slave)
            slave.broken |= partial
            return
        cut = slave.stored_journal is not None and not slave.joined(live)
        if live.served_journal is not None and live.served_journal.replica is slave and not cut:
            slave.stored_journal = redelivery.persisted(live, orderly)
        slave.announcing = self.lab.clock.now - slave.in_sync_since <= ANNOUNCING
        # In 2.4 a vote is held once. In 2.5 it is repeated, each time after a wait.
        time = self.lab.random_duration(TOLD if orderly else WAKES if wakes else NOTICED)
        self.lab.soon(slave, time, self._vote, slave.element("vote_retries") if retries else 1)

    def _vote(self, slave: Broker, left: int, asked: int = 0) -> None:
        """Hold a vote, once a slave knows whether its master answers, which it has *asked* for so long (us)."""
        if slave.role == "paused":
            self.lab.soon(slave, self.lab.random_duration(NOTICED), self._vote, left)
        if slave.role != "backup_in_sync" or not slave.runs:
            return
        line = {slave.process_name, slave.master.process_name} if slave.master is not None else set()
        checks = left > 0 and self.lab.rules.forgets_crashed and asked < LATCH
        if checks and line in self.lab.partitions.silent:  # TCP asks again after 1, 3, 7 and 15 s
            asks = min(2 * asked + 1000 * MS, LATCH)
            self.lab.soon(slave, asks - asked, self._vote, left, asks)
            return
        if left > 0 and not self._found_alive(slave):
            quorum.hold(slave, lambda voter: slave.node_id not in voter.topology, LATCH, self._voted, left)
        else:
            self._voted(slave, False, 0)

    def _found_alive(self, slave: Broker) -> bool:
        """Whether a slave finds before its vote that its master accepts connections (2.5: `checkLive`)."""
        master = slave.master
        if master is None or not self.lab.rules.forgets_crashed or not slave.joined(master):
            return False
        return master.serves or quorum.hangs(master)

    def _voted(self, slave: Broker, yes: bool, left: int) -> None:
        """A slave has the result of its vote: it takes over, votes again, or starts anew."""
        if slave.role != "backup_in_sync" or not slave.runs:
            return
        if left > 0 and not yes and self.lab.rules.forgets_crashed:
            self.lab.soon(slave, slave.element("vote_retry_wait") * MS, self._vote, left - 1)
            return
        if slave.spec.checks_network:  # its answer stands above the vote
            yes = network_check.answers(slave)
            quorum.tell(slave, yes, {"network check": "answered" if yes else "silent"})
        if yes:
            self._unpair(slave)
            self.lab.role(slave, "starting")
            self.loads(slave, slave.stored_journal, LOADING, Reason.vote_won)
        else:
            self._restart_as_slave(slave)

    def _restart_as_slave(self, slave: Broker) -> None:
        """A slave that lost the vote restarts as slave; its copy is moved aside (21.1).

        Where the line to its master was cut before it had announced itself, its end takes 10 s.
        """
        master = slave.master
        self._unpair(slave)
        if master is not None and not slave.joined(master) and slave.announcing:
            self.lab.role(slave, "stopping")
            self.lab.soon(slave, self.lab.random_duration(ENDING), self._restart)
        else:
            self._restart(slave)

    def end_copies(self, line: frozenset[str]) -> None:
        """A line is cut: what a master does from now on does not reach the copy of its slave."""
        for slave in self.lab.all_brokers():
            live = slave.master
            if live is None or live.served_journal is None or slave.role != "backup_in_sync":
                continue
            if line == {slave.process_name, live.process_name}:
                late = self.lab.clients.take_back(live)
                slave.stored_journal = live.served_journal.persisted()
                for client, number in late:
                    del client.unacknowledged[:number]

    # The slave is gone, or out of reach

    def given_up(self, slave: Broker) -> None:
        """A slave that hangs has not answered for too long."""
        if slave.role == "paused" and slave.master is not None:
            self.lost_replica(slave.master, slave)

    def lost_replica(self, live: Broker, replica: Broker) -> None:
        """A master goes on alone; it may have to ask whether it has a majority, also after a clean stop.

        A slave that stops closes its connection without a word (`RemotingServiceImpl.connectionDestroyed`).
        """
        if live.served_journal is None or live.served_journal.replica is not replica:
            return
        live.served_journal.replica = None
        if live.element("vote_on_replication_failure"):
            self.lab.soon(live, self.lab.random_duration(NOTICED), self._master_votes)

    def _master_votes(self, live: Broker) -> None:
        """Ask the others; without their votes it stops itself (Artemis rule 3.6).

        A voter of 2.4 answers whether it sees the node no more, as if a slave had asked: a no to a master that
        lives (`ServerConnectVoteHandler`). The end waits for the thread that it has voted with.
        """
        forgets = self.lab.rules.forgets_crashed
        if live.serves:
            quorum.hold(
                live, lambda voter: forgets or live.node_id not in voter.topology, MASTER_LATCH, self._stays
            )

    def _stays(self, live: Broker, yes: bool) -> None:
        """A master has the result of its vote."""
        if live.serves and not yes:
            self.lab.end_live(live, orderly=True)
            live.incarnation += 1
            live.voted_out = True
            self.lab.soon(live, self.lab.random_duration(ENDING), self._has_stopped)

    def _has_stopped(self, live: Broker) -> None:
        live.voted_out = False
        self.lab.role(live, "stopped")
        live.stopped_itself = True
