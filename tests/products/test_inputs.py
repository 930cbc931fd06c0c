"""What one verb takes, all take; and what is changed by a path is reached by it."""

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api import artemis, openmq
from mqlab.errors import BadFile, BadValue
from mqlab.products import inputs, traffic

FOO = mq.Queue("TEST.FOO")
NET = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")), mq.Broker("B"))
ACTIONS = (mq.Consumer("C", on="B", reads=FOO), mq.Producer("P", on="A", sends=3, to=FOO))
CLUSTER = openmq.Network("b1", "b2")
SENT = (
    openmq.Consumer("C", "b2", openmq.Queue("Q")),
    openmq.Producer("P", "b1", 3, openmq.Queue("Q")),
)


def kinds(folder):
    """Return name -> arguments of everything that a verb takes."""
    figure = mq.figure("fuse:2.20")
    mq.save(figure, folder / "fig.json")
    return {
        "figure": (figure,), "id": ("fuse:2.20",), "path": (folder / "fig.json",),
        "path as text": (str(folder / "fig.json"),), "scenario": (figure.scenario,),
        "network with actions": (NET, *ACTIONS), "cluster with actions": (CLUSTER, *SENT),
        "figure of openmq": ("openmq:4-1",), "figure of artemis": ("artemis:21.1",),
        "timed figure": ("fuse:4.4",), "trace": (mq.run(figure),),
    }  # fmt: skip


NAMES = ("figure", "id", "path", "path as text", "scenario", "network with actions",
         "cluster with actions", "figure of openmq", "figure of artemis", "timed figure", "trace")  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    return kinds(tmp_path_factory.mktemp("given"))


def test_every_kind_is_tried(given):
    assert tuple(given) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_verbs_take_it(name, given, tmp_path):
    what = given[name]
    trace = mq.run(*what)
    assert sum(trace.received().values()) > 0
    mq.save(what[0], tmp_path / "x.json", *what[1:])
    assert mq.run(tmp_path / "x.json").received() == trace.received()
    assert isinstance(mq.check(*what), list)
    assert str(mq.explain(*what)) == str(mq.explain(trace)) or "real broker" in str(mq.explain(*what))
    left, *more = what
    if not more:
        assert mq.compare(left, trace).first_difference() is None
    mq.view(*what)
    lab = mq.Lab(*what)
    lab.rest()
    assert lab.trace.received() == trace.received()


@pytest.mark.parametrize("name", NAMES)
def test_what_is_of_any_product_can_be_upgraded(name, given):
    what, *actions = given[name]
    scenario = inputs.scenario_of(what, *actions)
    old, *_, new = products.product_of_scenario(scenario).edition_rules
    assert mq.upgrade(what, old, new, *actions).after is not None


def test_a_trace_is_written_whole_and_read_again(tmp_path):
    trace = mq.run("fuse:2.20")
    mq.save(trace, tmp_path / "x.parquet")
    again = mq.load(tmp_path / "x.parquet")
    assert again.digest() == trace.digest()
    assert mq.run(str(tmp_path / "x.parquet")).digest() == trace.digest()


# An option that changes something, for each product.
CHANGES = {"activemq": ("*", {"advisory_support": False}), "openmq": ("*", {"autocreate_queue": False}),
           "artemis": ("*", {"max_hops": 0})}  # fmt: skip


@pytest.mark.parametrize("figure", products.figures(), ids=lambda figure: figure.id)
def test_every_figure_has_change(figure):
    product = products.product_of_scenario(figure.scenario)
    path, options = CHANGES[product.name]
    changed = figure.change(path, **options)
    assert type(changed) is type(figure)
    assert changed.id == figure.id
    if product.write(figure.scenario).get("brokers"):
        assert changed.scenario != figure.scenario
    back = changed.change(path, **dict.fromkeys(options))
    written = product.write(back.scenario)
    assert written == product.write(figure.scenario)
    with pytest.raises(mq.MqlabError, match="unknown"):
        figure.change("nobody", **options)
    if product.write(figure.scenario).get("brokers"):
        with pytest.raises(mq.MqlabError, match="unknown"):
            figure.change(path, no_such_option=1)


def test_a_changed_cluster_does_otherwise():
    net = openmq.Network("b1", "b2").change("b2", autocreate_queue=False)
    assert net.option("b2", "imq.autocreate.queue") is False
    assert net.option("b1", "imq.autocreate.queue") is None
    assert net.change("*", model="master", master="b1").master == "b1"
    with pytest.raises(mq.MqlabError, match="unknown cluster model 'star'"):
        net.change("*", model="star")


def test_a_changed_broker_of_artemis_does_otherwise():
    pair = artemis.Network(artemis.Broker("M", "replication", "master"),
                           artemis.Broker("S", "replication", "slave"))  # fmt: skip
    changed = pair.change("S", allow_failback=True)
    assert changed.brokers[1].element("allow_failback") is True
    assert changed.brokers[0] == pair.brokers[0]
    with pytest.raises(mq.MqlabError, match="is not allowed in a replication master"):
        pair.change("M", allow_failback=True)


def test_paths_that_change_takes_actions_take():
    stop = mq.StopConnector("A/ab")
    assert stop == mq.StopConnector("ab", of="A")
    trace = mq.run(NET.change("A/ab", network_ttl=2), ACTIONS[0], mq.StopConnector("A/ab"), ACTIONS[1])
    assert trace.received() == {"C": 0}


