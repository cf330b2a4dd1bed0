"""What a fitted model says about new subjects: their clusters, densities, and missing values."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arguments import GENERATOR, NUMBER, ON_OR_OFF, SEED, TEXT, WHOLE, accepting, either
from clinclust.errors import CohortError, CohortWarning, InputError
from clinclust.estimators.cohort_table import table_of_fitted
from clinclust.estimators.estimator import FittedAttributes
from clinclust.estimators.new_subjects import (
    REFUSE,
    TAKE_FOR_MISSING,
    about_new_subjects,
    check_unseen,
    without_unseen,
)
from clinclust.schema import FeatureSchema

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

NONE_OF_THESE = -1
"""Label that `predict` returns for a subject that most probably belongs to none of the clusters."""


class Prediction(FittedAttributes):
    """An estimator that assigns new subjects to the subtypes of its fit."""

    def predict(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Labels:
        """Return the most probable subtype of new subjects, int64 (n,) (Raykov et al. 2016, eq. 34).

        The label is -1 (`NONE_OF_THESE`) if a cluster that was not found is more probable than each subtype.

        Parameters
        ----------
        X : DataFrame or array
            New subjects. Identifiers and described columns may be absent.
        unseen : {"refuse", "missing"}
            What to do with values that the model cannot read, such as a step beyond a scale, or a level that the schema
            does not name: refuse the table, or take them for missing, which a warning tells.

        Raises
        ------
        CohortError
            If a column is absent, or a value cannot be read and `unseen` is ``"refuse"``.
        ValueError
            If `unseen` is neither word.

        Warns
        -----
        CohortWarning
            If values were taken for missing.
        """
        best = self.subtypes_.log_summed(self.cluster_scores(X, unseen=unseen)).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    def predict_proba(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1).

        The last column is the probability of none of these subtypes. Rows sum to 1. `unseen` is as in `predict`.
        """
        from clinclust.engine.problem.posterior import probabilities

        return self.subtypes_.summed(probabilities(self.cluster_scores(X, unseen=unseen)))

    def score_samples(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the log predictive density of new subjects in nats, float64 (n,) (Raykov et al. 2016, eq. 33).

        It is the density of the mixture over the clusters and a new cluster; the coarsening does not apply to it.
        `unseen` is as in `predict`: the density of a value that was taken for missing is left out.
        """
        from scipy.special import logsumexp

        return np.asarray(logsumexp(self.cluster_scores(X, coarsened=False, unseen=unseen), axis=1), dtype=np.float64)

    def score(self, X: pd.DataFrame | ArrayLike, y: object = None) -> float:
        """Return the mean log predictive density of new subjects in nats, as mixtures of scikit-learn do."""
        return float(self.score_samples(X).mean())

    def explain(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> pd.DataFrame:
        """Return which features speak for the most probable subtype of new subjects, and which against it.

        Features are independent given the cluster, so that the log odds of two subtypes are a sum: of one term for
        each observed feature, ln p(x_d | one) - ln p(x_d | other) with the coarsening and the power of its block, and
        of one for the sizes of the subtypes. It explains the model, and no cause.

        Parameters
        ----------
        X : DataFrame or array
            As in `predict`.
        unseen : {"refuse", "missing"}
            As in `predict`.

        Returns
        -------
        DataFrame
            One row for each subject and observed feature, the strongest first: subject (the index of `X`), subtype (the
            most probable, from 1; 0 = none of these), against (the next most probable that was found), feature, label,
            value, log_odds in nats (above 0: for the subtype), and the same in words. The row ``(size of the
            subtypes)`` is the term of the sizes. Where subtypes are unions of clusters (`cut`), the terms compare the
            most probable cluster of each, and the row ``(other clusters of the subtypes)`` holds what the others add.
            The terms of a subject add up to ln [p(subtype) / p(against)] of `predict_proba`.

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

    @accepting(
        how=TEXT,
        interval=NUMBER,
        within_subtype=ON_OR_OFF,
        random_state=either(GENERATOR, SEED),
    )
    def impute(
        self,
        frame: pd.DataFrame | ArrayLike,
        *,
        how: str = "mean",
        interval: float | None = None,
        within_subtype: bool = False,
        random_state: int | np.random.Generator | None = None,
    ) -> pd.DataFrame:
        """Return the validated columns with every missing value of a clustered feature filled in, or their intervals.

        The predictive of a missing value is the mixture of those of all clusters, and of a new one, with their
        probabilities given what was observed of the subject: sum_k p(k | observed) p(x | cluster k). Its mean has the
        smallest mean squared error, its median the smallest mean absolute error (benchmarks/results/imputation.md).

        Imputed values are an output: the fit does not use them. Described columns, and features that cannot inform the
        clustering (`uninformative_`), are returned unchanged. Values are taken to be missing at random: given what was
        observed of a subject, whether a value is missing does not depend on the value. Where large values are missing
        more often, imputed ones are too low, and fewer intervals than promised hold the value.

        Parameters
        ----------
        frame : DataFrame or array
            Subjects of the cohort or new ones. Identifiers and described columns may be absent. Values that the model
            cannot read are refused, because an imputed value would replace them.
        how : {"mean", "median", "mode", "draw"}
            What to take from the predictive. Features with unordered levels get the most probable level, whole numbers
            are rounded, and a mean that is not finite is replaced by the median. Median, mean and mode are computed on
            the scale on which the feature is modelled, and transformed back. ``"draw"`` draws the cluster of a subject,
            and then its values. Of a feature with a spike or a limit, a value is at the point mass if that is more
            probable than another value, and else the mean or mode of the other values; the median and the ends of
            intervals are those of both parts. Values are clipped to the range that the schema allows. For tests and
            estimates, use `multiple_imputations`, which draws the clusters and their parameters too.
        interval : float, optional
            Return intervals that hold the missing value with this probability, such as .9, if the model is right.
        within_subtype : bool
            Take only the clusters of the subtype that `predict` gives (if it gives -1, the prior predictive), as if the
            subtype of the subject were known.
        random_state : int, numpy.random.Generator or None
            Seed or generator of ``"draw"``.

        Returns
        -------
        DataFrame
            Without `interval`: the validated columns, in one row for each subject.

            With `interval`: one row for each missing value, ``row`` (the label in the index of the table), ``feature``,
            ``value``, ``lower``, ``upper`` and ``probability``. Values are those of the completed column. Measurements
            and durations have the interval between equal tails, after the transform was undone; counts and ordered
            levels the shortest one with at least the probability; unordered levels none. ``probability`` is that of the
            value, for counts and levels.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.
        ValueError
            If `how` is not one of the names above, or `interval` is no probability or asked for of a draw.

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
        from clinclust.estimators.imputation import impute, imputed_cells

        self._require_fit()
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        if interval is not None:
            return imputed_cells(self.fit_, table, self.cluster_scores, how, within_subtype, interval)
        rng = np.random.default_rng(random_state)
        return impute(self.fit_, table, self.cluster_scores, how, within_subtype, rng)

    @accepting(m=WHOLE, n_sweeps=WHOLE, random_state=either(GENERATOR, SEED))
    def multiple_imputations(
        self,
        frame: pd.DataFrame | ArrayLike,
        m: int = 20,
        *,
        n_sweeps: int = 10,
        random_state: int | np.random.Generator | None = None,
    ) -> list[pd.DataFrame]:
        """Return the cohort of the fit m times, each time with other draws of its missing values.

        Analyse each table as if it were complete, and pool the results with `pool_estimates`: their spread says what
        the missing values cost. Each time, all that is not known is drawn anew: the partition, by collapsed Gibbs
        sampling that begins at the clusters of the fit; then the parameters of each cluster, from their posterior; then
        the missing values of clustered features, given both. Described columns are returned as they are, and so are
        observed values, outlying ones too. Hyperparameters, concentration, coarsening, and selected features stay those
        of the fit. The values are missing at random, as in `impute`.

        An analysis of differences between the subtypes of the fit would find what the imputations put in: these draw
        values from clusters. `validated_associations` and `compare_subtypes` use observed values.

        Parameters
        ----------
        frame : DataFrame or array
            The cohort of the fit, in any order of its rows: the model keeps no values. Of new subjects, draw with
            ``impute(how="draw")``.
        m : int
            Number of imputations. Twenty are enough for most estimates; as many as the percentage of subjects with a
            missing value make p values and intervals repeatable.
        n_sweeps : int
            Sweeps of the chain before each draw; five times as many before the first. The chain seldom leaves the
            neighbourhood of the fit in large cohorts; with other partitions about as good, more sweeps find them.
        random_state : int, numpy.random.Generator or None
            Seed or generator of all draws.

        Returns
        -------
        list of DataFrame
            m tables of the validated columns, with the rows as they were given.

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
        from clinclust.estimators.multiple_imputation import multiple_imputations

        self._require_fit()
        few = [f"{name} must be at least 1, not {n}" for name, n in (("m", m), ("n_sweeps", n_sweeps)) if n < 1]
        if few:
            raise InputError("; ".join(few))
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        rng, cancelled = np.random.default_rng(random_state), Event()
        return interruptible(lambda: multiple_imputations(self, table, m, n_sweeps, rng, cancelled), cancelled)

    def cluster_scores(self, X: pd.DataFrame | ArrayLike, *, coarsened: bool = True, unseen: str = REFUSE) -> Array:
        """Return ln p(z = j) + ln p(x | cluster j) of new subjects under the clusters that the search found.

        `predict`, `predict_proba` and `score_samples` are made from it. It differs from the subtypes only where
        clusters were merged (`MAPDP.cut`).

        Parameters
        ----------
        X : DataFrame or array
            As in `predict`.
        coarsened : bool
            Whether the likelihood is coarsened, as for probabilities; densities need False.
        unseen : {"refuse", "missing"}
            As in `predict`.

        Returns
        -------
        float64 (n, J + 1)
            In nats; the last column is that of a new cluster.
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
        """Return the columns that the clusters were found from, validated; called by `cluster_scores` only."""
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
        """The features that new subjects are judged by."""
        return self.schema_.restricted_to(feature.column for feature in self.clusters_.encoding.features)
