"""What goes out of a trace: tables with names and units, files that come back, a summary that prints."""

import builtins

import pandas as pd
import pytest

import mqlab as mq
from mqlab.errors import MissingExtra
from mqlab.trace import Kind, parquet

FOO = mq.Queue("TEST.FOO")


def test_a_table_has_names_in_place_of_numbers_and_units_in_its_columns():
    trace = mq.run("fuse:2.20")
    frame = trace.to_pandas()
    assert list(frame.columns) == [
        "t_us", "kind", "message", "broker", "from", "to", "link", "destination", "subscription",
        "hops", "age_us", "rule", "cause"]  # fmt: skip
    for row, event in zip(frame.itertuples(index=False), trace.events(), strict=True):
        told = [None if pd.isna(value) else value for value in row]
        assert told == [event.t, event.kind.name, event.message, event.broker, event.frm, event.to,
                        event.link, event.destination, event.subscription, event.hop, event.age,
                        event.rule.name, event.cause]  # fmt: skip
    got = frame[frame["kind"] == Kind.Received.name].groupby("to", observed=True).size()
    assert got.to_dict() == trace.received()
    assert trace.to_arrow().num_rows == len(trace)


def test_a_trace_file_is_loaded_by_the_same_verb(tmp_path):
    trace = mq.run("fuse:2.20")
    parquet.save(trace, tmp_path / "run.parquet")
    again = mq.load(tmp_path / "run.parquet")
    assert (again.digest(), again.received()) == (trace.digest(), trace.received())


def test_a_trace_prints_as_a_summary_with_units():
    net = mq.Network(mq.Broker("A", store="memory"), mq.Broker("<b>"))
    trace = mq.run(net, mq.Consumer("C", on="A", reads=FOO, receiving=False),
                   mq.Producer("P", on="A", sends=3, to=FOO), mq.Producer("Q", on="<b>", sends=2, to=FOO),
                   mq.Stop("A"))  # fmt: skip
    lines = str(trace).splitlines()
    assert lines[0] == "A network of 2 brokers"
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[1:]}
    assert told["run"].startswith(f"{trace.column('t')[-1] / 1000:g} ms, {len(trace)} events, seed 0")
    assert told["brokers"] == "A, <b>"
    assert told["messages"] == "5 sent: 2 waiting, 3 lost"
    assert told["received"] == "C 0"
    assert told["waiting"] == "<b> queue://TEST.FOO 2"
    assert told["lost"] == "3 (1-3): it was held in memory only and not stored"
    assert "&lt;b&gt;" in trace._repr_html_()
    assert "<b>," not in trace._repr_html_()


@pytest.mark.parametrize(("method", "package"), [
    ("to_arrow", "pyarrow"), ("to_pandas", "pandas"), ("plot", "bokeh"),
])  # fmt: skip
def test_a_missing_package_is_an_error_that_names_it(monkeypatch, method, package):
    trace, real = mq.run("fuse:2.1"), builtins.__import__

    def refuse(name, *more, **keys):
        if name.partition(".")[0] == package:
            raise ImportError(name=package)
        return real(name, *more, **keys)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for module in ("mqlab.views.charts", "mqlab.views.host"):
        monkeypatch.delitem(__import__("sys").modules, module, raising=False)
    with pytest.raises(MissingExtra, match=package):
        getattr(trace, method)()
