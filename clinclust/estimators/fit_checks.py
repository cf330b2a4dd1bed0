"""Check a fit that was read from files: its parts must belong to its schema and to each other.

A checksum tells that a file was changed, unless whoever changed it computed the checksum anew. These checks hold for
every fit, so that one that fails them did not come from a search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clinclust.engine.problem.blocks import members_of_chains, powers_of_features
from clinclust.engine.problem.encoding import in_encoded_order
from clinclust.engine.search.labels import groups_by_decreasing_size
from clinclust.estimators.array_rules import shape_problems, value_problems
from clinclust.estimators.fingerprint import salt_of
from clinclust.estimators.hyperparameters_check import hyperparameters_problems
from clinclust.estimators.parameters import RULES
from clinclust.estimators.table_rules import table_problems

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit
    from clinclust.schema import Feature

__all__ = ["fit_problems"]

_SHA256 = re.compile("[0-9a-f]{64}")


def fit_problems(fit: Fit, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return what is wrong with a fit that was read from files, and with its arrays by name; empty if nothing is.

    Shapes are compared once the features are known, values once the shapes are right, and what follows from other
    fields once every field by itself is right: a label out of range would count the subjects of 2**40 clusters.
    """
    problems = list(_problems_of_features(fit))
    if problems:
        return problems
    described = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    problems = shape_problems(described, _axes(fit))
    if problems:
        return problems
    problems = [*value_problems(arrays), *table_problems(fit), *_problems_of_numbers(fit)]
    if problems:
        return problems
    problems = [*_problems_of_clusters(fit), *_problems_of_subtypes(fit), *_problems_of_powers(fit)]
    problems += _problems_of_tree(fit)
    return [*problems, *hyperparameters_problems(fit), *_problems_of_salt(fit)]


def _axes(fit: Fit) -> dict[str, int]:
    likelihoods = fit.clusters_.encoding.likelihoods
    axes = {
        "D": len(fit.schema_.parts),
        "F": len(likelihoods),
        "S": sum(likelihood.n_statistics for likelihood in likelihoods),
        "H": sum(likelihood.n_hyperparameters for likelihood in likelihoods),
    }
    return axes if fit.resolution_path_ is None else axes | {"steps": len(fit.resolution_path_.steps)}


def _problems_of_features(fit: Fit) -> Iterator[str]:
    features = fit.clusters_.encoding.features
    possible = fit.schema_.clustered_parts
    clustered = [part for part in possible if not {part.name, part.column} & set(fit.uninformative_)]
    # The features of a multivariate Gaussian block are in an order of their own.
    if _sorted_in_blocks(features) != _sorted_in_blocks(in_encoded_order(clustered)) or not features:
        yield "the encoded features are not those that the schema clusters on, in the order of an encoding"
    unknown = sorted(set(fit.uninformative_) - {name for part in possible for name in (part.name, part.column)})
    if unknown:
        yield f"uninformative_ names {', '.join(unknown)}, on which the schema does not cluster"


def _sorted_in_blocks(features: Sequence[Feature]) -> list[Feature]:
    """Return features with those of each multivariate Gaussian block by name."""
    found = list(features)
    for members in members_of_chains(features):
        by_name = sorted((features[place] for place in members), key=lambda feature: feature.name)
        for place, feature in zip(members, by_name, strict=True):
            found[place] = feature
    return found


def _problems_of_numbers(fit: Fit) -> Iterator[str]:
    model = fit.clusters_.model
    numbers = {"concentration": model.concentration, "discount": model.discount, "coarsening": model.coarsening}
    for name, value in {**numbers, "outlying_share": fit.clusters_.outlying_share}.items():
        yield from RULES[name].problems(name, value)
    if not 1 <= fit.min_size_ <= fit.cluster_labels_.size:
        yield f"min_size_ is {fit.min_size_}"
    if fit.random_seed_ < 0:
        yield f"random_seed_ is {fit.random_seed_}"
    if not _SHA256.fullmatch(fit.cohort_fingerprint_.digest):
        yield "the digest of the fingerprint is none"
    counts = fit.row_counts_
    if counts is not None and (counts.problems() or counts.taken < fit.cluster_labels_.size):
        yield "row_counts_ are not those of a table with this cohort"
    path = fit.resolution_path_
    if path is not None and path.chosen is not None and path.chosen not in path.steps["coarsening"].tolist():
        yield "the chosen coarsening is none of the path"


def _problems_of_salt(fit: Fit) -> Iterator[str]:
    if fit.cohort_fingerprint_.salt != salt_of(fit.schema_, fit.random_seed_, fit.cluster_labels_, fit.clusters_):
        yield "the schema, the seed, the labels or the clusters are not those that the cohort was fitted with"


def _problems_of_clusters(fit: Fit) -> Iterator[str]:
    sizes = np.bincount(fit.cluster_labels_[fit.cluster_labels_ >= 0])
    if not np.array_equal(sizes, fit.clusters_.sizes):
        yield "the sizes of the clusters are not the numbers of their labels"
    elif (np.diff(sizes) > 0).any():
        yield "the clusters are not numbered by decreasing size"
    if not np.allclose(fit.cluster_membership_.sum(axis=1), 1.0, rtol=0.0, atol=1e-6):
        yield "cluster_membership_ has rows that do not sum to 1"
    if fit.outliers_.any() and fit.clusters_.outlying_share == 0.0:
        yield "outliers_ marks values although none can be outlying"


def _problems_of_subtypes(fit: Fit) -> Iterator[str]:
    sizes = fit.clusters_.sizes.astype(np.int64)
    if not np.array_equal(fit.subtype_of_, groups_by_decreasing_size(fit.subtype_of_, sizes)):
        yield "the subtypes are not numbered by decreasing size"


def _problems_of_powers(fit: Fit) -> Iterator[str]:
    features, powers = fit.clusters_.encoding.features, fit.clusters_.model.powers
    if not np.array_equal(powers, powers_of_features(features, fit.block_weights_)):
        yield "the powers of the features are not those of their blocks"


def _problems_of_tree(fit: Fit) -> Iterator[str]:
    if not np.array_equal(fit.tree_.labels, fit.cluster_labels_):
        yield "the labels of the tree are not those of the fit"
    n_clusters = fit.clusters_.sizes.size
    left = set(range(n_clusters))
    for step, sides in enumerate(fit.tree_.joins.tolist()):
        if len(set(sides)) != 2 or not left.issuperset(sides):
            yield f"step {step + 1} of the tree joins {sides[0]} and {sides[1]}, which are not two groups that are left"
            return
        left = left.difference(sides) | {n_clusters + step}
    if fit.tree_test_ is not None:
        yield from fit.tree_test_.problems(fit.tree_)
