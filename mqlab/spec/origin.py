"""Where a network was read from: its configuration files as they are, and the values of their placeholders."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A configuration file: its name as it was given, its text, and the encoding it came in."""

    name: str
    text: str
    encoding: str = "utf-8"


@dataclass(frozen=True, slots=True)
class Origin:
    """The files that a network was read from, what stood for ``${name}`` in them, and who runs on a host.

    It lies beside the network: two networks that are alike are equal wherever they come from.
    """

    files: tuple[SourceFile, ...]
    values: tuple[tuple[str, str], ...] = ()
    hosts: tuple[tuple[str, str], ...] = ()
