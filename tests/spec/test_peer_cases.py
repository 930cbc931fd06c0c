"""Facts from the brokers' own test suites: selectors, wildcards, URIs (tests/recordings/peer_cases).

Rows in the dialects of other products are left to those; each kind of row has one check.
"""

from __future__ import annotations

import pytest

from mqlab.errors import BadValue, MqlabError, SelectorError, UriError
from mqlab.products.activemq.lab import Lab
from mqlab.spec import Broker, Network, NetworkConnector
from mqlab.spec.selector import Selector
from mqlab.spec.uri import parse
from mqlab.spec.values import CONSUMER_ADVISORIES, Destination, matches, overlap
from tests.conftest import peer_cases

# Dialects that ActiveMQ speaks; the rest is RabbitMQ's and Artemis's own.
SELECTORS = ("jms", "activemq-functions", "activemq-string-concat", "activemq-escape-quirk")


def rows(name: str, ours) -> list:
    """Return the rows of one case table that *ours* accepts."""
    cases = peer_cases(name)
    return [pytest.param(case, id=case["id"]) for case in cases if ours(case)]


def value(typed: dict):
    """Return a typed property's value as the runtime holds it."""
    return float(typed["value"]) if typed["type"] in ("float", "double") else typed["value"]


@pytest.mark.parametrize("case", rows("selectors", lambda c: c["dialect"] in SELECTORS))
def test_selectors(case):
    properties = {name: value(typed) for name, typed in case["properties"].items()}
    if case["expected"] == "invalid":
        with pytest.raises(SelectorError, match=r"here:\n"):
            Selector(case["expr"])
        return
    selects = Selector(case["expr"]).selects(case["headers"], properties)
    assert case["expected"] == "valid" or selects == case["expected"]


@pytest.mark.parametrize("case", rows("wildcards", lambda c: c["dialect"] == "activemq"))
def test_wildcards(case):
    assert WILDCARDS[case["kind"]](case) == case["expected"]


def _match(case) -> bool:
    pattern = Destination(case.get("pattern_type", "queue"), case["pattern"])
    # Empty names exist in the broker's map of destinations, though not as destinations.
    if not case["destination"]:
        return matches(case["pattern"], case["destination"])
    return pattern.takes(
        Destination(case.get("dest_type") or case.get("pattern_type", "queue"), case["destination"])
    )


def _advisory_filter(case) -> str:
    """Return the topics at the other end on which a bridge with such a list hears of consumers."""
    connector = NetworkConnector(
        "c", uri="static:(tcp://B)", dynamically_included_destinations=case["included"]
    )
    included = map(Destination.parse, connector.dynamically_included_destinations)
    topics = [f"{'Queue' if dest.is_queue else 'Topic'}.{dest.name}" for dest in included]
    return ",".join(f"{CONSUMER_ADVISORIES}{topic}" for topic in topics or [">"])


def _policy_pick(case) -> object:
    entries = tuple({"queue": pattern} for pattern in case["patterns"])
    broker = Lab(Network(Broker("B", policies=entries))).brokers["B"]
    return broker.policy_for(Destination.parse(case["destination"]))["queue"]


WILDCARDS = {
    "match": _match,
    "overlap": lambda case: overlap(case["pattern"], case["destination"]),
    "split": lambda case: list(Destination("queue", case["destination"]).segments),
    "advisory_filter": _advisory_filter,
    "policy_pick": _policy_pick,
}


def _artemis(case) -> bool:
    return case.get("dialect") == "artemis"


def _other_query(uri, query):
    """Return a URI with other options of its own, whatever its components have; none with None."""
    before = uri.text.rpartition("?")[0]
    bare = before if uri.parameters and before else uri.text
    return parse(f"{bare}?{query}" if query else bare)


def _parts(text, expected) -> None:
    uri = parse(text)
    got = {
        "scheme": uri.scheme, "components": [str(part) for part in uri.components],
        "component_count": len(uri.components),
        "component_parameters": [dict(part.parameters) for part in uri.components],
        "path": uri.path, "host": uri.host,
        "port": uri.port, "parameters": uri.parameters, "fragment": uri.fragment,
        "without_query": str(_other_query(uri, None)),
    }  # fmt: skip
    assert {key: got[key] for key in expected} == expected


def _with_query(text, expected) -> None:
    before = parse(text)
    after = _other_query(before, expected["query"])
    assert len(after.parameters) == expected.get("result_parameter_count", len(after.parameters))
    assert str(after) == expected.get("result", str(after))
    assert (before.scheme, before.host) == (after.scheme, after.host)


def _is_taken(text) -> bool:
    try:
        parse(text)
    except UriError as error:
        return "unbalanced parentheses" not in str(error)
    return True


def _is(what: bool, expected: bool) -> None:
    assert what == expected


URIS = {
    "composite": _parts,
    "full_parse": _parts,
    "simple": _parts,
    "parameters": _parts,
    "is_composite": lambda text, expected: _is(parse(text).composite, expected),
    "balanced_parentheses": lambda text, expected: _is(_is_taken(text), expected),
    "with_query": _with_query,
    "replace_query": _with_query,
    "network_connector": lambda text, _: NetworkConnector("c", uri=text),
}


# Rows about addresses of clients are asked of the client that runs (runtime/activemq/test_peer_addresses).
@pytest.mark.parametrize("case", rows("uris", lambda c: not _artemis(c) and c["kind"] in URIS))
def test_uris(case):
    check = URIS[case["kind"]]
    if case["expected"] == "invalid":
        with pytest.raises((UriError, BadValue, MqlabError)):
            check(case["uri"], {})
        return
    check(case["uri"], case["expected"])
