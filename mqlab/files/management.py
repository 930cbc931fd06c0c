"""Addresses of management, such as ``jolokia:http://host:8161/api/jolokia``, and the secrets that open them.

Whoever hands an address on hands on the one without user and password. What it had stays in this process alone,
in a table that no value holds: so nothing that is printed, saved or sent to another process can tell it.
"""

from __future__ import annotations

import base64
import os
from typing import TypeGuard
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from mqlab.errors import BadValue

SCHEME = "jolokia:"
WEB = ("http:", "https:")  # what an address begins with whose scheme was forgotten
USER, PASSWORD = "MQLAB_JOLOKIA_USER", "MQLAB_JOLOKIA_PASSWORD"  # variables of the environment
DEFAULT_USER = "admin"  # of ActiveMQ's and Artemis' own files
EXAMPLE = "jolokia:http://localhost:8161/api/jolokia"

_secrets: dict[str, tuple[str, str | None]] = {}  # address -> user and password


def is_address(what: object) -> TypeGuard[str]:
    """Whether a text is the address of a broker's management."""
    return isinstance(what, str) and what.startswith(SCHEME)


def without_secret(address: str) -> str:
    """Return an address without user and password, which are kept for this process.

    Raises `BadValue` for what is no address; its text does not repeat what might be a password.

    >>> without_secret("jolokia:http://ada:secret@broker:8161/api/jolokia")
    'jolokia:http://broker:8161/api/jolokia'
    """
    try:
        parts = urlsplit(address.removeprefix(SCHEME))
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        raise BadValue(
            f"an address of management begins with jolokia:http:// and names a host; use e.g. {EXAMPLE}"
        )
    plain = SCHEME + urlunsplit((parts.scheme, _place(host, port), parts.path.rstrip("/"), "", ""))
    if parts.username is not None:
        password = None if parts.password is None else unquote(parts.password)
        _secrets[plain] = unquote(parts.username), password
    return plain


def at_host(address: str, host: str) -> str:
    """Return the address of another host's management: with the same port, path and secret."""
    parts = _parts(address)
    found = SCHEME + urlunsplit((parts.scheme, _place(host, parts.port), parts.path, "", ""))
    if address in _secrets:
        _secrets.setdefault(found, _secrets[address])
    return found


def host_of(address: str) -> str:
    """Return the host of an address."""
    return _parts(address).hostname or ""


def authorization(address: str) -> str | None:
    """Return the header that opens an address; None where neither it nor the environment has a password."""
    user, password = _secrets.get(address, (None, None))
    if password is None:
        password = os.environ.get(PASSWORD)
    if password is None:
        return None
    pair = f"{user or os.environ.get(USER, DEFAULT_USER)}:{password}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _parts(address: str) -> SplitResult:
    return urlsplit(address.removeprefix(SCHEME))


def _place(host: str, port: int | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
