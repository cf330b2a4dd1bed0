"""Method: the base class of other methods of clustering, whose partitions are reported like any other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.engine.search.labels import by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.estimator import Parameterised
from clinclust.estimators.parameters import RULES, Rule, parameter_problems, seed_of
from clinclust.estimators.preparation import several_subjects, warn_of_unobserved, warn_of_visits
from clinclust.estimators.renamed import RenamedAttributes
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature

__all__ = ["Clustered", "Given", "Method"]


@dataclass(frozen=True, eq=False)
class Given:
    """What a method clusters.

    Attributes
    ----------
    frame : DataFrame, shape (N, D)
        The validated table.
    schema : FeatureSchema
    features : tuple of Feature
        The features to cluster on: those with the role ``cluster`` and two different observed values.
    seed : int
    """

    frame: pd.DataFrame
    schema: FeatureSchema
    features: tuple[Feature, ...]
    seed: int

    def of(self, features: tuple[Feature, ...]) -> Given:
        """Return the same table with other features to cluster on."""
        return Given(self.frame, self.schema, features, self.seed)


@dataclass(frozen=True, eq=False)
class Clustered:
    """What a method found.

    Attributes
    ----------
    labels : int64 (N,)
        Cluster of each subject, in any numbering.
    prepared : str
        How the columns were made that were clustered.
    membership : float64 (N, K) or None
        Probability of each cluster, by the number of the cluster in `labels`.
    facts : dict
        Further fitted attributes, by name.
    by_cluster : dict
        Further fitted attributes of shape (K, ...), by name, in the numbering of `labels`.
    """

    labels: NDArray[np.int64]
    prepared: str
    membership: NDArray[np.float64] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    by_cluster: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


class Method(Parameterised, RenamedAttributes):
    """An estimator that partitions a cohort by another method than MAP-DP; a fitted one is a `SubtypeModel`.

    A subclass has a constructor that stores its arguments, among them `schema`, and the methods `_clustered` and
    `_made_by`. `_rules` holds the rules of its own parameters.

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
    prepared_ : str
        How the columns were made that were clustered.
    random_seed_ : int
        Seed of the fit; it has no effect on a method without random numbers.
    made_by : str
        The method, as reports name it.
    """

    _rules: ClassVar[Mapping[str, Rule]] = MappingProxyType({})

    schema: FeatureSchema | None
    labels_: NDArray[np.int64]
    cluster_sizes_: NDArray[np.int64]
    membership_: NDArray[np.float64] | None
    schema_: FeatureSchema
    uninformative_: Mapping[str, str]
    index_: pd.Index | None
    prepared_: str
    random_seed_: int
    made_by: str

    @abstractmethod
    def _clustered(self, given: Given) -> Clustered:
        """Cluster a cohort whose parameters are checked."""

    @abstractmethod
    def _made_by(self, found: Clustered) -> str:
        """Return the words that complete "The subtypes were made by ..."."""

    def _problems(self) -> list[str]:
        """Return what is wrong with the parameters together, one sentence each."""
        return []

    def _not_clustered_on(self, schema: FeatureSchema) -> Mapping[str, str]:
        """Return features with the role ``cluster`` that the method leaves out, with the reason."""
        return {}

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Cluster a cohort.

        Parameters
        ----------
        X : DataFrame or array, shape (N, D)
            As in `MAPDP.fit`.
        y : ignored

        Returns
        -------
        Method
            This estimator, fitted.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If parameters cannot be used (the message lists all), or no feature is left to cluster on.
        ImportError
            If the method needs a package that is not installed.

        Warns
        -----
        CohortWarning
            If the table is doubtful, or no schema was given.
        """
        from clinclust.schema.informative import informative_parts, kept_out, warn_of_uninformative

        parameters = self.get_params()
        rules = {**RULES, "schema": RULES["schema"].or_none(), **self._rules}
        problems = parameter_problems(parameters, rules) or self._problems()
        if problems:
            raise InputError("; ".join(problems))
        frame, schema = several_subjects(X, self.schema, stacklevel=2, progress=False)
        without = dict(kept_out(frame, schema)) | dict(self._not_clustered_on(schema))
        features = informative_parts(frame, (one for one in schema.clustered if one.name not in without))
        if not features:
            raise InputError("No feature is left to cluster on: none with the role 'cluster' has two different values")
        warn_of_visits(frame, stacklevel=2)
        warn_of_uninformative(without, len(frame), stacklevel=2)
        warn_of_unobserved(frame, list(dict.fromkeys(feature.column for feature in features)), stacklevel=2)
        seed = seed_of(parameters.get("random_state", 0))
        found = self._clustered(Given(frame, schema, features, seed))
        self._keep(found, schema, without, X.index if isinstance(X, pd.DataFrame) else None, seed)
        return self

    @property
    def n_clusters_(self) -> int:
        """Number of clusters, K."""
        return int(self.cluster_sizes_.size)

    @property
    def names_(self) -> Mapping[int, str]:
        """Empty: the clusters have no default names."""
        return MappingProxyType({})

    @property
    def fit_(self) -> Fit | None:
        """None: no MAP-DP search made the partition."""
        return None

    def _keep(
        self, found: Clustered, schema: FeatureSchema, without: Mapping[str, str], index: pd.Index | None, seed: int
    ) -> None:
        """Set the fitted attributes, all at once after the work is done."""
        labels = by_decreasing_size(found.labels)
        self.labels_, self.cluster_sizes_ = labels, np.bincount(labels)
        order, self.membership_ = _order(found.labels, labels), None
        if found.membership is not None:
            shares = found.membership[:, order]
            self.membership_ = shares / shares.sum(axis=1, keepdims=True)
        self.schema_, self.uninformative_, self.index_ = schema, MappingProxyType(dict(without)), index
        self.prepared_, self.random_seed_ = found.prepared, seed
        for name, value in {**found.facts, **{key: rows[order] for key, rows in found.by_cluster.items()}}.items():
            setattr(self, name, value)
        self.made_by = self._made_by(found)

    def with_number_kept(self, random_state: int) -> Self:
        """Return an estimator that is not fitted, with the number of clusters of this fit, or asked as this one was."""
        given = self.get_params()
        kept = {name: value for name, value in self._kept_for_refits().items() if name in given}
        kept |= {"random_state": random_state} if "random_state" in given else {}
        return type(self)(**{**given, **kept, "schema": self.schema_})

    def _kept_for_refits(self) -> dict[str, Any]:
        """Return what a refit of other subjects is told of this fit, by parameter."""
        return {"n_clusters": self.n_clusters_}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def __getstate__(self) -> dict[str, Any]:
        # A view of a dict cannot be pickled.
        state = dict(vars(self))
        return state | {"uninformative_": dict(self.uninformative_)} if "uninformative_" in state else state


def _order(before: NDArray[np.int64], after: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number in `before` of each cluster of `after`, int64 (K,); clusters without subjects are left out."""
    order = np.empty(int(after.max()) + 1, dtype=np.int64)
    order[after] = before
    return order
