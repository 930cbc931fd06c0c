"""`mqlab check` over files: every rule with file and line; three large networks with planted mistakes."""

from __future__ import annotations

import json

import pytest

import mqlab as mq
from mqlab.errors import BadFile, UnknownName
from mqlab.experiments.catalogue import examples, page, rules
from mqlab.experiments.effect import effect
from mqlab.products.activemq import files as activemq
from mqlab.spec.origin import SourceFile
from tests.conftest import work_of_at_most

RULES, EXAMPLES = rules(), examples()
CORE = "http://activemq.apache.org/schema/core"
OK = '<transportConnectors>\n<transportConnector name="in" uri="tcp://0.0.0.0:{port}"/>\n</transportConnectors>'


def written(name, inside="", attributes="", port=61616, transport=OK):
    """Return the file of a broker that has no problem but those in what is given."""
    return (f'<broker xmlns="{CORE}" brokerName="{name}" brokerId="{name}" {attributes}>\n{inside}'
            f"{transport.format(port=port)}\n</broker>\n")  # fmt: skip


def linked(to="static:(tcp://localhost:2)", options="", inside=""):
    return (f'<networkConnectors>\n<networkConnector name="ab" uri="{to}" {options}>{inside}'
            "</networkConnector>\n</networkConnectors>\n")  # fmt: skip


def checked(*texts, edition=None, **more):
    net = activemq.read([SourceFile(f"{no}.xml", text) for no, text in enumerate(texts)], **more)
    return mq.check(net if edition is None else net.under(edition))


def pair(inside="", attributes="", other=None):
    return (written("A", inside, attributes, 1), other or written("B", port=2))


def lists(**listed):
    return "".join(f"<{word}><queue physicalName='{name}'/></{word}>" for word, name in listed.items())


POLICY = "<destinationPolicy><policyMap><policyEntries>{}</policyEntries></policyMap></destinationPolicy>"
STATIC, DYNAMIC, NOT = ("staticallyIncludedDestinations", "dynamicallyIncludedDestinations",
                        "excludedDestinations")  # fmt: skip
LEASE = ("<persistenceAdapter>\n<jdbcPersistenceAdapter dataSource='#db' lockKeepAlivePeriod='{}'><locker>"
         "<lease-database-locker lockAcquireSleepInterval='5000' leaseHolderId='{}'/></locker>"
         "</jdbcPersistenceAdapter></persistenceAdapter>")  # fmt: skip
KAHADB = "<kahaDB directory='a'/>"
STORED = "<persistenceAdapter><kahaDB directory='{}'/></persistenceAdapter>"
SHARED = "<persistenceAdapter><kahaDB directory='/mnt/a' {}/></persistenceAdapter>\n"

