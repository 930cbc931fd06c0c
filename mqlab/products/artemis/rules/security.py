"""Rules about who may do what: addresses that the security settings of their own file close to all."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.checks.rule import Element, Found, rule
from mqlab.files.markup import Element as Tag
from mqlab.products.artemis.files.core import Core
from mqlab.products.artemis.rules.set_up import SetUp
from mqlab.spec.artemis.addresses import matches, most_specific


@rule(
    "no-permission",
    "warning",
    finds="an address from which no role may consume, by the security settings of its own file",
    what="no client can {do} address {address!r}: {why}",
    fix="give a role the permission in a security-setting for it, or set security-enabled to false",
    source="Artemis user manual, security",
    unshown="mqlab lets every client do everything",
)
def _no_permission(set_up: SetUp) -> Found:
    for name, core in set_up.cores.items():
        settings = {core.attribute(one, "match"): one for one in _settings(core)}
        for address in core.element.below("addresses", "address") if settings else ():
            called = core.attribute(address, "name")
            found = most_specific(match for match in settings if matches(match, called))
            allowed = set() if not found else _allowed(core, settings[found[0]].all("permission"))
            if "consume" not in allowed:
                lacks = [word for word in ("send", "consume") if word not in allowed]
                why = (
                    f"the security-setting {found[0]!r} gives no role {' or '.join(lacks)}"
                    if found
                    else ("no security-setting matches it, so no role has a permission")
                )
                do = " or ".join({"send": "send to", "consume": "consume from"}[word] for word in lacks)
                place = Element(f"broker {name}", core.document.where, address.line)
                yield place, {"address": called, "do": do, "why": why}


def _settings(core: Core) -> Iterable[Tag]:
    """Return the security settings of a file; none where something else than they may decide."""
    enabled, own = core.element.first("security-enabled"), core.element.first("wildcard-addresses")
    plugins = core.element.below("security-settings", "security-setting-plugin")
    if (enabled is not None and core.text(enabled) == "false") or own is not None or list(plugins):
        return ()
    return core.element.below("security-settings", "security-setting")


def _allowed(core: Core, permissions: Iterable[Tag]) -> set[str]:
    """Return the kinds of permission that some role has."""
    return {core.attribute(one, "type") for one in permissions if core.attribute(one, "roles")}
