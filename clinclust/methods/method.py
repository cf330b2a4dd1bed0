"""One adapter for other methods of clustering, and the methods of other packages and papers."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from clinclust.arguments import Rule, in_pandas, is_number, one_of
from clinclust.arrays import Array, Labels, RandomState
from clinclust.engine.search.settle import by_decreasing_size
from clinclust.errors import InputError, missing_package, refuse, warn
from clinclust.estimators.cohort_table import cohort_and_schema, warn_of_rows
from clinclust.estimators.parameters import RULES, as_in, documented, parameter, parameter_problems, rules_of, seed_of
from clinclust.estimators.subtype_model import Estimator
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.validation import informative_parts, kept_out, warn_of_uninformative

# Method: the adapter by which other methods of clustering make partitions that are reported like any other.
#
# `Method.fit` validates a cohort and encodes it (`Encoded`), the method clusters the encoded columns, and its clusters
# are numbered by decreasing size. A `MethodByCriterion` fits several numbers of clusters and chooses one of them.

BIC = "bic"
CRITERIA = {
    BIC: "BIC",
    "silhouette": "the average silhouette width",
    "calinski_harabasz": "the Calinski-Harabasz index",
}
"""The criteria of the number of clusters, as reports name them."""

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
class Method(Estimator):
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
            if hasattr(self, penalty) and hasattr(self, number)
            if (getattr(self, penalty) is None) == (getattr(self, number) is None)
        ]

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Cluster a cohort, a table of shape (N, D); `y` is ignored.

        Errors are those of `MAPDP.fit`, and a MissingPackageError for a package that is not installed.
        """
        refuse(parameter_problems(self.get_params(), rules_of(type(self))) or self._problems())
        frame, schema = cohort_and_schema(in_pandas(X), self.schema, progress=False)
        self.fit_valid(frame, schema)
        self.index_ = X.index if isinstance(X, pd.DataFrame) else None
        return self

    def fit_valid(self, frame: pd.DataFrame, schema: FeatureSchema) -> Self:
        """Cluster a validated cohort; the caller of `fit` is the one to warn."""
        reasons = dict(kept_out(frame, schema))
        features = informative_parts(frame, (feature for feature in schema.clustered if feature.name not in reasons))
        if not features:
            raise InputError("No feature is left to cluster on: none with the role 'cluster' has two different values")
        names = list(dict.fromkeys(feature.column for feature in features))
        warn_of_uninformative(reasons, len(frame))
        warn_of_rows(frame, names)
        seed, table = seed_of(getattr(self, "random_state", 0)), self._encode(frame, features)
        n_clusters, n_different = getattr(self, "n_clusters", None) or 1, len(np.unique(table.matrix, axis=0))
        if 1 < n_clusters >= n_different:
            different = f"the number of subjects that differ ({n_different})"
            raise InputError(f"n_clusters must be below {different}, not {n_clusters}")
        clusters, membership = self._cluster(table, seed)
        # All fitted attributes are set after the work is done. A cluster without subjects is left out.
        self.labels_, order = sort_clusters(clusters)
        if membership is not None:
            membership = membership[:, order] / membership[:, order].sum(axis=1, keepdims=True)
        self.membership_, self.schema_, self.uninformative_ = membership, schema, reasons
        self.prepared_, self.random_seed_ = table.prepared, seed
        self.made_by = f"{self._words.format(self=self)} ({self.prepared_})"
        return self

    def with_number_kept(self, random_state: int) -> Self:
        """Return an unfitted estimator with the number of clusters of this fit, or with the parameters of this one."""
        changes = {name: getattr(self, f"{name}_") for name in self._refit_with}
        changes |= {"penalty": None} if "n_clusters" in changes else {}
        changes |= {"random_state": random_state, "schema": self.schema_, "choose_by": BIC}  # which K needs no more
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
        """Return the parameters of starts in scikit-learn, which knows seeds below 2^32 only."""
        return {"n_init": int(self.n_restarts), "random_state": int(np.random.default_rng(seed).integers(2**32))}

    def _run_k_means(self, values: Array, n_clusters: int, seed: int, weights: Array | None = None) -> Any:
        """Return the K-means model of scikit-learn of values (N, C) with weights (N,)."""
        with self._library("sklearn.cluster") as cluster:
            return cluster.KMeans(n_clusters, **self._starts(seed)).fit(values, sample_weight=weights)


