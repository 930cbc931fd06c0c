"""How fast a long run answers, as ratios to numpy doing a bare scan, and how much memory an event takes.

Each question is asked of a trace that was asked nothing before. The bare scan looks for five kinds of events
in the column of kinds. The best of several rounds counts.
"""

import json
import subprocess
import sys
from functools import partial
from time import process_time

import numpy as np
import pytest

import mqlab as mq
from mqlab.trace import COLUMNS, plain
from tests.benchmarks.test_runtime import Q
from tests.conftest import ROOT

pytestmark = pytest.mark.bench
BROKERS, MESSAGES, ROUNDS = 5, 100_000, 5
QUESTIONS = ("account", "lost", "waiting", "stuck", "received", "duplicated", "redelivered")
MOST, MOST_PLAIN = 100, 1000  # times as long as the bare scan; some 20 and 150 are usual
BYTES = 60


def chain():
    def broker(i):
        onward = [mq.NetworkConnector("next", uri=f"static:(tcp://B{i + 1}:61616)", network_ttl=-1)]
        return mq.Broker(f"B{i}", *(onward if i < BROKERS - 1 else []))

    return mq.Network(*(broker(i) for i in range(BROKERS)))


def long_run(messages):
    lab = mq.Lab(chain())
    lab.do(mq.Consumer("C", on=f"B{BROKERS - 1}", reads=Q))
    lab.rest()
    lab.do(mq.Producer("P", on="B0", sends=messages, to=Q))
    lab.rest()
    return lab.trace


@pytest.fixture(scope="module")
def trace():
    return long_run(MESSAGES)


def fresh(trace):
    return mq.Trace(trace.header, trace.names, {name: trace.column(name) for name in COLUMNS})


def best(act, rounds=ROUNDS):
    """Return the shortest processor time (s) that *act* takes of what it is given anew."""
    times = []
    for given in [act() for _ in range(rounds)]:
        start = process_time()
        given()
        times.append(process_time() - start)
    return min(times)


def scan(trace):
    kinds = np.asarray(trace.column("kind"))
    return sum(int((kinds == kind).sum()) for kind in range(9, 14))


def test_questions_to_a_long_run(trace, capsys):
    bare = best(lambda: lambda: scan(trace))
    ratios = {name: best(lambda name=name: getattr(fresh(trace), name)) / bare for name in QUESTIONS}
    by_hand = best(lambda: lambda: plain.tally(trace), 1) / bare
    asked = fresh(trace)
    asked.message_name(1)
    one = best(lambda: lambda: (asked.message_name(777), asked.path(777), asked.rows_of(777)))
    explained = best(lambda: partial(mq.explain, fresh(trace))) / bare
    with capsys.disabled():
        print(f"\n  {len(trace)} events, the bare scan takes {bare * 1000:.2f} ms; times as long take:")
        print(f"  explaining it {explained:.1f}")
        print("  " + ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items()))
        print(f"  without numpy {by_hand:.0f}; one message, its path and events {one / bare:.1f}")
    assert max(ratios.values()) <= MOST
    assert by_hand <= MOST_PLAIN
    assert explained <= 3 * MOST
    assert one / bare <= MOST
    assert trace.account().counts() == {"consumed": MESSAGES}


def test_a_run_takes_few_bytes_an_event(capsys):
    code = (
        "import json; from pathlib import Path; from tests.benchmarks.test_questions import *\n"
        # What getrusage says may be the peak of whoever started the process.
        "status = Path('/proc/self/status').read_text\n"
        "peak = lambda: 1024 * int(status().partition('VmHWM:')[2].split()[0])\n"
        "long_run(1000); before = peak(); trace = long_run(2 * MESSAGES)\n"
        "print(json.dumps([len(trace), peak() - before]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          cwd=ROOT)  # fmt: skip
    events, grown = json.loads(done.stdout)
    with capsys.disabled():
        print(f"\n  bytes an event, at the highest: {grown / events:.1f} (goal {BYTES})")
    assert grown / events <= BYTES
