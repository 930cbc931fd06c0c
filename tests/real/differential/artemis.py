"""Random scenarios of Artemis brokers: pairs by replication or shared store, clusters, scale-down, faults."""

from __future__ import annotations

from typing import Any

from tests.real.differential.draw import Draw

Step = dict[str, Any]
SURE = {"url": {"reconnect_attempts": 0}}  # a client that is not after its broker any more
STEPS = (
    "start start_broker kill stop restart pause resume_broker cut heal slow gateway wait wait_until "
    "wait_failover open_consumer open_producer open_client receive resume hold close_consumer close_client "
    "send commit rollback recover xa wait_for_sends settle files snapshot wait_depth wait_consumers"
)
KEYS = {
    "open_consumer": "ack_mode acknowledge selector durable_name client_id url receiving topic delay_ms "
                     "commit_each",
    "open_client": "transacted url xa", "start": "brokers", "kill": "brokers",
    "open_producer": "transacted",
    "send": "persistent size properties delivery_delay_ms interval_ms in_background producer topic group "
            "commit stop_at_failure",
    "receive": "acknowledge", "stop": "failover", "cut": "silent isolate clients", "snapshot": "topology",
}  # fmt: skip
LANGUAGE = {*STEPS.split(), *(f"{do} {key}" for do, keys in KEYS.items() for key in keys.split())}
NETWORK_CHECK = {"network_check_url_list": "http://gateway:16961/", "network_check_period": 500,
                 "network_check_timeout": 500}  # fmt: skip
SELECTORS = ("colour = 'red'", "weight > 1")


class Script:
    """A script in the making; `pairs` are a master with its slaves, or a broker alone."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.kind = draw.weighted({
            "replication": 4, "shared_store": 3, "cluster": 4, "scale_down": 2, "pairs": 2, "two_slaves": 1,
            "quorum": 3, "colocated": 1, "alone": 1.5, "pair_and_broker": 1.5, "chain": 0.8,
        })  # fmt: skip
        self.brokers: list[Step] = []
        self.pairs: list[list[str]] = []
        self.steps: list[Step] = []
        self.consumers: dict[str, Step] = {}
        self.held: set[str] = set()
        self.producers: dict[str, Step] = {}
        self.down: set[str] = set()
        self.frozen: set[str] = set()
        self.cut: list[Step] = []  # what heals each
        self.sessions: dict[str, Step] = {}  # clients without a consumer
        self.branches: dict[str, str] = {}  # client -> how far its distributed transaction is
        self.number = 0
        _BROKERS[self.kind](self)
        self.gateway: bool | None = True if draw.chance(0.07) else None  # whether it answers, where all ask it
        for broker in self.brokers if self.gateway else ():
            broker["core"] = NETWORK_CHECK

    def name(self, prefix: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{prefix}{self.number}"

    @property
    def names(self) -> list[str]:
        """All brokers."""
        return [broker["name"] for broker in self.brokers]

    def broker(self) -> str:
        """Return a broker that may serve: the first of a pair that is there."""
        there = [name for pair in self.pairs for name in [n for n in pair if n not in self.down][:1]]
        return self.draw.one(there or self.names)

    def dest(self) -> Step:
        """Return where a client goes to."""
        return {"queue": "orders"} if self.draw.chance(0.75) else {"topic": "news"}

    def where(self) -> Step:
        """Return how a client reaches its broker: one address, or all of a pair's for one that fails over."""
        if self.draw.chance(0.35):
            # Without a bound a client stays with the address that it has picked first, by chance.
            pair = self.draw.one(self.pairs)
            if len(pair) > 1:
                return {"broker": list(pair), "url": {"initial_connect_attempts": 3, **self.retries()}}
            return {"broker": pair[0], **self.draw.maybe(0.3, url=self.retries() or {"retry_interval": 500})}
        return {"broker": self.broker(), **SURE}

    def retries(self) -> Step:
        """Return how a client looks for its broker again."""
        return {
            **self.draw.maybe(0.15, reconnect_attempts=self.draw.one([2, 5])),
            **self.draw.maybe(0.15, retry_interval=self.draw.one([500, 1500])),
            **self.draw.maybe(0.08, retry_interval_multiplier=2),
            **self.draw.maybe(0.08, max_retry_interval=1000),
            **self.draw.maybe(0.08, confirmation_window_size=1048576),
            **self.draw.maybe(0.08, connection_ttl=2000, client_failure_check_period=500),
        }


