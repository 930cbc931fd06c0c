"""A running network of Artemis brokers: read from their management, and made a network that the lab plays."""
