"""Method: the adapter by which other methods of clustering make partitions that are reported like any other.

`Method.fit` validates a cohort and encodes it (`Encoded`), the method clusters the encoded columns, and its clusters
are numbered by decreasing size. A `MethodByCriterion` fits several numbers of clusters and chooses one of them.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import Rule, is_number
from clinclust.arrays import Array, Labels, RandomState
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.errors import InputError, missing_package, refuse
from clinclust.estimators.copied_rows import warn_of_copied_rows
from clinclust.estimators.estimator import BaseSubtypes, Parameterised
from clinclust.estimators.parameters import RULES, parameter, parameter_problems, rules_of, seed_of
from clinclust.estimators.preparation import several_subjects, warn_of_unobserved, warn_of_visits
from clinclust.schema import Feature, FeatureSchema

BIC = "bic"
CRITERIA = {
    BIC: "BIC",
    "silhouette": "the average silhouette width",
    "calinski_harabasz": "the Calinski-Harabasz index",
}
"""The criteria of the number of clusters, as reports name them."""


def one_of(*words: str) -> Rule:
    """Return the rule of a parameter that is one of these words."""
    allowed = " or ".join([", ".join(map(repr, words[:-1])), repr(words[-1])])
    return Rule(allowed, lambda value: isinstance(value, str) and value in words)


AT_LEAST_1 = RULES["n_restarts"]
WISHED = AT_LEAST_1.or_none()
"""The rule of a number of clusters that need not be stated."""
PRICE = Rule("a number above 0", lambda value: is_number(value) and 0.0 < value < np.inf).or_none()
_NUMBER_OF_PENALTY = {"penalty": "n_clusters", "local_penalty": "n_local", "global_penalty": "n_clusters"}
"""The number of clusters from which each penalty can follow: just one of the two can be stated."""


class Encoded(NamedTuple):
    """A cohort as numbers, (N, C), how they were made, and the number of columns of each kind, in their order."""

    matrix: Array
    prepared: str
    kinds: Mapping[str, int] = MappingProxyType({})


@dataclass(eq=False, repr=False)
class Method(Parameterised, BaseSubtypes):
    """An estimator that partitions a cohort by another method than MAP-DP; a fitted one is a `SubtypeModel`.

    A subclass is a dataclass whose fields are the parameters, with the method `_cluster` and with `_words`, which
    complete "The subtypes were made by ...".

    Attributes
    ----------
    labels_, n_clusters_, cluster_sizes_, schema_, uninformative_, index_, random_seed_ : as in `MAPDP`
    membership_ : float64 (N, K) or None
        Probability of each cluster for each subject; None if the method has no such probabilities.
    prepared_, made_by : str
        How the columns were made, and the method, as reports name it.
    """

    schema: FeatureSchema | None = parameter(None, RULES["schema"].or_none(), "By default one is drafted (`schema_`).")
    labels_: Labels = field(init=False)
    fit_ = None  # no MAP-DP search made the partition

    _words: ClassVar[str]
    _nouns: ClassVar[tuple[str, str]] = "cluster", "clusters"
    _refit_with: ClassVar[tuple[str, ...]] = ("n_clusters",)
    """Parameters whose estimates a refit of other subjects takes over."""

    def _encode(self, frame: pd.DataFrame, features: Sequence[Feature]) -> Encoded:
        return encode(frame, features)

    @abstractmethod
    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, Array | None]:
        """Return clusters in any numbering, (N,), and membership in each, (N, K); set further attributes at the end."""

    def _problems(self) -> list[str]:
        """Return the problems of parameters that depend on each other."""
        return [
            f"give either {penalty} or {number} (how many clusters are wished)"
            for penalty, number in _NUMBER_OF_PENALTY.items()
            if hasattr(self, penalty) and (getattr(self, penalty) is None) == (getattr(self, number) is None)
        ]

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Cluster a cohort, a table of shape (N, D); `y` is ignored.

        Errors are those of `MAPDP.fit`, and a MissingPackageError for a package that is not installed.
        """
        from clinclust.schema.validation import informative_parts, kept_out, warn_of_uninformative

        parameters = self.get_params()
        refuse(parameter_problems(parameters, rules_of(type(self))) or self._problems())
        frame, schema = several_subjects(X, self.schema, stacklevel=2, progress=False)
        reasons = dict(kept_out(frame, schema))
        features = informative_parts(frame, (feature for feature in schema.clustered if feature.name not in reasons))
        if not features:
            raise InputError("No feature is left to cluster on: none with the role 'cluster' has two different values")
        names = list(dict.fromkeys(feature.column for feature in features))
        warn_of_visits(frame, stacklevel=2)
        warn_of_uninformative(reasons, len(frame), stacklevel=2)
        warn_of_unobserved(frame, names, stacklevel=2)
        warn_of_copied_rows(frame, names, stacklevel=2)
        seed, table = seed_of(parameters.get("random_state", 0)), self._encode(frame, features)
        n_clusters, n_different = parameters.get("n_clusters") or 1, len(np.unique(table.matrix, axis=0))
        if 1 < n_clusters >= n_different:
            different = f"the number of subjects that differ ({n_different})"
            raise InputError(f"n_clusters must be below {different}, not {n_clusters}")
        clusters, membership = self._cluster(table, seed)
        # All fitted attributes are set after the work is done. A cluster without subjects is left out.
        self.labels_, order = sort_clusters(clusters)
        if membership is not None:
            membership = membership[:, order] / membership[:, order].sum(axis=1, keepdims=True)
        self.membership_, self.schema_, self.uninformative_ = membership, schema, reasons
        self.index_ = X.index if isinstance(X, pd.DataFrame) else None
        self.prepared_, self.random_seed_ = table.prepared, seed
        self.made_by = f"{self._words.format(self=self)} ({self.prepared_})"
        return self

    def with_number_kept(self, random_state: int) -> Self:
        """Return an unfitted estimator with the number of clusters of this fit, or with the parameters of this one."""
        changes = {name: getattr(self, f"{name}_") for name in self._refit_with}
        changes |= {"penalty": None} if "n_clusters" in changes else {}
        changes |= {"random_state": random_state, "schema": self.schema_}
        return type(self)(**{name: changes.get(name, value) for name, value in self.get_params().items()})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    @property
    def _number(self) -> str:
        return f"{self.n_clusters_} {self._nouns[self.n_clusters_ != 1]}"

    @contextmanager
    def _library(self, module: str) -> Iterator[Any]:
        """Import a module of an optional package, and run what it does on one thread.

        Sums on several threads have other last digits each time. That a run has not converged is no warning, because
        methods choose among runs.
        """
        try:
            from threadpoolctl import threadpool_limits

            no_convergence = import_module("sklearn.exceptions").ConvergenceWarning
            library = import_module(module)
        except ModuleNotFoundError as error:
            package = str(error.name).partition(".")[0]
            raise missing_package(type(self).__name__, "scikit-learn" if package == "sklearn" else package) from error
        with threadpool_limits(limits=1), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", no_convergence)
            yield library


