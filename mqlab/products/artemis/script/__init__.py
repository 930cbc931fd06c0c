"""What operators do to brokers."""
