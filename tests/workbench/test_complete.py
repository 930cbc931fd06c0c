"""What of the workbench is added half fails here: a request, a part that is drawn, a fault."""

import inspect
import re
from pathlib import Path

import pytest

from mqlab.spec import action, codec, faults
from mqlab.workbench import answers, breaking, building, desk
from tests.conftest import ROOT

pytestmark = pytest.mark.complete
SCRIPTS = {path.name: path.read_text() for path in (ROOT / "mqlab/views/page").glob("*.js")}
TESTS = "\n".join(path.read_text() for folder in ("workbench", "browser", "views", "widgets")
                  for path in (ROOT / "tests" / folder).glob("*.py")
                  if path.name != Path(__file__).name)  # fmt: skip
PRODUCTS = ("activemq", "openmq", "artemis")
# Faults that no part of a picture offers, and why.
NOT_OFFERED = {
    "HostDown": "a picture shows no machine", "SlowDisk": "a picture shows no disk",
    "DatabaseDown": "a picture shows no database", "DatabaseUp": "a picture shows no database",
    "DeleteLock": "a lock file is no part", "TouchLock": "a lock file is no part",
    "CopyStore": "a store is no part", "WriteFile": "a file is no part",
    "SetEndpoint": "a listener that is no broker is no part", "Sniff": "only listens",
    "Advertise": "a listener that is no broker is no part",
    "StopAdvertising": "a listener that is no broker is no part",
    "SendAway": "only a broker with rebalancing has it",
}  # fmt: skip


def missing_of_request(kind, method):
    """Yield what a request of the page lacks, and where it goes."""
    if not (method.__doc__ or "").strip():
        yield f"a sentence: the docstring of {method.__name__} in mqlab/workbench/answers.py or desk.py"
    pressed = re.compile(rf'\b(ask|asked|do)\((\w+, )?"{kind}"[,)]')
    if not any(pressed.search(text) for text in SCRIPTS.values()):
        yield f'who asks: a button with lab.do("{kind}", ...) or ask("{kind}", ...) in mqlab/views/page'
    if not re.search(rf'\("{kind}", {{', TESTS):
        yield f'a test of it: answer("{kind}", ...) in tests/workbench'


def missing_of_part(kind):
    """Yield what a part that is drawn lacks, and where it goes."""
    palette = SCRIPTS["palette.js"]
    for table in ("PARTS", "SIGNS_OF_PARTS"):
        rows = re.search(rf"const {table} = {{(.*?)\n}};", palette, re.DOTALL)[1]
        if not re.search(rf"^  {kind}:", rows, re.MULTILINE):
            yield f"its place in the palette: a row of {table} in mqlab/views/page/palette.js"
    if f'"{kind}"' not in SCRIPTS["panel_build.js"]:
        yield "its form: buildForms in mqlab/views/page/panel_build.js"
    if f'"add": "{kind}"' not in TESTS:
        yield f'a test of it: answer("build", {{"add": "{kind}", ...}}) in tests/workbench'


OFFERED = sorted(set(re.findall(r'"do": "(\w+)"', inspect.getsource(breaking))))
FAULTS = [name for name, noun in inspect.getmembers(faults, inspect.isclass)
          if issubclass(noun, action.Action) and noun.__module__ == faults.__name__]  # fmt: skip


def missing_of_action(name):
    """Yield what an action lacks that a part offers, or a fault that should be offered, and where it goes."""
    if not any(name in codec.nouns(product) for product in PRODUCTS):
        yield "its form in lab files: a noun in mqlab/spec/faults.py (or action.py) and its row of STEPS"
    if name not in OFFERED and name not in NOT_OFFERED:
        yield (
            "who offers it: an AvailableAction in mqlab/workbench/breaking.py (or NOT_OFFERED in "
            "tests/workbench/test_complete.py, with the reason)"
        )


def whole(what, lacks):
    found = list(lacks)
    assert not found, f"{what} lacks:\n  " + "\n  ".join(found)


REQUESTS = {**answers.ANSWERS, **desk._DONE}


@pytest.mark.parametrize("kind", REQUESTS)
def test_every_request_is_asked_for_and_tested(kind):
    whole(f"the request {kind!r}", missing_of_request(kind, REQUESTS[kind]))


@pytest.mark.parametrize("kind", building._ADD)
def test_every_part_that_can_be_drawn_has_its_place(kind):
    whole(f"the part {kind!r}", missing_of_part(kind))


@pytest.mark.parametrize("name", sorted({*OFFERED, *FAULTS}))
def test_every_action_is_offered_and_has_a_form(name):
    whole(name, missing_of_action(name))


def test_what_is_half_is_told_what_it_lacks():
    def freeze(session, data):
        pass

    assert len(list(missing_of_request("freeze", freeze))) == 3
    assert len(list(missing_of_part("cluster"))) == 4
    assert len(list(missing_of_action("NoSuchAction"))) == 2
    assert {*NOT_OFFERED} <= {*FAULTS} - {*OFFERED}
