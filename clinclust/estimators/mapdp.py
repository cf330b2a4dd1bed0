"""MAPDP: fitting, new subjects, imputation, other numbers of subtypes, and saving."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial, wraps
from numbers import Integral
from pathlib import Path
from threading import Event
from typing import Any, Self, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from clinclust.arguments import PATH, RANDOM_STATE, WHOLE, accepting, in_pandas, is_partitioned, one_of
from clinclust.arrays import Array, Labels, Mask, RandomState
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Clusters, probabilities
from clinclust.engine.search.plan import interruptible
from clinclust.errors import CohortError, InputError, refuse, warn
from clinclust.estimators import say
from clinclust.estimators.cohort_table import table_of_fitted, warn_of_other_rows
from clinclust.estimators.distinct_subtypes import DistinctSubtypes, cut_fit
from clinclust.estimators.explanation import explanation
from clinclust.estimators.fit import Fit, PartitionedFit
from clinclust.estimators.fitting import Prepared, found_fit, prepared
from clinclust.estimators.imputation import impute, multiple_imputations
from clinclust.estimators.parameters import DISTINCT, MAPDPParameters, PublishedParameters
from clinclust.estimators.partitioned import in_partitions, partitioned_fit
from clinclust.estimators.saving import load, save
from clinclust.estimators.settings import Settings
from clinclust.estimators.subtype_model import FittedEstimator
from clinclust.files.cell_text import listed, quoted
from clinclust.schema import FeatureSchema
from clinclust.schema.validation import column_failures, failures_frame, read_columns

# Predictions for new subjects: subtypes, densities and imputed values.

NONE_OF_THESE = -1
"""Label that `predict` returns for a subject that most probably belongs to none of the clusters."""


Method = TypeVar("Method", bound=Callable[..., Any])


def of_each_partition(method: Method) -> Method:
    """Let a method return a Dask series or DataFrame of its results for each partition of a Dask DataFrame."""

    @wraps(method)
    def of_any_table(*args: Any, **arguments: Any) -> Any:
        if len(args) != 2 or not is_partitioned(args[1]):
            return method(*args, **arguments)
        return in_partitions(args[0], method.__name__, args[1], **arguments)

    return cast(Method, of_any_table)


class MAPDP(MAPDPParameters, FittedEstimator, results=Fit):
    """Maximum a posteriori Dirichlet process mixture for features of mixed types, independent given the cluster.

    The search maximises the collapsed log joint over the partition z, whose number of clusters K is free:

        ln p(X_obs, z) = K ln N0 + sum_k ln Gamma(n_k) + ln Gamma(N0) - ln Gamma(N0 + N)
                         + sum_k sum_d ln m_d(observed values of feature d in cluster k).

    m_d is the marginal likelihood of feature d under its conjugate prior (Raykov, Boukouvalas, Baig and Little 2016).
    `coarsening` and `block_weights` generalise the second line. Missing values are integrated out. Clusters that one
    continuous population explains are merged to subtypes. The result depends neither on the order of subjects nor on
    threads. `clinclust.methods.PublishedMAPDP` is the model of the paper; docs/mapdp-parameters.md has the equations
    and measurements behind each parameter.

    Methods that take a table raise CohortError, with all failures, if it does not fit the schema. Before `fit`,
    attributes and other methods raise NotFittedError.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}
    cluster_labels_, cluster_membership_ : int64 (N,), float64 (N, J)
        Labels and membership of the J clusters that the search found.
    subtype_of_, min_size_ : int64 (J,), int
        Subtype of each cluster, and fewest subjects of a tested subtype; 1 without a floor.
    uninformative_ : dict
        Features that cannot inform the clustering, with the reason.
    outliers_ : bool (N, D)
        Outlying values; columns as in `feature_names_in_`, but two for a feature with a spike or limit.
    log_joint_, log_joint_trace_ : float, float64
        Log joint in nats, with all constants, of the partition into clusters, and after each sweep of its restart.
    restarts_, tuning_ : DataFrame
        One row per restart: start, log joint, number of clusters, sweeps, converged, adjusted Rand index to the best
        partition; and one row per concentration tried.
    tree_, tree_test_ : SubtypeTree, TreeTest
        Tree of the clusters with the evidence of each join in nats; its test with ``n_clusters="distinct"``.
    hyperparameters_ : dict
        Those of the final model, by feature and name.
    prior_strength_ : float
        Subjects that ``select_features="auto"`` added to the prior of each feature, with the averages of the cohort.
    schema_, row_counts_, stopped_early_ : FeatureSchema, RowCounts, bool
        Schema used; after `read_cohort`, how many rows of the file were taken; whether `max_seconds` ended the search.
    random_seed_, versions_, cohort_fingerprint_ :
        Seed, versions of packages, and what recognises the cohort without storing its values.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> X = np.vstack([rng.normal(0, 1, (60, 4)), rng.normal(6, 1, (40, 4))])
    >>> X[::3, 1] = np.nan
    >>> model = cc.MAPDP(random_state=0).fit(X)
    >>> model.n_clusters_, model.cluster_sizes_.tolist()
    (2, [60, 40])
    >>> new = np.array([[0.2, np.nan, -0.4, 0.1], [5.8, 6.1, np.nan, 6.3]])  # of other subjects
    >>> model.transform(new).round(2)
       subtype_1  subtype_2  none_of_these
    0        1.0        0.0            0.0
    1        0.0        1.0            0.0
    >>> model.explain(new[:1])["feature"].tolist()  # why the first subject is in subtype 1
    ['x2', 'x3', 'x0', '(size of the subtypes)']
    >>> model.impute(new).round(1).to_numpy().tolist()
    [[0.2, -0.0, -0.4, 0.1], [5.8, 6.1, 5.8, 6.3]]
    >>> model.cut(1).cluster_sizes_.tolist()
    [100]
    """

    fit_: Fit
    made_by = "a MAP-DP search"

    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the subtypes of a cohort.

        ValueError is raised if parameters cannot be used or combined, no feature is left to cluster on, fewer clusters
        than `n_clusters` were found, no two subtypes can have `min_size` subjects, the table holds other rows than the
        schema says, or memory is too small. After Ctrl-C the model stays as it was. A CohortWarning says that another
        likelihood describes a feature clearly better, the search did not end by itself, or the table is doubtful.

        `X`, of shape (N, D), is a table that fits the schema, columns in any order, or an array with the columns in the
        order of the schema; `y` is ignored. A Dask DataFrame is fitted where its partitions lie, on the workers of the
        current Dask client or in files of this machine; `labels_` is then a Dask series, and `in_sample` gives what
        reports need.
        """
        settings, cancelled = Settings.of(self), Event()
        if is_partitioned(X):
            return self._search(partial(partitioned_fit, settings, X, cancelled), cancelled, None)
        return self.fit_prepared(prepared(settings, in_pandas(X)))

    def fit_prepared(self, cohort: Prepared) -> Self:
        """Find subtypes in a validated and encoded cohort."""
        settings, cancelled = Settings.of(self), Event()
        return self._search(partial(found_fit, settings, cohort, cancelled), cancelled, cohort.frame.index)

    def _search(self, search: Callable[[], tuple[Fit, list[str]]], cancelled: Event, rows: pd.Index | None) -> Self:
        fit, notes = interruptible(search, cancelled)
        self.fit_, self._rows = fit, rows  # after the search, so that an interrupted fit leaves the model unchanged
        for note in notes:
            warn(note)
        return self

    @of_each_partition
    def predict(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Labels:
        """Return the most probable subtype of new subjects, int64 (n,) (Raykov et al. 2016, eq. 34).

        The label is -1 (`NONE_OF_THESE`) if a new cluster is more probable than each subtype. Identifiers and described
        columns may be absent. For a Dask DataFrame, this and the other methods return a Dask series or DataFrame.
        `unseen` is "refuse" or "missing": whether values that the model cannot read, such as an unknown level, raise
        CohortError or become missing, with a CohortWarning.
        """
        scores = self.cluster_scores(X, unseen=unseen)
        best = self.fit_.subtypes_.log_summed(scores).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    @of_each_partition
    def predict_proba(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1); rows sum to 1.

        The last column is the probability of none of these subtypes (a new cluster), which `membership_` lacks.
        `transform` names the columns. `unseen` is as in `predict`.
        """
        scores = self.cluster_scores(X, unseen=unseen)
        return self.fit_.subtypes_.summed(probabilities(scores))

    @of_each_partition
    def score_samples(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the log predictive density of new subjects in nats, float64 (n,), uncoarsened (the paper's eq. 33)."""
        return np.asarray(logsumexp(self.cluster_scores(X, coarsened=False, unseen=unseen), axis=1), dtype=np.float64)

    @of_each_partition
    def explain(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> pd.DataFrame:
        """Return the log odds of the most probable subtype of new subjects against the next, feature by feature.

        The log odds are a sum of ln p(x_d | one) - ln p(x_d | other) over the observed features, with coarsening and
        block weight, and of a term of the sizes. Arguments and errors are those of `predict`.

        The DataFrame has one row for each subject and observed feature, the strongest first: subject (the index of
        `X`), subtype (from 1; 0 = none of these), against (the next most probable), feature, value, and log_odds in
        nats (above 0: for the subtype). ``(size of the subtypes)`` is the term of the sizes; of unions, the terms
        compare the most probable clusters, and ``(other clusters of the subtypes)`` is the remainder of the sum.
        """
        return explanation(self.fit_, self._validated(X, unseen))

    @of_each_partition
    def impute(self, frame: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """Return the validated columns with missing values of clustered features filled in.

        The predictive of a missing value is sum_k p(k | observed) p(x | cluster k), with a new cluster among the k. Its
        mean on the modelled scale is transformed back and clipped to the allowed range; of unordered levels the most
        probable one is taken, and whole numbers are rounded. Values are taken to be missing at random. Described
        columns, those of other roles and features in `uninformative_` are returned unchanged; a `CohortWarning` names
        those with missing values. `frame` holds subjects of the cohort or new ones.
        """
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        return impute(self.fit_, table, self.cluster_scores)

    @accepting(m=WHOLE, n_sweeps=WHOLE, random_state=RANDOM_STATE)
    def multiple_imputations(
        self,
        frame: pd.DataFrame | ArrayLike,
        m: int = 20,
        *,
        formula: str | None = None,
        n_sweeps: int = 10,
        random_state: RandomState = None,
    ) -> list[pd.DataFrame]:
        """Return the cohort of the fit m times, each time with other draws of its missing values.

        Each time the subtype of every subject is drawn from its membership, then the distributions of the features in
        each subtype and their correlations inside it, then the missing values of a subject jointly, given what is
        observed of it (a Gaussian copula; data augmentation of Tanner and Wong 1987). Described columns are filled too;
        a column that says nothing of a subject is filled with observed values. Analyse each table as if it were
        complete, and pool the results with `pool_estimates`. Do not test differences between the subtypes in imputed
        tables: the values were drawn from the clusters.

        `frame` is the cohort of the fit, rows in any order. `formula` is the regression of the analysis, such as
        ``"pain ~ age + I(age ** 2)"``: values are drawn by its density of the outcome, a described measurement (linear)
        or yes/no column (logistic), which keeps squares and products (Bartlett et al. 2015); levels in order are their
        scores. `n_sweeps` sweeps over all columns precede each table, five times as many the first. ValueError is
        raised if the table is another one, `m` or `n_sweeps` is below 1, or `formula` cannot be used.
        """
        refuse([f"{name} must be at least 1, not {n}" for name, n in (("m", m), ("n_sweeps", n_sweeps)) if n < 1])
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        rng, cancelled = np.random.default_rng(random_state), Event()
        draws = partial(multiple_imputations, self, table, m, n_sweeps, rng, cancelled, formula)
        tables = interruptible(draws, cancelled)
        unfilled = [feature.name for feature in self.schema_.reported if tables[0][feature.name].isna().any()]
        if unfilled:
            warn(f"nothing is observed in {listed(unfilled)}, so that nothing is filled in")
        return tables

    def cluster_scores(self, X: pd.DataFrame | ArrayLike, *, coarsened: bool = True, unseen: str = "refuse") -> Array:
        """Return ln p(z = j) + ln p(x | cluster j) of new subjects in nats, float64 (n, J + 1); last, a new cluster.

        With `coarsened`, the likelihood has its power, as for probabilities; densities need False.
        """
        frame, clusters = self._validated(X, unseen), self.fit_.clusters_
        features = clusters.encoding.features
        values = model_values(frame, features)
        rows = frame.index[frame[self.selected_features_].isna().all(axis="columns").to_numpy()]
        if self.selected_features_ and len(rows):
            warn(say("nothing_observed", rows=_which(rows)))
        _warn_of_far_columns(clusters, values)

        def scores() -> Array:
            with announcing_compilation():
                weights = clusters.scores(values, coarsened=coarsened)
            adjustment = None if coarsened else self.fit_.adjustment_
            return weights if adjustment is None else weights + adjustment.log_jacobian(frame, self.schema_)[:, None]

        return interruptible(scores)

    @accepting(unseen=one_of("refuse", "missing"))
    def _validated(self, X: pd.DataFrame | ArrayLike, unseen: str) -> pd.DataFrame:
        """Return the columns that the clusters were found from, of new subjects, validated and adjusted."""
        warn_of_other_rows(self.schema_, X)
        frame = table_of_fitted(X, self.schema_.names)
        if unseen == "missing":
            frame, _, note = without_unseen(self.schema_needed, frame)
            if note:
                warn(note)
        return self.fit_.adjusted(validate_subjects(self.schema_needed, frame))

    @property
    def schema_needed(self) -> FeatureSchema:
        """The features that the model needs of new subjects: those clustered on, and those adjusted for."""
        clustered = {feature.column for feature in self.clusters_.encoding.features}
        adjusted = {feature.name for feature in self.schema_ if feature.role == "adjust" and self.fit_.adjustment_}
        return self.schema_.restricted_to(clustered | adjusted)

    def cut(self, n_clusters: int | str | DistinctSubtypes | None, *, min_size: float | None = None) -> MAPDP:
        """Return the model with another number of subtypes, without another search; this model is not changed.

        Clusters are merged along `tree_`. A union is the mixture of its clusters, so that densities of new subjects
        stay the same. `n_clusters` and `min_size` are as in `MAPDP`; or give what `distinct_subtypes` returned.
        ValueError is raised if there is no such number, the distinct subtypes are of another fit or were not
        tested, or no two subtypes can have `min_size` subjects.
        """
        cut = copy.copy(self)
        cut.fit_ = cut_fit(self.fit_, n_clusters, min_size)
        number = int(n_clusters) if isinstance(n_clusters, Integral) else n_clusters
        cut.n_clusters = number if number is None or isinstance(number, int | str) else DISTINCT
        cut.min_size = int(min_size) if isinstance(min_size, Integral) else min_size
        return cut

    def in_sample(self) -> tuple[MAPDP, pd.DataFrame]:
        """Return the model of the sample of a table in partitions, and the sample, for reports and tests in memory.

        Its clusters have the sizes and statistics of the sample. ValueError is raised for a model of another table.
        """
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

        OSError is raised if its files cannot be written, ValueError if parameters were set to unusable values.
        """
        return save(self, self.fit_, Path(folder))

    @staticmethod
    @accepting(folder=PATH)
    def load(folder: str | os.PathLike[str]) -> MAPDP:
        """Return a model that `save` wrote; its predictions equal those of the saved model bit for bit.

        Checksums detect damage, but not forged files: load only models from people you trust. FileNotFoundError is
        raised if the folder holds no model, ValueError if its files are damaged, edited, links to files elsewhere, or
        of an unknown format. A CohortWarning says that the ``assignments.csv`` of the model was changed since.
        """
        is_published, parameters, fit = load(Path(folder))
        model = PublishedMAPDP(**parameters) if is_published else MAPDP(**parameters)
        model.fit_ = fit
        return model


class PublishedMAPDP(PublishedParameters, MAPDP):
    """MAP-DP as Raykov, Boukouvalas, Baig and Little (2016) published it: a `MAPDP` with their model and searches.

    Each cluster is a subtype, the likelihood counts in full, and probabilities are those given the partition. The
    search starts from several partitions and integrates missing values out, unless ``init="single"``,
    ``missing="mode"`` or ``hyperparameters="greedy"`` ask for the search of the paper. Further attributes are those of
    `MAPDP`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    leave_one_out_nll_ : float
        The paper's E (eq. 12); it is not the objective.
    completed_log_joint_ : float
        With ``missing="mode"`` only: log joint of the completed table.

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


# New subjects of a fitted model: notes on their table, which show no value, and values that the model cannot read.

_SHOWN_ROWS, _SHOWN_COLUMNS = 5, 10
_FEWEST_NEW, _MOSTLY = 5, 0.5


def _warn_of_far_columns(clusters: Clusters, values: Mapping[str, Array]) -> None:
    """Warn of each measurement most of whose new values, float64 (n,) by feature, lie beyond those of the cohort.

    Beyond is where the clusters, weighted by their sizes, expect one in 2 N subjects at most: another unit, or codes.
    """
    encoding, sizes = clusters.encoding, clusters.sizes
    for index, feature in enumerate(encoding.features):
        new = (values[feature.name] - encoding.centres[index]) / encoding.scales[index]
        new = new[np.isfinite(new)]
        if new.size < _FEWEST_NEW or not feature.traits.is_continuous:
            continue
        predictives = map(encoding.alone[index].predictive, clusters.posteriors(index)[:-1])
        below = sizes / sizes.sum() @ np.array([predictive.cdf(new) for predictive in predictives])
        is_far = np.minimum(below, 1.0 - below) <= 0.5 / sizes.sum()
        if is_far.mean() > _MOSTLY:
            warn(say("beyond_the_cohort", column=feature.column, n_far=int(is_far.sum()), n_values=new.size))


def notes_on_new_subjects(schema: FeatureSchema, frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on missing and one on repeated identifiers, with the labels of the first rows."""
    names = [feature.name for feature in schema.ids]
    if not names or any(list(frame.columns).count(name) != 1 for name in names):
        return  # new subjects need no identifier: their rows have numbers
    keys = read_columns(schema.restricted_to(names), frame[names])[0]
    missing = keys.isna().any(axis="columns").to_numpy()
    repeated = keys.duplicated(keep=False).to_numpy() & ~missing
    if missing.any():
        yield f"{_which(frame.index[missing])} no identifier ({', '.join(names)})"
    if repeated.any():
        yield say("repeated_identifiers", rows=_which(frame.index[repeated]), columns=", ".join(names))


def _which(labels: pd.Index) -> str:
    """Return subject and verb of a sentence on the rows with these labels."""
    shown = ", ".join(map(str, labels[:_SHOWN_ROWS]))
    return f"1 row ({shown}) has" if len(labels) == 1 else f"{len(labels)} rows (first: {shown}) have"


_REPAIR = (
    "Correct the cells; or take values that the model does not know for missing (unseen='missing'), so that the other "
    "values of these subjects decide."
)
_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ABSENT = "Rename the column that holds it, or add an empty one: a missing value is allowed."


def rows_at_fault(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[Mask, CohortError]:
    """Return the rows with an unreadable cell, bool (n,), and the error that lists these cells."""
    rows, failures = np.zeros(len(frame), dtype=np.bool_), []
    for name, reading in read_columns(schema, frame)[1].items():
        rows |= np.logical_or.reduce([rows, *reading.faults.values()])
        failures += column_failures(schema[name], reading, frame.index)
    return rows, CohortError(about_new_subjects(failures_frame(failures), schema))


def without_unseen(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Mask], str]:
    """Return the table with every unreadable cell missing, the rows of these, bool (n,), by feature, and any note."""
    cleared, rows_of, noted = frame.copy(deep=False), dict[str, Mask](), list[str]()
    for name, reading in read_columns(schema, frame)[1].items():
        if unread := [rows for kind, rows in reading.faults.items() if kind != "observed"]:
            rows_of[name] = np.logical_or.reduce(unread)
            cleared[name] = frame[name].astype(object).mask(rows_of[name], None)
            labels = frame.index[rows_of[name]]
            which = f"{len(labels)} rows, first" if len(labels) > _SHOWN_ROWS else "row" if len(labels) == 1 else "rows"
            noted.append(f"{name} ({which} {', '.join(map(str, labels[:_SHOWN_ROWS]))})")
    more = f", and {len(noted) - _SHOWN_COLUMNS} more columns" if len(noted) > _SHOWN_COLUMNS else ""
    note = say("values_taken_for_missing", columns=", ".join(noted[:_SHOWN_COLUMNS]), more=more)
    return cleared, rows_of, note if noted else ""


def validate_subjects(schema: FeatureSchema, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the validated columns of new subjects; CohortError has repairs that do not change the schema."""
    try:
        return schema.validate(frame, warn=False)
    except CohortError as error:
        raise CohortError(about_new_subjects(error.failures, schema)) from error


def about_new_subjects(failures: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the failures of new subjects with repairs that do not change the schema."""
    features, repairs = {feature.name: feature for feature in schema}, []
    for failure in failures.to_dict("records"):
        is_absent = failure["expected"] == "a column of this name"
        repair = _REPAIR if failure["rows"] else _ABSENT if is_absent else failure["repair"]
        if failure["rows"] and failure["column"] in features:
            # Missing codes of the form of a value, such as 20-25% for 40-45%; not the form of all numbers.
            forms = {_replace_numbers(str(text)) for text in failure["examples"]} - {"0"}
            codes = [code for code in features[failure["column"]].missing_codes if _replace_numbers(code) in forms]
            if codes:
                repair = say("missing_of_this_form", codes=listed(map(quoted, codes), len(codes)), repair=repair)
        repairs.append(repair)
    return failures.assign(repair=repairs)


def _replace_numbers(text: str) -> str:
    return _NUMBER.sub("0", " ".join(text.casefold().split()))
