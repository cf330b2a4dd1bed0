"""Comparison of the declared likelihood of each feature with its alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust.arrays import Array, Labels
from clinclust.engine.problem.encoding import canonical_order, model_values
from clinclust.engine.problem.problem import ClusterTree, log_marginals_in_tree
from clinclust.errors import SchemaError, visible
from clinclust.files.cell_text import limited, listed, shortened
from clinclust.likelihoods import REGISTRY
from clinclust.likelihoods.exponential import Exponential
from clinclust.likelihoods.gaussian import Gaussian
from clinclust.likelihoods.likelihood import without_far_values
from clinclust.likelihoods.ordinal import Ordinal
from clinclust.schema import Feature
from clinclust.schema.yaml_files import yaml_line

if TYPE_CHECKING:
    from clinclust.estimators.fit import Fit


_FEW_COUNTS = 10
"""Largest count for which counts may be declared as levels of a scale."""
_AT_LOWEST, _MOST_TIED, _LEAST_SPREAD = 0.1, 0.2, 2.0
_COUNTS = [name for name, traits in REGISTRY.items() if "count" in traits.drafted_for and traits.is_count]
_OF_VALUES = ("levels", "trials", "minimum", "maximum")


def alternatives_of(feature: Feature, scores: Array) -> list[Feature]:
    """Return the feature with each other likelihood or transform that the schema accepts for its scores (n,).

    `scores` are the observed values before any transform. Bernoulli, ordinal and categorical features have no
    alternative.
    """
    if feature.traits.is_share or feature.traits.counts_levels or not scores.size:
        return []
    declared, others = (feature.likelihood, feature.transform), list[Feature]()
    for fields in _other_fields(feature, scores):
        if (fields["likelihood"], fields.get("transform")) == declared:
            continue
        traits = REGISTRY[fields["likelihood"]]
        content = {name: value for name, value in feature.content().items() if name not in ("prior", "transform")}
        if content.get("contrast") not in traits.contrasts:
            content.pop("contrast", None)
        for name in _OF_VALUES:
            if name not in traits.takes or fields["likelihood"] == Ordinal.name:
                content.pop(name, None)
        content |= {name: value for name, value in fields.items() if value is not None}
        if feature.is_part:  # of a feature in two parts, that of the second
            content = feature.whole.content() | {
                name: content.get(name) for name in ("likelihood", "transform", "prior")
            }
        with suppress(SchemaError):
            others.append(Feature(**content).parts[-1] if feature.is_part else Feature(**content))
    return others


def _other_fields(feature: Feature, scores: Array) -> Iterator[dict[str, Any]]:
    """Yield the likelihoods and transforms that values can have, the usual ones first."""
    low, high = float(scores.min()), float(scores.max())
    if feature.traits.is_scale:  # ordinal, or a density for a scale of many steps
        steps = feature.n_trials or 0
        shares = np.unique(scores, return_counts=True)[1] / scores.size
        if Ordinal.most_steps is None or steps <= Ordinal.most_steps:
            yield {"likelihood": Ordinal.name, **{name: getattr(feature, name) for name in _OF_VALUES}}
        elif feature.levels is None and scores.std() >= _LEAST_SPREAD and shares.max() < _MOST_TIED:
            yield {"likelihood": Gaussian.name, "minimum": feature.lowest, "maximum": feature.lowest + steps}
    elif feature.traits.is_count:
        yield from ({"likelihood": name} for name in _COUNTS if int(high) <= REGISTRY[name].largest)
        if 1 < int(high) <= _FEW_COUNTS:
            yield {"likelihood": Ordinal.name, "trials": int(high)}
    else:
        yield {"likelihood": Gaussian.name}
        if _has_logarithm(scores):
            yield {"likelihood": Gaussian.name, "transform": "log"}
            yield {"likelihood": Gaussian.name, "transform": "sqrt"}
        elif low == 0.0 and _has_logarithm(scores + 1.0):
            yield {"likelihood": Gaussian.name, "transform": "log1p"}
        if low >= 0.0:
            yield {"likelihood": Exponential.name}


def _has_logarithm(values: Array) -> bool:
    """Return whether all values are positive and few of them are the lowest one."""
    low = float(values.min())
    return low > 0 and bool(np.mean(values == low) <= max(_AT_LOWEST, 2.0 / values.size))


_CLEAR, _CLEAR_A_VALUE = 15.0, 0.02
"""Evidence in nats, and in nats per observed value, from which another likelihood is clearly better."""
_CLEAR_A_GROUP = 5.0
"""Additional nats for each further group of the better one."""
_PREFERRED = 5.0
"""Evidence in nats by which a less usual alternative must be better than a more usual one."""
_MOST_SUBJECTS = 4000
"""Number of subjects above which a systematic sample is taken."""

_COLUMNS = {
    "feature": str,
    "declared": str,
    "better": object,
    "evidence": float,
    "n_values": int,
    "declared_groups": object,
    "better_groups": object,
    "is_misfit": bool,
    "schema_line": object,
}
NOTHING_COMPARED = pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in _COLUMNS.items()})
"""An empty table of `compared_likelihoods`."""


def compared_likelihoods(fit: Fit, frame: pd.DataFrame, order: Labels | None = None) -> pd.DataFrame:
    """Compare the declared likelihood of every clustered feature with its alternatives, in the clusters of a fit.

    The evidence for a likelihood m of a feature is its log marginal at the best level of the tree, where the J clusters
    are merged to k groups g, less what the divisions into these groups cost the feature:

        E(m) = max over k = 1 .. J of [ sum over the groups g of ln m(values in g) - sum over the divisions s of c_s ]
        c_s  = C_s max(G_s, 0) / (sum over all features of max(G_s, 0))

    G_s is the gain of the declared feature by division s, and C_s its cost by the prior of partitions. From 15 nats on
    (5 more for each group beyond its first) and 0.02 nats for each value, the alternative is clearly better and the
    declared likelihood a misfit. ln m is the log density on the scale of the column under default hyperparameters.
    Outliers are left out.

    `frame` is the validated cohort in the order of the fit. Returns one row per clustered feature, the clearest misfit
    first: `feature`, `declared`, `better` (or None), `evidence` (nats), `n_values`, `declared_groups` and
    `better_groups` (k), `is_misfit`, `schema_line` (the line of the schema that declares the better one).
    """
    rows = _subjects(fit, frame, order)
    labels = fit.cluster_labels_[rows]
    tree = ClusterTree(fit.clusters_, fit.tree_.joins, fit.tree_.evidence)
    features = fit.clusters_.encoding.features
    comparisons = []
    for feature, place in zip(features, fit.schema_.places(features), strict=True):
        if feature.is_part and feature.levels:
            continue  # of a feature in two parts, the likelihood of the second is a choice
        scores = feature.scores(frame[feature.column])[rows]
        is_usual = ~np.isnan(scores)
        if fit.outlying_share_ > 0.0:
            is_usual &= ~fit.outliers_[rows, place]
        comparisons.append(_compare(feature, scores[is_usual], labels[is_usual], tree))
    table = pd.DataFrame(comparisons, columns=list(_COLUMNS), dtype=object).astype(_COLUMNS)
    return table.sort_values(["is_misfit", "evidence"], ascending=False, kind="stable", ignore_index=True)


def _subjects(fit: Fit, frame: pd.DataFrame, order: Labels | None) -> Labels | slice:
    """Return the rows that are compared; they do not depend on the order of the table."""
    if len(frame) <= _MOST_SUBJECTS:
        return slice(None)
    if order is None:
        possible = fit.schema_.clustered_parts
        features = tuple(part for part in possible if not {part.name, part.column} & set(fit.uninformative_))
        order = canonical_order(list(model_values(frame, features).values()))
    return order[:: -(-len(frame) // _MOST_SUBJECTS)]


class _Described(NamedTuple):
    """A declaration of a feature and its evidence."""

    feature: Feature
    evidence: float
    n_groups: int
    charges: Array


def _compare(feature: Feature, scores: Array, labels: Labels, tree: ClusterTree) -> dict[str, object]:
    """Return the row of one feature, from its observed values (n,) before any transform and their clusters (n,)."""
    if feature.traits.is_continuous or feature.traits.is_count:
        usual = without_far_values(scores)
        if usual.size < scores.size:
            is_usual = (scores >= usual.min()) & (scores <= usual.max())
            scores, labels = scores[is_usual], labels[is_usual]
    row: dict[str, object] = {"feature": feature.column, "declared": in_words(feature), "better": None, "evidence": 0.0}
    row |= {"n_values": scores.size, "declared_groups": None, "better_groups": None}
    row |= {"is_misfit": False, "schema_line": None}
    others = alternatives_of(feature, scores)
    if not others:
        return row
    best = declared = _described(feature, scores, labels, tree)
    for alternative in others:  # a less usual one must be clearly better than a more usual one
        other = _described(alternative, scores, labels, tree, declared.charges)
        if other.evidence > best.evidence + (0.0 if best is declared else _PREFERRED):
            best = other
    row["declared_groups"] = declared.n_groups
    if best is declared:
        return row
    evidence = best.evidence - declared.evidence
    enough = _CLEAR + _CLEAR_A_GROUP * (best.n_groups - 1)
    is_misfit = evidence >= max(enough, _CLEAR_A_VALUE * scores.size)
    row |= {"better": in_words(best.feature), "evidence": evidence, "better_groups": best.n_groups}
    return row | {"is_misfit": is_misfit, "schema_line": yaml_line(best.feature.whole)}


def _described(
    feature: Feature, scores: Array, labels: Labels, tree: ClusterTree, charges: Array | None = None
) -> _Described:
    """Return the evidence for a declaration; without charges, at the level of the fit."""
    values, log_jacobian = feature.on_model_scale(scores)
    log_marginals = log_marginals_in_tree(feature.traits.of(feature), values, labels, tree)
    if charges is None:
        by_prior = tree.charges(log_marginals)
        charges = by_prior[tree.best_level(log_marginals, by_prior).prior]
    # Every prior pays the same: of two that gain as little, the one that gains less would look better for paying less.
    best = tree.best_level(log_marginals, charges[None])
    evidence = best.evidence + log_jacobian
    return _Described(feature, evidence if np.isfinite(evidence) else -np.inf, best.n_groups, charges)


def in_words(feature: Feature) -> str:
    """Return the likelihood and transform of a feature in words."""
    name = str(feature.likelihood).replace("_", " ")
    return name if feature.transform is None else f"{name} of the {feature.transform}"


_SHOWN, _LONGEST_LINE = 5, 400
_PROBABLE = 5.0
"""Nats from which another likelihood is reported as probably better, if another feature is a misfit."""


def warning_of_misfits(compared: pd.DataFrame) -> str | None:
    """Return the warning, with lines for the schema; None if no likelihood is clearly better."""
    misfits = compared[compared["is_misfit"]]
    n = len(misfits)
    if not n:
        return None
    lines = ""
    for row in misfits.iloc[:_SHOWN].to_dict("records"):
        line = str(row["schema_line"])
        if len(line) > _LONGEST_LINE:  # many levels, or long texts
            line = f"- {shortened(str(row['feature']))}: see the sheet Likelihoods of a report"
        lines += f"\n  {line}  # {row['better']} instead of {row['declared']}, by {row['evidence']:,.0f} nats"
    more = f"\n  and {n - _SHOWN} more: the sheet Likelihoods of a report lists all" if n > _SHOWN else ""
    features, lines_of = ("1 feature is", "this line") if n == 1 else (f"{n} features are", "these lines")
    also = probably_too(compared)
    also = f"\n  {also}" if also else ""
    return limited(
        f"{features} described clearly better by another likelihood than the schema declares; this can invent "
        f"subtypes. Write {lines_of} into the schema instead, and fit again:{lines}{more}{also}"
    )


def probably_too(compared: pd.DataFrame) -> str:
    """Return the sentence on probably better likelihoods; empty without any or without a clear misfit."""
    close = compared[~compared["is_misfit"] & (compared["evidence"] >= _PROBABLE)]
    named = [f"{visible(name)} ({better})" for name, better in close[["feature", "better"]].to_numpy(dtype=str)]
    is_told = named and compared["is_misfit"].any()
    return f"Probably better otherwise too, but not clearly: {listed(named)}." if is_told else ""
