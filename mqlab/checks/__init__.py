"""The frame of `check`: what a rule is, how rules are run, and the problems that they find.

The rules themselves live with their product.
"""
