"""An option is one row, and a run asks for it: what is added half fails here, and is told what is missing."""

import ast
import re
from collections import Counter
from functools import cache

import pytest

import mqlab as mq
from mqlab.api import artemis
from mqlab.products.artemis.client.clients import Client
from mqlab.products.artemis.files import lab_file as artemis_files
from mqlab.products.openmq.broker.model import Broker as OpenMQProcess
from mqlab.products.openmq.script.operation import ScriptStep
from mqlab.spec import connector
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis import Broker as ArtemisBroker
from mqlab.spec.options import tables
from tests.conftest import ROOT, packed

# What a run goes through: the parts of a product's folder that play it, and the nouns that answer for options.
PARTS = ("broker", "network", "client", "transport", "ha", "script", "lab.py", "report.py")
NOUNS = {
    "activemq": ("spec/connector.py", "spec/network.py", "spec/member.py"),
    "openmq": ("spec/openmq/__init__.py",),
    "artemis": ("spec/artemis/__init__.py", "spec/artemis/broker.py"),
}
CODE = {
    product: (
        *(place for part in PARTS if (ROOT / "mqlab" / (place := f"products/{product}/{part}")).exists()),
        *nouns,
    )
    for product, nouns in NOUNS.items()
}
# Recordings that ask for options that no figure asks for: of who falls silent.
SILENT = ("artemis/shared_store/master_hangs.json", "artemis/client_reconnect/client_dies_ttl.json")
ELEMENTS = [(product, element) for product in CODE for element in tables(product)]


def asked_for(product, element):
    """Return the name by which a run asks for each option of an element -> its row."""
    rows = tables(product)[element].values()
    return {row.guide if product == "openmq" else row.name: row for row in rows}


# Who asks for an option in a run


