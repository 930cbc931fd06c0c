"""The kernel of a page: runs its cells, opens its pictures and answers what they ask, all as JSON.

It is one function of a text (`Kernel.answer`), called in a worker of the browser under Pyodide; with
``python -m mqlab.site.kernel`` it answers line by line, which is how the pages' first pictures are made.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import pprint
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mqlab import lessons
from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.experiments.rerun import Setting, play
from mqlab.site import front
from mqlab.spec.json_types import JsonDict
from mqlab.spec.link import Links
from mqlab.spec.values import as_typed

Data = JsonDict
NOWHERE = Path(os.devnull)  # the page keeps the progress
WIDE = 79  # columns of a printed value, as in a notebook


class Kernel:
    """Keeps the names of a page's cells, and its pictures by their ids."""

    def __init__(self) -> None:
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.views: JsonDict = {}
        self.made = 0

    def answer(self, text: str) -> str:
        """Return the answer to one request ``{"what": ..., ...}``: ``{"value": ...}`` or ``{"error": ...}``."""
        request = json.loads(text)
        try:
            what = request.pop("what")
            if what not in _ANSWERS:
                raise UnknownName.of("request", what, _ANSWERS)
            return json.dumps({"value": _ANSWERS[what](self, request)})
        except MqlabError as error:
            return json.dumps({"error": str(error)})
        except Exception as error:  # the kernel goes on, whatever a request brings about
            return json.dumps({"error": f"{type(error).__name__}: {error}"})

    def open(self, data: Data) -> Data:
        """Open the picture *view* of a run by the run's header, as the page shows it already."""
        run = data["run"]
        links = Links.read(run.get("links"))
        setting = Setting(run.get("seed", 0), run.get("jitter", 0), run.get("until"), links)
        trace = play(run["scenario"], setting)
        trace.header.update(run)
        from mqlab.workbench import WorkbenchSession
        from mqlab.workbench.picture import WorkbenchView

        view = WorkbenchView(WorkbenchSession(trace, data["name"]))
        view.take_news()
        self.views[data["view"]] = view
        return {"digest": trace.digest()}

    def ask(self, data: Data) -> Data:
        """Answer what picture *view* asks (`WorkbenchSession.answer`), and say what it shows from now on."""
        view = self.views.get(data["view"])
        if view is None or view.answer is None:
            raise BadValue("this picture is not open; open it first")
        if data["kind"] == "page":
            raise BadValue(
                "exporting a page is not possible from within a page; use mqlab run WHAT --html FILE"
            )
        found = view.answer(data["kind"], data["data"])
        return {"value": found, "news": view.take_news(), "digest": view.trace.digest()}

    def run(self, data: Data) -> list[Data]:
        """Run the code of a cell, and return what it gives: `text`, `html`, `view` or `error`, in order."""
        said, code = io.StringIO(), data["code"]
        value, trouble = None, ""
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                value = self._value(code)
            except (Exception, SystemExit) as error:
                trouble = _trouble(error)
        found: list[Data] = [{"text": said.getvalue()}] if said.getvalue() else []
        if value is not None:
            found.append(self._told(value))
        if trouble:
            found.append({"error": trouble})
        return found

    def _value(self, code: str) -> object:
        """Run code, and return the value of its last line, if that is an expression."""
        parsed = ast.parse(code, "cell")
        last = parsed.body.pop() if parsed.body and isinstance(parsed.body[-1], ast.Expr) else None
        exec(compile(parsed, "cell", "exec"), self.names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), "cell", "eval"), self.names)

    def _told(self, value: object) -> Data:
        if isinstance(value, front.View):
            self.made += 1
            id = f"made-{self.made}"
            self.views[id] = value
            return {"view": id, **_picture(value)}
        if (html := getattr(value, "_repr_html_", None)) is not None:
            return {"html": html()}
        return {"text": pprint.pformat(value, width=WIDE, sort_dicts=False, underscore_numbers=False)}

    def task(self, data: Data) -> Data:
        """Return what is said to what was `given` to a task: a prediction, blanks or an order of pieces."""
        lesson = lessons.open(data["lesson"], language=data["language"], file=NOWHERE)
        given = data["given"]
        if data["kind"] == "predict":
            said = lesson.predict(data["task"], **given)
        elif data["kind"] == "arrange":
            said = lesson.arrange(data["task"], str(given.get("order", "")).replace(",", " ").split())
        else:
            said = lesson.fill(data["task"], {name: as_typed(text) for name, text in given.items()})
        return {
            "right": said.right,
            "lines": list(said.lines),
            "mistake": said.mistake,
            "nonsense": not said.counted,
        }


def _picture(view: Any) -> Data:
    """Return a new picture as a page takes it: its columns, its runs, and how its run is made again."""
    trace = getattr(view, "trace", None)
    run = {"header": dict(trace.header), "digest": trace.digest(), "name": view.desk.name} if trace else {}
    return {**(view.take_news() or {}), "choices": view.choices, **run}


def _trouble(error: BaseException) -> str:
    """Return an error in one line, with the line of the cell in which it was raised."""
    line, at = 0, error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == "cell":
            line = at.tb_lineno
        at = at.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno or 0
    where = f" (line {line})" if line else ""
    return f"{type(error).__name__}{where}: {error}"


_ANSWERS: dict[str, Callable[[Kernel, Data], object]] = {
    "open": Kernel.open,
    "ask": Kernel.ask,
    "run": Kernel.run,
    "task": Kernel.task,
}


def main() -> None:
    """Answer each line of standard input with one of standard output."""
    front.install()
    kernel = Kernel()
    for line in sys.stdin:
        print(kernel.answer(line), flush=True)


if __name__ == "__main__":
    main()
