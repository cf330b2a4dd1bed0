"""What every sheet of a report is made from: a fitted model, its cohort, and the comparisons by name."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from clinclust.reporting.layout import Value

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.mapdp import MAPDP
    from clinclust.schema import Feature

__all__ = ["WITHHELD", "Findings", "as_value", "shown"]

WITHHELD = "[c]"
"""Stands for a number that few subjects are behind: confidential."""

_LARGEST_WHOLE = 10**15 - 1

Row: TypeAlias = dict[str, Any]
Level: TypeAlias = str | None


@dataclass(frozen=True)
class Findings:
    """A fitted model with its validated cohort and the comparisons of its subtypes.

    Attributes
    ----------
    model : MAPDP
    frame : pandas.DataFrame, N rows
        Validated by the model's schema.
    comparisons : pandas.DataFrame
        From `clinclust.compare_subtypes`.
    significance_level : float
    withheld_below : int or None
        Counts below this are withheld in the comparisons, and nothing is reported of single subjects.
    """

    model: MAPDP
    frame: pd.DataFrame
    comparisons: pd.DataFrame
    significance_level: float
    withheld_below: int | None = None

    def for_sharing(self, threshold: int) -> Findings:
        """Return the same with counts below `threshold` withheld."""
        from clinclust.disclosure import suppress_small_cells

        comparisons = suppress_small_cells(self.comparisons, threshold=threshold)
        return replace(self, comparisons=comparisons, withheld_below=threshold)

    def check_comparisons(self) -> None:
        """Raise ValueError unless the comparisons are of these features and these subtypes."""
        if self.comparisons["suppressed"].any():
            raise ValueError(
                "comparisons hold withheld numbers; pass those of compare_subtypes, and ask for `suppress` here"
            )
        expected = {feature.name for feature in self.features}
        if set(self.comparisons["feature"]) != expected:
            different = sorted(expected ^ set(self.comparisons["feature"]))
            raise ValueError(f"comparisons and the model's schema differ in these features: {', '.join(different)}")
        for feature in self.features:
            for summaries in self.levels(feature).values():
                sizes = {subtype: row["n"] + row["missing"] for subtype, row in summaries.items() if subtype}
                if sizes != self.sizes:
                    raise ValueError(
                        f"comparisons hold subtypes of sizes {list(sizes.values())}, the model of sizes "
                        f"{list(self.sizes.values())}; compare the labels of this model"
                    )

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

    @cached_property
    def _withheld(self) -> set[str]:
        suppressed = self.comparisons["suppressed"].fillna(False).to_numpy(dtype=bool)
        return set(self.comparisons.loc[suppressed, "feature"])

    def is_withheld(self, feature: Feature) -> bool:
        """Whether some number of the feature is withheld."""
        return feature.name in self._withheld

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
        """Evidence in nats that the feature differs between subtypes; None where it was not clustered on.

        None also where some of its counts are withheld: it is a function of all of them, so that the last one
        unknown could be found by trying.
        """
        if not self.clustered_on(feature) or self.is_withheld(feature):
            return None
        return float(self.model.feature_relevance_[feature.name])

    def clustered_on(self, feature: Feature) -> bool:
        """Whether the feature took part in finding the subtypes."""
        return feature.role == "cluster" and feature.name not in self.model.kept_out_

    def levels(self, feature: Feature) -> dict[Level, dict[int, Row]]:
        """Summaries of a feature by level (None for one without levels) and subtype (0 = all subjects)."""
        return self._summaries[feature.name]

    def tests(self, feature: Feature, level: Level) -> dict[tuple[int, int], dict[str, Row]]:
        """Tests of a feature (or one level of it) by pair of subtypes and name of the test."""
        return self._tests[feature.name, level]

    @cached_property
    def _summaries(self) -> dict[str, dict[Level, dict[int, Row]]]:
        found: dict[str, dict[Level, dict[int, Row]]] = defaultdict(lambda: defaultdict(dict))
        for row in self._rows("summary"):
            found[row["feature"]][row["level"]][row["subtype"]] = row
        return found

    @cached_property
    def _tests(self) -> dict[tuple[str, Level], dict[tuple[int, int], dict[str, Row]]]:
        found: dict[tuple[str, Level], dict[tuple[int, int], dict[str, Row]]]
        found = defaultdict(lambda: defaultdict(dict))
        for row in self._rows("test"):
            found[row["feature"], row["level"]][row["subtype"], row["versus"]][row["test"]] = row
        return found

    def _rows(self, kind: str) -> list[Row]:
        rows = self.comparisons[self.comparisons["kind"] == kind].to_dict("records")
        level = {"level": None}  # instead of pandas.NA
        return [cast("Row", row if isinstance(row["level"], str) else row | level) for row in rows]

    @cached_property
    def compared(self) -> list[int]:
        """The subtypes that were large enough to be tested."""
        tests = self.comparisons[self.comparisons["kind"] == "test"]
        return sorted({*tests["subtype"].tolist(), *tests["versus"].tolist()})

    def is_significant(self, test: Row) -> bool:
        """Whether p is at or below the significance level of the report."""
        return bool(test["p"] <= self.significance_level)


def shown(row: Row, name: str) -> Value:
    """Return a number of the comparisons for a table, or the sign that it is withheld."""
    value = as_value(row[name])
    return WITHHELD if value is None and row["suppressed"] else value


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
