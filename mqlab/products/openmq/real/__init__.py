"""Open Message Queue's own brokers as processes."""
