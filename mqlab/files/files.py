"""Configuration files on a disk: which there are, whose they are, and writing a folder of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard, TypeVar

from mqlab.errors import BadFile, BadValue, shown
from mqlab.files import management, markup, parsing, properties
from mqlab.spec.origin import SourceFile

ENDINGS = (".xml", ".properties")
Content = TypeVar("Content", str, bytes)
MOST_FILES = 1000
ARTEMIS = ("configuration", "core")  # the root of an Artemis broker's file
# What the file beside it, bootstrap.xml, has: no broker of ActiveMQ, though its root is called so.
BOOTSTRAP = ("http://activemq.apache.org/schema", "http://activemq.org/schema")


def is_configuration(path: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether a path is that of a configuration file, of a folder, or the address of a running broker."""
    if management.is_address(path):
        return True
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        return False
    try:
        return Path(path).suffix in ENDINGS or Path(path).is_dir()
    except (OSError, ValueError):
        return False


def is_folder(path: object) -> bool:
    """Whether something written to a path goes into a folder: it is one, or ends in a slash."""
    return isinstance(path, (str, os.PathLike)) and (
        str(path).endswith(("/", os.sep)) or (bool(str(path)) and Path(path).is_dir())
    )


def gather(paths: Iterable[Path]) -> tuple[SourceFile, ...]:
    """Return the configuration files at *paths*, and in those that are folders; raises `BadFile`."""
    found: dict[str, SourceFile] = {}
    for path in paths:
        for file in _inside(path) if path.is_dir() else [SourceFile(str(path), *markup.load(path))]:
            found.setdefault(file.name, file)
    if not found:
        raise BadFile("no files given; use e.g. mq.load('activemq.xml')")
    return tuple(found.values())


def _inside(folder: Path) -> list[SourceFile]:
    """Return the files of brokers in a folder: beside them lie those of a web console, passwords and so on."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS)
    if len(paths) > MOST_FILES:
        raise BadFile(f"{folder}: more than {MOST_FILES} files; name those that you mean")
    all_ = [SourceFile(str(path), *markup.load(path)) for path in paths]
    markups = [file for file in all_ if file.name.endswith(".xml") and _has_broker(file)]
    found = markups or [file for file in all_ if not file.name.endswith(".xml")]
    if not found and (folder / "manifest.json").is_file() and (folder / "events").is_dir():
        raise BadFile(
            f"{folder}: this is a trace folder; mq.widgets.ReplayPlayer({str(folder)!r}) plays it, "
            "mq.replay.open reads it"
        )
    if not found:
        raise BadFile(f"{folder}: no broker configuration found in this folder; expected e.g. activemq.xml")
    return found


def _has_broker(file: SourceFile) -> bool:
    root = parsing.document_of(file).root
    if root.namespace in BOOTSTRAP:
        return False
    return root.name in ARTEMIS or any(element.name == "broker" for element in root.walk())


def values_of(given: Mapping[str, str] | str | os.PathLike[str]) -> dict[str, str]:
    """Return the values of placeholders: a mapping as it is, or what a property file says."""
    if isinstance(given, Mapping):
        return strings(given, "values")
    if not isinstance(given, (str, os.PathLike)):
        raise BadValue(f"values: {shown(given)}; expected a mapping or the path of a property file")
    return properties.mapping(markup.load(Path(given))[0], str(given))


def strings(given: Mapping[str, str], what: str) -> dict[str, str]:
    """Return a mapping of strings, as *what* an argument is called; raises `BadValue` for anything else."""
    if not isinstance(given, Mapping):
        raise BadValue(f"{what}: {shown(given)}; expected a mapping")
    for name, value in given.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise BadValue(f"{what}: {shown(name)}: {shown(value)}; expected strings for both")
    return dict(given)


def product_of(files: tuple[SourceFile, ...]) -> str:
    """Return the product whose files these are; raises `BadFile` for none, or for two."""
    kinds = {}
    for file in files:
        if not file.name.endswith(".xml"):
            kinds[file.name] = "openmq"
            continue
        root = parsing.document_of(file).root
        if root.namespace in BOOTSTRAP:
            told = "a bootstrap.xml of Artemis; give the broker.xml beside it"
            raise BadFile(f"{file.name}, line {root.line}: {told}")
        of_artemis = root.name in ARTEMIS or root.namespace.startswith("urn:activemq")
        kinds[file.name] = "artemis" if of_artemis else "activemq"
    found = dict.fromkeys(kinds.values())
    if len(found) > 1:
        told = ", ".join(f"{name} is of {kind}" for name, kind in list(kinds.items())[:4])
        raise BadFile(f"files of different products cannot be combined into one network: {told}")
    return next(iter(found))


def relative(texts: Mapping[str, Content]) -> dict[str, Content]:
    """Return contents by names that lead into a folder.

    A name that leads elsewhere, as that of a file that was read may, counts from the folder that all
    such have in common.
    """
    outside = [name for name in texts if Path(name).is_absolute() or ".." in Path(name).parts]
    if not outside:
        return dict(texts)
    whole = [os.path.abspath(name) for name in outside]
    common = os.path.commonpath([os.path.dirname(name) for name in whole])
    made: dict[str, Content] = {}
    for name, text in texts.items():
        own = os.path.relpath(os.path.abspath(name), common) if name in outside else name
        number, free = 1, Path(own)
        while free.as_posix() in made:
            number += 1
            free = Path(own).with_name(f"{number}-{Path(own).name}")
        made[free.as_posix()] = text
    return made


def write(contents: Mapping[str, bytes], folder: str | os.PathLike[str]) -> list[str]:
    """Write files by their names into a folder, which is made, and return their paths; raises `BadFile`."""
    places = []
    for name, content in contents.items():
        place = Path(folder) / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
            places.append(str(place))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise BadFile(f"{place}: cannot be written: {reason}; choose another location") from None
    return places
