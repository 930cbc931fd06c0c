"""Small values: destinations and their wildcards, names, lengths of time.

A destination name is a list of segments divided by dots. In a pattern, ``*`` stands for one
segment and a last ``>`` for the rest, the empty rest included (Fuse 2, "Wildcards"; the broker's
`DestinationFilter`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.calls import fitting

ADVISORIES = "ActiveMQ.Advisory."
CONSUMER_ADVISORIES = f"{ADVISORIES}Consumer."
KINDS = ("queue", "topic", "temp-queue", "temp-topic")
MOST_MS = 10**12  # of a length of time: some 30 years
_DURATION = re.compile(r"(\d{1,12}(?:\.\d+)?)\s*(us|ms|s|min)\Z")
_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000}


@dataclass(frozen=True, slots=True)
class Destination:
    """A queue or a topic by name; a name with wildcards is a pattern."""

    kind: str
    name: str
    # Whether each message goes to one consumer (a queue) and not to all (a topic).
    is_queue: bool = field(init=False, repr=False, compare=False)
    # Whether it lives only as long as the connection that made it.
    is_temporary: bool = field(init=False, repr=False, compare=False)
    # Whether a broker takes it for more than one name: by a ``*`` or ``>`` anywhere, or as a composite.
    is_pattern: bool = field(init=False, repr=False, compare=False)
    # Whether it is a topic on which a broker tells what happens to it, or a pattern of such.
    is_advisory: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UnknownName.of("destination type", self.kind, KINDS)
        if not isinstance(self.name, str):
            what = f"a {self.kind} needs a string as its name, not {shown(self.name)}"
            raise BadValue(f"{what}; use e.g. 'TEST.FOO'")
        if not self.name.strip():
            raise BadValue(f"a {self.kind} needs a name; use e.g. TEST.FOO")
        if self.name != self.name.strip():
            object.__setattr__(self, "name", self.name.strip())
        object.__setattr__(self, "is_queue", self.kind in ("queue", "temp-queue"))
        object.__setattr__(self, "is_temporary", self.kind in ("temp-queue", "temp-topic"))
        object.__setattr__(self, "is_pattern", any(sign in self.name for sign in ",*>"))
        advises = not self.is_queue and self.name.startswith(ADVISORIES)
        object.__setattr__(self, "is_advisory", advises)

    def __str__(self) -> str:
        return f"{self.kind}://{self.name}"

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the name between its dots."""
        return tuple(self.name.split("."))

    @property
    def has_wildcard(self) -> bool:
        """Whether its name is a pattern, which can be read but not sent to."""
        return "*" in self.segments or self.segments[-1] == ">"

    @classmethod
    def parse(cls, text: str) -> Destination:
        """Read ``queue://TEST.FOO``; a text without a type is a queue.

        Raises `UnknownName` for any other type.
        """
        kind, separator, name = text.strip().partition("://")
        return cls(kind, name) if separator else cls("queue", kind)

    def elements(self) -> tuple[Destination, ...]:
        """Return the destinations that a composite name such as ``A,topic://B`` stands for."""
        if "," not in self.name:
            return (self,)
        texts = [text.strip() for text in self.name.split(",") if text.strip()]
        found = [self.parse(t if "://" in t else f"{self.kind}://{t}") for t in texts]
        return tuple(dict.fromkeys(found))

    def takes(self, other: Destination) -> bool:
        """Whether *other* (a name, or a narrower pattern) is among what this one stands for."""
        return self.kind == other.kind and matches(self.name, other.name)


@fitting
def Queue(name: str) -> Destination:  # noqa: N802 - reads like the guides' noun
    """Return the queue called *name*."""
    return Destination("queue", _without_kind("queue", name))


@fitting
def Topic(name: str) -> Destination:  # noqa: N802 - reads like the guides' noun
    """Return the topic called *name*."""
    return Destination("topic", _without_kind("topic", name))


