"""Something in a table that deserves a look before subtypes are searched."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LOOK", "SEE", "Look"]

LOOK = "LOOK: "
"""What begins the lines of a comment that deserve a look."""
SEE = "see "
"""What follows it where another feature says the same."""


@dataclass(frozen=True)
class Look:
    """Something that fits a schema, but may make subtypes that are none.

    Attributes
    ----------
    columns : tuple of str
        The columns that it concerns, in the order of the table; empty if it concerns the whole table.
    what : str
        What was seen, as a sentence without a full stop.
    repair : str
        What to write in the schema, or which option to give, if it is a fault; empty if `what` says it.
    """

    columns: tuple[str, ...]
    what: str
    repair: str