# rule -> (what has the problem, the file and line where it is told, what has it not)
CASES = {
    "left-out": (pair("<systemUsage/>\n<destinations/>"), "0.xml:2", pair("<persistenceAdapter/>")),
    "stray-content": (pair(f"<persistenceAdapter>{KAHADB}\n{KAHADB}</persistenceAdapter>"), "0.xml:3",
                      pair(f"<persistenceAdapter>{KAHADB}</persistenceAdapter>")),
    "store-relative": (pair(STORED.format("one"), other=written("B", STORED.format("one"), port=2)), "0.xml:2",
                       pair(STORED.format("one"), other=written("B", STORED.format("other"), port=2))),
    "ttl-twice": (pair(linked(options="networkTTL='2' messageTTL='2'")), "0.xml:3",
                  pair(linked(options="consumerTTL='2' messageTTL='2'"))),
    "no-target": (pair(linked("static:(tcp://gone:1)")), "0.xml:3", pair(linked())),
    "unknown-host": (pair(linked("static:(tcp://gone:1,tcp://localhost:2)")), "0.xml:3", pair(linked())),
    "port-closed": (pair(linked("static:(tcp://B:61616)")), "0.xml:3",
                    pair(linked("static:(tcp://B:2)"))),
    "no-openwire": ((written("A", transport=OK.replace("tcp:", "mqtt:")), written("B", port=2)), "0.xml:3",
                    pair()),
    "port-twice": (pair(transport_twice := OK.replace("{port}", "7") + OK.replace("{port}", "7")),
                   "0.xml:5", pair()),
    "bad-address": (pair(linked("static:(tcp://B:2")), "0.xml:3", pair(linked())),
    "illegal-character": (pair(linked("static:( tcp://localhost:2 )")), "0.xml:3", pair(linked())),
    "no-agent": (pair(linked("tcp://B:2")), "0.xml:3", pair(linked())),
    "failover-inside": (pair(linked("static:(failover:(tcp://B:2))")), "0.xml:3",
                        pair(linked("static:(failover:(tcp://B:2)?maxReconnectAttempts=0)"))),
    "excluded-static": (pair(linked(inside=lists(**{STATIC: "A.B", NOT: "A.&gt;"}))), "0.xml:3",
                        pair(linked(inside=lists(**{STATIC: "A.B", NOT: "B.&gt;"})))),
    "excluded-included": (pair(linked(inside=lists(**{DYNAMIC: "A.B", NOT: "A.&gt;"}))), "0.xml:3",
                          pair(linked(inside=lists(**{DYNAMIC: "A.&gt;", NOT: "A.B"})))),
    "filter-prefix": (pair(linked(options="destinationFilter='Queue.A,Topic.B'")), "0.xml:3",
                      pair(linked(options="destinationFilter='Queue.A,ActiveMQ.Advisory.Consumer.Topic.B'"))),
    "no-effect": (pair(linked(options="syncDurableSubs='true' dynamicOnly='true'")), "0.xml:3",
                  pair(linked(options="syncDurableSubs='true'"))),
    "static-nothing": (pair(linked(options="staticBridge='true'")), "0.xml:3",
                       pair(linked(options="staticBridge='true'", inside=lists(**{STATIC: "A"})))),
    "unknown-name": (pair(linked(options="networkTtl='3'")), "0.xml:3",
                     pair(linked(options="networkTTL='1'"))),
    "bad-value": (pair("\n<managementContext><managementContext connectorPort='1 k' \n"
                       "createMBeanServer='yes'/></managementContext>"), "0.xml:3",
                  pair("<managementContext><managementContext createMBeanServer='1' rmiServerPort='2 k'/>"
                       "</managementContext>")),
    "removed": (pair("<services>\n<masterConnector remoteURI='tcp://localhost:2'/></services>"),
                "0.xml:3", pair("<services/>")),
    "no-broker-name": ((f'<broker xmlns="{CORE}" brokerId="A"/>', written("B")), "0.xml:1", pair()),
    "same-broker-name": ((written("A"), written("A").replace('brokerId="A"', 'brokerId="B"')),
                         "0.xml:1", pair()),
    "no-broker-id": (tuple(one.replace(' brokerId="A"', "") for one in pair(linked())), "0.xml:1",
                     pair(linked())),
    "same-broker-id": ((written("A"), written("B").replace('brokerId="B"', 'brokerId="A"')),
                       "0.xml:1", pair()),
    "no-value": (pair("<managementContext/>\n", "dataDirectory='${where}/x'"), "0.xml:1",
                 pair("", "dataDirectory='${activemq.data}/x'")),
    "policy-twice": (pair(POLICY.format("<policyEntry queue='A'/>\n<policyEntry queue='A'/>")), "0.xml:3",
                     pair(POLICY.format("<policyEntry queue='A'/><policyEntry topic='A'/>"))),
    "store-unused": (pair("\n" + SHARED.format(""), "persistent='false'"), "0.xml:3",
                     pair(SHARED.format(""))),
    "filter-expression": (pair("", "", written("B", port=2).replace(
        'name="in"', 'updateClusterClients="true" updateClusterFilter="*B*"')), "1.xml:1", pair()),
    "filter-blank": (pair("", "", written("B", port=2).replace(
        'name="in"', 'updateClusterClients="true" updateClusterFilter="A.*, B.*"')), "1.xml:1", pair()),
    "lease-short": (pair(LEASE.format(9000, "a")), "0.xml:1", pair(LEASE.format(2000, "a"))),
    "lease-name": (pair(LEASE.format(1, "a"), "", written("B", LEASE.format(1, "a"))), "1.xml:1",
                   pair(LEASE.format(1, "a"), "", written("B", LEASE.format(1, "b")))),
    "lock-off": (pair(SHARED.format("useLock='false'")), "0.xml:1", pair(SHARED.format(""))),
    "own-set": (pair(SHARED.format("") + linked(), "", written("B", SHARED.format(""), port=2)),
                "0.xml:4", pair(SHARED.format("") + linked())),
    "set-static": ((*pair(linked("static:(tcp://B:2,tcp://C:3)"), "", written("B", SHARED.format(""), port=2)),
                    written("C", SHARED.format(""), port=3)), "0.xml:3",
                   (*pair(linked("masterslave:(tcp://B:2,tcp://C:3)"), "",
                          written("B", SHARED.format(""), port=2)), written("C", SHARED.format(""), port=3))),
}  # fmt: skip


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_finds_its_problem_at_its_line_and_nothing_else(rule):
    bad, place, good = CASES[rule]
    found = checked(*bad)
    assert {problem.rule for problem in found} == {rule}, found
    assert f"{found[0].file}:{found[0].line}" == place
    assert found[0].remedy
    assert found[0].rule in RULES
    assert str(found[0]).startswith(f"{found[0].level}: {place}: ")
    assert checked(*good) == []


