"""New subjects: their clusters and probabilities, the memberships of the cohort, and what is noted of new tables."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, wraps
from threading import Event
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from clinclust.arguments import RANDOM_STATE, TEXT, WHOLE, accepting, in_pandas, is_partitioned
from clinclust.arrays import Array, Code, Labels, RandomState
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.encoding import model_values
from clinclust.engine.problem.problem import probabilities
from clinclust.engine.search.plan import interruptible
from clinclust.errors import CohortError, InputError, refuse, warn
from clinclust.estimators.cohort_table import table_of_fitted, warn_of_other_rows
from clinclust.estimators.estimator import FittedAttributes
from clinclust.estimators.explanation import explanation
from clinclust.estimators.imputation import impute
from clinclust.estimators.multiple_imputation import multiple_imputations
from clinclust.estimators.partitioned import in_partitions
from clinclust.files.cell_text import listed, quoted
from clinclust.schema import FeatureSchema
from clinclust.schema.reading import read_column
from clinclust.schema.validation import column_failures, failures_frame, read_columns

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Clusters
    from clinclust.estimators.fit import Fit


REFUSE, TAKE_FOR_MISSING = "refuse", "missing"
"""What can be done with values that the model cannot read."""


# Memberships of new subjects as a table of named columns, for a next step of a pipeline of scikit-learn.

NONE_COLUMN = "none_of_these"
"""Name of the probability of belonging to no subtype."""


def subtype_columns(codes: Sequence[Code]) -> list[str]:
    """Return the names of the probabilities of the subtypes, ``subtype_1`` .. ``subtype_K``."""
    return [f"subtype_{code}" for code in codes]


class Memberships(FittedAttributes):
    """A transformer: new subjects in, the columns of `predict_proba` out."""

    @abstractmethod
    def predict_proba(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1); last, of none of these."""

    @abstractmethod
    def score_samples(self, X: pd.DataFrame | ArrayLike) -> Array:
        """Return the log predictive density of new subjects in nats, float64 (n,)."""

    def score(self, X: pd.DataFrame | ArrayLike, y: object = None) -> float:
        """Return the mean log predictive density of new subjects in nats."""
        return float(self.score_samples(X).mean())

    def transform(self, X: pd.DataFrame | ArrayLike) -> pd.DataFrame:
        """Return the probabilities of `predict_proba` with the index of `X` and named columns.

        The columns are ``subtype_1`` .. ``subtype_K`` and ``none_of_these``, as in the table of ``clinclust assign``; a
        row sums to 1, so that a regression takes all but one. Subjects of the fit are taken for new ones, and count
        themselves: `membership_`, of K columns, judges each by all others.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import clinclust as cc
        >>> import numpy as np
        >>> import pandas as pd
        >>> from sklearn.linear_model import LinearRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> rng = np.random.default_rng(0)
        >>> frail = rng.random(200) < 0.4
        >>> frame = pd.DataFrame({"gait": rng.normal(1.2 - 0.6 * frail, 0.1), "grip": rng.normal(34 - 12 * frail, 3)})
        >>> falls = rng.poisson(0.5 + 2 * frail)
        >>> model = cc.MAPDP(cc.draft_schema(frame), random_state=0, progress=False)
        >>> pipeline = make_pipeline(model, LinearRegression()).fit(frame, falls)
        >>> pipeline[0].transform(frame.head(2)).round(2)
           subtype_1  subtype_2  none_of_these
        0        1.0        0.0            0.0
        1        0.0        1.0            0.0
        >>> pipeline.predict(frame.head(2)).round(1)
        array([0.5, 2.6])
        """
        probabilities = self.predict_proba(X)
        if not isinstance(probabilities, np.ndarray):  # a Dask DataFrame, with these names
            return probabilities
        table = in_pandas(X)
        index = table.index if isinstance(table, pd.DataFrame) else None
        return pd.DataFrame(probabilities, index=index, columns=self.get_feature_names_out())

    def fit_transform(self, X: pd.DataFrame | ArrayLike, y: object = None) -> pd.DataFrame:
        """Return ``fit(X).transform(X)``."""
        return self.fit(X).transform(X)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray[Any, np.dtype[np.object_]]:
        """Return the names of the columns of `transform`, object (K + 1,)."""
        return np.array([*subtype_columns(self.codes_), NONE_COLUMN], dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Return the model: `transform` gives a pandas DataFrame, whatever a pipeline asks of all its steps.

        Raises
        ------
        ValueError
            If another kind of table is asked for.
        """
        if transform not in (None, "default", "pandas"):
            raise InputError(f"transform returns a pandas DataFrame; transform must be 'pandas', not {transform!r}")
        return self


# Predictions for new subjects: subtypes, densities and imputed values.

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
        return cast(R, in_partitions(cast(Prediction, args[0]), method.__name__, args[1], **arguments))

    return of_any_table


class Prediction(Memberships):
    """An estimator that assigns new subjects to the subtypes of its fit."""

    fit_: Fit
    made_by = "a MAP-DP search"
    """The method that made the subtypes, for reports."""

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
        scores = self.cluster_scores(X, unseen=unseen)
        best = self.fit_.subtypes_.log_summed(scores).argmax(axis=1)
        return np.where(best == self.n_clusters_, NONE_OF_THESE, best).astype(np.int64)

    @of_each_partition
    def predict_proba(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the probability of each subtype for new subjects, float64 (n, K + 1); rows sum to 1.

        The last column is the probability of none of these subtypes (a new cluster): a new subject may belong to none.
        A subject of the cohort cannot, so that `membership_` has K columns. `transform` names the columns. `unseen` is
        as in `predict`.
        """
        scores = self.cluster_scores(X, unseen=unseen)
        return self.fit_.subtypes_.summed(probabilities(scores))

    @of_each_partition
    def score_samples(self, X: pd.DataFrame | ArrayLike, *, unseen: str = "refuse") -> Array:
        """Return the log predictive density of new subjects in nats, float64 (n,) (Raykov et al. 2016, eq. 33).

        The coarsening does not apply. `unseen` is as in `predict`.
        """
        return np.asarray(logsumexp(self.cluster_scores(X, coarsened=False, unseen=unseen), axis=1), dtype=np.float64)

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
        frame = self._validated(X, unseen)
        return explanation(self.fit_, frame)

    @of_each_partition
    @accepting(how=TEXT, random_state=RANDOM_STATE)
    def impute(
        self, frame: pd.DataFrame | ArrayLike, *, how: str = "mean", random_state: RandomState = None
    ) -> pd.DataFrame:
        """Return the validated columns with missing values of clustered features filled in.

        The predictive of a missing value is sum_k p(k | observed) p(x | cluster k), with a new cluster among the k.
        Values are taken to be missing at random. Described columns, those of other roles and features in
        `uninformative_` are returned unchanged; a `CohortWarning` names those with missing values.

        Parameters
        ----------
        frame : DataFrame or array
            Subjects of the cohort or new ones. Identifiers and described columns may be absent.
        how : {"mean", "draw"}
            What to take from the predictive, on the modelled scale, transformed back and clipped to the allowed range.
            Of unordered levels the mean is the most probable level; whole numbers are rounded; an infinite mean of a
            cluster is replaced by its median.
        random_state : int, numpy.random.Generator, RandomState or None
            Seed or generator of ``"draw"``.

        Returns
        -------
        DataFrame
            The validated columns, one row per subject.

        Raises
        ------
        CohortError
            If the table does not fit the schema.
        NotFittedError
            If the model is not fitted.
        ValueError
            If `how` is none of these.

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
        """
        self._require_fit()
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        return impute(self.fit_, table, self.cluster_scores, how, np.random.default_rng(random_state))

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
        observed of it (a Gaussian copula; data augmentation of Tanner and Wong 1987). Described columns take part and
        are filled too; a column that says nothing of a subject is filled with observed values. Squares and products of
        columns are lost (a slope of .27 came out as .19), unless `formula` names the regression that has them.

        Analyse each table as if it were complete, and pool the results with `pool_estimates`. Do not
        test differences between the subtypes in imputed tables: the values were drawn from the clusters.

        Parameters
        ----------
        frame : DataFrame or array
            The cohort of the fit, rows in any order. For new subjects use ``impute(how="draw")``.
        m : int
            Number of imputations.
        formula : str, optional
            The regression of the analysis, such as ``"pain ~ age + I(age ** 2)"``: values are drawn by its density of
            the outcome, a described measurement (linear) or yes/no column (logistic), which keeps squares and products
            (Bartlett et al. 2015). Its right side is a formula of statsmodels; levels in order are their scores.
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
            If the table is not the cohort of the fit, `m` or `n_sweeps` is below 1, or `formula` cannot be used.

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
        self._require_fit()
        refuse([f"{name} must be at least 1, not {n}" for name, n in (("m", m), ("n_sweeps", n_sweeps)) if n < 1])
        table = table_of_fitted(frame, self.schema_.names, called="frame")
        rng, cancelled = np.random.default_rng(random_state), Event()
        draws = partial(multiple_imputations, self, table, m, n_sweeps, rng, cancelled, formula)
        tables = interruptible(draws, cancelled)
        unfilled = [feature.name for feature in self.schema_.reported if tables[0][feature.name].isna().any()]
        if unfilled:
            warn(f"nothing is observed in {listed(unfilled)}, so that nothing is filled in")
        return tables

    def cluster_scores(self, X: pd.DataFrame | ArrayLike, *, coarsened: bool = True, unseen: str = REFUSE) -> Array:
        """Return ln p(z = j) + ln p(x | cluster j) of new subjects in nats, float64 (n, J + 1); last, a new cluster.

        With `coarsened`, the likelihood has its power, as for probabilities; densities need False.
        """
        frame, clusters = self._validated(X, unseen), self.fit_.clusters_
        features = clusters.encoding.features
        values = model_values(frame, features)
        _warn_of_empty_rows(frame, self.selected_features_)
        _warn_of_far_columns(clusters, values)

        def scores() -> Array:
            with announcing_compilation():
                found = clusters.scores(values, coarsened=coarsened)
            adjustment = None if coarsened else self.fit_.adjustment_
            return found if adjustment is None else found + adjustment.log_jacobian(frame, self.schema_)[:, None]

        return interruptible(scores)

    def _validated(self, X: pd.DataFrame | ArrayLike, unseen: str) -> pd.DataFrame:
        """Return the columns that the clusters were found from, of new subjects, validated and adjusted."""
        fit, schema = self._require_fit(), self.schema_needed
        if unseen not in (REFUSE, TAKE_FOR_MISSING):
            shown = repr(unseen) if isinstance(unseen, str) and len(unseen) < 40 else type(unseen).__name__
            raise InputError(f"unseen must be {REFUSE!r} or {TAKE_FOR_MISSING!r}, not {shown}")
        warn_of_other_rows(fit.schema_, X)
        frame = table_of_fitted(X, fit.schema_.names)
        if unseen == TAKE_FOR_MISSING:
            frame, note = without_unseen(schema, frame)
            if note:
                warn(note)
        table: pd.DataFrame = fit.adjusted(validate_subjects(schema, frame))
        return table

    @property
    def schema_needed(self) -> FeatureSchema:
        """The features that the model needs of new subjects: those clustered on, and those adjusted for."""
        clustered = {feature.column for feature in self.clusters_.encoding.features}
        adjusted = {feature.name for feature in self.schema_ if feature.role == "adjust" and self.fit_.adjustment_}
        return self.schema_.restricted_to(clustered | adjusted)


# New subjects of a fitted model: notes on their table, and values that the model cannot read.
#
# New rows may have repeated or missing identifiers, which a note reports. Unreadable values, such as an unknown level,
# are refused or become missing. No note shows a value of the table.

_SHOWN_ROWS = 5


def _warn_of_empty_rows(frame: pd.DataFrame, names: Sequence[str]) -> None:
    rows = frame.index[frame[list(names)].isna().all(axis="columns").to_numpy()]
    if names and len(rows):
        warn(
            f"{_which(rows)} no observed value in any feature that tells the subtypes apart; their subtype is the most "
            "frequent one, by its size alone"
        )


_FEWEST_NEW, _MOSTLY = 5, 0.5


def _warn_of_far_columns(clusters: Clusters, values: Mapping[str, Array]) -> None:
    """Warn of each measurement most of whose new values lie beyond those of the cohort.

    The values are those of the model, float64 (n,) by feature. Beyond is where the clusters, weighted by their sizes,
    expect one in 2 N subjects at most: another unit, or the codes of another hospital.
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
            warn(
                f"{feature.column}: {int(is_far.sum()):,} of {new.size:,} values lie beyond nearly all values of the "
                "cohort; check the unit, the decimal mark and the missing codes of this table"
            )


def notes_on_new_subjects(schema: FeatureSchema, frame: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence on missing and one on repeated identifiers, with the labels of the first rows."""
    names = [feature.name for feature in schema.ids]
    if not names or any(list(frame.columns).count(name) != 1 for name in names):
        return  # new subjects need no identifier: their rows have numbers
    keys = pd.DataFrame(
        {
            feature.name: read_column(feature, schema.missing_codes_of(feature), frame[feature.name]).typed.to_numpy()
            for feature in schema.ids
        }
    )
    missing = keys.isna().any(axis="columns").to_numpy()
    repeated: NDArray[np.bool_] = keys.duplicated(keep=False).to_numpy() & ~missing
    if missing.any():
        yield f"{_which(frame.index[missing])} no identifier ({', '.join(names)})"
    if repeated.any():
        yield (
            f"{_which(frame.index[repeated])} an identifier ({', '.join(names)}) that other rows have too; each row is "
            "assigned by itself"
        )


def _which(labels: pd.Index) -> str:
    """Return subject and verb of a sentence on the rows with these labels."""
    shown = ", ".join(map(str, labels[:_SHOWN_ROWS]))
    return f"1 row ({shown}) has" if len(labels) == 1 else f"{len(labels)} rows (first: {shown}) have"


Rows = NDArray[np.bool_]

_REPAIR = (
    "Correct the cells; or take values that the model does not know for missing (unseen='missing'), so that the other "
    "values of these subjects decide."
)
_DIGITS = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_ABSENT = "Rename the column that holds it, or add an empty one: a missing value is allowed."
_MOST_ROWS, _SHOWN_COLUMNS = 5, 10


def rows_at_fault(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[Rows, CohortError]:
    """Return the rows with an unreadable cell, bool (n,), and the error that lists these cells."""
    rows, failures = np.zeros(len(frame), dtype=np.bool_), []
    for name, reading in read_columns(schema, frame)[1].items():
        rows |= np.logical_or.reduce([rows, *reading.faults.values()])
        failures += column_failures(schema[name], reading, frame.index)
    return rows, CohortError(about_new_subjects(failures_frame(failures), schema))


def without_unseen(schema: FeatureSchema, frame: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return the table with every unreadable cell missing, and a note on their positions; empty if there are none."""
    cleared = frame.copy(deep=False)
    noted = []
    for name, rows in unseen_rows(schema, frame).items():
        cleared[name] = frame[name].astype(object).mask(rows, None)
        noted.append(f"{name} ({_rows(frame.index[rows])})")
    if not noted:
        return frame, ""
    more = f", and {len(noted) - _SHOWN_COLUMNS} more columns" if len(noted) > _SHOWN_COLUMNS else ""
    return cleared, (
        "values that the model does not know were taken for missing, as asked: "
        f"{', '.join(noted[:_SHOWN_COLUMNS])}{more}; the other values of these subjects decide"
    )


def unseen_rows(schema: FeatureSchema, frame: pd.DataFrame) -> dict[str, Rows]:
    """Return the rows with an unreadable cell, bool (n,), by feature; a missing required value is none."""
    found = {}
    for name, reading in read_columns(schema, frame)[1].items():
        unread = [rows for kind, rows in reading.faults.items() if kind != "observed"]
        if unread:
            found[name] = np.logical_or.reduce(unread)
    return found


def validate_subjects(schema: FeatureSchema, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the validated columns of new subjects; CohortError has repairs that do not change the schema."""
    try:
        return schema.validate(frame, warn=False)
    except CohortError as error:
        raise CohortError(about_new_subjects(error.failures, schema)) from error


def about_new_subjects(failures: pd.DataFrame, schema: FeatureSchema) -> pd.DataFrame:
    """Return the failures of new subjects with repairs that do not change the schema."""
    failures = failures.copy()
    parts = (failures[name] for name in ("column", "rows", "expected", "repair", "examples"))
    failures["repair"] = [
        _alike(schema, column, examples) + _REPAIR
        if rows
        else _ABSENT
        if expected == "a column of this name"
        else repair
        for column, rows, expected, repair, examples in zip(*parts, strict=True)
    ]
    return failures


def _alike(schema: FeatureSchema, column: object, examples: Sequence[object]) -> str:
    """Return a sentence on missing codes of the form of a value, such as `20-25%` for `40-45%`; empty without any."""
    feature = next((one for one in schema if one.name == column), None)
    if feature is None:
        return ""
    forms = {_form(str(text)) for text in examples if not _DIGITS.fullmatch(str(text))}
    alike = [code for code in feature.missing_codes if _DIGITS.search(code) and _form(code) in forms]
    if not alike:
        return ""
    shown = listed(map(quoted, alike), len(alike))
    return f"The model takes values of this form for missing ({shown}), but only those that its schema lists. "


def _form(text: str) -> str:
    return _DIGITS.sub("0", " ".join(text.casefold().split()))


def _rows(labels: pd.Index) -> str:
    shown = ", ".join(map(str, labels[:_MOST_ROWS]))
    if len(labels) > _MOST_ROWS:
        return f"{len(labels)} rows, first {shown}"
    return f"row{'' if len(labels) == 1 else 's'} {shown}"
