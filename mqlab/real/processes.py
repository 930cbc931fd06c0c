"""Real brokers as processes: started together, one per broker, killed one by one, all gone in the end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

from mqlab.errors import CannotRun
from mqlab.real import ports
from mqlab.real.connections import Places, StompEndpoint, answers
from mqlab.real.watcher import Watcher

LOOPBACK = "127.0.0.1"
START_SECONDS, STOP_SECONDS, ASK_SECONDS = 60, 30, 30  # on a machine that does nothing else
JAVA_OPTIONS = ("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
LOG = "console.log"  # not "log": a product may have a folder of that name
# What ends a program: SIGHUP is the end of its terminal, which not every system has.
_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_WORKS = {"R", "D"}  # states of a thread: it runs or could, it waits for a disk
_FAILED = re.compile(r"ERROR|Failed to start|Exception")

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None  # of a signal


class Processes(ABC):
    """Brokers as processes, within a ``with`` block, in a folder of their own that is gone afterwards.

    A product says how a broker is made ready and called, when it waits for its turn: `prepare`,
    `command` and `waits`. Each has two ports: its own, and that of STOMP.
    """

    host = LOOPBACK
    changes = ""  # how the files that they run on differ from the user's own, as a diff

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.folder = Path(tempfile.mkdtemp(prefix="mqlab-real-"))
        self.own = {name: self.folder / f"broker-{no}" for no, name in enumerate(names, start=1)}
        free = ports.take(self.host, 2 * len(names))
        self.ports = dict(zip(names, zip(free[::2], free[1::2], strict=True), strict=True))
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.ready: set[str] = set()  # brokers that have what they need
        self.begun: dict[str, int] = {}  # where in its log a broker's present life begins, in lines
        self.handlers: dict[int, Handler] = {}  # those of before
        self.watcher: Watcher | None = None  # within the block
        # A signal that comes while a broker is launched waits: its process would be nobody's.
        self.launching, self.told = False, 0

    def __enter__(self) -> Self:
        self.watcher = Watcher(self.folder)
        for number in _ENDS:
            with suppress(ValueError):  # not the main thread: nobody else may set signals
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self.handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for name in self.running:
            self.signal(name, signal.SIGKILL)
        for process in self.running.values():
            process.wait()
        if self.watcher is not None:
            self.watcher.close()
        ports.give_back(port for both in self.ports.values() for port in both)
        shutil.rmtree(self.folder, ignore_errors=True)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.told = number
        if not self.launching:
            self._leave_if_told()

    def _leave_if_told(self) -> None:
        if self.told == signal.SIGINT:
            raise KeyboardInterrupt
        if self.told:
            raise SystemExit(128 + self.told)

    def prepare(self, name: str) -> None:
        """Make what a broker needs before its first start: a folder at least."""
        self.own[name].mkdir(exist_ok=True)

    @abstractmethod
    def command(self, name: str) -> list[str]:
        """Return the command that runs a broker in the foreground."""

    def serves(self, name: str) -> bool:
        """Whether clients can connect to a broker."""
        return all(answers(place.host, place.port) for place in self.places(name))

    @abstractmethod
    def waits(self, said: Sequence[str]) -> bool:
        """Whether a broker that has logged these lines is up and waits for its turn."""

    def places(self, name: str) -> Places:
        """Return where STOMP clients of a broker connect: at the second of its ports."""
        return [StompEndpoint(name, self.host, self.ports[name][1])]

    def make_ready(self, names: Iterable[str]) -> None:
        """Make what brokers need before their first start, of several at once."""
        new = [name for name in names if name not in self.ready]
        self.ready.update(new)
        with ThreadPoolExecutor() as pool:
            list(pool.map(self.prepare, new))

    def start(self, names: Iterable[str]) -> None:
        """Start brokers together; returns when each serves, or waits for its turn."""
        names = list(names)
        self.make_ready(names)
        for name in names:
            self.begun[name] = self.log(name).count("\n")
            self._launch(name)
        for name in names:
            self._await(name)

    def _launch(self, name: str) -> None:
        command, base = self.command(name), self.own[name]
        self.launching = True
        with (base / LOG).open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=base,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=surroundings(),
                start_new_session=True,
            )
        if self.watcher is not None:
            self.watcher.runs(self.running[name].pid)
        self.launching = False
        self._leave_if_told()

    def _await(self, name: str) -> None:
        limit = time.monotonic() + START_SECONDS * busy()
        while not self.serves(name):
            said = self.said(name)
            if self.waits(said):
                return
            if not self.is_running(name) or time.monotonic() > limit:
                raise CannotRun(f"broker {name} did not start; its log says:\n{_last(said)}")
            time.sleep(0.05)

    def log(self, name: str) -> str:
        """Return what a broker has logged."""
        file = self.own[name] / LOG
        return file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""

    def said(self, name: str) -> list[str]:
        """Return the lines that a broker has logged since its last start."""
        return self.log(name).splitlines()[self.begun.get(name, 0) :]

    def failures(self) -> list[str]:
        """Return what ended threads within brokers, as their logs tell: bugs of the product, not rules."""
        return []

    def logged(self) -> int:
        """Return how much all brokers have logged, in bytes: it grows while they are at work."""
        files = (folder / LOG for folder in self.own.values())
        return sum(file.stat().st_size for file in files if file.exists())

    def worked(self) -> dict[str, float]:
        """Return how long each broker that runs has used a processor, in seconds; {} where it is not told."""
        return {
            name: spent
            for name, process in self.running.items()
            if (spent := _processor_seconds(process.pid)) is not None
        }

    def at_work(self) -> bool:
        """Whether a thread of a broker runs, or waits for a processor or a disk; False where it is not told."""
        return any(_threads(process.pid) & _WORKS for process in self.running.values())

    def is_running(self, name: str) -> bool:
        """Whether a broker's process is there."""
        return name in self.running and self.running[name].poll() is None

    def ended(self) -> str:
        """Return who has ended, though nobody asked for it, and its last words; empty for nobody."""
        gone = [name for name in self.running if not self.is_running(name)]
        return "; ".join(f"broker {name} has ended; its log says:\n{_last(self.said(name))}" for name in gone)

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a broker and to the script that may have started it."""
        with suppress(ProcessLookupError):
            os.killpg(self.running[name].pid, number)

    def end(self, name: str, *, orderly: bool) -> None:
        """Stop a broker in an orderly way, or kill its process."""
        if name not in self.running:
            return
        self.signal(name, signal.SIGTERM if orderly else signal.SIGKILL)
        try:
            self.running[name].wait(timeout=STOP_SECONDS * busy())
        except subprocess.TimeoutExpired:
            self.signal(name, signal.SIGKILL)
            self.running[name].wait()
        if self.watcher is not None:
            self.watcher.ended(self.running[name].pid)
        del self.running[name]

    def ask(self, command: Sequence[str | Path]) -> str:
        """Return what one of the product's own commands prints; raises `CannotRun` when it takes too long."""
        words, longest = [str(word) for word in command], ASK_SECONDS * busy()
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=surroundings(),
                timeout=longest,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{' '.join(words[:3])} took more than {longest:.0f} s") from None
        return done.stdout.decode("utf-8", "replace")


