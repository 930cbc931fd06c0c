"""The geometry of the stage: nothing hides another, whatever the network and its names."""

import math

import pytest

import mqlab as mq
from mqlab import products
from mqlab.spec import topology
from mqlab.views import letters, stage
from mqlab.views.boxes import Box, Curve, Raster, around, bent, between, crosses
from mqlab.views.cast import SceneParts
from mqlab.views.plan import boxes
from mqlab.views.scene import scene
from mqlab.views.sizes import MOST_IN_ROOMS, ONE_ROOM, ROOMS
from tests.plan import today

FOO = mq.Queue("TEST.FOO")
STRANGE = [
    "<b>A</b>",
    "🦜 parrot",
    "وسيط",
    "x" * 200,
    "a",
    "b&c",
    "naïve ñ",
    '"quoted"',
    "tab\there",
]


def run_of(net, sends=2):
    names = net.names
    return mq.run(net, mq.Consumer("C", on=names[-1], reads=FOO),
                  mq.Producer("P", on=names[0], sends=sends, to=FOO))  # fmt: skip


def lines_of(cast, plan):
    """Yield (curve, the cards that it may touch) of each line."""
    for link, curve in zip(cast.links, plan.links, strict=True):
        yield curve, {("broker", link.a), ("broker", link.b)}
    for wire in plan.wires:
        yield wire.curve, {(wire.kind, wire.frm), ("broker", wire.to)}


def faults(cast, plan):
    """Return what is wrong with a plan, in words; counted apart from the builder's own count."""
    cards = {("broker", no): box for no, box in plan.brokers.items()}
    cards |= {("wire", no): box for no, box in plan.clients.items()}
    cards |= {("store", no): box for no, box in plan.stores.items()}
    labels = {("label", i): label.box for i, label in enumerate(plan.labels)}
    every = list((cards | labels).items())
    found = [f"{a} on {b}" for i, (a, one) in enumerate(every) for b, other in every[:i] if one.meets(other)]
    for number, (curve, own) in enumerate(lines_of(cast, plan)):
        points = [curve.at(i / 90) for i in range(91)]
        found += [f"a line of {own} through {key}" for key, box in cards.items()
                  if key not in own and any(box.holds(point) for point in points)]  # fmt: skip
        found += [f"a line of {own} through {key}" for key, box in labels.items()
                  if plan.labels[key[1]].link != number  # a name may stand on its own line
                  and any(box.holds(point) for point in points)]  # fmt: skip
    for key, box in every:
        inside = box.left >= 0 and box.right <= plan.room.w and box.top >= 0 and box.bottom <= plan.room.h
        found += [] if inside else [f"{key} is outside"]
    return found


@pytest.mark.sample(3)
@pytest.mark.parametrize("figure", products.figures(), ids=lambda figure: figure.id)
def test_no_card_line_or_label_of_a_figure_hides_another(figure):
    cast = SceneParts(products.play(figure.scenario))
    for room in ROOMS if len(cast.standing) <= MOST_IN_ROOMS else [ONE_ROOM]:
        assert faults(cast, stage.build(cast, *room)) == []


@pytest.mark.sample(3)
@pytest.mark.parametrize("size", [2, 5, 12, 25])
@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_no_card_line_or_label_of_a_topology_hides_another(shape, size):
    cast = SceneParts(run_of(topology.network(shape, size)))
    for room in ROOMS if size <= MOST_IN_ROOMS else [ONE_ROOM]:
        assert faults(cast, stage.build(cast, *room)) == []


@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_sixty_brokers_are_discs_that_do_not_touch_and_can_be_read(shape):
    cast = SceneParts(run_of(topology.network(shape, 60)))
    plan = stage.build(cast, *ONE_ROOM)
    discs = list(plan.brokers.values())
    gaps = [math.hypot(a.x - b.x, a.y - b.y) for i, a in enumerate(discs) for b in discs[:i]]
    assert min(gaps) >= discs[0].w
    whole = around(boxes(plan))
    assert whole.w <= plan.room.w
    assert whole.h <= plan.room.h


def test_a_plan_with_a_line_through_a_card_is_found_out():
    cast = SceneParts(mq.run("fuse:4.4"))
    plan = stage.build(cast)
    broker = plan.brokers[1]
    plan.wires[0] = type(plan.wires[0])("wire", 3, 0, bent((0, broker.y), (900, broker.y), 0))
    assert any("through" in fault for fault in faults(cast, plan))


def test_strange_names_are_cut_in_the_middle_and_hide_nothing():
    net = mq.Network(*(mq.Broker(name) for name in STRANGE))
    trace = mq.run(net, mq.Consumer("C" * 200, on=STRANGE[0], reads=FOO),
                   mq.Producer("P", on=STRANGE[3], sends=1, to=FOO))  # fmt: skip
    cast = SceneParts(trace)
    assert faults(cast, stage.build(cast)) == []
    assert scene(trace).columns["brokers"]["name"] == STRANGE  # whole: the page cuts what it draws
    short = letters.fitted("broker-" + "x" * 200 + "-east-1", 120, 12)
    assert short.startswith("broker-")
    assert short.endswith("-east-1")
    assert letters.width(short, 12) <= 120


