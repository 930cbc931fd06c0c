"""Users, passwords and rights: brokers 5.17.2 played each case, with this outcome."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadFile
from mqlab.products.activemq import files
from mqlab.spec.origin import SourceFile
from mqlab.spec.security import Security

Q = mq.Queue("Q")
USERS = ["admin?password=a&groups=admins", "u?password=p&groups=users"]
ANYBODY = [*USERS, "?groups=anonymous"]
EVERYTHING = "read=admins&write=admins&admin=admins"
ADVISORIES = "topic://ActiveMQ.Advisory.>"
FULL = "read=users,admins&write=users,admins&admin=users,admins"
BASE = [f"queue://>?{EVERYTHING}", f"topic://>?{EVERYTHING}"]


def rights(entry="queue://Q?read=users&write=users&admin=users", advisories=FULL):
    return [*BASE, *([f"{ADVISORIES}?{advisories}"] if advisories else []), entry]


def received(a, b, user, duplex=False, back=False):
    """Return how many of five messages cross from A to B, or *back* over a duplex bridge, and the run."""
    named = {} if user is None else dict(zip(("user_name", "password"), user.split("/"), strict=True))
    link = mq.NetworkConnector("n", uri="static:(tcp://B:61616)", duplex=duplex, **named)
    net = mq.Network(mq.Broker("A", link, **a), mq.Broker("B", **b))
    near, far = ("B", "A") if back else ("A", "B")
    script = (mq.Consumer("c", on=far, reads=Q), mq.Producer("p", on=near, sends=5, to=Q))
    trace = mq.run(net, mq.Start(), *script)
    left = 5 - trace.received()["c"]
    assert trace.waiting() == ({near: {"queue://Q": [1, 2, 3, 4, 5]}} if left else {})  # none is lost
    return trace.received()["c"], trace


@pytest.mark.parametrize(("a", "b", "user", "duplex", "back", "count"), [
    (None, USERS, None, False, False, 0), (None, USERS, "u/wrong", False, False, 0),
    (None, USERS, "u/p", False, False, 5),
    (None, USERS, None, True, False, 0), (None, USERS, "u/wrong", True, False, 0),
    (None, USERS, "u/p", True, False, 5),
    (USERS, None, None, False, False, 0), (USERS, None, "u/p", False, False, 5),
    (USERS, None, None, True, True, 0), (USERS, None, "u/p", True, True, 5),
    (USERS, USERS, "u/p", True, True, 5),
    (None, ANYBODY, None, False, False, 5), (ANYBODY, USERS, None, True, True, 0),
])  # fmt: skip
def test_a_bridge_needs_a_user_that_both_of_its_brokers_know(a, b, user, duplex, back, count):
    given = [{} if users is None else {"users": users} for users in (a, b)]
    got, trace = received(*given, user, duplex, back)
    assert got == count
    refused = [event for event in trace.events() if event.rule == mq.Reason.not_authenticated]
    assert bool(refused) == (not count)


ALL = "queue://Q?read=users&write=users&admin=users"
UNREAD, UNWRITTEN, UNMADE = (f"queue://Q?{left}" for left in (
    "write=users&admin=users", "read=users&admin=users", "read=users&write=users",
))  # fmt: skip


@pytest.mark.parametrize(("at", "entry", "advisories", "count"), [
    ("B", ALL, FULL, 5), ("B", UNWRITTEN, FULL, 0), ("B", UNREAD, FULL, 5), ("B", UNMADE, FULL, 5),
    ("A", ALL, FULL, 5), ("A", UNWRITTEN, FULL, 5), ("A", UNREAD, FULL, 0), ("A", UNMADE, FULL, 5),
    ("B", ALL, "", 0), ("A", ALL, "", 0),
    ("B", ALL, "write=users&admin=users", 0), ("A", ALL, "write=users&admin=users", 5),
    ("B", ALL, "read=users&admin=users", 5), ("A", ALL, "read=users&admin=users", 5),
    ("B", ALL, "read=users&write=users", 0), ("A", ALL, "read=users&write=users", 0),
])  # fmt: skip
def test_what_the_user_of_a_bridge_has_to_be_allowed(at, entry, advisories, count):
    secured = {"users": USERS, "authorization": rights(entry, advisories)}
    got, trace = received({}, secured, "u/p") if at == "B" else received(secured, {}, "u/p")
    assert got == count
    refused = [event for event in trace.events() if event.rule == mq.Reason.not_authorized]
    assert bool(refused) == (not count or (at, entry) == ("A", UNMADE))  # until its queue is there


ANN = "jms.userName=u&jms.password=p"
NOT = "User u is not authorized to"


@pytest.mark.parametrize(("options", "authorization", "reads", "sends"), [
    ("", None, None, None),  # who names no user is let in, which check tells
    (ANN, None, None, None),
    (ANN, rights(ALL), None, None),
    (ANN, rights(UNWRITTEN), None, f"{NOT} write to: queue://Q"),
    (ANN, rights(UNREAD), f"{NOT} read from: queue://Q", None),
    (ANN, rights(UNMADE), *[f"{NOT} create: queue://Q"] * 2),
])  # fmt: skip
def test_a_client_with_a_user_may_do_what_its_groups_may(options, authorization, reads, sends):
    given = {} if authorization is None else {"authorization": authorization}
    uri = f"tcp://A:61616?{options}"
    clients = (mq.Client("r", uri=uri), mq.Consumer("c", on="r", reads=Q), mq.Client("s", uri=uri))
    net = mq.Network(mq.Broker("A", users=USERS, **given))
    trace = mq.run(net, mq.Start(), *clients, mq.Producer("p", on="s", sends=3, to=Q))
    failed = {call["do"]: call["error"] for call in trace.header["calls"] if not call["ok"]}
    assert {error["class"] for error in failed.values()} <= {"JMSSecurityException"}
    said = {do: error["message"] for do, error in failed.items()}
    assert (said.get("open_consumer"), said.get("send")) == (reads, sends)
    assert trace.received().get("c", 0) == (0 if reads or sends else 3)


@pytest.mark.parametrize(("options", "users", "authorization", "said"), [
    ("jms.userName=u&jms.password=no", USERS, None, "User name [u] or password is invalid."),
    ("jms.userName=x", ANYBODY, None, "User name [x] or password is invalid."),
    (ANN, USERS, rights(advisories=""), f"{NOT} create: topic://ActiveMQ.Advisory.Connection"),
])  # fmt: skip
def test_a_client_that_is_not_let_in_hears_why_and_has_no_connection(options, users, authorization, said):
    given = {} if authorization is None else {"authorization": authorization}
    net = mq.Network(mq.Broker("A", users=users, **given))
    client = mq.Client("r", uri=f"tcp://A:61616?{options}")
    trace = mq.run(net, mq.Start(), client, mq.Consumer("c", on="r", reads=Q))
    connected, opened = (call["error"] for call in trace.header["calls"])
    assert (connected["class"], connected["message"]) == ("JMSSecurityException", said)
    assert opened["class"] == "ConnectionFailedException"


def test_without_users_an_authorization_lets_in_nobody():
    assert Security(None, rights()).groups("u", "p") is None
    assert Security(None, None).groups(None, None) == frozenset()


FILE = """<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A">
  <networkConnectors>
    <networkConnector name="n" uri="static:(tcp://B:61616)" userName="u" password="p"/>
  </networkConnectors>
  <plugins>
    <simpleAuthenticationPlugin anonymousAccessAllowed="true">
      <users> <!-- kept unless it changes -->
        <authenticationUser username="u" password="p &amp; q" groups="users,admins"/>
      </users>
    </simpleAuthenticationPlugin>
    <authorizationPlugin><map><authorizationMap><authorizationEntries>
      <authorizationEntry queue="ORDERS.>" read="users" write="users" admin="admins"/>
      <authorizationEntry topic="ActiveMQ.Advisory.>" read="users" write="users" admin="users"/>
    </authorizationEntries></authorizationMap></map></authorizationPlugin>
  </plugins>
