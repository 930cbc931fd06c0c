"""The public verbs, each a door to the rooms that do the work, entered at first use."""
