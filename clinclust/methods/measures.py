"""The measures by which methods are compared, which hold for any partition."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp

from clinclust.arrays import Labels
from clinclust.comparisons import compare_partitions
from clinclust.engine.joint_estimates.outlying_search import none_outlying
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.objective import log_joint
from clinclust.engine.problem.posterior import clusters_of
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.errors import InputError
from clinclust.estimators.fitting import fit_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.search import SearchResult, tried_once
from clinclust.estimators.subtype_tree import DEFAULT_TEST
from clinclust.estimators.tested_tree import tested_tree
from clinclust.progress import SILENT

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.methods.method import Method
    from clinclust.schema import FeatureSchema


_CONCENTRATION = 3.0
_FOLDS = 5
STARTS = 5  # restarts of every search, also of refits


@dataclass(frozen=True)
class Measures:
    """The measures of each method on a validated cohort, and our fit of it; see `compare_methods`."""

    valid: pd.DataFrame
    ours: MAPDP
    n_resamples: int
    n_draws: int
    seed: int

    @property
    def schema(self) -> FeatureSchema:
        """The schema of our fit."""
        return self.ours.schema_

    def row(self, name: str, model: MAPDP | Method, seconds: float) -> dict[str, Any]:
        """Return the row of a fitted model."""
        with without_warnings():
            density = self._our_density if model is self.ours else self._held_out(model)
            gain = density - self._our_density
            about = self.valid, model.labels_, self.schema, self._powers
            return {
                "method": name,
                "n_clusters": float(model.n_clusters_),
                "n_distinct": float(n_distinct(*about, self.seed, self.n_draws)),
                "held_out": float(density.mean()),
                "held_out_gain": float(gain.mean()),
                "held_out_gain_se": float(gain.std(ddof=1) / np.sqrt(gain.size)),
                "stability": self._stability(model),
                "agreement": float(compare_partitions(self.ours.labels_, model.labels_)["adjusted_rand"]),
                "seconds": seconds,
                "said": model.made_by,
            }

    @property
    def _powers(self) -> dict[str, float]:
        return dict(self.ours.block_weights_)

    @cached_property
    def _our_density(self) -> NDArray[np.float64]:
        return self._held_out(self.ours)

    def _held_out(self, model: MAPDP | Method) -> NDArray[np.float64]:
        rng = np.random.default_rng([self.seed, 0])
        fold_of = rng.permutation(np.arange(len(self.valid)) % _FOLDS)
        density = np.empty(len(self.valid))
        for fold in range(_FOLDS):
            inside, outside = self.valid.iloc[fold_of != fold], self.valid.iloc[fold_of == fold]
            labels = self._refitted(model, inside, fold)
            density[fold_of == fold] = held_out_density(inside, labels, outside, self.schema, self._powers)
        return density

    def _stability(self, model: MAPDP | Method) -> float:
        rng = np.random.default_rng([self.seed, 1])
        n = len(self.valid)
        agreements = []
        for resample in range(self.n_resamples):
            rows = np.sort(rng.choice(n, n // 2, replace=False))
            again = self._refitted(model, self.valid.iloc[rows], resample)
            agreements.append(float(compare_partitions(model.labels_[rows], again)["adjusted_rand"]))
        return float(np.mean(agreements))

    def _refitted(self, model: MAPDP | Method, some: pd.DataFrame, number: int) -> Labels:
        """Return the clusters of some subjects by the same method; one cluster if it cannot find any among them."""
        seed = self.seed + 1 + number
        tried: Sequence[MAPDP | Method]
        tried = refits_of(model, self.schema, seed) if isinstance(model, MAPDP) else [model.with_number_kept(seed)]
        for again in tried:
            with suppress(InputError):
                return np.asarray(again.fit(some).labels_, dtype=np.int64)
        return np.zeros(len(some), dtype=np.int64)


def held_out_density(
    inside: pd.DataFrame, labels: Labels, outside: pd.DataFrame, schema: FeatureSchema, powers: dict[str, float]
) -> NDArray[np.float64]:
    """Return the log density in nats of each subject outside under the clusters, 0 .. K - 1, of those inside, (m,).

    It is the log predictive of the model of the schema, so that all partitions are compared on the scale of the
    columns. Subjects are assigned with the block weights in `powers`; densities have none.
    """
    problem = _posed(inside, schema, powers)
    clusters = clusters_of(problem, problem.partition(labels[problem.cohort.order]))
    scores = clusters.scores(model_values(outside, clusters.encoding.features), coarsened=False)
    return np.asarray(logsumexp(scores, axis=1), dtype=np.float64)


def n_distinct(
    frame: pd.DataFrame, labels: Labels, schema: FeatureSchema, powers: dict[str, float], seed: int, n_draws: int
) -> int:
    """Return how many clusters, 0 .. K - 1 by decreasing size, are distinct by their tree under the schema's model."""
    problem = _posed(frame, schema, powers)
    own = labels[problem.cohort.order]
    joint = log_joint(problem, problem.partition(own))
    only = RestartResult("given", own, joint, np.array([joint]), 0, True)
    plan = SearchPlan(seed=seed, n_restarts=1)
    result = SearchResult(problem, [only], 0, tried_once(problem, [only]), none_outlying(problem))
    parameters = {**DEFAULT_TEST, "n_draws": n_draws, "random_state": seed, "n_jobs": 1}
    fit = fit_of(result, schema, plan, frame)
    tree, test = tested_tree(fit, frame, parameters, SILENT, Event(), with_grades=False)
    return len(test.parted_nodes(tree))


def _posed(frame: pd.DataFrame, schema: FeatureSchema, powers: dict[str, float]) -> Problem:
    return pose(frame, schema, None, _CONCENTRATION, block_weights=powers)


def refits_of(model: MAPDP, schema: FeatureSchema, seed: int) -> list[MAPDP]:
    """Return estimators with the parameters of a fitted model, to be tried in turn; they begin anywhere.

    The first has the number of clusters of the model, which a search of other subjects may not find; the other takes
    what is found.
    """
    parameters = {**model.get_params(), "schema": schema, "random_state": seed, "init": "search", "progress": False}
    parameters["n_restarts"] = min(int(model.n_restarts), STARTS)
    return [type(model)(**{**parameters, "n_clusters": wanted}) for wanted in (model.n_clusters_, None)]


@contextmanager
def without_warnings() -> Iterator[None]:
    """Show no warnings of refits: those of the table were shown when it was validated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
