"""The session of one picture: runs that left one another, which of them are shown, undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mqlab import products
from mqlab.errors import BadValue, UnknownName, shown
from mqlab.experiments import fixes
from mqlab.experiments.rerun import Setting, play
from mqlab.spec.change import Change
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import told_time
from mqlab.trace.labels import title
from mqlab.trace.trace import Trace
from mqlab.workbench import (
    answers,
    breaking,
    building,
    moving,
    options,
    panels,
    questions,
    spread,
    starting_points,
)
from mqlab.workbench.answers import Request, microseconds
from mqlab.workbench.branch import MOST_EVENTS, Branch
from mqlab.workbench.options import BadOptions, Changed
from mqlab.workbench.parts import destinations, parts

Data = JsonDict
MOST_BRANCHES, MOST_DRAWN = 12, 5
AS_IT_WAS, DRAWN = "as it was", "my network"


@dataclass(frozen=True, slots=True)
class State:
    """What is there at one moment of the session: the runs, the one shown, and the one beside it."""

    branches: tuple[Branch, ...]
    current: int = 0
    beside: int | None = None
    name: str = ""

    @property
    def shown(self) -> Branch:
        """The run that is shown, or one of two."""
        return self.branches[self.current]

    @property
    def sides(self) -> tuple[int, ...]:
        """The numbers of the runs that are shown, the older one on the left."""
        beside = () if self.beside is None else (self.beside,)
        return tuple(sorted((self.current, *beside)))


class WorkbenchSession:
    """Keeps the runs of one picture. `answer(kind, data)` is all that a page calls.

    *name* is what the first run is called, such as a figure's id. Raises `BadValue` for a trace that
    does not hold its scenario.
    """

    def __init__(self, trace: Trace, name: str = "") -> None:
        self.state = State((Branch.of(trace, AS_IT_WAS),), name=name)
        self.past: list[State] = []
        self.future: list[State] = []
        self.found: tuple[Change | None, ...] = ()  # changes that the last answer numbered
        self.drawn: list[Branch] = []  # networks that were drawn before others began, the last one first

    @property
    def name(self) -> str:
        """What is run, such as a figure's id."""
        return self.state.name

    @property
    def shown(self) -> tuple[Branch, ...]:
        """The runs that are shown: one, or two side by side."""
        return tuple(self.state.branches[number] for number in self.state.sides)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of the runs that are shown."""
        return tuple(branch.trace for branch in self.shown)

    def answer(self, kind: str, data: Data) -> object:
        """Return the answer to a request as a JSON value; raises `MqlabError` for what cannot be."""
        asked = Request(data)
        if kind in answers.ANSWERS:
            return answers.ANSWERS[kind](self.state.shown, asked)
        if kind not in _DONE:
            raise UnknownName.of("request", kind, [*answers.ANSWERS, *_DONE])
        try:
            told = _DONE[kind](self, asked)
        except BadOptions as error:
            return {"errors": [{"path": list(path), "text": text} for path, text in error.errors]}
        return self.tell({}) if told is None else told

    # Questions

    def what_if(self, data: Data) -> Data:
        """Find changes after which `consumer` gets `message`, or does not; `fork` takes one by number."""
        told, self.found = questions.what_if(self.state.shown, data["message"], data["consumer"])
        return told

    def cures(self, data: Data) -> Data:
        """Find changes that deliver what is stuck at `broker` in `destination`; `fork` takes one by number."""
        told, self.found = panels.cured(self.state.shown, data["broker"], data["destination"])
        return told

    def check(self, data: Data) -> Data:
        """Return the problems, each with its part and, if one was found, a fix; `fork` takes it by number."""
        told, found = panels.checked(self.state.shown)
        self.found = tuple(found)
        return {"problems": told}

    def options(self, data: Data) -> Data:
        """Return the options of the part `kind`, `name`; of the network without a kind."""
        base = self.state.branches[0]
        return options.listed(self.state.shown, base, data.get("kind") or "", data.get("name", ""))

    # What makes another run

    def break_(self, data: Data) -> None:
        """Fork the shown run at `ms` with one `step` more; `beside` shows both."""
        branch, at = self.state.shown, microseconds(data["ms"])
        broken = breaking.with_step(branch.scenario, data["step"], at)
        text = data.get("text") or breaking.text_of(data["step"])
        self._fork(branch.then(text, broken, f"{text} at {told_time(at)}", at), data)

    def fork(self, data: Data) -> None:
        """Make a change that was found, by its number `change`; `beside` shows both runs."""
        change = self.found[data["change"]] if data["change"] < len(self.found) else None
        if change is None:
            raise BadValue("that change is no longer available; ask again")
        branch = self.state.shown
        self._fork(branch.then(change.text, change.apply(branch.body), change.text), data)

    def move(self, data: Data) -> None:
        """Fork the shown run with the fault that is its `action` at `ms` instead of when it was."""
        self._fork(moving.moved(self.state.shown, data["action"], microseconds(data["ms"])), data)

    def seed(self, data: Data) -> None:
        """Fork the shown run with another `seed`, which `spread` has told of."""
        self._fork(spread.with_seed(self.state.shown, data["seed"]), data)

    def apply(self, data: Data) -> None:
        """Give options of a part other values: `edits` are pairs of path and value. Bad ones come back."""
        made = self._changed(data)
        self._fork(self.state.shown.then(made.text, made.body, made.text, setting=made.setting), data)

    def _changed(self, data: Data) -> Changed:
        """Return the shown run with `edits` made."""
        edits = [(tuple(path), value) for path, value in data["edits"]]
        return options.changed(self.state.shown, data.get("kind") or "", data.get("name", ""), edits)

    def build(self, data: Data) -> None:
        """Draw: `add` a part (broker, pair, connector, consumer, producer), `remove` one, or edit one.

        `edits` are those of `apply`, for the part `kind`, `name`. Bad ones come back, as do bad fields of
        a new part: their path is the field's name.
        """
        branch = self.state.shown
        if "edits" in data:
            made = self._changed(data)
            self._edit(branch.then(DRAWN, made.body, made.text, setting=made.setting))
            return
        if "add" in data:
            body = building.add(branch.body, data["add"], data)
            new = {p.name for p in parts(body)} - {p.name for p in parts(branch.body)}
            text = f"{data['add']} {' '.join(sorted(new))}"
        else:
            kind, name = data["remove"], data["name"]
            body, text = building.remove(branch.body, kind, name), f"without {name}"
        self._edit(branch.then(DRAWN, body, text))

    def _fork(self, made: Branch, data: Data) -> None:
        """Put a new run beside those there are; the run it came from stays."""
        state = self.state
        if len(state.branches) >= MOST_BRANCHES:
            raise BadValue(f"{MOST_BRANCHES} runs are open, which is the maximum; undo some or start over")
        made = replace(made, parent=state.current)
        beside = state.current if data.get("beside") else None
        branches, number = (*state.branches, made), len(state.branches)
        self._go(replace(state, branches=branches, current=number, beside=beside))

    def _edit(self, made: Branch) -> None:
        """Put a new run in the place of the shown one."""
        state = self.state
        made = replace(made, parent=state.shown.parent)
        branches = tuple(made if no == state.current else old for no, old in enumerate(state.branches))
        self._go(replace(state, branches=branches, beside=None))

    # Which run is shown

    def show(self, data: Data) -> None:
        """Show run `number`."""
        self._go(replace(self.state, current=self._number(data["number"]), beside=None))

    def compare(self, data: Data) -> None:
        """Show run `number` beside the shown one; without a number one alone."""
        number = data.get("number")
        other = None if number is None else self._number(number)
        if other == self.state.current:
            other = self.state.shown.parent
        self._go(replace(self.state, beside=other))

    def begin(self, data: Data) -> None:
        """Begin again: a `figure`, a `topology` of `size` brokers, a `product`, one `drawn`, the first run."""
        if "figure" in data:
            name, scenario = str(data["figure"]), starting_points.figure(data["figure"])
        elif "topology" in data:
            name = str(data["topology"])
            size = data.get("size", starting_points.SIZE)
            scenario = starting_points.topology(name, size, data.get("messages", starting_points.MESSAGES))
        elif "product" in data:
            name, scenario = DRAWN, starting_points.new(data["product"])
        elif "drawn" in data:
            drawn = self.drawn[self._number(data["drawn"], len(self.drawn))]
            self._keep()
            self._go(State((replace(drawn, parent=None, at=None),), name=DRAWN))
            return
        else:
            self._go(State(self.state.branches[:1], name=self.name))
            return
        self.load(products.play(scenario), name)

    def open(self, data: Data) -> None:
        """Begin again with `files`, each with its `name` and `text`: a lab file, or those of one network."""
        files = [(str(one["name"]), str(one["text"])) for one in data["files"]]
        trace = play(starting_points.opened(files), Setting(), MOST_EVENTS)
        self.load(trace, files[0][0] if len(files) == 1 else f"{len(files)} files")

    def load(self, trace: Trace, name: str) -> bool:
        """Begin with another run, as one step that can be undone; say whether a network was drawn, and kept."""
        kept = self._keep()
        self._go(State((Branch.of(trace, AS_IT_WAS),), name=name))
        return kept

    def _keep(self) -> bool:
        drawn = [one for one in self.state.branches if one.name == DRAWN]
        others = [one for one in self.drawn if one.body != drawn[-1].body] if drawn else self.drawn
        self.drawn = [*drawn[-1:], *others][:MOST_DRAWN]
        return bool(drawn)

    def undo(self, data: Data) -> None:
        """Take the last step back."""
        if self.past:
            self.future.append(self.state)
            self.state = self.past.pop()

    def redo(self, data: Data) -> None:
        """Take the last step that was taken back again."""
        if self.future:
            self.past.append(self.state)
            self.state = self.future.pop()

    def _go(self, state: State) -> None:
        self.past.append(self.state)
        self.future.clear()
        self.state, self.found = state, ()

    def _number(self, given: object, count: int | None = None) -> int:
        count = len(self.state.branches) if count is None else count
        if not isinstance(given, int) or not 0 <= given < count:
            raise BadValue(f"no run {shown(given)}; runs are numbered 0 to {count - 1}")
        return given

    def tell(self, data: Data) -> Data:
        """Return what the page shows of the session: the runs, the parts, what changed, what came of it."""
        state, base = self.state, self.state.branches[0]
        branch = state.shown
        found = {
            "name": self.name,
            "title": title(branch.trace),
            "product": branch.product,
            "edition": branch.trace.header.get("edition"),
            "current": state.current,
            "beside": state.beside,
            "undo": len(self.past),
            "redo": len(self.future),
            "branches": [one.value() for one in state.branches],
            "own": DRAWN,  # what a network that was drawn is called
            "drawn": [", ".join(p.name for p in parts(one.body) if p.kind == "broker") for one in self.drawn],
            "changes": list(branch.changes),
            "parts": [p.value() for p in parts(branch.body)],
            "destinations": [f"{kind}://{name}" for kind, name in destinations(branch.body)],
            "outcome": {**questions.consequence(base.trace, branch.trace), "left": panels.left(branch.trace)},
            "problems": len(fixes.problems(branch.body)),
            "faults": moving.faults(branch),
            **panels.said(self.name, branch),
        }
        if state.beside is not None:
            one, other = self.traces
            found |= {"sides": list(state.sides), "comparison": panels.compared(one, other)}
        return found


# What concerns the runs of the session; what the shown run alone answers stands in `answers`.
_DONE: dict[str, Callable[[WorkbenchSession, Data], object]] = {
    "tell": WorkbenchSession.tell,
    "what if": WorkbenchSession.what_if,
    "cures": WorkbenchSession.cures,
    "check": WorkbenchSession.check,
    "options": WorkbenchSession.options,
    "break": WorkbenchSession.break_,
    "fork": WorkbenchSession.fork,
    "move": WorkbenchSession.move,
    "seed": WorkbenchSession.seed,
    "apply": WorkbenchSession.apply,
    "build": WorkbenchSession.build,
    "show": WorkbenchSession.show,
    "compare": WorkbenchSession.compare,
    "begin": WorkbenchSession.begin,
    "open": WorkbenchSession.open,
    "undo": WorkbenchSession.undo,
    "redo": WorkbenchSession.redo,
}
