"""`mq.check`: every rule on a network that has the problem, and on its neighbour that has not."""

from __future__ import annotations

import json
import pkgutil
from importlib import import_module

import pytest

import mqlab as mq
from mqlab import products
from mqlab.checks.rule import collected
from mqlab.errors import BadFile, UnknownName
from mqlab.products.activemq.rules import connectors, networks
from mqlab.products.artemis.files import broker_xml
from mqlab.products.openmq.files import properties
from mqlab.spec import topology
from mqlab.spec.connector import HasOptions
from mqlab.spec.origin import SourceFile
from tests.products import test_files_checked
from tests.products.activemq import running_rules
from tests.products.activemq.behaviours import FOO, NEWS, network, reads, send
from tests.products.artemis import running_rules as running_clusters

STATIC = {"statically_included_destinations": ["queue://TEST.FOO"]}
TOPICS_OUT = {"excluded_destinations": ["topic://>"]}


def scenario(net: mq.Network, *actions) -> mq.Scenario:
    return mq.Scenario.of(net, *actions)


WILD = mq.Consumer("W", on="B", reads=mq.Queue("TEST.>"))
PICKY = mq.Consumer("K", on="B", reads=FOO, selector="a = 1")


def ADDRESSED(uri, **transport):  # noqa: N802 - a table's word
    connector = mq.NetworkConnector.as_written("ab", uri)
    return mq.Network(mq.Broker("A", connector),
                      mq.Broker("B", mq.TransportConnector(**transport)))  # fmt: skip


ENHANCED = "imq.instancename=A\nimq.cluster.ha=true\nimq.cluster.clusterid=x\nimq.brokerid=A\n"
REACH = ("ttl-short", "ttl-distance", "no-target")
# rule -> (what has the problem, what has not)
URGENT = mq.Producer("P", on="A", sends=2, to=mq.Queue("Q"), jms_priority=[0, 9])
CASES = {
    "broker-name": tuple(mq.Network(*map(mq.Broker, ("A", "B", n))) for n in ("North East", "North-East")),
    "ttl-zero": (network("A>B", network_ttl=0), network("A>B")),
    "ttl-short": (
        scenario(network("A>B B>C", network_ttl=1), *reads("C1@C"), send(1)),
        scenario(network("A>B B>C", network_ttl=2), *reads("C1@C"), send(1)),
    ),
    # a network alone: the greatest distance counts
    "ttl-distance": (network("A>B B>C", network_ttl=1), network("A>B B>C", network_ttl=2)),
    "no-target": (ADDRESSED("static:()"), ADDRESSED("static:(tcp://B:61616)")),
    "conduit-off-topics": (
        network("A>B", conduit_subscriptions=False),
        network("A>B", conduit_subscriptions=False, **TOPICS_OUT),
    ),
    "topic-cycle": (
        network("A=B B=C C=A", message_ttl=2, consumer_ttl=1),
        network("A=B B=C C=A", message_ttl=1, consumer_ttl=2),
    ),
    "queue-cycle": (
        network("A=B B=C C=A", network_ttl=2),
        network("A=B B=C C=D D=A", network_ttl=2),
    ),
    "selector-conduit": (
        scenario(network("A>B"), PICKY),
        scenario(network("A>B", conduit_subscriptions=False, **TOPICS_OUT), PICKY),
    ),
    "suppress-alone": (
        network("A>B", suppress_duplicate_queue_subscriptions=True),
        network("A>B", suppress_duplicate_queue_subscriptions=True,
                decrease_network_consumer_priority=True),
    ),
    "static-no-consumer": (
        scenario(network("A>B", **STATIC), send(1)),
        scenario(network("A>B", **STATIC), *reads("C1@B"), send(1)),
    ),
    "advisory-off": (
        network("A>B").change("B", advisory_support=False),
        network("A>B").change("A", advisory_support=False),
    ),
    "excluded-wildcard": (
        scenario(network("A>B", excluded_destinations=["queue://TEST.X"]), WILD),
        scenario(network("A>B", excluded_destinations=["queue://OTHER"]), WILD),
    ),
    "wildcard-inside": (
        network("A>B", excluded_destinations=["queue://A.>.B"]),
        network("A>B", excluded_destinations=["queue://A.*.>"]),
    ),
    "same-name": (
        mq.Network(mq.Broker("A", *(
            mq.NetworkConnector(n, uri="static:(tcp://B)", configured_name="x") for n in "pq"
        )), mq.Broker("B")),
        network("A>B A>B"),
    ),
    "client-port": (
        scenario(network("A>B"), mq.Client("c", uri="tcp://A:61617")),
        scenario(network("A>B"), mq.Client("c", uri="tcp://A:61616")),
    ),
    "prefetch-zero": (network("A>B", prefetch_size=0), network("A>B", prefetch_size=1)),
    "bridges-twice": (
        network("A=B B>A"), network("A>B A>B B>A"),
    ),
    "loopback": (network("A>A"), network("A>B")),
    "later-option": (
        network("A>B", "5.5", consumer_ttl=1), network("A>B", "5.17", consumer_ttl=1),
    ),
}  # fmt: skip


