"""Artemis' brokers as processes: an instance each, made by the product itself, with a ``broker.xml``.

That is the user's own at ports and in folders of this machine, or where there is none the lab's.

Source: the Artemis user manual, "Using the server", "STOMP", "Clusters"; AMQ Broker 7.1, chapter 21.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mqlab.errors import CannotRun
from mqlab.products.artemis.files.broker_xml import placed
from mqlab.products.artemis.files.placing import Place
from mqlab.real.home import Home
from mqlab.real.processes import JAVA_OPTIONS, LOOPBACK, Processes, differences
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.origin import Origin

_USER = ("--user", "admin", "--password", "admin")
_CREATE = ("create", "--silent", "--allow-anonymous", "--no-autotune", "--no-web", *_USER)
# What a broker logs -> what it is from then on; the last of them holds.
_ROLES = {
    "AMQ221007": "live",
    "AMQ221010": "live",
    "AMQ221024": "backup_in_sync",
    "AMQ221031": "backup_announced",
    "AMQ221032": "backup_queued",
    "AMQ221033": "backup_holding_lock",
    "AMQ221034": "starting",
    "AMQ221002": "stopped",
}
_AS_BACKUP = ("AMQ221000: backup", "AMQ221043")  # it begins as one, and has loaded its protocols
_BACKUP, _IN_SYNC, _STOPPED, _LIVE = "AMQ221109", "AMQ221024", "AMQ221002", "AMQ221007"
# A broker connection's, in four lines; 100 ms apart where its file says so.
_RETRIES = re.compile(r"[^\n]*AMQ111002: *\n\*+\nRetrying[^\n]*\n\*+\n")
_CODE = re.compile("|".join(_ROLES))
_WAIT = ("backup_in_sync", "backup_announced", "backup_queued", "backup_holding_lock", "starting")


class ArtemisBrokers(Processes):
    """The brokers of an Artemis network."""

    def __init__(self, network: ArtemisNetwork, home: Home) -> None:
        super().__init__([broker.name for broker in network.brokers])
        self.network, self.home = network, home
        places = {
            broker.name: Place(LOOPBACK, *self.ports[broker.name], str(self._data(broker)))
            for broker in network.brokers
        }
        self.files = placed(network, places)
        origin = network.origin or Origin(())
        own = {file.name: file.text for file in origin.files}
        self.values = dict(origin.values)
        self.changes = differences(
            (where, own[where], name, text) for name, (where, text) in self.files.items() if where in own
        )

    def prepare(self, name: str) -> None:
        """Let the product make an instance, and put the broker's file into it."""
        base = self.own[name]
        said = self.ask([self.home.starter, *_CREATE, base])
        file = base / "etc" / "broker.xml"
        if not file.exists():
            raise CannotRun(
                f"{self.home.starter} could not create an instance for broker {name}:\n{said[-600:]}"
            )
        file.write_text(self.files[name][1], encoding="utf-8")

    def _data(self, broker: Broker) -> Path:
        store = broker.keys.get("shared_store")
        if store is None:
            return self.own[broker.name] / "data"
        stores = {str(one.keys.get("shared_store", store)) for one in self.network.brokers}
        return self.folder / "shared" / str(sorted(stores).index(str(store)))

    def command(self, name: str) -> list[str]:
        """Return the command that runs a broker's instance."""
        options = " ".join((*JAVA_OPTIONS, *(f"-D{key}={value}" for key, value in self.values.items())))
        return ["env", f"JAVA_ARGS={options}", str(self.own[name] / "bin" / "artemis"), "run"]

    def logged(self) -> int:
        """Return how much all brokers have logged, without the retries of a connection that never comes up."""
        return super().logged() - sum(len("".join(_RETRIES.findall(self.log(name)))) for name in self.own)

    def role(self, name: str) -> str:
        """Return what a broker is, by what it has logged since its last start."""
        if not self.is_running(name):
            return "stopped" if _CODE.findall("\n".join(self.said(name)))[-1:] == [_STOPPED] else "down"
        role = "starting"
        for code in _CODE.findall("\n".join(self.said(name))):
            announced = _ROLES[code]
            if (role, announced) != ("backup_in_sync", "backup_announced"):  # it says so afterwards
                role = announced
        return "backup_searching" if role == "starting" and self._finds_none(self.said(name)) else role

    def waits(self, said: Sequence[str]) -> bool:
        """Whether it is a backup, or waits for the lock of the live one."""
        codes = _CODE.findall("\n".join(said))
        return _ROLES[codes[-1]] in _WAIT if codes else self._finds_none(said)

    def _finds_none(self, said: Sequence[str]) -> bool:
        """Whether it is a backup of 2.31 that found nobody to follow: it says no more than how it begins."""
        text, others = "\n".join(said), ["\n".join(self.said(name)) for name in self.own]
        if _CODE.search(text):
            return False
        if not any(_LIVE in other for other in others):
            return all(word in text for word in _AS_BACKUP)
        return _BACKUP in text and any(_IN_SYNC in other for other in others)

    def partners(self, name: str) -> list[str]:
        """Return the brokers that may take over from a broker: those of its store or of its group."""
        brokers = {broker.name: broker for broker in self.network.brokers}
        own = _pair(brokers[name])
        return [other for other, one in brokers.items() if other != name and _pair(one) == own]

    def depths(self, name: str, queues: Sequence[str]) -> dict[str, int]:
        """Return how many messages lie in queues of a broker that is live, as its own ``queue stat`` says."""
        url = f"tcp://{LOOPBACK}:{self.ports[name][0]}"
        artemis = self.own[name] / "bin" / "artemis"
        return depths_in(self.ask([artemis, "queue", "stat", "--url", url, *_USER]), queues)


def _pair(broker: Broker) -> tuple[str, object]:
    store, group = broker.keys.get("shared_store"), broker.elements.get("group_name")
    return (broker.policy, broker.name if broker.policy == "live_only" else store or group)


def depths_in(table: str, queues: Sequence[str]) -> dict[str, int]:
    """Return queue -> messages, of the table of ``artemis queue stat``; raises `CannotRun` for no table.

    >>> depths_in("|NAME |ADDRESS |MESSAGE_COUNT |\\n|Q    |Q       |7             |", ["Q", "R"])
    {'Q': 7, 'R': 0}
    """
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in table.splitlines()
        if line.strip().startswith("|")
    ]
    if not rows or not {"NAME", "MESSAGE_COUNT"} <= set(rows[0]):
        raise CannotRun(f"'artemis queue stat' printed no table:\n{table[-600:]}")
    name, count = rows[0].index("NAME"), rows[0].index("MESSAGE_COUNT")
    found = {row[name]: int(row[count]) for row in rows[1:] if len(row) > max(name, count)}
    return {queue: found.get(queue, 0) for queue in queues}
