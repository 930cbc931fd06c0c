"""What tests/flaky.py runs again, and what it never does."""

import pytest

from tests.conftest import ROOT

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each runs pytest

INI = """
[pytest]
addopts = -p tests.flaky -p xdist -p no:cacheprovider
markers =
    browser: drives a browser
    real_process: runs once more
"""
# Fails the first so many times that it runs, in whichever process.
FAILS = """
import pathlib, pytest

def fails(times, file=pathlib.Path(__file__).with_name("count")):
    count = len(file.read_text()) if file.exists() else 0
    file.write_text("x" * (count + 1))
    assert count >= times, f"the race of play {count + 1}"
"""


@pytest.fixture
def run(pytester, monkeypatch):
    """Return a function that runs a test file; returns what pytest said, and how often its test ran."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # whose loading takes seconds

    def call(code, *arguments):
        pytester.makeini(INI)
        pytester.makepyfile(test_it=FAILS + code)
        done = pytester.runpytest_subprocess(*arguments)
        return done, len((pytester.path / "count").read_text())

    return call


ONE = "\n@pytest.mark.browser\ndef test_race():\n    fails({})\n"
DISTRIBUTED = ("-n", "2")


@pytest.mark.parametrize("how", [(), DISTRIBUTED], ids=["one process", "two workers"])
def test_what_passes_alone_is_listed_with_what_it_said(run, how):
    done, count = run(ONE.format(1) + "\ndef test_other():\n    pass\n", *how)
    assert (done.ret, count) == (0, 2)
    done.stdout.fnmatch_lines(
        ["*flaky: failed, and passed alone*", "test_it.py::test_race", "*the race of play 1*",
         "*1 passed, 1 flaky in*"]
    )  # fmt: skip
    done.stdout.no_fnmatch_line("*FAILURES*")


def test_a_test_in_a_folder_of_that_name_has_one_chance(run, pytester):
    folder = pytester.mkdir("browser")
    (folder / "test_ours.py").write_text(FAILS + "\ndef test_ours():\n    fails(1)\n")
    done, _ = run("\ndef test_other():\n    fails(0)\n")
    assert (done.ret, len((folder / "count").read_text())) == (1, 1)


def test_what_fails_twice_has_failed(run):
    done, count = run(ONE.format(2))
    assert (done.ret, count) == (1, 2)
    done.stdout.fnmatch_lines(["*the race of play 1*", "*failed again, alone*", "*the race of play 2*",
                               "*1 failed in*"])  # fmt: skip


def test_a_test_of_our_own_code_has_one_chance(run):
    done, count = run("\ndef test_race():\n    fails(1)\n")
    assert (done.ret, count) == (1, 1)
    done.assert_outcomes(failed=1)


def test_beside_a_failure_of_our_own_a_flake_is_told_and_the_run_has_failed(run):
    done, count = run(ONE.format(1) + "\ndef test_ours():\n    assert False\n")
    assert (done.ret, count) == (1, 2)
    done.stdout.fnmatch_lines(["*1 failed, 1 flaky in*"])


def test_a_fixture_that_fails_is_a_failure_like_others(run):
    done, count = run("""
@pytest.fixture
def started():
    yield fails(1)

@pytest.mark.browser
def test_race(started):
    pass
""")
    assert (done.ret, count) == (0, 2)
    done.stdout.fnmatch_lines(["*1 flaky in*"])


def test_what_skips_the_second_time_has_not_passed(run):
    done, count = run("""
@pytest.mark.browser
def test_race():
    fails(1)
    pytest.skip("nothing to see")
""")
    assert (done.ret, count) == (1, 2)


def test_nothing_runs_again_where_the_first_failure_stops_all(run):
    assert run(ONE.format(1), "-x")[1] == 1


def test_very_many_failures_are_no_flake(run):
    done, count = run("""
@pytest.mark.browser
@pytest.mark.parametrize("no", range(11))
def test_race(no):
    fails(11)
""")
    assert (done.ret, count) == (1, 11)
