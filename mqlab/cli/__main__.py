"""``python -m mqlab.cli``: the same as ``mqlab``."""

from mqlab.cli import main

main()