def of_openmq(model="peer", **options):
    brokers = [{"name": name, "options": options} for name in ("b1", "b2")]
    return {"product": "openmq", "cluster": {"model": model}, "brokers": brokers, "steps": []}


def in_core(inside):
    """Return the network of a file of one broker."""
    text = (
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">\n{inside}</core></configuration>'
    )
    return broker_xml.read([SourceFile("broker.xml", text)])


def secured(match, roles="guest", kinds=("send", "consume"), more=""):
    """Return the network of a file with the address Q on line 2, and permissions for a match."""
    given = "".join(f'<permission type="{kind}" roles="{roles}"/>' for kind in kinds)
    return in_core(
        f'<addresses><address name="Q"/></addresses><security-settings><security-setting match="{match}">'
        f"{given}</security-setting></security-settings>{more}"
    )


def of_artemis(role, policy="replication", password="one", **elements):
    brokers = [{"name": "A", "cluster_password": password,
                "ha": {"policy": policy, "role": role, **elements}},
               {"name": "B", "cluster_password": "one"}]  # fmt: skip
    return {"product": "artemis", "brokers": brokers, "queues": [], "steps": []}


def connecting(to):
    """Return the network of an Artemis file whose static connectors lead to an address."""
    text = (f"<core><connectors><connector name='b'>{to}</connector></connectors><acceptors><acceptor name='a'>"
            "tcp://localhost:1</acceptor></acceptors><cluster-connections><cluster-connection name='c'>"
            "<connector-ref>b</connector-ref><static-connectors><connector-ref>b</connector-ref></static-connectors>"
            "</cluster-connection></cluster-connections></core>")  # fmt: skip
    return broker_xml.read([SourceFile("broker.xml", text)])


