"""What a newcomer asks first: the answer stands in what one click brings, not behind it."""

import mqlab as mq
from mqlab.workbench import WorkbenchSession

ORDERS = mq.Queue("ORDERS")


def ask(trace, kind="", name=""):
    return WorkbenchSession(trace).answer("why", {"kind": kind, "name": name})


def test_a_consumer_without_messages_is_told_what_decided():
    answer = ask(mq.run("fuse:2.1"), "consumer", "C2")
    assert answer["title"] == "Why did C2 receive nothing?"
    assert answer["steps"][0]["text"] == "There is no bridge from B to A, where C2 is connected."
    assert [one["name"] for one in answer["missed"]] == ["P2-1", "P2-2", "P2-3"]


def test_of_messages_that_were_missed_those_are_named_that_it_asks_for():
    answer = ask(mq.run("fuse:2.17"), "consumer", "C1")  # selects every second one
    assert [one["name"] for one in answer["missed"]] == ["P-2", "P-4", "P-6"]


def test_the_run_names_the_messages_that_came_twice():
    answer = ask(mq.run("artemis:21.1.2-duplicates"))
    assert [one["name"] for one in answer["twice"]] == [f"sender2-{i}" for i in range(1, 7)]
    assert ask(mq.run("fuse:2.20"))["twice"] == []


def test_what_its_producers_send_is_sent_by_the_client_and_told_in_one_step():
    net = mq.Network(mq.Broker("A"))
    shop = mq.Client("shop", uri="failover:(tcp://A:61616)")
    reads = mq.Consumer("desk", on="A", reads=ORDERS)
    trace = mq.run(net, shop, reads, mq.Producer("till", on="shop", sends=5, to=ORDERS))
    answer = ask(trace, "client", "shop")
    assert answer["answer"] == "shop sent 5 messages."
    told = [step["text"] for step in answer["steps"] if "sent it" in step["text"]]
    assert told == ["till-1 to till-5: till sent it to queue://ORDERS at A."]


def test_attempts_that_are_alike_are_one_step():
    steps = [step["text"] for step in ask(mq.run("fuse:4.4"), "client", "C")["steps"]]
    assert sum("C waits 100 ms" in text for text in steps) == 1
    assert any("C is connected to broker2" in text for text in steps), "the end is told, too"
