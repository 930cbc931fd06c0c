"""A test of real processes that fails runs once more, alone: a race of theirs must not cost a landing.

Real processes are a broker, a browser, Spark: the markers below. What passes then is listed as flaky with what
it said the first time, and the run has not failed. A test of our own code has one chance, as has all that
stops at its first failure (``-x``).
"""

from __future__ import annotations

import subprocess
import sys

import pytest

MARKERS = ("browser", "real", "spark")
OURS = "real_process"  # on whoever has one of them: a report's keywords have the names of folders, too
MOST = 10  # more failures than that are no flake: nothing runs again
LINES = 12  # of a failure in the closing lines


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker reports; who started it decides
        config.pluginmanager.register(Again(config), "again")


@pytest.hookimpl(trylast=True)  # when the others have set their markers
def pytest_collection_modifyitems(items):
    for item in items:
        if any(item.get_closest_marker(marker) for marker in MARKERS):
            item.add_marker(OURS)


class Again:
    """Runs again what failed, when all the others have ended."""

    def __init__(self, config):
        self.config = config
        self.failed = {}  # id of a test -> its failed reports
        self.flaky, self.told = {}, {}  # id of a test -> what it said

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed.setdefault(report.nodeid, []).append(report)

    @pytest.hookimpl(trylast=True)  # the workers have ended
    def pytest_sessionfinish(self, session):
        chosen = {name: reports for name, reports in self.failed.items()
                  if OURS in reports[0].keywords}  # fmt: skip
        if (
            session.exitstatus != pytest.ExitCode.TESTS_FAILED
            or self.config.option.maxfail
            or len(chosen) > MOST
        ):
            return
        for name, reports in chosen.items():
            passed, said = self._alone(name)
            if passed:
                self.flaky[name] = "\n".join(report.longreprtext for report in reports)
                self._forget(session, reports)
            else:
                self.told[name] = said
        if not session.testsfailed:
            session.exitstatus = pytest.ExitCode.OK

    def _alone(self, name):
        """Run a test in a process of its own; return whether it passed, and what was said."""
        undistributed = ["-n0"] if self.config.pluginmanager.hasplugin("xdist") else []
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", *undistributed, "-p", f"no:{__name__}", name],
            cwd=self.config.rootpath, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        lines = done.stdout.splitlines() or [""]
        return done.returncode == 0 and " passed" in f" {lines[-1]}", done.stdout + done.stderr

    def _forget(self, session, reports):
        """Let reports not count as failures."""
        stats = self.config.pluginmanager.getplugin("terminalreporter").stats
        for kind in ("failed", "error"):
            left = [report for report in stats.pop(kind, []) if report not in reports]
            if left:
                stats[kind] = left
        stats.setdefault("flaky", []).append(reports[0])
        session.testsfailed -= len(reports)

    def pytest_terminal_summary(self, terminalreporter):
        for title, told in (
            ("flaky: failed, and passed alone", self.flaky),
            ("failed again, alone", self.told),
        ):
            if told:
                terminalreporter.section(title)
            for name, text in told.items():
                terminalreporter.write_line(name)
                for line in text.rstrip().splitlines()[-LINES:]:
                    terminalreporter.write_line(f"    {line}")
