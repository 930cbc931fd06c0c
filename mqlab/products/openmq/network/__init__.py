"""The cluster: its links, its state, and what brokers know in common."""
