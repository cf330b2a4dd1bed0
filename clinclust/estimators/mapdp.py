"""MAPDP: the estimator, its parameters, and what a fitted one can do."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.errors import CohortWarning, InputError
from clinclust.estimators.cohort_table import cohort_and_schema, named_table
from clinclust.estimators.parameters import MAPDP_RULES, combination_problems, parameter_problems
from clinclust.schema import Feature, FeatureSchema

if TYPE_CHECKING:
    from clinclust.engine.search.one_start import RestartResult

__all__ = ["MAPDP"]

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

NONE_OF_THESE = -1
"""What `MAPDP.predict` returns for a subject that is most probably in none of the clusters."""

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

    _Attributes = Fit  # every field of `fit_` is an attribute of a fitted model, by `__getattr__`
else:
    _Attributes = object


class MAPDP(_Attributes):
    """Maximum a posteriori Dirichlet process mixture of mixed features, independent given the cluster.

    The clusters, and how many there are, are those of the highest collapsed log joint that the search finds,

        ln p(X_obs, z) = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)
                         + sum_k sum_d ln m_d(observed values of feature d in cluster k),

    with m_d the marginal likelihood of feature d under its conjugate prior (Raykov, Boukouvalas, Baig and Little
    2016); `discount` and `coarsening` generalise the first and the second line. Missing values are integrated out:
    they neither attract nor repel. Each restart moves one subject at a time until a full sweep moves nobody, then
    tries to merge and to divide whole clusters, and so on until no move raises the joint. The result does not depend
    on the order of the subjects in the table, nor on the number of threads.

    Parameters
    ----------
    schema : FeatureSchema, optional
        What the columns are. Without one, a draft is made from the data, which deserves a look before it is believed.
    concentration : float, sequence of float, "map" or "cross-validation"
        N0, the prior count: the weight of a new cluster, in subjects. Larger values give more clusters. A sequence
        is a grid: one search each, and the highest log joint wins, in a tie the smaller value. ``"map"`` searches
        at 3, moves N0 to the mode of p(ln N0 | N, K) (Raykov et al. 2016, eq. 35) under N0 ~ Gamma(1, 1/3), whose
        mean is 3, searches on, and so on until neither changes. ``"cross-validation"`` takes the one of 0.1, 0.3,
        1, 3, 10 and 30 with the highest mean log predictive density of held-out subjects in five folds, dealt from
        the seed: five searches at 3, from which those at the other values go on. `tuning_` shows what was tried.
    discount : float
        Discount of a Pitman-Yor process, in [0, 1): the larger, the more small clusters. 0 is the Dirichlet process.
    coarsening : float or "auto"
        Power, in (0, 1], to which the likelihood is raised (Miller and Dunson 2019, *Robust Bayesian inference via
        coarsening*). Features that depend on each other inside a subtype, or follow no textbook distribution, buy
        extra clusters at 1; below 1 the data must say more for each. `log_joint_` is then the coarsened joint.
        ``"auto"`` searches from 1 down (`resolution_path_`) and takes the first coarsening zeta that its own partition
        bears out: zeta = 1 / (1 + mean over features of the summed squared correlations that are left between it and
        the others within clusters, each debiased by 1 / n). The fit is then that of this number.
    outlying_share : float, optional
        Probability, in [0, 1), that a single value is not of its subject's subtype but outlying: a slip of the pen, or
        the tail of a distribution that is no textbook one. Such values (`outlying_`) add nothing to their clusters;
        each adds ln m_d(x) + ln share to the joint, as a value from the prior would. As ordinary values they would open
        clusters of their own. Which they are is found with the partition, by raising one joint. By default .01 with
        ``coarsening="auto"``, else 0.
    select_features : bool
        Let features that do not differ between the clusters have one distribution for everybody, so that many
        irrelevant ones do not drown the others. Which features are included, gamma, is then part of the model,
        ``ln p(gamma) = ln B(1 + n, 1 + D - n)`` with n of the D features included, and `log_joint_` the joint of the
        partition and the features. Whatever many features share is a cluster: it need not be a disease.
    n_restarts : int
        From how many starts to search at most; fewer when three of them end at the best partition. The best are then
        recombined and perturbed, for as long as this finds a better one (``init="search"`` only). From 30,000 subjects
        on, all this is among 5,000 of them, and what it finds is carried over to everybody.
    init : {"search", "single"} or array of int, shape (N,)
        Where restarts begin. ``"search"``: random partitions of different sizes, and everybody together.
        ``"single"``: everybody together, visited in random orders, as in the paper, without moves of whole
        clusters (until features have been selected, or the prior estimated); it is trapped more often. Labels: this
        partition, visited in random orders.
    hyperparameters : dict, "empirical" or "greedy", optional
        ``{feature: {name: value}}``, whole or in part, on the scale of the validated column after its declared
        transform. Names: Bernoulli, binomial, geometric ``a, b``; categorical ``concentrations`` (a list in level
        order); Poisson, exponential ``shape, rate``; Gaussian ``mean, kappa, shape, rate``. What is not given here
        or in the schema is set from the data, about as strong as one subject.
        ``"empirical"``: searches with that default, then maximises, for each feature and given the partition,
        coarsening * sum_k ln m_d(x_kd | theta) - sum |u - u_default|^2 / 2 over u = ln theta (over the mean of a
        Gaussian feature in standard deviations of the feature), searches on from there, and so on until neither
        changes, at most 20 times. The second term is the log of a weak hyperprior, worth about one cluster, which
        keeps theta from 0 and infinity. ``"greedy"``: the coordinate search of Raykov et al. (2016, appendix G),
        one pass over all hyperparameters, each at its default times 1/8 to 8. Both leave alone what the schema
        states as `prior`. Neither is the default, because the joint alone must not choose the prior: on nine
        labelled clinical cohorts a maximised prior raised it by hundreds of nats, doubled or tripled the number of
        clusters and agreed less with the labels.
    max_sweeps : int
        Give up on a restart that is still moving subjects after this many sweeps; it then counts as not converged.
    n_jobs : int, optional
        Threads for the restarts; by default (or -1) one for each processor. The result is the same for any number.
    random_state : int, numpy.random.Generator or None
        Seed of the starts; None draws one, which is kept as `random_seed_`.
    progress : bool
        Show a bar on a terminal when the search takes longer than a second.

    Attributes
    ----------
    labels_ : int64 (N,)
        Cluster of each subject, 0 .. K - 1 by decreasing size.
    n_clusters_ : int
    cluster_sizes_ : int64 (K,)
    log_joint_ : float
        In nats, all constants included: the density of the validated columns (after their declared transform).
    log_joint_trace_ : float64
        Log joint of the winning restart after each sweep; it never decreases. Where hyperparameters or concentration
        are estimated, it is the extended joint, with the log hyperprior, less the log hyperprior of the last ones:
        a constant, so that it ends at `log_joint_`.
    leave_one_out_nll_ : float
        The paper's E (eq. 12), for reproduction. It is not the joint: moves that raise the joint can worsen it.
    restarts_ : DataFrame
        One row for each restart, and then for each recombined or perturbed partition: start, log joint, clusters,
        sweeps, converged, seconds, and the adjusted Rand index to the winner. Different partitions within a few nats
        of each other are equally good answers. All are judged under the hyperparameters and the concentration in the
        end. Of a large cohort only searches among everybody are listed, with ``"sample: "`` and the name of what they
        began with.
    hyperparameters_ : dict
        Those used, on the scale of the validated column after its transform.
    tuning_ : DataFrame
        One row for each concentration tried: concentration, log joint (cross-validation: mean held-out log
        predictive density a subject), clusters (the mean over the folds), and whether it was chosen.
    membership_ : float64 (N, K)
        Probability of each cluster for each subject, given all others; rows sum to 1.
    feature_relevance_ : Series
        Evidence, in nats, that a feature differs between the clusters; below 0 it does not.
    selected_features_ : list of str
        The clustered features that differ between the clusters, in the order of the schema: all of them, or those
        that `select_features` included (none when there is one cluster).
    kept_out_ : dict
        Features that could not inform the clustering (constant, or never observed), with the reason.
    tree_ : SubtypeTree
        The subtypes merged step by step, each join with its evidence in nats: which are near-twins.
    outlying_ : bool (N, D)
        Outlying values; columns as `feature_names_in_`. Everything above is of the values that are kept.
    resolution_path_ : ResolutionPath
        With ``coarsening="auto"``: the best partition at each coarsening.
    schema_ : FeatureSchema
    concentration_, discount_, coarsening_, outlying_share_ : float
    random_seed_ : int
    versions_ : dict
        Versions of clinclust, Python and the packages that made the fit, by name.
    n_features_in_ : int
    feature_names_in_ : array of str

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
    >>> model = cc.MAPDP(random_state=0).fit(X)
    >>> model.n_clusters_, model.cluster_sizes_.tolist()
    (2, [60, 40])
    """

    fit_: Fit

    def __init__(
        self,
        schema: FeatureSchema | None = None,
        *,
        concentration: float | ArrayLike = 3.0,
        discount: float = 0.0,
        coarsening: float | str = 1.0,
        outlying_share: float | None = None,
        select_features: bool = False,
        n_restarts: int = 10,
        init: str | ArrayLike = "search",
        hyperparameters: Mapping[str, Mapping[str, Any]] | str | None = None,
        max_sweeps: int = 200,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = None,
        progress: bool = True,
    ) -> None:
        self.schema = schema
        self.concentration = concentration
        self.discount = discount
        self.coarsening = coarsening
        self.outlying_share = outlying_share
        self.select_features = select_features
        self.n_restarts = n_restarts
        self.init = init
        self.hyperparameters = hyperparameters
        self.max_sweeps = max_sweeps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, as scikit-learn does."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name, as scikit-learn does.

        Raises
        ------
        ValueError
            Naming every parameter that does not exist.
        """
        unknown = sorted(set(parameters) - set(_PARAMETERS))
        if unknown:
            raise InputError(f"MAPDP has no parameter {', '.join(unknown)}; it has {', '.join(_PARAMETERS)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the clusters of a cohort.

        Parameters
        ----------
        X : DataFrame or array, shape (N, D)
            A table that the schema validates (text or typed, columns in any order), or a plain array.
        y : ignored
            For scikit-learn's pipelines.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If a parameter cannot be used, or no feature is left to cluster on.
        """
        from clinclust.engine.kernels.announcement import announcing_compilation
        from clinclust.estimators.fit import fit_of
        from clinclust.estimators.from_parameters import problem_of, search_plan_of
        from clinclust.estimators.search import search
        from clinclust.schema.informative import warn_of_uninformative

        parameters = self.get_params()
        problems = parameter_problems(parameters, MAPDP_RULES) or combination_problems(parameters)
        if problems:
            raise InputError("; ".join(problems))
        frame, schema = cohort_and_schema(X, self.schema, stacklevel=2)
        problem = problem_of(self, frame, schema)
        warn_of_uninformative(problem.kept_out, len(frame), stacklevel=2)
        with announcing_compilation(), self._progress() as finished:
            plan = search_plan_of(self, problem, finished)
            # In the end, so that an interrupted fit leaves the model as it was.
            self.fit_ = fit_of(search(problem, plan), schema, plan)
        if not self.restarts_["converged"].iloc[self.restarts_["log_joint"].argmax()]:
            warnings.warn(
                f"The best restart was still moving subjects after {self.max_sweeps} sweeps; raise max_sweeps",
                CohortWarning,
                stacklevel=2,
            )
        return self

    def fit_predict(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Labels:
        """Fit and return `labels_`."""
        return self.fit(X).labels_

    def predict(self, X: pd.DataFrame | ArrayLike) -> Labels:
        """Return the most probable cluster of new subjects, int64 (n,); -1 = none of these (eq. 34)."""
        best = self._scores(X).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the probability of each cluster and, last, of none of these, float64 (n, K + 1)."""
        from clinclust.engine.problem.posterior import probabilities

        return probabilities(self._scores(X))

    def score_samples(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the log predictive density of new subjects, float64 (n,): the mixture of eq. 33."""
        from scipy.special import logsumexp

        return np.asarray(logsumexp(self._scores(X, coarsened=False), axis=1), dtype=np.float64)

    def score(self, X: pd.DataFrame | ArrayLike, y: object = None) -> float:
        """Return the mean log predictive density of new subjects, as scikit-learn's mixtures do."""
        return float(self.score_samples(X).mean())

    def impute(
        self,
        frame: pd.DataFrame | ArrayLike,
        *,
        how: str = "median",
        random_state: int | np.random.Generator | None = None,
    ) -> pd.DataFrame:
        """Return the validated columns with every missing value of a clustered feature filled in.

        Imputed values are an output: none was used to find the clusters. Described columns, and features that
        could not inform the clustering (`kept_out_`), stay as they are.

        Parameters
        ----------
        frame : DataFrame or array
            Subjects old or new; identifiers and described columns may be absent.
        how : {"median", "mean", "mode", "draw"}
            What to take from the posterior predictive of the subject's cluster, the one that `predict` gives; where
            that is none of these, from the prior predictive. So a subject of whom nothing is known gets the values
            of the largest cluster. Categories without order get their most probable level; whole numbers are rounded;
            a mean that is not finite is replaced by the median. Median, mean and mode are taken on the scale on
            which the feature is modelled, and transformed back. ``"draw"`` draws the cluster, from
            `predict_proba`, and then the values: repeat it for multiple imputation. Values are moved
            into the range that the schema allows.
        random_state : int, numpy.random.Generator or None
            For ``"draw"``.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If `how` is none of these.
        """
        from clinclust.estimators.imputation import impute

        self._require_fit()
        return impute(self, named_table(frame, self.schema_.names), how, np.random.default_rng(random_state))

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the fitted model to a folder: ``model.json`` and ``model.npz``, without pickle.

        Raises
        ------
        OSError
            If nothing can be written there.
        ValueError
            If the schema carries checks of a pandera schema, which cannot be written down.
        """
        from clinclust.estimators.saving import save

        self._require_fit()
        return save(self, Path(folder))

    @staticmethod
    def load(folder: str | os.PathLike[str]) -> MAPDP:
        """Read a model that `save` wrote; its predictions are the same to the bit.

        Raises
        ------
        FileNotFoundError
            If the folder holds no model.
        ValueError
            If the files are not a model, are damaged, or have a format that this version does not know.
        """
        from clinclust.estimators.saving import load

        return load(Path(folder))

    @property
    def made_by(self) -> str:
        """What reports say made the subtypes."""
        return "a MAP-DP search"

    @property
    def names_(self) -> Mapping[int, str]:
        """Empty: subtypes that were found have no names."""
        return {}

    @property
    def index_(self) -> pd.Index | None:
        """None: the index of the cohort is not kept."""
        return None

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not _DEFAULTS[name]
        )
        return f"MAPDP({shown})"

    def _repr_html_(self) -> str:
        from clinclust.estimators.notebook_view import model_html

        return model_html(self)

    def __getattr__(self, name: str) -> Any:
        """Return what was found, for a name that ends in an underscore."""
        found = vars(self).get("fit_")
        value = None if found is None or name.startswith("_") or not name.endswith("_") else getattr(found, name, None)
        if value is None:
            fitted = "" if found is not None else ", which is not fitted"
            raise AttributeError(f"{name!r} is no attribute of this MAPDP{fitted}")
        return value

    def __dir__(self) -> list[str]:
        from clinclust.estimators.fit import FITTED_ATTRIBUTES

        return [*super().__dir__(), *(name for name in FITTED_ATTRIBUTES if hasattr(self, name))]

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )

    @contextmanager
    def _progress(self) -> Iterator[Callable[[RestartResult], object]]:
        """Show a bar that moves on with every restart, unless standard error is not a terminal."""
        from tqdm import tqdm

        with tqdm(total=self.n_restarts, desc="restarts", delay=1, disable=None if self.progress else True) as bar:
            yield lambda restart: bar.update()

    def _new_subjects(self, X: pd.DataFrame | ArrayLike) -> tuple[pd.DataFrame, tuple[Feature, ...]]:
        self._require_fit()
        features = self.clusters_.encoding.features
        frame = named_table(X, self.schema_.names)
        return self.schema_.restricted_to(feature.name for feature in features).validate(frame, warn=False), features

    def _scores(self, X: pd.DataFrame | ArrayLike, *, coarsened: bool = True) -> Array:
        from clinclust.engine.kernels.announcement import announcing_compilation
        from clinclust.engine.problem.encoding import model_values

        frame, features = self._new_subjects(X)
        with announcing_compilation():
            return self.clusters_.scores(model_values(frame, features), coarsened=coarsened)

    def _require_fit(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise InputError("This MAPDP is not fitted yet: call fit first")


_DEFAULTS: dict[str, Any] = dict(MAPDP.__init__.__kwdefaults__ or {})
_PARAMETERS = ("schema", *_DEFAULTS)
_DEFAULTS["schema"] = None
