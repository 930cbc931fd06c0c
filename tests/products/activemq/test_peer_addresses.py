"""Addresses of clients and connectors, by rows of ActiveMQ's own tests: asked of the client that runs."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.products.activemq.client import jms
from mqlab.products.activemq.client.address_list import AddressList
from mqlab.products.activemq.client.addresses import FailoverOptions, place, with_options
from mqlab.products.activemq.client.discovery import masterslave
from mqlab.products.activemq.client.query import prefixed
from tests.conftest import peer_cases


def rows(*kinds: str) -> list:
    cases = peer_cases("uris")
    ours = [case for case in cases if case["kind"] in kinds and case.get("dialect") != "artemis"]
    assert {case["kind"] for case in ours} == set(kinds)
    return [pytest.param(case, id=case["id"]) for case in ours]


# Not asked: a broker inside an address (vm:, broker:) and connectors added over remote administration, of
# which the lab has neither.
NOT_ASKED = {"embedded_broker", "network_connector_remote_admin"}


def test_every_kind_of_row_is_asked_somewhere():
    from tests.spec.test_peer_cases import URIS

    here = {
        "connect_options",
        "client_factory",
        "apply_parameters",
        "failover_list",
        "masterslave_expand",
    }
    cases = peer_cases("uris")
    assert {c["kind"] for c in cases if c.get("dialect") != "artemis"} - set(URIS) == here | NOT_ASKED


@pytest.mark.parametrize("case", rows("connect_options"))
def test_a_client_connects_or_its_address_is_refused(case):
    net = mq.Network(mq.Broker("localhost"))
    trace = mq.run(net, mq.Client("c", uri=case["uri"]), until="30s")
    attached = any(event.kind == mq.Kind.Attached for event in trace.events())
    assert attached == (case["expected"] == "accepted")


@pytest.mark.parametrize("case", rows("client_factory"))
def test_the_factory_takes_its_options_out_of_the_address(case):
    expected = case["expected"]
    got = {name: int(value) if value.isdecimal() else {"true": True, "false": False}.get(value, value)
           for name, value in {"connectResponseTimeout": "0", **jms.options(case["uri"])}.items()}  # fmt: skip
    assert got.items() >= expected["client_options"].items()
    assert jms.without(case["uri"]) == expected.get("broker_url_after", jms.without(case["uri"]))


@pytest.mark.parametrize("case", rows("apply_parameters"))
def test_options_with_a_prefix_are_put_into_an_address(case):
    expected = case["expected"]
    given = prefixed(expected["apply"], expected["prefix"])
    query = with_options(case["uri"], given).partition("?")[2]
    assert dict(pair.split("=") for pair in query.split("&") if pair) == expected["result_parameters"]


@pytest.mark.parametrize("case", rows("failover_list"))
def test_a_failover_list_has_each_host_and_port_once(case):
    expected = case["expected"]
    known = AddressList(FailoverOptions(), [expected["initial"], *expected["add"]])
    assert {place(one) for one in expected.get("contains", ())} <= {place(a) for a in known.configured}
    assert len(known.configured) == expected.get("count_after", len(known.configured))
    for address in expected.get("add_again", ()):
        known.learn(address)
    assert len(known.configured) == expected.get("count_after_again", len(known.configured))


@pytest.mark.parametrize("case", rows("masterslave_expand"))
def test_masterslave_stands_for_failover(case):
    assert masterslave(case["uri"]) == case["expected"]["expands_to"]
