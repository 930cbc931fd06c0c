"""Options of consumers, producers and clients as rows, by the fields of the actions that open them.

The tables of the products hold options of brokers and connections; these are the fields that actions have.
"""

from __future__ import annotations

from mqlab.spec.options import tables

_NAMES = {
    "activemq": {
        "consumer": "prefetch selector delay priority exclusive receiving ack_mode",
        "producer": "sends persistent every time_to_live jms_priority size",
        "client": "uri",
    },
    "openmq": {"consumer": "selector delay receiving", "producer": "", "client": ""},
    "artemis": {
        "consumer": "selector receiving ack_mode",
        "producer": "sends persistent every size",
        "client": "",
    },
}
_ROWS = tables("clients")  # of a kind, and what one product has otherwise: "artemis consumer"
CLIENT_ROWS = {
    product: {
        kind: tuple({**_ROWS[kind], **_ROWS.get(f"{product} {kind}", {})}[name] for name in names.split())
        for kind, names in kinds.items()
    }
    for product, kinds in _NAMES.items()
}
