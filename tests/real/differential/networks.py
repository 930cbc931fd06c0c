"""Random networks of ActiveMQ brokers: bridges with options, consumers of all kinds, faults or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real.differential.draw import Draw

Step = dict[str, Any]
STEPS = (
    "start_broker start_brokers stop_broker kill pause resume cut heal start_connector stop_connector connect "
    "open_session open_consumer temp_queue receive receive_once resume_consumer hold_consumer close_consumer "
    "close_client unsubscribe send commit rollback recover acknowledge tell_reconnect wait_bridge wait_master "
    "wait_connected wait_received wait_role wait_acts settle snapshot"
)
KEYS = {
    "open_consumer": "ack_mode acknowledge delay_ms durable_name exclusive loop prefetch priority receiving "
                     "selector temp topic transacted",
    "send": "continue_on_error group in_background interval_ms jms_priority persistent properties size temp "
            "time_to_live_ms topic transacted",
    "connect": "client_id max_redeliveries prefetch send_timeout_ms start use_async_send "
               "watch_topic_advisories",
    "start_broker": "broker_id store",
}  # fmt: skip
LANGUAGE = {*STEPS.split(), *(f"{do} {key}" for do, keys in KEYS.items() for key in keys.split())}
AGAIN = "?useExponentialBackOff=false&initialReconnectDelay=200"


class Script:
    """A script in the making."""

    def __init__(self, draw: Draw, faults: bool) -> None:
        self.draw, self.faults = draw, faults
        self.names = ["A", "B", "C", "D"][: draw.weighted({2: 4, 3: 5, 4: 1})]
        self.pair = draw.one(self.names) if faults and draw.chance(0.25) else ""  # it has a slave
        self.own = faults and draw.chance(0.35)  # brokers in processes of their own, which can be killed
        self.lines: list[Step] = []
        self.connectors = self.bridges()
        self.brokers = [self.broker(name) for name in self.names]
        if self.pair:
            shared = {"shared_store": "store", "lock_acquire_sleep_interval_ms": 200}
            self.brokers = [{**b, **(shared if b["name"] == self.pair else {})} for b in self.brokers]
            own = {"process": True} if self.own else {}
            self.brokers.append({"name": f"{self.pair}2", **shared, **own})
            self.connectors += [{**c, "name": f"{c['name']}2", "from": f"{self.pair}2"}
                                for c in self.connectors if c["from"] == self.pair]  # fmt: skip
        self.frozen: set[str] = set()
        self.temps: dict[str, str] = {}  # temporary queue -> its client
        self.up = set(self.names)
        self.cut: set[str] = set()
        self.stopped: set[str] = set()  # connectors
        self.clients: dict[str, str] = {}
        self.consumers: dict[str, Step] = {}
        self.held: set[str] = set()
        self.durables: dict[str, tuple[str, str]] = {}  # consumer -> its client and subscription
        self.steps: list[Step] = []
        self.number = 0

    def broker(self, name: str) -> Step:
        """Return a broker with a policy now and then."""
        draw = self.draw
        policy: Step = {"queue": ">", **draw.maybe(0.6, replay_when_no_consumers=True),
                        **draw.maybe(0.3, prioritized_messages=True)}  # fmt: skip
        if draw.chance(0.4):
            policy |= {**draw.maybe(0.5, enable_audit=False), **draw.maybe(0.3, strict_order_dispatch=True),
                       **draw.maybe(0.3, all_consumers_exclusive_by_default=True),
                       **draw.maybe(0.3, queue_prefetch=draw.one([1, 3])),
                       **draw.maybe(0.3, use_consumer_priority=False), **draw.maybe(0.1, lazy_dispatch=True),
                       **draw.maybe(0.2, dead_letter=draw.one([
                           {"kind": "individual", "queue_prefix": "D."}, {"process_non_persistent": True},
                           {"kind": "individual", "queue_prefix": "D.", "process_expired": False},
                       ]))}  # fmt: skip
        if "replay_when_no_consumers" in policy:
            policy |= {
                **draw.maybe(0.2, replay_delay_ms=draw.one([300, 1000])),
                **draw.maybe(0.15, selector_aware=True),
            }
        store = "kahadb" if self.faults and self.draw.chance(0.6) else "memory"
        return {
            "name": name,
            "store": store,
            **({"policies": [policy]} if self.draw.chance(0.25) and len(policy) > 1 else {}),
            **({"process": True} if self.own and draw.chance(0.7) else {}),
            **draw.maybe(0.03, advisory_support=False),
        }

    def bridges(self) -> list[Step]:
        """Connect the brokers: a chain, a ring or a star, each way or duplex."""
        draw, found = self.draw, []
        pairs = [(one, other) for one, other in zip(self.names, self.names[1:], strict=False)]
        if len(self.names) > 2 and draw.chance(0.3):
            pairs.append((self.names[-1], self.names[0]))
        for one, other in pairs:
            both = draw.chance(0.4)
            for frm, to in ((one, other), (other, one)) if both else ((one, other),):
                found.append(self.bridge(frm, to, duplex=not both and draw.chance(0.6)))
        return found

    def bridge(self, frm: str, to: str, duplex: bool) -> Step:
        """Return a connector with some of its options."""
        draw, address = self.draw, to
        if self.faults and draw.chance(0.3) and to != self.pair:
            address = f"{frm}{to}"
            self.lines.append({"name": address, "to": to})
        if to == self.pair:
            address = f"{to}}},{{{to}2"
        options = draw.weighted({"none": 4, "some": 6})
        chosen: Step = {} if options == "none" else {
            **draw.maybe(0.5, network_ttl=draw.number(1, 4)),
            **draw.maybe(0.25, conduit_subscriptions=False),
            **draw.maybe(0.2, decrease_network_consumer_priority=True),
            **draw.maybe(0.2, suppress_duplicate_queue_subscriptions=True),
            **draw.maybe(0.15, dynamic_only=True),
            **draw.maybe(0.15, prefetch_size=draw.one([1, 3, 10])),
            **draw.maybe(0.15, statically_included_destinations=["queue://Q"]),
            **draw.maybe(0.1, excluded_destinations=["queue://Q2"]),
            **draw.maybe(0.1, message_ttl=draw.number(1, 3)),
            **draw.maybe(0.1, consumer_ttl=draw.number(0, 3)),
            **draw.maybe(0.1, suppress_duplicate_topic_subscriptions=False),
            **draw.maybe(0.08, dynamically_included_destinations=["queue://Q", "topic://T"]),
            **draw.maybe(0.06, sync_durable_subs=True),
            **draw.maybe(0.05, static_bridge=True),
            **draw.maybe(0.05, consumer_priority_base=draw.one([-10, 0, 3])),
            **draw.maybe(0.05, bridge_temp_destinations=False),
            **draw.maybe(0.04, always_sync_send=True),
            **draw.maybe(0.04, destination_filter=draw.one(["Queue.>", "Topic.>", "Queue.Q"])),
            **draw.maybe(0.04, advisory_prefetch_size=1),
        }  # fmt: skip
        agent = "masterslave" if to == self.pair else "static"
        return {"name": f"{frm}-{to}", "from": frm, "uri": f"{agent}:({{{address}}}){AGAIN}",
                **({"duplex": True} if duplex else {}), **chosen}  # fmt: skip

    def name(self, prefix: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{prefix}{self.number}"

    def add(self, *steps: Step) -> None:
        """Write steps down, and let the network come to rest."""
        self.steps += [*steps, {"do": "settle"}]


def _client(s: Script, broker: str = "") -> str:
    broker = broker or s.draw.one(sorted(s.up) or s.names)
    if s.clients.get(broker) and s.draw.chance(0.5):
        return s.clients[broker]
    name = s.clients[broker] = s.name("U")
    connect(
        s,
        name,
        broker,
        **s.draw.maybe(0.06, max_redeliveries=s.draw.number(0, 2)),
        **s.draw.maybe(0.04, prefetch=s.draw.one([0, 1, 5])),
        **s.draw.maybe(0.02, use_async_send=True),
        **s.draw.maybe(0.02, watch_topic_advisories=False),
        **s.draw.maybe(0.02, send_timeout_ms=1000),
        **s.draw.maybe(0.01, start=False),
    )
    return name


def connect(s: Script, name: str, broker: str, **keys: Any) -> None:
    """Connect a client, to whichever member of a pair serves."""
    reached = f"{broker}}},{{{broker}2" if broker == s.pair else broker
    address = f"failover:({{{reached}}})?randomize=false&initialReconnectDelay=50&useExponentialBackOff=false"
    s.steps.append({"do": "connect", "client": name, "uri": address, **keys, "max_ms": 4000})


def _dest(s: Script, consumes: bool) -> Step:
    """Return a destination's key: mostly one queue; pattern, composite and virtual topic are rare."""
    name = s.draw.weighted({"Q": 6, "Q2": 1, "T": 3, "several": 0.4, "virtual": 0.4})
    if name == "several":
        return {"queue": "Q.>" if consumes else s.draw.one(["Q.A", "Q.A,Q", "Q.B"])}
    if name == "virtual":
        return {"queue": "Consumer.one.VirtualTopic.V"} if consumes else {"topic": "VirtualTopic.V"}
    return {"topic" if name == "T" else "queue": name}


