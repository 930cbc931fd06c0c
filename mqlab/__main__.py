"""``python -m mqlab``: the same as ``mqlab``."""

from mqlab.cli import main

main()
