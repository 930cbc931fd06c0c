"""The steps of a script, and what they wait for."""
