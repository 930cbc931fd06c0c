"""Where a real broker's product is installed, and the Java that runs it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import CannotRun, UnknownName
from mqlab.spec import Scenario
from mqlab.spec.option import edition_of

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

PACKAGE = Path("/usr/share/activemq")  # of Debian and Ubuntu


@dataclass(frozen=True, slots=True)
class Product:
    """A product that can be installed: what it is called, the variable that says where, and what proves it.

    `artifact` is what Maven calls its distribution, with a place for the version.
    """

    name: str
    title: str
    variable: str
    starter: str
    artifact: str
    package: str = ""


PRODUCTS = {
    product.name: product
    for product in (
        Product(
            "activemq",
            "ActiveMQ",
            "ACTIVEMQ_HOME",
            "bin/activemq.jar",
            "org.apache.activemq:apache-activemq:{}:tar.gz:bin",
            "activemq",
        ),
        Product(
            "artemis",
            "ActiveMQ Artemis",
            "ARTEMIS_HOME",
            "bin/artemis",
            "org.apache.activemq:apache-artemis:{}:tar.gz:bin",
        ),
        Product(
            "openmq",
            "Open Message Queue",
            "IMQ_HOME",
            "bin/imqbrokerd",
            "org.glassfish.mq:mq-distribution:{}:zip",
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Home:
    """An installed product: its folder, its version (such as 5.17.2), and the program `java`."""

    product: Product
    folder: Path
    version: str
    java: str

    @property
    def starter(self) -> Path:
        """The program that starts a broker."""
        return self.folder / self.product.starter

    def __str__(self) -> str:
        return f"{self.product.title} {self.version}"

    def edition(self, scenario: Scenario) -> Scenario:
        """Return a scenario by the rules that the lab has for this version; raises `CannotRun`."""
        major, minor = (int(part) for part in self.version.split(".")[:2])
        if self.product.name == "activemq":
            try:
                return scenario.under(edition_of(self.version))
            except UnknownName:
                told = f"{self.folder} is {self}, which mqlab does not model"
                raise CannotRun(told) from None
        if self.product.name == "openmq":
            return scenario.under("6.5" if major >= 6 else "5.1")
        known = ("2.28", "2.5", "2.4")
        there = [text for text in known if (major, minor) >= tuple(map(int, text.split(".")))]
        return scenario.under((there or known[-1:])[0])


def find(product: str = "activemq") -> Home:
    """Return an installed product: where its variable says, else that of the system's package.

    The variables are ``ACTIVEMQ_HOME``, ``ARTEMIS_HOME`` and ``IMQ_HOME``. Raises `CannotRun` that
    tells how to get one.
    """
    made = PRODUCTS[product]
    java = java_of(made)
    given = os.environ.get(made.variable)
    for folder in _folders(made, given):
        if (folder / made.starter).is_file():
            return Home(made, folder, version(made, folder), java)
    if given:
        raise CannotRun(
            f"{made.variable} is {given!r}, where no {made.starter} is; set it to the folder of a "
            f"binary distribution of {made.title}"
        )
    package = f"install the system's package {made.package!r} (Debian, Ubuntu), or " if made.package else ""
    raise CannotRun(
        f"no {made.title} is installed here; {package}set {made.variable} to the folder of a binary "
        f"distribution of {made.title}"
    )


def _folders(product: Product, given: str | None) -> Iterator[Path]:
    if given:
        yield Path(given)
        return
    if product.package:
        yield PACKAGE
    program = shutil.which(Path(product.starter).stem)  # of a distribution in the PATH: <home>/bin/activemq
    if program:
        yield Path(program).resolve().parent.parent


def java_of(product: Product) -> str:
    """Return the program `java`; raises `CannotRun` without one."""
    home = os.environ.get("JAVA_HOME")
    found = Path(home, "bin", "java") if home else None
    program = str(found) if found and found.is_file() else shutil.which("java")
    if program is None:
        raise CannotRun(f"{product.title} needs Java; install one, or set JAVA_HOME")
    return program


def version(product: Product, folder: Path) -> str:
    """Return the version of an installed product, as it says itself; raises `CannotRun`."""
    if product.name == "openmq":
        return _told_by(folder / product.starter)
    pattern = "activemq-broker*.jar" if product.name == "activemq" else "artemis-server-[0-9]*.jar"
    for archive in sorted((folder / "lib").glob(pattern)):
        found = re.search(r"-(\d+\.\d+\.\d+)", archive.name)
        if product.name == "artemis" and found:
            return found[1]
        try:
            with zipfile.ZipFile(archive) as jar:
                text = jar.read("META-INF/MANIFEST.MF").decode("utf-8", "replace")
        except (OSError, KeyError, zipfile.BadZipFile):
            continue
        found = re.search(r"^(?:Implementation|Bundle)-Version: (\d+\.\d+\.\d+)", text, re.MULTILINE)
        if found:
            return found[1]
    raise CannotRun(f"{folder}: no archive {pattern} in its lib contains a version")


def _told_by(program: Path) -> str:
    """Return the version that a broker's program prints for ``-version``."""
    try:
        done = subprocess.run([str(program), "-version"], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"{program} -version: {error}") from None
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    found = re.search(r"Version:?\s*(\d+(?:\.\d+)+)", text)
    if found is None:
        raise CannotRun(f"{program} -version did not print a version:\n{text[-300:]}")
    return found[1]