def _without_kind(kind: str, name: str) -> str:
    """Return a name; raises `BadValue` for one with a kind before it (composites have one for each part)."""
    before, scheme, rest = name.strip().partition("://") if isinstance(name, str) else ("", "", "")
    if scheme and before in KINDS and "," not in rest:
        raise BadValue(f"{name!r} is a {kind}'s name with a kind before it; write {rest!r}")
    return name


@lru_cache(maxsize=65536)
def matches(pattern: str, name: str, parent: bool = True) -> bool:
    """Whether the destination *name* fits *pattern* (ActiveMQ rule 27.7).

    With *parent*, ``A.>`` also matches ``A`` itself, as every edition after 5.5 does.

    >>> matches("A.>", "A.B.C"), matches("A.>", "A"), matches("A.*", "A.B.C"), matches("A.B*", "A.BC")
    (True, True, False, False)
    """
    wanted, given = pattern.split("."), name.split(".")
    if wanted[-1] == ">":
        return _prefix(wanted, given, parent)
    if "*" in wanted:
        return len(wanted) == len(given) and all(w in ("*", g) for w, g in zip(wanted, given, strict=True))
    return pattern == name


def _prefix(wanted: list[str], given: list[str], parent: bool) -> bool:
    """Match a pattern that ends in ``>``; a ``*`` in the candidate also matches here."""
    head = list(wanted)
    while head and head[-1] == ">":
        head.pop()
        if not parent:  # 5.5 strips one only: a further ">" is a literal segment there
            break
    if len(given) < len(head) + (0 if parent else 1):
        return False
    return all(w in ("*", g) or g == "*" for w, g in zip(head, given, strict=False))


def misspelt(one: str, other: str) -> bool:
    """Whether two names differ by one slip in a word: a letter too many, a wrong one inside, two exchanged.

    >>> misspelt("SHOP.ORDERS", "SHOP.ORDRES"), misspelt("ORDER", "ORDERS"), misspelt("QueueA", "QueueB")
    (True, True, False)
    """
    words = zip_longest(one.split("."), other.split("."), fillvalue="")
    differ = [sorted(pair, key=len) for pair in words if pair[0] != pair[1]]
    if len(differ) != 1 or len(differ[0][0]) < 4:
        return False
    short, long = differ[0]
    apart = [place for place, (a, b) in enumerate(zip(short, long, strict=False)) if a != b]
    first = apart[0] if apart else len(short)
    if len(short) < len(long):
        return long[first].isalpha() and short == long[:first] + long[first + 1 :]
    turned = apart == [first, first + 1] and short[first : first + 2] == long[first + 1] + long[first]
    wrong = apart == [first] and 0 < first < len(short) - 1
    return (turned or wrong) and (short[first] + long[first]).isalpha()


def overlap(one: str, other: str) -> bool:
    """Whether some destination name fits both patterns; a last ``>``, or several, stand for any rest.

    >>> overlap("TEST.*", "*.D1"), overlap("TEST.*.D2", "TEST.*.D3")
    (True, False)
    """
    ends = [name.split(".") for name in (one, other)]
    heads = [list(names) for names in ends]
    for head in heads:
        while head and head[-1] == ">":
            head.pop()
    shorter = 0 if len(heads[0]) < len(heads[1]) else 1
    if any(x != y and "*" not in (x, y) for x, y in zip(*heads, strict=False)):
        return False
    return len(heads[0]) == len(heads[1]) or ends[shorter][-1] == ">"


