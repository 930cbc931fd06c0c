"""Network connectors whose user one of their brokers does not let in: the bridge never comes up."""

from __future__ import annotations

from mqlab.checks.example import mended
from mqlab.checks.rule import Found, rule
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.products.activemq.rules.examples_at_rest import AB, reads, row, sent
from mqlab.spec import Network
from mqlab.spec.security import Security


def _secured() -> Network:
    return row("AB").change("B", users=["bridge?password=secret&groups=bridges"])


@rule(
    "connector-user",
    "error",
    finds="a network connector whose user a broker does not let in",
    what="{target} does not let in {user} with that password: the bridge never comes up",
    fix="write userName and password of a user that {target} has at the connector",
    source="ActiveMQ, security",
    example=lambda: mended(sent(_secured(), reads()), {AB: {"user_name": "bridge", "password": "secret"}}),
)
def _connector_user(context: CheckContext) -> Found:
    network = context.network
    for link in context.links():
        user, password = link.connector.get("user_name"), link.connector.get("password")
        if "${" in f"{user}{password}":  # a file elsewhere says what they are
            continue
        for target in (link.broker.name, *(n for n in link.connector.targets if n in network.names)):
            users = network.broker(target).get("users")
            if users is not None and Security(users, None).groups(user, password) is None:
                named = f"user {user}" if user else "a connector without userName"
                yield link.element, {"target": f"broker {target}", "user": named}
