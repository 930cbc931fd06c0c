"""Rows of options, beside what the products' classes and files of properties say: equal, or told why not."""

from __future__ import annotations

import tomllib

import pytest

from mqlab.spec.option import Option
from mqlab.spec.options import tables
from tests.real.defaults.reading import HERE, SOURCES, asked_of, read, rows_of

TOLD = tomllib.loads((HERE / "explained.toml").read_text())
PRODUCTS = read()
ROWS = [
    (product, element, row)
    for product in SOURCES
    for element, rows in rows_of(product).items()
    for row in rows.values()
]


def differences(product: str, element: str, row: Option) -> list[str]:
    """Return what a product has otherwise than a row, in each of its editions."""
    asked = PRODUCTS.get((product, element, row.guide))
    if asked is None:
        return ["no property of that name"]
    found = []
    for edition in SOURCES[product]["editions"]:
        exists = product != "activemq" or row.exists_in(edition)
        if edition not in asked or not exists:
            if (edition in asked) != exists:
                found.append(f"{edition} has {'it' if edition in asked else 'no such option'}")
            continue
        ours = row.default_for(edition)
        if not equal(ours, asked[edition][1]):
            found.append(f"{edition} has {asked[edition][1]}, the row {ours}")
    return found


def equal(ours: object, theirs: str) -> bool:
    """Whether a default is what a product prints: nothing, a truth, a number or a text."""
    if ours in (None, ""):
        return theirs in ("null", "")
    if isinstance(ours, bool):
        return theirs == str(ours).lower()
    return float(ours) == float(theirs) if isinstance(ours, (int, float)) else theirs == str(ours)


@pytest.mark.complete
@pytest.mark.parametrize("product", SOURCES)
def test_every_default_is_the_products_own_or_told(product):
    """What differs has its reason in `explained.toml`, and nothing else has one."""
    found = {
        f"{element}.{row.guide}": found
        for asked, element, row in ROWS
        if asked == product and (found := differences(product, element, row))
    }
    told = [row for reason in TOLD[product] for row in reason["rows"]]
    untold = {name: why for name, why in found.items() if name not in told}
    assert not untold, (
        f"not as {product} has it: {untold}. Ask the product again (python -m tests.real.defaults); "
        "`since` in a row names the first edition that has the option; "
        f"what differs then has its reason and its row in tests/real/defaults/explained.toml, [[{product}]]"
    )
    as_theirs = [name for name in told if name not in found]
    assert not as_theirs, f"as {product} has it: take out of tests/real/defaults/explained.toml {as_theirs}"


def test_the_table_has_all_that_is_asked():
    """Rows that have come since the products were asked last: python -m tests.real.defaults."""
    asked = {name[:2] for name in PRODUCTS}
    assert {("activemq", e) for e in SOURCES["activemq"]["elements"]} <= asked
    same = sum(not differences(*one) for one in ROWS)
    assert same >= 125, "most rows are held against the product itself"


def test_a_default_that_is_not_the_products_is_found():
    """The check can fail: a row with another default, and one of an edition that does not have the option."""
    rows = tables("activemq")["networkConnector"]
    other = Option(**{**{name: getattr(rows["duplex"], name) for name in Option.__slots__}, "default": True})
    assert differences("activemq", "networkConnector", other)[0] == "5.5 has false, the row True"
    early = Option(
        **{**{name: getattr(rows["message_ttl"], name) for name in Option.__slots__}, "since": "5.5"}
    )
    assert "5.5 has no such option" in differences("activemq", "networkConnector", early)


def test_the_products_still_say_so(maven):
    """The table is what the classes of Artemis have, asked now."""
    asked = asked_of("artemis")
    table = {(e, o): properties for (product, e, o), properties in PRODUCTS.items() if product == "artemis"}
    assert {(e, o): properties for e, rows in asked.items() for o, properties in rows.items()} == table
