"""Options are rows: everything that is known of an option stands here, once.

Constructors, readers and writers of files, the widgets' forms, the reference table and the error
texts all read these rows. Sources: the guides; the defaults of the four editions as found in
their classes (reference/activemq-editions-observed.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.values import Destination

EDITIONS = ("5.5", "5.17", "5.18", "6.1")
DEFAULT_EDITION = "5.17"


def edition_of(version: str) -> str:
    """Return the edition that stands for a release, such as 5.17 for ``5.17.2``.

    Raises `UnknownName` for a release that no recording speaks for.
    """
    found = [edition for edition in EDITIONS if (version + ".").startswith(edition + ".")]
    if not found:
        raise UnknownName.of("edition", version, EDITIONS)
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of one element.

    `guide` is the name in configuration files, `name` the Python one. `default` holds for every
    edition that `later` does not name. `since` is the first edition that has the option.
    `low` is the least value, `unit` the unit of a number (hops, messages, ms).
    """

    guide: str
    name: str
    type: type
    default: Any
    sentence: str
    source: str
    unit: str = ""
    low: int | None = None
    later: Mapping[str, Any] | None = None
    since: str = "5.5"

    def default_for(self, edition: str) -> Any:
        """Return the default that *edition* gives the option."""
        return (self.later or {}).get(edition, self.default)

    def read(self, value: Any, where: str) -> Any:
        """Return *value* in the option's own type, or say in a `BadValue` what to write."""
        try:
            return _READERS[self.type](value, self)
        except (BadValue, UnknownName) as error:
            raise type(error)(f"{where}: {self.guide}: {error}") from None


def _read_bool(value: Any, option: Option) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise BadValue(f"{value!r} is neither true nor false; write true or false")
    return text == "true"


def _read_int(value: Any, option: Option) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.removeprefix("-").isdecimal():
        raise BadValue(f"{value!r} is not a whole number; write for example {option.default}")
    if option.low is not None and int(text) < option.low:
        raise BadValue(f"{text} is too low; write {option.low} or more")
    return int(text)


def _read_text(value: Any, option: Option) -> str:
    if not isinstance(value, str):
        raise BadValue(f"{value!r} is not a text; write it in quotes")
    return value


def _read_destinations(value: Any, option: Option) -> tuple[str, ...]:
    texts = [part for part in value.split(",") if part] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)):
        raise BadValue(f'{value!r} is not a list; write for example ["queue://TEST.FOO"]')
    return tuple(str(t if isinstance(t, Destination) else Destination.parse(str(t))) for t in texts)


_READERS = {bool: _read_bool, int: _read_int, str: _read_text, tuple: _read_destinations}

_TTL = "Fuse 2, Time-to-live"
_ROUTE = "Fuse 2, Finding the shortest route"
_TABLE = "article, table of networkConnector options"

