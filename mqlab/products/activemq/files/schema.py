"""What ActiveMQ's schema allows in the elements that mqlab reads: names of attributes and of child elements.

Taken from `activemq.xsd` of ActiveMQ 5.17.2, which a broker holds to: it does not start with any other name.
`LATER` came after it, `GONE` was taken out before it.
"""

from __future__ import annotations

ATTRIBUTES: dict[str, frozenset[str]] = {
    element: frozenset(names.split())
    for element, names in {
        "broker": "adjustUsageLimits adminView advisorySupport allowTempAutoCreationOnSend "
        "anonymousProducerAdvisorySupport brokerContext brokerId brokerName brokerObjectName "
        "cacheTempDestinations consumerSystemUsage consumerSystemUsagePortion dataDirectory "
        "dataDirectoryFile dedicatedTaskRunner deleteAllMessagesOnStartup destinationFactory "
        "destinationPolicy diskUsageCheckRegrowThreshold "
        "enableMessageExpirationOnActiveDurableSubs enableStatistics id ioExceptionHandler "
        "jobSchedulerStore keepDurableSubsActive managementContext "
        "maxPurgedDestinationsPerSweep maxSchedulerRepeatAllowed mbeanInvocationTimeout "
        "messageAuthorizationPolicy monitorConnectionSplits networkConnectorStartAsync "
        "offlineDurableSubscriberTaskSchedule offlineDurableSubscriberTimeout passiveSlave "
        "persistenceAdapter persistenceFactory persistenceTaskRunnerFactory "
        "persistenceThreadPriority persistent populateJMSXUserID populateUserNameInMBeans "
        "producerSystemUsage producerSystemUsagePortion regionBroker rejectDurableConsumers "
        "restartAllowed rollbackOnlyOnAsyncException schedulePeriodForDestinationPurge "
        "schedulePeriodForDiskUsageCheck schedulerDirectory schedulerDirectoryFile "
        "schedulerSupport shutdownOnMasterFailure shutdownOnSlaveFailure "
        "splitSystemUsageForProducersConsumers sslContext start startAsync startException "
        "storeOpenWireVersion systemExitOnShutdown systemExitOnShutdownExitCode systemUsage "
        "taskRunnerFactory taskRunnerPriority tempDataStore timeBeforePurgeTempDestinations "
        "tmpDataDirectory useAuthenticatedPrincipalForJMSXUserID useJmx useLocalHostBrokerName "
        "useLoggingForShutdownErrors useMirroredQueues useShutdownHook useTempMirroredQueues "
        "useVirtualDestSubs useVirtualDestSubsOnCreation useVirtualTopics vmConnectorURI "
        "waitForSlave waitForSlaveTimeout",
        "networkConnector": "advisoryAckPercentage advisoryForFailedForward advisoryPrefetchSize "
        "alwaysSyncSend "
        "bridgeFactory bridgeTempDestinations brokerName brokerService brokerURL "
        "checkDuplicateMessagesOnDuplex clientIdToken conduitNetworkQueueSubscriptions "
        "conduitSubscriptions connectionFilter consumerPriorityBase consumerTTL "
        "decreaseNetworkConsumerPriority destinationFilter discoveryAgent discoveryURI "
        "dispatchAsync duplex dynamicOnly gcDestinationViews gcSweepTime id localUri messageTTL "
        "name networkTTL objectName password prefetchSize remotePassword remoteUserName "
        "sslContext staticBridge suppressDuplicateQueueSubscriptions "
        "suppressDuplicateTopicSubscriptions syncDurableSubs uri useBrokerNameAsIdSees "
        "useCompression useVirtualDestSubs userName",
        "transportConnector": "allowLinkStealing auditNetworkProducers brokerInfo brokerService "
        "disableAsyncDispatch "
        "discoveryAgent discoveryUri displayStackTrace enableStatusMonitor id "
        "maximumConsumersAllowedPerConnection maximumProducersAllowedPerConnection "
        "messageAuthorizationPolicy name publishedAddressPolicy rebalanceClusterClients server "
        "taskRunnerFactory updateClusterClients updateClusterClientsOnRemove "
        "updateClusterFilter uri warnOnRemoteClose",
        "policyEntry": "advisoryForConsumed advisoryForDelivery advisoryForDiscardingMessages "
        "advisoryForFastProducers advisoryForSlowConsumers advisoryWhenFull "
        "allConsumersExclusiveByDefault alwaysRetroactive blockedProducerWarningInterval "
        "consumersBeforeDispatchStarts cursorMemoryHighWaterMark deadLetterStrategy destination "
        "dispatchPolicy doOptimzeMessageStorage durableTopicPrefetch enableAudit "
        "expireMessagesPeriod gcInactiveDestinations gcWithNetworkConsumers id "
        "inactiveTimeoutBeforeGC inactiveTimoutBeforeGC includeBodyForAdvisory lazyDispatch "
        "maxAuditDepth maxBrowsePageSize maxDestinations maxExpirePageSize maxPageSize "
        "maxProducersToAudit maxQueueAuditDepth memoryLimit messageEvictionStrategy "
        "messageGroupMapFactory messageGroupMapFactoryType minimumMessageSize "
        "networkBridgeFilterFactory optimizeMessageStoreInFlightLimit optimizedDispatch "
        "pendingDurableSubscriberPolicy pendingMessageLimitStrategy pendingQueuePolicy "
        "pendingSubscriberPolicy persistJMSRedelivered prioritizedMessages producerFlowControl "
        "queue queueBrowserPrefetch queuePrefetch reduceMemoryFootprint "
        "sendAdvisoryIfNoConsumers sendDuplicateFromStoreToDLQ sendFailIfNoSpace "
        "sendFailIfNoSpaceAfterTimeout slowConsumerStrategy storeUsageHighWaterMark "
        "strictOrderDispatch subscriptionRecoveryPolicy tempQueue tempTopic "
        "timeBeforeDispatchStarts topic topicPrefetch useCache useConsumerPriority "
        "usePrefetchExtension useTopicSubscriptionInflightStats",
        "kahaDB": "archiveCorruptedIndex archiveDataLogs brokerName brokerService "
        "checkForCorruptJournalFiles checkpointInterval checksumJournalFiles cleanupInterval "
        "cleanupOnStop compactAcksAfterNoGC compactAcksIgnoresStoreGrowth "
        "concurrentStoreAndDispatchQueues concurrentStoreAndDispatchTopics "
        "databaseLockedWaitDelay directory directoryArchive enableAckCompaction "
        "enableIndexDiskSyncs enableIndexPageCaching enableIndexRecoveryFile "
        "enableIndexWriteAsync enableJournalDiskSyncs enableSubscriptionStatistics "
        "failoverProducersAuditDepth forceRecoverIndex id ignoreMissingJournalfiles "
        "indexCacheSize indexDirectory indexLFUEvictionFactor indexWriteBatchSize "
        "journalDiskSyncInterval journalDiskSyncStrategy journalMaxFileLength "
        "journalMaxWriteBatchSize lockKeepAlivePeriod locker maxAsyncJobs "
        "maxFailoverProducersToTrack preallocationScope preallocationStrategy "
        "purgeRecoveredXATransactionStrategy scheduledThreadPoolExecutor stopOnError "
        "transactionIdTransformer usageManager useIndexLFRUEviction useLock",
        "jdbcPersistenceAdapter": "adapter auditRecoveryDepth brokerName brokerService changeAutoCommitAllowed "
        "cleanupPeriod createTablesOnStartup dataDirectory dataDirectoryFile dataSource "
        "databaseLocker directory ds enableAudit id lockAcquireSleepInterval lockDataSource "
        "lockKeepAlivePeriod locker maxAuditDepth maxProducersToAudit maxRows networkTimeout "
        "queryTimeout scheduledThreadPoolExecutor statements stopOnError transactionIsolation "
        "usageManager useDatabaseLock useExternalMessageReferences useLock wireFormat",
        "shared-file-locker": "directory failIfLocked id lockAcquireSleepInterval lockable name",
        "lease-database-locker": "createTablesOnStartup dataSource failIfLocked handleStartException id "
        "leaseHolderId "
        "lockAcquireSleepInterval lockable maxAllowableDiffFromDBTime name queryTimeout "
        "statements",
        "database-locker": "createTablesOnStartup dataSource exceptionHandler failIfLocked id "
        "lockAcquireSleepInterval lockable name queryTimeout statements",
        "conditionalNetworkBridgeFilterFactory": "id rateDuration rateLimit replayDelay "
        "replayWhenNoConsumers selectorAware",
        "virtualTopic": "concurrentSend dropOnResourceLimit id local name postfix prefix selectorAware "
        "setOriginalDestination transactedSend",
        "compositeQueue": "concurrentSend copyMessage forwardOnly id name sendWhenNotMatched",
        "compositeTopic": "concurrentSend copyMessage forwardOnly id name sendWhenNotMatched",
        "queue": "DLQ id name physicalName properties",
        "topic": "DLQ id name physicalName properties",
        "filteredDestination": "destination filter id queue selector topic",
    }.items()
}

