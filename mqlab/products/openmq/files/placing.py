"""A user's own property files, made ready to run on this machine: hosts, ports and folders change.

All other properties are as they are written, those too that the lab does not play.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from mqlab.products.openmq.files import properties
from mqlab.products.openmq.files.properties import LIST, MASTER, NAME, PORT, Found, sources
from mqlab.spec.openmq import OpenMQNetwork
from mqlab.spec.origin import SourceFile

# What names places of another machine: they are this one's, as the broker's start command sets them.
_ELSEWHERE = (
    "imq.hostname", "imq.portmapper.hostname", "imq.*.tcp.hostname", "imq.*.tcp.port", "imq.*.tls.port",
    "imq.cluster.hostname", "imq.cluster.port", "imq.cluster.url", "imq.varhome", "imq.etchome", "imq.home",
    "imq.libhome", "imq.instanceshome", "imq.passfile.*", "imq.imqcmd.*", "imq.bridge.*", NAME, PORT,
)  # fmt: skip


def written(network: OpenMQNetwork) -> dict[str, dict[str, str]]:
    """Return broker -> its properties as the files of a network have them, those of its cluster first."""
    found = _found(network)
    shared = {key: entry.value for one in found if one.broker is None for key, entry in one.entries.items()}
    own = {one.broker: one for one in found if one.broker is not None}
    return {
        member.name: shared | {key: entry.value for key, entry in own[member.name].entries.items()}
        for member in network.brokers
    }


def placed(network: OpenMQNetwork, address: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return broker -> its properties on this machine; *address* gives host and port for a broker's name."""
    own = {one.broker: one for one in _found(network) if one.broker is not None}
    hosts = dict(network.origin.hosts) if network.origin is not None else {}

    def there(said: str) -> str:
        name = properties.named(said.strip(), own, hosts)
        return address.get(name, said.strip())

    made = {}
    for name, found in written(network).items():
        kept = {key: value for key, value in found.items() if not any(fnmatchcase(key, p) for p in _ELSEWHERE)}
        for key in (LIST, MASTER):
            if kept.get(key):
                kept[key] = ",".join(map(there, kept[key].split(",")))
        made[name] = kept
    return made


def _found(network: OpenMQNetwork) -> list[Found]:
    return sources(SourceFile(name, text) for name, text in properties.write(network).items())
