"""A network that was read while it runs: where it is not as its files say, and what could not be read.

Source: what the brokers' own management answered (ActiveMQ 5.16.7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.checks.rule import Element, Found
from mqlab.checks.running import apart, not_read, not_read_rule, running_rule, waiting, waiting_rule
from mqlab.products.activemq.files.elements import ConnectorElement
from mqlab.products.activemq.rules.context import BrokerFile, CheckContext, files
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.rows import OPTIONS
from mqlab.spec.running import RunningConnector
from mqlab.spec.values import as_text


@dataclass(frozen=True, slots=True)
class Pair:
    """A network connector of a file, and the one of its name that runs."""

    element: Element
    written: ConnectorElement
    running: RunningConnector
    edition: str


def _running(file: BrokerFile) -> dict[str, RunningConnector] | None:
    """Return the connectors that a file's broker runs, by name; None where it was not read."""
    running = file.context.network.running
    if running is None or file.name not in {one.name for one in running.brokers}:
        return None
    return {one.name: one for one in running.connectors if one.broker == file.name}


def pairs(file: BrokerFile) -> Iterator[Pair]:
    """Yield the connectors that are in a file and run."""
    there, edition = _running(file) or {}, file.context.network.edition
    for written in file.broker.connectors:
        if written.name in there:
            yield Pair(file.at(written.element), written, there[written.name], edition)


@running_rule(
    "file-differs",
    "warning",
    finds="an option of a network connector that the running broker has otherwise than its file",
    what="{option} is {written} in the file and {running} in the broker",
    fix='restart the broker with this file, or write {option}="{running}" into it',
    of=(files, pairs),
)
def _file_differs(pair: Pair) -> Found:
    noun = NetworkConnector.as_written(pair.written.name, pair.written.uri, **pair.written.options)
    for name, running in pair.running.options:
        written = noun.get(name, pair.edition)
        if written != running:
            option = OPTIONS["networkConnector"][name].guide
            yield pair.element, {"option": option, "written": as_text(written), "running": as_text(running)}


@running_rule(
    "not-running",
    "warning",
    finds="a network connector of a file that the running broker does not have",
    what="networkConnector {name} is in the file, and the broker runs without it",
    fix="restart the broker with this file, or remove the connector from it",
    of=(files,),
)
def _not_running(file: BrokerFile) -> Found:
    there = _running(file)
    for written in file.broker.connectors:
        if there is not None and written.name not in there:
            yield file.at(written.element), {"name": written.name}


@running_rule(
    "not-in-file",
    "warning",
    finds="a network connector that runs and is not in the broker's file",
    what="the broker runs a networkConnector {name} that is not in the file: it is gone after a restart",
    fix="write it into the file, or give the file that the broker runs with",
    of=(files,),
)
def _not_in_file(file: BrokerFile) -> Found:
    written = {one.name for one in file.broker.connectors}
    for name in _running(file) or {}:
        if name not in written:
            yield file.at(file.broker.element), {"name": name}


@running_rule(
    "no-bridge",
    "error",
    finds="a network connector of a running broker without a bridge",
    what="no bridge stands: nothing is forwarded from here, and no demand comes",
    fix="see in the broker's log why it is not connected, and whether the other broker is up",
)
def _no_bridge(context: CheckContext) -> Found:
    for one in apart(context.network.running):
        yield context.connector(one.broker, one.name), {}


@waiting_rule(
    "waiting",
    finds="messages that wait in a running queue without a consumer or bridge that takes from it",
    what="{depth} in queue {name}, and no subscription takes from it",
)
def _waiting(context: CheckContext) -> Found:
    for broker, facts in waiting(context.network.running):
        yield context.broker(broker), facts


@not_read_rule(
    "not-read",
    finds="what could not be read of a running network",
)
def _not_read(context: CheckContext) -> Found:
    yield from not_read(context.network.running)
