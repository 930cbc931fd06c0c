"""A number and its noun, in the singular for 1."""

from __future__ import annotations


def counted(number: int, noun: str, many: str = "") -> str:
    """Return *number* and *noun* as English writes them; *many* is the plural where it is not `noun` and "s".

    >>> counted(1, "message"), counted(2_000, "message"), counted(2, "reply", "replies")
    ('1 message', '2000 messages', '2 replies')
    """
    return f"{number} {noun if number == 1 else many or f'{noun}s'}"
