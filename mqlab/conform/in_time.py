"""Timed outcomes against recordings: the same lists in the same order, and times within reason.

How deep is said by the recording's `deterministic`: *exact* to the order of all attempts; *outcome*
without the attempts, of which only the targets are compared; *counts* only totals; *none* is no test.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from mqlab.conform.at_rest import depth_of
from mqlab.engine.timing import RECORDED
from mqlab.spec.json_types import JsonObject

Outcome = JsonObject
DEPTHS = ("exact", "outcome", "counts", "none")
TIMES = ("ms", "gap_ms", "step", "longest_send_ms")
LISTS = ("roles", "connections", "told", "bridges", "exceptions", "start_failed", "restarts")


def differences(outcome: Outcome, observed: JsonObject) -> list[str]:
    """Return what in *outcome* differs from a recording's `observed`; empty if nothing does.

    Where several outcomes were seen the run need only be like one; the nearest is reported.
    """
    depth = depth_of(observed, DEPTHS)
    if depth == "none":
        return []
    nominal = "waits" in observed and observed.get("agrees_with_reference") is not False
    found = []
    for entry in observed["outcomes"]:
        lines = _differ(depth, entry["outcome"], outcome)
        if depth == "exact" and not nominal:
            lines += _gaps(entry["outcome"], outcome)
        found.append(lines)
    return min(found, key=len) + (_waits(outcome, observed) if nominal else [])


def _differ(depth: str, real: Outcome, run: Outcome) -> list[str]:
    if depth == "counts":
        return _totals(real, run)
    lines = []
    for key in LISTS:
        lines += lists(key, real, run)
    if depth == "exact":
        lines += lists("attempts", real, run)
    else:
        lines += _targets(real, run)
    lines += _datagrams(real, run)
    lines += results(real.get("results", []), run.get("results", []))
    for key in ("consumers", "account"):
        lines += values(key, real.get(key, {}), run.get(key, {}))
    return lines + _snapshots(real, run)


# Lists of events


def _bare(entry: object) -> object:
    """Return an event without its times; of an error only the class, the cause's too."""
    if not isinstance(entry, Mapping):
        return entry
    bare = {key: value for key, value in entry.items() if key not in (*TIMES, "message", "cause")}
    if "cause" in entry:
        bare["cause"] = str(entry["cause"]).partition(":")[0]
    if isinstance(bare.get("error"), Mapping):
        bare["error"] = _bare(bare["error"])
    if isinstance(bare.get("failed"), list):
        bare["failed"] = [_bare(one) for one in bare["failed"]]
    return bare


def lists(key: str, real: Outcome, run: Outcome) -> list[str]:
    """Return a line for each list of events under *key* that differs."""
    cut = set(real.get("cut_off", []))
    lines = []
    theirs, ours = real.get(key, {}), run.get(key, {})
    for name in {**theirs, **ours}:
        a, b = theirs.get(name, []), ours.get(name, [])
        if isinstance(a, Mapping):
            if key != "attempts":
                lines += _number(f"{key} of {name}", a, b)
            continue
        if f"{key} of {name}" in cut:
            b = b[: len(a)]
        a, b = [_bare(e) for e in a], [_bare(e) for e in b]
        if a != b:
            lines.append(f"{key}/{name}: real {_events(a)}, run {_events(b)}")
    return lines


def _number(where: str, real: JsonObject, run: list[object]) -> list[str]:
    least, most = real["number"]
    if least <= len(run) <= most:
        return []
    return [f"{where}: real {least} to {most}, run {len(run)}"]


def _targets(real: Outcome, run: Outcome) -> list[str]:
    """Compare whom each one tried; where the runs themselves differ, one in common will do."""
    lines = []
    theirs, ours = real.get("attempts", {}), run.get("attempts", {})
    for name in {**theirs, **ours}:
        a, b = theirs.get(name, []), ours.get(name, [])
        events = a["one_run"] if isinstance(a, Mapping) else a
        seen, tried = {e["to"] for e in events}, {e["to"] for e in b}
        if not seen and name in real.get("connections", {}):
            continue  # the recording could not tell its attempts from another's
        if not seen & tried if isinstance(a, Mapping) and seen else seen != tried:
            lines.append(f"attempts/{name}: real tried {sorted(seen)}, run {sorted(tried)}")
    return lines


def _datagrams(real: Outcome, run: Outcome) -> list[str]:
    theirs, ours = real.get("datagrams", {}), run.get("datagrams", {})
    lines = []
    for name, entry in theirs.items():
        texts = [e["text"] for e in ours.get(name, [])]
        if isinstance(entry, Mapping):
            lines += _number(f"datagrams of {name}", entry, texts)
            entry = entry["one_run"]
        kinds = {e["text"] for e in entry}
        if kinds != set(texts):
            lines.append(f"datagrams/{name}: real {sorted(kinds)}, run {sorted(set(texts))}")
    return lines


def results(real: Iterable[object], run: Iterable[object]) -> list[str]:
    """Return a line for each result that differs."""
    a, b = [_bare(row) for row in real], [_bare(row) for row in run]
    lines = []
    for no in range(max(len(a), len(b))):
        theirs = a[no] if no < len(a) else None
        ours = b[no] if no < len(b) else None
        if theirs != ours:
            lines.append(f"results/{no}: real {_short(theirs)}, run {_short(ours)}")
    return lines


# Times


