"""The README's commands, its notebooks and Binder: all as written."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

import mqlab as mq
from mqlab.errors import CannotRun
from mqlab.real.home import find
from tests.conftest import ROOT, answer_of, end, missing, said_in

README = (ROOT / "README.md").read_text()
SHELL = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
         for line in block.splitlines()]  # fmt: skip


def real_activemq():
    try:
        find()
    except CannotRun as error:
        missing(str(error))


@pytest.mark.parametrize("line", [line for line in SHELL if line.startswith("mqlab ")])
def test_a_command_of_the_readme_works(mqlab, line, tmp_path):
    if line.startswith("mqlab real "):
        real_activemq()
    north = mq.NetworkConnector("up", uri="static:(tcp://south:61616)")
    mq.save(mq.Network(mq.Broker("north", north), mq.Broker("south")), f"{tmp_path}/")
    done = mqlab(*shlex.split(line)[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_readme_begins_with_the_two_commands():
    assert [line.rpartition("/")[2] for line in SHELL[:2]] == ["mqlab lab", "python -m pytest"]
    assert 'eval "$test_command"' in (ROOT / ".ci" / "run").read_text()


@pytest.mark.slow
def test_mqlab_lab_ends_in_a_running_jupyterlab(tmp_path):
    env = {**os.environ, **{f"JUPYTER_{d}_DIR": str(tmp_path / d) for d in ("CONFIG", "RUNTIME")}}
    log = tmp_path / "log"
    with log.open("wb") as out:
        server = subprocess.Popen([sys.executable, "-m", "mqlab.cli", "lab", "--no-browser"],
                                  cwd=tmp_path, stdout=out, stderr=out, env=env)  # fmt: skip
    try:
        found = said_in(log, r"http://127\.0\.0\.1:\d+\S+(?=\s)", server)
        assert "00-start-here.ipynb" in found[0]
        assert b"jupyter-config-data" in answer_of(found[0], server, log)
    finally:
        subprocess.run(["pkill", "-P", str(server.pid)], check=False)
        end(server)


def stored(folder):
    """Return the notebooks below *folder* that have outputs."""
    return {file.relative_to(folder).parts[0] for file in folder.rglob("*.ipynb")
            if any(cell.get("outputs") for cell in json.loads(file.read_text())["cells"])}  # fmt: skip


def test_learners_work_on_copies_that_give_no_answer_away_and_are_never_overwritten(tmp_path):
    from mqlab.lessons import jupyter

    target = jupyter.prepare(tmp_path / "mine")
    assert len(stored(ROOT / "notebooks")) > 10
    assert stored(target) == {"instructor"}
    assert (target / "zh" / "07-load-balancing.ipynb").exists()
    first = target / jupyter.FIRST
    first.write_text("my own")
    jupyter.prepare(tmp_path / "mine")
    assert first.read_text() == "my own"


def test_where_people_begin_at_once_the_outputs_are_taken_out_in_place(tmp_path):
    from mqlab.lessons import jupyter

    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    jupyter.clear(tmp_path / "notebooks")
    assert stored(tmp_path / "notebooks") == {"instructor"}


def outputs():
    """Yield (notebook, cell, output) of all that is stored in the notebooks."""
    for notebook in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        for cell in json.loads(notebook.read_text())["cells"]:
            for output in cell.get("outputs", ()):
                yield notebook.name, cell, output


def test_notebooks_keep_text_only():
    """What nbval holds to the letter is stored, and what a saved notebook cannot show is not."""
    found = list(outputs())
    assert len(found) > 100
    for name, cell, output in found:
        kinds = set(output.get("data", {"text/plain": ""}))
        assert kinds <= {"text/plain", "text/html"}, name
        assert "nbval-ignore-output" not in cell["metadata"].get("tags", ()), name
        assert str(ROOT) not in json.dumps(output), name
        assert output.get("traceback", []) == [], name


def test_binder_is_understood_by_repo2docker(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)],
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "binder/requirements.txt" in done.stderr + done.stdout
    lines = (ROOT / "binder" / "requirements.txt").read_text().split()
    assert lines == [".[lab,spark,real]"]
    packages = (ROOT / "binder" / "apt.txt").read_text().split()
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.+-]+", name) for name in packages)
    assert os.access(ROOT / "binder" / "postBuild", os.X_OK)


def test_the_badge_opens_the_first_notebook():
    path = re.search(r"urlpath=lab/tree/(\S+?)\)", README)[1]
    assert (ROOT / path).exists()
