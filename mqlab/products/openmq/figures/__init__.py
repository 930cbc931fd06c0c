"""The figures of the Technical Overview, chapter 4 (seed 001): clusters of Open Message Queue.

Each is a cluster with a script, a question and its answer. `expected` is what a run ends with:
`received` (consumer: count), `redelivered`, `results` (step `id`: result), `known` (destination: brokers
that list it at the end), `holds` (broker: messages it holds as their home at the end), `crossed` (link:
messages), `lost` (how many).
"""