# Brokers


def _pair(s: Script, number: int, policy: str, **more: Any) -> None:
    draw, master = s.draw, f"M{number}"
    ha: Step = {"policy": policy, "role": "master", **more}
    slave: Step = {
        "policy": policy,
        "role": "slave",
        **draw.maybe(0.6, allow_failback=draw.chance(0.6)),
        **more,
    }
    if policy == "replication":
        ha |= draw.maybe(0.4, check_for_live_server=draw.chance(0.7))
    else:
        ha |= draw.maybe(0.4, failover_on_shutdown=draw.chance(0.6))
        slave |= draw.maybe(0.3, failover_on_shutdown=draw.chance(0.6))
    slave |= draw.maybe(0.2, restart_backup=draw.chance(0.5))
    if policy == "replication":
        slave |= draw.maybe(0.15, max_saved_replicated_journals_size=draw.one([0, 1, 2]))
        slave |= draw.maybe(0.05, initial_replication_sync_timeout=5000)
    store = {"shared_store": f"store{number}"} if policy == "shared_store" else {}
    s.brokers += [{"name": master, **store, "ha": ha}, {"name": f"S{number}", **store, "ha": slave}]
    s.pairs.append([master, f"S{number}"])


def _replication(s: Script) -> None:
    _pair(s, 1, "replication")


def _shared_store(s: Script) -> None:
    _pair(s, 1, "shared_store")


def _pairs(s: Script) -> None:
    policy = s.draw.one(["replication", "shared_store"])
    for number in (1, 2):
        _pair(s, number, policy, **({"group_name": f"g{number}"} if policy == "replication" else {}))


def _two_slaves(s: Script) -> None:
    _pair(s, 1, s.draw.one(["replication", "shared_store"]))
    second = {**s.brokers[1], "name": "S2"}
    s.brokers.append(second)
    s.pairs[0].append("S2")


def _quorum(s: Script) -> None:
    """Draw a pair by replication and up to two masters without slaves, which vote."""
    draw = s.draw
    _pair(s, 1, "replication", group_name="g1")
    others = draw.one([0, 0, 1, 2])
    master, slave = s.brokers[0]["ha"], s.brokers[1]["ha"]
    slave |= draw.maybe(0.3, vote_retries=draw.one([1, 3]), vote_retry_wait=draw.one([500, 2000]))
    slave |= {"quorum_size": draw.one([1, 2, 2, 3])} if draw.chance(0.5) or not others else {}
    master |= draw.maybe(0.3, vote_on_replication_failure=True)
    for number in range(2, others + 2):
        ha = {"policy": "replication", "role": "master", "group_name": f"g{number}"}
        s.brokers.append({"name": f"M{number}", "ha": ha})
        s.pairs.append([f"M{number}"])


def _colocated(s: Script) -> None:
    """Draw brokers that ask one another for a slave."""
    policy = s.draw.one(["replication", "shared_store"])
    for name in ("A", "B", "C")[: s.draw.number(2, 3)]:
        ha: Step = {
            "policy": policy,
            "role": "colocated",
            "request_backup": s.draw.chance(0.8),
            "master": {},
            "slave": {},
        }
        ha |= s.draw.maybe(0.4, max_backups=s.draw.number(0, 2)) | s.draw.maybe(0.2, excludes=["to_A"])
        ha |= s.draw.maybe(0.3, backup_port_offset=100)
        s.brokers.append({"name": name, "ha": ha})
        s.pairs.append([name])


def _alone(s: Script) -> None:
    s.brokers.append({"name": "A"})
    s.pairs.append(["A"])


