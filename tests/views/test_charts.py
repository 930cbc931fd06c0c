"""Charts show what the trace answers: the same counts, in sources one can read."""

import pytest
from bokeh.models import ColumnDataSource

import mqlab as mq
from mqlab import products
from mqlab.views import charts
from tests.conftest import packed

FOO = mq.Queue("TEST.FOO")


def sources(document, name):
    found = [one.data for one in document.select({"type": ColumnDataSource}) if one.name == name]
    return sorted(found, key=lambda data: str(data))


@pytest.mark.parametrize("id", ["fuse:2.20", "article:stuck", "fuse:4.4", "unsafe:lease"])
def test_the_last_depth_is_what_waits(id):
    trace = mq.run(id)
    last = {name: depth[-1] for name, _, depth in charts.depths(trace) if depth[-1]}
    assert last == {f"{broker}, {dest}": len(numbers) for broker, dests in trace.waiting().items()
                    for dest, numbers in dests.items()}  # fmt: skip


def test_depths_of_a_queue_go_up_and_down_in_time():
    net = mq.Network(mq.Broker("A"))
    trace = mq.run(net, mq.Producer("P", on="A", sends=3, to=FOO), mq.Consumer("C", on="A", reads=FOO))
    ((name, times, depth),) = charts.depths(trace)
    assert name == "A, queue://TEST.FOO"
    assert depth == [0, 1, 2, 3, 0, 0]
    assert times == sorted(times)
    assert times[-1] == trace.column("t")[-1] / 1000


def test_a_long_line_is_thinned_and_keeps_its_peaks(monkeypatch):
    monkeypatch.setattr(charts, "MOST_STEPS", 10)
    net = mq.Network(mq.Broker("A"))
    trace = mq.run(net, mq.Producer("P", on="A", sends=50, to=FOO), mq.Consumer("C", on="A", reads=FOO))
    ((_, times, depth),) = charts.depths(trace)
    assert len(times) <= 13
    assert (max(depth), depth[-1]) == (50, 0)


def test_bars_and_bins_hold_every_message_of_both_runs():
    figure = mq.figure("fuse:2.20")
    one, other = (
        mq.run(figure),
        mq.run(figure.change("A/linkToBrokerB", conduit_subscriptions=False)),
    )
    document = charts.document([one, other])
    assert sorted(sum(data["count"]) for data in sources(document, "latency")) == [12, 12]
    bars = [dict(zip(data["consumer"], data["count"], strict=True)) for data in sources(document, "received")]
    assert sorted(map(str, bars)) == sorted(map(str, (one.received(), other.received())))


def test_what_is_not_drawn_is_said():
    queues = [mq.Queue(f"Q{no}") for no in range(charts.MOST_LINES + 3)]
    trace = mq.run(mq.Network(mq.Broker("A")), *(mq.Producer(f"P{q.name}", on="A", sends=1, to=q)
                                                 for q in queues))  # fmt: skip
    assert len(charts.depths(trace)) == len(queues)
    plot = charts.document([trace]).roots[0].children[0]
    assert "deepest 8 shown, 3 omitted" in plot.title.text


@pytest.mark.parametrize("name", ["openmq", "artemis"])
def test_runs_of_every_product_can_be_drawn(name):
    value = packed(name)[min(packed(name))]
    product = products.product_of(value)
    lab = product.lab(product.read(value, "recording"))
    lab.play()
    assert len(charts.document([lab.trace]).roots) == 1


def test_a_trace_and_a_comparison_plot_themselves():
    trace = mq.run("fuse:2.20")
    for what in (trace, mq.compare(trace, trace)):
        assert "latency" in what.plot().item
