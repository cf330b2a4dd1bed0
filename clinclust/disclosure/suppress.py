"""Small counts are withheld, and what is left is audited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import clinclust.disclosure.counts as release
from clinclust.arguments import SIZES, WHOLE_COMPARISONS, accepting
from clinclust.arrays import Array, Mask
from clinclust.comparisons.frame import ALL_SUBJECTS, ComparisonsFrame
from clinclust.data import data
from clinclust.disclosure.attacker import intervals, size_interval, size_intervals, total_intervals
from clinclust.disclosure.counts import FeatureCounts, Rule, feature_counts, printed, rounding_error
from clinclust.errors import InputError
from clinclust.likelihoods import traits_of

# Withhold small counts, and further numbers, until the small counts can no longer be inferred.
#
# The sizes of subtypes are decided on first. Then each feature: its small counts are withheld, and further numbers of
# it (complementary suppression), those of few subjects first, until no interval that follows from what is shown is
# short. Tests and effect sizes, q and the names of rare levels follow from the counts that are left.

_MESSAGES: dict[str, str] = data("released")["messages"]
_OF_ORDER = ("median", "q1", "q3")
_OF_SUMMARIES = ("n", "missing", "count", "percent", "mean", "sd", *_OF_ORDER)


@accepting(comparisons=WHOLE_COMPARISONS)
def suppress_small_cells(
    comparisons: pd.DataFrame,
    *,
    threshold: int = 10,
    zero_is_disclosive: bool = False,
    rounding: int | None = None,
    missing_is_harmless: bool = False,
    min_n: int | None = None,
) -> pd.DataFrame:
    """Withhold small counts so that they cannot be inferred from the numbers that are still shown.

    Counts of 1 to ``threshold - 1`` are withheld: of a level, of the other level of a yes/no feature, of observed and
    of missing values, and sizes of subtypes. Further numbers are withheld (complementary suppression), those of few
    subjects first, until a reader who knows every number still shown, as printed, can infer no interval shorter than
    `threshold` for any small count; `audit_disclosure` returns the intervals.

    - All numbers of a subtype with a small size are withheld, those of the next smallest subtypes if necessary, and
      then all contrasts.
    - Where n and missing of a subtype are withheld, so are its counts, percentages, median and quartiles, and all
      numbers of all subjects; its shares are shown with 2 decimals, unless n can be inferred from them.
    - Mean, SD, median and quartiles of fewer than `threshold` values are withheld, and those of all subjects if that
      mean could be computed from them; so are those of whole numbers with a total of 1 to ``threshold - 1``, of events
      or of steps of a scale above its lowest or below its highest score.
    - Tests and effects computed from a withheld number are withheld, and so is the contrast of its feature with the
      name of its test. Each q is adjusted over the tests shown.
    - Means and SDs are rounded to the decimals that reports print, with `rounding` to no more than every n allows that
      rounds to the same. Medians and quartiles are rounded to 1, 2 or 5 times a power of ten, at most a quarter of the
      distance between the quartiles, and with `rounding` whole numbers to whole numbers. Shares and means
      of counts are exact where n and count are shown, as they follow from these.
    - A level of which every number is withheld or 0 is called ``[c]``. `minimum`, `maximum`, `step` and `scored` of a
      scale are withheld unless more than `threshold` subjects are at each end of it.

    Parameters
    ----------
    comparisons : pandas.DataFrame
        The frame of `compare_subtypes`, with nothing withheld.
    threshold : int
        The smallest count that may be known.
    zero_is_disclosive : bool
        Whether to withhold counts of 0 for a level too, and means without spread.
    rounding : int, optional
        Instead of withholding small counts, round every count and size to a multiple of this base, and compute shares,
        their SDs and means of counts of events from the rounded counts. A small count is protected if a reader cannot
        infer an interval shorter than half the base. Small sizes and means of few values are treated as above, and all
        tests are withheld. Exact sizes must not be given elsewhere.
    missing_is_harmless : bool
        Whether numbers of missing values are not sensitive by themselves. They and numbers of observed values of at
        least `threshold` are then withheld only where a small count of a level would follow from them.
    min_n : int, optional
        Mean, SD, median and quartiles of fewer values than this are withheld; by default of fewer than `threshold`.

    Returns
    -------
    pandas.DataFrame
        The same columns. Withheld numbers are missing, and `suppressed` is True in every row with a withheld number;
        with `rounding` in every summary, and columns hold the rounded `size` of the group and the
        `decimals` of mean and SD. Tests and effects of
        a withheld subtype have no row. In features in which nothing is withheld only q and rounded numbers change.

    Raises
    ------
    ValueError
        If an argument cannot be used, if something is withheld already, or if the cohort is too small to share.

    Examples
    --------
    Two people with cancer in each subtype are too few to be shown:

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
    rule = Rule(threshold, zero_is_disclosive, rounding, missing_is_harmless, min_n)
    if comparisons["suppressed"].any():
        raise InputError("these comparisons hold withheld numbers already; pass those of compare_subtypes")
    if ComparisonsFrame(comparisons).is_weighted:
        raise InputError(_MESSAGES["weights"])
    result = comparisons[comparisons["kind"] != "level"].reset_index(drop=True)
    sizes = shown_sizes(ComparisonsFrame(result).exact_sizes, threshold, rounding)
    features = list(feature_counts(result))
    if rounding is not None:
        features = [release.rounded_counts(counts, rounding, rule.fewest_values) for counts in features]
    counted = [counts.of_groups_shown(sizes) for counts in features if counts.part != "rest"]
    ranges = size_intervals(sizes, rounding, counted)
    if rounding is not None:
        result["decimals"] = pd.Series(pd.NA, index=result.index, dtype="Int64")
    columns = [*_OF_SUMMARIES, *(["decimals"] if rounding is not None else [])]
    numbers = {name: result[name].to_numpy(dtype=np.float64, na_value=np.nan, copy=True) for name in columns}
    touched: set[tuple[str, int]] = set()
    first = None
    for counts in features:
        is_withheld = np.array([sizes[subtype] is None for subtype in counts.subtypes])
        shown = _suppress_feature(counts, [ranges[subtype] for subtype in counts.subtypes], is_withheld, rule)
        if shown is not None:
            touched |= {(counts.name, subtype) for subtype in shown.withheld_groups(sizes)}
        if counts.part == "rest" and first is not None:
            shown = (counts if shown is None else shown).given_point_masses(first)
            touched |= {(counts.name, subtype) for subtype in shown.withheld_groups(sizes)}
        first = counts if shown is None else shown
        _write_numbers(numbers, counts, first, rule)
    result["suppressed"] = result["suppressed"].astype("boolean")
    for name, values in numbers.items():
        result.loc[result[name].notna().to_numpy() & np.isnan(values), "suppressed"] = True
        result[name] = pd.Series(values, index=result.index).astype(result[name].dtype)
    if rounding is not None:
        is_summary = result["kind"] == "summary"
        result.loc[is_summary, "suppressed"] = True
        result["size"] = result["subtype"].where(is_summary).map(sizes).astype("Int64")
    withheld = {subtype for subtype, size in sizes.items() if size is None}
    result = release.keep_results_of_shown(result, release.rows_using_withheld(result, touched, withheld), withheld)
    return release.hide_rare_names(result, rule)


