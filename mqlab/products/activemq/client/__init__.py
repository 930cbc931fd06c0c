"""Clients of ActiveMQ: connections over failover: and discovery: addresses, sessions, consumers, producers."""
