"""The command line: what it prints, and how it refuses bad input."""

import json
import re

import pytest

LAB = {
    "brokers": [{"name": "A"}, {"name": "B"}],
    "connectors": [{"name": "ab", "from": "A", "to": "B"}],
    "steps": [{"do": "start"}, {"do": "send", "broker": "A", "queue": "Q", "count": 2},
              {"do": "settle"}, {"do": "snapshot", "label": "final"}],
}  # fmt: skip


def lab_file(tmp_path, **changes):
    file = tmp_path / "my.json"
    file.write_text(json.dumps({**LAB, **changes}))
    return file


def step(**keys):
    return {"steps": [{"do": "start"}, keys]}


def link(**options):
    return {"connectors": [{"name": "ab", "from": "A", "to": "B", **options}]}


BAD = [
    pytest.param(link(network_tll=3), "network_ttl", id="option"),
    pytest.param(link(network_ttl=-2), "write -1 or more", id="ttl"),
    pytest.param(link(duplex="perhaps"), "write true or false", id="bool"),
    pytest.param(link(to="C"), "unknown broker 'C'", id="target"),
    pytest.param(link(uri="static:(tcp://B:61616"), "^", id="uri"),
    pytest.param({"connectors": LAB["connectors"] * 2}, "its own name", id="twin connectors"),
    pytest.param({"brokers": LAB["brokers"] + [{"name": "A"}]}, "two brokers", id="twin brokers"),
    pytest.param(step(do="open_consumer", consumer="C", broker="Z", queue="Q"),
                 "unknown broker 'Z'", id="consumer's broker"),
    pytest.param(step(do="open_consumer", consumer="C", broker="A", que="Q"),
                 "did you mean 'queue'", id="destination type"),
    pytest.param(step(do="close_consumer", consumer="C"), "unknown consumer 'C'", id="consumer"),
    pytest.param(step(do="dance"), "unknown step 'dance'", id="step"),
    pytest.param({"edition": "5.19"}, "unknown edition '5.19'", id="edition"),
    pytest.param({"steps": None}, "the key 'steps' is missing", id="steps"),
    pytest.param(step(do="open_consumer", consumer="C", broker="A", queue="Q", selector="a ="),
                 "selector does not parse", id="selector"),
    pytest.param(step(do="open_consumer", consumer="C", broker="A", queue="Q", prefetch=-1),
                 "prefetch -1", id="prefetch"),
    pytest.param(link(statically_included_destinations=["cue://Q"]),
                 "unknown destination type 'cue'", id="destination in a list"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "told"), BAD)
def test_a_bad_lab_file_ends_in_one_message_and_status_2(mqlab, tmp_path, changes, told):
    done = mqlab("run", lab_file(tmp_path, **changes), "--trace", "out.parquet")
    assert done.returncode == 2
    assert told in done.stderr
    assert "my.json" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.parquet"))


@pytest.mark.parametrize(("arguments", "told"), [
    (["run", "fuse:2.99"], "unknown figure 'fuse:2.99'; did you mean 'fuse:2.9"),
    (["run", "nowhere.json"], "nowhere.json: there is no such file"),
    (["run", "fuse:2.20", "--set", "A/linkToBrokerB.newtork_ttl=3"], "did you mean 'network_ttl'"),
    (["run", "fuse:2.20", "--set", "A/linkToBrokerZ.network_ttl=3"], "did you mean 'A/linkToB"),
    (["run", "fuse:2.20", "--set", "nothing"], "write A/linkToBrokerB.network_ttl=3"),
    (["run", "fuse:2.20", "--edition", "7"], "unknown edition '7'"),
    (["explain", "fuse:2.20", "--message", "P-99"], "unknown message 'P-99'"),
    (["explain", "fuse:2.20", "--broker", "Q"], "unknown broker 'Q'"),
    (["conform", "nowhere"], "nowhere: there is no such file or folder"),
    (["figures", "fus"], "did you mean 'fuse'"),
    (["check", "openmq:4-1", "--edition", "5.5"], "has an edition of its own"),
    (["run", "openmq:4-1", "--set", "b1/x.y=1"], "edit the lab file"),
    (["explain", "openmq:4-1", "--message", "P1-9"], "unknown message 'P1-9'"),
    (["run", "openmq:4-9"], "unknown figure 'openmq:4-9'; did you mean 'openmq:4-"),
])  # fmt: skip
def test_bad_arguments_end_in_one_message_and_status_2(mqlab, arguments, told):
    done = mqlab(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_not_json_says_where(mqlab, tmp_path):
    (tmp_path / "x.json").write_text('{"brokers": [}')
    done = mqlab("run", "x.json")
    assert done.returncode == 2
    assert "x.json, line 1, column 14: not JSON" in done.stderr


def test_run_shows_received_waiting_and_agreement(mqlab):
    done = mqlab("run", "fuse:2.20")
    assert done.returncode == 0
    assert "C1 received: the guide says 6; agrees" in done.stdout
    assert "No message waits anywhere." in done.stdout


def test_json_output_is_one_line_for_each_what(mqlab, tmp_path):
    done = mqlab("run", "fuse:2.20", "nothing:1", lab_file(tmp_path), "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert lines[0]["outcome"]["consumers"]["C1"]["count"] == 6
    assert lines[1]["error"]["type"] == "UnknownName"
    assert lines[2]["outcome"]["snapshots"]["final"]["brokers"]["A"]["queues"]["Q"]["depth"] == 2


def test_set_changes_an_option_by_either_name(mqlab):
    for name in ("conduit_subscriptions", "conduitSubscriptions"):
        done = mqlab("run", "fuse:2.20", "--json", "--set", f"A/linkToBrokerB.{name}=false")
        assert json.loads(done.stdout)["outcome"]["consumers"]["C1"]["count"] == 4


def test_conform_says_agree_and_disagree_by_its_status(mqlab, tmp_path):
    recording = {
        "scenario": LAB,
        "observed": {"deterministic": "totals", "outcomes": [{"outcome": {
            "consumers": {}, "snapshots": {"final": {"received_so_far": {}, "brokers": {
                "A": {"queues": {"Q": {"depth": 2}}}}}}}}]},
    }  # fmt: skip
    file = tmp_path / "r.json"
    file.write_text(json.dumps(recording))
    assert mqlab("conform", file).returncode == 0
    file.write_text(json.dumps(recording).replace('"depth": 2', '"depth": 3'))
    done = mqlab("conform", file)
    assert done.returncode == 1
    assert "real 3, run 2" in done.stdout


def test_a_page_is_written_that_needs_no_network(mqlab, tmp_path):
    done = mqlab("run", "fuse:2.20", "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert not re.search(r"<(script|link)[^>]+(src|href)=", page)
    assert "linkToBrokerB" in page


def test_doctor_names_every_part(mqlab):
    done = mqlab("doctor")
    assert done.returncode == 0
    assert "JupyterLab" in done.stdout
    assert "Spark" in done.stdout


def test_figures_lists_ids_and_questions(mqlab):
    done = mqlab("figures", "fuse")
    assert "fuse:2.20" in done.stdout
    assert "?" in done.stdout
