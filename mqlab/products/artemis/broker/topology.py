"""What brokers believe of their cluster: who is live of each pair, who its backup (Artemis rules 1 and 3.8)."""

from __future__ import annotations

from mqlab.products.artemis.broker.broker import Broker, Subsystem


class Topology(Subsystem):
    """What brokers tell each other about who is live."""

    def gossip(self) -> None:
        """Every broker learns of the live ones it reaches; a searching one also what they believe.

        Of two live ones with one node id the later counts, even where the earlier one is at home: a
        slave that asks there for its master is then sent elsewhere (Artemis rules 4.2 and 4.4).
        """
        everybody = self.lab.all_brokers()
        backups = [b for b in everybody if b.runs and self._is_backup(b)]
        for broker in everybody:
            begins = broker.role in ("stopping", "starting") and not self._is_backup(broker)
            if begins or not broker.runs:
                continue
            if broker.role == "backup":  # it has found nobody and knows of itself
                broker.topology = {broker.node_id: ["-", broker.process_name]}
            itself = self.entry(broker, broker.node_id)[0] == broker.process_name
            heard = self.heard(broker)
            for live in heard:
                if broker.role == "backup_searching":
                    broker.topology = {k: list(v) for k, v in live.topology.items()} | broker.topology
                if live is not broker or itself:
                    broker.topology[live.node_id] = [live.process_name, self._backup(live, broker, backups)]
            seen = sum(entry[0] != "-" for entry in broker.topology.values())
            # Itself alone is no news. Who lists nobody has no locator that tells its `QuorumManager` of others.
            others = any(live is not broker for live in heard) and self.lab.balancing.bridged.get(
                broker.process_name
            )
            if not broker.serves or others:
                broker.max_cluster_size = max(broker.max_cluster_size, seen)

    @staticmethod
    def _is_backup(broker: Broker) -> bool:
        """Whether it has announced itself; so does a master that waits for the live lock."""
        waits = broker.role == "starting" and broker.announced > 0
        return waits or broker.role in ("backup_in_sync", "backup_announced")

    def learn(self, broker: Broker) -> None:
        """A broker that goes live knows of itself, and is told what those believe that it reaches.

        So it learns of one that has crashed, if they have not forgotten it (2.4).
        """
        broker.topology[broker.node_id] = [broker.process_name, "-"]
        alone = not self.lab.balancing.bridged.get(broker.process_name, True)
        for live in () if alone else self.heard(broker):
            broker.topology = {pair: list(entry) for pair, entry in live.topology.items()} | broker.topology
            if live.node_id == broker.node_id:  # it is told of the backup, too
                broker.topology[broker.node_id][1] = self.entry(live, live.node_id)[1]

    def _reached(self, broker: Broker) -> list[Broker]:
        """Return whom the word of a broker reaches, from one to the next."""
        found = [broker]
        for one in found:
            found += [other for other in self.lab.all_brokers() if other not in found and one.reaches(other)]
        return found

    def spread(self, live: Broker) -> None:
        """A broker that goes live is known also beyond a line that is cut: who learns of it tells others.

        Source: `Topology.updateMember` of 2.4.0, which sends each new member on.
        """
        for other in self._reached(live) if self.lab.partitions.cuts else ():
            if not live.reaches(other) and other.node_id != live.node_id:
                other.topology[live.node_id] = [live.process_name, "-"]

    @staticmethod
    def entry(broker: Broker, pair: str) -> list[str]:
        """Return who is live of a pair and who its backup, as a broker believes."""
        return broker.topology.get(pair, ["-", "-"])

    def heard(self, broker: Broker) -> list[Broker]:
        """Return the live ones it hears of; one whose connectors lead to no process hears of none.

        Who lists nobody hears only of those that connect to it (`NodeAnnounceMessage`).
        """
        found = [live for live in self.lab.live_brokers() if live is broker or broker.reaches(live)]
        bridged, name = self.lab.balancing.bridged, broker.process_name
        if not bridged.get(name, True):
            found = [live for live in found if live is broker or name in bridged[live.process_name]]
        found.sort(key=lambda live: live.served_journal.since if live.served_journal is not None else 0)
        deaf = broker.hosting_broker is not None and all(
            live.process_name == broker.process_name for live in found
        )
        lives = [live for live in found if live is broker or not deaf]
        if broker.role.startswith("backup") and broker.hosting_broker is None:
            first = self._tells(broker)
            lives = [live for live in lives if first and live.node_id in first.topology]
        return [live for live in lives if (live.node_id, live.incarnation) not in broker.forgotten]

    def _tells(self, backup: Broker, lost: Broker | None = None) -> Broker | None:
        """Return the live one that a backup is connected to, or was as it *lost* it, if that is there.

        That alone tells it of others. It is the first that it lists, and it stays with that pair until the pair
        says goodbye (`ServerLocatorImpl.StaticConnector.connect` of 2.4.0).
        """
        brokers = self.lab.brokers.values() if "backup" in self._role(backup) else ()
        lives = [one for one in brokers if one is lost or (one.serves and backup.reaches(one))]
        if lives and not backup.told_by:
            backup.told_by = lives[0].node_id
        return next((one for one in lives if one.node_id == backup.told_by), None)

    @staticmethod
    def _role(broker: Broker) -> str:
        return broker.suspended[0] if broker.role == "paused" else broker.role

    def _is_told(self, broker: Broker, gone: Broker) -> bool:
        """Whether a broker is told that another is gone: a backup is by whom it connected to, if that is there.

        It is not once a slave has taken over from that one (three plays). A hosted one votes meanwhile.
        """
        if broker.hosting_broker is not None or "backup" not in self._role(broker):
            return broker.master is not gone
        first = self._tells(broker, gone)
        return first is not None and first is not gone and first.name == broker.told_by

    def _backup(self, live: Broker, viewer: Broker, backups: list[Broker]) -> str:
        """Return which of *backups* announced itself to a live broker: nobody takes its name back.

        Not even a slave that is live now (`Topology.updateMember` of 2.4.0 keeps what it is not told anew): it
        forgets that itself. Who lists none is told by another live one. A slave with a shared store says it
        once, and not to who is live after that (`BackupManager.announceBackup`; Artemis rule 5.6).
        """
        known = self.entry(viewer, live.node_id)
        for other in backups:
            says = other.role == "backup_in_sync" or other.announced >= live.journal.since
            told = known[1] == other.process_name or (says and other.reaches(live))
            if other.node_id == live.node_id and told:
                return other.process_name
        if viewer.serves and known[1] == "-":
            here = [self.entry(one, live.node_id) for one in self.lab.live_brokers() if viewer.reaches(one)]
            return next((said for at, said in here if at == live.process_name and said != "-"), "-")
        return known[1]

    def forget(self, gone: Broker, orderly: bool) -> None:
        """Brokers that notice a live broker's end drop it, and tell each other: 2.4 only a goodbye.

        A host and the backup in it go on seeing the backup's master in 2.5 too, where that hosted a backup
        itself, unless a third live broker tells them otherwise (Artemis rule 7.3).
        """
        if not orderly and not self.lab.rules.forgets_crashed:
            return
        others = [broker for broker in self.lab.all_brokers() if broker is not gone]
        if orderly:
            noticed = [broker for broker in others if broker.joined(gone)]
        else:
            hosted = {one: (one.hosting_broker or one).hosted.values() for one in others if gone.hosted}
            noticed = [one for one in others if gone.node_id not in [it.node_id for it in hosted.get(one, ())]]
        third = [live for live in noticed if live.serves and live.node_id != gone.node_id]
        twin = next((live for live in noticed if live.serves and live.node_id == gone.node_id), None)
        if twin is not None and twin.journal.since < gone.journal.since and not orderly:
            return  # others are connected to that one
        for broker in others:  # not it itself: its clients go by what it has told them
            if not orderly and not self._is_told(broker, gone):
                continue
            if broker.told_by == gone.node_id:
                broker.told_by = ""
            if broker in noticed or any(map(broker.reaches, third)):
                if twin is not None:  # its word is older than that its node id is gone
                    broker.forgotten.add((twin.node_id, twin.incarnation))
                if orderly or twin:  # by its node id, whoever has that (`Topology.removeMember` of 2.4.0)
                    broker.topology.pop(gone.node_id, None)
                else:
                    self._drop(broker, gone)

    def lose_sight(self, a: Broker, b: Broker) -> None:
        """Two brokers have lost each other: from 2.5 on each forgets the other, and tells all that it reaches.

        So do third ones, and the lost one itself where a third one tells it: until its next life, or until it
        has news of itself (`Topology.updateMember` of 2.5.0 takes no word that is older than that it is gone).
        """
        if not self.lab.rules.forgets_crashed or a.node_id == b.node_id or not (a.serves and b.serves):
            return
        self._lose(a, b)
        self._lose(b, a)

    def _lose(self, broker: Broker, gone: Broker) -> None:
        for told in self._reached(broker):
            if self._is_told(told, gone):
                self._drop(told, gone)
                told.forgotten.add((gone.node_id, gone.incarnation))

    def given_up(self, hung: Broker) -> None:
        """A live broker has not answered for too long: from 2.5 on others forget it while it hangs."""
        hangs = self.lab.rules.forgets_crashed and hung.role == "paused" and hung.suspended[0] == "live"
        for live in self.lab.live_brokers() if hangs else ():
            if live.node_id != hung.node_id and live.joined(hung):
                self._lose(live, hung)

    def renew(self, live: Broker) -> None:
        """A backup announces itself to a live one: that is news of it, also for those that have forgotten it.

        Source: `Topology.updateBackup` of 2.5.0, which gives the member a new `uniqueEventID`.
        """
        live.topology.setdefault(live.node_id, [live.process_name, "-"])
        for told in self._reached(live):
            told.forgotten.discard((live.node_id, live.incarnation))

    def _drop(self, broker: Broker, gone: Broker) -> None:
        if self.entry(broker, gone.node_id)[0] == gone.process_name:
            del broker.topology[gone.node_id]
