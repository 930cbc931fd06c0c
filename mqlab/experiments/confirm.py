"""Causes that are proved: each is taken away, alone, and the run is played again.

Reading a trace gives what decided; whether the consumer would have had the message without it is
another question, which only another run answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from mqlab.experiments.what_if import WhatIf, affordable, what_if
from mqlab.explain import Cause, Explanation
from mqlab.trace.trace import Trace


def confirm(
    trace: Trace,
    explanation: Explanation,
    message: str | int,
    consumer: str,
    made: Collection[str] = (),
) -> Explanation:
    """Return an answer to why not with the changes that were found to take each cause away.

    What changes the answer and has no sentence of its own becomes a cause, too. A run of too many events
    is left as it was read; of clients that were *made* up see `what_if`.
    """
    runs = affordable(trace)
    if not runs:
        return explanation
    found = what_if(trace, message=message, consumer=consumer, at_most=runs, made=made)
    return replace(
        explanation,
        causes=tuple(_paired(explanation.causes, found)),
        told=(*explanation.told, *_told(found)),
    )


def _paired(causes: tuple[Cause, ...], found: WhatIf) -> Iterator[Cause]:
    """Yield each cause with its change, then the changes that are left as causes of their own."""
    left, would = list(found.changes), "would not receive it" if found.received else "would receive it"
    for cause in causes:
        mine = next((change for change in left if cause.grounds & set(change.about)), None)
        if mine is not None:
            left.remove(mine)
        yield replace(cause, change=mine)
    yield from (Cause(f"{change.text}: it {would}.", change=change) for change in left)


def _told(found: WhatIf) -> Iterator[str]:
    if found.changes:
        yield f"A single change that would {found.effect}: {'; or '.join(map(str, found.changes[:4]))}."
    elif found.all_tried:
        yield f"No single change of an option, action or fault would {found.effect} ({found.tried} tried)."
