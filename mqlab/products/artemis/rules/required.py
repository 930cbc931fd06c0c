"""What the schema asks for besides names and values: attributes that are there, elements that stand once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mqlab.checks.rule import Element, Found, rule
from mqlab.files.markup import Element as Tag
from mqlab.products.artemis.rules.set_up import SetUp

NAMED = ("name",)
# Path in a core -> attributes without which a broker does not start (use="required" in the schema).
REQUIRED = {
    "address-settings/address-setting": ("match",),
    "security-settings/security-setting": ("match",),
    "security-settings/security-setting/permission": ("type", "roles"),
    "diverts/divert": NAMED,
    "bridges/bridge": NAMED,
    "cluster-connections/cluster-connection": NAMED,
    "broadcast-groups/broadcast-group": NAMED,
    "discovery-groups/discovery-group": NAMED,
    "grouping-handler": NAMED,
}
# Elements whose children stand once each, in any order (xsd:all in the schema).
ONCE = ("", "address-settings/address-setting", "diverts/divert", "discovery-groups/discovery-group")


@rule(
    "incomplete",
    "error",
    finds="a required attribute or element that is missing, or an element that stands twice",
    what="{text}: the broker does not start",
    fix="{fix}",
    source="Artemis' schema, 2.31",
    unshown="the broker does not start",
)
def _incomplete(set_up: SetUp) -> Found:
    for name, core in set_up.cores.items():
        for at, text, fix in _gaps(core.element):
            yield Element(f"broker {name}", core.document.where, at.line), {"text": text, "fix": fix}


def _gaps(core: Tag) -> Iterator[tuple[Tag, str, str]]:
    for path, names in REQUIRED.items():
        for element in core.below(*path.split("/")):
            for needed in names:
                if needed not in element.attributes:
                    yield element, f"{element.name} has no {needed}", f"add {needed}=..."
    for element in core.below("cluster-connections", "cluster-connection"):
        if element.first("connector-ref") is None:
            yield element, "cluster-connection has no connector-ref", "add the connector of this broker"
    for element in (one for path in ONCE for one in core.below(*filter(None, path.split("/")))):
        own = [child for child in element.children if child.namespace == element.namespace]  # no xi:include
        counts = Counter(child.name for child in own)
        for child in own:
            if counts.pop(child.name, 1) > 1:
                yield child, f"{child.name} stands more than once in {element.name}", "put all into one"
