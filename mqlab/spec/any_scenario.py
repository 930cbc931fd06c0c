"""A scenario of any product.

Most of mqlab takes one and hands it on to the rooms of its product. Import the name for annotations only:
who plays one product's networks does not wait for another's.
"""

from __future__ import annotations

from mqlab.spec.artemis import HaScenario
from mqlab.spec.openmq import ClusterScenario
from mqlab.spec.scenario import Scenario

AnyScenario = Scenario | ClusterScenario | HaScenario
