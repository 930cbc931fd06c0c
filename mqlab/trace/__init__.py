"""WHAT HAPPENED: the columnar record of a run, and the questions one can ask it."""

from mqlab.trace.difference import Comparison
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import COLUMNS, Trace

__all__ = ["COLUMNS", "Comparison", "Event", "Kind", "Ledger", "Rule", "Trace"]
