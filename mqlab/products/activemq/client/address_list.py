"""The addresses that a failover client knows: told, configured, and the one it lost last.

What a broker (or a file, updateURIsURL) tells comes before what is configured; of each host and port
one address is configured; the one lost last is tried last, until it is told again (Fuse 1,
"Failover"; ActiveMQ rules 8, 9 and 14).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import FailoverOptions, same, shuffle

if TYPE_CHECKING:
    from random import Random

    from mqlab.products.activemq.lab import Lab


class AddressList:
    """The list of one client; `configured` and `updated` are in order, `failed_uri` is the last that failed."""

    def __init__(self, options: FailoverOptions, addresses: Sequence[str]) -> None:
        self.options = options
        self.configured: list[str] = []
        self.updated: list[str] = []
        self.failed_uri: str | None = None
        for address in addresses:
            self.learn(address)

    def order(self, random: Random) -> list[str]:
        """Return the addresses in the order of the next round."""
        found = list(dict.fromkeys([*self.updated, *self.configured]))
        last = [address for address in found if address == self.failed_uri]
        others = [address for address in found if address != self.failed_uri]
        return [*(shuffle(others, random) if self.options.randomize else others), *last]

    def learn(self, address: str) -> bool:
        """Put *address* at the end of the configured ones; False if its host and port are there."""
        new = not any(same(address, known) for known in self.configured)
        if new:
            self.configured.append(address)
        return new

    def forget(self, address: str) -> None:
        """An address is configured no more; a connection to it is not cut."""
        if address in self.configured:
            self.configured.remove(address)

    def tell(self, addresses: Sequence[str]) -> bool:
        """Take over a list of addresses in place of the last one; return whether others are in it."""
        if not (self.options.update_uris_supported and addresses):
            return False
        old, self.updated = set(self.updated), list(dict.fromkeys(addresses))
        if self.failed_uri in self.updated:
            self.failed_uri = None
        return set(self.updated) != old

    def read_file(self, lab: Lab) -> None:
        """Read the file of updateURIsURL, if there is one; its lines are joined as they are."""
        file = lab.files.get(self.options.update_uris_url.rpartition("/")[2], "")
        text = file.replace("\n", "").strip()
        self.tell([part for part in text.split(",") if part and not re.search(r"\s", part)])
