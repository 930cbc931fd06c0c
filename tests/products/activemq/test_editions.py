"""What 5.5.1, 5.17.2, 5.18.7 and 6.1.8 did, and where they did the same as 5.17.2.

A recording of an edition is judged as it stands; a name under `agrees_with_5.17` is the recording
of 5.17.2, played under that edition (Recordings rule 5.1).
"""

from __future__ import annotations

import pytest

from mqlab import conform
from mqlab.conform import at_rest as recording
from mqlab.errors import MqlabError, UnknownName
from mqlab.products.activemq.files import lab_file
from mqlab.products.activemq.runtime import play
from mqlab.spec.option import edition_of
from mqlab.trace.outcome import outcome
from tests.conftest import packed, recorded

VERSIONS = ("5.5.1", "5.17.2", "5.18.7", "6.1.8")
EDITIONS = packed("activemq-editions")
NAMED = {
    value["scenario"]["name"]: value
    for path, value in {**packed("activemq"), **EDITIONS}.items()
    if "observed" in value and (path.startswith("activemq/") or "/5.17.2/" in path)
}  # fmt: skip


@pytest.mark.parametrize("value", recorded("activemq-editions", lambda path: "same" not in path))
def test_recordings(value):
    verdict = conform.compare(value)
    bound = value["observed"]["deterministic"] == "none"
    assert verdict.result == ("unjudged" if bound else "agree"), verdict.details


def same() -> list:
    return [
        pytest.param(version, name, id=f"{version}-{name}")
        for version in VERSIONS if f"activemq-editions/{version}/same.json" in EDITIONS
        for name in EDITIONS[f"activemq-editions/{version}/same.json"]["agrees_with_5.17"]
    ]  # fmt: skip


def alike(value):
    """Drop what sets every file of 5.5.1 apart: no counter `forwarded`, topic prefetch 32766."""
    if isinstance(value, dict):
        return {key: alike(v) for key, v in value.items() if key != "forwarded"}
    if isinstance(value, list):
        return [alike(v) for v in value]
    return 32767 if value == 32766 else value


@pytest.mark.parametrize(("version", "name"), same())
def test_what_agrees_with_5_17(version, name):
    value = NAMED[name]
    observed = value["observed"]
    if not any("consumers" in entry["outcome"] for entry in observed["outcomes"]):
        with pytest.raises(MqlabError):
            play(lab_file.read(value).under(edition_of(version)))
        return
    run = outcome(play(lab_file.read(value).under(edition_of(version))))
    if version == "5.5.1":
        run, observed = alike(run), alike(observed)
    assert recording.differences(run, observed) == []


@pytest.mark.parametrize(("version", "edition"), [
    ("5.7", "5.5"), ("5.16.7", "5.17"), ("5.15.16", "5.17"), ("5.15.0.redhat-630516", "5.17"), ("6.2.0", "6.1"),
    ("5.16.7-SNAPSHOT", "5.17"), ("5.17-rc", "5.17"), ("5.17.2.redhat-630516", "5.17"),
    ("4.1", "5.5"), ("5", "5.5"), ("7", "6.1"), ("9.9", "6.1"),
])  # fmt: skip
def test_every_version_is_taken_for_the_nearest_edition_and_told(version, edition):
    with pytest.warns(UserWarning, match=f"ActiveMQ {version}: mqlab runs edition {edition}, the nearest"):
        assert edition_of(version) == edition


@pytest.mark.parametrize("version", [
    "x", "v5", "5.", "5.x", "", "5.17.", "5.17.banana", "5.17.2.1", "5.17.2.", "5.17-", "05.17", "5.17\n",
])  # fmt: skip
def test_what_is_no_version_is_refused(version):
    with pytest.raises(UnknownName, match="unknown edition"):
        edition_of(version)


@pytest.mark.parametrize("version", ["5.17", "5.17.2", "5.17.99"])
@pytest.mark.filterwarnings("error")
def test_a_release_of_an_edition_runs_as_it_without_a_warning(version):
    assert edition_of(version) == "5.17"
