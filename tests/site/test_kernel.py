"""The kernel of a page, in a Python like any other: what a page asks and is told."""

import json
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab import lessons
from tests.conftest import ROOT

CONDUIT = {"kind": "connector", "name": "linkToBrokerB"}


@pytest.fixture(scope="module")
def kernel():
    """Return a function that asks a kernel of its own process."""
    server = subprocess.Popen([sys.executable, "-m", "mqlab.site.kernel"], cwd=ROOT, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip

    def ask(what, **data):
        server.stdin.write(json.dumps({"what": what, **data}) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    yield ask
    server.stdin.close()
    server.wait(20)


def opened(kernel, figure, view):
    trace = mq.run(figure)
    run = {key: trace.header[key] for key in ("scenario", "seed", "jitter")}
    told = kernel("open", view=view, run=run, name=figure)
    assert told == {"value": {"digest": trace.digest()}}


def test_a_cell_tells_what_it_prints_and_what_its_last_line_is(kernel):
    code = "import mqlab as mq\nprint('one')\nmq.run('fuse:2.20').received()"
    assert kernel("run", code=code)["value"] == [
        {"text": "one\n"},
        {"text": "{'C1': 6, 'C2': 3, 'C3': 3}"},
    ]
    assert kernel("run", code="mq.run('fuse:2.20');\nx = 1") == {"value": []}
    assert kernel("run", code="x")["value"] == [{"text": "1"}]  # names stay


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1\n1/0", "ZeroDivisionError (line 2): division by zero"),
        ("x = = 1", "SyntaxError (line 1)"),
        ("import mqlab as mq\nmq.figure('fuse:2.99')", "UnknownName (line 2): unknown figure"),
        ("raise SystemExit", "SystemExit (line 1)"),
    ],
)
def test_a_cell_that_fails_is_told_in_a_line(kernel, code, told):
    (found,) = kernel("run", code=code)["value"]
    assert found["error"].startswith(told)
    assert "Traceback" not in found["error"]


def test_a_picture_is_columns_and_says_how_its_run_is_made_again(kernel):
    (found,) = kernel("run", code="import mqlab as mq\nmq.view('fuse:2.20')")["value"]
    assert found["stages"] == 1
    assert found["columns"]["meta"]["title"] == ["Load balancing with conduit subscriptions on"]
    assert found["digest"] == mq.run("fuse:2.20").digest()
    assert found["header"]["scenario"]["guide"] == "figure 2.20"
    (two,) = kernel("run", code="mq.view(mq.compare('fuse:2.20', 'fuse:2.21'))")["value"]
    assert two["stages"] == 2
    assert {"brokers", "brokers 2"} <= set(two["columns"])


def test_the_workbench_can_be_asked_for_another_network(kernel):
    (found,) = kernel("run", code="import mqlab as mq\nmq.widgets.Workbench('fuse:2.21')")["value"]
    assert found["choices"]["figure"] == "fuse:2.21"
    assert "mesh" in found["choices"]["topologies"]
    told = kernel("ask", view=found["view"], kind="begin", data={"topology": "mesh", "size": 9})
    assert len(told["value"]["news"]["columns"]["brokers"]["name"]) == 9


def test_a_changed_option_gives_the_run_that_python_gives(kernel):
    opened(kernel, "fuse:2.20", "a")
    rows = kernel("ask", view="a", kind="options", data=CONDUIT)["value"]["value"]["rows"]
    path = next(row["path"] for row in rows if row["name"] == "conduitSubscriptions")
    told = kernel("ask", view="a", kind="apply", data={**CONDUIT, "edits": [[path, False]]})["value"]
    assert told["value"]["branches"][1]["received"] == {"C1": 4, "C2": 4, "C3": 4}
    other = mq.run(mq.figure("fuse:2.20").change("A/linkToBrokerB", conduit_subscriptions=False))
    assert told["digest"] == other.digest()
    assert told["news"]["stages"] == 1
    beside = kernel("ask", view="a", kind="compare", data={"number": 0})["value"]
    assert beside["news"]["stages"] == 2
    assert kernel("ask", view="a", kind="tell", data={})["value"]["news"] is None


def test_what_is_said_to_a_prediction_is_what_the_lesson_says(kernel):
    given = {"C1": "4", "C2": "4", "C3": "4"}
    said = lessons.open("01-first-network").predict("conduit", **given)
    told = kernel("task", lesson="01-first-network", language="en", kind="predict", task="conduit",
                  given=given)  # fmt: skip
    assert told["value"] == {
        "right": False, "lines": list(said.lines), "mistake": "conduit_counts_consumers",
        "nonsense": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ({"what": "sing"}, "unknown request 'sing'"),
        ({"what": "ask", "view": "nobody", "kind": "tell", "data": {}}, "open it first"),
        ({"what": "run"}, "KeyError: 'code'"),
    ],
)
def test_a_request_that_cannot_be_answered_is_told_and_the_kernel_goes_on(kernel, request_, told):
    assert told in kernel(**request_)["error"]
    assert kernel("run", code="1") == {"value": [{"text": "1"}]}


def test_a_page_says_how_another_one_is_made(kernel):
    opened(kernel, "fuse:2.1", "b")
    assert "--html" in kernel("ask", view="b", kind="page", data={})["error"]
