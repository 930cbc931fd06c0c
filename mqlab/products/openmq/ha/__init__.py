"""Enhanced clusters: suspicion and takeover."""
