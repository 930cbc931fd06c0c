"""A form of connector options, made from the option rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from mqlab.spec import EDITIONS, OPTIONS, Network
from mqlab.spec.option import Option

ALL = "all connectors"
FIRST = (
    "network_ttl", "duplex", "conduit_subscriptions", "decrease_network_consumer_priority",
    "suppress_duplicate_queue_subscriptions", "suppress_duplicate_topic_subscriptions",
    "statically_included_destinations", "dynamically_included_destinations",
    "excluded_destinations", "prefetch_size",
)  # fmt: skip
ROWS = OPTIONS["networkConnector"]
WIDE = w.Layout(width="auto", min_width="150px")


class OptionForm(w.VBox):
    """Options of one connector, or of all. `changes` holds what was changed, by connector path.

    *on_change* is called after every change.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.on_change = on_change
        self.changes: dict[str, dict[str, Any]] = {}
        self.network = Network()
        self.quiet = False
        self.where = w.Dropdown(options=[ALL], description="Connector", layout=WIDE)
        self.edition = w.Dropdown(options=EDITIONS, value="5.17", description="ActiveMQ",
                                  layout=WIDE)  # fmt: skip
        self.fields = {name: self._field(row) for name, row in ROWS.items()}
        first = w.VBox([self.fields[name] for name in FIRST])
        rest = w.VBox([field for name, field in self.fields.items() if name not in FIRST])
        more = w.Accordion([rest], titles=["More options"])
        super().__init__([self.where, self.edition, first, more])
        self.where.observe(lambda _: self.fill(), "value")
        self.edition.observe(self._edition_chosen, "value")

    def _field(self, row: Option) -> w.DOMWidget:
        """Return the field for an option: its guide's name, and the sentence as a tooltip."""
        tip = f"{row.sentence} [{row.source}]"
        if row.type is bool:
            field: Any = w.Checkbox(description=row.guide, indent=False, tooltip=tip)
        elif row.type is int:
            low = row.low if row.low is not None else -1000
            field = w.BoundedIntText(min=low, max=100_000, description=row.guide, tooltip=tip,
                                     style={"description_width": "initial"}, layout=WIDE)  # fmt: skip
        else:
            hint = "queue://TEST.FOO, topic://NEWS.>" if row.type is tuple else ""
            field = w.Text(description=row.guide, placeholder=hint, tooltip=tip,
                           continuous_update=False, style={"description_width": "initial"},
                           layout=WIDE)  # fmt: skip
        field.observe(lambda change: self._changed(row, change["new"]), "value")
        return field

    def load(self, network: Network) -> None:
        """Show another network; changes are forgotten."""
        self.quiet = True
        self.network, self.changes = network, {}
        paths = [f"{broker.name}/{c.name}" for broker, c in network.connectors()]
        self.where.options = [ALL, *paths]
        self.where.value = ALL
        self.edition.value = network.edition
        self.quiet = False
        self.fill()

    def fill(self) -> None:
        """Show the values of the chosen connector; of all, where they agree."""
        changed = self.changed()
        chosen = [c for broker, c in changed.connectors()
                  if self.where.value in (ALL, f"{broker.name}/{c.name}")]  # fmt: skip
        self.quiet = True
        for name, field in self.fields.items():
            values = {c.get(name, changed.edition) for c in chosen} or {None}
            value = values.pop() if len(values) == 1 else None
            field.value = _shown(ROWS[name], value)
        self.quiet = False

    def changed(self) -> Network:
        """Return the network with all changes; raises `MqlabError` for a bad value."""
        network = self.network.under(self.edition.value)
        for path, options in self.changes.items():
            network = network.change(path, **options)
        return network

    def _changed(self, row: Option, value: Any) -> None:
        if self.quiet:
            return
        path = "*/*" if self.where.value == ALL else self.where.value
        if row.type is tuple:
            value = [part.strip() for part in value.split(",") if part.strip()]
        self.changes.setdefault(path, {})[row.name] = value
        self.on_change()

    def _edition_chosen(self, change: Any) -> None:
        if not self.quiet:
            self.fill()
            self.on_change()


def _shown(row: Option, value: Any) -> Any:
    if row.type is bool:
        return bool(value)
    if row.type is int:
        return 0 if value is None else value
    return ", ".join(value) if isinstance(value, tuple) else value or ""
