"""Files as people write them: saved byte for byte, and where one option changes, nothing else does."""

from __future__ import annotations

import re

import pytest

import mqlab as mq
from mqlab import products

SCHEMA = "http://activemq.apache.org/schema/core"
BEANS = "http://www.springframework.org/schema/beans"
PLAIN = 'name="n" uri="static:(tcp://b:1)"'
CONNECTOR = f"<networkConnector {PLAIN}/>"


def broker(inside=f"<networkConnectors>{CONNECTOR}</networkConnectors>", name="A"):
    return f'<broker xmlns="{SCHEMA}" brokerName="{name}">{inside}</broker>'


def with_(attributes, inside=""):
    return broker(
        f"<networkConnectors><networkConnector {attributes}>{inside}</networkConnector></networkConnectors>"
    )


def on_lines(text, end):
    return text.replace("><", f">{end}  <") + end


LIST = "<dynamicallyIncludedDestinations><queue physicalName='a'/></dynamicallyIncludedDestinations>"
COMMENTED = f"<!-- <broker/> --><networkConnectors><!-- -->{CONNECTOR}<!-- </broker> --></networkConnectors>"
ACTIVEMQ = {
    "plain": broker(),
    "pretty": on_lines(broker(), "\n"),
    "lines of Windows": on_lines(broker(), "\r\n"),
    "lines of an old Mac": on_lines(broker(), "\r"),
    "lines of both": on_lines(broker(), "\r\n").replace("\r\n", "\n", 1),
    "a prefix": re.sub("<(/?)([bn])", r"<\1amq:\2", broker()).replace("xmlns=", "xmlns:amq="),
    "a namespace inside": with_(f"xmlns='{SCHEMA}' {PLAIN}"),
    "in beans": f'<s:beans xmlns:s="{BEANS}"><s:bean id="x"/>{broker()}</s:beans>',
    "single quotes and tabs": with_("\tname = 'n'\n\turi\n=\n'static:(tcp://b:1)'\n"),
    "comments with tags": f"<!-- <broker> -->{broker(COMMENTED)}<!-- end -->",
    "a tag's end in a value": with_('name="a > b" uri="static:(tcp://b:1)" destinationFilter=">"'),
    "references": with_('name="n&#x20;&quot;1&quot;" uri="static:(tcp://b:1?a=1&amp;b=2)"'),
    "references in a name": broker(name="A &amp; B"),
    "CDATA": with_(PLAIN, "<![CDATA[<x> ]]>"),
    "instructions": f'<?xml-stylesheet href="x"?>{with_(PLAIN, "<?pi > ?>")}',
    "placeholders": with_('name="n" uri="static:(tcp://${host:b}:1)" prefetchSize="${size:7}"'),
    "two of one name": broker(f"<networkConnectors>{CONNECTOR}{CONNECTOR}</networkConnectors>"),
    "a list inside": with_(PLAIN, LIST),
    "signs beyond 16 bits": with_('name="😀" uri="static:(tcp://b:1)"', "<!-- 😀 -->"),
    "spaces in values": with_('name=" n " uri=" static:(tcp://b:1) " networkTTL=" 2 "'),
    "a value on lines": with_('name="n" uri="static:(\n  tcp://b:1,\n  tcp://c:1)"'),
    "another namespace inside": with_(f"{PLAIN} xmlns:s='{BEANS}'", '<s:property name="x" value="4"/>'),
    "a mark of the byte order": f"\ufeff{broker()}",
    "utf-16": f'<?xml version="1.0" encoding="UTF-16"?>{broker(name="Aλ")}',
    "iso-8859-1": f'<?xml version="1.0" encoding="ISO-8859-1"?>{broker(name="Aé")}',
}  # fmt: skip


def core(hops="<max-hops>2</max-hops>", before="", name="A"):
    return (
        f'<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">{before}<name>{name}</name>'
        '<connectors><connector name="c">tcp://b:61616</connector></connectors><cluster-connections>'
        f'<cluster-connection name="x"><connector-ref>c</connector-ref>{hops}<static-connectors>'
        "<connector-ref>c</connector-ref></static-connectors></cluster-connection></cluster-connections>"
        "</core></configuration>"
    )


