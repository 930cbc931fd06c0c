"""ipywidgets: the workbench and the player of replays; the form of a lesson's task is the lessons' own."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mqlab.errors import MissingExtra, no_attribute

__all__ = ["ReplayPlayer", "Workbench"]
_HOMES = {"ReplayPlayer": "replay", "Workbench": "workbench"}


def __getattr__(name: str) -> Any:
    """Fetch a widget at first use."""
    if name not in __all__:
        raise no_attribute("mqlab.widgets", name, __all__)
    try:
        return getattr(import_module(f"mqlab.widgets.{_HOMES[name]}"), name)
    except ImportError as error:
        if (error.name or "").startswith("mqlab"):
            raise
        raise MissingExtra.of(error.name or "ipywidgets", "lab") from None
