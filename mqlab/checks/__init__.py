"""The frame of `check`: problems, the catalogue of rules, and where in a file one stands.

The rules themselves live with their product.
"""
