"""What the estimators share, their view in a notebook, and a partition that others have made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.arrays import Code
from clinclust.engine.search.settle import by_decreasing_size
from clinclust.errors import InputError, not_fitted, on_one_line, refuse
from clinclust.estimators.fit import STOPPED_EARLY
from clinclust.estimators.mixture import MEANING_OF_MARKS
from clinclust.estimators.subtype_model import SubtypeModel, own_membership
from clinclust.schema import FeatureSchema
from clinclust.schema.feature_schema import block, paragraph, table

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit


# HTML view of a fitted model or a given partition for notebooks.

_MOST_RELEVANT = 10


def model_html(model: SubtypeModel, fit: Fit) -> str:
    """Return a fitted model as HTML: its results and its parameters."""
    sizes, marks, own = fit.cluster_sizes_, fit.remarks_, own_membership(model)
    certainty = np.empty(0) if own is None else np.bincount(model.labels_, own) / sizes
    subtypes = [
        (*cells, *(f"{mean:.2f}" for mean in certainty[label : label + 1]), *[", ".join(marks[label])] * any(marks))
        for label, cells in enumerate(sizes_in_rows(sizes, fit.codes_))
    ]
    header = (
        "Subtype",
        "Subjects",
        "%",
        *["Mean membership probability"] * certainty[:1].size,
        *["Remark"] * any(marks),
    )
    relevance = fit.feature_relevance_.sort_values(ascending=False, kind="stable").iloc[:_MOST_RELEVANT]
    relevant = [(fit.schema_[str(name)].title, f"{nats:,.1f}") for name, nats in relevance.items()]
    n_groups = fit.subtype_of_.size
    unions = f", made of the {n_groups} groups that the search found" if n_groups > sizes.size else ""
    of_subjects = f"{counted_subtypes(sizes.size)} of {sizes.sum():,} subjects{unions}"
    return block(
        f"MAPDP: {of_subjects}, log joint {fit.log_joint_:,.1f} nats",
        table(header, subtypes),
        *([paragraph(MEANING_OF_MARKS)] if any(marks) else []),
        table(("Most relevant features (descriptive)", "Nats"), relevant),
        *(paragraph(warning) for warning in _warnings(fit)),
        paragraph(repr(model)),
    )


def sizes_in_rows(sizes: NDArray[np.int64], codes: Sequence[Code]) -> list[tuple[str, str, str]]:
    """Return the code, size and percentage of each subtype as strings."""
    total = sizes.sum()
    return [
        (f"{code}", f"{size:,}", f"{100 * size / total:.1f}") for code, size in zip(codes, sizes.tolist(), strict=True)
    ]


def counted_subtypes(n_subtypes: int) -> str:
    """Return a number of subtypes in words."""
    return "1 subtype" if n_subtypes == 1 else f"{n_subtypes} subtypes"


def _warnings(fit: Fit) -> Iterable[str]:
    restarts = fit.restarts_
    best = restarts["log_joint"].max()
    if not restarts["converged"].iloc[restarts["log_joint"].argmax()]:
        yield "Warning: the best search was still moving subjects when it was stopped; raise max_sweeps."
    small = [f"{code}" for code, is_small in zip(fit.codes_, fit.untested_, strict=True) if is_small]
    if small:
        which = f"subtype {small[0]} has" if len(small) == 1 else f"subtypes {', '.join(small)} have"
        yield f"Few subjects, untested: {which} fewer than {fit.min_size_} subjects; see untested_."
    if fit.stopped_early_:
        yield f"Warning: the search was {STOPPED_EARLY}."
    near = restarts["log_joint"].round(6)[restarts["log_joint"] >= best - 1.0].nunique()
    if near > 1:
        filled = "" if fit.completed_log_joint_ is None else ", with filled values"
        yield f"Warning: {near} partitions lie within 1 nat of the best{filled}; see restarts_."
    if fit.uninformative_:
        yield "Warning: not clustered on: " + "; ".join(f"{name} ({why})" for name, why in fit.uninformative_.items())


# Estimators: parameters by name, and the attributes of their results.


class Estimator(SubtypeModel, ABC):
    """A model whose parameters are the arguments of its constructor, kept unchanged as attributes."""

    @abstractmethod
    def fit(self, X: pd.DataFrame | ArrayLike, y: object = None) -> Self:
        """Find the subtypes of a cohort."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` has no effect."""
        return {name: getattr(self, name) for name in _defaults(self)}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; raise InputError that names all unknown ones."""
        names = _defaults(self)
        unknown = sorted(set(parameters) - set(names))
        if unknown:
            raise InputError(f"{type(self).__name__} has no parameter {', '.join(unknown)}; it has {', '.join(names)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit_predict(self, X: pd.DataFrame | ArrayLike, y: object = None) -> NDArray[np.int64]:
        """Fit the model and return `labels_`, int64 (N,)."""
        return self.fit(X).labels_

    def __repr__(self) -> str:
        defaults = _defaults(self)
        changed = {name: value for name, value in self.get_params().items() if not _is_same(value, defaults[name])}
        return f"{type(self).__name__}({', '.join(f'{name}={_shown(value)}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]) if hasattr(type(self), "transform") else None,
            input_tags=InputTags(allow_nan=True, string=True, categorical=True),
        )


def _defaults(estimator: Estimator) -> dict[str, Any]:
    """Return the default of each parameter of the constructor, by name."""
    return {parameter.name: parameter.default for parameter in signature(type(estimator)).parameters.values()}


def _is_same(value: object, default: object) -> bool:
    """Return whether a value is the default, or equals it as a copy does."""
    return value is default or (
        type(value) is type(default) and isinstance(value, int | float | str) and value == default
    )


def _shown(value: object) -> str:
    """Return the repr of a parameter, without memory addresses."""
    return str(value) if isinstance(value, np.random.Generator) else repr(value)


class FittedAttributes(Estimator):
    """An estimator with the attributes of its results: each that ends in an underscore and is not None."""

    _results: ClassVar[str] = "fit_"
    """Name of the attribute that holds the results of a fit."""
    _of_paper: ClassVar[frozenset[str]] = frozenset({"leave_one_out_nll_", "completed_log_joint_"})
    """Results of the paper's search, which only `PublishedMAPDP` shows."""

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of the results of this name, which must end in an underscore.

        NotFittedError is raised without a fit, AttributeError if the attribute is None or unknown.
        """
        results, estimator = vars(self).get(self._results), type(self).__name__
        is_fitted_attribute = name.endswith("_") and not name.startswith("_") and name not in self._of_paper
        value = getattr(results, name, None) if is_fitted_attribute and results is not None else None
        if value is not None:
            return value
        if results is None and (is_fitted_attribute or name == "labels"):
            raise not_fitted(f"{name!r} is no attribute of this {estimator}, which is not fitted yet: call fit first")
        raise AttributeError(f"{name!r} is no attribute of this {estimator}")

    def __dir__(self) -> list[str]:
        names = (name for name in dir(vars(self).get(self._results)) if name.endswith("_") and not name.startswith("_"))
        return [*super().__dir__(), *(name for name in names if hasattr(self, name))]

    def __sklearn_is_fitted__(self) -> bool:
        return self._results in vars(self)

    def _require_fit(self) -> Any:
        """Return the results of the fit; raise NotFittedError without any."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(f"This {type(self).__name__} is not fitted yet: call fit first")
        return vars(self)[self._results]


