"""Predict, run, explain: the notebooks, and how they are opened."""
