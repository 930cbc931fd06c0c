"""Masters and slaves: lockers, stores that are shared or replicated, and what clients are told of a cluster."""
