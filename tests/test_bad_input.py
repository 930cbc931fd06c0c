"""What a user gets wrong, in Python and on the command line: one clear error each, and all goes on."""

import json
import sys
from pathlib import Path

import pytest

import mqlab as mq
from mqlab import cli
from mqlab.api import artemis, openmq

Q = mq.Queue("Q")
NAN, INF = float("nan"), float("inf")
LINK = "mq.NetworkConnector('ab', uri='static:(tcp://B:61616)'"
NET = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B"))
CLIENT, SESSION = mq.Client("K", uri="tcp://A:61616"), mq.OpenSession("K", "s")
STORE = mq.Network(*(mq.Broker(name, shared_store="s", host="h") for name in "AB"))
SENDS = mq.Consumer("C", "B", Q), mq.Producer("P", "A", 3, Q)
T = mq.Topic("T")
CLUSTER, PAIR = openmq.Network("b1", "b2"), artemis.Network(artemis.Broker("M"))

# What is written -> what the error says.
PYTHON = {
    # a call that lacks something, or has what nothing takes
    "mq.Broker()": "Broker: missing a required argument: 'name'; expected Broker(name, *connectors)",
    "mq.Queue()": "Queue: missing a required argument: 'name'; expected Queue(name)",
    "mq.NetworkConnector()": "NetworkConnector: missing a required argument: 'name'",
    "mq.Network(brokers=3)": "'brokers'; expected Network(*brokers)",
    "mq.Redelivery(maximun=3)": "Redelivery: unknown argument 'maximun'; did you mean 'maximum'?",
    "mq.Around(x=1)": "Around: unknown argument 'x'. Known: endpoints, lines, files.",
    "mq.Endpoint()": "Endpoint: missing a required argument: 'name'",
    "mq.Scenario()": "Scenario: missing a required argument: 'network'",
    "openmq.Broker()": "Broker: missing a required argument: 'name'",
    "artemis.Broker()": "Broker: missing a required argument: 'name'",
    "NET.without()": "without: missing a required argument: 'path'",
    "CLUSTER.under()": "under: missing a required argument: 'edition'",
    "mq.Scenario('A')": "Scenario: network is 'A'; expected e.g. mq.Network(mq.Broker('A'))",
    "mq.Scenario(NET, 7)": "Scenario: actions is 7; expected a list of actions",
    "artemis.Broker('M', keys=7)": "broker 'M', keys is 7; expected an object",
    "artemis.Broker('M', elements='x')": "broker 'M', elements is 'x'; expected an object",
    "artemis.Network(queues=7)": "queues is 7; expected a list such as [artemis.AddressQueue('ORDERS')]",
    "artemis.Network(clients=7)": "clients is 7; expected an object",
    "artemis.Network(edition=[])": "unknown Artemis version []",
    # questions to a run
    "mq.run(NET).column([])": "unknown trace column []",
    "mq.Reason('trun')": "unknown reason 'trun'; did you mean 'turn'?",
    "mq.Rule(999)": "unknown reason 999. Known: none, turn,",
    "mq.Kind('Snet')": "unknown kind of event 'Snet'; did you mean 'Sent'?",
    "mq.run(NET).event(2.5)": "no event 2.5: the trace has",
    "mq.run(NET).message_name('x')": "no message 'x': the run sent 0 messages",
    "mq.run(NET).rows_of(2.5)": "unknown message '2.5'",
    "mq.run(NET).rows_of()": "rows_of: missing a required argument: 'message'",
    # numbers of experiments
    "mq.run(NET, limit=0)": "limit is 0; expected a whole number of events, 1 or more",
    "mq.run(NET, seed='x')": "seed is 'x'; expected a whole number",
    "mq.Lab(NET, seed='x')": "seed is 'x'; expected a whole number",
    "mq.outcomes(NET, seed='x')": "seed is 'x'; expected a whole number",
    "mq.chaos(NET, seed='x')": "seed is 'x'; expected a whole number",
    "mq.faults(NET, seed='x', rate=1)": "seed is 'x'; expected a whole number",
    "mq.faults(NET, seed=1, rate='often')": "rate is 'often'; expected a number",
    "mq.sweep(NET, over='x')": "over is 'x'; expected a mapping such as {'*/*.network_ttl': [1, 2]}",
    "mq.sweep(NET, over={}, seeds='xy')": "seed is 'x'; expected a whole number",
    "mq.sweep(NET, over={}, seeds=2.5)": "seed is 2.5; expected a whole number",
    "mq.sweep(NET, over={}, processes='x')": "processes is 'x'; expected a whole number",
    "mq.survives(NET, *SENDS, processes=0)": "processes is 0; expected a whole number, 1 to",
    # names and destinations
    "mq.Queue(None)": "a queue needs a string as its name, not None; use e.g. 'TEST.FOO'",
    "mq.Queue('')": "a queue needs a name; use e.g. TEST.FOO",
    "mq.Queue(['A'])": "a queue needs a string as its name, not ['A']",
    "mq.Topic(7)": "a topic needs a string as its name, not 7",
    "mq.Topic('  ')": "a topic needs a name",
    "mq.Queue('queue://Q')": "'queue://Q' is a queue's name with a kind before it; write 'Q'",
    "mq.Topic('queue://Q')": "with a kind before it; write 'Q'",
    "mq.Destination('quue', 'Q')": "unknown destination type 'quue'; did you mean 'queue'?",
    "mq.Destination(None, 'Q')": "unknown destination type None",
    "mq.Broker('')": "broker: '' is not a name",
    "mq.Broker(None)": "broker: None is not a name",
    "mq.Broker(7)": "broker: 7 is not a name",
    "mq.Broker('A', 'B')": "broker 'A': 'B' is not a connector; use e.g. mq.NetworkConnector",
    "mq.Broker('A', mq.Broker('B'))": "is not a connector",
    "mq.Broker('A', at='left')": "broker 'A', at is 'left'; expected a list of 2",
    "mq.Broker('A', at=(0.5, NAN))": "at 2 is nan; expected a number, 0 to 1",
    "mq.Broker('A', policies=[7])": "policies is [7]; expected a list such as",
    "mq.Broker('A', policies={'queue': '>'})": "policies is {'queue': '>'}; expected a list such as",
    "mq.Broker('A', policies=[{'queue': '>', 'memory_limit': '4 cb'}])": "memoryLimit: '4 cb' is not a whole",
    "mq.Broker('A', policies=[{'queue': '>', 'max_page_siz': 1}])": "did you mean 'max_page_size'?",
    "mq.Broker('A', policies=[{}])": "a policy needs exactly one pattern: 'queue' or 'topic'",
    "mq.Broker('A', composites=[{'name': 'Q'}])": "the key 'forward_to' is missing",
    "mq.Broker('A', composites=[{'name': 'Q', 'forward_to': ['queue://Q']}])": "'Q' forwards to itself",
    "mq.Broker('A', composites=[{'name': 'Q', 'forward_to': ['queue://R']}, {'name': 'R', 'forward_to': "
    "['queue://Q']}])": "broker 'A': composite queue 'Q' forwards to itself in the end; remove it",
    "mq.NetworkConnector('ab')": "networkConnector 'ab': it has no uri; use e.g. uri='static:(tcp://B:61616)'",
    "mq.Client('k')": "Client: missing a required argument: 'uri'; expected Client(name, uri=...)",
    "mq.Producer('P', 'A', 1, Q, jms_priority=10)": "jms_priority=10; expected 0 to 9, or a list of such",
    "mq.Producer('P', 'A', 1, Q, jms_priority=[])": "expected 0 to 9, or a list of such",
    "mq.Producer('P', 'A', 1, Q, properties={'n': []})": "property 'n': the list is empty; write one value or",
    "mq.Producer('P', 'A', 1, Q, properties={'n': {}})": "property 'n' is {}; expected a string, number",
    "openmq.Send('P', 1, jms_priority=[9, 10])": "expected 0 to 9, or a list of such",
    "mq.compare()": "compare needs runs; pass one or more",
    "mq.what_if(mq.run(NET, mq.Producer('S', 'A', 1, Q), mq.Consumer('R', 'A', Q)))":
        "pass both: message='S-1', consumer='R'",
    "mq.Broker('A', persistent=True)": "unknown option 'persistent'; use store='kahadb' or store='memory'",
    "mq.Broker('A', destination_policy=[])": "unknown option 'destination_policy'; use policies=[{",
    "artemis.Broker('A', **{'ha-policy': 1})": "use mq.artemis.Broker('M', 'replication', 'master')",
    "openmq.Broker('A', **{'imq.cluster.ha': True})": "use mq.openmq.Network(..., model='enhanced')",
    "artemis.Broker('A', 'replication', 'primary')": "the replication role 'primary' is called 'master' here",
    "artemis.Broker('A', 'replication', 'backup')": "the replication role 'backup' is called 'slave' here",
    "mq.run(NET, mq.HostDown('r7'))": "no broker is on a host; use mq.Broker(..., host='r7')",
    "mq.run(NET, mq.Consumer('C', 'A', Q, client_id='id'), mq.Unsubscribe('id', 's'))":
        "'id' is the client ID of C; use mq.Close('C', unsubscribe=True)",
    "mq.run(NET, mq.Client('K', uri='tcp://A:61616', client_id='id'), mq.Unsubscribe('id', 's'))":
        "'id' is the client ID of K; use mq.Unsubscribe('K', 's')",
    "mq.what_if(mq.run(NET, mq.Producer('P', 'A', 1, Q)), message='P-1')": "pass both: message='P-1', consumer",
    "mq.save(NET, FOLDER + '/net')": "net/' for a folder of configuration files",
    "mq.save(NET, FOLDER + '/net.png')": "is written as .svg or .html; the button Save of mq.view makes a PNG",
    "mq.Redelivery(maximum=-7)": "Redelivery: maximum is -7; expected 0 or more, or -1 for unlimited",
    "mq.Redelivery(maximum='many')": "Redelivery: maximum is 'many'; expected 0 or more",
    "mq.save(NET, FOLDER + '/net.docx')": "/net.json' for a lab file, .html or .svg for a picture, .parquet",
    "mq.save(NET, FOLDER + '/net.pdf')": "net/' for a folder of configuration files",
    "mq.Network(mq.Broker('M'), mq.Broker('S', pure_slave_of='tcp://M:61616'))":
        "pure_slave_of (a name, not an address): unknown broker 'tcp://M:61616'",
    "mq.Scenario.of(NET, mq.Consumer('C', 'A', mq.Topic('T'), exclusive=True))":
        "only queues have exclusive consumers",
    "mq.Broker('A', store='floppy')": "unknown choice 'floppy'",
    "mq.Broker('A', storr='memory')": "unknown option 'storr'; did you mean 'store'?",
    "mq.Network('A')": "'A' is not an ActiveMQ broker; use mq.Broker('A')",
    "mq.Network(None)": "None is not an ActiveMQ broker",
    "mq.Network([mq.Broker('A')])": "a list of brokers is passed; pass the brokers themselves: *brokers",
    "openmq.Network([openmq.Broker('A')])": "a list of brokers is passed",
    "artemis.Network((artemis.Broker('A'),))": "a list of brokers is passed",
    "mq.Consumer('C', broker='A', reads=Q)": "Consumer: unknown field 'broker'; did you mean 'on'?",
    "mq.Consumer('C', on='A', queue=Q)": "did you mean 'reads'?",
    "mq.Producer('P', on='A', topic=Q)": "did you mean 'to'?",
    "openmq.Call('x')": "Call 'x', action is 'x'; expected an action",
    "openmq.Knock(('b1',), 'ready?')": "Knock: unknown event 'ready?'; did you mean 'ready'?",
    "CLUSTER.with_actions(openmq.Look('x', ('MaxMsgs',)))": "unknown destination property 'MaxMsgs'; did you",
    "CLUSTER.with_actions(openmq.CreateDestination(T, 'b1', options={'max_num_active_consumers': 2}))":
        "MaxNumActiveConsumers is a property of queues only",
    "CLUSTER.with_actions(openmq.UpdateDestination(T, 'b1', options={'local_delivery_preferred': True}))":
        "LocalDeliveryPreferred is a property of queues only",
    "mq.Network(mq.Broker('A'), mq.Broker('A'))": "two brokers are called 'A'",
    "mq.Network(mq.Broker('A'), edition=5.17)": "edition: 5.17 is not a string; put it in quotes: '5.17'",
    "mq.Network(mq.Broker('A'), edition='seven')": "unknown edition 'seven'",
    "mq.Network(mq.Broker('A'), edition=None)": "edition: None is not a string",
    "mq.Network(mq.Broker('A'), around='fence')": "around is 'fence'; expected mq.Around(...)",
    "mq.Endpoint('X', 'sing')": "unknown mode 'sing'",
    # connectors
    "mq.NetworkConnector('ab', uri=None)": "broker URI: None is not a string",
    "mq.NetworkConnector('ab', uri=7)": "broker URI: 7 is not a string",
    "mq.NetworkConnector('ab', uri='tcp://B:61616')": "use static:(tcp://B:61616)",
    "mq.NetworkConnector('ab', uri='static:()')": "contains no broker address; use e.g. static:(tcp://B:61616)",
    "mq.NetworkConnector('ab', uri='static:(tcp://B:99999)')": "'99999' is not a port",
    "mq.NetworkConnector('ab', uri='static:(tcp://B:1,tcp//C:1)')":
        "use e.g. tcp://B:61616\n  static:(tcp://B:1,tcp//C:1)\n" + " " * 23 + "^",
    "mq.NetworkConnector('ab', uri='static:(ssl//B:1)')": "broker URI: the colon after 'ssl' is missing",
    "mq.Network(mq.Broker('A', mq.NetworkConnector('ab', uri='static:(B)')))": "unknown broker 'B'. Known: A.",
    "mq.NetworkConnector('ab', uri='static:(tcp://B:' + '9' * 9999 + ')')": "is not a port",
    "mq.NetworkConnector('ab', uri='static:' + '(' * 9999)": "more than 100 parentheses",
    "mq.NetworkConnector(None, uri='static:(tcp://B)')": "networkConnector: None is not a name",
    f"{LINK}, network_ttl='many')": "'many' is not a whole number; use e.g. 1",
    f"{LINK}, network_ttl=1.5)": "1.5 is not a whole number",
    f"{LINK}, network_ttl=True)": "True is not a whole number",
    f"{LINK}, network_ttl=10**20)": "is out of range; expected 2147483647 or less",
    f"{LINK}, network_ttl=-2)": "-2 is too low; expected -1 or more",
    f"{LINK}, duplex='perhaps')": "'perhaps' is neither true nor false",
    f"{LINK}, duplex=1)": "1 is neither true nor false",
    f"{LINK}, conduit=True)": "unknown option 'conduit'",
    f"{LINK}, excluded_destinations=['queue://Q', 7])": "7 is not a destination",
    f"{LINK}, excluded_destinations=['cue://Q'])": "unknown destination type 'cue'",
    f"{LINK}, excluded_destinations=7)": "7 is not a list",
    f"{LINK}, destination_filter=7)": "7 is not a string",
    "mq.TransportConnector(update_cluster=1)": "did you mean 'update_cluster_",
    # clients
    "mq.Consumer('C', 'A', 'Q')": "Consumer 'C', reads is 'Q'; expected mq.Queue('TEST.FOO')",
    "mq.Consumer(None, 'A', Q)": "Consumer, name is None; expected a string",
    "mq.Consumer('C', None, Q)": "Consumer 'C', on is None; expected a string",
    "mq.Consumer('C', 'A', Q, selector=5)": "Consumer 'C', selector is 5; expected a string",
    "mq.Consumer('C', 'A', Q, selector='a =')": "selector does not parse",
    "mq.Consumer('C', 'A', Q, selector=\"a > 'b'\")": "consumer 'C': texts cannot be ordered with >",
    "mq.Consumer('C', 'A', Q, selector=\"a BETWEEN 'b' AND 'c'\")": "texts cannot be ordered with BETWEEN",
    "mq.run(artemis.Network(artemis.Broker('A')), artemis.Crash('A'), artemis.StartAs('A', {'ha': -1}))":
        "StartAs A, written, ha is -1; expected an object",
    "mq.run(NET, mq.Consumer('C', 'A', Q, acknowledge=False), mq.Commit('C'))":
        "action 2 (Commit): C has ack_mode='auto'; this action needs ack_mode='transacted'",
    "mq.run(NET, mq.Consumer('C', 'A', Q, acknowledge=False), mq.Rollback('C'))":
        "needs ack_mode='transacted' or 'client'",
    "mq.run(NET, mq.Consumer('C', 'A', Q, ack_mode='transacted', acknowledge=False), mq.Acknowledge('C'))":
        "needs ack_mode='client' or 'individual'",
    "mq.Consumer('C', 'A', Q, selector='NOT ' * 5000 + 'a')": "nested too deeply",
    "mq.Consumer('C', 'A', Q, prefetch='all')": "Consumer 'C', prefetch is 'all'",
    "mq.Consumer('C', 'A', Q, prefetch=-1)": "Consumer 'C', prefetch is -1; expected a whole number, 0 to",
    "mq.Consumer('C', 'A', Q, prefetch=INF)": "Consumer 'C', prefetch is inf",
    "mq.Consumer('C', 'A', Q, priority=200)": "priority is 200; expected a whole number, 0 to 127",
    "mq.Consumer('C', 'A', Q, priority='high')": "Consumer 'C', priority is 'high'",
    "mq.Consumer('C', 'A', Q, delay=INF)": "Consumer 'C', delay: inf is not a duration",
    "mq.Consumer('C', 'A', Q, delay='soon')": "'soon' is not a duration",
    "mq.Consumer('C', 'A', Q, ack_mode='later')": "unknown acknowledge mode 'later'",
    "mq.Consumer('C', 'A', Q, redelivery=7)": "Consumer 'C', redelivery is 7",
    "mq.Consumer('C', 'A', Q, redelivery={'most': 1})": "unknown key of redelivery 'most'",
    "mq.Consumer('C', 'A', mq.Queue('Q?consumer.prefetchSize=x'))": "is not a number",
    "mq.Consumer('C', 'A', mq.Queue('Q?consumer.prefetch=1'))": "unknown destination option",
    "mq.Producer('P', 'A', '3', Q)": "Producer 'P', sends is '3'; expected a whole number",
    "mq.Producer('P', 'A', 1.5, Q)": "Producer 'P', sends is 1.5",
    "mq.Producer('P', 'A', 10**20, Q)": "expected a whole number, 0 to 1000000000",
    "mq.Producer('P', 'A', True, Q)": "Producer 'P', sends is True",
    "mq.Producer('P', 'A', 1, None)": "Producer 'P', to is None; expected mq.Queue",
    "mq.Producer('P', 'A', 1, Q, every=INF)": "Producer 'P', every: inf is not a duration",
    "mq.Producer('P', 'A', 1, Q, every=NAN)": "Producer 'P', every: nan is not a duration",
    "mq.Producer('P', 'A', 1, Q, every=10**20)": "is not a duration",
    "mq.Producer('P', 'A', 1, Q, size=-1)": "Producer 'P', size is -1; expected a whole number, 0 to",
    "mq.Producer('P', 'A', 1, Q, size=INF)": "Producer 'P', size is inf",
    "mq.Producer('P', 'A', 1, Q, properties=7)": "properties=7; expected a mapping such as {'price': 3}",
    "mq.Producer('P', 'A', 1, Q, jms_priority='high')": "jms_priority='high'; expected 0 to 9, or a list",
    "mq.Producer('P', 'A', 1, mq.Queue('Q.>'))": "cannot send to a wildcard destination",
    "mq.Client('c', uri=None)": "client 'c': uri=None; use e.g. 'failover:",
    "mq.Client(7, uri='tcp://A:61616')": "Client, name is 7; expected a string",
    "mq.Receive('C', 0)": "Receive 'C', count is 0; expected a whole number, 1 to",
    "mq.Receive('C', '1')": "Receive 'C', count is '1'",
    "mq.WaitUntil(7)": "WaitUntil, what is 7",
    "mq.Wait(-1)": "Wait, time: -1 is not a duration: it may not be negative; use e.g. '500ms'",
    "mq.Wait('-2s')": "Wait '-2s', time: '-2s' is not a duration: it may not be negative; use e.g. '500ms'",
    "mq.Wait('-two')": "'-two' is not a duration; use e.g. '500ms'",
    "mq.Wait('9' * 99 + 's')": "is not a duration",
    "mq.Settle(quiet=None)": "Settle, quiet: None is not a duration",
    "mq.Snapshot(7)": "Snapshot, label is 7",
    # faults
    "mq.Crash(None)": "Crash, broker is None; expected a string",
    "mq.Crash('A', at='soon')": "Crash 'A', at: 'soon' is not a duration",
    "mq.Crash('A', at=INF)": "Crash 'A', at: inf is not a duration",
    "mq.Cut('A', 'A')": "'A' was given twice",
    "mq.Cut('A', how='bent')": "unknown way to cut 'bent'",
    "mq.SlowDisk('A', INF)": "SlowDisk 'A', factor is inf",
    "mq.SlowDisk('A', 0)": "factor is 0; expected a number above 0",
    "mq.Restart('A', store='old')": "unknown store 'old'",
    "mq.StartBrokers(7)": "StartBrokers: (7,); expected the brokers' names",
    "mq.StartBrokers('A', at='soon')": "at: 'soon' is not a duration",
    "mq.SampleOrders('failover:(tcp://A)', 10**9, 'x')": "count is 1000000000; expected 0 to 1000000",
    # what is not there, but was, will be, or is something else
    "mq.run(NET, mq.Producer('P', 'K', 1, Q), CLIENT)": "(Producer): 'K' opens later, as action 2; move",
    "mq.run(NET, CLIENT, mq.CloseClient('K'), mq.Producer('P', 'K', 1, Q))": "client 'K' has been closed;",
    "mq.run(NET, CLIENT, mq.Close('K'))": "'K' is a client; use mq.CloseClient('K')",
    "mq.run(NET, CLIENT, mq.Receive('K'))": "'K' is a client, and a consumer is expected",
    "mq.run(NET, *SENDS, mq.CloseClient('C'))": "'C' is a consumer; use mq.Close('C')",
    "mq.run(NET, *SENDS, mq.Unsubscribe('C', 'C'))":
        "'C' reads a queue, and only topics have durable subscriptions",
    "mq.run(NET, mq.Consumer('C', 'A', T, durable=True), mq.Unsubscribe('C', 'C'))":
        "'C' is a consumer; use mq.Close('C', unsubscribe=True)",
    "mq.run(NET, *SENDS, mq.Pause('nonsense'))": "unknown consumer or broker 'nonsense'. Known: C, A, B.",
    "mq.run(NET, mq.WaitUntil('role', {'broker': 'A', 'role': 'king'}))": "unknown role 'king'. Known: master,",
    # sessions
    "mq.run(NET, CLIENT, mq.Producer('P', 'K', 5, Q, session='no'))":
        "(Producer): unknown session of K 'no'. None exist. Open it with mq.OpenSession('K', 'no') before",
    "mq.run(NET, CLIENT, mq.Consumer('C', 'K', Q, session='no'))": "(Consumer): unknown session of K 'no'",
    "mq.run(NET, CLIENT, mq.TemporaryQueue('K', 'T', session='no'))": "unknown session of K 'no'",
    "mq.run(NET, CLIENT, SESSION, mq.Commit('K', session='t'))":
        "(Commit): unknown session of K 't'. Known: s. Open it with mq.OpenSession('K', 't', transacted=True)",
    "mq.run(NET, CLIENT, SESSION, mq.CloseClient('K'), CLIENT, mq.Commit('K', session='s'))":
        "(Commit): unknown session of K 's'. None exist",
    "mq.run(NET, CLIENT, SESSION, mq.Commit('K', session='s'))":
        "session 's' of K is not transacted; this action needs mq.OpenSession('K', 's', transacted=True)",
    "mq.run(NET, CLIENT, SESSION, mq.Rollback('K', session='s'))": "session 's' of K is not transacted",
    "mq.run(NET, CLIENT, SESSION, SESSION)": "(OpenSession): session 's' of K is open already; take a new name",
    # what cannot be meant
    "mq.Consumer('C', 'A', mq.Topic('T'), browser=True)": "it reads topic://T; only queues can be browsed",
    "mq.Consumer('C', 'A', mq.Queue('Q,topic://T'), browser=True)": "only queues can be browsed",
    "mq.CopyStore('A', 'A')": "a store is copied from one broker to another; both are 'A'",
    "mq.run(STORE, mq.DeleteLock('no'))": "unknown shared store 'no'. Known: s.",
    "mq.run(STORE, mq.HostDown('no'))": "unknown host 'no'. Known: h.",
    "mq.Broker('A', memory_limit='64mb')":
        "option of policyEntry; use mq.Broker(..., policies=[{'queue': '>', 'memory_limit': ...}])",
    "mq.Redelivery(multiplier=0, exponential=True)": "multiplier is 0; expected 1 or more",
    "mq.Redelivery(exponential='yes')": "exponential is 'yes'; expected true or false",
    "mq.Broker('A', virtual_topics='x')": "virtual topic queue://x: it is not a topic; use e.g. ['topic://x']",
    "mq.run(PAIR, mq.Client('K', uri='failover:(tcp://M:61616)'))": "is not an address of Artemis; use '(tcp://M:6",
    # verbs
    "mq.run(None)": "None cannot be run; pass a network, a figure",
    "mq.run(7)": "7 cannot be run",
    "mq.run([NET])": "cannot be run",
    "mq.run('fuse:9.99')": "unknown figure 'fuse:9.99'",
    "mq.run({})": "lab file: the key 'actions' is missing",
    "mq.run({'steps': [], 'brokers': 7})": "lab file: brokers is 7; expected a list",
    "mq.run(NET, 'go')": "'go' is not an action",
    "mq.run(NET, mq.Crash('Z'))": "unknown broker 'Z'",
    "mq.run(NET, limit='10')": "run: limit is '10'; expected a whole number",
    "mq.outcomes(NET, seeds=[1, 2])": "outcomes: seeds is [1, 2]; expected a whole number",
    "mq.compare_products(NET)": "compare_products makes the networks itself: pass actions alone",
    "mq.NetworkConnector('ab', uri='B')": "'B' is not a discovery URI; use static:(tcp://B:61616)",
    "openmq.Network(brokers=['b1'])": "pass the brokers themselves: openmq.Network('b1', 'b2'), not brokers=",
    "artemis.Network(artemis.Broker('A'), queues=('Q',))": "'Q' is not a queue; use artemis.AddressQueue(",
    "mq.run(PAIR, mq.Producer('P', on='Z', sends=1, to=mq.Queue('Q')))": "unknown broker or client 'Z'",
    "mq.survives(NET, seeds=2, processes=1)": "no message is sent, so none can be lost; add traffic",
    "mq.NetworkConnector('ab', 'static:(tcp://B:61616)', 'duplex')": "'duplex' has no name; use e.g. duplex",
    "mq.run(NET, artemis.Isolate('A'))": "(Isolate): ActiveMQ does not know this action",
    "mq.TransportConnector('ow', 'tcp://A:61616')": "it takes no address, as mqlab finds a broker by its name",
    "mq.TransportConnector(uri='tcp://A:61616')": "it takes no address, as mqlab finds a broker by its name",
    "mq.NetworkConnector('ab', 'static:( tcp://B:61616 )')": "contains a space, with which a real broker does",
    "mq.run(NET).links()[0]": "the table is empty: no message crossed a link between brokers",
    "mq.widgets.Workbench(NET, mq.Crash('A'))": "the workbench has traffic of its own; for these actions use",
    "mq.run(NET, openmq.Reload('A'))": "(Reload): ActiveMQ does not know this action; `mqlab actions` lists",
    "mq.run(NET, until='later')": "until: 'later' is not a duration",
    "mq.run(NET, until=1.5)": "until: 1.5 could be seconds or ms; use e.g. '1.5s' or '1.5ms'",
    "mq.Lab(NET).until(0.5)": "until: 0.5 could be seconds or ms",
    "mq.Consumer('C', 'A', Q, delay=0.5)": "Consumer 'C', delay: 0.5 could be seconds or ms; use e.g. '0.5s'",
    "mq.Producer('P', 'A', 1, Q, every=0.5)": "Producer 'P', every: 0.5 could be seconds or ms",
    "mq.Crash('A', at=1.5)": "Crash 'A', at: 1.5 could be seconds or ms; use e.g. '1.5s'",
    "mq.Lab(NET).step(-1)": "step: count is -1; expected a whole number, 1 or more",
    "mq.Lab(CLUSTER).step('a')": "step: count is 'a'; expected",
    "openmq.Network('b1', model='conventional')": "Known: master (conventional, with a master broker), none",
    "mq.to_networkx(CLUSTER)": "brokers of OpenMQ have no network connectors",
    "mq.Broker('A', virtual_topics=3)": 'is not a list; use e.g. ["topic://VirtualTopic.>"]',
    "mq.Producer('P', 'A', 1, Q, properties={'JMSPriority': 9})": "begin with JMS; use jms_priority=9",
    "openmq.Send('P', 1, properties={'JMSXFoo': 9})": "JMS reserves names that begin",
    "mq.Producer('P', 'A', 1, Q, properties={1: 2})": "producer 'P', properties: key 1 is not a string",
    "NET.change('A')": "change('A'): nothing to change; name an option",
    "CLUSTER.change('b1')": "change('b1'): nothing to change",
    "PAIR.change('*')": "change('*'): nothing to change",
    "mq.chaos(NET, kinds=3)": "kinds is 3; expected some of crash, stop, pause, cut",
    "mq.chaos(NET, kinds='crush')": "unknown kind of fault 'crush'; did you mean 'crash'?",
    "mq.run(NET, mq.Consumer('A', 'B', Q))": "consumer 'A': a broker has this name",
    "mq.run(CLUSTER, mq.Producer('b1', 'b2', 1, Q))": "producer 'b1': a broker has this name",
    "mq.Lab(NET).do(mq.Producer('A', 'B', 1, Q))": "producer 'A': a broker has this name",
    "mq.run({'product': 'rabbit', 'actions': []})": "unknown product 'rabbit'",
    "artemis.Broker('M', mq.NetworkConnector('ab', 'static:(tcp://B:1)'))": "brokers are connected by to=['B']",
    "mq.run(NET, until=INF)": "until: inf is not a duration",
    "mq.run(NET, jitter='much')": "jitter: 'much' is not a duration",
    "mq.run(NET, edition=5.5)": "run: edition is 5.5; expected a string, in quotes, such as '5.5'",
    "mq.run(NET, edition='5.17.banana')": "unknown edition '5.17.banana'. Known: 5.5, 5.17,",
    "mq.Network(mq.Broker('A'), edition='5.17.')": "unknown edition '5.17.'; did you mean '5.17'?",
    "mq.run('openmq:4-1', edition='5.17')": "unknown edition of OpenMQ",
    "openmq.Network('b1', edition='6.5.banana')": "unknown edition of OpenMQ '6.5.banana'",
    "mq.run({'brokers': ['b'], 'cluster': {'model': 'none'}, 'version': '6.5.banana'})":
        "unknown edition of OpenMQ '6.5.banana'",
    "mq.run({'product': 'artemis', 'brokers': [], 'version': '2.5.banana'})":
        "unknown Artemis version '2.5.banana'",
    "mq.run(NET, mq.Producer('P', 'A', 1000, Q), limit=100)": "more than 100 events",
    "mq.figure(None)": "figure: id is None; expected a string, in quotes",
    "mq.figure(2.20)": "figure: id is 2.2; expected a string, in quotes, such as 'fuse:2.20'",
    "mq.figure('2.2')": "unknown figure '2.2'; did you mean 'fuse:2.2'?",
    "mq.figure('2.15')": "unknown figure '2.15'; did you mean 'fuse:2.15a'?",
    "mq.figure('')": "unknown figure ''",
    "mq.figures('fus')": "unknown guide 'fus'; did you mean 'fuse'?",
    "mq.load('a.json', 'b.xml')": "a.json: a lab file is loaded by itself; only configuration files",
    "mq.load('a.parquet', 'b.parquet')": "a.parquet: a trace is loaded by itself; only configuration files",
    "mq.load('nowhere.json')": "nowhere.json: there is no such file",
    "mq.load(FOLDER)": "no broker configuration found in this folder",
    "mq.load('https://example.org/activemq.xml?raw=1')":
        "files are read from this machine; download activemq.xml and load it",
    "mq.load('http://example.org:8161/api/jolokia')":
        "download those that you mean. For a running broker use e.g. 'jolokia:http://example.org:8161/api/jolokia'",
    "mq.load()": "no files given; use e.g. mq.load('activemq.xml')",
    "mq.load('x.xml', values=7)": "values: 7; expected a mapping or the path of a property file",
    "mq.load('x.xml', hosts=['a'])": "hosts: ['a']; expected a mapping",
    "mq.load('x.xml', hosts={'a': 1})": "hosts: 'a': 1; expected strings for both",
    "mq.load('x.json', values={})": "values and hosts are for configuration files",
    "mq.load(7)": "7 is not a path",
    "mq.load(None)": "None is not a path",
    "mq.load('nowhere.parquet')": "nowhere.parquet: cannot be read as Parquet",
    "mq.save(7, FOLDER)": "7 cannot be run",
    "mq.save(NET, FOLDER + '/no/where.json')": "does not exist; create it first",
    "mq.save(NET, None)": "None is not a path",
    "mq.save(NET, '')": "'' is not a path",
    "mq.save(7, FOLDER + '/x.json')": "7 cannot be run",
    "mq.save(NET, FOLDER + '/a\\0b.json')": "cannot be written",
    "mq.check(7)": "7 cannot be run",
    "mq.compare('fuse:2.20', 7)": "7 cannot be run",
    "mq.view(7)": "7 cannot be run",
    "mq.upgrade('fuse:2.20', '5.17', 'new')": "unknown edition 'new'",
    "mq.upgrade('fuse:2.20', 5.17, '6.1')": "old is 5.17; expected a string, in quotes, such as '5.17'",
    "mq.upgrade('openmq:4-1', '5.17', '6.1')": "unknown edition of OpenMQ '5.17'; did you mean '5.1'?",
    "mq.explain('fuse:2.20', message='P-99')": "P-99 was never sent",
    "mq.explain('fuse:2.20', message='P-1', broker='A')": "one thing at a time",
    "mq.explain('fuse:2.20', why_not='C1')": "why_not requires message=",
    "mq.explain('fuse:2.20', consumer='Z')": "unknown consumer 'Z'",
    "mq.options('teleport')": "'teleport' in its name or description; without a word, all are listed",
    "mq.options('conduitt')": "'conduitt' in its name or description; did you mean 'conduit_",
    "mq.options('dupleks')": "did you mean 'duplex'?",
    "NET.change('Z', advisory_support=False)": "unknown broker 'Z'",
    "NET.change('ab', duplex=True)": "unknown broker 'ab'; did you mean 'A/ab'? Known: A, B.",
    "NET.change('A/zz', duplex=True)": "unknown network connector 'A/zz'. Known: A/ab.",
    "NET.change(7, duplex=True)": "7 is not a path; expected 'A' or 'A/linkToBrokerB'",
    "NET.change('A/ab', dupleks=True)": "did you mean 'duplex'?",
    # a script of calls is held against what is there as any other is
    "mq.run('fuse:4.4', mq.DatabaseDown(at='1s'))": 'there is no database, because no broker has store="jdbc"',
    "mq.run('fuse:4.4', *2 * [mq.OpenSession('C', 's')])": "session 's' of C is open already; take a new name",
    "mq.run('fuse:4.4', mq.Client('C', uri='tcp://broker2:61616'))": "'C' already exists; close that client",
    "mq.run('fuse:4.4', mq.Commit('C', session='s'))": "unknown session of C 's'. Known: session.",
    "mq.run('fuse:4.4', mq.Cut('broker2', 'broker3'))": "broker 'broker2' has no line that can be cut; give it",
    "mq.faults('fuse:4.4', seed=1, rate=-1)": "rate is -1; expected a number, 0 to",
    # other products
    "openmq.Network(7)": "7 is not an OpenMQ broker",
    "openmq.Network()": "a cluster without brokers",
    "openmq.Network('b1', model='star')": "unknown cluster model 'star'",
    "openmq.Broker('b1', autocreate_queue='perhaps')": "neither true nor false",
    "openmq.Receive('C', 'all')": "Receive 'C', count is 'all'",
    "CLUSTER.with_actions(mq.Sniff('x'))": "OpenMQ does not know this action",
    "CLUSTER.change('b9', autocreate_queue=False)": "unknown broker 'b9'",
    "artemis.Network('M')": "'M' is not an Artemis broker",
    "artemis.Broker(None)": "broker None has no name",
    "artemis.Broker('M', 'replicate')": "unknown policy 'replicate'; did you mean 'replication'?",
    "artemis.Broker('M', max_hops='far')": "max-hops: 'far' is not a whole number; use e.g. 1",
    "artemis.Broker('M', max_hops=10**20)": "expected 2147483647 or less",
    "artemis.Network(version='9')": "unknown Artemis version '9'",
    "artemis.Network(artemis.Broker('M'), max_hop=1)": "did you mean 'max_hops'?",
    "PAIR.with_actions(artemis.SlowLine('M', 'M', 'slow'))": "bytes_per_second is 'slow'",
    "PAIR.with_actions(mq.Sniff('x'))": "Artemis does not know this action; `mqlab actions` lists",
}  # fmt: skip