def open_consumer(s: Script) -> None:
    """Open a consumer."""
    if s.draw.chance(0.1):
        return open_durable(s)
    draw, name, client = s.draw, s.name("K"), _client(s)
    dest = _dest(s, consumes=True)
    step: Step = {"do": "open_consumer", "client": client, "consumer": name, "session": f"s-{name}", **dest,
                  "max_ms": 4000}  # fmt: skip
    step |= draw.maybe(0.2, selector="colour = 'red'")
    step |= draw.maybe(0.3, receiving=False)
    own = [temp for temp, of in s.temps.items() if of == client]
    if own and draw.chance(0.5):
        step |= {"temp": draw.one(own)}
        dest = {"queue": step.pop("queue", step.pop("topic", ""))}
    step |= draw.maybe(0.15, prefetch=draw.one([0, 1, 3, 6]))
    step |= draw.maybe(0.06, delay_ms=draw.one([20, 100]))
    if "queue" in dest:
        step |= draw.maybe(0.1, priority=draw.one([1, 7])) | draw.maybe(0.05, exclusive=True)
    mode = draw.weighted({"auto": 6, "client": 1, "transacted": 1, "dups_ok": 0.5, "individual": 0.4})
    step |= {} if mode == "auto" else {"transacted": True} if mode == "transacted" else {"ack_mode": mode}
    step |= draw.maybe(0.4, acknowledge=False) if mode == "client" else {}
    beside = [known for known in s.consumers.values() if known["client"] == client]
    if beside and draw.chance(0.15):  # a session of several consumers: the first has said how it acknowledges
        first = draw.one(beside)
        said = {key: first[key] for key in ("ack_mode", "transacted") if key in first}
        step = {key: value for key, value in step.items() if key not in ("ack_mode", "transacted")}
        step |= {**said, "session": first["session"]}
    if "receiving" not in step and "delay_ms" not in step:
        step |= draw.maybe(0.08, loop=False)  # it takes what each `receive_once` asks for
    s.consumers[name] = step
    if step.get("receiving") is False:
        s.held.add(name)
    s.add(step)
    return None


