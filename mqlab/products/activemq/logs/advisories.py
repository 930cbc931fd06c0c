"""Advisories as JSON lines: what a subscriber of ``ActiveMQ.Advisory.>`` has written down, one object a line.

Each has the headers of a message as STOMP or JMS calls them, and its body as ``jms-advisory-json`` writes it
(recorded from 5.16.7). An advisory has no time of its own: whoever wrote it down adds when it came, as `time`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

PREFIX = "ActiveMQ.Advisory."
MARK = b"ActiveMQ.Advisory"  # what each such line has


def read(text: str) -> tuple[object, tuple[str, dict[str, str]] | None] | None:
    """Return the time that a line has, and what the advisory says; None for a line that is no advisory.

    >>> read('{"time": "2026-11-26T20:00:00", "destination": "/topic/ActiveMQ.Advisory.NetworkBridge", '
    ...      '"originBrokerName": "A", "started": "true", "body": {"BrokerInfo": {"brokerName": "B"}}}')[1]
    ('up', {'broker': 'A', 'remote': 'B', 'address': 'advisory of B'})
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    about = str(row.get("destination", "")).rpartition(PREFIX)
    broker = row.get("originBrokerName")
    if not about[1] or not isinstance(broker, str):
        return None
    time = row.get("time", row.get("timestamp"))
    return time, _said(about[2], broker, row, _body(row))


def _body(row: Mapping[str, object]) -> dict[str, dict[str, object]]:
    body = row.get("body", row.get("text"))
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return {}
    return {k: v for k, v in body.items() if isinstance(v, dict)} if isinstance(body, dict) else {}


def _said(
    about: str, broker: str, row: Mapping[str, object], body: dict[str, dict[str, object]]
) -> tuple[str, dict[str, str]] | None:
    kind, _, destination = about.partition(".")
    if kind == "NetworkBridge" and "BrokerInfo" in body:
        remote = str(body["BrokerInfo"].get("brokerName", "Unknown"))
        words = {"broker": broker, "remote": remote, "address": f"advisory of {remote}"}
        return ("up" if str(row.get("started")).lower() == "true" else "down"), words
    if kind == "Connection" and "ConnectionInfo" in body:
        info = body["ConnectionInfo"]
        return "connection", {
            "broker": broker,
            "id": _id(info.get("connectionId")),
            "client": str(info.get("clientId")),
        }
    if kind != "Consumer":
        return None
    form, _, name = destination.partition(".")
    words = {"broker": broker, "destination": f"{form.lower()}://{name}"}
    if "ConsumerInfo" in body:
        sub = _id(body["ConsumerInfo"].get("consumerId"))
        return ("demand" if "->" in sub else "consumer"), {**words, "sub": sub}
    if "RemoveInfo" in body:
        sub = _id(body["RemoveInfo"].get("objectId"))
        return ("gone" if "->" in sub else "consumer_gone"), {**words, "sub": sub}
    return None


def _id(value: object) -> str:
    """Return an ID as logs write it."""
    if not isinstance(value, dict):
        return str(value)
    if "connectionId" not in value:
        return str(value.get("value"))
    return ":".join(str(value.get(key)) for key in ("connectionId", "sessionId", "value"))
