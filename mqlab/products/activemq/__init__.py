"""ActiveMQ: brokers, their networks, their clients, their masters and slaves.

How a message goes through. A producer's message comes over a link, or as a command over a `Socket`, to its
`Broker`, which writes down that it is there and gives it to a `Queue` or a `Topic` (`take_over`). A queue
hands it to the first `Subscription` of its list that has room and does not refuse it: the list is ordered
by priority, then by turn. A subscription is a consumer's, whose client takes it, works on it and
acknowledges; or it is a `DemandSubscription`, held by a `NetworkBridge` on behalf of consumers elsewhere:
then it goes on to the next broker, which takes it over as if it came from a producer, and answers.

Demand goes the other way. Whoever subscribes is announced to every bridge that listens to the broker
(`Broker.tell`); the bridge decides whether a subscription at its own broker comes of it
(`NetworkBridge.on_consumer_advisory`: hops, loops, filters, conduit, duplicates), which is announced in
turn.

Around a broker stands its `BrokerService`: it starts, waits for its lock (`locks`, `jdbc`, `pure`), opens
its port, stops, dies, is suspended. Its network connectors (`connector_run`) try addresses and, when one
answers, let a bridge run over that socket. Who connects where is the `AddressResolver`'s; clients with
addresses are in `clients`. The `Lab` holds all of it; `direct` and `acts` are what can be done.
"""
