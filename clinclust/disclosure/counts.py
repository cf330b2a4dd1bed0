"""The numbers that a result releases, and the counts that they reveal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.arguments import ASSOCIATIONS, accepting
from clinclust.arguments import WITHHELD as SUPPRESSED
from clinclust.arrays import Array, Mask
from clinclust.comparisons.differences import adjusted
from clinclust.comparisons.frame import (
    ALL_SUBJECTS,
    WITHHELD,
    ComparisonsFrame,
    Record,
    decimals_in,
    decimals_of_mean,
    is_missing,
)
from clinclust.data import data
from clinclust.errors import InputError
from clinclust.files.row_choice import RowCounts
from clinclust.likelihoods import traits_of

# What of a shared frame and report follows from the counts that are shown: tests, q, names, and what may be printed.
#
# Every further number of a shared frame is a function of numbers that it shows, so it discloses nothing more. What is
# not listed under `SHEETS`, `FACTS` and `FIGURES` is not printed, so that a new column is withheld until it is listed
# there.

NUMBERS_OF_RESULTS = (
    *("n", "missing", "statistic", "df", "df2", "p", "q", "standardised_difference", "estimate", "lower", "upper"),
)


def keep_results_of_shown(comparisons: pd.DataFrame, using_withheld: Mask, withheld: Set[int]) -> pd.DataFrame:
    """Return the frame, changed in place, with the results that follow from its summaries, and without the others."""
    set_missing(comparisons, using_withheld, (*NUMBERS_OF_RESULTS, "significant"))
    comparisons.loc[using_withheld, "suppressed"] = True
    kind = comparisons["kind"]
    comparisons.loc[using_withheld & (kind == "contrast").to_numpy(dtype=bool), "test"] = None
    comparisons["q"] = q_of_shown(comparisons)
    of_withheld = comparisons["subtype"].isin(withheld) | comparisons["versus"].isin(withheld)
    lost = of_withheld & kind.isin(("test", "effect"))
    return comparisons[~lost.to_numpy(dtype=bool)].reset_index(drop=True)


def q_of_shown(comparisons: pd.DataFrame) -> Array:
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


def _bound_rounding(values: Array) -> Array:
    """Return the largest rounding error of each p or q, by the decimals that it has."""
    printed = np.where(values >= 0.1, 0.005, np.where(values >= 0.001, 0.0005, np.inf))
    # The power of ten of the last digit of each number.
    powers = [Decimal(repr(value)).normalize().as_tuple().exponent if value else -300 for value in values.tolist()]
    last_digit = np.array([float(Decimal((0, (1,), int(power)))) for power in powers])
    return np.minimum(printed, 0.5 * last_digit) + 1e-9 * values


def names_using_withheld(comparisons: pd.DataFrame, using_withheld: Mask) -> Mask:
    """Return which rows of `rows_using_withheld` have a name that depends on withheld numbers, bool (rows,)."""
    has_name = (comparisons["kind"] == "contrast") & comparisons["test"].notna()
    return np.asarray(using_withheld & has_name.to_numpy(dtype=bool))


def _families(comparisons: pd.DataFrame) -> Iterator[Mask]:
    kind, name = (comparisons[column].to_numpy(dtype=object, na_value="") for column in ("kind", "test"))
    yield kind == "contrast"
    for test in sorted(set(name[kind == "test"])):
        yield (kind == "test") & (name == test)


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
    if "part" in shared:  # the names of point masses stand in the labels of the other values of their features
        is_renamed = shared["feature"].isin({feature for feature, _ in called})
        of_rest = is_renamed & (shared["part"] == "rest").fillna(False)
        labels = shared[shared["kind"] == "contrast"].set_index("feature")["label"].to_dict()
        shared["label"] = shared["label"].mask(of_rest, shared["feature"].map(labels) + ", other values")
    at_ends = shared["at_ends"].to_numpy(dtype=np.float64, na_value=np.nan)
    if rule.rounding is not None:
        at_ends = rounded(at_ends, rule.rounding) - rounding_error(rule.rounding)[0]
    set_missing(shared, ~(at_ends > rule.threshold), _ENDS)  # NaN, of what is no scale, is not above it
    set_missing(shared, np.ones(len(shared), dtype=bool), ("at_ends",))
    return shared


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
        result["suppressed"] = pd.array([False] * len(result), dtype="boolean")
    touched = set(suppressed.loc[suppressed["suppressed"].fillna(False), "feature"])
    lost = result["feature"].isin(touched).to_numpy()
    set_missing(result, lost, data("released")["of_associations"])
    result.loc[lost, "suppressed"] = True
    if "remark" in result:  # an agreement is of all memberships
        result["remark"] = result["remark"].str.replace(r" \(agreement [^)]*\)", "", regex=True)
    if "q" in result:
        result["q"] = adjusted(result["p"].to_numpy(dtype=np.float64, na_value=np.nan))
    return result


# A column is listed only if its cells are functions of the numbers that `suppress_small_cells` returns, of what was
# stated before the analysis, or test results of features of which no number is withheld.
SHEETS: dict[str, list[str]] = data("released")["sheets"]
"""The columns of each sheet, by the keys of their table and of themselves."""
FACTS: list[str] = data("released")["facts"]
"""The facts of the run, by their keys: settings that were stated, and numbers of subtypes and of features."""
FIGURES = ("profile", "effects")
"""The figures of a page."""


# The numbers of one feature as a table of counts, their rounding, and the rule that says which are sensitive.
#
# Rows of the table are levels and missing values, its columns all subjects and each subtype. Counts may be rounded to
# multiples of a base; means are rounded to the decimals that reports print, and quartiles to steps. A count or total is
# sensitive if few subjects have it, and protected if no short interval of it can be inferred.

_NUMBERS = ("n", "missing", "count", "percent", "mean", "sd")


@dataclass(frozen=True)
class FeatureCounts:
    """The numbers shown of one feature in G groups (all subjects, then each subtype); NaN where a number is withheld.

    L is the number of levels in the frame: one for a yes/no feature; without levels, L = 1 and there are no counts.
    `places` (L, G) are row numbers in the frame; `n` and `missing` (G,) and `count`, `percent`, `mean` and `sd` (L, G)
    its columns. `scale` are the ends of a scale, or NaN; `grid` is the origin and the step of the possible values, and
    `is_whole` whether all values are on it (False for features counted by level). Counts are exact, or multiples of
    `rounding`.
    """

    name: str
    likelihood: str
    levels: tuple[str, ...]
    subtypes: tuple[int, ...]
    places: NDArray[np.int64]
    n: Array
    missing: Array
    count: Array
    percent: Array
    mean: Array
    sd: Array
    scale: tuple[float, float]
    decimals: int
    is_whole: bool
    grid: tuple[float, float] = (0.0, 1.0)
    part: str | None = None
    rounding: int | None = None

    def given_point_masses(self, first: FeatureCounts) -> FeatureCounts:
        """Return the numbers of the other values that can be shown with those of the point masses of the feature."""
        n = first.n - first.count[0] if first.is_yes_no else first.count[0]  # the first level is that of other values
        missing = first.missing + first.n - n
        unknown = np.isnan(n) | np.isnan(missing)
        unknown[ALL_SUBJECTS] |= unknown.any()
        levels = np.broadcast_to(unknown, self.mean.shape)
        shown = self.without(unknown, np.zeros_like(levels), levels)
        n, missing = np.maximum(n, 0.0), np.maximum(missing, 0.0)  # rounded counts need not agree
        mean = shown.mean
        if self.has_total:  # a mean is the total, which may be rounded, by the n that is shown
            mean = np.where(n > 0, mean * self.n / np.maximum(n, 1.0), np.nan)
        return replace(shown, n=np.where(unknown, np.nan, n), missing=np.where(unknown, np.nan, missing), mean=mean)

    @property
    def is_share(self) -> bool:
        """Whether subjects are counted by level, so that means are shares."""
        return bool(self.levels)

    @property
    def has_total(self) -> bool:
        """Whether the values are counts of events, whose total in a group is a count too."""
        return self.is_whole and traits_of(self.likelihood).is_count

    @property
    def is_yes_no(self) -> bool:
        """Whether one level is shown, and the count of the other follows by subtraction."""
        return traits_of(self.likelihood).is_yes_no

    @property
    def is_level(self) -> Mask:
        """Which of `rows` and the observed values are levels, (R + 1, 1)."""
        return np.array([[self.is_share]] * (len(self.rows) - 1) + [[False]] * 2)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows: each level (or ``observed``, for a feature without levels), then ``missing``."""
        if not self.is_share:
            return ("observed", "missing")
        other = (f"not {self.levels[0]}",) if self.is_yes_no else ()
        return (*self.levels, *other, "missing")

    @cached_property
    def table(self) -> Array:
        """The counts of `rows` by group, (R, G); NaN where a count is withheld, or is computed from one that is."""
        if not self.is_share:
            return np.vstack([self.n, self.missing])
        other = [self.n - self.count[0]] if self.is_yes_no else []
        return np.vstack([self.count, *other, self.missing])

    def withheld_groups(self, sizes: Mapping[int, int | None]) -> set[int]:
        """Return the groups whose tests use a withheld number, or would give one; all if counts are rounded."""
        lacking = np.isnan(self.n) | (np.isnan(self.mean) & (self.n != 0)).any(axis=0)
        if self.is_share:
            lacking |= (np.isnan(self.count) & (self.n != 0)).any(axis=0)
        groups = {subtype for subtype, is_lacking in zip(self.subtypes, lacking.tolist(), strict=True) if is_lacking}
        if self.is_share and self.rounding is None:
            return groups
        if self.rounding is not None or any(sizes[group] is not None for group in groups):
            return set(self.subtypes)
        # What is compared with all others is compared with withheld subtypes too, whose means it would narrow.
        return groups | ({ALL_SUBJECTS} if groups else set())

    def of_groups_shown(self, sizes: Mapping[int, int | None]) -> FeatureCounts:
        """Return a copy with NaN for every group whose size is withheld, and then for all subjects too."""
        is_withheld = np.array([sizes[subtype] is None for subtype in self.subtypes])
        is_withheld[ALL_SUBJECTS] = is_withheld.any()
        levels = np.broadcast_to(is_withheld, self.mean.shape)
        return self.without(is_withheld, levels, levels)

    def without(self, n: Mask, count: Mask, mean: Mask) -> FeatureCounts:
        """Return a copy with NaN where a mask is true: of n and missing (G,), count (L, G), or mean and sd (L, G)."""
        return replace(
            self,
            n=np.where(n, np.nan, self.n),
            missing=np.where(n, np.nan, self.missing),
            count=np.where(count, np.nan, self.count),
            percent=np.where(count | n, np.nan, self.percent),
            mean=np.where(mean, np.nan, self.mean),
            sd=np.where(mean, np.nan, self.sd),
        )


