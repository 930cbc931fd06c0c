"""WHAT HAPPENED: the columnar record of a run, and the questions one can ask it."""

from mqlab.trace.account import Account, Entry
from mqlab.trace.columns import COLUMNS
from mqlab.trace.difference import Comparison
from mqlab.trace.event import Event
from mqlab.trace.fates import Fate
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace

__all__ = [
    "COLUMNS",
    "Account",
    "Comparison",
    "Entry",
    "Event",
    "Fate",
    "Kind",
    "Ledger",
    "Reason",
    "Trace",
]
