"""The command line: what it prints, and how it refuses bad input."""

import html
import json
import re
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab import cli, products, reference
from mqlab.api import asking
from mqlab.errors import Interrupted
from mqlab.reference import GUIDES
from tests.conftest import ROOT, inflated

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
    pytest.param(link(network_ttl=-2), "expected -1 or more", id="ttl"),
    pytest.param(link(duplex="perhaps"), "expected true or false", id="bool"),
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
    pytest.param({"edition": "five"}, "unknown edition 'five'", id="edition"),
    pytest.param({"steps": None}, "the key 'actions' is missing", id="steps"),
    pytest.param(step(do="open_consumer", consumer="C", broker="A", queue="Q", selector="a ="),
                 "selector does not parse", id="selector"),
    pytest.param(step(do="open_consumer", consumer="C", broker="A", queue="Q", prefetch=-1),
                 "prefetch is -1", id="prefetch"),
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
    (["run", "fuse:2.20", "--set", "nothing"], "expected e.g. A/linkToBrokerB.network_ttl=3"),
    (["run", "fuse:2.20", "--edition", "new"], "unknown edition 'new'"),
    (["explain", "fuse:2.20", "--message", "P-99"], "P-99 was never sent; the last message of P is P-"),
    (["explain", "fuse:2.20", "--broker", "Q"], "unknown broker 'Q'"),
    (["conform", "nowhere"], "nowhere: there is no such file or folder"),
    (["figures", "fus"], "did you mean 'fuse'"),
    (["figures", "nowhere"], "no guide is called 'nowhere', and no figure has that in its title or question"),
    (["actions", "crsh"], "unknown action 'crsh'; did you mean 'Crash'?"),
    (["check", "openmq:4-1", "--edition", "5.5"], "unknown edition of OpenMQ"),
    (["run", "openmq:4-1", "--set", "b1/x.y=1"], "unknown broker 'b1/x'"),
    (["explain", "openmq:4-1", "--message", "P1-9"], "P1-9 was never sent; the last message of P1 is P1-6"),
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
    assert "No messages waiting." in done.stdout


def test_json_output_is_one_line_for_each_what(mqlab, tmp_path):
    done = mqlab("run", "fuse:2.20", "nothing:1", lab_file(tmp_path), "--json")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert lines[0]["outcome"]["consumers"]["C1"]["count"] == 6
    assert lines[1]["error"]["type"] == "UnknownName"
    assert lines[2]["outcome"]["snapshots"]["final"]["brokers"]["A"]["queues"]["Q"]["depth"] == 2


def test_json_tells_what_was_not_done_and_what_logs_do_not_tell(mqlab):
    done = mqlab("run", "fuse:2.20", "--do", "Heal A B", "--json")
    assert json.loads(done.stdout)["undone"] == [{"what": "Heal A B", "why": "the link was not cut"}]
    done = mqlab("run", f"{ROOT}/tests/files/logs/A.log", "--json")
    assert "Broker B" in {one["what"] for one in json.loads(done.stdout)["undone"]}


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
    assert "linkToBrokerB" in inflated(page)


