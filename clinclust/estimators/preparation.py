"""Checks before a search, shared by a fit and `clinclust check`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from clinclust.errors import CohortWarning, InputError
from clinclust.estimators.cohort_table import cohort_and_schema
from clinclust.estimators.copied_rows import warn_of_copied_rows
from clinclust.files.listed import limited
from clinclust.files.selection.repeated_subjects import noted_several_rows
from clinclust.schema import FeatureSchema

if TYPE_CHECKING:
    from clinclust.engine.problem.problem import Problem
    from clinclust.estimators.settings import Settings

_ROWS_SHOWN = 5


class Prepared(NamedTuple):
    """A cohort that can be fitted."""

    frame: pd.DataFrame
    """The validated columns."""
    schema: FeatureSchema
    problem: Problem


def prepared(settings: Settings, X: pd.DataFrame | ArrayLike, *, stacklevel: int) -> Prepared:
    """Return the checked cohort with the problem of the fit.

    Raises CohortError if the table does not fit the schema, and InputError if no feature is left, memory is too small,
    or the subtypes asked for cannot be had. Stack level 1 is the caller.
    """
    from clinclust.engine.search.threads import interruptible

    interruptible(_import_everything)
    from clinclust.estimators.cost import refuse_or_warn_of_memory
    from clinclust.estimators.cut import refuse_more_than_subjects, refuse_too_large_a_floor

    frame, schema = several_subjects(X, settings.schema, stacklevel=stacklevel + 1, progress=settings.progress)
    refuse_more_than_subjects(settings.n_clusters, len(frame))
    refuse_too_large_a_floor(settings.min_size, len(frame))
    cohort = posed(frame, schema, partial(settings.problem_of, frame, schema), stacklevel=stacklevel + 1)
    refuse_or_warn_of_memory(cohort.problem, settings, stacklevel=stacklevel + 1)
    return cohort


def several_subjects(
    X: pd.DataFrame | ArrayLike, schema: FeatureSchema | None, *, stacklevel: int, progress: bool
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Return the columns and schema of `cohort_and_schema`; InputError for fewer than two subjects."""
    frame, schema = cohort_and_schema(X, schema, stacklevel=stacklevel + 1, progress=progress)
    if len(frame) == 1:
        raise InputError(
            "No feature is left to cluster on: the cohort has one subject, and subtypes need at least "
            "two. Check how the file was read or filtered",
            in_python=" (n_samples = 1)",
        )
    return frame, schema


def posed(frame: pd.DataFrame, schema: FeatureSchema, pose: Callable[[], Problem], *, stacklevel: int) -> Prepared:
    """Return the cohort with its problem, and warn of rows and columns that inform no clustering."""
    from clinclust.engine.search.threads import interruptible
    from clinclust.schema.validation import warn_of_uninformative

    warn_of_visits(frame, stacklevel=stacklevel + 1)
    problem = interruptible(pose)
    warn_of_uninformative(problem.kept_out, len(frame), stacklevel=stacklevel + 1)
    names = list(dict.fromkeys(feature.column for feature in problem.cohort.encoding.features))
    warn_of_unobserved(frame, names, stacklevel=stacklevel + 1)
    warn_of_copied_rows(frame, names, stacklevel=stacklevel + 1)
    _warn_of_gaps(problem, frame, stacklevel=stacklevel + 1)
    return Prepared(frame, schema, problem)


def warn_of_visits(frame: pd.DataFrame, *, stacklevel: int) -> None:
    """Warn of several rows per subject."""
    found = noted_several_rows(frame)
    if found is not None:
        told = f"ROWS ARE NOT PATIENTS, and each counts as a subject of its own: {found.sentence()}"
        warnings.warn(limited(told), CohortWarning, stacklevel=stacklevel + 1)


def warn_of_unobserved(frame: pd.DataFrame, names: list[str], *, stacklevel: int) -> None:
    """Warn of rows without any value in these columns, such as notes or totals."""
    rows = frame.index[frame[names].isna().all(axis="columns").to_numpy()]
    if len(rows):
        shown = ", ".join(map(str, rows[:_ROWS_SHOWN]))
        warnings.warn(
            f"no observed value in any feature to cluster on: {len(rows)} row(s) (first: {shown}); each still counts "
            "as a subject, so leave notes, totals and empty rows out of the table",
            CohortWarning,
            stacklevel=stacklevel + 1,
        )


def _warn_of_gaps(problem: Problem, frame: pd.DataFrame, *, stacklevel: int) -> None:
    """Warn of values in a multivariate Gaussian block that are not used, because a more complete one is missing."""
    encoding, arrays = problem.cohort.encoding, problem.cohort.arrays
    n_table, n_used = arrays.codes.shape[1], (~np.isnan(arrays.values)).sum(axis=0)
    lost: dict[str, int] = {}
    for index, likelihood in enumerate(encoding.likelihoods):
        if likelihood.n_before:
            feature = encoding.features[index]
            n_lost = int(frame[feature.name].notna().sum()) - int(n_used[index - n_table])
            lost[str(feature.block)] = lost.get(str(feature.block), 0) + n_lost
    told = [f"{block}: {n} value(s)" for block, n in lost.items() if n]
    if told:
        warnings.warn(
            "values of multivariate Gaussian blocks that take no part in the search, because their subject has no "
            f"value in a more complete feature of the block: {'; '.join(told)}. Where these are many, take the "
            "features with the most missing values out of the block",
            CohortWarning,
            stacklevel=stacklevel + 1,
        )


def _import_everything() -> None:
    """Import what a fit needs, because Ctrl-C during an import in the main thread would leave half a module behind."""
    import clinclust.estimators.cost  # noqa: F401
