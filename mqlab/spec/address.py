"""What the address of a network connector may be.

Source: ActiveMQ rule 28.2.
"""

from __future__ import annotations

from mqlab.errors import UriError
from mqlab.spec.uri import Uri

MOST_NESTED = 5  # composite URIs inside one another in the address of a network connector


def check_connector(uri: Uri) -> None:
    """Raise a `UriError` when a broker refuses *uri* as the address of a network connector."""
    if uri.depth() > MOST_NESTED:
        raise UriError(
            f"broker URI: {uri}: more than {MOST_NESTED} addresses inside one another; "
            "write one static:(...) with a list"
        )
