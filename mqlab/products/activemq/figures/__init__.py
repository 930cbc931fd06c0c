"""What the guides of ActiveMQ say of their figures, which lie here as JSON files.

Each is a scenario with a question, the guide's numbers, the answer, and where the real broker differs.
`expected` is what the real broker ends with: roles, messages received, where clients are connected.
"""

from __future__ import annotations

import json
from importlib import resources

from mqlab.errors import UnknownName


def recording_of(id: str) -> str:
    """Return the name of the recording that is nearest to a figure's situation.

    Names of clients and numbers of messages are its own. Raises `UnknownName` where no such recording exists.
    """
    text = resources.files(__name__).joinpath("recorded.json").read_text(encoding="utf-8")
    known: dict[str, str] = json.loads(text)
    found = known.get(id) or known.get(f"{id}a")
    if found is None:
        raise UnknownName.of("recording of figure", id, known)
    return found
