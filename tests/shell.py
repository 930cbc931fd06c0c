"""The command line in processes of its own that need not begin anew: each is forked off one that has read it.

To start Python and read the command line takes longer than what most commands do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback


class Shell:
    """Runs ``mqlab`` with some arguments in a folder, as `subprocess.run` would."""

    def __init__(self, root: os.PathLike[str]) -> None:
        self.root, self.server = root, None

    def call(self, arguments: list[str], folder: os.PathLike[str], env: dict[str, str]):
        """Return what has come of a command; *env* is beside the process's own."""
        if self.server is None:
            self.server = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={**os.environ, "PYTHONPATH": str(self.root)},
            )  # fmt: skip
        outputs = [os.path.join(folder, f".{name}") for name in ("stdout", "stderr")]
        asked = {"arguments": arguments, "folder": str(folder), "env": env, "outputs": outputs}
        print(json.dumps(asked), file=self.server.stdin, flush=True)
        code = int(self.server.stdout.readline())
        texts = []
        for path in outputs:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
            os.unlink(path)
        return subprocess.CompletedProcess(arguments, code, *texts)

    def close(self) -> None:
        """End the process that others are forked off."""
        if self.server is not None:
            self.server.stdin.close()
            self.server.wait(10)


def run(asked: dict) -> None:
    """Be the command: in a process that ends with it."""
    for number, path in enumerate(asked["outputs"], start=1):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
    os.environ.update(asked["env"])
    os.chdir(asked["folder"])
    sys.argv = ["mqlab", *asked["arguments"]]
    code = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    from mqlab.cli import main

    for line in sys.stdin:
        child = os.fork()
        if not child:
            run(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
