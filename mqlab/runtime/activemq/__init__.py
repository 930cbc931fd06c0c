"""ActiveMQ: brokers, their networks, their clients and their masters and slaves."""
