"""Leave a measurement in two units out: a subtype formed by it would be those who were measured in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.proposal import Proposal
from clinclust.drafting.two_units import two_units
from clinclust.files.limits_in_words import is_beyond_a_limit
from clinclust.likelihoods import traits_of
from clinclust.likelihoods.gaussian import Gaussian

__all__ = ["exact_numbers", "left_out_for_two_units"]


def exact_numbers(column: ObservedColumn, numbers: NDArray[np.float64] | Sequence[float]) -> NDArray[np.float64]:
    """Return the number of each cell that is not beyond a limit, given that of each text of the column."""
    is_exact = np.array([not is_beyond_a_limit(text) for text in column.texts], dtype=bool)
    return np.repeat(np.asarray(numbers, dtype=np.float64)[is_exact], column.counts[is_exact])


def left_out_for_two_units(column: ObservedColumn, exact: NDArray[np.float64], proposal: Proposal) -> Proposal:
    """Return the proposal, without clustering on a column whose measurements have two units; or told if that may be.

    A column in two units is ignored rather than described: a mean over both would be wrong in every report too.

    Parameters
    ----------
    column : ObservedColumn
    exact : float64 (n,)
        The numbers that are not beyond a limit.
    proposal : Proposal
        What the column would be in one unit.
    """
    if not traits_of(proposal.fields.get("likelihood")).is_continuous:
        return proposal
    two = two_units(column.name, exact)
    if two is None:
        return proposal
    if not two.is_certain:
        told = f"{two.said}, or write `role: ignore`; if these are groups of patients in one unit, all is well"
        return replace(proposal, looks=(*proposal.looks, told))
    reason = "a measurement in two units, by its values: subtypes and means would be those of units, so it is left out"
    look = (
        f"{two.said} in the table, draft again, and the column is clustered on; if all values are in one unit already, "
        "take `role: ignore` out"
    )
    return Proposal({"likelihood": Gaussian.name, "role": "ignore"}, reason, (look,))
