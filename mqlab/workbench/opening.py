"""The view of a run: with a desk behind it where the run can be played again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab import experiments, views
from mqlab.errors import BadValue, MissingExtra
from mqlab.trace.trace import Trace
from mqlab.workbench.desk import WorkbenchSession

if TYPE_CHECKING:
    from mqlab.spec.scenario import AnyNetwork
    from mqlab.views.host import View


def running(network: AnyNetwork) -> View:
    """Return the picture of a running network; raises `MissingExtra` without Bokeh."""
    with MissingExtra.told("lab"):
        from mqlab.workbench.running import RunningView
    return RunningView(network)


def view(trace: Trace, name: str = "") -> View:
    """Return the view of a run, which is called *name*, such as a figure's id.

    One that does not hold its scenario is played and cannot be asked. Raises `BadValue` where there is no
    broker, `MissingExtra` without Bokeh.
    """
    if "broker" not in trace.names["node_role"]:
        raise BadValue("an empty network cannot be drawn; add a broker, e.g. mq.Network(mq.Broker('A'))")
    found = experiments.other_outcomes(trace)
    if found is not None and len(found) > 1:
        trace.header["outcomes"] = len(found)  # its title says so
    if not trace.header.get("scenario", {}).get("brokers"):
        return views.view(trace)
    with MissingExtra.told("lab"):
        from mqlab.workbench.picture import WorkbenchView
    return WorkbenchView(WorkbenchSession(trace, name))
