"""What operators do to Artemis brokers and their lines (Recordings rule 7.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mqlab.engine.completion import Completion
from mqlab.engine.in_vain import STOPS_PAUSED
from mqlab.products.artemis import report
from mqlab.products.artemis.broker import network_check
from mqlab.products.artemis.broker.broker import GONE, Broker, OfLines
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.network import routes
from mqlab.products.artemis.script.waits import MS, WaitActions
from mqlab.spec import action as a
from mqlab.spec import faults as f
from mqlab.spec.action import Action
from mqlab.spec.artemis.actions import (
    Files,
    ForcedFailover,
    Gateway,
    Isolate,
    Rejoin,
    Settle,
    SlowLine,
    Snapshot,
    StartAs,
    WaitForConsumers,
    WaitForDepth,
    WaitForFailover,
    WaitForRole,
)
from mqlab.trace.kinds import Kind

# ms that a start waits at most. It is over as its last broker is live or a backup, and so each other broker
# starts: as the recorder has it (361 to 937 ms in half of 528 starts; found/colocated_in_turn).
STARTING = 3000
CHECKING = 5000  # ms more of one that looks whether its node id is live
BOOTING = 2000  # ms that each broker of a start takes
ENDING = 450  # ms that the end of a stopped broker's process takes: least of 104 stops, half of them 500
STOPPING = 20_000  # ms until a broker that was stopped is gone, at most
NOTICED = 50 * MS  # a cut that resets connections is noticed at once, by and large
FOLDERS = ("bindings", "journal", "large-messages", "paging")


@dataclass(eq=False, slots=True)
class RollingStart:
    """The brokers that are still to be started, one after the other, and whether each is waited for."""

    left: deque[Broker]
    wait: bool = True
    latest: Broker | None = None  # which is waited for
    is_first: bool = False  # none had been started before


class BrokerActions(WaitActions):
    """What happens to brokers and lines, and looks at the state."""

    def _named(self, name: str | None) -> list[Broker]:
        """Return the broker of a name; all where it is None."""
        return list(self.lab.brokers.values()) if name is None else [self.lab.brokers[name]]

    # Brokers

    def do_start(self, action: a.Start) -> Completion:
        """Start brokers, one after the other."""
        return self._start_next(RollingStart(deque(self.lab.brokers.values())))

    def do_start_broker(self, action: a.Restart) -> Completion:
        """Start one broker."""
        wait = action.wait is None or action.wait
        return self._start_next(RollingStart(deque(self._named(action.broker)), wait))

    def do_start_as(self, action: StartAs) -> Completion:
        """Start one broker with another configuration."""
        broker = self.lab.brokers[action.broker]
        broker.spec = lab_file.started_as(broker.spec, action)
        return self._start_next(RollingStart(deque([broker])))

    def _start_next(self, round: RollingStart) -> Completion:
        """Start the brokers up to the first that is waited for."""
        if round.latest is None:
            round.is_first = set(self.lab.roles.values()) == {"not_started"}
        while round.left:
            broker = round.left.popleft()
            if broker.role not in GONE:
                self.lab.tell_in_vain(f"Start of {broker.name}", "the broker was running already")
            self.lab.start(broker)
            round.latest = broker
            most = MS * (STARTING + CHECKING * bool(broker.spec.elements.get("check_for_live_server")))
            if round.wait and (round.left or not round.is_first):
                return Completion(self._is_up, round, self.lab.clock.now + most, then=self._started)
            if round.wait:  # the first one waits until all know of each other
                return self._in(most, round, self._started)
        return Completion()

    @staticmethod
    def _is_up(round: RollingStart) -> bool:
        """Whether a broker is live or a backup: the recorder starts the next one then."""
        role = round.latest.role if round.latest is not None else ""
        return role == "live" or role.startswith("backup")

    def _started(self, round: RollingStart) -> None:
        # The recorder's step is over as the last broker is a backup, which only looks for its master then.
        if not round.left and round.latest is not None and round.latest.role == "backup_in_sync":
            round.latest.in_sync_since = self.lab.clock.now
        self.lab.under_way = self._start_next(round)

    def do_crash(self, action: f.Crash) -> None:
        """SIGKILL."""
        self.lab.end(self.lab.brokers[action.broker], orderly=False)

    def do_stop(self, action: a.Stop | ForcedFailover) -> Completion:
        """An orderly stop, or a forced failover; it ends when the process has, or when that takes too long."""
        broker, forced = self.lab.brokers[action.broker], isinstance(action, ForcedFailover)
        if forced:
            self._judge_failover(broker)
        if broker.role == "paused":
            self.lab.tell(STOPS_PAUSED)
        runs = broker.runs
        if broker.role == "down":  # it has ended before, and now that was asked for
            broker.role = "stopped"
        self.lab.stop(broker, forced)
        waits = runs and action.wait is not False
        return self._in(ENDING * MS, broker, self._ended) if waits else Completion()

    def _ended(self, broker: Broker) -> None:
        end = self.lab.clock.now + (STOPPING - ENDING) * MS
        self.lab.under_way = Completion(self._is_gone, broker, end, then=self.lab.come_to_rest)

    @staticmethod
    def _is_gone(broker: Broker) -> bool:
        return broker.role in GONE

    def _judge_failover(self, broker: Broker) -> None:
        """Tell of a forced failover of a broker that does not serve, or has nobody to take over."""
        pair = (b for b in self.lab.all_brokers() if b is not broker and b.node_id == broker.node_id)
        if broker.role in GONE:
            self.lab.tell("the broker was not running")
        elif broker.role != "live":
            self.lab.tell(f"the broker was not live, it was {broker.role}: there was nothing to take over")
        elif not broker.spec.scale_down and not any(b.role.startswith("backup") for b in pair):
            self.lab.tell("the broker had no slave that could take over")

    def do_pause(self, action: a.Pause) -> None:
        """SIGSTOP: its port still accepts, so that nobody notices before the connection's ttl."""
        broker = self.lab.brokers[action.who]
        if not broker.runs:
            return
        broker.suspended = broker.role, self.lab.clock.now
        self.lab.role(broker, "paused")
        self.lab.event(Kind.Suspended, broker)
        for client in self.lab.clients.at(broker):
            client.cut(silent=True)
        self.lab.soon(broker, broker.patience, self.lab.topology.given_up)
        if broker.master is not None and broker.master.served_journal is not None:
            broker.stored_journal = broker.master.served_journal.persisted()
            self.lab.soon(broker, broker.patience, self.lab.replication.given_up)

    def do_resume(self, action: a.Resume) -> None:
        """SIGCONT: what was noticed meanwhile is known to both."""
        broker = self.lab.brokers[action.who]
        if broker.role != "paused":
            self.lab.tell("the broker was not paused")
            return
        role, since = broker.suspended
        self.lab.event(Kind.Resumed, broker)
        self.lab.role(broker, role)
        self.lab.deliver()
        if self.lab.clock.now > since + broker.patience:
            self.lab.replication.lost_master(broker)
            for other in self.lab.live_brokers() if broker.serves else ():
                self.lab.topology.lose_sight(broker, other)
            for slave in self.lab.all_brokers():
                if slave.master is broker:  # which announces itself again
                    self.lab.topology.renew(broker)
                    self.lab.replication.lost_master(slave, wakes=True)

    # The network

    def do_cut(self, action: f.Cut | Isolate) -> None:
        """Cut lines; silently cut ones are noticed when the connection's ttl is over."""
        silent, cuts = action.how == "hang", self.lab.partitions.cuts
        lines = self._lines(action)
        if lines and all(line in cuts and (silent or not cuts[line]) for line in lines):
            self.lab.tell("the link was cut already")
        for line in lines:
            ends = [self.lab.brokers[name] for name in sorted(line) if name in self.lab.brokers]
            if len(ends) == 2 and not silent:
                routes.lose_each_other(self.lab.balancing, *ends)
            self.lab.replication.end_copies(line)
            self.lab.partitions.cuts[line] = silent
            (self.lab.partitions.silent.add if silent else self.lab.partitions.silent.discard)(line)
            self.lab.balancing.outdated = True
            self._line(Kind.Partitioned, line)
            if len(ends) == 1:
                for client in self.lab.clients.at(ends[0]):
                    client.cut(silent)
            else:
                self.lab.later(
                    ends[0].patience if silent else self.lab.random_duration(NOTICED),
                    self.lab.on_line_lost,
                    line,
                )

    def _lines(self, action: OfLines) -> list[frozenset[str]]:
        """Return the lines that an action names."""
        lines = self.lab.partitions.lines(action, self.lab.brokers)
        if not lines:
            self.lab.tell("no link leads from these brokers to others")
        return lines

    def _line(self, kind: Kind, line: frozenset[str]) -> None:
        """Record what happened to a line."""
        names = sorted(line, key=lambda name: (name not in self.lab.brokers, name))
        self.lab.event(kind, self.lab.brokers[names[0]], told={"between": " and ".join(names)})
        self.lab.notes.lines()

    def do_heal(self, action: f.Heal | Rejoin) -> None:
        """Lines are whole again."""
        lines, partitions = self._lines(action), self.lab.partitions
        if lines and not any(line in partitions.cuts or line in partitions.slow for line in lines):
            self.lab.tell("the link was not cut")
        for line in lines:
            partitions.slow.pop(line, None)
            partitions.silent.discard(line)
            self.lab.balancing.outdated = True
            silent = partitions.cuts.pop(line, None)
            if silent is not None:
                self._line(Kind.Healed, line)
            if silent is False:
                partitions.healed[line] = self.lab.clock.now
        self.lab.set_rates()
        self.lab.topology.gossip()
        self.lab.replication.search_again()
        self.lab.deliver()

    def do_slow(self, action: SlowLine) -> None:
        """A line carries so many bytes per second, until it is healed."""
        slow, rate = self.lab.partitions.slow, action.bytes_per_second
        lines = self._lines(action)
        if lines and all(slow.get(line) == rate for line in lines):
            self.lab.tell("the line was as slow already")
        slow.update(dict.fromkeys(lines, rate))
        self.lab.set_rates()

    def do_gateway(self, action: Gateway) -> None:
        """The address that network checks ask answers, or is silent."""
        answers, named = self.lab.gateway, self._named(action.broker)
        asking = [broker for broker in named if broker.spec.asks_gateway]
        if not asking:
            self.lab.tell("no broker asks a gateway; set network_check_url_list among the options of its core")
        elif all(answers.get(broker.name) == action.answers for broker in asking):
            self.lab.tell(f"the gateway {'answered' if action.answers else 'was silent'} already")
        for broker in named:
            answers[broker.name] = action.answers
            self.lab.later(broker.spec.check_period * MS, network_check.check, broker)

    # Looking

    def do_files(self, action: Files) -> None:
        """Note the names in brokers' data folders."""
        folders = self.lab.folders.setdefault(action.label, {})
        for broker in self._named(action.broker):
            saved = broker.old_replicas.items()
            old = (f"{folder}/oldreplica.{no}" for folder, numbers in saved for no in numbers[1:])
            folders[broker.name] = sorted([*FOLDERS, *old])

    def do_snapshot(self, action: a.Snapshot) -> None:
        """Note the state of everything under a label."""
        whole = isinstance(action, Snapshot) and action.topology
        self.lab.snapshots[action.label] = report.snapshot(self.lab, whole)


