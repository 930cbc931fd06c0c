"""What cannot be done is told at once, by name, and the lab goes on as if nobody had asked."""

from copy import deepcopy

import pytest

import mqlab as mq
from mqlab.api import openmq
from mqlab.engine.lab import LONGEST_REST
from mqlab.products.activemq.broker.message import Message

Q = mq.Queue("Q")
NET = mq.Network(
    mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)"), store="kahadb"),
    mq.Broker("B"),
    mq.Broker("C", shared_store="s", host="h1"),
    around=mq.Around(endpoints=(mq.Endpoint("X", "refuse"),)),
)
BEFORE = (
    mq.Consumer("K", "B", Q),
    mq.Client("c", uri="failover:(tcp://A:61616)"),
    mq.Consumer("L", "c", mq.Queue("R")),
)

# How it is written, and what the error says: the action, what came, what to write.
BAD = {
    # a fault on what is not there
    'mq.Crash("Z")': ["Crash", "unknown broker 'Z'", "Known: A, B, C"],
    'mq.Stop("Z")': ["Stop", "unknown broker 'Z'"],
    'mq.Restart("Z")': ["Restart", "unknown broker 'Z'"],
    'mq.Pause("Z")': ["Pause", "unknown consumer or broker 'Z'", "K, L, A, B, C"],
    'mq.Resume("Z")': ["Resume", "unknown consumer or broker 'Z'"],
    'mq.HostDown("h2")': ["HostDown", "unknown host 'h2'", "Known: h1"],
    'mq.SlowDisk("Z", 2)': ["SlowDisk", "unknown broker or shared store 'Z'", "A, B, C, s"],
    'mq.SlowDisk("A", 0)': ["SlowDisk", "factor is 0", "a number above 0"],
    'mq.DeleteLock("t")': ["DeleteLock", "unknown shared store 't'", "Known: s"],
    'mq.TouchLock("t")': ["TouchLock", "unknown shared store 't'"],
    "mq.DatabaseDown()": ["DatabaseDown", 'store="jdbc"', "no database"],
    "mq.DatabaseUp()": ["DatabaseUp", 'store="jdbc"'],
    'mq.CopyStore("A", "Z")': ["CopyStore", "unknown broker 'Z'"],
    'mq.SendAway("A", to="Z")': ["SendAway", "unknown broker or endpoint 'Z'"],
    'mq.SetEndpoint("Y", "refuse")': ["SetEndpoint", "unknown endpoint 'Y'", "Known: X"],
    'mq.SetEndpoint("X", "sing")': ["endpoint 'X'", "unknown mode 'sing'", "refuse"],
    'mq.StartConnector("zz")': ["StartConnector", "unknown connector 'zz'", "Known: ab"],
    'mq.StopConnector("ab", of="B")': ["StopConnector", "unknown connector of B 'ab'"],
    'mq.Close("Z")': ["Close", "unknown consumer 'Z'"],
    'mq.CloseClient("z")': ["CloseClient", "unknown client 'z'", "Known: c"],
    'mq.WaitUntil("role", {"broker": "Z", "role": "master"})': ["WaitUntil", "broker 'Z'"],
    'mq.WaitUntil("role", {})': ["WaitUntil", "the key 'broker' is missing"],
    'mq.WaitUntil("doomsday")': ["WaitUntil", "unknown thing to wait for 'doomsday'", "master"],
    # lines
    'mq.Cut("A", "C")': ["Cut", "A and C are not directly connected", "give the two ends"],
    'mq.Heal("A", "C")': ["Heal", "A and C are not directly connected"],
    'mq.Cut("c", "B")': ["Cut", "c and B are not directly connected"],
    'mq.Cut("A", "Z")': ["Cut", "unknown end of a line 'Z'", "Known: A, B, C"],
    'mq.Cut("Z")': ["Cut", "unknown end of a line", "'Z'"],
    'mq.Cut("c")': ["Cut", "unknown end of a line", "'c'", "Known: A, B, C"],
    'mq.Cut("K", "A")': ["Cut", "K and A are not directly connected", "give the two ends"],
    'mq.Cut("L", "A")': ["Cut", "'L' has no connection of its own; it uses that of client 'c'"],
    'mq.Cut("A", "A")': ["Cut", "'A' was given twice", "a link has two different ends"],
    'mq.Cut("A", how="bent")': ["Cut", "unknown way to cut 'bent'", "refuse, reset_once, hang"],
    'mq.Cut("database")': ["Cut", "unknown end of a line"],
    # times
    'mq.Crash("A", at="1s")': ["Crash", "at 1s is in the past", "5 s", "choose a later time"],
    'mq.Crash("A", at="soon")': ["Crash", "'soon'", "use e.g. '500ms'"],
    'mq.Crash("A", at=-1)': ["Crash", "-1 is not a duration"],
    'mq.Wait("-1s")': ["Wait", "'-1s'", "use e.g. '500ms'"],
    # addresses
    'mq.Client("d", uri="failover:(tcp://Z:61616)")': ["Client", "unknown host 'Z'", "A, B, C, X"],
    'mq.Client("d", uri="failover:(tcp://A:61616")': ["Client", "unbalanced parentheses"],
    'mq.Client("d", uri="tcp://A:61616)")': ["Client", "unbalanced parentheses"],
    'mq.Client("d", uri="failover:(tcp://a#1:61616)")': ["Client", "'#' ends an address", "rename the broker"],
    'mq.Client("d", uri="")': ["Client 'd', uri is ''", "not empty"],
    'mq.Client("d", uri=7)': ["client 'd'", "uri=7", "failover:(tcp://A:61616)"],
    # names
    'mq.Client("c", uri="tcp://A:61616")': ["Client", "'c' already exists", "use another name"],
    'mq.Client("A", uri="tcp://A:61616")': ["client 'A'", "a broker has this name"],
    'mq.Consumer("K", "A", Q)': ["Consumer", "'K' is open already", "close it, or take a new name"],
    'mq.Consumer("L", "c", Q)': ["Consumer", "'L' is open already"],
    'mq.Consumer("M", "Z", Q)': ["Consumer", "unknown broker or client 'Z'", "A, B, C, c"],
    # what belongs elsewhere
    'mq.Consumer("M", "b1", openmq.Queue("Q"))': ["Consumer", "unknown broker or client 'b1'"],
    'openmq.Shutdown("A")': ["Shutdown", "ActiveMQ does not know this action"],
    'openmq.ChangeMaster("A", "B")': ["ChangeMaster", "ActiveMQ does not know this action"],
    '"crash A"': ["'crash A' is not an action", "mq.Consumer"],
    'mq.Consumer("M", "c", Q, client_id="x")': ["Consumer", "client_id", "mq.Client('c', ...)"],
    'mq.Consumer("M", "c", Q, redelivery=mq.Redelivery(maximum=1))': ["redelivery", "mq.Client"],
    'mq.Consumer("M", "c", Q, connection="x")': ["Consumer", "connection", "'c' is a client"],
    'mq.Consumer("M", "A", Q, session="s")': ["Consumer", "session", "'A' is a broker"],
    'mq.Producer("P", "c", 1, Q, others=("B",))': ["Producer", "others", "'c' is a client"],
    'mq.Commit("c")': ["Commit", "'c' is a client", "session="],
    'mq.Rollback("c")': ["Rollback", "'c' is a client", "session="],
    'mq.ReceiveOnce("K")': ["ReceiveOnce", "'K' is on a broker by itself", "mq.Receive"],
    # values
    'mq.Receive("K", -1)': ["Receive 'K', count is -1", "1 to"],
    'mq.Producer("P", "A", -1, Q)': ["Producer 'P', sends is -1", "0 to"],
    'mq.Producer("P", "A", 1, mq.Queue("Q.>"))': ["producer 'P'", "wildcard"],
    'mq.Consumer("M", "A", "Q")': ["Consumer 'M'", "reads is 'Q'", "mq.Queue"],
    'mq.Consumer("M", "A", Q, selector="n >")': ["selector does not parse"],
}  # fmt: skip


