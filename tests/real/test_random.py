"""Twenty scenarios of each product, drawn by the day, on the real brokers and in the lab.

Once each; what differs is played three times more, since what then varies is no rule. A day's scenarios are
nobody's choice, and no test is to fail because they are unlucky ones: where nine in ten agree, fewer than two
thirds of twenty do so once in two thousand days. A rule that breaks is another matter. What differs is printed.
"""

import datetime
import os
import re
import subprocess
import sys
import time

import pytest

from tests import plan
from tests.conftest import ROOT
from tests.real.differential.recorder import USUAL, VARIABLE, is_apart

PRODUCTS = ("networks", "openmq", "artemis")
RUNS, AGAIN = 20, 3
SECONDS = 540.0  # until all is given up; it takes 350 where others use the two cores


@pytest.fixture(scope="module")
def answers(maven):
    """Ask all at the same time, for they wait most of it; return (exit code, what it printed) by product."""
    if not os.path.exists(os.environ.get(VARIABLE, USUAL)):
        pytest.skip(f"the programs that play on real brokers are not there ({VARIABLE} says where they are)")
    if not is_apart():
        pytest.skip("the programs that play on real brokers want network namespaces: run as root")
    day = datetime.date.fromisoformat(os.environ[plan.DAY])
    asking = [sys.executable, "-m", "tests.real.differential", "--runs", str(RUNS), "--plays", "1",
              "--again", str(AGAIN), "--seed", day.strftime("%Y%m%d"), "--product"]  # fmt: skip
    asked = {
        product: subprocess.Popen(
            [*asking, product], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for product in PRODUCTS
    }
    try:
        end = time.monotonic() + SECONDS
        told = {
            product: process.communicate(timeout=end - time.monotonic())[0]
            for product, process in asked.items()
        }
        return {product: (asked[product].returncode, text) for product, text in told.items()}
    finally:
        for process in asked.values():  # each ends what it has started
            process.terminate()
            process.wait(30)


@pytest.mark.parametrize("product", PRODUCTS)
def test_most_scenarios_of_the_day_agree(answers, product):
    code, told = answers[product]
    assert code in (0, 1), told[-2000:]
    agreed, judged = map(int, re.search(r": (\d+) of (\d+) agree", told).groups())
    print(told[told.index(f"{product}, seed") :])
    assert judged >= 0.75 * RUNS, told[-3000:]
    assert agreed >= 2 / 3 * judged, told[-3000:]
