"""Random scenarios of ActiveMQ clients that fail over: brokers, lines, cluster updates, sessions."""

from __future__ import annotations

from typing import Any

from tests.real.differential.draw import Draw

Step = dict[str, Any]
STEPS = (
    "start_broker stop_broker kill pause resume cut heal connect open_session open_consumer temp_queue send "
    "commit rollback acknowledge receive_once receive resume_consumer close_consumer close_client "
    "tell_reconnect "
    "set_endpoint write_file wait_ms wait_connected wait_received snapshot"
)
LANGUAGE = set(STEPS.split())
PAUSE = 700  # ms that a script leaves between a fault and what follows


class Script:
    """A script in the making."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.kind = draw.weighted({"plain": 5, "cluster": 2, "link": 3, "endpoint": 1})
        self.names = ["A", "B", "D"][: 1 if self.kind == "link" and draw.chance(0.5) else draw.number(2, 3)]
        self.brokers = [self.broker(name) for name in self.names]
        self.connectors: list[Step] = []
        self.up: set[str] = set()
        self.cut: set[str] = set()
        self.clients: dict[str, str] = {}
        self.sessions: dict[str, Step] = {}  # session -> the step that opened it
        self.consumers: dict[str, Step] = {}
        self.held: set[str] = set()
        self.gave_up: set[str] = set()  # clients that may have made their last attempt
        self.steps: list[Step] = []
        self.number = 0

    def broker(self, name: str) -> Step:
        """Return a broker."""
        found: Step = {"name": name, "store": "kahadb"}
        if self.kind == "link" and (name == "A" or self.draw.chance(0.4)):
            found["link"] = True
        if self.kind == "cluster":
            found["transport_connector"] = {
                "update_cluster_clients": True,
                **self.draw.maybe(0.3, rebalance_cluster_clients=True),
                **self.draw.maybe(0.3, update_cluster_clients_on_remove=True),
            }
        return found

    def name(self, prefix: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{prefix}{self.number}"

    def reaches(self, client: str) -> bool:
        """Whether a broker of a client's address is there, and the line to it whole."""
        there = [name for name in self.names if name in self.up and name not in self.cut]
        return any(f"{{{name}}}" in self.clients[client] for name in there)

    def look_who_gives_up(self) -> None:
        """Note the clients that find nobody now and may try only so often, or that no address is valid for."""
        self.gave_up |= {name for name, uri in self.clients.items() if "backOffMultiplier" in uri}
        limited = [name for name, uri in self.clients.items() if "maxReconnectAttempts" in uri]
        self.gave_up |= {name for name in limited if not self.reaches(name)}

    def uri(self) -> str:
        """Return a client's address: without chance, so that plays can agree."""
        draw = self.draw
        brokers = draw.some(self.names) if self.kind != "cluster" else [self.names[0]]
        if draw.chance(0.15) and self.kind == "endpoint":
            brokers = ["E", *brokers]
        options = ["randomize=false"]
        initial = draw.one([None, 50, 100, 300])
        options += [f"initialReconnectDelay={initial}"] if initial else []
        options += ["useExponentialBackOff=false"] if draw.chance(0.4) else []
        options += [f"maxReconnectDelay={draw.one([200, 500, 1000])}"] if draw.chance(0.4) else []
        options += [f"backOffMultiplier={draw.one([3, 4])}"] if draw.chance(0.1) else []
        options += ["backup=true"] if draw.chance(0.1) and len(brokers) > 1 else []
        options += ["priorityBackup=true"] if draw.chance(0.15) and len(brokers) > 1 else []
        options += [f"timeout={draw.one([500, 1500])}"] if draw.chance(0.1) else []
        options += [f"maxReconnectAttempts={draw.one([2, 4])}"] if draw.chance(0.1) else []
        options += ["trackMessages=true"] if draw.chance(0.1) else []
        return f"failover:({','.join(f'{{{name}}}' for name in brokers)})?{'&'.join(options)}"


def connect(s: Script) -> None:
    """Connect a client, with a consumer most of the time."""
    name = s.name("C")
    s.clients[name] = s.uri()
    s.look_who_gives_up()
    s.steps += [
        {"do": "connect", "client": name, "uri": s.clients[name], "max_ms": 4000},
        {"do": "wait_ms", "ms": 300},
    ]
    if s.draw.chance(0.6):
        open_consumer(s, name)


def open_consumer(s: Script, client: str = "") -> None:
    """Open a consumer, in a session of its own."""
    if not s.clients:
        return connect(s)
    draw, name = s.draw, s.name("K")
    client = client or draw.one(sorted(s.clients))
    session = f"s-{name}"
    mode = draw.weighted({"auto": 4, "client": 2, "transacted": 2, "dups_ok": 1})
    step: Step = {"do": "open_consumer", "client": client, "consumer": name, "session": session, "max_ms": 4000}
    step |= {} if mode == "auto" else {"transacted": True} if mode == "transacted" else {"ack_mode": mode}
    held = draw.maybe(0.4, receiving=False)
    # The recorder ends at a step of a consumer whose opening has not come back.
    if s.reaches(client) and client not in s.gave_up:
        s.consumers[name] = {**step, "mode": mode}
        s.held |= {name} if held else set()
    s.steps += [
        {**step, **({"topic": "T"} if draw.chance(0.15) else {"queue": "Q"}), **held},
        {"do": "wait_ms", "ms": 300},
    ]
    return None


