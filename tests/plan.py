"""Which tests run, on which worker, and in which order.

All of them but for samples (``--all`` runs every case), or with ``-m quick`` a few of each file; in as many
processes as there are cores when whole folders are asked for. A file is never shared out, and the tests that
need one JupyterLab, one Spark, one installation by npm stay together; the longest begin first, so that no
worker is left alone with them in the end.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

import mqlab as mq
from mqlab.errors import BadFile

# What jsonschema holds IRIs against, which no notebook has: to read that grammar takes a process a second.
sys.modules.setdefault("rfc3987_syntax", None)
# Fixture -> the group of the tests that use it: each worker would make its own.
GROUPS = {"jupyter": "jupyter", "spark_ends": "spark", "from_npm": "npm", "types": "types",
          "home": "broker", "console": "broker", "artemis_console": "broker",
          "openmq_home": "broker", "maven": "broker"}  # fmt: skip
# What begins first, the longest in front: groups, and folders whose files go each by itself.
FIRST = ("jupyter", "spark", "npm", "broker", "tests/browser/", "notebooks/", "types",
         "tests/products/")  # fmt: skip
# Never quick: real processes, measurements, what is random or long; and what is installed, typed or resolved.
SLOW = {"browser", "spark", "real", "bench", "installs", "hypothesis", "slow"}
LONG = ("README.md", "mqlab/conform/")
NEVER = ("notebooks", "tests/benchmarks", "tests/browser", "tests/pyodide")
FEW, COMMANDS = 2, 8  # quick cases of each test, and of all that call the command line
# Notebooks, all cells or none: one in so many is a sample, of lessons and of those with their answers.
LESSONS, SOLUTIONS = (3, "notebooks"), (7, "solutions")
# Told by the environment: to the workers, and to tests that sample by themselves when they are imported.
ALL, DAY = "MQLAB_ALL_TESTS", "MQLAB_SAMPLE_DATE"
GROUPED = "MQLAB_TEST_GROUPS"  # the file that says which test is of which group


def pytest_addoption(parser):
    group = parser.getgroup("mqlab")
    group.addoption(
        "--all", action="store_true", default=ALL in os.environ,
        help="Every case, also of tests that are sampled, and ten times the random examples.",
    )  # fmt: skip
    group.addoption(
        "--sample-date", default=os.environ.get(DAY, str(datetime.date.today())),
        help="The day (YYYY-MM-DD) that chooses the samples; today, or MQLAB_SAMPLE_DATE.",
    )  # fmt: skip


def pytest_load_initial_conftests(early_config):
    """Say so before a file reads it: conftest is read before anything is configured."""
    if early_config.known_args_namespace.all:
        os.environ[ALL] = "1"


def pytest_configure(config):
    os.environ[DAY] = config.option.sample_date
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="pytest-groups-")
        config.add_cleanup(folder.cleanup)
        os.environ[GROUPED] = f"{folder.name}/groups.json"
        for asked in config.args:  # workers of pytest-xdist would say nothing
            if not (config.invocation_params.dir / asked.partition("::")[0]).exists():
                raise pytest.UsageError(f"file or directory not found: {asked}")
        try:
            mq.figures()
        except BadFile as error:  # told once, where 68 files of tests would each fail to be read
            raise pytest.UsageError(str(error)) from None


def pytest_report_header(config):
    if config.option.all:
        return "cases: all"
    return f"cases: the samples of {config.option.sample_date} (--all runs every case)"


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_auto_num_workers(config):
    """Distribute folders: a file is done before a worker would have begun."""
    small = all("::" in one or os.path.isfile(one) for one in config.args)
    return 0 if small else len(os.sched_getaffinity(0))


@pytest.hookimpl(optionalhook=True, tryfirst=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadFileScheduling

    class ByGroupAndFile(LoadFileScheduling):
        """Keeps together what is of one group, and otherwise what is of one file."""

        def schedule(self):
            self.groups = json.loads(Path(os.environ[GROUPED]).read_text())
            super().schedule()

        def _split_scope(self, nodeid):
            return self.groups.get(nodeid) or super()._split_scope(nodeid)

    return ByGroupAndFile(config, log) if config.option.dist == "loadfile" else None


def pytest_ignore_collect(collection_path, config):
    """Read nothing of which none is quick: to import what drives a browser takes seconds."""
    never = collection_path in [config.rootpath / place for place in NEVER]
    return True if never and config.option.markexpr in ("quick", "complete") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Mark and choose before others do; order when they have."""
    tests, pools = defaultdict(list), defaultdict(list)
    for item in items:
        if _group(item) == "broker":
            item.add_marker("real")
        of = item.parent.nodeid, getattr(item, "originalname", item.name)
        tests[of].append(item)
        if hasattr(item, "cell_num"):
            pools[SOLUTIONS if SOLUTIONS[1] in item.path.parts else LESSONS].append(item)
        elif sample := item.get_closest_marker("sample"):
            pools[sample.args[0], sample.kwargs.get("pool", of)].append(item)
    quick, commands = [], []
    for cases in tests.values():
        if _is_quick(cases[0]):
            calls = "mqlab" in getattr(cases[0], "fixturenames", ())
            every = cases[0].get_closest_marker("complete")
            (commands if calls else quick).extend(cases if every else _some(cases, FEW))
    for item in [*quick, *_some(commands, COMMANDS)]:
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
    items.sort(key=lambda item: (_rank(item), _place(item), files[_group(item), item.path],
                                 getattr(item, "cell_num", 0)))  # fmt: skip
    if worker := getattr(config, "workerinput", {}).get("workerid"):
        _tell_groups(items, worker)
    return result


