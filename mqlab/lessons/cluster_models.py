"""Table 4-1 of the Technical Overview, measured: what the two models of a cluster do in the same hour.

Every cell comes out of a run, but for what a lab without real disks and networks cannot measure; those
cells say where they are from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab import products
from mqlab.trace.grid import TextTable
from mqlab.trace.trace import Trace

SECOND = 1_000_000
GUIDE = "the guide: conventional / enhanced"
MODELS: dict[str, dict[str, object]] = {
    "conventional, master": {"model": "master", "master": "b1"},
    "conventional, peers": {"model": "peer"},
    "enhanced": {"model": "enhanced"},
}
# What the recordings' machine took (OpenMQ rule 10.1): median of 5 runs.
RECORDED = {
    "conventional, master": "68 ms for 200 persistent messages, 14 ms non-persistent (recorded)",
    "conventional, peers": "179 ms for 200 persistent messages, 18 ms non-persistent (recorded)",
    "enhanced": "1251 ms for 200 persistent messages, 18 ms non-persistent (recorded)",
}


@dataclass(frozen=True, repr=False)
class ClusterModels(TextTable):
    """The table: what was asked -> what the guide says of both models, and each model's cell."""

    cells: Mapping[str, Mapping[str, str]]

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per question."""
        return [["", GUIDE, *MODELS], *([what, *row.values()] for what, row in self.cells.items())]


def measure(seed: int = 0) -> ClusterModels:
    """Return Table 4-1 with measured cells; takeovers are won by whom the *seed* decides.

    >>> measure().cells["needs"]["enhanced"]
    'a database; without it persistent messages wait'
    """
    return ClusterModels(
        {what: {GUIDE: guide, **{model: cell(model, seed) for model in MODELS}} for what, guide, cell in LINES}
    )


def _play(model: str, seed: int, *steps: Mapping[str, object]) -> Trace:
    value = {"cluster": MODELS[model], "brokers": ["b1", "b2", "b3"], "steps": [{"do": "start"}, *steps]}
    return products.play(products.product_of(value).read(value, "table 4-1"), seed)


def _results(trace: Trace) -> dict[str, str]:
    return {row["id"]: row["result"] for row in trace.header["operations"] if "id" in row}


def _performance(model: str, _: int) -> str:
    """Say what was recorded: the lab has no disks."""
    return RECORDED[model]


KILL = {"do": "kill", "broker": "b1"}
PUT = {"do": "send", "broker": "b1", "queue": "Q", "count": 10}


def _service(model: str, seed: int) -> str:
    """Say what still works right after b1, the master if there is one, has died."""
    trace = _play(
        model,
        seed,
        KILL,
        {"do": "open_consumer", "consumer": "C", "broker": "b3", "queue": "Q", "id": "consume"},
        {"do": "send", "broker": "b2", "queue": "Q", "count": 3, "id": "produce"},
        {"do": "create_destination", "broker": "b2", "queue": "D", "id": "create a destination"},
        {
            "do": "open_consumer",
            "consumer": "S",
            "broker": "b3",
            "topic": "T",
            "durable": True,
            "id": "subscribe durably",
        },
    )
    refused = [name for name, result in _results(trace).items() if result != "ok"]
    return f"refused: {', '.join(refused)}" if refused else "all of it"


def _data(model: str, seed: int) -> str:
    """Say how long after the death of b1 another broker has delivered the ten messages of b1."""
    steps: list[Mapping[str, object]] = [
        PUT,
        KILL,
        {"do": "open_consumer", "consumer": "C", "broker": "b3", "queue": "Q"},
        {"do": "wait_received", "consumer": "C", "count": 10, "limit_ms": 200_000},
    ]
    trace = _play(model, seed, *steps)
    if trace.received()["C"] < 10:
        back = {"do": "start_broker", "broker": "b1"}
        again = _play(model, seed, *steps, back, {"do": "settle"})
        after = again.received()["C"]
        return f"{trace.received()['C']} of 10 in 200 s, {after} when the broker is back"
    (gone, _), *_ = trace.unavailable("b1")
    taken = max(event.t for event in trace.events() if event.to == "C")
    return f"all 10 after {(taken - gone) / SECOND:.0f} s"


def _recovery(model: str, seed: int) -> str:
    """Say what becomes of an open transaction, and of messages taken and not acknowledged."""
    at = {"broker": ["b1", "b2"], "queue": "Q", "reconnect": True}
    trace = _play(
        model,
        seed,
        PUT,
        {"do": "open_producer", "producer": "P", **at, "queue": "R", "ack_mode": "transacted"},
        {"do": "send", "producer": "P", "count": 2},
        {"do": "open_consumer", "consumer": "C", **at, "receiving": False, "ack_mode": "client"},
        {"do": "receive", "consumer": "C", "count": 5},
        KILL,
        {"do": "wait", "ms": 120_000},
        {"do": "commit", "producer": "P", "id": "commit"},
        {"do": "recover", "consumer": "C"},
        {"do": "receive", "consumer": "C", "count": 5},
    )
    again = len(trace.redelivered().get("C", []))
    came = f"{again} unacknowledged messages come again" if again else "unacknowledged ones wait"
    return f"commit {_results(trace)['commit']}; {came}"


def _needs(model: str, seed: int) -> str:
    """Say who stops working with the database that the model needs, if it needs one."""
    if model == "conventional, master":
        return "nothing"
    trace = _play(
        model,
        seed,
        {"do": "database", "action": "stop"},
        {"do": "send", "broker": "b1", "queue": "Q", "count": 1, "id": "produce", "limit_ms": 1000},
    )
    blocked = _results(trace)["produce"] != "ok"
    return f"a database; without it persistent messages {'wait' if blocked else 'flow on'}"


LINES = (
    ("performance", "faster than enhanced / slower than conventional", _performance),
    ("service availability", "yes, but for some operations without the master / yes", _service),
    ("data availability", "not until the broker restarts / at all times", _data),
    ("recovery at failover", "none / messages and state, open transactions rolled back", _recovery),
    ("needs", "nothing / a highly available database", _needs),
)