def _gaps(real: Outcome, run: Outcome) -> list[str]:
    """Compare the pauses between attempts: a busy machine can only be late, never early."""
    lines = []
    for name, entries in real.get("attempts", {}).items():
        ours = run.get("attempts", {}).get(name, [])
        if isinstance(entries, Mapping):
            continue
        step = 0
        for no, (theirs, mine) in enumerate(zip(entries, ours, strict=False)):
            steps, step = max(0, theirs["step"] - step), theirs["step"]
            if (
                "gap_ms" in theirs
                and "gap_ms" in mine
                and not _within(mine["gap_ms"][0], theirs["gap_ms"], steps)
            ):
                lines.append(f"attempts/{name}/{no}: real gap {theirs['gap_ms']}, run {mine['gap_ms'][0]} ms")
    return lines


def _within(ms: float, recorded: list[float], steps: int) -> bool:
    """Whether a time is not above the most, and near the least.

    Near is 5 ms or a twentieth (Recordings rule 3.5). A time
    during which a step of the script began contains work of the recorder and may be shorter here.
    """
    least, most = recorded[0], recorded[-1]
    return (steps > 0 or least - max(5, least / 20) <= ms) and ms <= most


def _waits(outcome: Outcome, observed: JsonObject) -> list[str]:
    """Compare the nominal waits, to the millisecond: the gaps in front of each round."""
    wanted = [row["nominal"] for row in observed.get("waits", [])]
    if not wanted:
        return []
    nearest: list[float] = []
    round_ms = RECORDED.round // 1000  # that a round of tries takes besides
    for entries in outcome.get("attempts", {}).values():
        # Inside a round there is no pause; where the waits are none either, every gap is one.
        least = min(0, *wanted) - (0 in wanted)
        gaps = [e["gap_ms"][0] - round_ms for e in entries if "gap_ms" in e]
        gaps = [gap for gap in gaps if gap > least]
        if gaps[: len(wanted)] == wanted:
            return []
        nearest = nearest or gaps[: len(wanted)]
    return [f"waits: nominal {wanted}, run {nearest}"]


# States


def values(where: str, real: object, run: object) -> list[str]:
    """Return one line for each leaf that differs; `[least, most]` takes what lies within."""
    if isinstance(real, Mapping) and isinstance(run, Mapping):
        lines = []
        for key in {**real, **run}:
            if key in real and key in run:
                lines += values(f"{where}/{key}", real[key], run[key])
            elif key in real and not _may_lack(real[key]):
                lines.append(f"{where}/{key}: real {_short(real[key])}, run has none")
            elif key in run and not _may_lack(run[key]):
                lines.append(f"{where}/{key}: real has none, run {_short(run[key])}")
        return lines
    if isinstance(real, list) and isinstance(run, int):
        return [] if real[0] <= run <= real[-1] else [f"{where}: real {real}, run {run}"]
    return [] if real == run else [f"{where}: real {_short(real)}, run {_short(run)}"]


def _may_lack(value: object) -> bool:
    """Whether nothing says the same: no depth, or one that was 0 in some runs."""
    return value in (0, "") or (isinstance(value, list) and value[:1] == [0])


def _orders(where: str, real: Mapping[str, int], run: Mapping[str, int]) -> list[str]:
    """Compare random draws by their shares."""
    all_real, all_run = sum(real.values()), sum(run.values())
    lines = []
    for order in {**real, **run}:
        shares = real.get(order, 0) / all_real, run.get(order, 0) / all_run
        if abs(shares[0] - shares[1]) > 0.03:
            lines.append(f"{where}/{order}: real {shares[0]:.3f}, run {shares[1]:.3f}")
    return lines


def _snapshots(real: Outcome, run: Outcome) -> list[str]:
    lines = []
    theirs, ours = real.get("snapshots", {}), run.get("snapshots", {})
    for label in {**theirs, **ours}:
        b = ours.get(label, {})
        a = _without_sockets(theirs.get(label, {}), b, real)
        if "orders" in a and "orders" in b:
            lines += _orders(f"snapshots/{label}", a["orders"], b["orders"])
            continue
        lines += values(f"snapshots/{label}", a, b)
    return lines


def _without_sockets(shot: Outcome, ours: Outcome, real: Outcome) -> Outcome:
    """Return a snapshot without what its recorder knows of sockets that are closed.

    A plain client that has failed is connected to none, as it is in the run, and one that has closed its
    connection is left out; that of networks with faults does so, too.
    """
    told, here = real.get("exceptions", {}), ours.get("clients", {})
    failed = {name for name, client in here.items() if name in told and not client["connected_to"]}
    clients = {
        name: {**client, "connected_to": None} if name in failed else client
        for name, client in shot.get("clients", {}).items()
        if name in here
    }
    return {**shot, "clients": clients} if "clients" in shot else shot


def _totals(real: Outcome, run: Outcome) -> list[str]:
    """Compare how many clients were where, which roles there were, how many messages came."""
    lines = []
    for label, shot in real.get("snapshots", {}).items():
        ours = run.get("snapshots", {}).get(label, {})
        shot = _without_sockets(shot, ours, real)
        for what, key in (("brokers", "role"), ("clients", "connected_to")):
            counts = [sorted(str(e.get(key)) for e in s.get(what, {}).values()) for s in (shot, ours)]
            if counts[0] != counts[1]:
                lines.append(f"snapshots/{label}/{what}: real {counts[0]}, run {counts[1]}")
    for name, consumer in real.get("consumers", {}).items():
        count = run.get("consumers", {}).get(name, {}).get("count")
        if count != consumer["count"]:
            lines.append(f"consumers/{name}: real {consumer['count']}, run {count}")
    return lines


def _events(entries: list[object]) -> str:
    shown = []
    for entry in entries:
        values = entry.values() if isinstance(entry, Mapping) else [entry]
        shown.append(" ".join(str(value) for value in values))
    text = "; ".join(shown)
    return f"[{text}]" if len(text) < 200 else f"[{text[:197]}...] ({len(entries)})"


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 140 else text[:137] + "..."