def open_durable(s: Script) -> None:
    """Open a durable subscriber on a client of its own, or one that has slept."""
    draw, name = s.draw, s.name("K")
    asleep = {k: of for k, of in s.durables.items() if k not in s.consumers}
    if asleep and draw.chance(0.6):
        old = draw.one(sorted(asleep))
        client, subscription = s.durables.pop(old)
        if draw.chance(0.25):
            s.add({"do": "unsubscribe", "client": client, "session": f"s-{old}", "durable_name": subscription,
                   "max_ms": 4000})  # fmt: skip
            return
    else:
        client, subscription = s.name("U"), f"sub{s.number}"
        connect(s, client, draw.one(sorted(s.up) or s.names), client_id=client)
    step = {
        "do": "open_consumer", "client": client, "consumer": name, "session": f"s-{name}", "topic": "T",
        "durable_name": subscription, "max_ms": 4000, **draw.maybe(0.2, selector="colour = 'red'"),
    }  # fmt: skip
    s.durables[name], s.consumers[name] = (client, subscription), step
    s.add(step)


def with_durable(s: Script) -> None:
    """Let a durable subscriber come, go to sleep, wake up or give up its subscription."""
    awake = sorted(k for k in s.durables if k in s.consumers)
    if not awake or s.draw.chance(0.4):
        return open_durable(s)
    name = s.draw.one(awake)
    del s.consumers[name]
    s.add({"do": "close_consumer", "consumer": name, "max_ms": 4000})
    return None