def sort_clusters(clusters: Labels) -> tuple[Labels, Labels]:
    """Return clusters (N,) numbered by decreasing size, and the former number of each of them, (K,)."""
    labels = by_decreasing_size(clusters)
    return labels, clusters[np.unique(labels, return_index=True)[1]]


_FILLED = "; missing values were filled with the median or the most frequent level of the feature"
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
        values = fill_missing(values, by_frequency=feature.traits.is_yes_no or feature.traits.is_nominal)
        columns += [values == level for level in np.unique(values)] if feature.traits.is_nominal else [values]
        traits.update([trait for trait in _TRAITS if getattr(feature.traits, trait, False)] or ["is_number"])
    prepared = ", ".join([words for trait, words in _TRAITS.items() if trait in traits] + ["every column standardised"])
    matrix = np.column_stack([standardise(column.astype(np.float64)) for column in columns])
    return Encoded(matrix, prepared + (_FILLED if has_missing else ""))


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

    silhouette = index = np.nan
    sample = {} if labels.size <= _MOST_SUBJECTS else {"sample_size": _MOST_SUBJECTS, "random_state": seed % 2**32}
    # ValueError: one cluster, or every subject is one. Threads would wait for each other on a small table.
    with threadpool_limits(limits=1), suppress(ValueError):
        index = float(calinski_harabasz_score(values, labels))
        silhouette = float(silhouette_score(values, labels, **sample))
    return {"silhouette": silhouette, "calinski_harabasz": index}


# Peer methods: K-means, K-harmonic means, mean shift, Gaussian mixtures and latent classes.
#
# K-means and Gaussian mixtures run through scikit-learn; what is here chooses and encodes.


def means_of(values: Array, labels: Labels) -> Array:
    """Return the mean of each cluster 0 .. K - 1, none empty, of values (N, C), float64 (K, C)."""
    return np.stack([values[labels == cluster].mean(axis=0) for cluster in range(int(labels.max()) + 1)])


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class KMeans(MethodByCriterion):
    """K-means with the starts of K-means++ (Arthur and Vassilvitskii 2007, SODA), through scikit-learn; K by BIC.

    It minimises sum_i |x_i - mu_(z_i)|^2 over partitions into K clusters. K is that with the lowest BIC = -2 log L + p
    log N of X-means (Pelleg and Moore 2000, ICML), with p = K C + K for C columns and

        log L = sum_k N_k log(N_k / N) - N C / 2 log(2 pi s^2) - C (N - K) / 2,
        s^2 = sum_i |x_i - mu_(z_i)|^2 / (C (N - K)),

    the likelihood of spherical Gaussians of one variance, each subject in its cluster. (The paper leaves C out of s^2.)
    Columns of few different values are no Gaussians, and BIC tends to find too many clusters in them.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    sum_of_squares_ : float
    tried_ : DataFrame
        One row for each K that was tried, with its BIC, average silhouette width and Calinski-Harabasz index.

    Examples
    --------
    >>> from clinclust.methods import KMeans
    >>> KMeans(max_clusters=3, random_state=0).fit([[0, 1], [1, 0], [1, 1], [0, 0], [8, 9], [9, 8]]).labels_.tolist()
    [0, 0, 0, 0, 1, 1]
    """

    choose_by: str = parameter(BIC, one_of(*CRITERIA), "Criterion of K; but for BIC, there are at least two clusters.")
    _facts = ("sum_of_squares",)
    _words = "K-means with {self._number}, {self._choice}"

    def _fit_candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        model, (n_subjects, n_columns) = self._run_k_means(table.matrix, n_clusters, seed), table.matrix.shape
        labels, sizes = model.labels_.astype(np.int64), np.bincount(model.labels_).astype(np.float64)
        freedom = n_columns * (n_subjects - sizes.size)
        variance = model.inertia_ / freedom
        shares = float((sizes * np.log(sizes / n_subjects)).sum())
        likelihood = shares - n_subjects * n_columns / 2.0 * np.log(2.0 * np.pi * variance) - freedom / 2.0
        row = {"n_clusters": n_clusters, "sum_of_squares": float(model.inertia_)}
        row |= measure_separation(table.matrix, labels, seed) | {"log_likelihood": float(likelihood)}
        return [Candidate(row | {"n_parameters": n_clusters * (n_columns + 1), "converged": True}, labels)]


