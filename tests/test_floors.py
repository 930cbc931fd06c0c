"""The house: imports point down, and the core loads nothing heavy."""

import ast
import subprocess
import sys
from functools import cache

import pytest

from tests.conftest import ROOT

# From the ground up: a room may use those before it.
FLOORS = [
    "errors", "spec", "files", "trace", "engine", "explain", "views", "real", "checks", "products",
    "reference", "experiments", "conform", "replay", "workbench", "api", "widgets", "lessons", "site",
    "__init__", "cli", "__main__"]  # fmt: skip
PRODUCTS = ["activemq", "openmq", "artemis"]
# What only reads traces knows no runtime, and who judges a configuration plays nothing.
NEVER = {"views": {"engine", "products"}, "explain": {"engine", "products"}}
HEAVY = [
    "bokeh",
    "ipywidgets",
    "anywidget",
    "pyarrow",
    "pandas",
    "networkx",
    "pyspark",
    "numpy",
    "ssl",
    "subprocess",
]


def modules():
    return sorted((ROOT / "mqlab").rglob("*.py"))


@cache
def imports(path):
    """Return the imports of *path*, wherever in the file, each with whether it is for type hints alone."""
    return tuple(statements(ast.parse(path.read_text()), False))


def statements(tree, hint):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, hint
        elif not isinstance(node, ast.expr):
            checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            yield from statements(node, hint or checked)


def imported(path):
    """Yield the mqlab modules that *path* imports, wherever in the file, type hints included."""
    for node, _ in imports(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mqlab":
            names = [a.name for a in node.names] if node.module == "mqlab" else [None]
            yield from (f"{node.module}.{n}" if n else node.module for n in names)
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.split(".")[0] == "mqlab")


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    parts = path.relative_to(ROOT / "mqlab").with_suffix("").parts
    room = parts[0]
    for name in imported(path):
        other = name.split(".")[1] if "." in name else "__init__"
        if other == room:
            continue
        assert FLOORS.index(other) < FLOORS.index(room), f"{room} imports {name}"
        assert other not in NEVER.get(room, ()), f"{room} imports {name}"


def test_no_cycles_at_run_time():
    """Hints may name any class of the same folder: what a type checker reads makes no cycle."""
    names = {module_name(path): path for path in modules()}
    uses = {name: {used for used in imported_modules(path, names) if used != name}
            for name, path in names.items()}  # fmt: skip
    reached = {name: reachable(name, uses) for name in uses}
    cycles = [[name, *(other for other in reached[name] if name in reached[other])]
              for name in uses if name in reached[name]]  # fmt: skip
    assert cycles == []


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path, names):
    """Yield what *path* imports at run time, as names of modules: of a package its module, if named."""
    for node, hint in imports(path):
        if hint:
            continue
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                longer = f"{node.module}.{alias.name}"
                yield from {longer if longer in names else node.module} & names.keys()
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & names.keys()


def reachable(start, uses):
    found, front = set(), [start]
    while front:
        front = [name for name in set().union(*(uses[name] for name in front)) if name not in found]
        found.update(front)
    return found


def test_every_room_has_a_floor_and_nothing_is_loose_in_the_hall():
    hall = [p for p in (ROOT / "mqlab").iterdir() if not p.name.startswith(("__pycache__", "."))]
    assert {p.stem for p in hall if p.suffix == ".py"} == {"__init__", "__main__", "errors"}
    assert {p.name for p in hall if any(p.rglob("*.py"))} == set(FLOORS) - {"__init__", "__main__", "errors"}


def test_importing_mqlab_and_running_a_figure_loads_nothing_heavy():
    code = "import mqlab as mq, sys; mq.run('fuse:2.20'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                            check=True, cwd=ROOT).stdout.split()  # fmt: skip
    assert "mqlab.products.activemq.lab" in loaded
    assert not set(HEAVY) & set(loaded)


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_of_a_product_imports_another_product(path):
    rest = path.relative_to(ROOT / "mqlab").with_suffix("").parts
    mine = {product for product in PRODUCTS if product in rest}
    used = {product for name in imported(path) for product in PRODUCTS
            if product in name.split(".")[1:]}  # fmt: skip
    assert not mine or used <= mine


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_and_functions_stay_short(path):
    text = path.read_text()
    assert text.count("\n") <= 350
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno - node.lineno < 60, node.name
