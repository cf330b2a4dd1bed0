"""Describe a measurement in two units: a subtype formed by it would be those who were measured in one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.proposal import Proposal
from clinclust.drafting.two_units import two_units
from clinclust.files.limits_in_words import is_beyond_a_limit
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.gaussian import Gaussian

__all__ = ["described_in_two_units", "exact_numbers"]


def exact_numbers(column: ObservedColumn, numbers: NDArray[np.float64] | Sequence[float]) -> NDArray[np.float64]:
    """Return the number of each cell that is not beyond a limit, given that of each text of the column."""
    is_exact = np.array([not is_beyond_a_limit(text) for text in column.texts], dtype=bool)
    return np.repeat(np.asarray(numbers, dtype=np.float64)[is_exact], column.counts[is_exact])


def described_in_two_units(column: ObservedColumn, exact: NDArray[np.float64], proposal: Proposal) -> Proposal | None:
    """Return the proposal that describes a column if its measurements have two units; None otherwise.

    Parameters
    ----------
    column : ObservedColumn
    exact : float64 (n,)
        The numbers that are not beyond a limit.
    proposal : Proposal
        What the column would be in one unit.
    """
    if not traits_of(proposal.fields.get("likelihood")).is_continuous:
        return None
    two = two_units(column.name, exact)
    if two is None:
        return None
    reason = "a measurement in two units, by its values: a subtype would be those in one unit, so it is described only"
    look = (
        f"{two} in the table, draft again, and the column is clustered on; if all values are in one unit already, take "
        "`role: describe` out"
    )
    return Proposal({"likelihood": Gaussian.name, "role": "describe"}, reason, (look,))
