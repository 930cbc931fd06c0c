"""What a line does to what it carries: delay, jitter, loss and bandwidth, of all lines or of one.

Loss is a share of segments. A TCP line loses nothing for good: the sender sends a lost segment again
after its retransmission time-out, which doubles each time (RFC 6298), and what follows waits behind it.
A multicast datagram is lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields

from mqlab.errors import BadValue
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.noun import Noun
from mqlab.spec.values import moment

SHAPE = 'write mq.Link(loss=0.01), or {("A", "B"): mq.Link(loss=0.01)}'

WRITTEN = "write loss=0.01, or A,B:delay=20ms,bandwidth=64000"


class Link(metaclass=Noun, kw_only=True):
    """Properties of a network link.

    `delay` and `jitter` are times (such as ``"20ms"``), None those of the lab; `loss` the share of
    segments that is lost, from 0 up to but not including 1; `bandwidth` bytes per second, None no limit.
    """

    delay: int | float | str | None = None
    jitter: int | float | str | None = None
    loss: float = 0.0
    bandwidth: int | None = None

    def __post_init__(self) -> None:
        for name in ("delay", "jitter"):
            if (time := getattr(self, name)) is not None:
                moment(time, f"Link: {name}")
        number = isinstance(self.loss, (int, float)) and not isinstance(self.loss, bool)
        if not number or not 0 <= self.loss < 1:
            raise BadValue(
                f"Link: loss is {self.loss!r}; expected the share of segments that is lost, from 0 up to 0.99"
            )
        whole = isinstance(self.bandwidth, int) and not isinstance(self.bandwidth, bool)
        if self.bandwidth is not None and (not whole or self.bandwidth < 1):
            raise BadValue(
                f"Link: bandwidth is {self.bandwidth!r}; expected bytes per second, 1 or more, or None"
            )


@dataclass(frozen=True, slots=True)
class Links:
    """The lines of a lab: what `every` one is like, and the lines of two that differ."""

    every: Link = field(default=Link())
    between: Mapping[frozenset[str], Link] = field(default_factory=dict, hash=False)

    @classmethod
    def of(cls, given: LikeLinks, brokers: Collection[str]) -> Links:
        """Return what *given* says, one link for all or a link for each of some pairs of names.

        Raises `BadValue` for what is neither, and for a pair in which none of the *brokers* is.
        """
        if isinstance(given, Links):
            return given
        if given is None:
            return USUAL
        if isinstance(given, Link):
            return cls(given)
        if not isinstance(given, Mapping):
            raise BadValue(f"links: {given!r}; {SHAPE}")
        for pair, link in given.items():
            two = isinstance(pair, tuple) and len(pair) == len({*pair}) == 2
            if not two or not isinstance(link, Link):
                raise BadValue(f"links: {pair!r}: {link!r}; {SHAPE}")
            if not {*pair} & {*brokers}:
                raise BadValue(
                    f"links: {pair[0]!r} and {pair[1]!r}: neither is a broker. Known: {', '.join(brokers)}"
                )
        between = {frozenset(pair): link for pair, link in given.items()}
        if len(between) < len(given):
            raise BadValue("links: one pair of names is there in both orders; a link is the same in both")
        return cls(between=between)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> LikeLinks:
        """Return what is written on a command line: ``loss=0.01`` for all lines, ``A,B:delay=20ms`` for one.

        None without any. Raises `BadValue` for what is neither.

        >>> Links.parse(["A,B:delay=20ms,loss=0.01"])
        {('A', 'B'): Link(delay='20ms', loss=0.01)}
        """
        every: Link | None = None
        pairs: dict[tuple[str, str], Link] = {}
        for text in texts:
            names, colon, written = text.rpartition(":")
            one, comma, other = names.partition(",")
            link = _parsed(written, text)
            two = one.strip(), other.strip()
            if {two, two[::-1]} & {*pairs} if colon else every is not None:
                raise BadValue(
                    f"link {text!r}: this line is described already; write loss=0.01,delay=20ms in one"
                )
            if not colon:
                every = link
            elif comma and all(two):
                pairs[two] = link
            else:
                raise BadValue(f"link {text!r}: {names!r} is not a pair of names; {WRITTEN}")
        if every is not None and pairs:
            raise BadValue(
                f"links: both a setting for all links and one for {', '.join(next(iter(pairs)))}; use one of "
                "them"
            )
        return pairs or every

    def of_pair(self, one: str, other: str) -> Link:
        """Return what the line of two is like."""
        return self.between.get(frozenset((one, other)), self.every)

    def written(self) -> dict[str, object]:
        """Return it as a trace's header has it."""
        between = sorted((*sorted(pair), _told(link)) for pair, link in self.between.items())
        return {"every": _told(self.every), "between": [list(row) for row in between]}

    @classmethod
    def read(cls, written: JsonObject | None) -> Links:
        """Return what `written` wrote down.

        >>> links = Links.of({("A", "B"): Link(loss=0.5)}, ["A"])
        >>> Links.read(links.written()) == links
        True
        """
        if not written:
            return cls()
        pairs = {frozenset((one, other)): Link(**told) for one, other, told in written["between"]}
        return cls(Link(**written["every"]), pairs)


def _parsed(written: str, text: str) -> Link:
    found: JsonDict = {}
    for part in written.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in {known.name for known in fields(Link)}:
            raise BadValue(f"link {text!r}: {part.strip()!r}; {WRITTEN}")
        if name in found:
            raise BadValue(f"link {text!r}: {name} is there twice; give it once")
        try:
            found[name] = {"loss": float, "bandwidth": int}.get(name, str)(value)
        except ValueError:
            raise BadValue(f"link {text!r}: {name} is {value!r}; {WRITTEN}") from None
    return Link(**found)


def _told(link: Link) -> dict[str, object]:
    return {
        known.name: getattr(link, known.name)
        for known in fields(link)
        if getattr(link, known.name) != known.default
    }


USUAL = Links()
LikeLinks = Link | Links | Mapping[tuple[str, str], Link] | None  # as users write them
