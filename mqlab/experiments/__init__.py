"""The lab asked again: what if one thing had been otherwise, and what else might have come of it.

Everything here runs a scenario once more; a trace alone is read by `mqlab.explain`.
"""

from __future__ import annotations

from mqlab.experiments.confirm import confirm
from mqlab.experiments.outcomes import Outcome, Outcomes, outcomes
from mqlab.experiments.races import other_outcomes, tell_races
from mqlab.experiments.rerun import Setting
from mqlab.experiments.what_if import WhatIf, affordable, rerun, what_if
from mqlab.spec.change import Change

__all__ = [
    "Change",
    "Outcome",
    "Outcomes",
    "Setting",
    "WhatIf",
    "affordable",
    "confirm",
    "other_outcomes",
    "outcomes",
    "rerun",
    "tell_races",
    "what_if",
]
