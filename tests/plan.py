"""Which tests run, on which worker, and in which order.

All of them but for samples (``--all`` runs every case), or with ``-m quick`` a few of each file; in as many
processes as there are cores when whole folders are asked for. A file is never shared out, and the tests that
need one JupyterLab, one Spark, one installation by npm stay together; the longest begin first, so that no
worker is left alone with them in the end.
"""

from __future__ import annotations

import datetime
import os
import zlib
from collections import defaultdict

import pytest
from nbval.plugin import IPyNbCell

# Fixture -> the group of the tests that use it: each worker would make its own.
GROUPS = {"jupyter": "jupyter", "spark_ends": "spark", "from_npm": "npm", "types": "types",
          "home": "broker"}  # fmt: skip
# What begins first, the longest in front: groups, and folders whose files go each by itself.
FIRST = (
    "jupyter",
    "spark",
    "npm",
    "broker",
    "tests/browser/",
    "notebooks/",
    "types",
    "tests/runtime/",
)
# Not for who has changed a line: real processes, measurements, what is resolved or checked as a whole.
SLOW = {"browser", "spark", "real", "bench", "installs"}
ALL, DAY = (
    "MQLAB_ALL_TESTS",
    "MQLAB_SAMPLE_DATE",
)  # said to the workers, and to tests that sample by themselves
SOLUTIONS, SOLUTION_OF = (
    "solutions",
    3,
)  # the notebooks with answers, and the part of them that is a sample
FEW = 2  # cases of each test that are quick


def pytest_addoption(parser):
    group = parser.getgroup("mqlab")
    group.addoption(
        "--all", action="store_true", help="Every case, also of tests that are sampled."
    )
    group.addoption(
        "--sample-date", default=os.environ.get(DAY, str(datetime.date.today())),
        help="The day (YYYY-MM-DD) that chooses the samples; today, or MQLAB_SAMPLE_DATE.",
    )  # fmt: skip


def pytest_configure(config):
    if config.option.all:
        os.environ[ALL] = (
            "1"  # for the workers, and for tests that are counted when they are imported
        )


def pytest_report_header(config):
    if config.option.all:
        return "cases: all"
    return (
        f"cases: the samples of {config.option.sample_date} (--sample-date; --all runs every case)"
    )


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config):
    """Distribute folders: a file and the quick selection are done before a worker would have begun."""
    small = all("::" in one or os.path.isfile(one) for one in config.args)
    return 0 if small or config.option.markexpr == "quick" else len(os.sched_getaffinity(0))


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadGroupScheduling

    class ByGroupAndFile(LoadGroupScheduling):
        """Keeps together what is of one group, and otherwise what is of one file."""

        def _split_scope(self, nodeid):
            return super()._split_scope(nodeid).partition("::")[0]

    return ByGroupAndFile(config, log) if config.option.dist == "loadgroup" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Mark and choose before others do; order when they have."""
    tests, pools = defaultdict(list), defaultdict(list)
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
        if group == "broker":
            item.add_marker("real")
        of = item.parent.nodeid, getattr(item, "originalname", item.name)
        tests[of].append(item)
        if SOLUTIONS in item.path.parts:  # the cells of a lesson again, with its answers
            pools[SOLUTION_OF, SOLUTIONS].append(item)
        elif sample := item.get_closest_marker("sample"):
            pools[sample.args[0], sample.kwargs.get("pool", of)].append(item)
    for cases in tests.values():
        if _is_quick(cases[0]):
            for item in _some(cases, FEW):
                item.add_marker("quick")
    left = [item for (part, _), pool in pools.items() for item in _left_out(pool, part)]
    if left and not config.option.all and not any("::" in one for one in config.args):
        config.hook.pytest_deselected(items=left)
        gone = {*left}
        items[:] = [item for item in items if item not in gone]
    result = yield
    files = {}
    for item in items:
        files.setdefault((_group(item), item.path), len(files))
    items.sort(key=lambda item: (_rank(item), files[_group(item), item.path],
                                 getattr(item, "cell_num", 0)))  # fmt: skip
    return result


def _group(item):
    """Return the name of the group of which a test is; "" for its file's."""
    names = getattr(item, "fixturenames", ())
    if found := [group for fixture, group in GROUPS.items() if fixture in names]:
        return found[0]
    return "spark" if "spark" in item.keywords else ""


def _rank(item):
    place = _group(item) or item.path.relative_to(item.config.rootpath).as_posix()
    return next((no for no, one in enumerate(FIRST) if place.startswith(one)), len(FIRST))


def _is_quick(item):
    """Whether a test is of our own code: no process, no measurement, no machine that acts at random."""
    return (
        SLOW.isdisjoint(item.keywords)
        and not isinstance(item, IPyNbCell)
        and item.name != "runTest"
    )


def _left_out(pool, part):
    """Return what the sample of the day does not have: of a notebook all cells, or none."""
    names = {item: item.path.name if isinstance(item, IPyNbCell) else item.name for item in pool}
    chosen = today(sorted({*names.values()}), part)
    return [item for item in pool if names[item] not in chosen]


def today(names, part):
    """Return one name in *part*, chosen by the day; all of them with ``--all``."""
    if ALL in os.environ:
        return names
    day = os.environ.get(DAY, "")
    return sorted(names, key=lambda name: zlib.crc32(f"{day}{name}".encode()))[
        : -(-len(names) // part)
    ]


def _some(cases, count):
    """Return so many cases, the same ones whatever order they are in."""
    return sorted(cases, key=lambda item: zlib.crc32(item.name.encode()))[:count]
