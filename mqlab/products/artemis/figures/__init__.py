"""The figures, lists and samples of AMQ Broker 7.1, chapter 21 (seed 003): high availability.

Each is a set of brokers with a script, a question and its answer. `expected` is what a run ends with:
`roles` (broker: role) and `roles_at` (snapshot: the same), `count` (role: how many), `in_sync` (group:
slaves), `received` (consumer: count), `order` (consumer: message numbers), `redelivered`, `twice` and
`waiting` (live broker: messages), `stored` (dead broker: messages on its disk), `hosted` (broker:
backup: role, pair, port), `connectors` (text: whether a hosted backup has it), `lost` (how many) and
`problems` (what `mqlab check` says, by rule).
"""
