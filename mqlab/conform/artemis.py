"""Outcomes of Artemis runs against recordings (Recordings rule 7.5)."""

from __future__ import annotations

import json
import re
from collections import Counter

from mqlab.conform import at_rest
from mqlab.files.places import differ
from mqlab.spec.json_types import JsonDict, JsonObject

DEPTHS = ("exact", "counts", "totals", "roles", "none")
# Only the moment of the snapshot decides these.
_FREE = ("has_replica", "files", "problems", "waits_ms")


def differences(outcome: JsonObject, observed: JsonObject) -> list[str]:
    """Return what differs from a recording's `observed`, to the depth that it promises."""
    depth = at_rest.depth_of(observed, DEPTHS)
    if depth == "none":
        return []
    reduce = {"exact": _exact, "counts": _counts, "totals": _totals, "roles": _roles}[depth]
    seen = [entry["outcome"] for entry in observed["outcomes"]]
    return min((differ("", reduce(real), reduce(_counted(outcome, real))) for real in seen), key=len)


def _counted(outcome: JsonObject, real: JsonObject) -> JsonObject:
    """Return an outcome without what a recording did not count.

    Where a script names a topic, its recorder leaves open what was received more than once: a topic's message
    is for each subscriber. That shows where a message was received twice and none is listed.
    """
    received = [number for got in real["consumers"].values() for number in got["received"]]
    uncounted = not real["received_more_than_once"] and len(set(received)) < len(received)
    return {**outcome, "received_more_than_once": []} if uncounted else outcome


def _exact(outcome: JsonObject) -> JsonDict:
    found = {key: outcome[key] for key in ("consumers", "senders", "waits", "lost", "received_more_than_once")}
    for kind in ("senders", "consumers"):
        found[kind] = {name: _told_alike(client) for name, client in found[kind].items()}
    found["refused"] = outcome.get("refused", [])
    found["snapshots"] = {
        label: {
            "received_so_far": shot["received_so_far"],
            "brokers": {name: _broker(broker) for name, broker in shot["brokers"].items()},
        }
        for label, shot in outcome["snapshots"].items()
    }
    return found


def _told_alike(client: JsonObject) -> JsonObject:
    """Return what a client was told, without what the recorder's own program decides.

    The opening of a session has two names in scripts, and is one step. One in the background notes the number
    of whichever step is under way. A client that was never opened has no consumer to receive from.
    """
    told = [
        re.sub(r"^step \d+ open: ", "open: ", said.replace(" open_client: ", " open_producer: "))
        for said in client.get("results", ())
        if said != "receive: NullPointerException"
    ]
    return {**client, "results": told} if told else {key: client[key] for key in client if key != "results"}


def _broker(broker: JsonObject) -> JsonDict:
    found = {key: value for key, value in broker.items() if key not in _FREE}
    if "queues" in found:
        found["queues"] = {
            name: dict(queue)
            for name, queue in _renumbered(found["queues"]).items()
            if not name.startswith("store_and_forward:")
        }
    if "hosts" in found:
        found["hosts"] = {name: _broker(hosted) for name, hosted in found["hosts"].items()}
    return found


def _renumbered(queues: JsonObject) -> JsonDict:
    """Number the queues of plain subscribers of one topic by what is in them.

    The broker lists them by random names, and a recording numbers each by its place among all queues.
    """
    found: JsonDict = {name: queue for name, queue in queues.items() if not name.startswith("temporary:")}
    own = [(name.partition("#")[0], queue) for name, queue in queues.items() if name.startswith("temporary:")]
    numbers: Counter[str] = Counter()
    for name, queue in sorted(own, key=lambda pair: (pair[0], json.dumps(pair[1], sort_keys=True))):
        numbers[name] += 1
        found[f"{name}#{numbers[name]}"] = queue
    return found


def _counts(outcome: JsonObject) -> JsonDict:
    """Leave out message numbers and their order."""
    whole = _exact(outcome)
    whole["consumers"] = {
        name: {"count": got["count"], "failovers": got.get("failovers", [])}
        for name, got in whole["consumers"].items()
    }
    whole["senders"] = {name: len(got["sent"]) for name, got in whole["senders"].items()}
    for key in ("lost", "received_more_than_once"):
        whole[key] = len(whole[key])
    for shot in whole["snapshots"].values():
        for broker in shot["brokers"].values():
            for queue in broker.get("queues", {}).values():
                for key in ("waiting", "delivering"):
                    if key in queue:
                        queue[key] = len(queue[key])
    return whole


def _totals(outcome: JsonObject) -> JsonDict:
    return {**at_rest.totals(_exact(outcome)), "roles": _roles(outcome)}


def _roles(outcome: JsonObject) -> JsonDict:
    return {
        label: {name: (broker["role"], broker.get("pair")) for name, broker in shot["brokers"].items()}
        for label, shot in outcome["snapshots"].items()
    }
