"""What an upgrade changes: the same actions in two editions, and what is behind each difference.

Every default and every rule in which the editions differ is put back alone, in the new edition. What
changes the outcome by that is a cause; an option that brings the old outcome back is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields, replace

from mqlab import products
from mqlab.errors import BadValue, MqlabError
from mqlab.spec import Network, Scenario
from mqlab.spec.calls import Answering
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import as_text
from mqlab.trace.trace import Trace

Outcome = tuple[dict[str, int], dict[str, int]]


@dataclass(frozen=True, slots=True)
class Upgrade(Answering):
    """Two runs, *before* and *after*; `changes` and `causes` are sentences.

    *after* is None when the new edition refuses the configuration; `changes` then says why.
    """

    old: str
    new: str
    before: Trace
    after: Trace | None
    changes: tuple[str, ...]
    causes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"From {self.old} to {self.new}:{'' if self.changes else ' no change in this run.'}"]
        lines += [f"  {line}" for line in self.changes]
        lines += ["Because:"] if self.causes else []
        return "\n".join([*lines, *(f"  {line}" for line in self.causes), *self._undone()])

    def _undone(self) -> Iterator[str]:
        """Yield what only one of the two runs has not done, such as an option its version does not have."""
        for version, run, other in ((self.old, self.before, self.after), (self.new, self.after, self.before)):
            known = () if other is None else other.undone
            for one in () if run is None else run.undone:
                if one not in known:
                    yield f"Not done in {version}: {one}"

    __repr__ = __str__


def upgrade(scenario: Scenario, old: str, new: str, seed: int = 0) -> Upgrade:
    """Run *scenario* in two editions and say what changes, and why."""
    old, new = (scenario.under(edition).network.edition for edition in (old, new))
    if old == new:
        known = [one for one in products.product_of_scenario(scenario).edition_rules if one != old]
        raise BadValue(
            f"both versions are {old}, so nothing differs; name another old or new one: {', '.join(known)}"
        )
    before = _played(scenario, old, seed)
    if not before.index.count:
        raise BadValue(
            "no message is sent in this run, so it cannot show what an upgrade changes; "
            "add traffic: mq.default_load(network), or --load default"
        )
    try:
        after = _played(scenario, new, seed)
    except MqlabError as error:
        return Upgrade(old, new, before, None, (f"{new} rejects this configuration: {error}",), ())
    changes = tuple(_changes(_outcome(before), _outcome(after)))
    causes: tuple[str, ...] = ()
    if changes:
        causes = tuple(_rules(scenario, old, new, seed, _outcome(after)))
        if isinstance(scenario.network, Network):  # of others no default has changed
            causes = (*_defaults(scenario, old, new, seed, _outcome(before), _outcome(after)), *causes)
    return Upgrade(old, new, before, after, changes, causes)


def _played(scenario: Scenario, edition: str, seed: int, inverted: Collection[str] = ()) -> Trace:
    product = products.product_of_scenario(scenario)
    lab = product.lab(scenario.under(edition), seed=seed, inverted=inverted)
    lab.play()
    return lab.trace


def _outcome(trace: Trace) -> Outcome:
    """Return what consumers received, and how many messages wait where."""
    waiting = {
        f"{destination} at {broker}": len(numbers)
        for broker, queues in trace.waiting().items()
        for destination, numbers in queues.items()
    }
    return trace.received(), waiting


def _changes(before: Outcome, after: Outcome) -> Iterator[str]:
    for verb, was, now in zip(("receives", "messages waiting in"), before, after, strict=True):
        for name in sorted({*was, *now}):
            if was.get(name, 0) != now.get(name, 0):
                told = f"{name} {verb}" if verb == "receives" else f"{verb} {name}"
                yield f"{told}{'' if verb == 'receives' else ':'} {now.get(name, 0)}, was {was.get(name, 0)}."


def _defaults(
    scenario: Scenario, old: str, new: str, seed: int, before: Outcome, after: Outcome
) -> Iterator[str]:
    """Yield the defaults that make a difference, and whether the old value undoes all of it."""
    for row in OPTIONS["networkConnector"].values():
        was, now = row.default_for(old), row.default_for(new)
        if was == now:
            continue
        unset = [f"{b.name}/{c.name}" for b, c in scenario.network.connectors() if row.name not in c.options]
        network = scenario.network
        for place in unset:
            network = network.change(place, **{row.name: was})
        put_back = _outcome(_played(replace(scenario, network=network), new, seed))
        if put_back != after:
            whole = " and the old outcome" if put_back == before else ""
            yield (
                f"{row.guide} is {as_text(now)} by default, was {as_text(was)}: {row.sentence} "
                f'Setting {row.guide}="{as_text(was)}" on {", ".join(unset)} restores the old default{whole} '
                f"[{row.source}]."
            )


def _rules(scenario: Scenario, old: str, new: str, seed: int, after: Outcome) -> Iterator[str]:
    editions = products.product_of_scenario(scenario).edition_rules
    for f in fields(editions[new]):
        was, now = getattr(editions[old], f.name), getattr(editions[new], f.name)
        if was != now and _outcome(_played(scenario, new, seed, (f.name,))) != after:
            holder = f"in {new}, not in {old}" if now else f"in {old}, not in {new}"
            option = OPTIONS["networkConnector"].get(f.metadata["option"])
            kept = f'set {option.guide}="true"' if option and was else "no option restores it"
            yield f"{f.metadata['sentence']} ({holder}; {kept})."
