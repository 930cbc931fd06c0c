"""See how a network of message brokers behaves.

>>> import mqlab as mq
>>> trace = mq.run("fuse:2.20")   # a figure; mq.figures() has all
>>> trace.received()
{'C1': 6, 'C2': 3, 'C3': 3}

verbs    run check effect explain what_if outcomes compare upgrade real view
         compare_products default_load chaos survives cheapest trace_of
         save load configuration figure figures recorded options faults
by step  Lab: do step until rest fork trace roles now
network  Network Broker NetworkConnector TransportConnector Queue Topic
         hub chain ring tree mesh complete regions (of every product)
         from_networkx to_networkx: networks as graphs of networkx
clients  Consumer Producer Client Receive Acknowledge Commit Close ...
faults   Crash Stop Restart Pause Resume Cut Heal HostDown SlowDisk ...
others   mq.openmq, mq.artemis: what networks of these are made of

Go on with help(mq.run), help(mq.Network), help(mq.Consumer). Options are
in help(mq.NetworkConnector), help(mq.Broker), help(mq.artemis.Broker), ...
and in a terminal: mqlab options [WORD].
"""

from __future__ import annotations

import importlib
import typing
from typing import Any

from mqlab.api.asking import compare, compare_products, explain, outcomes, sweep, trace_of, upgrade, what_if
from mqlab.api.chaos import chaos, cheapest, survives
from mqlab.api.topologies import chain, complete, hub, mesh, regions, ring, tree
from mqlab.api.verbs import (
    Lab,
    check,
    configuration,
    default_load,
    faults,
    figure,
    figures,
    load,
    options,
    real,
    recorded,
    run,
    save,
    view,
)
from mqlab.errors import MqlabError
from mqlab.experiments.effect import effect
from mqlab.spec import *  # noqa: F403 - its nouns, which it lists
from mqlab.spec.graph import from_networkx, to_networkx
from mqlab.trace import Comparison, Event, Kind, Ledger, Reason, Trace

Rule = Reason  # what it was called first

__version__ = "0.1.0"

if typing.TYPE_CHECKING:
    from mqlab import lessons, replay, spec, views, widgets
    from mqlab.api import artemis, openmq

    # At run time `help(mqlab)` would print all of these, one after the other.
    __all__ = [
        # verbs
        "chaos",
        "cheapest",
        "check",
        "compare",
        "compare_products",
        "configuration",
        "default_load",
        "effect",
        "explain",
        "faults",
        "figure",
        "figures",
        "from_networkx",
        "load",
        "options",
        "outcomes",
        "real",
        "recorded",
        "run",
        "save",
        "survives",
        "sweep",
        "to_networkx",
        "trace_of",
        "upgrade",
        "view",
        "what_if",
        # step by step
        "Lab",
        # the network
        "chain",
        "complete",
        "hub",
        "mesh",
        "regions",
        "ring",
        "tree",
        # what comes of it
        "Comparison",
        "Event",
        "Kind",
        "Ledger",
        "Reason",
        "Rule",
        "Trace",
        # rooms, entered at first use
        "artemis",
        "lessons",
        "openmq",
        "replay",
        "views",
        "widgets",
        # what went wrong
        "MqlabError",
    ]
    __all__ += spec.__all__

_ROOMS = {
    "artemis": "api.artemis",
    "lessons": "lessons",
    "openmq": "api.openmq",
    "replay": "replay",
    "views": "views",
    "widgets": "widgets",
}


def __getattr__(name: str) -> Any:
    """Enter a room at first use."""
    if name in _ROOMS:
        return importlib.import_module(f"mqlab.{_ROOMS[name]}")
    from mqlab.errors import no_attribute
    from mqlab.spec.jms_names import INSTEAD

    raise no_attribute("mqlab", name, __dir__(), INSTEAD)


def __dir__() -> list[str]:
    """Return what a notebook completes."""
    tools = {"annotations", "importlib", "typing", "Any", "api", "experiments", "files", "products"}
    return sorted({*globals(), "artemis", "openmq"} - tools)
