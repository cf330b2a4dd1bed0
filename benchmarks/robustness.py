"""Compare rules for the coarsening where the model is a little wrong.

    python benchmarks/robustness.py                       # a first look: two cohorts of each kind
    python benchmarks/robustness.py --cohorts 10 --jobs 2 # what results/robustness.md holds

Each cohort is fitted without any remedy, with the coarsening chosen but no value set aside, and with both
(``coarsening="auto"``); the other rules read the resolution paths of the last two. Seeds from 5000 on were not used
to choose the rule.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from threading import Event

import numpy as np
import pandas as pd

from clinclust.engine.joint_estimates.resolution import ResolutionStep
from clinclust.engine.problem.problem import log_joint
from clinclust.engine.search.plan import Budget
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size
from clinclust.estimators.fitting import prepared, search
from clinclust.estimators.settings import Settings
from clinclust.methods import PublishedMAPDP
from clinclust.progress import SILENT

sys.path.insert(0, str(Path(__file__).parent))
from robust_cohorts import FLAVOURS, robust_cohort

RESULTS = Path(__file__).parent / "results" / "robustness.md"
RULES = {
    "plain": "no coarsening, nothing set aside: `PublishedMAPDP()`",
    "share": "coarsening from the dependence left within clusters, nothing set aside",
    "plateau": "longest plateau of K > 1 along ln coarsening, nothing set aside",
    "elbow": "elbow of the log likelihood over K, nothing set aside",
    "outlying": "values set aside, no coarsening: `PublishedMAPDP(outlying_share=0.01)`",
    "outlying + plateau": "values set aside, longest plateau",
    "outlying + elbow": "values set aside, elbow",
    "outlying + stable": "values set aside, finest coarsening whose halves of the cohort predict each other at ARI .8",
    "auto": 'values set aside, coarsening from the dependence: `PublishedMAPDP(coarsening="auto")`',
}


def path_of(model: PublishedMAPDP, frame: pd.DataFrame) -> list[ResolutionStep]:
    """Return the steps of the search of a model, from the finest on."""
    settings = Settings.of(model)
    problem = prepared(settings, frame).problem
    return list(search(problem, settings.search_plan(problem, Event(), Budget(), SILENT)).steps)


def labels_of(step: ResolutionStep) -> np.ndarray:
    """Return the clusters of a step, in the order of the table."""
    return step.problem.cohort.in_table_order(by_decreasing_size(step.labels))


def plateau(steps: list[ResolutionStep]) -> np.ndarray:
    """Return the finest labels of the number of clusters, above 1, that lasts longest along ln coarsening."""
    n_clusters = np.array([int(step.labels.max()) + 1 for step in steps])
    lengths = -np.diff(np.log([*(step.coarsening for step in steps), steps[-1].coarsening * 0.85]))
    total = {k: lengths[n_clusters == k].sum() for k in np.unique(n_clusters) if k > 1}
    best = max(total, key=lambda k: total[k]) if total else 1
    return labels_of(steps[np.flatnonzero(n_clusters == best)[0]])


def log_likelihood(step: ResolutionStep) -> float:
    """Return the sum of the log marginals and log base measures of the partition of a step at coarsening 1."""
    partition = step.problem.partition(step.labels)
    in_full, prior = (log_joint(step.problem.under(coarsening=coarsening), partition) for coarsening in (1.0, 0.0))
    return in_full - prior


def elbow(steps: list[ResolutionStep]) -> np.ndarray:
    """Return the labels of the point farthest above the chord of the log likelihood over K."""
    n_clusters = np.array([int(step.labels.max()) + 1 for step in steps])
    finest = np.sort(np.unique(n_clusters, return_index=True)[1])
    k, likelihood = n_clusters[finest].astype(float), np.array([log_likelihood(steps[place]) for place in finest])
    if k.size < 3:
        return labels_of(steps[0])
    above = (likelihood - likelihood.min()) / np.ptp(likelihood) - (k - k.min()) / np.ptp(k)
    return labels_of(steps[finest[above.argmax()]])


def stable(steps: list[ResolutionStep], frame: pd.DataFrame, schema: object, seed: int) -> np.ndarray:
    """Return the finest labels at whose coarsening two halves of the cohort predict each other."""
    half = np.random.default_rng(seed).permutation(len(frame)) < len(frame) // 2
    for step in steps:
        labels = labels_of(step)
        if labels.max() == 0:
            break
        agreement = []
        for part in (half, ~half):
            fit = PublishedMAPDP(
                schema, coarsening=step.coarsening, outlying_share=0.01, n_restarts=3, n_jobs=1, random_state=seed
            ).fit(frame[part])
            predicted = fit.predict(frame[~part])
            agreement.append(adjusted_rand_index(predicted - predicted.min(), labels[~part]))
        if np.mean(agreement) >= 0.8:
            return labels
    return labels_of(steps[-1])


def fitted(task: tuple[int, str, int, bool]) -> list[dict[str, object]]:
    """Return one row for each rule."""
    warnings.simplefilter("ignore")
    seed, flavour, n_restarts, stability = task
    frame, schema, truth = robust_cohort(seed, flavour)
    found, seconds, models = {}, {}, {}
    for name, options in {
        "plain": {},
        "share": {"coarsening": "auto", "outlying_share": 0.0},
        "auto": {"coarsening": "auto"},
    }.items():
        began = time.perf_counter()
        models[name] = PublishedMAPDP(schema, n_restarts=n_restarts, n_jobs=1, random_state=seed, **options).fit(frame)
        found[name], seconds[name] = models[name].labels_, time.perf_counter() - began
    path, bare = path_of(models["auto"], frame), path_of(models["share"], frame)
    found |= {"plateau": plateau(bare), "elbow": elbow(bare), "outlying": labels_of(path[0])}
    found |= {"outlying + plateau": plateau(path), "outlying + elbow": elbow(path)}
    if stability:
        found["outlying + stable"] = stable(path, frame, schema, seed)
    n_true = np.unique(truth).size
    return [
        {
            "seed": seed,
            "flavour": flavour,
            "rule": rule,
            "n_true": n_true,
            "n_found": int(labels.max()) + 1,
            "ari": adjusted_rand_index(labels, truth),
            "seconds": seconds.get(rule, np.nan),
            "coarsening": models["auto"].coarsening_ if rule == "auto" else np.nan,
        }
        for rule, labels in found.items()
    ]


def table(rows: pd.DataFrame) -> str:
    """Return the Markdown table: share of cohorts with K right, mean K found beyond the true, mean ARI."""
    rows = rows.assign(right=rows["n_found"] == rows["n_true"], beyond=rows["n_found"] - rows["n_true"])
    lines = ["| rule | " + " | ".join(FLAVOURS) + " |", "| --- |" + " --- |" * len(FLAVOURS)]
    for rule in [rule for rule in RULES if rule in set(rows["rule"])]:
        cells = []
        for flavour in FLAVOURS:
            part = rows[(rows["rule"] == rule) & (rows["flavour"] == flavour)]
            cells.append(f"{part['right'].mean():.0%} ({part['beyond'].mean():+.1f}), {part['ari'].mean():.3f}")
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def report(frame: pd.DataFrame, n_restarts: int) -> str:
    """Return the page of results."""
    auto = frame[frame["rule"] == "auto"]
    seconds = frame.pivot_table("seconds", "rule", "flavour", "median").reindex(["plain", "share", "auto"])
    chosen = auto.groupby("flavour")["coarsening"].agg(["min", "median", "max"]).reindex(list(FLAVOURS))
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn"))
    return "\n".join(
        [
            "# Subtypes found when the model is a little wrong",
            "",
            f"{frame['seed'].nunique()} cohorts in each of {len(FLAVOURS)} flavours, seeds from {frame['seed'].min()}, "
            f"{n_restarts} restarts; made by `benchmarks/robustness.py`.",
            "",
            *[f"- {name}: {meaning}" for name, meaning in FLAVOURS.items()],
            "",
            "Each cell: cohorts with the number of subtypes right (mean number too many), mean adjusted Rand index.",
            "",
            table(frame),
            "",
            *[f"- {rule}: {meaning}" for rule, meaning in RULES.items() if rule in set(frame["rule"])],
            "",
            "Coarsening that `auto` chose (lowest, median, highest): "
            + "; ".join(f"{flavour} {row[0]:.2f}, {row[1]:.2f}, {row[2]:.2f}" for flavour, *row in chosen.itertuples())
            + ".",
            "",
            "Median seconds of a fit on one thread: "
            + "; ".join(
                f"{rule}: " + ", ".join(f"{flavour} {seconds.loc[rule, flavour]:.1f}" for flavour in FLAVOURS)
                for rule in seconds.index
            )
            + ".",
            "",
            f"Python {platform.python_version()}, {versions}.",
            "",
        ]
    )


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--restarts", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--stability", action="store_true", help="also the rule that refits halves (twice the time)")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    tasks = [
        (options.first_seed + index, flavour, options.restarts, options.stability)
        for index in range(options.cohorts)
        for flavour in FLAVOURS
    ]
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done in pool.map(fitted, tasks):
            rows += done
            print(pd.DataFrame(done).drop(columns="seed").round(3).to_string(index=False), flush=True)
    text = report(pd.DataFrame(rows), options.restarts)
    print("\n" + text)
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
