"""The same scenario on real brokers: processes on this machine, real clients, and what came of it.

Each broker is a process of its own, in a temporary folder, with the files that the lab writes for it;
clients speak STOMP. All of it is gone afterwards, also when interrupted. `home` finds the product,
`processes` runs brokers of any, `brokers` (ActiveMQ), `artemis` and `openmq` say how; `consumers` and
`producers` are the clients; `steps`, `networks` and `clusters` do a script's steps, `playable` says which
they cannot, and `script` plays a scenario.

All three products are played in the tests: the system's ActiveMQ, and the others where Maven brings them.
"""