def test_a_page_has_the_title_of_its_run_a_heading_a_main_landmark_and_fits_a_phone(mqlab, tmp_path):
    title = html.escape(mq.figure("fuse:2.20").title)
    assert mqlab("run", "fuse:2.20", "--html", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text()
    head, body = page.split("</head>\n  <body>")
    assert f"<title>{title}</title>" in head
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in head
    assert re.search(rf"<main>\s*<h1>{re.escape(title)}</h1>.*data-root-id.*</main>", body, re.DOTALL)
    assert page.count("<main>") == page.count("<h1>") == 1


def test_doctor_names_every_part(mqlab):
    done = mqlab("doctor")
    assert done.returncode == 0
    assert "JupyterLab" in done.stdout
    assert "Spark" in done.stdout


def test_figures_lists_ids_and_questions(mqlab):
    done = mqlab("figures", "fuse")
    assert "fuse:2.20" in done.stdout
    assert "?" in done.stdout


def test_figures_and_actions_are_found_by_a_word(mqlab):
    told = mqlab("figures", "MESH", "--json").stdout.splitlines()
    assert {json.loads(line)["id"] for line in told} == {"fuse:2.11"}
    assert all("mesh" in line.lower() for line in told)
    told = [json.loads(line)["action"] for line in mqlab("actions", "Durable", "--json").stdout.splitlines()]
    assert {"Unsubscribe", "Consumer"} <= {*told} < {*reference.actions().rows}


# Every command that prints a table.
TABLES = [
    ("figures",), ("options",), ("doctor",), ("run", "fuse:2.20"), ("run", "fuse:4.4"),
    ("run", "openmq:4-5a"), ("run", "artemis:21.3"), ("check", "fuse:2.17"),
    ("compare", "fuse:2.20", "fuse:2.21"), ("compare", "crash:shared-file", "crash:enhanced", "fuse:2.4"),
    ("conform", "r.json"), ("figures", "--help"), ("run", "--help"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_tables_fit_80_columns(mqlab, tmp_path, arguments):
    (tmp_path / "r.json").write_text(json.dumps(RECORDING))
    done = mqlab(*arguments, COLUMNS="80")
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert lines
    assert max(map(len, lines)) <= 80


RECORDING = {
    "scenario": LAB,
    "observed": {"deterministic": "totals", "outcomes": [{"outcome": {
        "consumers": {}, "snapshots": {"final": {"received_so_far": {}, "brokers": {
            "A": {"queues": {"Q": {"depth": 3}}}}}}}}]},
}  # fmt: skip
JSONS = [
    ("run", "fuse:2.20", "nothing:1", "--trace", "t.parquet"), ("run", "fuse:2.20", "--trace", "t.parquet"),
    ("run", "fuse:2.20", "--html", "p.html"), ("check", "fuse:2.17"), ("figures", "fuse"),
    ("options", "ttl"), ("doctor",), ("compare", "fuse:2.20", "fuse:2.21"), ("conform", "r.json"),
    ("upgrade", "fuse:2.20"), ("explain", "fuse:2.20", "--message", "P-1"), ("run", "nothing:1"),
]  # fmt: skip


@pytest.mark.parametrize("arguments", JSONS, ids=" ".join)
def test_with_json_there_is_nothing_but_json_on_standard_output(mqlab, tmp_path, arguments):
    (tmp_path / "r.json").write_text(json.dumps(RECORDING))
    done = mqlab(*arguments, "--json")
    assert "Traceback" not in done.stderr
    for line in done.stdout.splitlines():
        json.loads(line)
    assert done.stdout or done.returncode == 2


def test_figures_help_names_all_guides(mqlab):
    told = " ".join(mqlab("figures", "--help").stdout.split())
    for guide in GUIDES:
        assert guide in told
    assert tuple(products.GUIDES) == GUIDES
    assert {figure.id.partition(":")[0] for figure in products.figures()} == set(GUIDES)


def test_version_is_that_of_the_package(mqlab):
    from mqlab import __version__

    assert mqlab("--version").stdout.strip() == f"mqlab {__version__}"


def test_a_page_is_not_written_under_the_name_of_a_picture(mqlab, tmp_path):
    done = mqlab("run", "fuse:2.20", "--html", str(tmp_path / "run.svg"))
    assert done.returncode == 2
    assert "a page is an HTML file; use e.g." in done.stderr


def test_the_versions_of_an_upgrade_may_follow_what_is_upgraded(mqlab):
    named = mqlab("upgrade", "fuse:2.20", "--old", "5.5", "--new", "5.18")
    assert mqlab("upgrade", "fuse:2.20", "5.5", "5.18").stdout == named.stdout
    alone = mqlab("upgrade", "fuse:2.20", "5.5")
    assert "5.5: write mqlab upgrade WHAT OLD NEW, such as fuse:2.20 5.5 5.18" in alone.stderr


def test_upgrade_says_what_changes_why_and_what_keeps_it(mqlab):
    done = mqlab("upgrade", "fuse:2.20", "--old", "5.17", "--new", "6.1")
    assert done.returncode == 0
    assert "C1 receives 12, was 6." in done.stdout
    assert 'decreaseNetworkConsumerPriority="false"' in done.stdout


def test_options_are_those_of_help(mqlab):
    lines = mqlab("options", "", "--json").stdout.splitlines()
    values = [json.loads(line) for line in lines]
    assert len(values) == len(reference.options())
    told = next(v for v in values if v["option"] == "always_sync_send")
    assert told["default"] == "true; in 5.5: false; not in 5.5"
    assert "advisory_support" in mqlab("options", "advisorySupport").stdout


@pytest.mark.parametrize(
    ("word", "named"), [("failover:", "maxReconnectAttempts"), ("timeout", "How long a send")]
)
def test_options_of_addresses_are_listed_by_their_name_there(mqlab, word, named):
    told = mqlab("options", word).stdout
    assert "failover:(...)" in told
    assert named in told
    assert "max_reconnect_attempts" not in told


def test_save_writes_what_runs_alike(mqlab, tmp_path):
    done = mqlab("save", "fuse:2.20", "--set", "A/linkToBrokerB.conduitSubscriptions=false", "--to", "x.json")
    assert done.returncode == 0
    assert (done.stdout, done.stderr) == ("", "written: x.json\n")
    outcome = json.loads(mqlab("run", "x.json", "--json").stdout)["outcome"]
    assert outcome["consumers"]["C1"]["count"] == 4


def test_actions_are_added_in_a_few_words(mqlab):
    crash = "--do", "Crash A at 0s"
    assert (
        json.loads(mqlab("run", "fuse:2.20", *crash, "--json").stdout)["outcome"]["consumers"]["C1"]["count"]
        == 0
    )
    assert "A crashed" in mqlab("explain", "fuse:2.20", *crash).stdout
    done = mqlab("run", "fuse:2.20", "--do", "Crash Z")
    assert (done.returncode, "unknown broker 'Z'" in done.stderr) == (2, True)


def test_set_changes_clusters_and_pairs_too(mqlab):
    done = mqlab("run", "openmq:4-1", "--set", "*.autocreate_queue=false", "--json")
    assert done.returncode == 0
    changed = json.loads(done.stdout)["outcome"]
    assert changed != json.loads(mqlab("run", "openmq:4-1", "--json").stdout)["outcome"]


@pytest.mark.parametrize(("steps", "told"), [
    ([{"do": "start"}, {"do": "stop_broker", "broker": "A"},
      {"do": "send", "broker": "A", "queue": "Q", "count": 3}], ["never sent", "no broker took them"]),
    ([{"do": "start"}, {"do": "send", "broker": "A", "topic": "T", "count": 3}], ["dropped"]),
], ids=["a broker that is down", "a topic without subscribers"])  # fmt: skip
def test_sends_that_reach_nobody_say_so_in_the_table_and_at_the_end(mqlab, tmp_path, steps, told):
    done = mqlab("run", lab_file(tmp_path, steps=steps))
    assert done.returncode == 0
    for part in told:
        assert part in done.stdout
    assert "3 messages were not delivered to any consumer." in done.stdout
    assert "reached nobody" not in mqlab("run", "fuse:2.20").stdout


def test_steps_are_numbered_from_one_everywhere(mqlab, tmp_path):
    """As an editor counts them in the file: a wrong key, a wrong name and a wrong order alike."""
    first = {"do": "start"}
    for step in ({"do": "stop_broker", "brokr": "A"}, {"do": "stop_broker", "broker": "Z"},
                 {"do": "close_consumer", "consumer": "C"}):  # fmt: skip
        told = mqlab("check", lab_file(tmp_path, steps=[first, step])).stderr
        assert re.search(r"(step|action) 2 \(", told), told


def test_a_reader_that_has_seen_enough_is_no_error(mqlab):
    script = "from mqlab import cli; import sys; sys.argv = ['mqlab', 'options']; cli.main()"
    done = subprocess.run(f'{sys.executable} -c "{script}" | head -1', shell=True, cwd=ROOT,
                          capture_output=True, text=True)  # fmt: skip
    assert "Traceback" not in done.stderr


def test_lines_jitter_and_an_end_can_be_given(mqlab):
    slow = mqlab("run", "fuse:2.20", "--link", "A,B:delay=50ms,loss=0.2", "--json")
    assert json.loads(slow.stdout)["outcome"]["consumers"]["C2"]["count"] == 3
    short = mqlab("run", "fuse:2.20", "--link", "A,B:delay=50ms", "--until", "30ms", "--json")
    assert json.loads(short.stdout)["outcome"]["consumers"]["C2"]["count"] == 0
    assert mqlab("run", "fuse:2.20", "--link", "loss=0.01", "--jitter", "2ms").returncode == 0
    assert mqlab("outcomes", "fuse:2.20", "--seeds", "3", "--link", "delay=3ms").returncode == 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "write loss=0.01"), ("A,B", "write loss=0.01"), ("loss", "write loss=0.01"),
        ("dely=5ms", "'dely=5ms'"), ("loss=much", "loss is 'much'"), ("A:delay=5ms", "not a pair of names"),
        ("Q,Z:delay=5ms", "neither is a broker"), ("delay=x", "delay"), ("bandwidth=1.5", "bandwidth"),
    ],
)  # fmt: skip
def test_a_bad_line_is_told(text, word, mqlab):
    done = mqlab("run", "fuse:2.20", "--link", text)
    assert done.returncode == 2
    assert word in done.stderr
    assert "Traceback" not in done.stderr


