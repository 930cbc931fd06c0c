"""Producers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.messages import OK, REFUSED, Message, destination_of
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


class Sending:
    """The steps of producers; what is held back goes on when it can."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab

    def do_open_producer(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Open a producer on a connection of its own."""
        broker, dest = self.lab.reachable(keys["broker"]), destination_of(keys)
        if broker is None or not self.lab.receiving.exists(broker, dest):
            return dict(REFUSED)
        most = int(broker.instances[dest].option("MaxNumProducers", 100))
        if 0 <= most <= self.producers_at(broker.name, dest):
            return dict(REFUSED)
        self.lab.producers[keys["producer"]] = {"home": broker.name, "dest": dest, "keys": keys}
        return dict(OK)

    def do_close_producer(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Close a producer."""
        self.lab.producers.pop(keys["producer"], None)
        return dict(OK)

    def producers_at(self, broker: str, dest: Destination) -> int:
        """Return how many producers of a destination are connected to a broker."""
        return sum(p["home"] == broker and p["dest"] == dest for p in self.lab.producers.values())

    def do_send(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Send messages one by one; under flow control the rest waits."""
        first, count = self.lab.numbers + 1, int(keys["count"])
        self.lab.numbers += count
        producer = self.lab.producers.get(str(keys.get("producer")))
        fails = producer is not None and self.revive(producer)
        home = producer["home"] if producer else keys.get("broker")
        dest = producer["dest"] if producer else destination_of(keys)
        broker = self.lab.reachable(home) if home else None
        base: dict[str, Any] = {"first": first, "count": count}
        if broker is None or not self.lab.receiving.exists(broker, dest):
            return {**base, **REFUSED}
        name = str(keys.get("producer") or f"P.{home}")
        row: dict[str, Any] = {**base, "sent": 0, "refused": []}
        job: dict[str, Any] = {"row": row, "broker": broker, "dest": dest, "keys": keys, "next": 0,
               "name": name, "open": "producer" not in keys}  # fmt: skip
        if fails:  # the send during the failure is lost; those after it go to the new home
            row["refused"], job["next"] = [first], 1
        if job["open"]:
            self.lab.producers[f"#{first}"] = {"home": broker.name, "dest": dest, "keys": keys}
        self.go_on(job)
        if job["next"] < count:
            self.lab.background.append(job)
            if not keys.get("in_background"):
                self.lab.pass_time(int(keys.get("limit_ms", 30_000)) * 1000)
                job["late"] = job["next"] < count
        return row

    def revive(self, producer: dict[str, Any]) -> bool:
        """Let a producer that lost its broker find another; True if its next send is lost."""
        where = producer["keys"]["broker"]
        names = list(where) if isinstance(where, (list, tuple)) else [where]
        if producer["home"] is None and producer["keys"].get("reconnect"):
            home = self.lab.reachable(names)
        elif producer["home"] is None and self.lab.takeover.enhanced:
            home = self.lab.reachable(self.lab.takeover.owner.get(producer["was"], producer["was"]))
        else:
            return False
        if home is None:
            return False
        producer["home"] = home.name
        self.lab.notes.add(Kind.Attached, frm=self.node(producer["keys"]["producer"], home.name),
                           to=home.node, cause=producer["lost"])  # fmt: skip
        self.lab.receiving.exists(home, producer["dest"])
        return bool(producer.pop("failing", False)) and not producer.get("rolled_back", False)

    def go_on(self, job: dict[str, Any]) -> bool:
        """Send what a producer can send now; True if it sent something."""
        row, moved = job["row"], False
        while job["next"] < row["count"]:
            message = self._message(job, row["first"] + job["next"])
            result = self.lab.stock.verdict(job["broker"], message)
            if result == "blocked":
                row["result"] = "blocked"
                return moved
            moved = True
            job["next"] += 1
            self._note(job, message, result)
            if result == "refused":
                row["refused"].append(message.number)
            else:
                row["sent"] += 1
        if job["open"]:
            self.lab.producers.pop(f"#{row['first']}", None)
        if not row["refused"]:
            row.pop("refused")
        row["result"] = "ok" if row["sent"] == row["count"] else (
            "partly refused" if row["sent"] else "refused")  # fmt: skip
        if job.get("late"):
            row["result"] = "blocked"
        return moved

    def _message(self, job: dict[str, Any], number: int) -> Message:
        keys, place = job["keys"], job["next"]
        given = keys.get("properties", {})
        properties = {k: v[place % len(v)] if isinstance(v, list) else v for k, v in given.items()}
        priority = keys.get("jms_priority", 4)
        priority = priority[place % len(priority)] if isinstance(priority, list) else priority
        message = Message(number, job["broker"].name, job["dest"], keys.get("persistent", True),
                          priority, properties, int(keys.get("size", 100)), self.lab.clock.now)  # fmt: skip
        producer = self.lab.producers.get(str(keys.get("producer")), {"keys": {}})
        if producer["keys"].get("ack_mode") == "transacted" or producer["keys"].get("xa"):
            message.transaction = job["name"]
        elif keys.get("transacted"):
            message.transaction = None  # sent and committed in one step
        return message

    def _note(self, job: dict[str, Any], message: Message, result: str) -> None:
        """Let the broker have the message, or note that it did not take it."""
        broker, node = job["broker"], self.node(job["name"], job["broker"].name)
        way = {"frm": node, "to": broker.node}
        if result == "refused":
            self.lab.notes.message(Kind.Failed, message, broker, rule=Rule.limit_reached, **way)
            return
        message.row = self.lab.notes.message(Kind.Sent, message, broker, **way)
        if result == "dropped":
            full = message.dest.is_queue or bool(message.targets)
            rule = Rule.limit_reached if full else Rule.no_consumer
            self.lab.notes.message(Kind.Discarded, message, broker, rule=rule, cause=message.row)
        else:
            self.lab.stock.accept(broker, message, result == "full", node)

    def node(self, name: str, home: str) -> int:
        """Return the number of a producer in the trace."""
        return self.lab.notes.node(name, "producer", home)

    def _has_moved(self, job: dict[str, Any]) -> bool:
        """Whether a held-back producer whose broker died has another; without one the rest fails."""
        name = str(job["keys"].get("producer"))
        producer = self.lab.producers.get(name)
        if producer is not None and producer["home"] is not None:
            job["broker"] = self.lab.brokers[producer["home"]]
            return True
        if producer is None or not (
            producer["keys"].get("reconnect") or self.lab.takeover.enhanced
        ):
            row = job["row"]
            row.setdefault("refused", []).extend(
                range(row["first"] + job["next"], row["first"] + row["count"])
            )
            row["result"] = "partly refused" if row["sent"] else "refused"
            job["next"] = row["count"]
            self.lab.producers.pop(f"#{row['first']}", None)
        return False

    def unblock(self) -> bool:
        """Let producers go on that were held back; True if one did."""
        moved = False
        for job in list(self.lab.background):
            if job["broker"].running or self._has_moved(job):
                moved |= self.go_on(job)
            if job["next"] >= job["row"]["count"]:
                self.lab.background.remove(job)
        return moved

    def end_transaction(self, name: str, commit: bool) -> None:
        """Let a producer's transaction take effect, or drop what was sent in it."""
        for broker in self.lab.brokers.values():
            for instance in broker.instances.values():
                for message in list(instance.messages):
                    if message.transaction == name:
                        message.transaction = None
                        if not commit:
                            instance.messages.remove(message)
                            self.lab.stock.discard(broker, message, Rule.asked)
