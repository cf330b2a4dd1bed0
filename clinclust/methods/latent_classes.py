"""LatentClasses: latent class and latent profile analysis of mixed data, with the number of classes by BIC."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust.errors import CohortWarning, InputError
from clinclust.methods.by_bic import Candidate, compared, how_chosen, lowest_bic, numbers_to_try
from clinclust.methods.installed import needed, one_thread, seed_for_scikit_learn
from clinclust.methods.measurement_model import MeasurementModel, measurement_model
from clinclust.methods.method import Clustered, Given, Method
from clinclust.methods.rules import MAX_CLUSTERS, N_RESTARTS, WISHED, refuse_too_many

if TYPE_CHECKING:
    from clinclust.schema import FeatureSchema

__all__ = ["LatentClasses"]

Array = NDArray[np.float64]

_LEAST_VARIANCE = 1e-3
"""Of a standardised measurement within a class. Below it the likelihood grows without bound, and says nothing."""
_LEAST_RANGE = 0.01
"""Of the probabilities of some class over subjects. Below it all classes are the same: a saddle of the likelihood."""


class LatentClasses(Method):
    """Latent class analysis of mixed data by the EM algorithm, through StepMix; the number of classes K by BIC.

    It maximises sum_i log sum_k pi_k prod_d p(x_id | k) over the observed values alone (full information maximum
    likelihood), so that nothing is filled in, and values may be missing at random. Within a class features are
    independent: yes/no features are Bernoulli; levels, ordered or not, and whole numbers with at most ten different
    values are categorical; other numbers are Gaussian after the transform of the schema, with a variance for each
    class. K is the number with the lowest BIC = -2 log L + p log N. The label of a subject is its most probable class;
    classes that are nobody's are left out. Starts that end with a variance of 0, with classes
    that are all the same, or before they converge, are left out.

    Parameters
    ----------
    schema : FeatureSchema, optional
        As in `MAPDP`.
    n_clusters : int, optional
        K; by default it is found by BIC.
    max_clusters : int
        The largest K that is tried.
    n_restarts : int
        Random starts for each K, of which the one with the highest likelihood is kept.
    random_state : int, numpy.random.Generator or None

    Attributes
    ----------
    membership_ : float64 (N, K)
        Probability of each class for each subject; rows sum to 1.
    log_likelihood_ : float
        In nats.
    tried_ : DataFrame
        One row for each K that was tried, with its BIC; NaN where it could not be estimated.
    labels_, n_clusters_, cluster_sizes_, schema_, uninformative_, index_, prepared_, random_seed_, made_by :
        As of `clinclust.methods.method.Method`.

    Warns
    -----
    CohortWarning
        If K classes, or one more, could not be estimated, so that BIC has not compared them.

    References
    ----------
    Lazarsfeld PF, Henry NW. Latent structure analysis. Houghton Mifflin 1968.
    Morin S, Legault R, Laliberté F, Bakk Z, Giguère CÉ, de la Sablonnière R, Lacourse É. StepMix: a Python package for
    pseudo-likelihood estimation of generalized mixture models with external variables. J Stat Softw 2025; 113(8).

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(9, 1, (40, 4))])
    >>> methods.LatentClasses(n_clusters=2, n_restarts=3, random_state=0).fit(X).cluster_sizes_.tolist()
    [60, 40]
    """

    _rules = MappingProxyType({"n_clusters": WISHED, "max_clusters": MAX_CLUSTERS, "n_restarts": N_RESTARTS})

    log_likelihood_: float
    tried_: pd.DataFrame

    def __init__(
        self,
        schema: FeatureSchema | None = None,
        *,
        n_clusters: int | None = None,
        max_clusters: int = 8,
        n_restarts: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.schema = schema
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.n_restarts = n_restarts
        self.random_state = random_state

    def _clustered(self, given: Given) -> Clustered:
        model = measurement_model(given.frame, given.features)
        if self.n_clusters is not None:
            refuse_too_many(self.n_clusters, model.values)
        tried = [
            self._candidate(model, k, given.seed)
            for k in numbers_to_try(self.n_clusters, self.max_clusters, model.values)
        ]
        failed = [one.n_clusters for one in tried if not np.isfinite(one.log_likelihood)]
        if len(failed) == len(tried):
            raise InputError(f"n_clusters={failed[0]}: {_NOT_ESTIMATED}; ask for fewer, or raise `n_restarts`")
        chosen = lowest_bic(tried)
        not_compared = [k for k in failed if k <= chosen.n_clusters + 1]
        if not_compared:
            told = f"LatentClasses: {', '.join(map(str, not_compared))} classes: {_NOT_ESTIMATED}, so BIC chose without"
            warnings.warn(told, CohortWarning, stacklevel=3)
        facts = {"log_likelihood_": chosen.log_likelihood, "tried_": compared(tried, chosen)}
        return Clustered(chosen.labels, model.prepared, chosen.membership, facts)

    def _candidate(self, model: MeasurementModel, n_clusters: int, seed: int) -> Candidate:
        """Return the start with the highest likelihood of those whose variances stay above 0."""
        with one_thread("LatentClasses"):
            starts = [
                _one_start(model, n_clusters, seed_for_scikit_learn(seed) ^ start) for start in range(self.n_restarts)
            ]
        estimated = [one for one in starts if np.isfinite(one.log_likelihood)]
        return max(estimated, key=lambda one: one.log_likelihood) if estimated else starts[0]

    def _made_by(self, found: Clustered) -> str:
        classes = "1 class" if self.n_clusters_ == 1 else f"{self.n_clusters_} classes"
        return f"latent class analysis with {classes}, {how_chosen(self.n_clusters, self.tried_)} ({found.prepared})"

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
    found = needed("stepmix.stepmix", "LatentClasses").StepMix(
        n_components=n_clusters,
        measurement=model.described,
        n_init=1,
        max_iter=3000,
        abs_tol=1e-12,
        rel_tol=1e-13,
        random_state=seed,
        progress_bar=0,
    )
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
    if is_sound and model.n_numbers:
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
