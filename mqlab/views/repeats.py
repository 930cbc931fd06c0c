"""What comes again: deliveries that are marked as redelivered, and second copies that are not."""

from __future__ import annotations

from mqlab.trace.columns import Columns
from mqlab.trace.kinds import Kind

NON_PERSISTENT, REDELIVERED, DUPLICATE = 1, 2, 4  # bits of flags, as `page/moving.js` draws them


def repeats(trace: Columns) -> dict[int, int]:
    """Return row of a `Received` -> REDELIVERED or DUPLICATE, for those that come again.

    The first of several copies is none of them: it is told apart only by what follows (`Trace.duplicated`).
    """
    names = trace.names
    topic = ["topic://" in name for name in names["dest"]]
    kinds, to, msg, dest, cause = (trace.column(c) for c in ("kind", "to", "msg", "dest", "cause"))
    seen: set[tuple[object, ...]] = set()
    found: dict[int, int] = {}
    for row in trace.rows(Kind.Received):
        key = (names["node"][to[row]], msg[row]) if topic[dest[row]] else (msg[row], dest[row])
        own = (names["node"][to[row]], msg[row])
        if cause[row] >= 0 and kinds[cause[row]] == Kind.Redelivered:
            found[row] = REDELIVERED
        elif key in seen or own in seen:
            found[row] = DUPLICATE
        seen |= {key, own}
    return found
