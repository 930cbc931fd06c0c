"""Where a broker keeps its messages, and the lock that makes it a master: the persistence adapter.

Source: Fuse 4, Examples 4.5 to 4.7; ActiveMQ, pluggable storage lockers.
"""

from __future__ import annotations

from mqlab.files.markup import Element, tag
from mqlab.products.activemq.files import xml_names
from mqlab.products.activemq.files.reader import Reader
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import as_text

SHARED = "/shared/"  # before the name of a store that is written as no path
DATA_SOURCE = "lab-database"
MEMORY, HANDLERS, LEASE_HANDLER = (
    "memoryPersistenceAdapter",
    "ioExceptionHandler",
    "leaseLockerIOExceptionHandler",
)
ADAPTERS = (*xml_names.FILE_STORES, "jdbcPersistenceAdapter")
# Attributes of an adapter that older editions have for options of the lock.
ALIASES = {
    "databaseLockedWaitDelay": "lock_acquire_sleep_interval_ms",
    "lockAcquireSleepInterval": "lock_acquire_sleep_interval_ms",
    "useDatabaseLock": "use_lock",
}


def adapter_of(broker: Element) -> Element | None:
    """Return a broker's persistence adapter, the element inside of ``persistenceAdapter``."""
    inside = broker.below("persistenceAdapter")
    found = [child for element in inside for child in element.children]
    return found[0] if found else broker.first(*ADAPTERS)


def read(reader: Reader, broker: Element) -> dict[str, object]:
    """Return the options of a broker's store and lock; one that is not persistent ignores its adapter."""
    adapter = adapter_of(broker)
    if not reader.truth(broker, "persistent", True):
        return {"store": "memory"}
    found: dict[str, object] = {}
    for handler in broker.below(HANDLERS, LEASE_HANDLER):
        found["io_exception_handler"] = "lease"
        found.update(reader.options(handler, "broker", xml_names.HANDLER))
    if adapter is None:
        return found
    if adapter.name == MEMORY:
        return {"store": "memory"}
    if adapter.name == "jdbcPersistenceAdapter" and "dataSource" in adapter.attributes:
        found["store"] = "jdbc"
    directory = reader.text(adapter, "directory").removeprefix("file:")
    if adapter.name != "jdbcPersistenceAdapter" and directory.startswith("/"):
        found.pop("store", None)
        found["shared_store"] = directory.removeprefix(SHARED)
    rows = OPTIONS["broker"]
    given = {attribute: name for name, attribute in xml_names.ADAPTER.items()}
    for attribute, name in (ALIASES | given).items():
        if attribute in adapter.attributes:
            found[name] = reader.option(adapter, rows[name], attribute)
    for kind, element_name in xml_names.LOCKERS.items():
        for locker in adapter.below("locker", element_name):
            found["locker"] = kind
            found.update(reader.options(locker, "broker", xml_names.LOCKER))
    return found


def kind(options: JsonObject) -> str:
    """Return where messages are kept: in files, by JDBC or in memory."""
    if options.get("shared_store") is not None or options.get("store") is None:
        return "file"
    return str(options["store"])


def written(options: JsonObject, directory: str | None) -> str:
    """Return the persistence adapter and the I/O error handler as lines; nothing for memory.

    *directory* is where the files of a shared store lie, if not in `SHARED`.
    """
    lines = adapter(options, directory)
    if not lines:
        return ""
    made, given = tag("persistenceAdapter", {}, lines, " " * 4), handler(options)
    if given is not None:
        made = tag(HANDLERS, {}, tag(LEASE_HANDLER, given, "", " " * 6), " " * 4) + made
    return made


def adapter(options: JsonObject, directory: str | None) -> str:
    """Return the adapter alone as lines; nothing for memory."""
    kept, own = kind(options), locker(options)
    if kept == "memory":
        return ""
    given = {"dataSource": f"#{DATA_SOURCE}"} if kept == "jdbc" else {"directory": folder(options, directory)}
    given |= xml_names.given(options, xml_names.ADAPTER)
    lines = "" if own is None else tag("locker", {}, tag(*own, "", " " * 10), " " * 8)
    return tag("jdbcPersistenceAdapter" if kept == "jdbc" else "kahaDB", given, lines, " " * 6)


def folder(options: JsonObject, directory: str | None) -> str:
    """Return the folder of a store in files."""
    shared = options.get("shared_store")
    if shared is None:
        return "${activemq.data}/kahadb"
    return directory or (shared if shared.startswith("/") else SHARED + shared)


def locker(options: JsonObject) -> tuple[str, dict[str, str]] | None:
    """Return the element of the lock with its attributes; None if all is as by default."""
    how = options.get("locker") or ("database" if kind(options) == "jdbc" else "file")
    own = xml_names.given(options, xml_names.LOCKER)
    if how == "file":
        own = {k: v for k, v in own.items() if k in ("lockAcquireSleepInterval", "failIfLocked")}
    return (xml_names.LOCKERS[how], own) if own or options.get("locker") else None


def handler(options: JsonObject) -> dict[str, str] | None:
    """Return the attributes of the handler of a lease; None without one."""
    lease = options.get("io_exception_handler") == "lease"
    return xml_names.given(options, xml_names.HANDLER) if lease else None


def said(options: JsonObject, name: str) -> str | None:
    """Return an option as an attribute has it; None if it is not given."""
    return as_text(options[name]) if name in options else None
