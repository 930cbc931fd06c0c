"""Changes that are found apply to networks, scenarios, figures and files, and do what was said of them."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue
from mqlab.experiments.what_if import worse

Q = mq.Queue("Q")
SHORT = mq.chain(3, network_ttl=1)
FLOW = mq.Consumer("C", on="B3", reads=Q), mq.Producer("P", on="B1", sends=4, to=Q)


def test_a_change_of_what_if_applies_to_the_network():
    found = mq.what_if(mq.run(SHORT, *FLOW), message="P-1", consumer="C")
    mended = found.changes[0].apply(SHORT)
    assert isinstance(mended, mq.Network)
    assert mq.run(mended, *FLOW).received() == {"C": 4}
    assert mq.run(SHORT, *FLOW).received() == {"C": 0}


def test_a_change_of_explain_applies_to_the_scenario():
    answer = mq.explain(mq.run(SHORT, *FLOW), message="P-1", why_not="C")
    scenario = answer.changes[0].apply(mq.Scenario.of(SHORT, *FLOW))
    assert mq.run(scenario).received() == {"C": 4}


@pytest.mark.parametrize(
    ("net", "rule"),
    [
        (SHORT, "ttl-distance"),
        (
            mq.artemis.Network(
                mq.artemis.Broker("M", "replication", "master"),
                mq.artemis.Broker("S", "replication", "slave", allow_failback=True),
            ),
            "failback-check",
        ),
    ],
    ids=["activemq", "artemis"],
)
def test_a_change_of_check_takes_the_problem_away(net, rule):
    problems = mq.check(net)
    fixed = {p.rule for p in problems} - {p.rule for c in problems.changes for p in mq.check(c.apply(net))}
    assert problems.changes
    assert fixed
    assert type(problems.changes[0].apply(net)) is type(net)


def test_of_files_only_what_changed_is_written(tmp_path):
    mq.save(SHORT, tmp_path)
    loaded = mq.load(tmp_path)
    mq.save(mq.check(loaded).changes[0].apply(loaded), f"{tmp_path}/new/")
    for name in ("B1", "B2"):
        before = (tmp_path / name / "activemq.xml").read_text().splitlines()
        after = next((tmp_path / "new").rglob(f"{name}/activemq.xml")).read_text().splitlines()
        differ = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
        assert len(differ) == 1
        assert 'networkTTL="3"' in differ[0][1]


def test_a_change_of_an_action_needs_the_actions():
    crash = mq.Crash("A"), mq.Consumer("C", on="A", reads=Q)
    net = mq.Network(mq.Broker("A", store="memory"))
    found = mq.what_if(
        mq.run(net, mq.Producer("P", on="A", sends=1, to=Q), *crash), message="P-1", consumer="C"
    )
    (left_out,) = [change for change in found.changes if str(change).startswith("without crash")]
    with pytest.raises(BadValue, match=r"apply it to net\.with_actions"):
        left_out.apply(net)


def test_what_else_a_change_does_is_told():
    kept = mq.run(mq.Network(mq.Broker("A")), mq.Producer("P", on="A", sends=5, to=Q), mq.Restart("A"))
    gone = mq.run(mq.Network(mq.Broker("A", store="memory")), mq.Producer("P", on="A", sends=5, to=Q),
                  mq.Stop("A"), mq.Restart("A"))  # fmt: skip
    assert worse(kept, gone) == "5 more messages lost"
    assert worse(gone, kept) == ""
