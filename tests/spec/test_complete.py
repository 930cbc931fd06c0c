"""What is added half fails here: an action or a fault that some part of mqlab has not been told of."""

import inspect

import pytest

import mqlab as mq
from mqlab.experiments import changes
from mqlab.explain.sentences import sentence
from mqlab.products.activemq.script import runner
from mqlab.spec import action, clients, faults
from mqlab.spec.steps import STEPS

pytestmark = pytest.mark.complete
# Actions that do not change what comes of a run by themselves: what-if leaves them where they are.
LEFT = {
    "Advertise": "who hears of it decides", "DatabaseUp": "goes with DatabaseDown",
    "Heal": "goes with Cut", "WriteFile": "what it says decides", "SendAway": "an action",
    "CopyStore": "an action", "Sniff": "only listens",
}  # fmt: skip
# The faults, and what a what-if does with each.
KNOWN = {*changes._FAULTS, *changes._ACTIONS, *LEFT}


def actions(*modules):
    """Return the classes of actions that the modules define."""
    return [
        noun for module in modules for _, noun in inspect.getmembers(module, inspect.isclass)
        if issubclass(noun, action.Action) and noun is not action.Action
        and noun.__module__ == module.__name__
    ]  # fmt: skip


def steps_of(noun):
    return [name for name, row in STEPS.items() if row.noun is noun]


def missing(noun):
    """Yield what an action lacks, and where it goes."""
    name = noun.__name__
    if not steps_of(noun) and noun is not clients.WaitUntil:  # a step for each thing that is waited for
        yield "its word in recordings: a row of STEPS in mqlab/spec/steps.py"
    if noun not in runner.DO and noun is not clients.WaitUntil:
        yield (
            "what it does: a function in mqlab/products/activemq/script (fault_actions.py for faults) "
            "and a row of DO in runner.py"
        )
    if getattr(mq, name, None) is not noun:  # which has what spec lists
        yield "its name among the nouns: mqlab/spec/__init__.py, imports and __all__"
    if noun.__module__ == faults.__name__ and name not in KNOWN:
        yield (
            "what a what-if does with it: _FAULTS in mqlab/experiments/changes.py (or LEFT in "
            "tests/spec/test_complete.py, with the reason)"
        )
    if not (noun.__doc__ or "").strip():
        yield f"a sentence: its docstring in {noun.__module__.replace('.', '/')}.py"


@pytest.mark.parametrize("noun", actions(action, clients, faults), ids=lambda noun: noun.__name__)
def test_every_part_has_been_told_of_an_action(noun):
    lacks = list(missing(noun))
    assert not lacks, f"{noun.__name__} lacks:\n  " + "\n  ".join(lacks)


PAIR = mq.Network(
    mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)"), shared_store="s", host="h"),
    mq.Broker("B", shared_store="s"), around=mq.Around(endpoints=(mq.Endpoint("X", mode="silent"),)),
)  # fmt: skip
DATABASE = mq.Network(mq.Broker("A", store="jdbc"), mq.Broker("B", store="jdbc"))
GROUP = "multicast://default"
# Each fault, done to something that it can be done to.
DONE = [
    mq.Crash("A", at="9s"), mq.HostDown("h", at="9s"), mq.Cut("A", "B", at="9s"), mq.Heal("A", "B", at="9s"),
    mq.SlowDisk("s", 10, at="9s"), mq.DatabaseDown(at="9s"), mq.DatabaseUp(at="9s"),
    mq.DeleteLock("s", at="9s"), mq.TouchLock("s", at="9s"), mq.CopyStore("A", "B", at="9s"),
    mq.WriteFile("f", "tcp://A:61616", at="9s"), mq.SetEndpoint("X", "refuse", at="9s"),
    mq.Advertise("X", GROUP, at="9s"), mq.StopAdvertising("X", at="9s"), mq.SendAway("A", "B", at="9s"),
]  # fmt: skip


# What has to be done before, as there is nothing to mend else.
BEFORE = {mq.Heal: [mq.Cut("A", "B", at="8s")], mq.DatabaseUp: [mq.DatabaseDown(at="8s")]}
FAULTS = [noun for noun in actions(faults) if noun is not mq.Sniff]  # which only listens


@pytest.mark.parametrize("noun", FAULTS, ids=lambda noun: noun.__name__)
def test_every_fault_is_told_of_in_the_trace(noun):
    done = next((fault for fault in DONE if type(fault) is noun), None)
    assert done, f"{noun.__name__} has no example: add one to DONE in tests/spec/test_complete.py"
    network = DATABASE if noun.__name__.startswith("Database") else PAIR
    trace = mq.run(network, mq.Client("c", uri="tcp://A:61616"), *BEFORE.get(noun, ()), done, until="12s")
    told = [sentence(trace, event) for event in trace.events() if event.t == 9_000_000]
    assert any(told), (
        f"{noun.__name__} writes no row, so that no answer can name it: record one in its function in "
        "mqlab/products/activemq/script/fault_actions.py (`_intervene`, if no other kind fits)"
    )


def test_half_an_action_is_told_what_it_lacks():
    class SetClock(action.Action):
        pass

    assert len(list(missing(SetClock))) == 3 + (not SetClock.__doc__)


def test_a_client_with_redelivery_is_read_as_it_was_written(tmp_path):
    """A lab file of it was refused once: only consumers made a policy of the mapping."""
    policy = mq.Redelivery(maximum=1, delay=20)
    scenario = mq.Scenario.of(mq.Network(mq.Broker("A")),
                              mq.Client("c", uri="tcp://A:61616", redelivery=policy))  # fmt: skip
    mq.save(scenario, tmp_path / "lab.json")
    assert mq.load(tmp_path / "lab.json") == scenario


@pytest.mark.parametrize("figure", mq.figures(), ids=lambda figure: figure.id)
def test_every_figure_says_where_it_stands_and_what_it_asks(figure):
    for field in ("title", "question", "section", "answer"):
        assert getattr(figure, field).strip(), (
            f"{figure.id} has no {field}: write it beside the figure, in the JSON file of its guide under "
            "mqlab/products/*/figures"
        )
