"""Who may do what at a broker: its `users` and its `authorization`, each entry taken apart.

Source: ActiveMQ, security (`SimpleAuthenticationPlugin`, `AuthorizationPlugin`, `AuthorizationBroker`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.values import Destination, matches

RIGHTS = ("read", "write", "admin")
ANONYMOUS = ""  # the name of the user that stands for everybody who names none


def _query(what: str, text: str, known: Iterable[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in filter(None, text.split("&")):
        option, _, value = pair.partition("=")
        if option not in known:
            raise UnknownName.of("option", option, known, what)
        found[option] = unquote(value)
    return found


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class User:
    """A user with a password, and the groups that it is in.

    >>> sorted(User.of("ann?password=p&groups=users,admins").groups)
    ['admins', 'users']
    """

    name: str
    password: str
    groups: frozenset[str]

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(text: str) -> User:
        """Read ``ann?password=p&groups=users,admins``; raises `UnknownName` for other options."""
        name, _, query = text.partition("?")
        given = _query(f"user {name}", query, ("password", "groups"))
        return User(unquote(name), given.get("password", ""), _names(given.get("groups", "")))


@dataclass(frozen=True, slots=True)
class AuthorizationEntry:
    """The groups that may read, write and create (admin) destinations of a pattern.

    >>> AuthorizationEntry.of("queue://ORDERS.>?read=users&write=users,admins").groups["read"]
    frozenset({'users'})
    """

    pattern: Destination
    groups: Mapping[str, frozenset[str]]

    @staticmethod
    @lru_cache(maxsize=1024)
    def of(text: str) -> AuthorizationEntry:
        """Read ``queue://ORDERS.>?read=users``; raises `UnknownName`, and `BadValue` without a name."""
        name, _, query = text.partition("?")
        if not name:
            raise BadValue(f"authorization {text!r}: name a queue or topic, e.g. 'queue://>?read=users'")
        given = _query(f"authorization {name}", query, RIGHTS)
        return AuthorizationEntry(
            Destination.parse(name), {right: _names(given[right]) for right in RIGHTS if right in given}
        )


class Security:
    """What a broker knows of users: nothing without `users` and `authorization`, where everybody may do all."""

    def __init__(self, users: Iterable[str] | None, authorization: Iterable[str] | None) -> None:
        self.users = None if users is None else {user.name: user for user in map(User.of, users)}
        entries = None if authorization is None else [AuthorizationEntry.of(text) for text in authorization]
        self.entries = entries

    def groups(self, name: str | None, password: str | None) -> frozenset[str] | None:
        """Return the groups of a user; None if it is unknown, or has another password."""
        if self.users is None:
            return None if self.entries is not None else frozenset()
        user = self.users.get(name or ANONYMOUS)
        if user is None or (name and user.password != (password or "")):
            return None
        return user.groups

    def may(self, groups: frozenset[str], right: str, dest: Destination) -> bool:
        """Whether one of some groups has a right: an entry of the destination, or of a wildcard, gives it.

        What no entry is for is nobody's.
        """
        if self.entries is None:
            return True
        found = (e for e in self.entries if e.pattern.kind == dest.kind and matches(e.pattern.name, dest.name))
        return any(groups & entry.groups.get(right, frozenset()) for entry in found)
