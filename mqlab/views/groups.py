"""Groups of brokers: of more than can be told apart on a stage, those that belong together are one part of it.

What belongs together is said by the network: the machines it names, else what its names have in common, else
who is joined to whom. Masters and slaves of one another are never parted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from mqlab.views.cast import SceneParts
from mqlab.views.shapes import Near, hops_from

MANY = 60  # brokers that are drawn one by one; of more, groups
MOST = 30  # brokers of one group: as many have room for their names when it is open
PARTS = 18  # groups that a network's own names may make: as many stand around one that is open
WHOLE = 0.6  # of all brokers: a group that is larger tells nothing
_LAST_PART = re.compile(r"[-_./: ]?[^-_./: ]*$|\d+$")


@dataclass(frozen=True, slots=True)
class Group:
    """Brokers, by their nodes, under one name."""

    name: str
    members: tuple[int, ...]


def groups(cast: SceneParts) -> list[Group]:
    """Return the groups of a network's brokers, each broker in one; who is alone stays a group of one.

    A hub, to which half of all others are joined, is alone.
    """
    names = {no: name for no, (name, _) in enumerate(cast.nodes)}
    units = _units(cast)
    kin = {no: unit[0] for unit in units for no in unit}
    heads = [unit[0] for unit in units]
    hosts = {kin[no]: host for host, brokers in cast.hosts.items() for no in brokers if no in kin}
    for told in (hosts, {no: _prefix(names[no]) for no in heads}):
        parts = _told(heads, told)
        if parts:
            break
    else:
        parts = [("", part) for part in _joined(heads, _near(cast, kin))]
    found = []
    for name, part in parts:
        pieces = [part] if len(part) <= MOST else _chunks(part, ceil(len(part) / MOST))
        for number, piece in enumerate(pieces, 1):
            members = tuple(no for unit in units if unit[0] in set(piece) for no in unit)
            several = f"{name} ({number})" if len(pieces) > 1 else name
            found.append(Group(several if name and len(members) > 1 else _called(members, names), members))
    return found


def _called(members: Sequence[int], names: Mapping[int, str]) -> str:
    """Return what brokers are called together that have no name of their own."""
    first, last = members[0], members[-1]
    if len(members) == 1:
        return names[first]
    return f"{names[first]} … {names[last]}" if last - first < len(members) else f"{names[first]} …"


def _units(cast: SceneParts) -> list[tuple[int, ...]]:
    """Return what is never parted: sets of masters and slaves, and single brokers."""
    standing = set(cast.standing)
    sets = [tuple(no for no in members if no in standing) for members in cast.sets]
    known = {no for members in sets for no in members}
    alone = [(no,) for no in cast.standing if no not in known]
    return sorted([members for members in sets if members] + alone)


def _prefix(name: str) -> str:
    """Return a name without its last part, or without its number: ``east-3`` and ``east3`` are of ``east``."""
    return _LAST_PART.sub("", name, count=1).rstrip("-_./: ")


def _told(heads: Sequence[int], told: dict[int, str]) -> list[tuple[str, list[int]]]:
    """Return the parts that a table of names makes; nothing if they are too many, or one is nearly all."""
    parts: dict[str, list[int]] = {}
    for no in heads:
        parts.setdefault(told.get(no, ""), []).append(no)
    largest = max(map(len, parts.values()))
    if not 2 <= len(parts) <= PARTS or largest > WHOLE * len(heads) or "" in parts:
        return []
    return list(parts.items())


def _near(cast: SceneParts, kin: dict[int, int]) -> dict[int, list[int]]:
    near: dict[int, dict[int, None]] = {no: {} for no in kin.values()}
    for link in cast.links:
        a, b = kin[link.a], kin[link.b]
        if a != b:
            near[a][b] = near[b][a] = None
    return {no: list(others) for no, others in near.items()}


def _joined(heads: Sequence[int], near: dict[int, list[int]]) -> list[list[int]]:
    """Return parts of about as many brokers each, which are joined within as far as that goes."""
    hubs = [no for no in heads if len(near[no]) >= len(heads) / 2] if len(heads) > 2 else []
    if len(hubs) > 2:  # everybody is joined to everybody: the lines tell no parts
        hubs = []
    others = [no for no in heads if no not in hubs]
    inner = {str(no): [str(other) for other in near[no] if other not in hubs] for no in others}
    most = ceil(len(others) / max(2, round(sqrt(len(others)))))
    whole, small = [], []
    for component in _components([str(no) for no in others], inner):
        if len(component) > most:
            whole += _grown(component, inner, most)
        else:
            small.append(component)
    packed: list[list[str]] = []
    for component in small:  # as many of the small ones as one group takes
        if packed and len(packed[-1]) + len(component) <= most:
            packed[-1] += component
        else:
            packed.append(list(component))
    parts = [[no] for no in hubs] + [sorted(map(int, part)) for part in [*whole, *packed]]
    return sorted(parts)


def _components(names: Sequence[str], near: Near) -> list[list[str]]:
    left, found = dict.fromkeys(names), []
    while left:
        reached = hops_from(next(iter(left)), near)
        found.append([name for name in names if name in reached])
        for name in reached:
            del left[name]
    return found


def _grown(names: Sequence[str], near: Near, most: int) -> list[list[str]]:
    """Cut what is joined into parts of at most *most*: each grows from the rim of what is left.

    A part that would leave a rest of few takes from it what is nearest to it.
    """
    left = list(names)
    start = max(hops_from(left[0], near).items(), key=lambda item: item[1])[0]
    found: list[list[str]] = []
    while left:
        open_names = set(left)
        inner = {name: [other for other in near[name] if other in open_names] for name in left}
        start = start if start in open_names else min(left, key=lambda name: len(inner[name]))
        count = ceil(len(left) / ceil(len(left) / most))
        found.append(_ball(start, inner, count))
        taken = set(found[-1])
        left = [name for name in left if name not in taken]
    return _merged(found, near, most)


def _ball(start: str, near: Near, count: int) -> list[str]:
    """Return *count* names around one: next always who is joined to most of those that are in."""
    ball, rim = [start], dict.fromkeys(near[start], 1)
    while rim and len(ball) < count:
        best = max(rim, key=lambda name: (rim[name] / len(near[name]), rim[name]))
        del rim[best]
        ball.append(best)
        for name in near[best]:
            if name not in ball:
                rim[name] = rim.get(name, 0) + 1
    return ball


def _merged(parts: Sequence[list[str]], near: Near, most: int) -> list[list[str]]:
    """Give what is left over in crumbs to the smallest part beside it, where there is room."""
    large = [list(part) for part in parts if len(part) >= most / 3]
    for crumb in (part for part in parts if len(part) < most / 3):
        beside = {other for name in crumb for other in near[name]}
        fit = [part for part in large if beside & set(part) and len(part) + len(crumb) <= MOST]
        if fit:
            min(fit, key=len).extend(crumb)
        else:
            large.append(list(crumb))
    return large


def _chunks(part: Sequence[int], count: int) -> Iterable[list[int]]:
    size = ceil(len(part) / count)
    return [list(part[at : at + size]) for at in range(0, len(part), size)]
