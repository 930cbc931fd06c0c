"""How else a run may end: other seeds under a little jitter, a few at a time, so that a page shows progress."""

from __future__ import annotations

from dataclasses import replace

from mqlab.errors import BadValue, shown
from mqlab.experiments import Outcome, Setting
from mqlab.experiments.races import JITTER
from mqlab.experiments.rerun import play
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.workbench.branch import AT_ONCE, MOST_EVENTS, Branch

SEEDS = 100  # that a page asks for
LONGEST = 30_000  # events of a run that is played so often


def ends(branch: Branch, first: int) -> JsonDict:
    """Return how a run ends with seeds from *first* on: each seed, and what differs from the run itself.

    `of` is how many seeds a page asks for. Raises `BadValue` for a run that is too long for it.
    """
    if not isinstance(first, int) or not 0 <= first < SEEDS:
        raise BadValue(f"first is {shown(first)}; expected a seed from 0 to {SEEDS - 1}")
    if len(branch.trace) > LONGEST:
        count = counted(len(branch.trace), "event")
        raise BadValue(f"a run of {count} is too long to be played {SEEDS} times here; use mq.outcomes")
    own = Outcome.of(branch.trace)
    last = min(SEEDS, first + max(1, AT_ONCE // max(1, len(branch.trace))))
    found = [
        {
            "seed": seed,
            "text": own.difference(Outcome.of(play(branch.scenario, _setting(branch, seed), MOST_EVENTS))),
        }
        for seed in range(first, last)
    ]
    return {"found": found, "next": last, "of": SEEDS}


def with_seed(branch: Branch, seed: int) -> Branch:
    """Return the run that a seed gives, as a fork."""
    if not isinstance(seed, int):
        raise BadValue(f"seed is {shown(seed)}; expected a whole number")
    setting = _setting(branch, seed)
    text = f"seed {seed}, jitter {setting.jitter / 1000:g} ms"
    return branch.then(text, branch.scenario, text, setting=setting)


def _setting(branch: Branch, seed: int) -> Setting:
    return replace(branch.setting, seed=seed, jitter=branch.setting.jitter or JITTER)
