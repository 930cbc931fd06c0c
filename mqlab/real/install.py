"""Bring a product: the distribution of one version, which Maven knows where to get."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from mqlab.errors import BadValue, CannotRun, UnknownName
from mqlab.real.home import PRODUCTS, Home, java_of, version

PATIENCE = 600  # s that Maven may take


def install(asked: str, into: Path) -> Home:
    """Bring a product of one version, such as ``artemis:2.31.2``, into a folder; what is there stays.

    Raises `UnknownName` for a product, `BadValue` for a version, `CannotRun` where Maven is missing, or has
    no such version. What was begun leaves nothing.
    """
    name, _, wanted = asked.partition(":")
    if name not in PRODUCTS:
        raise UnknownName.of("product", name, PRODUCTS)
    if not re.fullmatch(r"\d+(\.\d+)+", wanted):
        raise BadValue(f"{asked!r} names no version; expected PRODUCT:VERSION, such as artemis:2.31.2")
    product, folder = PRODUCTS[name], into.resolve() / f"{name}-{wanted}"
    java = java_of(product)
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".") as beside:
            _unpack(_archive(product.artifact.format(wanted), Path(beside)))
            (starter,) = Path(beside).glob(f"*/{product.starter}")
            for program in starter.parent.iterdir():  # a ZIP file has no modes
                program.chmod(program.stat().st_mode | 0o111)
            starter.parent.parent.rename(folder)
    return Home(product, folder, version(product, folder), java)


def _archive(artifact: str, folder: Path) -> Path:
    """Return the file of an artifact, which Maven has copied to a folder."""
    if shutil.which("mvn") is None:
        raise CannotRun("Maven is missing, which brings the products; install the system's package 'maven'")
    asked = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    try:
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise CannotRun(f"Maven did not bring {artifact} in {PATIENCE} s") from None
    if done.returncode:
        plain = re.sub(r"\x1b\[\d*m|\[ERROR\]", "", done.stdout + done.stderr)
        said = [line.strip() for line in plain.splitlines() if line.strip()]
        raise CannotRun(f"Maven has not brought {artifact}: {(said or ['it does not say why'])[0]}")
    (archive,) = folder.iterdir()
    return archive


def _unpack(archive: Path) -> None:
    if archive.suffix == ".zip":
        shutil.unpack_archive(archive, archive.parent)
        return
    with tarfile.open(archive) as tar:  # the first versions of Python 3.11 have no filters
        tar.extraction_filter = getattr(tarfile, "tar_filter", lambda member, _: member)
        tar.extractall(archive.parent)