@pytest.fixture(scope="module")
def before():
    return mq.run(NET, mq.Producer("P", "A", 3, Q), mq.Consumer("C", "B", Q)).digest()


@pytest.mark.parametrize("written", PYTHON)
def test_what_is_wrong_in_python_is_told_by_one_clear_error(written, before, tmp_path):
    names = {**globals(), "FOLDER": str(tmp_path)}
    with pytest.raises(mq.MqlabError) as told:
        eval(written, names)
    assert PYTHON[written] in str(told.value)
    assert len(str(told.value)) < 700
    again = mq.run(NET, mq.Producer("P", "A", 3, Q), mq.Consumer("C", "B", Q))
    assert again.digest() == before


REPLICATED = artemis.Network(
    artemis.Broker("M", "replication", "master"), artemis.Broker("S", "replication", "slave")
)
WITH_MASTER = openmq.Network("b1", "b2", model="master", master="b1")


@pytest.mark.parametrize(("network", "actions", "told"), [
    (NET, [mq.Consumer("C", "A", Q), mq.Resume("C")], "Resume C: the consumer was not paused"),
    (NET, [mq.Resume("A")], "Resume A: the broker was not paused"),
    (NET, [mq.Heal("A", "B")], "Heal A B: the link was not cut"),
    (NET, [mq.Cut("A", "B"), mq.Heal("B")],
     "Heal B: the link was not cut; that between A and B is: use mq.Heal('A', 'B')"),
    (NET, [mq.Consumer("C", "A", Q), mq.Close("C"), mq.Close("C")], "Close C: the consumer was closed already"),
    (NET, [mq.Consumer("C", "A", Q), mq.Producer("P", "A", 1, Q, at="1s"), mq.Receive("C", 1)],
     "Receive C: it receives all by itself; open it with receiving=False"),
    (CLUSTER, [openmq.TakeOver("b1", "b2")],
     "TakeOver b1: b1 refused it; only brokers of an enhanced cluster take over"),
    (WITH_MASTER, [openmq.ChangeMaster("b1", "b2")],
     "ChangeMaster b1: b1 refused it; the master hands over only with "
     "imq.cluster.dynamicChangeMasterBrokerEnabled=true"),
    (mq.Network(mq.Broker("M", shared_store="s"), mq.Broker("S", shared_store="s")),
     [mq.Client("c", uri="tcp://S:61616")], "Client c: never connected; Connection refused; S is a slave, "
     "which takes no clients: name its master, too, in failover:(...)"),
    (openmq.Network("b1", "b2"), [openmq.Wait("1s"), openmq.Restart("b1")],
     "Start of b1: the broker was running already"),
    (REPLICATED, [artemis.Wait("5s"), artemis.Restart("M")], "Start of M: the broker was running already"),
    (REPLICATED, [artemis.Crash("S"), artemis.Crash("S")], "Crash S: the broker was not running"),
    (WITH_MASTER, [mq.Start(), mq.Crash("b1"), openmq.CreateDestination(Q, "b2")],
     "CreateDestination queue://Q: b2 refused it; its master b1, which notes all changes, was away"),
    (WITH_MASTER, [mq.Start(), mq.Crash("b1"), mq.Consumer("D", "b2", mq.Topic("T"), durable=True)],
     "Consumer D: b2 refused it; its master b1, which notes all changes, was away"),
], ids=lambda given: given if isinstance(given, str) else "")  # fmt: skip
def test_what_changes_nothing_is_told(network, actions, told):
    assert [str(one) for one in mq.run(network, *actions).undone] == [told]


