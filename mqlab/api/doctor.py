"""What is installed, what is missing, how to get it."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata

# part -> (package, extra, what it is for)
PARTS = {
    "core": (("lark", ""),),
    "JupyterLab": (("jupyterlab", "lab"), ("ipywidgets", "lab"), ("anywidget", "lab")),
    "views": (("bokeh", "lab"),),
    "pages": (("jinja2", "lab"), ("mistune", "lab"), ("pygments", "lab")),
    "trace files": (("pyarrow", "lab"),),
    "Spark": (("pyspark", "spark"), ("pandas", "spark"), ("numpy", "spark")),
    "real broker": (("stomp.py", "real"),),
    "tests": (
        ("pytest", "test"),
        ("nbval", "test"),
        ("hypothesis", "test"),
        ("playwright", "test"),
        ("simpy", "test"),
    ),
}
PROGRAMS = {
    "browser tests": ("chromium", "install the system's package 'chromium'"),
    "interactive lesson pages": ("npm", "install the system's packages 'nodejs' and 'npm'"),
}


def examine() -> list[dict[str, str]]:
    """Return one row for each part: `part`, `needs`, `state` (ok or missing) and `how`."""
    rows = [
        _row(
            "Python",
            "3.11 or later",
            sys.version_info >= (3, 11),
            sys.version.split()[0],
            "install a newer Python",
        )
    ]
    for part, packages in PARTS.items():
        for package, extra in packages:
            version = _version(package)
            how = f"pip install 'mqlab[{extra}]'" if extra else "pip install mqlab"
            rows.append(_row(part, package, bool(version), version, how))
    rows.append(_java())
    for part, (program, how) in PROGRAMS.items():
        rows.append(_row(part, program, bool(shutil.which(program)), "found", how))
    return [*rows, *_brokers()]


def _row(part: str, needs: str, there: bool, version: str, how: str) -> dict[str, str]:
    state = f"ok ({version})" if there else "missing"
    return {"part": part, "needs": needs, "state": state, "how": "" if there else how}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _java() -> dict[str, str]:
    from mqlab.errors import MqlabError
    from mqlab.replay import java

    try:
        found = java.find()
    except MqlabError:
        return _row("Spark", "Java 17 or later", False, "", "pip install 'mqlab[spark]'")
    return _row("Spark", "Java 17 or later", True, f"{found.version}, {found.origin}", "")


def _brokers() -> list[dict[str, str]]:
    from mqlab.errors import CannotRun
    from mqlab.real import home

    rows = []
    for name, product in home.PRODUCTS.items():
        try:
            version = home.find(name).version
        except CannotRun:
            version = ""
        package = f"the system's package {product.package!r}, or " if product.package else ""
        how = f"{package}mqlab real --install {name}:VERSION, and {product.variable}"
        rows.append(_row("real broker", product.title, bool(version), version, how))
    return rows
