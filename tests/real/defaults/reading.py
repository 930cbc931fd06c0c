"""Ask the products' classes and files of properties for the defaults of all options that have rows."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mqlab.spec.option import Option
from mqlab.spec.options import tables

HERE = Path(__file__).parent
TABLE = HERE / "table.tsv"
SOURCES = tomllib.loads((HERE / "sources.toml").read_text())
Property = tuple[str, str]  # its type and its value, as the product prints them
Answers = dict[tuple[str, str], Property]  # by class or file, and the letters of the name

POM = """<project><modelVersion>4.0.0</modelVersion><groupId>none</groupId><artifactId>none</artifactId>
<version>1</version><dependencies>{}</dependencies></project>"""
DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


def letters(name: str) -> str:
    """Return what `vote-retries`, `voteRetries` and `VoteRetries` have in common."""
    return re.sub("[^a-z0-9.]", "", name.lower())


def rows_of(product: str) -> dict[str, Mapping[str, Option]]:
    """Return the rows of a product's options, by element and name."""
    return {element: rows for file in SOURCES[product]["tables"] for element, rows in tables(file).items()}


def asked_of(product: str) -> dict[str, dict[str, dict[str, Property]]]:
    """Return for each row of a product, by element and name, its property in the editions that have one."""
    elements, renamed = SOURCES[product]["elements"], SOURCES[product].get("renamed", {})
    found: dict[str, dict[str, dict[str, Property]]] = {}
    for edition, artifacts in SOURCES[product]["editions"].items():
        places = list(dict.fromkeys(place for named in elements.values() for place in named))
        answers = dict(
            _of_files(artifacts[0], places) if product == "openmq" else _of_classes(artifacts, places)
        )
        for element, rows in rows_of(product).items():
            for row in rows.values():
                name = letters(renamed.get(f"{element}.{row.guide}", row.guide))
                if place := next(
                    (place for place in elements.get(element, ()) if (place, name) in answers), ""
                ):
                    found.setdefault(element, {}).setdefault(row.guide, {})[edition] = answers[place, name]
    return found


def _of_classes(artifacts: Iterable[str], classes: list[str]) -> Iterator[tuple[tuple[str, str], Property]]:
    with tempfile.TemporaryDirectory() as folder:
        needed = "".join(DEPENDENCY.format(*artifact.split(":")) for artifact in artifacts)
        (Path(folder) / "pom.xml").write_text(POM.format(needed))
        _run("mvn", "-q", "-B", "dependency:build-classpath", "-Dmdep.outputFile=path", folder=folder)
        path = (Path(folder) / "path").read_text()
        told = _run("java", "-cp", path, str(HERE / "Defaults.java"), *classes, folder=folder)
    for line in told.splitlines():
        place, name, kind, value = line.split("\t")
        yield (place, letters(name)), (kind, value)


def _of_files(artifact: str, files: list[str]) -> Iterator[tuple[tuple[str, str], Property]]:
    with tempfile.TemporaryDirectory() as folder:
        _run(
            "mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", "-DoutputDirectory=.", folder=folder
        )
        (archive,) = Path(folder).glob("*.zip")
        whole = zipfile.ZipFile(io.BytesIO(archive.read_bytes()))
    for file in files:
        outer, _, inner = file.partition("!")
        data = whole.read(outer)
        text = (zipfile.ZipFile(io.BytesIO(data)).read(inner) if inner else data).decode()
        for name, value in re.findall(r"^([A-Za-z][\w.]*)=(.*)$", text, re.MULTILINE):
            yield (file, letters(name.removeprefix("imq") if inner else name)), ("text", value.strip())


def _run(*command: str, folder: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command[0]} has failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


HEAD = ("product", "element", "option", "editions", "type", "default")


def write() -> None:
    """Ask all products, and write the table: a line for each default, with the editions that have it."""
    with TABLE.open("w", newline="") as file:
        lines = csv.writer(file, "excel-tab", lineterminator="\n")
        lines.writerow(HEAD)
        for product in SOURCES:
            for element, rows in asked_of(product).items():
                for option, properties in rows.items():
                    for one in dict.fromkeys(properties.values()):
                        having = " ".join(edition for edition, other in properties.items() if other == one)
                        lines.writerow((product, element, option, having, *one))


def read() -> dict[tuple[str, str, str], dict[str, Property]]:
    """Return the table: by product, element and option what each edition that has it says."""
    found: dict[tuple[str, str, str], dict[str, Property]] = {}
    with TABLE.open(newline="") as file:
        for line in csv.DictReader(file, dialect="excel-tab"):
            one = found.setdefault((line["product"], line["element"], line["option"]), {})
            one.update(dict.fromkeys(line["editions"].split(), (line["type"], line["default"])))
    return found