def _cluster(s: Script) -> None:
    for name in ("A", "B", "C")[: s.draw.number(2, 3)]:
        s.brokers.append({"name": name})
        s.pairs.append([name])


def _pair_and_broker(s: Script) -> None:
    """Draw a pair in a cluster with a broker that has no policy, or scales down."""
    _pair(s, 1, s.draw.one(["replication", "shared_store"]))
    down = {"ha": {"policy": "live_only", "scale_down": {"connectors": ["to_M1", "to_S1"]}}}
    s.brokers.append({"name": "A", **(down if s.draw.chance(0.3) else {})})
    s.pairs.append(["A"])


def _chain(s: Script) -> None:
    """Draw three brokers each of which lists the next one, and maybe the one before."""
    both = s.draw.chance(0.5)
    lists = {"A": ["B"], "B": ["A", "C"] if both else ["C"], "C": ["B"] if both else []}
    for name, to in lists.items():
        s.brokers.append({"name": name, "cluster": {"to": to}})
        s.pairs.append([name])


def _scale_down(s: Script) -> None:
    names = ("A", "B", "C")[: s.draw.number(2, 3)]
    for name in names:
        others = [f"to_{other}" for other in names if other != name]
        down = {"scale_down": {"connectors": [s.draw.one(others)]}}
        ha = {"ha": {"policy": "live_only", **down}} if name == "A" or s.draw.chance(0.4) else {}
        s.brokers.append({"name": name, **ha})
        s.pairs.append([name])


_BROKERS = {
    "replication": _replication, "shared_store": _shared_store, "pairs": _pairs, "two_slaves": _two_slaves,
    "cluster": _cluster, "scale_down": _scale_down, "quorum": _quorum, "colocated": _colocated, "alone": _alone,
    "pair_and_broker": _pair_and_broker, "chain": _chain,
}  # fmt: skip


# Clients


def open_consumer(s: Script) -> None:
    """Open a consumer; one of a cluster's takes a while to be known."""
    draw, name, dest = s.draw, s.name("C"), s.dest()
    step: Step = {"do": "open_consumer", "consumer": name, **s.where(), **dest}
    mode = draw.weighted({"auto": 4, "client": 2, "transacted": 2, "individual": 1, "dups_ok": 1})
    step |= {} if mode == "auto" else {"ack_mode": mode}
    step |= draw.maybe(0.5, receiving=False)
    step |= draw.maybe(0.2, selector=draw.one(SELECTORS))
    if "topic" in dest:
        step |= draw.maybe(0.5, durable_name=f"sub{s.number}", client_id=f"id{s.number}")
        others = [other for other in s.consumers.values() if "durable_name" in other]
        if (
            "durable_name" in step and others and draw.chance(0.25)
        ):  # another's subscription, or its client id only
            other = draw.one(others)
            step |= {"client_id": other["client_id"], **draw.maybe(0.7, durable_name=other["durable_name"])}
    if "durable_name" in step:
        step.pop("selector", None)  # the recorder opens a durable subscriber without one
    if mode in ("client", "individual"):
        step |= draw.maybe(0.5, acknowledge=True)
    if step.get("receiving") is not False:
        step |= draw.maybe(0.08, delay_ms=draw.one([300, 1500]))
        step |= draw.maybe(0.3, commit_each=True) if mode == "transacted" else {}
    if draw.chance(0.08):
        step["url"] = {**step.get("url", {}), "consumer_window_size": draw.one([0, 1, 1000])}
    s.consumers[name] = step
    if step.get("receiving") is False:
        s.held.add(name)
    s.steps += [step, {"do": "wait", "ms": 1200}]


