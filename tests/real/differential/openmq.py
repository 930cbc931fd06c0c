"""Random scenarios of OpenMQ clusters, in its recorder's words: each step has a weight and needs something."""

from __future__ import annotations

from typing import Any

from mqlab.spec.openmq.words import STEPS
from tests.real.differential.draw import Draw

Step = dict[str, Any]
COLOURS = {"colour": ["red", "blue"], "size": [1, 2, 3]}
SELECTORS = ("colour = 'red'", "size > 1", "colour = 'blue' OR JMSPriority > 6", "n > 3")
DEAD = "mq.sys.dmq"
CHANGED = (  # by a start, for good; who has other auto-creation is not linked
    {"imq.autocreate.queue": "false"}, {"imq.autocreate.destination.maxNumMsgs": "3"},
    {"imq.autocreate.reaptime": "5"}, {"imq.autocreate.queue.maxNumActiveConsumers": "1"},
)  # fmt: skip
PROPERTIES = ["MaxNumMsgs", "LimitBehavior", "ConsumerFlowLimit"]
CREATED = {
    "imq.autocreate.queue": "false", "imq.autocreate.topic": "false", "imq.autocreate.reaptime": 5,
    "imq.autocreate.destination.maxNumMsgs": 3, "imq.autocreate.queue.maxNumActiveConsumers": 1,
    "imq.autocreate.queue.consumerFlowLimit": 2,
}  # fmt: skip
LIMIT = 6000  # ms that a step may take: sends wait under flow control
# What the recorder takes no notice of: a temporary destination is nobody's subscription.
MEANINGLESS = {
    ("temporary", key)
    for key in ("selector", "durable", "shared", "subscription_name", "client_id", "no_client_id", "client")
}
MEANINGLESS |= {("open_consumer", "process"), ("open_producer", "client")}
LANGUAGE = {f"{do}{' ' + key if key else ''}" for do, (needs, may) in STEPS.items()
            for key in ("", *needs.replace("|", " ").split(), *may.split())
            if key not in ("broker", "consumer", "producer", "queue", "topic", "label", "name")
            and (do, key) not in MEANINGLESS}  # fmt: skip


