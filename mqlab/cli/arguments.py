"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Whats = Annotated[
    list[str],
    typer.Argument(
        help="figure ids, lab files, configuration files, logs, or running brokers (jolokia:http://...)",
        metavar="WHAT...",
    ),
]
What = Annotated[
    list[str],
    typer.Argument(
        help="figure id, lab file, or the files, logs or running brokers (jolokia:http://...) of a network",
        metavar="WHAT...",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="print JSON, one object per line")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="change an option, e.g. A/linkToBrokerB.network_ttl=3; may be repeated"),
]
Edition = Annotated[str | None, typer.Option(help="version of the product, e.g. 5.5, 5.17, 5.18 or 6.1")]
Seed = Annotated[int, typer.Option(help="random seed (decides the order of races)")]
Jitter = Annotated[str, typer.Option(help="random extra delay per link, e.g. 2ms")]
Until = Annotated[str | None, typer.Option(help="end the run at this time, e.g. 40s")]
Lines = Annotated[
    list[str] | None,
    typer.Option("--link", help="properties of the links, e.g. loss=0.01 or A,B:delay=20ms; may be repeated"),
]
Load = Annotated[
    str | None, typer.Option(help="traffic to add: default is a consumer and a producer at every broker")
]
_READS, _SENDS = "add a consumer, e.g. C1=ORDERS@A; may be repeated", "add a producer, e.g. P1=ORDERS@A:100"
Consumers = Annotated[list[str] | None, typer.Option("--consumer", "--consumer-at", help=_READS)]
ConsumersAt = Annotated[list[str] | None, typer.Option("--consumer-at", help=_READS)]
Producers = Annotated[list[str] | None, typer.Option("--producer", "--producer-at", help=_SENDS)]
Does = Annotated[
    list[str] | None,
    typer.Option("--do", help="add an action, e.g. 'Crash A at 2s'; may be repeated"),
]
Queue = Annotated[str | None, typer.Option(help="a queue of a running network whose messages wait")]
On = Annotated[str | None, typer.Option(help="the running broker at which they wait")]
Limit = Annotated[int | None, typer.Option(min=1, help="stop the run after this many events")]
