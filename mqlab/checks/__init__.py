"""The frame of `check`: problems, what a rule is, and where in a file one stands.

The rules themselves live with their product.
"""
