"""How often, and after which wait, a client has a message again that it gave back."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.calls import Called
from mqlab.spec.json_types import JsonObject
from mqlab.spec.noun import OrUnlimited
from mqlab.spec.shape import check_noun
from mqlab.spec.values import duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivery(metaclass=Called):
    """A client's redelivery policy; waits are in milliseconds, or texts such as ``"1s"``.

    `maximum` is the maximum number of redeliveries before dead-lettering; -1 = unlimited. The
    first wait is `initial_delay`, the others `delay`, or each `multiplier` times the one before
    with `exponential`, up to `maximum_delay` (-1: no limit). (ActiveMQ rule 27.3)

    >>> [Redelivery(exponential=True).wait(n) for n in (1, 2, 3, 4)]
    [1000, 5000, 25000, 125000]
    """

    maximum: OrUnlimited = 6
    initial_delay: int = 1000
    delay: int = 1000
    exponential: bool = False
    multiplier: float = 5.0
    maximum_delay: OrUnlimited = -1

    def __post_init__(self) -> None:
        if not isinstance(self.maximum, int) or self.maximum < -1:
            raise BadValue(
                f"Redelivery: maximum is {shown(self.maximum)}; expected 0 or more, or -1 for unlimited"
            )
        for name in ("initial_delay", "delay", "maximum_delay"):
            given: object = getattr(self, name)
            if isinstance(given, str):  # such as "1s"
                object.__setattr__(self, name, round(duration(given, f"Redelivery: {name}") / 1000))
        check_noun(self, "Redelivery")
        if self.multiplier < 1:
            raise BadValue(f"Redelivery: multiplier is {self.multiplier}; expected 1 or more")

    @classmethod
    def read(cls, given: JsonObject, where: str) -> Redelivery:
        """Return the policy that a lab file writes; raises `UnknownName` or `BadValue`."""
        known = [f.name for f in fields(cls)]
        for name, value in given.items():
            if name not in known:
                raise UnknownName.of("key of redelivery", name, known, where)
            if not isinstance(value, (bool, int, float)) and not name.endswith("delay"):
                raise BadValue(f"{where}: redelivery {name}: {value!r} is not a number")
        return cls(**given)

    def wait(self, again: int) -> int:
        """Return the wait (ms) before a message comes for the *again*-th time more."""
        if again <= 1 or not self.exponential:
            return self.initial_delay if again <= 1 else self.delay
        wait = self.initial_delay * self.multiplier ** (again - 1)
        return round(wait if self.maximum_delay < 0 else min(wait, self.maximum_delay))
