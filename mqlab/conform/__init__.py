"""Runs compared with recordings: does mqlab do what the real broker did?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqlab import products
from mqlab.conform import artemis, at_rest, combined, in_time, openmq
from mqlab.engine.lab import Lab as AnyLab
from mqlab.errors import BadFile, CannotRun, MqlabError
from mqlab.products.activemq.files import lab_file as lab_files
from mqlab.products.activemq.lab import Lab
from mqlab.products.activemq.runtime import LOOPBACK
from mqlab.products.face import AnyProduct
from mqlab.products.openmq.lab import ClusterLab
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import GUIDE_NAMES
from mqlab.trace.trace import Trace

MOST_EVENTS = 1_000_000  # a run that goes beyond is stopped, and could not be run


RESULTS = ("agree", "disagree", "cannot run", "unjudged")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one recording compares: `result` is one of `RESULTS`.

    `depth` is how deep the comparison went, `details` the differences or the missing feature. A recording
    of depth ``none`` is only a bound: within it, nothing is said of the rules.
    """

    file: str
    result: str
    depth: str
    details: tuple[str, ...] = ()


def recordings(paths: Sequence[str | Path]) -> list[Path]:
    """Return the recordings among files and folders, sorted; raises `BadFile` if there is none."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise BadFile(f"{path}: there is no such file or folder")
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        found += [file for file in files if path.is_file() or _is_recording(file)]
    if not found:
        raise BadFile(f"no recording in {', '.join(map(str, paths))}")
    return found


def _is_recording(file: Path) -> bool:
    value = lab_files.read_json(file)
    return "scenario" in value and "observed" in value


def conform(paths: Sequence[str | Path]) -> Iterator[Verdict]:
    """Yield a verdict for every recording among *paths*."""
    for file in recordings(paths):
        yield judge(file)


def judge(file: Path) -> Verdict:
    """Play the scenario of one recording's file and compare; whatever goes wrong is its verdict."""
    try:
        return compare(lab_files.read_json(file), str(file))
    except Exception as error:  # of hundreds of files none may end the whole
        return Verdict(str(file), "cannot run", "", (f"{type(error).__name__}: {error}",))


def compare(
    value: JsonObject,
    file: str = "recording",
    play: Callable[[JsonObject, str], Trace] | None = None,
) -> Verdict:
    """Play the scenario of one recording and compare; *play* gives a run that is there already."""
    if "observed" not in value:
        raise BadFile(f"{file}: a recording has the keys 'scenario' and 'observed'")
    observed = value["observed"]
    depth = str(observed.get("deterministic"))
    family = products.product_of(value)
    try:
        trace = (play or played)(value, file)
    except CannotRun as error:
        return Verdict(file, "cannot run", depth, (str(error),))
    except MqlabError as error:
        real = [entry["outcome"] for entry in observed["outcomes"]]
        if real and all("snapshots" not in outcome for outcome in real):
            return _verdict(file, depth, _refusals(str(error), observed))
        return Verdict(file, "cannot run", depth, (f"{type(error).__name__}: {error}",))
    return _verdict(file, depth, differences_of(family)(family.outcome(trace), observed))


def _verdict(file: str, depth: str, lines: list[str]) -> Verdict:
    within = "unjudged" if depth == "none" else "agree"
    return Verdict(file, "disagree" if lines else within, depth, tuple(lines))


def _refusals(error: str, observed: JsonObject) -> list[str]:
    """Compare two refusals: the options that the real broker names are those that the lab names."""
    problems = [text for entry in observed["outcomes"] for text in entry["outcome"]["problems"]]
    named = {word for text in problems for word in re.findall(r"\w+", text)} & set(GUIDE_NAMES.values())
    missing = sorted(name for name in named if name not in error)
    if named and not missing:
        return []
    return [f"refused by both, for different reasons: real {problems}, run {error}"]


def played(value: JsonObject, file: str = "recording") -> Trace:
    """Play the scenario of a recording, with the times of the machine that recorded it."""
    product = products.product_of(value)
    scenario = product.read(value, file)
    # Networks at rest were recorded on one machine, where links take next to no time.
    if scenario.product == "activemq" and scenario.pace == "rest":
        lab: AnyLab = Lab(scenario, limit=MOST_EVENTS, timing=LOOPBACK)
    elif product.name == "openmq" and openmq.runs_on(value["scenario"]):
        lab = ClusterLab(scenario, limit=MOST_EVENTS, longer_names=openmq.SUFFIX)
    else:
        lab = product.lab(scenario, limit=MOST_EVENTS)
    lab.play()
    return lab.trace


def _activemq(found: Mapping[str, object], observed: Mapping[str, object]) -> list[str]:
    if "steps_ms" in observed:
        return combined.differences(found, observed)
    if "step_began_ms" in found:
        return in_time.differences(found, observed)
    return at_rest.differences(found, observed)


Differ = Callable[[Mapping[str, object], Mapping[str, object]], list[str]]
_DIFFERENCES: dict[str, Differ] = {
    "activemq": _activemq,
    "openmq": openmq.differences,
    "artemis": artemis.differences,
}


def differences_of(product: AnyProduct) -> Differ:
    """Return what compares an outcome of a product with a recording's `observed`, line by line."""
    return _DIFFERENCES[product.name]
