"""Questions to sweeps: the DataFrame's columns, and answers that can be counted by hand."""

import json

import pytest

import mqlab as mq
from mqlab.errors import UnknownName
from mqlab.spec import topology
from mqlab.views import heat
from tests.replay.test_sweeps import TTL, chain

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def staircase(tmp_path_factory, spark_ends):
    """Chains of three sizes, four TTLs: a message arrives where the TTL is the distance or more."""
    out = tmp_path_factory.mktemp("sweep") / "s"
    mq.replay.sweep(chain, over={"size": [2, 3, 4], "sends": [5], TTL: [1, 2, 3, 4]}, seeds=2, out=out)
    return out


@pytest.fixture(scope="module")
def race(tmp_path_factory, spark_ends):
    out = tmp_path_factory.mktemp("sweep") / "s"
    mesh = topology.network("mesh", 9).change(
        "*/*", suppress_duplicate_queue_subscriptions=False,
        decrease_network_consumer_priority=False,
    )  # fmt: skip
    topic = mq.Topic("t")
    actions = (
        mq.Consumer("S1", on="M11", reads=topic), mq.Consumer("S2", on="M33", reads=topic),
        mq.Producer("P", on="M22", sends=3, to=topic),
    )  # fmt: skip
    return mq.replay.sweep((mesh, *actions), over={}, seeds=12, jitter="1ms", out=out).folder


def test_a_sweep_is_a_frame_with_a_column_for_each_axis(staircase):
    frame = mq.replay.outcomes(staircase)
    assert frame.columns[:4] == ["run", "size", "sends", "network_ttl"]
    assert frame.where("network_ttl >= size - 1 and received['C'] = 5").count() == 18
    assert frame.where("waiting = 5 and received['C'] = 0").count() == 6


def test_which_axis_matters_is_a_share_of_the_squares(staircase):
    answer = mq.replay.ask("effects", staircase)
    shares = {row[0]: dict(zip(answer.head[1:], row[1:], strict=True)) for row in answer.rows}
    # Received is 5 in 9 of 12 cells: the mean 3.75, the variance 4.6875. By size its means are 5, 3.75, 2.5.
    assert shares["size"]["received"] == pytest.approx((2 * 1.25**2 / 3) / 4.6875)
    # By TTL they are 5/3, 10/3, 5 and 5.
    means = [5 / 3, 10 / 3, 5, 5]
    assert shares["network_ttl"]["received"] == pytest.approx(
        sum((mean - 3.75) ** 2 for mean in means) / 4 / 4.6875
    )
    assert shares["sends"]["received"] == pytest.approx(0)
    assert shares["size"]["lost"] is None


def test_the_smallest_that_is_safe_has_no_smaller_beside_it(staircase):
    answer = mq.replay.ask("smallest", staircase)
    assert answer.rows == ((2, 5, 1, 2),)


def test_where_one_axis_makes_up_for_another_there_are_several(tmp_path, spark):
    def ends(consumers, sends):
        net, consumer, producer = chain(2, sends)
        more = [mq.Consumer("D", on="B1", reads=mq.Queue("Q"))] * (consumers - 1)
        return net, consumer, *more, producer

    mq.replay.sweep(ends, over={"sends": [5], "consumers": [1, 2], TTL: [0, 1]}, out=tmp_path / "s")
    assert mq.replay.ask("smallest", tmp_path / "s").rows == ((5, 1, 1, 1), (5, 2, 0, 1))


def test_stuck_messages_are_told_by_broker(tmp_path, spark):
    result = mq.replay.sweep("fuse:2.14", over={"edition": ["5.5", "5.17"]}, out=tmp_path / "s")
    wanted = []
    for run in range(2):
        held = {b: sum(map(len, q.values())) for b, q in result.trace(run).stuck().items()}
        edition = json.loads(result.table.column("options")[run].as_py())["edition"]
        wanted += [(edition, broker, float(n), 1, 1) for broker, n in held.items()]
    answer = mq.replay.ask("stuck", tmp_path / "s")
    assert wanted
    assert sorted(answer.rows) == sorted(wanted)


def test_timing_counts_the_outcomes(race):
    from mqlab.experiments.outcomes import Outcome

    sweep = mq.replay.load(race)
    seen = [Outcome.of(sweep.trace(run)) for run in range(12)]
    most = max(seen.count(outcome) for outcome in seen)
    answer = mq.replay.ask("timing", race)
    assert answer.rows == ((12, len(set(seen)), pytest.approx(1 - most / 12)),)
    assert len(set(seen)) > 1


@pytest.mark.parametrize("question", ["effects", "stuck", "timing", "smallest"])
def test_each_answer_prints_and_has_a_picture(staircase, question):
    answer = mq.replay.ask(question, staircase)
    assert str(answer).splitlines()[0].split()[0] in ("axis", "size")
    document = heat.document(**answer.picture)
    panels = answer.picture["panels"]
    for title, rows in panels.items():
        drawn = document.get_model_by_name(title).data
        cells = zip(drawn["row"], drawn["column"], drawn["n"], strict=True)
        assert list(cells) == [(r, c, n) for r, row in rows.items() for c, n in row.items() if n is not None]
    assert len(list(document.select({"type": heat.figure}))) == len(panels)
    assert answer.plot() is not None


def test_no_such_question(staircase):
    with pytest.raises(UnknownName, match="effects"):
        mq.replay.ask("effect", staircase)
