"""The `broker.xml` files of a network, each as what stands in it."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.errors import BadFile
from mqlab.files import parsing
from mqlab.products.artemis.files.core import Core, found_core
from mqlab.spec.origin import SourceFile


def sources(files: Iterable[SourceFile]) -> dict[str, Core]:
    """Return the brokers of files, by name; raises `BadFile` for two of one name."""
    found: dict[str, Core] = {}
    for file in files:
        core = found_core(parsing.document_of(file))
        if core.name in found:
            raise BadFile(
                f"{file.name}, line {core.element.line}: {found[core.name].document.where} has a broker "
                f"called {core.name!r} too; give each its own <name>"
            )
        found[core.name] = core
    return found
