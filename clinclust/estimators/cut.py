"""Cut a fit to a number of subtypes: unions of the clusters that the search found, without another search.

A subtype below the floor (`min_size`) is merged where it is hardly distinct, else it is described but not tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from clinclust.arrays import Labels
from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.few_subjects import NO_FLOOR, evidence_between, with_joined
from clinclust.estimators.parameters import DISTINCT, MAPDPParameters, check_parameters, rules_of

if TYPE_CHECKING:
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes
    from clinclust.estimators.fit import Fit


WEAK_EVIDENCE = 5.0
"""Evidence in nats below which two subtypes are hardly distinct (Kass and Raftery 1995: less than very strong)."""


def as_asked(fit: Fit, n_clusters: int | str | None, min_size: float | None = None) -> Fit:
    """Return the fit with `MAPDP.n_clusters` and then the floor `MAPDP.min_size`.

    InputError is raised if the search found fewer clusters, or the tree of distinct subtypes was not tested.
    """
    return with_floor(_numbered(fit, n_clusters), min_size)


def _numbered(fit: Fit, n_clusters: int | str | None) -> Fit:
    """Return the fit with this number of subtypes."""
    if n_clusters is None:
        return merged_fit(fit, np.arange(fit.subtype_of_.size))
    if n_clusters == DISTINCT:
        if fit.tree_test_ is None:
            raise InputError(
                "which subtypes are distinct was not tested at the fit; fit with n_clusters='distinct', or give "
                "`cut` what `distinct_subtypes(model, frame)` returns"
            )
        return merged_fit(fit, fit.tree_test_.parted_of(fit.tree_))
    asked, n_found = int(n_clusters), fit.subtype_of_.size
    if asked > n_found:
        in_python = "; to keep a search whatever it finds, fit without `n_clusters`, and then call `model.cut`"
        raise InputError(_too_few(fit, asked, n_found), in_python=in_python)
    return merged_fit(fit, fit.tree_.subtype_of(asked))


def merged_fit(fit: Fit, subtype_of: NDArray[np.int64]) -> Fit:
    """Return the fit with its clusters merged to the groups `subtype_of`, int64 (J,), numbered by size."""
    sizes = fit.clusters_.sizes.astype(np.int64)
    return replace(fit, subtype_of_=groups_by_decreasing_size(subtype_of, sizes))


def cut_fit(fit: Fit, n_clusters: int | str | DistinctSubtypes | None, min_size: float | None = None) -> Fit:
    """Return a fit with `n_clusters` subtypes and a floor for their size; see `MAPDP.cut`."""
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes
    from clinclust.estimators.partitioned.fit import PartitionedFit, floor_as_share

    if isinstance(n_clusters, DistinctSubtypes):
        return cut_fit(_with_test(fit, n_clusters), DISTINCT, min_size)
    check_parameters(rules_of(MAPDPParameters), n_clusters=n_clusters, min_size=min_size)
    if isinstance(fit, PartitionedFit):
        n_subjects = int(fit.clusters_.sizes.sum())
        refuse_too_large_a_floor(min_size, n_subjects)
        return fit.with_subtypes_of(cut_fit(fit.in_sample_, n_clusters, floor_as_share(min_size, n_subjects)))
    refuse_too_large_a_floor(min_size, fit.cluster_labels_.size)
    return as_asked(fit, n_clusters, min_size)


def _with_test(fit: Fit, distinct: DistinctSubtypes) -> Fit:
    """Return the fit with the test and tree of distinct subtypes."""
    tree, tested = fit.tree_, distinct.tree
    # The evidence of all joins is that of all clusters against one, whatever their order.
    is_same = np.array_equal(tree.labels, tested.labels) and np.isclose(tree.evidence.sum(), tested.evidence.sum())
    if not is_same:
        raise InputError(
            "the distinct subtypes are those of another fit; test this one: distinct_subtypes(model, frame)"
        )
    return replace(fit, tree_=tested, tree_test_=distinct.test)


def refuse_more_than_subjects(n_clusters: int | str | None, n_subjects: int) -> None:
    """Raise InputError, before a search, if there are fewer subjects than subtypes."""
    if isinstance(n_clusters, Integral) and n_clusters > n_subjects:
        raise InputError(
            f"{n_clusters} subtypes were asked for, and the cohort has {n_subjects} subjects; ask for fewer subtypes, "
            "or check how the table was read or filtered"
        )


def refuse_too_large_a_floor(min_size: float | None, n_subjects: int) -> None:
    """Raise InputError, before a search, if no two subtypes can have `MAPDP.min_size` subjects."""
    floor = _in_subjects(min_size, n_subjects)
    if 2 * floor <= n_subjects:
        return
    most = n_subjects // 2
    repair = f"give at most {most}" if most >= 2 else "leave it out"
    raise InputError(
        f"at least {floor} subjects in a subtype were asked for (min_size), and the cohort has {n_subjects}, so that "
        f"no two subtypes can be compared; {repair}, or check how the table was read or filtered"
    )


def with_floor(fit: Fit, min_size: float | None) -> Fit:
    """Return the fit with a floor for the size of its subtypes.

    Repeatedly, of the pairs with a subtype below the floor that are hardly distinct, that with the least evidence is
    merged.
    """
    floor = _in_subjects(min_size, fit.cluster_labels_.size)
    fit = replace(fit, min_size_=floor)
    pair = _pair_to_merge(fit)
    while pair is not None:
        groups = with_joined(fit.subtype_of_, *pair, fit.clusters_.sizes)
        fit = replace(fit, subtype_of_=groups)
        pair = _pair_to_merge(fit)
    return fit


def _in_subjects(min_size: float | None, n_subjects: int) -> int:
    """Return the floor in subjects, rounded up."""
    if min_size is None:
        return NO_FLOOR
    if isinstance(min_size, Integral):
        return int(min_size)
    # The decimal as it was written: in binary, a tenth of 30 subjects is a little more than 3.
    return max(NO_FLOOR, math.ceil(Fraction(repr(float(min_size))) * n_subjects))


def _pair_to_merge(fit: Fit) -> tuple[int, int] | None:
    """Return the two subtypes to merge next; None if there are none."""
    small = np.flatnonzero(fit.untested_)
    if not small.size or fit.n_clusters_ == 1:
        return None
    distinct = _distinct_subtype_of(fit)
    pairs = [pair for pair in _pairs(small, fit.n_clusters_) if distinct is None or _is_inside_one(distinct, *pair)]
    if not pairs:
        return None
    evidence = evidence_between(fit.subtypes_.pooled, np.array(pairs))
    best = int(evidence.argmin())
    return pairs[best] if distinct is not None or evidence[best] < WEAK_EVIDENCE else None


def _pairs(small: Labels, n_subtypes: int) -> Iterator[tuple[int, int]]:
    """Yield each pair of subtypes with at least one small one, once."""
    is_small = set(small.tolist())
    for lost in small.tolist():
        yield from ((kept, lost) for kept in range(n_subtypes) if kept not in is_small or kept < lost)


def _distinct_subtype_of(fit: Fit) -> Labels | None:
    """Return the distinct subtype of each subtype, int64 (K,); -1 if several, None without a test."""
    if fit.tree_test_ is None:
        return None
    of_clusters = fit.tree_test_.parted_of(fit.tree_)
    holding = [np.unique(of_clusters[fit.subtype_of_ == subtype]) for subtype in range(fit.n_clusters_)]
    return np.array([found[0] if found.size == 1 else -1 for found in holding], dtype=np.int64)


def _is_inside_one(distinct: Labels, first: int, second: int) -> bool:
    return bool(distinct[first] == distinct[second] >= 0)


def _too_few(fit: Fit, asked: int, found: int) -> str:
    """Return the message for more subtypes than clusters found."""
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
