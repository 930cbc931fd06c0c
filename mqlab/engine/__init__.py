"""What every product's lab stands on: time, links between parts, and the face of a lab."""
