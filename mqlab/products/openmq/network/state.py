"""A running cluster: its brokers and clients, what is under way between them, and its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from heapq import heappush
from itertools import permutations
from typing import Any

from mqlab.engine.clock import Call
from mqlab.engine.completion import Completion
from mqlab.engine.lab import Lab
from mqlab.products.openmq.broker import settling
from mqlab.products.openmq.broker.destinations import ClusterDestination, PhysicalDestination
from mqlab.products.openmq.broker.messages import Branch, Delivery, Message
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client.send_job import SendJob
from mqlab.products.openmq.client.state import Client, Consumer, Trip
from mqlab.products.openmq.notes import Notes
from mqlab.products.openmq.script.operation import Row, ScriptStep
from mqlab.spec.action import Action
from mqlab.spec.link import LikeLinks, Links
from mqlab.spec.openmq import OpenMQNetwork
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import Destination

NEVER_YET = -(10**9)  # us


class Cluster(Lab):
    """The state of a cluster, as all that happens in it knows it."""

    burst = 0  # us: when the latest step began that sends and is waited for

    def __init__(
        self,
        scenario: Scenario,
        seed: int = 0,
        jitter: int | str = 0,
        limit: int | None = None,
        links: LikeLinks = None,
        inverted: Collection[str] = (),  # rules of the edition, played the other way round
        longer_names: int = 0,  # characters that a recorder has added to the names of destinations
    ) -> None:
        self.plan: list[ScriptStep[Action]] = [ScriptStep(action) for action in scenario.script]
        network: OpenMQNetwork = scenario.network
        super().__init__("openmq", self.plan, seed, jitter, limit, None, Links.of(links, network.names))
        self.scenario = scenario
        self.network: OpenMQNetwork = network
        self.rules = network.rules.inverted(inverted)
        self.enhanced, self.longer_names = network.model == "enhanced", longer_names
        self.recorded = bool(scenario.about.get("recorded"))  # the script is a recorder's, with its rests
        self.notes = Notes(self)
        self.listed = [m.name for m in network.brokers if not m.not_listed]
        self.brokers: dict[str, Broker] = {}
        self.brokers.update((name, Broker(self, name, no)) for no, name in enumerate(network.names))
        self.destinations: dict[Destination, ClusterDestination] = {}
        self.instances = self.registered = self.numbers = 0  # so far; the last is that of messages
        self.notes.name_links(list(self.brokers))
        self.consumers: dict[str, Consumer] = {}
        self.producers: dict[str, Client] = {}
        self.of_clients: dict[str, Counter[str]] = {}  # client -> how often what happened to it
        self.moved: dict[str, list[str]] = {}  # client that lost its broker -> those it has had
        self.sent_last = NEVER_YET  # when the last message of a send with pauses was sent (us)
        self.looked_at: set[Broker] = set()  # to which an administrator has a connection
        self.hanging: dict[Client, tuple[Broker, int]] = {}  # that tries a frozen broker -> that, its attempts
        self.jobs: list[SendJob] = []  # sends that have not ended
        self.prepared: dict[str, Branch] = {}
        self.ended: dict[str, Branch] = {}  # that are not prepared, by the same ids
        self.forgotten: set[Delivery] = set()  # by clients of theirs, with the commit of another branch
        self.removed: Counter[str] = Counter()  # by transaction that still counts them
        self.committed, self.listed_commits = Counter[Broker](), Counter[Broker]()  # of its own, of others'
        self.expiring: list[Message] = []  # messages with a time to live
        self.change_record: list[tuple[str, tuple[Any, ...]]] = []  # of administrative changes
        self.cuts: set[frozenset[str]] = set()  # lines that swallow everything
        self.held: list[Trip] = []  # what is lost in them
        self.unread: list[Trip] = []  # what has come to a frozen broker
        self.news: list[tuple[frozenset[str], Broker, int]] = []  # lost in a cut: line, whose, place
        self.late: list[tuple[Consumer, Delivery]] = []  # acknowledgements that their homes have not heard
        self.lost: dict[frozenset[str], int] = {}  # when the first of it was sent (us)
        self.healing: set[frozenset[str]] = set()  # whole again, which nobody has noticed yet
        self.unlinked: set[frozenset[str]] = set()  # of whom one could not reach the other when it started
        self.uncalled: set[frozenset[str]] = set()  # those of them whose later one calls at its next attempt
        self.lines = {pair: self.new_link(*pair) for pair in permutations(self.brokers, 2)}
        self.database_up, self.stirred = True, False  # what can move is to be moved in this instant
        self.changed: set[ClusterDestination] = set()  # where something came or went since the last look
        self.unnoted: list[tuple[PhysicalDestination, Message]] = []  # of which it is to note why they wait
        self.reapable: set[PhysicalDestination] = set()  # that may have become unused, or used
        self.timed: list[tuple[int, int, ClusterDestination]] = []  # a heap: when there is to be looked again
        self.beside: list[Completion] = []  # what is under way and the script does not wait for
        self.blocked: list[ScriptStep[Action]] = []  # what went on too long, and waits still
        self.operations: list[Row] = []
        self.snapshots: Row = {}
        self.happened: set[tuple[str, str, str]] = set()  # since the last fault: events, about whom, by whom

    # What is there

    def messages(self) -> list[tuple[PhysicalDestination, Message]]:
        """Return all messages with the instances that hold them."""
        return [(instance, message) for instance in self.physical() for message in instance.messages]

    def physical(self) -> list[PhysicalDestination]:
        """Return all instances of destinations, broker by broker."""
        return [i for broker in self.brokers.values() for i in broker.instances.values()]

    def destination(self, dest: Destination) -> ClusterDestination:
        """Return what is known of a destination in the whole cluster, from its first use on."""
        if dest not in self.destinations:
            number = self.recorder.name_destination(dest)
            self.destinations[dest] = ClusterDestination(self, dest, number)
        return self.destinations[dest]

    def register(self, consumer: Consumer) -> None:
        """A consumer is the latest of all."""
        before = self.consumers.pop(consumer.name, None)
        if before is not None:
            before.at.consumers.remove(before)
        self.registered += 1
        consumer.place, self.consumers[consumer.name] = self.registered, consumer
        consumer.at.consumers.append(consumer)

    def end_job(self, job: SendJob) -> None:
        """A send has ended, and whoever waits for it is told."""
        self.jobs.remove(job)
        if job.interval:
            self.sent_last = self.clock.now
            self.later(1_000_000)  # who looks whether all is quiet looks again
        self.clock.halt()

    def has_happened(self, event: str, about: str | None = None, by: str | None = None) -> bool:
        """Whether an event has happened since the last fault; about whom, and by whom, may be any."""
        return any(
            known[0] == event and about in (None, known[1]) and by in (None, known[2])
            for known in self.happened
        )

    def is_open(self, transaction: str | None) -> bool:
        """Whether a transaction ends with its broker: it is not prepared."""
        return transaction is not None and transaction not in self.prepared

    def is_cut(self, one: Broker, other: Broker) -> bool:
        """Whether the network between two brokers swallows everything."""
        return bool(self.cuts) and frozenset((one.name, other.name)) in self.cuts

    def is_unlinked(self, one: Broker, other: Broker) -> bool:
        """Whether one of two brokers could not reach the other when it started, and has not since."""
        return frozenset((one.name, other.name)) in self.unlinked

    def note_lost(self, one: Broker, other: Broker) -> None:
        """Remember since when something waits to be sent again, if the line between two brokers is cut."""
        if self.is_cut(one, other):
            self.lost.setdefault(frozenset((one.name, other.name)), self.clock.now)

    @property
    def store_down(self) -> bool:
        """Whether the store that all brokers of an enhanced cluster share is away."""
        return self.enhanced and not self.database_up

    def happens(self, event: str, about: str, by: str | None = None) -> None:
        """Remember an event for those who wait for it; who it is about notes it, if nobody else is said."""
        self.happened.add((event, about, by or about))
        if event.startswith("client_"):
            self.of_clients.setdefault(about, Counter())[event.removeprefix("client_")] += 1

    # Time

    def later(self, us: int, call: Call | None = None, argument: object = None) -> None:
        """Let *call* happen in so many us if time goes on so far, and what can move then."""
        self.clock.schedule_background(self.clock.now + us, self.on_due, (call, argument))

    def on_due(self, due: tuple[Call | None, object]) -> None:
        """Something happens, or may go on by now."""
        call, argument = due
        if call is not None:
            call(argument)
        self.dispatch_all()

    def later_at(
        self, us: int, at: ClusterDestination, call: Call | None = None, argument: object = None
    ) -> None:
        """Let *call* happen in so many us, which concerns messages of one destination only."""
        heappush(self.timed, (self.clock.now + us, self.clock.turn, at))
        self.clock.schedule_background(self.clock.now + us, self.on_due_at, (at, call, argument))

    def on_due_at(self, due: tuple[ClusterDestination, Call | None, object]) -> None:
        """Messages of a destination may go on by now."""
        at, call, argument = due
        if call is not None:
            call(argument)
        at.changed()
        settling.settle(self)

    def schedule_dispatch(self, at: ClusterDestination) -> None:
        """Something has come: let what can move now do so, once all else of this instant is there."""
        self.changed.add(at)
        if not self.stirred:
            self.stirred = True
            self.clock.schedule(self.clock.now, self.on_stirred, None)

    def on_stirred(self, _: None) -> None:
        """All of an instant is there."""
        self.stirred = False
        settling.settle(self)

    def dispatch_all(self) -> None:
        """Let everything move that can move now: not only messages have moved."""
        settling.settle_all(self)
