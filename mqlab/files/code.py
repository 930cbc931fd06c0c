"""Values as the Python code that makes them: what was written of each, and nothing that it has by default."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from textwrap import indent

from mqlab.spec.noun import required, written
from mqlab.spec.scenario import PACES, Scenario
from mqlab.spec.values import Destination

WIDTH = 92  # of a call on one line; a longer one has a line for each argument
_KINDS = {"queue": "Queue", "topic": "Topic"}
_IN_PLACE = ("other",)  # what is written without its name besides the first


class Code:
    """Writes values with the nouns of a *module*, by the name under which its reader has it."""

    def __init__(self, module: str) -> None:
        self.module = module

    def written(self, value: object) -> str:
        """Return a noun as the call that makes it, or a plain value."""
        if isinstance(value, str):
            return json.dumps(value, ensure_ascii=False)
        if isinstance(value, Mapping):
            rows = (f"{self.written(key)}: {self.written(it)}" for key, it in value.items())
            return f"{{{', '.join(rows)}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.written, value))}]"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.written, value))}{',' * (len(value) == 1)})"
        if isinstance(value, Destination) and value.kind in _KINDS:
            return f"{self.module}.{_KINDS[value.kind]}({self.written(value.name)})"
        return self.element(value)

    def element(self, value: object) -> str:
        """Return a part of a network or an action as the call that makes it, or what is no noun."""
        if not is_dataclass(value) or isinstance(value, type):
            return repr(value)
        parts: list[str] = []
        for name, given in written(value):
            in_place = (not parts and name in required(type(value))) or name in _IN_PLACE
            parts.append(("" if in_place else f"{name}=") + self.written(given))
        return f"{self.module}.{type(value).__name__}({', '.join(parts)})"

    def scenario(self, network: str, scenario: Scenario) -> str:
        """Return code that makes an equal scenario, under the name `scenario`; *network* makes its network."""
        actions = "".join(f"    {self.written(action)},\n" for action in scenario.actions)
        more = [f"about={self.written(dict(scenario.about))}"] if scenario.about else []
        more += [f"pace={self.written(scenario.pace)}"] if scenario.pace != PACES[0] else []
        made = in_lines("mq.Scenario", ["net", f"(\n{actions})" if actions else "()", *more])
        head = "import mqlab as mq\n" + (f"from mqlab import {self.module}\n" if self.module != "mq" else "")
        return f"{head}\nnet = {network}\nscenario = {made}\n"

    def named(self, options: Mapping[str, object]) -> list[str]:
        """Return options as arguments with their names."""
        return [f"{name}={self.written(value)}" for name, value in options.items()]


def call(name: str, arguments: Iterable[str]) -> str:
    """Return a call on one line, or on a line for each argument where that is too long."""
    arguments = list(arguments)
    line = f"{name}({', '.join(arguments)})"
    return line if len(line) <= WIDTH and "\n" not in line else in_lines(name, arguments)


def in_lines(name: str, arguments: Iterable[str]) -> str:
    """Return a call with a line for each argument."""
    lines = "".join(f"{argument},\n" for argument in arguments)
    return f"{name}(\n{indent(lines, '    ')})" if lines else f"{name}()"
