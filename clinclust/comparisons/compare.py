"""Summaries of every feature in every subtype, and tests and effect sizes between subtypes, as one tidy frame."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import ANY_FRAME, ANY_LABELS, BY_FEATURE, NUMBER, SCHEMA, WHOLE, accepting
from clinclust.comparisons.contrasts import (
    Contrast,
    Contrasted,
    ContrastKind,
    checked_choice,
    combined,
    contrast_of,
    contrasted,
    is_skewed,
)
from clinclust.comparisons.effect_sizes import effects
from clinclust.comparisons.frame import ALL_SUBJECTS
from clinclust.comparisons.summaries import (
    SUMMARY,
    Columns,
    Measure,
    Rows,
    measures,
    part_measures,
    summarise,
    weighted,
    whole_features,
)
from clinclust.comparisons.t_tests import Side, adjusted, standardised_difference, student, welch
from clinclust.data_frames import is_partitioned
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

_Columns: TypeAlias = dict[str, NDArray[Any]]

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


@accepting(
    frame=ANY_FRAME, labels=ANY_LABELS, schema=SCHEMA, min_size=WHOLE, significance_level=NUMBER, contrasts=BY_FEATURE
)
def compare_subtypes(
    frame: pd.DataFrame,
    labels: ArrayLike,
    schema: FeatureSchema,
    *,
    min_size: int = FEWEST_TESTED,
    significance_level: float = 0.01,
    contrasts: Mapping[str, ContrastKind] | None = None,
    weights: ArrayLike | None = None,
) -> pd.DataFrame:
    """Summarise every feature in every subtype; test and measure how the subtypes differ.

    Tests of features that formed the subtypes are only descriptive: subtypes found and tested in the same subjects
    differ in those features by construction. Only the p of features with the role ``describe`` are valid.

    Parameters
    ----------
    frame : pandas.DataFrame or dask.dataframe.DataFrame, N rows
        Any table that `schema` accepts. One in partitions is counted where it lies; a column of more than 4,096 values
        in a partition is rounded to less than a thousandth of its interquartile range, and tests of ranks are
        asymptotic.
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
    contrasts : dict, optional
        The test of all subtypes at once, by feature name: ``"welch"``, ``"student"``, ``"rank"`` or ``"counts"`` (for
        yes/no features, and the only choice for categorical ones). By default the `contrast` of the schema; else
        ``"counts"`` for these features, ``"rank"`` for skewed ones, ``"welch"`` for others.
    weights : array_like, shape (N,), optional
        Sampling weights of the subjects. The result has weighted summaries only: means, `sd`, quartiles and `percent`
        are those of the population, `n` and `count` of the sample. It has no tests and effects, because those of this
        package are for simple random samples.

    Returns
    -------
    pandas.DataFrame
        One row per summary, test, contrast and effect; `kind` says which.

        ``"summary"``: a feature (a categorical one level by level) in one `subtype`; 0 = all subjects. `n` is the
        number of observed and `missing` that of missing values; then `mean`, `sd` (denominator n - 1), `median`, `q1`
        and `q3` in the unit of the column, never transformed. For Bernoulli features and levels, the mean is the share
        of subjects with that level, `count` their number and `percent` their percentage. Ordered levels that are
        numbers (``60 %``, ``70 %``) are these numbers, with all differences multiples of `step`; levels that are words
        have the scores 0, 1, ..., explained in `scored`. `minimum` and `maximum` are the ends of a scale, and `at_ends`
        is the number of subjects at the end that has fewer.

        ``"test"``: `subtype` against `versus` by the `test` ``"welch"`` or ``"student"`` (equal variances). `n` and
        `missing` count both. `statistic` and `standardised_difference`, the difference of the means divided by the root
        of the mean of both variances (of shares, p (1 - p)), are positive if `subtype` has the higher mean. `q` is p
        adjusted as by Benjamini and Hochberg over all tests of the same name. Results are NaN if either has fewer than
        2 observed values, or all values of both are equal; `statistic` is infinite and `p` 0 if each has a single value
        and these differ.

        ``"contrast"``: the test of all subtypes of at least `min_size` subjects at once, one row per feature: `test`
        (its name), `statistic`, `df`, `df2` (of the denominator), `p`, and `q` over all contrasts. For two subtypes it
        is Welch's t, Student's t or the Mann-Whitney test; for more, Welch's or the usual analysis of variance, or the
        Kruskal-Wallis test. Counts of levels have the chi-squared test, or Fisher's exact test if an expected count is
        below 5. Subtypes with fewer than 2 observed values (for counts: with none) take no part.

        ``"effect"``: the effect size of `subtype` against `versus`, for every pair of subtypes, and for each subtype
        against all other subjects (`versus` is 0). `measure` is its name, `estimate` its value, and `lower` and `upper`
        are the ends of its 95% confidence interval; NaN where they do not exist.

        =========================== ============================ ==================================================
        `measure`                   of                           estimate, and interval
        =========================== ============================ ==================================================
        ``standardised_difference`` every feature                as above; Bonett, for shares from Wilson's limits
        ``difference``              yes/no, levels               of the shares; Newcombe's hybrid score interval
        ``difference``              scales, Gaussian             of the means; Welch's interval
        ``ratio``                   yes/no, levels               odds ratio; score interval
        ``ratio``                   counts, exponential          of the means (rates); robust, in the logarithm
        ``superiority``             skewed features, those       P(higher) + P(equal) / 2; Brunner and Munzel, in the
                                    contrasted by rank           logit
        =========================== ============================ ==================================================

        A feature with a `spike` or a `limit` has rows of both parts (`part`): the number of subjects at each point mass
        (``"spike"``; the `level` is the point mass), and summaries of the other values (``"rest"``), whose `missing`
        counts those at a point mass too. Its contrast is Fisher's combination of the tests of both parts.

        `whole` is whether every observed value is a whole number. `suppressed` is whether numbers of the row were
        withheld because few subjects contribute to them.

    Raises
    ------
    CohortError
        If `frame` does not fit `schema`.
    ValueError
        If `labels`, `min_size`, `significance_level` or `contrasts` cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> comparisons = cc.compare_subtypes(frame, frail.astype(int), schema)
    >>> summaries = comparisons[comparisons["kind"] == "summary"]
    >>> summaries[["feature", "subtype", "n", "mean", "sd"]].round(2)
      feature  subtype    n   mean    sd
    0    gait        0  200   0.98  0.30
    1    gait        1  130   1.19  0.11
    2    gait        2   70   0.60  0.09
    3    grip        0  200  29.86  6.32
    4    grip        1  130  33.93  3.07
    5    grip        2   70  22.28  2.81
    """
    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    if min_size < 1:
        raise InputError(f"min_size must be at least 1 subject, not {min_size!r}")
    if weights is not None and contrasts is not None:
        raise InputError("contrasts cannot be used with weights, which have no tests")
    choice = checked_choice(contrasts, schema)
    if is_partitioned(frame):
        from clinclust.comparisons.counted import counted_columns

        if weights is not None:
            raise InputError("weights cannot be used with a table in partitions")
        found, columns = counted_columns(frame, labels, schema)
    else:
        clusters = _checked_labels(labels, frame)
        shares = None if weights is None else _checked_weights(weights, frame)
        # A fit, if there was one, has already warned of columns that cannot inform a clustering.
        frame = schema.validate(frame, warn=False)
        found, places = np.unique(clusters, return_inverse=True)
        rows = Rows(places, found.size)
        columns = {feature.name: (frame[feature.name], rows) for feature in schema.reported}
        if shares is not None:
            return _weighted(columns, schema, found, shares)
    whole = list(whole_features(columns, schema))
    compared = list(measures(part_measures(columns, schema)))
    sizes = next((measure.rows.sizes for measure in whole), np.zeros(found.size, dtype=np.int64))
    subtypes = np.array([ALL_SUBJECTS, *found + 1])
    summary = _by_name([summarise(measure) for measure in compared], subtypes)
    is_share = _are_shares(compared)

    large = np.flatnonzero(sizes >= min_size)
    pairs = np.array(list(combinations(large + 1, 2)), dtype=int).reshape(-1, 2)
    blocks = [(compared, _summary_columns(summary, is_share, subtypes))]
    blocks += [(compared, tests) for tests in _test_columns(summary, is_share, subtypes, pairs, significance_level)]

    tests = [
        contrasted(each.feature, columns[each.feature.name][0], choice.get(each.feature.name), each.rows.times)
        for each in whole
    ]
    blocks.append((whole, _contrast_columns(whole, tests, large, significance_level)))
    ranked = {
        each.feature.parts[-1].name
        for each, of_feature in zip(whole, tests, strict=True)
        if of_feature[-1].kind == "rank" or is_skewed(each.feature, each.scores, each.rows.times)
    }
    blocks += effects(compared, summary, sizes, subtypes[1:], min_size, ranked)
    return _stacked(blocks)


def _weighted(
    columns: Columns, schema: FeatureSchema, found: NDArray[np.int64], weights: NDArray[np.float64]
) -> pd.DataFrame:
    """Return the summaries with sampling weights (N,)."""
    compared = list(measures(part_measures(columns, schema)))
    subtypes, is_share = np.array([ALL_SUBJECTS, *found + 1]), _are_shares(compared)
    of_sample = _by_name([summarise(measure) for measure in compared], subtypes)
    of_population = _by_name([weighted(measure, weights) for measure in compared], subtypes)
    counted = _summary_columns(of_sample, is_share, subtypes)["count"]
    return _stacked([(compared, _summary_columns(of_population, is_share, subtypes) | {"count": counted})])


def _by_name(numbers: list[NDArray[np.float64]], subtypes: NDArray[np.int64]) -> _Columns:
    """Return one (measures, groups) array for each column of SUMMARY."""
    # The reshape is needed if there are no measures.
    shaped = np.array(numbers).reshape(len(numbers), subtypes.size, len(SUMMARY))
    return dict(zip(SUMMARY, np.moveaxis(shaped, 2, 0), strict=True))


def _are_shares(compared: list[Measure]) -> NDArray[np.bool_]:
    return np.array([[measure.level is not None] for measure in compared], dtype=bool).reshape(-1, 1)


def _checked_labels(labels: ArrayLike, frame: pd.DataFrame) -> NDArray[np.int64]:
    """Return the labels as int64 (N,); raise InputError if they are not one for each row of `frame`."""
    import pandas as pd

    if isinstance(labels, pd.Series) and not labels.index.equals(frame.index):
        raise InputError(
            "labels is a Series whose index differs from the frame's, so its order may differ too; "
            "align it with `labels.loc[frame.index]`, or with `labels.set_axis(frame.index)` if the order is the same"
        )
    clusters = _numbered(labels)
    if clusters.shape != (len(frame),):
        raise InputError(f"labels must hold one label for each of the {len(frame)} rows, not shape {clusters.shape}")
    if not np.issubdtype(clusters.dtype, np.integer) and len(clusters):
        raise InputError(
            f"labels must be whole numbers 0, 1, ... of an integer type, categories or texts, none missing, "
            f"not {clusters.dtype}"
        )
    if len(clusters) and clusters.min() < 0:
        first = int(np.argmax(clusters < 0))
        raise InputError(
            f"labels must not be negative or missing; {np.sum(clusters < 0)} are (first: row {first}). "
            "Leave out subjects without a subtype"
        )
    return clusters.astype(np.int64)


def _numbered(labels: ArrayLike) -> NDArray[Any]:
    """Return categories and texts as their place in order, 0, 1, ... (missing: -1), and other labels as they are."""
    import pandas as pd

    if isinstance(getattr(labels, "dtype", None), pd.CategoricalDtype):
        return np.asarray(pd.Series(cast(Any, labels)).cat.codes)
    found = np.asarray(labels)
    if found.ndim != 1 or found.dtype.kind not in "OUT" or pd.api.types.infer_dtype(found, skipna=True) != "string":
        return found
    places, names = pd.factorize(found)
    texts = [str(name) for name in names]
    order = sorted(texts, key=int if all(map(str.isdecimal, texts)) else None)  # "2" is before "10"
    return np.append([order.index(text) for text in texts], -1)[places]  # a missing one is in the last place


def _checked_weights(weights: ArrayLike, frame: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weights as float64 (N,); raise InputError if they are not one positive number for each row."""
    import pandas as pd

    if isinstance(weights, pd.Series) and not weights.index.equals(frame.index):
        raise InputError("weights is a Series whose index differs from the frame's; align it with `.loc[frame.index]`")
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("weights must be numbers") from error
    if found.shape != (len(frame),):
        raise InputError(f"weights must hold one number for each of the {len(frame)} rows, not shape {found.shape}")
    if not (np.isfinite(found) & (found > 0.0)).all():
        n_wrong = int((~(np.isfinite(found) & (found > 0.0))).sum())
        raise InputError(f"weights must be above 0 and not missing; {n_wrong} are not")
    return found


