"""What of a shared frame and report follows from the counts that are shown: tests, q, names, and what may be printed.

Every further number of a shared frame is a function of numbers that it shows, so it discloses nothing more. What is not
listed under `SHEETS`, `FACTS` and `FIGURES` is not printed, so that a new column is withheld until it is listed there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import ASSOCIATIONS, accepting
from clinclust.arguments import WITHHELD as SUPPRESSED
from clinclust.comparisons.differences import adjusted
from clinclust.comparisons.frame import WITHHELD
from clinclust.disclosure.counts import Rule, rounded, rounding_error

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

_NUMBERS = (
    *("n", "missing", "statistic", "df", "df2", "p", "q", "standardised_difference", "significant"),
    *("estimate", "lower", "upper"),
)
_CHOSEN_BY_VALUES = "superiority"  # the effect size that a feature has if its values are skewed


def keep_results_of_shown(comparisons: pd.DataFrame, using_withheld: Mask, withheld: Set[int]) -> pd.DataFrame:
    """Return the frame, changed in place, with the results that follow from its summaries, and without the others."""
    set_missing(comparisons, using_withheld, _NUMBERS)
    comparisons.loc[using_withheld, "suppressed"] = True
    kind = comparisons["kind"]
    comparisons.loc[using_withheld & (kind == "contrast").to_numpy(dtype=bool), "test"] = None
    comparisons["q"] = q_of_shown(comparisons)
    of_withheld = comparisons["subtype"].isin(withheld) | comparisons["versus"].isin(withheld)
    lost = of_withheld & kind.isin(("test", "effect"))
    lost |= using_withheld & (comparisons["measure"] == _CHOSEN_BY_VALUES).fillna(False)
    return comparisons[~lost.to_numpy(dtype=bool)].reset_index(drop=True)


def q_of_shown(comparisons: pd.DataFrame) -> Floats:
    """Return q of each row by Benjamini and Hochberg, over the shown tests of the same name or the shown contrasts."""
    p = comparisons["p"].to_numpy(dtype=np.float64, na_value=np.nan)
    q = np.full(p.shape, np.nan)
    for family in _families(comparisons):
        q[family] = adjusted(p[family])
    return q


def rows_ranked_with_shown(comparisons: pd.DataFrame, using_withheld: Mask) -> Mask:
    """Return which rows of `rows_using_withheld` are among the tests over which q was adjusted, bool (rows,)."""
    p, q = (comparisons[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("p", "q"))
    ranked = np.zeros(len(comparisons), dtype=bool)
    for family in _families(comparisons):
        shown = family & ~np.isnan(p) & ~np.isnan(q)
        error = _bound_rounding(p[shown])
        low, high = (adjusted(np.clip(p[shown] + sign * error, 0.0, 1.0)) for sign in (-1, 1))
        error = _bound_rounding(q[shown])
        follows = (low - error <= q[shown]) & (q[shown] <= high + error)
        ranked |= family & using_withheld & (not follows.all())
    return ranked


def _bound_rounding(values: Floats) -> Floats:
    """Return the largest rounding error of each p or q, by the decimals that it has."""
    printed = np.where(values >= 0.1, 0.005, np.where(values >= 0.001, 0.0005, np.inf))
    last_digit = np.array([float(Decimal((0, (1,), _find_last_place(value)))) for value in values.tolist()])
    return np.minimum(printed, 0.5 * last_digit) + 1e-9 * values


def _find_last_place(value: float) -> int:
    """Return the power of ten of the last digit of a number."""
    return int(Decimal(repr(value)).normalize().as_tuple().exponent) if value else -300


def names_using_withheld(comparisons: pd.DataFrame, using_withheld: Mask) -> Mask:
    """Return which rows of `rows_using_withheld` have a name that depends on withheld numbers, bool (rows,)."""
    has_name = (comparisons["kind"] == "contrast") & comparisons["test"].notna()
    is_chosen = (comparisons["measure"] == _CHOSEN_BY_VALUES).fillna(False)
    return np.asarray(using_withheld & (has_name | is_chosen).to_numpy(dtype=bool))


def _families(comparisons: pd.DataFrame) -> Iterator[Mask]:
    kind, name = (comparisons[column].to_numpy(dtype=object, na_value="") for column in ("kind", "test"))
    yield kind == "contrast"
    for each in sorted(set(name[kind == "test"])):
        yield (kind == "test") & (name == each)


def rows_using_withheld(comparisons: pd.DataFrame, touched: Set[tuple[str, int]], withheld: Set[int]) -> Mask:
    """Return which rows are tests, effects or contrasts that use withheld numbers, bool (rows,).

    Numbers of `touched` (feature, subtype; 0 = all subjects) and the sizes of the subtypes in `withheld` are withheld.
    """
    features = {feature for feature, _ in touched}
    columns = (comparisons[name].tolist() for name in ("kind", "feature", "subtype", "versus"))

    def uses_withheld(kind: str, feature: str, a: int, b: int) -> bool:
        if kind == "contrast":
            return bool(withheld) or feature in features
        return kind != "summary" and ((feature, a) in touched or (feature, b) in touched)

    return np.array([uses_withheld(*row) for row in zip(*columns, strict=True)], dtype=bool)


def set_missing(frame: pd.DataFrame, rows: Mask, columns: Sequence[str]) -> None:
    """Set these columns, as far as the frame has them, to missing in these rows, in place."""
    for name in columns:
        if name in frame:
            frame.loc[rows, name] = np.nan if frame[name].dtype == np.float64 else pd.NA


_ENDS = ("minimum", "maximum", "step", "scored")


def hide_rare_names(shared: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Return a suppressed frame without the names of levels and ends of scales that only few subjects have."""
    keys = list(zip(shared["feature"].tolist(), shared["level"].tolist(), strict=True))
    called = _find_unnamed_levels(shared, rule)
    shared["level"] = shared["level"].where(shared["level"].isna(), [called.get(key, key[1]) for key in keys])
    if "part" in shared:
        _hide_names_in_labels(shared, {feature for feature, _ in called})
    set_missing(shared, ~_has_many_at_ends(shared, rule), _ENDS)
    set_missing(shared, np.ones(len(shared), dtype=bool), ("at_ends",))
    return shared


