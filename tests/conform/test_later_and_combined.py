"""Networks with faults, and the recordings that were published after the rules had been written."""

import copy
import json
import tarfile

import pytest

from mqlab import conform
from tests.conftest import HERE, SHARED, missing, packed, recorded


@pytest.mark.parametrize("value", recorded("combined", lambda path: True))
def test_networks_with_faults_do_what_real_ones_did(value):
    assert conform.compare(value).details == ()


@pytest.mark.parametrize("value", [
    pytest.param(value, id=path.removesuffix(".json"))
    for path, value in sorted(packed("activemq-later").items())
])  # fmt: skip
def test_later_recordings_agree_with_rules_written_before(value):
    verdict = conform.compare(value)
    bound = value["observed"]["deterministic"] == "none"
    assert (verdict.result, verdict.details[:3]) == ("unjudged" if bound else "agree", ())


@pytest.mark.parametrize(("name", "folder"), [
    ("combined", "activemq-combined"), ("activemq-later", "later/activemq"),
    ("activemq-later", "later/activemq-editions"), ("activemq-later", "later/activemq-failover"),
])  # fmt: skip
def test_the_packed_recordings_are_the_shared_ones(name, folder):
    source = SHARED / "conformance" / folder
    if not source.exists():
        missing("../shared/conformance is not beside this checkout")
    files = {str(f.relative_to(source.parent)): f for f in source.rglob("*.json")}
    with tarfile.open(HERE / "recordings" / f"{name}.tar.xz") as tar:
        names = {m.name for m in tar if m.name.startswith(f"{source.name}/") and m.isfile()}
    assert names == set(files)
    assert all(packed(name)[one] == json.loads(f.read_text()) for one, f in files.items())


PATH = "activemq-combined/groups_and_selectors/groups_local_and_remote_b_restarts.json"


def _outcome(value):
    return value["observed"]["outcomes"][0]["outcome"]


@pytest.mark.parametrize("spoil", [
    pytest.param(lambda o: o["consumers"]["K1"]["paths"][0].update(numbers="2, 4"), id="path"),
    pytest.param(lambda o: o["roles"]["B"].pop(), id="role"),
    pytest.param(lambda o: o["connections"]["K1"].pop(), id="connection"),
    pytest.param(lambda o: o["account"].update(not_received="3"), id="account"),
    pytest.param(lambda o: o["results"][-1].update(ok=False), id="result"),
    pytest.param(lambda o: o["snapshots"]["final"]["brokers"]["A"]["queues"]["Q"].update(
        forwarded=7), id="counter"),
    pytest.param(lambda o: o["snapshots"]["final"]["brokers"]["A"]["subscriptions"].pop(),
                 id="subscription"),
])  # fmt: skip
def test_a_comparison_sees_every_difference(spoil):
    value = copy.deepcopy(packed("combined")[PATH])
    assert conform.compare(value).result == "agree"
    spoil(_outcome(value))
    assert conform.compare(value).result == "disagree"