class Script:
    """A script in the making: what is there, and the steps so far."""

    def __init__(self, draw: Draw, faults: bool) -> None:
        self.draw, self.faults = draw, faults
        self.names = [f"b{no}" for no in range(1, draw.weighted({1: 1, 2: 6, 3: 6, 4: 1}) + 1)]
        self.model = draw.weighted({"none": 5, "master": 5, "peer": 1.5, "enhanced": 1.5})
        self.master, self.changes = "b1", self.model == "master" and len(self.names) > 1 and draw.chance(0.3)
        self.up, self.frozen, self.cut = set(self.names), set[str](), set[frozenset[str]]()
        self.database = True  # that of the peers' record, or of the store
        later = self.names[1:] if self.faults and len(self.names) > 1 and draw.chance(0.1) else []
        self.up -= set(later)
        self.steps: list[Step] = [{"do": "start", **({"brokers": self.names[:1]} if later else {})}]
        self.consumers: dict[str, Step] = {}  # open ones, by the step that opened them
        self.held: set[str] = set()
        self.durables: dict[tuple[str, str], Step] = {}
        self.producers: dict[str, Step] = {}
        self.branches: dict[str, tuple[str, str]] = {}  # client -> its transaction, and how far that is
        self.dests = {"queue": {"Q"}, "topic": {"T"}}
        self.number = 0

    def add(self, do: str, settle: bool = True, **keys: Any) -> None:
        """Write a step down, mostly followed by a rest."""
        self.steps.append({"do": do, **keys})
        if settle and self.draw.chance(0.85):
            self.steps.append({"do": "settle", **self.draw.maybe(0.02, ms=20_000)})

    def name(self, prefix: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{prefix}{self.number}"

    def broker(self) -> str:
        """Return a broker that can be asked; sometimes one that is not there."""
        there = [name for name in self.names if name in self.up and name not in self.frozen]
        return self.draw.one(there or self.names) if self.draw.chance(0.97) else self.draw.one(self.names)

    def dest(self, queues: float = 0.65) -> Step:
        """Return a destination's key: mostly the queue, a topic, or somebody's temporary one."""
        # The recorder knows temporary queues of others by their names, not topics, nor those of processes.
        of = {c: s for c, s in self.consumers.items() if s["do"] == "temporary"}
        temporary = [c for c, s in of.items() if "kind" not in s and "process" not in s]
        if temporary and self.draw.chance(0.35):
            return {"queue": f"temp:{self.draw.one(temporary)}"}
        kind = "queue" if self.draw.chance(queues) else "topic"
        return {kind: self.draw.one(sorted(self.dests[kind]))}

    def named(self) -> Step:
        """Return a destination that an administrator can name."""
        kind = "queue" if self.draw.chance(0.7) else "topic"
        return {kind: self.draw.one(sorted(self.dests[kind]))}


# Destinations


def create(s: Script) -> None:
    """Create a destination with some limits."""
    draw, kind = s.draw, "queue" if s.draw.chance(0.75) else "topic"
    name = draw.one([*sorted(s.dests[kind]), f"{kind[0].upper()}2"])
    s.dests[kind].add(name)
    limits = draw.weighted({
        "none": 2, "number": 4, "bytes": 1, "size": 1, "producers": 1, "flow": 3, "active": 2, "local": 2,
    })  # fmt: skip
    behaviour = draw.one(["REJECT_NEWEST", "REMOVE_OLDEST", "REMOVE_LOW_PRIORITY", "FLOW_CONTROL"])
    options: Step = {
        "none": {},
        "number": {"MaxNumMsgs": draw.number(2, 6), "LimitBehavior": behaviour},
        "bytes": {"MaxTotalMsgBytes": draw.number(600, 2000), "LimitBehavior": behaviour},
        "size": {"MaxBytesPerMsg": draw.number(200, 600)},
        "producers": {"MaxNumProducers": draw.number(1, 2)},
        "flow": {"ConsumerFlowLimit": draw.number(1, 4)},
        "active": {"MaxNumActiveConsumers": draw.number(1, 2), "MaxNumBackupConsumers": draw.number(0, 2)},
        "local": draw.one([{"LocalOnly": True}, {"LocalDeliveryPreferred": True}]),
    }[limits]
    if kind == "topic":
        options = {
            key: value for key, value in options.items() if not key.startswith(("Local", "MaxNumA", "MaxNumB"))
        }
    options |= draw.maybe(0.15, UseDMQ=False)
    s.add(
        "create_destination",
        broker=s.broker(),
        **{kind: name},
        limit_ms=LIMIT,
        **({"options": options} if options else {}),
    )


def update(s: Script) -> None:
    """Change a property."""
    behaviour = s.draw.one(["REJECT_NEWEST", "REMOVE_OLDEST", "REMOVE_LOW_PRIORITY", "FLOW_CONTROL"])
    options = s.draw.one([{"MaxNumMsgs": s.draw.number(1, 5)}, {"ConsumerFlowLimit": s.draw.number(1, 5)},
                          {"MaxNumActiveConsumers": s.draw.one([-1, 1, 1, 2, 3])},
                          {"MaxNumBackupConsumers": s.draw.one([-1, 0, 1, 2])}, {"UseDMQ": s.draw.chance(0.5)},
                          {"LimitBehavior": behaviour}])  # fmt: skip
    dest = s.named()
    if s.draw.chance(0.08):
        dest, options = {"queue": DEAD}, {"MaxNumMsgs": s.draw.number(1, 3)}
    if "topic" in dest:
        options = {"MaxNumMsgs": s.draw.number(1, 5)}
    s.add("update_destination", broker=s.broker(), **dest, options=options, limit_ms=LIMIT)


def at_destination(s: Script) -> None:
    """Let an administrator do something to a destination."""
    do = s.draw.weighted({
        "purge": 5, "destroy_destination": 2, "pause_destination": 2, "resume_destination": 2, "browse": 3,
    })  # fmt: skip
    dest = {"queue": s.draw.one(sorted(s.dests["queue"]))} if do == "browse" else s.named()
    if do in ("browse", "purge") and s.draw.chance(0.15):
        dest = {"queue": DEAD}
    s.add(do, broker=s.broker(), **dest, limit_ms=LIMIT)


# Consumers


def open_consumer(s: Script) -> None:
    """Open a consumer of one of eight kinds."""
    draw, name = s.draw, s.name("C")
    dest = s.dest(0.6) if draw.chance(0.97) else {"queue": DEAD}
    step: Step = {"do": "open_consumer", "consumer": name, "broker": s.broker(), **dest, "limit_ms": LIMIT}
    if draw.chance(0.12):
        step = {"do": "temporary", "consumer": name, "broker": s.broker(), **draw.maybe(0.3, kind="topic"),
                "limit_ms": LIMIT}  # fmt: skip
    elif "topic" in dest and not dest["topic"].startswith("temp:"):
        step |= _subscription(s, name)
    step |= draw.maybe(0.5, receiving=False)
    step |= draw.maybe(0.3, flow_limit=draw.number(1, 4))
    step |= draw.maybe(0.04, flow_threshold=draw.one([0, 25, 100]))
    step |= draw.maybe(0.06, delay_ms=draw.one([20, 150]))
    if step["do"] == "open_consumer":
        step |= draw.maybe(0.25, selector=draw.one(SELECTORS))
    step |= draw.maybe(0.03, client={"imqPingAckTimeout": "3000"})
    mode = draw.weighted({"auto": 4, "client": 3, "dups_ok": 1, "transacted": 3, "xa": 1, "none": 0.05})
    if step["do"] == "temporary":
        step |= draw.maybe(0.06, consume=False)
    if mode == "xa" and not step.get("durable"):
        step["xa"] = True
    elif mode not in ("auto", "xa"):
        step["ack_mode"] = mode
    if mode == "client":
        step |= draw.maybe(0.4, acknowledge=True)
    if s.faults and draw.chance(0.25):
        step |= _addresses(s)
    if step["do"] == "open_consumer" and draw.chance(0.03):
        step["broker"] = "any"
        step.pop("reconnect", None)
    if step["do"] == "temporary" and s.faults and draw.chance(0.4):
        step["process"] = True  # can be killed, and does nothing else
        s.held.discard(name)
        step = {key: step[key] for key in ("do", "consumer", "broker", "process", "limit_ms")}
    _opened(s, step)


def _addresses(s: Script) -> Step:
    """Return several brokers for one client, in any order, and how long it looks for one again."""
    brokers = s.draw.some(s.names)
    return {
        "reconnect": True, "broker": s.draw.random.sample(brokers, len(brokers)),
        **s.draw.maybe(0.2, reconnect_attempts=s.draw.number(1, 5)),
        **s.draw.maybe(0.2, reconnect_interval_ms=s.draw.one([200, 1000])),
        **s.draw.maybe(0.1, iterations=s.draw.number(1, 3)),
    }  # fmt: skip


def _subscription(s: Script, name: str) -> Step:
    kind = s.draw.weighted({"plain": 3, "durable": 4, "shared": 1, "shared durable": 1})
    if kind == "plain":
        return {}
    step: Step = {"shared": True} if "shared" in kind else {}
    if "durable" in kind:
        step["durable"] = True
    if "shared" in kind:
        step["subscription_name"] = "S"
        step |= {"no_client_id": True} if s.draw.chance(0.7) else {"client_id": f"id-{name}"}
        return step
    used = {(c.get("client_id"), c.get("subscription_name")) for c in s.consumers.values()}
    asleep = [key for key in s.durables if key not in used]
    if asleep and s.draw.chance(0.5):
        id, subscription = s.draw.one(asleep)
    else:
        id, subscription = f"id{s.number}", f"sub{s.number}"
    return {**step, "client_id": id, "subscription_name": subscription}


def _opened(s: Script, step: Step) -> None:
    name = step["consumer"]
    if step.get("durable") and not step.get("shared"):
        s.durables[step["client_id"], step["subscription_name"]] = step
    s.consumers[name] = step
    if step.get("receiving") is False:
        s.held.add(name)
    s.add(**step)


def with_consumer(s: Script) -> None:
    """Let an open consumer, or its session, do something."""
    if not s.consumers:
        return open_consumer(s)
    name = s.draw.one(sorted(s.consumers))
    step = s.consumers[name]
    if step.get("xa") and s.draw.chance(0.93):
        return _xa(s, "consumer", name)
    if step.get("consume") is False:
        return _does(s, name, "close")
    does = {"close": 2.0, "hold": 1.0, "wait": 0.7}
    if step.get("process"):
        does = {"kill": 3.0}
    elif name in s.held:
        does = {"receive": 5.0, "go on": 2.0, "close": 2.0}
    mode = step.get("ack_mode", "auto")
    if mode == "client":
        does |= {"recover": 2.0, **({} if step.get("acknowledge") else {"acknowledge": 4.0})}
    if mode == "transacted":
        does |= {"commit": 4.0, "rollback": 3.0}
    return _does(s, name, s.draw.weighted(does))


def _does(s: Script, name: str, what: str) -> None:
    step = s.consumers[name]
    if what == "receive":
        s.add("receive", consumer=name, count=s.draw.number(1, 3), within_ms=2000)
    elif what in ("go on", "hold"):
        (s.held.discard if what == "go on" else s.held.add)(name)
        s.add("resume" if what == "go on" else "pause", consumer=name)
    elif what == "wait":
        s.add("wait_received", consumer=name, count=s.draw.number(1, 4), limit_ms=1500)
    elif what in ("close", "kill"):
        del s.consumers[name]
        s.held.discard(name)
        s.branches.pop(name, None)
        s.add("close_consumer" if what == "close" else "kill_client", consumer=name)
        if what == "close" and not step.get("client_id") and s.draw.chance(0.05):
            _opened(s, {**step, "broker": s.broker()})  # under its name again
    else:
        s.add(what, consumer=name, limit_ms=LIMIT)


def unsubscribe(s: Script) -> None:
    """Give up a durable subscription, mostly one that sleeps."""
    if not s.durables:
        return open_consumer(s)
    key = s.draw.one(sorted(s.durables))
    used = any((c.get("client_id"), c.get("subscription_name")) == key for c in s.consumers.values())
    if not used:
        del s.durables[key]
    s.add("unsubscribe", broker=s.broker(), client_id=key[0], subscription_name=key[1], limit_ms=LIMIT)
    return None


# Producers


def _message(s: Script) -> Step:
    draw = s.draw
    return {
        "count": draw.number(1, 6),
        **draw.maybe(0.3, persistent=False),
        **draw.maybe(0.4, properties=COLOURS),
        **draw.maybe(0.25, jms_priority=draw.one([9, [1, 4, 9], [9, 0, 5]])),
        **draw.maybe(0.2, size=draw.one([10, 300, 1000])),
        **draw.maybe(0.06, time_to_live_ms=1000),
        **draw.maybe(0.04, stop_at_error=True),
        "limit_ms": LIMIT,
    }


def _message_by(s: Script, name: str) -> Step:
    """Return messages of an open producer, which keeps its time to live and its priority in the recorder."""
    message, producer = _message(s), s.producers[name]
    for key, usual in (("time_to_live_ms", producer.get("time_to_live_ms")), ("jms_priority", 4)):
        if key in message:
            producer[key] = message[key]
        elif key in producer:
            message[key] = usual
    return message


def send(s: Script) -> None:
    """Send at a broker, on a connection of its own; now and then beside what follows."""
    more = s.draw.maybe(0.1, transacted=True)
    if s.faults and s.draw.chance(0.1):
        more = {"count": s.draw.number(5, 20), "interval_ms": s.draw.one([50, 200]), "in_background": True}
    s.add("send", broker=s.broker(), **s.dest(), **{**_message(s), **more})


def open_producer(s: Script) -> None:
    """Open a producer."""
    draw, name = s.draw, s.name("P")
    mode = draw.weighted({"auto": 2, "transacted": 4, "xa": 1})
    step: Step = {"do": "open_producer", "producer": name, "broker": s.broker(), **s.dest(), "limit_ms": LIMIT}
    step |= {"auto": {}, "transacted": {"ack_mode": "transacted"}, "xa": {"xa": True}}[mode]
    step |= _addresses(s) if s.faults and draw.chance(0.15) else {}
    step |= draw.maybe(0.03, client_id=f"id-{name}")
    s.producers[name] = step
    s.add(**step)


def with_producer(s: Script) -> None:
    """Let an open producer do something."""
    if not s.producers:
        return open_producer(s)
    name = s.draw.one(sorted(s.producers))
    step = s.producers[name]
    does = {"send": 4.0, "close": 1.0}
    if step.get("xa") and s.draw.chance(0.93):
        return _xa(s, "producer", name)
    if step.get("ack_mode"):
        does |= {"commit": 3.0, "rollback": 2.0}
    what = s.draw.weighted(does)
    if what == "send":
        more = {**s.draw.maybe(0.12, in_background=True), **s.draw.maybe(0.02, lead_ms=1000)}
        s.add("send", producer=name, **_message_by(s, name), **more)
    elif what == "close":
        del s.producers[name]
        s.branches.pop(name, None)
        s.add("close_producer", producer=name)
    else:
        s.add(what, producer=name, limit_ms=LIMIT)
    return None


def _xa(s: Script, kind: str, name: str) -> None:
    """Take a distributed transaction one step further."""
    xid, state = s.branches.get(name, ("", "over"))
    if state == "over":
        xid, state = s.name("x"), "begun"
        _work(s, kind, name, xid)
    elif state == "begun":
        action = s.draw.weighted({"prepare": 4, "rollback": 2, "commit": 1})
        s.add(
            "xa", **{kind: name}, action=action, xid=xid, **({"one_phase": True} if action == "commit" else {})
        )
        state = "prepared" if action == "prepare" else "over"
        if action == "prepare" and s.draw.chance(0.3):
            xid, state = _beside(s, kind, name, xid)
    elif s.draw.chance(0.1):
        s.add("xa", **{kind: name}, action="recover", xid=xid)
    else:
        s.add("xa", **{kind: name}, action=s.draw.weighted({"commit": 3, "rollback": 2}), xid=xid)
        state = "over"
    s.branches[name] = (xid, state)


def _beside(s: Script, kind: str, name: str, prepared: str) -> tuple[str, str]:
    """Let a session begin and end another branch before the prepared one ends."""
    xid = s.name("x")
    _work(s, kind, name, xid)
    for one in s.draw.random.sample([xid, prepared], 2):
        action = s.draw.one(["commit", "rollback"])
        phase = {"one_phase": True} if one == xid and action == "commit" else {}
        s.add("xa", **{kind: name}, action=action, xid=one, **phase)
    return xid, "over"


def _work(s: Script, kind: str, name: str, xid: str) -> None:
    """Begin a branch, send or take something in it, and end it."""
    s.add("xa", settle=False, **{kind: name}, action="start", xid=xid)
    if kind == "producer":
        s.add("send", producer=name, **_message_by(s, name))
    else:
        s.add("receive", consumer=name, count=s.draw.number(1, 3), within_ms=2000)
    s.add("xa", settle=False, **{kind: name}, action="end", xid=xid)


# The cluster


def administer(s: Script) -> None:
    """Give a broker a command, or see who is reached."""
    down = [name for name in s.names if name not in s.up]
    what = s.draw.weighted({"quiesce": 1, "unquiesce": 1, "reload": 1, "connect": 2, "master": 2 * s.changes,
                            "takeover": 4 * (s.model == "enhanced" and bool(down and s.up))})  # fmt: skip
    if what == "master":
        new = s.draw.one([name for name in s.names if name != s.master])
        moved = {"from": s.master, "to": new}
        s.add("admin", broker=s.master, command="change_master", **moved, limit_ms=LIMIT)
        s.master = new if s.up == set(s.names) else s.master
    elif what == "takeover":
        s.add("admin", broker=s.broker(), command=what, target=s.draw.one(down), limit_ms=20000)
    elif what == "connect":
        s.add("connect", broker=s.draw.some(s.names), limit_ms=LIMIT)
    else:
        s.add("admin", broker=s.broker(), command=what, limit_ms=LIMIT)


def fault(s: Script) -> None:
    """Let a broker or a line fail, or mend what has failed."""
    down = [name for name in s.names if name not in s.up]
    running = sorted(s.up - s.frozen)
    does = {"kill": 3.0, "stop": 2.0, "restart": 1.0, "freeze": 1.0} if running else {}
    if s.frozen or s.cut:  # a broker that waits for another in vain does not stop, and cannot be started again
        does.pop("stop", None)
    if len(s.names) > 1 and s.model != "enhanced":
        does["cut"] = 1.0
    if down:
        does |= {"start": 6.0}
    if s.model in ("peer", "enhanced"):
        does["database"] = 1.0 if s.database else 8.0
    if s.frozen:
        does |= {"thaw": 6.0}
    if s.cut:
        does |= {"heal": 6.0}
    what = s.draw.weighted(does)
    if what in ("kill", "stop"):
        name = s.draw.one(running)
        s.up.discard(name)
        s.add(
            what, settle=False, broker=name, **(s.draw.maybe(0.5, no_failover=True) if what == "stop" else {})
        )
        if s.model == "enhanced" and what == "kill" and len(running) > 1 and s.draw.chance(0.5):
            _takeover(s, name, [other for other in running if other != name])
        if any(name in c["broker"] for c in s.consumers.values() if c.get("reconnect")) and s.draw.chance(0.5):
            s.steps.append(
                {"do": "wait_for", "event": "client_reconnected", "settle_ms": 500, "limit_ms": 8000}
            )
        s.steps.append({"do": "wait", "ms": s.draw.weighted({500: 1, 2000: 6, 6000: 3})})
    elif what == "database":
        s.database = not s.database
        s.steps.append({"do": "database", "action": "start" if s.database else "stop"})
        s.steps.append({"do": "wait", "ms": 12000 if s.database else 1000})
    elif what == "restart":
        more = {**s.draw.maybe(0.2, until="ready"), **s.draw.maybe(0.15, options=s.draw.one(CHANGED))}
        s.add("restart", broker=s.draw.one(running), **more)
    elif what == "start":
        name = s.draw.one(down)
        s.up.add(name)
        more = {**s.draw.maybe(0.2, until="ready"), **s.draw.maybe(0.15, options=s.draw.one(CHANGED))}
        s.add("start_broker", broker=name, **more)
    elif what in ("freeze", "thaw"):
        name = s.draw.one(running if what == "freeze" else sorted(s.frozen))
        (s.frozen.add if what == "freeze" else s.frozen.discard)(name)
        s.add("pause" if what == "freeze" else "resume", broker=name)
    else:
        line = (
            frozenset(s.draw.random.sample(s.names, 2))
            if what == "cut"
            else s.draw.one(sorted(s.cut, key=sorted))
        )
        (s.cut.add if what == "cut" else s.cut.discard)(line)
        s.add(what, between=sorted(line))


def _takeover(s: Script, dead: str, others: list[str]) -> None:
    """Wait until a broker is taken over, or knock at the others meanwhile; its owner may die, too."""
    step: Step = {"do": "wait_for", "event": "takeover_complete", **s.draw.maybe(0.3, about=dead)}
    if s.draw.chance(0.2):
        step = {"do": "knock", "brokers": [dead, *others], "until": "takeover_complete", "every_ms": 200}
    s.steps.append({**step, "limit_ms": 60000})
    if len(others) == 1 and s.draw.chance(0.4):  # of several nobody knows which it is
        s.up.discard(others[0])
        s.add("kill_owner", settle=False, of=dead)


MOVES = {
    create: 3.0, update: 1.0, at_destination: 3.0, open_consumer: 6.0, with_consumer: 8.0, unsubscribe: 0.7,
    send: 8.0, open_producer: 1.5, with_producer: 3.0, administer: 0.4,
}  # fmt: skip


def scenario(draw: Draw, name: str) -> dict[str, Any]:
    """Draw a cluster and a script of some steps; in two of five brokers or lines fail."""
    s = Script(draw, faults=draw.chance(0.4))
    moves = {**MOVES, **({fault: 5.0} if s.faults else {})}
    for _ in range(draw.number(5, 14)):
        draw.weighted(moves)(s)
        if draw.chance(0.12):
            s.steps.append({"do": "snapshot", "label": s.name("s"), **draw.maybe(0.2, properties=PROPERTIES)})
    if any(step.get("in_background") for step in s.steps):
        s.steps.append({"do": "wait_background", "limit_ms": 15000})
    for step in ({"do": "heal", "between": sorted(line)} for line in sorted(s.cut, key=sorted)):
        s.add(**step)
    for broker in sorted(s.frozen):
        s.add("resume", broker=broker)
    if not s.database:
        s.steps += [{"do": "database", "action": "start"}, {"do": "wait", "ms": 12000}]
    s.steps += [{"do": "settle"}, {"do": "snapshot", "label": "end"}]
    cluster: Step = {"model": s.model, **({"master": "b1"} if s.model == "master" else {})}
    options = dict([draw.one(sorted(CREATED.items()))]) if draw.chance(0.1) else {}
    options |= {"imq.cluster.dynamicChangeMasterBrokerEnabled": "true"} if s.changes else {}
    options |= {"imq.cluster.monitor.interval": 3} if s.model == "enhanced" and draw.chance(0.7) else {}
    cluster |= {"options": options} if options else {}
    return {
        "name": name, "theme": "random", "title": f"Drawn by chance: {s.model}", "time_limit_seconds": 150,
        "cluster": cluster, "brokers": s.names, "steps": s.steps,
        # Brokers that go on from play to play remember a transaction's id.
        **({"fresh": True} if any(step["do"] == "xa" for step in s.steps) else {}),
    }  # fmt: skip
