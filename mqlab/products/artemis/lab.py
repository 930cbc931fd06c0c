"""A lab for Artemis brokers: the script of what happens to them, and what comes of it."""

from __future__ import annotations

from functools import partial

from mqlab.engine.clock import NEVER
from mqlab.engine.completion import Completion
from mqlab.engine.in_vain import CLOSED, SessionState
from mqlab.engine.limits import LONGEST_REST
from mqlab.products.artemis import report
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.site import Site
from mqlab.products.artemis.client import client_actions
from mqlab.products.artemis.client.clients import Client
from mqlab.products.artemis.client.consumers import Consumer
from mqlab.products.artemis.files import treatment
from mqlab.products.artemis.script import broker_actions
from mqlab.spec.action import Action, Pause, Resume, Snapshot
from mqlab.spec.artemis import WORDS
from mqlab.spec.artemis.script import ScriptReader
from mqlab.spec.json_types import JsonDict
from mqlab.spec.scenario import check_actions
from mqlab.trace.trace import Trace


def takes_over(broker: Broker) -> bool:
    """Whether a broker is on its way to serve, or finds out whether it shall: its master is gone."""
    if broker.role in ("starting", "stopping"):
        return True
    if not broker.runs or not broker.role.startswith("backup"):
        return False
    if broker.spec.policy == "shared_store":
        store = broker.lab.store.of(broker)
        return store.live is None and store.crashed
    master = broker.master
    return broker.role == "backup_in_sync" and master is not None and not broker.reaches(master)


def may_come(client: Client, broker: Broker) -> bool:
    """Whether one finds its broker, or gives up: without a limit it does neither over a line that is cut."""
    limited = client.options["reconnect_attempts"] >= 0
    return broker.node_id == client.node_id and (limited or client.reaches(broker))


class ArtemisLab(Site):
    """Brokers, lines and clients of one scenario, and its script."""

    def begin(self, action: Action) -> Completion:
        """Begin an action; it is over when what it set going has come."""
        self.step_no = self.numbers.popleft() if self.numbers else self.step_no + 1
        self.judge(action)
        kind, of_broker = type(action), isinstance(action, (Pause, Resume)) and action.kind != "consumer"
        if kind in client_actions.DO and not of_broker:
            return client_actions.DO[kind](client_actions.ClientActions(self), action) or Completion()
        return broker_actions.DO[kind](broker_actions.BrokerActions(self), action) or Completion()

    reader: ScriptReader | None = None  # of what is done, once something is

    def _do(self, action: Action) -> None:
        check_actions((action,))
        before, reader, self.reader = self.scenario, self.reader, None
        if reader is None:
            reader = self.network.reader()
            for known in before.actions:
                reader.read(known)
        played = reader.read(action)  # of one that cannot be read nothing stays
        self.reader = reader
        scenario = before.planned((*before.actions, action), (*before.script, played))
        if played.at is not None:
            self.schedule(played)
        elif self.under_way is not None:
            self.go_on_beside(self.begin(played))
        else:
            self.under_way = self.begin(played)
        self.scenario = scenario

    def session_state(self, name: str, session: str | None = None) -> SessionState | None:
        """Return what the session of a consumer, or of a client that stays, is now."""
        client = self.clients.consumers.get(name) or self.clients.senders.get(name)
        if client is None:
            return None
        known = {"closed": CLOSED, "failed": "it has given its connection up"}
        gone, left = known.get(client.state, ""), int(client.rollback_only)
        if not isinstance(client, Consumer):
            prepared = [branch for b in self.live_brokers() for branch in b.journal.prepared.values()]
            left += len(client.work) or sum(len(b.work) for b in prepared if b.client == client.name)
            mode = "xa" if client.resource is not None else "transacted"
            return SessionState(gone, None, mode, not client.at_once, left)
        waits = client.mode == "transacted" or not client.acknowledges
        receiving = client.receiving and not client.last_call
        return SessionState(gone, receiving, client.mode, waits, left + len(client.unacknowledged))

    @property
    def coming(self) -> bool:  # type: ignore[override]  # of a product where a takeover is housekeeping
        """Whether somebody is about to take over, to follow, to send on, or to take what came or is delayed.

        So a run goes on, unless it ends with a look.
        """
        looked = isinstance(self.latest, Snapshot)
        if looked or self.clock.now > self.rest_since + LONGEST_REST or not self.clock.heap:
            return False
        clients = [*self.clients.consumers.values(), *self.clients.senders.values()]
        seeking = [client for client in clients if client.state == "reconnecting"]
        for broker in self.all_brokers():
            if takes_over(broker) or (broker.serves and any(may_come(client, broker) for client in seeking)):
                return True
        readers = (c for c in self.clients.consumers.values() if c.receiving and c.state == "connected")
        if any(reader.arrived for reader in readers):
            return True
        queues = (queue for broker in self.live_brokers() for queue in broker.journal.queues.values())
        if any(0 < item.due < NEVER for queue in queues if queue.scheduled for item in queue.waiting):
            return True
        sending = (c for c in clients if c.sending and c.state == "connected")
        return any(not client.is_blocked(persistent=True) for client in sending)

    @property
    def undone(self) -> list[JsonDict]:
        """What of the script has not happened, and who never connected."""
        return [*super().undone, *report.never_connected(self)]

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        version = self.network.edition
        return self.notes.trace(
            {
                **self.settings,
                "product": "artemis",
                "edition": version,
                "undone": self.undone,
                "words": WORDS[version],
                **report.outcome(self),
            },
            partial(treatment.header, self.scenario),
            self.scenario.actions,
        )
