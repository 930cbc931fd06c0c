"""The shapes of lab files: every recording and figure is of its shape, and what is not is told where."""

import re

import pytest

from mqlab import products
from mqlab.errors import BadFile, MqlabError
from mqlab.products.activemq.files import lab_file
from tests.conftest import packed

PACKS = ("activemq", "activemq-later", "artemis", "artemis-later", "combined", "failover", "openmq",
         "openmq-later")  # fmt: skip
LAB = {
    "brokers": [{"name": "A"}, {"name": "B"}],
    "connectors": [{"name": "ab", "from": "A", "to": "B"}],
    "actions": [{"do": "Start"}, {"do": "Producer", "name": "P", "on": "A", "to": "queue://Q", "sends": 2}],
}  # fmt: skip
CLUSTER = {
    "product": "openmq", "cluster": {"model": "peer"}, "brokers": ["b1", "b2"],
    "actions": [{"do": "Start"}, {"do": "Producer", "name": "P", "on": "b1", "to": "queue://Q", "sends": 2}],
}  # fmt: skip
PAIR = {
    "product": "artemis",
    "brokers": [{"name": "M", "ha": {"policy": "replication", "role": "master"}}],
    "queues": [{"name": "Q"}], "actions": [{"do": "Start"}],
}  # fmt: skip


def recordings():
    """Return every packed recording that has a scenario."""
    return [value for name in PACKS for value in packed(name).values() if "scenario" in value]


def read(value):
    return products.product_of(value).read(value, "my.json")


@pytest.mark.slow
def test_every_recording_is_of_its_shape():
    values = recordings()
    assert len(values) > 1000
    for value in values:
        read(value)


def action(do, **fields):
    return {"actions": [*LAB["actions"], {"do": do, **fields}]}


def sends(**fields):
    return action("Producer", **{"name": "P", "on": "A", "to": "queue://Q", "sends": 1, **fields})


def reads(**fields):
    return action("Consumer", **{"name": "C", "on": "A", "reads": "queue://Q", **fields})


# What is written, and what the error says: where, what came, what to write.
WRONG = [
    (LAB, sends(sends=10**20), ["action 3 (Producer), sends is 100000000000000000000", "0 to 1000000000"]),
    (LAB, sends(sends=1e9), ["action 3 (Producer), sends is 1000000000.0"]),
    (LAB, sends(sends=True), ["action 3 (Producer), sends is True"]),
    (LAB, sends(every=float("inf")), ["action 3 (Producer), every: inf is not a duration"]),
    (LAB, sends(every=float("nan")), ["action 3 (Producer), every: nan is not a duration"]),
    (LAB, sends(to=7), ["action 3 (Producer), to is 7; expected a destination, such as 'queue://"]),
    (LAB, sends(to="Q"), ["action 3 (Producer), to is 'Q'; expected a destination"]),
    (LAB, sends(at="soon"), ["action 3 (Producer), at: 'soon'", "'500ms'"]),
    (LAB, sends(properties={"a": {}}), ["action 3 (Producer), properties, a"]),
    (LAB, reads(selector=5), ["action 3 (Consumer), selector is 5"]),
    (LAB, reads(on=[]), ["action 3 (Consumer), on is []"]),
    (LAB, reads(read="queue://Q"), ["action 3 (Consumer): unknown key 'read'; did you mean 'reads'"]),
    (LAB, action("Crash"), ["action 3 (Crash): the key 'broker' is missing"]),
    (LAB, {"actions": [{"dance": "Crash"}]}, ["action 1: the key 'do' is missing"]),
    (LAB, {"actions": [{"do": ["Crash"]}]}, ["action 1: unknown action ['Crash']"]),
    (LAB, {"actions": {}}, ["actions is {}; expected a list"]),
    (LAB, {"brokers": ["A"]}, ["broker 1 is 'A'; expected an object"]),
    (LAB, {"brokers": [{"name": ""}]}, ["broker '', name is ''"]),
    (LAB, {"brokers": [{"name": "A", "at": [0.5]}]}, ["broker 'A', at is [0.5]", "a list of 2"]),
    (LAB, {"brokers": [{"name": "A", "policies": [{"queue": ">", "max_page_size": 0}]}]},
     ["policy 1", "maxPageSize: 0 is too low; expected 1 or more"]),
    (LAB, {"connectors": [{"name": "ab", "from": "A", "to": 7}]}, ["connector 'ab', to is 7"]),
    (LAB, {"connectors": [{"name": "ab", "from": "A", "to": "B", "network_ttl": 10**12}]},
     ["connector 'ab'", "networkTTL: 1000000000000 is out of range; expected 2147483647 or less"]),
    (LAB, {"connectors": [{"name": "ab", "from": "A", "to": "B", "network_tll": 1}]},
     ["connector 'ab': unknown option 'network_tll'; did you mean 'network_ttl'"]),
    (LAB, {"connectors": [{"name": "ab", "from": "A", "to": "B",
                           "excluded_destinations": ["queue://Q", 5]}]},
     ["connector 'ab': excludedDestinations: 5 is not a destination"]),
    (LAB, {"pace": "fast"}, ["unknown pace 'fast'", "rest, calls"]),
    (LAB, {"title": ["x"]}, ["title is ['x']; expected a string"]),
    (LAB, {"edition": 5.17}, ["edition is 5.17; expected a string"]),
    (LAB, {"guide_says": {"received": {"C": "many"}}}, ["guide_says, received, C is 'many'"]),
    (LAB, {"guide_says": {7: 1}}, ["the key 7 is not a string"]),
    (CLUSTER, {"cluster": {"model": "star"}}, ["cluster: unknown model 'star'"]),
    (CLUSTER, {"brokers": [5]}, ["broker 1 is 5"]),
    (CLUSTER, {"cluster": {"model": "peer", "options": {"imq.autocreate.queue": "perhaps"}}},
     ["imq.autocreate.queue: 'perhaps' is neither true nor false"]),
    (CLUSTER, {"actions": [{"do": "Crash", "broker": ["b1"]}]}, ["action 1 (Crash), broker is ['b1']"]),
    (CLUSTER, {"actions": [{"do": "Isolate", "brokers": ["b1"]}]},
     ["action 1: 'Isolate' is an action of Artemis only"]),
    (PAIR, {"brokers": [{"name": "M", "ha": {"policy": "replicate"}}]}, ["unknown policy 'replicate'"]),
    (PAIR, {"cluster": {"max_hops": -1}}, ["cluster: max-hops: -1 is too low; expected 0 or more"]),
    (PAIR, {"queues": [5]}, ["queue 1 is 5; expected an object"]),
    (PAIR, {"actions": [{"do": "Wait", "time": -1}]}, ["action 1 (Wait), time: -1 is not a duration"]),
    (PAIR, {"clients": {"retry_interval": "soon"}}, ["clients: retryInterval: 'soon' is not a whole number"]),
]  # fmt: skip


