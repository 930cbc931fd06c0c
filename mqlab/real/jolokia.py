"""Questions to a running broker's management over Jolokia: only ever reads.

A bulk request is one POST with a list of questions; each answer has a status of its own. Python's own http is
loaded when something is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.errors import CannotRun
from mqlab.files import management
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted

if TYPE_CHECKING:
    from http.client import HTTPResponse

SECONDS = 20.0  # of silence, until a broker counts as gone
MOST_BYTES = 256 * 1024 * 1024
_LOCAL = "http://localhost"  # what a broker's own jolokia-access.xml allows, if it allows only some
_TITLE = re.compile(rb"<title[^>]*>\s*([^<]{1,80})", re.IGNORECASE)
# Product -> the MBeans of its brokers.
BROKERS = {
    "activemq": "org.apache.activemq:type=Broker,brokerName=*",
    "artemis": "org.apache.activemq.artemis:broker=*",
}
_READS = ("read", "search", "list")


def ask(address: str, questions: Sequence[JsonDict], seconds: float = SECONDS) -> list[JsonDict]:
    """Return the answers to questions, in their order; each has a `status` (200: well) and a `value`.

    Raises `CannotRun`, in words without user and password, when the address does not answer as Jolokia does.
    """
    assert all(question["type"] in _READS for question in questions)
    own = "/".join(address.removeprefix(management.SCHEME).split("/")[:3])
    found = _posted(address, questions, own, seconds)
    if isinstance(found, dict) and "Origin" in str(found.get("error")):
        found = _posted(address, questions, _LOCAL, seconds)  # strict checking, with an origin of its own
    if isinstance(found, list) and len(found) == len(questions) and all(isinstance(a, dict) for a in found):
        return found
    told = found.get("error") if isinstance(found, dict) else None
    if told:
        raise CannotRun(f"{address}: Jolokia refuses: {str(told)[:200]}; see its jolokia-access.xml")
    raise CannotRun(f"{address}: what answers is JSON, but not Jolokia's; ActiveMQ's is at /api/jolokia")


def _posted(address: str, questions: Sequence[JsonDict], origin: str, seconds: float) -> object:
    """Return the JSON value that a POST is answered with; raises `CannotRun`."""
    from http.client import HTTPException
    from urllib import request
    from urllib.error import HTTPError, URLError

    class Unmoved(request.HTTPRedirectHandler):
        """Follows nowhere: the password is for this address alone."""

        def redirect_request(self, *_: object, **__: object) -> None:
            return None

    headers = {"Content-Type": "application/json", "Accept": "application/json", "Origin": origin}
    if (secret := management.authorization(address)) is not None:
        headers["Authorization"] = secret
    url = address.removeprefix(management.SCHEME) + "/"  # the agent of a JVM answers only there
    body = json.dumps(list(questions)).encode()
    try:
        opener = request.build_opener(Unmoved)
        with opener.open(request.Request(url, body, headers), timeout=seconds) as answer:
            return _value(address, answer)
    except HTTPError as error:
        raise CannotRun(f"{address}: {_refusal(error.code, error.headers.get('Location'))}") from None
    except URLError as error:
        raise CannotRun(f"{address}: it cannot be reached: {error.reason}") from None
    except (TimeoutError, HTTPException, OSError) as error:
        what = str(error) or type(error).__name__
        raise CannotRun(f"{address}: the broker went away while it was read: {what}") from None


def _refusal(code: int, location: str | None) -> str:
    """Return what an answer with a status of HTTP other than 200 means, and what to do."""
    if code == 401:
        return (
            "user or password is wrong, or missing (401); write jolokia:http://USER:PASSWORD@HOST..., or set "
            f"{management.USER} and {management.PASSWORD}"
        )
    if code == 403:
        return "this user may not read management (403); name one with the role of an administrator"
    if code == 404:
        return "there is no Jolokia (404); ActiveMQ's is at /api/jolokia, that of Artemis at /console/jolokia"
    if location is not None:
        return f"it leads on to {location.partition('?')[0]} ({code}), perhaps a page for login"
    return f"it answers with status {code}; expected Jolokia's JSON"


def _value(address: str, answer: HTTPResponse) -> object:
    """Return the JSON value of an answer; raises `CannotRun` for a page, or one that is too large."""
    text = answer.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise CannotRun(f"{address}: the answer is larger than {MOST_BYTES >> 20} MiB")
    if answer.length:
        raise OSError(f"its answer lacks {counted(answer.length, 'byte')}")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        title = _TITLE.search(text)
        named = f", titled {title[1].decode('utf-8', 'replace').strip()!r}" if title else ""
        kind = answer.headers.get_content_type()
        raise CannotRun(
            f"{address}: what answers is not JSON but {kind}{named}. A proxy or a page for login may stand "
            "before it; give the address of Jolokia itself, such as http://HOST:8161/api/jolokia"
        ) from None


@dataclass(frozen=True, slots=True)
class Row:
    """An MBean: the properties of its name, and its attributes."""

    properties: dict[str, str]
    attributes: JsonDict

    def number(self, name: str) -> int:
        """Return a count; 0 where this version has none."""
        value = self.attributes.get(name)
        return value if isinstance(value, int) else 0

    def text(self, name: str) -> str:
        """Return a text; empty where there is none."""
        value = self.attributes.get(name)
        return value if isinstance(value, str) else ""


Rows = dict[str, list[Row]]  # by kind


def rows(
    address: str, asked: Mapping[str, tuple[str, Sequence[str]]], seconds: float = SECONDS
) -> tuple[Rows, list[str]]:
    """Return the rows of each kind that is *asked*, a pattern of MBeans and their attributes, and notes.

    A note says what was refused. Raises `CannotRun` as `ask` does.
    """
    questions = [
        {"type": "read", "mbean": pattern, "attribute": list(attributes)}
        for pattern, attributes in asked.values()
    ]
    found: Rows = {}
    notes = []
    for kind, answer in zip(asked, ask(address, questions, seconds), strict=True):
        status, value = answer.get("status"), answer.get("value")
        if status == 200 and isinstance(value, dict):
            found[kind] = [
                Row(_properties(name), attributes)
                for name, attributes in sorted(value.items())
                if isinstance(attributes, dict)
            ]
        elif status != 404:  # there are none
            notes.append(f"{address}: {kind} could not be read: {str(answer.get('error'))[:120]}")
    return found, notes


def _properties(name: str) -> dict[str, str]:
    """Return the properties of an MBean's name; brokers write other signs for commas in them."""
    pairs = (pair.partition("=") for pair in name.partition(":")[2].split(","))
    return {key: value.strip('"') for key, _, value in pairs}


def product_of(addresses: Sequence[str]) -> str:
    """Return whose brokers management is of: artemis where one says so, else activemq.

    What cannot be read is passed over: who reads it says why. Raises `CannotRun` for brokers of both.
    """
    found = set()
    for address in addresses:
        questions = [{"type": "search", "mbean": pattern} for pattern in BROKERS.values()]
        with suppress(CannotRun):
            answers = ask(address, questions)
            found |= {name for name, answer in zip(BROKERS, answers, strict=True) if answer.get("value")}
    if len(found) > 1:
        raise CannotRun(
            f"these are brokers of different products, which do not connect: {', '.join(sorted(found))}"
        )
    return next(iter(found), "activemq")
