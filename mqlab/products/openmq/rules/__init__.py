"""What brokers accept in a cluster's configuration and do harm with, each with the product's reason.

Sources: Administration Guide, chapter 10; OpenMQ rules 6, 7 and 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.checks.source_lines import located
from mqlab.products.openmq.files.properties import Found, sources
from mqlab.spec.openmq import LINKED_ALIKE, ClusterScenario
from mqlab.spec.problem import Problem

Files = Mapping[str, Found]  # the cluster's file, and that of each broker by its name


def check(scenario: ClusterScenario) -> list[Problem]:
    """Return the problems of a cluster that runs and does harm, errors first.

    >>> from mqlab.spec.openmq import Member
    >>> [p.rule for p in check(ClusterScenario((Member("b1"),), "none", None))]
    ['no-record']
    """
    files = _files(scenario)
    found = [
        *_differences(scenario, files),
        *_broker_ids(scenario, files),
        *_ignored(scenario, files),
        *_order(scenario),
    ]
    if scenario.model == "none":
        found.append(
            Problem(
                "no-record",
                "warning",
                "cluster",
                "without a master broker or a shared record a broker "
                "that was away keeps what was destroyed and lacks what was created",
                "name a master broker (imq.cluster.masterbroker)",
                "OpenMQ rule 6.10",
            )
        )
    first = (
        min((one.line for one in files["cluster"].entries.values()), default=1)
        if "cluster" in files
        else 0
    )
    places = {"cluster": (files["cluster"].file.name, first)} if first else {}
    placed = located(found, places)
    return sorted(placed, key=lambda problem: problem.level)


def _files(scenario: ClusterScenario) -> Files:
    found = sources(scenario.origin.files) if scenario.origin else []
    return {one.broker or "cluster": one for one in found}


def _line(files: Files, key: str, *names: str) -> tuple[str, int]:
    """Return file and line of a property: of the first of *names* that has it, else where the first begins."""
    there = [files[name] for name in (*names, "cluster") if name in files]
    for one in there:
        if key in one.entries:
            return one.file.name, one.entries[key].line
    return (there[0].file.name, 1) if there else ("", 0)


def _text(scenario: ClusterScenario, name: str, key: str, default: object) -> str:
    return str(scenario.option(name, key, default)).strip("${}").lower()


def _differences(scenario: ClusterScenario, files: Files) -> Iterator[Problem]:
    """Yield what must be alike on two linked brokers and is not."""
    first = scenario.members[0].name
    alike = {**LINKED_ALIKE, "imq.cluster.clusterid": ""}
    if scenario.model == "master":
        alike["imq.cluster.masterbroker"] = scenario.master or ""
    for key, default in alike.items():
        said = _text(scenario, first, key, default)
        for member in scenario.members[1:]:
            own = _text(scenario, member.name, key, default)
            if own == said:
                continue
            apart = scenario.model == "enhanced" and key == "imq.cluster.clusterid"
            what = (
                "in the same database they are two clusters that know nothing of each other"
                if apart
                else "the brokers refuse the link, and no message crosses"
            )
            yield Problem(
                "must-match",
                "error",
                f"brokers {first} and {member.name}",
                f"{key} is {said!r} and {own!r}: {what}",
                f"give both the same {key}",
                "Administration Guide, chapter 10; OpenMQ rules 6.7, 6.9, 7.4 and 9.16",
                *_line(files, key, member.name, first),
            )


def _broker_ids(scenario: ClusterScenario, files: Files) -> Iterator[Problem]:
    key, seen = "imq.brokerid", dict[str, str]()
    later = {
        str(s.keys["broker"]): s.keys["options"][key]
        for s in scenario.steps
        if key in s.keys.get("options", {})
    }
    for member in scenario.members:
        given = later.get(member.name, scenario.option(member.name, key))
        if given is None:
            continue
        if str(given) in seen:
            yield Problem(
                "broker-id",
                "error",
                f"broker {member.name}",
                f"it has the {key} {given!r} of {seen[str(given)]}: whichever starts later ends at "
                "once (exit 1)",
                f"give each broker its own {key}",
                "OpenMQ rule 9.16",
                *_line(files, key, member.name),
            )
        seen.setdefault(str(given), member.name)


def _ignored(scenario: ClusterScenario, files: Files) -> Iterator[Problem]:
    if scenario.model != "enhanced":
        return
    for key in ("imq.cluster.brokerlist", "imq.cluster.masterbroker"):
        given = [m.name for m in scenario.members if scenario.option(m.name, key) is not None]
        if given:
            yield Problem(
                "ignored",
                "warning",
                f"broker {', '.join(given)}",
                f"{key} is ignored with a warning: brokers of an enhanced cluster find each other "
                "in their store, and there is no master",
                f"leave {key} out",
                "OpenMQ rule 9.16",
                *_line(files, key, *given),
            )


def _order(scenario: ClusterScenario) -> Iterator[Problem]:
    first = next((s for s in scenario.steps if s.do in ("start", "start_broker")), None)
    if first is None or scenario.model != "master":
        return
    names = first.keys.get("brokers", [scenario.master])  # all of them: the master first
    name = first.keys.get("broker", *names[:1])
    if name != scenario.master:
        yield Problem(
            "master-first",
            "warning",
            f"broker {name}",
            f"it starts before its master "
            f"{scenario.master} and refuses clients (C4090) until that one serves",
            "start the master first",
            "Technical Overview, chapter 4, Conventional Clusters",
        )