ARTEMIS = {
    "plain": core(),
    "not there": core(""),
    "pretty": on_lines(core(), "\n"),
    "lines of Windows": on_lines(core(), "\r\n"),
    "lines of an old Mac": on_lines(core(), "\r"),
    "a prefix": re.sub("<(/?)([a-z])", r"<\1c:\2", core()).replace("xmlns=", "xmlns:c=").replace(
        '"urn:activemq"', '"urn:activemq:core"'),
    "without a configuration": core().replace('<configuration xmlns="urn:activemq">', "").replace(
        "</configuration>", ""),
    "without namespaces": re.sub(' xmlns="[^"]*"', "", core()),
    "comments in a value": core("<max-hops><!-- was 3 -->2<!-- more --></max-hops>"),
    "a comment with the same": core("<!-- <max-hops>9</max-hops> --><max-hops>2</max-hops>"),
    "a comment with a core": f"<!-- <core/> -->{core()}",
    "CDATA": core("<max-hops><![CDATA[2]]></max-hops>"),
    "a reference": core("<max-hops>&#50;</max-hops>"),
    "lines in a value": core("<max-hops>\n   2\n  </max-hops>"),
    "lines in a tag": core("<max-hops\n  >2</max-hops\n >"),
    "a placeholder": core("<max-hops>${hops:2}</max-hops>"),
    "instructions": core("<?z > ?><max-hops>2</max-hops>", "<?x y?>"),
    "an include": core(before='<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="more.xml"/>'),
    "signs beyond 16 bits": core(before="<!-- 😀 -->"),
    "a reference in a name": core(name="A &amp; B"),
    "a mark of the byte order": f"\ufeff{core()}",
    "utf-16": f'<?xml version="1.0" encoding="UTF-16"?>{core(before="<!-- λ -->")}',
    "iso-8859-1": f'<?xml version="1.0" encoding="ISO-8859-1"?>{core(before="<!-- é -->")}',
}  # fmt: skip

OWN = "imq.instancename=A\nimq.cluster.brokerlist=A:7676\n"
KEY = "imq.autocreate.queue"
OPENMQ = {
    "plain": f"{OWN}{KEY}=true\n",
    "not there": OWN,
    "not there, lines of Windows": OWN.replace("\n", "\r\n"),
    "without a last line end": f"{OWN}{KEY}=true",
    "colons": f"{OWN}{KEY} : true\n".replace("=", ":"),
    "blanks": f"{OWN}{KEY}  true\n".replace("=", " "),
    "lines of Windows": f"{OWN}{KEY}=true\n".replace("\n", "\r\n"),
    "lines of an old Mac": f"{OWN}{KEY}=true\n".replace("\n", "\r"),
    "lines of both": f"{OWN}{KEY}=true\n".replace("\n", "\r\n", 1),
    "a key on two lines": f"{OWN}imq.autocreate.\\\n   queue=true\n",
    "a key on two lines of an old Mac": f"{OWN}imq.autocreate.\\\n   queue=true\n".replace("\n", "\r"),
    "a value on two lines": f"{OWN}{KEY}=tr\\\n   ue\n",
    "the sign between on the next line": f"{OWN}{KEY}\\\n  = \\\n  true\n",
    "escapes": f"imq.instance\\u006eame=A\n{KEY}=tr\\u0075e\nimq.cluster.brokerlist=A\\:7676\n",
    "comments": f"# {KEY}=false\n! {KEY}=false\\\n{OWN}  # x\n{KEY}=true\n",
    "twice": f"{OWN}{KEY}=false\n{KEY}=true\n",
    "a form feed": f"\f{OWN}\t{KEY}\t=\ttrue\n",
    "keys without values": f"{OWN}imq.log.level\nimq.log.x=\n{KEY}=true\n",
    "capitals": f"{OWN}{KEY}=TRUE\n",
    "a last backslash": f"{OWN}{KEY}=true\nimq.log.y=a\\",
    "blanks in a list": f"{OWN}{KEY}=true\n".replace("=A:7676", " = A:7676 , B:7676 "),
    "a longer key": f"{OWN}{KEY}.x=1\n{KEY}=true\n",
    "a mark of the byte order": f"\ufeffimq.log.level=INFO\n{OWN}{KEY}=true\n",
    "iso-8859-1": f"# é\n{OWN}{KEY}=true\n",
}  # fmt: skip
FILES = {
    "activemq": ("activemq.xml", ACTIVEMQ, b'networkTTL="5"'),
    "artemis": ("broker.xml", ARTEMIS, b"7"),
    "openmq": ("A/config.properties", OPENMQ, b"false"),
}
ALL = [(product, spelling) for product, (_, texts, _) in FILES.items() for spelling in texts]


def changed(product, net):
    (first, *_) = net.brokers
    if product == "activemq":
        return net.change(f"{first.name}/{first.connectors[0].name}", network_ttl=5)
    return net.change(first.name, **({"max_hops": 7} if product == "artemis" else {"autocreate_queue": False}))


def alike(one, other):
    """Return with how many bytes both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((no for no, (a, b) in pairs if a != b), min(len(one), len(other)))


def loaded(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return mq.load(path)


@pytest.mark.parametrize(("product", "spelling"), ALL, ids=lambda part: part)
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_changed_stays_to_the_byte(product, spelling, tmp_path):
    name, texts, new = FILES[product]
    encoding = spelling if spelling in ("utf-16", "iso-8859-1") else "utf-8"
    before = texts[spelling].encode(encoding)
    net = loaded(tmp_path / "a" / name, before)
    assert list(products.encoded(net).values()) == [before]
    wanted = changed(product, net)
    (after,) = products.encoded(wanted).values()
    assert loaded(tmp_path / "b" / name, after) == wanted
    head = alike(before, after)
    tail = min(alike(before[::-1], after[::-1]), len(before) - head, len(after) - head)
    gone, come = before[head : len(before) - tail], after[head : len(after) - tail]
    assert len(gone) <= 14, (gone, come)  # a value as it was spelt
    assert len(come) <= 34, (gone, come)
    if encoding != "utf-16":
        assert new in after
