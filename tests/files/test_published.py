"""Lab files of earlier versions load, and play as today's do.

`tests/recordings/lab_files.tar.xz` has them as `save` of each version wrote them: of ten scenarios every form,
by the day and the commit that wrote it first. A version that writes another form adds a file of each scenario
whose form has changed, by `mq.save(mq.figure("fuse:2.20"), "fuse-2.20/DAY-COMMIT.json")`, and packs them again.
"""

import json

import pytest

import mqlab as mq
from tests.conftest import packed

FORMS = sorted(packed("lab_files"))
NEWEST = {path.split("/")[0]: path for path in FORMS}


def loaded(path, folder):
    file = folder / path.replace("/", "-")
    file.write_text(json.dumps(packed("lab_files")[path]))
    return mq.load(file)


def story(scenario):
    return [str(event) for event in mq.run(scenario).events()]


@pytest.mark.parametrize("path", FORMS)
def test_a_lab_file_of_an_earlier_version_plays_as_it_did(path, tmp_path):
    scenario, newest = (loaded(one, tmp_path) for one in (path, NEWEST[path.split("/")[0]]))
    networks = [scenario.network, newest.network]
    if scenario.product == "activemq":  # brokers kept nothing by default while files had steps
        networks = [network.change("*", store=None) for network in networks]
    assert networks[0] == networks[1]
    assert story(scenario) == story(newest)


@pytest.mark.parametrize("path", NEWEST.values())
def test_the_newest_form_is_the_one_that_is_written(path, tmp_path):
    """Else this version writes a form that no file here has."""
    mq.save(loaded(path, tmp_path), tmp_path / "today.json")
    today, known = json.loads((tmp_path / "today.json").read_text()), packed("lab_files")[path]
    assert today == known
