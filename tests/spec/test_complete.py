"""What is added half fails here: an action or a fault that some part of mqlab has not been told of."""

import inspect

import pytest

import mqlab as mq
from mqlab import spec
from mqlab.experiments import changes
from mqlab.products.activemq.script import by_calls, by_rest
from mqlab.spec import action, clients, faults
from mqlab.spec.steps import STEPS

# Steps that do not change what comes of a run by themselves: what-if leaves them where they are.
LEFT = {
    "advertise": "who hears of it decides", "database_up": "goes with database_down",
    "heal": "goes with cut", "write_file": "what it says decides", "tell_reconnect": "an action",
    "copy_store": "an action", "sniff": "only listens",
}  # fmt: skip
# The steps of lab files that are faults, and what a what-if does with each.
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
    if (
        not steps_of(noun) and noun is not clients.WaitUntil
    ):  # a step for each thing that is waited for
        yield "a form in lab files: a row of STEPS in mqlab/spec/steps.py"
    if noun not in by_calls.DO and noun not in by_rest._DO and noun is not clients.WaitUntil:
        yield (
            "what it does: a function in mqlab/products/activemq/script (fault_actions.py for faults) "
            "and a row of DO in by_calls.py"
        )
    if getattr(spec, name, None) is not noun:
        yield "its name among the nouns: mqlab/spec/__init__.py, imports and __all__"
    if getattr(mq, name, None) is not noun:
        yield "its public name: mqlab/__init__.py, imports and __all__"
    if noun.__module__ == faults.__name__ and not KNOWN.issuperset(steps_of(noun)):
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


def test_half_an_action_is_told_what_it_lacks():
    class SetClock(action.Action):
        pass

    assert len(list(missing(SetClock))) == 4 + (not SetClock.__doc__)


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