def with_consumer(s: Script) -> None:
    """Let a consumer, or its session, do something."""
    if not s.consumers:
        return open_consumer(s)
    name = s.draw.one(sorted(s.consumers))
    step = s.consumers[name]
    does = {"receive": 4.0, "go on": 2.0} if name in s.held else {}
    if step["mode"] == "client":
        does["acknowledge"] = 3.0
    if step["mode"] == "transacted":
        does |= {"commit": 3.0, "rollback": 2.0}
    does["close"] = 1.0
    what = s.draw.weighted(does)
    session = {"client": step["client"], "session": step["session"], "max_ms": 4000}
    if what == "receive":
        s.steps.append({"do": "receive", "consumer": name, "count": s.draw.number(1, 3), "max_ms": 1500})
    elif what == "go on":
        s.held.discard(name)
        s.steps.append({"do": "resume_consumer", "consumer": name})
    elif what == "acknowledge":
        s.steps.append({"do": "acknowledge", "consumer": name, "max_ms": 4000})
    elif what == "close":
        del s.consumers[name]
        s.held.discard(name)
        s.steps.append({"do": "close_consumer", "consumer": name, "max_ms": 4000})
    else:
        s.steps.append({"do": what, **session})
    s.steps.append({"do": "wait_ms", "ms": 300})
    return None


def send(s: Script) -> None:
    """Send some messages."""
    if not s.clients:
        return connect(s)
    draw = s.draw
    dest = {"topic": "T"} if draw.chance(0.15) else {"queue": "Q"}
    s.steps += [
        {"do": "send", "client": draw.one(sorted(s.clients)), **dest, "count": draw.number(1, 8),
         "session": "send", **draw.maybe(0.3, persistent=False), "max_ms": 4000},
        {"do": "wait_ms", "ms": 300},
    ]  # fmt: skip
    return None


def fault(s: Script) -> None:
    """Let a broker or a line fail, or mend what has failed."""
    draw, down = s.draw, sorted(set(s.names) - s.up)
    links = [b["name"] for b in s.brokers if b.get("link") and b["name"] in s.up and b["name"] not in s.cut]
    does = {"stop": 3.0 if s.up else 0.0, "start": 6.0 if down else 0.0, "cut": 4.0 if links else 0.0,
            "heal": 6.0 if s.cut else 0.0}  # fmt: skip
    if len(s.up) > 1 and s.clients and s.kind == "cluster":
        does["reconnect"] = 1.0
    what = draw.weighted(does)
    if what == "stop":
        name = draw.one(sorted(s.up))
        s.up.discard(name)
        s.steps.append({"do": "stop_broker", "broker": name})
    elif what == "start":
        name = draw.one(down)
        s.up.add(name)
        s.steps.append({"do": "start_broker", "broker": name})
    elif what == "cut":
        name = draw.one(links)
        how = draw.weighted({"refuse": 3, "reset_once": 3, "hang": 1})
        s.steps.append({"do": "cut", "link": name, "how": how})
        if how != "reset_once":
            s.cut.add(name)
    elif what == "reconnect":
        one, other = draw.random.sample(sorted(s.up), 2)
        s.steps.append({"do": "tell_reconnect", "broker": one, "to": other})
    else:
        name = draw.one(sorted(s.cut))
        s.cut.discard(name)
        s.steps.append({"do": "heal", "link": name})
    s.look_who_gives_up()
    s.steps.append({"do": "wait_ms", "ms": draw.one([PAUSE, 2 * PAUSE])})
    if draw.chance(0.2):
        s.steps.append({"do": "snapshot", "label": s.name("s")})


MOVES = {connect: 1.0, open_consumer: 2.0, with_consumer: 4.0, send: 5.0, fault: 6.0}


def scenario(draw: Draw, name: str) -> dict[str, Any]:
    """Draw some brokers, clients and faults."""
    s = Script(draw)
    for broker in s.names if draw.chance(0.7) else s.names[:1]:
        s.up.add(broker)
        s.steps.append({"do": "start_broker", "broker": broker})
    connect(s)
    for _ in range(draw.number(3, 9)):
        draw.weighted(MOVES)(s)
    for broker in sorted(set(s.names) - s.up):
        s.steps.append({"do": "start_broker", "broker": broker})
    s.steps += [{"do": "heal", "link": link} for link in sorted(s.cut)]
    s.steps += [{"do": "resume_consumer", "consumer": consumer} for consumer in sorted(s.held)]
    s.steps += [{"do": "wait_ms", "ms": 3000}, {"do": "snapshot", "label": "final"}]
    found: dict[str, Any] = {
        "name": name,
        "theme": "random",
        "title": f"Drawn by chance: {s.kind}",
        "brokers": s.brokers,
    }
    if s.kind == "cluster":
        found["connectors"] = [
            {"name": f"{one}-{other}", "from": one,
             "uri": f"static:({{{other}}})?useExponentialBackOff=false&initialReconnectDelay=200"}
            for one in s.names for other in s.names if one != other
        ]  # fmt: skip
    if s.kind == "endpoint":
        found["endpoints"] = [{"name": "E", "mode": draw.one(["refuse", "accept_close"])}]
    return {**found, "steps": s.steps}
