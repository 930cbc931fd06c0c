"""Three real brokers with their web consoles and messages that wait, for tests; recorded by::

python -m tests.products.activemq.running FOLDER   # writes running/BROKER.json, for tests/recordings
"""

from __future__ import annotations

import base64
import json
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import stomp

from mqlab.products.activemq.live.reading import ASKED, DOMAIN
from mqlab.real import ports
from mqlab.real.install import install
from mqlab.real.processes import JAVA_OPTIONS, Processes

VERSION = "5.16.7"  # the one with its console that Maven has
USER, PASSWORD = "keeper", "s3cret/word@home"
# Who is connected to whom. The file of B says conduitSubscriptions otherwise than it runs with.
CONNECTORS = {
    "A": ('<networkConnector name="ab" uri="static:(tcp://127.0.0.1:{B})" duplex="true"/>',),
    "B": (
        '<networkConnector name="bc" uri="static:(tcp://127.0.0.1:{C})" conduitSubscriptions="false">',
        '<excludedDestinations><queue physicalName="INVOICES"/></excludedDestinations>',
        "</networkConnector>",
    ),
    "C": (),
}
BEANS = "http://www.springframework.org/schema/beans"
CORE = "http://activemq.apache.org/schema/core"
HEAD = f"""<beans xmlns="{BEANS}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
    xsi:schemaLocation="{BEANS} {BEANS}/spring-beans.xsd {CORE} {CORE}/activemq-core.xsd">"""
XML = (
    HEAD
    + """
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="{name}" persistent="false">
    <networkConnectors>
      {connectors}
    </networkConnectors>
    <transportConnectors>
      <transportConnector name="openwire" uri="tcp://127.0.0.1:{port}"/>
      <transportConnector name="stomp" uri="stomp://127.0.0.1:{stomp}"/>
    </transportConnectors>
  </broker>
  <import resource="jetty.xml"/>
</beans>
"""
)
JETTY = (
    HEAD
    + """
  <bean id="login" class="org.eclipse.jetty.security.HashLoginService">
    <property name="name" value="realm"/><property name="config" value="realm.properties"/>
  </bean>
  <bean id="constraint" class="org.eclipse.jetty.util.security.Constraint">
    <property name="name" value="BASIC"/><property name="roles" value="admin"/>
    <property name="authenticate" value="true"/>
  </bean>
  <bean id="mapping" class="org.eclipse.jetty.security.ConstraintMapping">
    <property name="constraint" ref="constraint"/><property name="pathSpec" value="/*"/>
  </bean>
  <bean id="security" class="org.eclipse.jetty.security.ConstraintSecurityHandler">
    <property name="loginService" ref="login"/>
    <property name="authenticator">
      <bean class="org.eclipse.jetty.security.authentication.BasicAuthenticator"/>
    </property>
    <property name="constraintMappings"><list><ref bean="mapping"/></list></property>
    <property name="handler">
      <bean class="org.eclipse.jetty.webapp.WebAppContext">
        <property name="contextPath" value="/api"/><property name="resourceBase" value="{home}/webapps/api"/>
      </bean>
    </property>
  </bean>
  <bean id="server" class="org.eclipse.jetty.server.Server" init-method="start" destroy-method="stop">
    <constructor-arg>
      <bean class="java.net.InetSocketAddress">
        <constructor-arg value="127.0.0.1"/><constructor-arg value="{console}"/>
      </bean>
    </constructor-arg>
    <property name="handler" ref="security"/>
  </bean>
</beans>
"""
)
LOG = "log4j.rootLogger=INFO, out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n"
LOG += "log4j.appender.out.layout=org.apache.log4j.SimpleLayout\n"
# What its own script opens for it in a Java of 2026.
OPENED = ("java.base/java.net", "java.base/java.lang", "java.base/java.util", "java.base/java.util.concurrent")


def distribution(folder: Path) -> Path:
    """Return the folder of a distribution with its console, which Maven brings into *folder*."""
    return install(f"activemq:{VERSION}", folder).folder


