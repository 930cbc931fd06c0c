"""Clients: connections that follow a pair of brokers, sessions, transactions."""