@dataclass(eq=False, repr=False, kw_only=True)
class RestartedMethod(Method):
    """A method that starts several times, and keeps the best run."""

    n_restarts: int = parameter(10, AT_LEAST_1, "Starts, of which the one with the best result is kept.")
    random_state: RandomState = parameter(None, RULES["random_state"], "Seed of the starts.")

    def _starts(self, seed: int) -> dict[str, Any]:
        """Return the parameters of starts in scikit-learn and kmodes, which know seeds below 2^32 only."""
        return {"n_init": int(self.n_restarts), "random_state": int(np.random.default_rng(seed).integers(2**32))}

    def _run_k_means(self, values: Array, n_clusters: int, seed: int, weights: Array | None = None) -> Any:
        """Return the K-means model of scikit-learn of values (N, C) with weights (N,)."""
        with self._library("sklearn.cluster") as cluster:
            return cluster.KMeans(n_clusters, **self._starts(seed)).fit(values, sample_weight=weights)


def sort_clusters(clusters: Labels) -> tuple[Labels, Labels]:
    """Return clusters (N,) numbered by decreasing size, and the former number of each of them, (K,)."""
    labels = by_decreasing_size(clusters)
    return labels, clusters[np.unique(labels, return_index=True)[1]]


FILLED = "; missing values were filled with the median or the most frequent level of the feature"
_TRAITS = {
    "is_yes_no": "yes/no features as 0 and 1",
    "is_scale": "ordered levels as their scores",
    "is_nominal": "unordered levels as one indicator each",
    "is_number": "counts and measurements after the transform of the schema",
}


def encode(frame: pd.DataFrame, features: Sequence[Feature]) -> Encoded:
    """Return the columns of features of a validated frame as standardised numbers, for methods that know distances.

    Yes/no features become 0 and 1, ordered levels their scores, unordered levels one indicator for each observed level.
    Counts and measurements stay as they are, after the transform of the schema; both parts of a feature with point
    masses are features. A missing value becomes the median; of yes/no features and unordered levels, the most frequent.
    """
    columns, traits, has_missing = [], set(), False
    for feature in features:
        values = transform_column(frame, feature)
        has_missing |= bool(np.isnan(values).any())
        values = fill_missing(values, by_frequency=has_levels(feature))
        columns += [values == level for level in np.unique(values)] if feature.traits.is_nominal else [values]
        traits.update([trait for trait in _TRAITS if getattr(feature.traits, trait, False)] or ["is_number"])
    prepared = ", ".join([words for trait, words in _TRAITS.items() if trait in traits] + ["every column standardised"])
    matrix = np.column_stack([standardise(column.astype(np.float64)) for column in columns])
    return Encoded(matrix, prepared + (FILLED if has_missing else ""))


def has_levels(feature: Feature) -> bool:
    """Return whether values can only be equal or not: yes/no features and unordered levels."""
    return feature.traits.is_yes_no or feature.traits.is_nominal


