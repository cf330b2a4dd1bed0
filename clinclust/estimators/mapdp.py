"""MAPDP: the estimator, its parameters and its fit."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping
from functools import partial
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import PATH, accepting
from clinclust.errors import CohortWarning
from clinclust.estimators.estimator import Parameterised
from clinclust.estimators.parameters import DISTINCT
from clinclust.estimators.prediction import NONE_OF_THESE, Prediction
from clinclust.estimators.renamed import renamed_parameters
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes

__all__ = ["MAPDP", "NONE_OF_THESE"]

Labels = NDArray[np.int64]


class MAPDP(Parameterised, Prediction):
    """Maximum a posteriori Dirichlet process mixture for features of mixed types, independent given the cluster.

    The search maximises the collapsed log joint over the partition z, whose number of clusters K is free:

        ln p(X_obs, z) = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)
                         + sum_k sum_d ln m_d(observed values of feature d in cluster k).

    m_d is the marginal likelihood of feature d under its conjugate prior (Raykov, Boukouvalas, Baig and Little 2016).
    `discount` generalises the first line, `coarsening` and `block_weights` the second. Missing values are integrated
    out: they have no influence on the cluster of their subject (`missing` can change this). Each restart reassigns one
    subject at a time until a full sweep changes no label. It then tries to merge and to divide whole clusters, and
    repeats both until no move raises the joint. The result depends neither on the order of the subjects in the table
    nor on the number of threads.

    Parameters
    ----------
    schema : FeatureSchema, optional
        Schema of the columns. By default a schema is drafted from the data; check this draft (`schema_`) before you
        rely on the results.
    n_clusters : int, "distinct" or None
        Number of subtypes.

        ``"distinct"``, the default, merges all clusters between which there is no more than one continuous population
        explains, such as slices of one severity. `distinct_subtypes` does this test, here with its default arguments,
        after the search and outside of `max_seconds`; `tree_test_` keeps it. Where features depend on each other inside
        a disease, it needs ``coarsening="auto"``: the clusters are otherwise more than there are subtypes.

        None: each subtype is a cluster that the search found.

        With a number, the search is the same, and its clusters are then merged along `tree_` until so many subtypes
        are left: each subtype is a union of clusters, and its predictive the mixture of theirs. If the search found
        fewer clusters, the fit is refused. `cut` does the same after a fit, and keeps the search whatever it found.

    min_size : int, float or None
        Fewest subjects of a subtype that is tested: a number of at least 2, or a share of the cohort above 0 and at
        most 0.5 (rounded up to whole subjects). No subject is ever left out; a subtype below this floor is

        - merged with another, if the two are hardly distinct. Where the tree was tested (``n_clusters="distinct"``),
          the test decides: they are, if no division between them was found distinct. Where it was not, they are if
          their merger lowers the log joint by less than 5 nats (a Bayes factor of 150). The pair whose merger lowers
          it least comes first. With a number as `n_clusters`, there are then fewer subtypes than asked for;
        - else described only (`untested_`): it stays a subtype, to which new subjects can belong, and reports
          describe it and say that it has few subjects. It takes no part in tests and effect sizes, except as part of
          "all others".

        Two patients may be a rare disease: no statistic can tell it from two odd records, and a merger would hide it.
        So what the test found distinct, or what the joint tells apart clearly, is never merged because it is small.
        Evidence below 5 nats is not enough: dependence between features inside a disease adds to the evidence for a
        division, and even so it is weak. More evidence is no proof: in simulated cohorts this bound merged 9 of 173
        rare clusters and 7 of 60 that were noise, and one of 20 nats 43 and 29, so that small subtypes which stay are
        described, and not tested. None: no floor; reports then test subtypes of at least 3 subjects
        (`write_report`).
    concentration : float, sequence of float, "map" or "cross-validation"
        N0, the prior count: the weight of a new cluster, in subjects. Larger values give more clusters.

        A sequence is a grid: there is one search for each value, and the highest log joint wins. In a tie the smaller
        value wins.

        ``"map"`` searches at N0 = 3, sets N0 to the mode of p(ln N0 | N, K) (Raykov et al. 2016, eq. 35) under the
        hyperprior N0 ~ Gamma(1, 1/3), whose mean is 3, and continues the search at this value. It repeats both steps
        until neither changes.

        ``"cross-validation"`` chooses among the values 0.1, 0.3, 1, 3, 10 and 30. It takes the value with the highest
        mean log predictive density of held-out subjects in five folds, which are drawn from the seed. Each fold needs
        one full search, at 3; the searches at the other values continue from its result. `tuning_` holds the values
        tried.
    discount : float
        Discount of a Pitman-Yor process, in [0, 1). Larger values give more small clusters; 0 is the Dirichlet process.
    coarsening : float or "auto"
        Power, in (0, 1], to which the likelihood is raised (Miller and Dunson 2019, *Robust Bayesian inference via
        coarsening*). At 1, features that depend on each other within a subtype, or do not follow their likelihood,
        cause extra clusters. Below 1 each cluster needs more evidence from the data. `log_joint_` is the coarsened
        joint.

        ``"auto"`` searches at decreasing coarsenings from 1 (`resolution_path_`). For each partition it computes zeta =
        1 / (1 + mean over features of the sum of the squared correlations with the other features within clusters, each
        less 1 / (n - K), its mean under independence). It takes the first coarsening that is not above the zeta of its
        own partition, within a tolerance of .01, and ends there; if there is none, the last. It cannot be combined with
        another search (`select_features`, hyperparameters or a concentration to be estimated): state a number then. The
        function `resolution_path` goes on to coarser ones. In a cohort searched in a sample, finer coarsenings are
        turned down in the sample; where all subjects do not bear out the one it chose, the path goes on among all of
        them.
    block_weights : "auto", None or dict
        What the features of a `block` of the schema count for. Their likelihoods are raised to a power w in (0, 1], so
        that p features count for w p: `log_joint_` then holds w ln m_d in the place of ln m_d. Without it, eight
        measurements of one blood pressure weigh as much as eight independent features, and each slice of the blood
        pressure becomes a cluster.

        ``"auto"`` gives each block w = 1 / (1 + mean over its features of the sum of the absolute correlations with its
        other features within clusters, corrected for chance): 1 / p for p equal features, 1 for features that are
        independent within clusters, and for a block of one. A block of multivariate Gaussian features has no power,
        because its likelihood says how they depend on each other. w p is the number of independent features that tell
        clusters apart as well. Since clusters and powers depend on each other, short searches and estimates take turns,
        from the powers of one cluster on, until the powers reproduce themselves (`block_weights_`); the search of the
        fit then keeps them. With ``n_clusters="distinct"``, every feature is then counted in full once: where the
        distinct subtypes of that leave at most .4 of the dependence inside a block, 1 / w - 1, the search is made again
        with the powers that they imply, and kept if it has more distinct subtypes. Else groups that differ in the
        features of one block alone would be hidden.

        None: every feature counts in full. ``{block: w}``: these powers; features of other blocks count in full.
    missing : {"marginal", "mode"}
        What the search makes of missing values. ``"marginal"`` integrates them out, which is exact.

        ``"mode"`` is the way of Raykov et al. (2016, appendix F), for reproduction only. Missing values are filled with
        the mode of each feature in the cohort. Then one sweep of the subjects takes turns with an update of all filled
        values, each to the mode of the predictive in its subject's cluster without it, until nobody moves and the
        filled values stay. All that time they count as observed.

        Do not use it to find subtypes. Copies of one value make a cluster too certain, and the mode of an exponential
        or a geometric feature is always 0, so that subjects with missing values gather around a value that nobody has.
        In three simulated cohorts of 600 subjects (5 groups, 16 features of mixed types, 30% of the values missing) the
        adjusted Rand index to the truth was .39 to .45 with missing values filled, and .66 to .90 from the same starts
        with them integrated out. The mean probability of the most probable cluster was .97 to .99 in the completed
        table, and .93 to .95 by what was observed.

        Every restart begins at a single cluster (with labels as `init`, at these), visits subjects in a random order,
        and neither merges nor divides whole clusters. The restart with the highest joint of the completed table wins
        (`completed_log_joint_`). That joint never falls, except in the first sweep of the paper's start. In the paper
        the first filled values are drawn from the prior instead, and restarts are compared by its E. What describes the
        result is computed from observed values alone, under the partition found: `log_joint_`, probabilities,
        predictions, relevance, `tree_`, imputations and reports. The cluster of a subject in `labels_` need not be its
        most probable one in `membership_`; it was not in 11% to 15% of the subjects of these cohorts. It cannot be
        combined with ``n_clusters="distinct"``, ``coarsening="auto"`` (use `as_published`), outlying values,
        feature selection, or hyperparameters or a concentration to be estimated.
    outlying_share : float, optional
        Prior probability, in [0, 1), that a single value is outlying: it does not come from the distribution of its
        subject's subtype, because it is an error of recording or lies in a tail heavier than that of the likelihood.
        Outlying values (`outliers_`) add nothing to the statistics of their clusters. Each contributes
        coarsening * (ln m_d(x) + ln share) to the joint, as a single value drawn from the prior; every other observed
        value contributes coarsening * ln(1 - share) in addition. Both are multiplied by the power of a block as well.
        As ordinary values, outlying ones would open clusters of their own. The search finds them together with the
        partition, by maximising the same joint. The default is .01 with ``coarsening="auto"``, else 0.
    select_features : bool
        Select the features that differ between the clusters, together with the partition. A feature that is not
        selected has one distribution for all subjects, so that many irrelevant features do not hide the relevant ones.
        The selection gamma is then part of the model, with ``ln p(gamma) = ln B(1 + n, 1 + D - n)`` for n selected
        features of D, and `log_joint_` is the joint of the partition and the selection. Any pattern that many features
        share can form a cluster; it need not be a disease.
    n_restarts : int
        Maximum number of starts. With ``init="search"`` the search stops earlier when three restarts have ended at the
        best partition; it then recombines and perturbs the best partitions until this no longer finds a better one.
        From 30,000 subjects on (10,000 with ``coarsening="auto"`` or outlying values), it does this in a sample of
        5,000 subjects and carries the best over to the whole cohort, unless features, hyperparameters or the
        concentration are estimated too.
    init : {"search", "single"} or array of int, shape (N,)
        Where restarts begin. ``"search"``: at starts of several kinds, among them random partitions of different sizes
        and a single cluster. ``"single"``: at a single cluster whose subjects are visited in random orders, as in the
        paper, without merging and dividing whole clusters (until features have been selected, or the prior has been
        estimated); this ends more often in a poor local maximum. Labels: at this partition, whose subjects are visited
        in random orders.
    hyperparameters : dict, "empirical" or "greedy", optional
        ``{feature: {name: value}}`` for all or some hyperparameters, on the scale of the validated column after its
        declared transform. Names: Bernoulli, binomial, geometric ``a, b``; negative binomial ``a, b, dispersion``;
        ordinal ``lower, upper`` (lists, one number for each boundary between neighbouring levels); categorical
        ``concentrations`` (a list in level order); Poisson, exponential ``shape, rate``; Gaussian ``mean, kappa, shape,
        rate``; multivariate Gaussian ``mean, kappa, degrees, scatter`` for each feature of a block, with one ``kappa``
        and one ``degrees`` (above the number of its features minus 1) for all, and as ``scatter`` its row of the lower
        triangle of the scatter matrix, of length 1 for the first feature to p for the last: the precision matrix is
        Wishart distributed with the inverse of this matrix. With ``degrees`` of 1e8 and ``scatter`` of 1e8 times a
        covariance matrix, this is known, and that of the mean is ``1 / kappa`` of it (Raykov et al. 2016, eqs. 14-17).
        Hyperparameters that are not given here or in the schema are set from the data; each such prior is about as
        strong as one subject, four for a boundary of an ordinal feature. A feature with a spike or a limit has those of
        its two parts, as ``"crp: spike"`` and ``"crp: rest"`` (the latter of counts less 1 where these cannot be 0).

        ``"empirical"`` searches with this default. Then, given the partition, it maximises for each feature
        coarsening * power of its block * sum_k ln m_d(x_kd | theta) - sum |u - u_default|^2 / 2 over u = ln theta (for
        the mean of a Gaussian feature, u = mean / standard deviation of the feature), and continues the search. It
        repeats both steps until neither changes, at most 20 times. The second term is the log density of a weak
        hyperprior, up to a constant; it weighs about as much as one cluster and keeps theta away from 0 and infinity.

        ``"greedy"`` is the coordinate search of Raykov et al. (2016, appendix G): one pass over all hyperparameters,
        each tried at its default times 1/8 to 8 (the mean of a Gaussian feature: its default less or more up to one
        standard deviation).

        Both keep the hyperparameters that the schema states as `prior`, and those of multivariate Gaussian blocks.
        Neither is the default, because the joint alone should not choose the prior: on nine labelled clinical cohorts a
        maximised prior raised the joint by hundreds of nats, doubled or tripled the number of clusters, and agreed less
        with the labels.
    max_sweeps : int
        Maximum number of sweeps of a restart. A restart that still moves subjects after them counts as not converged.
    max_seconds : float, optional
        Seconds that the search may take. When they have passed, the search ends with the best partition so far, at
        which no move of one subject raises the joint; `stopped_early_` and a warning say so. Such a result depends on
        the speed of the machine. A search that has found no partition yet first completes one, and so takes longer. By
        default the search ends when it finds nothing better any more.
    n_jobs : int, optional
        Number of threads for the restarts; by default (or -1) one for each processor. It does not change the result.
    random_state : int, numpy.random.Generator or None
        Seed of the starts. For None a seed is drawn. `random_seed_` holds the seed used.
    progress : bool
        Tell each stage of the search that takes longer than a second: by a progress bar on a terminal, and by lines of
        the logger ``clinclust.progress`` (level INFO) everywhere.

    Attributes
    ----------
    labels_ : int64 (N,)
        Subtype of each subject, 0 .. K - 1 by decreasing size. A subtype is a cluster that the search found or, with
        `n_clusters` and after `cut`, a union of such clusters.
    n_clusters_ : int
        Number of subtypes, K.
    cluster_sizes_ : int64 (K,)
        Number of subjects in each subtype.
    cluster_labels_ : int64 (N,)
        Cluster that the search found of each subject, 0 .. J - 1 by decreasing size. Without a merger, J is K, and it
        equals `labels_`.
    min_size_ : int
        Fewest subjects of a subtype that is tested (see `min_size`); 1 without a floor.
    remarks_ : list of tuple of str
        For each subtype, what suggests that it is noise: ``few``, it has fewer than 5 subjects; ``weak``, there are
        less than 3 nats of evidence between it and its nearest other. Reports mark it so.
    untested_ : bool (K,)
        Which subtypes have fewer subjects than `min_size_`.
    cluster_membership_ : float64 (N, J)
        Probability of each of these clusters for each subject, as in `membership_`.
    subtype_of_ : int64 (J,)
        Subtype that holds each of these clusters.
    log_joint_ : float
        Log joint of the partition that the search found (`cluster_labels_`) in nats, all constants included. Densities
        are those of the validated columns after their declared transform.
    merged_log_joint_ : float
        Log joint of the partition into subtypes (`labels_`); it is below `log_joint_` by the evidence of the joins.
    completed_log_joint_ : float
        With ``missing="mode"`` only: log joint of the completed table, in nats, in which filled values count as
        observed. The search raises it, so that the log joints of `log_joint_trace_`, `restarts_` and `tuning_` are also
        of the completed table; the trace ends at it, with one value for each round. It cannot be compared with
        `log_joint_`, which is of observed values.
    log_joint_trace_ : float64
        Log joint of the winning restart after each sweep, in nats; it never decreases. If hyperparameters or the
        concentration are estimated, the trace is the extended joint (log joint plus log hyperprior) less the log
        hyperprior of the final values. This is a constant, so that the trace ends at `log_joint_`.
    leave_one_out_nll_ : float
        The paper's E (eq. 12), for reproduction. It is not the objective: a move that raises the joint can worsen it.
    restarts_ : DataFrame
        One row for each restart, followed by one for each recombined or perturbed partition: start, log joint, number
        of clusters, number of sweeps, converged, seconds, and the adjusted Rand index to the best partition. Different
        partitions within a few nats of each other are equally good answers. All log joints are under the final
        hyperparameters and concentration. For a cohort that was sampled (see `n_restarts`) only the searches among all
        subjects are listed; their start is ``"sample: "`` and the name of the start in the sample.
    hyperparameters_ : dict
        Hyperparameters used, ``{feature: {name: value}}``, on the scale of the validated column after its transform.
    tuning_ : DataFrame
        One row for each concentration tried: concentration, log joint (for cross-validation: mean held-out log
        predictive density per subject), number of clusters (for cross-validation: mean over the folds), and whether it
        was chosen.
    membership_ : float64 (N, K)
        Probability of each subtype for each subject, given the labels of all other subjects; rows sum to 1. That of a
        union is the sum of those of its clusters.
    feature_relevance_ : Series
        How far the subtypes lie apart in each feature, in nats: sum_k ln m_d(subtype k) - ln m_d(all subjects). It is
        descriptive: the subtypes were found from the features.
        Below 0 the data favour one distribution for all subjects.
    selected_features_ : list of str
        The clustered features that differ between the clusters, in the order of the schema: with `select_features`
        those that were selected (none if there is one cluster), else all.
    uninformative_ : dict
        Features that cannot inform the clustering (constant, or never observed), with the reason. Of a feature with a
        spike, one part may be kept out alone, such as ``crp: rest`` where few values are none.
    tree_ : SubtypeTree
        Tree of the clusters that the search found, each join with its evidence in nats. It shows which of them are
        hardly distinct, and `cut` cuts it. If it was tested, clusters of one distinct subtype are joined first.
    outliers_ : bool (N, D)
        Outlying values; columns as in `feature_names_in_`, but two for a feature with a spike or limit. The attributes
        above are computed without these values, except for their terms in `log_joint_` (see `outlying_share`).
    tree_test_ : TreeTest
        With ``n_clusters="distinct"`` only: the joins of `tree_` that were tested against one continuous population.
        ``DistinctSubtypes(model.tree_, model.tree_test_)`` shows them with the clusters on both sides.
    stopped_early_ : bool
        Whether `max_seconds` ended the search before it had ended by itself.
    row_counts_ : RowCounts
        How many rows the file of the cohort has, and how many of them were left out for which reason (`schema_.rows`
        says which were taken). Only if the table came from `read_cohort`.
    resolution_path_ : ResolutionPath
        With ``coarsening="auto"`` only: the best partition at each coarsening from 1 to the one that was chosen, as the
        search found it, without mergers.
    schema_ : FeatureSchema
        Schema used, given or drafted. Its `rows` say which rows of the file were taken, if `read_cohort` chose them.
    concentration_, discount_, coarsening_, outlying_share_ : float
        Values of the final model.
    block_weights_ : dict
        The power of each block with a feature that was clustered on, by its name (see `block_weights`); empty without
        blocks.
    random_seed_ : int
        Seed used.
    versions_ : dict
        Versions of clinclust, Python and the packages that the fit was made with, by name.
    cohort_fingerprint_ : CohortFingerprint
        Tells whether a table is the cohort of the fit, and restores the order of its rows. It holds no value, and
        cannot tell whether somebody is in the cohort.
    n_features_in_ : int
        Number of columns of the schema, D.
    feature_names_in_ : array of str
        Names of the columns of the schema.

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

    @renamed_parameters
    def __init__(
        self,
        schema: FeatureSchema | None = None,
        *,
        n_clusters: int | str | None = "distinct",
        min_size: float | None = None,
        concentration: float | ArrayLike = 3.0,
        discount: float = 0.0,
        coarsening: float | str = "auto",
        block_weights: Mapping[str, float] | str | None = "auto",
        missing: str = "marginal",
        outlying_share: float | None = None,
        select_features: bool = False,
        n_restarts: int = 10,
        init: str | ArrayLike = "search",
        hyperparameters: Mapping[str, Mapping[str, Any]] | str | None = None,
        max_sweeps: int = 200,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | None = None,
        progress: bool = True,
    ) -> None:
        self.schema = schema
        self.n_clusters = n_clusters
        self.min_size = min_size
        self.concentration = concentration
        self.discount = discount
        self.coarsening = coarsening
        self.block_weights = block_weights
        self.missing = missing
        self.outlying_share = outlying_share
        self.select_features = select_features
        self.n_restarts = n_restarts
        self.init = init
        self.hyperparameters = hyperparameters
        self.max_sweeps = max_sweeps
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress

    @classmethod
    def as_published(cls, schema: FeatureSchema | None = None, **parameters: Any) -> Self:
        """Return an estimator of the model of Raykov et al. (2016), not fitted.

        Its parameters are ``n_clusters=None``, ``coarsening=1.0`` and ``block_weights=None``: every cluster of the
        search is a subtype, and every feature counts in full. Where features depend on each other inside a disease,
        by its severity if nothing else, such clusters divide a continuum as well. ``missing="mode"``,
        ``init="single"`` and ``hyperparameters="greedy"`` reproduce the search of the paper.

        Parameters
        ----------
        schema : FeatureSchema, optional
        **parameters
            Other parameters of `MAPDP`, or other values of these three.

        Raises
        ------
        TypeError
            If there is no such parameter.

        Examples
        --------
        >>> import clinclust as cc
        >>> cc.MAPDP.as_published(random_state=0)
        MAPDP(n_clusters=None, coarsening=1.0, block_weights=None, random_state=0)
        """
        return cls(schema, **{"n_clusters": None, "coarsening": 1.0, "block_weights": None, **parameters})

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the clusters of a cohort.

        Parameters
        ----------
        X : DataFrame or array, shape (N, D)
            A table that fits the schema (text or typed values, columns in any order), or an array whose columns are in
            the order of the schema.
        y : ignored
            Present for the pipelines of scikit-learn.

        Returns
        -------
        MAPDP
            This estimator, fitted.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        ValueError
            If parameters cannot be used or combined (the message lists all), no feature is left to cluster on, the
            search found fewer clusters than `n_clusters` asks for, no two subtypes can have `min_size` subjects, the
            table was read with another choice of rows than the schema says, or the fit would need more memory than
            there is.
        KeyboardInterrupt
            Within a second of Ctrl-C, while the model stays as it was. Compilation that has begun goes on in the
            background, and the next fit uses it.

        Warns
        -----
        CohortWarning
            If another likelihood describes features clearly better than the one of the schema, which can invent
            subtypes (it has the lines to write into the schema); the search did not converge or was ended by its time
            limit; or the table is doubtful.
        """
        from clinclust.engine.search.threads import interruptible

        interruptible(_import_everything)
        from clinclust.estimators.fit import STOPPED_EARLY
        from clinclust.estimators.fitting import found_fit
        from clinclust.estimators.likelihood_check import compared_likelihoods, warning_of_misfits
        from clinclust.estimators.preparation import prepared
        from clinclust.estimators.settings import Settings

        settings = Settings.of(self.get_params())
        cohort, cancelled = prepared(settings, X, stacklevel=2), Event()
        # Set after the search, so that an interrupted fit leaves the model unchanged.
        self.fit_ = interruptible(partial(found_fit, settings, cohort, cancelled), cancelled)
        if not self.restarts_["converged"].iloc[self.restarts_["log_joint"].argmax()]:
            moving = "moving subjects" if self.missing == "marginal" else "moving subjects or changing filled values"
            warnings.warn(
                f"The best restart was still {moving} after {self.max_sweeps} sweeps; raise `max_sweeps` "
                "(--max-sweeps)",
                CohortWarning,
                stacklevel=2,
            )
        if self.stopped_early_:
            path = "; the path of coarsenings may have ended too early" if settings.chooses_coarsening else ""
            warnings.warn(
                f"The search was {STOPPED_EARLY}{path}. The limit (--max-seconds) was {self.max_seconds:g} seconds. "
                "Allow more to see whether the subtypes change",
                CohortWarning,
                stacklevel=2,
            )
        misfits = warning_of_misfits(compared_likelihoods(self.fit_, cohort.frame, cohort.problem.cohort.order))
        if misfits is not None:
            warnings.warn(misfits, CohortWarning, stacklevel=2)
        return self

    def fit_predict(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Labels:
        """Fit the model and return `labels_`, int64 (N,)."""
        return self.fit(X).labels_

    def cut(self, n_clusters: int | str | DistinctSubtypes | None, *, min_size: float | None = None) -> MAPDP:
        """Return the model with another number of subtypes, without another search; this model is not changed.

        The clusters that the search found are merged along `tree_`, each time the two groups with the least evidence
        between them. Everything that is said of subtypes is then said of the unions: labels, probabilities, relevance,
        comparisons and reports. Densities of new subjects stay the same: a union is the mixture of its clusters.

        Where single values are wild, fit with ``coarsening="auto"``, which sets them aside: in ten simulated cohorts
        with 3% of wild values, the cut of a plain fit agreed less with the truth than the fit itself (.66 and .73), and
        the cut of a fit with this setting more (.88).

        Parameters
        ----------
        n_clusters : int, "distinct", DistinctSubtypes or None
            Number of subtypes, from 1 to the number of clusters that the search found (the length of `subtype_of_`).
            What `distinct_subtypes` returned: the distinct subtypes; ``"distinct"``: those of a fit that tested them.
            None: the clusters themselves.
        min_size : int, float or None
            Fewest subjects of a subtype that is tested, as the parameter of `MAPDP`; None: no floor, whatever floor
            the model had.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ValueError
            If it is no such number, the distinct subtypes are those of another fit, none were tested, or no two
            subtypes can have `min_size` subjects.

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
        from clinclust.estimators.cut import cut_fit

        self._require_fit()
        cut = copy.copy(self)
        cut.fit_ = cut_fit(self.fit_, n_clusters, min_size)
        asked = int(n_clusters) if isinstance(n_clusters, Integral) else n_clusters
        cut.n_clusters = asked if asked is None or isinstance(asked, int | str) else DISTINCT
        cut.min_size = int(min_size) if isinstance(min_size, Integral) else min_size
        return cut

    @accepting(folder=PATH)
    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the fitted model to a folder, without pickle; return the folder.

        The files are ``model.json``, ``model.npz`` and ``manifest.json``, which holds the checksums of the other two.

        Raises
        ------
        OSError
            If the files cannot be written.
        NotFittedError
            If the model is not fitted.
        ValueError
            If parameters were set to values that cannot be used, or the schema has checks of a pandera schema, which
            YAML cannot express.
        """
        from clinclust.estimators.saving import save

        self._require_fit()
        return save(self.get_params(), self.fit_, Path(folder))

    @staticmethod
    @accepting(folder=PATH)
    def load(folder: str | os.PathLike[str]) -> MAPDP:
        """Return a model that `save` wrote; its predictions equal those of the saved model bit for bit.

        Only the folder itself is read. The files are compared with the checksums of the manifest, and every array with
        what it must be, so that damaged and edited files are refused. Someone who changes several numbers consistently
        and computes the checksums anew cannot be detected: load only models from people you trust.

        Raises
        ------
        FileNotFoundError
            If the folder holds no model.
        ValueError
            If the files do not hold a model, are damaged or edited, are links to files elsewhere, or have a format that
            this version cannot read.

        Warns
        -----
        CohortWarning
            If the ``assignments.csv`` that ``clinclust fit`` wrote with the model was changed since.
        """
        from clinclust.estimators.saving import load

        parameters, fit = load(Path(folder), stacklevel=3)
        model = MAPDP(**parameters)
        model.fit_ = fit
        return model

    def _repr_html_(self) -> str:
        from clinclust.estimators.notebook_view import model_html
        from clinclust.schema.notebook_view import block, paragraph

        if not self.__sklearn_is_fitted__():
            return block("MAPDP, not fitted yet", paragraph(repr(self)))
        return model_html(self, self.fit_)


def _import_everything() -> None:
    """Import what a fit needs. Ctrl-C in an import of the main thread would leave half a module behind."""
    import clinclust.estimators.fitting
    import clinclust.estimators.likelihood_check
    import clinclust.estimators.preparation  # noqa: F401