def with_consumer(s: Script) -> None:
    """Let a consumer take some, go on, or close."""
    if not s.consumers:
        return open_consumer(s)
    name = s.draw.one(sorted(s.consumers))
    step = s.consumers[name]
    does = {"receive": 4, "go on": 2, "close": 2} if name in s.held else {"close": 2, "hold": 1}
    does |= {"wait": 0.5} if name not in s.held else {}
    does |= {"receive_once": 6} if "loop" in step else {}
    does |= {"acknowledge": 3, "recover": 2} if step.get("ack_mode") in ("client", "individual") else {}
    does |= {"commit": 3, "rollback": 2} if "transacted" in step else {}
    what = s.draw.weighted(does)
    session = {"client": step["client"], "session": step["session"], "max_ms": 4000}
    if what in ("commit", "rollback", "recover"):
        s.add({"do": what, **session})
    elif what == "acknowledge":
        s.add({"do": what, "consumer": name, "max_ms": 4000})
    elif what == "receive_once":
        s.add({"do": what, "client": step["client"], "consumer": name,
               "timeout_ms": s.draw.one([300, 300, 1500, 1500, -1]), "max_ms": 4000})  # fmt: skip
    elif what == "wait":
        s.add({"do": "wait_received", "consumer": name, "count": s.draw.number(1, 5), "max_ms": 1500})
    elif what == "hold":
        s.held.add(name)
        s.add({"do": "hold_consumer", "consumer": name})
    elif what == "receive":
        s.add({"do": "receive", "consumer": name, "count": s.draw.number(1, 4), "max_ms": 1500})
    elif what == "go on":
        s.held.discard(name)
        s.add({"do": "resume_consumer", "consumer": name})
    else:
        del s.consumers[name]
        s.held.discard(name)
        s.add({"do": "close_consumer", "consumer": name, "max_ms": 4000})
    return None


def send(s: Script) -> None:
    """Send some messages."""
    draw, client, session = s.draw, _client(s), ""
    own = [k["session"] for k in s.consumers.values() if k["client"] == client and k.get("transacted")]
    how: Step = {"session": "send", "count": draw.number(1, 8)}
    if s.faults and draw.chance(0.12):
        how = {"session": s.name("send"), "count": draw.number(5, 20), "interval_ms": draw.one([50, 100]),
               "in_background": True}  # fmt: skip
    elif draw.chance(0.08):
        how["session"] = session = s.name("send")
        if draw.chance(0.4):
            how["transacted"] = True
        else:
            s.steps.append({"do": "open_session", "client": client, "session": session, "transacted": True,
                            "max_ms": 4000})  # fmt: skip
    elif own and draw.chance(0.3):  # what is sent is part of what a consumer receives
        how["session"] = draw.one(own)
    dest = {"temp": draw.one(sorted(s.temps))} if s.temps and draw.chance(0.5) else _dest(s, consumes=False)
    s.add({
        "do": "send", "client": client, **dest, **how,
        **draw.maybe(0.03, size=3000), **draw.maybe(0.03, continue_on_error=True),
        **draw.maybe(0.4, properties={"colour": ["red", "blue"]}), **draw.maybe(0.08, group=["G1", "G2"]),
        **draw.maybe(0.04, time_to_live_ms=1000), **draw.maybe(0.15, persistent=False),
        **draw.maybe(0.15, jms_priority=[4, 9, 1]), "max_ms": 4000,
    })  # fmt: skip
    if session:
        s.add({"do": draw.one(["commit", "commit", "rollback"]), "client": client, "session": session,
               "max_ms": 4000})  # fmt: skip


