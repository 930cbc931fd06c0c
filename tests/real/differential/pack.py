"""Keep shrunk recordings: ``python -m tests.real.differential.pack FAMILY FILE...`` packs them, too.

They lie in ``tests/recordings/found.tar.xz`` as ``FAMILY/found/NAME.json``, where a family is a folder of the
published ones (``openmq``, ``artemis``, ``activemq-failover``, ``activemq-combined``). The archive depends on
its contents alone.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path

from tests.conftest import HERE

ARCHIVE = HERE / "recordings" / "found.tar.xz"


def add(family: str, files: list[Path]) -> int:
    """Add recordings to the archive, instead of those of the same names; returns how many it has."""
    found: dict[str, bytes] = {}
    if ARCHIVE.exists():
        with tarfile.open(ARCHIVE) as tar:
            found = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
    for file in files:
        recording = json.loads(file.read_text())
        recording["scenario"]["name"] = file.stem
        found[f"{family}/found/{file.stem}.json"] = json.dumps(recording, indent=1).encode()
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as tar:
        for name, text in sorted(found.items()):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
    return len(found)


if __name__ == "__main__":
    print(add(sys.argv[1], [Path(text) for text in sys.argv[2:]]), "recordings")
