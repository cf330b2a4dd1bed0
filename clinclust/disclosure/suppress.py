"""Withhold small counts, and further numbers, until the small counts can no longer be inferred."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from clinclust.arguments import ON_OR_OFF, WHOLE, WHOLE_COMPARISONS, accepting
from clinclust.comparisons.frame import ComparisonsFrame
from clinclust.disclosure.complementary import shown_counts
from clinclust.disclosure.counts import ALL_SUBJECTS, FeatureCounts, feature_counts
from clinclust.disclosure.released import rows_using_withheld, with_names_of_many, with_results_of_shown_counts
from clinclust.disclosure.rounding import printed, rounded_counts, rounded_quartiles
from clinclust.disclosure.rule import Rule
from clinclust.disclosure.sizes import shown_sizes, size_intervals
from clinclust.errors import InputError
from clinclust.likelihoods import traits_of

if TYPE_CHECKING:
    import pandas as pd

Floats: TypeAlias = NDArray[np.float64]

_OF_ORDER = ("median", "q1", "q3")
_OF_SUMMARIES = ("n", "missing", "count", "percent", "mean", "sd", *_OF_ORDER)


@accepting(comparisons=WHOLE_COMPARISONS, threshold=WHOLE, rounding=WHOLE, missing_is_harmless=ON_OR_OFF, min_n=WHOLE)
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
    import pandas as pd

    rule = Rule(threshold, zero_is_disclosive, rounding, missing_is_harmless, min_n)
    rule.check()
    if comparisons["suppressed"].any():
        raise InputError("these comparisons hold withheld numbers already; pass those of compare_subtypes")
    if ComparisonsFrame(comparisons).is_weighted:
        raise InputError(
            "these comparisons have weights, for which no rule of suppression is known; share none of them"
        )
    result = comparisons.reset_index(drop=True)
    sizes = shown_sizes(sizes_of(result), threshold, rounding)
    features = list(feature_counts(result))
    if rounding is not None:
        features = [rounded_counts(counts, rounding, rule.fewest_values) for counts in features]
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
        shown = shown_counts(counts, [ranges[subtype] for subtype in counts.subtypes], is_withheld, rule)
        if shown is not None:
            touched |= {(counts.name, subtype) for subtype in shown.withheld_groups(sizes, rule.rounding)}
        if counts.part == "rest" and first is not None:
            shown = (counts if shown is None else shown).given_point_masses(first)
            touched |= {(counts.name, subtype) for subtype in shown.withheld_groups(sizes, rule.rounding)}
        first = counts if shown is None else shown
        _write(numbers, counts, first, rule)
    result["suppressed"] = result["suppressed"].astype("boolean")
    for name, values in numbers.items():
        result.loc[result[name].notna().to_numpy() & np.isnan(values), "suppressed"] = True
        result[name] = pd.Series(values, index=result.index).astype(result[name].dtype)
    if rounding is not None:
        is_summary = result["kind"] == "summary"
        result.loc[is_summary, "suppressed"] = True
        result["size"] = result["subtype"].where(is_summary).map(sizes).astype("Int64")
    withheld = {subtype for subtype, size in sizes.items() if size is None}
    result = with_results_of_shown_counts(result, rows_using_withheld(result, touched, withheld), withheld)
    return with_names_of_many(result, rule)


def sizes_of(comparisons: pd.DataFrame) -> dict[int, int]:
    """Return the size of each subtype: its observed and missing values, whose sum is the same for every feature."""
    summaries = comparisons[(comparisons["kind"] == "summary") & (comparisons["subtype"] != ALL_SUBJECTS)]
    first = summaries.drop_duplicates("subtype").sort_values("subtype")
    sizes = (first["n"] + first["missing"]).astype(int)
    return dict(zip(first["subtype"].astype(int).tolist(), sizes.tolist(), strict=True))


def _write(numbers: dict[str, Floats], counts: FeatureCounts, shown: FeatureCounts, rule: Rule) -> None:
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
        of_order = rounded_quartiles(of_order, 0.0 if rule.rounding is None or not counts.is_whole else counts.grid[1])
    for name, values in zip(_OF_ORDER, of_order, strict=True):
        numbers[name][counts.places] = values
