"""Random scripts of deaths, returns, sends and consumers: persistent messages are never lost."""

from __future__ import annotations

import random

import pytest

from mqlab.explain import explain
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.lab import ClusterLab
from mqlab.spec.openmq.words import STEPS
from mqlab.spec.plural import counted
from mqlab.trace.kinds import Kind
from mqlab.views import scene
from tests.products.openmq.cluster import FAST, body, trace
from tests.trace import state

BROKERS = ["b1", "b2", "b3"]
MODELS = {"master": {"model": "master"}, "peer": {"model": "peer"},
          "enhanced": {"model": "enhanced", "options": FAST}}  # fmt: skip


def script(seed: int) -> str:
    """Return a random script that ends with all brokers up and a consumer at each, one after the other.

    A message can always be had at its home: another broker that had it given back does not pass it on.
    """
    chance, up, lines, consumers = random.Random(seed), set(BROKERS), [], []
    for no in range(14):
        broker = chance.choice(sorted(up))
        what = chance.choice(["send", "send", "send", "kill", "start", "consume", "close", "wait"])
        down = sorted(set(BROKERS) - up)
        if what == "send":
            lines.append(f"send broker={broker} queue=Q count={chance.randint(1, 4)}")
        elif what == "kill" and len(up) > 1:
            up.remove(broker)
            lines.append(f"{chance.choice(['kill', 'stop'])} broker={broker}")
        elif what == "start" and down:
            up.add(down[0])
            lines.append(f"start_broker broker={down[0]}")
        elif what == "consume":
            consumers.append(f"C{no}")
            mode = chance.choice(["auto", "client"])
            lines.append(f"open_consumer consumer=C{no} broker={broker} queue=Q ack_mode={mode} "
                         f"receiving={chance.choice(['true', 'false'])}")  # fmt: skip
        elif what == "close" and consumers:
            lines.append(f"close_consumer consumer={consumers.pop()}")
        else:
            lines.append(f"wait ms={chance.choice([500, 6000, 25000])}")
    lines += [f"close_consumer consumer={name}" for name in consumers]
    lines += [f"start_broker broker={name}" for name in BROKERS if name not in up]
    lines += [
        "wait ms=130000",
        *(f"start_broker broker={name}" for name in BROKERS if name not in up),
    ]
    for name in BROKERS:
        lines += [f"open_consumer consumer=LAST{name} broker={name} queue=Q", "wait ms=20000",
                  f"close_consumer consumer=LAST{name}"]  # fmt: skip
    return "\n".join(lines)


def check_safe(played):
    assert played.lost() == []
    assert played.waiting() == {}
    flagged = {msg for numbers in played.redelivered().values() for msg in numbers}
    twice = {msg for counts in played.duplicated().values() for msg in counts}
    assert twice <= flagged


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(60))
def test_every_persistent_message_is_received_and_only_flagged_ones_twice(model, seed):
    check_safe(trace(script(seed), seed, **MODELS[model]))


def checked(scenario, seed, jitter=0):
    """Return the trace of a run whose account agrees with what its brokers hold in the end."""
    lab = ClusterLab(scenario, seed, jitter, limit=50_000)
    lab.play()
    state.check(lab)
    return lab.trace


def in_the_midst(seed):
    """Return the script with deaths, consumers and sends in the midst of each other's messages."""
    chance, lines, time = random.Random(seed), [], 6000
    *first, last = script(seed).partition("wait ms=130000")
    for line in "".join(first).splitlines():
        do = line.split()[0]
        if do in ("kill", "stop", "start_broker", "send", "open_consumer", "close_consumer"):
            time += chance.choice([0, 1, 2, 3, 5, 8000])
            line += f" at={time}ms"
        lines.append(line)
    return "\n".join([*lines, f"wait ms={time + 130_000}"]) + last


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(60))
def test_with_jitter_and_faults_in_the_midst_nothing_confirmed_is_lost(model, seed):
    scenario = lab_file.read(body(in_the_midst(seed), **MODELS[model]))
    played = checked(scenario, seed, "3ms")
    kept = {e.message for e in played.events() if e.kind == Kind.Enqueued}
    got = {e.message for e in played.events() if e.kind == Kind.Received}
    assert kept <= got
    flagged = {msg for numbers in played.redelivered().values() for msg in numbers}
    assert {msg for counts in played.duplicated().values() for msg in counts} <= flagged


# Any script at all: every kind of step, in any order, asked of whomever

WORDS = {
    "broker": BROKERS, "queue": ["Q", "R"], "topic": ["Q"], "count": [0, 1, 4], "label": ["x"],
    "ms": [0, 100, 7000, 130_000], "between": [["b1", "b3"]], "of": ["b1"], "client_id": ["x"],
    "event": ["takeover_complete", "suspect"], "until": ["takeover_complete"],
    "brokers": [["b1", "b2"]], "subscription_name": ["s"], "options": [{"MaxNumMsgs": 2}],
    "ack_mode": ["auto", "client", "transacted"], "receiving": [True, False], "durable": [True],
    "reconnect": [True, False], "persistent": [True, False], "transacted": [True],
    "no_failover": [True, False],
}  # fmt: skip
OPENS = {"open_consumer": "consumer", "temporary": "consumer", "open_producer": "producer"}
ONE_OF = {"command": ["change_master", "takeover", "reload"], "database": ["stop", "start"],
          "xa": ["start", "end", "prepare", "commit", "rollback"]}  # fmt: skip


def any_step(chance, no, opened):
    """Return a random step that can be read, or None when it needs a client and there is none."""
    do = chance.choice([*STEPS, *["send", "open_consumer", "open_producer", "kill", "start_broker"]])
    needed, more = STEPS[do]
    keys = [chance.choice(key.split("|")) for key in needed.split()]
    keys += [key for key in more.split() if key in WORDS and chance.random() < 0.3]
    if do == "send":
        keys = ["count", *chance.choice([["broker", "queue"], ["broker", "topic"], ["producer"]])]
    found = {"do": do, "limit_ms": 20_000}
    for key in keys:
        if key in opened and OPENS.get(do) == key:
            opened[key].append(f"{key}{no}")
            found[key] = f"{key}{no}"
        elif key in opened and not opened[key]:
            return None
        else:
            words = ONE_OF.get("command" if key == "command" else do)
            found[key] = chance.choice(opened.get(key) or WORDS.get(key) or words)
    if do in ("start_broker", "restart"):
        found.pop("options", None)  # those of WORDS are of destinations
    if do == "admin":
        found |= {"from": "b1", "to": "b2", "target": chance.choice(BROKERS)}
    return {key: found[key] for key in found if key != "until" or do == "knock"}


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(120))
def test_any_script_that_can_be_read_can_be_played_and_told(seed):
    chance, opened = random.Random(seed), {"consumer": [], "producer": []}
    model = chance.choice(list(MODELS))
    value = body(**MODELS[model])
    steps = (any_step(chance, no, opened) for no in range(25))
    value["steps"] += [step for step in steps if step is not None]
    played = checked(lab_file.read(value), seed)
    assert list(played.column("t")) == sorted(played.column("t"))
    assert all(cause < row for row, cause in enumerate(played.column("cause")))
    numbers = {event.message for event in played.events() if event.kind == Kind.Sent}
    assert set(played.account()) >= numbers
    assert all(begin <= end for spans in played.downtime().values() for begin, end in spans)
    assert scene(played).columns["meta"]["events"] == [len(played)]
    tried = counted(len(played.account()), "message was", "messages were")  # refused ones, too
    assert str(explain(played)).startswith(f"{tried} sent.")