class Consoles(Processes):
    """Brokers A, B and C with their consoles."""

    def __init__(self, home: Path) -> None:
        super().__init__(tuple(CONNECTORS))
        self.home = home
        self.consoles = dict(zip(self.names, ports.take(self.host, len(self.names)), strict=True))
        for name in self.names:
            own = self.own[name]
            own.mkdir()
            (own / "activemq.xml").write_text(self.xml(name))
            (own / "jetty.xml").write_text(JETTY.format(home=home, console=self.consoles[name]))
            (own / "realm.properties").write_text(f"{USER}: {PASSWORD}, admin\n")
            (own / "log4j.properties").write_text(LOG)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        ports.give_back(self.consoles.values())

    def xml(self, name: str) -> str:
        """Return the file of a broker."""
        at = {other: openwire for other, (openwire, _) in self.ports.items()}
        connectors = "\n      ".join(CONNECTORS[name]).format(**at)
        openwire, stomp_port = self.ports[name]
        return XML.format(name=name, connectors=connectors, port=openwire, stomp=stomp_port)

    def command(self, name: str) -> list[str]:
        base = self.own[name]
        options = {"activemq.home": self.home, "activemq.base": base, "activemq.conf": base,
                   "activemq.data": base / "data", "java.io.tmpdir": base,
                   "log4j.configuration": f"file:{base / 'log4j.properties'}"}  # fmt: skip
        opened = [one for module in OPENED for one in ("--add-opens", f"{module}=ALL-UNNAMED")]
        return [
            "java", *JAVA_OPTIONS, *opened, *(f"-D{key}={value}" for key, value in options.items()),
            "-jar", str(self.home / "bin" / "activemq.jar"), "start", "xbean:file:activemq.xml",
        ]  # fmt: skip

    def serves(self, name: str) -> bool:
        with suppress(OSError):
            urllib.request.urlopen(f"http://{self.host}:{self.consoles[name]}/api/", timeout=2)
        return "Started o.e.j.w.WebAppContext" in self.log(name) and super().serves(name)

    def waits(self, said: Sequence[str]) -> bool:
        return False

    def address(self, name: str, secret: bool = True) -> str:
        """Return where a broker's management is."""
        user = f"{USER}:{PASSWORD.replace('/', '%2F').replace('@', '%40')}@" if secret else ""
        return f"jolokia:http://{user}{self.host}:{self.consoles[name]}/api/jolokia"

    def asked(self, name: str, mbean: str, attributes: Sequence[str] = ()) -> object:
        """Return what a broker's management says of MBeans: their attributes, or all of them."""
        question = {"type": "read", "mbean": mbean, **({"attribute": list(attributes)} if attributes else {})}
        token = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {token}", "Origin": "http://localhost",
                   "Content-Type": "application/json"}  # fmt: skip
        url = self.address(name, secret=False).removeprefix("jolokia:")
        asked = urllib.request.Request(url, json.dumps([question]).encode(), headers)
        with urllib.request.urlopen(asked, timeout=20) as answer:
            return json.load(answer)[0]

    def client(self, broker: str, client_id: str) -> stomp.Connection12:
        """Return a connection of a client."""
        connection = stomp.Connection12([(self.host, self.ports[broker][1])])
        connection.connect("guest", "guest", wait=True, headers={"client-id": client_id})
        return connection

    def read(self, client: stomp.Connection12, queue: str, no: int, **options: str) -> None:
        """Let a client consume from a queue."""
        ack = options.pop("ack", "auto")
        client.subscribe(f"/queue/{queue}", id=str(no), ack=ack, headers=options)

    def send(self, broker: str, queue: str, count: int, **properties: str) -> None:
        """Send persistent messages, each when the one before has been taken."""
        client = self.client(broker, f"sender-{broker}-{queue}")
        for no in range(count):
            with client_transaction(client) as name:
                client.send(f"/queue/{queue}", str(no), transaction=name, persistent="true", **properties)
        client.disconnect()

    def until(self, broker: str, queue: str, attribute: str, value: int) -> None:
        """Wait until an attribute of a queue has a value."""
        mbean = (
            f"org.apache.activemq:type=Broker,brokerName={broker},destinationType=Queue,destinationName={queue}"
        )
        limit, found = time.monotonic() + 30, None
        while time.monotonic() < limit:
            found = self.asked(broker, mbean, [attribute])
            if found.get("value", {}).get(attribute) == value:
                return
            time.sleep(0.1)
        raise AssertionError(f"{attribute} of {queue} at {broker}: expected {value}, last answer {found}")


