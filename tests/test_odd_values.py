"""Each argument of each public function, noun and question, with odd values in its place: told by a sentence.

An odd value may be accepted where nothing says that it is wrong; what its annotation excludes is refused.
"""

import inspect
import os

import pytest

import mqlab as mq
from mqlab.api import artemis, openmq
from mqlab.spec.calls import unlike

Q = mq.Queue("Q")
NET = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B"))
SENDS = mq.Consumer("C", "B", Q), mq.Producer("P", "A", 3, Q)
TRACE = mq.run(NET, *SENDS)
ODD = {
    "None": None, "empty": "", "blank": " ", "negative": -1, "huge": 10**20, "fraction": 2.5,
    "nan": float("nan"), "truth": True, "list": ["a"], "object": {"a": 1}, "noun": Q, "class": mq.Crash,
    "word": "nonsense", "bytes": b"A", "pair": (1, 2), "function": len, "module": os,
}  # fmt: skip
# What is needed besides the odd value.
GOOD = {
    "what": NET, "trace": TRACE, "path": "out.json", "old": "5.5", "new": "6.1", "over": {}, "seed": 1,
    "rate": 1, "id": "fuse:2.20", "name": "K", "uri": "tcp://A:61616", "message": "P-1", "consumer": "C",
    "reads": Q, "to": Q, "sends": 1, "count": 1, "spokes": 2, "brokers": 2, "topic": Q,
}  # fmt: skip
VERBS = [
    "chain", "check", "chaos", "cheapest", "compare", "complete", "configuration", "default_load",
    "effect", "explain", "faults", "figure", "figures", "from_networkx", "hub", "load", "mesh",
    "options", "outcomes", "recorded", "regions", "ring", "run", "save", "survives", "sweep",
    "to_networkx", "tree", "upgrade", "what_if", "Lab",
]  # fmt: skip
LATER = {"survives": ("processes",), "cheapest": ("processes",), "sweep": ("processes",)}  # that start others
NOUNS = {
    **{name: noun for name, noun in vars(mq).items() if isinstance(noun, type) and hasattr(noun, "at")},
    **{f"openmq.{name}": getattr(openmq, name) for name in openmq.__all__},
    **{f"artemis.{name}": getattr(artemis, name) for name in artemis.__all__},
    **{noun.__name__: noun for noun in (
        mq.Around, mq.Broker, mq.Endpoint, mq.Link, mq.Network, mq.NetworkConnector, mq.Queue, mq.Redelivery,
        mq.Scenario, mq.Topic, mq.TransportConnector,
    )},
}  # fmt: skip


def calls(function, skipped=()):
    """Yield each argument with each odd value: the argument, what the value is, and the call."""
    places = inspect.signature(function).parameters.values()
    needed = [
        of for of in places if of.default is of.empty and of.kind in (of.POSITIONAL_OR_KEYWORD, of.KEYWORD_ONLY)
    ]
    given = {of.name: GOOD.get(of.name, "A") for of in needed}
    for of in places:
        if of.kind is of.VAR_KEYWORD or of.name in skipped:
            continue
        for called, odd in ODD.items():
            if of.kind is of.VAR_POSITIONAL:
                before = [given[one.name] for one in needed if one.kind is one.POSITIONAL_OR_KEYWORD]
                rest = {one.name: given[one.name] for one in needed if one.kind is one.KEYWORD_ONLY}
                yield of.name, called, lambda before=before, odd=odd, rest=rest: function(*before, odd, **rest)
            else:
                yield of.name, called, lambda name=of.name, odd=odd: function(**{**given, name: odd})


def refused(call):
    """Whether a call is refused by an error of mqlab's; any other error goes through."""
    try:
        call()
    except mq.MqlabError:
        return True
    return False


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", VERBS)
def test_a_verb_answers_each_odd_value_itself(name):
    verb = getattr(mq, name)
    for place, called, call in calls(verb, LATER.get(name, ())):
        fits = unlike(inspect.unwrap(verb), (), {place: ODD[called]}) is None
        assert refused(call) or fits, f"{name}({place}={ODD[called]!r}) is accepted"


@pytest.mark.parametrize("name", NOUNS)
def test_a_noun_answers_each_odd_value_itself(name):
    for place, called, call in calls(NOUNS[name]):
        refused(call)
        wrong = called in ("fraction", "truth", "module") and place in (
            "name",
            "on",
            "broker",
            "consumer",
            "who",
        )
        assert not wrong or refused(call), f"{name}({place}={ODD[called]!r}) is accepted"


OWN = ("plot", "require_whole", "tallied")  # a picture, and what only mqlab itself asks
QUESTIONS = [
    name for name in dir(mq.Trace) if not name.startswith("_") and inspect.isfunction(getattr(mq.Trace, name))
]


