"""Administration: destinations, subscriptions, and commands to the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.messages import OK, REFUSED, destination_of
from mqlab.trace.kinds import Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


class Admin:
    """The steps of administrators."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab

    def do_create_destination(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Create a destination, everywhere at once; refused without the change record."""
        broker, dest = self.lab.brokers[keys["broker"]], destination_of(keys)
        if dest in broker.instances or not broker.serves:
            return dict(REFUSED)
        options = dict(keys.get("options", {}))
        if not self.lab.cluster.can_administrate(broker):
            if not self.lab.takeover.enhanced and (
                self.lab.scenario.model == "master" or not self.lab.database_up
            ):
                for peer in self.lab.cluster.peers(broker.name)[1:]:
                    self.lab.cluster.add(peer, dest, "admin", options)  # the refusal leaves a trace
            self.lab.cluster.hang(broker)
            return dict(REFUSED)
        self._recorded("create", (dest, options))
        for peer in self.lab.cluster.peers(broker.name):
            self.lab.cluster.add(peer, dest, "admin", options)
        return dict(OK)

    def do_update_destination(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Change properties, the same everywhere."""
        broker, dest = self.lab.brokers[keys["broker"]], destination_of(keys)
        if dest not in broker.instances or "LocalOnly" in keys["options"]:
            return dict(REFUSED)
        if not self.lab.cluster.can_administrate(broker):
            broker.instances[dest].options.update(keys["options"])
            return dict(REFUSED)
        self._recorded("update", (dest, dict(keys["options"])))
        for peer in self.lab.cluster.peers(broker.name):
            if dest in peer.instances:
                peer.instances[dest].options.update(keys["options"])
        return dict(OK)

    def do_destroy_destination(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Destroy a destination with all its messages; its consumers are cut off for good."""
        broker, dest = self.lab.brokers[keys["broker"]], destination_of(keys)
        if dest not in broker.instances or not self.lab.cluster.can_administrate(broker):
            return dict(REFUSED)
        self._recorded("destroy", dest)
        for peer in self.lab.cluster.peers(broker.name):
            instance = peer.instances.pop(dest, None)
            for message in instance.messages if instance else ():
                self.lab.stock.discard(peer, message, Rule.asked)
        for consumer in self.lab.consumers.values():
            if consumer.dest == dest:
                consumer.open = False
        return dict(OK)

    def _recorded(self, what: str, value: Any) -> None:
        """Write to the change record; all that are there have read it."""
        self.lab.cluster.record.append((what, value))
        for broker in self.lab.brokers.values():
            if broker.running:
                broker.seen = len(self.lab.cluster.record)

    def do_unsubscribe(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Give up a durable subscription, on any broker, unless its client id is in use."""
        broker = self.lab.reachable(keys["broker"])
        key = (str(keys["client_id"]), str(keys["subscription_name"]))
        used = any(
            c.open and self.lab.receiving.client_id(c.keys) == key[0]
            for c in self.lab.consumers.values()
        )
        if broker is None or used or key not in broker.durables:
            return dict(REFUSED)
        if not self.lab.cluster.can_administrate(broker):
            return dict(REFUSED)
        self._recorded("unsubscribe", key)
        for peer in self.lab.cluster.peers(broker.name):
            peer.durables.pop(key, None)
            self.lab.delivery.forget(peer, key)
        return dict(OK)

    def _pause(self, keys: Mapping[str, Any], paused: bool) -> dict[str, Any]:
        broker = self.lab.brokers[keys["broker"]]
        instance = broker.instances.get(destination_of(keys))
        if instance is None or not broker.serves:
            return dict(REFUSED)
        instance.paused = paused
        return dict(OK)

    def do_pause_destination(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Pause one broker's instance: its producers wait."""
        return self._pause(keys, True)

    def do_resume_destination(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Let a paused instance go on."""
        return self._pause(keys, False)

    def do_browse(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Show what a broker holds of a queue, by priority."""
        broker, dest = self.lab.brokers[keys["broker"]], destination_of(keys)
        found = broker.instances[dest].messages if dest in broker.instances else []
        order = sorted(found, key=lambda m: (-m.priority, m.number))
        return {"numbers": [m.number for m in order], **OK}

    def do_connect(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Open and close a connection."""
        broker = self.lab.reachable(keys["broker"])
        return {"home": broker.name, **OK} if broker else dict(REFUSED)

    def do_knock(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Knock at brokers until an event has happened."""
        self.lab.do_wait_for({"event": keys["until"], "limit_ms": keys.get("limit_ms", 60_000)})
        return dict(OK)

    def do_admin(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Administrative commands of a cluster."""
        broker, command = self.lab.brokers[keys["broker"]], keys["command"]
        if command == "takeover":
            return self.lab.takeover.by_command(broker, self.lab.brokers[keys["target"]])
        if command != "change_master":
            return dict(OK)
        flag = broker.option("imq.cluster.dynamicChangeMasterBrokerEnabled", "false")
        if str(flag).lower() != "true" or broker.master != broker.name:
            return dict(REFUSED)
        for peer in self.lab.brokers.values():
            peer.master = keys["to"]
        return dict(OK)

    def do_xa(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Steps of a distributed transaction."""
        action, xid = keys["action"], str(keys.get("xid", ""))
        if action == "prepare":
            names = [n for n in (keys.get("producer"), keys.get("consumer")) if n]
            self.lab.prepared[str(names[0]) if names else xid] = []
        if action in ("commit", "rollback"):
            for name in list(self.lab.prepared):
                self.lab.sending.end_transaction(name, commit=action == "commit")
                del self.lab.prepared[name]
        return dict(OK)

    def do_kill_owner(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Kill the broker that took over another."""
        owner = self.lab.takeover.owner.get(keys["of"])
        return self.lab.do_kill({"broker": owner}) if owner else {"result": "not reached"}