# The same for rules that no network alone breaks, or another product's.
WAITS = mq.Consumer("C", on="A", reads=FOO)
OTHERS = {
    "transport": (ADDRESSED("static:(tcp://B)"), ADDRESSED("static:(tcp://B:61616)")),
    "priority-ignored": (
        scenario(network("A>B"), URGENT),
        scenario(network("A>B").change("A", policies=[{"queue": ">", "prioritized_messages": True}]), URGENT),
    ),
    "nearly-same": (
        scenario(network("A>B"), mq.Consumer("C", on="B", reads=mq.Queue("test.foo")), send(1)),
        scenario(network("A>B"), *reads("C@B"), send(1)),
    ),
    "property-name": tuple(
        scenario(network("A>B"), mq.Producer("P", on="A", sends=1, to=FOO, properties={name: 1}))
        for name in ("my prop", "$my_prop2")
    ),
    "no-client-id": tuple(
        scenario(
            network("A>B"),
            mq.Client("K", uri="tcp://A:61616", client_id=client_id),
            mq.Consumer("D", on="K", reads=NEWS, durable=True),
        )
        for client_id in (None, "x")
    ),
    "same-client-id": tuple(
        scenario(
            network("A>B"),
            mq.Client("K", uri="tcp://A:61616", client_id="x"),
            *between,
            mq.Consumer("D", on="A", reads=NEWS, durable=True, client_id="x"),
        )
        for between in ((), (mq.CloseClient("K"),))
    ),
    "other-kind": tuple(
        mq.Network(mq.Broker("A", policies=[{kind: ">", "strict_order_dispatch": True}]))
        for kind in ("topic", "queue")
    ),
    "masterslave-one": (
        ADDRESSED("masterslave:(tcp://B:61616)"),
        ADDRESSED("masterslave:(tcp://B:1,tcp://A:1)"),
    ),
    "pure-removed": tuple(
        mq.Network(mq.Broker("M"), mq.Broker("S", pure_slave_of="M"), edition=edition)
        for edition in ("5.17", "5.5")
    ),
    "pure-circle": tuple(
        mq.Network(mq.Broker("M", pure_slave_of=of), mq.Broker("S", pure_slave_of="M"), edition="5.5")
        for of in ("S", None)
    ),
    "ping-late": tuple(
        mq.artemis.Network(mq.artemis.Broker("A", check_period=check, connection_ttl=2000))
        for check in (2000, 500)
    ),
    "store-not-shared": tuple(
        properties.read([SourceFile("A.properties", f"{ENHANCED}imq.persist.store={store}\n")])
        for store in ("file", "jdbc")
    ),
    "one-name": (
        scenario(network("A>B"), *reads("P@B"), send(1)),
        scenario(network("A>B"), *reads("C@B"), send(1)),
    ),
    "early-openmq": (
        scenario(mq.openmq.Network("A", "B"), WAITS, mq.Pause("B", at="2s")),
        scenario(mq.openmq.Network("A", "B"), WAITS, mq.Pause("B", at="6s")),
    ),
    "early-artemis": (
        scenario(mq.artemis.Network(mq.artemis.Broker("A")), WAITS, mq.Crash("A", at="2s")),
        scenario(mq.artemis.Network(mq.artemis.Broker("A")), WAITS, mq.Crash("A", at="4s")),
    ),
    **running_rules.CASES,
    **running_clusters.CASES,
    "not-played": (
        broker_xml.read([SourceFile("broker.xml", "<core><grouping-handler/></core>")]),
        broker_xml.read([SourceFile("broker.xml", "<core><journal-type>NIO</journal-type></core>")]),
    ),
    "wrong-value": (
        broker_xml.read([SourceFile("broker.xml", "<core><journal-min-files>two</journal-min-files></core>")]),
        broker_xml.read([SourceFile("broker.xml", "<core><journal-min-files> 2 </journal-min-files></core>")]),
    ),
    "unknown-element": (
        broker_xml.read([SourceFile("broker.xml", "<core><acceptor-s/></core>")]),
        broker_xml.read([SourceFile("broker.xml", "<core><acceptors/></core>")]),
    ),
    "property-not-played": (
        properties.read([SourceFile("A.properties", "imq.cluster.brokerlist=A:1\nimq.system.max_count=1\n")]),
        properties.read([SourceFile("A.properties", "imq.cluster.brokerlist=A:1\nimq.log.level=INFO\n")]),
    ),
    "leads-nowhere": (connecting("tcp://b:61616"), connecting("tcp://localhost:1")),
    "static-wildcard": (
        network("A>B", "5.5", statically_included_destinations=["queue://A.>"]),
        network("A>B", "5.17", statically_included_destinations=["queue://A.>"]),
    ),
    "address-option": tuple(
        scenario(network("A>B"), mq.Client("c", uri=f"discovery:(static:(tcp://A:61616))?{option}=3"))
        for option in ("backOffMultiplier", "reconnectDelayExponent")
    ),
    "nearly-listed": tuple(
        scenario(network("A>B", excluded_destinations=[f"queue://{name}"]), *reads("C@B"), send(1))
        for name in ("TESTS.FOO", "OTHER")
    ),
    "stores-differ": tuple(
        mq.Network(
            *(mq.Broker(name, shared_store="s", store=store) for name, store in zip("AB", stores, strict=True))
        )
        for stores in (("jdbc", "kahadb"), ("jdbc", "jdbc"))
    ),
    "lock-database": tuple(
        mq.Network(mq.Broker("A", shared_store="s", store=store, locker="lease"))
        for store in ("kahadb", "jdbc")
    ),
    "advisory-unsent": tuple(
        scenario(
            mq.Network(mq.Broker("A", policies=[{"queue": ">", "advisory_for_consumed": told}])),
            mq.Consumer("C", on="A", reads=mq.Topic("ActiveMQ.Advisory.MessageConsumed.Queue.>")),
        )
        for told in (False, True)
    ),
    "policy-again": tuple(
        mq.Network(
            mq.Broker("A", policies=[{kind: "Q", "max_page_size": 1}, {"queue": "Q", "max_page_size": 2}])
        )
        for kind in ("queue", "topic")
    ),
    "joins-nobody": tuple(
        mq.artemis.Network(mq.artemis.Broker("A", to=[to]), mq.artemis.Broker("B")) for to in "AB"
    ),
    "odd-match": tuple(
        mq.artemis.Network(mq.artemis.Broker("A", address_settings={match: {"redelivery_delay": 5}}))
        for match in ("jms.queue.Q", "Q")
    ),
    "incomplete": (in_core("<name>A</name><name>B</name>"), in_core("<name>A</name>")),
    "no-permission": tuple(secured(match) for match in ("R", "Q.#")),
    "divert-nowhere": tuple(
        mq.artemis.Network(mq.artemis.Broker("A", diverts={"d": {"address": "Q", "forwarding_address": to}}))
        for to in ("Q", "R")
    ),
    "journal-twice": tuple(
        mq.artemis.Network(*(mq.artemis.Broker(name, shared_store=f"{name}{no}"[-1]) for name in "AB"))
        if no
        else mq.artemis.Network(mq.artemis.Broker("A"), mq.artemis.Broker("B"))
        for no in (1, 0)
    ),
    "no-jms-service": tuple(
        mq.openmq.Network("A", service_activelist=services) for services in ("admin", "jms,admin")
    ),
    "no-effect-artemis": tuple(
        mq.artemis.Network(mq.artemis.Broker("A"), message_load_balancing=kind, redistribution_delay=0)
        for kind in ("OFF", "ON_DEMAND")
    ),
    "no-effect-openmq": tuple(
        scenario(
            mq.openmq.Network("A"),
            mq.openmq.CreateDestination(FOO, "A", options={"limit_behavior": "FLOW_CONTROL", **more}),
        )
        for more in ({}, {"max_num_msgs": 3})
    ),
    "broker-id": (of_openmq(**{"imq.brokerid": "x"}), of_openmq()),
    "ignored": (
        of_openmq("enhanced", **{"imq.cluster.masterbroker": "b1"}),
        of_openmq("enhanced"),
    ),
    "same-client-id-artemis": tuple(
        mq.artemis.Network(mq.artemis.Broker("A")).with_actions(
            *(mq.Consumer(name, on="A", reads=NEWS, client_id=id) for name, id in (("C", "x"), ("D", other)))
        )
        for other in ("x", "y")
    ),
    "address-of-queue": tuple(
        mq.artemis.Network(
            mq.artemis.Broker("A"), queues=[mq.artemis.AddressQueue("X", address=address)]
        ).with_actions(mq.Producer("P", on="A", sends=1, to=mq.Queue("Y")))
        for address in ("Y", None)
    ),
    "refused": (of_artemis("slave", quorum_size=0), of_artemis("slave")),
    "cluster-password": (of_artemis("slave", password="two"), of_artemis("slave")),
    "colocated-half": (
        of_artemis("colocated", slave={}),
        of_artemis("colocated", slave={}, master={}),
    ),
    "scale-down-slave": (
        of_artemis("slave", scale_down={"connectors": ["to_B"]}),
        of_artemis("slave"),
    ),
}