def test_text_between_elements_is_told():
    """Asked of 5.17.2: neither text nor a second store is let pass (cvc-complex-type)."""
    found = checked(*pair("<destinations>;<queue physicalName='Q'/></destinations>"))
    assert [(one.rule, one.line) for one in found] == [("stray-content", 2)]
    assert "the text ';' stands in destinations" in found[0].what


@pytest.mark.parametrize(("options", "idle"), [
    ("staticBridge='true' destinationFilter='Queue.A'", "destinationFilter"),
    ("conduitSubscriptions='false' conduitNetworkQueueSubscriptions='true'",
     "conduitNetworkQueueSubscriptions"),
    ("consumerPriorityBase='-9'", "consumerPriorityBase"),
    ("syncDurableSubs='true' dynamicOnly='true'", "syncDurableSubs"),
])  # fmt: skip
def test_an_idle_option_is_named(options, idle):
    told = [p.what for p in checked(*pair(linked(options=options))) if p.rule == "no-effect"]
    assert any(what.startswith(f"{idle} has no effect: ") for what in told)


def test_editions_have_rules_of_their_own():
    static = pair(linked(inside=lists(**{STATIC: "A.&gt;"})))
    assert [p.rule for p in checked(*static, edition="5.5")] == ["static-wildcard"]
    assert checked(*static) == []
    slave = written("A", "<services><masterConnector remoteURI='tcp://B:2'/></services>")
    assert [p.rule for p in checked(slave, written("B", port=2), edition="5.5")] == ["pure-split-brain"]
    inside = pair(linked("static:(failover:(tcp://B:2))"))  # 5.5 has nothing better: 0 retries forever
    assert [p.rule for p in checked(*inside)] == ["failover-inside"]
    assert checked(*inside, edition="5.5") == []


def test_a_lockers_query_timeout_is_not_the_lock_timeout_of_the_database():
    """queryTimeout is in seconds, for `Statement.setQueryTimeout`; the lock timeout is H2's own, in ms."""
    locker = (
        "<persistenceAdapter><jdbcPersistenceAdapter dataSource='#db'><locker>"
        "<database-locker queryTimeout='30'/></locker></jdbcPersistenceAdapter></persistenceAdapter>"
    )
    (broker,) = activemq.read([SourceFile("a.xml", written("A", locker))]).brokers
    assert broker.store == "jdbc"
    assert broker.database_lock_timeout_ms == 500
    assert "queryTimeout" not in str(
        mq.configuration(mq.Network(mq.Broker("A", store="jdbc", database_lock_timeout_ms=700)))
    )


def test_every_rule_stands_on_the_page():
    written = page({rule: effect(rule).told for rule in EXAMPLES})
    for rule in RULES.values():
        assert f"| {rule.id} | {rule.finds} |" in written
    assert len(RULES) >= 40


