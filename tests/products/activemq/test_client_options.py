"""What a client's address says of its consumers (jms. options), and what sessions do together."""

from __future__ import annotations

import pytest

from tests.products.activemq.timed import run

TO_A = "failover:({A})?initialReconnectDelay=50"


def played(script, uri=TO_A, **more):
    return run("A", f"start_broker broker=A\nconnect client=C uri={uri}\n{script}\nsnapshot", **more)


def received(found, who="K"):
    return found["consumers"][who]["received"]


def depths(found):
    return found["snapshots"]["final"]["brokers"]["A"].get("queues", {})


def test_a_redelivery_policy_of_the_address():
    script = """
        open_consumer client=C consumer=K session=k queue=Q transacted=true
        send client=C session=send queue=Q count=1
        wait_ms ms=100
        rollback client=C session=k
        wait_ms ms=300
        rollback client=C session=k
        wait_ms ms=300
    """
    policy = "jms.redeliveryPolicy.maximumRedeliveries=1&jms.redeliveryPolicy.initialRedeliveryDelay=100"
    assert received(played(script, f"{TO_A}&{policy}")) == "1, 1"
    assert depths(played(script, f"{TO_A}&{policy}")) == {"Q": 0, "ActiveMQ.DLQ": 1}
    assert received(played(script)) == "1"  # the usual wait is a second
    beside = played(f"{script}\nsend client=C session=send queue=Q count=1\nwait_ms ms=100",
                    f"{TO_A}&jms.nonBlockingRedelivery=true")  # fmt: skip
    assert received(beside) == "1-2"


@pytest.mark.parametrize(("option", "queue", "topic"), [
    ("queuePrefetch=1", 1, None), ("topicPrefetch=2", None, 2), ("all=3", 3, 3),
    ("durableTopicPrefetch=1", None, None),
])  # fmt: skip
def test_a_prefetch_is_of_one_kind_of_consumers(option, queue, topic):
    found = played("""
        open_consumer client=C consumer=K session=k queue=Q receiving=false
        open_consumer client=C consumer=L session=l topic=T receiving=false
        settle
    """, f"{TO_A}&jms.prefetchPolicy.{option}")  # fmt: skip
    subs = found["snapshots"]["final"]["brokers"]["A"]["subscriptions"]
    assert {sub["consumer"]: sub["prefetch"] for sub in subs} == {"K": queue or 1000, "L": topic or 32767}


def test_an_exclusive_consumer_by_the_address():
    script = """
        connect client=D uri=failover:({A})
        open_consumer client=D consumer=L session=l queue=Q
        open_consumer client=C consumer=K session=k queue=Q
        send client=D session=send queue=Q count=4
        wait_ms ms=200
    """
    assert received(played(script, f"{TO_A}&jms.exclusiveConsumer=true")) == "1-4"
    assert received(played(script)) == "2, 4"


def test_what_is_too_old_in_the_buffer_reaches_nobody():
    script = """
        open_consumer client=C consumer=K session=k queue=Q receiving=false
        send client=C session=send queue=Q count=2 time_to_live_ms=300
        send client=C session=send queue=Q count=1
        wait_ms ms=500
        resume_consumer consumer=K
        wait_ms ms=100
    """
    assert (received(played(script)), depths(played(script))) == ("3", {"Q": 0, "ActiveMQ.DLQ": 2})
    assert received(played(script, f"{TO_A}&jms.consumerExpiryCheckEnabled=false")) == "1-3"
    once = script.replace("resume_consumer consumer=K", "receive_once consumer=L timeout_ms=300 label=got")
    once = once.replace(
        "consumer=K session=k queue=Q receiving=false", "consumer=L session=k queue=Q loop=false"
    )
    found = played(once)
    assert next(row for row in found["results"] if row.get("label") == "got")["got"] == 3


def test_a_session_acknowledges_what_all_its_consumers_had():
    found = played("""
        open_consumer client=C consumer=K session=s queue=Q ack_mode=client acknowledge=false
        open_consumer client=C consumer=L session=s queue=R acknowledge=false
        send client=C session=send queue=Q count=2
        send client=C session=send queue=R count=3
        wait_ms ms=100
        acknowledge consumer=L
        wait_ms ms=100
    """)  # fmt: skip
    assert depths(found) == {"Q": 0, "R": 0}
    by_itself = played("""
        open_consumer client=C consumer=K session=s queue=Q ack_mode=client acknowledge=false
        open_consumer client=C consumer=L session=s queue=R
        send client=C session=send queue=Q count=2
        send client=C session=send queue=R count=3
        wait_ms ms=100
    """)  # fmt: skip
    assert depths(by_itself) == {"Q": 0, "R": 0}  # whoever acknowledges each does it for the session


def test_nothing_of_what_a_script_leaves_behind_is_told():
    script = """
        open_consumer client=C consumer=K session=k queue=Q ack_mode=client acknowledge=false
        send client=C session=send queue=Q count=1
        wait_ms ms=100
        recover client=C session=k
        wait_ms ms={}
    """
    assert received(played(script.format(500))) == "1"
    assert received(played(script.format(1200))) == "1, 1"


def test_a_name_that_comes_again_is_another_consumer():
    found = played("""
        open_consumer client=C consumer=K session=k queue=Q
        send client=C session=send queue=Q count=2
        wait_ms ms=100
        close_consumer consumer=K
        send client=C session=send queue=Q count=2
        open_consumer client=C consumer=K session=l queue=Q
        wait_ms ms=100
    """)  # fmt: skip
    assert received(found) == "3-4"