class Noted(dict):
    """Options that note which of them are asked for."""

    def __init__(self, given, seen, *elements):
        super().__init__(given)
        self.note = lambda name: seen.update((element, name) for element in elements)

    def get(self, name, default=None):
        self.note(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.note(name)
        return super().__getitem__(name)

    def __contains__(self, name):
        self.note(name)
        return super().__contains__(name)


def note_calls(patch, owner, method, element, seen, place=0):
    """Note what the argument at *place* of a method asks for."""
    real = getattr(owner, method)

    def noting(self, *given, **named):
        seen.add((element, given[place]))
        return real(self, *given, **named)

    patch.setattr(owner, method, noting)


def note_all(patch, product, seen):
    """Note what is asked for on each of the ways on which a run of a product gets at an option."""
    if product == "activemq":
        get, options = connector.HasOptions.get, connector.HasOptions.options.fget
        patch.setattr(
            connector.HasOptions,
            "get",
            lambda self, name, *by, **more: seen.add((self.ELEMENT, name)) or get(self, name, *by, **more),
        )
        patch.setattr(
            connector.HasOptions,
            "options",
            property(lambda self: Noted(options(self), seen, self.ELEMENT)),
        )
    elif product == "openmq":
        note_calls(patch, OpenMQProcess, "option", "broker", seen)
        options = ScriptStep.options
        patch.setattr(
            ScriptStep,
            "options",
            property(
                lambda self: Noted(options.__get__(self), seen, "connection", "consumer"),
                lambda self, given: options.__set__(self, given),
            ),
        )
    else:
        note_calls(patch, ArtemisNetwork, "option", "cluster-connection", seen, place=1)
        note_calls(patch, ArtemisBroker, "element", "ha-policy", seen)
        note_calls(patch, ArtemisBroker, "part", "ha-policy", seen)
        scale_down, opened = ArtemisBroker.scale_down.fget, Client.__init__
        patch.setattr(
            ArtemisBroker,
            "scale_down",
            property(lambda self: (found := scale_down(self)) and Noted(found, seen, "scale-down")),
        )

        parts = ArtemisBroker.parts

        def parts_noting(self, kind):
            seen.add(("broker", kind))
            return {name: Noted(options, seen, kind[:-1]) for name, options in parts(self, kind).items()}

        patch.setattr(ArtemisBroker, "parts", parts_noting)

        def open_noting(self, *given):
            opened(self, *given)
            self.options = Noted(self.options, seen, "url")

        patch.setattr(Client, "__init__", open_noting)


@cache
def seen_in_runs(product):
    """Return (element, name) of all that the figures of a product ask for, and a few runs more."""
    seen = set()
    with pytest.MonkeyPatch.context() as patch:
        note_all(patch, product, seen)
        for figure in mq.figures():
            if figure.scenario.product == product:
                mq.run(figure.id)
        if product == "activemq":
            link = mq.NetworkConnector("ab", uri="static:(tcp://B)", use_virtual_dest_subs=True)
            reader = mq.Consumer("C", on="B", reads=mq.Queue("Consumer.C.VirtualTopic.T"))
            mq.run(mq.Network(mq.Broker("A", link), mq.Broker("B")), reader)
        if product == "artemis":
            copies = {"copy": {"address": "A", "forwarding_address": "B"}}
            bridge = {"to-y": {"queue_name": "B", "to": ["Y"], "forwarding_address": "C"}}
            brokers = artemis.Broker("X", diverts=copies, bridges=bridge), artemis.Broker("Y")
            limit = {"max_size_messages": 9, "address_full_policy": "FAIL"}
            net = artemis.Network(*brokers, queues=(artemis.AddressQueue("B"),), **limit)
            mq.run(net, artemis.Producer("P", on="X", sends=1, to=mq.Queue("A")))
            recordings = packed("artemis")
            suspended = packed("found")["artemis/found/artemis_401_007.json"]
            for recording in (*(recordings[name] for name in SILENT), suspended):
                mq.run(artemis_files.read(recording))
    return frozenset(seen)


# What names an option in the code


@cache
def named(product):
    """Return text -> the files of a run's code that have it as an attribute, a key or a pattern of one."""
    found = {}
    for path in (path for place in CODE[product] for path in sources(ROOT / "mqlab" / place)):
        for node in ast.walk(ast.parse(path.read_text())):
            text = None
            if isinstance(node, ast.Attribute):
                text = re.escape(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = re.escape(node.value)
            elif isinstance(node, ast.JoinedStr):
                fixed = [part.value for part in node.values if isinstance(part, ast.Constant)]
                if any(re.search("[A-Za-z]{5}", part) for part in fixed):  # else it is any name
                    text = "".join(
                        re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+"
                        for part in node.values
                    )
            if text:
                found.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    return found


def sources(place):
    return sorted(place.rglob("*.py")) if place.is_dir() else [place]


def files_with(product, name):
    """Return the files of a run's code in which an option is named."""
    texts = named(product)
    patterns = (text for text in texts if r"\w+" in text and re.fullmatch(text, name))
    return set().union(*(texts[text] for text in (re.escape(name), *patterns) if text in texts))


def is_plain(product, name):
    """Whether a name is a word of the language too, or that of two options: the code tells nothing then."""
    count = sum(name in asked_for(product, element) for element in tables(product))
    return count > 1 or (name.isalpha() and name.islower())


def is_read(product, element, name):
    if (element, name) in seen_in_runs(product):
        return True
    return not is_plain(product, name) and bool(files_with(product, name))


def advice(product, element, name):
    """Return what to do about an option that nothing asks for: where those beside it are asked for."""
    beside = Counter(
        path
        for other in asked_for(product, element)
        if not is_plain(product, other)
        for path in files_with(product, other)
    )
    places = ", ".join(path for path, _ in beside.most_common(4)) or f"mqlab/{CODE[product][0]}"
    row = asked_for(product, element)[name]
    return (
        f"{row.guide} is a row of mqlab/spec/options/{product}.toml, and nothing in a run asks for {name!r}. "
        f"Let it act where the other options of {element} do ({places}), with a test of what it changes; or, "
        f'if nothing in a run can act on it, write kept = "why" in its row [{element}.{row.name}].'
    )


CASES = [pytest.param(*pair, id="/".join(pair)) for pair in ELEMENTS]


@pytest.mark.complete
@pytest.mark.parametrize(("product", "element"), CASES)
def test_a_run_asks_for_every_option(product, element):
    missing = [
        advice(product, element, name)
        for name, row in asked_for(product, element).items()
        if not row.kept and not is_read(product, element, name)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(("product", "element"), CASES)
def test_what_is_only_kept_is_asked_for_by_nobody(product, element):
    for name, row in asked_for(product, element).items():
        assert not row.kept or not is_read(product, element, name), (
            f"{row.guide} acts now: take `kept` out of mqlab/spec/options/{product}.toml, under "
            f"[{element}.{row.name}]"
        )


@pytest.mark.parametrize("name", ["check_something_else", "nobody", "imq.nobody.reads"])
@pytest.mark.parametrize(("product", "element"), CASES)
def test_what_no_code_knows_does_not_count_as_asked_for(product, element, name):
    assert not is_read(product, element, name)
