"""Random scenarios, played on the real product and in the lab, and what differs between the two.

``python -m tests.real.differential --product openmq --runs 200 --seed 1`` draws them, lets the recorders
play each three times, compares as deep as the plays agree, shrinks what differs and groups it by what
differs first. The recorders are no part of this repository: ``--recorders`` or ``MQLAB_RECORDERS`` says where
they are.
"""
