"""The `broker.xml` files of a network, each as what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from mqlab.errors import BadFile
from mqlab.files import parsing
from mqlab.files.apart import told_apart
from mqlab.products.artemis.files.core import Core, found_core
from mqlab.spec.origin import Origin, SourceFile


def sources(files: Iterable[SourceFile], values: Mapping[str, str] | None = None) -> dict[str, Core]:
    """Return the brokers of files, by the name that each has in the lab.

    That is its own, or if others have the same one that of its folder.
    """
    cores = [found_core(parsing.document_of(file), values or {}) for file in files]
    given = [str(core.notes.get("name") or core.name) for core in cores]
    found: dict[str, Core] = {}
    for core, name in zip(cores, told_apart([core.document.where for core in cores], given), strict=True):
        core.name = name
        found[name] = core
    return found


@lru_cache(maxsize=16)
def sources_of(origin: Origin) -> dict[str, Core]:
    """Return what the files of a network say, which is asked again to judge it and to write it."""
    found = sources(origin.files, dict(origin.values))
    for host, name in origin.hosts:
        if name not in found:
            known = ", ".join(found)
            raise BadFile(f"hosts: {host} is mapped to {name!r}, but no file contains that broker: {known}")
    return found
