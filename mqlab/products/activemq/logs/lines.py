"""What brokers say in `activemq.log` of themselves and of their bridges: lines as facts.

The sentences are those of 5.17 and of 5.5, which other releases have with few differences. Each names its
broker, so a log may be of several, and several of one. The pattern of the log does not matter, as long as a
line begins with a date and a time.
"""

from __future__ import annotations

import datetime as dt
import gzip
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from mqlab.errors import BadFile
from mqlab.products.activemq.logs import advisories
from mqlab.products.activemq.logs.advisories import MARK

LONGEST = 20_000  # characters of a line that are read
_END = r"(?= \| |\s*$)"
_STAMP = re.compile(
    r"\ufeff?\W{0,2}(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)(?:[.,](\d{1,6}))?\d*\s?(Z|[+-]\d\d:?\d\d\b)?"
)
_BROKER, _SUB = r"(?P<broker>\S+)", r"DemandSub\{(?P<sub>[^,{}]+),"
_BRIDGE = r"Network connection between vm://(?P<broker>[^#\s]+)\S* and (?P<address>\S+?)"
_OF = (
    r"ActiveMQ (?:(?P<version>\d\S*) )?(?:JMS )?(?:Message Broker )?"
    r"\((?P<broker>[^,()]+)(?:, (?P<id>[^()\s]+))?\) "
)
_INFO = r".*?ConsumerInfo .*?consumerId = (?P<sub>[^,\s]+), destination = (?P<destination>\S+?),"
_REMOTES = re.compile(r"remotes:\[([^\]]*)\]")
_CONSUMER = re.compile(r"consumerId = ([^,\s]+), destination = (\S+?),")