def with_consumer(s: Script) -> None:
    """Let a consumer do something."""
    if not s.consumers:
        return open_consumer(s)
    name = s.draw.one(sorted(s.consumers))
    step = s.consumers[name]
    does = (
        {"receive": 5, "resume": 2, "close_consumer": 2} if name in s.held else {"close_consumer": 2, "hold": 1}
    )
    if step.get("ack_mode") == "transacted":
        does |= {"commit": 4, "rollback": 3}
    if step.get("ack_mode") in ("client", "individual", "dups_ok"):
        does |= {"recover": 2}
    what = s.draw.weighted(does)
    if what in ("commit", "rollback", "recover"):
        s.steps.append({"do": what, "client": name})
    elif what == "receive":
        keys: Step = {"count": s.draw.number(1, 3), "wait_ms": 1500}
        if step.get("ack_mode") in ("client", "individual"):
            keys |= s.draw.maybe(0.5, acknowledge=False)
        s.steps.append({"do": "receive", "consumer": name, **keys})
    else:
        if what == "close_consumer":
            del s.consumers[name]
        (s.held.add if what == "hold" else s.held.discard)(name)
        s.steps.append({"do": what, "consumer": name})
        if what == "hold":  # the recorder's call that is under way takes one message more if it comes in 100 ms
            s.steps.append({"do": "wait", "ms": 200})
    return None


def _message(s: Script) -> Step:
    draw = s.draw
    return {
        "count": draw.number(1, 6),
        **draw.maybe(0.3, persistent=False),
        **draw.maybe(0.3, properties={"colour": ["red", "blue"], "weight": [1, 2, 3]}),
        **draw.maybe(0.06, properties={draw.one(["_AMQ_LVQ_NAME", "_AMQ_DUPL_ID"]): ["a", "b", "a"]}),
        **draw.maybe(0.1, delivery_delay_ms=draw.one([1500, 6000])),
        **draw.maybe(0.1, size=2000),
        **draw.maybe(0.12, group=draw.one(["g", "h"])),
        **draw.maybe(0.05, stop_at_failure=True),
    }


def send(s: Script) -> None:
    """Send at a broker, now and then beside what follows."""
    more: Step = {}
    if s.draw.chance(0.08):
        more = {"count": s.draw.number(5, 20), "interval_ms": s.draw.one([50, 200]), "in_background": True}
    sent = {"do": "send", "broker": s.broker(), **s.dest(), **_message(s), **more}
    s.steps.append(sent)
    if "queue" in sent and s.draw.chance(0.06):
        where = {"broker": sent["broker"], "queue": sent["queue"], "timeout_ms": 2000}
        what = s.draw.one([{"do": "wait_depth", "depth": sent["count"]}, {"do": "wait_consumers", "count": 1}])
        s.steps.append({**what, **where})


def give_back(s: Script) -> None:
    """Let a consumer take some in vain, and another have them again."""
    draw, broker, name = s.draw, s.broker(), s.name("C")
    mode = draw.one(["transacted", "client", "individual"])
    where = {"broker": broker, **SURE, "queue": "orders"}
    s.steps += [
        {"do": "send", "broker": broker, "queue": "orders", "count": draw.number(2, 5)},
        {"do": "open_consumer", "consumer": name, **where, "ack_mode": mode, "receiving": False},
        {"do": "wait", "ms": 1200},
        {"do": "receive", "consumer": name, "count": draw.number(1, 2), "wait_ms": 1500,
         **({"acknowledge": False} if mode != "transacted" else {})},
    ]  # fmt: skip
    if mode == "transacted" and draw.chance(0.5):
        s.steps.append({"do": "rollback", "client": name})
    s.steps.append({"do": "close_consumer", "consumer": name})
    again = s.name("C")
    s.consumers[again] = {"do": "open_consumer", "consumer": again, **where}
    s.steps += [s.consumers[again], {"do": "wait", "ms": 1200}]


def in_branch(s: Script) -> None:
    """Take a client's distributed transaction one step further."""
    if not s.branches or s.draw.chance(0.2):
        name = s.name("X")
        s.branches[name] = "none"
        s.steps.append({"do": "open_client", "client": name, "broker": s.broker(), "xa": True})
    name = s.draw.one(sorted(s.branches))
    state = s.branches[name]
    if state == "none":
        s.steps += [
            {"do": "xa", "client": name, "act": "start"},
            {"do": "send", "client": name, "queue": "orders", "count": s.draw.number(1, 3)},
            {"do": "xa", "client": name, "act": "end"}, {"do": "xa", "client": name, "act": "prepare"},
        ]  # fmt: skip
        s.branches[name] = "prepared"
    else:
        s.steps.append({"do": "xa", "client": name, "act": s.draw.weighted({"commit": 4, "recover": 1})})
        del s.branches[name]