def shown_sizes(sizes: Mapping[int, int], threshold: int, rounding: int | None = None) -> dict[int, int | None]:
    """Return the size of all subjects (key 0) and of each subtype, rounded if asked; None where it must be withheld.

    Every withheld size has a `size_interval` of at least `threshold`. InputError if the cohort is too small for that.
    """
    total = sum(sizes.values())
    if rounding is not None:
        exact = np.array([total, *sizes.values()], dtype=np.float64)
        total, *others = (int(size) for size in release.rounded(exact, rounding))
        sizes = dict(zip(sizes, others, strict=True))
    below, _ = rounding_error(rounding)
    order = sorted(sizes, key=lambda subtype: (sizes[subtype], -subtype))
    n_withheld = sum(size - below < threshold for size in sizes.values())
    while n_withheld <= len(order):
        withheld = set(order[:n_withheld])
        shown = {0: total, **{subtype: None if subtype in withheld else size for subtype, size in sizes.items()}}
        if total - below >= threshold and all(
            high - low >= threshold for low, high in (size_interval(shown, subtype, rounding) for subtype in withheld)
        ):
            return shown
        n_withheld += 1
    shown_of = ", ".join(map(str, sizes.values()))
    raise InputError(_MESSAGES["too_small"].format(n=total, sizes=shown_of, threshold=threshold))


class _Step(NamedTuple):
    """One further number to withhold: a count or share of a level, the mean, or n and missing of a group."""

    what: str
    level: int
    group: int


