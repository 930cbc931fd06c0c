"""The command line. No logic: every command calls the public verbs and prints.

Exit status: 0 all well, 1 something disagrees or could not be run, 2 bad input. With `--json` there is nothing
but JSON on standard output, one object on a line.
"""

from __future__ import annotations

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
from mqlab.errors import MqlabError, in_options

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


def main() -> None:
    """Run the command line; bad input ends in one message and status 2."""
    warnings.showwarning = lambda told, *_: print(f"mqlab: {told}", file=sys.stderr)
    try:
        app(prog_name="mqlab")
    except MqlabError as error:
        told, encoding = f"mqlab: {in_options(str(error), error.calls)}", sys.stderr.encoding or "utf-8"
        print(told.encode(encoding, "backslashreplace").decode(encoding), file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stderr.close()
        sys.exit(1)