def test_what_changes_something_is_not_told_as_in_vain():
    trace = mq.run(NET, mq.Consumer("C", "A", Q), mq.Pause("C"), mq.Resume("C"), mq.Pause("A"), mq.Resume("A"),
                   mq.Cut("A", "B"), mq.Heal("A", "B"), mq.Close("C"))  # fmt: skip
    assert trace.undone == ()


@pytest.mark.parametrize("make", [lambda: mq.Lab(NET), lambda: mq.Lab(CLUSTER), lambda: mq.Lab(PAIR)],
                         ids=["activemq", "openmq", "artemis"])  # fmt: skip
@pytest.mark.parametrize("wrong", ["x", None, 7, [], Q, mq.Crash("Z"), mq.Crash], ids=repr)
def test_what_a_lab_cannot_do_leaves_it_as_it_was(make, wrong):
    lab = make()
    digest, header, now = lab.trace.digest(), lab.trace.header, lab.now
    with pytest.raises(mq.MqlabError):
        lab.do(wrong)
    assert (lab.trace.digest(), lab.trace.header, lab.now) == (digest, header, now)
    lab.rest()


# Arguments -> what is told on standard error; {dir} is an empty folder.
SHELL = {
    "run": "Missing argument",
    "run fuse:9.99": "unknown figure 'fuse:9.99'",
    "run ''": "unknown figure ''",
    "run nowhere.json": "nowhere.json: there is no such file",
    "run {dir}": "no broker configuration found in this folder",
    "run {dir}/bad.json": "bad.json, line 1, column 2: not JSON",
    "run {dir}/list.json": "a lab file is a JSON object",
    "run {dir}/deep.json": "nested too deeply",
    "run {dir}/latin.json": "cannot be read as text",
    "run {dir}/half.json": "contains an unpaired surrogate",
    "run {dir}/nan.json": "step 1 (wait), ms is nan; expected a number",
    "run {dir}/much.json": "step 1 (send), count is 100000000000000000000",
    "run fuse:2.20 --html {dir}/no/page.html": "{dir}/no does not exist; create it first",
    "run fuse:2.20 --html {dir}": "{dir} is a folder; write the name of a file",
    "run fuse:2.20 --html /proc/page.html": "/proc/page.html: cannot be written",
    "run fuse:2.20 --trace {dir}/no/run.parquet": "{dir}/no does not exist; create it first",
    "run fuse:2.20 --trace {dir}": "{dir} is a folder",
    "run fuse:2.20 --trace {dir}/run.csv": "a trace is a Parquet file; use e.g. {dir}/run.parquet",
    "run fuse:2.20 --trace /proc/run.parquet": "/proc/run.parquet: cannot be written",
    "run fuse:2.20 fuse:2.21 --trace x": "--trace and --html need exactly one WHAT",
    "run fuse:2.20 --set": "requires an argument",
    "run fuse:2.20 --set x": "--set 'x': expected e.g. A/linkToBrokerB.network_ttl=3",
    "run fuse:2.20 --set x=1": "expected e.g. A/linkToBrokerB.network_ttl=3",
    "run fuse:2.20 --set Z.store=memory": "unknown broker 'Z'",
    "run fuse:2.20 --set A/linkToBrokerB.networkTTL=far": "'far' is not a whole number",
    "run openmq:4-1 --set broker9.autocreate_queue=1": "unknown broker 'broker9'",
    "run artemis:21.1 --set *.max_hops=far": "max-hops: 'far' is not a whole number",
    "run fuse:2.20 --edition new": "unknown edition 'new'",
    "run fuse:2.20 --edition 5.17.banana": "unknown edition '5.17.banana'",
    "run fuse:2.20 --producer P1=ORDERS@A:-5": "'-5' is not a number of messages; use e.g. --producer P1=",
    "run fuse:2.20 --producer P1=ORDERS@A:": "'' is not a number of messages",
    "explain fuse:2.20 --queue ORDERS --on A": "--queue asks about a running network; give its",
    "what-if fuse:2.20 --queue Q --consumer C1": "--queue asks about a running network; give its",
    "run openmq:4-1 --edition 5.17": "unknown edition of OpenMQ",
    "run fuse:2.20 --seed x": "Invalid value for '--seed'",
    "run fuse:2.20 --limit 0": "Invalid value for '--limit'",
    "run fuse:2.20 --limit 10": "more than 10 events",
    "run fuse:2.20 --nothing": "No such option: --nothing",
    "fly": "No such command 'fly'",
    "check fuse:9.99": "unknown figure",
    "check fuse:2.20 --values /nope": "--values is for configuration files, and fuse:2.20 is none",
    "check fuse:2.20 --hosts b=B": "--hosts is for configuration files, and fuse:2.20 is none",
    "what-if fuse:2.20 --consumer C1": "what-if needs a message, e.g. --message P-1 --consumer C1",
    "check": "Missing argument",
    "explain fuse:2.20 --message P-99": "P-99 was never sent",
    "explain fuse:2.20 --broker Q": "unknown broker 'Q'",
    "explain fuse:2.20 --why-not C1": "--why-not C1 needs a message",
    "compare fuse:2.20": "compare needs two runs",
    "upgrade fuse:2.20 --new x": "unknown edition 'x'",
    "upgrade openmq:4-1": "both versions are 6.5, so nothing differs; name another old or new one: 5.1",
    "figures fus": "did you mean 'fuse'?",
    "options teleport": "no option has 'teleport' in its name or description",
    "schema rabbitmq": "unknown product 'rabbitmq'",
    "save fuse:2.20": "Missing option '--to'",
    "save fuse:9.99 --to {dir}": "unknown figure 'fuse:9.99'",
    "save fuse:2.20 --to {dir}/no/x.json": "does not exist; create it first",
    "conform nowhere": "nowhere: there is no such file or folder",
    "lab {dir}/bad.json": "bad.json: cannot create the notebook folder",
    "sweep fuse:2.20 --over x --out {dir}/s": "--over 'x': write A/linkToBrokerB.network_ttl=1,2,3",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    step = {"brokers": [{"name": "A"}], "connectors": []}
    texts = {
        "bad": "{", "list": "[]", "deep": "[" * 100_000,
        "half": json.dumps({**step, "title": "\ud800", "steps": []}),
        "nan": json.dumps({**step, "steps": [{"do": "wait", "ms": NAN}]}),
        "much": json.dumps({**step, "steps": [
            {"do": "send", "broker": "A", "queue": "Q", "count": 10**20}]}),
    }  # fmt: skip
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "latin.json").write_bytes('{"title": "é"}'.encode("latin-1"))
    return tmp_path


