"""What reports need of a partition, and a model with the table that it was fitted on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy

from clinclust.arguments import FRAME, MODEL, accepting
from clinclust.arrays import Code, Mask
from clinclust.engine.joint_estimates.outlying import without_outlying
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import pose
from clinclust.errors import CohortError, InputError, not_fitted, refuse, warn
from clinclust.estimators.cohort_table import hint_at_rows
from clinclust.estimators.mixture import NO_FLOOR

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema


# SubtypeModel: the attributes of a partition that comparisons, reports, associations and figures use.

NOT_FITTED = "the model is not fitted; call model.fit(frame) first"
CLEAR = 0.95
"""Membership probability from which an assignment is called clear."""


class SubtypeModel:
    """A partition of a cohort into subtypes: the base of `MAPDP`, `GibbsDP`, `Partition` and of other methods.

    An estimator that is not fitted has no `labels_`.

    Attributes
    ----------
    schema_ : FeatureSchema
    labels_ : int64 (N,)
        Subtype of each subject, 0 .. K - 1: kind by kind, or by decreasing size without grades.
    membership_ : float64 (N, K) or None
        Probability of each subtype for each subject; None without probabilities.
    uninformative_ : mapping
        Features with the role ``cluster`` that were not clustered on, with the reason.
    index_ : Index or None
        Index of the cohort; None if it is not stored.
    made_by : str
        The person or method; completes the sentence "The subtypes were made by ...".
    fit_ : Fit or None
        Results of the MAP-DP search, if one made the partition; parts of a report need them.
    """

    schema_: FeatureSchema
    labels_: NDArray[np.int64]
    membership_: NDArray[np.float64] | None
    uninformative_: Mapping[str, str]
    index_: pd.Index | None = None
    made_by: str
    fit_: Fit | None
    _rows: pd.Index | None = None
    """Index of the table of a fit, which is not saved: it may hold names of patients."""

    @property
    def names_(self) -> Mapping[int, str]:
        """Default names of the subtypes in reports, by number from 1; empty if there are none."""
        return MappingProxyType({})

    @property
    def codes_(self) -> list[Code]:
        """What each subtype is called: the numbers 1 .. K, or kinds with the letters of grades (1a, 1b, 2)."""
        return [*range(1, self.n_clusters_ + 1)] if self.fit_ is None else self.fit_.codes_

    @property
    def labels(self) -> pd.Series[Any]:
        """Subtype of each subject, coded (`codes_`) or named as in reports: categories, with the index of the cohort.

        A model that was loaded has no index. For a table in partitions, a Dask series.
        """
        if isinstance(self.labels_, np.ndarray):
            return _in_words(pd.Series(self.labels_, self.index_ if self._rows is None else self._rows), self._called)
        of_all: Any = self.labels_
        in_words = partial(_in_words, called=self._called)
        return cast("pd.Series[Any]", of_all.map_partitions(in_words, meta=in_words(of_all._meta)))

    @property
    def _called(self) -> pd.Index[Any]:
        return pd.Index([self.names_.get(k, code) for k, code in enumerate(self.codes_, start=1)], name="subtype")

    def summary(self) -> pd.DataFrame:
        """Return one row for each subtype: n, percent, the percent of clear members, and their mean membership.

        Clear is a probability of at least 0.95 (`membership_`); NaN without probabilities.
        """
        sizes, own = self.cluster_sizes_, own_membership(self)
        clear = np.nan if own is None else 100.0 * np.bincount(self.labels_, own >= CLEAR, sizes.size) / sizes
        mean = np.nan if own is None else np.bincount(self.labels_, own, sizes.size) / sizes
        columns = {"n": sizes, "percent": 100.0 * sizes / sizes.sum(), "clear": clear, "membership": mean}
        return pd.DataFrame(columns, index=self._called)

    @property
    def cluster_sizes_(self) -> NDArray[np.int64]:
        """Number of subjects in each subtype, int64 (K,)."""
        return np.bincount(self.labels_) if self.fit_ is None else self.fit_.cluster_sizes_

    @property
    def n_clusters_(self) -> int:
        """Number of subtypes, K."""
        return int(self.cluster_sizes_.size)


def _in_words(labels: pd.Series[Any], called: pd.Index[Any]) -> pd.Series[Any]:
    return pd.Series(pd.Categorical.from_codes(labels.to_numpy(), called), index=labels.index, name="subtype")


def place_of(code: Code, codes: Sequence[Code]) -> int | None:
    """Return the label of a subtype that is called `code`, 1 or "1b"; of 1a if 1 has grades; None if there is none."""
    texts = [str(called) for called in codes]
    text = str(code).strip()
    return texts.index(text) if text in texts else texts.index(f"{text}a") if f"{text}a" in texts else None


def is_fitted(model: SubtypeModel) -> bool:
    """Return whether the model has labels."""
    return hasattr(model, "labels_")


def require_fitted(model: SubtypeModel) -> None:
    """Raise NotFittedError for an estimator without labels, and InputError for anything that is no model."""
    if is_fitted(model):
        return
    if not hasattr(model, "fit"):
        raise InputError(f"model must be a fitted MAPDP or a Partition, not {type(model).__name__}")
    raise not_fitted(NOT_FITTED)


def require_search(model: SubtypeModel, purpose: str) -> Fit:
    """Return the results of the MAP-DP search of a model.

    Raises NotFittedError, or InputError if it has none; `purpose` is the subject of the sentence.
    """
    require_fitted(model)
    if model.fit_ is None:
        raise InputError(f"{purpose} needs a fitted MAPDP; these subtypes were made by {model.made_by}")
    return model.fit_


def parameters_of(model: SubtypeModel) -> dict[str, Any]:
    """Return the parameters of the estimator by name; empty if the model is not an estimator."""
    get_params = getattr(model, "get_params", None)
    return {} if get_params is None else dict(get_params())


def clustered_features(model: SubtypeModel) -> list[str]:
    """Return the features from which the subtypes were found, or may have been made without a MAP-DP search."""
    return [feature.name for feature in model.schema_.clustered if feature.name not in model.uninformative_]


def fewest_subjects(model: SubtypeModel) -> int:
    """Return the floor of the size of tested subtypes; 1 without a floor."""
    return NO_FLOOR if model.fit_ is None else model.fit_.min_size_


def own_membership(model: SubtypeModel) -> NDArray[np.float64] | None:
    """Return the probability of each subject's own subtype given all other subjects, float64 (N,); None without any."""
    membership = getattr(model, "membership_", None)
    if membership is None:
        return None
    labels = np.asarray(model.labels_)
    return np.asarray(membership)[np.arange(labels.size), labels]


