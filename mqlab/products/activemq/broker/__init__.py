"""One broker: its destinations, its subscriptions, what it keeps of messages, and its life as a service."""
