"""`mqlab schema`: JSON Schema by which editors complete lab files, made from the same shapes that read them."""

import json

import pytest
from jsonschema import Draft202012Validator

from mqlab import products, reference
from tests.files.test_shapes import CLUSTER, LAB, PAIR, WRONG, recordings

VALIDATORS = {
    name: Draft202012Validator(json.loads(json.dumps(reference.schema(name))))
    for name in (None, *reference.PRODUCTS)
}


def fits(value, product=None):
    return VALIDATORS[product].is_valid(json.loads(json.dumps(value)))


@pytest.mark.parametrize("product", VALIDATORS, ids=str)
def test_it_is_json_schema(product):
    Draft202012Validator.check_schema(VALIDATORS[product].schema)


@pytest.mark.parametrize("figure", products.figures(), ids=lambda figure: figure.id)
def test_every_figure_fits(figure):
    product = products.product_of_scenario(figure.scenario)
    body = product.write(figure.scenario)
    assert fits(body, product.name)
    assert fits(body)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_every_recording_fits(part):
    for value in recordings()[part::10]:
        product = products.product_of(value)
        body = product.write(product.read(value))
        assert fits(body, product.name), body


UNSAID = "1000000000.0"  # a whole number to JSON, not to Python


def in_json(value):
    """Return a value as a file has it; None for one that no JSON file can have."""
    try:
        written = json.loads(json.dumps(value, allow_nan=False))
    except ValueError:
        return None
    return written if written == value else None


WRITTEN = [value for base, change, _ in WRONG if (value := in_json({**base, **change})) is not None]


@pytest.mark.parametrize("value", [v for v in WRITTEN if UNSAID not in json.dumps(v)])
def test_what_the_reader_refuses_the_schema_refuses(value):
    assert not fits(value)


@pytest.mark.parametrize("base", [LAB, CLUSTER, PAIR], ids=["activemq", "openmq", "artemis"])
def test_each_product_is_told_apart(base):
    assert fits(base)
    assert not fits({**base, "actions": [*base["actions"], {"do": "dance"}]})


def test_an_editor_sees_sentence_unit_default_and_range():
    broker = reference.schema("activemq")["properties"]["connectors"]["items"]["properties"]
    assert broker["network_ttl"]["minimum"] == -1
    assert broker["network_ttl"]["default"] == 1
    assert "In hops." in broker["network_ttl"]["description"]
    assert broker["network_ttl"]["description"].startswith("networkTTL: Maximum number of hops")


def test_the_command_prints_it(mqlab):
    assert json.loads(mqlab("schema", "artemis").stdout) == json.loads(json.dumps(reference.schema("artemis")))
    assert json.loads(mqlab("schema").stdout)["$schema"] == reference.DRAFT
