"""Partitions as reports need them, made by an estimator or by others, and a model with the table of its fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from inspect import getdoc, signature
from numbers import Real
from textwrap import indent
from types import MappingProxyType
from typing import Any, ClassVar, Self, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, xlogy

from clinclust.arguments import FRAME, LABELS, MODEL, SCHEMA, Rule, accepting, in_pandas
from clinclust.arrays import Code, Mask
from clinclust.engine.joint_estimates.outlying import without_outlying
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.settle import by_decreasing_size
from clinclust.errors import CohortError, InputError, not_fitted, on_one_line, refuse, warn
from clinclust.estimators import say
from clinclust.estimators.cohort_table import hint_at_rows
from clinclust.estimators.fit import NO_FLOOR, Fit
from clinclust.estimators.parameters import cluster_codes, documented, parameter_problems
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import html_block

# SubtypeModel: the attributes of a partition that comparisons, reports, associations and figures use.

NOT_FITTED = "the model is not fitted; call model.fit(frame) first"
CLEAR = 0.95
"""Membership probability from which an assignment is called clear."""


class SubtypeModel:
    """A partition of a cohort into subtypes: the base of estimators, which have no `labels_` before a fit."""

    schema_: FeatureSchema
    labels_: NDArray[np.int64]
    """(N,) subtype of each subject, 0 .. K - 1: kind by kind, or by decreasing size without grades."""
    membership_: NDArray[np.float64] | None
    """(N, K) probability of each subtype for each subject; None without probabilities."""
    uninformative_: Mapping[str, str]
    """Features with the role ``cluster`` that were not clustered on, with the reason."""
    membership_basis: str = "given all other subjects"
    """What the probabilities are conditional on, for reports."""
    index_: pd.Index | None = None
    """Index of the cohort; None if it is not stored."""
    made_by: str
    """The person or method; completes the sentence "The subtypes were made by ..."."""
    fit_: Fit | None  # of a MAP-DP search
    _rows: pd.Index | None = None
    """Index of the table of a fit, which is not saved: it may hold names of patients."""

    @property
    def names_(self) -> Mapping[int, str]:
        """Default names of the subtypes in reports, by number from 1; empty without any."""
        return MappingProxyType({})

    @property
    def codes_(self) -> list[Code]:
        """What each subtype is called: the numbers 1 .. K, or kinds with the letters of grades (1a, 1b, 2)."""
        return [*range(1, self.n_clusters_ + 1)] if self.fit_ is None else self.fit_.codes_

    @property
    def labels(self) -> pd.Series[Any]:
        """Subtype of each subject, coded (`codes_`) or named as in reports: categories, or a Dask series of them."""
        if isinstance(self.labels_, np.ndarray):
            return _in_words(pd.Series(self.labels_, self.index_ if self._rows is None else self._rows), self._called)
        of_all: Any = self.labels_
        in_words = partial(_in_words, called=self._called)
        return cast("pd.Series[Any]", of_all.map_partitions(in_words, meta=in_words(of_all._meta)))

    @property
    def _called(self) -> pd.Index[Any]:
        return pd.Index([self.names_.get(k, code) for k, code in enumerate(self.codes_, start=1)], name="subtype")

    def summary(self) -> pd.DataFrame:
        """Return n, percent, the percent of clear members (probability of at least 0.95) and their mean membership."""
        sizes, membership = self.cluster_sizes_, own_membership(self)
        clear = mean = np.full(sizes.size, np.nan)
        if membership is not None:
            clear = 100.0 * np.bincount(self.labels_, membership >= CLEAR, sizes.size) / sizes
            mean = np.bincount(self.labels_, membership, sizes.size) / sizes
        columns = {"n": sizes, "percent": 100.0 * sizes / sizes.sum(), "clear": clear, "membership": mean}
        return pd.DataFrame(columns, index=self._called)

    def _repr_html_(self) -> str:
        if not hasattr(self, "cluster_sizes_"):
            return html_block(f"{type(self).__name__}, not fitted yet", None, repr(self))
        marks = [] if self.fit_ is None else [", ".join(remarks) for remarks in self.fit_.remarks_]
        shown = self.summary().round(2).assign(**{"remark": marks} if any(marks) else {})
        shown = shown.dropna(axis="columns", how="all").reset_index().astype(str)
        return html_block(f"{type(self).__name__}: {self._counts}", shown, repr(self))

    @property
    def _counts(self) -> str:
        subtypes = "1 subtype" if self.n_clusters_ == 1 else f"{self.n_clusters_} subtypes"
        return f"{subtypes} of {self.cluster_sizes_.sum():,} subjects"

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
    """Return the label of a subtype that is called `code`, 1 or "1b"; of 1a if 1 has grades; None without any."""
    texts, text = [str(called) for called in codes], str(code).strip()
    return texts.index(text) if text in texts else texts.index(f"{text}a") if f"{text}a" in texts else None


def is_fitted(model: SubtypeModel) -> bool:
    """Return whether the model has labels."""
    return hasattr(model, "labels_")


def require_fitted(model: SubtypeModel) -> None:
    """Raise NotFittedError for an estimator without labels."""
    if not is_fitted(model):
        raise not_fitted(NOT_FITTED)


def require_search(model: SubtypeModel, purpose: str) -> Fit:
    """Return the results of the search of a model; NotFittedError, or InputError whose subject is the `purpose`."""
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
    return np.asarray(membership)[np.arange(len(model.labels_)), model.labels_]


# Estimators: parameters by name, and the attributes of their results.


class Estimator(SubtypeModel, ABC):
    """A model whose parameters are the arguments of its constructor, kept unchanged as attributes."""

    @abstractmethod
    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the subtypes of a cohort."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` has no effect."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; raise InputError that names all unknown ones."""
        names = list(self.get_params())
        if unknown := sorted(set(parameters) - set(names)):
            raise InputError(f"{type(self).__name__} has no parameter {', '.join(unknown)}; it has {', '.join(names)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit_predict(self, X: pd.DataFrame | ArrayLike, y: object = None) -> NDArray[np.int64]:
        """Fit the model and return `labels_`, int64 (N,)."""
        return self.fit(X).labels_

    def __repr__(self) -> str:
        shown = []
        for name, parameter in signature(type(self)).parameters.items():
            value, default = getattr(self, name), parameter.default  # a copy of a default equals it and is not the same
            is_default = type(value) is type(default) and isinstance(value, int | float | str) and value == default
            if value is not default and not is_default:
                text = str(value) if isinstance(value, np.random.Generator) else repr(value)  # without an address
                shown.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]) if hasattr(type(self), "transform") else None,
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )


