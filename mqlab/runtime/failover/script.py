"""The script of a timed scenario: each step begins when the one before has come to its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mqlab.runtime.failover import state
from mqlab.runtime.failover.addresses import Refused, failover_options, split
from mqlab.runtime.failover.calls import Call, SendCall
from mqlab.runtime.failover.client import Client, parse_destination
from mqlab.runtime.failover.lan import group_of
from mqlab.runtime.failover.rounds import shuffle
from mqlab.runtime.failover.waits import WAITS
from mqlab.spec.fault import Step
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.failover.lab import FailoverLab

PACE = 5000  # us between two steps: a client takes a moment; a snapshot shows the very end
PATIENCE = 20_000  # ms that a step which waits for something has, unless told


class Script:
    """Goes from step to step; `began` is when each began, and at which row of the trace."""

    def __init__(self, lab: FailoverLab, steps: Sequence[Step]) -> None:
        self.lab, self.steps = lab, steps
        self.place = -1
        self.began: list[tuple[int, int]] = []
        self.ended = self.resting = False
        self.calls: list[Call] = []
        self.call: Call | None = None
        self.rows: list[dict[str, Any]] = []  # results that are no calls
        self.until: int | None = None  # us
        self.named: set[str] = set()  # the brokers that have been started at least once
        self.slave_since: tuple[str, int] | None = None

    def begin(self) -> None:
        """Begin with the first step."""
        self._next()

    def go_on(self) -> None:
        """Go on to the next step a moment after the one under way has come to its end."""
        if not self.ended and not self.resting and self._over():
            self.resting = True
            following = self.steps[self.place + 1 : self.place + 2]
            pace = 0 if following and following[0].do == "snapshot" else PACE
            self.lab.clock.at(self.lab.clock.now + pace, self.on_paced, None)

    def on_paced(self, _: None) -> None:
        """The moment between two steps is over."""
        self.resting = False
        self._next()

    def _over(self) -> bool:
        step = self.steps[self.place]
        now = self.lab.clock.now
        late = self.until is not None and now >= self.until
        held = self._held(step)
        if held is None:
            return self.until is None or late
        if not held and not late:
            return False
        self._report_wait(step, held)
        return True

    def _held(self, step: Step) -> bool | None:
        """Whether what *step* waits for has come; None if it waits for nothing but time."""
        if self.call is not None:
            return self.call.done
        if step.do in WAITS:
            return WAITS[step.do](self.lab, step)
        over: Callable[[], bool] | None = getattr(self, f"_over_{step.do}", None)
        return None if over is None else over()

    def _report_wait(self, step: Step, held: bool) -> None:
        if step.do == "wait_configured" and step.get("label"):
            self.rows.append({
                "step": self.place, "do": step.do, "client": step.keys["client"],
                "label": step.keys["label"], "ok": True, "reached": held,
                "ms": (self.lab.clock.now - self.began[self.place][0]) // 1000,
            })  # fmt: skip

    def _next(self) -> None:
        self.place += 1
        self.call, self.until = None, None
        if self.place >= len(self.steps):
            self.ended = True
            return
        step = self.steps[self.place]
        lab = self.lab
        if step.at is not None and step.at * 1000 > lab.clock.now:
            lab.clock.rest(step.at * 1000 - 1)
        self.began.append((lab.clock.now, lab.recorder.count))
        if (
            step.get("max_ms") is not None
            or step.do in WAITS
            or (hasattr(self, f"_over_{step.do}"))
        ):
            self.until = lab.clock.now + int(step.get("max_ms", PATIENCE)) * 1000
        if step.do not in WAITS:
            getattr(self, f"_do_{step.do}")(step)
        if self.until is not None:
            lab.clock.at(self.until, self._nothing, None)
        else:
            lab.clock.at(lab.clock.now, self._nothing, None)

    def _nothing(self, _: None) -> None:
        """Time has come to look again."""

    def report(self) -> list[dict[str, Any]]:
        """Return what came of the calls, in the order of the steps."""
        found = list(self.rows)
        for call in self.calls:
            step = call.step
            row: dict[str, Any] = {"step": call.no, "do": step.do, "client": call.client}
            if step.get("label"):
                row["label"] = step.keys["label"]
            if call.done:
                row |= {**call.row, "ms": call.took}
            else:
                row["still_waiting"] = True
            found.append(row)
        return sorted(found, key=lambda row: row["step"])

    # Brokers

    def _do_start_broker(self, step: Step) -> None:
        process = self.lab.processes[step.keys["broker"]]
        self.slave_since = None
        self.named.add(process.name)
        process.start()
        self.life = process.life
        if step.get("max_ms") is None and self._held_back(step):
            self.until = None

    def _held_back(self, step: Step) -> bool:
        return step.get("wait_ms") is not None

    def _over_start_broker(self) -> bool:
        step = self.steps[self.place]
        process = self.lab.processes[step.keys["broker"]]
        if step.get("wait_ms") is not None:
            return self._waited(process.role != "down" or process.life != self.life, step)
        if process.life != self.life:
            return True  # it could not start
        in_set = process.candidate is not None
        if step.get("wait", not in_set):
            return process.open
        return True

    def _waited(self, there: bool, step: Step) -> bool:
        """Whether `wait_ms`, and a random part of `jitter_ms`, have passed since it was there."""
        lab = self.lab
        if self.slave_since is None:
            if there:
                jitter = lab.random.randrange(int(step.get("jitter_ms", 0)) * 1000 + 1)
                wait = int(step.keys["wait_ms"]) * 1000 + jitter
                self.slave_since = ("", lab.clock.now + wait)
                lab.clock.at(lab.clock.now + wait, self._nothing, None)
            return False
        return lab.clock.now >= self.slave_since[1]

    def _do_start_brokers(self, step: Step) -> None:
        for name in step.keys["brokers"]:
            self.named.add(name)
            self.lab.processes[name].start()

    def _over_start_brokers(self) -> bool:
        step = self.steps[self.place]
        if not step.get("wait", True):
            return True
        return all(self.lab.processes[name].open for name in step.keys["brokers"])

    def _do_stop_broker(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].stop()

    def _do_kill(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].kill()

    def _do_pause(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].pause()

    def _do_resume(self, step: Step) -> None:
        self.lab.processes[step.keys["broker"]].resume()

    def _do_host_down(self, step: Step) -> None:
        for process in self.lab.processes.values():
            if process.member.host == step.keys["host"]:
                process.kill()

    # Lines, files, endpoints

    def _do_cut(self, step: Step) -> None:
        how = step.get("how", "refuse")
        self.lab.note(Kind.Partitioned, rule=Rule.asked, detail={"how": how})
        if step.keys["link"] == "database":
            self.lab.database.cut(how)
        else:
            line = self.lab.processes[step.keys["link"]].line
            assert line is not None
            line.cut(how)

    def _do_heal(self, step: Step) -> None:
        self.lab.note(Kind.Healed, rule=Rule.asked)
        if step.keys["link"] == "database":
            self.lab.database.heal()
        else:
            line = self.lab.processes[step.keys["link"]].line
            assert line is not None
            line.heal()

    def _do_database_down(self, step: Step) -> None:
        self.lab.note(Kind.Partitioned, rule=Rule.asked)
        self.lab.database.cut(step.get("how", "refuse"))

    def _do_database_up(self, step: Step) -> None:
        self.lab.note(Kind.Healed, rule=Rule.asked)
        self.lab.database.heal()

    def _do_delete_lock_file(self, step: Step) -> None:
        self.lab.lock_files[step.keys["shared_store"]].delete()

    def _do_touch_lock_file(self, step: Step) -> None:
        self.lab.lock_files[step.keys["shared_store"]].touch()

    def _do_copy_store(self, step: Step) -> None:
        source, target = (self.lab.brokers[step.keys[end]].store for end in ("from", "to"))
        target.queues = {dest: list(kept) for dest, kept in source.queues.items()}

    def _do_write_file(self, step: Step) -> None:
        self.lab.files[step.keys["name"]] = step.keys["text"]

    def _do_set_endpoint(self, step: Step) -> None:
        self.lab.modes[step.keys["endpoint"]] = step.keys["mode"]

    def _do_advertise(self, step: Step) -> None:
        address = self.lab.address_of(step.keys["endpoint"])
        self.lab.lan.advertise(address, self.lab.fill(step.keys["uri"]), None)

    def _do_stop_advertising(self, step: Step) -> None:
        self.lab.lan.withdraw(self.lab.address_of(step.keys["endpoint"]))

    def _do_sniff(self, step: Step) -> None:
        self.lab.lan.sniffed.add(group_of(self.lab.fill(step.keys["uri"])))

    # Clients

    def _begin_call(self, step: Step, call: Call) -> Call:
        self.calls.append(call)
        if not step.get("in_background"):
            self.call = call
        return call

    def _call(self, step: Step, client: str) -> Call:
        return self._begin_call(step, Call(self.lab, self.place, step, client))

    def _do_connect(self, step: Step) -> None:
        name = step.keys["client"]
        client = Client(self.lab, name, self.lab.fill(step.keys["uri"]), step.get("prefetch"))
        client.watches = step.get("watch_topic_advisories", True)
        self.lab.clients_by_name[name] = client
        client.open(self._call(step, name))

    def _do_open_session(self, step: Step) -> None:
        client = self._client(step)
        client.session(step.keys["session"], step.get("transacted", False))
        call = self._call(step, client.name)
        client.request(("session", None, step.keys["session"]), call)

    def _do_open_consumer(self, step: Step) -> None:
        client = self._client(step)
        keys = {key: value for key, value in step.keys.items() if value is not None}
        client.open_consumer(keys, parse_destination(keys), self._call(step, client.name))

    def _do_temp_queue(self, step: Step) -> None:
        client = self._client(step)
        client.make_temp(step.keys["name"], self._call(step, client.name))

    def _do_send(self, step: Step) -> None:
        client = self._client(step)
        first = self.lab.reserve_numbers(step.get("count", 1))
        try:
            dest = parse_destination(dict(step.keys))
        except Refused as error:
            self._call(step, client.name).fail(error.kind, str(error))
            return
        call = SendCall(self.lab, self.place, step, client, dest, first)
        self._begin_call(step, call)
        call.next()

    def _do_commit(self, step: Step) -> None:
        self._end_transaction(step, "commit")

    def _do_rollback(self, step: Step) -> None:
        self._end_transaction(step, "rollback")

    def _end_transaction(self, step: Step, how: str) -> None:
        client, call = self._client(step), self._call(step, step.keys["client"])
        session = client.session(step.keys["session"], True)
        session.finish(how, call)

    def _do_acknowledge(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        consumer.acknowledge()
        self._call(step, consumer.client.name).finish()

    def _do_receive_once(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        consumer.receive_once(self._call(step, consumer.client.name),
                              int(step.get("timeout_ms", 0) * 1000))  # fmt: skip

    def _do_close_consumer(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        call = self._call(step, consumer.client.name)
        had = {message.number for message in consumer.had}
        consumer.close()
        if consumer.client.transport.away:
            consumer.client.after_round(call)
        else:
            consumer.client.request(("unsubscribe", None, consumer.name, had), call)

    def _do_close_client(self, step: Step) -> None:
        self._client(step).close(self._call(step, step.keys["client"]))

    def _client(self, step: Step) -> Client:
        return self.lab.clients_by_name[step.keys["client"]]

    def _do_receive(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        self.goal = len(consumer.received) + int(step.get("count", 1))
        consumer.allow(step.get("count", 1))

    def _over_receive(self) -> bool:
        step = self.steps[self.place]
        return len(self.lab.consumers_by_name[step.keys["consumer"]].received) >= self.goal

    def _do_resume_consumer(self, step: Step) -> None:
        self.lab.consumers_by_name[step.keys["consumer"]].allow(None)

    def _do_tell_reconnect(self, step: Step) -> None:
        to = self.lab.address_of(step.keys["to"])
        self.lab.processes[step.keys["broker"]].cluster.send_away(to)

    def _do_sample_orders(self, step: Step) -> None:
        found = split(self.lab.fill(step.keys["uri"]))
        options = failover_options(found.options, self.lab.edition)
        orders: dict[str, int] = {}
        for _ in range(step.keys["count"]):
            drawn = list(found.elements)
            if options.randomize:
                drawn = shuffle(drawn, self.lab.random)
            names = " ".join(self.lab.shown_configured(address) for address in drawn)
            orders[names] = orders.get(names, 0) + 1
        self.lab.snapshots[step.keys["label"]] = {"orders": dict(sorted(orders.items()))}

    # Waiting

    def _do_wait_ms(self, step: Step) -> None:
        self.until = self.lab.clock.now + int(step.keys["ms"] * 1000)

    def _do_snapshot(self, step: Step) -> None:
        self.lab.snapshots[step.keys["label"]] = state.take(self.lab)