def with_producer(s: Script) -> None:
    """Open a producer that stays, or let one send, commit or roll back."""
    if not s.producers or s.draw.chance(0.3):
        name = s.name("P")
        mode = s.draw.weighted({"plain": 1, "transacted": 3})
        step = {"do": "open_producer", "producer": name, **s.where(), **s.dest()}
        s.producers[name] = {**step, **({"transacted": True} if mode == "transacted" else {})}
        s.steps.append(s.producers[name])
        return
    name = s.draw.one(sorted(s.producers))
    does = {"send": 4, **({"commit": 4, "rollback": 2} if s.producers[name].get("transacted") else {})}
    what = s.draw.weighted(does)
    if what == "send":
        commit = s.draw.maybe(0.2, commit=True) if s.producers[name].get("transacted") else {}
        s.steps.append({"do": "send", "producer": name, **_message(s), **commit})
    else:
        s.steps.append({"do": what, "client": name})


# Faults


def fault(s: Script) -> None:
    """Let a broker or the line between two fail, or mend what has failed."""
    running = [name for name in s.names if name not in s.down and name not in s.frozen]
    does = {"kill": 3.0, "stop": 3.0, "restart": 0.7} if running else {}
    if s.down:
        does["start"] = 6.0
    if s.frozen:
        does["thaw"] = 6.0
    does["heal" if s.cut else "cut"] = 4.0 if s.cut else 1.0
    if running and s.kind in ("cluster", "chain"):
        does["freeze"] = 0.5
    does |= {} if s.gateway is None else {"gateway": 4.0}
    what = s.draw.weighted(does)
    if what == "gateway":
        s.gateway = not s.gateway
        s.steps += [{"do": what, "answers": s.gateway}, {"do": "wait", "ms": 4000}]
    elif what == "restart":
        s.steps += [{"do": "settle"}, {"do": what, "broker": s.draw.one(running)}, {"do": "wait", "ms": 8000}]
    elif what in ("kill", "stop"):
        # Now and then right behind what was received: nobody waits for its acknowledgement.
        calm = [] if s.steps[-1]["do"] == "receive" and s.draw.chance(0.5) else [{"do": "settle"}]
        several = len(running) > 1 and what == "kill" and s.draw.chance(0.15)
        if several:
            some = sorted(s.draw.random.sample(running, 2))
            s.down |= set(some)
            s.steps += [*calm, {"do": "kill", "brokers": some}, {"do": "wait", "ms": 3500}]
            s.steps.append({"do": "snapshot", "label": s.name("step")})
            return
        name = s.draw.one(running)
        s.down.add(name)
        more = s.draw.maybe(0.2, failover=True) if what == "stop" and s.kind not in ("cluster", "chain") else {}
        s.steps += [*calm, {"do": what, "broker": name, **more}, {"do": "wait", "ms": 3500}]
        if s.draw.chance(0.4):
            _after(s, name)
    elif what == "start":
        name = s.draw.one(sorted(s.down))
        s.down.discard(name)
        s.steps += [{"do": "start_broker", "brokers": [name], "wait": False}, {"do": "wait", "ms": 8000}]
    elif what in ("freeze", "thaw"):
        name = s.draw.one(running if what == "freeze" else sorted(s.frozen))
        (s.frozen.add if what == "freeze" else s.frozen.discard)(name)
        s.steps += [
            {"do": "pause" if what == "freeze" else "resume_broker", "broker": name},
            {"do": "wait", "ms": 3500},
        ]
    else:
        apart = s.kind in ("cluster", "pairs", "replication", "quorum", "pair_and_broker", "chain")
        ends = ["clients", s.draw.one(s.names)]
        if apart and s.draw.chance(0.7):
            ends = sorted(s.draw.random.sample(s.names, 2))
        line: Step = {"between": ends} if what == "cut" else s.cut.pop()
        if apart and what == "cut" and s.draw.chance(0.2):
            line = {"isolate": [s.draw.one(s.names)], **s.draw.maybe(0.3, clients=True)}
        s.cut += [line] if what == "cut" else []
        more: Step = s.draw.maybe(0.15, silent=True) if what == "cut" else {}
        if what == "cut" and "between" in line and s.draw.chance(0.12):
            what, more = "slow", {"bytes_per_second": s.draw.one([2000, 20_000])}
        s.steps += [
            {"do": what, **line, **more},
            {"do": "wait", "ms": 8000},
        ]
    s.steps.append({"do": "snapshot", "label": s.name("step"), **s.draw.maybe(0.1, topology=True)})
    if s.kind == "replication" and s.draw.chance(0.2):
        s.steps.append({"do": "files", "label": s.name("files")})


