"""What stands in the files of ActiveMQ brokers and does harm: placeholders, policies, stores.

These rules read the elements themselves, as the network of nouns no longer has what they look at. Sources: the
schema of 5.17.2, to which a broker holds; ActiveMQ rules 9.
"""

from __future__ import annotations

from mqlab.checks.example import Example
from mqlab.checks.rule import Element as Where
from mqlab.checks.rule import Found, not_played, rule
from mqlab.files.markup import Element
from mqlab.files.placeholders import missing, resolve
from mqlab.files.treatment import once
from mqlab.products.activemq.files import treatment
from mqlab.products.activemq.files.stores import MEMORY, adapter_of
from mqlab.products.activemq.rules.context import BrokerFile, CheckContext, files
from mqlab.products.activemq.rules.examples_at_rest import filtered
from mqlab.products.activemq.rules.names import SOURCE, words


@rule(
    "no-value",
    "error",
    finds="a placeholder without a value",
    what="{attribute}: {why}",
    fix="{fix}",
    source=SOURCE,
    unshown="the broker does not start",
    of=(files,),
)
def _no_value(file: BrokerFile) -> Found:
    origin = file.context.network.origin
    values = dict(origin.values) if origin else {}
    root = file.broker.document.root
    named = ", ".join(_property_files(root))
    fix = "give it a value (values=...), or a default as in ${name:default}"
    why = "nothing says what NAME is; without it the broker does not start"
    if named:
        why = f"NAME has no value here; the file names {named}, which mqlab does not read"
    elif bean := _bean_of_values(root):
        why = f"NAME has no value here; its value comes from the bean {bean}, which mqlab does not run"
    elif not any(_replaces(one) for one in root.walk()):
        why = (
            "no bean of this file replaces placeholders: unless its container does, as Karaf, a broker takes "
            "NAME as it is written"
        )
        fix = "add a PropertyPlaceholderConfigurer, or write the value"
    for element in file.broker.element.walk():
        for attribute, given in element.attributes.items():
            for unset in missing(resolve(given, values, attribute)):
                facts = {"attribute": attribute, "why": why.replace("NAME", f"${{{unset}}}"), "fix": fix}
                yield file.at(element), facts


def _replaces(element: Element) -> bool:
    """Whether an element is what replaces placeholders, or may bring that from another file."""
    return "laceholder" in f"{element.name} {element.attributes.get('class', '')}" or element.name == "import"


def _bean_of_values(root: Element) -> str:
    """Return the class of a bean that gives what replaces placeholders its values; empty if there is none."""
    replacing = (one for one in root.walk() if one.name == "bean" and _replaces(one))
    inside = (bean for one in replacing for bean in one.walk() if bean.name == "bean" and bean is not one)
    return next((bean.attributes.get("class", "") for bean in inside), "").rpartition(".")[2]


def _property_files(root: Element) -> dict[str, None]:
    """Return the property files that a file takes values from, as it names them."""
    own = (text for one in root.walk() for text in (one.text.strip(), *one.attributes.values()))
    return dict.fromkeys(text for text in own if text.endswith((".properties", ".cfg")) and len(text) < 200)


@rule(
    "policy-twice",
    "warning",
    finds="two policy entries for one pattern",
    what="line {line} has an entry for {kind} {pattern} too: one of the two has no effect",
    fix="use one entry for both",
    source="ActiveMQ, per destination policies",
    unshown="no effect: the option is ignored",
    of=(files,),
)
def _policy_twice(file: BrokerFile) -> Found:
    lines: dict[tuple[str, str], int] = {}
    path = ("destinationPolicy", "policyMap", "policyEntries", "policyEntry")
    for entry in file.broker.element.below(*path):
        for kind in ("queue", "topic"):
            pattern = entry.attributes.get(kind)
            if pattern is None:
                continue
            if (kind, pattern) in lines:
                line = lines[kind, pattern]
                yield file.at(entry), {"line": line, "kind": kind, "pattern": pattern}
            lines.setdefault((kind, pattern), entry.line)


