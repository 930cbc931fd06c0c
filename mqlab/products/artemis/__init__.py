"""Artemis brokers in high-availability set-ups (AMQ Broker 7.1, chapter 21).

How a message goes through. An action of the script is begun by `BrokerActions` (brokers, lines, waits) or by
`ClientActions`: the table `DO` beside each says how. A `SendRequest` lets a message leave when its client is
connected, over the client's link; a persistent one goes on to the slave that copies the broker, and back. Then
the broker routes it (`ClusterConnection.route`): to a queue of its own, or to another broker whose turn it is.
For that one it is kept in a store-and-forward queue, and goes from broker to broker over their lines, until it
is there. A queue hands what waits to its consumers in turn (`ClusterConnection.dispatch`); over the consumer's
link it comes into the buffer, is received, and its acknowledgement comes back the same way.

What a broker has is a `Journal` (messages): queues, prepared transactions, what is stored for others.
When it ends (`Site.end`), what is persistent stays on its disk, in its shared store or in the
copy of its slave. Who may serve it next says the policy: the locks of a store (shared_store), a vote
of the other brokers, or of a network check (replication), who hosts the slave (colocated); a broker
that scales down sends it all to another one (scaledown). Whoever does goes live with it
(`Site.go_live`), and clients that look for their pair attach there (clients, consumers).

Brokers know each other by what `Topology` tells them, and what they believe decides votes and turns.

Time: what travels takes links, with the lab's delay and jitter, and the lab is at rest when nothing is
on its way. Everything else that is due (polls of locks, votes, attempts to connect) is on the clock
for nobody to wait for; `soon` drops it if the broker has begun anew. All of it is plain data and bound
methods, so that a lab can be copied at any moment. `EventLog` writes the trace, `report` the outcome.
"""