def differences(files: Iterable[tuple[str, str, str, str]]) -> str:
    """Return a diff without context of files: each as its name and text before, and its name and text after."""
    found: list[str] = []
    for before, was, after, now in files:
        found += unified_diff(was.splitlines(), now.splitlines(), before, after, lineterm="", n=0)
    return "\n".join(found)


def busy() -> float:
    """Return how many times as long as alone a process takes here now: others run beside it; 1 to 8."""
    if not hasattr(os, "getloadavg"):
        return 1
    return min(8, max(1, os.getloadavg()[0] / (os.cpu_count() or 1)))


def surroundings() -> Mapping[str, str]:
    """Return the environment for a process.

    It is copied before the fork: C's own table moves when another thread sets a variable, and a process that is
    just being started would read it half moved (Bad address).
    """
    return {name: os.environ[name] for name in list(os.environ) if name in os.environ}


def _processor_seconds(pid: int) -> float | None:
    """Return how long a process has used a processor, as Linux tells it."""
    try:
        own, of_system = _stat(Path(f"/proc/{pid}"))[11:13]
    except OSError:
        return None
    return (int(own) + int(of_system)) / os.sysconf("SC_CLK_TCK")


def _threads(pid: int) -> set[str]:
    """Return the states in which the threads of a process are, as Linux tells them."""
    found = set()
    with suppress(OSError):  # it has ended, or this is no Linux
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):  # it has ended since
                found.add(_stat(thread)[0])
    return found


def _stat(of: Path) -> list[str]:
    """Return what Linux tells of a process or a thread after its name, in which any sign may be."""
    told = (of / "stat").read_text(encoding="utf-8", errors="replace")
    return told.rpartition(")")[2].split()


def _last(lines: list[str]) -> str:
    telling = [line for line in lines if _FAILED.search(line)][:4]
    return "\n".join(f"  {line[:300]}" for line in (telling or lines[-8:]))
