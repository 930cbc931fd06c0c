"""Where a broker keeps its messages, and the lock that makes it a master: the persistence adapter.

Source: Fuse 4, Examples 4.5 to 4.7; ActiveMQ, pluggable storage lockers.
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.files.markup import Element, tag
from mqlab.products.activemq.files import xml_names
from mqlab.products.activemq.files.reader import Reader
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS

SHARED = "/shared/"  # before the name of a store that is written as no path
DATA_SOURCE = "lab-database"


def adapter_of(broker: Element) -> Element | None:
    """Return a broker's persistence adapter, the element inside of ``persistenceAdapter``."""
    inside = broker.below("persistenceAdapter")
    found = [child for element in inside for child in element.children]
    return found[0] if found else broker.first(*xml_names.FILE_STORES, "jdbcPersistenceAdapter")


def read(reader: Reader, broker: Element) -> dict[str, object]:
    """Return the options of a broker's store and lock."""
    adapter = adapter_of(broker)
    if adapter is None or adapter.name == "memoryPersistenceAdapter":
        kept = adapter is None and reader.text(broker, "persistent", "true").strip() != "false"
        return {} if kept else {"store": "memory"}
    found: dict[str, object] = {}
    if adapter.name == "jdbcPersistenceAdapter" and "dataSource" in adapter.attributes:
        found["store"] = "jdbc"
    directory = reader.text(adapter, "directory").removeprefix("file:")
    if adapter.name != "jdbcPersistenceAdapter" and directory.startswith("/"):
        found = {"shared_store": directory.removeprefix(SHARED)}
    rows = OPTIONS["broker"]
    given = {
        "databaseLockedWaitDelay": "lock_acquire_sleep_interval_ms",
        "lockAcquireSleepInterval": "lock_acquire_sleep_interval_ms",
        "useDatabaseLock": "use_lock",
        **{attribute: name for name, attribute in xml_names.ADAPTER.items()},
    }
    for attribute, name in given.items():
        if attribute in adapter.attributes:
            found[name] = reader.option(adapter, rows[name], attribute)
    for kind, element_name in xml_names.LOCKERS.items():
        for locker in adapter.below("locker", element_name):
            found["locker"] = kind
            found.update(reader.options(locker, "broker", xml_names.LOCKER))
    handlers = broker.below("ioExceptionHandler", "leaseLockerIOExceptionHandler")
    for handler in handlers:
        found["io_exception_handler"] = "lease"
        found.update(reader.options(handler, "broker", xml_names.HANDLER))
    return found


def written(options: JsonObject, directory: str | None) -> str:
    """Return the persistence adapter and the I/O error handler as lines; nothing for memory.

    *directory* is where the files of a shared store lie, if not in `SHARED`.
    """
    shared, store = options.get("shared_store"), options.get("store")
    if shared is None and store == "memory":
        return ""
    jdbc = shared is None and store == "jdbc"
    place = "${activemq.data}/kahadb"
    if shared is not None:
        place = directory or (shared if shared.startswith("/") else SHARED + shared)
    given = {"dataSource": f"#{DATA_SOURCE}"} if jdbc else {"directory": place}
    given |= _set(options, xml_names.ADAPTER)
    kind = options.get("locker") or ("database" if jdbc else "file")
    own = _set(options, xml_names.LOCKER)
    if kind == "file":
        own = {k: v for k, v in own.items() if k in ("lockAcquireSleepInterval", "failIfLocked")}
    lines = ""
    if own or options.get("locker"):
        lines = tag("locker", {}, tag(xml_names.LOCKERS[kind], own, "", " " * 10), " " * 8)
    adapter = tag("jdbcPersistenceAdapter" if jdbc else "kahaDB", given, lines, " " * 6)
    made = tag("persistenceAdapter", {}, adapter, " " * 4)
    if options.get("io_exception_handler") == "lease":
        period = _set(options, xml_names.HANDLER)
        handler = tag("leaseLockerIOExceptionHandler", period, "", " " * 6)
        made = tag("ioExceptionHandler", {}, handler, " " * 4) + made
    return made


def _set(options: Mapping[str, object], names: Mapping[str, str]) -> dict[str, str]:
    return {attribute: text(options[name]) for name, attribute in names.items() if name in options}


def text(value: object) -> str:
    """Return an option's value as attributes have it.

    >>> text(True), text(5), text("a")
    ('true', '5', 'a')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)
