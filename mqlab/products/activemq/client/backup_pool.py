"""Backup connections: one kept open, and the preferred broker that is tried again and again.

With backup one is opened right after connecting and used without a wait at the loss; one whose
broker has gone still counts until then. With priorityBackup the first address (or priorityURIs) is
tried while the client is elsewhere, and it moves as soon as that answers (Fuse 1, Table 1.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused, same, with_options

if TYPE_CHECKING:
    from mqlab.products.activemq.client.failover_transport import FailoverTransport
    from mqlab.products.activemq.transport.sockets import Transport


class BackupPool:
    """The backup connections of one transport: `backups` are (address, socket)."""

    def __init__(self, transport: FailoverTransport) -> None:
        self.transport, self.options = transport, transport.options
        self.backups: list[tuple[str, Transport]] = []
        self.ready = False  # whether the preferred broker has answered
        # Whether the broker in use was a preferred one when it was connected to (ActiveMQ rule 10.2).
        self.at_priority = False
        self.named = [uri for uri in self.options.priority_uris.split(",") if uri]

    @property
    def preferred(self) -> list[str]:
        """The addresses that priorityBackup prefers: the first configured one if none is named."""
        return self.named or self.transport.addresses.configured[:1]

    @property
    def looks_for_priority(self) -> bool:
        """Whether the preferred broker is to be tried again."""
        return self.options.priority_backup and not self.at_priority

    @property
    def wanted(self) -> bool:
        """Whether another backup is to be opened."""
        if self.options.backup and len(self.backups) < self.options.backup_pool_size:
            return True
        return self.looks_for_priority and not self.ready

    def prefers(self, address: str | None) -> bool:
        """Whether *address* is one of a preferred broker."""
        return self.options.priority_backup and any(same(address, other) for other in self.preferred)

    def owns(self, source: Transport) -> bool:
        """Whether *source* is one of the backups."""
        return any(source is backup for _, backup in self.backups)

    def build(self) -> None:
        """Open what is wanted: those that priorityURIs names first, each tried once.

        Dead backups make room only then: as long as none is wanted they count.
        """
        if not self.wanted:
            return
        transport = self.transport
        self.backups = [(address, backup) for address, backup in self.backups if backup.alive]
        for listed in dict.fromkeys([*self.named, *transport.addresses.order(transport.lab.random)]):
            address = with_options(listed, self.options.nested)
            if not self.wanted:
                return
            held = any(address == backup for backup, _ in self.backups)
            if held or address == transport.address:
                continue
            try:
                source = transport.lab.directory.dial(transport, address)
            except Refused:
                continue
            self._keep(address, source)

    def _keep(self, address: str, source: Transport) -> None:
        if not self.prefers(address):
            self.backups.append((address, source))
            return
        self.ready = True
        self.backups.insert(0, (address, source))
        for _, extra in self.backups[self.options.backup_pool_size :]:
            extra.close()
        del self.backups[self.options.backup_pool_size :]

    def take(self) -> tuple[str, Transport]:
        """Return the backup to use now; for a preferred one the broker in use is left."""
        place = 0
        if self.options.randomize and not self.ready:
            place = self.transport.lab.random.randrange(len(self.backups))
        taken = self.backups.pop(place)
        if self.ready:
            self.ready = False
            self.transport.leave()
        return taken

    def close(self) -> None:
        """Close them all."""
        for _, backup in self.backups:
            backup.close()
        self.backups = []
