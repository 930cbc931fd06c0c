"""Bringing a product, with a stand-in for Maven; the fixture `openmq_home` does so with the real one."""

import os
import tarfile

import pytest

from mqlab.errors import BadValue, CannotRun, UnknownName
from mqlab.real.install import install

ANSWERS = """#!/bin/sh
for word; do case $word in -DoutputDirectory=*) into=${word#*=};; esac; done
cp "$0.tar.gz" "$into/apache-artemis-2.31.2-bin.tar.gz"
"""
REFUSES = """#!/bin/sh
echo "[ERROR] Could not find artifact $4"
exit 1
"""


@pytest.fixture
def maven_says(tmp_path, monkeypatch):
    """Return a function that puts a program called mvn in front of all others."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    made = tmp_path / "apache-artemis-2.31.2"
    for name in ("bin/artemis", "lib/artemis-server-2.31.2.jar"):
        (made / name).parent.mkdir(parents=True)
        (made / name).touch()
    with tarfile.open(programs / "mvn.tar.gz", "w:gz") as tar:
        tar.add(made, made.name)

    def put(script):
        (programs / "mvn").write_text(script)
        (programs / "mvn").chmod(0o755)

    return put


def test_a_product_is_brought_once_and_can_be_run(tmp_path, maven_says):
    maven_says(ANSWERS)
    home = install("artemis:2.31.2", tmp_path / "here")
    assert (str(home), home.folder) == ("ActiveMQ Artemis 2.31.2", tmp_path / "here" / "artemis-2.31.2")
    assert home.starter.stat().st_mode & 0o111
    maven_says(REFUSES)
    assert install("artemis:2.31.2", tmp_path / "here") == home
    assert [file.name for file in (tmp_path / "here").iterdir()] == ["artemis-2.31.2"]


def test_what_maven_does_not_bring_is_told_and_nothing_is_left(tmp_path, maven_says):
    maven_says(REFUSES)
    with pytest.raises(
        CannotRun, match=r"Maven has not brought .*apache-artemis:9\.9.*Could not find artifact"
    ):
        install("artemis:9.9", tmp_path / "here")
    assert [*(tmp_path / "here").iterdir()] == []


def test_products_and_versions_are_looked_at_first(tmp_path):
    with pytest.raises(UnknownName, match="unknown product 'rabbitmq'"):
        install("rabbitmq:3.1", tmp_path)
    for text in ("artemis", "artemis:latest", "artemis:../x"):
        with pytest.raises(BadValue, match=r"expected PRODUCT:VERSION, such as artemis:2\.31\.2"):
            install(text, tmp_path)


def test_the_command_says_where_it_is_and_what_to_set(mqlab, maven_says, tmp_path):
    maven_says(ANSWERS)
    done = mqlab("real", "--install", "artemis:2.31.2", PATH=os.environ["PATH"])
    there = tmp_path / "mqlab-products" / "artemis-2.31.2"
    assert done.stdout.splitlines() == [
        f"ActiveMQ Artemis 2.31.2 is in {there}", f"export ARTEMIS_HOME={there}"
    ]  # fmt: skip
