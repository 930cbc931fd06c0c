"""WHY: sentences and causes from a trace alone, from memory, from a file or from Spark.

Every sentence says the time, what happened, and the reason with its source. `why_not` says what decided;
`mqlab.what_if` takes one thing away and runs again.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.errors import BadValue, UnknownName
from mqlab.explain.clients import of_client
from mqlab.explain.explanation import Cause, Explanation
from mqlab.explain.message import never_sent, of_message
from mqlab.explain.parts import of_broker, of_consumer
from mqlab.explain.run import of_run
from mqlab.explain.sentences import Line, Sentence, sentence
from mqlab.explain.why_not import kept_from, why_not_received
from mqlab.trace.fates import Fate
from mqlab.trace.trace import Trace

__all__ = ["Cause", "Explanation", "Line", "Sentence", "explain", "sentence"]


def explain(
    trace: Trace,
    *,
    message: str | int | None = None,
    consumer: str | None = None,
    broker: str | None = None,
    client: str | None = None,
    why_not: str | None = None,
) -> Explanation:
    """Explain one message, consumer, client or broker of a run; the whole run if none is named.

    *message* is a number or a name such as ``"P-7"``, *client* a client with an address, or a producer. With a
    *consumer* as well, or *why_not*, the answer is why that consumer did not get the message. Raises
    `UnknownName` for a name that is not in the trace.
    """
    number = -1
    if message is not None:
        try:
            number = trace.index.number(message)
        except UnknownName:
            never = never_sent(trace, message)
            if never is None:
                raise
            return never
    if message is not None and why_not is None:
        consumer, why_not = None, consumer
    if why_not is not None:
        if message is None:
            raise BadValue("why_not requires message=: explain(trace, message=..., why_not=...)")
        if consumer or broker or client:
            raise BadValue(f"why_not={why_not!r} names the consumer; leave out consumer=, client= and broker=")
        trace.require_whole("why_not")
        return why_not_received(trace, message, why_not)
    asked = [name for name in (message, consumer, client, broker) if name is not None]
    if len(asked) > 1:
        raise BadValue("explain one thing at a time: a message (for a consumer), a consumer, client or broker")
    if not asked:
        return of_run(trace)
    if message is not None:
        answer = of_message(trace, number)
        if trace.account()[number].fate == Fate.waiting:
            answer = replace(answer, told=tuple(dict.fromkeys((*answer.told, *kept_from(trace, number)))))
    elif consumer is not None:
        answer = of_consumer(trace, consumer)
    else:
        answer = of_client(trace, client) if client is not None else of_broker(trace, str(broker))
    outside = f"This is a part of the run: {trace.part}; what happened before and after is outside."
    return replace(answer, told=(*answer.told, outside)) if trace.part else answer
