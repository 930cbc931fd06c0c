"""Through how many functions a reader of the code has to go: what three everyday calls enter of mqlab.

Counted are distinct named functions of files below `mqlab`, each once, however often it is called; a lambda, a
comprehension and a generator expression are lines of the function in which they stand. The call was made once
before, for something else: modules and tables are read by then, and no answer is kept. Bounds are what was
reached: who adds functions to these ways says why.

Of what a run enters a fifth are values that refuse what no broker takes, and names that are held against the
network; three fifths are brokers, bridges and clients, the rest clock, script and trace. What a trace says of
its scenario is written when somebody asks (`Columns.header`). `load` reads a file's elements, checks the values
of the nouns that they make, and holds its names against the product's schema, without which a misspelt one
would pass. Of its 85 functions 8 are the call and what it was given, 10 read the file as XML, 25 are the
reader of elements (one for each kind: broker, transport, connector, store, policy, virtual destination, note),
13 an address and whom it leads to, 25 the nouns and the checks that scripts have, too, 4 the names. Fifty would
be a reader without one of these.

*Why* goes from a message's events to sentences, message groups and priorities.
"""

from __future__ import annotations

import os
import sys

import pytest

import mqlab as mq
from mqlab.products.activemq.client import addresses
from mqlab.spec import uri, values

pytestmark = pytest.mark.bench
HOME = os.path.dirname(mq.__file__) + os.sep


def entered(call):
    """Return the functions of mqlab that *call* enters, as ``file: name``, in the order in which it does."""
    found = {}
    for read_once in (uri.parse, addresses.split, addresses.taken_apart, values.matches):
        read_once.cache_clear()

    def on(frame, what, _argument):
        code = frame.f_code
        if what == "call" and code.co_filename.startswith(HOME) and not code.co_name.startswith("<"):
            found[code] = f"{code.co_filename.removeprefix(HOME)}: {code.co_qualname}"

    before = sys.getprofile()
    sys.setprofile(on)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(found.values())


def held(capsys, what, found, most, goal):
    with capsys.disabled():
        print(f"\n  functions that {what} enters: {len(found)} (goal {goal})")
    assert len(found) <= most, "\n".join(found)


def test_a_run_of_a_figure(capsys):
    mq.run("fuse:2.22")
    held(capsys, "a run of fuse:2.20", entered(lambda: mq.run("fuse:2.20")), 300, 300)


def test_a_file_of_a_broker(tmp_path, capsys):
    for figure in ("fuse:2.1", "fuse:2.20"):
        mq.save(mq.figure(figure).scenario.network, f"{tmp_path}/{figure.replace(':', '-')}/")
    other, own = (tmp_path / name / "A" / "activemq.xml" for name in ("fuse-2.1", "fuse-2.20"))
    mq.load(other)
    held(capsys, "mq.load of one activemq.xml", entered(lambda: mq.load(own)), 85, 50)


def test_why_a_message_is_where_it_is(capsys):
    trace = mq.run("fuse:2.20")
    mq.explain(trace, message="P-1")  # the first question makes the trace's index
    held(capsys, "a click on why", entered(lambda: mq.explain(trace, message="P-7")), 30, 30)
