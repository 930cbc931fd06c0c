"""Whose a network subscription of a running broker is: told by the id of its client."""

from __future__ import annotations

import re

from mqlab.spec.running import Running


def remotes(running: Running, broker: str, client: str) -> set[str]:
    """Return the other end of a network subscription's bridge, by its client id: NAME_REMOTE_inbound_OWN."""
    ends = {one.remote for one in running.bridges if one.broker == broker}
    return {one for one in ends if re.search(rf"{re.escape(one)}.inbound.{re.escape(broker)}$", client)}
