"""The command line. No logic: every command calls the public verbs and prints.

Exit status: 0 all well, 1 something disagrees or could not be run, 2 bad input. With `--json` there is nothing
but JSON on standard output, one object on a line.
"""

from __future__ import annotations

import re
import sys
import warnings

from mqlab.cli import (
    configurations,
    experiments,
    lessons,
    pages,
    real,
    reference,
    replays,
    runs,
    setup,
)
from mqlab.cli.app import app
from mqlab.errors import MqlabError

__all__ = [
    "app",
    "configurations",
    "experiments",
    "lessons",
    "main",
    "pages",
    "reference",
    "real",
    "replays",
    "runs",
    "setup",
]


_CALL = re.compile(r"\bmq\.([A-Z]\w*)\(([^()]*)\)")


def _as_option(call: re.Match[str]) -> str:
    """Return the call of an action in Python as the option that adds it; any other call as it is."""
    from mqlab.spec import codec

    words = " ".join(word.strip().strip("'") for word in call[2].split(","))
    return f'--do "{call[1]} {words}"' if call[1] in codec.nouns("activemq") else call[0]


def main() -> None:
    """Run the command line; bad input ends in one message and status 2."""
    warnings.showwarning = lambda told, *_: print(f"mqlab: {told}", file=sys.stderr)
    try:
        app(prog_name="mqlab")
    except MqlabError as error:
        text = f"mqlab: {_CALL.sub(_as_option, str(error))}".encode(
            sys.stderr.encoding or "utf-8", "backslashreplace"
        )
        print(text.decode(sys.stderr.encoding or "utf-8"), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stderr.close()
        sys.exit(1)
