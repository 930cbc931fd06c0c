"""Cluster connections: how messages are spread over brokers."""
