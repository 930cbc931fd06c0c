"""The script of an Artemis scenario: its steps, one after the other (conformance/artemis/README.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import artemis as files
from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.clients import CLOSED, NOT_CONNECTED, Client, Consumer
from mqlab.runtime.artemis.lab import HaLab
from mqlab.runtime.artemis.messages import Message
from mqlab.runtime.artemis.replication import NOTICED, WAKES
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind

MS = 1000
STARTING = 600  # ms until a broker that was started is up
PATIENCE = 30_000  # ms that a step waits if it does not say
BLOCKED = 20_000  # ms after which a call counts as blocked
FOLDERS = ("bindings", "journal", "large-messages", "paging")


class Script:
    """Plays the steps."""

    def __init__(self, lab: HaLab, limit: int | None = None) -> None:
        self.lab, self.limit = lab, limit
        self.numbers = 0
        self.sending = 0  # background sends that have not ended

    def play(self) -> None:
        """Play all steps; raises `BadValue` beyond the limit of events."""
        for no, step in enumerate(self.lab.scenario.steps):
            self.lab.step = no
            act: Callable[[Mapping[str, Any]], None] = getattr(self, f"do_{step.do}")
            act(step.keys)
            if self.limit is not None and self.lab.recorder.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

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
        for broker in self._named(keys):
            broker.asleep_role = broker.role
            self.lab.role(broker, "paused")
            self.lab.event(Kind.Suspended, broker)
            ttl = self.lab.scenario.option(broker.server, "connection_ttl") * MS
            if broker.master is not None:
                if broker.master.live is not None:
                    broker.disk = broker.master.live.journal()
                self.lab.later(ttl, self._given_up, (broker, broker.lives))

    def _given_up(self, due: tuple[Broker, int]) -> None:
        slave, lives = due
        if slave.lives == lives and slave.role == "paused" and slave.master is not None:
            self.lab.replication.lost_replica(slave.master)

    def do_resume_broker(self, keys: Mapping[str, Any]) -> None:
        """SIGCONT."""
        for broker in self._named(keys):
            self.lab.event(Kind.Resumed, broker)
            self.lab.role(broker, broker.asleep_role)
            self.lab.balancing.arrived(broker)
            live = broker.master.live if broker.master is not None else None
            if live is not None and live.replica is not broker:
                self.lab.replication.lost_master(broker)
            for slave in self.lab.all_brokers():
                if slave.master is broker and broker.live is not None:
                    self.lab.replication.lost_master(slave, WAKES)

    # The network

    def do_cut(self, keys: Mapping[str, Any]) -> None:
        """Cut lines; silently cut ones are noticed when the connection's ttl is over."""
        silent = bool(keys.get("silent", False))
        for line in list(self.lab.net.change(keys, self.lab.brokers)):
            self.lab.net.cuts[line] = silent
            ends = [self.lab.brokers[name] for name in sorted(line) if name in self.lab.brokers]
            if len(ends) == 1:
                self.lab.clients.cut(ends[0], silent)
            else:
                option = self.lab.scenario.option
                wait = option(ends[0].server, "connection_ttl") + option(
                    ends[0].server, "check_period"
                )
                self.lab.later(wait * MS if silent else NOTICED // 2, self._noticed, line)

    def _noticed(self, line: frozenset[str]) -> None:
        if line in self.lab.net.cuts:
            a, b = (self.lab.brokers[name] for name in sorted(line))
            self.lab.part(a, b)

    def do_heal(self, keys: Mapping[str, Any]) -> None:
        """Lines are whole again."""
        for line in list(self.lab.net.change(keys, self.lab.brokers)):
            self.lab.net.cuts.pop(line, None)
            self.lab.net.slow.pop(line, None)
        self.lab.topology.gossip()
        self.lab.replication.healed()

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
        self.lab.pass_time(keys.get("quiet_ms", 1000) + 500)

    def do_wait_until(self, keys: Mapping[str, Any]) -> None:
        """Wait until a broker has a role."""
        broker, role = self.lab.brokers[keys["broker"]], keys["role"]
        reached = self.lab.pass_until(
            lambda: self._has(broker, role), keys.get("timeout_ms", PATIENCE)
        )
        self._waited(broker.name, role, reached)

    @staticmethod
    def _has(broker: Broker, role: str) -> bool:
        if role != "live_with_replica":
            return broker.role == role
        slave = broker.live.replica if broker.live is not None else None
        return broker.role == "live" and slave is not None and slave.role == "backup_in_sync"

    def do_wait_failover(self, keys: Mapping[str, Any]) -> None:
        """Wait until a client has reconnected so often."""
        client, times = self.lab.clients.named(keys["client"]), keys.get("times", 1)
        reached = self.lab.pass_until(
            lambda: client.failovers.count("failover_completed") >= times,
            keys.get("timeout_ms", PATIENCE),
        )
        self._waited(client.name, "failover_completed", reached)

    def _waited(self, who: str, role: str, reached: bool) -> None:
        row = {"step": self.lab.step, "broker": who, "role": role, "reached": reached}
        self.lab.waits.append(row)

    def do_wait_for_sends(self, keys: Mapping[str, Any]) -> None:
        """Wait until sends in the background have ended."""
        self.lab.pass_until(lambda: self.sending == 0, keys.get("timeout_ms", 60_000))

    # Clients

    def do_open_consumer(self, keys: Mapping[str, Any]) -> None:
        """Open a connection, a session and a consumer."""
        consumer = Consumer(self.lab, keys["consumer"], keys)
        self.lab.clients.consumers[consumer.name] = consumer
        self._open(consumer, keys, "open_consumer")

    def do_open_client(self, keys: Mapping[str, Any]) -> None:
        """Open a client that stays, for sends and transactions."""
        client = Client(self.lab, keys.get("producer") or keys["client"], keys)
        self.lab.clients.senders[client.name] = client
        self._open(client, keys, "open")

    do_open_producer = do_open_client

    def _open(self, client: Client, keys: Mapping[str, Any], what: str) -> None:
        tries = client.options["initial_connect_attempts"]
        wait = client.options["retry_interval"]
        if tries >= 0:
            for no in range(max(tries, 1)):
                if client.connect():
                    return
                if no < tries - 1:
                    self.lab.pass_time(wait)
            client.state = "failed"
            for call in dict.fromkeys(("open", what)):
                client.results.append(f"step {self.lab.step} {call}: {NOT_CONNECTED}")
            return
        self._connecting(client)
        limit = keys.get("time_limit_ms", BLOCKED)
        if not self.lab.pass_until(lambda: client.state != "new", limit):
            client.results.append(f"step {self.lab.step} {what}: still blocked")

    def _connecting(self, client: Client) -> None:
        if client.state == "new" and not client.connect():
            self.lab.later(client.options["retry_interval"] * MS, self._connecting, client)

    def do_receive(self, keys: Mapping[str, Any]) -> None:
        """Take so many messages, or what comes in the time."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        for _ in range(keys["count"]):
            if not consumer.buffer:
                self.lab.pass_until(lambda: bool(consumer.buffer), keys.get("wait_ms", 2000))
            if not consumer.receive_one(keys.get("acknowledge", True), self.lab.step):
                break
        if consumer.state == "failed" and CLOSED not in consumer.results:
            consumer.results.append(CLOSED)

    def do_resume(self, keys: Mapping[str, Any]) -> None:
        """Take everything from now on."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        consumer.receiving = True
        if consumer.state == "failed" and CLOSED not in consumer.results:
            consumer.results.append(CLOSED)
        self.lab.later(MS, lambda _: consumer.go_on(), None)  # it reads while the script goes on

    def do_hold(self, keys: Mapping[str, Any]) -> None:
        """Take nothing any more."""
        self.lab.clients.consumers[keys["consumer"]].receiving = False

    def do_close_consumer(self, keys: Mapping[str, Any]) -> None:
        """Close the connection; one that looks for its broker is blocked in it."""
        consumer = self.lab.clients.consumers[keys["consumer"]]
        if consumer.state == "seeking":
            consumer.results.append(f"step {self.lab.step} close_consumer: still blocked")
            consumer.failovers.append("failover_failed")
        elif consumer.at is not None:
            broker = consumer.at
            consumer.roll_back_taken()
            consumer.detach(flagged=False)
            self.lab.event(Kind.Unsubscribed, broker, frm=consumer.node)
            self.lab.balancing.dispatch(broker)
            self.lab.balancing.redistribute()
        consumer.state, consumer.at = "closed", None

    # Sending

    def do_send(self, keys: Mapping[str, Any]) -> None:
        """Send messages one by one."""
        client = self._sender(keys)
        first, interval = self.numbers + 1, keys.get("interval_ms", 0)
        self.numbers += keys["count"]
        if keys.get("in_background"):
            self.sending += keys["count"]
            for no in range(keys["count"]):
                self.lab.later(
                    no * interval * MS, self._send_behind, (client, keys, first + no, no)
                )
            return
        for no in range(keys["count"]):
            ready = lambda: client.state == "connected" and not self._waits(client)  # noqa: E731
            if not self.lab.pass_until(ready, keys.get("time_limit_ms", BLOCKED)):
                client.results.append(f"step {self.lab.step} send: still blocked")
                return
            self.lab.clients.send(client, self._message(client, keys, first + no, no))
            self.lab.pass_time(interval)
        if client.name == f"sender{self.lab.step}":
            client.close()

    def _sender(self, keys: Mapping[str, Any]) -> Client:
        name = keys.get("producer") or keys.get("client")
        if name is not None:
            return self.lab.clients.senders[name]
        client = Client(self.lab, f"sender{self.lab.step}", keys)
        self.lab.clients.senders[client.name] = client
        self._connecting(client)
        return client

    @staticmethod
    def _waits(client: Client) -> bool:
        """A persistent send waits for a slave that hangs, until its connection's ttl is over."""
        live = client.at.live if client.at is not None else None
        return live is not None and live.replica is not None and live.replica.role == "paused"

    def _send_behind(self, due: tuple[Client, Mapping[str, Any], int, int]) -> None:
        client, keys, number, no = due
        if client.state == "connected":
            self.lab.clients.send(client, self._message(client, keys, number, no))
            self.sending -= 1
            if no + 1 == keys["count"]:
                client.close()
        else:
            self.lab.later(client.options["retry_interval"] * MS, self._send_behind, due)

    def _message(self, client: Client, keys: Mapping[str, Any], number: int, no: int) -> Message:
        where = {**client.keys, **keys}
        dest = Destination(
            *(("topic", where["topic"]) if "topic" in where else ("queue", where["queue"]))
        )
        dealt = {key: value[no % len(value)] if isinstance(value, list) else value
                 for key, value in keys.get("properties", {}).items()}  # fmt: skip
        delay = keys.get("delivery_delay_ms", 0) * MS
        now = self.lab.clock.now
        return Message(number, dest, keys.get("persistent", True), dealt, keys.get("size", 0), now,
                       now + delay if delay else 0)  # fmt: skip

    def do_commit(self, keys: Mapping[str, Any]) -> None:
        """Commit a client's transaction."""
        self.lab.clients.named(keys["client"]).commit(self.lab.step)

    def do_rollback(self, keys: Mapping[str, Any]) -> None:
        """Roll a client's transaction back."""
        self.lab.clients.named(keys["client"]).rollback(self.lab.step)

    def do_xa(self, keys: Mapping[str, Any]) -> None:
        """One call of an XA resource."""
        client, act = self.lab.clients.senders[keys["client"]], keys["act"]
        live = client.at.live if client.at is not None else None
        if act in ("start", "end") or live is None:
            return
        if act == "prepare" and not client.spoilt:
            live.prepared.append(client.work)
            client.work = []
            client.results.append(f"step {self.lab.step} prepare: ok")
        elif act == "recover":
            client.results.append(f"step {self.lab.step} xa recover: {len(live.prepared)} in doubt")
        elif act in ("commit", "rollback") and live.prepared:
            client.work = live.prepared.pop(0)
            getattr(client, act)(self.lab.step, f"xa {act}")
        else:
            client.commit(self.lab.step, f"xa {act}")

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
        self.lab.snapshots[keys["label"]] = {
            "received_so_far": {n: len(c.received) for n, c in self.lab.clients.consumers.items()},
            "brokers": {n: self.lab.state(b, whole) for n, b in self.lab.brokers.items()},
        }
