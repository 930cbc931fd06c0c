"""What Artemis' schema allows in a `core`: that of 2.31.2, with the names that 2.45 has besides."""

from __future__ import annotations

from pathlib import Path

from mqlab.files.schema import Schema

NAMESPACES = ("urn:activemq:core", "urn:activemq", "")
SCHEMA = Schema.read(Path(__file__).with_name("schema.json"), NAMESPACES)
