"""What the verbs take: a figure, its id, a lab file, a network with actions, a scenario, a trace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mqlab import products
from mqlab.errors import BadFile, BadValue, MqlabError, shown
from mqlab.spec import Action, Network, Scenario
from mqlab.trace.trace import Trace

FILES = (".json", ".parquet")  # what a text is a path by


def scenario_of(what: Any, *actions: Action) -> Any:
    """Return the scenario that *what* is, or *actions* on a network; raises `BadValue` for anything else."""
    if isinstance(what, Network):
        return Scenario.of(what, *actions)
    scenario = _scenario(what)
    if not actions:
        return scenario
    if isinstance(scenario, Scenario):
        raise BadValue("a scenario has its own actions; pass a network to add others")
    return scenario.with_actions(*actions).started()


def _scenario(what: Any) -> Any:
    if products.is_scenario(what):
        return what
    if products.is_scenario(getattr(what, "scenario", None)):
        return what.scenario  # of a figure
    if is_file(what):
        return _scenario(read(what))
    if isinstance(what, str):
        return products.figure(what).scenario
    body = what.header.get("scenario") if isinstance(what, Trace) else what
    if isinstance(body, Mapping):
        return products.product_of(body).read(body, "lab file")
    if isinstance(what, Trace):
        raise BadValue("this trace does not hold its scenario; take the lab file it was made from")
    raise BadValue(
        f"{shown(what)} cannot be run; write a network, a figure, its id, a lab file or a trace"
    )


def is_file(what: Any) -> bool:
    """Whether *what* names a file: a path, or a text that ends like one."""
    return isinstance(what, os.PathLike) or (isinstance(what, str) and what.endswith(FILES))


def read(path: str | os.PathLike[str]) -> Any:
    """Return the scenario of a lab file, or the trace of a Parquet file; raises `BadFile`."""
    if not isinstance(path, (str, os.PathLike)):
        raise BadFile(f"{shown(path)} is no path; write for example 'my.json'")
    file = Path(path)
    if file.suffix != ".parquet":
        return products.load(file)
    from mqlab.trace import parquet

    return parquet.load(file)


def kept(what: Any, *actions: Action) -> bool:
    """Whether *what* is a run already, to which nothing can be added; raises `BadValue` for actions."""
    if isinstance(what, Trace) and actions:
        raise BadValue("a trace is over; pass its network to run other actions")
    return isinstance(what, Trace)


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path to write a file to; raises `BadFile` if nothing can be written there."""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise BadFile(f"{shown(path)} is no path; write for example 'my.json'")
    file = Path(path)
    if file.is_dir():
        raise BadFile(f"{path} is a folder; write the name of a file, such as {file / 'my.json'}")
    if not file.parent.is_dir():
        raise BadFile(f"{path}: there is no folder {file.parent}; make it first")
    try:
        yield file
    except (OSError, ValueError) as error:
        if isinstance(error, MqlabError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise BadFile(f"{path}: cannot be written: {reason}; take another place") from None
