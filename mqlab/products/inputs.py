"""What the verbs take: a figure, its id, a lab file, a network with actions, a scenario, a trace."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from mqlab import products
from mqlab.errors import BadFile, BadValue, MqlabError, shown
from mqlab.files import files, management
from mqlab.spec import Network, Scenario
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict
from mqlab.spec.scenario import AnyNetwork, check_names
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab
    from mqlab.spec.scenario import Scenario

Values = Mapping[str, str] | str | os.PathLike[str] | None  # for placeholders, or a file of them
FILES = (".json", ".parquet", *files.ENDINGS)  # what a text is a path by, and the names of logs
# A log, a rotated one such as activemq.log.1 or activemq-2026-11-26.log.gz, advisories that were dumped.
_LOG = re.compile(r"\.(log([.-][\w-]+)*?(\.gz)?|jsonl)$")


def scenario_of(what: object, *actions: Action) -> Scenario:
    """Return the scenario that *what* is, or *actions* on a network; raises `BadValue` for anything else.

    A network that was read while it ran begins with what stands in it: consumers, and messages that wait.
    """
    if isinstance(what, AnyNetwork):
        check_names(actions, what.names)
        return Scenario.of(what, *products.standing(what), *_addressed(what, actions))
    if is_file(what):
        return scenario_of(read(what), *actions)
    scenario = _scenario(what)
    if not actions:
        return scenario
    added = _addressed(scenario.network, actions)
    return replace(scenario, actions=scenario.network.completed((*scenario.doing, *added)))


def _addressed(network: AnyNetwork, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return actions whose clients name brokers, where they name hosts of the files of a network."""
    if not isinstance(network, Network) or network.origin is None:
        return actions
    from mqlab.products.activemq.files import clients

    return clients.addressed(network, actions)


def _scenario(what: object) -> Scenario:
    if isinstance(what, Scenario):
        return what
    of_figure = getattr(what, "scenario", None)
    if isinstance(of_figure, Scenario):
        return of_figure
    if isinstance(what, str):
        return products.figure(what).scenario
    body = scenario_in(what) if isinstance(what, Trace) else what
    if isinstance(body, Mapping):
        return products.product_of(body).read(body, "lab file")
    if isinstance(what, Action):
        raise BadValue(f"{shown(what)} is an action; pass the network before it: run(network, action, ...)")
    raise BadValue(f"{shown(what)} cannot be run; pass a network, a figure, its id, a lab file or a trace")


def scenario_in(trace: Trace) -> JsonDict:
    """Return the lab file that a trace holds, as it is; raises `BadValue` where there is none."""
    found = trace.header.get("scenario")
    if not isinstance(found, Mapping) or "brokers" not in found:
        raise BadValue("this trace does not contain its scenario, so it cannot be run again; use its lab file")
    return dict(found)


def body_of(trace: Trace) -> JsonDict:
    """Return the lab file of a run; of one that an earlier version has kept as that would be written today.

    Raises `BadValue` for a trace without one.
    """
    body = scenario_in(trace)
    if "steps" not in body:
        return body
    product = products.product_of(body)
    return product.write(product.read(body))


def activemq_of(what: object, *actions: Action, told: str) -> Scenario:
    """Return the scenario of ActiveMQ that *what* is; raises `BadValue`, with what is *told*, for another."""
    scenario = scenario_of(what, *actions)
    if scenario.product != "activemq":
        raise BadValue(told)
    return scenario


def running(what: object) -> AnyNetwork | None:
    """Return a network that was read while it runs, or that an address names; None for anything else."""
    found = read(what) if management.is_address(what) else what
    return found if isinstance(found, AnyNetwork) and found.running is not None else None


def is_lab(what: object) -> TypeGuard[Lab]:
    """Whether *what* is a lab of some product."""
    from mqlab.engine.lab import Lab

    return isinstance(what, Lab)


