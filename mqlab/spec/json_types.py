"""What `json.load` gives and `json.dump` takes: objects by their keys.

Whoever reads a lab file, a recording or an outcome has had its shape checked first (`spec/shape.py`), with
errors that name the place. So a value is taken out by its key as what the shape says that it is; a static
type could only say so a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

JsonObject = Mapping[str, Any]  # one that is only read
JsonDict = dict[str, Any]  # one that is being made, or changed
JsonValue = Any  # any of what stands in one: an object, a list, a text, a number, a truth or null
