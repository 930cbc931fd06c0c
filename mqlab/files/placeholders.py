"""Placeholders: ``${name}`` and ``${name:default}`` in the values of a configuration file.

Sources: Spring's PropertyPlaceholderConfigurer, by which ActiveMQ's own files are read; Artemis' `XMLUtil`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mqlab.errors import BadFile

_PLACE = re.compile(r"\$\{([^${}]*)\}")
MOST_STEPS, MOST_CHARACTERS = 100, 100_000
OF_THE_START = ("activemq.", "artemis.")  # home, base, conf and data are set by the script that starts a broker


def resolve(text: str, values: Mapping[str, str], where: str) -> str:
    """Return a text with its placeholders replaced; what has no value stays.

    Raises `BadFile` for values that lead to themselves.

    >>> resolve("tcp://${host:0.0.0.0}:${port}", {"port": "${base}16", "base": "616"}, "a.xml")
    'tcp://0.0.0.0:61616'
    """
    if "${" not in text:
        return text
    kept: list[str] = []

    def one(found: re.Match[str]) -> str:
        name, colon, default = found[1].partition(":")
        if name in values:
            return values[name]
        if colon:
            return default
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    for _ in range(MOST_STEPS):
        before, text = text, _PLACE.sub(one, text)
        if text == before:
            return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found[1])], text)
        if len(text) > MOST_CHARACTERS:
            break
    raise BadFile(f"{where}: circular placeholders; use plain values")


def missing(text: str) -> list[str]:
    """Return the names in a resolved text that have no value and that no start script sets.

    >>> missing("${activemq.base}/${where}")
    ['where']
    """
    return [name for name in _PLACE.findall(text) if not name.startswith(OF_THE_START)]