@pytest.fixture(scope="module")
def running():
    lab = mq.Lab(NET)
    for action in BEFORE:
        lab.do(action)
    lab.until("5s")
    return lab


@pytest.mark.parametrize("written", BAD)
def test_what_cannot_be_done_is_told_and_the_lab_goes_on(written, running):
    lab, other = running.fork(), running.fork()
    before = lab.trace.digest(), lab.trace.header, lab.now, lab.roles
    with pytest.raises(mq.MqlabError) as told:
        lab.do(eval(written, {"mq": mq, "openmq": openmq, "Q": Q}))
    for part in BAD[written]:
        assert part in str(told.value)
    assert (lab.trace.digest(), lab.trace.header, lab.now, lab.roles) == before
    for one in (lab, other):
        one.do(mq.Producer("P", "A", 3, Q))
        one.rest()
    assert lab.trace.received() == {"K": 3, "L": 0}
    assert lab.trace.digest() == other.trace.digest()
    assert lab.trace.header == other.trace.header


def test_a_script_with_what_cannot_be_done_never_begins():
    with pytest.raises(mq.MqlabError, match=r"action 2 \(Crash\): unknown broker 'Z'"):
        mq.run(NET, mq.Consumer("K", "B", Q), mq.Crash("Z", at="2s"))


