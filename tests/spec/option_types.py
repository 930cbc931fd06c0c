"""Writes the options' types down, from their rows, for editors and type checkers.

Run it when a row changes: ``python -m tests.spec.option_types``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from mqlab.spec import openmq_options, rows
from mqlab.spec.artemis import options as artemis
from mqlab.spec.option import Option
from tests.conftest import ROOT

SPEC = ROOT / "mqlab" / "spec"
TYPES = {"bool": "bool", "int": "int", "float": "float", "str": "str", "dict": "Mapping[str, Any]",
         "tuple": "Sequence[str | Destination]"}  # fmt: skip
HEAD = '''"""Options as types: a class for each element, for editors and type checkers. Made from the rows.

A test holds both together; `python -m tests.spec.option_types` writes this file anew.
"""

from __future__ import annotations

{imports}
'''


def classes(element: str, options: Iterable[Option]) -> str:
    lines = [
        f"\n\nclass {element}(TypedDict, total=False):",
        f'    """Options of {WORDS[element]}."""\n',
    ]
    lines += [f"    {row.name}: {_type(row)} | None" for row in options]
    return "\n".join(lines)


def _type(row: Option) -> str:
    if row.choices:
        return f"Literal[{', '.join(map(json.dumps, row.choices))}]"
    return TYPES[row.type.__name__]


WORDS = {
    "NetworkConnectorOptions": "a network connector", "TransportConnectorOptions": "a transport connector",
    "BrokerOptions": "a broker", "NetworkOptions": "all cluster connections and addresses",
}  # fmt: skip


def _file(*elements: str) -> str:
    body = "".join(elements)
    uses = [name for name in ("Mapping", "Sequence") if f"{name}[" in body]
    typing = [name for name in ("Any", "Literal", "TypedDict") if name in body]
    imports = [f"from collections.abc import {', '.join(uses)}"] if uses else []
    imports.append(f"from typing import {', '.join(typing)}")
    if "Destination" in body:
        imports += ["", "from mqlab.spec.values import Destination"]
    return HEAD.format(imports="\n".join(imports)).rstrip() + body + "\n"


def files() -> dict[Path, str]:
    """Return path -> text of each file."""
    sections = artemis.OPTIONS
    own = [*artemis.ELEMENTS.values(), *sections["broker"].values(),
           *sections["cluster-connection"].values(), *sections["core"].values()]  # fmt: skip
    unique = {row.name: row for row in own}.values()
    network = [*sections["cluster-connection"].values(), *sections["address-setting"].values()]
    return {
        SPEC / "option_types.py": _file(
            classes("NetworkConnectorOptions", rows.CONNECTOR),
            classes("TransportConnectorOptions", rows.TRANSPORT),
            classes("BrokerOptions", rows.BROKER),
        ),
        SPEC / "openmq_option_types.py": _file(classes("BrokerOptions", openmq_options.BROKER)),
        SPEC / "artemis" / "option_types.py": _file(
            classes("BrokerOptions", unique), classes("NetworkOptions", network)
        ),
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
