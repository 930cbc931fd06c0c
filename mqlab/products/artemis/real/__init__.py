"""Artemis' own brokers as processes."""
