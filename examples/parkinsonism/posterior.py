"""Beside the most probable partition of the cohort, those that are nearly as probable: what differs, and what does not.

    python examples/parkinsonism/posterior.py

The cohort is `cohort.csv`; the groups that its subjects were drawn from are in `true_groups.csv`, and nothing is fitted
to them. The page goes to `reports/parkinsonism/posterior.md`.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from truth import SCHEMA, published, read_truth

import clinclust as cc

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "reports" / "parkinsonism" / "posterior.md"
Labels = np.ndarray


def wrong(labels: Labels, group: Labels) -> np.ndarray:
    """Return which subjects are in a cluster most of whose members were drawn from another group, bool (N,)."""
    stands_for = np.array([np.bincount(group[labels == k]).argmax() for k in range(labels.max() + 1)])
    return np.asarray(stands_for[labels] != group)


def own(membership: np.ndarray, labels: Labels) -> np.ndarray:
    """Return each subject's probability of the own cluster, float64 (N,)."""
    return np.asarray(membership)[np.arange(labels.size), labels]


def sizes(labels: Labels) -> str:
    """Return the sizes of clusters, the largest first."""
    return ", ".join(map(str, sorted(np.bincount(labels).tolist(), reverse=True)))


def section(called: str, schema: cc.FeatureSchema, frame: pd.DataFrame, group: Labels) -> str:
    """Fit and sample, and return the section on it."""
    start = time.perf_counter()
    model = cc.methods.PublishedMAPDP(schema, random_state=0).fit(frame)
    searched = time.perf_counter() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)  # the page says whether the chains agree
        posterior = cc.GibbsDP.of(model, random_state=0).fit(frame)
    sampled = time.perf_counter() - start - searched
    mode, point = model.labels_, posterior.labels_
    found = {"MAP-DP, the most probable": mode, "Gibbs, lowest expected loss": point}
    methods = [
        f"| {name} | {labels.max() + 1} | {sizes(labels)} | {adjusted_rand_score(group, labels):.3f} | "
        f"{wrong(labels, group).sum()} |"
        for name, labels in found.items()
    ]
    probable = posterior.n_clusters_posterior_[posterior.n_clusters_posterior_ >= 0.001]
    numbers = ", ".join(f"{k} ({p:.3f})" for k, p in probable.items())
    chains = posterior.convergence_
    return f"""## {called}

| method | clusters | sizes | ARI with the truth | wrong side |
| --- | --- | --- | --- | --- |
{chr(10).join(methods)}

ARI of the two: {adjusted_rand_score(mode, point):.3f}. Posterior probability of each number of clusters: {numbers}.
{posterior.n_chains} chains of {posterior.n_sweeps_:,} sweeps; largest R-hat {chains["r_hat"].max():.3f}, smallest
effective sample size {chains["effective_size"].min():,.0f}; they have {"" if posterior.converged_ else "not "}come to
agree. The search took {searched:.0f} s and the chains {sampled:.0f} s on the same machine.

| subtype | subjects | mean, given the others | mean, over partitions | wrong expected | over partitions | wrong |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(claims(model, posterior, group))}
"""


def claims(model: cc.MAPDP, posterior: cc.GibbsDP, group: Labels) -> list[str]:
    """Return a row for each subtype: how sure its subjects are, and how many are wrong."""
    mode, is_wrong = model.labels_, wrong(model.labels_, group)
    drawn = posterior.membership_in(mode)
    rows = []
    for subtype in range(model.n_clusters_):
        members = mode == subtype
        given, over = own(model.membership_, mode)[members], own(drawn, mode)[members]
        means = f"{given.mean():.3f} | {over.mean():.3f} | {(1 - given).sum():.1f} | {(1 - over).sum():.1f}"
        rows.append(f"| {subtype + 1} | {members.sum()} | {means} | {is_wrong[members].sum()} |")
    return rows


def main() -> None:
    """Fit, sample and write the page."""
    schema = cc.FeatureSchema.from_yaml(SCHEMA)
    frame = cc.read_cohort(HERE / "cohort.csv")
    _, group = np.unique(pd.read_csv(HERE / "true_groups.csv")["group"], return_inverse=True)
    printed = published(read_truth()).index.tolist()
    ids = [feature.name for feature in schema.ids]
    few = schema.restricted_to([*ids, *printed])
    text = f"""# The most probable partition, and the posterior distribution of partitions

Made by `python examples/parkinsonism/posterior.py`: the simulated cohort of 527 subjects by `PublishedMAPDP(schema)`,
and by `GibbsDP.of(model)`, which samples the same model on the same cohort. How certain is each subject's subtype? The
tables have its probability given the subtypes of all other subjects (`MAPDP.membership_`) and over all drawn partitions
(`GibbsDP.membership_in`), with the expected number of wrongly assigned subjects, and their true number, by the groups
that they were drawn from.

{section("All 215 features", schema, frame, group)}
{section(f"The {len(printed)} features that the paper printed", few, frame, group)}"""
    PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
