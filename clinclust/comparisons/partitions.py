"""How far two partitions of the same subjects agree, from their contingency table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import LABELS, MODEL, accepting, either
from clinclust.errors import InputError
from clinclust.estimators.parameters import cluster_codes
from clinclust.estimators.subtype_model import is_fitted

if TYPE_CHECKING:
    from clinclust.estimators.subtype_model import SubtypeModel

Counts = NDArray[np.int64]


@accepting(first=either(LABELS, MODEL), second=either(LABELS, MODEL))
def compare_partitions(first: ArrayLike | SubtypeModel, second: ArrayLike | SubtypeModel) -> pd.Series[float]:
    """Return how far two partitions of the same subjects agree, by every usual measure.

    With n_ij subjects in cluster i of the first and j of the second partition, a pairs of subjects are together in
    both, b in the first only, c in the second only, and d in neither; M = a + b + c + d. H is the entropy of the sizes
    and I the mutual information, in nats.

    Parameters
    ----------
    first, second : array of labels, shape (N,), or SubtypeModel
        Equal labels mean the same cluster; their names and their order do not matter. -1 (none of these) is a cluster
        of its own.

    Returns
    -------
    Series
        - adjusted_rand: (a - E) / ((2 a + b + c) / 2 - E), with E the mean of a over partitions of the same sizes
          (Hubert and Arabie 1985, Journal of Classification 2, 193-218). 1: equal; 0: as by chance.
        - adjusted_rand_morey_agresti: the same with sums of squares in the place of pairs (Morey and Agresti 1984,
          Educational and Psychological Measurement 44, 33-37), slightly above 0 by chance.
        - rand: (a + d) / M. jaccard: a / (a + b + c).
        - fowlkes_mallows: a / sqrt((a + b)(a + c)) (Fowlkes and Mallows 1983, Journal of the American Statistical
          Association 78, 553-569). Some studies print a square in the place of the root.
        - mutual_information: I. normalised_mutual_information: 2 I / (H1 + H2). normalised_mutual_information_max: I /
          max(H1, H2). adjusted_mutual_information: (I - E[I]) / ((H1 + H2) / 2 - E[I]), where E[I] is the mean over
          partitions of the same sizes (Vinh, Epps and Bailey 2010, Journal of Machine Learning Research 11, 2837-2854).
        - variation_of_information: H1 + H2 - 2 I, in nats; a distance (Meila 2007, Journal of Multivariate Analysis 98,
          873-895).
        - n_first, n_second: the numbers of clusters. n_subjects.

        Equal partitions have 1 in all but the mutual and the variation of information, also if both are one cluster, or
        nothing but single subjects.

    Raises
    ------
    ValueError
        If the labels are not of the same number of subjects, one is missing, or a model is not fitted.

    Examples
    --------
    >>> import clinclust as cc
    >>> found = cc.comparisons.compare_partitions(["mild", "mild", "severe", "severe"], [1, 1, 2, 3])
    >>> found[["adjusted_rand", "jaccard", "n_second"]].round(3).tolist()
    [0.571, 0.5, 3.0]
    """
    labels = [_read_labels(given, called) for given, called in ((first, "first"), (second, "second"))]
    if not len(labels[0]):
        raise InputError("first holds no subject")
    codes = [cluster_codes(labels[0], len(labels[0]), called="first")]
    codes.append(cluster_codes(labels[1], len(labels[0]), called="second"))
    cells, sizes = _cross(*codes)
    measures = {**_compare_pairs(cells, *sizes), **_compare_information(cells, *sizes)}
    measures |= {"n_first": sizes[0].size, "n_second": sizes[1].size, "n_subjects": len(labels[0])}
    return pd.Series(measures, dtype=np.float64, name="agreement")


def _read_labels(given: ArrayLike | SubtypeModel, called: str) -> NDArray[np.generic]:
    if hasattr(given, "schema_") or hasattr(given, "get_params"):
        model: SubtypeModel = given  # type: ignore[assignment]
        if not is_fitted(model):
            raise InputError(f"{called} is not fitted: call its fit first")
        return np.asarray(model.labels_)
    labels = given.to_numpy() if hasattr(given, "to_numpy") else np.asarray(given)
    if labels.ndim != 1:
        raise InputError(f"{called} must be one label for each subject, of shape (N,), not of shape {labels.shape}")
    return np.asarray(labels)


def _cross(first: Counts, second: Counts) -> tuple[Counts, tuple[Counts, Counts]]:
    """Return the numbers above 0 of the contingency table, int64 (C,), and the sizes of the clusters of each."""
    n_second = int(second.max()) + 1
    cells = np.unique(first * n_second + second, return_counts=True)[1]
    return cells, (np.bincount(first), np.bincount(second))


def _pairs(counts: Counts) -> int:
    return sum(n * (n - 1) // 2 for n in counts.tolist())


def _squares(counts: Counts) -> int:
    return sum(n * n for n in counts.tolist())


def _compare_pairs(cells: Counts, first: Counts, second: Counts) -> dict[str, float]:
    n = int(first.sum())
    together, in_first, in_second, everything = _pairs(cells), _pairs(first), _pairs(second), n * (n - 1) // 2
    in_either = in_first + in_second - together
    squares = _squares(first), _squares(second)
    return {
        "adjusted_rand": _adjust(together, in_first * in_second / max(everything, 1), (in_first + in_second) / 2.0),
        "adjusted_rand_morey_agresti": _adjust(_squares(cells), squares[0] * squares[1] / n**2, sum(squares) / 2.0),
        "rand": (everything - in_either + together) / everything if everything else 1.0,
        "jaccard": together / in_either if in_either else 1.0,
        "fowlkes_mallows": _by_root(together, in_first, in_second),
    }


def _by_root(together: int, in_first: int, in_second: int) -> float:
    """Return a / sqrt((a + b)(a + c)); 1 if no two subjects are together in either partition, 0 if so in one only."""
    if not in_first or not in_second:
        return float(in_first == in_second)
    return float(together / np.sqrt(float(in_first) * float(in_second)))


def _adjust(index: float, by_chance: float, highest: float) -> float:
    """Return an index adjusted for chance; 1 where it has one possible value, which equal partitions have."""
    return 1.0 if highest <= by_chance else float((index - by_chance) / (highest - by_chance))


def _compare_information(cells: Counts, first: Counts, second: Counts) -> dict[str, float]:
    of_first, of_second = _entropy(first), _entropy(second)
    shared = max(of_first + of_second - _entropy(cells), 0.0)
    mean, largest = (of_first + of_second) / 2.0, max(of_first, of_second)
    are_equal = first.size == second.size == cells.size  # every cluster of one is a cluster of the other
    adjusted = 1.0
    if not are_equal:
        by_chance = _expect_information(first, second)
        room = mean - by_chance
        # Where hardly anything but chance is possible, the difference is rounding.
        adjusted = 0.0 if room <= 1e-12 * max(mean, 1.0) else (shared - by_chance) / room
    return {
        "mutual_information": shared,
        "normalised_mutual_information": shared / mean if mean else 1.0,
        "normalised_mutual_information_max": shared / largest if largest else 1.0,
        "adjusted_mutual_information": adjusted,
        "variation_of_information": 0.0 if are_equal else max(of_first + of_second - 2.0 * shared, 0.0),
    }


def _entropy(counts: Counts) -> float:
    n = float(counts.sum())
    return max(float(np.log(n) - (counts * np.log(counts)).sum() / n), 0.0)


def _expect_information(first: Counts, second: Counts) -> float:
    """Return the mean mutual information of partitions of these sizes, in nats (Vinh, Epps and Bailey 2010, eq. 24)."""
    from scipy.special import gammaln

    n = int(first.sum())
    rows, row_counts = np.unique(first, return_counts=True)
    columns, column_counts = np.unique(second, return_counts=True)
    total = 0.0
    for a, n_rows in zip(rows.tolist(), row_counts.tolist(), strict=True):
        for b, n_columns in zip(columns.tolist(), column_counts.tolist(), strict=True):
            cell = np.arange(max(1, a + b - n), min(a, b) + 1, dtype=np.float64)
            log_p = gammaln(a + 1) + gammaln(b + 1) + gammaln(n - a + 1) + gammaln(n - b + 1) - gammaln(n + 1)
            log_p = log_p - gammaln(cell + 1) - gammaln(a - cell + 1) - gammaln(b - cell + 1)
            log_p = log_p - gammaln(n - a - b + cell + 1)
            terms = cell / n * (np.log(n * cell) - np.log(float(a) * b)) * np.exp(log_p)
            total += n_rows * n_columns * float(terms.sum())
    return total
