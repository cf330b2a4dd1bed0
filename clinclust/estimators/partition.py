"""Partition: subtypes given by any method or person."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from clinclust.control_characters import on_one_line
from clinclust.engine.search.labels import by_decreasing_size
from clinclust.errors import refuse
from clinclust.estimators.estimator import BaseSubtypes
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit

_SHOWN_ROWS = 5


class Partition(BaseSubtypes):
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

    def __init__(self, labels: ArrayLike, schema: FeatureSchema, made_by: str) -> None:
        values = _values(labels)
        problems = _problems(values)
        if not isinstance(schema, FeatureSchema):
            problems.append(f"schema must be a FeatureSchema, not {type(schema).__name__}")
        if not isinstance(made_by, str) or not made_by.strip():
            problems.append(f"made_by must say by whom or by what the partition was made, not {made_by!r}")
        refuse(problems)
        codes, given = pd.factorize(values)
        self._labels = by_decreasing_size(np.asarray(codes, dtype=np.int64))
        first = np.unique(self._labels, return_index=True)[1]
        self.given_: tuple[Any, ...] = tuple(given[codes[place]] for place in first)
        self.schema_ = schema
        self.made_by = made_by.strip().rstrip(".")
        self.index_ = labels.index if isinstance(labels, pd.Series) else None

    @property
    def labels_(self) -> NDArray[np.int64]:
        """Subtype of each subject, int64 (N,)."""
        return self._labels

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

    @property
    def membership_(self) -> NDArray[np.float64] | None:
        """None: a given partition has no membership probabilities."""
        return None

    @property
    def uninformative_(self) -> Mapping[str, str]:
        """Empty: the features used are unknown."""
        return MappingProxyType({})

    @property
    def fit_(self) -> Fit | None:
        """None: the partition was not found by a MAP-DP search."""
        return None

    def __repr__(self) -> str:
        subtypes = "1 subtype" if self.n_clusters_ == 1 else f"{self.n_clusters_} subtypes"
        return f"Partition({subtypes} of {self.labels_.size:,} subjects, made by {on_one_line(self.made_by)})"

    def _repr_html_(self) -> str:
        from clinclust.estimators.notebook_view import partition_html

        return partition_html(self, self.given_)


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
