"""The pages of rules: numbers hold, recordings exist, and whoever cites a rule cites one that is there."""

import json
import re
import subprocess
import sys
import zipfile
from functools import cache
from importlib import resources

import pytest

from mqlab.conform import recorded
from mqlab.errors import UnknownName
from mqlab.reference import rules
from mqlab.reference.rules import PAGES, cited, find, markdown, page, pages
from mqlab.site import engine
from tests.conftest import ROOT

READ = ("*.py", "*.toml", "*.json", "*.js", "*.md", "*.ipynb", "*.lark", "*.html", "*.css")
# Documents that the pages were made from: no user has them.
GONE = re.compile(
    r"-observed\.md|\bconformance/|\breference/[\w.-]+\.md|(?<!\.\./)\bshared/(?:reference|conformance)"
    r"|(?<!-)\b(?:activemq-(?:dispatch|ha|failover-discovery|network-connector)|artemis-ha|openmq-clusters)\.md"
)
ATTEMPT = re.compile(rf"\b(?:{'|'.join(PAGES.values())}) rules? \d[\w.]*")


@cache
def texts():
    """Return each text of package, notebooks, tests and README by its name, lines joined as they are read."""
    files = [ROOT / "README.md"]
    for folder in ("mqlab", "notebooks", "tests"):
        files += [file for kind in READ for file in (ROOT / folder).rglob(kind)]
    return tuple(
        (
            str(file.relative_to(ROOT)),
            re.sub(r"[ \t]*\n[ \t]*(?:#:? |\* |// )?", " ", file.read_text(encoding="utf-8")),
        )
        for file in files
        if ".ipynb_checkpoints" not in file.parts
    )


def holds(name, number):
    try:
        return bool(find(name, number))
    except UnknownName:
        return False


def test_what_is_cited_is_there():
    """A citation is "ActiveMQ rule 1.6", "ActiveMQ rules 15" (a section) or "Artemis rules 2.2 and 2.4"."""
    found, wrong = 0, []
    for file, text in texts():
        for name, number in cited(text):
            found += 1
            if not holds(name, number):
                wrong.append(f"{file}: {PAGES[name]} rule {number}")
        wrong += [f"{file}: {attempt} is not in the form" for attempt in ATTEMPT.findall(text)
                  if not rules.CITATION.match(attempt.rstrip("."))]  # fmt: skip
    assert not wrong, "\n".join(["cited, and on no page of mqlab/reference/pages:", *wrong])
    assert found > 100


def test_no_text_names_a_document_that_no_user_has():
    wrong = [f"{file}: {name}" for file, text in texts() for name in GONE.findall(text)]
    assert not wrong, "\n".join(["cite a rule instead (mqlab rules PRODUCT):", *wrong])


@pytest.mark.parametrize("name", PAGES)
def test_the_numbers_of_a_page_rise(name):
    """Sections and rules keep their order; a number that goes leaves a gap, and none comes twice."""
    numbers = [tuple(map(int, rule.number.split("."))) for rule in page(name).rules]
    assert numbers == sorted(set(numbers))
    assert {str(section) for section, _ in numbers} == set(page(name).sections)
    assert len(numbers) == page(name).text.count("\n### ")


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says_of_itself_is_there(name):
    for rule in page(name).rules:
        for what, number in re.findall(r"\b(rules?|sections?) (\d+(?:\.\d+)?)", rule.text):
            assert holds(name, number), f"{rule} names {what} {number}"


def test_every_rule_has_a_recording_or_says_its_source():
    bare = [str(rule) for one in pages() for rule in one.rules
            if one.name != "recordings" and not (rule.recordings or rule.source)]  # fmt: skip
    assert bare == []
    assert all(rule.title and rule.text for one in pages() for rule in one.rules)


def test_every_recording_of_a_rule_exists():
    wrong = [f"{rule}: {name}" for one in pages() for rule in one.rules
             for name in rule.recordings if name not in recorded.names()]  # fmt: skip
    assert wrong == []


def test_a_recording_named_in_a_rules_text_stands_in_its_list():
    known = {name.rpartition("/")[2] for name in recorded.names()}
    for rule in (rule for one in pages() for rule in one.rules if one.name != "recordings"):
        for named in re.findall(r"`([a-z0-9_/]+)`", rule.text):
            if named.rpartition("/")[2] in known:
                assert any(f"/{name}".endswith(f"/{named}") for name in rule.recordings), (
                    rule,
                    named,
                )


def test_the_command_reads_every_page(mqlab):
    listed = [json.loads(line) for line in mqlab("rules", "--json").stdout.splitlines()]
    assert [row["page"] for row in listed] == [*PAGES, "check"]
    for row in listed:
        told = [json.loads(line) for line in mqlab("rules", row["page"], "--json").stdout.splitlines()]
        assert len(told) == row["rules"]
        assert mqlab("rules", row["page"]).stdout.startswith("# ")
    assert told[0]["rule"] == "no-target"  # the rules of `check` are told like those of a product


def test_the_command_reads_a_section_and_a_rule(mqlab):
    assert mqlab("rules", "activemq", "1.6").stdout == markdown("activemq", "1.6")
    section = mqlab("rules", "openmq", "9").stdout
    assert section.startswith("## 9 Enhanced cluster\n")
    assert section.count("\n### 9.") == len(find("openmq", "9"))
    assert mqlab("rules", "check", "ttl-zero").stdout.startswith("ttl-zero: a TTL of 0")


@pytest.mark.parametrize(("words", "said"), [
    (("openmp",), "unknown page of rules 'openmp'; did you mean 'openmq'?"),
    (("openmq", "9.99"), "unknown rule of OpenMQ '9.99'; did you mean '9.9'?"),
    (("check", "ttl-zer"), "unknown rule of check 'ttl-zer'; did you mean 'ttl-zero'?"),
])  # fmt: skip
def test_the_command_tells_the_nearest_known_one(mqlab, words, said):
    done = mqlab("rules", *words)
    assert done.returncode == mqlab("figures", "fuze").returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_all_parts_of_a_page_are_its_text():
    for one in pages():
        parts = [markdown(one.name, number) for number in one.sections]
        assert all(part in one.text for part in parts)
        assert sum(part.count("\n### ") for part in parts) == len(one.rules)


@pytest.mark.slow
def test_the_pages_are_shipped(tmp_path):
    """They lie in the package, whose every file the wheel has, and the engine of the pages takes them along."""
    for name in PAGES:
        file = resources.files("mqlab.reference") / "pages" / f"{name}.md"
        assert file.read_text(encoding="utf-8") == page(name).text
    engine.archive(tmp_path / "python.zip")
    names = zipfile.ZipFile(tmp_path / "python.zip").namelist()
    assert {f"mqlab/reference/pages/{name}.md" for name in PAGES} <= set(names)


def test_no_page_is_read_before_it_is_asked_for():
    code = ("import mqlab as mq; mq.check(mq.figure('fuse:2.20')); mq.options('conduit');"
            "from mqlab.reference import rules; print(rules.page.cache_info().currsize)")  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "0\n"
