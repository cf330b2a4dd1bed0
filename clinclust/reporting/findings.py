"""What every sheet of a report is made from: the subtypes, their cohort, and the comparisons by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from clinclust.comparisons.frame import ComparisonsFrame, Level, Record
from clinclust.reporting.layout import WITHHELD, Column, Value
from clinclust.reporting.profiles import profiles_of

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.estimators.fit import Fit
    from clinclust.estimators.subtype_model import SubtypeModel
    from clinclust.schema import Feature

__all__ = ["Findings", "as_value", "number_of"]

_LARGEST_WHOLE = 10**15 - 1

Row: TypeAlias = Record


@dataclass(frozen=True)
class Findings:
    """A partition with its validated cohort and the comparisons of its subtypes.

    Attributes
    ----------
    model : SubtypeModel
    frame : pandas.DataFrame, N rows
        Validated by the model's schema.
    comparisons : pandas.DataFrame
        From `clinclust.compare_subtypes`.
    significance_level : float
    associations : pandas.DataFrame, optional
        From `clinclust.validated_associations`.
    names : mapping of int to str
        What people call subtypes, of those that have a name.
    withheld_below : int or None
        Counts below this are withheld in the comparisons, and nothing is reported of single subjects.
    """

    model: SubtypeModel
    frame: pd.DataFrame
    comparisons: pd.DataFrame
    significance_level: float
    associations: pd.DataFrame | None = None
    names: Mapping[int, str] = field(default_factory=dict)
    withheld_below: int | None = None

    @property
    def fit(self) -> Fit | None:
        """What the MAP-DP search found; None where no such search made the subtypes."""
        return self.model.fit_

    @property
    def formed(self) -> str:
        """Which features p-values are no inference for, as a relative clause."""
        return "that the subtypes may have been made from" if self.fit is None else "that were clustered on"

    @property
    def is_shared(self) -> bool:
        """Whether the report is made for sharing, with numbers of few subjects withheld."""
        return self.withheld_below is not None

    def name(self, subtype: int) -> str:
        """Return what a report calls a subtype: its number, and its name if it has one."""
        return f"{subtype} {self.names[subtype]}" if subtype in self.names else f"Subtype {subtype}"

    def for_sharing(self, threshold: int) -> Findings:
        """Return the same with counts below `threshold` withheld.

        Raises
        ------
        ValueError
            If the cohort is too small for that.
        """
        from clinclust.disclosure import suppress_small_cells

        comparisons = suppress_small_cells(self.comparisons, threshold=threshold)
        shared = replace(self, comparisons=comparisons, associations=None, withheld_below=threshold)
        return shared if self.associations is None else shared.with_associations(self.associations)

    def with_associations(self, associations: pd.DataFrame) -> Findings:
        """Return the same with validated associations; in a report for sharing, without what they would give away."""
        if self.is_shared:
            from clinclust.disclosure import withhold_associations

            associations = withhold_associations(associations, self.comparisons)
        return replace(self, associations=associations)

    def versus(self, subtype: int) -> str:
        """Return what a report calls that with which a subtype is compared (0: all other subjects)."""
        return self.name(subtype) if subtype else "All others"

    @cached_property
    def sizes(self) -> dict[int, int]:
        """Subjects in each subtype."""
        subtypes, sizes = np.unique(np.asarray(self.model.labels_) + 1, return_counts=True)
        return dict(zip(subtypes.tolist(), sizes.tolist(), strict=True))

    @cached_property
    def shown_sizes(self) -> dict[int, int | None]:
        """Subjects in all (0) and in each subtype; None where the size is withheld."""
        if self.withheld_below is not None:
            from clinclust.disclosure.sizes import shown_sizes

            return shown_sizes(self.sizes, self.withheld_below)
        return {0: sum(self.sizes.values()), **self.sizes}

    def is_withheld(self, feature: Feature) -> bool:
        """Whether some number of the feature is withheld."""
        return feature.name in self.read.withheld

    @cached_property
    def features(self) -> list[Feature]:
        """Clustered and described features by section, within a section those that matter most first."""
        schema = self.model.schema_
        reported = [feature for feature in schema if feature.role in ("cluster", "describe")]
        sections = list(dict.fromkeys(feature.section for feature in reported))
        place = {feature.name: place for place, feature in enumerate(schema)}

        def reading_order(feature: Feature) -> tuple[int, float, int]:
            relevance = self.relevance(feature)
            importance = -math.inf if relevance is None else relevance
            return sections.index(feature.section), -importance, place[feature.name]

        return sorted(reported, key=reading_order)

    def relevance(self, feature: Feature) -> float | None:
        """Evidence in nats that the feature differs between subtypes; None where no search clustered on it.

        None also where some of its counts are withheld: it is a function of all of them, so that the last one
        unknown could be found by trying.
        """
        if self.fit is None or not self.clustered_on(feature) or self.is_withheld(feature):
            return None
        return float(self.fit.feature_relevance_[feature.name])

    @property
    def relevance_column(self) -> list[Column]:
        """The column of the relevance, which only a search can tell."""
        return [] if self.fit is None else [Column("Relevance (nats)", "0.0")]

    def relevance_cell(self, feature: Feature) -> list[Value]:
        """Return the cell of a feature under `relevance_column`."""
        return [] if self.fit is None else [self.relevance(feature)]

    @cached_property
    def by_relevance(self) -> list[Feature]:
        """The features, those that matter most first, and last those that were not clustered on.

        Without a search those come first whose means lie farthest apart.
        """
        ranks = None if self.fit is not None else profiles_of(self.comparisons).prominence

        def least_relevant_last(feature: Feature) -> float:
            rank = self.relevance(feature) if ranks is None else ranks.get(feature.name)
            return math.inf if rank is None else -rank

        return sorted(self.features, key=least_relevant_last)

    def clustered_on(self, feature: Feature) -> bool:
        """Whether the feature took part in finding the subtypes, or may have, where no search made them."""
        return feature.role == "cluster" and feature.name not in self.model.kept_out_

    def clustered_on_text(self, feature: Feature) -> str:
        """Return what stands under "Clustered on"."""
        if not self.clustered_on(feature):
            return "no"
        return "perhaps" if self.fit is None else "yes"

    @cached_property
    def read(self) -> ComparisonsFrame:
        """The rows of the comparisons by name."""
        return ComparisonsFrame(self.comparisons)

    def rows(self, kind: str) -> list[Row]:
        """Return the rows of the comparisons of one kind, in their order; a level that is missing is None."""
        return self.read.rows(kind)

    def levels(self, feature: Feature) -> dict[Level, dict[int, Row]]:
        """Summaries of a feature by level (None for one without levels) and subtype (0 = all subjects)."""
        return self.read.summaries[feature.name]

    def tests(self, feature: Feature, level: Level) -> dict[tuple[int, int], dict[str, Row]]:
        """Tests of a feature (or one level of it) by pair of subtypes and name of the test."""
        return self.read.tests.get((feature.name, level), {})

    def contrast(self, feature: Feature) -> Row | None:
        """Return the test of all subtypes at once; None where there is no row of it."""
        return self.read.contrasts.get(feature.name)

    def effects(self, feature: Feature) -> list[Row]:
        """Effect sizes of a feature, level by level."""
        return self.read.effects.get(feature.name, [])

    def association_rows(self) -> list[Row]:
        """Return the rows of the validated associations, if they were made."""
        return [] if self.associations is None else cast("list[Row]", self.associations.to_dict("records"))

    @property
    def compared(self) -> list[int]:
        """The subtypes that were large enough to be tested."""
        return self.read.tested

    def is_significant(self, test: Row) -> bool:
        """Whether p is at or below the significance level of the report."""
        return bool(test["p"] <= self.significance_level)


def as_value(value: object) -> Value:
    """Return a plain Python value for a table; None for whatever is neither a text nor a finite number.

    Whole numbers of more than 15 digits (a seed, a row label) become text: spreadsheet programs round them.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        return str(value)
    if isinstance(value, str):
        return value
    return value if isinstance(value, (int, float)) and math.isfinite(value) else None


def number_of(row: Row, name: str) -> Value:
    """Return a number of a row of the comparisons as a value, or the sign of what was withheld."""
    value = as_value(row[name])
    return WITHHELD if value is None and row.get("suppressed") is True else value