def _after(s: Script, name: str) -> None:
    """Wait until the other of a pair serves, or until a client has found it."""
    other = next((n for pair in s.pairs for n in pair if name in pair and n != name and n not in s.down), "")
    away = [c for c, step in s.consumers.items() if name in step["broker"] and step.get("url") != SURE["url"]]
    if other:
        s.steps.append({"do": "wait_until", "broker": other, "role": "live", "timeout_ms": 20000})
    if other and away and s.draw.chance(0.5):
        s.steps.append(
            {"do": "wait_failover", "client": s.draw.one(sorted(away)), "times": 1, "timeout_ms": 8000}
        )


def with_session(s: Script) -> None:
    """Send, commit or close on a client of its own, or close a producer's."""
    if s.producers and s.draw.chance(0.4):
        name = s.draw.one(sorted(s.producers))
        del s.producers[name]
        s.steps.append({"do": "close_client", "client": name})
        return
    if not s.sessions:
        name = s.name("S")
        s.sessions[name] = {"do": "open_client", "client": name, **s.where(), "transacted": s.draw.chance(0.5)}
        s.steps.append(s.sessions[name])
        return
    name = s.draw.one(sorted(s.sessions))
    does = {
        "send": 4,
        "close_client": 1,
        **({"commit": 3, "rollback": 1} if s.sessions[name]["transacted"] else {}),
    }
    what = s.draw.weighted(does)
    if what == "close_client":
        del s.sessions[name]
    more = {**s.dest(), **_message(s)} if what == "send" else {}
    s.steps.append({"do": what, "client": name, **more})


MOVES = {open_consumer: 5.0, with_consumer: 5.0, send: 6.0, with_producer: 3.0, fault: 5.0, give_back: 0.7,
         in_branch: 0.7,
         with_session: 1.0}  # fmt: skip


