"""Summaries of every feature in every subtype, and tests and effect sizes between subtypes, as one tidy frame.

A table in partitions is counted where it lies, and its rows are different values. Each feature becomes one or more
measures (a level, a part), which are summarised in every group; tests and effect sizes follow from the summaries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from threading import Event
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import clinclust.comparisons.differences as differences
from clinclust.arguments import ANY_FRAME, ANY_LABELS, accepting, is_partitioned
from clinclust.comparisons.differences import Contrasted, Effect, Floats, Groups, Side, Times
from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.engine.search.plan import n_threads
from clinclust.errors import CohortError, InputError
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.validation import refuse_failures

# Each feature to compare, in schema order, with its validated column and the rows of this.
Columns: TypeAlias = list[tuple["Feature", "pd.Series[Any]", "Rows"]]
_Arrays: TypeAlias = dict[str, NDArray[Any]]

FEWEST_TESTED = 3  # fewest subjects of a subtype that is tested, by default

# The columns of the result, in order.
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("kind", "feature", "label", "section", "unit", "role", "likelihood", "level"), "string"),
    **dict.fromkeys(("subtype", "versus", "n", "missing"), "Int64"),
    **dict.fromkeys(("mean", "sd", "median", "q1", "q3"), "float64"),
    "count": "Int64",
    **dict.fromkeys(("percent", "minimum", "maximum"), "float64"),
    "test": "string",
    **dict.fromkeys(("statistic", "df", "df2", "p", "q", "standardised_difference"), "float64"),
    "significant": "boolean",
    "measure": "string",
    **dict.fromkeys(("estimate", "lower", "upper"), "float64"),
    **dict.fromkeys(("whole", "suppressed"), "boolean"),
    "step": "float64",
    "scored": "string",
    "at_ends": "Int64",
    "part": "string",
}


@accepting(frame=ANY_FRAME, labels=ANY_LABELS)
def compare_subtypes(
    frame: pd.DataFrame,
    labels: ArrayLike,
    schema: FeatureSchema,
    *,
    min_size: int = FEWEST_TESTED,
    significance_level: float = 0.01,
    weights: ArrayLike | None = None,
) -> pd.DataFrame:
    """Summarise every feature in every subtype; test and measure how the subtypes differ.

    Tests of features that formed the subtypes are only descriptive: subtypes found and tested in the same subjects
    differ in those features by construction. Only the p of features with the role ``describe`` are valid.

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame, N rows
        Any table that `schema` accepts. One in partitions is counted where it lies; a column of more than 4,096 values
        in a partition is rounded to less than a thousandth of its interquartile range.
    labels : array_like or dask.dataframe.Series, shape (N,)
        The cluster of each subject, 0, 1, ...; subtype = label + 1. Categories (`MAPDP.labels`) and texts are numbered
        from 1 in their order, texts that are whole numbers by size. A Series must have the index of `frame`. Those of
        a table in partitions are whole numbers, or categories that are known and the same in all partitions.
    schema : FeatureSchema
        The features that are clustered on or described are compared.
    min_size : int
        Subtypes with fewer subjects are summarised but not tested. The floor of a model is its `min_size_`.
    significance_level : float
        `significant` is p <= this level, without a correction for multiple tests (`q` has one).
    weights : array_like, shape (N,), optional
        Sampling weights of the subjects. The result has weighted summaries only: means, `sd`, quartiles and `percent`
        are those of the population, `n` and `count` of the sample; `weight` is the sum of the weights of each group.

    Returns
    -------
    pandas.DataFrame
        One row per summary, test, contrast and effect; `kind` says which.

        ``"summary"``: a feature (a categorical one level by level) in one `subtype`; 0 = all subjects. `n` are observed
        and `missing` missing values; then `mean`, `sd` (denominator n - 1), `median`, `q1` and `q3` in the unit of the
        column. For yes/no features and levels, the mean is the share of subjects with that level, `count` their number.
        Ordered levels that are numbers (``60 %``, ``70 %``) are these, with differences that are multiples of `step`;
        words have the scores 0, 1, ..., explained in `scored`. `minimum` and `maximum` are the ends of a scale, and
        `at_ends` is the number of subjects at the end that has fewer.

        ``"level"``: how many subjects of each group have a level of a scale, where a mean or a median of its scores
        says little: scales of at most five levels that are words, or of which one has three quarters of all subjects.

        ``"test"``: `subtype` against `versus` by the `test` ``"welch"``, or ``"student"`` (equal variances) where that
        is the contrast of the feature; of yes/no features and levels, whose t-tests are those of the paper, also
        ``"mid_p"``, Fisher's exact test. `statistic` and `standardised_difference`, the difference of the means divided
        by the root of the mean of both variances (of shares, p (1 - p)), are positive if `subtype` has the higher mean.
        `q` is p adjusted as by Benjamini and Hochberg over all tests of the same name. Results are NaN if either has
        fewer than 2 observed values, or all values of both are equal.

        ``"contrast"``: the test of all subtypes of at least `min_size` subjects at once, one row per feature: `test`
        (its name), `statistic`, `df`, `df2` (of the denominator), `p`, and `q` over all contrasts. By the `contrast`
        of the schema; else counts of yes/no and categorical features, ranks of skewed ones, Welch's test of others, and
        none of follow-up times (role ``time``), which mix times until an event with those of subjects who were lost.
        Counts have the chi-squared test, or Fisher's exact test if an expected count is below 5; ranks the Mann-Whitney
        or, of more subtypes, the Kruskal-Wallis test.

        ``"effect"``: the effect size of `subtype` against `versus`, for every pair of subtypes, and for each subtype
        against all other subjects (`versus` is 0). `measure` is its name, `estimate` its value, and `lower` and `upper`
        are the ends of its 95% confidence interval; NaN where they do not exist.

        =========================== ============================ ==================================================
        `measure`                   of                           estimate, and interval
        =========================== ============================ ==================================================
        ``standardised_difference`` every feature                as above; Bonett, for shares from Wilson's limits
        ``difference``              yes/no, levels               of the shares; Newcombe's hybrid score interval
        ``difference``              scales, Gaussian             of the means; Welch's interval
        ``ratio``                   yes/no, levels               odds ratio; exact, with mid-p
        ``ratio``                   counts, exponential          of the means (rates); robust, in the logarithm
        =========================== ============================ ==================================================

        A feature with a `spike` or a `limit` has rows of both parts (`part`): the number of subjects at each point mass
        (``"spike"``; the `level` is the point mass), and summaries of the other values (``"rest"``), whose `missing`
        counts those at a point mass too. Its contrast is Fisher's combination of the tests of both parts. `whole` is
        whether every value is a whole number, `suppressed` whether numbers were withheld.

    Raises
    ------
    CohortError, ValueError
        If `frame` does not fit `schema`, or another argument cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"grip": [34, 31, 37, 33, 22, 19, 25]})
    >>> schema = cc.FeatureSchema([cc.Feature(name="grip", likelihood="gaussian")])
    >>> comparisons = cc.compare_subtypes(frame, [0, 0, 0, 0, 1, 1, 1], schema)
    >>> comparisons.query("kind == 'summary'")[["subtype", "n", "mean", "sd"]].round(2)
       subtype  n   mean    sd
    0        0  7  28.71  6.75
    1        1  4  33.75  2.50
    2        2  3  22.00  3.00
    """
    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    if min_size < 1:
        raise InputError(f"min_size must be at least 1 subject, not {min_size!r}")
    if is_partitioned(frame):
        if weights is not None:
            raise InputError("weights cannot be used with a table in partitions")
        clusters, columns = _count_columns(frame, labels, schema)
    else:
        subjects = _check_labels(labels, frame)
        shares = (
            None if weights is None else np.asarray(pd.to_numeric(pd.Series(weights), errors="coerce"), dtype=float)
        )
        if shares is not None:
            _check_rows("weights", cast(Any, weights), shares, frame, "one number")
            if n_wrong := int((~(np.isfinite(shares) & (shares > 0.0))).sum()):
                raise InputError(f"weights must be numbers above 0 and not missing; {n_wrong} are not")
        # A fit, if there was one, has already warned of columns that cannot inform a clustering.
        clusters, columns = _group_columns(schema.validate(frame, warn=False), subjects, schema)
        if shares is not None:
            frame = _stack_rows(_summarise_columns(columns, clusters, shares))
            totals = [shares[rows].sum() for rows in (columns[0][2].groups if columns else ())]
            return frame.assign(weight=np.tile(totals, len(frame) // (1 + clusters.size)))
    return _compare(clusters, columns, min_size, significance_level)


def compare_cohort(
    cohort: FittedCohort, *, min_size: int = FEWEST_TESTED, significance_level: float = 0.01
) -> pd.DataFrame:
    """Return the frame of `compare_subtypes` for a validated cohort and its subtypes."""
    clusters, columns = _group_columns(cohort.table, cohort.labels, cohort.schema)
    return _compare(clusters, columns, min_size, significance_level)


def _group_columns(
    table: pd.DataFrame, labels: NDArray[np.int64], schema: FeatureSchema
) -> tuple[NDArray[np.int64], Columns]:
    """Return the clusters that have a subject, and the column of each feature to compare with its rows."""
    clusters, group_of = np.unique(labels, return_inverse=True)
    rows = Rows(group_of, clusters.size, np.ones(labels.size, dtype=np.int64))
    return clusters, [(feature, table[feature.name], rows) for feature in schema.reported]


def _compare(clusters: NDArray[np.int64], columns: Columns, min_size: int, significance_level: float) -> pd.DataFrame:
    blocks = _summarise_columns(columns, clusters)
    (measures, summary), subtypes = blocks[0], blocks[0][1]["subtype"]
    wholes = [Measure(feature, None, feature.described(column), rows) for feature, column, rows in columns]
    sizes = next((rows.sizes for _, _, rows in columns), np.zeros(clusters.size, dtype=np.int64))
    large = np.flatnonzero(sizes >= min_size)
    pairs = np.array(list(combinations(large + 1, 2)), dtype=int).reshape(-1, 2)
    # The mean of follow-up times mixes those until an event with those of subjects who were lost: no test of a table.
    times = [feature for feature, *_ in columns if feature.role == "time" and feature.levels is None]
    follow_up = {feature.name for feature in times if feature.contrast is None}
    is_tested = np.array([measure.feature.name not in follow_up for measure in measures])[:, None]
    tests = [
        [] if feature.name in follow_up else differences.contrasted(feature, column, rows.times)
        for feature, column, rows in columns
    ]
    blocks += _test_columns(measures, summary, is_tested, pairs, significance_level)
    blocks.append((wholes, _contrast_columns(wholes, tests, large, significance_level)))
    blocks += _effect_columns(measures, summary, sizes, subtypes[1:], min_size)
    return _stack_rows(blocks)


def _check_labels(labels: ArrayLike, frame: pd.DataFrame) -> NDArray[np.int64]:
    """Return the labels as int64 (N,), categories and texts as their place in order; refuse what are no labels."""
    clusters = np.asarray(labels)
    if isinstance(getattr(labels, "dtype", None), pd.CategoricalDtype):
        clusters = np.asarray(pd.Series(cast(Any, labels)).cat.codes)
    elif clusters.ndim == 1 and pd.api.types.infer_dtype(clusters, skipna=True) == "string":
        names = sorted(set(clusters[~pd.isna(clusters)].tolist()))
        names = sorted(names, key=int) if all(map(str.isdecimal, names)) else names  # "2" is before "10"
        clusters = pd.Categorical(clusters, categories=names).codes
    _check_rows("labels", labels, clusters, frame, "one label")
    if not np.issubdtype(clusters.dtype, np.integer) and len(clusters):
        raise InputError(
            f"labels must be whole numbers 0, 1, ... of an integer type, categories or texts, none missing, "
            f"not {clusters.dtype}"
        )
    if len(clusters) and clusters.min() < 0:
        raise InputError(
            f"labels must not be negative or missing; {np.sum(clusters < 0)} are (first: row {np.argmax(clusters < 0)})"
            ". Leave out subjects without a subtype"
        )
    return clusters.astype(np.int64)


def _check_rows(called: str, column: ArrayLike, values: NDArray[Any], frame: pd.DataFrame, what: str) -> None:
    """Raise InputError if a column is not one value for each row of `frame`, or a Series with another index."""
    if isinstance(column, pd.Series) and not column.index.equals(frame.index):
        raise InputError(
            f"{called} is a Series whose index differs from the frame's, so its order may differ too; align it with "
            f"`{called}.loc[frame.index]`, or with `{called}.set_axis(frame.index)` if the order is the same"
        )
    if values.shape != (len(frame),):
        raise InputError(f"{called} must hold {what} for each of the {len(frame)} rows, not shape {values.shape}")


# The columns of a table in partitions are counted where they lie: how often each value occurs in each group. All that
# is reported of a feature depends on these counts only. A partition sends one number for each pair of a value and a
# group; values of a column with many are rounded first.

MANY_VALUES = 4096  # different values in a partition above which they are rounded
_FINENESS = 1024.0  # the interquartile range of a partition is at least so many steps of the rounded values
_TOGETHER = 8  # partitions whose counts are added together in one step


class _Counts(NamedTuple):
    """The counts of some partitions, and what is wrong with each of them that has rows (`refuse_failures`)."""

    columns: dict[str, pd.DataFrame]  # of each feature: validated `value`, `label`, and numbers of subjects, `times`
    failures: dict[int, pd.DataFrame | None]


def _count_columns(table: Any, labels: Any, schema: FeatureSchema) -> tuple[NDArray[np.int64], Columns]:
    """Return the labels that occur, and the counted column of each feature, or refuse failures of all partitions."""
    import dask.dataframe
    from dask.delayed import delayed

    from clinclust.estimators.partitioned import place_of_shards

    series: Any = dask.dataframe.Series
    if not isinstance(labels, series) or labels.npartitions != table.npartitions:
        raise InputError(
            f"labels of a table in partitions must be a Dask series in its {table.npartitions} partitions, such as "
            "`labels_` of the model fitted to it"
        )
    levels = labels.cat.categories if isinstance(labels.dtype, pd.CategoricalDtype) and labels.cat.known else None
    both = zip(table.to_delayed(optimize_graph=False), labels.to_delayed(optimize_graph=False), strict=True)
    pairs = [delayed(list, pure=False)([frame, of_frame]) for frame, of_frame in both]
    with place_of_shards(n_threads(None), Event()) as (place, _):
        functions = [partial(_count, schema=schema, number=number, levels=levels) for number in range(len(pairs))]
        parts: Sequence[Any] = place.submit_each(functions, pairs)
        while len(parts) > 1:  # added where they lie, always in the same order
            starts = range(0, len(parts), _TOGETHER)
            parts = [place.submit(_add, *parts[start : start + _TOGETHER]) for start in starts]
        counts: _Counts = place.results(parts)[0]
    refuse_failures(counts.failures)
    if not counts.columns:
        raise InputError("the table has no rows in any of its partitions, or its schema has no features to compare")
    clusters = np.unique(next(iter(counts.columns.values()))["label"].to_numpy(dtype=np.int64))
    columns: Columns = []
    for feature in schema.reported:
        values, label, times = (counts.columns[feature.name][name] for name in ("value", "label", "times"))
        group_of = np.searchsorted(clusters, label.to_numpy(dtype=np.int64))
        columns.append((feature, values, Rows(group_of, clusters.size, times.to_numpy(dtype=np.int64))))
    return clusters, columns


def _count(both: Sequence[Any], schema: FeatureSchema, number: int, levels: pd.Index[Any] | None = None) -> _Counts:
    """Validate and count the partition of this number. `levels` are the categories of the labels in all partitions."""
    frame, labels = both
    if len(labels) != len(frame):
        raise InputError(f"labels has {len(labels)} rows in a partition in which the table has {len(frame)}")
    if len(frame) == 0:
        return _Counts({}, {})
    if not labels.index.equals(frame.index):
        raise InputError(
            "labels has another index than the table in a partition, so its order may differ too; give the labels of "
            "this table, in the order of its rows"
        )
    clusters: NDArray[Any] = labels.to_numpy()
    if levels is not None and isinstance(labels.dtype, pd.CategoricalDtype) and labels.cat.categories.equals(levels):
        clusters = labels.cat.codes.to_numpy()
    if not np.issubdtype(clusters.dtype, np.integer) or clusters.min() < 0:
        raise InputError(
            "labels of a table in partitions must be whole numbers 0, 1, ... or known categories, the same in each "
            "partition, none missing"
        )
    try:
        frame = schema.validate(frame, warn=False)
    except CohortError as error:
        return _Counts({}, {number: error.failures})
    columns = {}
    for feature in schema.reported:
        values = round_many(feature, frame[feature.name]).array
        columns[feature.name] = _group_values(pd.DataFrame({"value": values, "label": clusters, "times": 1}))
    return _Counts(columns, {number: None})


def round_many(feature: Feature, column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a validated column of few values unchanged, and one of many as multiples of a step.

    The step is the largest power of 2 of which 1,024 are no more than the interquartile range: partitions have most
    multiples in common. Whole numbers stay exact up to a range of 1,024; 0 and point masses do, and so does the first
    fraction, without which multiples of a long step would be a column of whole numbers.
    """
    if not pd.api.types.is_float_dtype(column.dtype) and not pd.api.types.is_integer_dtype(column.dtype):
        return column
    if column.nunique() <= MANY_VALUES:
        return column
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    finite = values[np.isfinite(values)]
    q1, q3 = np.quantile(finite, [0.25, 0.75])
    step = 2.0 ** np.floor(np.log2((q3 - q1 or finite.std()) / _FINENESS))
    multiples = np.round(values / step) * step
    is_exact = ~np.isfinite(values) | np.isin(multiples, (0.0, *feature.point_masses))
    is_fraction = np.isfinite(values) & (np.floor(values) != values)
    is_exact[np.argmax(is_fraction)] |= is_fraction.any()
    return pd.Series(np.where(is_exact, values, multiples), index=column.index).astype(column.dtype)


