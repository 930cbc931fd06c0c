"""Ask a real product at random: ``python -m tests.real.differential --product openmq --runs 200 --seed 1``."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.real.differential.breadth import Breadth
from tests.real.differential.draw import Draw
from tests.real.differential.families import FAMILIES, Family
from tests.real.differential.judge import RACE, UNJUDGED, Difference, grouped, verdict
from tests.real.differential.recorder import NoRecorder, Played, Recorder, Scenario, folder
from tests.real.differential.shrink import shrink
from tests.real.differential.variations import Recorded

BATCH = 40  # scenarios that are played before the next verdicts


def main(said: Sequence[str] | None = None) -> int:
    """Run the tester; returns 0 if all agrees, 1 if something differs, 2 if nothing could be asked."""
    asked = _parser().parse_args(said)
    family = FAMILIES[asked.product]
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return _ask(family, asked)
    except NoRecorder as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nended; nothing of it is left running", file=sys.stderr)
        return 130


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.real.differential", description=__doc__)
    parser.add_argument("--product", required=True, choices=sorted(FAMILIES))
    parser.add_argument("--runs", type=int, default=20, help="how many scenarios (20)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first scenario of this seed (1)")
    parser.add_argument("--plays", type=int, default=3, help="how often each is played on the product (3)")
    parser.add_argument(
        "--again", type=int, default=0, help="how often what differs is played anew, and judged by that (0)"
    )
    parser.add_argument(
        "--jobs", type=int, default=0, help="recorders at the same time (as many as the family bears)"
    )
    parser.add_argument("--recorders", help="folder of the recorders (MQLAB_RECORDERS, ../shared/recorders)")
    parser.add_argument("--out", type=Path, help="folder for all recordings, and for shrunk ones")
    parser.add_argument("--shrink", action="store_true", help="shrink the first difference of each kind")
    parser.add_argument("--vary", type=Path, help="draw variations of the recorded scenarios below this folder")
    parser.add_argument("--breadth", action="store_true", help="only say what would be drawn")
    return parser


def drawn(
    family: str, seed: int, first: int, runs: int, recorded: Recorded | None = None
) -> dict[str, Scenario]:
    """Return scenarios of a seed by name; variations, if recorded ones are given."""
    draw, kind = (recorded.vary, f"{family}_vary") if recorded else (FAMILIES[family].draw, family)
    names = {number: f"{kind}_{seed}_{number:03}" for number in range(first, first + runs)}
    return {name: draw(Draw(kind, seed, number), name) for number, name in names.items()}


def _ask(family: Family, asked: argparse.Namespace) -> int:
    recorded = Recorded(asked.vary, family.version) if asked.vary else None
    scenarios = drawn(asked.product, asked.seed, asked.first, asked.runs, recorded)
    breadth = Breadth(family.language)
    for scenario in scenarios.values():
        breadth.add(scenario)
    for why in recorded.refused if recorded else ():
        print(f"not played, as the lab refuses it: {why}", file=sys.stderr)
    if asked.breadth:
        print(breadth.table())
        return 0
    recorder = family.recorder(folder(asked.recorders))
    recorder.check()
    results, differences = _play(recorder, scenarios, asked)
    print(breadth.table())
    print(_rates(results, asked))
    for kind, some in grouped(differences):
        print(
            f"{len(some):4}  {kind}\n      {', '.join(d.name for d in some)}\n      {some[0].details[0][:200]}"
        )
    if asked.shrink:
        _shrink(recorder, differences, asked)
    return 1 if differences else 0


def _play(
    recorder: Recorder, scenarios: dict[str, Scenario], asked: argparse.Namespace
) -> tuple[Counter[str], list[Difference]]:
    results: Counter[str] = Counter()
    differences = []
    names = list(scenarios)
    for begin in range(0, len(names), BATCH):
        started = time.monotonic()
        batch = {name: scenarios[name] for name in names[begin : begin + BATCH]}
        found = _judged(recorder, batch, asked.plays, asked)
        if asked.again:
            differing = {n: batch[n] for n, (_, difference) in found.items() if difference}
            found |= _judged(recorder, differing, asked.again, asked)
        results.update(result for result, _ in found.values())
        results.update(["not played"] * (len(batch) - len(found)))
        for name, (_, difference) in sorted(found.items()):
            if difference:
                differences.append(difference)
                print(f"{name}: {'; '.join(difference.details[:3])}", file=sys.stderr, flush=True)
        took = time.monotonic() - started
        print(
            f"{begin + len(batch)} played, {took:.0f} s: {dict(results)}",
            file=sys.stderr,
            flush=True,
        )
    return results, differences


def _judged(
    recorder: Recorder, scenarios: dict[str, Scenario], plays: int, asked: argparse.Namespace
) -> dict[str, tuple[str, Difference | None]]:
    """Play scenarios and return what their recordings say of the lab, by name."""
    played = recorder.play_all(scenarios, plays, asked.jobs) if scenarios else Played()
    for name, why in played.lost.items():
        print(f"{name}: not played: {why}", file=sys.stderr)
    for name, recording in played.recordings.items():
        _write(asked.out, name, recording)
    return {name: verdict(name, recording) for name, recording in played.recordings.items()}


def _rates(results: Counter[str], asked: argparse.Namespace) -> str:
    unsaid = UNJUDGED, RACE, "not played"
    judged = sum(number for result, number in results.items() if result not in unsaid)
    share = 100 * results["agree"] / judged if judged else 0.0
    rest = ", ".join(f"{number} {result}" for result, number in sorted(results.items()) if result != "agree")
    again = f", {asked.again} more of what differs" if asked.again else ""
    head = f"{asked.product}, seed {asked.seed}, {asked.plays} plays each{again}"
    return f"{head}: {results['agree']} of {judged} agree ({share:.1f} %){'; ' + rest if rest else ''}"


def _shrink(recorder: Recorder, differences: list[Difference], asked: argparse.Namespace) -> None:
    """Write the smallest scenario of each kind of difference, as a recording."""
    for kind, some in grouped(differences):
        first = min(some, key=lambda d: len(d.recording["scenario"]["steps"]))
        smallest = first.recording
        print(f"shrinking {first.name}: {kind}", file=sys.stderr)

        def still(proposals: Sequence[Scenario], kind: str = kind) -> list[bool]:
            nonlocal smallest
            named = {f"try_{no:03}": {**s, "name": f"try_{no:03}"} for no, s in enumerate(proposals)}
            played = recorder.play_all(named, asked.plays, asked.jobs)
            answers = []
            for name in named:
                found = verdict(name, played.recordings[name])[1] if name in played.recordings else None
                answers.append(found is not None and found.kind == kind)
                if answers[-1] and len(named[name]["steps"]) <= len(smallest["scenario"]["steps"]):
                    smallest = played.recordings[name]
            return answers

        found = shrink(first.recording["scenario"], still)
        print(f"{kind}: {first.name} in {len(found['steps'])} steps")
        for step in found["steps"]:
            print(f"    {json.dumps(step)}")
        _write(asked.out and asked.out / "shrunk", first.name, smallest)


def _write(out: Path | None, name: str, recording: object) -> None:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / f"{name}.json").write_text(json.dumps(recording, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
