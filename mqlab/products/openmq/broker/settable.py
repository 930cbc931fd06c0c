"""Which properties of a destination an administrator can set, and to what (OpenMQ rule 3.6)."""

from __future__ import annotations

from itertools import takewhile

from mqlab.products.openmq.broker.model import DEAD
from mqlab.spec.openmq.options import Options
from mqlab.spec.values import Destination

AT_LEAST_ONE = ("MaxNumProducers", "MaxNumActiveConsumers")
# Of dead messages, which brokers write: what they cannot wait for, or would do for ever.
NEVER_OF_DEAD = (("LimitBehavior", "FLOW_CONTROL"), ("UseDMQ", True))


def none_allowed(options: Options) -> bool:
    """Whether properties would let nobody produce, or consume: 0 is refused there, and -1 is any number."""
    return any(options.get(name) == 0 for name in AT_LEAST_ONE)


def is_refused(dest: Destination, name: str, value: object) -> bool:
    """Whether a property cannot be set so of a destination that is there; local-only never can."""
    of_dead = dest == DEAD and (name == "MaxNumProducers" or (name, value) in NEVER_OF_DEAD)
    return name == "LocalOnly" or none_allowed({name: value}) or of_dead


def first(dest: Destination, options: Options) -> Options:
    """Return the properties that are set before one that is refused: they are set one after the other."""
    return dict(takewhile(lambda one: not is_refused(dest, *one), options.items()))
