"""Makes pictures of the workbench in the situations of its design: python -m tests.browser.situations FOLDER.

Each is the real workbench with a desk, at a moment that a reader would look at; for eyes, not for a test.
"""

from pathlib import Path

import mqlab as mq
from mqlab.spec import topology
from tests.browser.desk_page import open_desk
from tests.browser.sheets import main
from tests.browser.test_lab import PLAYER, go_to, panel, select
from tests.browser.test_stage import PLACE
from tests.conftest import packed

FOO = mq.Queue("TEST.FOO")
WIDE = (1440, 840)


def slow(figure):
    """Return a run of a figure whose consumers take 9 ms for each message."""
    scenario = mq.figure(figure).scenario
    actions = [mq.Consumer(name, on=on, reads=FOO, delay="9ms", at="1ms")
               for name, on in (("C1", "A"), ("C2", "B"), ("C3", "B"))]  # fmt: skip
    return mq.run(scenario.network, *actions, mq.Producer("P", on="A", sends=12, to=FOO, at="20ms"))


def hub():
    """Return a run of a hub with eleven spokes, of two queues and a topic."""
    net = topology.network("hub and spokes", 12)
    spokes = [name for name in net.names if name != "hub"]
    orders, audit, prices = mq.Queue("ORDERS"), mq.Queue("AUDIT"), mq.Topic("PRICES")
    wanted = [orders] * 3 + [audit] + [prices] * 3
    sent = [(orders, 31), (orders, 16), (prices, 21), (audit, 11)]
    reads = [mq.Consumer(f"C{i}", on=on, reads=to, delay="16ms", at="1ms")
             for i, (on, to) in enumerate(zip(spokes[4:], wanted, strict=True), 1)]  # fmt: skip
    often = {"every": "4ms", "at": "60ms", "in_background": True}
    sends = [mq.Producer(f"P{i}", on=on, sends=count, to=to, **often)
             for i, (on, (to, count)) in enumerate(zip(spokes[:4], sent, strict=True), 1)]  # fmt: skip
    return mq.run(net, *reads, *sends, until="900ms")


def mesh():
    """Return a run of a mesh of sixty brokers."""
    net = topology.network("mesh", 60)
    names = net.names
    reads = [mq.Consumer(f"K{i}", on=names[at], reads=FOO, at="1ms") for i, at in enumerate((20, 41, 59))]
    return mq.run(net, *reads, mq.Producer("P", on=names[0], sends=40, to=FOO, at="400ms", every="2ms"),
                  until="2s")  # fmt: skip


def quorum():
    """Return a run of three replicated pairs of which one master is cut off."""
    name = "quorum_2_5/three_masters_master_isolated_votes.json"
    return mq.run(next(value for path, value in packed("artemis").items() if path.endswith(name)))


def drag(page, left, right, y):
    """Draw a range from left to right (px of the page)."""
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move(right, y, steps=4)
    page.mouse.up()


def play(page):
    go_to(page, 46)
    select(page, "message", "5")


def takeover(page):
    go_to(page, 14_650)
    select(page, "client", "C")


def options(page):
    go_to(page, 130)
    page.evaluate(f"() => {{ const l = {PLAYER}.panels[0].data('links');"
                  f"{PLAYER}.select({{ kind: 'connector', name: l.name[3], node: 3 }}); }}")  # fmt: skip
    page.get_by_role("tab", name="Options").click()


def compare(page):
    go_to(page, 14)
    page.evaluate(f"() => {PLAYER}.select({{ kind: 'connector', name: 'A/linkToBrokerB', node: 0 }})")
    page.get_by_role("tab", name="Options").click()
    panel(page).get_by_label("conduitSubscriptions").uncheck()
    panel(page).get_by_role("button", name="Apply and compare").click()
    page.wait_for_function(f"() => {PLAYER}.panels.length === 2 && {PLAYER}.begun")


def space_time(page):
    play(page)
    page.get_by_label("Tracks").select_option("spacetime")
    strip = page.get_by_role("slider", name="Time").bounding_box()
    page.keyboard.down("Shift")
    drag(page, strip["x"] + 240, strip["x"] + 760, strip["y"] + 30)
    page.keyboard.up("Shift")
    go_to(page, 46)


def partition(page):
    go_to(page, 15_160)
    select(page, "broker", "S1")


def draw(page):
    page.get_by_role("button", name="Build", exact=True).click()
    page.wait_for_timeout(500)
    first = f"{PLAYER}.panels[0].data('links').name[0]"
    page.evaluate(f"() => {PLAYER}.select({{ kind: 'connector', name: {first}, node: 0 }})")


def busy(page):
    go_to(page, 420)
    page.mouse.move(*page.evaluate(PLACE, ["brokers", "M35"]))


# Picture of the design -> what is run, under which name, what is done, the window, and light or dark.
SITUATIONS = {
    "01-play": (lambda: slow("fuse:2.20"), "fuse:2.20", play, WIDE, "light"),
    "02-play-dark": (lambda: slow("fuse:2.20"), "fuse:2.20", play, WIDE, "dark"),
    "03-takeover": (lambda: mq.run("fuse:4.4"), "fuse:4.4", takeover, WIDE, "light"),
    "04-hub-12": (hub, "hub and spokes, 12", options, WIDE, "light"),
    "05-compare": (lambda: mq.run("fuse:2.20"), "fuse:2.20", compare, WIDE, "light"),
    "06-space-time": (lambda: slow("fuse:2.20"), "fuse:2.20", space_time, WIDE, "light"),
    "07-partition": (quorum, "artemis 2.5, quorum", partition, WIDE, "light"),
    "08-build": (lambda: mq.run("fuse:2.17"), "my network", draw, (1520, 780), "light"),
    "09-mesh-60": (mesh, "mesh, 60", busy, WIDE, "light"),
    "10-narrow-900": (lambda: slow("fuse:2.20"), "fuse:2.20", play, (900, 1000), "light"),
    "12-phone-600-dark": (lambda: slow("fuse:2.20"), "fuse:2.20", play, (600, 1000), "dark"),
}  # fmt: skip


def make(browser, folder, words=()):
    """Write a picture of each situation whose name holds one of the words; return the files."""
    files = []
    for name, (trace, called, act, (width, height), scheme) in SITUATIONS.items():
        if words and not any(word in name for word in words):
            continue
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.on("pageerror", lambda error: print(f"error: {error}"))
        open_desk(page, trace(), called)
        act(page)
        page.wait_for_timeout(900)
        files.append(Path(folder) / f"{name}.png")
        page.screenshot(path=files[-1])
        page.close()
    return files


if __name__ == "__main__":
    main(make)
