"""One finding of redundancy: columns that say the same thing, and what a schema should do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Proposal", "Redundancy"]

Proposal = Literal["block", "keep one", "describe"]


@dataclass(frozen=True)
class Redundancy:
    """Columns of which some repeat what others say.

    Attributes
    ----------
    columns : tuple of str
        All columns that it concerns, in the order of the table.
    kind : str
        "identical", "opposite", "function", "arithmetic", "composition", "one question", "items", "repeated" or
        "outcome".
    proposal : {"block", "keep one", "describe"}
        What to write in the schema: one `block` for all columns; `role: describe` for all but one; or `role: describe`
        for those in `described`.
    reason : str
        One sentence for a clinician, without a full stop, with the figure that convinced. It holds no value of the
        table.
    strength : float
        How sure the finding is, from 0 to 1: the share of subjects in whom it holds, or a rank correlation.
    keep : str or None
        The column to keep in the clustering, if one is to be kept.
    described : tuple of str
        The columns to take out of the clustering.
    block : str or None
        The name of the block, if a block is proposed.

    Examples
    --------
    >>> from clinclust.drafting.redundancy import Redundancy
    >>> twins = Redundancy(("age", "age_2"), "identical", "keep one", "equal in all 569 subjects", 1.0, keep="age")
    >>> twins.keep
    'age'
    """

    columns: tuple[str, ...]
    kind: str
    proposal: Proposal
    reason: str
    strength: float
    keep: str | None = None
    described: tuple[str, ...] = ()
    block: str | None = None
