"""Every action of every product is written and read again: as JSON by its fields, and as Python text."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import mqlab as mq
from mqlab import artemis, openmq
from mqlab.errors import MqlabError
from mqlab.files import shapes
from mqlab.files.code import Code
from mqlab.spec import codec
from mqlab.spec.noun import required
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.values import Destination
from tests.conftest import ALL

HOUSES = {"activemq": mq, "openmq": openmq, "artemis": artemis}
NOUNS = [(product, noun) for product in HOUSES for noun in codec.nouns(product).values()]
TEXTS = st.sampled_from(["A", "b 1", 'quo"te', "ünï", "5", "x" * 40])
TIMES = st.sampled_from([0, 7, "2.5ms", "20ms", "3s", "1min"])
PLAIN = st.one_of(TEXTS, st.booleans(), st.integers(-9, 9), st.floats(-1, 1))
DESTINATIONS = st.builds(
    Destination, st.sampled_from(["queue", "topic", "temp-queue"]), st.sampled_from(["Q", "A.*"])
)
# What has only some values: drawn at random it would hardly ever be one of them.
CHOICES = {
    "ack_mode": ["auto", "client", "dups_ok", "individual", "transacted"], "how": ["refuse", "hang"],
    "broker_id": ["fixed", "new"], "store": ["kept", "new"], "mode": ["silent", "refuse"],
    "selector": [None, "n > 2", "name = 'x'"], "prefetch": [None, 0, 5], "priority": [0, 127],
    "event": ["takeover_complete", "ready"], "until": ["ready"], "what": ["role"],
    "about": [{"broker": "A", "role": "master", "max_ms": 5}],
}  # fmt: skip


def values(hint, name, product):
    """Return what draws a value of an annotation."""
    if name in CHOICES:
        return st.sampled_from(CHOICES[name])
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        if int in parts and str in parts and bool not in parts:
            return st.one_of(TIMES, *([st.none()] if types.NoneType in parts else []))
        return st.one_of(*(values(part, name, product) for part in parts))
    if origin is tuple:
        return st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
    if origin is list:
        return st.lists(st.integers(0, 9), min_size=1, max_size=3)
    if origin is Mapping or hint is Mapping:
        return st.dictionaries(TEXTS, PLAIN, max_size=2)
    if hint is Redelivery:
        return st.builds(Redelivery, maximum=st.integers(-1, 9), exponential=st.booleans())
    if hint is Destination:  # Artemis has no temporary ones in scripts
        return DESTINATIONS.filter(lambda dest: product != "artemis" or not dest.is_temporary)
    plain = {str: TEXTS, bool: st.booleans(), int: st.integers(1, 100), float: st.floats(0.5, 99),
             types.NoneType: st.none(), typing.Any: PLAIN}  # fmt: skip
    return plain[hint]


def drawn(noun, product, data):
    """Return one action of a kind: what it needs, and some of the rest. Clusters have no redelivery."""
    hints, given = typing.get_type_hints(noun), {}
    for known in fields(noun):
        if product != "activemq" and known.name == "redelivery":
            continue
        if known.name in required(noun) or data.draw(st.booleans(), label=known.name):
            given[known.name] = data.draw(values(hints[known.name], known.name, product))
    try:
        return noun(**given)
    except MqlabError:  # two fields that do not go together
        assume(False)


@pytest.mark.parametrize(
    ("product", "noun"),
    [(p, n) for p, n in NOUNS if n.__name__ != "Call"],
    ids=lambda it: getattr(it, "__name__", it),
)
@settings(max_examples=200 if ALL else 8, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_it_is_read_as_it_was_written(product, noun, data):
    action = drawn(noun, product, data)
    written = json.loads(json.dumps(codec.write(action)))
    assert codec.read(written, product) == action
    shapes.actions(product).check([written], "actions")
    module = HOUSES[product]
    assert eval(Code("house").written(action), {"house": module}) == action


@given(id=st.one_of(st.none(), TEXTS), limit=st.one_of(st.none(), TIMES), background=st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_call_of_openmq_is_written_with_its_action(id, limit, background):
    action = openmq.Call(openmq.Close("C"), id, limit=limit, in_background=background)
    written = codec.write(action)
    assert written["do"] == "Close"
    assume(id is not None or limit is not None or background)
    assert codec.read(json.loads(json.dumps(written)), "openmq") == action
    shapes.actions("openmq").check([written], "actions")


def test_what_is_no_action_is_told():
    with pytest.raises(MqlabError, match="unknown action 'Crush'; did you mean 'Crash'"):
        codec.read({"do": "Crush"})
    with pytest.raises(MqlabError, match="unknown key 'brocker'; did you mean 'broker'"):
        codec.read({"do": "Crash", "brocker": "A"})
    with pytest.raises(MqlabError, match=r"action 2 \(Consumer\): reads is 7; use e.g. 'queue://TEST.FOO'"):
        codec.read_all([{"do": "Start"}, {"do": "Consumer", "name": "C", "on": "A", "reads": 7}])
