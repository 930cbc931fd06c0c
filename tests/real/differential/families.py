"""The families that can be asked: who draws their scenarios, and who plays them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.differential import artemis, openmq
from tests.real.differential.draw import Draw
from tests.real.differential.recorder import BUILDS, Recorder, Scenario


@dataclass(frozen=True, slots=True)
class Family:
    """One product's scenarios of one kind."""

    draw: Callable[[Draw, str], Scenario]
    recorder: Callable[[Path], Recorder]
    language: Iterable[str] = field(default=())  # all that its recorder knows


def _openmq(programs: Path) -> Recorder:
    here = programs / "openmq"
    build = BUILDS / "openmq"
    build.mkdir(parents=True, exist_ok=True)
    return Recorder(
        "openmq",
        play=("sh", str(here / "run.sh"), "{raw}", "{plays}", "{files}"),
        record=("python3", str(here / "record.py"), "{out}", "{raw}"),
        build=("sh", str(here / "run.sh"), str(build / "none"), "0"),
        env={"ORACLE_CACHE": str(build)},
        root=True,
        jobs=4,
    )


def _artemis(version: str) -> Callable[[Path], Recorder]:
    def recorder(programs: Path) -> Recorder:
        here, build = programs / "artemis", BUILDS / "artemis"
        build.mkdir(parents=True, exist_ok=True)
        return Recorder(
            "artemis",
            play=("sh", str(here / "run.sh"), "{job}", "{raw}", "{plays}", "{files}"),
            record=("python3", str(here / "record.py"), "{raw}", "{out}", version),
            build=("sh", str(here / "run.sh"), "39", str(build / "none"), "0"),
            env={"ORACLE_BUILD": str(build), "ARTEMIS_VERSION": version},
            jobs=3,
        )

    return recorder


FAMILIES = {
    "openmq": Family(openmq.scenario, _openmq, openmq.LANGUAGE),
    "artemis": Family(artemis.scenario, _artemis("2.4.0"), artemis.LANGUAGE),
    "artemis-2.5": Family(artemis.scenario, _artemis("2.5.0"), artemis.LANGUAGE),
}