CHILDREN: dict[str, frozenset[str]] = {
    element: frozenset(names.split())
    for element, names in {
        "broker": "adminView brokerContext brokerObjectName consumerSystemUsage dataDirectoryFile "
        "destinationFactory destinationInterceptors destinationPolicy destinations "
        "ioExceptionHandler jmsBridgeConnectors jobSchedulerStore managementContext "
        "messageAuthorizationPolicy networkConnectorURIs networkConnectors persistenceAdapter "
        "persistenceFactory persistenceTaskRunnerFactory plugins producerSystemUsage "
        "proxyConnectors regionBroker schedulerDirectoryFile services shutdownHooks sslContext "
        "startException systemUsage taskRunnerFactory tempDataStore tmpDataDirectory "
        "transportConnectorURIs transportConnectors vmConnectorURI",
        "networkConnector": "bridgeFactory brokerService connectionFilter discoveryAgent discoveryURI "
        "durableDestinations dynamicallyIncludedDestinations excludedDestinations localUri "
        "objectName sslContext staticallyIncludedDestinations uri",
        "policyEntry": "deadLetterStrategy destination dispatchPolicy messageEvictionStrategy "
        "messageGroupMapFactory networkBridgeFilterFactory pendingDurableSubscriberPolicy "
        "pendingMessageLimitStrategy pendingQueuePolicy pendingSubscriberPolicy "
        "slowConsumerStrategy subscriptionRecoveryPolicy",
    }.items()
}

# Element -> name -> the first edition that has it.
LATER = {
    "networkConnector": {"autoStart": "6.1"},
    "policyEntry": {"advisoryForDispatched": "5.18"},
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
