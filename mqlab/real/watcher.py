"""A process that ends brokers and removes their folder when who started them is gone, even if it was killed."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

# It reads "+ PID" and "- PID" until its input ends, as it does when the other end has died.
_SCRIPT = """trap '' HUP INT TERM
left=' '
while read sign pid; do
  case $sign in
    +) left="$left$pid ";;
    -) left="${left%% $pid *} ${left#* $pid }";;
  esac
done
for pid in $left; do kill -s KILL -- "-$pid" 2>/dev/null; done
sleep 0.2
rm -rf -- "$1"
"""


class Watcher:
    """Knows which brokers run, each by the group of its processes; without a shell nobody watches."""

    def __init__(self, folder: Path) -> None:
        shell = shutil.which("sh")
        self.process = (
            None
            if shell is None
            else subprocess.Popen(
                [shell, "-c", _SCRIPT, "watcher", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        )

    def runs(self, pid: int) -> None:
        """A broker has been started."""
        self._tell("+", pid)

    def ended(self, pid: int) -> None:
        """A broker has ended: its number may be another process's from now on."""
        self._tell("-", pid)

    def _tell(self, sign: str, pid: int) -> None:
        if self.process is not None and self.process.stdin is not None:
            with suppress(OSError):  # somebody has killed it
                self.process.stdin.write(f"{sign} {pid}\n".encode())
                self.process.stdin.flush()

    def close(self) -> None:
        """End the watch: all is over here, and tidied by who began it."""
        if self.process is not None and self.process.stdin is not None:
            self.process.kill()
            self.process.wait()
            with suppress(OSError):
                self.process.stdin.close()
