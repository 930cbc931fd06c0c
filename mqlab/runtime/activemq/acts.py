"""What each step of a script does: to brokers in time, to lines, files and clients with addresses.

A step is an action as it is written down (`spec.steps`). By the pace of calls it is over when its call
has come back, when what it waits for holds, or when its patience is over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mqlab.runtime.activemq import snapshot
from mqlab.runtime.activemq.clients.addresses import Refused, failover_options, shuffle, split
from mqlab.runtime.activemq.clients.calls import Call, SendCall
from mqlab.runtime.activemq.clients.client import Client, parse_destination
from mqlab.runtime.activemq.commands import OpenSession, RemoveDurable, Unsubscribe
from mqlab.runtime.activemq.lives import Lives, Waiting
from mqlab.runtime.activemq.multicast import group_of
from mqlab.runtime.activemq.waits import WAITS
from mqlab.runtime.kernel.lab import Until
from mqlab.spec import Action
from mqlab.spec.clients import ReceiveOnce, WaitUntil
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.scenario import DATABASE
from mqlab.spec.step import Step
from mqlab.spec.steps import TIMES, item_of
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.activemq.connector_run import ConnectorRun
    from mqlab.runtime.activemq.jdbc import Database
    from mqlab.runtime.activemq.lab import Lab
    from mqlab.runtime.activemq.sockets import Line


LONGEST_RECEIVE = 5000  # ms that a consumer waits for one message, unless told


PATIENCE = 20_000  # ms that a step which waits for something has, unless told
LONGEST_CALL = 60_000  # ms that a script waits for a call to come back, unless told


class Acts(Lives):
    """Does steps; `now` is the one that begins, `calls` are all that clients have made."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.calls: list[Call] = []
        self.rows: list[dict[str, Any]] = []  # results that are no calls
        self.named: set[str] = set()  # the brokers that have been started at least once

    def do(self, no: int, action: Action) -> Until:
        """Begin an action, and say when it is over."""
        lab = self.lab
        item = item_of(action, lab.clients_by_name, lab.brokers)
        item.pop("at", None)
        if not lab.by_calls and item["do"] in ("open_consumer", "send"):
            # Who names no session has one of its own, as if it stood on a broker by itself.
            item.setdefault("session", f"of {item.get('consumer') or item.get('producer')}")
        for name, key in TIMES.items():
            if isinstance(item.get(name), str):
                item[key] = duration(item.pop(name)) / 1000
        step = Step(HANDLED_AS.get((item["do"], "consumer" in item), item["do"]), item)
        del item["do"]
        if item.pop("unnamed", False):
            item["queue"] = ""
        over = getattr(self, f"_over_{step.do}", None)
        self.now = now = Waiting(no, step, lab.clock.now)
        if step.get("max_ms") is not None or step.do in WAITS or over is not None:
            now.until = lab.clock.now + int(step.get("max_ms", PATIENCE)) * 1000
        if step.do not in WAITS:
            getattr(self, f"_do_{step.do}")(step)
        if now.call is not None and now.until is None:
            now.until = lab.clock.now + LONGEST_CALL * 1000
        waits = now.call is not None or over is not None or step.do in WAITS
        if not waits and now.until is None:
            return Until(deadline=lab.clock.now)
        return Until(self.held if waits else None, now, now.until, self.on_over)

    def only_waits(self, action: Action) -> bool:
        """Whether an action does nothing but wait."""
        return isinstance(action, (WaitUntil, ReceiveOnce))

    def held(self, waiting: Waiting) -> bool:
        """Whether what a step waits for has come."""
        if waiting.call is not None:
            return waiting.call.done
        if waiting.step.do in WAITS:
            return WAITS[waiting.step.do](self.lab, waiting.step)
        over: Callable[[Waiting], bool] = getattr(self, f"_over_{waiting.step.do}")
        return over(waiting)

    def on_over(self, waiting: Waiting) -> None:
        """A step is over: some say how long it took."""
        step = waiting.step
        if step.do == "wait_configured" and step.get("label"):
            self.rows.append({
                "step": waiting.no, "do": step.do, "client": step.keys["client"],
                "label": step.keys["label"], "ok": True, "reached": self.held(waiting),
                "ms": [(self.lab.clock.now - waiting.start) // 1000] * 3,
            })  # fmt: skip

    # Lines, files, endpoints

    def _lines(self, step: Step) -> list[Line] | list[Database]:
        """Return the lines that a step names: without a name, that of the database."""
        name, other = step.get("link", DATABASE), step.get("other")
        if name == DATABASE:
            return [self.lab.database]
        directory = self.lab.directory
        return directory.lines_to(name) if other is None else [directory.join(name, other)]

    def _do_cut(self, step: Step) -> None:
        how = step.get("how", "refuse")
        row = self.lab.note(Kind.Partitioned, rule=Rule.asked, detail={"how": how})
        for line in self._lines(step):
            line.cut(how, row)

    def _do_heal(self, step: Step) -> None:
        self.lab.note(Kind.Healed, rule=Rule.asked)
        for line in self._lines(step):
            line.heal()
        for client in self.lab.clients():
            client.find_broker()

    _do_database_down, _do_database_up = _do_cut, _do_heal

    def _do_disk_slow(self, step: Step) -> None:
        self.lab.disks[step.get("broker") or step.keys["shared_store"]] = step.keys["factor"]

    def _do_delete_lock_file(self, step: Step) -> None:
        self.lab.lock_files[step.keys["shared_store"]].delete()

    def _do_touch_lock_file(self, step: Step) -> None:
        self.lab.lock_files[step.keys["shared_store"]].touch()

    def _do_copy_store(self, step: Step) -> None:
        source, broker = (self.lab.brokers[step.keys[end]] for end in ("from", "to"))
        rule, target = Rule.store_deleted, broker.store
        for message in [m for kept in target.destinations.values() for m in kept]:
            broker.note(Kind.Discarded, message, rule=rule, cause=message.row)
        target.destinations = {d: list(kept) for d, kept in source.store.destinations.items()}
        for message in [m for kept in target.destinations.values() for m in kept]:
            target.holders[message] = broker.node
            broker.note(Kind.TakenOver, message, to=broker.node, cause=message.row)

    def _do_write_file(self, step: Step) -> None:
        self.lab.files[step.keys["name"]] = step.keys["text"]

    def _do_set_endpoint(self, step: Step) -> None:
        self.lab.directory.modes[step.keys["endpoint"]] = step.keys["mode"]

    def _do_advertise(self, step: Step) -> None:
        address = self.lab.directory.address_of(step.keys["endpoint"])
        self.lab.lan.advertise(address, step.keys["uri"], None)

    def _do_stop_advertising(self, step: Step) -> None:
        self.lab.lan.withdraw(self.lab.directory.address_of(step.keys["endpoint"]))

    def _do_sniff(self, step: Step) -> None:
        self.lab.lan.sniffed.add(group_of(step.keys["uri"]))

    # Clients

    def _begin_call(self, step: Step, call: Call) -> Call:
        self.calls.append(call)
        if not step.get("in_background"):
            self.now.call = call
        return call

    def _call(self, step: Step, client: str) -> Call:
        return self._begin_call(step, Call(self.lab, self.now.no, step, client))

    def _do_connect(self, step: Step) -> None:
        name = step.keys["client"]
        client = Client(self.lab, name, step.keys["uri"], step.get("prefetch"))
        client.client_id = step.get("client_id", name)
        client.redelivery = Redelivery(**step.get("redelivery", {}))
        client.watches = step.get("watch_topic_advisories", True)
        self.lab.clients_by_name[name] = client
        client.open(self._call(step, name))

    def _do_open_session(self, step: Step) -> None:
        client = self._client(step)
        client.session(step.keys["session"], step.get("transacted", False))
        call = self._call(step, client.name)
        client.request(OpenSession(step.keys["session"]), call)

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
        call = SendCall(self.lab, self.now.no, step, client, dest, first)
        self._begin_call(step, call)
        call.next()

    def _do_commit(self, step: Step) -> None:
        self._end_transaction(step, "commit")

    def _do_rollback(self, step: Step) -> None:
        self._end_transaction(step, "rollback")

    def _end_transaction(self, step: Step, how: str) -> None:
        if "consumer" in step.keys:  # its own session
            session = self.lab.consumers_by_name[step.keys["consumer"]].session
            session.finish(how, self._call(step, session.client.name))
            return
        client, call = self._client(step), self._call(step, step.keys["client"])
        client.session(step.keys["session"], True).finish(how, call)

    def _do_acknowledge(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        call = self._call(step, consumer.client.name)
        if not consumer.client.refuses(call):
            consumer.acknowledge(step.get("count"))
            call.finish()

    def _do_receive_once(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        consumer.receive_once(self._call(step, consumer.client.name),
                              int(step.get("timeout_ms", LONGEST_RECEIVE) * 1000))  # fmt: skip

    def _do_close_consumer(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        call = self._call(step, consumer.client.name)
        waits = consumer.session.transaction is not None and (consumer.had or consumer.expected)
        consumer.close()
        transport = consumer.client.transport
        if waits:
            consumer.session.leaving.append(consumer)
            call.finish()
        elif transport is None or transport.away:
            consumer.client.after_round(call)
        else:
            consumer.client.request(Unsubscribe(consumer.name, consumer.last), call)
        if step.get("unsubscribe") and consumer.durable is not None:
            consumer.client.send(RemoveDurable(*consumer.durable))

    def _do_close_client(self, step: Step) -> None:
        self._client(step).close(self._call(step, step.keys["client"]))

    def _client(self, step: Step) -> Client:
        return self.lab.clients_by_name[step.keys["client"]]

    def _do_receive(self, step: Step) -> None:
        consumer = self.lab.consumers_by_name[step.keys["consumer"]]
        self.now.goal = len(consumer.received) + int(step.get("count", 1))
        consumer.allow(step.get("count", 1))

    def _over_receive(self, waiting: Waiting) -> bool:
        consumer = self.lab.consumers_by_name[waiting.step.keys["consumer"]]
        return len(consumer.received) >= waiting.goal

    def _do_resume_consumer(self, step: Step) -> None:
        self.lab.consumers_by_name[step.keys["consumer"]].allow(None)

    def _do_hold_consumer(self, step: Step) -> None:
        self.lab.consumers_by_name[step.keys["consumer"]].allow(0)

    def _do_unsubscribe(self, step: Step) -> None:
        client = self._client(step)
        command = RemoveDurable(client.client_id, step.keys["durable_name"])
        client.request(command, self._call(step, client.name))

    def _do_start_connector(self, step: Step) -> None:
        self._connector(step).start()

    def _do_stop_connector(self, step: Step) -> None:
        self._connector(step).stop()

    def _connector(self, step: Step) -> ConnectorRun:
        home, name = step.get("from"), step.keys["connector"]
        found = [w for w in self.lab.connectors if w.spec.name == name]
        return next(w for w in found if home in (None, w.process.name))

    def _do_tell_reconnect(self, step: Step) -> None:
        to = self.lab.directory.address_of(step.keys["to"])
        self.lab.processes[step.keys["broker"]].cluster.send_away(to)

    def _do_sample_orders(self, step: Step) -> None:
        found = split(step.keys["uri"])
        options = failover_options(found.options, self.lab.edition)
        names = [self.lab.directory.shown_configured(address) for address in found.elements]
        orders: dict[str, int] = {}
        for _ in range(step.keys["count"]):
            drawn = " ".join(shuffle(names, self.lab.random) if options.randomize else names)
            orders[drawn] = orders.get(drawn, 0) + 1
        self.lab.snapshots[step.keys["label"]] = {"orders": dict(sorted(orders.items()))}

    # Waiting

    def _do_wait(self, step: Step) -> None:
        self.now.until = self.lab.clock.now + int(step.keys["ms"] * 1000)

    def _do_snapshot(self, step: Step) -> None:
        moving = {"moving": True} if step.get("moving") else {}
        self.lab.snapshots[step.keys["label"]] = snapshot.take_timed(self.lab) | moving

    def report(self) -> list[dict[str, Any]]:
        """Return what came of the calls, in the order of the steps."""
        found = list(self.rows)
        for call in self.calls:
            step = call.step
            row: dict[str, Any] = {"step": call.no, "do": step.do, "client": call.client}
            if step.get("label"):
                row["label"] = step.keys["label"]
            if call.done:
                row |= {**call.row, "ms": [call.took] * 3}
            else:
                row["still_waiting"] = True
            found.append(row)
        return sorted(found, key=lambda row: row["step"])


HANDLED_AS = {("pause", True): "hold_consumer", ("resume", True): "resume_consumer"}