def _suppress_feature(
    counts: FeatureCounts, sizes: Sequence[tuple[int, int]], withheld: Mask, rule: Rule
) -> FeatureCounts | None:
    """Return the numbers of a feature that can be shown, None if all can; `sizes` and `withheld` are by group (G)."""
    search = _Search(counts, sizes, withheld, rule)
    if not search.is_touched:
        return None
    if counts.part == "rest":  # its counts are functions of those at the point masses, which are protected
        return search.shown([])
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

    def __init__(
        self, counts: FeatureCounts, sizes: Sequence[tuple[int, int]], withheld_groups: Mask, rule: Rule
    ) -> None:
        self._counts, self._sizes, self._rule = counts, sizes, rule
        self._sensitive = rule.sensitive_of(counts)
        self._is_known = ~withheld_groups
        # The share of a level follows from its counts, whose own rule decides on them.
        fewest = rule.threshold if counts.is_share else rule.fewest_values
        below, above = rounding_error(rule.rounding)
        few = (counts.n - below < fewest) & (counts.n + above > 0) | withheld_groups
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
            small = release.small_totals(counts, rule.threshold)
            self._means |= small
            unknown = np.flatnonzero(self._means[0, 1:]) + 1
            few_together = unknown.size == 1 or (unknown.size > 0 and counts.n[unknown].sum() < fewest)
            # With the total of all subjects, a small one would follow from those of the other groups.
            self._means[0, ALL_SUBJECTS] |= few_together or small.any()
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
        is_exact = self._rule.rounding is None
        if (n & self._is_known).any() if is_exact else not counts.is_share:
            # With the totals of a feature, numbers withheld in one group could be inferred from the other groups. Of
            # rounded shares the search withholds what must be.
            n[ALL_SUBJECTS], levels[:, ALL_SUBJECTS], means[:, ALL_SUBJECTS] = True, True, True
        if not is_exact:
            if counts.is_share or counts.has_total:
                means = levels | n | means  # they are quotients of counts
            return counts.without(n, levels, means)
        if counts.is_share:
            # Of a share, either n and count are both shown, or at most the share itself is.
            levels = levels | (n & (counts.count > 0))
            means = means | (levels & ~n)
        return counts.without(n, levels if counts.is_share else np.zeros_like(levels), means)

    def exposed(self, steps: Sequence[_Step]) -> list[tuple[int, int]]:
        """Return the row and the group of every sensitive count whose interval is too short after these steps."""
        is_exact, width = self._rule.rounding is None, self._rule.width
        truth = np.vstack([self._counts.table, self._counts.n]) if is_exact else None
        low, high = intervals(self.shown(steps), self._sizes, self._sensitive, possible=truth, enough=width)
        exposed = self._sensitive & ~(high - low >= width)
        if not is_exact:
            # A rounded 0 that must be exactly 0 is about no subject.
            exposed &= ~self._rule.harmless(self._counts, low, high)
        return [(int(row), int(group)) for row, group in np.argwhere(exposed)]

    def cost(self, step: _Step) -> float:
        """Return the number of subjects whose values contribute to the withheld number."""
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
        has_mean, has_count = ~np.isnan(shown.mean), ~np.isnan(shown.count)
        of_levels = {"count": has_count, "share": has_mean & ~has_count} if counts.is_share else {"mean": has_mean}
        kinds = {"n": ~np.isnan(shown.n[np.newaxis]), **of_levels}
        possible = [_Step(what, *cell) for what, cells in kinds.items() for cell in np.argwhere(cells).tolist()]
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


def _write_numbers(numbers: dict[str, Array], counts: FeatureCounts, shown: FeatureCounts, rule: Rule) -> None:
    """Write the numbers that are shown of a feature into the columns of the frame, rounded as printed, in place."""
    n_withheld = np.broadcast_to(np.isnan(shown.n), shown.mean.shape)
    complete = ~n_withheld & ~np.isnan(shown.mean)
    if counts.is_share:
        complete &= ~np.isnan(shown.count)
    if rule.rounding is not None and not counts.is_share:
        numbers["decimals"][counts.places] = counts.decimals
    for name in ("n", "missing", "count", "percent"):
        numbers[name][counts.places] = getattr(shown, name)
    exact = complete & counts.is_share
    is_known = complete & (counts.is_share | traits_of(counts.likelihood).is_count)
    numbers["mean"][counts.places] = np.where(is_known, shown.mean, printed(shown.mean, counts.decimals))
    spread = np.where(n_withheld & counts.is_share, np.nan, shown.sd)
    numbers["sd"][counts.places] = np.where(exact, spread, printed(spread, counts.decimals))
    # The median of yes and no shows whether exactly half say yes, which rounded counts do not.
    has_order = complete & (not counts.is_share or rule.rounding is None)
    of_order = [np.where(has_order, numbers[name][counts.places], np.nan) for name in _OF_ORDER]
    if not counts.is_share:
        least = 0.0 if rule.rounding is None or not counts.is_whole else counts.grid[1]
        of_order = release.rounded_quartiles(of_order, least)
    for name, values in zip(_OF_ORDER, of_order, strict=True):
        numbers[name][counts.places] = values


# Audit a suppressed frame: infer the withheld counts as an attacker would, and report which are disclosed.


