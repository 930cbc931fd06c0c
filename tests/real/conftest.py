"""Distributions of the real products, which Maven brings."""

import shutil

import pytest

from mqlab.real.install import install
from tests.conftest import missing
from tests.products.artemis.running import distribution


@pytest.fixture(scope="session")
def maven():
    """See to it that Maven and Java are there."""
    if not (shutil.which("mvn") and shutil.which("java")):
        missing("mvn and java are not installed")


@pytest.fixture(scope="session")
def artemis_console(maven, tmp_path_factory):
    """Return a distribution of Artemis with its web console."""
    return distribution(tmp_path_factory.mktemp("artemis"))


@pytest.fixture(scope="session")
def openmq_home(maven, tmp_path_factory):
    """Return a distribution of Open Message Queue."""
    return install("openmq:6.5.0", tmp_path_factory.mktemp("openmq")).folder
