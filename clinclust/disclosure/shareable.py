"""What a shared report may print: the sheets with their columns, the facts of a run, and the figures.

Everything else is withheld, so that a new column is until it is listed here. A column is listed only if its cells are
functions of the numbers that `suppress_small_cells` returns, of what was stated before the analysis, or test results
of features of which no number is withheld.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_SIZES = ("Subtype", "Subjects", "%")
_FEATURE = ("Section", "Feature", "Level", "Clustered on")
_RELEVANCE = "Relevance (nats, descriptive)"
_OF_A_TEST = ("t", "df", "p", "q", "p\N{NO-BREAK SPACE}≤*")
_EFFECT = ("Estimate", "Lower", "Upper")
_SUMMARIES = ("n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3")

SHEETS: dict[str, tuple[str, ...]] = {
    "Overview": ("Subtype*", "n", "%", "Marks (all subjects)", "Question", "Answer"),
    "Withheld": ("Feature", "Counts withheld in", "Means or SDs withheld in", "Tests and effect sizes"),
    "Subtype table": ("Feature", "Missing, n", "*n = *", "SMD*", "Descriptive p", "Validated p", "Validated q"),
    "Numbers": ("Feature", "Level", "n", "Missing", "Count", "%", "Mean", "SD", "Q1", "Median", "Q3"),
    "Trust": ("One side", "Other side", "Division", "Result", "Feature", "With a higher score"),
    "Profile": ("Feature", "Level", "Section", "Of the", _RELEVANCE, "Distance from all subjects, in SD"),
    "Charts": (*_SIZES, "Feature", *_EFFECT, "Length below", "Length above"),
    "Associations": (
        *("Feature", "Section", "Clustered on", _RELEVANCE, "Contrast", "p of contrast"),
        *("Method", "Test", "p", "q", "p at most", "Reported", "Grade", "Remark"),
    ),
    "Effect sizes": (*_FEATURE, "Subtype", "Versus", "Measure", *_EFFECT, "n"),
    "Pairwise tests": (*_FEATURE, "Subtype", "n", "Mean", "Standardised difference", *_OF_A_TEST, "Remark"),
    "Likelihoods": ("Feature", "Declared", "Better"),
    "Missing data": ("Section", "Feature", "Clustered on", "n", "%"),
    "Summary": (*_SIZES, "Item", "Value", "Term", "Meaning", "Package", "Version"),
    "Codebook": (
        *("Column", "Label", "Role", "Likelihood", "Section", "Unit", "Transform", "Block"),  # not what levels mean
        *("Must be complete", "Observed", "Missing", "Clustered on", "Prior, or why not clustered on"),
    ),
    "Methods": ("About", "Paragraph", "Number", "Reference"),
    "Data": (
        *("Kind", "Column", "Subtype", "Versus", "Method", *_FEATURE, *_SUMMARIES),
        *("statistic", "df", "df2", "p", "q", "estimate", "lower", "upper"),
    ),
}
"""The columns of each sheet by their heading, or that of their group; ``*`` is any text."""

FACTS = (
    *("Cohort", "Subjects", "Report written", "Significance level"),
    *("Features clustered on", "Features only described", "Features that the subtypes may have been made from"),
    *("Subtypes found", "Subtypes asked for", "Subtypes given", "Subtypes made by"),
    *("Number of subtypes", "Groups found by the search"),
    *("Concentration", "Discount", "Coarsening", "Share of values expected to be outlying", "Random seed", "Search"),
)
"""The facts of the run, by item: settings that were stated, and numbers of subtypes and of features."""

FIGURES = ("profile", "effects")
"""The figures of a page."""


def may_be_printed(sheet: str, *headings: str) -> bool:
    """Return whether a column with one of these headings is listed for a sheet."""
    shown = [" ".join(heading.split("\n")) for heading in headings if heading]
    return any(fnmatchcase(heading, listed) for listed in SHEETS.get(sheet, ()) for heading in shown)
