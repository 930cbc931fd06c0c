"""What the real products accept and what does harm all the same; one module for each family.

A problem says where, what will happen, what to write instead, and where the guides or the recordings
say it. `check` is that of plain ActiveMQ networks; `mqlab.check` finds the right one.
"""

from mqlab.problems.networks import check

__all__ = ["check"]