def basis_of_membership(model: SubtypeModel) -> str:
    """Return what the probabilities are conditional on (`membership_basis` of the model): one partition by default."""
    return str(getattr(model, "membership_basis", "given all other subjects"))


# The cohort of a fitted model: a partition with the table of its subjects, and the problem of the fit.
#
# A public function takes a model and a table of its user, makes one `FittedCohort` of them (`cohort_of`), and hands
# that on: everything below relies on validated columns in the order of the labels.


@dataclass(frozen=True, eq=False)
class FittedCohort:
    """A partition of a cohort with the table of its subjects.

    Attributes
    ----------
    model : SubtypeModel
        A fitted `MAPDP` or `GibbsDP`, a `Partition`, or the result of another method.
    table : DataFrame, N rows
        The validated columns of the schema, with rows in the order of the labels of the model, and measurements
        adjusted as in the fit.
    rows : int64 (N,), optional
        The row of each subject in the table of the user; None if that has the order of the labels.
    """

    model: SubtypeModel
    table: pd.DataFrame
    rows: NDArray[np.int64] | None = None

    @property
    def schema(self) -> FeatureSchema:
        """Schema of the cohort."""
        return self.model.schema_

    @property
    def labels(self) -> NDArray[np.int64]:
        """Subtype of each subject, int64 (N,), 0 .. K - 1 by decreasing size."""
        return np.asarray(self.model.labels_, dtype=np.int64)

    @property
    def fit(self) -> Fit:
        """Results of the MAP-DP search; InputError if no such search made the partition (`model.fit_` is None)."""
        return require_search(self.model, "this")

    def usual_values(self) -> dict[str, NDArray[np.float64]]:
        """Return the values of each encoded feature of the fit, (N,), by name; NaN = missing or an outlier."""
        features = self.fit.clusters_.encoding.features
        values, places = model_values(self.table, features), self.schema.places(features)
        return {
            feature.name: np.where(self.fit.outliers_[:, place], np.nan, values[feature.name])
            for feature, place in zip(features, places, strict=True)
        }

    def in_order(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the table of the user, with the columns that the schema ignores, in the order of the labels."""
        return frame if self.rows is None else frame.iloc[self.rows]


def cohort_of(model: SubtypeModel, frame: pd.DataFrame) -> FittedCohort:
    """Validate a table as the cohort of a model, and put its rows in the order of the labels (which warns).

    CohortError is raised if the table does not fit the schema, InputError if it is not the cohort. A `Partition` has no
    fingerprint: number and index of its rows are compared.
    """
    refuse(cohort_problems(model, frame))
    validated = model.schema_.validate(frame, warn=False)
    if model.fit_ is None:
        return FittedCohort(model, validated)
    rows = model.fit_.cohort_fingerprint_.rows_of_fit(validated)
    if rows is None:
        names = [str(name) for name in validated]
        compared = ", ".join(names[:8]) + (f" and {len(names) - 8} more columns" if len(names) > 8 else "")
        raise InputError(
            f"the table has as many rows as the cohort that the model was fitted on ({len(frame)}) and fits its "
            "schema, but it holds other subjects or other values; give the table that the model was fitted on (its "
            f"rows may be in any order), or fit the model again on this one (compared: {compared})"
            f"{hint_at_rows(model.schema_)}"
        )
    if np.array_equal(rows, np.arange(len(rows))):
        return FittedCohort(model, model.fit_.adjusted(validated))
    warn(
        "the rows of the table are in another order than when the model was fitted; they were put back into that order"
    )
    return FittedCohort(model, model.fit_.adjusted(validated.iloc[rows]), rows)


def cohort_problems(model: SubtypeModel, frame: pd.DataFrame) -> list[str]:
    """Return why `frame` cannot be the cohort, by its number of rows and its index, with repairs; empty if it can."""
    if not is_fitted(model):
        return [NOT_FITTED]
    if getattr(model.fit_, "in_sample_", None) is not None:
        return ["the model was fitted on a table in partitions; model.in_sample() gives a model and a table in memory"]
    if len(frame) != len(model.labels_):
        source, which, hint = (
            ("the labels are of", "which the labels are of", "")
            if model.fit_ is None
            else ("the model was fitted on", "that it was fitted on", hint_at_rows(model.schema_))
        )
        return [
            f"the table has {len(frame)} rows, but {source} {len(model.labels_)} subjects; give the table {which}{hint}"
        ]
    if model.index_ is not None and not model.index_.equals(frame.index):
        return [
            "the labels are a Series whose index differs from the table's, so its order may differ too; align them "
            "with `labels.loc[frame.index]`, or pass `labels.to_numpy()` if the order is the same"
        ]
    return []


def rows_of_the_fit(fit: Fit, frame: pd.DataFrame) -> NDArray[np.int64] | None:
    """Return the position in `frame` of each subject of the fit, int64 (N,); None if `frame` is another table."""
    if len(frame) != len(fit.cluster_labels_):
        return None
    try:
        validated = fit.schema_.validate(frame, warn=False)
    except CohortError:
        return None  # new subjects need neither identifiers nor described columns
    return fit.cohort_fingerprint_.rows_of_fit(validated)


def fitted_problem(fit: Fit, frame: pd.DataFrame, coarsening: float) -> Problem:
    """Return the problem of a fit at this coarsening: its hyperparameters, block weights, features, outliers.

    `frame` is as `cohort_of` returns it.
    """
    schema, stated, powers = fit.schema_, fit.hyperparameters_, fit.block_weights_
    problem = pose(frame, schema, stated, fit.concentration_, fit.discount_, coarsening, powers)
    features, clusters = problem.cohort.encoding.features, fit.clusters_
    if fit.outlying_share_ > 0.0:
        outlying = fit.outliers_[:, schema.places(features)][problem.cohort.order]
        problem = without_outlying(problem, outlying, fit.outlying_share_)
    selected = dict(zip((feature.name for feature in clusters.encoding.features), clusters.included, strict=True))
    return with_selected(problem, np.array([selected[feature.name] for feature in features], dtype=np.bool_))


def with_selected(problem: Problem, included: Mask) -> Problem:
    """Return the problem with the selected features, bool (D,); all if none are selected."""
    return problem if included.all() or not included.any() else problem.with_features(included)


# What papers on latent classes report of each number of subtypes; the test decides on other grounds.


@accepting(model=MODEL, frame=FRAME)
def information_criteria(model: SubtypeModel, frame: pd.DataFrame) -> pd.DataFrame:
    """Return BIC, ICL and relative entropy for each number of subtypes along the tree of a fit.

    Each is of a finite mixture, features independent in a subtype, with the posterior predictives instead of the
    densities of largest likelihood: BIC = -2 ln L + p ln N (Schwarz 1978), and ICL = BIC + 2 E (Biernacki, Celeux and
    Govaert 2000), E the sum over subjects and subtypes of -m ln m of the memberships m; the least is best. A mixture
    fits a continuum, or features that depend on each other, with ever more subtypes; `distinct_subtypes` does not.

    Parameters
    ----------
    model : MAPDP
    frame : DataFrame
        The table of the fit.

    Returns
    -------
    DataFrame
        One row for each number: `n_subtypes`, `log_likelihood` (nats), `n_parameters`, `bic`, `icl`, and
        `relative_entropy`, 1 - E / (N ln K).

    Raises
    ------
    CohortError
        If `frame` does not fit the schema of the model.
    ValueError
        If it is not the table of the fit, or no MAP-DP search made the subtypes.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False).fit(frame)
    >>> cc.information_criteria(model, frame).set_index("n_subtypes")["bic"].idxmin()
    2
    """
    require_search(model, "information_criteria")
    return criteria_of(cohort_of(model, frame))


def criteria_of(cohort: FittedCohort) -> pd.DataFrame:
    """Return the frame of `information_criteria`."""
    fit, rows = cohort.fit, list[tuple[float, ...]]()
    clusters, tree, n = fit.clusters_, fit.tree_, len(cohort.table)
    values = model_values(cohort.table, clusters.encoding.features)
    likelihoods = clusters.encoding.likelihoods
    # A mean and a variance, the chances of all levels but one; in a block also the slopes on the features before it.
    free = np.array([of.n_before + 2 if of.is_chained else of.n_statistics - 1 for of in likelihoods])
    for n_subtypes in range(1, tree.n_subtypes + 1):
        scores = clusters.pooled(tree.subtype_of(n_subtypes)).scores(values, coarsened=False)[:, :-1]
        # The shares of the process, without that of a new cluster.
        scores += np.log((n + fit.concentration_) / (n - n_subtypes * fit.discount_))
        of_subjects = logsumexp(scores, axis=1)
        p = np.exp(scores - of_subjects[:, None])
        n_parameters = int(n_subtypes - 1 + (np.where(clusters.included, n_subtypes, 1) * free).sum())
        bic, uncertain = n_parameters * np.log(n) - 2.0 * of_subjects.sum(), -xlogy(p, p).sum()
        sure = 1.0 if n_subtypes == 1 else 1.0 - uncertain / (n * np.log(n_subtypes))
        rows.append((n_subtypes, of_subjects.sum(), n_parameters, bic, bic + 2.0 * uncertain, sure))
    return pd.DataFrame(
        rows, columns=["n_subtypes", "log_likelihood", "n_parameters", "bic", "icl", "relative_entropy"]
    )
