"""Files <-> spec."""