@rule(
    "store-unused",
    "error",
    finds='a store beside persistent="false"',
    what='persistent="false": the store is not used, and all messages are lost on restart',
    fix='remove persistent="false", or the adapter',
    source="Fuse 4, Example 4.5",
    unshown="mqlab does not model this option",
    of=(files,),
)
def _store_unused(file: BrokerFile) -> Found:
    adapter = adapter_of(file.broker.element)
    off = file.broker.element.attributes.get("persistent", "").lower() == "false"
    if off and adapter is not None and adapter.name != MEMORY:
        yield file.at(adapter), {}


@rule(
    "store-relative",
    "warning",
    finds="one relative directory for the stores of several brokers",
    what="the store's directory {directory} is that of {others} too, and relative: started in one folder they "
    "share it, and mqlab gives each a store of its own",
    fix="write an absolute path if they are to share it, or else a directory for each",
    source="Fuse 4, Shared file system master/slave",
    unshown="mqlab does not model this option",
)
def _store_relative(context: CheckContext) -> Found:
    homes: dict[str, list[BrokerFile]] = {}
    for file in files(context):
        if directory := _relative(file):
            homes.setdefault(directory, []).append(file)
    for directory, those in homes.items():
        for file in those if len(those) > 1 else ():
            adapter = adapter_of(file.broker.element)
            others = " and ".join(other.name for other in those if other is not file)
            yield file.at(adapter or file.broker.element), {"directory": directory, "others": others}


def _relative(file: BrokerFile) -> str:
    """Return the directory of a broker's store if a real one looks for it where it is started."""
    adapter = adapter_of(file.broker.element)
    directory = "" if adapter is None else adapter.attributes.get("directory", "").removeprefix("file:")
    return "" if directory.startswith(("/", "$")) or ":" in directory else directory


@rule(
    "filter-prefix",
    "error",
    finds="a destinationFilter whose parts are not advisory topics",
    what="destinationFilter: only the first part gets its prefix; {part!r} is not an advisory topic, "
    "so its consumers are never seen",
    fix="use ActiveMQ.Advisory.Consumer.{part}",
    source="article, destinationFilter",
    example=lambda: Example(filtered("Queue.Q"), filtered("ActiveMQ.Advisory.Consumer.Queue.Q")),
    of=(files,),
)
def _filter_prefix(file: BrokerFile) -> Found:
    for connector in file.broker.connectors:
        parts = str(connector.options.get("destination_filter") or "").split(",")
        short = [part for part in parts[1:] if not part.startswith("ActiveMQ.Advisory.")]
        if short:
            yield file.at(connector.element), {"part": short[0]}


@rule(
    "no-openwire",
    "warning",
    finds="a broker without a transport connector for OpenWire",
    what="it has no transport connector for OpenWire ({has}): no client with an address can connect, no bridge",
    fix="add e.g. <transportConnector name='openwire' uri='tcp://0.0.0.0:61616'/>; mqlab goes by names alone",
    source="ActiveMQ, transport connectors",
    unshown="mqlab resolves brokers by name and ignores what they listen on",
    of=(files,),
)
def _no_openwire(file: BrokerFile) -> Found:
    has = file.broker.transports
    if has and not any(one.openwire or missing(one.uri) for one in has):
        yield file.at(has[0].element), {"has": ", ".join(one.uri for one in has)}


@not_played(
    "left-out",
    finds="what stands in a file of ActiveMQ and is not played",
    source=SOURCE,
    of=(files,),
)
def _left_out(file: BrokerFile) -> Found:
    wrong = {(word.element.line, part) for word in words(file) for part in word.text.split()}  # told already
    new = (
        one
        for one in treatment.told(file.broker)
        if (one.line, one.path.rpartition("@")[2].rpartition("/")[2]) not in wrong
    )
    for line, facts in once(new):
        yield Where(f"broker {file.name}", file.broker.document.where, line), facts
