"""The users and rights of a broker's file: the plugins that name them, read, written and edited."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from mqlab.errors import BadFile
from mqlab.files.editing import Putting, removed
from mqlab.files.markup import Document, Edit, Element, tag
from mqlab.products.activemq.files.policy_edits import within
from mqlab.products.activemq.files.reader import Reader
from mqlab.real.connections import USER
from mqlab.spec.json_types import JsonObject
from mqlab.spec.network import Broker
from mqlab.spec.security import ANONYMOUS, RIGHTS, AuthorizationEntry, User

PLUGINS = {"users": "simpleAuthenticationPlugin", "authorization": "authorizationPlugin"}
_ENTRIES = ("map", "authorizationMap", "authorizationEntries", "authorizationEntry")
_KINDS = ("queue", "topic")
_PLACES = {*_KINDS, "tempQueue", "tempTopic", "destination"}
_ELSEWHERE = re.compile("[aA]uthenticationPlugin$")


def read(reader: Reader, broker: Element) -> dict[str, object]:
    """Return the options `users` and `authorization` of a broker.

    Nothing where its users stand elsewhere, as with JAAS: then all may do everything, which `check` tells.
    """
    found: dict[str, object] = {}
    for entry in broker.below("plugins", PLUGINS["authorization"], *_ENTRIES):
        _check_destination(reader, entry)
    if not known(broker):
        return found
    for plugin in broker.below("plugins", PLUGINS["users"]):
        users = [_user(reader, user) for user in plugin.below("users", "authenticationUser")]
        if reader.truth(plugin, "anonymousAccessAllowed"):
            group = reader.text(plugin, "anonymousGroup", "anonymous")
            users.append(f"{ANONYMOUS}?groups={quote(group)}")
        found["users"] = users
    for plugin in broker.below("plugins", PLUGINS["authorization"]):
        maps = [one for held in plugin.all("map") for one in held.all("authorizationMap")]
        entries = [e for one in maps for e in one.below("authorizationEntries", "authorizationEntry")]
        if maps:
            found["authorization"] = [text for entry in entries for text in _entry(reader, entry)]
    return found


def known(broker: Element) -> bool:
    """Whether no user stands elsewhere than in the file."""
    plugins = [plugin for held in broker.all("plugins") for plugin in held.children]
    others = (p for p in plugins if _ELSEWHERE.search(p.name) and p.name != PLUGINS["users"])
    return next(others, None) is None and not any("users" in plugin.attributes for plugin in plugins)


def _check_destination(reader: Reader, entry: Element) -> None:
    """Raise `BadFile` for an entry without a destination: 5.17.2 does not start (NullPointerException)."""
    if not entry.children and not entry.attributes.keys() & _PLACES:
        raise BadFile(f'{reader.place(entry)}: it names no destination; add e.g. queue=">"')
    for kind in (kind for kind in _KINDS if kind in entry.attributes):
        reader.named(entry, kind)


def _user(reader: Reader, user: Element) -> str:
    given = {name: reader.text(user, name) for name in ("password", "groups")}
    return f"{quote(reader.text(user, 'username'))}?{_joined(given)}"


def _entry(reader: Reader, entry: Element) -> Iterator[str]:
    given = {right: reader.text(entry, right) for right in RIGHTS if right in entry.attributes}
    for kind in _KINDS:
        if kind in entry.attributes:
            yield f"{kind}://{reader.text(entry, kind)}?{_joined(given)}".rstrip("?")


def _joined(given: dict[str, str]) -> str:
    return "&".join(f"{name}={quote(value, safe=',')}" for name, value in given.items())


def guest(options: JsonObject) -> str:
    """Return the user as whom clients of `mqlab real` connect, as a line: it is in every group."""
    users = [User.of(text) for text in options.get("users") or ()]
    entries = [AuthorizationEntry.of(text) for text in options.get("authorization") or ()]
    groups = [user.groups for user in users] + [g for entry in entries for g in entry.groups.values()]
    return _written_user(User(USER, USER, frozenset[str]().union(*groups)))


def written(broker: Broker, real: bool = False) -> str:
    """Return the plugins of a broker that name its users and rights as lines; a *real* one has a guest, too."""
    more = guest(broker.options) if real else ""
    return "".join(_plugin(broker, option, more) for option in PLUGINS)


def kept(plugin: Element, plugins: Element) -> bool:
    """Whether a plugin stays where `mqlab real` plays a file: one with users, and rights beside it."""
    users = [one for held in plugins.all(PLUGINS["users"]) for one in held.below("users", "authenticationUser")]
    return bool(users) and plugin.name in PLUGINS.values()


def _plugin(broker: Broker, option: str, more: str = "") -> str:
    if broker.options.get(option) is None:
        return ""
    if option == "users":
        users = [User.of(text) for text in broker.options[option]]
        lines = "".join(_written_user(user) for user in users if user.name != ANONYMOUS) + more
        given: dict[str, str] = {}
        for user in (user for user in users if user.name == ANONYMOUS):
            given = {"anonymousAccessAllowed": "true", "anonymousGroup": ",".join(sorted(user.groups))}
        return tag(PLUGINS[option], given, tag("users", {}, lines, " " * 8), " " * 6)
    made = "".join(map(_written_entry, map(AuthorizationEntry.of, broker.options[option])))
    for depth, name in enumerate(reversed(_ENTRIES[:-1])):
        made = tag(name, {}, made, " " * (12 - 2 * depth))
    return tag(PLUGINS[option], {}, made, " " * 6)


def _written_user(user: User) -> str:
    given = {"username": user.name, "password": user.password, "groups": ",".join(sorted(user.groups))}
    return tag("authenticationUser", given, "", " " * 10)


def _written_entry(entry: AuthorizationEntry) -> str:
    given = {right: ",".join(sorted(groups)) for right, groups in entry.groups.items()}
    return tag(_ENTRIES[-1], {entry.pattern.kind: entry.pattern.name, **given}, "", " " * 14)


def edits(document: Document, element: Element, got: Broker, wanted: Broker, put: Putting) -> Iterator[Edit]:
    """Yield the edits by which a file names other users or rights: its plugin is written once more."""
    for option, name in PLUGINS.items():
        if got.options.get(option) == wanted.options.get(option):
            continue
        there = element.below("plugins", name)
        lines = _plugin(wanted, option)
        if there and lines:
            yield Edit(there[0].start, there[0].end, lines.strip())
        elif there:
            yield removed(document, there[0])
        else:
            yield from within(put, element, ("plugins",), lines)
