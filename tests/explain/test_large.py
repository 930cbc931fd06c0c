"""Of many consumers, brokers and events the most telling are named, and how many more there are."""

import pytest

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


def test_of_a_broker_with_many_consumers_those_who_came_are_counted():
    lines = mq.explain(mq.run(A, *CONSUMERS), "A").lines
    created = "20 subscriptions to 20 destinations were created (C0 to C19)"
    assert lines[1] == f"0 ms  {created}: a client of this broker subscribed."
    assert lines[2] == "20 consumers subscribed here; they received 0 messages here, 0 each."
    assert len(lines) == 3


@pytest.mark.parametrize("product", ["activemq", "openmq", "artemis"])
def test_of_a_broker_that_stops_those_who_were_cut_off_and_came_back_are_counted(product):
    net = mq.complete(2, product=product)
    _, home = net.names
    readers = [mq.Consumer(f"C{no}", on=home, reads=QUEUES[0]) for no in range(20)]
    sends = mq.Producer("P", on=net.names[0], sends=40, to=QUEUES[0])
    lines = mq.explain(mq.run(net, *readers, sends, mq.Crash(home), mq.Restart(home)), home).lines
    assert "20 consumers subscribed here; they received 40 messages here, 2 each." in lines
    back = 20 if product == "artemis" else 0  # whose clients look for their broker again
    assert f"20 consumers lost the broker; {back} of them came back." in lines
    assert len(lines) < 18


def test_of_failover_clients_all_come_back():
    clients = [mq.Client(f"k{no}", uri="failover:(tcp://A:61616)", at="0s") for no in range(20)]
    readers = [mq.Consumer(f"C{no}", on=f"k{no}", reads=QUEUES[0], at="10ms") for no in range(20)]
    trace = mq.run(A, *clients, *readers, mq.Crash("A", at="3s"), mq.Restart("A", at="5s"))
    assert mq.explain(trace, "A").lines[-1] == "20 consumers lost the broker; 20 of them came back."


def test_an_outcome_of_many_consumers_says_how_many_received_how_many():
    readers = [mq.Consumer(f"C{no:02}", on="A", reads=QUEUES[0], at="0s") for no in range(13)]
    found = mq.outcomes(A, *readers, mq.Producer("P", on="A", sends=20, to=QUEUES[0]), seeds=2)
    assert str(found[0]) == "13 consumers 20, from 1 to 2 each"


def test_few_are_all_named():
    lines = mq.explain(mq.run("fuse:2.20")).lines
    assert lines[:3] == ("C1 received 6.", "C2 received 3.", "C3 received 3.")
