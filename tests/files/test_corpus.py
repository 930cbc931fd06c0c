"""Configuration files that nobody here wrote: each is loaded or refused with a reason, and saved to the letter.

The files are those of `shared/corpus` (its README says where they are from), which are not part of the project.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from random import Random

import pytest

import mqlab as mq
from mqlab import products
from mqlab.api import artemis
from mqlab.errors import MqlabError
from mqlab.files.parsing import document_of
from mqlab.products.activemq import files as activemq
from mqlab.products.activemq.files.policies import KNOWN
from mqlab.products.artemis.files import broker_xml
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.origin import SourceFile
from mqlab.spec.rows import OPTIONS as ACTIVEMQ
from tests.conftest import SHARED

CORPUS = SHARED / "corpus"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"{CORPUS}: the files are not part of the project")
FILES = {"activemq": 173, "artemis": 219}  # product -> how many files there are at least
# Product -> the files that mqlab refuses, each with what the real product says to it: it refuses all of them.
REFUSED = tomllib.loads(Path(__file__).with_name("refused.toml").read_text(encoding="utf-8"))
SEED, CHANGES = 26, 4  # of each file
COMMENT = re.compile("<!--.*?-->", re.DOTALL)


def files(product):
    return sorted((CORPUS / product).rglob("*.xml"))


@cache
def loaded(path):
    """Return the network of a file or a folder, or what the error says."""
    try:
        return mq.load(path)
    except MqlabError as error:
        return str(error)


def networks(product):
    """Return path -> network, of the files of a product and of the examples with several brokers."""
    folders = sorted({path.parent.parent for path in files(product) if path.parent.name.startswith("server")})
    found = {path: loaded(path) for path in (*files(product), *folders)}
    return {path: net for path, net in found.items() if not isinstance(net, str)}


@pytest.mark.parametrize("product", FILES)
def test_a_file_is_loaded_or_refused_as_the_product_refuses_it(product):
    there, known = files(product), REFUSED[product]["files"]
    assert len(there) >= FILES[product], "the files are there"
    outcomes = {"/".join(path.relative_to(CORPUS / product).parts[1:]): loaded(path) for path in there}
    refused = {path: told for path, told in outcomes.items() if isinstance(told, str)}
    assert refused.keys() == known.keys()
    for path, told in refused.items():
        line = known[path].get("line", r"\d+")  # where the product names one
        assert re.search(rf", line {line}\b", told), told
        assert len(told) < 700, told


def test_the_examples_with_several_artemis_brokers_are_one_network_each():
    sets = [net for path, net in networks("artemis").items() if path.is_dir()]
    assert len(sets) >= 50
    assert sum(len(net.names) > 1 for net in sets) >= 25
    assert all(len(net.names) == len(net.origin.files) for net in sets)


@pytest.mark.parametrize("product", FILES)
def test_an_unchanged_network_is_saved_byte_for_byte(product):
    there = networks(product)
    for path, net in there.items():
        read = {file.name: Path(file.name).read_bytes() for file in net.origin.files}
        assert sorted(products.encoded(net).values()) == sorted(read.values()), path
    assert len(there) >= FILES[product] - len(REFUSED[product]["files"])


@pytest.mark.parametrize("product", FILES)
def test_every_network_has_a_default_load(product):
    for path, net in networks(product).items():
        names = [one.name for one in mq.default_load(net)]
        assert len(set(names)) == len(names) >= 2 * len(net.names), path


def another(row, value):
    """Return a value of an option that is neither what it is nor its default."""
    if row.type is bool:
        return not (row.default if value is None else value)
    if row.type is int:
        now = value if isinstance(value, int) else row.default
        return (now if isinstance(now, int) else 7) + 3
    if row.choices:
        return next(choice for choice in row.choices if choice not in (value, row.default))
    return "zz"


# What a cluster connection has in more than a leaf has its own test.
MORE = ("to", "discovery", "clustered", "allow_direct_connections_only")


def changes(net):
    """Yield path, option, value and the guide's name, of changes of one leaf that a file has a place for."""
    for broker in net.brokers:
        rows = [(row, broker.options.get(row.name)) for row in OPTIONS["core"].values()]
        if net.option(broker, "clustered"):
            cluster = net.cluster_of(broker)
            rows += [
                (r, cluster.get(r.name)) for r in OPTIONS["cluster-connection"].values() if r.name not in MORE
            ]
        if broker.policy != "live_only":
            here = (r for r in ELEMENTS.values() if broker.policy in r.policies and broker.role in r.roles)
            rows += [(row, broker.elements.get(row.name)) for row in here if row.name != "manager"]
        yield from (
            (broker.name, r.name, another(r, v), r.guide) for r, v in rows if r.type in (bool, int, str)
        )
    for row in OPTIONS["address-setting"].values():
        if row.type in (bool, int, str):
            value = net.setting(net.brokers[0], "#", row.name)
            yield "*", row.name, another(row, value), row.guide


def leaves(text):
    """Return how often each path of elements, with attributes and text, is in a document."""
    found = Counter()

    def walk(element, path):
        path = (*path, element.name)
        own = "" if element.children else element.text.strip()
        found["/".join(path), tuple(sorted(element.attributes.items())), own] += 1
        for child in element.children:
            walk(child, path)

    walk(document_of(SourceFile("x", text)).root, ())
    return found


