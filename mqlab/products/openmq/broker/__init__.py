"""What brokers hold and hand out: destinations, delivery, acknowledgement, administration."""
