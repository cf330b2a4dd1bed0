"""Predictions for new subjects: subtypes, densities and imputed values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.arguments import NUMBER, ON_OR_OFF, RANDOM_STATE, TEXT, WHOLE, accepting
from clinclust.arrays import Array, Labels, RandomState
from clinclust.data_frames import is_partitioned
from clinclust.errors import CohortError, CohortWarning, refuse
from clinclust.estimators.cohort_table import table_of_fitted
from clinclust.estimators.estimator import FittedAttributes
from clinclust.estimators.memberships import Memberships
from clinclust.estimators.new_subjects import (
    REFUSE,
    TAKE_FOR_MISSING,
    about_new_subjects,
    check_unseen,
    without_unseen,
)
from clinclust.schema import FeatureSchema

NONE_OF_THESE = -1
"""Label that `predict` returns for a subject that most probably belongs to none of the clusters."""


P = ParamSpec("P")
R = TypeVar("R")


def of_each_partition(method: Callable[P, R]) -> Callable[P, R]:
    """Let a method return a Dask series or DataFrame of its results for each partition of a Dask DataFrame."""

    @wraps(method)
    def of_any_table(*args: P.args, **arguments: P.kwargs) -> R:
        if len(args) != 2 or not is_partitioned(args[1]):
            return method(*args, **arguments)
        from clinclust.estimators.partitioned.predicting import in_partitions

        return cast(R, in_partitions(cast(Prediction, args[0]), method.__name__, args[1], **arguments))

    return of_any_table


class Prediction(Memberships, FittedAttributes):
    """An estimator that assigns new subjects to the subtypes of its fit."""

    @of_each_partition
    def predict(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Labels:
        """Return the most probable subtype of new subjects, int64 (n,) (Raykov et al. 2016, eq. 34).

        The label is -1 (`NONE_OF_THESE`) if a new cluster is more probable than each subtype.

        Parameters
        ----------
        X : DataFrame or array
            New subjects. Identifiers and described columns may be absent. For a Dask DataFrame, this and the other
            methods return a Dask series or DataFrame.
        unseen : {"refuse", "missing"}
            Whether values that the model cannot read, such as an unknown level, are errors or become missing.

        Raises
        ------
        CohortError
            If a column is absent, or a value cannot be read and `unseen` is ``"refuse"``.
        ValueError
            If `unseen` is neither word.

        Warns
        -----
        CohortWarning
            If values became missing.
        """
        best = self.subtypes_.log_summed(self.cluster_scores(X, unseen=unseen)).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    @of_each_partition
    def predict_proba(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1); rows sum to 1.

        The last column is the probability of none of these subtypes (a new cluster): a new subject may belong to none.
        A subject of the cohort cannot, so that `membership_` has K columns. `transform` names the columns. `unseen` is
        as in `predict`.
        """
        from clinclust.engine.problem.posterior import probabilities

        return self.subtypes_.summed(probabilities(self.cluster_scores(X, unseen=unseen)))

    @of_each_partition
    def score_samples(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the log predictive density of new subjects in nats, float64 (n,) (Raykov et al. 2016, eq. 33).

        The coarsening does not apply. `unseen` is as in `predict`.
        """
        from scipy.special import logsumexp

        return np.asarray(logsumexp(self.cluster_scores(X, coarsened=False, unseen=unseen), axis=1), dtype=np.float64)

    def score(self, X: pd.DataFrame | ArrayLike, y: object = None) -> float:
        """Return the mean log predictive density of new subjects in nats."""
        return float(self.score_samples(X).mean())

    @of_each_partition
    def explain(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> pd.DataFrame:
        """Return the log odds of the most probable subtype of new subjects against the next, feature by feature.

        The log odds are a sum of ln p(x_d | one) - ln p(x_d | other) over the observed features, with coarsening and
        block weight, and of a term of the sizes.

        Parameters
        ----------
        X : DataFrame or array
            As in `predict`.
        unseen : {"refuse", "missing"}
            As in `predict`.

        Returns
        -------
        DataFrame
            One row for each subject and observed feature, the strongest first: subject (the index of `X`), subtype
            (from 1; 0 = none of these), against (the next most probable), feature, label, value, log_odds in nats
            (above 0: for the subtype), and the same in words. ``(size of the subtypes)`` is the term of the sizes; for
            unions of clusters, the terms compare the most probable cluster of each, and ``(other clusters of the
            subtypes)`` is the remainder. The sum is ln [p(subtype) / p(against)] of `predict_proba`.

        Raises
        ------
        CohortError
            As `predict`.
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> import pandas as pd
        >>> rng = np.random.default_rng(0)
        >>> frail = rng.random(200) < 0.4
        >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
        >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
        >>> model.explain(pd.DataFrame({"gait": [0.62], "grip": [30.0]}))["feature"].tolist()
        ['gait', 'grip', '(size of the subtypes)']
        """
        from clinclust.estimators.cohort_table import warn_of_other_rows
        from clinclust.estimators.explanation import explanation

        self._require_fit()
        check_unseen(unseen)
        warn_of_other_rows(self.schema_, X, stacklevel=2)
        frame = self._validated(table_of_fitted(X, self.schema_.names), unseen)
        return explanation(self.subtypes_, frame, self.schema_)

    @of_each_partition
    @accepting(
        how=TEXT,
        interval=NUMBER,
        within_subtype=ON_OR_OFF,
        random_state=RANDOM_STATE,
    )
    def impute(
        self,
        frame: pd.DataFrame | ArrayLike,
        *,
        how: str = "mean",
        interval: float | None = None,
        within_subtype: bool = False,
        random_state: RandomState = None,
    ) -> pd.DataFrame:
        """Return the validated columns with missing values of clustered features filled in, or their intervals.

        The predictive of a missing value is sum_k p(k | observed) p(x | cluster k), with a new cluster among the k.
        Values are taken to be missing at random. Described columns and features in `uninformative_` are returned
        unchanged.

        Parameters
        ----------
        frame : DataFrame or array
            Subjects of the cohort or new ones. Identifiers and described columns may be absent.
        how : {"mean", "median", "mode", "draw"}
            What to take from the predictive, on the modelled scale, transformed back and clipped to the allowed range.
            Unordered levels get the most probable level; whole numbers are rounded; an infinite mean becomes the
            median.
        interval : float, optional
            Return intervals that hold the missing value with this probability, such as .9.
        within_subtype : bool
            Take only the clusters of the subtype that `predict` gives (if it gives -1, the prior predictive).
        random_state : int, numpy.random.Generator, RandomState or None
            Seed or generator of ``"draw"``.

        Returns
        -------
        DataFrame
            Without `interval`: the validated columns, one row per subject. With it: one row per missing value, ``row``
            (the index label), ``feature``, ``value``, ``lower``, ``upper`` and ``probability`` (of the value, for
            counts and levels). Measurements and durations have equal tails; counts and ordered levels the shortest
            interval.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.
        ValueError
            If `how` is none of these, or `interval` is no probability or asked for of a draw.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
        >>> model = cc.MAPDP(random_state=0).fit(X)
        >>> new = np.array([[0.2, np.nan, -0.4, 0.1], [5.8, 6.1, np.nan, 6.3]])
        >>> model.impute(new).round(1).to_numpy().tolist()
        [[0.2, -0.1, -0.4, 0.1], [5.8, 6.1, 5.8, 6.3]]
        >>> cells = model.impute(new, interval=0.9)
        >>> [(cell.row, cell.feature, round(cell.lower, 1), round(cell.upper, 1)) for cell in cells.itertuples()]
        [(0, 'x1', -1.9, 1.7), (1, 'x2', 3.8, 7.8)]
        """
        from clinclust.estimators.imputation.single import impute, imputed_cells

        self._require_fit()
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        if interval is not None:
            return imputed_cells(self.fit_, table, self.cluster_scores, how, within_subtype, interval)
        rng = np.random.default_rng(random_state)
        return impute(self.fit_, table, self.cluster_scores, how, within_subtype, rng)

    @accepting(m=WHOLE, n_sweeps=WHOLE, random_state=RANDOM_STATE)
    def multiple_imputations(
        self,
        frame: pd.DataFrame | ArrayLike,
        m: int = 20,
        *,
        n_sweeps: int = 10,
        random_state: RandomState = None,
    ) -> list[pd.DataFrame]:
        """Return the cohort of the fit m times, each time with other draws of its missing values.

        Each time the subtype of every subject is drawn from its membership, then the distributions of the features in
        each subtype and their correlations inside it, then the missing values of a subject jointly, given what is
        observed of it (a Gaussian copula; data augmentation of Tanner and Wong 1987). Described columns take part and
        are filled too; a column that says nothing of a subject is filled with observed values.

        Analyse each table as if it were complete, and pool the results with `pool_estimates`. Do not
        test differences between the subtypes in imputed tables: the values were drawn from the clusters.

        Parameters
        ----------
        frame : DataFrame or array
            The cohort of the fit, rows in any order. For new subjects use ``impute(how="draw")``.
        m : int
            Number of imputations.
        n_sweeps : int
            Sweeps over all columns before each table; five times as many before the first.
        random_state : int, numpy.random.Generator, RandomState or None
            Seed or generator of all draws.

        Returns
        -------
        list of DataFrame
            m tables of the validated columns, rows in the given order.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.
        ValueError
            If the table is not the cohort of the fit, or `m` or `n_sweeps` is below 1.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> rng = np.random.default_rng(1)
        >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
        >>> X[::3, 1] = np.nan
        >>> model = cc.MAPDP(random_state=0).fit(X)
        >>> tables = model.multiple_imputations(X, m=10, random_state=0)
        >>> means, variances = [t["x1"].mean() for t in tables], [t["x1"].var() / len(t) for t in tables]
        >>> pooled = cc.pool_estimates(means, variances, df_complete=99)
        >>> bool(pooled["between"].iloc[0] > 0)
        True
        """
        from threading import Event

        from clinclust.engine.search.threads import interruptible
        from clinclust.estimators.imputation.multiple import multiple_imputations

        self._require_fit()
        refuse([f"{name} must be at least 1, not {n}" for name, n in (("m", m), ("n_sweeps", n_sweeps)) if n < 1])
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        rng, cancelled = np.random.default_rng(random_state), Event()
        return interruptible(lambda: multiple_imputations(self, table, m, n_sweeps, rng, cancelled), cancelled)

    def cluster_scores(self, X: pd.DataFrame | ArrayLike, *, coarsened: bool = True, unseen: str = REFUSE) -> Array:
        """Return ln p(z = j) + ln p(x | cluster j) of new subjects in nats, float64 (n, J + 1); last, a new cluster.

        With `coarsened`, the likelihood has its power, as for probabilities; densities need False.
        """
        from clinclust.compiled import announcing_compilation
        from clinclust.engine.problem.encoding import model_values
        from clinclust.engine.search.threads import interruptible
        from clinclust.estimators.cohort_table import warn_of_other_rows

        self._require_fit()
        check_unseen(unseen)
        warn_of_other_rows(self.schema_, X, stacklevel=3)
        clusters = self.clusters_
        features = clusters.encoding.features
        values = model_values(self._validated(table_of_fitted(X, self.schema_.names), unseen), features)

        def scores() -> Array:
            with announcing_compilation():
                return clusters.scores(values, coarsened=coarsened)

        return interruptible(scores)

    def _validated(self, frame: pd.DataFrame, unseen: str) -> pd.DataFrame:
        """Return the columns that the clusters were found from, validated."""
        schema = self.schema_needed
        if unseen == TAKE_FOR_MISSING:
            frame, note = without_unseen(schema, frame)
            if note:
                warnings.warn(note, CohortWarning, stacklevel=4)
        try:
            return schema.validate(frame, warn=False)
        except CohortError as error:
            raise CohortError(about_new_subjects(error.failures, schema)) from error

    @property
    def schema_needed(self) -> FeatureSchema:
        """The features that the model needs of new subjects."""
        return self.schema_.restricted_to(feature.column for feature in self.clusters_.encoding.features)
