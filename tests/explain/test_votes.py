"""Masters that vote, and two that serve at once: what is told is what they do."""

from __future__ import annotations

import mqlab as mq
from mqlab import products
from tests.conftest import packed


def played(name):
    (value,) = [v for path, v in packed("artemis").items() if path.endswith(f"/{name}.json")]
    return products.play(products.product_of(value).read(value, name))


def test_a_master_that_stops_after_its_vote():
    told = str(mq.explain(played("three_masters_master_isolated_votes"), broker="M1"))
    assert "whether it is still in the majority: it is not, and stops (votes 0, needed 2)" in told


def test_a_master_that_votes_is_not_told_to_be_gone():
    told = str(mq.explain(played("pair_slave_killed_master_votes_size_2"), broker="M1"))
    assert "it is not, and stops (votes 0, needed 1)" in told
    assert "the master is gone" not in told
    won = str(mq.explain(played("pair_slave_killed_master_votes"), broker="M1"))
    assert "it is, and keeps serving" in won


def test_a_split_brain_is_told():
    told = str(mq.explain(played("one_pair_cut")))
    assert "Split brain: M1 and S1 were active at the same time from" in told
    assert "Split brain" not in str(mq.explain(mq.run("artemis:21.1")))


def test_who_cast_which_vote_and_who_did_not_answer_is_told():
    won = str(mq.explain(played("three_masters_master_isolated_votes"), broker="S1"))
    assert "S1 started a quorum vote; M2, M3 voted for it" in won
    lost = str(mq.explain(played("quorum/three_masters_one_cut_off"), broker="S1"))
    assert "; M2 voted against it; M3 did not answer" in lost
