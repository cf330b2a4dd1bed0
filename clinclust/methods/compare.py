"""compare_methods: other methods of clustering on the cohort of a MAP-DP fit, by measures that hold for all."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import logsumexp

import clinclust.methods.hard_limits as hard_limits
import clinclust.methods.method as method
from clinclust.arguments import MODEL, NOTHING, accepting, either
from clinclust.arrays import Array, Labels, RandomState
from clinclust.comparisons import compare_partitions
from clinclust.data import WORDS
from clinclust.engine.joint_estimates.outlying import SearchResult, none_outlying
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem, clusters_of, log_joint, pose
from clinclust.engine.search.plan import RestartResult, SearchPlan
from clinclust.errors import InputError, MissingPackageError, refuse
from clinclust.estimators.distinct_subtypes import walk_tree
from clinclust.estimators.fitting import Prepared, fit_of
from clinclust.estimators.mapdp import MAPDP
from clinclust.estimators.parameters import seed_of
from clinclust.estimators.subtype_model import FittedCohort, SubtypeModel, cohort_of, require_search
from clinclust.progress import Progress
from clinclust.schema import FeatureSchema

OURS = "MAP-DP"
_TEXTS = WORDS["other_methods"]
FEWEST_SUBJECTS = 20  # size of the smallest cohort: a fifth of it is held out, and halves are clustered
_N_DRAWS = 50  # continua that the division of the clusters is compared with
_N_FOLDS = 5
_N_STARTS = 5  # restarts of every search, also of refits
_CONCENTRATION = 3.0

CANDIDATES: Mapping[str, Callable[..., method.Method]] = MappingProxyType(
    {
        "K-means, K by BIC": lambda k, **start: method.KMeans(**start),
        "K-means, K by silhouette": lambda k, **start: method.KMeans(choose_by="silhouette", **start),
        "Gaussian mixture, K by BIC": lambda k, **start: method.GaussianMixture(**start),
        "Latent classes, K by BIC": lambda k, **start: method.LatentClasses(**start),
        "Mean shift": lambda k, **start: method.MeanShift(start["schema"]),
        "K-harmonic means, K of MAP-DP": lambda k, **start: method.KHarmonicMeans(n_clusters=k, **start),
        "DP-means, about K of MAP-DP": lambda k, **start: hard_limits.DPMeans(n_clusters=k, **start),
    }
)
"""The other methods by the name of their row, in the order of the table: made of the number of our subtypes, k."""


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """What each method found on one cohort. `compare_methods` explains the columns.

    Attributes
    ----------
    table : DataFrame, one row for each method, ours first
        method, n_clusters, n_distinct, held_out, held_out_gain, held_out_gain_se, stability, agreement, seconds, said.
    models : mapping
        The fitted model of each method that could run, by the name of its row: each can be reported, tested and shared
        like ours (`write_report`, `validated_associations`).

    Examples
    --------
    >>> import clinclust as cc
    >>> cc.methods.MethodComparison.__match_args__[:2]
    ('table', 'models')
    """

    table: pd.DataFrame
    models: Mapping[str, SubtypeModel]

    @property
    def summary(self) -> str:
        """The result in words, a line for each method."""
        return "\n".join(map(_describe_row, self.table.to_dict("records")))

    def __repr__(self) -> str:
        return f"MethodComparison({len(self.models)} methods)\n{self.summary}"


def _describe_row(row: Mapping[Any, Any]) -> str:
    if np.isnan(row["n_clusters"]):
        return str(_TEXTS["absent"].format(**row))
    k, gain, error = int(row["n_clusters"]), row["held_out_gain"], row["held_out_gain_se"]
    words = {"ours": OURS, "error": error, "size": abs(gain), "better": "better" if gain > 0 else "worse"}
    words["unclear"] = _TEXTS["unclear"] if abs(gain) < 2.0 * error else ""
    words["gain"] = _TEXTS["equal" if gain == error == 0.0 else "gain"].format(**words)
    words["clusters"] = f"{k} cluster{'' if k == 1 else 's'}"
    words["distinct"] = f"{row['n_distinct']:.0f} distinct" if row["n_distinct"] > 1 else "one continuum by the test"
    form: str = _TEXTS["ours" if row["method"] == OURS else "other"]
    return form.format(**{**row, **words})


@accepting(model=either(MODEL, NOTHING))
def compare_methods(
    frame: pd.DataFrame,
    schema: FeatureSchema,
    *,
    model: MAPDP | None = None,
    methods: Sequence[str] | None = None,
    n_resamples: int = 10,
    random_state: RandomState = 0,
    progress: bool = True,
) -> MethodComparison:
    """Cluster one cohort by MAP-DP and by other methods: K-means, mixtures, latent classes and more.

    Each method gets the table as it needs it (`said` has how), and chooses its number of clusters by its own criterion
    where it has one. No labels are known in a cohort, so that no column says which method is right; together they say
    which subtypes do not depend on the method, come again, predict new subjects, or are slices of one continuum.

    Parameters
    ----------
    frame : DataFrame, N rows, at least 20
    schema : FeatureSchema
    model : MAPDP, optional
        Our fit of this cohort; by default ``MAPDP(schema)`` is fitted.
    methods : sequence of str, optional
        Names of the other methods to run, as in the table; all by default.
    n_resamples : int
        Half-samples for `stability`, at least 1.
    random_state, progress : as in `MAPDP`

    Returns
    -------
    MethodComparison
        Its table has a row for each method:

        - n_clusters; NaN if the method could not run, and `said` says why.
        - n_distinct: how many of its clusters are distinct by the test against one continuum (`distinct_subtypes`),
          along the tree of the clusters under the model of the schema.
        - held_out: mean log density in nats of each fifth of the subjects under the clusters of the method among the
          other four fifths, by the likelihoods of the schema: one scale for all methods, the higher the better.
        - held_out_gain: the same less ours. held_out_gain_se: its standard error from the N differences, taken as
          independent: rather too small (Bengio and Grandvalet 2004, J. Mach. Learn. Res. 5: 1089).
        - stability: mean adjusted Rand index of the clusters with those of refits of half-samples.
        - agreement: adjusted Rand index with our subtypes.
        - seconds: of the fit. said: what the method made of the table, or why it was left out.

        Refits keep the number of clusters of the whole cohort (DP-means sets its penalty anew for it), so that
        `stability` and `held_out` do not see how sure this choice is; `assess_stability` repeats the whole procedure.

    Raises
    ------
    CohortError, ValueError
        If the table does not fit the schema; a method is unknown, the cohort too small, or `model` no fit of it.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> X = np.random.default_rng(0).normal(np.repeat([[1, 30], [9, 80]], 30, axis=0))
    >>> frame = pd.DataFrame(X, columns=["gait", "grip"])
    >>> few = {"methods": ["K-means, K by silhouette"], "n_resamples": 1, "progress": False}
    >>> cc.methods.compare_methods(frame, cc.draft_schema(frame), **few).table["n_clusters"].tolist()
    [2.0, 2.0]
    """
    names = list(CANDIDATES) if methods is None else list(dict.fromkeys(methods))
    there_are = f"there are {'; '.join(CANDIDATES)}"
    problems = [f"methods: there is no {name!r}; {there_are}" for name in names if name not in CANDIDATES]
    if n_resamples < 1:
        problems.append(f"n_resamples must be at least 1, not {n_resamples}")
    if len(frame) < FEWEST_SUBJECTS:
        problems.append(f"frame has {len(frame)} subjects; a comparison needs at least {FEWEST_SUBJECTS}")
    refuse(problems)
    seed, seconds = seed_of(random_state), np.nan
    if model is not None:
        require_search(model, "compare_methods")
        cohort = cohort_of(model, frame)
    else:
        valid, began = schema.validate(frame), time.perf_counter()
        cohort = FittedCohort.of(MAPDP(schema, random_state=seed, progress=False).fit(valid), valid)
        seconds = time.perf_counter() - began
    return run_methods(Measures(cohort, n_resamples, seed), names, seconds, progress=progress)


def run_methods(
    measures: Measures, names: Sequence[str] = tuple(CANDIDATES), seconds: float = np.nan, *, progress: bool
) -> MethodComparison:
    """Return the result of `compare_methods` for the measures of a cohort, whose fit took so many seconds."""
    ours = measures.ours
    with Progress(bool(progress)).stage("methods", 1 + len(names)) as advance:
        rows, models = [measures.measure(OURS, ours, seconds)], {OURS: ours}
        advance()
        start = {"schema": ours.schema_, "n_restarts": _N_STARTS, "random_state": measures.seed}
        for name in names:
            other: Any = CANDIDATES[name](ours.n_clusters_, **start)
            began = time.perf_counter()
            try:
                with warnings.catch_warnings(action="ignore"):  # those of the table were shown when it was validated
                    other.fit(measures.cohort.table)
            except (MissingPackageError, InputError) as error:
                rows.append({"method": name, "said": str(error)})  # numbers that are not there become NaN in the table
            else:
                rows.append(measures.measure(name, other, time.perf_counter() - began))
                models[name] = other
            advance()
    return MethodComparison(pd.DataFrame(rows), MappingProxyType(models))


@dataclass(frozen=True)
class Measures:
    """The measures of each method on the cohort of our fit; see `compare_methods`."""

    cohort: FittedCohort
    n_resamples: int = 10
    seed: int = 0
    _numbers: dict[tuple[object, ...], dict[str, float]] = field(default_factory=dict)

    @property
    def ours(self) -> MAPDP:
        """Our model."""
        return cast("MAPDP", self.cohort.model)

    def measure(self, name: str, model: MAPDP | method.Method, seconds: float) -> dict[str, Any]:
        """Return the row of a fitted model; those with the same refits, as K-means by two criteria, share numbers."""
        key = model.labels_.tobytes(), repr({**draft_refits(model, 0)[0].get_params(), "schema": type(model)})
        if key not in self._numbers:
            with warnings.catch_warnings(action="ignore"):
                density = self._our_density if model is self.ours else self._predict_held_out(model)
                gain = density - self._our_density
                self._numbers[key] = {
                    "n_clusters": float(model.n_clusters_),
                    "n_distinct": float(self.count_distinct(model.labels_)),
                    "held_out": float(density.mean()),
                    "held_out_gain": float(gain.mean()),
                    "held_out_gain_se": float(gain.std(ddof=1) / np.sqrt(gain.size)),
                    "stability": self._assess_stability(model),
                    "agreement": float(compare_partitions(self.ours.labels_, model.labels_)["adjusted_rand"]),
                }
        return {"method": name, **self._numbers[key], "seconds": seconds, "said": model.made_by}

    @cached_property
    def _our_density(self) -> Array:
        return self._predict_held_out(self.ours)

    def _predict_held_out(self, model: MAPDP | method.Method) -> Array:
        table = self.cohort.table
        fold_of = np.random.default_rng([self.seed, 0]).permutation(np.arange(len(table)) % _N_FOLDS)
        density = np.empty(len(table))
        for fold in range(_N_FOLDS):
            inside, outside = table.iloc[fold_of != fold], table.iloc[fold_of == fold]
            labels = self._refit(model, inside, fold)
            density[fold_of == fold] = predict_density(self.encode(inside), labels, outside)
        return density

    def _assess_stability(self, model: MAPDP | method.Method) -> float:
        rng, n, agreements = np.random.default_rng([self.seed, 1]), len(self.cohort.table), []
        for resample in range(self.n_resamples):
            rows = np.sort(rng.choice(n, n // 2, replace=False))
            labels = self._refit(model, self.cohort.table.iloc[rows], resample)
            agreements.append(float(compare_partitions(model.labels_[rows], labels)["adjusted_rand"]))
        return float(np.mean(agreements))

    def _refit(self, model: MAPDP | method.Method, some: pd.DataFrame, number: int) -> Labels:
        """Return the clusters of some subjects by the same method; one cluster if it cannot find any among them."""
        for estimator in draft_refits(model, self.seed + 1 + number):
            with suppress(InputError):
                is_ours = isinstance(estimator, MAPDP)
                estimator = estimator.fit(some) if is_ours else estimator.fit_valid(some, self.ours.schema_)
                return np.asarray(estimator.labels_, dtype=np.int64)
        return np.zeros(len(some), dtype=np.int64)

    def count_distinct(self, labels: Labels) -> int:
        """Return how many clusters, 0 .. K - 1 by decreasing size, are distinct by their tree, in our model."""
        table = self.cohort.table
        problem = self.encode(table)
        ordered = labels[problem.cohort.order]
        joint = log_joint(problem, problem.partition(ordered))
        only = RestartResult.of("given", ordered, [joint], converged=True)
        result = SearchResult(problem, [only], 0, none_outlying(problem))
        plan = SearchPlan(seed=self.seed, n_restarts=1, n_jobs=1)
        fit = fit_of(result, Prepared(table, self.ours.schema_, result.problem), plan)
        tree, test = walk_tree(fit, table, plan, _N_DRAWS, with_grades=False)
        return len(test.parted_nodes(tree))

    def encode(self, frame: pd.DataFrame) -> Problem:
        """Return some subjects in our model."""
        return pose(frame, self.ours.schema_, None, _CONCENTRATION, block_weights=dict(self.ours.block_weights_))


def draft_refits(model: MAPDP | method.Method, seed: int) -> Sequence[MAPDP | method.Method]:
    """Return estimators with the parameters of a fitted model, to be tried in turn."""
    if not isinstance(model, MAPDP):
        return [model.with_number_kept(seed)]
    # A search of other subjects, which begins anywhere, may not find the number of clusters of the model.
    parameters = {**model.get_params(), "schema": model.schema_, "random_state": seed}
    parameters |= {"init": "search", "progress": False, "n_restarts": min(int(model.n_restarts), _N_STARTS)}
    return [type(model)(**{**parameters, "n_clusters": number}) for number in (model.n_clusters_, None)]


def predict_density(problem: Problem, labels: Labels, outside: pd.DataFrame) -> Array:
    """Return the log predictive in nats, (m,), of each subject outside under the clusters 0 .. K - 1 of a problem.

    Subjects are assigned with the block weights of the problem; densities have none.
    """
    clusters = clusters_of(problem, problem.partition(labels[problem.cohort.order]))
    scores = clusters.scores(model_values(outside, clusters.encoding.features), coarsened=False)
    return np.asarray(logsumexp(scores, axis=1), dtype=np.float64)
