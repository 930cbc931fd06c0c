"""The table twin of a scene: what the picture shows, in words."""

from __future__ import annotations

from mqlab.explain import sentence
from mqlab.trace.trace import Trace
from mqlab.views.story import Story

MOST_ROWS = 20_000


def rows(trace: Trace, story: Story) -> dict[str, list[float] | list[str]]:
    """Return each event in words, with its time and the second at which it is played."""
    play: list[float] = []
    times: list[str] = []
    what: list[str] = []
    for row in range(min(len(trace), MOST_ROWS)):
        event = trace.event(row)
        text = sentence(trace, event)
        if text:
            time, _, said = text.partition("  ")
            who = f"{event.message}: " if event.message is not None else ""
            play.append(round(story.at(event.t), 4))
            times.append(time)
            what.append(who + said)
    if len(trace) > MOST_ROWS:
        play.append(round(story.duration, 4))
        times.append("")
        what.append(f"... and {len(trace) - MOST_ROWS} events more, not listed")
    return {"play": play, "time": times, "what": what}
