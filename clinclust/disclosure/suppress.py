"""Withhold small counts, and further numbers, until an attacker can no longer infer the small counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import ASSOCIATIONS, WHOLE, WHOLE_COMPARISONS, WITHHELD, accepting
from clinclust.disclosure.attacker import intervals
from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts, feature_counts
from clinclust.disclosure.rounding import rounded
from clinclust.disclosure.rule import Rule
from clinclust.disclosure.sizes import shown_sizes, size_intervals
from clinclust.errors import InputError
from clinclust.likelihoods import traits_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rows_that_tell", "sizes_of", "suppress_small_cells", "withhold_associations"]

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

_OF_TESTS = ("n", "missing", "statistic", "df", "df2", "p", "q", "standardised_difference", "significant")
_OF_EFFECTS = ("estimate", "lower", "upper")
_OF_ORDER = ("median", "q1", "q3")
_OF_SUMMARIES = ("n", "missing", "count", "percent", "mean", "sd", *_OF_ORDER)


class _Step(NamedTuple):
    """One further number to withhold.

    Attributes
    ----------
    what : {"count", "share", "mean", "n"}
        A count of a level, the share of a level, the mean of a group, or n and missing of a group.
    level, group : int
        The row and the column of the number in `FeatureCounts`; the level is 0 for ``"mean"`` and ``"n"``.
    """

    what: str
    level: int
    group: int


@accepting(comparisons=WHOLE_COMPARISONS, threshold=WHOLE, rounding=WHOLE)
def suppress_small_cells(
    comparisons: pd.DataFrame, *, threshold: int = 10, zero_is_disclosive: bool = False, rounding: int | None = None
) -> pd.DataFrame:
    """Withhold small counts so that they cannot be inferred from the numbers that are still shown.

    Counts of 1 to ``threshold - 1`` are withheld: of a level, of the other level of a yes/no feature, of observed and
    of missing values, and sizes of subtypes. Further numbers are withheld (complementary suppression) until a reader
    who knows every number still shown, as printed, can infer no interval shorter than `threshold` for any small count;
    `audit_disclosure` returns the intervals. Numbers to which few subjects contribute are tried first. Numbers that
    need not be withheld in the end are shown again.

    - All numbers of a subtype with a small size are withheld, and those of the next smallest subtypes if necessary.
      Contrasts are then withheld too, because they are tests of all subtypes.
    - If n and missing of a subtype are withheld, its counts and percentages are too. Its shares are still shown, with 2
      decimals, unless n can be inferred from them. Median and quartiles are withheld, because the steps between them
      distinguish n from n + 1. All numbers of all subjects are withheld, because totals would connect the subtypes.
    - Mean, SD, median and quartiles of fewer than `threshold` values are withheld. Those of all subjects are withheld
      if that mean could be computed from them.
    - Tests and effects computed from a withheld number are withheld, and so is the contrast of its feature, because the
      number could be inferred from n, df, t and p. The means and SDs of such a feature that are still shown are rounded
      to the decimals that reports print.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        The frame of `compare_subtypes`, with nothing withheld.
    threshold : int
        The smallest count that may be known.
    zero_is_disclosive : bool
        Whether to withhold counts of 0 for a level too, because a share of 0% or 100% says something of every subject
        in the group. Means without spread are then withheld as well.
    rounding : int, optional
        Instead of withholding small counts, round every count to a multiple of this base, and compute shares from the
        rounded counts. A small count is protected if a reader cannot infer an interval shorter than half the base;
        counts are withheld if their margins would allow it. Sizes of subtypes and means of few values are treated as
        above, and all tests are withheld.

    Returns
    -------
    pandas.DataFrame
        The same columns. Withheld numbers are missing, and `suppressed` is True in every row with a withheld number.
        Tests and effects of a withheld subtype have no row, because their presence would tell which subtype was large
        enough to be tested. Features in which nothing is withheld are unchanged.

    Raises
    ------
    ValueError
        If an argument cannot be used, if something is withheld already, or if the cohort is too small to share.

    Examples
    --------
    Two people with cancer in each subtype are too few to be told:

    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> subject = np.arange(100)
    >>> frame = pd.DataFrame({"fell": (subject % 3 == 0) * 1, "cancer": (subject % 25 == 0) * 1})
    >>> schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="bernoulli") for name in frame])
    >>> comparisons = cc.compare_subtypes(frame, subject // 50, schema)
    >>> shared = cc.suppress_small_cells(comparisons)
    >>> shared.loc[shared["kind"] == "summary", ["feature", "subtype", "n", "count"]]
      feature  subtype    n  count
    0    fell        0  100     34
    1    fell        1   50     17
    2    fell        2   50     17
    3  cancer        0  100   <NA>
    4  cancer        1   50   <NA>
    5  cancer        2   50   <NA>
    """
    import pandas as pd

    rule = Rule(threshold, zero_is_disclosive, rounding)
    rule.check()
    if comparisons["suppressed"].any():
        raise InputError("these comparisons hold withheld numbers already; pass those of compare_subtypes")
    result = comparisons.reset_index(drop=True)
    sizes = shown_sizes(sizes_of(result), threshold)
    ranges = size_intervals(sizes)
    numbers = {name: result[name].to_numpy(dtype=np.float64, na_value=np.nan, copy=True) for name in _OF_SUMMARIES}
    touched: set[tuple[str, int]] = set()
    for counts in feature_counts(result):
        shown = _shown(counts, [ranges[subtype] for subtype in counts.subtypes], rule)
        if shown is not None:
            _write(numbers, counts, shown, rule)
            touched |= {(counts.name, subtype) for subtype in shown.withheld_groups(sizes, rule.rounding)}
    result["suppressed"] = result["suppressed"].astype("boolean")
    for name, values in numbers.items():
        result.loc[result[name].notna().to_numpy() & np.isnan(values), "suppressed"] = True
        result[name] = pd.Series(values, index=result.index).astype(result[name].dtype)
    withheld = {subtype for subtype, size in sizes.items() if size is None}
    _withhold(result, rows_that_tell(result, touched, withheld), (*_OF_TESTS, *_OF_EFFECTS))
    of_withheld = result["subtype"].isin(withheld) | result["versus"].isin(withheld)
    return result[~(of_withheld & result["kind"].isin(("test", "effect")))].reset_index(drop=True)


@accepting(associations=ASSOCIATIONS, suppressed=WITHHELD)
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
        The same rows with a column `suppressed`. For those features n, n_subtypes, statistic, df, df2, p and q are
        missing.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> associations = pd.DataFrame({"feature": ["fell", "cancer"], "n": 100, "statistic": [9.1, 4.2], "df": 1.0})
    >>> associations = associations.assign(df2=float("nan"), p=[0.003, 0.04], q=[0.006, 0.04])
    >>> suppressed = pd.DataFrame({"feature": ["fell", "cancer"], "suppressed": [False, True]})
    >>> cc.withhold_associations(associations, suppressed)[["feature", "p", "suppressed"]]
      feature      p  suppressed
    0    fell  0.003       False
    1  cancer    NaN        True
    """
    result = associations.reset_index(drop=True)
    if "suppressed" not in result:
        result["suppressed"] = np.zeros(len(result), dtype=bool)
        result["suppressed"] = result["suppressed"].astype("boolean")
    touched = suppressed.loc[suppressed["suppressed"].fillna(False), "feature"]
    lost = result["feature"].isin(set(touched)).to_numpy()
    _withhold(result, lost, ("n", "n_subtypes", "statistic", "df", "df2", "p", "q"))
    return result


def sizes_of(comparisons: pd.DataFrame) -> dict[int, int]:
    """Return the size of each subtype: its observed and missing values, whose sum is the same for every feature."""
    summaries = comparisons[(comparisons["kind"] == "summary") & (comparisons["subtype"] != ALL_SUBJECTS)]
    first = summaries.drop_duplicates("subtype").sort_values("subtype")
    sizes = (first["n"] + first["missing"]).astype(int)
    return dict(zip(first["subtype"].astype(int).tolist(), sizes.tolist(), strict=True))


def rows_that_tell(comparisons: pd.DataFrame, touched: Set[tuple[str, int]], withheld: Set[int]) -> Mask:
    """Return which rows are tests, effects or contrasts that use withheld numbers, bool (rows,).

    Parameters
    ----------
    comparisons : pandas.DataFrame
        A frame of `compare_subtypes`.
    touched : set of (feature, subtype)
        The features and subtypes (0 = all subjects) of which a number is withheld.
    withheld : set of int
        The subtypes whose size is withheld. If there are any, all contrasts are marked: they use all subtypes.
    """
    features = {feature for feature, _ in touched}
    columns = (comparisons[name].tolist() for name in ("kind", "feature", "subtype", "versus"))
    return np.array(
        [
            kind != "summary"
            and (
                bool(withheld) or feature in features
                if kind == "contrast"
                else (feature, a) in touched or (feature, b) in touched
            )
            for kind, feature, a, b in zip(*columns, strict=True)
        ],
        dtype=bool,
    )


def _withhold(frame: pd.DataFrame, rows: Mask, columns: Sequence[str]) -> None:
    """Set these columns to missing in these rows, in place, and `suppressed` to True where there was a number."""
    import pandas as pd

    for name in columns:
        if name not in frame:
            continue
        there = rows & frame[name].notna().to_numpy()
        frame.loc[there, name] = pd.NA if frame[name].dtype != np.float64 else np.nan
        frame.loc[there, "suppressed"] = True


def _shown(counts: FeatureCounts, sizes: Sequence[tuple[int, int]], rule: Rule) -> FeatureCounts | None:
    """Return the numbers of a feature that can be shown; None if all of them can."""
    search = _Search(counts, sizes, rule)
    if not search.is_touched:
        return None
    steps: list[_Step] = []
    while exposed := search.exposed(steps):
        step = next(iter(search.candidates(steps, *exposed[0], in_row=len(steps) % 2 == 0)), None)
        if step is None:
            raise RuntimeError(f"{counts.name}: everything is withheld, and a small count can still be found")
        steps.append(step)
    # A later step may have made an earlier one unnecessary.
    for step in sorted(steps, key=search.cost, reverse=True):
        without = [other for other in steps if other != step]
        if not search.exposed(without):
            steps = without
    return search.shown(steps)


class _Search:
    """The numbers of one feature that must be withheld, and the search for further ones that protect them."""

    def __init__(self, counts: FeatureCounts, sizes: Sequence[tuple[int, int]], rule: Rule) -> None:
        self._counts, self._sizes, self._rule = counts, sizes, rule
        self._sensitive = rule.sensitive_of(counts)
        withheld_groups = np.array([least < most for least, most in sizes])
        self._is_known = ~withheld_groups
        few = (counts.n < rule.threshold) & (counts.n > 0) | withheld_groups
        self._means = np.broadcast_to(few, counts.mean.shape).copy()
        if rule.rounding is None:
            self._n = withheld_groups | self._sensitive[-2] | self._sensitive[-1]
            self._levels = withheld_groups | self._sensitive[: len(counts.count)] if counts.is_share else self._means
            if traits_of(counts.likelihood).is_yes_no:
                self._levels = self._levels | self._sensitive[1]
        else:
            self._n = withheld_groups
            self._levels = np.broadcast_to(withheld_groups, counts.mean.shape)
        if counts.is_share:
            self._means = self._levels | few
        elif rule.zero_is_disclosive:
            self._means |= counts.sd == 0.0
        if not counts.is_share:
            unknown = np.flatnonzero(self._means[0, 1:]) + 1
            if unknown.size and (unknown.size == 1 or counts.n[unknown].sum() < rule.threshold):
                self._means[0, ALL_SUBJECTS] = True
        self.is_touched = bool(
            rule.rounding is not None or self._sensitive.any() or withheld_groups.any() or self._means.any()
        )

    def shown(self, steps: Sequence[_Step]) -> FeatureCounts:
        """Return the numbers that are still shown after these steps."""
        n, levels, means = self._n.copy(), self._levels.copy(), self._means.copy()
        for step in steps:
            if step.what == "n":
                n[step.group] = True
            elif step.what == "count":
                levels[step.level, step.group] = True
            means[step.level, step.group] |= step.what != "n"
        counts = self._counts
        if (n & self._is_known).any() or (self._rule.rounding is not None and not counts.is_share):
            # With the totals of a feature, numbers withheld in one group could be inferred from the other groups.
            n[ALL_SUBJECTS], levels[:, ALL_SUBJECTS], means[:, ALL_SUBJECTS] = True, True, True
        if self._rule.rounding is not None:
            counts = _rounded(counts, self._rule.rounding)
            return counts.without(n, levels, levels | n | means if counts.is_share else means)
        if counts.is_share:
            # Of a share, either n and count are both shown, or at most the share itself is.
            levels = levels | (n & (counts.count > 0))
            means = means | (levels & ~n)
        return counts.without(n, levels if counts.is_share else np.zeros_like(levels), means)

    def exposed(self, steps: Sequence[_Step]) -> list[tuple[int, int]]:
        """Return the row and the group of every sensitive count whose interval is too short after these steps."""
        truth, width = np.vstack([self._counts.table, self._counts.n]), self._rule.width
        low, high = intervals(
            self.shown(steps),
            self._sizes,
            self._sensitive,
            rounding=self._rule.rounding,
            possible=truth,
            enough=width,
        )
        return [(int(row), int(group)) for row, group in np.argwhere(self._sensitive & ~(high - low >= width))]

    def cost(self, step: _Step) -> float:
        """Return the cost of a step: the number of subjects whose values contribute to the withheld number."""
        counts = self._counts
        if step.what == "n":
            # All counts of the group and of all subjects are withheld with it.
            return float((counts.n + counts.missing)[[step.group, ALL_SUBJECTS]].sum())
        return float(counts.count[step.level, step.group]) if counts.is_share else float(counts.n[step.group])

    def candidates(self, steps: Sequence[_Step], row: int, group: int, *, in_row: bool) -> Iterator[_Step]:
        """Yield the steps that could protect this count, best first: those in its row or group, then the others."""
        shown, counts = self.shown(steps), self._counts
        of_level = row < len(counts.rows) - 1 and counts.is_share
        level = min(row, len(counts.count) - 1) if of_level else 0
        possible = [_Step("n", 0, int(g)) for g in np.flatnonzero(~np.isnan(shown.n))]
        if counts.is_share:
            possible += [_Step("count", int(r), int(g)) for r, g in np.argwhere(~np.isnan(shown.count))]
            possible += [
                _Step("share", int(r), int(g)) for r, g in np.argwhere(~np.isnan(shown.mean) & np.isnan(shown.count))
            ]
        else:
            possible += [_Step("mean", 0, int(g)) for g in np.flatnonzero(~np.isnan(shown.mean[0]))]

        # If only one cell of a row or of a group is withheld, it can be computed from the others there.
        withheld = np.isnan(shown.table[:-1])
        alone_in_row, alone_in_group = withheld.sum(axis=1) == 1, withheld.sum(axis=0) == 1

        def worth(step: _Step) -> tuple[int, bool, bool, float]:
            helped = int(alone_in_row[step.level]) + int(alone_in_group[step.group]) if step.what == "count" else 0
            same_row = step.what != "n" and step.level == level if of_level else step.what == "n"
            same_group = step.group == group
            first = same_row and not same_group if in_row else same_group
            return (-helped, not first, not (same_row or same_group), self.cost(step))

        yield from sorted(possible, key=worth)


def _rounded(counts: FeatureCounts, base: int) -> FeatureCounts:
    n, count = rounded(counts.n, base), rounded(counts.count, base)
    if not counts.is_share:
        return replace(counts, n=n, missing=rounded(counts.missing, base))
    share = np.divide(np.minimum(count, n), n, out=np.full(count.shape, np.nan), where=n > 0)
    sd = np.full_like(counts.sd, np.nan)
    return replace(
        counts, n=n, missing=rounded(counts.missing, base), count=count, percent=100 * share, mean=share, sd=sd
    )


def _write(numbers: dict[str, Floats], counts: FeatureCounts, shown: FeatureCounts, rule: Rule) -> None:
    """Write the numbers that are shown of a feature into the columns of the frame, in place.

    At least one number of the feature is withheld or rounded.
    """
    n_withheld = np.broadcast_to(np.isnan(shown.n), shown.mean.shape)
    complete = ~n_withheld & ~np.isnan(shown.mean)
    if counts.is_share:
        complete &= ~np.isnan(shown.count) & (rule.rounding is None)
    for name in ("n", "missing"):
        numbers[name][counts.places] = getattr(shown, name)
    for name in ("count", "percent"):
        numbers[name][counts.places] = getattr(shown, name)
    # If n and count are shown, every decimal of the share is known anyway.
    exact = complete & counts.is_share
    numbers["mean"][counts.places] = np.where(exact, shown.mean, _printed(shown.mean, counts.decimals))
    spread = np.where(n_withheld & counts.is_share, np.nan, shown.sd)
    numbers["sd"][counts.places] = np.where(exact, spread, _printed(spread, counts.decimals))
    for name in _OF_ORDER:
        values = np.where(complete, numbers[name][counts.places], np.nan)
        numbers[name][counts.places] = np.where(exact, values, _printed(values, counts.decimals))


def _printed(values: Floats, decimals: int) -> Floats:
    """Return the values rounded as reports print them: by decimal formatting of the exact binary number."""
    return np.array([float(f"{value:.{decimals}f}") for value in values.ravel()]).reshape(values.shape)
