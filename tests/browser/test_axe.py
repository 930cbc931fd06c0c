"""axe-core checks a page for those who hear it or use its keys: nothing serious of ours, light or dark."""

import re

import pytest

import mqlab as mq
from tests.browser.conftest import STEADY
from tests.browser.desk_page import READY, open_desk

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
# What axe finds serious or worse, with the parts at which it does, in all shadow roots.
SERIOUS = """async (within) => {
  const found = await axe.run(document.querySelector(within), { resultTypes: ["violations"] });
  return found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, nodes.map((node) => [node.target.join(" "), node.html.slice(0, 160)])]);
}"""


def serious(page, axe, within="body"):
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    return page.evaluate(SERIOUS, within)


@pytest.mark.sample(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_run(opened, page, axe, scheme):
    page.emulate_media(color_scheme=scheme)
    opened("fuse:4.4", 1366, 768)
    assert serious(page, axe) == []
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("tab", name="Events").click()
    assert serious(page, axe) == []


def test_the_workbench_in_all_its_tabs(page, axe):
    open_desk(page, mq.run("fuse:2.20"), "fuse:2.20")
    for tab in ("Why", "Events", "Counters", "Options", "Check", "Code"):
        page.get_by_role("tab", name=tab).click()
        page.evaluate(STEADY)
        assert serious(page, axe, "[data-mqlab=view]") == [], tab
    page.get_by_role("button", name="Inject fault").click()
    assert serious(page, axe, "[data-mqlab=view]") == [], "a menu"
    page.get_by_role("menuitem").first.click()
    page.get_by_role("button", name=re.compile("^2 Δ ")).wait_for()
    for mode, there in (
        ("Build", "[aria-label='Parts to draw']:visible"),
        ("Compare", ".mq-heading"),
    ):
        page.get_by_role("button", name=mode, exact=True).click()
        page.locator(there).first.wait_for()
        page.wait_for_function(READY)
        page.evaluate(STEADY)
        assert serious(page, axe, "[data-mqlab=view]") == [], mode
