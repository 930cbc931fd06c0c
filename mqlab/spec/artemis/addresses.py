"""Which addresses a match means: words between dots, ``*`` for one word, ``#`` for any number of them.

Source: the Artemis user manual, wildcard syntax.
"""

from __future__ import annotations

from collections.abc import Iterable

_ANY, _ONE = "#", "*"


def matches(match: str, address: str) -> bool:
    """Whether a match means an address.

    >>> [matches("a.#", name) for name in ("a", "a.b.c", "b")], matches("a.*", "a.b.c")
    ([True, True, False], False)
    """
    return _match(match.split("."), address.split("."))


def _match(wanted: list[str], given: list[str]) -> bool:
    if not wanted:
        return not given
    if wanted[0] == _ANY:
        return any(_match(wanted[1:], given[place:]) for place in range(len(given) + 1))
    return bool(given) and wanted[0] in (_ONE, given[0]) and _match(wanted[1:], given[1:])


def most_specific(found: Iterable[str]) -> list[str]:
    """Return matches of one address, the most specific first: words before ``*`` before ``#``, from the left.

    >>> most_specific(["#", "a.#", "a.b", "a.*"])
    ['a.b', 'a.*', 'a.#', '#']
    """
    return sorted(
        found,
        key=lambda match: [(_ONE, _ANY).index(w) + 1 if w in (_ONE, _ANY) else 0 for w in match.split(".")],
    )
