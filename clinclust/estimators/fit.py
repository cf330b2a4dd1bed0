"""What a search found, frozen and complete, and the check of a `Fit` that was loaded."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import xlogy

from clinclust.arrays import Array, Code, Labels
from clinclust.engine.problem.encoding import in_encoded_order, members_of_chains, powers_of_blocks, powers_of_features
from clinclust.engine.problem.problem import Clusters, flat_prior, named_hyperparameters
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.estimators.adjustment import Adjustment
from clinclust.estimators.cohort_table import CohortFingerprint, salt_of
from clinclust.estimators.joint import ResolutionPath
from clinclust.estimators.mixture import NO_FLOOR, SubtypeMixture, cluster_parameters, marks_of
from clinclust.estimators.parameters import RULES
from clinclust.estimators.subtype_tree import JOIN_DTYPES, SubtypeTree, TreeTest, is_tested
from clinclust.files.row_choice import RowCounts
from clinclust.likelihoods.likelihood import Likelihood
from clinclust.schema import FeatureSchema
from clinclust.schema.feature import of_wholes

if TYPE_CHECKING:
    from clinclust.schema import Feature


# Fit: the immutable results of a search, attributes of a fitted estimator.

STOPPED_EARLY = "ended by its time limit with the best partition so far; a longer search may find a better one"
"""Completes the sentence "The search was ..." in reports."""


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The results of a search. A fitted estimator has each field that is not None as an attribute; see `MAPDP`.

    Fields are of the clusters that the search found; `subtype_of_` maps them to subtypes. The fields are
    saved as they are declared here; a new array or table needs a rule below.
    """

    schema_: FeatureSchema
    random_seed_: int
    cluster_labels_: Labels
    cluster_membership_: Array
    clusters_: Clusters
    subtype_of_: Labels
    log_joint_: float
    log_joint_trace_: Array
    leave_one_out_nll_: float
    hyperparameters_: dict[str, dict[str, Any]]
    uninformative_: dict[str, str]
    tree_: SubtypeTree
    outliers_: NDArray[np.bool_]
    restarts_: pd.DataFrame
    tuning_: pd.DataFrame
    versions_: dict[str, str]
    cohort_fingerprint_: CohortFingerprint
    stopped_early_: bool
    row_counts_: RowCounts | None = None
    tree_test_: TreeTest | None = None
    resolution_path_: ResolutionPath | None = None
    min_size_: int = NO_FLOOR
    completed_log_joint_: float | None = None
    prior_strength_: float = 0.0
    adjustment_: Adjustment | None = None

    def adjusted(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a validated table as the model sees it: its measurements at the averages of the adjusted columns."""
        return frame if self.adjustment_ is None else self.adjustment_.remove(frame, self.schema_)

    def restored(self, completed: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a completed table of `adjusted` as that of `frame`, which is validated and has the same rows."""
        return completed if self.adjustment_ is None else self.adjustment_.restore(completed, frame, self.schema_)

    @cached_property
    def subtypes_(self) -> SubtypeMixture:
        """The subtypes as mixtures of the clusters that the search found."""
        return SubtypeMixture(self.clusters_, self.subtype_of_)

    @cached_property
    def labels_(self) -> Labels:
        """Subtype of each subject, int64 (N,)."""
        return self.subtype_of_[self.cluster_labels_]

    @cached_property
    def membership_(self) -> Array:
        """Probability of each subtype for each subject, float64 (N, K)."""
        return self.subtypes_.summed(self.cluster_membership_)

    @cached_property
    def feature_relevance_(self) -> pd.Series[float]:
        """Separation of the subtypes by each feature, in nats, the largest first; descriptive."""
        features, nats = of_wholes(self.clusters_.encoding.features, self.subtypes_.pooled.relevance())
        relevance = pd.Series(nats, index=[feature.name for feature in features], name="relevance")
        return relevance.sort_values(ascending=False, kind="stable")

    @cached_property
    def cluster_parameters_(self) -> pd.DataFrame:
        """Parameters of each subtype in each feature, with 95% intervals (`MAPDP`)."""
        return cluster_parameters(self.subtypes_, self.schema_)

    @cached_property
    def merged_log_joint_(self) -> float:
        """Log joint of the partition into subtypes, in nats; `log_joint_` if no clusters were merged."""
        if not self.subtypes_.is_merged:
            return self.log_joint_
        rise = self.subtypes_.pooled.log_joint_of_partition() - self.clusters_.log_joint_of_partition()
        return self.log_joint_ + rise

    @cached_property
    def kinds_(self) -> Labels | None:
        """Kind of each subject, int64 (N,), 0, 1, ... by decreasing size: its subtype if grades of one are united.

        None if the tree was not tested.
        """
        test = self.tree_test_
        return None if test is None else test.parted_of(self.tree_, "distinct")[self.cluster_labels_]

    @cached_property
    def grades(self) -> list[list[int]] | None:
        """The subtypes 0 .. K - 1 of each kind (`kinds_`), if they are those of the test and a kind has several.

        None if the tree was not tested, every subtype is a kind of its own, or the fit was cut to another number.
        """
        test = self.tree_test_
        if test is None or self.tree_.n_subtypes != self.subtype_of_.size:
            return None
        kind_of, tested_of = (test.parted_of(self.tree_, by).tolist() for by in ("distinct", "accepted"))
        subtype_of, n_kinds = self.subtype_of_.tolist(), max(kind_of) + 1
        pairs = sorted(set(zip(kind_of, subtype_of, strict=True)))
        is_cut = len(set(zip(tested_of, subtype_of, strict=True))) > max(tested_of) + 1 or len(pairs) > self.n_clusters_
        if is_cut or n_kinds == self.n_clusters_:
            return None
        return [[subtype for kind, subtype in pairs if kind == number] for number in range(n_kinds)]

    @cached_property
    def codes_(self) -> list[Code]:
        """What each subtype is called: the numbers 1 .. K, or texts if kinds have grades (1a, 1b, 2)."""
        if self.grades is None:
            return [*range(1, self.n_clusters_ + 1)]
        codes: list[Code] = [""] * self.n_clusters_
        for kind, subtypes in enumerate(self.grades, start=1):
            for grade, subtype in enumerate(subtypes):
                letter = ascii_lowercase[grade % 26] * (grade // 26 + 1)  # aa after z
                codes[subtype] = f"{kind}{letter}" if len(subtypes) > 1 else f"{kind}"
        return codes

    @property
    def relative_entropy_(self) -> float:
        """1 - sum of -p ln p over subjects and subtypes / (N ln K), of the memberships p; 1 with one subtype."""
        p = self.membership_
        if p.shape[1] == 1:
            return 1.0
        return float(1.0 + xlogy(p, p).sum() / (p.shape[0] * math.log(p.shape[1])))

    @property
    def cluster_sizes_(self) -> Labels:
        """Number of subjects in each subtype, int64 (K,)."""
        return np.bincount(self.labels_)

    @property
    def n_clusters_(self) -> int:
        """Number of subtypes, K."""
        return int(self.cluster_sizes_.size)

    @property
    def untested_(self) -> NDArray[np.bool_]:
        """Whether a subtype is below the floor for tests, bool (K,)."""
        return self.cluster_sizes_ < self.min_size_

    @cached_property
    def remarks_(self) -> list[tuple[str, ...]]:
        """Signs that a subtype is noise: `few` (below 5 subjects), `weak` (below 3 nats to its nearest other)."""
        return marks_of(self.subtypes_)

    @property
    def selected_features_(self) -> list[str]:
        """The clustered features that differ between the clusters, in the order of the schema."""
        encoded = zip(self.clusters_.encoding.features, self.clusters_.included, strict=True)
        selected = {feature.column for feature, is_included in encoded if is_included}
        return [name for name in self.schema_.names if name in selected]

    @property
    def concentration_(self) -> float:
        """The concentration N0 of the final model."""
        return self.clusters_.model.concentration

    @property
    def discount_(self) -> float:
        """The discount of the Pitman-Yor process; 0 is the Dirichlet process."""
        return self.clusters_.model.discount

    @property
    def coarsening_(self) -> float:
        """The power of the likelihood in the final model."""
        return self.clusters_.model.coarsening

    @property
    def block_weights_(self) -> dict[str, float]:
        """The weight of each block with a clustered feature, in the order of the schema."""
        found = powers_of_blocks(self.clusters_.encoding.features, self.clusters_.model.powers)
        named = dict.fromkeys(feature.block for feature in self.schema_.clustered)
        return {block: found[block] for block in named if block in found}

    @property
    def outlying_share_(self) -> float:
        """The prior probability that a value is outlying."""
        return self.clusters_.outlying_share

    @property
    def temperature_(self) -> float:
        """Divisor of log odds of clusters in all probabilities of clusters; 1 without calibration."""
        return self.clusters_.temperature

    @property
    def n_features_in_(self) -> int:
        """Number of columns of the schema."""
        return len(self.schema_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """Names of the columns of the schema, object (D,)."""
        return np.array(self.schema_.names, dtype=object)


FITTED_ATTRIBUTES = (
    *(field.name for field in fields(Fit)),
    *(name for name, value in vars(Fit).items() if isinstance(value, property | cached_property)),
)
"""Names of the fields and properties of `Fit`."""


# Check that a fit that was read from files is consistent with its schema and in itself.
#
# The compiled kernels do not check bounds, and checksums can be forged: every array has a rule for its dtype, its shape
# in named axes, and the range of its values.

Shape = tuple[int, ...]


@dataclass(frozen=True)
class _Rule:
    """The array of one field.

    Attributes
    ----------
    axes : tuple of str
        Named axes: N subjects, D parts of the features, F encoded features, K clusters, A clusters of all subjects
        of a table in partitions, S statistics, H hyperparameters; or digits.
    dtype : str
        As NumPy names it.
    lowest, highest : float or str
        Range of the values; below the number of an axis, if `highest` is its name.
    """

    axes: tuple[str, ...]
    dtype: str = "float64"
    lowest: float = -np.inf
    highest: float | str = np.inf


_ABOVE_0 = float(np.nextafter(0.0, 1.0))
_RULES = {
    "cluster_labels_": _Rule(("N",), "int64", 0, "K"),
    "cluster_membership_": _Rule(("N", "K"), "float64", 0, 1),
    "log_joint_trace_": _Rule(("sweeps",)),
    "outliers_": _Rule(("N", "D"), "bool"),
    "clusters_.encoding.centres": _Rule(("F",)),
    "clusters_.encoding.scales": _Rule(("F",), lowest=_ABOVE_0),
    "clusters_.model.prior": _Rule(("H",)),
    "clusters_.model.powers": _Rule(("F",), lowest=_ABOVE_0, highest=1),
    "clusters_.sizes": _Rule(("K",), lowest=1),
    "clusters_.statistics": _Rule(("K", "S")),
    "clusters_.included": _Rule(("F",), "bool"),
    "subtype_of_": _Rule(("K",), "int64", 0, "K"),
    "tree_.labels": _Rule(("N",), "int64", 0, "K"),
    "tree_.joins": _Rule(("K - 1", "2"), "int64", 0),
    "tree_.evidence": _Rule(("K - 1",)),
    "cohort_fingerprint_.hidden_order": _Rule(("N",), "uint32"),
    "resolution_path_.labels": _Rule(("steps", "N"), "int64", 0, "N"),
    "init": _Rule(("given",), "int64", 0, "given"),
    "all_subjects.sizes": _Rule(("A",), lowest=1),
    "all_subjects.statistics": _Rule(("A", "S")),
    "all_subjects.log_joint_trace": _Rule(("rounds",)),
}
_OPTIONAL = ("resolution_path_.labels", "init", *(name for name in _RULES if name.startswith("all_subjects.")))
_COLUMN = re.compile(r"(?:restarts_|tuning_|tree_test_\.joins|resolution_path_\.steps)\.[a-z_]+")
"""Columns of tables."""


def shape_problems(described: Mapping[str, tuple[np.dtype[Any], Shape]], axes: Mapping[str, int]) -> list[str]:
    """Return what is wrong with the dtypes and shapes of the arrays of a fit, given numbers of known axes."""
    problems = [f"the array {name} is missing" for name in _RULES if name not in described and name not in _OPTIONAL]
    known = {digit: int(digit) for digit in "2"} | dict(axes)
    for name, rule in _RULES.items():
        if name in described:
            dtype, shape = described[name]
            if dtype.name != rule.dtype:
                problems.append(f"{name} holds {dtype.name}, not {rule.dtype}")
            problems += _wrong_axes(name, rule, shape, known)
    for name, (_, shape) in described.items():
        if name not in _RULES and not _COLUMN.fullmatch(name):
            problems.append(f"there is an array {name[:80]!r}, which no model has")
        elif name not in _RULES and len(shape) != 1:
            problems.append(f"{name} has shape {shape}, and a column has one axis")
    return problems


def _wrong_axes(name: str, rule: _Rule, shape: Shape, known: dict[str, int]) -> Iterator[str]:
    """Yield the problem of a shape; add its unknown axes to `known`."""
    if len(shape) != len(rule.axes):
        yield f"{name} has shape {shape}, not ({', '.join(rule.axes)})"
        return
    for axis, size in zip(rule.axes, shape, strict=True):
        base, less = (axis.removesuffix(" - 1"), 1) if axis.endswith(" - 1") else (axis, 0)
        if size + less != known.setdefault(base, size + less):
            expected = ", ".join(f"{axis} = {known.get(axis, '?')}" for axis in rule.axes if not axis.isdigit())
            yield f"{name} has shape {shape}, not ({', '.join(rule.axes)}) with {expected}"
            return


def value_problems(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return which arrays, whose shapes are right, have values that are not finite or out of range."""
    sizes = {
        axis: size
        for name in arrays
        if name in _RULES
        for axis, size in zip(_RULES[name].axes, arrays[name].shape, strict=True)
    }
    problems = []
    for name, rule in _RULES.items():
        values = arrays.get(name)
        if values is None or values.size == 0 or values.dtype == np.bool_:
            continue
        highest = sizes[rule.highest] - 1 if isinstance(rule.highest, str) else rule.highest
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            problems.append(f"{name} holds values that are not finite")
        elif values.min() < rule.lowest or values.max() > highest:
            problems.append(
                f"{name} holds values from {values.min()} to {values.max()}, not {rule.lowest} to {highest}"
            )
    return problems


_KINDS = {"whole numbers": "iu", "numbers": "iuf", "truth values": "b"}
_RESTARTS = {
    **dict.fromkeys(("restart", "n_clusters", "sweeps"), "whole numbers"),
    **dict.fromkeys(("log_joint", "ari_to_best"), "numbers"),
    "start": "text",
    "converged": "truth values",
}
_TUNING = {**dict.fromkeys(("concentration", "n_clusters"), "numbers"), "chosen": "truth values"}
_DENSITIES = ("log_joint", "held_out_log_density")
_STEPS = {
    **dict.fromkeys(("n_clusters", "n_outlying"), "whole numbers"),
    **dict.fromkeys(("coarsening", "log_joint", "log_joint_uncoarsened", "log_likelihood"), "numbers"),
    **dict.fromkeys(("independent_share", "ari_to_previous", "ari_to_finest"), "numbers"),
    "start": "text",
}
_KIND_OF_DTYPE = {"int64": "whole numbers", "float64": "numbers", "bool": "truth values"}
_JOINS = {name: _KIND_OF_DTYPE[dtype] for name, dtype in JOIN_DTYPES.items()}


def table_problems(fit: Fit) -> list[str]:
    """Return what is wrong with the tables of a fit."""
    density = next((name for name in _DENSITIES if name in fit.tuning_), _DENSITIES[0])
    problems = [
        *_problems("restarts_", fit.restarts_, _RESTARTS),
        *_problems("tuning_", fit.tuning_, _TUNING | {density: "numbers"}),
    ]
    if fit.tree_test_ is not None:
        problems += _problems("tree_test_.joins", fit.tree_test_.joins, _JOINS, may_be_empty=not is_tested(fit.tree_))
    if fit.resolution_path_ is not None:
        problems += _problems("resolution_path_.steps", fit.resolution_path_.steps, _STEPS)
    return problems


def _problems(name: str, table: pd.DataFrame, kinds: dict[str, str], may_be_empty: bool = False) -> Iterator[str]:
    if set(table.columns) != set(kinds):
        yield f"{name} has the columns {', '.join(map(str, table.columns))[:200]}, not {', '.join(kinds)}"
        return
    if not len(table):
        if not may_be_empty:
            yield f"{name} has no rows"
        return
    for column, kind in kinds.items():
        values = table[column]
        is_text = kind == "text" and all(isinstance(value, str) for value in values)
        if not is_text and (kind == "text" or np.asarray(values).dtype.kind not in _KINDS[kind]):
            yield f"the column {column} of {name} holds no {kind}"


def hyperparameters_problems(fit: Fit) -> list[str]:
    """Return what is wrong with the hyperparameters, centres and scales of a fit."""
    encoding = fit.clusters_.encoding
    features = encoding.features
    if set(fit.hyperparameters_) != {feature.name for feature in features}:
        return ["hyperparameters_ are not of the encoded features"]
    for feature, likelihood in zip(features, encoding.likelihoods, strict=True):
        named = fit.hyperparameters_[feature.name]
        if _form(named) != _form(likelihood.as_dict(np.ones(likelihood.n_hyperparameters))):
            return [f"hyperparameters_ of {feature.name} are not those of its likelihood"]
        impossible = [key for key, value in named.items() if not _is_possible(likelihood, key, value)]
        if impossible:
            return [f"hyperparameters_ of {feature.name}: {', '.join(impossible)} cannot be what they are"]
    with np.errstate(all="ignore"):
        differing = _differing(fit)
    return [f"the prior, centre or scale of {name} is not that of its hyperparameters" for name in differing]


def _is_possible(likelihood: Likelihood, key: str, value: float | list[float]) -> bool:
    """Return whether a hyperparameter is finite and, unless it may be negative, above 0."""
    values = np.atleast_1d(np.array(value, dtype=np.float64))
    may_be_negative = likelihood.bounds.get(key, likelihood.usual_bounds)[0] < 0.0
    positive = values[-1:] if key in likelihood.with_unit else values  # of a list with a unit, the last is its own
    return bool(np.isfinite(values).all() and (may_be_negative or (positive > 0.0).all()))


def _form(named: dict[str, Any]) -> dict[str, int | None]:
    """Return the length of each hyperparameter by name; None for a number, -1 for other values."""

    def length(value: object) -> int | None:
        if isinstance(value, list):
            return len(value) if all(type(item) in (int, float) for item in value) else -1
        return None if type(value) in (int, float) else -1

    return {name: length(value) for name, value in named.items()}


def _differing(fit: Fit) -> list[str]:
    """Return the features whose encoded prior differs from that of their hyperparameters by name."""
    encoding, prior = fit.clusters_.encoding, fit.clusters_.model.prior
    flat, named = flat_prior(encoding, fit.hyperparameters_), named_hyperparameters(encoding, prior)
    found = []
    stop = 0
    for index, (feature, likelihood) in enumerate(zip(encoding.features, encoding.likelihoods, strict=True)):
        start, stop = stop, stop + likelihood.n_hyperparameters
        unknown = np.full(likelihood.n_hyperparameters, np.nan)
        stated, back = (likelihood.from_dict(some[feature.name], unknown) for some in (fit.hyperparameters_, named))
        # Either may have been computed from the other, and far from 0 the way back is not exact.
        agree = np.allclose(flat[start:stop], prior[start:stop], rtol=1e-6, atol=0.0) or np.allclose(
            stated, back, rtol=1e-6, atol=0.0, equal_nan=True
        )
        standard = type(likelihood).standardisation is not Likelihood.standardisation or (
            encoding.centres[index] == 0.0 and encoding.scales[index] == 1.0
        )
        if not standard or not agree:
            found.append(feature.name)
    return found


_SHA256 = re.compile("[0-9a-f]{64}")


def fit_problems(fit: Fit, arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    """Return what is wrong with a fit that was read from files, and with its arrays by name; empty if nothing is.

    Shapes are checked after the features, values after the shapes, and consistency of fields last.
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
    problems = [*_problems_of_clusters(fit), *_problems_of_subtypes(fit)]
    if not np.array_equal(
        fit.clusters_.model.powers, powers_of_features(fit.clusters_.encoding.features, fit.block_weights_)
    ):
        problems.append("the powers of the features are not those of their blocks")
    problems += _problems_of_tree(fit)
    problems += [] if fit.adjustment_ is None else fit.adjustment_.problems(fit.schema_)
    problems += hyperparameters_problems(fit)
    if fit.cohort_fingerprint_.salt != salt_of(fit.schema_, fit.random_seed_, fit.cluster_labels_, fit.clusters_):
        problems.append(
            "the schema, the seed, the labels or the clusters are not those that the cohort was fitted with"
        )
    return problems


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
    if not 1.0 <= fit.clusters_.temperature < math.inf:
        yield f"the temperature is {fit.clusters_.temperature}"
    if not 1 <= fit.min_size_ <= fit.cluster_labels_.size:
        yield f"min_size_ is {fit.min_size_}"
    if not 0.0 <= fit.prior_strength_ < math.inf:
        yield f"prior_strength_ is {fit.prior_strength_}"
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
    # Those of the labels are whole numbers, whatever the file holds.
    sizes = np.bincount(fit.cluster_labels_[fit.cluster_labels_ >= 0], minlength=fit.subtype_of_.size)
    if len(set(fit.subtype_of_.tolist())) < int(fit.subtype_of_.max()) + 1:
        yield "the subtypes are not numbered without gaps"
    elif fit.grades is not None:
        if [*chain(*fit.grades)] != [*range(fit.n_clusters_)]:
            yield "the subtypes are not numbered kind by kind"
    elif not np.array_equal(fit.subtype_of_, groups_by_decreasing_size(fit.subtype_of_, sizes)):
        yield "the subtypes are not numbered by decreasing size"


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
