"""Cut a fit to a number of subtypes: unions of the clusters that the search found, without another search.

A search that starts at the unions leaves them again where features depend on each other inside subtypes, because the
joint pays for slices of such a subtype (benchmarks/results/number_asked_for.md). A union keeps what the search found,
and its evidence follows from pooled statistics.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.few_subjects import refuse_too_large_a_floor, with_floor
from clinclust.estimators.parameters import MAPDP_RULES, check_parameters

if TYPE_CHECKING:
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes
    from clinclust.estimators.fit import Fit
    from clinclust.estimators.mapdp import MAPDP

__all__ = [
    "DISTINCT",
    "as_asked",
    "cut_model",
    "merged_fit",
    "merged_model",
    "number_asked_for",
    "refuse_more_than_subjects",
]


DISTINCT = "distinct"
"""The value of `MAPDP.n_clusters` for as many subtypes as the test of the tree finds distinct."""


def as_asked(fit: Fit, n_clusters: int | str | None, min_size: float | None = None) -> Fit:
    """Return the fit with as many subtypes as `MAPDP.n_clusters` asks for, and with the floor of `MAPDP.min_size`.

    The floor comes last, so that the result is the same whatever mergers were there before.

    Raises
    ------
    ValueError
        If the search found fewer clusters, or distinct subtypes are asked for and the tree was not tested.
    """
    return with_floor(_numbered(fit, n_clusters), min_size)


def _numbered(fit: Fit, n_clusters: int | str | None) -> Fit:
    """Return the fit with as many subtypes as asked for."""
    if n_clusters is None:
        return merged_fit(fit, np.arange(fit.subtype_of_.size))
    if n_clusters == DISTINCT:
        if fit.tree_test_ is None:
            raise InputError(
                "which subtypes are distinct was not tested at the fit; fit with n_clusters='distinct', or give "
                "`cut` what `distinct_subtypes(model, frame)` returns"
            )
        return merged_fit(fit, fit.tree_test_.distinct_of(fit.tree_))
    asked, n_found = int(n_clusters), fit.subtype_of_.size
    if asked > n_found:
        in_python = "; to keep a search whatever it finds, fit without `n_clusters`, and then call `model.cut`"
        raise InputError(_too_few(fit, asked, n_found), in_python=in_python)
    return merged_fit(fit, fit.tree_.subtype_of(asked))


def merged_fit(fit: Fit, subtype_of: NDArray[np.int64]) -> Fit:
    """Return the fit with its clusters merged: `subtype_of`, int64 (J,), groups them; groups are numbered by size."""
    sizes = fit.clusters_.sizes.astype(np.int64)
    return replace(fit, subtype_of_=groups_by_decreasing_size(subtype_of, sizes))


def merged_model(
    model: MAPDP, subtype_of: ArrayLike, *, n_clusters: int | str | None, min_size: float | None = None
) -> MAPDP:
    """Return a fitted model with its clusters merged into subtypes; the given model is not changed.

    Parameters
    ----------
    model : MAPDP
        A fitted model, merged or not.
    subtype_of : int (J,)
        Group of each cluster that the search found, by any numbers. Subtypes are numbered 0 .. K - 1 by size.
    n_clusters : int, "distinct" or None
        The parameter of the new model.
    min_size : int, float or None
        The floor of the new model: further subtypes may be merged (`few_subjects`).

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If there is not one whole number for each cluster.
    """
    groups, n_found = np.asarray(subtype_of), model.subtype_of_.size
    if groups.shape != (n_found,) or groups.dtype.kind not in "iu":
        raise InputError(
            f"subtype_of must be {n_found} whole numbers, one for each cluster that the search found; these are "
            f"{groups.dtype} of shape {groups.shape}"
        )
    merged = copy.copy(model)
    merged.n_clusters, merged.min_size = n_clusters, min_size
    merged.fit_ = with_floor(merged_fit(model.fit_, groups.astype(np.int64)), min_size)
    return merged


def cut_model(model: MAPDP, n_clusters: int | str | DistinctSubtypes | None, min_size: float | None = None) -> MAPDP:
    """Return a fitted model with `n_clusters` subtypes and a floor for their size; see `MAPDP.cut`."""
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes

    if isinstance(n_clusters, DistinctSubtypes):
        return _distinct_model(model, n_clusters, min_size)
    rules = {name: MAPDP_RULES[name] for name in ("n_clusters", "min_size")}
    check_parameters(rules, n_clusters=n_clusters, min_size=min_size)
    refuse_too_large_a_floor(min_size, model.cluster_labels_.size)
    cut = copy.copy(model)
    cut.n_clusters = int(n_clusters) if isinstance(n_clusters, Integral) else n_clusters
    cut.min_size = int(min_size) if isinstance(min_size, Integral) else min_size
    cut.fit_ = as_asked(model.fit_, cut.n_clusters, cut.min_size)
    return cut


def _distinct_model(model: MAPDP, distinct: DistinctSubtypes, min_size: float | None) -> MAPDP:
    """Return a fitted model with the distinct subtypes that were found in its tree, and keeps their test."""
    tree, tested = model.fit_.tree_, distinct.tree
    # The evidence of all joins is that of all clusters against one, whatever their order.
    is_same = np.array_equal(tree.labels, tested.labels) and np.isclose(tree.evidence.sum(), tested.evidence.sum())
    if not is_same:
        raise InputError(
            "the distinct subtypes are those of another fit; test this one: distinct_subtypes(model, frame)"
        )
    found = copy.copy(model)
    found.fit_ = replace(model.fit_, tree_=tested, tree_test_=distinct.test)
    return cut_model(found, DISTINCT, min_size)


def number_asked_for(model: MAPDP) -> int | None:
    """Return the number of subtypes of a fitted model that was asked for or made by a merger; None if it was free."""
    return model.n_clusters_ if isinstance(model.n_clusters, Integral) or model.subtypes_.is_merged else None


def refuse_more_than_subjects(n_clusters: int | str | None, n_subjects: int) -> None:
    """Raise InputError, before a search, if more subtypes are asked for than there are subjects."""
    if isinstance(n_clusters, Integral) and n_clusters > n_subjects:
        raise InputError(
            f"{n_clusters} subtypes were asked for, and the cohort has {n_subjects} subjects; ask for fewer subtypes, "
            "or check how the table was read or filtered"
        )


def _too_few(fit: Fit, asked: int, found: int) -> str:
    """Return what is said to whoever asked for more subtypes than the search found."""
    groups = "1 group" if found == 1 else f"{found} groups"
    fewer = "leave the number open" if found == 1 else f"ask for at most {found}, or leave the number open"
    finer = [f"a larger concentration (now {fit.concentration_:.3g})"]
    if fit.coarsening_ < 1.0:
        finer.append(f"a coarsening nearer to 1 (now {fit.coarsening_:.3g})")
    if fit.stopped_early_:
        finer.append("more time (its limit ended it)")
    return (
        f"{asked} subtypes were asked for, and the search found {groups} of subjects. Subtypes are unions of these "
        f"groups, so that there can be no more; {fewer}. A search that finds more groups needs {' or '.join(finer)}"
    )
