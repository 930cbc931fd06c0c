"""A made-up trace of any length, by numpy alone: many brokers, few hops, all columns filled."""

import numpy as np

from mqlab.trace import Kind

BROKERS, LINKS, DESTS = 50, 120, 40


def columns(count: int, seed: int = 1, start: int = 0) -> dict:
    """Return the columns of *count* events from *start* on (one event every 3 us)."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.integers(0, 3 * count, count)) + 3 * start
    kinds = [Kind.Sent, Kind.Enqueued, Kind.Forwarded, Kind.Dispatched, Kind.Received,
             Kind.Acknowledged]  # fmt: skip
    kind = rng.choice(np.array(kinds, np.int8), count)
    return {
        "t": t, "kind": kind, "msg": (np.arange(count) + start) // 6 + 1,
        "broker": rng.integers(0, BROKERS, count), "frm": rng.integers(0, BROKERS, count),
        "to": rng.integers(0, BROKERS, count), "link": rng.integers(-1, LINKS, count),
        "dest": rng.integers(0, DESTS, count), "sub": np.zeros(count),
        "hop": rng.integers(0, 5, count), "age": rng.integers(0, 50_000, count),
        "rule": np.zeros(count), "cause": np.full(count, -1),
    }  # fmt: skip


NAMES = {
    "node": [f"B{i}" for i in range(BROKERS)], "node_role": ["broker"] * BROKERS,
    "node_home": [""] * BROKERS, "link": [f"L{i}" for i in range(LINKS)],
    "link_from": ["B0"] * LINKS, "link_to": ["B1"] * LINKS,
    "dest": [f"queue://Q{i}" for i in range(DESTS)], "sub": ["made up"],
}  # fmt: skip


def folder(path, count: int, per_file: int = 400_000, first: int = 0):
    """Write a trace folder of *count* events, of which *first* are in a file of their own."""
    import pyarrow as pa

    from mqlab.replay import store
    from mqlab.trace import parquet

    def parts():
        for start in (*([0] * bool(first)), *range(first, count, per_file)):
            size = first if start < first else min(per_file, count - start)
            made = columns(size, seed=start, start=start)
            yield pa.table({f.name: pa.array(made[f.name].astype(f.type.to_pandas_dtype()))
                            for f in parquet.schema()}, schema=parquet.schema())  # fmt: skip

    return store.write_parts(parts(), {"seed": 1, "scenario": {}}, NAMES, path)