NONE_COLUMN = "none_of_these"
"""Name of the probability of belonging to no subtype."""


def subtype_columns(codes: Sequence[Code]) -> list[str]:
    """Return the names of the probabilities of the subtypes, ``subtype_1`` .. ``subtype_K``."""
    return [f"subtype_{code}" for code in codes]


class FittedEstimator(Estimator):
    """An estimator with the attributes of its results, and a transformer of new subjects to `predict_proba`."""

    _results: ClassVar[str] = "fit_"
    """Name of the attribute that holds the results of a fit."""
    _of_paper: ClassVar[frozenset[str]] = frozenset({"leave_one_out_nll_", "completed_log_joint_"})
    """Results of the paper's search, which only `PublishedMAPDP` shows."""

    def __init_subclass__(cls, results: type = object) -> None:
        """Write its parameters, and what the properties of its results say, into the docstring of an estimator."""
        super().__init_subclass__()
        properties = [name for name, value in vars(results).items() if isinstance(value, property | cached_property)]
        texts = {name: indent(getdoc(getattr(results, name)) or "", " " * 4) for name in properties}
        attributes = "\n".join(f"{name}\n{text}" for name, text in texts.items() if name.endswith("_"))
        cls.__doc__ = (documented(cls).__doc__ or "").replace("{attributes}", attributes)

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the results of this name; AttributeError without such a value or before a fit."""
        results, estimator = vars(self).get(self._results), type(self).__name__
        is_fitted_attribute = name.endswith("_") and not name.startswith("_") and name not in self._of_paper
        value = getattr(results, name, None) if is_fitted_attribute and results is not None else None
        if value is not None:
            return value
        if results is None and (is_fitted_attribute or name == "labels"):
            raise not_fitted(f"This {estimator} is not fitted yet and has no {name!r}: call fit first")
        raise AttributeError(f"{name!r} is no attribute of this {estimator}")

    def __dir__(self) -> list[str]:
        names = (name for name in dir(vars(self).get(self._results)) if name.endswith("_") and not name.startswith("_"))
        return [*super().__dir__(), *(name for name in names if hasattr(self, name))]

    def __sklearn_is_fitted__(self) -> bool:
        return self._results in vars(self)

    def score(self, X: pd.DataFrame | ArrayLike, y: object = None) -> float:
        """Return the mean log predictive density of new subjects in nats."""
        return float(self.score_samples(X).mean())

    def transform(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """Return the probabilities of `predict_proba` with the index of `X` and named columns.

        The columns are ``subtype_1`` .. ``subtype_K`` and ``none_of_these``. Subjects of the fit are taken for new
        ones, and count themselves: `membership_`, of K columns, judges each by all others.
        """
        probabilities = self.predict_proba(X)
        if not isinstance(probabilities, np.ndarray):  # a Dask DataFrame, with these names
            return cast("pd.DataFrame", probabilities)
        table = in_pandas(X)
        index = table.index if isinstance(table, pd.DataFrame) else None
        return pd.DataFrame(probabilities, index=index, columns=self.get_feature_names_out())

    def fit_transform(self, X: pd.DataFrame | ArrayLike, y: object = None) -> pd.DataFrame:
        """Return ``fit(X).transform(X)``."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Return the names of the columns of `transform`, object (K + 1,)."""
        return np.array([*subtype_columns(self.codes_), NONE_COLUMN], dtype=object)

    @accepting(transform=Rule("'pandas'", lambda value: value in (None, "default", "pandas")))
    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the model: `transform` gives a pandas DataFrame; ValueError if another kind of table is asked for."""
        return self


# Partition: subtypes given by any method or person.

_SHOWN_ROWS = 5


class Partition(SubtypeModel):
    """A given partition of a cohort, which can be reported, tested and shared like a fitted `MAPDP`.

    Parameters
    ----------
    labels : array_like, shape (N,)
        Group of each subject: strings, whole numbers or categories, none missing; else ValueError is raised. A Series
        must have the index of the frame that it is reported with.
    schema : FeatureSchema
        Schema of the cohort. Features from which the partition may have been made have the role ``cluster`` and
        descriptive tests; others have the role ``describe``.
    made_by : str
        The person or method; completes the sentence "The subtypes were made by ...".

    Attributes
    ----------
    labels_ : int64 (N,)
        Subtype of each subject, 0 .. K - 1 by decreasing size, then by their first subjects.
    given_, names_ : tuple, dict of int to str
        The given label of each subtype, and default names by number from 1: these labels, or ``given as 2`` for
        numbers. Labels that are these numbers, from 0 or 1, give no names.

    Examples
    --------
    >>> import clinclust as cc
    >>> schema = cc.FeatureSchema([cc.Feature(name="falls", likelihood="poisson")])
    >>> groups = cc.Partition(["mild", "severe", "mild"], schema, made_by="a clinician")
    >>> groups
    Partition(2 subtypes of 3 subjects, made by a clinician)
    >>> groups.labels_.tolist(), groups.names_
    ([0, 1, 0], {1: 'mild', 2: 'severe'})
    """

    membership_: NDArray[np.float64] | None = None
    uninformative_: Mapping[str, str] = MappingProxyType({})
    fit_: Fit | None = None

    def __init__(self, labels: ArrayLike, schema: FeatureSchema, made_by: str) -> None:
        values, problems = _read_labels(labels)
        if not isinstance(schema, FeatureSchema):
            problems.append(f"schema must be a FeatureSchema, not {type(schema).__name__}")
        if not isinstance(made_by, str) or not made_by.strip():
            problems.append(f"made_by must say by whom or by what the partition was made, not {made_by!r}")
        refuse(problems)
        codes, groups = pd.factorize(np.array(values, dtype=object))
        self.labels_ = by_decreasing_size(np.asarray(codes, dtype=np.int64))
        first = np.unique(self.labels_, return_index=True)[1]
        self.given_: tuple[Any, ...] = tuple(groups[codes[place]] for place in first)
        self.schema_ = schema
        self.made_by = made_by.strip().rstrip(".")
        self.index_ = labels.index if isinstance(labels, pd.Series) else None

    @property
    def names_(self) -> dict[int, str]:
        """Given labels by number of the subtype; empty if the labels are these numbers, or these numbers less 1."""
        called = [f"{label:g}" if isinstance(label, float) else str(label) for label in self.given_]
        try:
            numbers = np.array(called, dtype=float)
        except ValueError:
            return dict(enumerate(called, start=1))
        if any((numbers == np.arange(start, start + len(called))).all() for start in (0, 1)):
            return {}
        return {subtype: f"given as {text}" for subtype, text in enumerate(called, start=1)}

    def __repr__(self) -> str:
        return f"Partition({self._counts}, made by {on_one_line(self.made_by)})"


def _read_labels(labels: ArrayLike) -> tuple[list[Any], list[str]]:
    """Return labels, strings stripped, and what is wrong with them."""
    values = np.array(labels, dtype=object)
    if isinstance(labels, np.ma.MaskedArray):  # else NumPy would go on with what is under the mask
        values[np.ma.getmaskarray(labels)] = None
    if values.ndim != 1 or not values.size:
        return [], [f"labels must be one label for each subject, of shape (N,), not of shape {values.shape}"]
    stripped = [value.strip() if isinstance(value, str) else value for value in values.tolist()]
    is_missing = [pd.api.types.is_scalar(value) and (pd.isna(value) or value == "") for value in stripped]
    problems, rows = list[str](), [str(row) for row in np.flatnonzero(is_missing)]
    if rows:
        places = ", ".join(rows[:_SHOWN_ROWS])
        problems.append(say("labels_missing", n_missing=len(rows), n_labels=len(stripped), places=places))
    present = [value for value, is_absent in zip(stripped, is_missing, strict=True) if not is_absent]
    for value in present:
        is_fraction = isinstance(value, float) and not value.is_integer()
        if is_fraction or not isinstance(value, str | Real | np.bool_):
            shown = f"{value:g}" if is_fraction else type(value).__name__
            problems.append(f"labels must be texts or whole numbers, not {shown}")
            break
    texts = {value for value in present if isinstance(value, str)}
    if both := texts & {str(value) for value in present if not isinstance(value, str)}:
        problems.append(f"labels hold {', '.join(sorted(both))} as text and as number; make them one of both")
    return stripped, problems


# The cohort of a fitted model: a partition with the table of its subjects, and the problem of the fit.
#
# A public function takes a model and a table of its user, makes one `FittedCohort` of them (`cohort_of`), and hands
# that on: everything below relies on validated columns in the order of the labels.


@dataclass(frozen=True, eq=False)
class FittedCohort:
    """A partition of a cohort with the table of its subjects."""

    model: SubtypeModel
    table: pd.DataFrame
    """The validated columns of the schema, N rows in the order of the labels, measurements adjusted as in the fit."""
    rows: NDArray[np.int64] | None = None
    """(N,) the row of each subject in the table of the user; None if that has the order of the labels."""

    @classmethod
    def of(cls, model: SubtypeModel, validated: pd.DataFrame, rows: NDArray[np.int64] | None = None) -> FittedCohort:
        """Return the cohort of a validated table in the order of the labels; measurements are adjusted here, once."""
        return cls(model, validated if model.fit_ is None else model.fit_.adjusted(validated), rows)

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
        """Results of the MAP-DP search; InputError if no such search made the partition (no `model.fit_`)."""
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

    CohortError is raised if the table does not fit the schema, InputError if it is not the cohort.
    """
    validated, rows = validated_cohort(model, frame)
    if np.array_equal(rows, np.arange(len(rows))):
        return FittedCohort.of(model, validated)
    warn(say("rows_in_another_order"))
    return FittedCohort.of(model, validated.iloc[rows], rows)


