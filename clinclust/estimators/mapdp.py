"""MAPDP: the estimator, its parameters and its fit."""

from __future__ import annotations

import copy
import os
from functools import partial
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import Any, Self

import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import PATH, accepting, is_partitioned
from clinclust.engine.search.plan import interruptible
from clinclust.errors import InputError
from clinclust.estimators.distinct_subtypes import DistinctSubtypes, cut_fit
from clinclust.estimators.estimator import model_html
from clinclust.estimators.fit import PartitionedFit
from clinclust.estimators.fitting import Prepared, found_fit, prepared, warn_of_fit
from clinclust.estimators.parameters import DISTINCT, MAPDPParameters, PublishedParameters, documented
from clinclust.estimators.partitioned import partitioned_fit
from clinclust.estimators.prediction import NONE_OF_THESE, Prediction
from clinclust.estimators.saving import load, save
from clinclust.estimators.settings import Settings
from clinclust.schema.feature_schema import block, paragraph

__all__ = ["MAPDP", "NONE_OF_THESE", "PublishedMAPDP"]


@documented
class MAPDP(MAPDPParameters, Prediction):
    """Maximum a posteriori Dirichlet process mixture for features of mixed types, independent given the cluster.

    The search maximises the collapsed log joint over the partition z, whose number of clusters K is free:

        ln p(X_obs, z) = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)
                         + sum_k sum_d ln m_d(observed values of feature d in cluster k).

    m_d is the marginal likelihood of feature d under its conjugate prior (Raykov, Boukouvalas, Baig and Little 2016).
    `discount` generalises the first line, `coarsening` and `block_weights` the second. Missing values are integrated
    out. Clusters that one continuous population explains are merged to subtypes. The result depends neither on the
    order of subjects nor on threads.

    `clinclust.methods.PublishedMAPDP` is the model of the paper. docs/mapdp-parameters.md has the equations and
    measurements behind each parameter.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_ : int64 (N,)
        Subtype of each subject, 0 .. K - 1: by decreasing size, or kind by kind where kinds have grades (`codes_`).
    codes_ : list of int or str
        What each subtype is called, also in `labels`: its number, or that of its kind with the letter of its grade, 1b.
    kinds_ : int64 (N,)
        Kind of each subject, its subtype if grades of one are united; not without a test (`n_clusters`).
    n_clusters_, cluster_sizes_ : int, int64 (K,)
        Number of subtypes, and of the subjects in each.
    membership_ : float64 (N, K)
        Probability of each subtype for each subject, given all other subjects.
    cluster_labels_, cluster_membership_ : int64 (N,), float64 (N, J)
        The same of the J clusters that the search found.
    subtype_of_ : int64 (J,)
        Subtype of each cluster.
    min_size_, untested_ : int, bool (K,)
        Fewest subjects of a tested subtype (1 without a floor), and which subtypes have fewer.
    remarks_ : list of tuple of str
        Signs that a subtype is noise: ``few`` (below 5 subjects), ``weak`` (below 3 nats to its nearest other).
    feature_relevance_ : Series
        Separation of the subtypes by each feature in nats, sum_k ln m_d(subtype k) - ln m_d(all subjects); descriptive.
    cluster_parameters_ : DataFrame
        The centroids (appendix D and eq. 32 of the paper): for each feature, parameter, level and subtype, the
        posterior mean and the ends of the 95% interval, in the unit of the validated column. Means and SDs of
        measurements, means of counts, durations and scales, probabilities of levels; the back-transformed mean of a
        transformed feature. A subtype of several clusters is taken as one sample. The intervals are of values that
        formed the subtypes: differences between subtypes are descriptive.
    selected_features_ : list of str
        Features that differ between the clusters.
    uninformative_ : dict
        Features that cannot inform the clustering, with the reason.
    outliers_ : bool (N, D)
        Outlying values; columns as in `feature_names_in_`, but two for a feature with a spike or limit.
    log_joint_, merged_log_joint_ : float
        Log joint in nats, with all constants, of the partition into clusters and into subtypes.
    log_joint_trace_ : float64
        Log joint of the winning restart after each sweep; it never decreases.
    restarts_ : DataFrame
        One row per restart: start, log joint, number of clusters, sweeps, converged, adjusted Rand index to the best
        partition.
    tuning_ : DataFrame
        One row per concentration tried.
    tree_, tree_test_ : SubtypeTree, TreeTest
        Tree of the clusters with the evidence of each join in nats; its test with ``n_clusters="distinct"``.
    resolution_path_ : ResolutionPath
        With ``coarsening="auto"`` only: the best partition at each coarsening. Log joints are of the features that were
        selected before.
    hyperparameters_, concentration_, discount_, coarsening_, block_weights_, outlying_share_, temperature_ :
        Values of the final model.
    prior_strength_ : float
        Subjects that ``select_features="auto"`` added to the prior of each feature, with the averages of the cohort.
    schema_, row_counts_ : FeatureSchema, RowCounts
        Schema used; after `read_cohort`, how many rows of the file were taken and left out.
    stopped_early_ : bool
        Whether `max_seconds` ended the search.
    random_seed_, versions_, cohort_fingerprint_ :
        Seed, versions of packages, and what recognises the cohort without storing its values.
    n_features_in_, feature_names_in_ : int, array of str
        Number and names of the columns of the schema.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
    >>> model = cc.MAPDP(random_state=0).fit(X)
    >>> model.n_clusters_, model.cluster_sizes_.tolist()
    (2, [60, 40])
    >>> model.cluster_parameters_.query("feature == 'x0' and parameter == 'mean'").round(1)
      feature parameter level  subtype  estimate  lower  upper
    0      x0      mean              1      -0.0   -0.3    0.2
    1      x0      mean              2       5.9    5.6    6.2
    """

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the subtypes of a cohort.

        Parameters
        ----------
        X : DataFrame or array, shape (N, D)
            A table that fits the schema, columns in any order, or an array with the columns in the order of the schema.
            A Dask DataFrame is fitted where its partitions lie, on the workers of the current Dask client or in files
            of this machine; `labels_` is then a Dask series, and `in_sample` gives what reports need.
        y : ignored

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If parameters cannot be used or combined, no feature is left to cluster on, fewer clusters than `n_clusters`
            were found, no two subtypes can have `min_size` subjects, the table holds other rows than the schema says,
            or memory is too small.
        KeyboardInterrupt
            After Ctrl-C; the model stays as it was.

        Warns
        -----
        CohortWarning
            If another likelihood describes a feature clearly better, the search did not converge or ran out of time, or
            the table is doubtful.
        """
        if is_partitioned(X):
            return self._fit_partitioned(X)
        return self.fit_prepared(prepared(Settings.of(self), X))

    def fit_prepared(self, cohort: Prepared) -> Self:
        """Find subtypes in a validated and encoded cohort."""
        settings, cancelled = Settings.of(self), Event()
        # Set after the search, so that an interrupted fit leaves the model unchanged.
        self.fit_ = interruptible(partial(found_fit, settings, cohort, cancelled), cancelled)
        self._rows = cohort.frame.index
        warn_of_fit(self.fit_, settings, cohort)
        return self

    def _fit_partitioned(self, table: Any) -> Self:
        settings, cancelled = Settings.of(self), Event()
        fit, sample = interruptible(partial(partitioned_fit, settings, table, cancelled), cancelled)
        self.fit_, self._rows = fit, None
        warn_of_fit(fit.in_sample_, settings, sample)
        return self

    def cut(self, n_clusters: int | str | DistinctSubtypes | None, *, min_size: float | None = None) -> MAPDP:
        """Return the model with another number of subtypes, without another search; this model is not changed.

        Clusters are merged along `tree_`. A union is the mixture of its clusters, so that densities of new subjects
        stay the same.

        Parameters
        ----------
        n_clusters : int, "distinct", "kinds", DistinctSubtypes or None
            Number of subtypes, from 1 to the number of clusters. ``"distinct"``, or what `distinct_subtypes` returned:
            the subtypes of the test. ``"kinds"``: those of them that one continuum of any shape does not explain,
            without grades. None: the clusters.
        min_size : int, float or None
            As in `MAPDP`; None: no floor.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If there is no such number, the distinct subtypes are of another fit or were not tested, or no two subtypes
            can have `min_size` subjects.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> X = np.vstack([rng.normal(mean, 1, (n, 4)) for mean, n in ((0, 60), (5, 50), (30, 8))])
        >>> model = cc.MAPDP(random_state=0).fit(X)
        >>> coarse = model.cut(2)
        >>> model.cluster_sizes_.tolist(), coarse.cluster_sizes_.tolist(), coarse.subtype_of_.tolist()
        ([60, 50, 8], [110, 8], [0, 0, 1])
        >>> model.cut(None, min_size=20).untested_.tolist()
        [False, False, True]
        """
        self._require_fit()
        cut = copy.copy(self)
        cut.fit_ = cut_fit(self.fit_, n_clusters, min_size)
        asked = int(n_clusters) if isinstance(n_clusters, Integral) else n_clusters
        cut.n_clusters = asked if asked is None or isinstance(asked, int | str) else DISTINCT
        cut.min_size = int(min_size) if isinstance(min_size, Integral) else min_size
        return cut

    def in_sample(self) -> tuple[MAPDP, pd.DataFrame]:
        """Return the model of the sample of a table in partitions, and the sample, for reports and tests in memory.

        Its clusters are those of all subjects, with the sizes and statistics that they have in the sample.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If the model was not fitted on a Dask DataFrame.
        """
        self._require_fit()
        if not isinstance(self.fit_, PartitionedFit):
            raise InputError("in_sample: the model was fitted on a table in memory, which reports can use itself")
        sample = self.fit_.sample_
        if sample is None:
            raise InputError("in_sample: a model that was loaded does not hold its sample; fit it again")
        model = copy.copy(self)
        model.fit_, model._rows = self.fit_.in_sample_, sample.index
        return model, sample

    @accepting(folder=PATH)
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the fitted model to a folder, without pickle; return the folder.

        The files are ``model.json``, ``model.npz`` and ``manifest.json`` with their checksums.

        Raises
        ------
        OSError
            If the files cannot be written.
        NotFittedError
            If the model is not fitted.
        ValueError
            If parameters were set to unusable values, or the schema has checks of a pandera schema.
        """
        self._require_fit()
        return save(self, self.fit_, Path(folder))

    @staticmethod
    @accepting(folder=PATH)
    def load(folder: str | os.PathLike[str]) -> MAPDP:
        """Return a model that `save` wrote; its predictions equal those of the saved model bit for bit.

        Checksums detect damage, but not forged files: load only models from people you trust.

        Raises
        ------
        FileNotFoundError
            If the folder holds no model.
        ValueError
            If the files do not hold a model, are damaged, edited or links to files elsewhere, or have an unknown
            format.

        Warns
        -----
        CohortWarning
            If the ``assignments.csv`` that ``clinclust fit`` wrote with the model was changed since.
        """
        is_published, parameters, fit = load(Path(folder))
        model = PublishedMAPDP(**parameters) if is_published else MAPDP(**parameters)
        model.fit_ = fit
        return model

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return block(f"{type(self).__name__}, not fitted yet", paragraph(repr(self)))
        return model_html(self, self.fit_)


@documented
class PublishedMAPDP(PublishedParameters, MAPDP):
    """MAP-DP as Raykov, Boukouvalas, Baig and Little (2016) published it: a `MAPDP` with their model and searches.

    Each cluster is a subtype, the likelihood counts in full, and probabilities are those given the partition. The
    search starts from several partitions and integrates missing values out, unless ``init="single"``,
    ``missing="mode"`` or ``hyperparameters="greedy"`` ask for the search of the paper.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    leave_one_out_nll_ : float
        The paper's E (eq. 12); it is not the objective.
    completed_log_joint_ : float
        With ``missing="mode"`` only: log joint of the completed table.
    tuning_ : DataFrame
        One row per concentration tried, with a grid or cross-validation.

    Further attributes are those of `MAPDP`.

    Examples
    --------
    >>> from clinclust import methods
    >>> import numpy as np
    >>> X = np.random.default_rng(1).normal(np.repeat([[0], [6]], [60, 40], axis=0), 1, (100, 4))
    >>> model = methods.PublishedMAPDP(random_state=0).fit(X)
    >>> model.cluster_sizes_.tolist()
    [60, 40]
    """

    _of_paper = frozenset()
