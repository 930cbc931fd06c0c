"""ActiveMQ's own brokers as processes, and how a script is played on them."""
