"""Twenty scenarios of each product, drawn by the day, on the real brokers and in the lab.

Once each; what differs is played three times more, since what then varies is no rule. A day's scenarios are
nobody's choice, and no test is to fail because they are unlucky ones: where nine in ten agree, fewer than two
thirds of twenty do so once in 400 days, where nineteen in twenty do, once in 30,000. A rule that breaks is
another matter. What differs is printed.
"""

import contextlib
import datetime
import os
import re
import subprocess
import sys
import tempfile

import pytest

from tests import plan
from tests.conftest import ROOT
from tests.real.differential.recorder import USUAL, VARIABLE, is_apart

PRODUCTS = ("networks", "openmq", "artemis")
RUNS, AGAIN = 20, 3
SECONDS = 540.0  # that a test waits, at most; asking takes 400 where others use the two cores


@pytest.fixture(scope="session")
def asked(maven):
    """Ask all at the same time, and while others play on real brokers: all of them wait most of it."""
    if not os.path.exists(os.environ.get(VARIABLE, USUAL)):
        pytest.skip(f"the programs that play on real brokers are not there ({VARIABLE} says where they are)")
    if not is_apart():
        pytest.skip("the programs that play on real brokers want network namespaces: run as root")
    day = datetime.date.fromisoformat(os.environ[plan.DAY])
    asking = [sys.executable, "-m", "tests.real.differential", "--runs", str(RUNS), "--plays", "1",
              "--again", str(AGAIN), "--seed", day.strftime("%Y%m%d"), "--product"]  # fmt: skip
    with contextlib.ExitStack() as left:
        yield {product: left.enter_context(asking_of([*asking, product])) for product in PRODUCTS}


@contextlib.contextmanager
def asking_of(command):
    """Begin to ask, and see to it that nothing is left running; yields the process and where it writes."""
    with tempfile.TemporaryFile("w+") as told:
        process = subprocess.Popen(command, cwd=ROOT, stdout=told, stderr=subprocess.STDOUT)
        try:
            yield process, told
        finally:  # it ends what it has started
            process.terminate()
            process.wait(30)


@pytest.mark.place(-1)
def test_all_products_are_being_asked(asked):
    assert [process.poll() for process, _ in asked.values()] == [None] * len(PRODUCTS)


@pytest.mark.place(1)
@pytest.mark.parametrize("product", PRODUCTS)
def test_most_scenarios_of_the_day_agree(asked, product):
    process, told = asked[product]
    code = process.wait(SECONDS)
    told.seek(0)
    text = told.read()
    assert code in (0, 1), text[-2000:]
    agreed, judged = map(int, re.search(r": (\d+) of (\d+) agree", text).groups())
    print(text[text.index(f"{product}, seed") :])
    assert judged >= 0.75 * RUNS, text[-3000:]
    assert agreed >= 2 / 3 * judged, text[-3000:]
