"""Each element and attribute of the products' own schemas is played, kept or told: none is left out in silence.

`schema_cases` makes a file for each. What is played makes another network of another value. What is kept stands
in `elements.toml`, with its reason, or is a row that says so; the rest is told with its line. A value that is
not of its type is told or refused with its line: ActiveMQ 5.17.2 and Artemis 2.31.2 refuse all 1,043 files.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import MqlabError
from mqlab.files import properties as parsed
from mqlab.products.activemq import files as activemq
from mqlab.products.activemq.files import treatment as of_activemq
from mqlab.products.artemis.files import broker_xml
from mqlab.products.artemis.files import treatment as of_artemis
from mqlab.products.artemis.files.policy import SPOKEN
from mqlab.products.openmq.files import properties
from mqlab.products.openmq.files import treatment as of_openmq
from mqlab.spec.origin import SourceFile
from tests.files.schema_cases import FILE, cases, file, texts
from tests.plan import today

READ = {"activemq": activemq.read, "artemis": broker_xml.read}
TREATMENT = {"activemq": of_activemq.treatment, "artemis": of_artemis.treatment}
RULES = ("not-played", "left-out", "leads-nowhere", "unknown-broker")
PARTS = 8  # of the cases one is taken, by the day
# A broker alone is the same network wherever it listens.
PLACES = {"transportConnectors/transportConnector@uri"}
SPOILT = "x y"


def network(case, value):
    text, _ = file(case, value)
    return READ[case.product]([SourceFile(FILE, text)])


def parents(case):
    """Yield the paths of what is around a case, from the root, and then its own."""
    way = [SPOKEN.get(name, name) if case.way[0] == "ha-policy" else name for name in case.way]
    yield from ("/".join(way[: length + 1]) for length in range(len(way)))
    if case.attribute:
        yield f"{'/'.join(way)}@{case.attribute}"


def what_becomes_of(case):
    """Return what the tables say of a case: what is around it decides, unless it is played."""
    kinds = {path: TREATMENT[case.product](path) for path in parents(case)}
    return next((kind for path, kind in kinds.items() if kind != "played" and path != "plugins"), "played")


@cache
def silent(product):
    """Return the patterns of what says nothing by some of its values, or beside some others."""
    table = Path(products.__file__).parent / product / "files" / "elements.toml"
    rows = tomllib.loads(table.read_text(encoding="utf-8"))
    return [*rows["same"], *rows.get("idle", ())]


def is_told(case, problems):
    lines = {path: path.count("/") + 2 - (path == f"@{case.attribute}") for path in parents(case)}
    for problem in problems:
        path = problem.what.partition(" is not played")[0]
        if problem.rule in RULES[2:]:
            return problem.line == max(lines.values())
        if path in lines:
            return problem.line == lines[path]
    return False


def fault_of(case):
    """Return what is wrong with how a case is treated; empty if nothing is."""
    first, second = (network(case, value) for value in texts(case))
    if is_told(case, [p for net in (first, second) for p in mq.check(net) if p.rule in RULES]):
        return ""
    kind = what_becomes_of(case)
    if kind == "played" and case.kind and case.id not in PLACES and first == second:
        return "is played, and changes nothing"
    if kind == "told" and not any(fnmatchcase(list(parents(case))[-1], one) for one in silent(case.product)):
        return "is told nowhere"
    return ""


def spoilt(case):
    """Return whether a value that is not of its type is told or refused with its line."""
    text, line = file(case, SPOILT)
    try:
        net = READ[case.product]([SourceFile(FILE, text)])
    except MqlabError as error:
        return f"{FILE}, line {line}" in str(error)
    return any(p.rule in ("bad-value", "wrong-value") and p.line == line for p in mq.check(net))


@pytest.mark.parametrize(("product", "least"), [("activemq", 2700), ("artemis", 650)])
def test_nothing_that_a_schema_has_is_left_out_in_silence(product, least):
    there = {case.id: case for case in cases(product)}
    assert len(there) >= least
    faults = {name: fault_of(there[name]) for name in today(list(there), PARTS)}
    assert not {name: fault for name, fault in faults.items() if fault}


@pytest.mark.parametrize(("product", "least"), [("activemq", 700), ("artemis", 320)])
def test_a_value_that_is_not_of_its_type_is_told_or_refused_with_its_line(product, least):
    there = {case.id: case for case in cases(product) if case.kind not in ("", "string")}
    assert len(there) >= least
    assert not [name for name in today(list(there), PARTS) if not spoilt(there[name])]


DEFAULTS = parsed.read((Path(__file__).parent / "openmq_defaults.properties").read_text(), "defaults")
# Who a broker is and where it listens; what a cluster consists of is told of the files together.
IDENTITY = {"imq.instancename", "imq.portmapper.port", "imq.hostname", "imq.portmapper.hostname"}


def another(value):
    """Return a value of the same kind as a default."""
    words = {"true": "false", "false": "true"}
    number = value.removesuffix("m").isdecimal()
    return words.get(value) or (f"{int(value.removesuffix('m')) + 1}" if number else "other")


def test_nothing_that_openmq_has_a_default_of_is_left_out_in_silence():
    assert len(DEFAULTS) > 300
    faults = {}
    for entry in DEFAULTS:
        own = "imq.instancename=b1\nimq.cluster.brokerlist=b1:7676\n"
        plain, net = (
            properties.read([SourceFile("b1.properties", f"{own}{line}\n")])
            for line in ("", f"{entry.key}={another(entry.value)}")
        )
        told = [p.line for p in mq.check(net) if p.rule == "property-not-played"]
        kind = of_openmq.treatment(entry.key)
        if kind == "told" and told != [3] and not any(fnmatchcase(entry.key, one) for one in silent("openmq")):
            faults[entry.key] = "is told nowhere"
        if kind == "played" and entry.key not in IDENTITY and plain == net:
            faults[entry.key] = "is played, and changes nothing"
    assert not faults
