"""The assignment of subjects to subtypes, and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clinclust.arrays import Array, Labels, Mask
from clinclust.errors import InputError
from clinclust.estimators.subtype_model import fewest_subjects
from clinclust.outcomes.three_step import assignment_errors

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

_FEWEST = 5
"""Fewest subjects of a subtype with all values."""
_LEAST_TOLD_APART = 0.7
"""Share of the members of a subtype who are assigned to it, below which nothing is corrected."""


class Assigned:
    """The chosen subjects, bool (N,), of the subtypes that have enough of them, as these were assigned.

    Raises InputError if there are not two such subtypes, with number `versus` among them.
    """

    def __init__(self, model: SubtypeModel, chosen: Mask, versus: int) -> None:
        labels = np.asarray(model.labels_)
        counts, fewest = np.bincount(labels[chosen], minlength=int(labels.max()) + 1), fewest_subjects(model)
        self.subtypes: Labels = np.flatnonzero(counts >= max(_FEWEST, fewest)).astype(np.int64)
        if self.subtypes.size < 2 or versus - 1 not in self.subtypes:
            raise InputError(
                f"at least two subtypes, among them subtype {versus}, need {max(_FEWEST, fewest)} subjects with all "
                "values; name other columns, or another subtype"
            )
        self.versus = int(np.searchsorted(self.subtypes, versus - 1))
        """Place of the subtype that others are compared with."""
        self.too_small = np.setdiff1d(np.arange(counts.size), self.subtypes) + 1
        """Numbers of the subtypes that are left out."""
        among = np.isin(labels, self.subtypes)
        self.chosen: Mask = chosen & among
        self.labels: Labels = np.searchsorted(self.subtypes, labels[self.chosen]).astype(np.int64)
        self._errors = np.eye(self.subtypes.size)
        self._why_not: str | None = "these subtypes have no probabilities"
        if model.membership_ is not None:
            membership = np.asarray(model.membership_)[among][:, self.subtypes]
            membership = membership / np.maximum(membership.sum(axis=1, keepdims=True), 1e-300)
            assigned = np.searchsorted(self.subtypes, labels[among]).astype(np.int64)
            self._errors = assignment_errors(membership, assigned)
            self._why_not = self._not_told_apart()

    def errors_of(self, method: str) -> tuple[Array, str | None]:
        """Return the errors of assignment (K, K), and why they cannot be carried through, if they cannot."""
        return (np.eye(self.subtypes.size), None) if method == "naive" else (self._errors, self._why_not)

    def _not_told_apart(self) -> str | None:
        own = np.diag(self._errors)
        worst = int(own.argmin())
        if own[worst] >= _LEAST_TOLD_APART:
            return None
        return (
            f"the subtypes are too hard to tell apart: {100 * own[worst]:.0f}% of the members of subtype "
            f"{self.subtypes[worst] + 1} are assigned to it (at least {100 * _LEAST_TOLD_APART:.0f}% are needed)"
        )