@pytest.mark.parametrize("written", SHELL)
def test_what_is_wrong_on_the_command_line_is_told_without_a_traceback(written, folder, monkeypatch, capsys):
    arguments = ["" if word == "''" else word for word in written.format(dir=folder).split()]
    monkeypatch.setattr(sys, "argv", ["mqlab", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    told = capsys.readouterr()
    assert ended.value.code == 2
    assert SHELL[written].format(dir=folder) in " ".join(told.err.split())
    assert not told.out
    assert "Traceback" not in told.err
    assert not list(Path(folder).glob("*.parquet"))


def test_an_action_of_another_product_is_told_as_one(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mqlab", "run", "fuse:2.20", "--do", "ForcedFailover A at 2s"])
    with pytest.raises(SystemExit):
        cli.main()
    assert "'ForcedFailover' is an action of Artemis only" in " ".join(capsys.readouterr().err.split())


def test_there_are_150_of_them():
    assert len(PYTHON) + len(SHELL) + 21 >= 150


@pytest.mark.parametrize(("module", "name", "near"), [
    (mq, "Que", "Queue"), (openmq, "Brokr", "Broker"), (artemis, "Isolat", "Isolate"),
    (mq.widgets, "Player", "ReplayPlayer"), (mq.run(NET), "recieved", "received"),
    (mq.Lab(NET), "steps", "step"), (NET, "chnge", "change"),
    (CLUSTER, "name", "names"), (PAIR, "witout", "without"), (mq.Broker("A"), "stor", "store"),
])  # fmt: skip
def test_a_name_that_a_module_or_value_has_not_gets_the_nearest_one(module, name, near):
    with pytest.raises(AttributeError, match=f"did you mean '{near}'"):
        getattr(module, name)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: mq.Broker("A", max_hops=3), "Artemis has it (cluster-connection)"),
        (lambda: artemis.Broker("A", network_ttl=3), "ActiveMQ has it (networkConnector)"),
        (lambda: openmq.Broker("A", network_ttl=3), "ActiveMQ has it (networkConnector)"),
        (lambda: mq.run(mq.Network(mq.Broker("A")), artemis.AddressQueue("Q")), "a part of a network"),
        (lambda: mq.run_network, "did you mean 'run'?"),
    ],
)
def test_what_stands_elsewhere_is_said(make, told):
    with pytest.raises((mq.MqlabError, AttributeError)) as raised:
        make()
    assert told in str(raised.value)


def test_an_action_of_another_product_in_a_lab_file_is_said_to_be_that(tmp_path):
    file = tmp_path / "lab.json"
    file.write_text('{"brokers": [{"name": "A"}], "actions": [{"do": "ForcedFailover", "broker": "A"}]}')
    with pytest.raises(mq.MqlabError, match="'ForcedFailover' is an action of Artemis only"):
        mq.load(file)


def _shared(**stores):
    roles = {"M": "master", "S": "slave"}
    made = (artemis.Broker(n, "shared_store", roles[n], shared_store=store) for n, store in stores.items())
    return artemis.Network(*made)


@pytest.mark.parametrize(
    ("net", "told"),
    [
        (_shared(M="x", S="y"), "there is no master with its store 'y'"),
        (_shared(M="x", S="x"), None),
        (artemis.Network(artemis.Broker("S", "replication", "slave")), "there is no master in the network"),
    ],
)
def test_a_slave_without_a_master_is_told(net, told):
    found = [str(one) for one in mq.check(net) if one.rule == "group-alone"]
    assert len(found) == (told is not None)
    assert told is None or told in found[0]
