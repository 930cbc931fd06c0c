"""Changes of an option that take a problem of `check` away, found by trying them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mqlab import products
from mqlab.checks.problems import Problems
from mqlab.errors import MqlabError
from mqlab.experiments.changes import set_otherwise, taken_away
from mqlab.products import inputs
from mqlab.spec.action import Action
from mqlab.spec.change import Body, Change
from mqlab.spec.problem import Problem
from mqlab.spec.scenario import AnyNetwork, Scenario

MOST_FIXES = 60  # changes that are tried against a problem


def problems(body: Body) -> list[Problem]:
    """Return the problems of a lab file, errors first."""
    product = products.product_of(body)
    return list(product.check(product.read(body)))


def fix(
    body: Body, problem: Problem, before: Sequence[Problem], destinations: Sequence[str]
) -> tuple[Change | None, list[str]]:
    """Return the change after which a problem is gone and the fewest new ones have come, and these.

    *destinations*, such as ``queue://TEST.FOO``, are those whose policies may change.
    """
    best: tuple[int, Change | None, list[str]] = (len(before) + 1, None, [])
    for change in islice(_candidates(body, destinations), MOST_FIXES):
        try:
            after = problems(change.apply(body))
        except MqlabError:
            continue
        if any((p.rule, p.where) == (problem.rule, problem.where) for p in after):
            continue
        known = {(p.rule, p.where) for p in before}
        new = [f"{p.where}: {p.what}" for p in after if (p.rule, p.where) not in known]
        if len(after) <= len(before) and len(new) < best[0]:
            best = (len(new), change, new)
    return best[1:]


def check(what: object, *actions: Action) -> Problems:
    """Return the problems of what can be run or checked, with what finds the changes by which they go."""
    found = inputs.checked(what, *actions)
    problems = tuple(products.product_of_scenario(found).check(found))

    def changes() -> tuple[Change, ...]:
        scenario = Scenario(found) if isinstance(found, AnyNetwork) else found
        body = products.product_of_scenario(scenario).write(scenario)
        made = (fix(body, problem, problems, ("queue://TEST.FOO",))[0] for problem in problems)
        return tuple(dict.fromkeys(change for change in made if change is not None))

    return Problems(problems, changes)


def _candidates(body: Body, destinations: Sequence[str]) -> Iterator[Change]:
    """Yield changes of the network's options; what clients wish for, and what happens, stays."""
    for destination in destinations:
        yield from set_otherwise(body, destination)
    taken = (change for change in taken_away(body) if change.kind == "option")
    yield from (change for change in taken if change.edits[0].path[0] != "actions")
