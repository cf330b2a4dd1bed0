"""Summaries of every feature in every subtype, and tests of every pair of subtypes, as one tidy frame."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinclust.comparisons.contrast_choice import checked_choice
from clinclust.comparisons.contrasts import Contrast, ContrastKind, contrast_kind, contrast_of, is_skewed
from clinclust.comparisons.effect_sizes import effects
from clinclust.comparisons.sides import Side
from clinclust.comparisons.summaries import SUMMARY, Measure, measures, summarise, whole_features
from clinclust.comparisons.t_tests import adjusted, standardised_difference, student, welch
from clinclust.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from clinclust.schema import FeatureSchema

__all__ = ["compare_subtypes"]

_Columns: TypeAlias = dict[str, NDArray[Any]]

_ALL_SUBJECTS = 0

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
}


def compare_subtypes(
    frame: pd.DataFrame,
    labels: ArrayLike,
    schema: FeatureSchema,
    *,
    min_size: int = 3,
    significance_level: float = 0.01,
    contrasts: Mapping[str, ContrastKind] | None = None,
) -> pd.DataFrame:
    """Summarise every feature in every subtype, and test and measure how the subtypes differ.

    The tests on features that formed the subtypes are descriptive: subtypes found and tested on the same
    subjects differ in those features by construction. Only features with the role ``describe`` are tested
    honestly.

    Parameters
    ----------
    frame : pandas.DataFrame, N rows
        Any table that `schema` accepts.
    labels : array_like of int, shape (N,)
        Clusters 0, 1, ...; subtype = label + 1. A Series must carry the index of `frame`.
    schema : FeatureSchema
        The features with role ``cluster`` or ``describe`` are compared.
    min_size : int
        Subtypes with fewer subjects are summarised but not tested.
    significance_level : float
        `significant` is p <= this level (no correction; q is beside it). The paper used 0.01.
    contrasts : dict, optional
        By name of a feature, how all subtypes at once are contrasted: ``"student"`` (means, one variance; the default
        for scales, counts and measurements), ``"welch"`` (means, a variance for each subtype), ``"rank"`` (the default
        for what is skewed) or ``"counts"`` (the default for yes/no and the only one for categories; only for these).
        Features that are not named go by their `contrast` in the schema, then by these defaults.

    Returns
    -------
    pandas.DataFrame
        One row per summary and per test, told apart by `kind`.

        ``"summary"``: a feature (a categorical one level by level) in one `subtype`, 0 for all subjects.
        `n` observed, `missing`, `mean` and `sd` (denominator n - 1), `median`, `q1`, `q3`; for Bernoulli
        features and levels the mean is the share with that answer, with `count` and `percent`. Values are
        in the unit of the column (never transformed); levels are scored 0, 1, ... . `minimum` and `maximum`
        are the ends of a binomial scale.

        ``"test"``: `subtype` against `versus`, by `test` ``"student"`` (equal variances, the paper's) and
        ``"welch"``. `n` and `missing` count both subtypes together. `statistic` and
        `standardised_difference` are positive when `subtype` has the higher mean; the latter divides by the
        root of the mean of both variances, p (1 - p) for shares. `q` is Benjamini-Hochberg's over all tests
        of that name in the frame. With fewer than 2 observed values on a side, or the same single value
        throughout both, the test is NaN (and `significant` missing); with a different single value on each
        side `statistic` is infinite, `p` is 0 and Welch's `df` NaN.

        ``"contrast"``: one row a feature, all subtypes of at least `min_size` at once: `test` (its name), `statistic`,
        `df`, `df2` (of the denominator), `p`, and `q` over all contrasts in the frame. Two subtypes get Student's or
        Welch's t or Mann-Whitney's test, more of them the analysis of variance, Welch's, or Kruskal-Wallis's; levels
        are counted in a chi-squared test, or Fisher's exact one where an expected count is below 5. Subtypes with
        fewer than 2 observed values (for levels: with none) take no part. Without spread as for ``"test"``; where
        nothing can be tested all is missing, the name of the test, too.

        ``"effect"``: `subtype` against `versus`, every pair and each one against 0, all other subjects (subtypes below
        `min_size` among them; they must be `min_size` or more together). `estimate` of the effect size `measure`, with
        its 95% confidence interval `lower` to `upper`; the sources are with each function.

        =========================== ============================ ==================================================
        `measure`                   of                           estimate, and interval
        =========================== ============================ ==================================================
        ``standardised_difference`` everything                   as above; Bonett, for shares from Wilson's limits
        ``difference``              yes/no, levels               of the shares; Newcombe's hybrid score interval
        ``difference``              scales, Gaussian             of the means; Welch's interval
        ``ratio``                   yes/no, levels               odds ratio; score interval
        ``ratio``                   Poisson, geometric,          of the means (rates); robust, in the logarithm
                                    exponential
        ``superiority``             what is skewed or            P(higher) + P(equal) / 2; Brunner and Munzel, in the
                                    contrasted by rank           logit
        =========================== ============================ ==================================================

        Effects are NaN with fewer than 2 observed values on a side; an estimate that is infinite, or rests on no
        spread at all, has no interval unless one end of it can be known.

        `whole` says whether every observed value of the feature is a whole number: whoever knows that can tell counts
        from means. `suppressed` says whether numbers of a row were withheld because few subjects are behind them.

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
    import pandas as pd

    if not 0 < significance_level < 1:
        raise InputError(f"significance_level must lie between 0 and 1, not {significance_level!r}")
    if min_size < 1:
        raise InputError(f"min_size must be at least 1 subject, not {min_size!r}")
    clusters = _checked_labels(labels, frame)
    choice = checked_choice(contrasts, schema)
    # Columns that cannot inform a clustering were warned of when there was one.
    frame = schema.validate(frame, warn=False)
    whole = list(whole_features(frame, schema))
    compared = list(measures(whole))

    found, places = np.unique(clusters, return_inverse=True)
    subtypes = np.array([_ALL_SUBJECTS, *found + 1])
    groups = [np.arange(len(places)), *(np.flatnonzero(places == place) for place in range(len(found)))]
    # One (measures, groups) array for each kind of number; the reshape is for a schema that compares nothing.
    numbers = np.array([summarise(measure, groups) for measure in compared])
    numbers = numbers.reshape(len(compared), len(groups), len(SUMMARY))
    summary = dict(zip(SUMMARY, np.moveaxis(numbers, 2, 0), strict=True))
    is_share = np.array([[measure.level is not None] for measure in compared], dtype=bool).reshape(-1, 1)

    large = [g for g in range(1, len(groups)) if len(groups[g]) >= min_size]
    pairs = np.array(list(combinations(large, 2)), dtype=int).reshape(-1, 2)
    blocks = [(compared, _summary_columns(summary, is_share, subtypes))]
    blocks += [(compared, tests) for tests in _test_columns(summary, is_share, subtypes, pairs, significance_level)]

    kinds = [choice.get(each.feature.name) or contrast_kind(each.feature, each.scores) for each in whole]
    tested = np.where(np.isin(places + 1, large), places, -1)
    blocks.append((whole, _contrast_columns(whole, kinds, tested, significance_level)))
    ranked = {
        each.feature.name
        for each, kind in zip(whole, kinds, strict=True)
        if kind == "rank" or is_skewed(each.feature, each.scores)
    }
    blocks += effects(compared, summary, places, subtypes[1:], min_size, ranked)
    return pd.concat([_stacked(*block) for block in blocks], ignore_index=True)


def _checked_labels(labels: ArrayLike, frame: pd.DataFrame) -> NDArray[np.int64]:
    """Labels as an integer array, one for each row of `frame`."""
    import pandas as pd

    if isinstance(labels, pd.Series) and not labels.index.equals(frame.index):
        raise InputError(
            "labels is a Series whose index differs from the frame's, so its order may differ too; "
            "align it with `labels.loc[frame.index]`, or pass `labels.to_numpy()` if the order is the same"
        )
    clusters = np.asarray(labels)
    if clusters.shape != (len(frame),):
        raise InputError(f"labels must hold one label for each of the {len(frame)} rows, not shape {clusters.shape}")
    if not np.issubdtype(clusters.dtype, np.integer) and len(clusters):
        raise InputError(f"labels must be whole numbers 0, 1, ... of an integer type, not {clusters.dtype}")
    if len(clusters) and clusters.min() < 0:
        first = int(np.argmax(clusters < 0))
        raise InputError(
            f"labels must not be negative; {np.sum(clusters < 0)} are (first: row {first}). "
            "Leave out subjects without a subtype"
        )
    return clusters.astype(np.int64)


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
    """Columns of the tests, each (measures, pairs): first all of Student's, then all of Welch's."""
    a, b = (Side(*(summary[name][:, side] for name in ("n", "deviation", "variance"))) for side in pairs.T)
    # p (1 - p) is the variance of a share with denominator n, not n - 1.
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
    for test in (student, welch):
        result = test(a, b)
        q = adjusted(result.p)
        significant = np.where(np.isnan(result.p), np.nan, result.p <= significance_level)
        named = {"test": np.array(test.__name__), "q": q, "significant": significant}
        blocks.append(shared | result._asdict() | named)
    return blocks


def _contrast_columns(
    whole: list[Measure], kinds: list[ContrastKind], groups: NDArray[np.int64], significance_level: float
) -> _Columns:
    """Columns of the test of all groups at once (those below 0 take no part), each (features, 1)."""
    results = [contrast_of(each.scores, groups, kind) for each, kind in zip(whole, kinds, strict=True)]
    p = np.array([result.p for result in results], dtype=np.float64)
    missing = np.array([np.isnan(each.scores[groups >= 0]).sum() for each in whole])
    columns: _Columns = {
        **{name: np.array([getattr(result, name) for result in results]) for name in Contrast._fields[1:]},
        "test": np.array([result.test or None for result in results], dtype=object),
        "n": (groups >= 0).sum() - missing,
        "missing": missing,
        "q": adjusted(p),
        "significant": np.where(np.isnan(p), np.nan, p <= significance_level),
    }
    return {"kind": np.array("contrast")} | {name: value.reshape(-1, 1) for name, value in columns.items()}


def _stacked(compared: list[Measure], columns: _Columns) -> pd.DataFrame:
    """Rows in the order of `compared`, each repeated along the second axis of `columns`."""
    import pandas as pd

    repeats = columns["n"].shape[1]
    described: dict[str, list[Any]] = {
        "feature": [measure.feature.name for measure in compared],
        "label": [measure.feature.title for measure in compared],
        "level": [measure.level for measure in compared],
        "minimum": [measure.scale[0] for measure in compared],
        "maximum": [measure.scale[1] for measure in compared],
        "whole": [measure.is_whole for measure in compared],
    }
    for name in ("section", "unit", "role", "likelihood"):
        described[name] = [getattr(measure.feature, name) for measure in compared]
    rows = {}
    for name, dtype in _DTYPES.items():
        if name in described:
            rows[name] = pd.array(described[name], dtype=dtype).repeat(repeats)
        elif name in columns and columns[name].ndim:
            values = np.broadcast_to(columns[name], (len(compared), repeats)).ravel()
            rows[name] = pd.array(values, dtype=dtype)
        else:  # the same in every row: converted once
            value = columns[name].item() if name in columns else False if name == "suppressed" else None
            rows[name] = pd.array([value], dtype=dtype).repeat(len(compared) * repeats)
    return pd.DataFrame(rows)
