"""The differential tester: what it draws, how it compares, shrinks and plays; stand-ins for recorders."""

import json
import os
import signal
import subprocess
import sys
import time
from random import Random

import pytest

from mqlab import conform, products
from mqlab.conform import recorded
from mqlab.products.activemq.lab import Lab
from tests.conftest import ROOT, packed
from tests.real.differential import races
from tests.real.differential import recorder as recorders
from tests.real.differential.__main__ import drawn, main
from tests.real.differential.breadth import Breadth, features
from tests.real.differential.families import FAMILIES
from tests.real.differential.judge import RACE, Difference, grouped, kind_of, verdict
from tests.real.differential.recorder import NoRecorder, Recorder
from tests.real.differential.shrink import shrink
from tests.real.differential.variations import Recorded


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_one_seed_draws_one_set_of_scenarios(family):
    assert drawn(family, 7, 1, 5) == drawn(family, 7, 1, 5)
    assert drawn(family, 7, 3, 1) == {
        name: s for name, s in drawn(family, 7, 1, 5).items() if name.endswith("003")
    }
    assert list(drawn(family, 7, 1, 5).values()) != list(drawn(family, 8, 1, 5).values())


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_lab_plays_whatever_is_drawn(family):
    for name, scenario in drawn(family, 11, 1, 40).items():
        value = {"scenario": scenario}
        product = products.product_of(value)
        lab = product.lab(product.read(value, name), limit=1_000_000)
        lab.play()
        assert product.outcome(lab.trace)["snapshots"]


@pytest.mark.parametrize(("family", "words"), [
    ("openmq", "purge xa temporary browse unsubscribe update_destination cut restart recover rollback"),
    ("artemis", "kill stop cut heal pause rollback receive"),
    ("failover", "cut stop_broker commit tell_reconnect"),
    ("faults", "cut stop_broker receive close_consumer"), ("networks", "receive close_consumer send"),
])  # fmt: skip
def test_the_words_of_a_family_are_drawn(family, words):
    breadth = Breadth(FAMILIES[family].language)
    for scenario in drawn(family, 5, 1, 200).values():
        breadth.add(scenario)
    assert set(words.split()) <= set(breadth.drawn)
    assert len(breadth.pairs) > 0.4 * len(breadth.drawn) * (len(breadth.drawn) - 1) / 2
    assert "never drawn" in breadth.table()


@pytest.mark.parametrize("family", ["artemis", "failover", "faults", "openmq"])
def test_the_lab_plays_each_variation_of_what_was_recorded(family, tmp_path):
    kind = {"faults": "activemq-combined", "failover": "activemq-failover"}.get(family, family)
    some = [value for name, value in packed("found").items() if name.startswith(kind)]
    for number, value in enumerate(some):
        (tmp_path / f"{number:03}.json").write_text(json.dumps(value))
    recorded = Recorded(tmp_path)
    varied = drawn(family, 11, 1, 20, recorded)
    assert varied == drawn(family, 11, 1, 20, Recorded(tmp_path))
    before = {json.dumps(scenario | {"name": ""}) for scenario in recorded.scenarios}
    assert not before & {json.dumps(scenario | {"name": ""}) for scenario in varied.values()}
    for name, scenario in varied.items():
        value = {"scenario": scenario}
        product = products.product_of(value)
        lab = product.lab(product.read(value, name), limit=1_000_000)
        lab.play()
        assert "snapshots" in product.outcome(lab.trace)


def test_features_are_words_and_choices_without_names_and_numbers():
    scenario = {
        "brokers": ["b1"],
        "steps": [{"do": "open_consumer", "consumer": "C", "ack_mode": "client", "flow_limit": 3}],
    }
    assert features(scenario) >= {"open_consumer", "open_consumer ack_mode=client", "open_consumer flow_limit"}
    assert not any("C" in word.split() or "3" in word for word in features(scenario))


PURGED = "openmq/found/purge_open_transaction.json"


def spoilt():
    value = json.loads(json.dumps(packed("found")[PURGED]))
    outcome = value["observed"]["outcomes"][0]["outcome"]
    outcome["snapshots"]["d"]["brokers"]["b1"]["destinations"]["queue://Q"]["messages"] = 7
    return value


def test_a_difference_is_told_by_its_kind():
    assert verdict("same", packed("found")[PURGED]) == ("agree", None)
    result, difference = verdict("other", spoilt())
    assert result == "disagree"
    assert difference.kind == "snapshots brokers destinations queue messages"


def played_on(machine):
    """A recording of a random scenario as the lab plays it on some machine."""
    value = {"scenario": drawn("failover", 2501, 58, 1)["failover_2501_058"]}
    product = products.product_of(value)
    lab = Lab(product.read(value, "race"), timing=machine)
    lab.play()
    outcomes = [{"seen_in_runs": 3, "outcome": json.loads(json.dumps(product.outcome(lab.trace)))}]
    return {**value, "observed": {"runs": 3, "deterministic": "exact", "outcomes": outcomes}}


def test_what_another_machine_does_is_a_race_and_no_rule():
    race = played_on(races.machine(Random(1000)))
    assert conform.compare(race).result == "disagree"
    assert verdict("race", race) == (RACE, None)
    race["observed"]["outcomes"][0]["outcome"]["consumers"]["K4"]["count"] = 7
    assert verdict("rule", race)[0] == "disagree"


