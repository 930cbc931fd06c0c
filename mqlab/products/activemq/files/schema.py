"""What ActiveMQ's schema allows: names and types of attributes and of child elements.

`schema.json` is `activemq.xsd` of ActiveMQ 5.17.2, which a broker holds to: it does not start with any other
name. `LATER` came after it, `EARLIER` and `GONE` were taken out before it.
"""

from __future__ import annotations

from pathlib import Path

from mqlab.files.schema import Schema

CORE = "http://activemq.apache.org/schema/core"
CORES = (CORE, "http://activemq.org/config/1.0")
SCHEMA = Schema.read(Path(__file__).with_name("schema.json"), CORES, literally=True)

# Element -> name -> the first release that has it.
LATER = {
    "broker": {"maxUncommittedCount": "6.1", "virtualThreadTaskRunner": "6.2"},
    "networkConnector": {"autoStart": "6.1"},
    "policyEntry": {
        "advisoryForDispatched": "5.18",
        "advancedMessageStatisticsEnabled": "6.2",
        "advancedNetworkStatisticsEnabled": "6.2",
        "messageInterceptorStrategy": "6.2",
    },
    "transportConnector": {"autoStart": "6.2"},
}
# Element -> names that only edition 5.5 has, of what a later broker refuses as unknown.
EARLIER = {
    "broker": {"destroyApplicationContextOnShutdown", "destroyApplicationContextOnStop", "supportFailOver"},
    "database-locker": {"persistenceAdapter"},
    "loggingBrokerPlugin": {"logMessageEvents"},
    "persistenceAdapter": {"journaledJDBC"},
    "plugins": {"commandAgent"},
    "services": {"commandAgent"},
    "tempDataStore": {"pListStore"},
    "timeStampingBrokerPlugin": {"processNetworkMessages"},
    "transact-database-locker": {"persistenceAdapter"},
    "transportConnector": {"brokerName", "connectUri"},
}
# Element -> name -> what became of it, and what to write instead.
GONE = {
    "broker": {
        "masterConnectorURI": "pure master/slave is not in 5.17; share a store instead",
    },
    "services": {
        "masterConnector": "pure master/slave is not in 5.17; share a store instead",
    },
    "persistenceAdapter": {
        "amqPersistenceAdapter": "the AMQ store is not in 5.17; use kahaDB",
        "kahaPersistenceAdapter": "the Kaha store is not in 5.17; use kahaDB",
        "levelDB": "LevelDB is not in 5.17; use kahaDB",
        "replicatedLevelDB": "replicated LevelDB is not in 5.17; share a kahaDB instead",
    },
}