@documented
@dataclass(eq=False, repr=False)
class KHarmonicMeans(RestartedMethod):
    """K-harmonic means (Zhang, Hsu and Dayal 1999, HP Labs HPL-1999-124): every subject pulls at every centre.

    It minimises, over K centres, the sum of the harmonic means of the squared distances,

        sum_i K / sum_k 1 / |x_i - c_k|^2,

    where the subjects that no centre is near count most, so that centres, which start at random subjects, spread. Each
    iteration sets c_k to the mean of all subjects with the weights 1 / (d_ik^4 (sum_l 1 / d_il^2)^2), d_ik = |x_i -
    c_k|, where the derivative is 0. A subject belongs to its nearest centre; empty clusters are left out.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    centres_ : float64 (K, C)
        In the standardised columns, in the order of the labels.
    objective_ : float
    objective_trace_ : float64 (T,)
        The objective before the first iteration and after each one. It never rises.

    Examples
    --------
    >>> from clinclust.methods import KHarmonicMeans
    >>> KHarmonicMeans(None, 2, random_state=0).fit([[0, 1], [1, 0], [0, 0], [8, 9], [9, 8]]).labels_.tolist()
    [0, 0, 0, 1, 1]
    """

    n_clusters: int | None = parameter(None, AT_LEAST_1, "K.")
    _words = "K-harmonic means with {self._number}, a number given"

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        rng, different = np.random.default_rng(seed), np.unique(table.matrix, axis=0)
        starts = (rng.choice(len(different), self.n_clusters, replace=False) for _ in range(self.n_restarts))
        runs = (harmonic_means(table.matrix, different[start]) for start in starts)
        centres, trace = min(runs, key=lambda run: float(run[1][-1]))
        labels, order = sort_clusters(cdist(table.matrix, centres, "sqeuclidean").argmin(axis=1).astype(np.int64))
        self.centres_, self.objective_, self.objective_trace_ = centres[order], float(trace[-1]), trace
        return labels, None


_MOST_ITERATIONS = 1000
_LEAST_GAIN = 1e-9  # the last iteration is the first that lowers the objective by a smaller share


def harmonic_means(values: Array, centres: Array) -> tuple[Array, Array]:
    """Run K-harmonic means on values (N, C) from these centres (K, C), until the objective falls no more.

    Returns the centres, and the objective before the first iteration and after each one, (T,).
    """

    def weigh(centres: Array) -> tuple[float, Array]:
        """Return the objective, and the weight of each subject for each centre, (N, K)."""
        distances = cdist(values, centres, "sqeuclidean")
        nearest = distances.min(axis=1, keepdims=True)
        is_nearest = distances == nearest
        # From 0 to 1, also where a subject lies on a centre: there they are 1 or 0.
        ratios = np.where(is_nearest, 1.0, nearest / np.where(is_nearest, 1.0, distances))
        totals = ratios.sum(axis=1, keepdims=True)
        return float((len(centres) * nearest / totals).sum()), (ratios / totals) ** 2

    objective, weights = weigh(centres)
    trace = [objective]
    for _ in range(_MOST_ITERATIONS):
        totals = weights.sum(axis=0)
        # A centre that no subject pulls at, because all are on other ones, stays where it is.
        means = weights.T @ values / np.where(totals > 0.0, totals, 1.0)[:, None]
        means = np.where(totals[:, None] > 0.0, means, centres)
        objective, weights = weigh(means)
        if objective >= trace[-1]:  # by rounding
            break
        centres, gain = means, trace[-1] - objective
        trace.append(objective)
        if gain <= _LEAST_GAIN * objective:
            break
    return centres, np.array(trace)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class MeanShift(Method):
    """Mean shift: each subject belongs to the mode of the density that it climbs to.

    From each subject, x moves to the mean of all subjects closer than the bandwidth h until it rests (a flat kernel;
    Fukunaga and Hostetler 1975, IEEE Trans Inf Theory 21:32-40; Comaniciu and Meer 2002, IEEE TPAMI 24:603-619). Modes
    within h of each other are one. A subject far from all others is a cluster of its own.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    bandwidth_ : float

    Examples
    --------
    >>> from clinclust.methods import MeanShift
    >>> MeanShift(bandwidth=1.0).fit([[0, 1], [1, 0], [1, 1], [0, 0], [8, 9], [9, 8]]).labels_.tolist()
    [0, 0, 0, 0, 1, 1]
    """

    bandwidth: float | None = parameter(
        None, PRICE, "h; by default the mean distance of a subject to the farthest of its nearest 30%, standardised."
    )
    _words = "mean shift with a bandwidth of {self.bandwidth_:.4g}"

    def _cluster(self, table: Encoded, seed: int) -> tuple[Labels, None]:
        with self._library("sklearn.cluster") as cluster:
            bandwidth = float(self.bandwidth or cluster.estimate_bandwidth(table.matrix, quantile=0.3))
        if bandwidth <= 0.0:
            raise InputError("bandwidth must be given: so many subjects are equal that the estimate is 0")
        self.bandwidth_ = bandwidth
        return climb_to_modes(table.matrix, bandwidth), None


