"""mqlab: see a network of message brokers think."""