def rules_of(scenario):
    """Return the rules that find something in a scenario, or in its network alone."""
    network = getattr(scenario, "network", scenario)
    return {problem.rule for what in (scenario, network) for problem in mq.check(what)}


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_run_shows_what_comes_of_a_rule(rule):
    pair = EXAMPLES[rule]()
    where = f"example= of {rule} in its @rule: Example(with the problem, mended)"
    assert rule in rules_of(pair.bad), f"the first has no such problem: {where}"
    assert rule not in rules_of(pair.good), f"the mended one has the problem, too: {where}"
    changes = effect(rule).changes
    assert changes, "its example runs like the mended one: take another, or say unshown= why"
    gains = [good - bad for fact, (bad, good) in changes.items() if fact.endswith(" receives")]
    doubles = [fact for fact in changes if fact == "received twice"]
    moved = [fact for fact in changes if fact.startswith("waiting at ") or fact.endswith(" ends as")]
    told = f"the mended one gives no consumer more, and nothing less twice or waiting: {changes}"
    assert max(gains, default=0) > 0 or doubles or moved, told


def test_the_effect_of_a_rule_is_data():
    assert effect("selector-conduit").changes == {"C2 receives": (0, 2), "waiting at B": (2, 0)}
    assert effect("duplicates").changes["received twice"] == (12, 0)
    assert effect("ttl-zero").mended.received() == {"C": 5}
    with pytest.raises(UnknownName, match="rule that a run can show"):
        effect("port-twice")


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if rule.see], ids=lambda r: r.id)
def test_what_shows_a_rule_can_be_run(rule):
    seen = mq.figure(rule.see) if ":" in rule.see else mq.recorded(rule.see)
    mq.run(seen)


def hub(count):
    """A hub and its branches: each branch has a duplex connector to the hub."""
    files = {"hub": written("hub", port=61616)}
    for no in range(1, count):
        name, port = f"branch{no:02}", 61616 + no
        up = linked("static:(tcp://hub.example.org:61616)",
                    "duplex='true' networkTTL='2' decreaseNetworkConsumerPriority='true'")  # fmt: skip
        files[name] = written(name, up.replace('name="ab"', f'name="{name}-hub"'), port=port)
    return files


def pairs(count):
    """Pairs of master and slave in a row, each with a connector to the next pair."""
    files = {}
    for no in range(count):
        for side in "ab":
            name = f"{side}{no}"
            store = f"<persistenceAdapter><kahaDB directory='/mnt/nfs/{no}'/></persistenceAdapter>\n"
            onward = linked(f"masterslave:(tcp://a{no + 1}:61616,tcp://b{no + 1}:61616)",
                            f"networkTTL='{count - 1}' duplex='true'")  # fmt: skip
            files[name] = written(name, (onward if no + 1 < count else "") + store)
    return files


def tiers(wide):
    """Producers' brokers, each with a connector to each of two in the middle, and those to the consumers'."""
    queues = f"<{NOT}><topic physicalName='&gt;'/></{NOT}>"
    files = {f"out{no}": written(f"out{no}") for no in range(2)}
    for no in range(2):
        down = linked("static:(tcp://out0:61616,tcp://out1:61616)", "networkTTL='1'", queues)
        files[f"mid{no}"] = written(f"mid{no}", down)
    for no in range(wide):
        down = linked("static:(tcp://mid0:61616,tcp://mid1:61616)", "networkTTL='2'", queues)
        files[f"in{no:02}"] = written(f"in{no:02}", down)
    return files


