"""Logs of ActiveMQ brokers: what they say of themselves and of their bridges, as a trace."""