def feature_counts(comparisons: pd.DataFrame, rounding: int | None = None) -> Iterator[FeatureCounts]:
    """Yield the counts of each feature, both parts of one with point masses, in a frame with the index 0, 1, ....

    `rounding` is the base to which its counts were rounded.
    """
    read = ComparisonsFrame(comparisons)
    for name, levels, part in _divide_parts(read):
        first = next(iter(next(iter(levels.values())).values()))
        places = read.places(levels)
        n, missing, count, percent, mean, sd = (read.numbers(number, places) for number in _NUMBERS)
        traits = traits_of(str(first["likelihood"]))
        is_share = traits.is_share
        step = float(first["step"])  # NaN but for levels that are numbers
        yield FeatureCounts(
            name,
            str(first["likelihood"]),
            tuple(map(str, levels)) if is_share else (),
            (ALL_SUBJECTS, *read.subtypes),
            places,
            n[0],
            missing[0],
            count,
            percent,
            mean,
            sd,
            scale=(float(first["minimum"]), float(first["maximum"])),
            decimals=decimals_in(next(iter(levels.values())), is_scored=is_share or traits.is_scale),
            is_whole=not is_share and (bool(first["whole"]) or step > 0),
            grid=(float(first["minimum"]), step) if step > 0 else (0.0, 1.0),
            part=part,
            rounding=rounding,
        )


