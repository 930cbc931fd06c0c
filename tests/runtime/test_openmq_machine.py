"""Random scripts of deaths, returns, sends and consumers: persistent messages are never lost."""

from __future__ import annotations

import random

import pytest

from tests.runtime.cluster import FAST, trace

BROKERS = ["b1", "b2", "b3"]
MODELS = {"master": {"model": "master"}, "peer": {"model": "peer"},
          "enhanced": {"model": "enhanced", "options": FAST}}  # fmt: skip


def script(seed: int) -> str:
    """Return a random script that ends with all brokers up and one consumer that takes all."""
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
    lines += ["wait ms=130000", *(f"start_broker broker={name}" for name in BROKERS if name not in up)]
    return "\n".join([*lines, "open_consumer consumer=LAST broker=b2 queue=Q", "wait ms=20000"])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(60))
def test_every_persistent_message_is_received_and_only_flagged_ones_twice(model, seed):
    played = trace(script(seed), seed, **MODELS[model])
    assert played.lost() == []
    assert played.waiting() == {}
    flagged = {msg for numbers in played.redelivered().values() for msg in numbers}
    twice = {msg for counts in played.duplicated().values() for msg in counts}
    assert twice <= flagged
