"""LatentClasses: latent class and latent profile analysis of mixed data, with the number of classes by BIC."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from clinclust.arrays import Array, RandomState
from clinclust.errors import CohortWarning, InputError
from clinclust.methods.encoded import Encoded, levels_in_use, numbers_of, standardised
from clinclust.methods.method import needed, one_thread, seed_for_scikit_learn
from clinclust.methods.number_of_clusters import BIC, Candidate, NumberFound
from clinclust.schema import Feature, FeatureSchema

_MOST_LEVELS = 10  # whole numbers with at most so many different values are categorical
_KINDS = {
    "binary": ("binary_nan", "features of two levels as Bernoulli"),
    "levels": ("categorical_nan", "levels and whole numbers of few values as categorical"),
    "numbers": ("continuous_nan", "other numbers as Gaussian after the transform of the schema"),
}
"""The kinds of columns, in order: their model in StepMix, and words on them."""
_LEAST_VARIANCE = 1e-3
"""Of a standardised measurement within a class. Below it the likelihood grows without bound, and says nothing."""
_LEAST_RANGE = 0.01
"""Of the probabilities of some class over subjects. Below it all classes are the same: a saddle of the likelihood."""


@dataclass(eq=False, repr=False)
class LatentClasses(NumberFound):
    """Latent class analysis of mixed data by the EM algorithm, through StepMix; the number of classes K by BIC.

    It maximises sum_i log sum_k pi_k prod_d p(x_id | k) over the observed values alone (Lazarsfeld and Henry 1968;
    StepMix: Morin et al. 2025, J Stat Softw 113(8)), so that nothing is filled in, and values may be missing at random.
    Within a class features are independent: yes/no features are Bernoulli; levels, ordered or not, and whole numbers
    with at most ten different values are categorical; other numbers are Gaussian after the transform of the schema,
    with a variance for each class. The label of a subject is its most probable class; empty classes are left out. So
    are starts that end with a variance of 0, with classes that are all the same, or before they converge.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    n_clusters : int, optional
        K; by default it is found by BIC = -2 log L + p log N.
    max_clusters : int
        The largest K that is tried.
    n_restarts : int
        Random starts for each K, of which the one with the highest likelihood is kept.

    Attributes
    ----------
    membership_ : float64 (N, K)
        Probability of each class for each subject; rows sum to 1.
    log_likelihood_ : float
        In nats.
    tried_ : DataFrame
        One row for each K that was tried, with its BIC; NaN where it could not be estimated.

    Warns
    -----
    CohortWarning
        If K classes, or one more, could not be estimated, so that BIC has not compared them.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> methods.LatentClasses(n_clusters=2, n_restarts=3, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    n_clusters: int | None = None
    max_clusters: int = 8
    n_restarts: int = 10
    random_state: RandomState = None

    log_likelihood_: float = field(init=False)

    choose_by = BIC

    def _encoded(self, frame: pd.DataFrame, features: tuple[Feature, ...]) -> Encoded:
        return measurement_model(frame, features)

    def _candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        """Return the start with the highest likelihood of those whose variances stay above 0."""
        assert isinstance(table, MeasurementModel)
        with one_thread("LatentClasses"):
            first = seed_for_scikit_learn(seed)
            starts = [_one_start(table, n_clusters, first ^ start) for start in range(self.n_restarts)]
        estimated = [one for one in starts if np.isfinite(one.log_likelihood)]
        return [max(estimated, key=lambda one: one.log_likelihood) if estimated else starts[0]]

    def _chosen(self, tried: Sequence[Candidate]) -> Candidate:
        failed = [one.n_clusters for one in tried if not np.isfinite(one.log_likelihood)]
        if len(failed) == len(tried):
            raise InputError(f"n_clusters={failed[0]}: {_NOT_ESTIMATED}; ask for fewer, or raise `n_restarts`")
        chosen = super()._chosen(tried)
        not_compared = [k for k in failed if k <= chosen.n_clusters + 1]
        if not_compared:
            said = f"LatentClasses: {', '.join(map(str, not_compared))} classes: {_NOT_ESTIMATED}, so BIC chose without"
            warnings.warn(said, CohortWarning, stacklevel=4)
        return chosen

    def _facts_of(self, chosen: Candidate) -> dict[str, Any]:
        return {"log_likelihood_": chosen.log_likelihood}

    def _made_by(self) -> str:
        return f"latent class analysis with {self._counted('class', 'classes')}, {self._how_chosen()}"

    @property
    def membership_basis(self) -> str:
        """What the probabilities rest on, as reports say it."""
        return "given the estimated classes"


_NOT_ESTIMATED = (
    "every start ended with a class in which a measurement does not vary, where the likelihood has no bound, with "
    "classes that are all the same, or before EM had converged"
)


def _one_start(model: MeasurementModel, n_clusters: int, seed: int) -> Candidate:
    """Run EM from one random start; the log likelihood is NaN if a variance has gone to 0."""
    # Random starts lie near the saddle where all classes are equal, which EM leaves slowly: a laxer tolerance, even the
    # default of StepMix, ends many of them there.
    options = {"max_iter": 3000, "abs_tol": 1e-12, "rel_tol": 1e-13, "progress_bar": 0}
    step_mix = needed("stepmix.stepmix", "LatentClasses").StepMix
    found = step_mix(n_clusters, measurement=model.described, random_state=seed, **options)
    try:
        # A variance of exactly 0 gives values that are no numbers, with which EM would go on to the last iteration.
        with np.errstate(divide="raise", invalid="raise"):
            found.fit(model.values)
            membership = np.asarray(found.predict_proba(model.values), dtype=np.float64)
            log_likelihood = float(found.score(model.values)) * len(model.values)
    except FloatingPointError:
        membership, log_likelihood = np.full((len(model.values), n_clusters), np.nan), np.nan
    has_converged = bool(getattr(found, "converged_", False))
    is_sound = has_converged and bool(np.isfinite(membership).all() and np.isfinite(log_likelihood))
    is_sound &= n_clusters == 1 or bool(np.ptp(membership, axis=0).max() > _LEAST_RANGE)
    if is_sound and "numbers" in model.described:
        variances = found.get_parameters()["measurement"]["numbers"]["covariances"]
        is_sound &= bool((np.asarray(variances) >= _LEAST_VARIANCE).all())
    return Candidate(
        n_clusters=n_clusters,
        log_likelihood=log_likelihood if is_sound else np.nan,
        n_parameters=n_clusters - 1 + n_clusters * model.n_parameters,
        labels=np.nan_to_num(membership).argmax(axis=1).astype(np.int64),
        membership=membership,
        has_converged=has_converged,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasurementModel(Encoded):
    """A cohort for latent classes: columns of two levels (0, 1), of more (0, 1, ...), then of standardised numbers.

    `described` is the measurement model in the words of StepMix, and `n_parameters` counts the free
    parameters of one class.
    """

    described: dict[str, dict[str, Any]]
    n_parameters: int


def measurement_model(frame: pd.DataFrame, features: Sequence[Feature]) -> MeasurementModel:
    """Return the measurement model (see `LatentClasses`) of features, each with two different observed values."""
    columns: dict[str, list[Array]] = {kind: [] for kind in _KINDS}
    for feature in features:
        values, traits = numbers_of(frame, feature), feature.traits
        codes = levels_in_use(values)
        n_levels = int(np.nanmax(codes)) + 1
        if traits.is_yes_no or traits.is_nominal or (traits.is_whole and n_levels <= _MOST_LEVELS):
            columns["binary" if n_levels == 2 else "levels"].append(codes)
        else:
            is_observed = ~np.isnan(values)
            codes[is_observed] = standardised(values[is_observed])
            columns["numbers"].append(codes)
    used = {kind: of_kind for kind, of_kind in columns.items() if of_kind}
    table = np.column_stack([column for of_kind in used.values() for column in of_kind])
    gaps = "; the likelihood is that of the observed values" if np.isnan(table).any() else ""
    highest = sum(int(np.nanmax(codes)) for codes in columns["binary"] + columns["levels"])
    return MeasurementModel(
        values=table,
        described={kind: {"model": _KINDS[kind][0], "n_columns": len(of_kind)} for kind, of_kind in used.items()},
        n_parameters=highest + 2 * len(columns["numbers"]),
        prepared=", ".join(_KINDS[kind][1] for kind in used) + gaps,
    )
