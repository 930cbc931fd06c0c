"""The owner of a message group is named wherever it decides, and since when."""

import pytest

import mqlab as mq

Q = mq.Queue("Q")
A = mq.Network(mq.Broker("A"))


def sends(count, *groups, **more):
    return mq.Producer("P", on="A", sends=count, to=Q, properties={"JMSXGroupID": [*groups], **more})


def reads(name, **more):
    return mq.Consumer(name, on="A", reads=Q, **more)


def story(trace, message):
    return "\n".join(mq.explain(trace, message=message).lines)


def test_the_first_message_of_a_group_gives_it_and_the_others_follow():
    trace = mq.run(A, reads("C1"), reads("C2"), sends(4, "g", "h"))
    assert "A dispatched it to C1, which owns message group g from now on" in story(trace, "P-1")
    begun = trace.event(trace.rows_of(1)[2]).t
    told = f"A dispatched it to C1, which has owned message group g since {begun} [ActiveMQ rule 25.1]."
    assert told in story(trace, "P-3")
    assert "C2, which has owned message group h" in story(trace, "P-4")


def test_a_message_waits_for_the_owner_though_others_have_room():
    trace = mq.run(A, reads("C1"), reads("C2", receiving=False, prefetch=1), sends(6, "g", "h"))
    told = "message group h has belonged to C2 since 3 ms, whose prefetch window is full"
    assert f"it stays at A: {told}" in story(trace, "P-6")
    assert f"(P-4, P-6): {told}." in str(mq.explain(trace, "A"))


def test_a_group_of_who_left_has_another_owner():
    trace = mq.run(A, reads("C1"), reads("C2"), sends(1, "g"), mq.Close("C1"),
                   mq.Producer("R", on="A", sends=2, to=Q, properties={"JMSXGroupID": "g"}))  # fmt: skip
    assert "to C2, which owns message group g from now on" in story(trace, "R-1")
    assert "to C2, which has owned message group g since" in story(trace, "R-2")


def test_a_negative_sequence_number_ends_the_ownership():
    closing = {"JMSXGroupSeq": [1, -1, 2]}
    trace = mq.run(A, reads("C1"), reads("C2"), sends(3, "g", **closing))
    assert [name for name in ("P-1", "P-3") if "from now on" in story(trace, name)] == ["P-1", "P-3"]
    assert "has owned message group g" in story(trace, "P-2")


def test_the_bridge_owns_a_group_where_the_message_crosses():
    net = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", "static:(tcp://B:61616)")), mq.Broker("B"))
    trace = mq.run(net, mq.Consumer("C", on="B", reads=Q), sends(2, "g"))
    assert "A forwarded it to B over A/ab, which has owned message group g since" in story(trace, "P-2")


@pytest.mark.parametrize("name", ["GroupID", "group"])
def test_other_properties_make_no_group(name):
    trace = mq.run(A, reads("C1"), mq.Producer("P", on="A", sends=2, to=Q, properties={name: "g"}))
    assert "group" not in story(trace, "P-2")