TRAFFIC = ("--consumer", "C=ORDERS@S1", "--producer", "P=ORDERS@S2:5")
VERBS = {
    "run": TRAFFIC,
    "explain": ("--consumer-at", "C=ORDERS@S1", "--producer", "P=ORDERS@S2:5"),
    "upgrade": TRAFFIC,
    "outcomes": (*TRAFFIC, "--seeds", "2"),
    "what-if": ("--consumer-at", "C=ORDERS@S1", "--producer", "P=ORDERS@S2:5", "--consumer", "C",
                "--message", "P-1", "--at-most", "2"),
    "compare": (*TRAFFIC,),
}  # fmt: skip


@pytest.fixture(scope="module")
def files_of_a_hub(tmp_path_factory):
    """A folder with the files of three brokers, and some that are none."""
    folder = tmp_path_factory.mktemp("hub")
    mq.save(mq.hub(2), folder)
    (folder / "jetty.xml").write_text("<beans/>")
    (folder / "notes.txt").write_text("not a configuration")
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_a_folder_with_traffic(mqlab, verb, files_of_a_hub):
    twice = [str(files_of_a_hub)] if verb == "compare" else []
    done = mqlab(verb, *twice, str(files_of_a_hub), *VERBS[verb])
    assert (done.returncode, done.stderr) == (0, "")
    assert "C" in done.stdout or "no change in this run" in done.stdout