_RESTS, _MOST_CLIMBS, _TOGETHER = 1e-3, 300, 1000
"""Of the bandwidth, how far a subject at rest moves at most; the most moves; and how many subjects move at once."""


def climb_to_modes(values: Array, bandwidth: float) -> Labels:
    """Return the nearest mode, (N,), of subjects of values (N, C), the mode with the most subjects near it first."""
    points, n_near = values.copy(), np.zeros(len(values), dtype=np.int64)
    for rows in np.array_split(np.arange(len(values)), -(-len(values) // _TOGETHER)):
        for _ in range(_MOST_CLIMBS):
            is_near = cdist(points[rows], values) <= bandwidth
            n_near[rows] = is_near.sum(axis=1)
            means = is_near @ values / n_near[rows, None]
            moves, points[rows] = np.linalg.norm(means - points[rows], axis=1), means
            rows = rows[moves > _RESTS * bandwidth]
            if not rows.size:
                break
    modes: list[Array] = []
    for point in points[np.lexsort([*points.T[::-1], n_near])[::-1]]:
        if not modes or cdist(modes, point[None]).min() > bandwidth:  # else it is a mode before it
            modes.append(point)
    return np.asarray(cdist(values, modes).argmin(axis=1), dtype=np.int64)


_SHAPES = {"full": "full", "tied": "common", "diag": "diagonal", "spherical": "spherical"}  # with words for readers
_FLOOR = Rule("a number above 0 and at most 1", lambda value: is_number(value) and 0.0 < value <= 1.0)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class GaussianMixture(MethodByCriterion):
    """Mixture of Gaussians by the EM algorithm, through scikit-learn; the number of clusters K by BIC.

    It maximises sum_i log sum_k pi_k N(x_i | mu_k, Sigma_k) (Dempster, Laird and Rubin 1977, JRSS B 39:1-38). K and the
    kind of the covariances are those with the lowest BIC = -2 log L + p log N, as in mclust (Fraley and Raftery 2002,
    JASA 97:611-631). A subject belongs to its most probable component; empty ones are left out. Columns of few values
    are no Gaussians: where one is constant in a component, `variance_floor` bounds its density, and BIC tends to find
    too many clusters.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    covariance_ : str
    membership_ : float64 (N, K), probabilities of the clusters
    log_likelihood_ : float, in nats, of the standardised columns
    tried_ : as in `KMeans`, with a row for each K and kind

    Examples
    --------
    >>> from clinclust.methods import GaussianMixture
    >>> model = GaussianMixture(max_clusters=2, random_state=0).fit([[0, 1], [1, 0], [0, 0], [8, 9], [9, 8]])
    >>> model.labels_.tolist(), model.membership_.shape
    ([0, 0, 0, 1, 1], (5, 2))
    """

    choose_by: str = as_in(KMeans, "choose_by")
    covariance: str = parameter(
        "auto", one_of("auto", *_SHAPES), "Any matrix for each cluster, one for all, diagonal, or c I; 'auto': by BIC."
    )
    variance_floor: float = parameter(1e-3, _FLOOR, "Added to every variance of the standardised columns.")
    covariance_: str = field(init=False)
    membership_basis = "given the estimated mixture"
    _refit_with, _facts = ("n_clusters", "covariance"), ("covariance", "log_likelihood")
    _nouns = "component", "components"
    _words = "a Gaussian mixture of {self._number} with {self._shape} covariances, {self._choice}"

    @property
    def _shape(self) -> str:
        return _SHAPES[self.covariance_]

    def _fit_candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        values, settings = table.matrix, {"reg_covar": float(self.variance_floor), "max_iter": 500}
        for shape in _SHAPES if self.covariance == "auto" else (self.covariance,):
            with self._library("sklearn.mixture") as mixture:
                model = mixture.GaussianMixture(n_clusters, covariance_type=shape, **settings, **self._starts(seed))
                membership = np.asarray(model.fit(values).predict_proba(values), dtype=np.float64)
                log_likelihood = float(model.score(values) * len(values))
                n_parameters = round((model.bic(values) + 2.0 * log_likelihood) / np.log(len(values)))
            labels = membership.argmax(axis=1).astype(np.int64)
            row = {"n_clusters": n_clusters, "covariance": shape, **measure_separation(values, labels, seed)}
            row |= {"log_likelihood": log_likelihood, "n_parameters": n_parameters, "converged": bool(model.converged_)}
            yield Candidate(row, labels, membership)


_MOST_LEVELS = 10  # whole numbers with at most so many different values are categorical
_KINDS = {
    "levels": "levels and whole numbers of few values as categorical",
    "numbers": "other numbers as Gaussian after the transform of the schema",
}
"""The kinds of columns, in order, and words on them."""
# Of a standardised measurement within a class. Below it the likelihood grows without bound, and says nothing.
_LEAST_VARIANCE = 1e-3
# Of the probabilities of some class over subjects. Below it all classes are the same: a saddle of the likelihood.
_LEAST_RANGE = 0.01
_NOT_ESTIMATED = (
    "every start ended with a class in which a measurement does not vary, where the likelihood has no bound, with "
    "classes that are all the same, or before EM had converged"
)


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class LatentClasses(MethodByCriterion):
    """Latent class analysis of mixed data by the EM algorithm; the number of classes K by BIC.

    It maximises sum_i log sum_k pi_k prod_d p(x_id | k) over the observed values alone (Lazarsfeld and Henry 1968; as
    StepMix: Morin et al. 2025, J Stat Softw 113(8)), so that nothing is filled in, and values may be missing at random.
    Within a class features are independent: levels, ordered or not, and whole numbers with at most ten different values
    are categorical; other numbers are Gaussian after the transform of the schema, with a variance for each class. A
    subject belongs to its most probable class; empty classes are left out. So are starts that end with a variance of 0,
    with classes that are all the same, or before they converge.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    membership_ : float64 (N, K), probabilities of the classes
    log_likelihood_ : float, in nats
    tried_ : DataFrame
        One row for each K, with its BIC; NaN where it could not be estimated. If this is so for the chosen K or one
        more, a CohortWarning says that BIC has not compared them.

    Examples
    --------
    >>> from clinclust.methods import LatentClasses
    >>> X = [[0.5, 1], [1, 0], [1.2, 1], [0, 0.1], [8, 9], [9, 8.5]]
    >>> LatentClasses(n_clusters=2, n_restarts=3, random_state=0).fit(X).labels_.tolist()
    [0, 0, 0, 0, 1, 1]
    """

    max_clusters: int = as_in(MethodByCriterion, "max_clusters", default=8)
    membership_basis = "given the estimated classes"
    _nouns = "class", "classes"
    _words = "latent class analysis with {self._number}, {self._choice}"

    def _encode(self, frame: pd.DataFrame, features: Sequence[Feature]) -> Encoded:
        """Return columns of levels (0, 1, ...), then of standardised numbers; NaN = missing."""
        columns: dict[str, list[Array]] = {kind: [] for kind in _KINDS}
        for feature in features:
            values, traits = transform_column(frame, feature).copy(), feature.traits
            is_observed = ~np.isnan(values)
            levels, codes = np.unique(values[is_observed], return_inverse=True)
            is_coded = traits.is_yes_no or traits.is_nominal or (traits.is_whole and levels.size <= _MOST_LEVELS)
            values[is_observed] = codes if is_coded else standardise(values[is_observed])
            columns["levels" if is_coded else "numbers"].append(values)
        kinds = {kind: len(members) for kind, members in columns.items() if members}
        matrix = np.column_stack([column for kind in kinds for column in columns[kind]])
        gaps = "; the likelihood is that of the observed values" if np.isnan(matrix).any() else ""
        return Encoded(matrix, ", ".join(_KINDS[kind] for kind in kinds) + gaps, kinds)

    def _fit_candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        """Return the start with the highest likelihood of those that could be estimated."""
        rng = np.random.default_rng([seed, n_clusters])
        starts = [_run_start(table, rng.random((len(table.matrix), n_clusters))) for _ in range(self.n_restarts)]
        return [max(starts, key=lambda start: np.nan_to_num(start.row["log_likelihood"], nan=-np.inf))]

    def _review(self, trials: pd.DataFrame, best: int) -> None:
        failures = trials.loc[trials[BIC].isna(), "n_clusters"]
        if len(failures) == len(trials):
            raise InputError(f"n_clusters={failures[0]}: {_NOT_ESTIMATED}; ask for fewer, or raise `n_restarts`")
        numbers = ", ".join(map(str, failures[failures <= trials["n_clusters"].iloc[best] + 1]))
        if numbers:
            warn(f"LatentClasses: {numbers} classes: {_NOT_ESTIMATED}, so BIC chose without")


# Random starts lie near the saddle where all classes are equal, which EM leaves slowly: a laxer tolerance of the mean
# log likelihood ends many of them there.
_TOLERANCE, _MOST_STEPS, _LEAST_SHARE = 1e-12, 3000, 1e-15


def _run_start(table: Encoded, membership: Array) -> Candidate:
    """Run EM from a membership (N, K); the log likelihood is NaN if it could not be estimated.

    The log density of a subject in a class is linear in its statistics: indicators of levels, and of a number whether
    it is observed, x and x^2, all 0 where the value is missing. So both steps are one product of matrices.
    """
    n_subjects, n_clusters = membership.shape
    levels, numbers = np.split(table.matrix, [table.matrix.shape[1] - table.kinds.get("numbers", 0)], axis=1)
    n_levels = np.array([np.nanmax(column) + 1 for column in levels.T], dtype=int)
    first, observed = np.cumsum(n_levels, dtype=int) - n_levels, np.nan_to_num(numbers)
    indicators = (column[:, None] == np.arange(n) for column, n in zip(levels.T, n_levels, strict=True))
    statistics = np.hstack([*indicators, ~np.isnan(numbers), observed, observed**2]).astype(np.float64)
    ends = np.cumsum([n_levels.sum(), numbers.shape[1], numbers.shape[1]])
    membership, means, variances = membership / membership.sum(axis=1, keepdims=True), [-np.inf, 0.0], np.empty(0)
    with np.errstate(all="ignore"):  # a variance of 0 gives values that are no numbers, which end the run
        while len(means) <= _MOST_STEPS and not abs(means[-1] - means[-2]) < _TOLERANCE and not np.isnan(means[-1]):
            counts, n, sums, squares = np.split(membership.T @ statistics, ends, axis=1)
            shares = counts / np.repeat(np.add.reduceat(counts, first, axis=1), n_levels, axis=1)
            centres = sums / n
            variances = squares / n - centres**2
            log_shares = np.log(np.clip(shares, _LEAST_SHARE, 1.0 - _LEAST_SHARE))
            at_0 = -0.5 * (np.log(2.0 * np.pi * variances) + centres**2 / variances)
            scores = statistics @ np.hstack([log_shares, at_0, centres / variances, -0.5 / variances]).T
            scores += np.log(membership.mean(axis=0))
            densities = np.logaddexp.reduce(scores, axis=1)
            membership = np.exp(scores - densities[:, None])
            means.append(float(densities.mean()))
    has_converged = abs(means[-1] - means[-2]) < _TOLERANCE
    is_sound = has_converged and variances.min(initial=np.inf) >= _LEAST_VARIANCE
    is_sound &= n_clusters == 1 or bool(np.ptp(membership, axis=0).max() > _LEAST_RANGE)
    row = {"n_clusters": n_clusters, "log_likelihood": means[-1] * n_subjects if is_sound else np.nan}
    n_parameters = n_clusters - 1 + n_clusters * (int(n_levels.sum()) - n_levels.size + 2 * numbers.shape[1])
    row |= {"n_parameters": n_parameters, "converged": has_converged}
    return Candidate(row, np.nan_to_num(membership).argmax(axis=1).astype(np.int64), membership)
