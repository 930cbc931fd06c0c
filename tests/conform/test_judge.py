"""The judge is strict: bounds are no agreement, a refusal has its reason, one bad file is one verdict."""

from __future__ import annotations

import copy
import json

import pytest

from mqlab import conform
from tests.conftest import packed

REFUSED = "activemq-editions/5.17.2/scenarios/editions/network_prefetch_zero.json"


def openmq(name):
    (found,) = [v for path, v in packed("openmq").items() if path.endswith(f"/{name}.json")]
    return copy.deepcopy(found)


def outcome(value):
    return value["observed"]["outcomes"][0]["outcome"]


def test_within_bounds_is_no_agreement_and_beyond_them_a_difference():
    value = next(copy.deepcopy(v) for v in packed("activemq").values()
                 if v.get("observed", {}).get("deterministic") == "none")  # fmt: skip
    assert conform.compare(value).result == "unjudged"
    for totals in value["observed"]["totals"]:
        totals["consumers"] = dict.fromkeys(totals["consumers"], 9999)
    assert conform.compare(value).result == "disagree"


def test_two_refusals_are_compared_by_what_they_name():
    value = copy.deepcopy(packed("activemq-editions")[REFUSED])
    assert conform.compare(value).result == "agree"
    outcome(value)["problems"] = ["java.lang.RuntimeException: networkTTL = 0"]
    verdict = conform.compare(value)
    assert verdict.result == "disagree"
    assert "for different reasons" in verdict.details[0]


@pytest.mark.parametrize("text", ["[", "[]", '{"observed": {}, "scenario": {"brokers": 7}}', "{}",
                                  '{"observed": {"outcomes": []}, "scenario": {"brokers": []}}'])  # fmt: skip
def test_a_bad_file_is_its_own_verdict(tmp_path, text):
    value = next(iter(packed("combined").values()))
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json").write_text(json.dumps(value))
    (tmp_path / "c.json").write_text(text)
    found = [conform.judge(tmp_path / f"{name}.json") for name in "abc"]
    assert [verdict.result for verdict in found] == ["cannot run", "agree", "cannot run"]
    assert found[0].details


@pytest.mark.parametrize(("name", "spoil"), [
    ("client_fails_over", lambda o: o["consumers"]["C1"].update(homes=["b1", "b3"])),
    ("client_fails_over", lambda o: o["consumers"]["C1"]["connection_events"].update(reconnected=2)),
    ("client_fails_over", lambda o: o["consumers"]["C1"].pop("connection_events")),
    ("transacted_send_remote", lambda o: o["snapshots"]["open"]["brokers"]["b1"].pop("transactions")),
    ("transacted_send_remote", lambda o: o["snapshots"]["end"]["brokers"]["b1"].update(
        transactions=["STARTED messages=0 acks=1"])),
    ("transacted_rollback_remote", lambda o: o["consumers"]["C1"].update(duplicated=[1])),
])  # fmt: skip
def test_connections_transactions_and_duplicates_of_openmq_count(name, spoil):
    value = openmq(name)
    assert conform.compare(value).result == "agree"
    for entry in value["observed"]["outcomes"]:
        spoil(entry["outcome"])
    assert conform.compare(value).result == "disagree"


def test_how_a_blocked_call_ended_counts():
    (value,) = [copy.deepcopy(v) for path, v in packed("openmq-later").items()
                if path.endswith("/created_in_cut.json")]  # fmt: skip
    assert conform.compare(value).result == "agree"
    blocked = [row for row in outcome(value)["operations"] if row["result"] == "blocked"]
    assert {row["later"] for row in blocked} == {"ok"}
    blocked[0]["later"] = "refused"
    assert conform.compare(value).result == "disagree"