def _tell_groups(items, worker):
    """Say which test is of which group: xdist's own mark for it does nothing under pytest 9.2."""
    target = Path(os.environ[GROUPED])
    mine = target.with_suffix(f".{worker}")
    mine.write_text(json.dumps({item.nodeid: group for item in items if (group := _group(item))}))
    mine.replace(target)  # all workers write the same


def _group(item):
    """Return the name of the group of which a test is; "" for its file's."""
    names = getattr(item, "fixturenames", ())
    if found := [group for fixture, group in GROUPS.items() if fixture in names]:
        return found[0]
    return "spark" if "spark" in item.keywords else ""


def _rank(item):
    place = _group(item) or item.path.relative_to(item.config.rootpath).as_posix()
    return next((no for no, one in enumerate(FIRST) if place.startswith(one)), len(FIRST))


def _place(item):
    """Return where a test stands in its group: what begins something first, who waits for that last."""
    place = item.get_closest_marker("place")
    return place.args[0] if place else 0


def _is_quick(item):
    """Whether a test is of our own code: no process, no measurement, no machine that acts at random."""
    place = item.path.relative_to(item.config.rootpath).as_posix()
    return (
        SLOW.isdisjoint(item.keywords)
        and not (_group(item) or place.startswith(LONG) or hasattr(item, "cell_num"))
        and item.name != "runTest"
    )


def _left_out(pool, part):
    """Return what the sample of the day does not have: of a notebook all cells, or none."""
    names = {item: item.path.name if hasattr(item, "cell_num") else item.name for item in pool}
    chosen = today(sorted({*names.values()}), part)
    return [item for item in pool if names[item] not in chosen]


def today(names, part):
    """Return one name in *part*, by turns: each has its day within *part* days; all with ``--all``."""
    if ALL in os.environ:
        return names
    turns = max(1, min(part, len(names)))
    turn = datetime.date.fromisoformat(os.environ[DAY]).toordinal() % turns
    return _mixed(names, str)[turn::turns]


def _some(cases, count):
    """Return so many cases, the same ones whatever order they are in."""
    return _mixed(cases, lambda item: item.name)[:count]


def _mixed(values, name):
    return sorted(values, key=lambda value: hashlib.sha256(f" {name(value)}".encode()).digest())