CONNECTOR = (
    Option(guide="networkTTL", name="network_ttl", type=int, default=1, low=-1, unit="hops",
           sentence="How many connectors messages and news of consumers may cross; sets both of "
           "the next two. -1 is no limit.", source=_TTL),
    Option(guide="messageTTL", name="message_ttl", type=int, default=None, low=-1, unit="hops",
           sentence="How many connectors a message may have crossed.", source=_TTL, since="5.17"),
    Option(guide="consumerTTL", name="consumer_ttl", type=int, default=None, low=-1, unit="hops",
           sentence="How many brokers news of a consumer may have crossed.", source=_TTL,
           since="5.17"),
    Option(guide="duplex", name="duplex", type=bool, default=False,
           sentence="One connection, messages both ways.", source="Fuse 2, Figure 2.3"),
    Option(guide="conduitSubscriptions", name="conduit_subscriptions", type=bool, default=True,
           sentence="All consumers of the next broker count as one.", source="Fuse 3, Figure 2.20"),
    Option(guide="conduitNetworkQueueSubscriptions", name="conduit_network_queue_subscriptions",
           type=bool, default=False, sentence="Conduit also merges, on queues, what the next "
           "broker itself has from other brokers.", source="ActiveMQ 5.16", since="5.17"),
    Option(guide="decreaseNetworkConsumerPriority", name="decrease_network_consumer_priority",
           type=bool, default=False, later={"5.18": True, "6.1": True},
           sentence="The farther away a consumer is, the lower its priority.", source=_ROUTE),
    Option(guide="consumerPriorityBase", name="consumer_priority_base", type=int, default=-5,
           sentence="Where the decreased priorities begin.", source=_ROUTE, since="5.17"),
    Option(guide="suppressDuplicateQueueSubscriptions", type=bool, default=False,
           name="suppress_duplicate_queue_subscriptions",
           sentence="Of several routes to one queue consumer keep one.", source=_ROUTE),
    Option(guide="suppressDuplicateTopicSubscriptions", type=bool, default=True,
           name="suppress_duplicate_topic_subscriptions",
           sentence="Of several routes to one topic consumer keep one.", source=_TABLE),
    Option(guide="staticallyIncludedDestinations", name="statically_included_destinations",
           type=tuple, default=(), sentence="Forwarded without being asked for.",
           source="Fuse 2, Static propagation"),
    Option(guide="dynamicallyIncludedDestinations", name="dynamically_included_destinations",
           type=tuple, default=(), sentence="If not empty: nothing else is forwarded on demand.",
           source="Fuse 2, Example 2.4"),
    Option(guide="excludedDestinations", name="excluded_destinations", type=tuple, default=(),
           sentence="Never forwarded.", source="Fuse 2, Example 2.4"),
    Option(guide="staticBridge", name="static_bridge", type=bool, default=False,
           sentence="Listen to no advisories: only static destinations cross.", source=_TABLE,
           since="5.17"),
    Option(guide="dynamicOnly", name="dynamic_only", type=bool, default=False,
           sentence="Durable network subscriptions start only when asked for.", source=_TABLE),
    Option(guide="syncDurableSubs", name="sync_durable_subs", type=bool, default=False,
           sentence="Exchange durable subscriptions on connecting.", source="ActiveMQ 5.14",
           since="5.17"),
    Option(guide="prefetchSize", name="prefetch_size", type=int, default=1000, low=0,
           unit="messages", sentence="How many unacknowledged messages a bridge may hold.",
           source=_TABLE),
    Option(guide="bridgeTempDestinations", name="bridge_temp_destinations", type=bool,
           default=True, sentence="Replies to temporary destinations cross too.", source=_TABLE),
    Option(guide="destinationFilter", name="destination_filter", type=str, default=None,
           sentence="Which consumer advisories the bridge listens to.", source=_TABLE),
    Option(guide="useVirtualDestSubs", name="use_virtual_dest_subs", type=bool, default=False,
           sentence="Consumers of a virtual destination are demand too.", source="ActiveMQ 5.13",
           since="5.17"),
    Option(guide="name", name="configured_name", type=str, default=None,
           sentence="The name that the broker gives to its bridges, if it is not the connector's "
           "own; two connectors that share one cannot both come up.", source=_TABLE),
    Option(guide="autoStart", name="auto_start", type=bool, default=True,
           sentence="Start with the broker.", source="ActiveMQ 5.19"),
)  # fmt: skip

BROKER = (
    Option(guide="advisorySupport", name="advisory_support", type=bool, default=True,
           sentence="Tell the network of consumers that come and go.",
           source="Fuse 2, Dynamic propagation"),
    Option(guide="store", name="store", type=str, default="memory",
           sentence="memory: all is lost in a restart; kahadb: what is persistent is kept.",
           source="Fuse 4"),
    Option(guide="sharedStore", name="shared_store", type=str, default=None,
           sentence="Brokers that name the same store are a master and its slaves.",
           source="Fuse 4, Shared file system master/slave"),
    Option(guide="useVirtualDestSubs", name="use_virtual_dest_subs", type=bool, default=False,
           sentence="Tell of consumers of virtual destinations.", source="ActiveMQ 5.13",
           since="5.17"),
)  # fmt: skip

OPTIONS: dict[str, dict[str, Option]] = {
    "networkConnector": {option.name: option for option in CONNECTOR},
    "broker": {option.name: option for option in BROKER},
}


def read_options(element: str, given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return *given* with each value in its option's type, in the rows' order.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.
    """
    rows = OPTIONS[element]
    for name in given:
        if name not in rows:
            raise UnknownName.of("option", name, rows, where)
    return {n: row.read(given[n], where) for n, row in rows.items() if given.get(n) is not None}
