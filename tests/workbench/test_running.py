"""The picture of a running network: what stands there, read again, and what is told when that fails."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import mqlab as mq
from mqlab import products
from mqlab.errors import BadValue, CannotRun
from mqlab.views.changes import StateChange
from tests.conftest import inflated
from tests.products.activemq.jolokia import Jolokia, recorded
from tests.products.activemq.running import PASSWORD


@pytest.fixture
def consoles():
    """Return broker -> its management, of three brokers that were recorded."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(Jolokia(recorded(name)["answers"])) for name in "ABC"}


@pytest.fixture
def live(consoles):
    return mq.load(*(one.address() for one in consoles.values()))


def beans(consoles, broker, kind):
    """Yield the recorded attributes of a broker's MBeans, which a test may change."""
    return consoles[broker].answers[kind]["value"].values()


def rows(columns, what):
    """Return a, b, c of the changes of one kind."""
    changes = columns["changes"]
    every = zip(*(changes[name] for name in ("what", "a", "b", "c")), strict=True)
    return [row[1:] for row in every if row[0] == what]


def test_it_shows_what_stands_there(live):
    (scene,) = mq.view(live).scenes
    columns = scene.columns
    assert scene.title.endswith(" UTC: 20 messages waiting")
    assert columns["brokers"]["name"] == ["A", "B", "C"]
    assert columns["clients"]["name"] == ["C1", "hung", "C2", "C2 (2)", "C3"]
    assert columns["links"]["name"] == ["ab", "bc"]
    assert columns["links"]["both"] == [True, False]
    assert "forwarded 4" in columns["labels"]["text"]
    assert "conduitSubscriptions false" in columns["labels"]["text"]
    assert [up for _, up, _ in rows(columns, StateChange.bridge)] == [1, 1, 1]
    depths = [broker for broker, _, _ in rows(columns, StateChange.put)]
    assert (depths.count(0), depths.count(1), depths.count(2)) == (11, 9, 0)
    held = rows(columns, StateChange.out)
    assert [columns["nodes"]["name"][0], len(held)] == ["A", 2]
    assert len(rows(columns, StateChange.stands)) == 9  # five of clients, four of bridges


def test_its_counters_are_those_of_the_brokers(consoles, live):
    for bean in beans(consoles, "A", "queues"):
        bean |= {"QueueSize": 70_000, "EnqueueCount": 90_000}
    view = mq.view(mq.load(*(one.address() for one in consoles.values())))
    columns = view.scenes[0].columns
    lines = list(zip(columns["counter_lines"]["broker"], columns["counter_lines"]["destination"], strict=True))
    place = lines.index(("A", "queue://ORDERS"))
    names = columns["counter_names"]["name"]
    counts = {name: columns["counter_steps"]["abcdefg"[no]][place] for no, name in enumerate(names)}
    assert (counts["QueueSize"], counts["EnqueueCount"], counts["ConsumerCount"]) == (70_000, 90_000, 0)
    assert len(rows(columns, StateChange.put)) == 3 * 200 + 9
    assert columns["meta"]["title"][0].endswith(
        "210009 messages waiting (drawn: up to 200 messages of a queue)"
    )


def test_it_is_read_again_with_rates(consoles, live):
    view = mq.view(live)
    before = view.columns
    for name in "ABC":
        for bean in beans(consoles, name, "brokers"):
            bean["UptimeMillis"] += 4000
    for bean in beans(consoles, "A", "bridges"):
        bean["DequeueCounter"] += 10
    for bean in beans(consoles, "A", "queues"):
        bean["EnqueueCount"] += 2
    for bean in beans(consoles, "C", "consumers"):
        bean["DequeueCounter"] = 7
    view.refresh()
    columns = view.scenes[0].columns
    assert view.columns != before
    assert "forwarded 14, 2.5/s" in columns["labels"]["text"]
    assert "queue://ORDERS (0.5/s in, 0.0/s out)" in columns["counter_lines"]["destination"]
    assert {count for _, count, _ in rows(columns, StateChange.before)} == {0, 7}


def test_a_bridge_that_is_gone_is_down(consoles, live):
    view = mq.view(live)
    consoles["B"].answers["bridges"]["value"] = {
        name: bean for name, bean in consoles["B"].answers["bridges"]["value"].items() if "duplex" in name
    }
    net = mq.load(*(one.address() for one in consoles.values()))
    assert net.broker("B").connectors == ()  # no file says where it leads
    view.refresh()
    assert view.scenes[0].columns["links"]["name"] == ["ab"]


def apart(call):
    """Return what *call* does in a thread of its own: in this one a browser's tests may have a running loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(call).result()


def test_it_follows_its_network_in_a_notebook(consoles, live):
    async def seen():
        view = mq.view(live)
        view.follow(every=0.01)
        first = view.network
        for _ in range(500):
            await asyncio.sleep(0.01)
            if view.network is not first:
                break
        read_again = view.network is not first
        for one in consoles.values():
            one.mode = "forbidden"
        for _ in range(500):
            await asyncio.sleep(0.01)
            if view.problem:
                break
        following = view.following
        view.close()
        await asyncio.sleep(0.05)
        return view, read_again, following.cancelled()

    view, read_again, ended = apart(lambda: asyncio.run(seen()))
    assert read_again
    assert "may not read management (403)" in view.problem
    assert view.scenes[0].columns["brokers"]["name"] == ["A", "B", "C"]  # as it was
    assert ended
    with pytest.raises(CannotRun, match="403"):
        view.refresh()


def test_in_a_script_it_is_read_when_asked(live):
    assert apart(lambda: mq.view(live).following) is None


def test_it_is_saved_as_a_page_and_a_picture(live, tmp_path):
    page, picture = mq.save(live, tmp_path / "now.html") + mq.save(live, tmp_path / "now.svg")
    texts = [Path(path).read_text() for path in (page, picture)]
    assert "hung" in inflated(texts[0]) + texts[0]
    assert "received 0" in texts[1]
    assert not [text for text in texts if PASSWORD in text or "s3cret" in text]


def test_with_actions_it_is_a_run(live):
    view = mq.view(live, mq.Consumer("more", on="A", reads=mq.Queue("ORDERS")))
    assert view.trace.received()["more"] == 5


def test_only_a_running_network_is_observed():
    with pytest.raises(BadValue, match="was not read while it runs"):
        products.observed(mq.chain(2))
    with pytest.raises(CannotRun, match="was not read while it runs"):
        products.reread(mq.chain(2))