# Partition: subtypes given by any method or person.

_SHOWN_ROWS = 5


class Partition(SubtypeModel):
    """A given partition of a cohort, which can be reported, tested and shared like a fitted `MAPDP`.

    `write_report`, `validated_associations`, `subtype_table` and the figures accept it. Reports omit relevance,
    certainty, restarts and tree.

    Parameters
    ----------
    labels : array_like, shape (N,)
        Group of each subject: strings, whole numbers or categories, none missing. A Series must have the index of the
        frame that it is reported with.
    schema : FeatureSchema
        Schema of the cohort. Features from which the partition may have been made have the role ``cluster`` and
        descriptive tests; others have the role ``describe``.
    made_by : str
        The person or method; completes the sentence "The subtypes were made by ...".

    Attributes
    ----------
    labels_ : int64 (N,)
        Subtype of each subject, 0 .. K - 1 by decreasing size, then by their first subjects.
    n_clusters_ : int
    cluster_sizes_ : int64 (K,)
    given_ : tuple
        The given label of each subtype.
    names_ : dict of int to str
        Default names of the subtypes, by number from 1: the given labels, or ``given as 2`` for numbers. Labels that
        are these numbers, from 0 or 1, give no names.
    index_ : pandas.Index or None
        Index of `labels` if they were a Series.
    schema_ : FeatureSchema
    membership_, fit_ : None
    uninformative_ : mapping
        Empty.

    Raises
    ------
    ValueError
        If labels are missing, not one-dimensional, or neither strings nor whole numbers, or if `schema` or `made_by`
        cannot be used.

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
    """None: a given partition has no membership probabilities."""
    uninformative_: Mapping[str, str] = MappingProxyType({})
    """Empty: the features used are unknown."""
    fit_: Fit | None = None
    """None: the partition was not found by a MAP-DP search."""

    def __init__(self, labels: ArrayLike, schema: FeatureSchema, made_by: str) -> None:
        values = _values(labels)
        problems = _problems(values)
        if not isinstance(schema, FeatureSchema):
            problems.append(f"schema must be a FeatureSchema, not {type(schema).__name__}")
        if not isinstance(made_by, str) or not made_by.strip():
            problems.append(f"made_by must say by whom or by what the partition was made, not {made_by!r}")
        refuse(problems)
        codes, given = pd.factorize(values)
        self.labels_ = by_decreasing_size(np.asarray(codes, dtype=np.int64))
        first = np.unique(self.labels_, return_index=True)[1]
        self.given_: tuple[Any, ...] = tuple(given[codes[place]] for place in first)
        self.schema_ = schema
        self.made_by = made_by.strip().rstrip(".")
        self.index_ = labels.index if isinstance(labels, pd.Series) else None

    @property
    def names_(self) -> dict[int, str]:
        """Given labels by number of the subtype; empty if the labels are these numbers, or these numbers less 1."""
        called = [f"{label:g}" if isinstance(label, float) else str(label) for label in self.given_]
        if not all(map(_is_number, called)):
            return dict(enumerate(called, start=1))
        numbers = np.array([float(text) for text in called])
        if any((numbers == np.arange(start, start + len(called))).all() for start in (0, 1)):
            return {}
        return {subtype: f"given as {text}" for subtype, text in enumerate(called, start=1)}

    def __repr__(self) -> str:
        subtypes, made_by = counted_subtypes(self.n_clusters_), on_one_line(self.made_by)
        return f"Partition({subtypes} of {self.labels_.size:,} subjects, made by {made_by})"

    def _repr_html_(self) -> str:
        rows = zip(self.given_, sizes_in_rows(self.cluster_sizes_, self.codes_), strict=True)
        subtypes = [(number, str(label), *cells) for label, (number, *cells) in rows]
        of_subjects = f"{counted_subtypes(len(subtypes))} of {self.labels_.size:,} subjects"
        return block(
            f"Partition: {of_subjects}, made by {self.made_by}",
            table(("Subtype", "Given as", "Subjects", "%"), subtypes),
        )


def _values(labels: ArrayLike) -> NDArray[Any]:
    """Return labels as an array of objects; strings are stripped, missing labels become None."""
    # A masked label is missing; without this NumPy would go on with what is under the mask.
    given: Any = labels
    if isinstance(labels, np.ma.MaskedArray):
        given = np.array(labels.data, dtype=object)
        given[np.ma.getmaskarray(labels)] = None
    values = np.asarray(given, dtype=object)
    if values.ndim != 1:
        return values
    stripped = np.empty(values.shape, dtype=object)
    for place, value in enumerate(values.tolist()):
        value = value.strip() if isinstance(value, str) else value
        is_missing = pd.api.types.is_scalar(value) and (pd.isna(value) or value == "")
        stripped[place] = None if is_missing else value
    return stripped


def _problems(values: NDArray[Any]) -> list[str]:
    if values.ndim != 1 or not values.size:
        return [f"labels must be one label for each subject, of shape (N,), not of shape {values.shape}"]
    found = []
    missing = [row for row, value in enumerate(values.tolist()) if value is None]
    if missing:
        first = ", ".join(str(row) for row in missing[:_SHOWN_ROWS])
        found.append(
            f"labels: {len(missing)} of {len(values)} are missing (first at position {first}, counted from 0); "
            "leave these subjects out of the labels and of the frame, or give them a group of their own"
        )
    odd = next((value for value in values.tolist() if not isinstance(value, str | Real | np.bool_ | None)), None)
    fractions = [value for value in values.tolist() if isinstance(value, float) and not value.is_integer()]
    if odd is not None:
        found.append(f"labels must be texts or whole numbers, not {type(odd).__name__}")
    both = {value for value in values.tolist() if isinstance(value, str)} & {
        str(value) for value in values.tolist() if value is not None and not isinstance(value, str)
    }
    if both:
        found.append(f"labels hold {', '.join(sorted(both))} as text and as number; make them one of both")
    if fractions:
        found.append(f"labels must be texts or whole numbers; {len(fractions)} have decimals, as {fractions[0]:g}")
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
