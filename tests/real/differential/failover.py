"""Random scenarios of ActiveMQ clients that fail over: brokers, lines, cluster updates, sessions."""

from __future__ import annotations

from typing import Any

from tests.real.differential.draw import Draw

Step = dict[str, Any]
STEPS = (
    "start_broker start_brokers stop_broker kill pause resume cut heal database_down database_up "
    "delete_lock_file touch_lock_file copy_store start_connector stop_connector connect open_session "
    "open_consumer temp_queue send commit rollback recover acknowledge receive_once receive resume_consumer "
    "close_consumer close_client tell_reconnect set_endpoint write_file advertise stop_advertising sniff "
    "sample_orders wait_ms wait_connected wait_received wait_master wait_role wait_bridge wait_attempts "
    "wait_configured wait_acts snapshot"
)
KEYS = {
    "open_consumer": "ack_mode acknowledge delay_ms durable in_background loop receiving temp topic transacted",
    "send": "continue_on_error in_background interval_ms persistent size temp topic transacted",
    "connect": "in_background prefetch send_timeout_ms start use_async_send watch_topic_advisories",
    "wait_attempts": "by to", "wait_configured": "list",
    "commit": "in_background", "wait_connected": "to", "start_broker": "wait jitter_ms",
}  # fmt: skip
LANGUAGE = {*STEPS.split(), *(f"{do} {key}" for do, keys in KEYS.items() for key in keys.split())}
MULTICAST = "multicast://239.255.2.3:{mport}?group={group}&keepAliveInterval=200"
PAUSE = 700  # ms that a script leaves between a fault and what follows