@accepting(comparisons=WHOLE_COMPARISONS, truth=WHOLE_COMPARISONS, sizes=SIZES)
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
    has_number = comparisons[[*release.NUMBERS_OF_RESULTS]].notna().any(axis=1).to_numpy()
    uses_withheld = release.rows_using_withheld(comparisons, touched, withheld)
    reveals = has_number | release.names_using_withheld(comparisons, uses_withheld)
    reveals |= release.rows_ranked_with_shown(comparisons, uses_withheld)
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
            decimals = true.decimals if rounding is None else counts.decimals
            counts = replace(counts, scale=true.scale, grid=true.grid, is_whole=true.is_whole, decimals=decimals)
        if counts.part != "rest":
            rows += _judge_counts(counts, true, ranges, rule, is_tested=counts.name in tested)
        rows += _judge_totals(counts, true, rule, is_tested=counts.name in tested)
    is_few = (comparisons["kind"] == "level") & comparisons["count"].between(1, threshold - 1)
    levels = comparisons.loc[is_few, ["feature", "level", "subtype", "count"]]  # withheld are all rows, or none
    rows += [(*row, row[-1], row[-1], True, "shown") for row in levels.itertuples(index=False, name=None)]
    dtypes = dict.fromkeys(("feature", "cell"), "string")
    dtypes |= dict.fromkeys(("subtype", "lowest", "highest", "value"), "Int64")
    dtypes |= {"disclosed": "boolean", "reason": "string"}
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def _read_sizes(comparisons: pd.DataFrame, features: list[FeatureCounts]) -> dict[int, int | None]:
    """Return the sizes of rounded groups, or those that follow from n and missing of any feature; None if withheld."""
    if "size" in comparisons:
        return ComparisonsFrame(comparisons).sizes
    sizes: dict[int, int | None] = {}
    for counts in features:
        for subtype, size in zip(counts.subtypes, (counts.n + counts.missing).tolist(), strict=True):
            if sizes.get(subtype) is None:
                sizes[subtype] = None if np.isnan(size) else int(size)
    return sizes


Ranges = Mapping[int, tuple[int, int]]  # the ends of each size
Judged = Iterator[tuple[Any, ...]]  # rows of the audit


def _judge_sizes(
    sizes: Mapping[int, int | None], ranges: Ranges, true_sizes: Mapping[int, int], rule: Rule, *, is_tested: bool
) -> Judged:
    for subtype, size in sizes.items():
        if size is None:
            value = true_sizes.get(subtype, np.nan)
            yield _judge_interval((pd.NA, "size", subtype), ranges[subtype], value, rule, is_tested=is_tested)
        elif 0 < size < rule.threshold:
            yield (pd.NA, "size", subtype, size, size, size, True, "shown")


def _judge_counts(
    counts: FeatureCounts, truth: FeatureCounts | None, ranges: Ranges, rule: Rule, *, is_tested: bool
) -> Judged:
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
    for row, group in np.argwhere((~is_known | sensitive)[: len(cells)]).tolist():
        named = (counts.name, cells[row], counts.subtypes[group])
        if is_known[row, group]:
            yield (*named, *[shown[row, group]] * 3, True, "shown")
        else:
            interval, value, of_missing = (low[row, group], high[row, group]), true[row, group], len(counts.rows) - 1
            kind = {"is_level": counts.is_share and row < of_missing, "is_missing": row == of_missing}
            yield _judge_interval(named, interval, value, rule, is_tested=is_tested, **kind)


def _judge_totals(counts: FeatureCounts, truth: FeatureCounts | None, rule: Rule, *, is_tested: bool) -> Judged:
    """Yield the small totals of whole numbers: of events, or of the steps of scores above the lowest."""
    if not counts.is_whole:
        return
    low, high = total_intervals(counts)
    values = release.totals(truth or counts)[0]
    small = release.small_totals(truth or counts, rule.threshold) & (np.rint(values) > 0)
    is_shown = ~np.isnan(counts.mean[0])
    for group in np.flatnonzero(small):
        reason = "shown" if is_shown[group] else "interval" if high[group] - low[group] < rule.threshold else ""
        reason = reason or ("test" if is_tested else "")
        most = high[group] if np.isfinite(high[group]) else pd.NA
        judged = (low[group], most, round(values[group]), bool(reason), reason or pd.NA)
        yield (counts.name, "total", counts.subtypes[group], *judged)


def _judge_interval(
    named: tuple[Any, ...], interval: tuple[float, float], value: float, rule: Rule, *, is_tested: bool, **kind: bool
) -> tuple[Any, ...]:
    low, high = interval
    is_true = not np.isnan(value)
    least, most = (value, value) if is_true else interval
    reason = ""
    if np.isnan(low) or np.isnan(high):
        reason = "not solved"
    elif rule.may_be_sensitive(least, most, **kind):
        reason = "interval" if high - low < rule.width else "test" if is_tested else ""
    return (*named, low, high, value if is_true else pd.NA, bool(reason), reason or pd.NA)