# network -> what is planted: file, what stood there, what stands there now, the rules and lines that tell it
PLANTED = {
    "hub": (hub(24), [
        ("branch03", "networkTTL='2'", "networkTTL='1'", {("ttl-distance", 1)}),
        ("branch07", "duplex=", "duplx=", {("unknown-name", 3)}),
        ("branch11", "61616)", "61617)", {("port-closed", 3)}),
        ("branch13", ' brokerId="branch13"', "", {("no-broker-id", 1)}),
        ("branch17", "networkTTL='2'", "networkTTL='2' prefetchSize='0'", {("prefetch-zero", 3)}),
        ("branch19", "networkTTL='2'", "networkTTL='2' conduitSubscriptions='false'",
         {("conduit-off-topics", 3)}),
    ]),
    "pairs": (pairs(11), [
        ("a2", "masterslave:", "static:", {("set-static", 3)}),
        ("b5", "/mnt/nfs/5'", "/mnt/nfs/5' useLock='false'", {("lock-off", 1)}),
        ("a7", "tcp://a8:61616,tcp://b8:61616", "tcp://a7:61616,tcp://b7:61616",
         {("own-set", 3), ("loopback", 3)}),
        ("b9", 'brokerId="b9"', 'brokerId="a1"', {("same-broker-id", 1)}),
    ]),
    "tiers": (tiers(18), [
        ("mid0", "networkTTL='1'", "networkTTL='1' staticBridge='true'", {("static-nothing", 3)}),
        ("in09", "networkTTL='2'", "networkTTL='2' suppressDuplicateQueueSubscriptions='true'",
         {("suppress-alone", 3)}),
        ("mid1", "brokerId", "advisorySupport='false' brokerId", None),
        ("in15", "static:(tcp://mid0:61616,", "static:(tcp://mod0:61616,", {("unknown-host", 3)}),
        ("out1", 'uri="tcp', 'updateClusterFilter="*" updateClusterClients="true" uri="tcp',
         {("filter-expression", 1)}),
    ]),
}  # fmt: skip


def loaded(files, tmp_path):
    for name, text in files.items():
        (tmp_path / f"{name}.xml").write_text(text)
    return tmp_path


