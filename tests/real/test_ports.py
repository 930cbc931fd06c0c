"""Ports of networks that are made side by side: a broker that starts late still has its own."""

import socket

import pytest

from mqlab.errors import CannotRun
from mqlab.real import ports
from mqlab.real.processes import LOOPBACK


@pytest.fixture
def few(monkeypatch):
    """Ten ports to choose from, at least eight of them free."""
    for low in range(31_000, 31_900, 10):
        if sum(ports._is_free(LOOPBACK, port) for port in range(low, low + 10)) >= 8:
            monkeypatch.setattr(ports, "PORTS", range(low, low + 10))
            monkeypatch.setattr(ports, "_TAKEN", set())
            return
    raise AssertionError("this machine has no eight free ports in a row of ten")


def test_nobody_listens_yet_and_still_no_port_is_given_twice(few):
    mine = ports.take(LOOPBACK, 4)
    assert not set(mine) & set(ports.take(LOOPBACK, 4))
    ports.give_back(mine)
    assert set(ports.take(LOOPBACK, 4)) <= set(ports.PORTS)


def test_a_port_at_which_somebody_listens_is_left_alone(few):
    with socket.socket() as other:
        (port,) = ports.take(LOOPBACK, 1)
        ports.give_back([port])
        other.bind((LOOPBACK, port))
        other.listen()
        assert port not in ports.take(LOOPBACK, 7)


def test_too_many_are_told_and_none_is_kept(few):
    with pytest.raises(CannotRun, match="no 11 ports are free between"):
        ports.take(LOOPBACK, 11)
    assert len(ports.take(LOOPBACK, 8)) == 8
