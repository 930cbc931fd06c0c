"""`python -m tests.real.defaults`: ask the products, and write `table.tsv`."""

from tests.real.defaults.reading import write

write()
