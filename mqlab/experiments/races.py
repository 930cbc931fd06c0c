"""Whether what came of a run hung on the order of things at nearly the same moment."""

from __future__ import annotations

from dataclasses import replace

from mqlab.errors import MqlabError
from mqlab.experiments.outcomes import Outcomes, outcomes
from mqlab.experiments.rerun import Setting
from mqlab.explain import Explanation
from mqlab.products import inputs
from mqlab.spec.plural import counted
from mqlab.trace.trace import Trace

SEEDS = 12  # runs that are played to see it
PLAYED = 100_000  # events that they may have together
JITTER = 1000  # us on top of each link's delay, unless the run had some


def other_outcomes(trace: Trace) -> Outcomes | None:
    """Return what else came of a run's scenario under a little jitter; None if it is too long to be played."""
    if len(trace) * SEEDS > PLAYED:
        return None
    try:
        setting = Setting.of(trace)
        jittered = replace(setting, jitter=setting.jitter or JITTER)
        return outcomes(inputs.scenario_of(trace), jittered, SEEDS)
    except MqlabError:
        return None  # it does not hold its scenario, or does not end under jitter


def tell_races(trace: Trace, explanation: Explanation) -> Explanation:
    """Return an explanation of a run that says so if it might have ended otherwise."""
    found = other_outcomes(trace)
    if found is None or len(found) == 1:
        return explanation
    others = dict.fromkeys(map(str, found.found))  # of many consumers some are told alike
    line = (
        f"One of at least {counted(len(found), 'outcome')}: with different link timing it ended as "
        f"{' | '.join([*others][:4])} ({counted(found.runs, 'run')}; mq.outcomes "
        "has more)."
    )
    return replace(explanation, told=(*explanation.told, line))
