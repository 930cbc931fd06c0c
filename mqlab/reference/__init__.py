"""What is known: the options of every product, the schema of lab files, and the rules as observed (`rules`)."""

from mqlab.reference.tables import (
    DRAFT,
    GUIDES,
    PRODUCTS,
    Actions,
    Entry,
    Options,
    actions,
    options,
    schema,
)

__all__ = ["DRAFT", "GUIDES", "PRODUCTS", "Actions", "Entry", "Options", "actions", "options", "schema"]
