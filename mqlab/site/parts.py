"""The parts of a page: prose, code with what it gave, pictures, tasks; and the runs that its pictures show."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

from mqlab import lessons
from mqlab.errors import BadFile
from mqlab.lessons.data import Prediction
from mqlab.lessons.solutions import IGNORED
from mqlab.site import tasks
from mqlab.site.book import Page
from mqlab.site.kernel import NOWHERE
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.trace.trace import Trace
from mqlab.views.pack import pack
from mqlab.views.scene import SHAPES, scene

ASKED = re.compile(r'lesson\.ask\("([^"]+)"\)')
Cell = JsonObject
RUN = ("scenario", "seed", "jitter", "until", "links", "outcomes")  # of a header, to run it again


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a page. `kind` is prose, code, or task; `code` has a `picture` if it gives one."""

    kind: str
    number: int
    source: str
    outputs: tuple[Mapping[str, str], ...] = ()
    picture: Mapping[str, object] | None = None
    task: Mapping[str, object] | None = None
    is_kept_out: bool = False  # gives a picture that only a notebook has


@dataclass
class Parts:
    """Makes the parts of one page; its pictures come from a kernel of its own (`mqlab.site.kernel`)."""

    page: Page

    @cached_property
    def lesson(self) -> lessons.Lesson:
        """The page's lesson, whose progress nobody keeps."""
        return lessons.open(str(self.page.file or self.page.name), language=self.page.language, file=NOWHERE)

    def all(self) -> list[Part]:
        """Return the parts in their order; raises `BadFile` for a notebook whose cells fail."""
        with ThreadPoolExecutor(1) as beside:
            pictures = beside.submit(self._pictures)
            parts = [self._part(number, cell) for number, cell in enumerate(self.page.cells)]
            found = pictures.result()
        return [
            replace(part, picture=found.get(part.number)) if part.kind == "code" else part for part in parts
        ]

    def _part(self, number: int, cell: Cell) -> Part:
        source = cell["source"]
        if cell["cell_type"] == "markdown":
            return Part("prose", number, source)
        if asked := ASKED.search(source):
            id = asked[1]
            task = self.lesson.task(id)
            shown = tasks.described(self.lesson, id)
            shown["lesson"] = self.page.opened
            shown["inputs"] = [[name, told] for name, told in self.lesson.example(id).items()]
            shown["text"] = task.text
            run = picture(self.lesson.trace(id)) if isinstance(task, Prediction) else None
            return Part("task", number, source, picture=run, task=shown)
        return Part(
            "code",
            number,
            source,
            tuple(_outputs(cell)),
            is_kept_out=_gives_picture(cell) and not self.page.is_run,
        )

    def _pictures(self) -> dict[int, JsonDict]:
        """Return the pictures that the page's cells give, by their numbers."""
        wanted = [no for no, cell in enumerate(self.page.cells) if _gives_picture(cell)]
        if not wanted or not self.page.is_run:
            return {}
        cells = [
            (no, cell["source"])
            for no, cell in enumerate(self.page.cells[: max(wanted) + 1])
            if cell["cell_type"] == "code" and not ASKED.search(cell["source"])
        ]
        asked = "".join(json.dumps({"what": "run", "code": code}) + "\n" for _, code in cells)
        done = subprocess.run(
            [sys.executable, "-m", "mqlab.site.kernel"],
            input=asked,
            check=False,
            capture_output=True,
            text=True,
            cwd=self.page.file.absolute().parent if self.page.file is not None else None,
        )
        lines = done.stdout.splitlines()
        if len(lines) != len(cells):
            raise BadFile(f"{self.page.notebook.name}: its cells did not run: {done.stderr[-500:]}")
        found: dict[int, JsonDict] = {}
        for (number, _), line in zip(cells, lines, strict=True):
            for output in json.loads(line)["value"]:
                if "error" in output and not self._expects_error(number):
                    raise BadFile(f"{self.page.notebook.name}, cell {number}: {output['error']}")
                if "view" in output:
                    found[number] = _packed(output)
        return found

    def _expects_error(self, number: int) -> bool:
        return any(output["output_type"] == "error" for output in self.page.cells[number]["outputs"])


def picture(trace: Trace, name: str = "") -> dict[str, object]:
    """Return the picture of one run as a page takes it with it."""
    shown = scene(trace)
    return _packed(
        {
            "stages": 1,
            "columns": shown.columns,
            "digest": trace.digest(),
            "name": name,
            "header": dict(trace.header),
        }
    )


def _packed(shown: JsonObject) -> JsonDict:
    """Return a picture with its columns as a short text, and what its run is made of."""
    tables = {}
    for number in range(shown["stages"]):
        end = f" {number + 1}" * bool(number)
        for name, shape in SHAPES.items():
            given = shown["columns"].get(name + end, {})
            tables[name + end] = {column: given.get(column, []) for column in shape.split()}
    title = shown["columns"]["meta"]["title"][0]
    found = {
        "stages": shown["stages"],
        "columns": pack(tables),
        "title": title,
        "choices": shown.get("choices"),
    }
    if header := shown.get("header"):
        run = {key: header[key] for key in RUN if header.get(key) is not None}
        found |= {"run": run, "name": shown["name"], "digest": shown["digest"]}
    return found


def _gives_picture(cell: Cell) -> bool:
    is_form = ASKED.search(cell["source"])
    return cell["cell_type"] == "code" and not is_form and IGNORED in cell["metadata"].get("tags", ())


def _outputs(cell: Cell) -> Iterator[Mapping[str, str]]:
    """Yield what a cell gave when it was stored; text printed in pieces is one text."""
    said = ""
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            said += "".join(output["text"])
            continue
        if said:
            yield {"text": said}
            said = ""
        if output["output_type"] == "error":
            yield {"error": f"{output['ename']}: {output['evalue']}"}
        elif "text/html" in output["data"]:
            yield {"html": "".join(output["data"]["text/html"])}
        else:
            yield {"text": "".join(output["data"]["text/plain"])}
    if said:
        yield {"text": said}