def with_client(s: Script) -> None:
    """Make a temporary queue, or close a client with all that it has open."""
    if not s.clients:
        return send(s)
    broker = s.draw.one(sorted(s.clients))
    if s.draw.chance(0.5):
        temp = s.name("temp")
        s.temps[temp] = s.clients[broker]
        s.add(
            {"do": "temp_queue", "client": s.clients[broker], "name": temp, "session": "temp", "max_ms": 4000}
        )
        return None
    if s.draw.chance(0.4):
        return look_around(s, broker)
    name = s.clients.pop(broker)
    s.temps = {temp: of for temp, of in s.temps.items() if of != name}
    s.consumers = {k: step for k, step in s.consumers.items() if step["client"] != name}
    s.held &= set(s.consumers)
    s.add({"do": "close_client", "client": name, "max_ms": 4000})
    return None


def look_around(s: Script, broker: str) -> None:
    """Wait for a client or for the master of a pair, or have a broker send its clients away."""
    name, draw = s.clients[broker], s.draw
    own = {b["name"] for b in s.brokers if b.get("process")}
    there = sorted(s.up - own - s.frozen - {s.pair})
    does = {"connected": 1.0, "master": 1.0 if s.pair else 0.0, "away": 1.0 if len(there) > 1 else 0.0}
    what = draw.weighted(does)
    if what == "connected":
        s.add({"do": "wait_connected", "client": name, **draw.maybe(0.5, to=draw.one(s.names)), "max_ms": 2000})
    elif what == "master":
        s.add({"do": "wait_master", "brokers": [s.pair, f"{s.pair}2"], "max_ms": 2000})
    else:
        one, other = draw.random.sample(there, 2)
        s.add({"do": "tell_reconnect", "broker": one, "to": other}, {"do": "wait_ms", "ms": 1000})


def fault(s: Script) -> None:
    """Let a broker, a line or a connector fail, or mend what has failed."""
    down = sorted(set(s.names) - s.up)
    whole = [line["name"] for line in s.lines if line["name"] not in s.cut]
    own = {b["name"] for b in s.brokers if b.get("process")}
    killed = sorted(own & s.up - s.frozen)
    running = [c for c in s.connectors if c["from"] in s.up - own and c["name"] not in s.stopped]
    does = {"stop": 3.0 if s.up else 0.0, "start": 6.0 if down else 0.0, "cut": 3.0 if whole else 0.0,
            "heal": 6.0 if s.cut else 0.0, "stop connector": 1.0 if running else 0.0,
            "start connector": 3.0 if s.stopped else 0.0, "lose answers": 2.0 if whole else 0.0,
            "kill": 3.0 if killed else 0.0, "freeze": 0.6 if killed else 0.0,
            "thaw": 6.0 if s.frozen else 0.0}  # fmt: skip
    what = s.draw.weighted(does)
    pause = {"do": "wait_ms", "ms": 1000}
    if what == "lose answers":
        lose_answers(s, s.draw.one(whole))
    elif what.endswith("connector"):
        name = s.draw.one([c["name"] for c in running] if what.startswith("stop") else sorted(s.stopped))
        (s.stopped.add if what.startswith("stop") else s.stopped.discard)(name)
        frm = next(c["from"] for c in s.connectors if c["name"] == name)
        s.add({"do": what.replace(" ", "_"), "from": frm, "connector": name}, pause)
    elif what in ("freeze", "thaw"):
        name = s.draw.one(killed if what == "freeze" else sorted(s.frozen))
        (s.frozen.add if what == "freeze" else s.frozen.discard)(name)
        s.add({"do": "pause" if what == "freeze" else "resume", "broker": name}, pause)
    elif what in ("stop", "kill"):
        among = killed if what == "kill" else sorted(s.up - s.frozen)
        if s.frozen and not among:
            return
        name = s.pair if s.pair in among and s.draw.chance(0.4) else s.draw.one(among)
        s.up.discard(name)
        s.stopped -= {c["name"] for c in s.connectors if c["from"] == name}  # they start with their broker
        taken = [{"do": "wait_role", "broker": f"{name}2", "role": "master", "max_ms": 5000}] * (name == s.pair)
        s.add({"do": "kill" if what == "kill" else "stop_broker", "broker": name}, *taken, pause)
        if s.draw.chance(0.3):
            wait_bridge(s)
    elif what == "start":
        name = s.draw.one(down)
        s.up.add(name)
        new = s.draw.maybe(0.06, broker_id="new") | s.draw.maybe(0.04 if name != s.pair else 0, store="new")
        s.add({"do": "start_broker", "broker": name, **waits(s, name), **new}, pause)
        if s.draw.chance(0.3):
            wait_bridge(s)
    elif what == "cut":
        name = s.draw.one(whole)
        how = s.draw.weighted({"refuse": 3, "reset_once": 3, "hang": 0.6})
        s.cut |= {name} if how != "reset_once" else set()
        s.add({"do": "cut", "link": name, "how": how}, pause)
    else:
        name = s.draw.one(sorted(s.cut))
        s.cut.discard(name)
        s.add({"do": "heal", "link": name}, pause)


