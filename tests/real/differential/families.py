"""The families that can be asked: who draws their scenarios, and who plays them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.real.differential import artemis, failover, networks, openmq
from tests.real.differential.draw import Draw
from tests.real.differential.recorder import BUILDS, Recorder, Scenario, is_apart

# A recorder's clients last a minute, of which Java's second compiler would take most; brokers have this anyway.
QUICK = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
AT_ONCE = 4  # recorders of ActiveMQ: their ports are fixed, so each has a network of its own


@dataclass(frozen=True, slots=True)
class Family:
    """One product's scenarios of one kind."""

    draw: Callable[[Draw, str], Scenario]
    recorder: Callable[[Path], Recorder]
    language: Iterable[str] = field(default=())  # all that its recorder knows
    version: str | None = None  # as recorded scenarios of it say


def _openmq(programs: Path, **version: str) -> Recorder:
    here = programs / "openmq"
    build = BUILDS / "openmq"
    build.mkdir(parents=True, exist_ok=True)
    return Recorder(
        "openmq",
        play=("sh", str(here / "run.sh"), "{raw}", "{plays}", "{files}"),
        record=("python3", str(here / "record.py"), "{out}", "{raws}"),
        build=("sh", str(here / "run.sh"), str(build / "none"), "0"),
        env={"ORACLE_CACHE": str(build), **QUICK, **version},
        root=True,
        jobs=4,
        leaves=("reconnect", "xid"),
    )


def _openmq_5_1(programs: Path) -> Recorder:
    return _openmq(programs, OPENMQ_5_1="1")


def _of_5_1(draw: Draw, name: str) -> Scenario:
    return {**openmq.scenario(draw, name), "version": "5.1"}


def _artemis(version: str) -> Callable[[Path], Recorder]:
    def recorder(programs: Path) -> Recorder:
        here, build = programs / "artemis", BUILDS / "artemis"
        build.mkdir(parents=True, exist_ok=True)
        return Recorder(
            "artemis",
            play=("sh", str(here / "run.sh"), "{job}", "{raw}", "{plays}", "{files}"),
            record=("python3", str(here / "record.py"), "{raw}", "{out}", version),
            build=("sh", str(here / "run.sh"), "39", str(build / "none"), "0"),
            env={"ORACLE_BUILD": str(build), "ARTEMIS_VERSION": version, **QUICK},
            jobs=6,
            patience=600.0,  # calls that are blocked take 20 s each, in each play
        )

    return recorder


def _failover(programs: Path) -> Recorder:
    here, build = programs / "failover", BUILDS / "failover"
    return Recorder(
        "failover",
        play=("python3", str(here / "play.py"), "{scenarios}", "{raw}", "--runs", "{plays}"),
        record=("python3", str(here / "record.py"), "{scenarios}", "{raw}", "{out}"),
        build=("sh", str(here / "build.sh"), str(build)),
        env={"FAILOVER_HOME": str(build)},
        jobs=AT_ONCE if is_apart() else 1,
    )


def _networks(programs: Path) -> Recorder:
    here, build = programs / "activemq", BUILDS / "networks"
    return Recorder(
        "networks",
        play=("python3", str(here / "play.py"), "{scenarios}", "{raw}", "--runs", "{plays}"),
        record=("python3", str(here / "record.py"), "{scenarios}", "{raw}", "{out}"),
        build=("sh", str(here / "build.sh"), str(build)),
        env={"COMBINED_HOME": str(build)},
        jobs=AT_ONCE if is_apart() else 1,
    )


FAMILIES = {
    "openmq": Family(openmq.scenario, _openmq, openmq.LANGUAGE),
    "openmq-5.1": Family(_of_5_1, _openmq_5_1, openmq.LANGUAGE),
    "artemis": Family(artemis.scenario, _artemis("2.4.0"), artemis.LANGUAGE),
    "failover": Family(failover.scenario, _failover, failover.LANGUAGE),
    "faults": Family(networks.scenario, _networks, networks.LANGUAGE),
    "networks": Family(networks.at_rest, _networks, networks.LANGUAGE),
    "artemis-2.5": Family(artemis.scenario, _artemis("2.5.0"), artemis.LANGUAGE, "2.5.0"),
}
