"""What comes of a problem, shown by a run: the smallest network that has it is played, and the same one mended.

>>> effect("ttl-zero")
ttl-zero: C receives 0; with the fix 5; waiting at A 5; with the fix 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.calls import fitting
from mqlab.spec.problem import Problem
from mqlab.trace.accounts import roles
from mqlab.trace.trace import Trace

Fact = int | str
ROLE = " ends as"


@dataclass(frozen=True, slots=True)
class Effect:
    """What comes of a problem: the facts in which the run *with* it differs from the *mended* one.

    `changes` is fact -> (with, mended): numbers of messages, and roles at the end (0: there is none).
    """

    rule: str
    changes: Mapping[str, tuple[Fact, Fact]]
    bad: Trace = field(repr=False, compare=False)
    mended: Trace = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.rule}: {self.told}."

    __repr__ = __str__

    @property
    def told(self) -> str:
        """The facts in words."""
        return "; ".join(f"{fact} {bad}; with the fix {good}" for fact, (bad, good) in self.changes.items())


@fitting
def effect(rule: str | Problem, *others: object, **options: object) -> Effect:
    """Return the effect of a problem found by `check`: runs of a minimal network with it and with the fix.

    Its `bad` and `mended` are traces, for `mqlab.view` and `mqlab.compare`. Raises `UnknownName` for a rule
    that no run shows (``mqlab rules check`` says why), `BadValue` for what is no rule.
    """
    if others or options or not isinstance(rule, (str, Problem)):
        change = "of a change: mq.compare(mq.run(net), mq.run(net.change(...)))"
        raise BadValue(f"effect takes a rule or a problem of check, such as mq.effect('ttl-zero'); {change}")
    return _effect(rule if isinstance(rule, str) else rule.rule)


@cache
def _effect(rule: str) -> Effect:
    from mqlab import products
    from mqlab.experiments.catalogue import examples

    known = examples()
    if rule not in known:
        raise UnknownName.of("rule that a run can show", rule, known)
    pair = known[rule]()
    bad, good = products.play(pair.bad), products.play(pair.good)
    one, other = _facts(bad), _facts(good)
    differ = [f for f in dict.fromkeys([*one, *other]) if one.get(f, 0) != other.get(f, 0)]
    changes = {f: (one.get(f, 0), other.get(f, 0)) for f in differ if not _added(f, one)}
    return Effect(rule, changes, bad, good)


def _added(fact: str, bad: Mapping[str, Fact]) -> bool:
    """Whether a fact is the role of a broker that only the mended network has; a hosted part is no broker."""
    return fact.endswith(ROLE) and fact not in bad and "/" not in fact


def _facts(trace: Trace) -> dict[str, Fact]:
    facts: dict[str, Fact] = {f"{name} receives": n for name, n in trace.received().items()}
    for broker, queues in trace.waiting().items():
        facts[f"waiting at {broker}"] = sum(map(len, queues.values()))
    facts["lost"] = len(trace.lost())
    facts["received twice"] = sum(map(len, trace.duplicated().values()))
    for name, spans in roles(trace).items():
        facts[f"{name}{ROLE}"] = spans[-1][1]
    return facts