# What is said -> how. Demand, refusals and "bridging" are said at level DEBUG, the others at INFO or WARN. Of
# several texts for one thing the last is that of 5.5, which names consumers by those beyond the bridge.
SENTENCES = [
    (name, re.compile(text))
    for name, text in (
        ("starting", _OF + "is starting"),
        ("started", _OF + "started"),
        ("stopping", _OF + "is shutting down"),
        ("stopped", _OF + "(?:is shutdown|stopped)"),
        (
            "connector",
            r"Network Connector \w+:(?P<connector>.+?):BrokerService\[(?P<broker>[^\]]*)\] [sS]tarted",
        ),
        (
            "asked",
            r"Establishing network connection from vm://(?P<broker>[^\s?]+)\S* to (?P<address>\S+)",
        ),
        (
            "responder",
            r"Started responder end of duplex bridge (?P<connector>.+?)@ID:.*?Transport: (?P<address>\S+)",
        ),
        ("up", _BRIDGE + r" ?\((?P<remote>[^()]*)\) has been established"),
        ("lost", _BRIDGE + r" shutdown due to a (?P<side>remote|local) error: (?P<error>.*?)" + _END),
        ("down", r"(?P<broker>\S+) bridge to (?P<remote>\S+) stopped"),
        (
            "tried",
            r"Could not start network bridge between: vm://(?P<broker>[^\s?]+)\S* and: (?P<address>\S+) "
            r"due to: (?P<error>.*?)" + _END,
        ),
        ("demand", _BROKER + " new demand subscription: " + _SUB),
        ("demand", _BROKER + r" bridging sub on \S+ from (?P<remote>\S+) : " + _INFO),
        ("merged", _BROKER + r" .*?matched \(add interest\) .*?" + _SUB),
        ("merged", _BROKER + r" matched \(add interest\) to " + _INFO),
        ("gone", _BROKER + r" (?:on \S+ from \S+ removed|remove request on .*?, matching sub:) " + _SUB),
        ("gone", _BROKER + r" removing sub on \S+ from \S+ : " + _INFO),
        ("replaced", _BROKER + " Replacing duplicate subscription " + _INFO),
        (
            "refused",
            _BROKER + r" Ignoring (?:duplicate subscription|sub) from (?P<remote>[^\s,]+),? (?:as )?"
            r"(?P<why>sub|restricted|already routed|destination)" + _INFO,
        ),
        (
            "bridging",
            r"bridging \((?P<broker>\S+) -> (?P<remote>[^\s,)]+)\)?, consumer: (?P<sub>[^\s,]+), "
            r"destination:? (?P<destination>[^\s,]+), brokerPath: (?P<path>\[[^\]]*\]|null), "
            r"message: (?:\w+ \{.*?messageId = )?(?P<message>[^\s,]+)",
        ),
    )
]
_DEMAND = next(pattern for what, pattern in SENTENCES if what == "demand")
# What one of these sentences has, to pass over all other lines at once.
_WORDS = (
    b"Apache ActiveMQ ",
    b"Message Broker (",
    b"etwork Conn",
    b"etwork conn",
    b"bridg",
    b"DemandSub",
    b"ConsumerInfo",
    MARK,
)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that a broker said: when (us since 1970), what, and the words of the sentence."""

    time: int
    what: str
    words: Mapping[str, str]
    file: str
    line: int

    @property
    def broker(self) -> str:
        """Who said it."""
        return self.words["broker"]


class Log:
    """A log file: what it says, and what had no time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.said: list[Said] = []
        self.lines = self.timeless = 0
        self.back: tuple[int, int] | None = None  # line at which times go back the most, and by how much (us)
        self.zoned: set[bool] = set()  # whether its times have a zone
        self.first = self.last = 0  # us since 1970
        self.destinations: dict[str, str] = {}  # consumer -> what it reads
        self._backs: dict[str, str] = {}  # address -> the other end's connector
        self._ups: dict[str, int] = {}  # address -> place in `said` at which its bridge came up
        self.same: list[tuple[str, str]] = []  # consumers that read the same: a bridge's, and those beyond

    def read(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Read it once, from its first line to its last; raises `BadFile`."""
        time = 0
        for raw in _lines(self.path):
            self.lines += 1
            tells = any(word in raw for word in _WORDS)
            if not tells and self.first:
                continue
            text = raw[:LONGEST].decode("utf-8", "replace").rstrip("\r\n")
            advisory = (
                advisories.read(text) if advisories.MARK in raw and text.lstrip().startswith("{") else None
            )
            stamp = _time(text) if advisory is None else _time_of(advisory[0])
            if stamp is None:
                self.timeless += advisory is not None or (tells and _sentence(text) is not None)
                continue
            now, zoned = stamp
            self.zoned.add(zoned)
            self.first = self.first or now
            if time - now > (self.back[1] if self.back else 1_000_000):  # threads may change places
                self.back = self.lines, time - now
            time, self.last = now, max(now, self.last)
            self._consumers(text)
            found = _sentence(text) if advisory is None else advisory[1]
            if found is not None:
                self._keep(Said(now, *found, str(self.path), self.lines))

    def _keep(self, one: Said) -> None:
        """Keep what was said; that a bridge is the back of another's is told beside it, without its broker."""
        address = one.words.get("address", "")
        if one.what == "responder":
            before = self._ups.get(address)
            if before is None:
                self._backs[address] = one.words["connector"]
            else:  # 5.5 may tell it afterwards
                self.said[before] = _back(self.said[before], one.words["connector"])
            return
        if one.what == "up":
            if connector := self._backs.pop(address, None):
                one = _back(one, connector)
            self._ups[address] = len(self.said)
        self.said.append(one)

    def _consumers(self, text: str) -> None:
        """Keep what consumers read, which a line tells beside what it is about."""
        self.destinations.update(_CONSUMER.findall(text))
        if (demand := _DEMAND.search(text)) and (remotes := _REMOTES.search(text)):
            self.same.extend((demand["sub"], one.strip()) for one in remotes[1].split(",") if one.strip())


def _back(one: Said, connector: str) -> Said:
    return replace(one, words={**one.words, "back": connector})


def _sentence(text: str) -> tuple[str, dict[str, str]] | None:
    for what, pattern in SENTENCES:
        if match := pattern.search(text):
            return what, {name: word for name, word in match.groupdict().items() if word is not None}
    return None


def _lines(path: Path) -> Iterator[bytes]:
    opened: Callable[[Path], BinaryIO] = gzip.open if path.suffix == ".gz" else Path.open  # type: ignore[assignment]
    try:
        with opened(path, "rb") as file:  # type: ignore[call-arg]
            yield from file
    except (OSError, EOFError) as error:
        raise BadFile(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


@lru_cache(maxsize=64)
def _second(text: str, zone: str) -> int:
    """Return the seconds since 1970 of a date and time; without a zone as if it were of UTC."""
    zone = "+00:00" if zone in ("", "Z") else zone
    return int(dt.datetime.fromisoformat(f"{text}{zone}").timestamp())


def _time_of(value: object) -> tuple[int, bool] | None:
    """Return the time of an advisory: a date, or milliseconds since 1970, of which 0 is none."""
    if isinstance(value, str) and not value.isdecimal():
        return _time(value)
    milliseconds = int(value) if isinstance(value, (int, str)) else 0
    return (milliseconds * 1000, True) if milliseconds > 0 else None


def _time(text: str) -> tuple[int, bool] | None:
    match = _STAMP.match(text)
    if match is None:
        return None
    zone = match[3] or ""
    try:
        return _second(match[1], zone) * 1_000_000 + int((match[2] or "0").ljust(6, "0")), bool(zone)
    except ValueError:  # no such day
        return None