def transform_column(frame: pd.DataFrame, feature: Feature) -> Array:
    """Return a validated column as numbers after the transform of the schema, float64 (N,); NaN = missing."""
    values = feature.transformed(frame[feature.column])
    if np.unique(values[~np.isnan(values)]).size < 2:  # also two values so near that their logarithms are equal
        raise InputError(f"{feature.name} has no two different observed values")
    return values


def fill_missing(values: Array, *, by_frequency: bool) -> Array:
    """Return values (N,) with each missing one replaced by the median, or by the (smallest) most frequent of them."""
    observed = values[~np.isnan(values)]
    return np.where(np.isnan(values), pd.Series(observed).mode()[0] if by_frequency else _median(observed), values)


def standardise(column: Array) -> Array:
    """Return a column (N,), not constant and without missing values, with mean 0 and standard deviation 1 (over N)."""
    centred = column - _median(column)
    centred = centred / np.abs(centred).max()  # squares of very large or very small numbers would leave the range
    centred = centred - centred.mean()
    return np.asarray(centred / centred.std(), dtype=np.float64)


def _median(values: Array) -> float:
    return float(2.0 * np.median(values / 2.0))  # the sum of the two middle values cannot leave the range of numbers


class Candidate(NamedTuple):
    """A fitted model: its row of `tried_` but BIC (the log likelihood is NaN if not estimated), and its clusters."""

    row: dict[str, Any]
    labels: Labels
    membership: Array | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class MethodByCriterion(RestartedMethod):
    """A method that fits models of several numbers of clusters, and chooses the first with the best criterion."""

    n_clusters: int | None = parameter(None, WISHED, "K; by default the best of 1 to `max_clusters`.")
    max_clusters: int = parameter(10, AT_LEAST_1, "The largest K that is tried.")

    choose_by = BIC
    _facts: ClassVar[tuple[str, ...]] = ("log_likelihood",)
    """Columns of `tried_` that become fitted attributes."""

    @abstractmethod
    def _fit_candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        """Fit the models of one number of clusters."""

    def _review(self, trials: pd.DataFrame, best: int) -> None:
        """Refuse models, or warn of them, that could not be estimated."""

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, Array | None]:
        # Silhouettes and the ratio of sums of squares are not defined for one cluster.
        first, n_different = 1 if self.choose_by == BIC else 2, len(np.unique(table.matrix, axis=0))
        last = max(min(self.max_clusters, n_different - 1), first)
        numbers = range(first, last + 1) if self.n_clusters is None else [self.n_clusters]
        candidates = [model for number in numbers for model in self._fit_candidates(table, number, seed)]
        trials = pd.DataFrame([model.row for model in candidates])
        # Schwarz 1978: -2 log L + p log N, the lower the better.
        bic = -2.0 * trials["log_likelihood"] + trials["n_parameters"] * np.log(len(table.matrix))
        trials.insert(len(trials.columns) - 1, BIC, bic)
        scores = (-bic if self.choose_by == BIC else trials[self.choose_by]).to_numpy()
        best = int(np.where(np.isfinite(scores), scores, -np.inf).argmax())
        self._review(trials, best)
        self.tried_ = trials.assign(chosen=np.arange(len(trials)) == best)
        for name in self._facts:
            setattr(self, f"{name}_", candidates[best].row[name])
        return candidates[best].labels, candidates[best].membership

    @property
    def _choice(self) -> str:
        if self.n_clusters is not None:
            return "a number given"
        trials = self.tried_.loc[self.tried_[BIC].notna(), "n_clusters"]
        return f"a number chosen by {CRITERIA[self.choose_by]} among {trials.min():.0f} to {trials.max():.0f}"


_MOST_SUBJECTS = 5_000  # silhouettes need the distances of all pairs; of more subjects, a random sample is taken


def measure_separation(values: Array, labels: Labels, seed: int) -> dict[str, float]:
    """Return the average silhouette width and the Calinski-Harabasz index of clusters; the more the better.

    Rousseeuw 1987: mean of (b - a) / max(a, b), a the mean distance of a subject to others of its cluster, b the least
    to those of another. Calinski and Harabasz 1974: sum of squares between K clusters over K - 1, by that within them
    over N - K. Both are NaN for one cluster, or where every subject is one.
    """
    from sklearn.metrics import calinski_harabasz_score, silhouette_score

    sample, silhouette, index = np.arange(labels.size), np.nan, np.nan
    if 1 < np.unique(labels).size < labels.size:
        if labels.size > _MOST_SUBJECTS:
            sample = np.random.default_rng(seed).choice(labels.size, _MOST_SUBJECTS, replace=False)
        if 1 < np.unique(labels[sample]).size < sample.size:
            silhouette = float(silhouette_score(values[sample], labels[sample]))
        index = float(calinski_harabasz_score(values, labels))
    return {"silhouette": silhouette, "calinski_harabasz": index}
