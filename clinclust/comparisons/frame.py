"""The frame of comparisons as objects, and how far two partitions agree."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import LABELS, MODEL, accepting, either
from clinclust.errors import InputError
from clinclust.estimators.parameters import cluster_codes
from clinclust.estimators.subtype_model import SubtypeModel, is_fitted

# Access to the frame of `compare_subtypes`: its rows by kind, feature, level and subtype.

ALL_SUBJECTS = 0  # the number for all subjects in the column `subtype`, and for all other subjects in `versus`
WITHHELD = "[c]"  # the sign (confidential) that replaces withheld numbers

Record: TypeAlias = dict[str, Any]
Level: TypeAlias = str | None


def is_missing(value: Any) -> bool:
    """Return whether the value is missing (None, NaN or NA)."""
    return bool(pd.isna(value))


def is_suppressed(record: Record) -> bool:
    """Return whether numbers of this row were withheld."""
    withheld = record.get("suppressed", False)
    return not is_missing(withheld) and bool(withheld)


class ComparisonsFrame:
    """The rows of a frame of `compare_subtypes` by name; each kind of row is read at its first use."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._rows: dict[str, list[Record]] = {}

    def rows(self, kind: str) -> list[Record]:
        """Return the rows of one kind, shared and in order; `place` is the row in the frame; no level is missing."""
        if kind not in self._rows:
            places = np.flatnonzero(self._columns["kind"] == kind)
            columns = {name: values[places].tolist() for name, values in self._columns.items()}
            columns["level"] = [level if isinstance(level, str) else None for level in columns["level"]]
            columns["place"] = places.tolist()
            self._rows[kind] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return self._rows[kind]

    @cached_property
    def _columns(self) -> dict[str, NDArray[Any]]:
        """The values of each column, (rows,); a missing one is NaN among floats, elsewhere None."""
        # `to_dict("records")` takes several times as long.
        dtypes = self.frame.dtypes.items()
        missing: dict[Any, Any] = {name: np.nan if isinstance(dtype, np.dtype) else None for name, dtype in dtypes}
        return {str(name): self.frame[name].to_numpy(dtype=object, na_value=missing[name]) for name in self.frame}

    @cached_property
    def summaries(self) -> dict[str, dict[Level, dict[int, Record]]]:
        """The summaries by feature, level (None for a feature without levels) and subtype (0 = all subjects)."""
        return self._group("summary")

    @cached_property
    def levels(self) -> dict[str, dict[Level, dict[int, Record]]]:
        """The counts of the levels of scales that are counted level by level, as `summaries`."""
        return self._group("level")

    def _group(self, kind: str) -> dict[str, dict[Level, dict[int, Record]]]:
        groups: dict[str, dict[Level, dict[int, Record]]] = {}
        for row in self.rows(kind):
            groups.setdefault(row["feature"], {}).setdefault(row["level"], {})[int(row["subtype"])] = row
        return groups

    def places(self, levels: Mapping[Level, Mapping[int, Record]]) -> NDArray[np.int64]:
        """Return the row numbers of these summaries, int64 (levels, 1 + subtypes); -1 where there is no row."""
        groups = (ALL_SUBJECTS, *self.subtypes)
        places = [[rows[group]["place"] if group in rows else -1 for group in groups] for rows in levels.values()]
        return np.array(places, dtype=np.int64).reshape(-1, len(groups))

    def numbers(self, name: str, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a column at these row numbers, float64 of the shape of `places`; NaN where a number is missing."""
        values = self.frame[name].to_numpy(dtype=np.float64, na_value=np.nan)
        return np.where(places < 0, np.nan, values[places])

    @cached_property
    def contrasts(self) -> dict[str, Record]:
        """The test of all subtypes at once by feature."""
        return {row["feature"]: row for row in self.rows("contrast")}

    @cached_property
    def tests(self) -> dict[tuple[str, Level], dict[tuple[int, int], dict[str, Record]]]:
        """The tests by feature and level, then by pair of subtypes (smaller number first), then by name of the test."""
        tests: dict[tuple[str, Level], dict[tuple[int, int], dict[str, Record]]] = {}
        for row in self.rows("test"):
            a, b = sorted((int(row["subtype"]), int(row["versus"])))
            tests.setdefault((row["feature"], row["level"]), {}).setdefault((a, b), {})[row["test"]] = row
        return tests

    @cached_property
    def effects(self) -> dict[str, list[Record]]:
        """The effect sizes by feature, in the order of the frame."""
        effects: dict[str, list[Record]] = defaultdict(list)
        for row in self.rows("effect"):
            effects[row["feature"]].append(row)
        return dict(effects)

    @property
    def is_weighted(self) -> bool:
        """Whether the summaries have sampling weights, and nothing is tested therefore."""
        return "weight" in self.frame

    @cached_property
    def weighted_percent(self) -> dict[int, float]:
        """The share of each subtype (0 = all) in the sum of the sampling weights, in percent."""
        weights = {int(row["subtype"]): row["weight"] for row in self.rows("summary")}
        return {group: 100.0 * weight / weights[ALL_SUBJECTS] for group, weight in weights.items()}

    @property
    def is_rounded(self) -> bool:
        """Whether the counts were rounded, and the tests therefore withheld."""
        return "size" in self.frame

    @cached_property
    def sizes(self) -> dict[int, int | None]:
        """The number of subjects, as rounded, in each subtype (0 = all); None if every n or missing is withheld."""
        if "size" in self.frame:
            rows = next(iter(next(iter(self.summaries.values())).values()))
            return {group: None if is_missing(row["size"]) else int(row["size"]) for group, row in rows.items()}
        sizes: dict[int, int | None] = {}
        for levels in self.summaries.values():
            for subtype, row in next(iter(levels.values())).items():
                is_shown = not is_missing(row["n"]) and not is_missing(row["missing"])
                if sizes.get(subtype) is None:
                    sizes[subtype] = int(row["n"]) + int(row["missing"]) if is_shown else None
        return sizes

    @property
    def exact_sizes(self) -> dict[int, int]:
        """The number of subjects in each subtype, without 0, of a frame in which nothing is withheld."""
        return {subtype: size for subtype, size in self.sizes.items() if subtype != ALL_SUBJECTS and size is not None}

    @cached_property
    def subtypes(self) -> list[int]:
        """The subtypes in increasing order, without 0."""
        return sorted(subtype for subtype in self.sizes if subtype != ALL_SUBJECTS)

    @cached_property
    def tested(self) -> list[int]:
        """The subtypes that were tested, because they are large enough."""
        return sorted({subtype for pairs in self.tests.values() for pair in pairs for subtype in pair})

    @cached_property
    def withheld(self) -> set[str]:
        """The names of the features with at least one withheld number."""
        suppressed = self.frame["suppressed"].fillna(False).to_numpy(dtype=bool)
        return set(self.frame.loc[suppressed, "feature"])


def decimals_for(spread: float) -> int:
    """Return the number of decimals that shows a mean to about a hundredth of `spread`, the SD; 2 without one."""
    if not 0 < spread < math.inf:
        return 2
    return max(0, 2 - math.floor(math.log10(spread)))


def decimals_of_mean(spreads: Iterable[float], step: float | None) -> int:
    """Return the decimals of mean and SD in every group, by the step of shares and scores or the first spread."""
    if step is not None:  # 2, or one more than those of a fine step: 1.0225 of levels 1.015, 1.02, 1.025
        return max(2, 1 - math.floor(math.log10(step)))
    return decimals_for(next((spread for spread in spreads if math.isfinite(spread)), math.nan))


def decimals_in(records: Mapping[int, Record], *, is_scored: bool) -> int:
    """Return the decimals of mean and SD of a feature from its summaries by group; of a rounded frame as it says."""
    decimals: Any = records[ALL_SUBJECTS].get("decimals")
    if not is_missing(decimals):
        return int(decimals)
    step: Any = records[ALL_SUBJECTS].get("step")
    spreads = (math.nan if is_missing(row["sd"]) else float(row["sd"]) for _, row in sorted(records.items()))
    return decimals_of_mean(spreads, (1.0 if is_missing(step) else float(step)) if is_scored else None)


# How far two partitions of the same subjects agree, from their contingency table.

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
        Equal labels mean the same cluster. -1 (none of these) is a cluster of its own.

    Returns
    -------
    Series
        - adjusted_rand: (a - E) / ((2 a + b + c) / 2 - E), with E the mean of a over partitions of the same sizes
          (Hubert and Arabie 1985, Journal of Classification 2, 193-218). 1: equal; 0: as by chance.
        - adjusted_rand_morey_agresti: the same with sums of squares in the place of pairs (Morey and Agresti 1984,
          Educational and Psychological Measurement 44, 33-37), slightly above 0 by chance.
        - rand: (a + d) / M. jaccard: a / (a + b + c). fowlkes_mallows: a / sqrt((a + b)(a + c)) (1983, Journal of the
          American Statistical Association 78, 553-569); some studies print a square in the place of the root.
        - mutual_information: I. normalised_mutual_information: 2 I / (H1 + H2). normalised_mutual_information_max: I /
          max(H1, H2). variation_of_information: H1 + H2 - 2 I, in nats; a distance (Meila 2007, Journal of Multivariate
          Analysis 98, 873-895).
        - n_first, n_second: the numbers of clusters. n_subjects.

        Equal partitions have 1 in all but the mutual and the variation of information, also if both are one cluster.

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
    labels = [_read_labels(partition, called) for partition, called in ((first, "first"), (second, "second"))]
    if not len(labels[0]):
        raise InputError("first holds no subject")
    both = zip(labels, ("first", "second"), strict=True)
    codes = [cluster_codes(of_subjects, len(labels[0]), called=called) for of_subjects, called in both]
    sizes = [np.bincount(of_subject) for of_subject in codes]
    cells = np.unique(codes[0] * sizes[1].size + codes[1], return_counts=True)[1]
    counts, n = (cells, *sizes, np.array([len(labels[0])])), len(labels[0])
    together, in_first, in_second, everything = (sum(n * (n - 1) // 2 for n in of.tolist()) for of in counts)
    squares, of_rows, of_columns, _ = (sum(n * n for n in of.tolist()) for of in counts)
    in_either, product = in_first + in_second - together, in_first * in_second
    of_both, of_first, of_second = (_entropy(of) for of in counts[:3])
    shared = max(of_first + of_second - of_both, 0.0)
    mean, largest = (of_first + of_second) / 2.0, max(of_first, of_second)
    are_equal = sizes[0].size == sizes[1].size == cells.size  # every cluster of one is a cluster of the other
    measures = {
        "adjusted_rand": _adjust(together, product / max(everything, 1), (in_first + in_second) / 2.0),
        "adjusted_rand_morey_agresti": _adjust(squares, of_rows * of_columns / n**2, (of_rows + of_columns) / 2.0),
        "rand": (everything - in_either + together) / everything if everything else 1.0,
        "jaccard": together / in_either if in_either else 1.0,
        # 1 if no two subjects are together in either partition, 0 if so in one only
        "fowlkes_mallows": together / math.sqrt(product) if product else float(in_first == in_second),
        "mutual_information": shared,
        "normalised_mutual_information": shared / mean if mean else 1.0,
        "normalised_mutual_information_max": shared / largest if largest else 1.0,
        "variation_of_information": 0.0 if are_equal else max(of_first + of_second - 2.0 * shared, 0.0),
    }
    measures |= {"n_first": sizes[0].size, "n_second": sizes[1].size, "n_subjects": n}
    return pd.Series(measures, dtype=np.float64, name="agreement")


def _read_labels(partition: ArrayLike | SubtypeModel, called: str) -> NDArray[np.generic]:
    if hasattr(partition, "schema_") or hasattr(partition, "get_params"):
        model: SubtypeModel = partition  # type: ignore[assignment]
        if not is_fitted(model):
            raise InputError(f"{called} is not fitted: call its fit first")
        return np.asarray(model.labels_)
    labels = partition.to_numpy() if hasattr(partition, "to_numpy") else np.asarray(partition)
    if labels.ndim != 1:
        raise InputError(f"{called} must be one label for each subject, of shape (N,), not of shape {labels.shape}")
    return np.asarray(labels)


def _adjust(index: float, by_chance: float, highest: float) -> float:
    """Return an index adjusted for chance; 1 where it has one possible value, which equal partitions have."""
    return 1.0 if highest <= by_chance else float((index - by_chance) / (highest - by_chance))


def _entropy(counts: Counts) -> float:
    n = float(counts.sum())
    return max(float(np.log(n) - (counts * np.log(counts)).sum() / n), 0.0)
