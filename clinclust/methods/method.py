"""Method: the base class of other methods of clustering, whose partitions are reported like any other."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import Rule, is_number
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.errors import InputError, missing_package, refuse
from clinclust.estimators.copied_rows import warn_of_copied_rows
from clinclust.estimators.estimator import BaseSubtypes, Parameterised
from clinclust.estimators.parameters import RULES, parameter_problems, seed_of
from clinclust.estimators.preparation import several_subjects, warn_of_unobserved, warn_of_visits
from clinclust.methods.encoded import Encoded, different_rows, encoded
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature

AT_LEAST_ONE = Rule(
    "a whole number of at least 1",
    lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1,
)
_ABOVE_0 = Rule("a number above 0", lambda value: is_number(value) and 0.0 < value < np.inf).or_none()
_RULES = MappingProxyType(
    {
        "schema": RULES["schema"].or_none(),
        "n_clusters": AT_LEAST_ONE.or_none(),
        "n_local": AT_LEAST_ONE.or_none(),
        "max_clusters": AT_LEAST_ONE,
        "n_neighbours": AT_LEAST_ONE,
        "n_restarts": RULES["n_restarts"],
        "random_state": RULES["random_state"],
        **dict.fromkeys(("penalty", "local_penalty", "global_penalty", "bandwidth", "gamma"), _ABOVE_0),
    }
)
"""Rule of each parameter that several methods have, by name."""


@dataclass(frozen=True, eq=False)
class Clustered:
    """What a method found: clusters in any numbering, which `labels` (N,), `membership` (N, K) and `by_cluster` share.

    Further fitted attributes are set by the names in `facts`, and those of shape (K, ...) by the names in `by_cluster`.
    """

    labels: NDArray[np.int64]
    membership: NDArray[np.float64] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    by_cluster: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


class Method(Parameterised, BaseSubtypes):
    """An estimator that partitions a cohort by another method than MAP-DP; a fitted one is a `SubtypeModel`.

    A subclass is a dataclass: its fields are the parameters, among them `schema`. It has the methods `_clustered` and
    `_made_by`; `_rules` holds the rules of parameters that no other method has.

    Attributes
    ----------
    labels_ : int64 (N,)
        Cluster of each subject, 0 .. K - 1 by decreasing size.
    n_clusters_ : int
    cluster_sizes_ : int64 (K,)
    membership_ : float64 (N, K) or None
        Probability of each cluster for each subject; None if the method has no such probabilities.
    schema_ : FeatureSchema
    uninformative_ : mapping
        Features that were not clustered on, with the reason.
    index_ : Index or None
        Index of the cohort.
    prepared_, made_by : str
        How the columns were made, and the method, as reports name it.
    random_seed_ : int
        Seed of the fit; it has no effect on a method without random numbers.
    """

    _rules: ClassVar[Mapping[str, Rule]] = MappingProxyType({})
    _either: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Pairs of a penalty and a number of clusters, of which just one must be given."""

    schema: FeatureSchema | None
    labels_: NDArray[np.int64]
    membership_: NDArray[np.float64] | None
    schema_: FeatureSchema
    uninformative_: Mapping[str, str]
    prepared_: str
    random_seed_: int
    made_by: str

    def _encoded(self, frame: pd.DataFrame, features: tuple[Feature, ...]) -> Encoded:
        """Return the table that is clustered, of a validated frame and features with two different observed values."""
        return encoded(frame, features)

    @abstractmethod
    def _clustered(self, table: Encoded, seed: int) -> Clustered:
        """Cluster the encoded table of a cohort; the parameters are checked."""

    @abstractmethod
    def _made_by(self) -> str:
        """Return the words that complete "The subtypes were made by ..."."""

    def _problems(self) -> list[str]:
        return [
            f"give either {penalty} or {number} (how many clusters are wished)"
            for penalty, number in self._either
            if (getattr(self, penalty) is None) == (getattr(self, number) is None)
        ]

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Cluster a cohort, a table of shape (N, D) as in `MAPDP.fit`; `y` is ignored.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If parameters cannot be used (the message lists all), or no feature is left to cluster on.
        ImportError
            If the method needs a package that is not installed.
        """
        from clinclust.schema.validation import informative_parts, kept_out, warn_of_uninformative

        parameters = self.get_params()
        refuse(parameter_problems(parameters, {**_RULES, **self._rules}) or self._problems())
        frame, schema = several_subjects(X, self.schema, stacklevel=2, progress=False)
        without = dict(kept_out(frame, schema))
        features = informative_parts(frame, (one for one in schema.clustered if one.name not in without))
        if not features:
            raise InputError("No feature is left to cluster on: none with the role 'cluster' has two different values")
        warn_of_visits(frame, stacklevel=2)
        warn_of_uninformative(without, len(frame), stacklevel=2)
        names = list(dict.fromkeys(feature.column for feature in features))
        warn_of_unobserved(frame, names, stacklevel=2)
        warn_of_copied_rows(frame, names, stacklevel=2)
        seed = seed_of(parameters.get("random_state", 0))
        table = self._encoded(frame, features)
        refuse_too_many(parameters.get("n_clusters"), table.values)
        found = self._clustered(table, seed)
        # All fitted attributes are set after the work is done.
        self.schema_, self.uninformative_ = schema, MappingProxyType(without)
        self.index_ = X.index if isinstance(X, pd.DataFrame) else None
        self.prepared_, self.random_seed_ = table.prepared, seed
        self._keep(found)
        self.made_by = f"{self._made_by()} ({self.prepared_})"
        return self

    @property
    def fit_(self) -> Fit | None:
        """None: no MAP-DP search made the partition."""
        return None

    def _keep(self, found: Clustered) -> None:
        """Set what was found, with the clusters by decreasing size; clusters without subjects are left out."""
        self.labels_ = by_decreasing_size(found.labels)
        self.membership_ = None
        order = np.empty(self.n_clusters_, dtype=np.int64)
        order[self.labels_] = found.labels
        if found.membership is not None:
            shares = found.membership[:, order]
            self.membership_ = shares / shares.sum(axis=1, keepdims=True)
        for name, value in (found.facts | {key: rows[order] for key, rows in found.by_cluster.items()}).items():
            setattr(self, name, value)

    def _counted(self, one: str = "cluster", several: str = "clusters") -> str:
        return f"1 {one}" if self.n_clusters_ == 1 else f"{self.n_clusters_} {several}"

    def with_number_kept(self, random_state: int) -> Self:
        """Return an unfitted estimator with the number of clusters of this fit, or with the parameters of this one."""
        given = self.get_params()
        kept = {name: value for name, value in self._kept_for_refits().items() if name in given}
        kept |= {"random_state": random_state} if "random_state" in given else {}
        return type(self)(**{**given, **kept, "schema": self.schema_})

    def _kept_for_refits(self) -> dict[str, Any]:
        """Return the parameters that a refit of other subjects takes from this fit."""
        return {"n_clusters": self.n_clusters_, "penalty": None}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def __getstate__(self) -> dict[str, Any]:
        # A view of a dict cannot be pickled.
        state = dict(vars(self))
        return state | {"uninformative_": dict(self.uninformative_)} if "uninformative_" in state else state


def refuse_too_many(n_clusters: int | None, values: NDArray[np.float64]) -> None:
    """Raise InputError if the number of clusters is not below the number of different rows of a matrix (N, C)."""
    if n_clusters is None or n_clusters == 1:
        return
    different = different_rows(values)
    if n_clusters >= different:
        raise InputError(f"n_clusters must be below the number of subjects that differ ({different}), not {n_clusters}")


def needed(module: str, method: str) -> Any:
    """Return a module by its full name, or raise a MissingPackageError that names the method and the package."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        raise missing_package(method, "scikit-learn" if top == "sklearn" else top) from error


@contextmanager
def one_thread(method: str) -> Iterator[None]:
    """Run foreign code on one thread, because sums on several have other last digits each time.

    Warnings that a run has not converged are not shown: methods choose among runs.
    """
    from threadpoolctl import threadpool_limits

    unfinished = needed("sklearn.exceptions", method).ConvergenceWarning
    with threadpool_limits(limits=1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", unfinished)
        yield


def seed_for_scikit_learn(seed: int) -> int:
    """Return a seed below 2^32, as scikit-learn and its relatives need, for a seed of any size."""
    return int(np.random.default_rng(seed).integers(2**32))