@pytest.mark.parametrize("rule", [*CASES, *OTHERS])
def test_a_rule_finds_its_problem_and_only_it(rule):
    bad, good = (CASES | OTHERS)[rule]
    found = [problem for problem in mq.check(bad) if problem.rule == rule]
    assert found, "the problem is there"
    assert found[0].where
    assert found[0].remedy
    assert found[0].source
    assert rule not in [problem.rule for problem in mq.check(good)]


@pytest.mark.parametrize(("settings", "told"), [
    ({"match": "#"}, None),
    ({"match": "R"}, "send to or consume from address 'Q': no security-setting matches it"),
    ({"match": "Q", "kinds": ("send",)}, "from address 'Q': the security-setting 'Q' gives no role consume"),
    ({"match": "#", "roles": ""}, "the security-setting '#' gives no role send or consume"),
    ({"match": "Q", "kinds": ("consume",)}, None),  # a divert may fill it
    ({"match": "R", "more": "<security-enabled>false</security-enabled>"}, None),
    ({"match": "R", "more": "<wildcard-addresses><delimiter>_</delimiter></wildcard-addresses>"}, None),
])  # fmt: skip
def test_an_address_from_which_no_role_may_consume_is_told(settings, told):
    """Asked of 2.31.2: a user with all roles of the file is refused where none has it (AMQ229032)."""
    found = [one for one in mq.check(secured(**settings)) if one.rule == "no-permission"]
    assert [one.line for one in found] == [2] * (told is not None)
    assert told is None or told in str(found[0])