def _divide_parts(read: ComparisonsFrame) -> Iterator[tuple[str, dict[str | None, dict[int, Record]], str | None]]:
    """Yield each feature with its summaries by level; one with point masses twice, with those of each part."""
    for name, levels in read.summaries.items():
        first = next(iter(next(iter(levels.values())).values()))
        if is_missing(first.get("part")):
            yield name, levels, None
        else:
            yield name, {level: rows for level, rows in levels.items() if level is not None}, "spike"
            yield name, {None: levels[None]}, "rest"


def rounded(count: Array, base: int) -> Array:
    """Return counts rounded to the nearest multiple of `base`; a tie is rounded up."""
    return np.asarray(np.floor((count + base // 2) / base) * base)


def rounding_error(base: int | None) -> tuple[int, int]:
    """Return how far below and how far above a rounded count the true count can be; (0, 0) without rounding."""
    return (0, 0) if base is None else (base // 2, base - 1 - base // 2)


def printed(values: Array, decimals: int) -> Array:
    """Return values rounded as reports print them: by decimal formatting of the exact binary number."""
    return np.array([float(f"{value:.{decimals}f}") for value in values.ravel()]).reshape(values.shape)


def rounded_quartiles(of_order: Sequence[Array], least: float = 0.0) -> list[Array]:
    """Return the medians, q1 and q3 of a feature, each (1, G), rounded by the first group whose quartiles are shown.

    To 1, 2 or 5 times a power of ten, at most (q3 - q1) / 4. With steps of at least the distance of possible values, no
    value between two of these tells whether n is even.
    """
    _, q1, q3 = of_order
    shown = np.flatnonzero(np.isfinite(q1[0]) & np.isfinite(q3[0]) & (q3[0] > q1[0]))
    room = float(q3[0, shown[0]] - q1[0, shown[0]]) / 4.0 if shown.size else 0.0
    if not 0.0 < room < math.inf:
        return list(of_order)
    power = 10.0 ** math.floor(math.log10(room))
    step = max(next(step * power for step in (5.0, 2.0, 1.0) if step * power <= room * (1.0 + 1e-9)), least)
    decimals = max(0, 2 - math.floor(math.log10(step)))
    return [np.round(np.round(values / step) * step, decimals) for values in of_order]


def _decimals_for_every_n(counts: FeatureCounts, n: Array, base: int, fewest: int) -> int:
    """Return the most decimals with which every n that rounds to those given can have the printed mean and SD.

    Means of n values on a grid lie its step over n apart, and their SDs, with the same mean, the squared step over
    (n - 1) SD. Of values on an unknown grid, the SD takes the place of the step: few are recorded in coarser steps.
    """
    error = rounding_error(base)[0] * (2 if counts.part == "rest" else 1)  # n of the rest is a difference of two
    shown = (n[1:] - error >= fewest) & np.isfinite(counts.sd[0, 1:])  # not from the SD of all, which is withheld
    spreads, fewest_n = counts.sd[0, 1:][shown], (n[1:] - error)[shown]
    decimals = decimals_of_mean(spreads.tolist(), counts.grid[1] if traits_of(counts.likelihood).is_scale else None)
    spreads = printed(spreads, decimals)
    spread = spreads > 0.0
    if not spread.any():
        return decimals
    step = counts.grid[1] if counts.is_whole else spreads.max()
    apart = step / fewest_n.min()
    if counts.is_whole:
        apart = max(apart, (step**2 / ((fewest_n - 1.0) * spreads)[spread]).max())
    return min(decimals, max(0, math.floor(-math.log10(apart))))


def rounded_counts(counts: FeatureCounts, base: int, fewest: int = 2) -> FeatureCounts:
    """Return a feature with counts rounded to multiples of `base`, without the SD of counts of events.

    Means and SDs have the decimals that all n allow which round to the same; groups of fewer than `fewest` have none.
    """
    # A level without a count would show that n is exactly 0.
    of_levels = np.where(counts.n == 0, 0.0, counts.count) if counts.is_share else counts.count
    n, missing, count = (rounded(values, base) for values in (counts.n, counts.missing, of_levels))
    if counts.is_share:
        share = _quotient(np.minimum(count, n), n)
        sd = np.sqrt(share * (1.0 - share) * _quotient(n, n - 1.0))
        counts = replace(counts, n=n, missing=missing, count=count, rounding=base)
        return replace(counts, percent=100.0 * share, mean=share, sd=sd)
    decimals = _decimals_for_every_n(counts, n, base, max(fewest, 2))
    mean, sd = printed(counts.mean, decimals), printed(counts.sd, decimals)
    if counts.has_total:
        mean, sd = _quotient(rounded(np.rint(counts.mean * counts.n), base), n), np.full_like(sd, np.nan)
        decimals = 2
    return replace(counts, n=n, missing=missing, mean=mean, sd=sd, decimals=decimals, rounding=base)


def _quotient(part: Array, whole: Array) -> Array:
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


@dataclass(frozen=True)
class Rule:
    """The disclosure rule: which counts are sensitive, and when they are protected.

    A count of 1 to ``threshold - 1``, and a total of whole numbers, is protected if no interval shorter than `width`
    follows (Willenborg and de Waal 2001; Fischetti and Salazar-Gonzalez 2000). Parameters are those of
    `suppress_small_cells`.
    """

    threshold: int = 10
    zero_is_disclosive: bool = False
    rounding: int | None = None
    missing_is_harmless: bool = False
    min_n: int | None = None

    def __post_init__(self) -> None:
        if self.threshold < 2:
            raise InputError(f"threshold must be at least 2, not {self.threshold!r}: no count lies between 0 and 1")
        if self.rounding is not None and self.rounding < 3:
            raise InputError(f"rounding must be a base of at least 3, not {self.rounding!r}")
        if self.min_n is not None and self.min_n < self.threshold:
            raise InputError(data("released")["messages"]["min_n"].format(threshold=self.threshold, min_n=self.min_n))

    @property
    def fewest_values(self) -> int:
        """The fewest values of which a mean, SD, median or quartile is shown."""
        return self.threshold if self.min_n is None else self.min_n

    @property
    def width(self) -> int:
        """The least length of the interval of a protected count."""
        return self.threshold if self.rounding is None else self.rounding // 2

    def sensitive_of(self, counts: FeatureCounts) -> Mask:
        """Return which counts of a feature are sensitive, or as rounded may be: its rows, the observed values."""
        table = np.vstack([counts.table, counts.n])
        below, above = rounding_error(counts.rounding)
        errors = np.ones((len(table), 1))
        if counts.is_yes_no:
            errors[len(counts.levels)] = 2  # the other level is the difference of two rounded counts
        sensitive = self._some_is_sensitive(table - errors * below, table + errors * above, counts.is_level)
        if self.missing_is_harmless:
            sensitive[-2] = False
        return sensitive

    def harmless(self, counts: FeatureCounts, low: Array, high: Array) -> Mask:
        """Return for which intervals of the counts of `sensitive_of` no count in them is sensitive, (R + 1, G)."""
        is_known = ~np.isnan(low) & ~np.isnan(high)
        return np.asarray(is_known & ~self._some_is_sensitive(low, high, counts.is_level))

    def _some_is_sensitive(self, low: Array, high: Array, is_level: Mask) -> Mask:
        lowest = np.where(is_level & self.zero_is_disclosive, 0, 1)
        return np.asarray((low < self.threshold) & (high >= lowest))

    def may_be_sensitive(self, low: float, high: float, *, is_level: bool = False, is_missing: bool = False) -> bool:
        """Return whether a count from `low` to `high` can be sensitive, of a level or of missing values or neither."""
        if is_missing and self.missing_is_harmless:
            return False
        return bool(self._some_is_sensitive(np.asarray(low), np.asarray(high), np.asarray(is_level)))


def are_small_rows(counts: RowCounts, n_subjects: int, threshold: int) -> bool:
    """Return whether a number of rows left out is small, or gives one by subtraction from the rows of the table."""
    numbers = [counts.not_meeting, counts.unknown, counts.not_meeting - counts.unknown]
    numbers += [counts.further, counts.outside, counts.not_drawn, counts.repeated, counts.taken - n_subjects]
    return any(Rule(threshold).may_be_sensitive(number, number) for number in numbers)


SLACK_OF_TOTALS = 1e-6  # a total is a mean times n, and whole up to rounding errors


def totals(counts: FeatureCounts) -> Array:
    """Return each group's total in steps above the lowest and below the highest score, (2, G); NaN without one."""
    if not counts.is_whole:
        return np.full((2, counts.n.size), np.nan)
    origin, step = counts.grid
    low, high = counts.scale
    origin = low if np.isfinite(low) else origin
    return np.array([distance / step * counts.n for distance in (counts.mean[0] - origin, high - counts.mean[0])])


def small_totals(counts: FeatureCounts, threshold: int) -> Mask:
    """Return which groups have, or with rounded counts may have, a total of 1 to ``threshold - 1`` either way, (G,)."""
    size = np.abs(totals(counts))
    if counts.rounding is None:
        return np.asarray(((size > SLACK_OF_TOTALS) & (size < threshold - SLACK_OF_TOTALS)).any(axis=0))
    below, above = rounding_error(counts.rounding)
    low, high = size - below, size + above
    if not counts.has_total:
        error = 0.5 * 10.0**-counts.decimals / counts.grid[1]
        of_each = np.divide(size, counts.n, out=np.full(size.shape, np.nan), where=counts.n > 0)
        low, high = (of_each - error) * (counts.n - below), (of_each + error) * (counts.n + above)
    return np.asarray(((low < threshold - SLACK_OF_TOTALS) & (high > 1.0 - SLACK_OF_TOTALS)).any(axis=0))
