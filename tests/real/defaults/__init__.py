"""What the products' own classes have for the defaults of options, beside our rows.

`python -m tests.real.defaults` asks them (Java, Maven) and writes `table.tsv`; `test_defaults.py` holds the
rows against it, and needs neither.
"""
