"""The script of an Artemis scenario: its steps, one after the other (conformance/artemis/README.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import artemis as files
from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.calls import PATIENCE, Calls
from mqlab.runtime.artemis.lab import HaLab
from mqlab.runtime.artemis.replication import WAKES
from mqlab.spec.step import Step
from mqlab.trace.kinds import Kind

MS = 1000
STARTING = 3000  # ms until a broker that was started is up: 1 to 10 s were seen
NOTICED = 50 * MS  # a cut that resets connections is noticed at once, by and large
FOLDERS = ("bindings", "journal", "large-messages", "paging")


class Script(Calls):
    """Plays the steps."""

    def __init__(self, lab: HaLab, limit: int | None = None) -> None:
        super().__init__(lab)
        self.limit = limit

    def play(self) -> None:
        """Play all steps; raises `BadValue` beyond the limit of events."""
        for no, step in enumerate(self.lab.scenario.steps):
            self.lab.step = no
            self.take(step)
            if self.limit is not None and self.lab.notes.recorder.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

    def take(self, step: Step) -> None:
        """Play one step."""
        act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{step.do}")
        act(step.keys)

    def _named(self, keys: Mapping[str, Any]) -> list[Broker]:
        given = keys.get("brokers", keys.get("broker", list(self.lab.brokers)))
        return [self.lab.brokers[n] for n in ([given] if isinstance(given, str) else given)]

    # Brokers

    def do_start(self, keys: Mapping[str, Any]) -> None:
        """Start brokers, one after the other."""
        for broker in self._named(keys):
            if "with" in keys:
                item = {"name": broker.name, **broker.server.keys, **keys["with"]}
                broker.server = files.server(item)
            self.lab.start(broker)
            if keys.get("wait", True):
                self.lab.pass_time(STARTING)

    do_start_broker = do_start

    def do_kill(self, keys: Mapping[str, Any]) -> None:
        """SIGKILL."""
        for broker in self._named(keys):
            self.lab.end(broker, orderly=False)

    def do_stop(self, keys: Mapping[str, Any]) -> None:
        """An orderly stop; `failover`: forced."""
        for broker in self._named(keys):
            self.lab.end(broker, orderly=True, failover=bool(keys.get("failover", False)))

    def do_restart(self, keys: Mapping[str, Any]) -> None:
        """Stop and start."""
        self.do_stop(keys)
        self.do_start(keys)

    def do_pause(self, keys: Mapping[str, Any]) -> None:
        """SIGSTOP: its port still accepts, so that nobody notices before the connection's ttl."""
        for broker in (b for b in self._named(keys) if b.runs):
            broker.asleep = broker.role, self.lab.clock.now
            self.lab.role(broker, "paused")
            self.lab.event(Kind.Suspended, broker)
            if broker.master is not None and broker.master.live is not None:
                broker.disk = broker.master.live.kept()
                self.lab.soon(broker, broker.patience, self.lab.replication.given_up)

    def do_resume_broker(self, keys: Mapping[str, Any]) -> None:
        """SIGCONT: what was noticed meanwhile is known to both."""
        for broker in (b for b in self._named(keys) if b.role == "paused"):
            role, since = broker.asleep
            self.lab.event(Kind.Resumed, broker)
            self.lab.role(broker, role)
            self.lab.deliver()
            if self.lab.clock.now > since + broker.patience:
                self.lab.replication.lost_master(broker)
                for slave in self.lab.all_brokers():
                    if slave.master is broker:
                        self.lab.replication.lost_master(slave, WAKES)

    # The network

    def do_cut(self, keys: Mapping[str, Any]) -> None:
        """Cut lines; silently cut ones are noticed when the connection's ttl is over."""
        silent = bool(keys.get("silent", False))
        for line in list(self.lab.net.change(keys, self.lab.brokers)):
            self.lab.net.cuts[line] = silent
            ends = [self.lab.brokers[name] for name in sorted(line) if name in self.lab.brokers]
            self._line(Kind.Partitioned, line)
            if len(ends) == 1:
                for client in self.lab.clients.at(ends[0]):
                    client.cut(silent)
            else:
                self.lab.later(ends[0].patience if silent else NOTICED, self.lab.part, line)

    def _line(self, kind: Kind, line: frozenset[str]) -> None:
        """Record what happened to a line."""
        names = sorted(line, key=lambda name: (name not in self.lab.brokers, name))
        self.lab.event(kind, self.lab.brokers[names[0]], told={"between": " and ".join(names)})
        self.lab.notes.look()

    def do_heal(self, keys: Mapping[str, Any]) -> None:
        """Lines are whole again."""
        for line in list(self.lab.net.change(keys, self.lab.brokers)):
            self.lab.net.slow.pop(line, None)
            if self.lab.net.cuts.pop(line, None) is not None:
                self._line(Kind.Healed, line)
        self.lab.topology.gossip()
        self.lab.replication.look_around()
        self.lab.deliver()

    def do_slow(self, keys: Mapping[str, Any]) -> None:
        """A line carries so many bytes per second, until it is healed."""
        for line in self.lab.net.change(keys, self.lab.brokers):
            self.lab.net.slow[line] = int(keys["bytes_per_second"])

    def do_gateway(self, keys: Mapping[str, Any]) -> None:
        """The address that network checks ask answers, or is silent."""
        for broker in self._named(keys):
            self.lab.gateway[broker.name] = bool(keys["answers"])
            period = broker.server.keys.get("core", {}).get("network_check_period", 5000)
            self.lab.later(period * MS, self.lab.check_network, broker)

    # Waiting

    def do_wait(self, keys: Mapping[str, Any]) -> None:
        """Let time pass."""
        self.lab.pass_time(keys["ms"])

    def do_settle(self, keys: Mapping[str, Any]) -> None:
        """Wait until nothing moves for a second, or as long as the step says."""
        quiet, end = keys.get("quiet_ms", 1000), self.lab.clock.now
        end += keys.get("timeout_ms", PATIENCE) * MS
        self.lab.pass_time(quiet + 500)
        while self.lab.notes.moved > self.lab.clock.now - quiet * MS and self.lab.clock.now < end:
            self.lab.pass_time(100)

    def do_wait_until(self, keys: Mapping[str, Any]) -> None:
        """Wait until a broker has a role."""
        broker, role = self.lab.brokers[keys["broker"]], keys["role"]

        def has() -> bool:
            slave = broker.live.replica if broker.live is not None else None
            replica = role != "live_with_replica" or (slave and slave.role == "backup_in_sync")
            return bool(replica) and broker.role == role.removesuffix("_with_replica")

        self.wait_for(has, keys, broker.name, role)

    # Looking

    def do_files(self, keys: Mapping[str, Any]) -> None:
        """Note the names in brokers' data folders."""
        self.lab.folders[keys["label"]] = {
            broker.name: sorted([*FOLDERS, *(
                f"{folder}/oldreplica.{no}" for folder, saved in broker.moved.items()
                for no in saved[1:]
            )]) for broker in self._named(keys)
        }  # fmt: skip

    def do_snapshot(self, keys: Mapping[str, Any]) -> None:
        """Note the state of everything under a label."""
        whole = bool(keys.get("topology", False))
        self.lab.snapshots[keys["label"]] = files.snapshot(self.lab, whole)