def activemq_changes(net):
    """Yield options of brokers, connectors and policies of a file: path, row, value, and what changes it."""
    for broker in net.brokers:
        for row in ACTIVEMQ["broker"].values():
            if row.type in (bool, int, str) and row.guide not in OF_MORE:
                yield broker.name, row, broker.options.get(row.name), net.change
        for link in broker.connectors:
            for row in ACTIVEMQ["networkConnector"].values():
                if row.type in (bool, int, str):
                    yield f"{broker.name}/{link.name}", row, link.options.get(row.name), net.change
        for number, policy in enumerate(broker.policies):
            for row in ACTIVEMQ["policyEntry"].values():
                yield broker.name, row, policy.get(row.name), partial(changed_policy, net, number)


def changed_policy(net, number, name, **options):
    made = list(net.broker(name).policies)
    made[number] = {**made[number], **options}
    return net.change(name, policies=tuple(made))


# A store of another kind has another element; a pure slave needs its master.
OF_MORE = ("store", "sharedStore", "masterConnector")


@pytest.mark.slow
def test_one_option_of_an_activemq_file_is_changed_and_nothing_else():
    random, done = Random(SEED), 0
    for path, net in networks("activemq").items():
        possible = list(activemq_changes(net))
        for name, row, value, change in random.sample(possible, min(CHANGES, len(possible))):
            new = change(name, **{row.name: another(row, value)})
            texts = activemq.write(new)
            words = {row.guide, *(row.xml or row.guide).split("/")}
            for file in net.origin.files:
                before, after = attributes(file.text), attributes(texts[file.name])
                gone = before - after
                # An option whose values are elements, as dispatchPolicy, is changed by another element.
                gone = [one for one in gone if one[0] not in KNOWN or not row.choices]
                assert all(attribute in words for _, attribute, _ in gone), (path, row.guide, gone)
                comments = COMMENT.findall(file.text)
                assert COMMENT.findall(texts[file.name]) == comments, (path, row.guide)
            read = [SourceFile(file, text) for file, text in texts.items()]
            assert activemq.read(read, dict(net.origin.values), dict(net.origin.hosts)) == new, (
                path,
                row.guide,
            )
            done += 1
    assert done >= 500


def attributes(text):
    """Return how often each element is in a document, and each attribute with its value."""
    found = Counter()
    for element in document_of(SourceFile("x", text)).root.walk():
        found[element.name, "", element.text.strip()] += 1
        found.update((element.name, key, value) for key, value in element.attributes.items())
    return found


def written_as(guide):
    """Return what an element is called that holds an option: later releases have other words."""
    return {guide, guide.replace("live-server", "active-server")}


@pytest.mark.slow
def test_one_option_of_an_artemis_file_is_changed_and_nothing_else():
    random, done = Random(SEED), 0
    for path, net in networks("artemis").items():
        possible = list(changes(net))
        for name, option, value, guide in random.sample(possible, min(CHANGES, len(possible))):
            new = net.change(name, **{option: value})
            if new == net:  # of a network without clusters nothing of those is changed
                continue
            texts = broker_xml.write(new)
            for file in net.origin.files:
                before, after = leaves(file.text), leaves(texts[file.name])
                gone, come = before - after, after - before
                assert all(place.rpartition("/")[2] in written_as(guide) for place, _, _ in gone), (path, gone)
                last = {place.rpartition("/")[2] for place, _, _ in come}
                assert last <= {*written_as(guide), "address-settings", "address-setting"}, (path, come)
                lines = [line for line in file.text.splitlines() if line not in texts[file.name].splitlines()]
                assert len(lines) <= 1, (path, lines)
            assert again(texts, net) == new, (path, name, option)
            done += 1
    assert done >= 800


def again(texts, net):
    origin = net.origin
    return broker_xml.read(
        [SourceFile(name, text) for name, text in texts.items()], dict(origin.values), dict(origin.hosts)
    )


STEPS = {
    "a broker more": lambda net: net.with_(artemis.Broker("more")),
    "a broker less": lambda net: net.without(net.names[-1]) if len(net.names) > 1 else net,
    "nobody to forward to": lambda net: net.change(net.names[0], to=[]),
    "found by a group": lambda net: net.change(net.names[0], discovery=True, clustered=True),
    "direct connections only": lambda net: net.change(net.names[0], allow_direct_connections_only=True),
    "no cluster": lambda net: net.change(net.names[0], clustered=False),
    "a cluster": lambda net: net.change("*", clustered=True),
    "a queue more": lambda net: with_queues(net, (*net.queues, artemis.AddressQueue("more"))),
    "no queues": lambda net: with_queues(net, ()),
    "settings of some": lambda net: with_settings(net, net.brokers[0], {"more.#": {"redistribution_delay": 5}}),
}  # fmt: skip


def with_settings(net, broker, more):
    own = dict(broker.keys.get("address_settings") or {})
    return net.change(broker.name, address_settings={**own, **more})


def with_queues(net, queues):
    return replace(net, queues=queues)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_changed_cluster_reads_back_and_loses_nothing_else(step):
    done = 0
    for path, net in networks("artemis").items():
        new = STEPS[step](net)
        if new == net:
            continue
        texts = broker_xml.write(new)
        assert again(texts, net) == new, path
        for file in net.origin.files:
            if file.name in texts:
                gone = leaves(file.text) - leaves(texts[file.name])
                may = {"cluster-connections", "addresses", "queues", "jms"}
                strays = [place for place, _, _ in gone if not set(place.split("/")) & may]
                assert not strays, (path, strays)
        done += 1
    assert done >= 25, step
