"""Clients: connections, consumers, producers."""