def _summary_columns(summary: _Columns, is_share: NDArray[np.bool_], subtypes: NDArray[np.int64]) -> _Columns:
    n, mean = summary["n"], summary["mean"]
    columns: _Columns = {name: summary[name] for name in SUMMARY if name not in ("deviation", "variance")}
    return columns | {
        "kind": np.array("summary"),
        "subtype": subtypes,
        "sd": np.sqrt(summary["variance"]),
        "count": np.where(is_share & (n > 0), np.rint(mean * n), np.nan),
        "percent": np.where(is_share, 100 * mean, np.nan),
    }


def _test_columns(
    summary: _Columns,
    is_share: NDArray[np.bool_],
    subtypes: NDArray[np.int64],
    pairs: NDArray[np.int64],
    significance_level: float,
) -> list[_Columns]:
    """Return the columns of the tests, each (measures, pairs): those of Welch's t, then those of Student's t."""
    a, b = (Side(*(summary[name][:, side] for name in ("n", "deviation", "variance"))) for side in pairs.T)
    # For shares the variance is p (1 - p), which has denominator n, not n - 1.
    spreads = (side.variance * np.where(is_share, 1 - 1 / np.maximum(side.n, 1), 1) for side in (a, b))
    shared: _Columns = {
        "kind": np.array("test"),
        "subtype": subtypes[pairs[:, 0]],
        "versus": subtypes[pairs[:, 1]],
        "n": a.n + b.n,
        "missing": summary["missing"][:, pairs].sum(axis=2),
        "standardised_difference": standardised_difference(a.mean, b.mean, *spreads),
    }
    blocks = []
    for test in (welch, student):
        result = test(a, b)
        significant = np.where(np.isnan(result.p), np.nan, result.p <= significance_level)
        named = {"test": np.array(test.__name__), "q": adjusted(result.p), "significant": significant}
        blocks.append(shared | result._asdict() | named)
    return blocks


