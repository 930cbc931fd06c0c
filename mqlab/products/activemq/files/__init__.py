"""`activemq.xml`: configuration files to a network and back.

What is read is the same nouns that a user writes: hosts and ports become the names of the brokers that listen
there. The files themselves stay beside the network (`Network.origin`), so that writing an unchanged
network gives the very same texts, and writing a changed one touches only what changed.
"""

from __future__ import annotations

from mqlab.products.activemq.files.reading import read, sources
from mqlab.products.activemq.files.writing import Place, write

__all__ = ["Place", "read", "sources", "write"]
