"""What a script does to a network: its steps, paced by rest or by calls."""