@pytest.mark.parametrize("name", [one for one in QUESTIONS if one not in OWN])
def test_a_question_answers_each_odd_value_itself(name):
    question = getattr(TRACE, name)
    for _, _, call in calls(question):
        refused(call)
    assert refused(lambda: question(*[1] * 9)) or name == "rows"
    assert refused(lambda: question(nonsense=1))


@pytest.mark.parametrize("name", ["do", "fork", "rest", "step", "until"])
@pytest.mark.parametrize("network", [NET, openmq.Network("A", "B"), artemis.Network(artemis.Broker("A"))])
def test_a_lab_answers_each_odd_value_itself(name, network):
    act = getattr(mq.Lab(network), name)
    for called, odd in ODD.items():
        so_many = (name, called) == ("step", "huge")  # that is all there are
        assert so_many or refused(lambda odd=odd: act(odd))
    assert refused(lambda: act(nonsense=1))


@pytest.mark.parametrize("count", [-1, 0, "1", 2.5, True])
@pytest.mark.parametrize("made", [
    lambda n: mq.Receive("C", n), lambda n: mq.Acknowledge("C", n), lambda n: artemis.SlowLine("A", "B", n),
    lambda n: mq.RequestReply("R", "A", "B", Q, n), lambda n: artemis.WaitForFailover("C", n),
])  # fmt: skip
def test_what_is_counted_happens_at_least_once(made, count):
    with pytest.raises(mq.MqlabError, match="expected a whole number, 1 to"):
        made(count)


@pytest.mark.parametrize("made", [
    lambda t: mq.Wait(t), lambda t: mq.Link(delay=t), lambda t: mq.Link(jitter=t), lambda t: openmq.Wait(t),
    lambda t: mq.Consumer("C", "A", Q, delay=t), lambda t: mq.ReceiveOnce("C", timeout=t),
    lambda t: openmq.WaitFor("x", settle=t), lambda t: mq.run(NET, jitter=t), lambda t: mq.Lab(NET, jitter=t),
    lambda t: mq.outcomes(NET, *SENDS, jitter=t), lambda t: mq.faults(NET, seed=1, rate=1, length=t),
    lambda t: mq.chaos(NET, *SENDS, every=t), lambda t: mq.chaos(NET, *SENDS, length=t),
    lambda t: mq.run(NET, until=t), lambda t: TRACE.counters(at=t), lambda t: mq.Lab(NET).until(t),
])  # fmt: skip
def test_a_time_without_a_unit_has_no_fraction(made):
    with pytest.raises(mq.MqlabError, match=r"2\.5 could be seconds or ms; use e\.g\. '2\.5s' or '2\.5ms'"):
        made(2.5)


@pytest.mark.parametrize("network", [mq.Network(), artemis.Network()])
def test_a_network_without_a_broker_is_told(network):
    with pytest.raises(mq.MqlabError, match="this network has no broker, so there is nothing to check"):
        mq.check(network)
    assert [str(one) for one in mq.run(network).undone] == [
        "Network: it has no broker, so nothing can happen; add one, e.g. mq.Broker('A')"
    ]


def test_a_durable_consumer_of_a_queue_is_told_where_it_is_not_refused():
    run = mq.run(openmq.Network("A"), mq.Consumer("C", on="A", reads=Q, durable=True))
    told = "Consumer C: durable=True has no effect on a queue, which keeps its messages anyway; omit it"
    assert [str(one) for one in run.undone] == [told]


def test_one_line_is_described_once():
    both = {("A", "B"): mq.Link(loss=0.1), ("B", "A"): mq.Link(loss=0.2)}
    with pytest.raises(mq.MqlabError, match="one pair of names is there in both orders"):
        mq.run(NET, links=both)


@pytest.mark.parametrize("ask", [
    lambda: mq.explain(TRACE, on="A"), lambda: mq.explain(NET, queue="Q", message="P-1"),
    lambda: mq.what_if(TRACE, message="P-1", consumer="C", on="A"),
    lambda: mq.what_if(NET, message="P-1", consumer="C", queue="Q"),
])  # fmt: skip
def test_a_queue_and_a_message_are_not_asked_about_together(ask):
    with pytest.raises(mq.MqlabError, match="a queue and the broker that it waits at are asked about together"):
        ask()


def test_a_release_of_an_edition_of_another_product_runs_as_it():
    assert openmq.Network("b1", edition="6.5.1").edition == openmq.Network("b1", edition="6.5").edition
    assert mq.figure("openmq:4-1").scenario.under("5.1.2").network.edition == "5.1"
    assert artemis.Network(artemis.Broker("M"), edition="2.28.0").edition == "2.28"