def test_names_that_differ_in_their_middle_alone_differ_when_there_is_room():
    assert letters.fitted("abc", 100, 12) == "abc"
    assert letters.fitted("", 10, 12) == ""


def test_the_client_stands_by_itself_and_its_consumer_keeps_its_name():
    columns = scene(mq.run("fuse:4.4")).columns
    assert columns["clients"]["name"] == ["C"]
    assert columns["clients"]["role"] == ["client"]
    assert columns["consumers"]["name"] == ["K"]
    assert columns["consumers"]["card"] == columns["clients"]["node"]
    assert columns["stores"]["name"] == ["sharedBrokerData"]
    assert sorted(columns["wires"]["kind"]) == ["store"] * 3 + ["wire"] * 3


@pytest.mark.slow
def test_a_producer_is_never_drawn_as_a_consumer():
    for figure in today(products.figures(), 12):
        trace = products.play(figure.scenario)
        columns = scene(trace).columns
        roles = dict(zip(columns["clients"]["node"], columns["clients"]["role"], strict=True))
        assert all(trace.names["node_role"][node] == role for node, role in roles.items())
        own = {node for node, role in enumerate(trace.names["node_role"]) if role == "consumer"}
        assert set(columns["consumers"]["node"]) <= own


def test_connectors_have_a_pipe_each_and_a_duplex_one_a_single_one():
    one = scene(mq.run("fuse:2.2")).columns["links"]
    assert (len(one["name"]), one["both"]) == (2, [False, False])
    duplex = scene(mq.run("fuse:2.3")).columns["links"]
    assert (duplex["name"], duplex["both"]) == (["linkToBrokerB"], [True])


def test_options_that_are_not_the_default_are_told_at_their_connector():
    links = scene(mq.run("fuse:2.21")).columns["links"]
    assert links["chips"] == ["networkTTL 3; conduitSubscriptions false"]
    labels = scene(mq.run("fuse:2.21")).columns["labels"]
    assert labels["kind"] == ["name", "chip", "chip"]


def test_hosts_frame_their_brokers():
    columns = scene(mq.run("fuse:4.10")).columns
    assert len(columns["hosts"]["name"]) == 8
    names = zip(columns["brokers"]["name"], columns["brokers"]["x"], columns["brokers"]["y"], strict=True)
    at = {name: (x, y) for name, x, y in names}
    hosts = [Box(*ends) for ends in zip(*(columns["hosts"][c] for c in "xywh"), strict=True)]
    assert all(sum(host.holds(point) for host in hosts) == 1 for point in at.values())


def test_the_shapes_of_the_guides_have_their_places():
    hub = stage.build(SceneParts(run_of(topology.network("hub and spokes", 12)))).brokers
    middle = hub[0]
    assert sum(box.x < middle.x for box in hub.values()) in (5, 6)
    tree = stage.build(SceneParts(run_of(topology.network("tree", 12)))).brokers
    assert min(tree.values(), key=lambda box: box.x) == tree[0]
    wide = stage.build(SceneParts(run_of(topology.network("concentrator", 12)))).brokers
    assert len({round(box.x) for box in wide.values()}) == 2
    chain = stage.build(SceneParts(run_of(topology.network("chain", 3)))).brokers
    assert len({round(box.y) for box in chain.values()}) == 1
    long = stage.build(SceneParts(run_of(topology.network("chain", 25)))).brokers
    near = [math.hypot(long[i].x - long[i + 1].x, long[i].y - long[i + 1].y) for i in range(24)]
    assert max(near) < 250


def test_a_curve_is_cut_at_the_edges_of_its_cards():
    one, other = Box(50, 50, 40, 20), Box(250, 50, 40, 20)
    line = between(one, other, bent((50, 50), (250, 50), 0))
    assert (round(line.x0), round(line.x1)) == (70, 230)
    assert crosses(line, Box(150, 50, 10, 10))
    assert not crosses(line, Box(150, 90, 10, 10))
    bow = bent((50, 50), (250, 50), 0.4)
    assert crosses(bow, Box(150, 90, 10, 10))
    assert not crosses(bow, Box(150, 50, 10, 10))


def test_a_raster_knows_which_curves_are_met():
    raster = Raster()
    raster.add(Curve(0, 0, 50, 0, 100, 0), 2)
    raster.add(Curve(0, 40, 50, 40, 100, 40), 2)
    assert raster.met_by(Curve(50, -20, 50, 0, 50, 20)) == 1
    assert raster.met_by(Curve(50, -20, 50, 10, 50, 60)) == 2
    assert raster.is_free(Box(50, 20, 10, 10))
    assert not raster.is_free(Box(50, 40, 10, 10))
