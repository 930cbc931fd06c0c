"""The `ha-policy` of a `broker.xml`: elements to the options of a broker, and back.

Source: AMQ Broker 7.1, chapter 21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mqlab.errors import BadFile, BadValue, UnknownName, shown
from mqlab.files.markup import Document, Element, plain, tag
from mqlab.files.placeholders import missing
from mqlab.spec.artemis.broker import SPOKEN as SPOKEN_ROLES
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.json_types import JsonObject
from mqlab.spec.option import Option
from mqlab.spec.values import as_text

# What later releases call roles, elements and policies.
SPOKEN = SPOKEN_ROLES | {"check-for-active-server": "check-for-live-server"}
POLICIES = {
    "live-only": "live_only",
    "primary-only": "live_only",
    "replication": "replication",
    "shared-store": "shared_store",
}
XINCLUDE = "http://www.w3.org/2001/XInclude"
ROLES = ("colocated", "master", "slave")  # in this order the product looks for them
_GUIDES = {row.guide: row for row in ELEMENTS.values()}
# The elements of a scale-down, in the order of the schema.
_DOWN = {
    guide: OPTIONS["scale-down"][guide.replace("-", "_")]
    for guide in ("enabled", "group-name", "discovery-group-ref", "connectors")
}

Named = Callable[[str, Element], str | None]  # a connector's name -> the broker that it leads to, if any


class PolicyReader:
    """Reads the policy of one document; *named* finds the broker that a connector leads to."""

    def __init__(self, document: Document, named: Named, text: Callable[[Element], str]) -> None:
        self.document, self.named, self.text = document, named, text

    def place(self, element: Element) -> str:
        """Return file, line and element for an error."""
        return f"{self.document.where}, line {element.line}, {element.name}"

    def value(self, row: Option, element: Element) -> object:
        """Return an element's text in an option's type; raises `BadFile`."""
        return self.read_text(row, self.text(element), element)

    def read_text(self, row: Option, text: str, element: Element) -> object:
        """Return a text in an option's type; raises `BadFile` at an element."""
        unknown = missing(text)
        if unknown and row.type is not str:
            raise BadFile(
                f"{self.place(element)}: {shown(text)}, and nothing says what {unknown[0]} is; give it a value"
            )
        try:
            return row.read(text, self.place(element))
        except (BadValue, UnknownName) as error:
            raise BadFile(str(error)) from None

    def read(self, core: Element) -> dict[str, object]:
        """Return policy, role and elements in the lab file's form; empty without an ``ha-policy``."""
        own = [p for ha in core.all("ha-policy") for p in ha.children if p.namespace != XINCLUDE]
        for policy in own:
            if policy.name not in POLICIES:
                known = ", ".join(POLICIES)
                raise BadFile(f"{self.place(policy)}: there is no such policy; expected one of {known}")
            if len(own) > 1:
                told = f"the ha-policy is <{policy.name}> already (line {policy.line}); keep one of them"
                raise BadFile(f"{self.place(own[1])}: {told}")
            found: dict[str, object] = {"policy": POLICIES[policy.name]}
            if found["policy"] == "live_only":
                return {**found, **self.elements(policy)}
            roles = {SPOKEN.get(role.name, role.name): role for role in reversed(policy.children)}
            name = next((name for name in ROLES if name in roles), None)
            if name is None:
                return {}  # without a role it is as without a policy: live only
            return {**found, "role": name, **self.elements(roles[name])}
        return {}

    def elements(self, holder: Element, rows: Mapping[str, Option] = _GUIDES) -> dict[str, object]:
        """Return the elements below a role, or in one of them, that the lab knows."""
        found: dict[str, object] = {}
        for child in holder.children:
            row = rows.get(SPOKEN.get(child.name, child.name))
            if row is None:
                continue
            if row.type is list:
                # A connector to a broker is called by the broker's name; any other is only excluded by its own.
                refs = child.all("connector-ref")
                named = [(self.text(ref), self.named(self.text(ref), ref)) for ref in refs]
                named = [(name, to) for name, to in named if to is not None or row.name == "excludes"]
                found[row.name] = [name if to is None else f"to_{to}" for name, to in named]
            elif row.name == "discovery_group_ref":
                found[row.name] = child.attributes.get("discovery-group-name", "")
            elif row.name == "manager":
                found[row.name] = True
            elif row.type is dict:
                found[row.name] = self.elements(child, _DOWN if row.name == "scale_down" else _GUIDES)
            else:
                found[row.name] = self.value(row, child)
        return found


def written(broker: Broker) -> str:
    """Return the ``ha-policy`` of a broker as lines; nothing for one that is alone without elements."""
    policy = next(name for name, ours in POLICIES.items() if ours == broker.policy)
    lines = elements(broker.elements, " " * 10 if policy != "live-only" else " " * 8)
    if policy == "live-only":
        inside = lines and tag(policy, {}, lines, " " * 6)
    else:
        inside = tag(policy, {}, tag(broker.role, {}, lines, " " * 8), " " * 6)
    return inside and tag("ha-policy", {}, inside, " " * 4)


def elements(given: JsonObject, indent: str, rows: Mapping[str, Option] = ELEMENTS) -> str:
    """Return elements of a policy, or of its scale-down, as lines."""
    made = ""
    for row in rows.values():
        name = row.name
        if given.get(name) is None:
            continue
        value = given[name]
        if name == "discovery_group_ref":
            made += tag(row.guide, {"discovery-group-name": value}, "", indent)
        elif row.type is list:
            refs = "".join(leaf("connector-ref", ref, indent + "  ") for ref in value)
            made += tag(row.guide, {}, refs, indent)
        elif row.type is dict:
            inner = elements(value, indent + "  ", _DOWN if name == "scale_down" else ELEMENTS)
            made += tag(row.guide, {}, inner, indent)
        elif name == "manager":
            made += tag(row.guide, {}, "", indent) if value else ""
        else:
            made += leaf(row.guide, value, indent)
    return made


def leaf(name: str, value: object, indent: str) -> str:
    """Return an element that holds a text, on a line of its own."""
    return f"{indent}<{name}>{plain(as_text(value))}</{name}>\n"