@pytest.mark.parametrize(("net", "actions", "busy"), [
    # updateClusterFilter is no regular expression: each bridge that comes up comes down again
    (mq.Network(
        mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)", duplex=True),
                  mq.TransportConnector(update_cluster_clients=True, update_cluster_filter="*A*")),
        mq.Broker("B", mq.TransportConnector(update_cluster_clients=True,
                                             update_cluster_filter="*A*"))),
     (), "connector ab of A"),
    # two durable subscribers of one name break a bridge without conduit (combined, section 1)
    (mq.Network(
        mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)",
                                           conduit_subscriptions=False)), mq.Broker("B")),
     tuple(mq.Consumer(name, "B", mq.Topic("T"), durable=True, client_id=name,
                       subscription_name="same") for name in "DE"), "connector ab of A"),
], ids=["a filter that is no expression", "two durables of one name"])  # fmt: skip
def test_a_run_that_never_rests_stops_and_says_what_kept_it_busy(net, actions, busy):
    with pytest.raises(mq.MqlabError, match=f"not at rest after 10 min.*{busy}.*set until="):
        mq.run(net, *actions)
    lab = mq.Lab(mq.Scenario.of(net, *actions))
    lab.until("30s")
    assert lab.now == 30_000_000 < LONGEST_REST
    assert len(mq.run(net, *actions, until="30s")) == len(lab.trace)


def test_a_broker_that_no_address_can_name_says_which_sign_of_the_name_it_is():
    link = mq.NetworkConnector("west", uri="static:(tcp://west end:61616)")
    trace = mq.run(mq.Network(mq.Broker("A", link), mq.Broker("west end")), until="1s")
    told = " ".join(str(event) for event in trace.events())
    failed = trace.detail(trace.rows(mq.Kind.Failed)[0])["message"]
    assert "Illegal character ' ' in static:(tcp://west end:61616)" in failed, told
    assert "rename the broker" in failed


def test_a_fork_copies_all_that_a_message_says():
    message = Message(1, mq.Queue("Q"), 0, 5, True, {"a": 1}, {"JMSPriority": 9})
    for value, name in enumerate(Message.__slots__):
        setattr(message, name, value)
    made = deepcopy(message)
    assert made is not message
    assert [getattr(made, name) for name in Message.__slots__] == [*range(len(Message.__slots__))]
