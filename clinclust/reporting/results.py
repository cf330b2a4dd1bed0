"""The comparisons of the subtypes and the validated associations, as the sheets of a report read them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame, Level, Record

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import Feature

__all__ = ["Results", "Row", "with_pooled_means"]

Row: TypeAlias = Record

_NOT_IN_EVERY_FRAME = ("agreement", "effect", "effect_reported", "p_whatever_is_missing")
"""Columns of the validated associations that a frame made elsewhere may lack."""
_MANY_PAIRS = 5_000
"""Comparisons of pairs of subtypes, above which only one sheet shows them: 10 subtypes in 110 features.

Nobody reads them, and writing them would take longer than the search."""


class Results:
    """Access to the rows of the two frames of a report by kind, feature, level and subtype.

    Attributes
    ----------
    comparisons : pandas.DataFrame
        From `clinclust.compare_subtypes`.
    associations : pandas.DataFrame or None
        From `clinclust.validated_associations`.
    """

    comparisons: pd.DataFrame
    associations: pd.DataFrame | None

    @cached_property
    def read(self) -> ComparisonsFrame:
        """The rows of the comparisons, grouped by kind, feature, level and subtype."""
        return ComparisonsFrame(self.comparisons)

    def rows(self, kind: str) -> list[Row]:
        """Return the rows of the comparisons of one kind, in their order; a missing level is None."""
        return self.read.rows(kind)

    def levels(self, feature: Feature) -> dict[Level, dict[int, Row]]:
        """Return the summaries of a feature by level (None if it has no levels) and subtype (0: all subjects)."""
        return self.read.summaries[feature.name]

    def tests(self, feature: Feature, level: Level) -> dict[tuple[int, int], dict[str, Row]]:
        """Return the tests of a feature, or of one of its levels, by pair of subtypes and name of the test."""
        return self.read.tests.get((feature.name, level), {})

    @property
    def n_pairwise(self) -> int:
        """The number of comparisons of a pair of subtypes in a feature or level."""
        return sum(map(len, self.read.tests.values()))

    @property
    def has_many_pairs(self) -> bool:
        """Whether the pairs of subtypes are so many that only one sheet shows them."""
        return self.n_pairwise > _MANY_PAIRS

    def contrast(self, feature: Feature) -> Row | None:
        """Return the test of all subtypes at once; None if the comparisons have none."""
        return self.read.contrasts.get(feature.name)

    def effects(self, feature: Feature) -> list[Row]:
        """Return the effect sizes of a feature, in the order of the comparisons."""
        return self.read.effects.get(feature.name, [])

    def association_rows(self) -> list[Row]:
        """Return the rows of the validated associations; empty if there are none. A column that is absent is None."""
        if self.associations is None:
            return []
        found = cast("list[Row]", self.associations.to_dict("records"))
        return [{**dict.fromkeys(_NOT_IN_EVERY_FRAME), **row} for row in found]

    @property
    def compared(self) -> list[int]:
        """The subtypes that were large enough to be tested."""
        return self.read.tested


def with_pooled_means(comparisons: pd.DataFrame) -> pd.DataFrame:
    """Return a rounded frame with the mean and SD of all subjects of each feature without levels.

    They stay withheld where n, mean or SD of any subtype is. The exact mean of all subjects would tell how many values
    each subtype has; the pooled one is a function of numbers that are shown, so that it tells nothing more.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        From `suppress_small_cells` with `rounding`.
    """
    result = comparisons.copy()
    for levels in ComparisonsFrame(comparisons).summaries.values():
        rows = levels.get(None)
        pooled = None if rows is None else _pooled(rows)
        if rows is not None and pooled is not None:
            result.loc[rows[ALL_SUBJECTS]["place"], ["mean", "sd"]] = pooled
    return result


def _pooled(rows: Mapping[int, Record]) -> tuple[float, float] | None:
    """Return the mean and the SD of all values from n, mean and SD of each subtype; None if a number is withheld."""
    import pandas as pd

    numbers = [[row["n"], row["mean"], row["sd"]] for group, row in rows.items() if group != ALL_SUBJECTS]
    if any(pd.isna(number) for of_one in numbers for number in of_one):
        return None
    n, mean, sd = np.array(numbers, dtype=np.float64).T
    of_all = float(np.average(mean, weights=n))
    squares = (n - 1.0) * sd**2 + n * (mean - of_all) ** 2
    return of_all, float(np.sqrt(squares.sum() / (n.sum() - 1.0)))