def scenario(draw: Draw, name: str) -> dict[str, Any]:
    """Draw some brokers and a script."""
    s = Script(draw)
    later = s.names[1:] if s.kind in ("cluster", "alone", "pairs") and draw.chance(0.15) else []
    s.steps += [{"do": "gateway", "answers": True}] * bool(s.gateway)
    s.steps.append({"do": "start", **({"brokers": s.names[:1]} if later else {})})
    s.down |= set(later)
    if s.kind == "colocated":
        s.steps.append({"do": "settle", "quiet_ms": 5000, "timeout_ms": 45000})
    if s.kind in ("cluster", "scale_down", "chain"):
        s.steps.append({"do": "wait", "ms": 2000})
    for pair in s.pairs:
        if len(pair) > 1 and not later:
            _up(s, pair)
    for _ in range(draw.number(4, 10)):
        draw.weighted(MOVES)(s)
    if any(step.get("in_background") for step in s.steps):
        s.steps.append({"do": "wait_for_sends", "timeout_ms": 20000})
    s.steps += [{"do": "heal", **line} for line in s.cut] + [{"do": "wait", "ms": 8000}] * bool(s.cut)
    s.steps += [{"do": "resume_broker", "broker": name} for name in sorted(s.frozen)]
    if s.gateway is False:
        s.steps += [{"do": "gateway", "answers": True}, {"do": "wait", "ms": 4000}]
    s.steps += [{"do": "settle"}, {"do": "snapshot", "label": "end"}]
    found: dict[str, Any] = {
        "name": name, "theme": "random", "title": f"Drawn by chance: {s.kind}", "brokers": s.brokers,
        "queues": [{"name": "orders"}],
    }  # fmt: skip
    found |= {"clients": draw.one([{"ha": False}, {"call_timeout": 3000}])} if draw.chance(0.06) else {}
    if s.kind in ("cluster", "scale_down", "pairs", "quorum", "pair_and_broker", "chain"):
        found |= draw.maybe(0.5, cluster={"message_load_balancing": draw.one(["OFF", "STRICT", "ON_DEMAND"])})
        found |= draw.maybe(0.4, address_settings={"redistribution_delay": draw.one([0, 0, 1000])})
        found |= draw.maybe(0.15, cluster={**found.get("cluster", {}), "max_hops": draw.one([0, 1, 2])})
        slower = draw.one(
            [{"retry_interval": 2000}, {"check_period": 1000, "connection_ttl": 3000}, {"call_timeout": 2000}]
        )
        found |= draw.maybe(0.12, cluster={**found.get("cluster", {}), **slower})
        if s.kind == "chain":
            found["cluster"] = {
                **found.get("cluster", {}),
                "max_hops": 2,
                "allow_direct_connections_only": True,
            }
        if draw.chance(0.15):
            found["queues"] = [{"name": "orders", "on": draw.some(s.names)}]
    if draw.chance(0.15):
        found["address_settings"] = {**found.get("address_settings", {}), **_of_addresses(draw)}
    if draw.chance(0.15):
        found["queues"] = [*found["queues"], draw.one(QUEUES)]
    if draw.chance(0.35):
        found["address_settings"] = {**found.get("address_settings", {}), **_redelivery(draw)}
        found["queues"] = [*found["queues"], {"name": "DLQ"}][: 2 if draw.chance(0.85) else 1]
    return {**found, "steps": s.steps}


# Beside `orders`: a queue of a topic, one that lasts no longer than its broker, and a second one of `orders`.
QUEUES = (
    {"name": "audit", "address": "news", "routing": "multicast", "filter": "colour = 'red'"},
    {"name": "passing", "address": "news", "routing": "multicast", "durable": False},
    {"name": "heavy", "address": "orders", "filter": "weight > 1"},
    {"name": "more", "address": "orders"},
)


def _of_addresses(draw: Draw) -> Step:
    """Return settings of what addresses hold: how much, for how long, of which values, and who creates them."""
    limit = {
        "max_size_bytes": draw.one([4000, 8000]),
        "address_full_policy": draw.one(["FAIL", "DROP", "BLOCK", "PAGE"]),
    }
    limit |= {"page_size_bytes": 3000} if limit["address_full_policy"] == "PAGE" else {}
    others = (
        {"last_value_queue": True},
        {"auto_create_queues": False},
        {"auto_delete_queues": False},
        {"expiry_delay": 3000, **draw.maybe(0.5, expiry_address="DLQ")},
    )
    return draw.one([limit, limit, *others])


def _redelivery(draw: Draw) -> Step:
    """Return settings of what is delivered in vain."""
    return {
        **draw.maybe(0.8, max_delivery_attempts=draw.one([1, 2, 2, 3])),
        **draw.maybe(0.8, dead_letter_address="DLQ"),
        **draw.maybe(0.3, redelivery_delay=draw.one([500, 2000])),
    }


def _up(s: Script, pair: list[str]) -> None:
    """Wait until a pair is ready for a fault."""
    replication = s.brokers[0]["ha"]["policy"] == "replication"
    role = "backup_in_sync" if replication else "backup_announced"
    s.steps.append({"do": "wait_until", "broker": pair[1], "role": role, "timeout_ms": 30000})
    if replication:
        s.steps.append(
            {"do": "wait_until", "broker": pair[0], "role": "live_with_replica", "timeout_ms": 30000}
        )
    s.steps.append({"do": "wait", "ms": 1000})
