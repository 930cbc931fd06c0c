"""ipywidgets, only here: the workbench and its forms."""

from __future__ import annotations

from typing import Any

from mqlab.errors import MissingExtra

__all__ = ["ReplayPlayer", "TaskForm", "Workbench"]


def __getattr__(name: str) -> Any:
    """Fetch a widget at first use."""
    if name not in __all__:
        raise AttributeError(f"module 'mqlab.widgets' has no attribute {name!r}")
    try:
        from mqlab.widgets.replay import ReplayPlayer
        from mqlab.widgets.task import TaskForm
        from mqlab.widgets.workbench import Workbench
    except ImportError as error:
        if (error.name or "").startswith("mqlab"):
            raise
        raise MissingExtra.of(error.name or "ipywidgets", "lab") from None
    found = {"Workbench": Workbench, "ReplayPlayer": ReplayPlayer, "TaskForm": TaskForm}
    return found[name]