DO: dict[type[Action], Callable[[BrokerActions, Any], Completion | None]] = {
    a.Start: BrokerActions.do_start,
    a.Restart: BrokerActions.do_start_broker,
    StartAs: BrokerActions.do_start_as,
    f.Crash: BrokerActions.do_crash,
    a.Stop: BrokerActions.do_stop,
    ForcedFailover: BrokerActions.do_stop,
    a.Pause: BrokerActions.do_pause,
    a.Resume: BrokerActions.do_resume,
    f.Cut: BrokerActions.do_cut,
    Isolate: BrokerActions.do_cut,
    f.Heal: BrokerActions.do_heal,
    Rejoin: BrokerActions.do_heal,
    SlowLine: BrokerActions.do_slow,
    Gateway: BrokerActions.do_gateway,
    a.Wait: BrokerActions.do_wait,
    Settle: BrokerActions.do_settle,
    WaitForRole: BrokerActions.do_wait_for,
    WaitForFailover: BrokerActions.do_wait_for,
    WaitForDepth: BrokerActions.do_wait_for,
    WaitForConsumers: BrokerActions.do_wait_for,
    Files: BrokerActions.do_files,
    a.Snapshot: BrokerActions.do_snapshot,
    Snapshot: BrokerActions.do_snapshot,
}
