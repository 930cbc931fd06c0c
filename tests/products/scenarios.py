"""Scenarios of a product with which its labs are tried: its figures, and all its recordings, each read once."""

from __future__ import annotations

from functools import cache

import pytest

import mqlab as mq
from mqlab import products
from tests.conftest import recorded


@cache
def of_figures(product):
    return [pytest.param(figure.scenario, id=figure.id) for figure in mq.figures(product)]


@cache
def of_recordings(product):
    return [
        pytest.param(products.BY_NAME[product].read(param.values[0]), id=param.id)
        for name in (product, f"{product}-later")
        for param in recorded(name, lambda path: True)
    ]
