"""Where real runs differed, the lab under jitter reaches each of the outcomes that were seen.

Files of depth none are left out: what differs in them is how long a machine took to start, to copy or to
send a burst, and a jitter of links reaches 9 of these 45 to the last total.
"""

from __future__ import annotations

import pytest

from mqlab import conform, products
from mqlab.runtime import LOOPBACK
from tests.conftest import packed

SETS = ("activemq", "activemq-editions", "combined", "openmq", "artemis", "activemq-later",
        "openmq-later", "artemis-later")  # fmt: skip
JITTERS, SEEDS = ("0ms", "0.1ms", "1ms", "5ms"), 8


def several() -> list:
    """Return the recordings in which several outcomes were seen that say more than a bound."""
    found = [
        pytest.param(value, id=path.removesuffix(".json"))
        for name in SETS for path, value in sorted(packed(name).items())
        if value.get("observed", {}).get("deterministic") not in (None, "exact", "none")
        and len(value["observed"]["outcomes"]) > 1
    ]  # fmt: skip
    assert len(found) > 80
    return found


def runs(value):
    """Yield what comes of a scenario: as it is, then with more and more jitter."""
    product = products.product_of(value)
    scenario = product.read(value, "recording")
    timing = {"timing": LOOPBACK} if getattr(scenario, "pace", "") == "rest" else {}
    for jitter in JITTERS:
        for seed in range(1 if jitter == "0ms" else SEEDS):
            lab = product.lab(scenario, seed, jitter, 300_000, **timing)
            lab.play()
            yield product.outcome(lab.trace)


@pytest.mark.parametrize("value", several())
def test_each_outcome_that_was_seen_is_reached(value):
    observed = value["observed"]
    left = {no: {**observed, "outcomes": [entry]} for no, entry in enumerate(observed["outcomes"])}
    differ = conform.differences_of(products.product_of(value))
    for found in runs(value):
        left = {no: one for no, one in left.items() if differ(found, one)}
        if not left:
            return
    pytest.fail(f"outcomes {sorted(left)} were not reached")
