"""Audit a suppressed frame: infer the withheld counts as an attacker would, and report which are disclosed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from clinclust.arguments import ON_OR_OFF, SIZES, WHOLE, WHOLE_COMPARISONS, accepting
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.disclosure.attacker import intervals, size_intervals, total_intervals
from clinclust.disclosure.counts import FeatureCounts, Rule, feature_counts, small_totals, totals
from clinclust.disclosure.released import names_using_withheld, rows_ranked_with_shown, rows_using_withheld
from clinclust.disclosure.suppress import shown_sizes

_NUMBERS_OF_TESTS = ("n", "missing", "statistic", "df", "df2", "p", "q", "standardised_difference")
_NUMBERS_OF_EFFECTS = ("estimate", "lower", "upper")


@accepting(
    comparisons=WHOLE_COMPARISONS,
    threshold=WHOLE,
    rounding=WHOLE,
    missing_is_harmless=ON_OR_OFF,
    truth=WHOLE_COMPARISONS,
    sizes=SIZES,
)
def audit_disclosure(
    comparisons: pd.DataFrame,
    *,
    threshold: int = 10,
    zero_is_disclosive: bool = False,
    rounding: int | None = None,
    missing_is_harmless: bool = False,
    truth: pd.DataFrame | None = None,
    sizes: Mapping[int, int | None] | None = None,
) -> pd.DataFrame:
    """Find the lowest and the highest possible value of every withheld count, given every number that is shown.

    The reader is assumed to know the size of the cohort, the sizes of all subtypes that are not withheld, and every
    number of the frame with the decimals that reports print; also that counts are whole and that subtypes are numbered
    by decreasing size. Intervals are found by integer programmes, or by enumeration if nothing is shown of all
    subjects.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        The frame to be shared, from `suppress_small_cells` or suppressed in another way.
    threshold, zero_is_disclosive, rounding, missing_is_harmless
        As in `suppress_small_cells`.
    truth : pandas.DataFrame, optional
        The frame of `compare_subtypes`, before anything was withheld. Without it, every count that *can* be sensitive
        is treated as sensitive, which is stricter.
    sizes : dict, optional
        The size of each subtype (0 = all subjects), rounded if counts are; None where it is withheld. By default, the
        sizes of `truth` that need not be withheld or, without `truth`, the column `size` or the sizes that follow from
        n and missing of any feature.

    Returns
    -------
    pandas.DataFrame
        One row for each count that is withheld, or that is sensitive but shown.

        `feature` (missing for a size), `cell` (a level, ``"observed"``, ``"missing"``, ``"size"``, or ``"total"`` of
        events or of steps of a score), `subtype` (0 = all subjects), `lowest`, `highest` (missing if there is no
        bound), `value` (the true count, if known), `disclosed`, and `reason`: ``"shown"``, ``"interval"`` (it is
        shorter than the rule requires), ``"test"`` (a test, effect or contrast that was computed from the count is
        shown, or its name, or a q that was adjusted over it too) or ``"not solved"`` (no solution for the interval was
        found).

    Raises
    ------
    ValueError
        If an argument cannot be used, or if no counts agree with the numbers shown.

    Examples
    --------
    What a reader can find out about two people with cancer in each subtype:

    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> subject = np.arange(100)
    >>> frame = pd.DataFrame({"fell": (subject % 3 == 0) * 1, "cancer": (subject % 25 == 0) * 1})
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="bernoulli") for name in frame])
    >>> comparisons = cc.compare_subtypes(frame, subject // 50, schema)
    >>> shared = cc.suppress_small_cells(comparisons)
    >>> audit = cc.disclosure.audit_disclosure(shared, truth=comparisons)
    >>> audit.loc[audit["cell"] == "1", ["feature", "subtype", "lowest", "highest", "value", "disclosed"]]
      feature  subtype  lowest  highest  value  disclosed
    0  cancer        0       0      100      4      False
    1  cancer        1       0       50      2      False
    2  cancer        2       0       50      2      False
    """
    rule = Rule(threshold, zero_is_disclosive, rounding, missing_is_harmless)
    rule.check()
    comparisons = comparisons.reset_index(drop=True)
    true_counts = {}
    if truth is not None:
        truth = truth.reset_index(drop=True)
        true_counts = {(counts.name, counts.part): counts for counts in feature_counts(truth)}
    true_sizes = {} if truth is None else ComparisonsFrame(truth).exact_sizes
    features = list(feature_counts(comparisons, rounding))
    are_sums = sizes is None and not true_sizes and "size" not in comparisons
    if sizes is None:
        sizes = shown_sizes(true_sizes, threshold, rounding) if true_sizes else _read_sizes(comparisons, features)
    withheld = {subtype for subtype, size in sizes.items() if size is None}
    touched = {(counts.name, group) for counts in features for group in counts.withheld_groups(sizes)}
    has_number = comparisons[[*_NUMBERS_OF_TESTS, *_NUMBERS_OF_EFFECTS]].notna().any(axis=1).to_numpy()
    uses_withheld = rows_using_withheld(comparisons, touched, withheld)
    reveals = (
        has_number
        | names_using_withheld(comparisons, uses_withheld)
        | rows_ranked_with_shown(comparisons, uses_withheld)
    )
    revealing = comparisons[uses_withheld & reveals]
    is_tested = bool((revealing["kind"] == "contrast").any() or revealing["subtype"].isin(withheld).any())

    # The counts of other values than point masses are functions of the counts at these.
    counted = [counts for counts in features if counts.part != "rest"]
    ranges = size_intervals(sizes, rounding, counted, are_sums=are_sums)
    rows = [*_judge_sizes(sizes, ranges, true_sizes, rule, is_tested=is_tested)]
    tested = set(revealing["feature"])
    for counts in features:
        true = true_counts.get((counts.name, counts.part))
        if true is not None:
            # A reader may know the scale from elsewhere.
            counts = replace(counts, scale=true.scale, grid=true.grid, is_whole=true.is_whole)
            if rounding is None:
                counts = replace(counts, decimals=true.decimals)
        if counts.part != "rest":
            rows += _judge_counts(counts, true, ranges, rule, is_tested=counts.name in tested)
        rows += _judge_totals(counts, true, rule, is_tested=counts.name in tested)
    dtypes = dict.fromkeys(("feature", "cell"), "string")
    dtypes |= dict.fromkeys(("subtype", "lowest", "highest", "value"), "Int64")
    dtypes |= {"disclosed": "boolean", "reason": "string"}
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def _read_sizes(comparisons: pd.DataFrame, features: list[FeatureCounts]) -> dict[int, int | None]:
    """Return the sizes of rounded groups, or those that follow from n and missing of any feature; None if withheld."""
    if "size" in comparisons:
        return ComparisonsFrame(comparisons).sizes
    found: dict[int, int | None] = {}
    for counts in features:
        for subtype, size in zip(counts.subtypes, (counts.n + counts.missing).tolist(), strict=True):
            if found.get(subtype) is None:
                found[subtype] = None if np.isnan(size) else int(size)
    return found


def _judge_sizes(
    sizes: Mapping[int, int | None],
    ranges: Mapping[int, tuple[int, int]],
    true_sizes: Mapping[int, int],
    rule: Rule,
    *,
    is_tested: bool,
) -> Iterator[tuple[Any, ...]]:
    for subtype, size in sizes.items():
        if size is None:
            value = true_sizes.get(subtype, np.nan)
            yield _judge_interval("", "size", subtype, ranges[subtype], value, rule, is_tested=is_tested)
        elif 0 < size < rule.threshold:
            yield (pd.NA, "size", subtype, size, size, size, True, "shown")


def _judge_counts(
    counts: FeatureCounts,
    truth: FeatureCounts | None,
    ranges: Mapping[int, tuple[int, int]],
    rule: Rule,
    *,
    is_tested: bool,
) -> Iterator[tuple[Any, ...]]:
    """Yield the counts of a feature that are withheld, or that are sensitive but shown."""
    # For a feature without levels, the observed values are already a row.
    rows = (counts if truth is None else truth).rows  # with the names that are withheld
    cells = (*rows, "observed") if counts.is_share else rows
    shown, sensitive = np.vstack([counts.table, counts.n]), rule.sensitive_of(counts)
    true = np.full(shown.shape, np.nan)
    if truth is not None:
        # Comparisons hold no counts of levels where no subject has a value.
        true = np.vstack([np.where(truth.n == 0, 0.0, truth.table[:-1]), truth.missing, truth.n])
    is_known = ~np.isnan(shown) & (rule.rounding is None)
    is_known[len(cells) :] = True
    if not is_known.all():
        sizes = [ranges[subtype] for subtype in counts.subtypes]
        low, high = intervals(counts, sizes, ~is_known)
    for row, group in np.argwhere(~is_known | sensitive).tolist():
        if row >= len(cells):
            continue
        named = (counts.name, cells[row], counts.subtypes[group])
        if is_known[row, group]:
            count = shown[row, group]
            yield (*named, count, count, count, True, "shown")
        else:
            found, value, of_missing = (low[row, group], high[row, group]), true[row, group], len(counts.rows) - 1
            is_level, is_missing = counts.is_share and row < of_missing, row == of_missing
            yield _judge_interval(
                *named, found, value, rule, is_tested=is_tested, is_level=is_level, is_missing=is_missing
            )


def _judge_totals(
    counts: FeatureCounts, truth: FeatureCounts | None, rule: Rule, *, is_tested: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield the small totals of whole numbers: of events, or of the steps of scores above the lowest."""
    if not counts.is_whole:
        return
    low, high = total_intervals(counts)
    values = totals(truth or counts)[0]
    small = small_totals(truth or counts, rule.threshold) & (np.rint(values) > 0)
    is_shown = ~np.isnan(counts.mean[0])
    for group in np.flatnonzero(small):
        reason = "shown" if is_shown[group] else "interval" if high[group] - low[group] < rule.threshold else ""
        reason = reason or ("test" if is_tested else "")
        most = high[group] if np.isfinite(high[group]) else pd.NA
        found = (low[group], most, round(values[group]), bool(reason), reason or pd.NA)
        yield (counts.name, "total", counts.subtypes[group], *found)


def _judge_interval(
    feature: str,
    cell: str,
    subtype: int,
    interval: tuple[float, float],
    value: float,
    rule: Rule,
    *,
    is_tested: bool,
    is_level: bool = False,
    is_missing: bool = False,
) -> tuple[Any, ...]:
    low, high = interval
    is_true = not np.isnan(value)
    least, most = (value, value) if is_true else interval
    reason = ""
    if np.isnan(low) or np.isnan(high):
        reason = "not solved"
    elif rule.may_be_sensitive(least, most, is_level=is_level, is_missing=is_missing):
        reason = "interval" if high - low < rule.width else "test" if is_tested else ""
    return (feature or pd.NA, cell, subtype, low, high, value if is_true else pd.NA, bool(reason), reason or pd.NA)
