"""The rules of `mqlab check`, of all products: by their ids, and as a page of what comes of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mqlab import products
from mqlab.checks.example import Example
from mqlab.checks.rule import Rule


def families() -> Mapping[str, tuple[Rule, ...]]:
    """Return the title of each product -> its rules."""
    return {product.title: product.rules() for product in reversed(products.PRODUCTS)}


def rules() -> Mapping[str, Rule]:
    """Return id -> rule."""
    return {rule.id: rule for family in families().values() for rule in family}


def family_of(rule: Rule) -> str:
    """Return the title of the product that a rule is of."""
    return next(title for title, own in families().items() if rule.id in {one.id for one in own})


def examples() -> Mapping[str, Callable[[], Example]]:
    """Return id -> what makes the two scenarios that show the harm, of each rule whose harm a run can show."""
    return {id: rule.example for id, rule in rules().items() if rule.example}


def page(shown: Mapping[str, str]) -> str:
    """Return the page of all rules, in Markdown; *shown* is rule -> what a run says."""
    lines = ["# The rules of mqlab check", ""]
    for title, family in families().items():
        lines += [f"## {title}", "", "| rule | finds | effect in a run | recording |"]
        lines += ["| --- | --- | --- | --- |"]
        for rule in family:
            told = shown.get(rule.id) or f"*no run: {rule.unshown}*"
            lines.append(f"| {rule.id} | {rule.finds} | {told} | {_see(rule)} |")
        lines.append("")
    return "\n".join(lines)


def _see(rule: Rule) -> str:
    return f"`mq.view(mq.recorded({rule.see!r}))`" if rule.see else ""
