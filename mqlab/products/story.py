"""What stands in a running network as a script for the lab, the same for every product."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.spec.action import Action

MOST = 20  # messages of a queue that are played
MOST_QUEUES = 50  # that are played where nobody asks for one: those with the most messages


@dataclass(frozen=True, slots=True)
class Story:
    """The script, the clients in it that run nowhere and only bring messages, and what it leaves out."""

    actions: tuple[Action, ...]
    made: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