class Script:
    """A script in the making."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.kind = draw.weighted({"plain": 4, "cluster": 2, "link": 3, "endpoint": 1, "pair": 2, "process": 1,
                                   "jdbc": 2.5, "multicast": 0.5, "bridges": 1})  # fmt: skip
        alone = self.kind == "multicast" or (self.kind == "link" and draw.chance(0.5))
        self.set = self.kind in ("pair", "jdbc")  # of whose members one serves
        self.names = ["A", "B", "D"][: 1 if alone else 2 if self.set else draw.number(2, 3)]
        self.lock: Step = {"lock_acquire_sleep_interval_ms": draw.one([500, 500, 1000])}
        self.lock |= draw.maybe(0.35, lock_keep_alive_period_ms=draw.one([300, 500, 1000]))
        if self.kind == "jdbc":
            self.lock = {
                "locker": draw.one(["database", "lease"]),
                "lock_keep_alive_period_ms": 500,
                **self.lock,
            }
            self.lock |= draw.maybe(0.08, database_lock_timeout_ms=draw.one([100, 2000]))
            if self.lock["locker"] == "lease":
                self.lock |= draw.maybe(0.1, max_allowable_diff_from_db_time_ms=1000)
        self.brokers = [self.broker(name) for name in self.names]
        self.connectors: list[Step] = []
        self.up: set[str] = set()
        self.started: set[str] = set()  # at least once
        self.cut: set[str] = set()
        self.clients: dict[str, str] = {}
        self.sessions: dict[str, Step] = {}  # session -> the step that opened it
        self.consumers: dict[str, Step] = {}
        self.held: set[str] = set()
        self.frozen: set[str] = set()
        self.temps: dict[str, str] = {}  # temporary queue -> its client
        self.transacted: dict[str, str] = {}  # session of sends -> its client
        self.gave_up: set[str] = set()  # clients that may have made their last attempt
        self.steps: list[Step] = []
        self.database, self.advertised = True, False
        self.files: list[Step] = []
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
                **self.draw.maybe(
                    0.12, update_cluster_filter=self.draw.one(["B", ".*B.*", ".*A.*,.*D.*", "*A*"])
                ),
            }
        if self.kind == "multicast":
            found["discovery_uri"] = MULTICAST
        if self.kind == "pair":
            found |= {
                "shared_store": "store",
                **self.lock,
                **self.draw.maybe(0.08, fail_if_locked=True),
                **self.draw.maybe(0.06, stop_on_error=True),
            }
        if self.kind == "jdbc":
            own = (
                self.draw.maybe(0.08, lease_holder_id=f"holder-{name}")
                if self.lock["locker"] == "lease"
                else {}
            )
            found = {"name": name, "jdbc": {**self.lock, **own}}
            found |= self.draw.maybe(0.12, io_exception_handler={
                "kind": self.draw.one(["default", "lease"]),
                **self.draw.maybe(0.5, resume_check_sleep_period_ms=500),
            })  # fmt: skip
        if self.set:
            found |= self.draw.maybe(0.15, restart_allowed=False)
            found |= self.draw.maybe(0.06, broker_name="P")
        if self.kind == "process" or (self.set and self.draw.chance(0.4)):
            found["process"] = True
        return found

    def start(self, name: str) -> None:
        """Start a broker; one of a pair becomes master, or waits for the lock."""
        waits: Step = {"wait": False, "wait_ms": 800} if self.set else {}
        if self.set and not self.up and self.database:
            waits = {"wait": True, "max_ms": 3000}
        self.up.add(name)
        self.started.add(name)
        self.steps.append({"do": "start_broker", "broker": name, **waits})

    def name(self, prefix: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{prefix}{self.number}"

    def reaches(self, client: str) -> bool:
        """Whether a broker of a client's address is there, and the line to it whole."""
        there = [name for name in self.names if name in self.up and name not in self.cut and self.database]
        return any(f"{{{name}}}" in self.clients[client] for name in there)

    def look_who_gives_up(self) -> None:
        """Note the clients that find nobody now and may try only so often, or that no address is valid for."""
        never = ("backOffMultiplier", "bogus", "nested.", "reconnectDelayExponent")  # some have errors
        self.gave_up |= {name for name, uri in self.clients.items() if any(word in uri for word in never)}
        self.gave_up |= {name for name, uri in self.clients.items() if not uri.startswith("failover:")}
        limited = [name for name, uri in self.clients.items() if "maxReconnectAttempts" in uri]
        self.gave_up |= {name for name in limited if not self.reaches(name)}

    def uri(self) -> str:
        """Return a client's address: without chance, so that plays can agree."""
        draw = self.draw
        if self.kind == "multicast":
            return f"discovery:({MULTICAST})?initialReconnectDelay={draw.one([50, 200])}"
        brokers = draw.some(self.names) if self.kind != "cluster" else [self.names[0]]
        if self.set:  # whoever knows only the slave has no session yet, which the recorder names
            brokers = draw.random.sample(self.names, 2)
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
        options += [f"startupMaxReconnectAttempts={draw.one([2, 4])}"] if draw.chance(0.06) else []
        options += ["reconnectSupported=false"] if draw.chance(0.06) else []
        options += ["updateURIsSupported=false"] if draw.chance(0.06) else []
        options += [f"jms.prefetchPolicy.all={draw.one([0, 1, 2, 6])}"] if draw.chance(0.1) else []
        options += ["jms.useAsyncSend=true"] if draw.chance(0.06) else []
        options += ["jms.sendTimeout=1000"] if draw.chance(0.06) else []
        if draw.chance(0.2):  # what is seldom said
            options.append(draw.one([
                f"priorityBackup=true&priorityURIs={{{brokers[-1]}}}", "warnAfterReconnectAttempts=1",
                "trackMessages=true&maxCacheSize=2000", "trackTransactionProducers=false",
                "backup=true&backupPoolSize=2", "reconnectDelayExponent=3", "nested.soTimeout=20000",
                "nested.wireFormat.maxInactivityDuration=1500", "rebalanceUpdateURIs=false", "bogus=1",
                "useReconnectDelay=false", "jms.dispatchAsync=false", "jms.alwaysSyncSend=true",
                "jms.closeTimeout=500", "jms.redeliveryPolicy.maximumRedeliveries=1",
                "jms.optimizeAcknowledge=true", "jms.optimizeAcknowledge=true&jms.prefetchPolicy.all=4",
                "jms.transactedIndividualAck=true&jms.prefetchPolicy.all=2",
                "jms.optimizeAcknowledge=true&jms.optimizedAckScheduledAckInterval=400",
            ]))  # fmt: skip
        if draw.chance(0.1):
            self.files = [{"name": "uris.txt", "text": f"{{{draw.one(self.names)}}}\n"}]
            options.append("updateURIsURL=file:{dir}/uris.txt")
        if draw.chance(0.15):
            known = [uri.partition("jms.clientID=")[2] for uri in self.clients.values() if "clientID" in uri]
            twice = known and draw.chance(0.3)  # which one broker refuses
            options.append(f"jms.clientID={draw.one(known) if twice else self.name('id')}")
        if draw.chance(0.05):
            return f"{{{brokers[0]}}}"
        return f"failover:({','.join(f'{{{name}}}' for name in brokers)})?{'&'.join(options)}"


