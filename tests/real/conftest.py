"""Distributions of the real products, which Maven brings."""

import shutil

import pytest

from tests.conftest import missing
from tests.products.activemq.running import copied
from tests.products.artemis.running import distribution

OPENMQ = "org.glassfish.mq:mq-distribution:6.5.0:zip"


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
    folder = tmp_path_factory.mktemp("openmq")
    shutil.unpack_archive(copied(OPENMQ, folder), folder)
    for program in (folder / "mq" / "bin").iterdir():  # an archive of this kind has no modes
        program.chmod(0o755)
    return folder / "mq"
