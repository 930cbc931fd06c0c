"""One Spark session for the whole test run, started when the first test asks for it."""

import pytest

import mqlab as mq


@pytest.fixture(scope="session")
def spark():
    yield mq.replay.session()
    mq.replay.stop()
