"""PySpark, only here: sweeps of many runs, and the pyramid of a long one.

Spark builds; tiles and events are served by pyarrow alone (`open`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqlab.errors import MissingExtra
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.replay.pyramid import Pyramid
    from mqlab.replay.sweeps import Sweep
    from mqlab.replay.tiles import Tiles

__all__ = ["build", "open", "session", "stop", "sweep", "write"]


def _needs(package: str, extra: str) -> None:
    for name in (package, "pyarrow", "numpy"):
        try:
            __import__(name)
        except ImportError:
            raise MissingExtra.of(name, extra) from None


def session() -> Any:
    """Return the Spark session: the active one, or a local one that is started now."""
    _needs("pyspark", "spark")
    from mqlab.replay import spark

    return spark.session()


def stop() -> None:
    """Stop the local session."""
    _needs("pyspark", "spark")
    from mqlab.replay import spark

    spark.stop()


def write(trace: Trace, folder: str | Path) -> Path:
    """Write a trace as a folder of event files with a manifest; returns the folder."""
    _needs("pyarrow", "lab")
    from mqlab.replay import store

    return store.write(trace, folder)


def sweep(
    what: object, *, over: Mapping[str, Sequence[object]], out: str | Path,
    seeds: int | Iterable[int] = 1, edition: str | None = None, jitter: int | str = 0,
    partitions: int | None = None,
) -> Sweep:  # fmt: skip
    """Run every combination of the options in *over* with each seed, inside Spark tasks.

    *what* is a scenario, a figure or its id, or a lab file. *over* maps
    ``BROKER/CONNECTOR.OPTION`` to values. *out* must not exist yet.
    """
    _needs("pyspark", "spark")
    from mqlab.replay import sweeps

    return sweeps.sweep(what, over=over, out=out, seeds=seeds, edition=edition, jitter=jitter,
                        partitions=partitions)  # fmt: skip


def build(
    folder: str | Path, out: str | Path | None = None, bucket_events: int | None = None
) -> Pyramid:
    """Build the pyramid of a trace folder on Spark; an older one stays readable till it is done."""
    _needs("pyspark", "spark")
    from mqlab.replay import pyramid

    return pyramid.build(folder, out, bucket_events)


def open(folder: str | Path) -> Tiles:
    """Open a trace folder with its pyramid, for tiles and events; needs no Spark."""
    _needs("pyarrow", "lab")
    from mqlab.replay import tiles

    return tiles.Tiles(Path(folder))