@pytest.mark.parametrize(("base", "change", "parts"), WRONG)
def test_what_is_of_another_shape_is_told_with_its_place(base, change, parts):
    with pytest.raises(MqlabError) as told:
        read({**base, **change})
    assert str(told.value).startswith("my.json: ")
    for part in parts:
        assert part in str(told.value)


# The same in the words of recordings, which lab files of earlier versions have, too.
OLD = {
    "brokers": [{"name": "A"}, {"name": "B"}],
    "connectors": [{"name": "ab", "from": "A", "to": "B"}],
    "steps": [{"do": "start"}, {"do": "send", "broker": "A", "queue": "Q", "count": 2}],
}  # fmt: skip


def step(**keys):
    return {"steps": [*OLD["steps"], keys]}


@pytest.mark.parametrize(("change", "part"), [
    (step(do="send", broker="A", queue="Q", count=10**20), "step 3 (send), count is 100000000000000000000"),
    (step(do="send", broker="A", queue="Q", count=True), "step 3 (send), count is True"),
    (step(do="send", broker="A", queue="Q", interval_ms=float("nan")), "step 3 (send), interval_ms is nan"),
    (step(do="send", broker="A", queue=7), "step 3 (send), queue is 7; expected a string"),
    (step(do="send", broker="A", queue="Q", at="soon"), "step 3 (send), at: 'soon'"),
    (step(do="send", broker="A", queue="Q", properties={"a": {}}), "step 3 (send), properties"),
    (step(do="open_consumer", consumer="C", broker="A", queue="Q", selector=5), "selector is 5"),
    (step(do="open_consumer", consumer="C", broker=[], queue="Q"), "step 3 (open_consumer)"),
    (step(do="open_consumer", consumer="C", broker="A", que="Q"), "did you mean 'queue'"),
    (step(do="kill"), "step 3 (kill): the key 'broker' is missing"),
    (step(do="dance"), "step 3 (dance): unknown step 'dance'"),
    (step(dance="kill"), "step 3: the key 'do' is missing"),
    ({"steps": {}}, "steps is {}; expected a list"),
])  # fmt: skip
def test_a_script_in_the_words_of_recordings_is_told_with_its_place(change, part):
    assert read(OLD).network == read(LAB).network.change("*", store="memory")
    with pytest.raises(MqlabError) as told:
        read({**OLD, **change})
    assert str(told.value).startswith("my.json: ")
    assert part in str(told.value)


@pytest.mark.parametrize("base", [LAB, CLUSTER, PAIR], ids=["activemq", "openmq", "artemis"])
def test_null_says_as_much_as_no_key(base):
    nulls = dict.fromkeys(("title", "theme", "version", "guide_says"))
    assert read({**base, **nulls}) == read(base)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [nested(40), {"a": nested(900)}], ids=["40", "900"])
def test_values_inside_one_another_are_counted(value):
    with pytest.raises(MqlabError, match=r"nominal.*nested more than 30 deep"):
        read({**LAB, "nominal": value})


@pytest.mark.parametrize(("text", "told"), [
    ("[" * 100_000, "nested too deeply"),
    ('{"a":' * 100_000, "nested too deeply"),
    ('{"a": ' + "9" * 5000 + "}", "number too long"),
    ("[]", "a lab file is a JSON object"),
    ('{"brokers": [}', "line 1, column 14: not JSON"),
    (" \n", f"it is empty; the smallest lab file is {re.escape(lab_file.SMALLEST)}"),
])  # fmt: skip
def test_a_text_that_is_no_lab_file_is_told_what_it_is(tmp_path, text, told):
    file = tmp_path / "my.json"
    file.write_text(text)
    with pytest.raises(BadFile, match=told):
        lab_file.load(file)
