"""What a page takes with it is short, and nothing is lost on the way."""

import base64
import json
import math
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mqlab as mq
from mqlab import views
from mqlab.spec.topology import network
from mqlab.spec.values import told_time
from mqlab.views import player, scene
from mqlab.views.pack import LEFT_OUT, pack

FOO = mq.Queue("TEST.FOO")


def numbers(body, place, count, scale):
    """Return the numbers that stand at a place, and the place after them."""
    found, last = [], 0
    for _ in range(count):
        value = shift = 0
        while True:
            byte, place = body[place], place + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        last += -(value + 1) // 2 if value & 1 else value // 2
        found.append(last / scale if scale > 1 else last)
    return found, place


def unpack(text):
    """Read it as the page does."""
    whole = zlib.decompress(base64.b64decode(text))
    head, _, body = whole.partition(b"\0")
    tables, words, place = {}, [], 0
    for one in json.loads(head):
        table = tables.setdefault(one["table"], {})
        if "plain" in one:
            table[one["column"]] = one["plain"]
            continue
        if "written" in one:
            shown = dict(zip(*tables["clock"].values(), strict=True))
            table[one["column"]] = [told_time(shown[play] * 1000) for play in table["play"]]  # as unpack.js
            continue
        if "ends" in one:
            ends, place = numbers(body, place, one["n"], 1)
            play, starts = tables["clock"]["play"], table["t0"]
            table[one["column"]] = [
                math.floor((play[end] - start) * 1e4 + 0.5) / 1e4
                for end, start in zip(ends, starts, strict=True)
            ]
            continue
        if "others" in one:
            places, place = numbers(body, place, one["n"], 1)
            rows, place = numbers(body, place, one["others"], 1)
            others, place = numbers(body, place, one["others"], one["scale"])
            column = [tables["clock"]["play"][at] for at in places]
            for row, other in zip(rows, others, strict=True):
                column.insert(row, other)
            table[one["column"]] = column
            continue
        if "patterns" not in one:
            table[one["column"]], place = numbers(body, place, one["n"], one["scale"])
            continue
        codes, place = numbers(body, place, one["n"], 1)
        told = one.get("numbers")
        if told is None:
            told, place = numbers(body, place, one["count"], one["scale"])
        table[one["column"]] = None
        words.append((one["column"] == "what", one["column"], table, codes, told, one["patterns"]))
    for _, name, table, codes, told, patterns in sorted(words, key=lambda word: word[0]):
        told, table[name] = iter(told), []
        for row, code in enumerate(codes):
            text = ""
            for place, letter in enumerate(patterns[code]):
                if letter == "\x07":
                    ms = next(told)
                    in_s = patterns[code].startswith(" s", place + 1)
                    text += f"{round(ms * 1000) / 1e6:.15g}" if in_s else f"{ms:.15g}"
                else:
                    text += str(table[LEFT_OUT[ord(letter) - 1]][row]) if "\x01" <= letter < "\x07" else letter
            table[name].append(text)
    return tables


@pytest.mark.parametrize("id", ["fuse:2.20", "fuse:4.4", "openmq:4-4", "artemis:21.1.2", "article:conduit"])
def test_a_scene_comes_back_as_it_was(id):
    columns = scene(mq.run(id)).columns
    assert unpack(pack(columns)) == columns


NAME = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs", "Cc")), max_size=8)
ROW = st.tuples(NAME, NAME, st.integers(-1, 10**9), st.floats(0, 1e6).map(lambda x: round(x, 4)), NAME)


@given(st.lists(ROW, max_size=12))
def test_any_columns_come_back(rows):
    """Names with digits, with signs of our own, and with other names in them."""
    columns = {
        "what": [f"{msg}: {a} took 12.5 ms over {b}, {a}" for a, b, msg, _, _ in rows],
        "frm": [a for a, *_ in rows], "to": [b for _, b, *_ in rows], "link": [c for *_, c in rows],
        "msg": [row[2] for row in rows], "play": [row[3] for row in rows],
    }  # fmt: skip
    columns |= {name: ["" for _ in rows] for name in LEFT_OUT if name not in columns}
    tables = {"events": columns}
    assert unpack(pack(tables)) == tables


@pytest.mark.slow
@pytest.mark.parametrize("jitter", [0, 2])
def test_a_hop_is_at_most_sixteen_bytes_and_a_page_two_and_a_half_million(jitter):
    """A network that keeps time, and one in which no two hops take the same."""
    net = network("chain", 5)
    trace = mq.run(net, mq.Consumer("C", on=net.names[-1], reads=FOO),
                   mq.Consumer("D", on=net.names[2], reads=FOO),
                   mq.Producer("P", on=net.names[0], sends=1000, to=FOO), seed=3, jitter=jitter)  # fmt: skip
    one = scene(trace)
    assert len(views.html(trace)) <= 2_500_000
    hops = len(one.columns["flights"]["t0"])
    text = player.packed([one])
    print(f"{len(text):,} bytes of text, {len(text) / hops:.1f} a hop of {hops:,} ({len(trace):,} events)")
    assert hops > 5000
    assert 0.75 * len(text) / hops < 16  # bytes; as text they are a third more