def lose_answers(s: Script, line: str) -> None:
    """Let what a bridge sends arrive without an answer, then break its line: it sends that again."""
    frm = next(c["from"] for c in s.connectors if f"{{{line}}}" in c["uri"])
    client = _client(s, frm)
    keys = {"queue": "Q", "session": "send", "count": s.draw.number(1, 8), "max_ms": 4000}
    to = next(known["to"] for known in s.lines if known["name"] == line)
    if to in s.up and s.draw.chance(0.8):  # somebody who wants it
        name = s.name("K")
        step = {"do": "open_consumer", "client": _client(s, to), "consumer": name, "session": f"s-{name}",
                "queue": "Q", "max_ms": 4000}  # fmt: skip
        s.consumers[name] = step
        s.add(step)
    s.steps += [{"do": "cut", "link": line, "how": "drop_replies"},
                {"do": "send", "client": client, **keys}, {"do": "wait_ms", "ms": 500}]  # fmt: skip
    s.add({"do": "cut", "link": line, "how": "reset_once"}, {"do": "heal", "link": line},
          {"do": "wait_ms", "ms": 1000})  # fmt: skip


def wait_bridge(s: Script) -> None:
    """Wait until a bridge is up, or down."""
    connector = s.draw.one(s.connectors)
    to = s.draw.one([name for name in s.names if name != connector["from"]])
    s.add(
        {
            "do": "wait_bridge",
            "from": connector["from"],
            "to": to,
            **s.draw.maybe(0.3, up=False),
            "max_ms": 2000,
        }
    )


def waits(s: Script, name: str) -> Step:
    """Return how a start is waited for: who finds the store of a pair locked is a slave."""
    return {"wait": False, "wait_ms": 800} if name == s.pair else {}


MOVES: dict[Callable[[Script], None], float] = {
    open_consumer: 5.0, with_consumer: 3.0, with_durable: 1.0, send: 6.0, with_client: 0.6,
}  # fmt: skip


def scenario(draw: Draw, name: str, faults: bool = True) -> dict[str, Any]:
    """Draw a network and a script; with *faults* brokers and lines fail in it."""
    s = Script(draw, faults)
    s.steps += [{"do": "start_broker", "broker": broker, **waits(s, broker)} for broker in reversed(s.names)]
    if not s.pair and draw.chance(0.05):
        s.steps = [{"do": "start_brokers", "brokers": s.names}]
    if s.pair:
        s.steps.append({"do": "start_broker", "broker": f"{s.pair}2", "wait": False, "wait_ms": 300})
    s.add({"do": "wait_ms", "ms": 1500})
    for _ in range(draw.number(4, 10)):
        draw.weighted({**MOVES, **({fault: 3.5} if faults else {})})(s)
    down = sorted(set(s.names) - s.up)
    s.steps += [{"do": "resume", "broker": name} for name in sorted(s.frozen)]
    s.steps += [{"do": "start_broker", "broker": name, **waits(s, name)} for name in down]
    s.steps += [{"do": "heal", "link": link} for link in sorted(s.cut)]
    if any(step.get("in_background") for step in s.steps):
        s.steps.append({"do": "wait_acts", "max_ms": 5000})
    s.add({"do": "wait_ms", "ms": 1500})
    s.steps.append({"do": "snapshot", "label": "final"})
    return {
        "name": name, "theme": "random", "title": "Drawn by chance", "brokers": s.brokers,
        "connectors": s.connectors, **({"lines": s.lines} if s.lines else {}), "steps": s.steps,
    }  # fmt: skip


def at_rest(draw: Draw, name: str) -> dict[str, Any]:
    """Draw a network and a script without faults."""
    return scenario(draw, name, faults=False)