def test_several_files_are_one_network(mqlab, files_of_a_hub):
    paths = [str(path) for path in sorted(files_of_a_hub.glob("*/activemq.xml"))]
    done = mqlab("run", *paths, *TRAFFIC, "--json")
    (line,) = done.stdout.splitlines()
    outcome = json.loads(line)
    assert outcome["what"] == ", ".join(paths)
    assert outcome["outcome"]["consumers"]["C"]["count"] == 5
    alone = mqlab("upgrade", "fuse:2.1", "fuse:2.2")
    assert alone.returncode == 2
    assert "one figure or lab file at a time" in alone.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("explain", "fuse:2.20", "--why-not", "C2"), "--why-not C2 needs a message, e.g. --message P-1"),
        (("explain", "fuse:2.20", "--broker", "A", "--consumer", "C1"), "ask one question"),
        (("lessons", "nope", "--html", "out"), "unknown lesson 'nope'"),
        (("lessons", "nope"), "unknown lesson 'nope'"),
        (("run", "nope"), "nope: neither a file or folder here nor the id of a figure"),
        (("run", "fuse:2.2O"), "did you mean 'fuse:2.2'"),
    ],
)
def test_what_puzzled_is_said_in_the_words_of_the_command_line(mqlab, arguments, told):
    done = mqlab(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_and_version_are_found_where_people_look(mqlab):
    assert mqlab("version").stdout == mqlab("--version").stdout
    assert mqlab("-h").stdout.startswith("Usage: mqlab ")
    assert mqlab("run", "-h").stdout.startswith("Usage: mqlab run ")
    done = subprocess.run(
        [sys.executable, "-m", "mqlab", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == mqlab("--version").stdout


def test_check_takes_values_for_placeholders_and_says_who_runs_on_a_host(mqlab, tmp_path):
    core = "http://activemq.apache.org/schema/core"
    uri = "static:(tcp://far.example.com:${port})"
    link = f'<networkConnectors><networkConnector uri="{uri}"/></networkConnectors>'
    listens = '<transportConnectors><transportConnector uri="tcp://10.0.0.2:61617"/></transportConnectors>'
    for name, inside in (("A", link), ("B", listens), ("C", listens.replace("0.2", "0.3"))):
        text = f'<broker xmlns="{core}" brokerName="{name}" brokerId="{name}">{inside}</broker>'
        (tmp_path / f"{name}.xml").write_text(text)
    (tmp_path / "v.properties").write_text("port=61617\n")
    both = ["check", *(str(tmp_path / f"{name}.xml") for name in "ABC")]
    values = ["--values", str(tmp_path / "v.properties")]
    assert "${port}" in mqlab(*both).stdout
    assert "far.example.com" in mqlab(*both, *values, "--json").stdout
    named = mqlab(*both, *values, "--hosts", "far.example.com=B", "--json").stdout
    assert "far.example.com" not in named
    wrong = mqlab(*both, "--hosts", "B")
    assert wrong.returncode == 2
    assert "expected HOST=BROKER" in wrong.stderr


@pytest.mark.parametrize(("command", "told"), [
    ("run fuse:2.20 --seed 1 --seed 2", "--seed is given 2 times; give it once"),
    ("run fuse:2.20 --until 1s --until 2s", "--until is given 2 times"),
    ("upgrade fuse:2.20 --old 5.5 --old 5.17", "--old is given 2 times"),
    ("check fuse:2.20 --edition 5.5 --edition 6.1", "--edition is given 2 times"),
    ("lesson new x --to a --to b", "--to is given 2 times"),
    ("run fuse:2.20 --set A/linkToBrokerB.networkTTL=2 --set A/linkToBrokerB.network_ttl=3",
     "sets the same option; give it once"),
    ("run fuse:2.20 --link loss=0.1 --link loss=0.2", "this line is described already"),
    ("run fuse:2.20 --link A,B:loss=0.1 --link B,A:loss=0.2", "this line is described already"),
    ("run fuse:2.20 --link loss=0.1,loss=0.2", "loss is there twice"),
])  # fmt: skip
def test_what_only_counts_once_is_given_once(mqlab, command, told):
    done = mqlab(*command.split())
    assert done.returncode == 2
    assert told in done.stderr


def test_what_to_write_is_told_as_an_option_of_the_command_line(mqlab):
    done = mqlab("run", "fuse:4.4", "--do", "Commit C session=s")
    assert done.returncode == 2
    assert 'Open it with --do "OpenSession C s transacted=True" before.' in done.stderr


def test_what_a_run_lacks_is_told_as_an_option_of_the_command_line(mqlab):
    reads = "Consumer T on=A reads=queue://NEW ack_mode=transacted acknowledge=false"
    done = mqlab("run", "fuse:2.1", "--do", reads, "--do", "Producer S on=A sends=1 to=queue://NEW")
    assert 'not committed; add --do "Commit T".' in " ".join(done.stdout.split())


def test_ctrl_c_is_told_with_what_is_kept(monkeypatch, capsys):
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    some = mq.outcomes("fuse:2.20", seeds=3)

    def with_some(*given, **named):
        raise Interrupted(outcomes=some)

    for module, verb, does, told in (
        (asking, "outcomes", with_some, "interrupted after 3 of 200 runs; these are their outcomes"),
        (asking, "outcomes", interrupted, "mqlab outcomes: interrupted before it was over"),
        (asking, "upgrade", interrupted, "mqlab upgrade: interrupted before it was over"),
    ):
        monkeypatch.setattr(module, verb, does)
        monkeypatch.setattr(sys, "argv", ["mqlab", verb, "fuse:2.20"])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        said = capsys.readouterr()
        assert (ended.value.code, said.err.strip()) == (130, told)
        assert ("C1 6, C2 3, C3 3" in said.out) == (does is with_some)
