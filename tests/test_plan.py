"""What tests/plan.py chooses: a sample that the day decides, the quick ones, and what stays together."""

import re

import pytest

from tests import plan
from tests.conftest import ROOT

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # each runs pytest
TEST = """
import pytest

@pytest.fixture(scope="session")
def jupyter():
    pass

@pytest.mark.sample(4)
@pytest.mark.parametrize("no", range(20))
def test_cases(no):
    pass

def test_one():
    pass

@pytest.mark.browser
def test_page(jupyter):
    pass
"""


@pytest.fixture
def names(pytester, monkeypatch):
    """Return a function that gives the names of the tests that a command line chooses, in their order."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for told in (plan.ALL, plan.DAY, plan.GROUPED):  # what a run says here is taken back
        monkeypatch.setenv(told, "")
        monkeypatch.delenv(told)
    pytester.makepyfile(test_it=TEST)
    pytester.makeini("[pytest]\naddopts = -p tests.plan\nmarkers =\n  sample: .\n  quick: .\n  browser: .\n")

    def call(*arguments):
        done = pytester.runpytest_inprocess("--collect-only", "-q", *arguments)
        assert done.ret == 0, done.stderr.str()
        return [line.partition("::")[2] for line in done.outlines if "::" in line]

    return call


def test_a_day_has_its_sample_and_each_case_its_day(names):
    first, again, *others = (names("--sample-date", f"2026-01-0{day}") for day in (1, 1, 2, 3, 4, 5))
    assert first == again == others[-1]
    cases = [name for day in (first, *others[:-1]) for name in day if name.startswith("test_cases")]
    assert len(cases) == len({*cases}) == 20
    assert len(first) == 20 / 4 + 2


def test_all_and_what_is_asked_for_by_name_are_no_sample(names):
    assert len(names("--all")) == 22
    assert len(names("test_it.py::test_cases")) == 20


def test_all_is_known_before_a_conftest_is_read(names, pytester):
    """A machine of random scripts played 200 of its 2,000, as conftest had read the environment too early."""
    pytester.makeconftest("import os\nassert os.environ['MQLAB_ALL_TESTS'] == '1'")
    assert len(names("--all", "test_it.py")) == 22


def test_quick_are_a_few_cases_of_each_test_and_no_browser(names):
    chosen = names("-m", "quick", "--all")
    assert [name.partition("[")[0] for name in chosen] == ["test_cases", "test_cases", "test_one"]


def test_what_needs_jupyterlab_begins_first(names):
    assert names()[0] == "test_page"


def test_what_shares_a_fixture_stays_together_and_a_file_too(pytester, names):
    pytester.makepyfile(test_more=TEST)
    how = ("-p", "xdist", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--all", "-v")
    done = pytester.runpytest_subprocess(*how)
    done.assert_outcomes(passed=44)
    told = re.findall(r"\[(gw\d)\] .* PASSED (\S+)", done.stdout.str())
    where = {}
    for worker, name in told:
        where.setdefault("jupyter" if "test_page" in name else name[:8], set()).add(worker)
    assert {key: len(workers) for key, workers in where.items()} == {
        "jupyter": 1, "test_it.": 1, "test_mor": 1}  # fmt: skip