def validated_cohort(model: SubtypeModel, frame: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the validated table of the cohort of a model, and the row of each subject in it, int64 (N,)."""
    refuse(cohort_problems(model, frame))
    if not {feature.name for feature in model.schema_ if not feature.is_ignored} - set(frame.columns):
        frame = frame.loc[:, frame.columns.isin(model.schema_.names)]  # outcomes come years later
    validated = model.schema_.validate(frame, warn=False)
    if model.fit_ is None:
        return validated, np.arange(len(validated))
    rows = model.fit_.cohort_fingerprint_.rows_of_fit(validated)
    if rows is None:
        names = [str(name) for name in validated]
        compared = ", ".join(names[:8]) + (f" and {len(names) - 8} more columns" if len(names) > 8 else "")
        raise InputError(say("other_subjects", n_rows=len(frame), compared=compared, hint=hint_at_rows(model.schema_)))
    return validated, rows


def cohort_problems(model: SubtypeModel, frame: pd.DataFrame) -> list[str]:
    """Return why `frame` cannot be the cohort, by its number of rows and its index; NotFittedError before a fit."""
    require_fitted(model)
    if getattr(model.fit_, "in_sample_", None) is not None:
        return ["the model was fitted on a table in partitions; model.in_sample() gives a model and a table in memory"]
    if len(frame) != len(model.labels_):
        source, which = "the model was fitted on", f"that it was fitted on{hint_at_rows(model.schema_)}"
        if model.fit_ is None:
            source, which = "the labels are of", "which the labels are of"
        return [f"the table has {len(frame)} rows, but {source} {len(model.labels_)} subjects; give the table {which}"]
    if model.index_ is not None and not model.index_.equals(frame.index):
        return [say("other_index")]
    return []


def rows_of_the_fit(fit: Fit, frame: pd.DataFrame) -> NDArray[np.int64] | None:
    """Return the position in `frame` of each subject of the fit, int64 (N,); None if `frame` is another table."""
    with suppress(CohortError):  # new subjects need neither identifiers nor described columns
        if len(frame) == len(fit.cluster_labels_):
            return fit.cohort_fingerprint_.rows_of_fit(fit.schema_.validate(frame, warn=False))
    return None


def fitted_problem(fit: Fit, cohort: pd.DataFrame | Problem, coarsening: float) -> Problem:
    """Return the problem of a fit at this coarsening: hyperparameters, weights, features, outliers.

    `cohort` is the table of the fit or, if it is encoded already, a problem of all its values.
    """
    if isinstance(cohort, pd.DataFrame):
        cohort = pose(cohort, fit.schema_, fit.hyperparameters_, fit.concentration_)
    model = fit.clusters_.model._replace(coarsening=coarsening)
    encoded = cohort.with_powers(model.powers).cohort.with_prior(model.prior, model.powers)
    problem = replace(cohort, cohort=encoded, hyperparameters=fit.hyperparameters_, model=model)
    features = problem.cohort.encoding.features
    if fit.outlying_share_ > 0.0:
        outlying = fit.outliers_[:, fit.schema_.places(features)][problem.cohort.order]
        problem = without_outlying(problem, outlying, fit.outlying_share_)
    return with_selected(problem, np.array([fit.differs[feature.name] for feature in features], dtype=np.bool_))


def with_selected(problem: Problem, included: Mask) -> Problem:
    """Return the problem with the selected features, bool (D,); all if no feature is."""
    return problem.with_features(included) if included.any() else problem


# What papers on latent classes report of each number of subtypes; the test decides on other grounds.


@accepting(model=MODEL, frame=FRAME)
def information_criteria(model: SubtypeModel, frame: pd.DataFrame) -> pd.DataFrame:
    """Return BIC, ICL and relative entropy for each number of subtypes along the tree of a fitted `MAPDP`.

    Each is of a finite mixture, features independent in a subtype, with the posterior predictives instead of the
    densities of largest likelihood: BIC = -2 ln L + p ln N (Schwarz 1978), and ICL = BIC + 2 E (Biernacki, Celeux and
    Govaert 2000), E the sum over subjects and subtypes of -m ln m of the memberships m; the least is best. A mixture
    fits a continuum, or features that depend on each other, with ever more subtypes; `distinct_subtypes` does not.

    The DataFrame has one row for each number: `n_subtypes`, `log_likelihood` (nats), `n_parameters`, `bic`, `icl`, and
    `relative_entropy`, 1 - E / (N ln K). `frame` is the table of the fit: CohortError is raised if it does not fit the
    schema, ValueError if it is another table or no MAP-DP search made the model.

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
        scores += np.log((n + fit.concentration_) / n)  # the shares of the process, without that of a new cluster
        of_subjects = logsumexp(scores, axis=1)
        p = np.exp(scores - of_subjects[:, None])
        n_parameters = int(n_subtypes - 1 + (np.where(clusters.included, n_subtypes, 1) * free).sum())
        bic, uncertain = n_parameters * np.log(n) - 2.0 * of_subjects.sum(), -xlogy(p, p).sum()
        sure = 1.0 if n_subtypes == 1 else 1.0 - uncertain / (n * np.log(n_subtypes))
        rows.append((n_subtypes, of_subjects.sum(), n_parameters, bic, bic + 2.0 * uncertain, sure))
    names = ["n_subtypes", "log_likelihood", "n_parameters", "bic", "icl", "relative_entropy"]
    return pd.DataFrame(rows, columns=names)


# The log joint of any partition.


@accepting(frame=FRAME, labels=LABELS, schema=SCHEMA)
def log_joint(
    frame: pd.DataFrame,
    labels: ArrayLike,
    schema: FeatureSchema,
    hyperparameters: Mapping[str, Mapping[str, Any]] | None = None,
    concentration: float = 3.0,
    *,
    coarsening: float = 1.0,
    block_weights: Mapping[str, float] | None = None,
) -> float:
    """Return the collapsed log joint ln p(X_obs, z) of any partition, in nats, all constants included.

    `MAPDP` gives the equation and the parameters. Partitions of one cohort under the same parameters are comparable;
    for the result of a fit without outlying values and selected features it equals `log_joint_`. `labels`, values of
    any type (N,), are the cluster of each subject; `block_weights` are as `MAPDP.block_weights_`, by default 1.
    CohortError is raised if the table does not fit the schema, ValueError if labels or a parameter cannot be used.

    Examples
    --------
    >>> import clinclust as cc
    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frail = rng.random(200) < 0.4
    >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
    >>> schema = cc.draft_schema(frame)
    >>> two_subtypes, one_subtype = cc.log_joint(frame, frail, schema), cc.log_joint(frame, np.zeros(200), schema)
    >>> round(two_subtypes - one_subtype)  # nats for two subtypes
    212
    """
    numbers = {"concentration": concentration, "coarsening": coarsening}
    refuse(parameter_problems({"hyperparameters": hyperparameters, "block_weights": block_weights, **numbers}))
    frame = schema.validate(frame, warn=False)
    codes = cluster_codes(labels, len(frame), called="labels")
    problem = pose(frame, schema, hyperparameters, block_weights=block_weights, **numbers)
    return joint_of(problem, problem.partition(codes[problem.cohort.order]))
