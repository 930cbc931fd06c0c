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

    >>> policy = Redelivery(exponential=True)
    >>> policy.wait(1), policy.wait(2, last=1000), policy.wait(3, last=5000)
    (1000, 5000, 25000)
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

    def wait(self, again: int, last: int = 0) -> int:
        """Return the wait (ms) before what comes for the *again*-th time more; *last* was the one before it."""
        if again <= 1:
            return self.initial_delay
        if not (last and self.exponential):
            return self.delay
        wait = round(last * self.multiplier)
        return wait if self.maximum_delay < 0 else min(wait, max(self.maximum_delay, self.delay))
