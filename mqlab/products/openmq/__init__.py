"""Open Message Queue clusters (Technical Overview, chapter 4).

How a message goes through. A producer has a connection to one broker, the message's *home*. It asks for room
(`physical_destinations.admit`), sends over its link, and waits for the receipt if the message is persistent; at
the home the message is put with the others of its destination's *instance* (`take_in`). It has a *claim* for
each subscription that is to have it: one for a queue, whoever comes.

Whenever a message has come somewhere, the lab lets all of its destination move that can (`settling.settle`),
and after anything else that happens whatever can (`settling.settle_all`): each home hands what waits to the
active consumers that have room in their buffers (`delivery.dispatch`), straight to their brokers, once for
each broker (`_forward`), and from there to the consumer. The home keeps the message. The consumer takes it
when its application wants it (`delivery.consume`); its acknowledgement ends the claim, and the message when
that was the last one (`acknowledgement.finish`). Acknowledgements and news of destinations and consumers take
no time of their own. What a consumer does not acknowledge is handed out again, flagged as far as somebody may
have seen it (`acknowledgement.requeue`).

What brokers know in common is the *change record* (`changes.change`): a master's, a shared database's, or
nobody's; without it an operation is refused and leaves traces. In an enhanced cluster a dead broker becomes
suspect, is found dead by the monitor's ticks, and who first has the lock takes over what it held
(`takeover`). A silent cut, or a frozen broker, is not noticed: what is on its way is held (`lab.held`).

An action of the script begins in a function that `script/actions.py: DO` names; if it takes time it says what
it waits for, as plain data (`operation.RunningStep`), so that a lab can be copied in the midst of it.
"""
