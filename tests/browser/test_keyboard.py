"""By keyboard alone: the stage is walked, a network built on it, run, broken, asked and compared."""

import re

import pytest

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.desk_page import open_desk
from tests.browser.test_build import AT, NAMES, changes
from tests.browser.test_lab import PLAYER

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]
FOCUS = """() => { let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.getAttribute('aria-label') ?? at?.textContent ?? ''; }"""

WHERE = """() => { let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at?.parentElement?.className ?? ''; }"""
CENTRE = """() => { let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const box = at.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }"""


def press(page, *keys):
    """Press keys one after the other; return what a screen reader tells of what then has the focus."""
    for key in keys:
        page.keyboard.press(key)
    return page.evaluate(FOCUS)


def tab_to(page, name, key="Tab", most=80):
    """Go on with Tab until what has the focus is called so, or begins so and goes on with a comma or a key."""
    for _ in range(most):
        if re.match(rf"{re.escape(name)}(?! [a-z])", press(page, key).strip()):
            return
    raise AssertionError(f"Tab does not reach {name!r}")


def walk_to(page, name):
    """Go on the stage by arrows, towards the broker of that name, until it has the focus."""
    if "mq-walk" not in page.evaluate(WHERE):
        tab_to_stage(page)
    been = []
    for _ in range(20):
        now = page.evaluate(FOCUS)
        if re.match(f"broker {name}\\b", now):
            return
        (x, y), (to_x, to_y) = page.evaluate(CENTRE), page.evaluate(AT, name)
        across = "ArrowRight" if to_x > x else "ArrowLeft"
        along = "ArrowDown" if to_y > y else "ArrowUp"
        ways = (across, along) if abs(to_x - x) > abs(to_y - y) else (along, across)
        first, second = ways if been.count(now) % 2 == 0 else ways[::-1]  # else one could go in a circle
        been.append(now)
        if press(page, first) == now:
            press(page, second)
    raise AssertionError(f"the arrows do not reach {name!r}")


def tab_to_stage(page):
    for _ in range(80):
        press(page, "Tab")
        if "mq-walk" in page.evaluate(WHERE):
            return
    raise AssertionError("Tab does not reach the stage")


def test_the_stage_is_walked_and_each_part_says_what_it_is(opened):
    page = opened("fuse:2.20")
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration / 2); }")
    tab_to(page, "producer P, sent 6")
    row = page.evaluate("() => Bokeh.documents[0].mqlab.player.row")
    assert press(page, "ArrowRight").startswith("broker A, 1 connector, runs, TEST.FOO 1")
    assert press(page, "ArrowRight").startswith("connector linkToBrokerB, A to B, 3 forwarded")
    assert press(page, "ArrowRight").startswith("broker B")
    assert press(page, "ArrowUp").startswith("consumer C3")
    assert press(page, "ArrowUp").startswith("consumer C3"), "there is nothing farther up"
    assert press(page, "m") == "message 6"
    press(page, "Enter")
    chosen = page.evaluate("() => Bokeh.documents[0].mqlab.player.selection")
    assert (chosen["kind"], chosen["msg"]) == ("message", 6)
    assert page.evaluate("() => Bokeh.documents[0].mqlab.player.row") == row, "no arrow was a step in time"


def test_a_network_is_built_run_broken_asked_and_compared(page):
    picture = open_desk(page, mq.run("fuse:2.1"), "fuse:2.1")
    page.locator(".mq-top").focus()
    tab_to(page, "Build")
    press(page, "Enter")
    tab_to(page, "New: ActiveMQ")
    press(page, "Enter")
    page.wait_for_function(f"() => ({NAMES})().join() === 'A'")
    page.evaluate(STEADY)
    for count in (1, 2):
        tab_to(page, "Broker")
        press(page, "Enter")
        changes(page, count)
    assert page.evaluate(NAMES) == ["A", "B", "D"], "letters but C and P, which are consumers' and producers'"
    for count, one, other in ((3, "A", "B"), (4, "B", "D")):
        tab_to(page, "Connector")
        press(page, "Enter")  # and the stage has the focus
        page.get_by_text("Go to a broker by the arrow keys and press Enter").wait_for()
        walk_to(page, one)
        press(page, "Enter")
        walk_to(page, other)
        press(page, "Enter")
        changes(page, count)
    walk_to(page, "D")
    press(page, "Enter")
    tab_to(page, "Consumer")
    press(page, "Enter")
    changes(page, 5)
    for name, count in (("Undo", 4), ("Redo", 5)):
        tab_to(page, name, "Shift+Tab")
        press(page, "Enter")
        changes(page, count)
    page.wait_for_function("() => Bokeh.documents[0].mqlab.player.element.matches(':focus-within')")
    assert [c["name"] for c in picture.desk.shown[0].body["connectors"]] == ["A_to_B", "B_to_D"]
    tab_to(page, "Options")
    assert press(page, "Enter") == "Options", "the tab of what has been opened"
    assert sorted(picture.desk.traces[0].received()) == ["C1", "C2"]
    press(page, "w")
    page.get_by_text("Why did C2 receive nothing?").wait_for()
    # Broken where the focus is: the menu lists what can be done there at this moment.
    walk_to(page, "B")
    page.evaluate("() => { const { player } = Bokeh.documents[0].mqlab; player.seek(player.duration / 3); }")
    press(page, "x")
    menu = page.get_by_role("menu")
    menu.get_by_text("Cut the link from B to D").wait_for()
    while press(page, "ArrowDown") != "Crash B":
        pass
    press(page, "Enter")
    page.get_by_role("button", name=re.compile("^2 Δ Crash B")).wait_for()
    tab_to(page, "Compare", "Shift+Tab")
    press(page, "Enter")
    page.wait_for_function(f"() => {PLAYER}.panels.length === 2 && {PLAYER}.begun")
    page.wait_for_function(f"() => {PLAYER}.element.matches(':focus-within')")  # of the document that has come
    assert [len(trace.rows(mq.Kind.Crashed)) for trace in picture.desk.traces] == [0, 1]
    press(page, "z")
    page.wait_for_function(f"() => {PLAYER}.panels.length === 1 && {PLAYER}.begun")
