"""The sizes in which a network is drawn, from cards with all they hold to discs (px of the stage)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from mqlab.views.boxes import Box
from mqlab.views.letters import WIDER, width

WIDTH, HEIGHT = 920, 440  # of a stage beside a panel, in a high window
ROOMS = ((WIDTH, HEIGHT), (WIDTH, 256), (460, 330))  # further: in a low window, in a comparison
ONE_ROOM = (WIDTH, 368)  # for networks that are large in any of them: as narrow stages are
MOST_IN_ROOMS = 16  # brokers of a network that is laid out for each room


@dataclass(frozen=True, slots=True)
class Size:
    """One size: `port` is left between cards for lines, `stack` between members of one set."""

    name: str
    broker: tuple[float, float]
    consumer: tuple[float, float]
    producer: tuple[float, float]
    client: tuple[float, float]  # without its consumers
    row: float  # of a consumer in its client
    store: tuple[float, float]
    port: float
    stack: float
    wire: float  # from a broker to its clients
    pipe: float
    frame: float  # of a host, around its brokers
    mark: float  # radius of a message

    def card(self, x: float, y: float) -> Box:
        """Return the card, or the disc, of a broker with its middle there."""
        return Box(x, y, *self.broker, is_round=self.name == "XS")

    def of_client(self, role: str, consumers: int) -> tuple[float, float]:
        """Return width and height of a producer, a consumer or a client with its consumers."""
        if role != "client":
            return self.producer if role == "producer" else self.consumer
        return self.client[0], self.client[1] + consumers * self.row


LARGE = Size(
    "L",
    broker=(176, 104),
    consumer=(160, 74),
    producer=(86, 52),
    client=(186, 60),
    row=46,
    store=(136, 104),
    port=64,
    stack=60,
    wire=50,
    pipe=26,
    frame=16,
    mark=10,
)
MEDIUM = Size(
    "M",
    broker=(146, 48),
    consumer=(104, 38),
    producer=(78, 34),
    client=(120, 34),
    row=22,
    store=(116, 66),
    port=34,
    stack=60,
    wire=22,
    pipe=12,
    frame=10,
    mark=6,
)
SMALL = Size(
    "S",
    broker=(76, 24),
    consumer=(62, 20),
    producer=(62, 20),
    client=(70, 20),
    row=0,
    store=(62, 30),
    port=3,
    stack=10,
    wire=13,
    pipe=3,
    frame=6,
    mark=5,
)
# As large as SMALL, but wide enough for its messages in one line with its name; and members of one set or host
# stand so far apart that a connector between them is seen.
WIDE = replace(SMALL, broker=(128, 26), consumer=(108, 24), producer=(80, 24), client=(108, 24), stack=58)
TINY = Size(
    "XS",
    broker=(27, 27),
    consumer=(40, 16),
    producer=(40, 16),
    client=(40, 16),
    row=0,
    store=(40, 20),
    port=1,
    stack=6,
    wire=6,
    pipe=2,
    frame=4,
    mark=4,
)
TINIEST = replace(TINY, broker=(20, 20))  # where the lines between larger discs would be too short
SIZES = (LARGE, MEDIUM, WIDE, SMALL, TINY, TINIEST)
# Of a broker's card: the size of its name's letters, and what else it holds beside the name (px).
NAMED = {"L": (15, 28), "M": (13, 36), "S": (12, 14)}
MOST_WIDER = 1.4  # times a card, for a long name
MOST = {"L": 9, "M": 25, "S": 40, "XS": 10_000}  # brokers for which it is worth a try


def sizes(names: Sequence[str]) -> list[Size]:
    """Return the sizes that are worth a try for brokers of these names, the largest first."""
    worth = [size for size in SIZES if len(names) <= MOST[size.name]]
    return [one for size in worth for one in (*_wider(size, names), size)]


def _wider(size: Size, names: Sequence[str]) -> list[Size]:
    """Return a size with cards in which the longest name can be read, if it can be in somewhat wider ones."""
    height, room = NAMED.get(size.name, (0, 0))
    wide = max((width(name, height, bold=True) / WIDER + room for name in names), default=0)
    w, h = size.broker
    return [replace(size, broker=(ceil(wide), h))] if height and w < wide <= MOST_WIDER * w else []
