"""What a learner is told: right or not, which wrong rule it was, hints, checks that say what they checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.lessons import answers, mistakes, setups
from mqlab.lessons.answers import Answer
from mqlab.lessons.data import Check, Exercise, Prediction
from mqlab.spec.change import Body
from mqlab.trace.trace import Trace

Texts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Feedback:
    """The feedback on an attempt, line by line. `mistake` names the wrong rule that explains it, if one does.

    What was no answer at all (a text for a number) is not `counted`: it has been told, and nothing is shown.
    """

    right: bool
    lines: tuple[str, ...]
    mistake: str = ""
    counted: bool = True

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


def on_prediction(task: Prediction, given: Answer, body: Body, trace: Trace, texts: Texts) -> Feedback:
    """Return the feedback on a prediction: the numbers, the rule that it follows if it is a wrong one."""
    words = texts["words"]
    key = answers.key(task, trace)
    source = [words["source"].format(source=task.source)] if task.source else []
    if answers.same(given, key, task.within):
        told = " ".join([task.told, *source]).strip()
        return Feedback(True, (words["right"].format(key=answers.told(key)), *([told] if told else [])))
    lines = [words["wrong"].format(given=answers.told(given), key=answers.told(key))]
    lines += _sums(task, given, key, trace, words)
    mistake = mistakes.found(given, task, body, trace)
    if mistake:
        lines.append(words["mistake"].format(rule=texts["mistakes"][mistake]))
    else:
        lines.append(words["no_mistake"].format(ask=question(task, trace)))
    if task.told:
        lines.append(" ".join([task.told, *source]))
    return Feedback(False, tuple(lines), mistake)


def question(task: Prediction, trace: Trace) -> str:
    """Return the call that asks the first message of a task's run why it went where it went."""
    if not trace.index.count:
        return ""
    return f'mq.explain(lesson.trace("{task.id}"), message="{trace.message_name(1)}")'


def _sums(task: Prediction, given: Answer, key: Answer, trace: Trace, words: Mapping[str, str]) -> list[str]:
    """Say how many of several numbers are right, and when more was given out than there is."""
    if len(key) < 2:
        return []
    right = sum(answers.same({name: given[name]}, {name: key[name]}, task.within) for name in key)
    lines = [words["close"].format(right=right, all=len(key))] if right else []
    total = sum(value for value in given.values() if not isinstance(value, str))
    real = sum(value for value in key.values() if not isinstance(value, str))
    sent = trace.index.count
    if task.kind in ("received", "waits") and total > max(sent, real):
        lines.append(words["sum_over"].format(given=total, sent=sent))
    return lines


def hint(task: Prediction | Exercise, number: int, key: Answer, texts: Texts) -> str:
    """Return hint *number* (from 1); the last one of a prediction gives one value away."""
    words = texts["words"]
    known = list(task.hints)
    if key:
        name, value = next(iter(key.items()))
        known.append(words["last_hint"].format(name=name, value=value))
    if number > len(known):
        return words["no_more_hints"]
    return words["hint"].format(number=number, all=len(known), text=known[number - 1])


def on_exercise(task: Exercise, body: Body, before: Body, texts: Texts) -> Feedback:
    """Run the learner's scenario and hold every check against it.

    Raises `MqlabError` for a scenario that cannot be run.
    """
    trace = setups.play(setups.read(body))
    told = [_checked(check, trace, texts) for check in task.checks]
    if task.most_changes is not None:
        count = _options_changed(before, body)
        bound = Check("", "", 0, task.most_changes)
        told.append(_line(texts["words"]["changed_options"], count, bound, texts))
    passed = sum(right for right, _ in told)
    words = texts["words"]
    end = "all_passed" if passed == len(told) else "some_passed"
    lines = [line for _, line in told]
    lines.append(words[end].format(count=len(told), passed=passed))
    if passed == len(told) and task.told:
        lines.append(task.told + (f" [{task.source}]" if task.source else ""))
    return Feedback(passed == len(told), tuple(lines))


def _checked(check: Check, trace: Trace, texts: Texts) -> tuple[bool, str]:
    found = answers.measure(check.kind, trace, (check.of,) if check.of else ())
    got = next(iter(found.values()))
    what = texts["kinds"][check.kind].format(of=check.of)
    return _line(what, got if not isinstance(got, str) else len(got.split()), check, texts)


def _line(what: str, got: float, check: Check, texts: Texts) -> tuple[bool, str]:
    words = texts["words"]
    right = check.least <= got <= check.most
    mark, text = ("✓", words["passed"]) if right else ("✗", words["failed"])
    line = f"{mark} {words['check'].format(what=what, got=got)} ({text}"
    return right, line + (")" if right else f"; {_bounds(check, words)})")


def _bounds(check: Check, words: Mapping[str, str]) -> str:
    least, most = check.least, check.most
    if least == most:
        kind = "is"
    elif most == float("inf"):
        kind = "least"
    else:
        kind = "most" if least == float("-inf") else "both"
    return words[f"bounds_{kind}"].format(least=f"{least:g}", most=f"{most:g}")


def _options_changed(before: Body, after: Body) -> int:
    """Return how many options of connectors and brokers differ."""
    count = 0
    for kind in ("connectors", "brokers"):
        old = {item["name"]: item for item in before.get(kind, ())}
        for item in after.get(kind, ()):
            was = old.get(item["name"], {})
            count += sum(item.get(key) != was.get(key) for key in {*item, *was})
    return count