def _group_values(pairs: pd.DataFrame) -> pd.DataFrame:
    return pairs.groupby(["value", "label"], dropna=False, observed=True)["times"].sum().reset_index()


def _add(*several: _Counts) -> _Counts:
    names = dict.fromkeys(name for counts in several for name in counts.columns)
    columns = {
        name: _group_values(pd.concat([counts.columns[name] for counts in several if name in counts.columns]))
        for name in names
    }
    return _Counts(columns, {number: table for counts in several for number, table in counts.failures.items()})


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a column, in groups 0 to G - 1, (R,), each of which counts for some subjects, (R,)."""

    group_of: NDArray[np.int64]
    n_groups: int
    times: Times

    @cached_property
    def groups(self) -> list[NDArray[np.intp]]:
        """The rows of all subjects, then those of each group."""
        every_row = np.arange(self.group_of.size)
        return [every_row, *(np.flatnonzero(self.group_of == group) for group in range(self.n_groups))]

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(G,) the number of subjects in each group."""
        return np.array([self.number(rows) for rows in self.groups[1:]], dtype=np.int64)

    def number(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> int:
        """Return the number of subjects in some rows."""
        return int(self.times[rows].sum())


@dataclass(frozen=True)
class Measure:
    """A feature, or one level of it, as `scores`, (R,), to average over subjects: 1 with the level, 0 without."""

    feature: Feature
    level: str | None
    scores: NDArray[np.float64]
    rows: Rows

    @property
    def centre(self) -> float:
        """An observed value of a gaussian feature, whose values may all be far from 0; 0 for other features."""
        observed = self.scores[~np.isnan(self.scores)] if self.feature.traits.is_real else self.scores[:0]
        return float(observed[0]) if observed.size else 0.0


def _measure_levels(columns: Columns) -> Iterator[Measure]:
    """Yield a measure for each level of categorical, the second of yes/no, and each other feature (or its parts)."""
    for whole, column, rows in columns:
        parts = [Measure(whole, None, whole.described(column), rows)]
        if whole.point_masses:
            parts = [Measure(part, None, part.scores(column), rows) for part in whole.parts]
        for part in parts:
            feature, scores = part.feature, part.scores
            if feature.traits.is_nominal:
                for code, level in enumerate(feature.levels or ()):
                    yield replace(part, level=level, scores=np.where(np.isnan(scores), np.nan, scores == code))
            else:
                yield replace(part, level=(feature.levels or ("0", "1"))[1] if feature.traits.is_yes_no else None)


SUMMARY = ("n", "missing", "mean", "deviation", "variance", "median", "q1", "q3")  # deviation: mean - centre
_QUARTILES = np.array([0.25, 0.5, 0.75])


def summarise(measure: Measure) -> NDArray[np.float64]:
    """Return the summaries, (1 + G, 8) with the columns of `SUMMARY`, of all values and of those of each group."""
    scores, centre, times = measure.scores, measure.centre, measure.rows.times
    return np.array([_summarise_group(scores[rows], times[rows], centre) for rows in measure.rows.groups])


def _weigh(measure: Measure, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the summaries of `summarise`, each subject counted with its weight, float64 (N,), but n and missing.

    The variance has the factor n / (n - 1); a quantile is the smallest value that the share of the weights reaches.
    """
    summaries = summarise(measure)
    for place, rows in enumerate(measure.rows.groups):
        is_known = ~np.isnan(measure.scores[rows])
        values, shares = measure.scores[rows][is_known], weights[rows][is_known]
        if not shares.sum() > 0.0:
            summaries[place, 2:] = np.nan
            continue
        shares = shares / shares.sum()
        from_centre = values - measure.centre
        deviation = float(shares @ from_centre)
        spread = float(shares @ (from_centre - deviation) ** 2)
        order = np.argsort(values, kind="stable")
        reached = np.searchsorted(np.cumsum(shares[order]), _QUARTILES * (1.0 - 1e-12))
        q1, median, q3 = values[order][np.minimum(reached, values.size - 1)]
        variance = spread * values.size / (values.size - 1) if values.size > 1 else np.nan
        summaries[place, 2:] = (measure.centre + deviation, deviation, variance, median, q1, q3)
    return summaries


def _summarise_group(values: NDArray[np.float64], times: Times, centre: float) -> tuple[float, ...]:
    n_all = int(times.sum())
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]  # NaN are last
    values, times = values[order], times[order]
    if not values.size:
        return (0, n_all, *[np.nan] * 6)
    with np.errstate(all="ignore"):
        n, deviation, variance = differences.moments(values - centre, times)
        # The same as numpy.quantile, but five times as fast on small samples, of which there are thousands.
        position, until = _QUARTILES * (n - 1), times.cumsum()
        lower, upper = (values[np.searchsorted(until, end(position), side="right")] for end in (np.floor, np.ceil))
        q1, median, q3 = np.where(lower == upper, lower, lower + position % 1 * (upper - lower))
    mean = values[0] if values[0] == values[-1] else centre + deviation
    return (n, n_all - n, mean, deviation, variance, median, q1, q3)


_MOST_COUNTED, _MOST_IN_ONE = 5, 0.75
"""A scale of at most so many levels is counted level by level if they are words, or if so many subjects have one level
that the quartiles are the same: edema of 0, 0.5 or 1 was 0 [0, 0] in .3% of a subtype and in 21.8% of another."""


def _summarise_columns(
    columns: Columns, clusters: NDArray[np.int64], weights: Floats | None = None
) -> list[tuple[list[Measure], _Arrays]]:
    """Return the measures with their summaries, and the levels of scales of which a mean or a median says little."""
    levels = []
    for feature, column, rows in columns:
        n_levels = 0 if feature.ends is None or feature.point_masses else (feature.n_trials or 0) + 1
        scores, steps = feature.scores(column), feature.lowest + np.arange(n_levels)
        counts = [rows.number(scores == level) for level in steps] if n_levels <= _MOST_COUNTED else []
        if any(counts) and (feature.scored or max(counts) >= _MOST_IN_ONE * sum(counts)):
            for level, text in zip(steps, feature.levels or map("{:g}".format, steps), strict=True):
                levels.append(Measure(feature, text, np.where(np.isnan(scores), np.nan, scores == level), rows))
    subtypes, measures = np.array([ALL_SUBJECTS, *clusters + 1]), list(_measure_levels(columns))
    blocks = [(measures, _summary_columns(measures, subtypes, weights) | {"kind": np.array("summary")})]
    if levels:
        blocks.append((levels, _summary_columns(levels, subtypes, weights) | {"kind": np.array("level")}))
    return blocks


def _summary_columns(measures: list[Measure], subtypes: NDArray[np.int64], weights: Floats | None) -> _Arrays:
    """Return one (measures, groups) array for each column: with weights of the population, and counts of the sample."""
    is_share = np.array([measure.level is not None for measure in measures], dtype=bool).reshape(-1, 1)

    def stack(summaries: Iterator[Floats]) -> _Arrays:
        # The reshape is needed if there are no measures.
        shaped = np.array(list(summaries)).reshape(len(measures), subtypes.size, len(SUMMARY))
        return dict(zip(SUMMARY, np.moveaxis(shaped, 2, 0), strict=True))

    of_sample = stack(map(summarise, measures))
    columns = of_sample if weights is None else stack(_weigh(measure, weights) for measure in measures)
    return columns | {
        "is_share": is_share,
        "subtype": subtypes,
        "sd": np.sqrt(columns["variance"]),
        "count": np.where(is_share & (columns["n"] > 0), np.rint(of_sample["mean"] * columns["n"]), np.nan),
        "percent": np.where(is_share, 100 * columns["mean"], np.nan),
    }


def _test_columns(
    measures: list[Measure],
    summary: _Arrays,
    is_tested: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    significance_level: float,
) -> Iterator[tuple[list[Measure], _Arrays]]:
    """Yield the measures that have a test, and its columns, each (measures, pairs)."""
    a, b = (Side(*(summary[name][:, side] for name in ("n", "deviation", "variance"))) for side in pairs.T)
    # For shares the variance is p (1 - p), which has denominator n, not n - 1.
    spreads = (side.variance * np.where(summary["is_share"], 1 - 1 / np.maximum(side.n, 1), 1) for side in (a, b))
    missing, difference = (
        summary["missing"][:, pairs].sum(axis=2),
        differences.standardised_difference(a.mean, b.mean, *spreads),
    )
    shares, subtypes = summary["is_share"].ravel(), summary["subtype"]
    is_pooled = np.array([measure.feature.contrast == "student" for measure in measures], dtype=bool)
    for test, rows in ((differences.mid_p, shares), (differences.welch, ~is_pooled), (differences.student, is_pooled)):
        if not rows.any():
            continue
        result = test(*(Side(*(moment[rows] for moment in side)) for side in (a, b)))
        result = type(result)(*(np.where(is_tested[rows], part, np.nan) for part in result))
        columns: _Arrays = {
            "kind": np.array("test"),
            "subtype": subtypes[pairs[:, 0]],
            "versus": subtypes[pairs[:, 1]],
            "n": (a.n + b.n)[rows],
            "missing": missing[rows],
            "standardised_difference": difference[rows],
            "test": np.array(test.__name__),
            "q": differences.adjusted(result.p),
            "significant": np.where(np.isnan(result.p), np.nan, result.p <= significance_level),
        }
        yield [measure for measure, row in zip(measures, rows, strict=True) if row], columns | result._asdict()


def _contrast_columns(
    whole: list[Measure], tests: list[list[Contrasted]], large: NDArray[np.intp], significance_level: float
) -> _Arrays:
    """Return the columns of the tests of these groups at once, each (features, 1)."""
    results, n, missing = [], [], []
    for measure, parts in zip(whole, tests, strict=True):
        rows = measure.rows
        is_tested = np.isin(rows.group_of, large)
        groups = np.where(is_tested, rows.group_of, -1)
        results.append(
            differences.combined([differences.contrast_of(values, groups, kind, rows.times) for values, kind in parts])
        )
        missing.append(rows.number(is_tested & np.isnan(measure.scores)))
        n.append(rows.number(is_tested) - missing[-1])
    p = np.array([result.p for result in results], dtype=np.float64)
    columns: _Arrays = {
        **{name: np.array([getattr(result, name) for result in results]) for name in differences.Contrast._fields[1:]},
        "test": np.array([result.test or None for result in results], dtype=object),
        "n": np.array(n, dtype=np.int64),
        "missing": np.array(missing, dtype=np.int64),
        "q": differences.adjusted(p),
        "significant": np.where(np.isnan(p), np.nan, p <= significance_level),
    }
    return {"kind": np.array("contrast")} | {name: value.reshape(-1, 1) for name, value in columns.items()}


def _effect_columns(
    measures: Sequence[Measure], summary: Mapping[str, Floats], sizes: Groups, subtypes: Groups, min_size: int
) -> Iterator[tuple[list[Measure], _Arrays]]:
    """Yield, for each effect size, the measures that have it and their columns, each (measures, comparisons)."""
    large = np.flatnonzero(sizes >= min_size).tolist()  # all pairs, then each group g and all others (numbered g + G)
    against_rest = [(g, g + sizes.size) for g in large if sizes.sum() - sizes[g] >= min_size]
    a, b = np.array([*combinations(large, 2), *against_rest], dtype=np.int64).reshape(-1, 2).T
    names = np.concatenate([subtypes, np.zeros_like(subtypes)])
    of_groups = (summary[name][:, 1:] for name in ("n", "deviation", "variance"))
    others = np.full((len(measures), sizes.size, 3), (0.0, np.nan, np.nan))
    for row, measure in enumerate(measures):  # all subjects outside each group
        for group in range(sizes.size):
            rows = (measure.rows.group_of != group) & ~np.isnan(measure.scores)
            with np.errstate(all="ignore"):
                if rows.any():
                    others[row, group] = differences.moments(
                        measure.scores[rows] - measure.centre, measure.rows.times[rows]
                    )
    sides = Side(*(np.hstack(both) for both in zip(of_groups, np.moveaxis(others, 2, 0), strict=True)))
    n = sides.n[:, a] + sides.n[:, b]
    is_seen = (sides.n[:, a] >= differences.LEAST_OBSERVED) & (sides.n[:, b] >= differences.LEAST_OBSERVED)
    sizes = np.concatenate([sizes, sizes.sum() - sizes])
    for name in ("standardised_difference", "difference", "ratio"):
        chosen: dict[Any, list[int]] = {}
        for row, measure in enumerate(measures):
            size = differences.EFFECTS[measure.feature.traits.effect_sizes].get(name)
            if size is not None:
                chosen.setdefault(size, []).append(row)
        for size, rows in chosen.items():
            effect: Effect = size(*(Side(*(moment[rows][:, side] for moment in sides)) for side in (a, b)))
            columns: _Arrays = {
                "kind": np.array("effect"),
                "subtype": names[a],
                "versus": names[b],
                "n": n[rows],
                "missing": sizes[a] + sizes[b] - n[rows],
                "measure": np.array(name),
            }
            ends = {part: np.where(is_seen[rows], value, np.nan) for part, value in effect._asdict().items()}
            yield [measures[row] for row in rows], columns | ends


def _describe(measure: Measure) -> dict[str, Any]:
    """Return what every row of a measure says of its feature."""
    feature, scores, level = measure.feature, measure.scores, measure.level
    ends, numbers, observed = feature.ends, feature.level_numbers, scores[~np.isnan(scores)]
    return {
        "feature": feature.column,
        "label": feature.title,
        "level": level,
        "part": None if not feature.is_part else "rest" if level is None else "spike",
        "minimum": np.nan if ends is None else ends[0],
        "maximum": np.nan if ends is None else ends[1],
        # of the subjects at both ends of a scale, those at the end that has fewer
        "at_ends": None
        if ends is None or level is not None
        else min(measure.rows.number(scores == end) for end in ends),
        "step": np.nan if numbers is None else numbers.step,  # all differences of such levels are multiples of it
        "whole": bool((observed == np.floor(observed)).all()),
        **{name: getattr(feature, name) for name in ("scored", "section", "unit", "role", "likelihood")},
    }


def _stack_rows(blocks: Sequence[tuple[list[Measure], _Arrays]]) -> pd.DataFrame:
    """Return one row for each element of the (measures, ...) arrays of each block, in the order of its measures."""
    described = {id(measure): _describe(measure) for measures, _ in blocks for measure in measures}
    n_measures, widths = zip(*(columns["n"].shape for _, columns in blocks), strict=True)
    rows = {}
    for name, dtype in _DTYPES.items():  # a column is converted once for all blocks, and before its rows are repeated
        missing = np.nan if dtype in ("Int64", "float64") else False if name == "suppressed" else None
        pieces = []
        for measures, columns in blocks:
            pieces.append(columns.get(name, np.array([described[id(m)].get(name, missing) for m in measures])[:, None]))
        is_repeated = all(piece.shape[-1:] in ((), (1,)) for piece in pieces)
        shapes = zip(n_measures, np.ones_like(widths) if is_repeated else widths, strict=True)
        values = [np.broadcast_to(piece, shape).ravel() for piece, shape in zip(pieces, shapes, strict=True)]
        array = pd.array(np.concatenate(values), dtype=dtype)
        rows[name] = array.repeat(np.repeat(widths, n_measures)) if is_repeated else array
    return pd.DataFrame(rows)
