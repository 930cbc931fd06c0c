"""Plays on real products, by the programs that made the published recordings.

A recorder runs as a process group of its own (as root in a process namespace, so that nothing it starts
outlives it). One that shows no result for too long is killed, the scenario it was at is reported as hanging,
and the others go on.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Event
from typing import Any

from tests.conftest import HERE

Scenario = dict[str, Any]
USUAL = HERE.parent.parent / "shared" / "recorders"
VARIABLE = "MQLAB_RECORDERS"
BUILDS = Path(tempfile.gettempdir()) / "mqlab-differential"  # jars and classes of products
# Where the numbers of jobs begin, which Artemis' recorder takes for its addresses (20 to 120) and files: six
# play at once, so that testers whose process ids follow each other do not meet.
JOBS = 20 + 6 * (os.getpid() % 16)
# Before the command of a recorder: what it starts dies with the first process of its namespace.
# Besides a loopback, one interface with an address: `MulticastDiscoveryAgent` announces nothing without.
LINK = (
    "ip link set lo up && ip link add m0 type veth peer name m1 && ip addr add 10.99.0.1/24 dev m0 "
    "&& ip link set m0 up && ip link set m1 up && ip route add 224.0.0.0/4 dev m0"
)
APART = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc",
         "sh", "-c", f'{LINK} && exec "$@"', "sh")  # fmt: skip
PATIENCE = 240.0  # s without a result until a recorder is killed


class NoRecorder(Exception):
    """The recorders, or what they need, are not there; the text says what to do."""


def folder(said: str | None = None) -> Path:
    """Return where the recorders are; raises `NoRecorder` where they are not."""
    path = Path(said or os.environ.get(VARIABLE) or USUAL)
    if not (path / "README.md").exists():
        raise NoRecorder(f"no recorders in {path}: name their folder by --recorders or {VARIABLE}")
    for tool in ("java", "mvn"):
        if shutil.which(tool) is None:
            raise NoRecorder(
                f"{tool} is missing: the recorders fetch the products by Maven and run them with Java"
            )
    return path


@dataclass
class Played:
    """What came of playing: recordings by name, and scenarios that hung or gave nothing, with the reason."""

    recordings: dict[str, Any] = field(default_factory=dict)
    lost: dict[str, str] = field(default_factory=dict)


@dataclass
class Recorder:
    """How one family is played: the commands of its recorder, with its environment.

    In *play* and *record* ``{scenarios}``, ``{raw}``, ``{out}``, ``{plays}`` and ``{job}`` are filled in,
    ``{files}`` stands for the files of the scenarios, ``{raws}`` for the folders of all plays. *build* runs
    once before all.
    """

    product: str
    play: Sequence[str]
    record: Sequence[str]
    build: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    root: bool = False
    jobs: int = 1  # how many may play at the same time on one machine
    leaves: Sequence[str] = ()  # in whose steps: what a client may keep, and meddle with the next play
    patience: float = PATIENCE
    stopped: Event = field(default_factory=Event)

    def check(self) -> None:
        """Raise `NoRecorder` if this family cannot be played by this user."""
        if self.root and not is_apart():
            raise NoRecorder(f"{self.product} is played in network namespaces: run as root")

    def play_all(self, scenarios: Mapping[str, Scenario], plays: int, jobs: int = 0) -> Played:
        """Play scenarios, each so often, in several recorders at once."""
        jobs = max(1, min(jobs or self.jobs, self.jobs, len(scenarios)))
        if self.build:
            _run(self.build, self.env, 600)
        # those that need the same brokers follow each other: a recorder may keep them running
        names = sorted(
            scenarios,
            key=lambda name: str(scenarios[name].get("brokers")) + str(scenarios[name].get("cluster")),
        )
        alone = [name for name in names if self._leaves_one(scenarios[name])]
        names = [name for name in names if name not in alone]
        size = max(1, -(-len(names) // jobs))
        shares = [names[begin : begin + size] for begin in range(0, len(names), size)]
        found, free = Played(), SimpleQueue[int]()
        for job in range(jobs):
            free.put(job)
        with ThreadPoolExecutor(jobs) as pool:
            try:
                parts = [pool.submit(self._play, free, {n: scenarios[n] for n in share}, plays)
                         for share in (*shares, *([name] for name in alone))]  # fmt: skip
                for part in parts:
                    found.recordings |= part.result().recordings
                    found.lost |= part.result().lost
            except BaseException:  # Ctrl-C too: those who wait for a recorder end it
                self.stopped.set()
                raise
        return found

    def _leaves_one(self, scenario: Scenario) -> bool:
        """Whether a client may go on looking for a broker after the play, or remember a branch by its id."""
        return any(step.get(key) for key in self.leaves for step in scenario["steps"])

    def _play(self, free: SimpleQueue[int], scenarios: Mapping[str, Scenario], plays: int) -> Played:
        found, left = Played(), dict(scenarios)
        job = free.get()
        while left and not self.stopped.is_set():
            with tempfile.TemporaryDirectory(prefix="mqlab-play-") as text:
                part, stopped_at = self._attempt(Path(text), job, left, plays)
            found.recordings |= part
            left = {name: scenario for name, scenario in left.items() if name not in part}
            if not left:
                break
            stopped_at = stopped_at if stopped_at in left else next(iter(left))
            found.lost[stopped_at] = "gave no result"
            del left[stopped_at]
        free.put(job)
        return found

    def _attempt(
        self, path: Path, job: int, scenarios: Mapping[str, Scenario], plays: int
    ) -> tuple[dict[str, Any], str]:
        """Play until all are done or one hangs; return recordings, and at which it stopped."""
        inputs, out = path / "scenarios", path / "out"
        alone = self._leaves_one(next(iter(scenarios.values())))
        raws = [path / f"raw{no}" for no in range(plays if alone else 1)]
        for made in (inputs, out, *raws):
            made.mkdir()
        for name, scenario in scenarios.items():
            (inputs / f"{name}.json").write_text(json.dumps(scenario))
        files = [str(inputs / f"{name}.json") for name in scenarios]
        words = {"scenarios": inputs, "raw": raws[0], "out": out, "job": JOBS + job, "path": path}
        for raw in raws:
            words |= {"plays": plays // len(raws), "raw": raw}
            command = _filled(self.play, words, files)
            _watch(command, {**self.env, "TMPDIR": str(path)}, raw, self.patience, self.stopped)
            _drop_torn(raw)
        words["raw"] = raws[0]
        _run(_filled(self.record, words, files, raws), self.env, 120)
        read = {file.stem: json.loads(file.read_text()) for file in out.glob("*.json")}
        found = {name: recording for name, recording in read.items() if recording["observed"]["runs"] >= plays}
        return found, next((name for name in scenarios if name not in found), "")


def _filled(
    command: Sequence[str], words: Mapping[str, object], files: list[str], raws: Sequence[Path] = ()
) -> list[str]:
    lists = {"{files}": files, "{raws}": [str(raw) for raw in raws]}
    return [made for word in command for made in lists.get(word) or [word.format(**words)]]


def _run(command: Sequence[str], env: Mapping[str, str], seconds: float) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    if done.returncode:
        raise NoRecorder(f"{' '.join(command[:3])}: {done.stderr.strip()[-300:] or done.stdout.strip()[-300:]}")


def _drop_torn(raw: Path) -> None:
    """Leave out what was being written when its recorder ended."""
    for file in raw.iterdir():
        try:
            json.loads(file.read_text())
        except ValueError:
            file.unlink()


def _watch(command: Sequence[str], env: Mapping[str, str], raw: Path, patience: float, stopped: Event) -> None:
    """Run a recorder until it ends or shows nothing new in time; whatever happens, nothing of it is left."""
    if is_apart():
        command = [*APART, *command]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            seen, since = -1.0, time.monotonic()
            while process.poll() is None and not stopped.wait(0.2):
                newest = max((file.stat().st_mtime for file in raw.iterdir()), default=0.0)
                if newest != seen:
                    seen, since = newest, time.monotonic()
                elif time.monotonic() - since > patience:
                    print(f"a recorder showed no result for {patience:.0f} s: killed", file=sys.stderr)
                    break
        finally:
            _kill(process)


@cache
def is_apart() -> bool:
    """Whether recorders can have processes and a network of their own here: root can, where it may."""
    if os.geteuid() != 0 or not all(shutil.which(program) for program in ("unshare", "ip")):
        return False
    return subprocess.run([*APART, "true"], capture_output=True, check=False).returncode == 0


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
