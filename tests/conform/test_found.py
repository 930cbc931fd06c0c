"""What the differential tester found and was mended: each shrunk recording, or experiment, agrees since."""

import pytest

from mqlab import conform
from mqlab.conform import recorded as recordings
from tests.conftest import packed, recorded


@pytest.mark.parametrize("value", recorded("found", lambda path: True))
def test_what_was_found_agrees_since(value):
    verdict = conform.compare(value)
    assert (verdict.result, verdict.details) == ("agree", ())


def test_each_is_known_by_its_name():
    names = {path.removesuffix(".json") for path in packed("found")}
    assert names <= set(recordings.names())