</broker>
"""


def test_files_name_users_and_rights_and_say_them_again():
    net = files.reading.read([SourceFile("a.xml", FILE)])
    (broker,) = net.brokers
    assert broker.options["users"] == ("u?password=p%20%26%20q&groups=users,admins", "?groups=anonymous")
    assert broker.options["authorization"] == (
        "queue://ORDERS.>?read=users&write=users&admin=admins",
        "topic://ActiveMQ.Advisory.>?read=users&write=users&admin=users",
    )
    assert broker.connectors[0].options == {"user_name": "u", "password": "p"}
    told = [p for p in mq.check(net) if p.rule == "left-out"]
    assert any("jms.userName" in str(p) for p in told)


@pytest.mark.parametrize("name", ["", 'queue=""', "queue=' '"])
@pytest.mark.parametrize("plugin", ["", '<jaasAuthenticationPlugin configuration="x"/>'])
def test_an_entry_without_a_destination_is_refused_as_by_the_broker(name, plugin):
    """Asked of 5.17.2 on 2026-11-26: it does not start (NullPointerException; of an empty name no property)."""
    text = FILE.replace('queue="ORDERS.>"', name).replace("<plugins>", f"<plugins>{plugin}")
    with pytest.raises(BadFile, match=r"a\.xml, line 12, authorizationEntry: .* add "):
        files.reading.read([SourceFile("a.xml", text)])


@pytest.mark.parametrize(("change", "gone", "come"), [
    ({"users": ("u?password=q&groups=users",)}, "&amp; q", '<authenticationUser username="u" password="q"'),
    ({"users": None}, "simpleAuthenticationPlugin", ""), ({"authorization": None}, "authorizationPlugin", ""),
    ({"authorization": ("queue://Q?read=users",)}, 'topic="A', '<authorizationEntry queue="Q" read="users"/>'),
])  # fmt: skip
def test_a_plugin_that_has_changed_is_written_once_more(change, gone, come):
    net = files.reading.read([SourceFile("a.xml", FILE)])
    (text,) = files.write(net.change("A", **change)).values()
    assert gone not in text
    assert come in text
    again = files.reading.read([SourceFile("a.xml", text)]).brokers[0].options
    assert {name: again.get(name) and tuple(again[name]) for name in change} == change


def test_where_users_stand_elsewhere_everybody_may_do_everything_which_is_told():
    plugin = '<jaasAuthenticationPlugin configuration="x"/>'
    text = FILE.replace("<plugins>", f"<plugins>{plugin}")
    net = files.reading.read([SourceFile("a.xml", text)])
    assert {"users", "authorization"} & net.brokers[0].options.keys() == set()
    told = [str(p) for p in mq.check(net) if p.rule == "left-out"]
    assert len(told) == 3
    assert not any("jms.userName" in line for line in told)
