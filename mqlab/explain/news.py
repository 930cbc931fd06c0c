"""News of consumers: which subscriptions, and which refusals, go back to one of them."""

from __future__ import annotations

from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

NEWS = (Kind.Subscribed, Kind.Unsubscribed, Kind.Advised, Kind.Refused, Kind.Merged)


def on_behalf(trace: Trace, consumer: str) -> list[int]:
    """Return the rows of news that a consumer's subscribing led to, in their order.

    Where a conduit merged it with others, what that subscription led to is for this consumer, too.
    """
    kinds, causes, subs = (trace.column(name) for name in ("kind", "cause", "sub"))
    nodes = {n for n, name in enumerate(trace.names["node"]) if name == consumer}
    frm = trace.column("frm")
    news = trace.rows(*NEWS)
    ours = {row for row in news if kinds[row] == Kind.Subscribed and frm[row] in nodes}
    merged: set[int] = set()
    known = -1
    while known != len(ours):
        known = len(ours)
        for row in news:
            if causes[row] in ours or (subs[row] in merged and kinds[row] == Kind.Subscribed):
                ours.add(row)
                if kinds[row] == Kind.Merged:
                    merged.add(subs[row])
    return sorted(ours)