MEMBER = "<connectors><connector name='c'>tcp://x:1</connector></connectors><cluster-connections>"


@pytest.mark.parametrize(("inside", "told"), [
    ("<address-settings><address-setting/></address-settings>", "address-setting has no match"),
    ("<diverts><divert><address>a</address></divert></diverts>", "divert has no name"),
    ("<acceptors/><acceptors/>", "acceptors stands more than once in core"),
    (f"{MEMBER}<cluster-connection name='c'/></cluster-connections>", "has no connector-ref"),
    ("<broker-connections><amqp-connection uri='tcp://x:1' name='n'><federation/></amqp-connection>"
     "</broker-connections>", None),  # a federation of its own kind, without a name
    ("<xi:include xmlns:xi='http://www.w3.org/2001/XInclude' href='a'/>" * 2, None),
])  # fmt: skip
def test_what_the_schema_requires_is_told_where_it_lacks(inside, told):
    """Asked of 2.31.2: it starts with none of the first four (AMQ214019)."""
    found = [one.what for one in mq.check(in_core(inside)) if one.rule == "incomplete"]
    assert found == ([] if told is None else [one for one in found if told in one][:1])
    assert (told is None) == (not found)


@pytest.mark.complete
def test_no_rule_is_added_by_half():
    """What is missing, and where it goes: the message is enough to finish a rule."""
    cases = {*CASES, *OTHERS, *test_files_checked.CASES}
    half = []
    for product in products.PRODUCTS:
        rules = import_module(f"mqlab.products.{product.name}.rules")
        folder = f"mqlab/products/{product.name}/rules"
        for module in pkgutil.iter_modules(rules.__path__):
            for rule in collected(import_module(f"{rules.__name__}.{module.name}")):
                name = f"{rule.id} ({folder}/{module.name}.py)"
                if rule not in product.rules():
                    half.append(f"{name}: name its module in RULES, {folder}/__init__.py")
                for text in ("finds", "what", "fix", "source"):
                    if not getattr(rule, text).strip():
                        half.append(f"{name}: {text}= of its @rule is empty, and check prints it")
                if not rule.example and not rule.unshown:
                    half.append(
                        f"{name}: write into its @rule example=lambda: Example(with the problem, mended), "
                        f"as others do with what {folder}/examples*.py has; or, if no run of the lab "
                        "shows what comes of it, unshown=why"
                    )
                if rule.example and rule.unshown:
                    half.append(f"{name}: it has an example, so take unshown= out of its @rule")
                if not rule.example and rule.id not in cases:
                    half.append(
                        f"{name}: without an example no test finds it; write what has it and what has "
                        "not into CASES or OTHERS of tests/products/test_rules.py, or with its line "
                        "into CASES of tests/products/test_files_checked.py"
                    )
    assert not half, "\n".join(["added by half:", *half])
    ids = [rule.id for product in products.PRODUCTS for rule in product.rules()]
    assert sorted(ids) == sorted(set(ids)), "two rules of one id"