def connect(s: Script) -> None:
    """Connect a client, with a consumer most of the time."""
    name = s.name("C")
    s.clients[name] = uri = s.uri()
    id = uri.partition("jms.clientID=")[2]
    s.gave_up |= {name} if id and any(id in other for who, other in s.clients.items() if who != name) else set()
    s.look_who_gives_up()
    s.steps += [
        {"do": "connect", "client": name, "uri": s.clients[name], "max_ms": 4000,
         **s.draw.maybe(0.05, prefetch=s.draw.number(0, 3)), **s.draw.maybe(0.04, use_async_send=True),
         **s.draw.maybe(0.04, send_timeout_ms=s.draw.one([500, 1500])),
         **s.draw.maybe(0.03, watch_topic_advisories=False), **s.draw.maybe(0.15, in_background=True),
         **s.draw.maybe(0.02, start=False)},
        {"do": "wait_ms", "ms": 300},
    ]  # fmt: skip
    if s.draw.chance(0.6):
        open_consumer(s, name)


def open_consumer(s: Script, client: str = "") -> None:
    """Open a consumer, in a session of its own."""
    if not s.clients:
        return connect(s)
    draw, name = s.draw, s.name("K")
    client = client or draw.one(sorted(s.clients))
    session = f"s-{name}"
    mode = draw.weighted({"auto": 4, "client": 2, "transacted": 2, "dups_ok": 1, "individual": 0.5})
    step: Step = {"do": "open_consumer", "client": client, "consumer": name, "session": session, "max_ms": 4000}
    step |= {} if mode == "auto" else {"transacted": True} if mode == "transacted" else {"ack_mode": mode}
    step |= draw.maybe(0.5, acknowledge=False) if mode == "client" else {}
    step |= draw.maybe(0.08, delay_ms=draw.one([20, 150]))
    beside = [known for known in s.consumers.values() if known["client"] == client]
    if beside and draw.chance(0.2):  # a session of several consumers: the first has said how it acknowledges
        first = draw.one(beside)
        session, mode = first["session"], first["mode"].removesuffix(" by call")
        step = {key: said for key, said in step.items() if key not in ("ack_mode", "transacted")}
        step["session"] = session
    held = draw.maybe(0.4, receiving=False)
    if draw.chance(0.08):
        held, mode = {"loop": False}, f"{mode} by call"
    if mode.startswith("transacted") and draw.chance(0.3):  # what it sends is part of what it receives
        s.transacted[session] = client
    own = [temp for temp, of in s.temps.items() if of == client]
    dest = (
        {"topic": "T"} if draw.chance(0.4 if "jms.clientID" in s.clients[client] else 0.15) else {"queue": "Q"}
    )
    if own and draw.chance(0.6):
        dest = {"temp": draw.one(own)}
    named = "jms.clientID" in s.clients[client]
    if "topic" in dest and draw.chance(0.7 if named else 0.1):
        step["durable"] = True
    # The recorder ends at a step of a consumer whose opening has not come back.
    if s.reaches(client) and client not in s.gave_up and (named or "durable" not in step):
        s.consumers[name] = {**step, "mode": mode}
        s.held |= {name} if "receiving" in held else set()
    s.steps += [
        {**step, **dest, **held},
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
    if step["mode"].startswith(("client", "individual")):
        does |= {"acknowledge": 3.0, "recover": 1.5}
    if step["mode"].startswith("transacted"):
        does |= {"commit": 3.0, "rollback": 2.0}
    if step["mode"].endswith("by call"):
        does["receive_once"] = 4.0
    does["close"] = 1.0
    what = s.draw.weighted(does)
    session = {"client": step["client"], "session": step["session"], "max_ms": 4000}
    if what == "receive":
        s.steps.append({"do": "receive", "consumer": name, "count": s.draw.number(1, 3), "max_ms": 1500})
    elif what == "go on":
        s.held.discard(name)
        s.steps.append({"do": "resume_consumer", "consumer": name})
    elif what == "receive_once":
        s.steps.append(
            {"do": what, "consumer": name, "timeout_ms": s.draw.one([300, 300, 1500, 1500, -1]), "max_ms": 4000}
        )
    elif what == "acknowledge":
        s.steps.append({"do": "acknowledge", "consumer": name, "max_ms": 4000})
    elif what == "close":
        del s.consumers[name]
        s.held.discard(name)
        s.steps.append({"do": "close_consumer", "consumer": name, "max_ms": 4000})
    else:
        s.steps.append(
            {"do": what, **session, **(s.draw.maybe(0.1, in_background=True) if what == "commit" else {})}
        )
    s.steps.append({"do": "wait_ms", "ms": 300})
    return None


def send(s: Script) -> None:
    """Send some messages, now and then beside what follows."""
    if not s.clients:
        return connect(s)
    draw = s.draw
    if s.transacted and draw.chance(0.5):
        return in_transaction(s)
    dest = {"topic": "T"} if draw.chance(0.15) else {"queue": "Q"}
    if s.temps and draw.chance(0.5):
        dest = {"temp": draw.one(sorted(s.temps))}
    how: Step = {"count": draw.number(1, 8), "session": "send"}
    client = draw.one(sorted(s.clients))
    if draw.chance(0.06):
        how |= {"session": s.name("tx"), "transacted": True}
        s.transacted[how["session"]] = client
    elif draw.chance(0.12):
        how |= {"count": draw.number(5, 20), "interval_ms": draw.one([50, 100]), "in_background": True,
                "session": s.name("send")}  # fmt: skip
    s.steps += [
        {"do": "send", "client": client, **dest, **how,
         **draw.maybe(0.3, persistent=False), **draw.maybe(0.06, size=3000),
         **draw.maybe(0.06, continue_on_error=True), "max_ms": 4000},
        {"do": "wait_ms", "ms": 300},
    ]  # fmt: skip
    return None


def in_transaction(s: Script) -> None:
    """Send in a transaction, commit it or roll it back."""
    session = s.draw.one(sorted(s.transacted))
    does = s.draw.weighted({"send": 4, "commit": 3, "rollback": 1})
    step: Step = {"do": does, "client": s.transacted[session], "session": session, "max_ms": 4000}
    step |= {"queue": "Q", "count": s.draw.number(1, 4)} if step["do"] == "send" else {}
    s.steps += [step, {"do": "wait_ms", "ms": 300}]


def with_client(s: Script) -> None:
    """Close a client, make a temporary queue, or wait for something."""
    draw = s.draw
    there = [name for name in sorted(s.clients) if s.reaches(name) and name not in s.gave_up]
    if not there:
        return connect(s)
    name = draw.one(there)
    receives = [k for k, step in s.consumers.items() if step["client"] == name and k not in s.held]
    does = {"close": 1.0, "temp_queue": 1.5, "wait_connected": 0.5, "open_session": 2.0, "wait_attempts": 0.5,
            **({"wait_received": 1.0} if receives else {}), **({"write_file": 3.0} if s.files else {}),
            **({"wait_configured": 1.0} if s.kind == "cluster" else {})}  # fmt: skip
    what = draw.weighted(does)
    if what == "close":
        del s.clients[name]
        s.consumers = {k: step for k, step in s.consumers.items() if step["client"] != name}
        s.held &= set(s.consumers)
        s.temps = {temp: of for temp, of in s.temps.items() if of != name}
        s.transacted = {session: of for session, of in s.transacted.items() if of != name}
        s.steps.append({"do": "close_client", "client": name, "max_ms": 4000})
    elif what == "temp_queue":
        temp = s.name("T")
        s.temps[temp] = name
        s.steps.append({"do": what, "client": name, "name": temp, "session": "temp", "max_ms": 4000})
    elif what == "open_session":
        session = s.name("tx")
        s.transacted[session] = name
        s.steps.append({"do": what, "client": name, "session": session, "transacted": True, "max_ms": 4000})
    elif what == "wait_connected":
        s.steps.append({"do": what, "client": name, **draw.maybe(0.5, to=draw.one(s.names)), "max_ms": 3000})
    elif what == "wait_attempts":
        to = draw.maybe(0.3, to=draw.one(s.names))
        s.steps.append({"do": what, "by": name, **to, "count": draw.number(1, 4), "max_ms": 2000})
    elif what == "wait_configured":
        listed = draw.maybe(0.4, list=draw.one(["updated", "backups"]))
        s.steps.append({"do": what, "client": name, **listed, "count": draw.number(1, 3), "max_ms": 2000})
    elif what == "write_file":
        text = ",".join(f"{{{broker}}}" for broker in draw.some(s.names))
        s.steps.append({"do": what, "name": "uris.txt", "text": f"{text}\n"})
    else:
        s.steps.append({"do": what, "consumer": draw.one(receives), "count": draw.number(1, 4), "max_ms": 1500})
    s.steps.append({"do": "wait_ms", "ms": 300})
    return None


def fault(s: Script) -> None:
    """Let a broker or a line fail, or mend what has failed."""
    draw, down = s.draw, sorted(set(s.names) - s.up)
    links = [b["name"] for b in s.brokers if b.get("link") and b["name"] in s.up and b["name"] not in s.cut]
    running = sorted(s.up - s.frozen)
    own = [b["name"] for b in s.brokers if b.get("process") and b["name"] in running]
    does = {"stop": 3.0 if running else 0.0, "start": 6.0 if down else 0.0, "cut": 4.0 if links else 0.0,
            "heal": 6.0 if s.cut & s.up else 0.0,  # a line that is healed accepts, whoever listens behind it
            "kill": 3.0 if own else 0.0, "freeze": 1.0 if own else 0.0,
            "thaw": 4.0 if s.frozen else 0.0, "endpoint": 3.0 if s.kind == "endpoint" else 0.0}  # fmt: skip
    if len(s.up) > 1 and s.clients and s.kind == "cluster":
        does["reconnect"] = 1.0
    if s.kind in ("cluster", "bridges") and running:
        does |= {"start_connector": 0.7, "stop_connector": 1.0}
    if s.kind == "jdbc":
        does["database_down" if s.database else "database_up"] = 4.0 if s.database else 8.0
    stored = sorted(set(down) & s.started)  # who has never run has no store to copy
    if stored and len(down) > 1 and s.kind in ("plain", "process"):
        does["copy_store"] = 2.0
    if s.kind == "pair" and s.up:
        does |= {"delete_lock_file": 0.7, "touch_lock_file": 0.2}
    does |= {"advertise": 4.0} if s.kind == "multicast" else {}
    what = draw.weighted(does)
    if what in ("stop", "kill"):
        name = draw.one(running if what == "stop" else own)
        s.up.discard(name)
        at_once = draw.maybe(0.3, wait=False) if what == "stop" and name in own else {}
        s.steps.append({"do": "stop_broker" if what == "stop" else "kill", "broker": name, **at_once})
        if s.set and s.up and draw.chance(0.7):
            other = {"do": "wait_role", "broker": min(s.up), "role": "master"}
            some = {"do": "wait_master", "brokers": s.names}
            s.steps.append({**draw.one([other, some]), "max_ms": 3000})
    elif what == "start":
        s.start(draw.one(down))
    elif what.startswith("database"):
        s.database = what == "database_up"
        s.steps += [{"do": what}, {"do": "wait_ms", "ms": 2 * PAUSE}]
    elif what.endswith("connector"):
        s.steps.append({"do": what, "from": draw.one(running)})
    elif what.endswith("lock_file"):
        s.steps.append({"do": what, "shared_store": "store"})
    elif what == "advertise":
        s.advertised = not s.advertised
        one = {"do": what, "endpoint": "E", "uri": MULTICAST} if s.advertised else {"do": "stop_advertising"}
        s.steps.append(one)
    elif what == "copy_store":
        frm = draw.one(stored)
        to = draw.one([name for name in down if name != frm])
        s.steps.append({"do": what, "from": f"store-{frm}", "to": f"store-{to}"})
    elif what == "endpoint":
        mode = draw.one(["refuse", "accept_close", "silent"])
        s.steps.append({"do": "set_endpoint", "endpoint": "E", "mode": mode})
    elif what in ("freeze", "thaw"):
        name = draw.one(own if what == "freeze" else sorted(s.frozen))
        (s.frozen.add if what == "freeze" else s.frozen.discard)(name)
        s.steps.append({"do": "pause" if what == "freeze" else "resume", "broker": name})
    elif what == "cut":
        name = draw.one(links)
        how = draw.weighted({"refuse": 3, "reset_once": 3, "hang": 1, "drop_replies": 0.7})
        s.steps.append({"do": "cut", "link": name, "how": how})
        if how != "reset_once":
            s.cut.add(name)
    elif what == "reconnect":
        one, other = draw.random.sample(sorted(s.up), 2)
        s.steps.append({"do": "tell_reconnect", "broker": one, "to": other})
    else:
        name = draw.one(sorted(s.cut & s.up))
        s.cut.discard(name)
        s.steps.append({"do": "heal", "link": name})
    s.look_who_gives_up()
    s.steps.append({"do": "wait_ms", "ms": draw.one([PAUSE, 2 * PAUSE])})
    if draw.chance(0.2):
        s.steps.append({"do": "snapshot", "label": s.name("s")})


MOVES = {connect: 1.0, open_consumer: 2.0, with_consumer: 4.0, send: 5.0, fault: 6.0, with_client: 2.5}


def scenario(draw: Draw, name: str) -> dict[str, Any]:
    """Draw some brokers, clients and faults."""
    s = Script(draw)
    if s.kind == "multicast" and draw.chance(0.3):
        s.steps.append({"do": "sniff", "uri": MULTICAST})
    if len(s.names) > 1 and not s.set and draw.chance(0.12):
        s.up |= {*s.names}
        s.steps.append({"do": "start_brokers", "brokers": s.names})
    for broker in s.names if draw.chance(0.7) else s.names[:1]:
        if broker in s.up:
            continue
        s.start(broker)
        if s.kind in ("cluster", "bridges") and draw.chance(0.3):
            s.steps.append(
                {"do": "wait_bridge", "from": draw.one(s.names), "to": draw.one(s.names), "max_ms": 1500}
            )
    connect(s)
    for _ in range(draw.number(4, 12)):
        draw.weighted(MOVES)(s)
    s.steps += [{"do": "resume", "broker": broker} for broker in sorted(s.frozen)]
    s.steps += [{"do": "database_up"}] * (not s.database)
    for broker in sorted(set(s.names) - s.up):
        s.start(broker)
    s.steps += [{"do": "heal", "link": link} for link in sorted(s.cut)]
    s.steps += [{"do": "resume_consumer", "consumer": consumer} for consumer in sorted(s.held)]
    if any(step.get("in_background") for step in s.steps):
        s.steps.append({"do": "wait_acts", "max_ms": 5000})
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
    if s.kind == "bridges":
        found["connectors"] = [
            {"name": f"{one}-{other}", "from": one,
             **draw.maybe(0.4, duplex=True), **draw.maybe(0.3, network_ttl=2),
             "uri": draw.one(["static:({%s})", "static:(failover:({%s}))",
                              "static:({%s})?useExponentialBackOff=false",
                              "static:({%s})?initialReconnectDelay=200&maxReconnectDelay=500",
                              "static:({%s})?maxReconnectAttempts=2"]) % other}
            for one, other in zip(s.names, s.names[1:], strict=False)
        ]  # fmt: skip
    found |= {"files": s.files} if s.files else {}
    if s.kind in ("endpoint", "multicast"):
        found["endpoints"] = [{"name": "E", "mode": draw.one(["refuse", "accept_close"])}]
    return {**found, "steps": s.steps}
