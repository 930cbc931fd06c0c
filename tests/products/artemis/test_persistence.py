"""persistence-enabled: what a broker without a journal has after its restart."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.api import artemis


@pytest.mark.parametrize("end", [artemis.Stop("A"), artemis.Crash("A")], ids=["stop", "crash"])
def test_a_broker_without_persistence_forgets_its_messages(end):
    queue = mq.Queue("Q")
    net = artemis.Network(artemis.Broker("A", persistence_enabled=False), queues=(artemis.AddressQueue("Q"),))
    script = (
        artemis.Producer("P", on="A", sends=3, to=queue), end, artemis.Restart("A"),
        artemis.Consumer("C", on="A", reads=queue),
    )  # fmt: skip
    trace = mq.run(net, *script)
    assert (trace.received()["C"], len(trace.lost())) == (0, 3)
    assert "held in memory only" in str(mq.explain(trace, message="P-1"))
    assert mq.run(net.change("A", persistence_enabled=True), *script).received()["C"] == 3