def _contrast_columns(
    whole: list[Measure], tests: list[list[Contrasted]], large: NDArray[np.intp], significance_level: float
) -> _Columns:
    """Return the columns of the tests of these groups at once, each (features, 1)."""
    results, n, missing = [], [], []
    for each, of_feature in zip(whole, tests, strict=True):
        is_tested = np.isin(each.rows.group_of, large)
        groups = np.where(is_tested, each.rows.group_of, -1)
        results.append(combined([contrast_of(one.values, groups, one.kind, each.rows.times) for one in of_feature]))
        missing.append(each.rows.number(is_tested & np.isnan(each.scores)))
        n.append(each.rows.number(is_tested) - missing[-1])
    p = np.array([result.p for result in results], dtype=np.float64)
    columns: _Columns = {
        **{name: np.array([getattr(result, name) for result in results]) for name in Contrast._fields[1:]},
        "test": np.array([result.test or None for result in results], dtype=object),
        "n": np.array(n, dtype=np.int64),
        "missing": np.array(missing, dtype=np.int64),
        "q": adjusted(p),
        "significant": np.where(np.isnan(p), np.nan, p <= significance_level),
    }
    return {"kind": np.array("contrast")} | {name: value.reshape(-1, 1) for name, value in columns.items()}


def _stacked(blocks: list[tuple[list[Measure], _Columns]]) -> pd.DataFrame:
    """Return one row for each element of the (measures, ...) arrays of each block, in the order of its measures."""
    import pandas as pd

    pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in _DTYPES}
    for compared, columns in blocks:
        shape = (len(compared), columns["n"].shape[1])
        described: dict[str, list[Any]] = {
            "feature": [measure.feature.column for measure in compared],
            "label": [measure.feature.title for measure in compared],
            "minimum": [measure.scale[0] for measure in compared],
            "maximum": [measure.scale[1] for measure in compared],
            "whole": [measure.is_whole for measure in compared],
        }
        for name in ("part", "level", "step", "at_ends"):
            described[name] = [getattr(measure, name) for measure in compared]
        for name in ("scored", "section", "unit", "role", "likelihood"):
            described[name] = [getattr(measure.feature, name) for measure in compared]
        for name, dtype in _DTYPES.items():
            if name in described:
                values = np.array(described[name], dtype=object).reshape(-1, 1)
            else:
                missing = False if name == "suppressed" else None if dtype == "string" else np.nan
                values = columns.get(name, np.array(missing))
            pieces[name].append(np.broadcast_to(values, shape).ravel())
    return pd.DataFrame({name: pd.array(np.concatenate(pieces[name]), dtype=_DTYPES[name]) for name in _DTYPES})
