"""Lab files and Open Message Queue's own property files."""
