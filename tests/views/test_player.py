"""A picture's text is made from a template; it says what its own document would say."""

import json
import re

import pytest
from bokeh.embed import json_item

import mqlab as mq
from mqlab import views
from mqlab.errors import BadValue
from mqlab.views import player


def plain(item):
    """Return a document's text with its models numbered in the order in which they are named."""
    known = {}
    text = re.sub(r'(?<!\\)"((?:[0-9a-f]{8}-)?p\d+)"',
                  lambda found: f'"m{known.setdefault(found[1], len(known))}"', item)  # fmt: skip
    return json.loads(text)


@pytest.mark.parametrize("what", ["fuse:2.20", "fuse:4.4", "two", "odd"])
def test_the_text_of_a_picture_is_that_of_its_document(what):
    if what == "two":
        one = mq.run("fuse:2.20")
        scenes = views.scenes(mq.compare(one, mq.run("fuse:2.21")))
    else:
        scenes = views.scenes(mq.run("fuse:2.20" if what == "odd" else what))
    if what == "odd":
        scenes = [views.Scene('</script> "p1234" \\ mqlab:columns', 1.0, scenes[0].columns)]
    own = json.dumps(json_item(player.document(scenes).roots[0]))
    assert plain(player.filled(player.item(scenes), player.template(len(scenes)))) == plain(own)


def test_a_picture_sends_its_run_alone():
    """The template, forty times as large and more, comes once a page."""
    item = player.item(views.scenes(mq.run("fuse:2.20")))
    assert len(item) <= 8_000
    assert json.loads(item)["template"] == player.name_of(player.template(1))
    assert len(player.template(1)) > 40 * len(item)


def test_a_table_of_up_to_four_runs_is_one_picture():
    runs = [mq.run("fuse:2.20", seed=seed) for seed in range(5)]
    found = views.scenes(mq.compare(*runs[:4]))
    assert [one.title for one in found] == [mq.figure("fuse:2.20").title, "seed 1", "seed 2", "seed 3"]
    drawn = player.document(found)
    assert all(drawn.get_model_by_name(f"stage{end}") for end in ("", " 2", " 3", " 4"))
    with pytest.raises(BadValue, match="5 runs at a time cannot be viewed; the limit is 4"):
        mq.view(mq.compare(*runs))


def test_two_pictures_share_no_name_of_a_model():
    scenes = views.scenes(mq.run("fuse:2.1"))
    template = player.template(1)
    texts = [player.filled(player.item(scenes), template) for _ in range(2)]
    one, other = (set(re.findall(r'(?<!\\)"id": "([^"]+)"', text)) for text in texts)
    assert len(one) > 100
    assert not one & other
