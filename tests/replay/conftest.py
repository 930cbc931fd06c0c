"""One Spark session for the whole test run; a test that kills it leaves a new one to the next."""

import pytest

import mqlab as mq


@pytest.fixture(scope="session")
def spark_ends():
    """What begins a session may do so: it ends with the test run."""
    yield
    mq.replay.stop()


@pytest.fixture
def spark(spark_ends):
    return mq.replay.session()
