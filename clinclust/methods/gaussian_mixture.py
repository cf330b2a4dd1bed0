"""GaussianMixture: a mixture of Gaussians by the EM algorithm, with the number of clusters by BIC."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from clinclust.arguments import Rule, is_number
from clinclust.arrays import RandomState
from clinclust.methods.method import needed, one_thread, seed_for_scikit_learn
from clinclust.methods.number_of_clusters import BIC, Candidate, NumberFound, separation

if TYPE_CHECKING:
    from clinclust.methods.encoded import Encoded
    from clinclust.schema import FeatureSchema

_SHAPES = {"full": "full", "tied": "common", "diag": "diagonal", "spherical": "spherical"}
"""The kinds of covariance matrices, with the word for readers."""


@dataclass(eq=False, repr=False)
class GaussianMixture(NumberFound):
    """Mixture of Gaussians by the EM algorithm, through scikit-learn; the number of clusters K by BIC.

    It maximises sum_i log sum_k pi_k N(x_i | mu_k, Sigma_k) (Dempster, Laird and Rubin 1977, JRSS B 39:1-38). K and the
    kind of the covariances are those with the lowest BIC = -2 log L + p log N, as in mclust (Fraley and Raftery 2002,
    JASA 97:611-631). The label of a subject is its most probable component; empty components are left out. Columns of
    few different values are no Gaussians: where such a column is constant in a component, `variance_floor` bounds its
    density, and BIC tends to find too many clusters.

    Parameters
    ----------
    schema, random_state
        As in `MAPDP`.
    n_clusters, max_clusters, choose_by
        As in `KMeans`.
    covariance : {"auto", "full", "tied", "diag", "spherical"}
        Covariances: any matrix for each cluster, one matrix for all, a diagonal one for each, or one variance for each;
        ``"auto"``: by BIC.
    variance_floor : float
        Added to every variance of the standardised columns.
    n_restarts : int
        Starts for each K and kind, of which the one with the highest likelihood is kept.

    Attributes
    ----------
    covariance_ : str
        The kind of the covariances.
    membership_ : float64 (N, K)
        Probability of each cluster for each subject; rows sum to 1.
    log_likelihood_ : float
        In nats, of the standardised columns.
    tried_ : DataFrame
        One row for each K and kind that was tried, with its BIC.

    Examples
    --------
    >>> import numpy as np
    >>> from clinclust import methods
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [9]], [60, 40], axis=0), 1, (100, 4))
    >>> model = methods.GaussianMixture(max_clusters=4, random_state=0).fit(X)
    >>> model.cluster_sizes_.tolist(), model.membership_.shape
    ([60, 40], (100, 2))
    """

    schema: FeatureSchema | None = None
    _: KW_ONLY
    n_clusters: int | None = None
    max_clusters: int = 10
    choose_by: str = BIC
    covariance: str = "auto"
    variance_floor: float = 1e-3
    n_restarts: int = 10
    random_state: RandomState = None

    covariance_: str = field(init=False)
    log_likelihood_: float = field(init=False)

    _rules: ClassVar = MappingProxyType(
        {
            **NumberFound._rules,
            "covariance": Rule(
                "'auto', 'full', 'tied', 'diag' or 'spherical'",
                lambda value: isinstance(value, str) and value in ("auto", *_SHAPES),
            ),
            "variance_floor": Rule("a number above 0 and at most 1", lambda value: is_number(value) and 0 < value <= 1),
        }
    )

    def _candidates(self, table: Encoded, n_clusters: int, seed: int) -> Iterable[Candidate]:
        mixture = needed("sklearn.mixture", "GaussianMixture")
        for shape in _SHAPES if self.covariance == "auto" else (self.covariance,):
            with one_thread("GaussianMixture"):
                found = mixture.GaussianMixture(
                    n_clusters,
                    covariance_type=shape,
                    reg_covar=float(self.variance_floor),
                    n_init=int(self.n_restarts),
                    max_iter=500,
                    random_state=seed_for_scikit_learn(seed),
                ).fit(table.values)
                membership = np.asarray(found.predict_proba(table.values), dtype=np.float64)
                log_likelihood = float(found.score(table.values) * len(table.values))
            labels = membership.argmax(axis=1).astype(np.int64)
            yield Candidate(
                n_clusters=n_clusters,
                log_likelihood=log_likelihood,
                n_parameters=n_parameters_of(n_clusters, table.values.shape[1], shape),
                labels=labels,
                membership=membership,
                has_converged=bool(found.converged_),
                facts={"covariance": shape, **separation(table.values, labels, seed)},
            )

    def _facts_of(self, chosen: Candidate) -> dict[str, Any]:
        return {"covariance_": chosen.facts["covariance"], "log_likelihood_": chosen.log_likelihood}

    def _kept_for_refits(self) -> dict[str, Any]:
        return {**super()._kept_for_refits(), "covariance": self.covariance_}

    def _made_by(self) -> str:
        components = self._counted("component", "components")
        return f"a Gaussian mixture of {components} with {_SHAPES[self.covariance_]} covariances, {self._how_chosen()}"

    @property
    def membership_basis(self) -> str:
        """What the probabilities rest on, as reports say it."""
        return "given the estimated mixture"


def n_parameters_of(n_clusters: int, n_columns: int, shape: str) -> int:
    """Return the number of free parameters of a mixture: shares, means, and covariances of this kind."""
    of_matrix = n_columns * (n_columns + 1) // 2
    of_each = {"full": of_matrix, "tied": of_matrix, "diag": n_columns, "spherical": 1}[shape]
    return n_clusters - 1 + n_clusters * n_columns + of_each * (1 if shape == "tied" else n_clusters)
