"""What the tests of numbered behaviours share: small networks, and a table of checks by number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import mqlab as mq

FOO = mq.Queue("TEST.FOO")
NEWS = mq.Topic("NEWS")


class Behaviours:
    """Checks by their number in a reference file; `cases` are pytest parameters."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.checks: dict[int, Callable[[], None]] = {}

    def __call__(self, number: int):
        def keep(check: Callable[[], None]) -> Callable[[], None]:
            assert number not in self.checks, number
            self.checks[number] = check
            return check

        return keep

    def cases(self) -> list:
        return [
            pytest.param(self.checks.get(number), id=str(number))
            for number in range(1, self.count + 1)
        ]  # fmt: skip


def network(text: str, edition: str = "5.5", brokers: str = "", **options) -> mq.Network:
    """Return a network: ``"A>B B>C"`` are connectors, ``A=B`` a duplex one; all get *options*."""
    connectors: dict[str, list[mq.NetworkConnector]] = {}
    for link in text.split():
        home, sign, remote = link[0], link[1], link[2]
        connectors.setdefault(remote, [])
        known = connectors.setdefault(home, [])
        known.append(mq.NetworkConnector(
            f"{home}{remote}{len(known)}", uri=f"static:(tcp://{remote}:61616)",
            **({"duplex": True} if sign == "=" else {}), **options,
        ))  # fmt: skip
    for name in brokers:
        connectors.setdefault(name, [])
    return mq.Network(*(mq.Broker(name, *connectors[name]) for name in sorted(connectors)), edition=edition)


def reads(text: str, dest=FOO, **options) -> list[mq.Consumer]:
    """Return consumers: ``"C1@A C2@B"``."""
    pairs = (word.split("@") for word in text.split())
    return [mq.Consumer(name, on=on, reads=dest, **options) for name, on in pairs]


def send(count: int, on: str = "A", to=FOO, **options) -> mq.Producer:
    """Return a producer of *count* messages."""
    return mq.Producer("P", on=on, sends=count, to=to, **options)


def depth(trace: mq.Trace, dest=FOO) -> dict[str, int]:
    """Return broker -> how many messages wait in a queue there."""
    return {
        name: len(queues.get(str(dest), [])) for name, queues in trace.waiting().items()
        if queues.get(str(dest))
    }  # fmt: skip


def forwarded(trace: mq.Trace) -> dict[str, int]:
    """Return ``"A>B"`` -> how many messages crossed."""
    counts: dict[str, int] = {}
    for event in trace.events():
        if event.kind.name == "Forwarded":
            key = f"{event.frm}>{event.to}"
            counts[key] = counts.get(key, 0) + 1
    return counts


def subscriptions(trace: mq.Trace, broker: str, label: str = "final") -> list[dict]:
    """Return the subscriptions of a broker in a snapshot."""
    return trace.header["snapshots"][label]["brokers"][broker]["subscriptions"]