class client_transaction:  # noqa: N801 - reads as what it is within a with
    """A transaction of a client: its end is answered, so that what was sent is there."""

    def __init__(self, client: stomp.Connection12) -> None:
        self.client = client

    def __enter__(self) -> str:
        self.name = self.client.begin()
        return self.name

    def __exit__(self, *error: object) -> None:
        self.client.commit(self.name)


DEPTHS = (("A", "ORDERS", 5), ("A", "SLOW", 6), ("B", "INVOICES", 3), ("B", "NORTH", 2), ("B", "RETURNS", 4))


def messages_wait(brokers: Consoles) -> list[stomp.Connection12]:
    """Bring the messages there that wait, and return the clients that stay.

    ORDERS at A, as C2 is two hops away; INVOICES at B, excluded; RETURNS at B, which came from A for a consumer
    that has left; NORTH at B, which no selector takes; SLOW at A, whose consumer holds its full prefetch.
    """
    c2, c3 = brokers.client("C", "C2"), brokers.client("C", "C3")
    brokers.read(c2, "ORDERS", 1)
    brokers.read(c2, "INVOICES", 2)
    brokers.read(c3, "NORTH", 1, selector="region = 'north'")
    brokers.until("B", "ORDERS", "ConsumerCount", 1)
    brokers.until("B", "NORTH", "ConsumerCount", 1)
    brokers.send("A", "ORDERS", 5)
    brokers.send("B", "INVOICES", 3)
    brokers.send("B", "NORTH", 2, region="south")
    left = brokers.client("B", "left")
    brokers.read(left, "RETURNS", 1, ack="client-individual")
    brokers.until("A", "RETURNS", "ConsumerCount", 1)
    brokers.send("A", "RETURNS", 4)
    brokers.until("B", "RETURNS", "InFlightCount", 4)
    left.disconnect()
    c1, hung = brokers.client("A", "C1"), brokers.client("A", "hung")
    brokers.read(c1, "RETURNS", 1)
    brokers.until("B", "RETURNS", "ConsumerCount", 1)
    brokers.read(hung, "SLOW", 1, ack="client-individual", **{"activemq.prefetchSize": "2"})
    brokers.send("A", "SLOW", 6)
    brokers.until("A", "SLOW", "InFlightCount", 2)
    for broker, queue, depth in DEPTHS:
        brokers.until(broker, queue, "QueueSize", depth)
    return [c1, c2, c3, hung]


def main(folder: str) -> None:
    """Record what each broker answers, all attributes of it, and the files that they ran with."""
    target = Path(folder) / "running"
    target.mkdir(parents=True, exist_ok=True)
    with Consoles(distribution(Path(folder))) as brokers:
        brokers.start(brokers.names)
        clients = messages_wait(brokers)
        for name in brokers.names:
            answers = {kind: brokers.asked(name, DOMAIN + pattern) for kind, (pattern, _) in ASKED.items()}
            told = {"console": brokers.consoles[name], "xml": brokers.xml(name), "answers": answers}
            (target / f"{name}.json").write_text(json.dumps(told, indent=1, sort_keys=True))
        for client in clients:
            client.disconnect()


if __name__ == "__main__":
    main(sys.argv[1])
