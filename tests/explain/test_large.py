"""Of many consumers, brokers and events the most telling are named, and how many more there are."""

import mqlab as mq

QUEUES = [mq.Queue(f"Q{no}") for no in range(20)]
CONSUMERS = [mq.Consumer(f"C{no}", on="A", reads=QUEUES[no], at="0s") for no in range(20)]
A = mq.Network(mq.Broker("A"))


def test_consumers_with_the_least_and_the_most():
    sends = [mq.Producer(f"P{no}", on="A", sends=no, to=QUEUES[no], at="1s") for no in range(20)]
    lines = mq.explain(mq.run(A, *CONSUMERS, *sends)).lines
    assert lines[:4] == (
        "20 consumers received 190 in all, from 0 to 19 each.",
        "The least: C0 0, C1 1, C2 2, C3 3, C4 4, C5 5.",
        "The most: C19 19, C18 18, C17 17, C16 16, C15 15, C14 14.",
        "1 consumer received nothing.",
    )


def test_of_places_where_messages_wait_the_fullest():
    net = mq.hub(15)
    sends = [mq.Producer(f"P{no}", on=f"S{no}", sends=no, to=QUEUES[no]) for no in range(1, 16)]
    lines = mq.explain(mq.run(net, *sends)).lines
    assert lines[0].startswith("15 messages of queue://Q15 are waiting at S15")
    assert lines[12] == "... 120 messages wait at 15 brokers in all; see trace.waiting()."
    assert len(lines) == 13


def test_of_a_broker_some_events_of_each_kind():
    lines = mq.explain(mq.run(A, *CONSUMERS), "A").lines
    assert sum("created subscription" in line for line in lines) == 12
    assert lines[-1] == "... and 8 more such events."


def test_few_are_all_named():
    lines = mq.explain(mq.run("fuse:2.20")).lines
    assert lines[:3] == ("C1 received 6.", "C2 received 3.", "C3 received 3.")
