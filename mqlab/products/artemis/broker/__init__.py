"""One broker: its journal, its queues, and what it believes of its cluster."""
