"""What Artemis' schema allows in a `core`; it is that of 2.31.2, and later editions have more names."""

from __future__ import annotations

from pathlib import Path

from mqlab.files.schema import Schema

NAMESPACES = ("urn:activemq:core", "urn:activemq", "")
SCHEMA = Schema.read(Path(__file__).with_name("schema.json"), NAMESPACES)
