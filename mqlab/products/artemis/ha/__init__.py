"""High availability: replication, shared stores, colocated backups, scale-down."""
