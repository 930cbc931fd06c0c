"""The `ha-policy` of a `broker.xml`: elements to the options of a broker, and back.

Source: AMQ Broker 7.1, chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable

from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.files.markup import Document, Element, plain, tag, text_of
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.json_types import JsonObject
from mqlab.spec.option import Option

SPOKEN = {"primary": "master", "backup": "slave"}  # of later releases
POLICIES = {"replication": "replication", "shared-store": "shared_store", "live-only": "live_only"}
_GUIDES = {row.guide: row for row in ELEMENTS.values()}

Named = Callable[[str, Element], str]  # a connector's name -> the broker that it leads to


class PolicyReader:
    """Reads the policy of one document; *named* finds the broker that a connector leads to."""

    def __init__(self, document: Document, named: Named) -> None:
        self.document, self.named = document, named

    def place(self, element: Element) -> str:
        """Return file, line and element for an error."""
        return f"{self.document.where}, line {element.line}, {element.name}"

    def value(self, row: Option, element: Element) -> object:
        """Return an element's text in an option's type; raises `BadFile`."""
        try:
            return row.read(text_of(element), self.place(element))
        except (BadValue, UnknownName) as error:
            raise BadFile(str(error)) from None

    def read(self, core: Element) -> dict[str, object]:
        """Return policy, role and elements in the lab file's form; empty without an ``ha-policy``."""
        for policy in (p for ha in core.all("ha-policy") for p in ha.children):
            if policy.name not in POLICIES:
                known = ", ".join(POLICIES)
                raise BadFile(f"{self.place(policy)}: there is no such policy; expected one of {known}")
            found: dict[str, object] = {"policy": POLICIES[policy.name]}
            if policy.name == "live-only":
                return {**found, **self.elements(policy)}
            if not policy.children:
                raise BadFile(f"{self.place(policy)}: a role is missing; write <master/> or <slave/>")
            role = policy.children[0]
            found["role"] = SPOKEN.get(role.name, role.name)
            return {**found, **self.elements(role)}
        return {}

    def elements(self, holder: Element) -> dict[str, object]:
        """Return the elements below a role that the lab knows."""
        found: dict[str, object] = {}
        for child in holder.children:
            row = _GUIDES.get(SPOKEN.get(child.name, child.name))
            if row is None:
                continue
            if row.name == "scale_down":
                found[row.name] = self.scale_down(child)
            elif row.name == "excludes":
                found[row.name] = [self.exclude(e) for e in child.all("connector-ref")]
            elif row.type is dict:
                found[row.name] = self.elements(child)
            else:
                found[row.name] = self.value(row, child)
        return found

    def exclude(self, element: Element) -> str:
        """Return an excluded connector: that to a broker by the broker's name, any other by its own."""
        name = text_of(element)
        try:
            return f"to_{self.named(name, element)}"
        except BadFile:
            return name

    def scale_down(self, element: Element) -> dict[str, object]:
        """Return the elements of a scale-down."""
        found: dict[str, object] = {}
        for holder in element.all("connectors"):
            refs = holder.all("connector-ref")
            found["connectors"] = [f"to_{self.named(text_of(ref), ref)}" for ref in refs]
        for child in element.all("discovery-group-ref"):
            found["discovery_group_ref"] = child.attributes.get("discovery-group-name", "")
        for child in element.all("group-name", "enabled"):
            row = OPTIONS["scale-down"][child.name.replace("-", "_")]
            found[row.name] = self.value(row, child)
        return found


def written(broker: Broker) -> str:
    """Return the ``ha-policy`` of a broker as lines; nothing for one that is alone without elements."""
    policy = next(name for name, ours in POLICIES.items() if ours == broker.policy)
    lines = _elements(broker.elements, " " * 10 if policy != "live-only" else " " * 8)
    if policy == "live-only":
        inside = lines and tag(policy, {}, lines, " " * 6)
    else:
        inside = tag(policy, {}, tag(broker.role, {}, lines, " " * 8), " " * 6)
    return inside and tag("ha-policy", {}, inside, " " * 4)


def _elements(elements: JsonObject, indent: str) -> str:
    made = ""
    for name, row in ELEMENTS.items():
        if elements.get(name) is None:
            continue
        value = elements[name]
        if name == "scale_down":
            made += tag(row.guide, {}, _scale_down(value, indent + "  "), indent)
        elif name == "excludes":
            refs = "".join(leaf("connector-ref", ref, indent + "  ") for ref in value)
            made += tag(row.guide, {}, refs, indent)
        elif row.type is dict:
            made += tag(row.guide, {}, _elements(value, indent + "  "), indent)
        else:
            made += leaf(row.guide, value, indent)
    return made


def _scale_down(options: JsonObject, indent: str) -> str:
    made = ""
    if "enabled" in options:
        made += leaf("enabled", options["enabled"], indent)
    if options.get("group_name") is not None:
        made += leaf("group-name", options["group_name"], indent)
    if options.get("discovery_group_ref") is not None:
        given = {"discovery-group-name": options["discovery_group_ref"]}
        made += tag("discovery-group-ref", given, "", indent)
    if "connectors" in options:
        refs = "".join(leaf("connector-ref", ref, indent + "  ") for ref in options["connectors"])
        made += tag("connectors", {}, refs, indent)
    return made


def leaf(name: str, value: object, indent: str) -> str:
    """Return an element that holds a text, on a line of its own."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{indent}<{name}>{plain(text)}</{name}>\n"
