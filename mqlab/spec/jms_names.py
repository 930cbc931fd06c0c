"""What of the JMS API stands for what here: who knows its classes and methods finds the noun."""

from __future__ import annotations

from mqlab.errors import Call


def _reads(kind: str = "Queue", **named: object) -> Call:
    return Call("Consumer", "C", on="A", reads=Call(kind, kind[0]), **named)


def _sends(kind: str = "Queue", **named: object) -> Call:
    return Call("Producer", "P", on="A", sends=1, to=Call(kind, kind[0]), **named)


# Classes and methods by what stands for them; names are compared in small letters (JMS 1.1 and 2.0).
INSTEAD = {
    name.lower(): call
    for call, names in (
        (_reads(), "MessageConsumer QueueReceiver JMSConsumer MessageListener setMessageListener onMessage"),
        (_reads(), "createConsumer createReceiver subscribe"),
        (_reads("Topic"), "TopicSubscriber createSubscriber"),
        (_reads("Topic", durable=True), "DurableSubscriber createDurableSubscriber createDurableConsumer"),
        (_reads(browser=True), "QueueBrowser createBrowser browse browser"),
        (_sends(), "MessageProducer QueueSender JMSProducer createProducer createSender send"),
        (_sends("Topic"), "TopicPublisher createPublisher publish"),
        (_sends(size=1024), "Message TextMessage MapMessage ObjectMessage createMessage"),
        (_sends(size=1024), "BytesMessage StreamMessage createTextMessage createBytesMessage"),
        (_sends(jms_priority=9), "setPriority setJMSPriority"),
        (_sends(persistent=False), "DeliveryMode setDeliveryMode setJMSDeliveryMode"),
        (_sends(time_to_live="10s"), "setTimeToLive setJMSExpiration"),
        (Call("Client", "K", uri="tcp://A:61616"), "Connection QueueConnection TopicConnection JMSContext"),
        (Call("Client", "K", uri="tcp://A:61616"), "ConnectionFactory ActiveMQConnectionFactory"),
        (Call("Client", "K", uri="tcp://A:61616"), "createConnection createContext"),
        (Call("OpenSession", "K", "S", transacted=True), "Session QueueSession TopicSession createSession"),
        (Call("openmq.Xa", "start", "x1", who="C"), "XASession XAConnection XAResource XAJMSContext"),
        (Call("Queue", "Q"), "createQueue"),
        (Call("Topic", "T"), "createTopic"),
        (Call("TemporaryQueue", "K", "Q"), "TemporaryTopic createTemporaryQueue createTemporaryTopic"),
        (
            Call("RequestReply", "R", on="A", responder_on="B", to=Call("Queue", "Q"), count=1),
            "QueueRequestor TopicRequestor",
        ),
    )
    for name in names.split()
}