def is_file(what: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether *what* names a file: a path, a text that ends like one, that of a folder, or a running broker."""
    return isinstance(what, os.PathLike) or (
        isinstance(what, str)
        and (
            what.endswith(FILES)
            or _LOG.search(what) is not None
            or what.startswith((management.SCHEME, *management.WEB))
            or os.path.isdir(what)
        )
    )


def read(
    *paths: str | os.PathLike[str], values: Values = None, hosts: Mapping[str, str] | None = None
) -> AnyNetwork | Scenario | Trace:
    """Return what files hold, as `mqlab.load` says.

    Raises `BadFile`; for a network with a misspelt name, too, with which no broker starts.
    """
    if len(paths) > 1 and are_logs(paths):
        return logs(paths)
    if len(paths) != 1 or files.is_configuration(paths[0]):
        network = network_of(paths, values, hosts)
        if isinstance(network, Network):
            from mqlab.products.activemq.rules.names import misspelt

            for problem in misspelt(network):
                raise BadFile(f"{problem.file}, line {problem.line}: {problem.what}; {problem.remedy}")
        return network
    if values is not None or hosts is not None:
        raise BadValue("values and hosts are for configuration files, such as activemq.xml")
    file = _path(paths[0])
    if are_logs([file]):
        return logs([file])
    if file.suffix != ".parquet":
        return products.load(file)
    from mqlab.trace import parquet

    return parquet.load(file)


def logs(paths: Iterable[str | os.PathLike[str]], shift: Mapping[str, str] | None = None) -> Trace:
    """Return the trace of what brokers say in their logs; raises `BadFile`."""
    from mqlab.products.activemq.logs import reading

    found = [_path(path) for path in paths]
    if not found:
        raise BadFile("no logs given; use e.g. mq.trace_of('activemq.log')")
    return reading.read(found, {} if shift is None else files.strings(shift, "shift"))


def are_logs(paths: Iterable[object]) -> bool:
    """Whether all of some paths are those of logs, rotated ones too."""
    names = [str(path) for path in paths]
    return all(_LOG.search(name) and not name.endswith(FILES) for name in names)


def _path(given: object) -> Path:
    if not isinstance(given, (str, os.PathLike)):
        raise BadFile(f"{shown(given)} is not a path; use e.g. 'my.json'")
    if str(given).startswith(management.WEB):
        address = management.without_secret(f"{management.SCHEME}{given}")
        name = address.rpartition("/")[2]
        if name.endswith(FILES) or are_logs([name]):
            raise BadFile(f"files are read from this machine; download {name} and load it, e.g. {name!r}")
        raise BadFile(
            "files are read from this machine; download those that you mean. For a running broker "
            f"use e.g. {address!r}"
        )
    return Path(given)


def network_of(
    paths: Iterable[str | os.PathLike[str]],
    values: Values = None,
    hosts: Mapping[str, str] | None = None,
) -> AnyNetwork:
    """Return the one network that configuration files make, folders included, or running brokers with them.

    *values* for placeholders are a mapping, or the path of a property file. Raises `BadFile`, `CannotRun`.
    """
    paths = list(paths)
    given = {} if values is None else files.values_of(values)
    known = {} if hosts is None else files.strings(hosts, "hosts")
    consoles = [management.without_secret(path) for path in paths if management.is_address(path)]
    named = [_path(path) for path in paths if not management.is_address(path)]
    for file in named:
        if file.suffix in (".json", ".parquet"):
            kind = "a lab file" if file.suffix == ".json" else "a trace"
            told = "only configuration files, such as activemq.xml, make one network together"
            raise BadFile(f"{file}: {kind} is loaded by itself; {told}")
    sources = files.gather(named) if named or not consoles else ()
    if consoles:
        return products.from_running(consoles, sources, given, known)
    return products.BY_NAME[files.product_of(sources)].read_files(sources, given, known)


def network_or_scenario(what: object) -> AnyNetwork | Scenario:
    """Return a network as it is; of whatever else `run` takes the scenario."""
    found = read(what) if is_file(what) else what
    return found if isinstance(found, AnyNetwork) else scenario_of(found)


def checked(what: object, *actions: Action) -> AnyNetwork | Scenario:
    """Return what `check` looks at: a scenario, a network without actions, or the network of its files."""
    if files.is_configuration(what):
        what = network_of([what])
    found = scenario_of(what, *actions) if actions else network_or_scenario(what)
    if not (found.network if isinstance(found, Scenario) else found).names:
        raise BadValue("this network has no broker, so there is nothing to check; add one, e.g. mq.Broker('A')")
    return found


def save(what: object, path: str | os.PathLike[str], *actions: Action) -> list[str]:
    """Write what can be run, as `mqlab.save` says, and return the paths that were written."""
    if files.is_folder(path) and not actions:
        return files.write(products.encoded(network_or_scenario(what)), path)
    if files.is_configuration(path):
        raise BadFile(
            f"{path}: configuration files are written into a folder, one for each broker; use e.g. 'out/'"
        )
    with writing(path) as file:
        if isinstance(what, Trace) and file.suffix == ".parquet":
            from mqlab.trace import parquet

            parquet.save(what, file)
            return [str(file)]
        _check_ending(file, configured=not isinstance(what, Trace))
        scenario = scenario_of(what, *actions)
        body = products.product_of_scenario(scenario).write(scenario)
        file.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    return [str(file)]


def _check_ending(file: Path, configured: bool) -> None:
    """Raise `BadFile` for the name of a file that nothing reads again; folders are for what is *configured*."""
    if file.suffix.lower() in (".png", ".gif"):
        raise BadFile(f"{file}: a picture is written as .svg or .html; the button Save of mq.view makes a PNG")
    if file.suffix != ".json":
        named = str(file if not file.suffix else file.with_suffix("")) + "/"
        told = f"use {str(file.with_suffix('.json'))!r} for a lab file, .html or .svg for a picture"
        told += ", .parquet for a trace" + (
            f", {named!r} for a folder of configuration files" if configured else ""
        )
        raise BadFile(f"{file}: the ending says what is written; {told}")


def check_addable(what: object, actions: tuple[object, ...]) -> None:
    """Raise `BadValue` for what is no action, and for actions that come after a trace."""
    for given in actions:
        if isinstance(given, (str, int)):
            raise BadValue(f"{shown(given)} is not an action; to name a message pass message={given!r}")
    if isinstance(what, Trace) and actions:
        raise BadValue("a trace is finished; pass its network to run other actions")


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give the path to write a file to; raises `BadFile` if nothing can be written there."""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise BadFile(f"{shown(path)} is not a path; use e.g. 'my.json'")
    file = Path(path)
    if file.is_dir():
        raise BadFile(f"{path} is a folder; write the name of a file, such as {file / 'my.json'}")
    if not file.parent.is_dir():
        raise BadFile(f"{path}: folder {file.parent} does not exist; create it first")
    try:
        yield file
    except (OSError, ValueError) as error:
        if isinstance(error, MqlabError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise BadFile(f"{path}: cannot be written: {reason}; choose another location") from None
