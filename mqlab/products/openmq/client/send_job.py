"""A step that sends, as it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.products.openmq.broker.model import Client, Keys
from mqlab.products.openmq.script.operation import Row
from mqlab.spec.json_types import JsonDict


@dataclass(eq=False, slots=True)
class SendJob:
    """A step that sends: `row` is its outcome, `left` the numbers that are still to be sent."""

    row: Row
    keys: Keys
    left: range
    refused: list[int]
    producer: Client | None
    under_way: int = 0  # messages that have not come to their home, or its receipt not to here
    late: bool = False
    due: int = 0  # us, before which the next message is not sent
    until: int = 0  # us, until which it tries to connect, if it has to open a connection
    interval: int = field(init=False)  # us, from one message to the next
    persistent: bool = field(init=False)
    properties: JsonDict = field(init=False)
    size: int | None = field(init=False)  # bytes, if the step says how many

    def __post_init__(self) -> None:
        self.interval = round(float(self.keys.get("interval_ms", 0)) * 1000)
        self.persistent = bool(self.keys.get("persistent", True))
        self.properties = dict(self.keys.get("properties") or {})
        self.size = int(self.keys["size"]) if "size" in self.keys else None
