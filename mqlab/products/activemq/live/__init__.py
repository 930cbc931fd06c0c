"""A running network of ActiveMQ brokers: read from their management, and made a network that the lab plays."""

from __future__ import annotations

from mqlab.products.activemq.live.network import read

__all__ = ["read"]