def test_the_names_of_a_scenario_are_no_part_of_a_kind():
    lines = [
        f"/snapshots/s{n}/brokers/b{n}/destinations/queue://Q{n}/messages: real {n}, run 0" for n in (1, 2)
    ]
    assert len({kind_of(line) for line in lines}) == 1
    assert kind_of(lines[0]) != kind_of(lines[0].replace("messages", "remote"))


def test_the_most_frequent_kind_comes_first():
    found = [Difference(str(n), {}, kind, ("",)) for n, kind in enumerate("abb")]
    assert [(kind, len(some)) for kind, some in grouped(found)] == [("b", 2), ("a", 1)]


def test_a_scenario_shrinks_to_the_steps_that_matter():
    scenario = drawn("openmq", 3, 4, 1)["openmq_3_004"]
    purges = {"do": "purge", "broker": "b1", "queue": "Q", "limit_ms": 6000}
    scenario["steps"].insert(len(scenario["steps"]) // 2, purges)
    asked = []

    def still(proposals):
        asked.append(len(proposals))
        return [any(step["do"] == "purge" and step["queue"] == "Q" for step in p["steps"] if "queue" in step)
                for p in proposals]  # fmt: skip

    found = shrink(scenario, still, rounds=40)
    assert [step["do"] for step in found["steps"]] == ["start", "purge"]
    assert "limit_ms" not in found["steps"][1]
    assert len(asked) <= 40


def test_who_is_not_opened_does_nothing():
    scenario = {"brokers": ["b1"], "steps": [
        {"do": "start"}, {"do": "open_consumer", "consumer": "C"}, {"do": "receive", "consumer": "C"},
        {"do": "send", "broker": "b1"},
    ]}  # fmt: skip
    for proposal in shrunk_once(scenario):
        does = [step["do"] for step in proposal["steps"]]
        assert "receive" not in does or "open_consumer" in does


def shrunk_once(scenario):
    seen = []
    shrink(scenario, lambda proposals: [seen.append(p) or False for p in proposals], rounds=3)
    return seen


# Playing

PLAYER = """
import json, pathlib, sys, time
raw, plays, *files = sys.argv[1:]
for file in map(pathlib.Path, files):
    scenario = json.loads(file.read_text())
    if scenario["name"] == "hangs":
        time.sleep(600)
    (pathlib.Path(raw) / file.name).write_text(json.dumps({"scenario": scenario, "runs": [{}] * int(plays)}))
"""
RECORDER = """
import json, pathlib, sys
raw, out = map(pathlib.Path, sys.argv[1:])
for file in raw.glob("*.json"):
    data = json.loads(file.read_text())
    found = {"scenario": data["scenario"], "observed": {"runs": len(data["runs"])}}
    (out / file.name).write_text(json.dumps(found))
"""


@pytest.fixture
def stand_in(tmp_path):
    (tmp_path / "play.py").write_text(PLAYER)
    (tmp_path / "record.py").write_text(RECORDER)
    return Recorder(
        "stand-in", (sys.executable, str(tmp_path / "play.py"), "{raw}", "{plays}", "{files}"),
        (sys.executable, str(tmp_path / "record.py"), "{raw}", "{out}"), jobs=2, patience=3,
    )  # fmt: skip


def scenarios(*names):
    return {name: {"name": name, "brokers": ["b1"], "steps": []} for name in names}


def test_what_is_played_comes_back_by_name(stand_in):
    played = stand_in.play_all(scenarios("one", "two", "three"), 3)
    assert {name: r["observed"]["runs"] for name, r in played.recordings.items()} == dict.fromkeys(
        ["one", "two", "three"], 3
    )
    assert played.lost == {}


def test_a_play_that_hangs_is_killed_and_told_and_the_others_go_on(stand_in):
    began = time.monotonic()
    played = stand_in.play_all(scenarios("one", "hangs", "two"), 1, jobs=1)
    assert set(played.recordings) == {"one", "two"}
    assert played.lost == {"hangs": "gave no result"}
    assert time.monotonic() - began < 60


def test_nothing_is_left_of_a_recorder_that_is_interrupted(tmp_path):
    (tmp_path / "play.py").write_text("import subprocess, sys; subprocess.run(['sleep', '617'])")
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "  # workers ignore it
        "from tests.real.differential.recorder import Recorder; "
        f"Recorder('x', ('{sys.executable}', '{tmp_path}/play.py'), ()).play_all("
        "{'one': {'name': 'one', 'brokers': [], 'steps': []}}, 1)"
    )
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.DEVNULL)
    assert eventually(lambda: sleepers() == 1)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    assert eventually(lambda: sleepers() == 0)


def sleepers():
    found = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                found += file.read().split(b"\0")[:2] == [b"sleep", b"617"]
        except OSError:
            continue
    return found


def eventually(holds, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not holds():
        time.sleep(0.1)
    return holds()


def test_without_recorders_it_is_said_how_to_name_them(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv(recorders.VARIABLE, raising=False)
    with pytest.raises(NoRecorder, match="--recorders"):
        recorders.folder(str(tmp_path))
    assert main(["--product", "networks", "--runs", "1", "--recorders", str(tmp_path)]) == 2
    assert "no recorders" in capsys.readouterr().err


def test_breadth_alone_needs_no_recorder(capsys):
    assert main(["--product", "openmq", "--runs", "30", "--breadth"]) == 0
    assert "in 30 scenarios" in capsys.readouterr().out


def test_what_is_kept_has_a_name_among_the_recordings():
    assert recorded.recorded("openmq/found/purge_open_transaction").runs >= 2
