"""The sheet Other methods: what other methods of clustering found in the same cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.method_comparison.compare import OURS
from clinclust.reporting.findings import as_value
from clinclust.reporting.layout import Column, Sheet, Table, Value

if TYPE_CHECKING:
    from clinclust.method_comparison import MethodComparison
    from clinclust.reporting.findings import Findings

__all__ = ["other_methods_sheets"]

_EXPLANATIONS = (
    "No labels are known in a cohort, so that nothing here says which method is right. Subtypes that several methods "
    "find depend less on the method.",
    "Told apart: how many of the clusters the test tells from one continuous population with the same margins and "
    "correlations; 1 means that one continuum explains all of them, so that they are slices of it.",
    "Agreement: adjusted Rand index with the reported subtypes; 1 = the same, 0 = as by chance.",
    "Prediction: each fifth of the subjects was held out; the log density of its values, in nats a subject (0.69 nats "
    "are a factor of two), under the clusters that the method finds among the others, by the likelihoods of the schema "
    f"for all methods alike. Above 0, the clusters predict new subjects better than those of {OURS}; less than two "
    "standard errors (SE) from 0 is no clear difference. The SE takes the subjects for independent, and is rather too "
    "small, since each has a part in four of the five fits.",
    "Half-samples: mean adjusted Rand index of the clusters with those of refits of random halves of the cohort, with "
    "the same number of clusters. Slices of one severity come again as well.",
)


_SHOWN = ("n_clusters", "n_distinct", "agreement", "held_out_gain", "held_out_gain_se", "stability")


def other_methods_sheets(findings: Findings) -> list[Sheet]:
    """Return the sheet; none if no methods were compared, or the report is shared."""
    if findings.other_methods is None or findings.is_shared:
        return []
    notes = ["Other methods of clustering in the same cohort, each as it is usually asked."]
    tables = [_table(findings.other_methods)]
    return [Sheet("Other methods", notes, tables, explanations=_EXPLANATIONS)]


def _table(found: MethodComparison) -> Table:
    columns = [
        Column("Method"),
        Column("Clusters", "0"),
        Column("Told apart", "0"),
        Column("Agreement", "0.00"),
        Column("Prediction", "0.000"),
        Column("SE", "0.000"),
        Column("Half-samples", "0.00"),
        Column("What was done, or why it was left out", widest=60),
    ]
    rows: list[list[Value]] = [
        [
            str(row["method"]),
            *(as_value(row[name]) for name in _SHOWN),
            str(row["said"]),
        ]
        for row in found.table.to_dict("records")
    ]
    return Table("What each method finds", columns, rows)