def _hide_names_in_labels(shared: pd.DataFrame, features: set[str]) -> None:
    """Take the names of point masses out of the labels of the other values of these features, in place."""
    of_rest = shared["feature"].isin(features) & (shared["part"] == "rest").fillna(False)
    labels = shared[shared["kind"] == "contrast"].set_index("feature")["label"].to_dict()
    shared["label"] = shared["label"].mask(of_rest, shared["feature"].map(labels) + ", other values")


def _find_unnamed_levels(shared: pd.DataFrame, rule: Rule) -> dict[tuple[str, str], str]:
    """Return the replacement of each level of which no number is shown that is not small, by feature and level."""
    summaries = shared[(shared["kind"] == "summary") & shared["level"].notna()]
    count, mean = (summaries[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in ("count", "mean"))
    tells = count - rounding_error(rule.rounding)[0] >= rule.threshold
    if rule.rounding is None:
        tells |= mean > 0.0  # where n is withheld a share is shown alone, and only of a count that is not small
    is_named = summaries.assign(tells=tells).groupby(["feature", "level"], sort=False)["tells"].any()
    unnamed: dict[str, list[str]] = {}
    for feature, level in is_named[~is_named].index:
        unnamed.setdefault(feature, []).append(level)
    return {
        (feature, level): WITHHELD if len(levels) == 1 else f"{WITHHELD} {place}"
        for feature, levels in unnamed.items()
        for place, level in enumerate(levels, start=1)
    }


def _has_many_at_ends(shared: pd.DataFrame, rule: Rule) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return in which rows more subjects than the threshold are at each end of the scale; none in old versions."""
    if "at_ends" not in shared:
        return np.zeros(len(shared), dtype=bool)
    at_ends = shared["at_ends"].to_numpy(dtype=np.float64, na_value=np.nan)
    if rule.rounding is not None:
        at_ends = rounded(at_ends, rule.rounding) - rounding_error(rule.rounding)[0]
    return np.asarray(at_ends > rule.threshold)


_WITHHELD = (
    *("n", "n_subtypes", "test", "statistic", "df", "df2", "p", "q", "agreement", "effect", "effect_reported"),
    *("grade", "p_given_others", "p_whatever_is_missing", "remark"),
)


@accepting(associations=ASSOCIATIONS, suppressed=SUPPRESSED)
def withhold_associations(associations: pd.DataFrame, suppressed: pd.DataFrame) -> pd.DataFrame:
    """Withhold the validated associations of features in which a number is withheld.

    Parameters
    ----------
    associations : pandas.DataFrame
        The frame of `validated_associations`: one row per feature.
    suppressed : pandas.DataFrame
        The frame of `suppress_small_cells` for the same subtypes.

    Returns
    -------
    pandas.DataFrame
        The same rows with a column `suppressed`. Of those features, all results are missing. q is adjusted over the
        tests that are shown, for the ranks of all would enclose the p-values that are withheld.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> associations = pd.DataFrame({"feature": ["fell", "cancer"], "n": 100, "statistic": [9.1, 4.2], "df": 1.0})
    >>> associations = associations.assign(df2=float("nan"), p=[0.003, 0.04], q=[0.006, 0.04])
    >>> suppressed = pd.DataFrame({"feature": ["fell", "cancer"], "suppressed": [False, True]})
    >>> cc.disclosure.withhold_associations(associations, suppressed)[["feature", "p", "suppressed"]]
      feature      p  suppressed
    0    fell  0.003       False
    1  cancer    NaN        True
    """
    result = associations.reset_index(drop=True)
    if "suppressed" not in result:
        result["suppressed"] = np.zeros(len(result), dtype=bool)
        result["suppressed"] = result["suppressed"].astype("boolean")
    touched = set(suppressed.loc[suppressed["suppressed"].fillna(False), "feature"])
    lost = result["feature"].isin(touched).to_numpy()
    set_missing(result, lost, _WITHHELD)
    result.loc[lost, "suppressed"] = True
    if "remark" in result:  # an agreement is of all memberships
        result["remark"] = result["remark"].str.replace(r" \(agreement [^)]*\)", "", regex=True)
    if "q" in result:
        result["q"] = adjusted(result["p"].to_numpy(dtype=np.float64, na_value=np.nan))
    return result


# A column is listed only if its cells are functions of the numbers that `suppress_small_cells` returns, of what was
# stated before the analysis, or test results of features of which no number is withheld.
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
