"""A changed `activemq.xml`: of a policy, a virtual destination, a store only what was changed is another."""

from __future__ import annotations

import difflib

import pytest

import mqlab as mq
from mqlab.products.activemq import files
from mqlab.spec.origin import SourceFile

TEXT = """\
<beans xmlns="http://www.springframework.org/schema/beans">
 <broker xmlns="http://activemq.apache.org/schema/core" brokerName="A" persistent="true">
  <destinationInterceptors><virtualDestinationInterceptor><virtualDestinations>
    <!-- copies -->
    <compositeQueue name="IN" id="i"><forwardTo><queue physicalName="X"/></forwardTo></compositeQueue>
    <virtualTopic name=">" prefix="C.*." transactedSend="true"/>
  </virtualDestinations></virtualDestinationInterceptor></destinationInterceptors>
  <destinationPolicy><policyMap><policyEntries>
    <policyEntry topic=">" memoryLimit="5 mb" optimizedDispatch="true"> <!-- all -->
      <slowConsumerStrategy><abortSlowConsumerStrategy/></slowConsumerStrategy>
      <deadLetterStrategy>
        <individualDeadLetterStrategy queuePrefix="DLQ." useQueueForQueueMessages="true"/>
      </deadLetterStrategy>
    </policyEntry>
    <policyEntry queue="Q.>" producerFlowControl="false"/>
    <policyEntry tempQueue="true" memoryLimit="1mb"/>
    <policyEntry><destination><queue physicalName="R"/></destination></policyEntry>
  </policyEntries></policyMap></destinationPolicy>
  <persistenceAdapter>
    <kahaDB directory="${activemq.data}/own" journalMaxFileLength="32mb"/> <!-- fast -->
  </persistenceAdapter>
 </broker>
</beans>
"""


def read(text=TEXT):
    return files.read([SourceFile("a.xml", text)])


def policies(net, index, **options):
    made = [dict(policy) for policy in net.broker("A").policies]
    made[index].update(options)
    return net.change("A", policies=tuple(made))


def composites(net, **options):
    (one,) = net.broker("A").composites
    return net.change("A", composites=({**one, **options},))


CHANGES = {
    "attribute": (
        lambda net: policies(net, 0, topic_prefetch=7),
        {'optimizedDispatch="true" topicPrefetch="7">'},
    ),
    "of a policy in short": (
        lambda net: policies(net, 1, queue_prefetch=3),
        {'producerFlowControl="false" queuePrefetch="3"/>'},
    ),
    "of a policy with a destination": (
        lambda net: policies(net, 2, queue_prefetch=3),
        {'<policyEntry queuePrefetch="3"><destination>'},
    ),
    "in a strategy": (
        lambda net: policies(net, 0, process_expired=False),
        {'useQueueForQueueMessages="true" processExpired="false"/>'},
    ),
    "a strategy more": (
        lambda net: policies(net, 0, pending_message_limit=9),
        {"<pendingMessageLimitStrategy>", '<constantPendingMessageLimitStrategy limit="9"/>'},
    ),
    "a policy more": (
        lambda net: net.change("A", policies=(*net.broker("A").policies, {"queue": "Z", "queue_prefetch": 1})),
        {'<policyEntry queue="Z" queuePrefetch="1"/>'},
    ),
    "a policy before": (
        lambda net: net.change("A", policies=({"queue": "Z"}, *net.broker("A").policies)),
        {'<policyEntry queue="Z"/>'},
    ),
    "composite": (lambda net: composites(net, forward_only=False), {'forwardOnly="false"><forwardTo>'}),
    "target": (
        lambda net: composites(net, forward_to=["queue://X", "queue://Y"]),
        {'<queue physicalName="Y"/>'},
    ),
    "virtual topic": (
        lambda net: net.change("A", virtual_topics=("topic://>?prefix=D.*.",)),
        {'prefix="D.*." transactedSend="true"/>'},
    ),
    "folder": (lambda net: net.change("A", shared_store="s"), {'directory="/shared/s" journal'}),
    "store": (lambda net: net.change("A", stop_on_error=True), {'"32mb" stopOnError="true"/> <!-- fast -->'}),
    "lock": (
        lambda net: net.change("A", lock_acquire_sleep_interval_ms=5),
        {'<shared-file-locker lockAcquireSleepInterval="5"/>'},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_was_not_changed_stays_to_the_letter(name):
    change, come = CHANGES[name]
    new = change(read())
    (text,) = files.write(new).values()
    assert read(text) == new
    lines = list(difflib.unified_diff(TEXT.splitlines(), text.splitlines(), n=0, lineterm=""))[2:]
    added = "\n".join(line for line in lines if line.startswith("+"))
    assert all(one in added for one in come), added
    gone = [line for line in lines if line.startswith("-")]
    assert len(gone) <= 1, gone


def test_what_is_taken_out_leaves_what_nobody_knows():
    net = read()
    (text,) = files.write(net.change("A", policies=net.broker("A").policies[1:])).values()
    assert 'policyEntry topic=">"' not in text
    assert '<policyEntry tempQueue="true" memoryLimit="1mb"/>' in text


def test_a_store_beside_persistent_false_is_not_used():
    net = read(TEXT.replace('persistent="true"', 'persistent="false"'))
    assert net.broker("A").options["store"] == "memory"
    assert [p.rule for p in mq.check(net) if p.level == "error"] == ["store-unused"]
    (text,) = files.write(net.change("A", stop_on_error=True)).values()
    assert 'journalMaxFileLength="32mb"/>' in text, "the store that is not used stays"


def test_several_elements_come_into_a_broker_that_has_none():
    text = '<broker xmlns="http://activemq.apache.org/schema/core" brokerName="A"/>'
    net = read(text).change("A", policies=({"queue": "Q"},), stop_on_error=True, virtual_topics=())
    new = net.change("A", composites=({"name": "IN", "forward_to": ["queue://X"], "forward_only": True},))
    (made,) = files.write(new).values()
    assert read(made) == new
    assert "<?mqlab" not in made