@pytest.mark.complete
def test_every_rule_of_networks_has_a_case():
    found, cases = {rule.id for rule in collected(networks, connectors)}, {*CASES} - {*REACH, "client-port"}
    assert found == cases, (
        f"{', '.join(sorted(found ^ cases))}: a rule of networks.py or connectors.py has its case in CASES of "
        "tests/products/test_rules.py: what has the problem, and what has not (OTHERS is for all others)"
    )


def test_errors_come_first():
    net = network("A>B", network_ttl=0, suppress_duplicate_queue_subscriptions=True)
    assert [problem.level for problem in mq.check(net)] == ["error", "warning"]


def test_problems_print_one_a_line_and_show_as_a_table():
    found = mq.check(network("A>B", network_ttl=0))
    assert str(found) == str(found[0])
    assert found[0].remedy in found._repr_html_()
    assert str(mq.check(network("A>B"))) == "No problems found."


def test_what_is_checked_runs_as_the_broker_does():
    """A problem is no refusal: each of the networks runs (a prefetch of 0 only in edition 5.5)."""
    for bad, _ in CASES.values():
        net = bad if isinstance(bad, mq.Network) else bad.network
        mq.run(net, *reads("C1@A"), *reads("S1@A", NEWS), send(2), send(2, to=NEWS))


def test_the_command(mqlab, tmp_path):
    bad, good = CASES["ttl-short"]
    for name, what, status in (("bad", bad, 1), ("good", good, 0)):
        file = tmp_path / f"{name}.json"
        mq.save(what, file)
        done = mqlab("check", file, "--json")
        assert done.returncode == status
        rules = [json.loads(line)["rule"] for line in done.stdout.splitlines()]
        assert ("ttl-short" in rules) == (name == "bad")
    assert "no problem found" in mqlab("check", tmp_path / "good.json").stdout
    assert mqlab("check", "fuse:9.99").returncode == 2


def rules(what, *actions):
    return [problem.rule for problem in mq.check(what, *actions)]


def test_without_clients_the_diameter_counts_and_with_a_consumer_its_own_distance():
    chain = network("A>B B>C C>D", network_ttl=2)
    told = [p for p in mq.check(chain) if p.rule == "ttl-distance"]
    assert [(p.where, "distance to D is 3" in p.what, p.level) for p in told] == [("broker A", True, "warning")]
    assert "ttl-distance" not in rules(chain, *reads("C1@C"))
    assert "ttl-distance" in rules(chain, *reads("C1@D"))
    assert "ttl-distance" not in rules(network("A>B B>C C>D", network_ttl=-1))


def test_the_distance_of_who_stands_on_a_client_is_that_of_its_broker():
    client = mq.Client("shop", uri="failover:(tcp://A:61616)")
    chain = network("A>B B>C", network_ttl=1)
    sent = mq.Producer("P", on="shop", sends=1, to=FOO)
    assert "ttl-short" in rules(chain, client, *reads("C1@C"), sent)
    assert "ttl-short" not in rules(chain, client, *reads("C1@B"), sent)


@pytest.mark.parametrize(("uri", "told"), [
    ("static:()", "names no broker"),
    ("masterslave:()", "names no broker"),
    ("masterslave:(tcp://X:61616,tcp://Y:61616)", "points to X, Y, where there is no broker"),
    ("static:(failover:(tcp://X:61616)?maxReconnectAttempts=0)", "points to X, where there is no broker"),
    ("multicast://default", "expects brokers to advertise themselves, but no other does"),
])  # fmt: skip
def test_a_connector_that_leads_nowhere_is_found(uri, told):
    found = [p for p in mq.check(ADDRESSED(uri)) if p.rule == "no-target"]
    assert [(p.where, p.level) for p in found] == [("A/ab", "error")]
    assert told in found[0].what
    assert found[0].source.startswith("Fuse")
    assert found[0].remedy


