"""A network of ActiveMQ and what happens to it as Python code with nouns, which gives the same trace."""

from __future__ import annotations

from mqlab.files.code import Code, call
from mqlab.spec.around import Around
from mqlab.spec.connector import NetworkConnector, TransportConnector
from mqlab.spec.network import Broker, Network
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.scenario import Scenario


def python(scenario: Scenario) -> str:
    """Return code that makes an equal scenario, under the name `scenario`.

    >>> from mqlab.spec import Crash
    >>> print(python(Scenario(Network(Broker("A")), (Crash("A", at="2s"),))))
    import mqlab as mq
    <BLANKLINE>
    net = mq.Network(mq.Broker("A"))
    scenario = mq.Scenario(
        net,
        (
            mq.Crash("A", at="2s"),
        ),
    )
    <BLANKLINE>
    """
    return _CODE.scenario(written(scenario.network), scenario)


class _Code(Code):
    """Writes the parts of a network too."""

    def element(self, value: object) -> str:
        """Return a network or a part of it, or an action, or what is no noun."""
        if isinstance(value, Network):
            parts = [*map(self.written, value.brokers)]
            usual = {"edition": DEFAULT_EDITION, "around": Around()}
            parts += self.named({n: o for n in usual if (o := getattr(value, n)) != usual[n]})
            return call("mq.Network", parts)
        if isinstance(value, Broker):
            parts = [self.written(value.name), *map(self.written, value.connectors)]
            parts += [self.written(value.transport)] * (value.transport != TransportConnector())
            own = {"policies": value.policies, "composites": value.composites, "at": value.at}
            told = {name: it for name, it in own.items() if it not in ((), None)}
            return call("mq.Broker", [*parts, *self.named({**told, **value.options})])
        if isinstance(value, NetworkConnector):
            made = "mq.NetworkConnector" + ("" if value.judged else ".as_written")
            options = self.named({"uri": value.uri, **value.options})
            return call(made, [self.written(value.name), *options])
        if isinstance(value, TransportConnector):
            made = "mq.TransportConnector"
            return call(made, [self.written(value.name), *self.named(value.options)])
        return super().element(value)


_CODE = _Code("mq")


def written(value: object) -> str:
    """Return a noun as the call that makes it, and of it only what was written; or a plain value.

    >>> from mqlab.spec import Consumer, Queue
    >>> written(Consumer("C", "B", Queue("Q"), prefetch=1))
    'mq.Consumer("C", on="B", reads=mq.Queue("Q"), prefetch=1)'
    """
    return _CODE.written(value)
