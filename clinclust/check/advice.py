"""What would mend a model that does not fit: lines of the schema, with the reason for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from clinclust.check.dependence import dependence
from clinclust.engine.joint_estimates.likelihoods_in_clusters import ClusterTree, log_marginals_in_tree
from clinclust.engine.problem.encoding import model_values
from clinclust.schema import Feature
from clinclust.schema.yaml_writer import yaml_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clinclust.estimators.fit import Fit
    from clinclust.schema import FeatureSchema

COLUMNS = ["feature", "kind", "problem", "line", "evidence"]
LIKELIHOOD, DEPENDENCE, VALUES = "likelihood", "dependence", "values"  # kinds of problems
_CLEAR = 0.01
_PROBABLE = 5.0  # least evidence in nats to advise another likelihood where more than the evidence speaks for it
_FAR = 5.0
"""Least distance of a statistic from its replicates, in their SDs, to report it: of many, some are far by chance."""
_NAMED = 5


def advice_of(
    schema: FeatureSchema,
    likelihoods: pd.DataFrame,
    checks: pd.DataFrame,
    pairs: pd.DataFrame,
    priors: Mapping[str, Mapping[str, float]] | None = None,
) -> tuple[pd.DataFrame, dict[str, Feature]]:
    """Return the advice, one row for each problem, and the features as the advice would have them.

    The tables are those of `compared_likelihoods`, `predictive_checks` and `residual_pairs`; `priors` is from
    `better_priors`, to be stated where the values of a feature are odd.
    """
    rows: list[tuple[str, str, str, bool, str]] = []
    mended: dict[str, Feature] = {}
    for row in likelihoods[_better_otherwise(likelihoods, checks)].to_dict("records"):
        feature = Feature(**yaml.safe_load(str(row["schema_line"]))[0])
        mended[feature.name] = feature
        why = f"{row['better']} describes it better than {row['declared']}"
        rows.append((feature.name, LIKELIHOOD, why, True, f"{row['evidence']:,.0f} nats"))
    for found in dependence(schema, pairs):
        if found.block is not None:
            feature = mended.get(found.feature, schema[found.feature])
            mended[found.feature] = Feature(**(feature.content() | {"block": found.block}))
        more = f" and {len(found.others) - _NAMED} more" if len(found.others) > _NAMED else ""
        why = f"depends on {', '.join(found.others[:_NAMED])}{more} inside the subtypes"
        rows.append((found.feature, DEPENDENCE, why, found.block is not None, found.evidence))
    otherwise = [name for name, kind, *_ in rows if kind == LIKELIHOOD]
    for row in odd_values(checks).to_dict("records"):
        name, prior = str(row["feature"]), (priors or {}).get(str(row["feature"]))
        if name in otherwise:
            continue
        if prior:
            feature = mended.get(name, schema[name])
            mended[name] = Feature(**(feature.content() | {"prior": dict(prior)}))
        why = f"inside the subtypes, {row['words']}"
        rows.append((name, VALUES, why, bool(prior), f"{row['distance']:.1f} SD away"))
    # A feature with two problems has one line, which mends both.
    lined = [
        (name, kind, why, yaml_line(mended[name]) if is_mended else None, evidence)
        for name, kind, why, is_mended, evidence in rows
    ]
    return pd.DataFrame(lined, columns=COLUMNS), mended


def odd_values(checks: pd.DataFrame) -> pd.DataFrame:
    """Return the predictive checks that are clearly not as the model says."""
    return checks[(checks["p"] <= _CLEAR) & (checks["distance"] >= _FAR)]


def _better_otherwise(likelihoods: pd.DataFrame, checks: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which features another likelihood describes better: clearly, or probably where more speaks for it.

    Clusters due to one wrong likelihood serve the other features as well, and hide how wrong theirs are.
    """
    is_clear = likelihoods["is_misfit"].to_numpy(dtype=bool)
    is_supported = likelihoods["feature"].isin(odd_values(checks)["feature"]).to_numpy(dtype=bool) | is_clear.any()
    is_probable = (likelihoods["evidence"] >= _PROBABLE) & likelihoods["schema_line"].notna()
    return np.asarray(is_clear | (is_supported & is_probable.to_numpy(dtype=bool)))


_CLEAR_EVIDENCE = 5.0  # nats by which another value must describe the clusters better


def better_priors(fit: Fit, cohort: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return hyperparameters that describe the values in the clusters clearly better, by feature.

    Only those of `Likelihood.compared_hyperparameters` are varied: those that must be known in clusters, and whose
    default, taken from all subjects together, includes the differences between clusters.
    """
    clusters = fit.clusters_
    tree = ClusterTree(clusters, fit.tree_.joins, fit.tree_.evidence)
    values = model_values(cohort, clusters.encoding.features)
    found = {}
    features, likelihoods = clusters.encoding.features, clusters.encoding.likelihoods
    for feature, likelihood, place in zip(features, likelihoods, fit.schema_.places(features), strict=True):
        column = values[feature.name]
        kept = ~np.isnan(column) & ~fit.outliers_[:, place]
        tried = likelihood.compared_hyperparameters(column[kept])
        if len(tried) < 2:
            continue
        own = fit.hyperparameters_[feature.name]
        names = likelihood.hyperparameter_names
        priors = np.vstack([[own[name] for name in names], tried])
        of_nodes = log_marginals_in_tree(likelihood, column[kept], fit.cluster_labels_[kept], tree, priors)
        evidence = of_nodes[:, : tree.n_clusters].sum(axis=1)
        best = int(evidence.argmax())
        if evidence[best] - evidence[0] >= _CLEAR_EVIDENCE:
            # The others follow: they say where the values lie.
            stated = {name: float(f"{value:.2g}") for name, value in zip(names, priors[best], strict=True)}
            found[feature.column] = {name: value for name, value in stated.items() if name in likelihood.bounds}
    return found