def test_a_connector_name_that_two_brokers_use_is_an_error_that_lists_both():
    def connector(to):
        return mq.NetworkConnector("link", uri=f"static:(tcp://{to}:61616)")

    net = mq.Network(mq.Broker("A", connector("B")), mq.Broker("B", connector("A")))
    with pytest.raises(mq.MqlabError, match=r"A/link and B/link; say which, e\.g\. 'A/link'"):
        mq.run(net, mq.StopConnector("link"))
    mq.run(net, mq.StopConnector("B/link"))
    with pytest.raises(mq.MqlabError, match=r"'link', static:\(tcp://B:61616\) and static:\(tcp://C:61616\)"):
        mq.Broker("A", connector("B"), connector("C"))


@pytest.mark.parametrize("value", [
    "fuse:2.20", "openmq:4-1", "artemis:21.1", "fuse:4.4", "crash:pair",
])  # fmt: skip
def test_figures_print_as_people_read(value):
    figure = mq.figure(value) if value != "crash:pair" else mq.figures("crash")[0]
    assert str(figure) == f"{figure.id}: {figure.title}. {figure.question}"
    assert repr(figure) == f"<Figure {figure.id}: {figure.title}>"


def test_comparisons_and_events_print_as_people_read():
    both = mq.compare("fuse:2.20", "fuse:2.21")
    assert "C1: 6 and 4" in str(both)
    assert "The first events that differ:\n  2.000 ms  Merged at A" in str(both)
    assert "The runs are identical." in str(mq.compare("fuse:2.20", "fuse:2.20"))
    silent = str(mq.compare(mq.chain(2), mq.chain(2)))
    assert "No messages were sent in either run" in silent
    assert "identical" not in silent
    for product in ("fuse:4.4", "openmq:4-5a", "artemis:21.3"):
        for event in mq.run(product).events():
            assert str(event).startswith(f"{event.t / 1000:.3f} ms  {event.kind.name}")
            assert "None" not in str(event)
            assert "=" not in str(event).partition(": ")[0]


def test_a_large_run_is_told_beforehand():
    q = mq.Queue("Q")
    sends = mq.Producer("P", on="A", sends=200_000, to=q)
    told = r"a run of 200000 messages makes .* 1000000 events and takes 2 seconds or more.*mq\.replay\.run"
    with pytest.warns(UserWarning, match=told), pytest.raises(BadValue, match="more than 10 events"):
        mq.run(mq.Network(mq.Broker("A")), sends, limit=10)


def test_a_text_that_names_a_folder_is_a_network(tmp_path):
    mq.save("fuse:2.1", f"{tmp_path}/net/")
    net = mq.load(tmp_path / "net")
    story = mq.default_load(net)
    assert mq.run(str(tmp_path / "net"), *story).digest() == mq.run(net, *story).digest()


def test_a_default_load_names_addresses_as_clients_do():
    """Asked of Artemis 2.31.2: what is sent to the name of a queue of another address reaches nobody."""
    queues = (
        artemis.AddressQueue("jms.queue.Q", address="Q"),
        artemis.AddressQueue("S", routing="multicast", address="T"),
    )
    load = mq.default_load(artemis.Network(artemis.Broker("A"), queues=queues))
    assert [(one.name, str(one.reads)) for one in load[:2]] == [
        ("consumer-A-Q", "queue://Q"), ("consumer-A-T", "topic://T"),
    ]  # fmt: skip


def test_a_trace_folder_says_what_opens_it(tmp_path):
    folder = str(mq.replay.run("fuse:2.20", out=tmp_path / "run"))
    for open_ in (mq.load, mq.run, mq.replay.load, mq.replay.read):
        with pytest.raises(BadFile, match=r"mq\.replay\.open"):
            open_(folder)


@pytest.mark.parametrize(("text", "product", "action"), [
    ("Crash A at 2s", "activemq", mq.Crash("A", at="2s")),
    ("Cut A B how=hang", "activemq", mq.Cut("A", "B", how="hang")),
    ("Producer P A 3 topic://NEWS persistent=false at 1s", "activemq",
     mq.Producer("P", "A", 3, mq.Topic("NEWS"), persistent=False, at="1s")),
    ("Consumer C A queue://Q 'selector=n > 3'", "activemq",
     mq.Consumer("C", "A", mq.Queue("Q"), selector="n > 3")),
    ("Crash b1 at 20s", "openmq", mq.Crash("b1", at="20s")),
    ("Crash A at 2 s", "activemq", mq.Crash("A", at="2s")),
    ("WaitForRole M live", "artemis", artemis.WaitForRole("M", "live")),
], ids=lambda it: it if isinstance(it, str) else "")  # fmt: skip
def test_an_action_in_a_few_words(text, product, action):
    assert traffic.action_of(text, product) == action


@pytest.mark.parametrize(("text", "told"), [
    ("", "unknown action ''"), ("Crush A", "did you mean 'Crash'"), ("Crash", "expected Crash"),
    ("Crash A B", "'B' is too much"), ("Crash A by=2", "unknown key 'by'"),
    ("Crash A at soon", "not a duration"), ("Crash A at 2 parsecs", "'2parsecs' is not a duration"),
    ("Crash 'A", "a quotation mark is not closed"), ("=", "unknown action"), ("at 2s", "unknown action"),
    ("Crash A at", "'at' is too much"),
])  # fmt: skip
def test_words_that_are_no_action(text, told):
    with pytest.raises(mq.MqlabError, match=told):
        traffic.action_of(text, "activemq")
