"""The workbench without a browser: what it offers, runs and tells."""

from __future__ import annotations

import json

import mqlab as mq
from mqlab import products


def test_every_figure_of_every_family_can_be_chosen():
    bench = mq.widgets.Workbench()
    assert [id for _, id in bench.figure.options] == [figure.id for figure in products.figures()]
    assert ("fuse:4.1  Pure master/slave", "fuse:4.1") in bench.figure.options


def test_a_failover_is_shown_with_its_roles_and_without_a_form_of_options():
    bench = mq.widgets.Workbench("fuse:4.3")
    assert bench.form.layout.display == "none"
    assert "slave at" in bench.result.value
    assert "master at" in bench.result.value
    item = json.loads(bench.view.item)["root_id"]
    bench.figure.value = "fuse:2.20"
    assert bench.form.layout.display is None
    assert "<b>C1</b> received <b>6</b>" in bench.result.value
    assert json.loads(bench.view.item)["root_id"] == item, "the same document"


def test_a_changed_option_is_run_and_a_bad_one_is_told():
    bench = mq.widgets.Workbench("fuse:2.20")
    bench.form.fields["conduit_subscriptions"].value = False
    assert bench.go.button_style == "warning"
    bench.run()
    assert bench.trace.received() == {"C1": 4, "C2": 4, "C3": 4}
    bench.form.fields["statically_included_destinations"].value = "stream://X"
    bench.run()
    assert "stream" in bench.result.value
    assert bench.trace.received() == {"C1": 4, "C2": 4, "C3": 4}