@pytest.mark.parametrize("name", PLANTED)
def test_a_large_network_without_mistakes_has_no_problem(name, tmp_path):
    assert mq.check(loaded(PLANTED[name][0], tmp_path)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_all_planted_mistakes_are_found_and_nothing_else(name, tmp_path):
    files, mistakes = dict(PLANTED[name][0]), PLANTED[name][1]
    assert len(files) >= 20
    expected = set()
    for file, before, after, told in mistakes:
        assert before in files[file]
        files[file] = files[file].replace(before, after, 1)
        if told is None:  # whoever points at it hears nothing
            told, own = set(), [n for n, text in files.items() if file in text and n != file]
            expected |= {(n, "advisory-off", 3) for n in own}
        expected |= {(file, rule, line) for rule, line in told}
        if ("same-broker-id", 1) in told:  # told at both
            expected.add(("a1", "same-broker-id", 1))
    folder = loaded(files, tmp_path)
    with work_of_at_most(2):
        found = mq.check(folder)
    told = {(p.file.rsplit("/", 1)[-1].removesuffix(".xml"), p.rule, p.line) for p in found}
    assert told == expected


@pytest.mark.parametrize(("options", "near"), [
    ("networkTtl='3'", "networkTTL"), ("staticallyIncludedDestination='A'", "staticallyIncludedDestinations"),
])  # fmt: skip
def test_a_misspelt_name_is_refused_where_it_is_loaded(options, near, tmp_path):
    (tmp_path / "a.xml").write_text(pair(linked(options=options))[0])
    told = rf"a\.xml, line 3: networkConnector does not support \w+: the broker does not start; write {near}$"
    for verb in (mq.load, mq.run):
        with pytest.raises(BadFile, match=told):
            verb(tmp_path / "a.xml")
    assert "unknown-name" in [problem.rule for problem in mq.check(tmp_path / "a.xml")]


@pytest.mark.parametrize(("bean", "told"), [
    ("", "no bean of this file replaces placeholders: unless its container does, as Karaf, a broker takes "
     "${where} as it is written; add a "),
    ("<bean class='org.springframework.beans.factory.config.PropertyPlaceholderConfigurer'/>",
     "nothing says what ${where} is; without it the broker does not start; give it a value "),
    ("<bean class='org.springframework.beans.factory.config.PropertyPlaceholderConfigurer'><property "
     "name='location' value='a.properties'/></bean>",
     "${where} has no value here; the file names a.properties, which mqlab does not read; give it a value "),
    ("<bean class='org.springframework.beans.factory.config.PropertyPlaceholderConfigurer'><property "
     "name='properties'><bean class='org.acme.Own'/></property></bean>",
     "${where} has no value here; its value comes from the bean Own, which mqlab does not run; give it a "),
])  # fmt: skip
def test_a_placeholder_stays_as_it_is_written_where_nothing_replaces_it(bean, told):
    """A broker 5.17.2 takes it for a name without a bean that replaces it, and does not start with one."""
    text = f'<beans>{bean}<broker xmlns="{CORE}" brokerName="A" dataDirectory="${{where}}"/></beans>'
    (problem,) = (p for p in checked(text) if p.rule == "no-value")
    assert f"dataDirectory: {told}" in str(problem)


def test_the_command_checks_files_together(mqlab, tmp_path):
    bad, _, good = CASES["port-closed"]
    for texts, status in ((bad, 1), (good, 0)):
        for name, text in zip("ab", texts, strict=True):
            (tmp_path / f"{name}.xml").write_text(text)
        done = mqlab("check", "a.xml", "b.xml", "--json")
        assert done.returncode == status, done.stderr
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert [(p["file"], p["line"], p["rule"]) for p in told] == [("a.xml", 3, "port-closed")][:status]
        assert mqlab("check", ".").returncode == status
    assert "| port-closed | an address with a port" in mqlab("rules", "check").stdout


def test_the_command_says_what_comes_of_a_problem(mqlab):
    told = mqlab("check", "unsafe:lease").stdout
    assert "K receives 8; with the fix 10; waiting at B 2; with the fix 0" in told
    assert told.count("lease-short") == 1  # once, however many brokers have it
    problem = json.loads(mqlab("check", "unsafe:lease", "--json").stdout.splitlines()[0])
    assert problem["effect"] == {"K receives": [8, 10], "waiting at B": [2, 0]}
    assert "What comes of it" not in mqlab("check", "fuse:2.1").stdout


def told_of(problems, rule):
    return [problem.what + "; " + problem.remedy for problem in problems if problem.rule == rule]


def test_one_file_of_several_is_asked_who_the_others_are():
    """A broker without a name is called localhost, which is not where its connectors lead."""
    alone = written("localhost", linked("static:(tcp://localhost:5555)"), port=1)
    problems = checked(alone)
    assert [p.rule for p in problems] == ["no-target"]
    (told,) = told_of(problems, "no-target")
    assert "points to 127.0.0.1:5555, where there is no broker of these files" in told
    assert told.endswith(
        "give the file of the broker at 127.0.0.1:5555, or say who it is: hosts= (--hosts HOST=BROKER)"
    )


def test_a_broker_is_not_taken_for_the_one_that_it_connects_to():
    """Both listen on one port, as each does on its own machine."""
    text = written("A", linked("static:(tcp://elsewhere:1)"), port=1)
    (told,) = told_of(checked(text), "no-target")
    assert told.endswith(
        "give the file of the broker at elsewhere:1, or say who it is: hosts= (--hosts HOST=BROKER)"
    )


def test_a_placeholder_is_no_address():
    transport = "<transportConnectors><transportConnector uri='${{a.at}}'/></transportConnectors>"
    assert {p.rule for p in checked(written("A", transport=transport))} == {"no-value"}
    text = written("A", linked("static:(${b.uri})"), port=1)
    assert [p.rule for p in checked(text)] == ["no-value"]
    (told,) = told_of(checked(text), "no-value")
    assert told.startswith("uri: no bean of this file replaces placeholders: unless its container does")
    bean = "<bean class='Configurer'><property name='locations' value='file:a.properties'/></bean>"
    (told,) = told_of(checked(f"<beans>{bean}{text}</beans>"), "no-value")
    assert told.startswith(
        "uri: ${b.uri} has no value here; the file names file:a.properties, which mqlab does"
    )


def test_a_memory_store_beside_persistent_false_is_what_it_says():
    memory = "<persistenceAdapter>\n<memoryPersistenceAdapter/></persistenceAdapter>\n"
    assert not checked(written("A", memory, 'persistent="false"'))
