"""Measures all families and all that grows, and writes the tables of README.md: before and after, side by side.

    python -m tests.benchmarks.tables              measures, and writes README.md with `before.json` beside it
    python -m tests.benchmarks.tables --save FILE  measures, and writes the figures to FILE

Some minutes. To have other figures "before", save those of an older checkout, with these modules put there.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.benchmarks.workloads import (
    FAMILIES,
    GROWTH,
    Family,
    burst_rate,
    calls,
    heap_rate,
    seconds,
    simpy_rate,
)

HERE = Path(__file__).parent
ROUNDS = 3
Figures = dict[str, dict[str, Any]]
HEAD = """# How fast it is

Made by `python -m tests.benchmarks.tables`; *before* is commit cbbfc5c (2026-11-26), measured on the same
machine with the same command. Processor time, the best of several rounds, one yardstick and one run in turns.

* *to heapreplace*: traced events a second to bare `heapq.heapreplace` calls a second.
* *to SimPy*: the same to a Store and a process per broker that write the same events with the same recorder.
* *calls*: functions that Python calls for an event, C's too: the same number on every machine. CI holds these
  (`test_families.py`), bounds on the ratios, and the shape of growth by counting lines of Python.

Both times the machine was quiet (load 1 to 2 on two cores). Where others use it the ratios spread by a third:
then read the calls first.
"""


def family(one: Family) -> dict[str, float]:
    """Return what a family of runs costs."""
    ours, heap, others = 0.0, 0.0, 0.0
    for _ in range(ROUNDS):
        events, took = one.make(one.messages).run(seconds)
        ours, heap = max(ours, events / took), max(heap, heap_rate())
        if one.routes:
            others = max(others, simpy_rate(one.routes, one.messages, one.subscribers))
    events, called = one.make(min(one.messages, 1_000)).run(calls)
    found = {"ratio": ours / heap, "us": 1e6 / ours, "calls": called / events}
    return {**found, "simpy": ours / others} if others else found


def growth(name: str) -> dict[str, list[float]]:
    """Return what an event costs (us, calls) for each size of what grows."""
    make, sizes = GROWTH[name]
    found: dict[str, list[float]] = {"us": [], "calls": []}
    for size in sizes:
        runs = [make(size).run(seconds) for _ in range(2)]
        events, counted = make(size).run(calls)
        found["us"].append(min(took / count for count, took in runs) * 1e6)
        found["calls"].append(counted / events)
    return found


def burst() -> float:
    """Return what 10^7 messages over three hops, written to Parquet in blocks, are to steps of a heap."""
    with tempfile.TemporaryDirectory() as folder:
        before = heap_rate()
        ours = burst_rate(Path(folder) / "run", 10**7)
        return ours / max(before, heap_rate())


def measured() -> Figures:
    """Return all figures of this checkout."""
    found: Figures = {"families": {}, "growth": {}, "burst": burst()}
    print("burst", found["burst"], flush=True)
    for name, one in FAMILIES.items():
        found["families"][name] = family(one)
        print(name, found["families"][name], flush=True)
    for name in GROWTH:
        found["growth"][name] = growth(name)
        print(name, found["growth"][name], flush=True)
    return found


def shown(value: float | None) -> str:
    """Return a figure with as many places as mean something."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.3f}"


def page(before: Figures, after: Figures) -> str:
    """Return the text of README.md."""
    lines = [HEAD, f"Python {platform.python_version()}, {platform.machine()}.", "", "## Families", ""]
    heads = ["scenario", "to heapreplace, before", "after", "goal", "to SimPy, before", "after"]
    heads += ["calls, before", "after"]
    lines += [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads)]
    for name, one in FAMILIES.items():
        old, new = before["families"][name], after["families"][name]
        cells = [old["ratio"], new["ratio"], one.goal]
        cells += [figures.get(what) for what in ("simpy", "calls") for figures in (old, new)]
        lines.append(f"| {name} | " + " | ".join(map(shown, cells)) + " |")
    lines += ["", "## Growth", "", "What an event costs (us, in brackets calls) as something grows.", ""]
    lines += ["| what grows | sizes | before | after |", "| --- | --- | --- | --- |"]
    for name, (_, sizes) in GROWTH.items():
        both = []
        for figures in (before, after):
            pairs = zip_longest(*(figures["growth"].get(name, {}).get(what, []) for what in ("us", "calls")))
            both.append(", ".join(f"{shown(us)} ({shown(count)})" for us, count in pairs))
        lines.append(f"| {name} | {', '.join(f'{size:,}' for size in sizes)} | {both[0]} | {both[1]} |")
    lines += ["", "## Bursts", ""]
    text = "10^7 messages over three hops, traced to Parquet: {} events for each step of a heap (goal 2)."
    lines += [text.format(shown(after["burst"]))]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do what the command line says."""
    if "--save" in sys.argv:
        Path(sys.argv[sys.argv.index("--save") + 1]).write_text(json.dumps(measured(), indent=1) + "\n")
        return
    before = json.loads((HERE / "before.json").read_text())
    (HERE / "README.md").write_text(page(before, measured()))


if __name__ == "__main__":
    main()