def duration(value: int | float | str, where: str = "time") -> int:
    """Return microseconds for ``"500ms"``, ``"2s"``, a `Duration` or a plain number of milliseconds.

    >>> duration("500ms"), duration("2s"), duration(3), duration(Duration(2500))
    (500000, 2000000, 3000, 2500)
    """
    if isinstance(value, Duration):
        return int(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= MOST_MS:
        return round(value * 1000)
    found = _DURATION.match(value.strip()) if isinstance(value, str) else None
    time = round(float(found[1]) * _UNITS[found[2]]) if found else -1
    if not 0 <= time <= MOST_MS * 1000:
        why = ": it may not be negative" if _is_negative(value) else ""
        raise BadValue(f"{where}: {shown(value)} is not a duration{why}; use e.g. '500ms', '2s' or '1min'")
    return time


def _is_negative(value: object) -> bool:
    if isinstance(value, str):
        return value.strip()[:1] == "-" and _DURATION.match(value.strip()[1:]) is not None
    return isinstance(value, (int, float)) and value < 0


def moment(value: int | float | str, where: str) -> int:
    """Return a time of a run (us), as `duration` does; raises for a fraction without a unit, too."""
    if isinstance(value, float) and 0 <= value <= MOST_MS and not value.is_integer():
        raise BadValue(f"{where}: {value!r} could be seconds or ms; use e.g. '{value!r}s' or '{value!r}ms'")
    return duration(value, where)


class Duration(int):
    """A time of a run, as traces and labs answer it: it prints its unit, and compares with texts.

    As a number it is microseconds; `ms` and `s` are the same in milliseconds and seconds. Wherever a time is
    asked for, it can be given as it is: ``mq.Crash("B", at=trace.end)``.

    >>> end = Duration(28_000)
    >>> print(end, end.ms, end == "28ms", end < "1s", end + "2ms")
    28 ms 28.0 True True 30 ms
    """

    __slots__ = ()
    __hash__ = int.__hash__

    def __str__(self) -> str:
        return told_time(self)

    def __repr__(self) -> str:
        return f"Duration('{told_time(self).replace(' ', '')}')"

    @property
    def ms(self) -> float:
        """The time in milliseconds."""
        return self / 1000

    @property
    def s(self) -> float:
        """The time in seconds."""
        return self / 1_000_000

    def __add__(self, other: int | str) -> Duration:
        return Duration(int(self) + _us(other))

    __radd__ = __add__

    def __sub__(self, other: int | str) -> Duration:
        return Duration(int(self) - _us(other))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return bool(_DURATION.match(other.strip())) and int(self) == duration(other)
        return int.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: int | str) -> bool:
        return int(self) < _us(other)

    def __le__(self, other: int | str) -> bool:
        return int(self) <= _us(other)

    def __gt__(self, other: int | str) -> bool:
        return int(self) > _us(other)

    def __ge__(self, other: int | str) -> bool:
        return int(self) >= _us(other)


def _us(time: int | str) -> int:
    """Return a time that a `Duration` meets, in microseconds."""
    return duration(time) if isinstance(time, str) else time


def told_time(time: float) -> str:
    """Return a time in us as it is read everywhere: in ms, from one second on in s, to the microsecond.

    >>> told_time(12_500), told_time(999_999), told_time(12_104_400), told_time(1_200_000_000)
    ('12.5 ms', '999.999 ms', '12.1044 s', '1200 s')
    """
    us = float(time)  # a `Duration` would look whether it is compared with a text
    number, unit = (f"{us / 1e6:.6f}", "s") if us >= 1_000_000 else (f"{us / 1000:.3f}", "ms")
    return f"{number.rstrip('0').rstrip('.')} {unit}"


def check_seed(seed: object) -> None:
    """Raise `BadValue` for a seed that is no whole number."""
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise BadValue(f"seed is {shown(seed)}; expected a whole number")


def as_typed(text: str) -> str | int | bool:
    """Return an option's value as somebody types it: what looks like a truth or a whole number is one.

    >>> as_typed("True"), as_typed(" 3 "), as_typed("tcp://B:1")
    (True, 3, 'tcp://B:1')
    """
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return int(text) if text.lstrip("-").isdigit() else text


def as_text(value: object) -> str:
    """Return a value as files, options and selectors write it: the reverse of `as_typed`.

    >>> as_text(True), as_text(5), as_text("a")
    ('true', '5', 'a')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