def test_a_connector_that_hears_of_somebody_leads_somewhere():
    net = ADDRESSED("multicast://default", discovery_uri="multicast://default")
    assert "no-target" not in rules(net)


def test_a_client_whose_address_leads_nowhere_is_found():
    net = mq.Network(mq.Broker("A"), around=mq.Around(endpoints=(mq.Endpoint("X"),)))
    client = mq.Client("c", uri="failover:(tcp://X:61616)")
    found = [p for p in mq.check(net, client) if p.rule == "no-target"]
    assert [p.where for p in found] == ["step 2, client c"]
    assert "no-target" not in rules(net, mq.Client("c", uri="failover:(tcp://X:1,tcp://A:61616)"))


def test_what_a_connector_costs_grows_with_the_brokers_and_not_with_the_connectors(monkeypatch):
    """Every pair of connectors was looked at: a complete graph of sixty brokers took minutes."""
    get, asked = HasOptions.get, []
    monkeypatch.setattr(HasOptions, "get", lambda self, *which: asked.append(which) or get(self, *which))
    costs = []
    for size in (6, 18):
        net = topology.network("complete graph", size)
        asked.clear()
        mq.check(net)
        costs.append(len(asked) / len([*net.connectors()]))
    assert costs[1] < 18 / 6 * costs[0]


def test_an_address_with_another_port_than_the_broker_of_the_host_listens_on_is_told(tmp_path):
    for name, there, own in (("east", "static:(tcp://west-host:61616)", 61616), ("west", "", 61617)):
        line = f'<networkConnector name="ew" uri="{there}"/>' * bool(there)
        listens = f'<transportConnector name="openwire" uri="tcp://{name}-host:{own}"/>'
        (tmp_path / name).mkdir()
        (tmp_path / name / "activemq.xml").write_text(
            '<beans xmlns="http://www.springframework.org/schema/beans"><broker brokerName="' + name + '" '
            f'xmlns="http://activemq.apache.org/schema/core"><networkConnectors>{line}</networkConnectors>'
            f"<transportConnectors>{listens}"
            "</transportConnectors></broker></beans>"
        )
    net = mq.load(tmp_path / "east", tmp_path / "west")
    (found,) = [p for p in mq.check(net) if p.rule == "no-target"]
    assert "points to west-host:61616, but west listens on port 61617 there" in found.what
    assert found.remedy == "use port 61617"


def test_times_to_live_of_ones_own_stand_without_network_ttl():
    net = mq.chain(3, message_ttl=1, consumer_ttl=5)
    assert "ttl-twice" not in rules(net)
    assert all("network_ttl" not in connector.options for _, connector in net.connectors())
    assert "ttl-twice" in rules(mq.chain(3, network_ttl=2, message_ttl=1))


def test_what_redistributes_is_named_by_what_stops_it():
    settings = {"#": {"redistribution_delay": 0}}
    members = [mq.artemis.Broker(n, message_load_balancing="OFF", address_settings=settings) for n in "AB"]
    net = mq.artemis.Network(*members, queues=(mq.artemis.AddressQueue("Q"),))
    late = mq.Producer("P", on="A", sends=1, to=mq.Queue("Q")), mq.Consumer("C", on="B", reads=mq.Queue("Q"))
    (found,) = [p for p in mq.check(net, *late) if p.rule == "no-redistribution"]
    assert found.remedy == "set message-load-balancing to ON_DEMAND"


def test_a_slash_stands_between_a_broker_and_its_connector():
    with pytest.raises(UnknownName, match="the connector is 'A/ab', with a slash"):
        ADDRESSED("static:(tcp://B:61616)").change("A.ab", network_ttl=2)


def test_an_ha_policy_has_one_policy():
    two = "<replication><master/></replication>\n<shared-store><slave/></shared-store>"
    with pytest.raises(
        BadFile, match=r"line 2, shared-store: the ha-policy is <replication> already \(line 1\)"
    ):
        broker_xml.read([SourceFile("broker.xml", f"<core><ha-policy>{two}</ha-policy></core>")])
