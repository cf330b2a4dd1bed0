"""Wide tables of measurements: the groups that are found, and those of K-means when it is told how many there are.

Groups of 150 or 300 people whose means differ in some of 25 to 1,000 independent measurements. The distance is that of
two means, in standard deviations inside a group, averaged over the pairs. In noise, one group is right.

    python benchmarks/wide.py --jobs 2        # about half an hour; writes results/wide.md
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, Feature, FeatureSchema

RESULTS = Path(__file__).parent / "results" / "wide.md"
LEAST_DISTANCE, NEAR = 4.3, 0.05
CLINIC = [(300, p, q, d, 3) for p in (25, 40, 60) for q, d in ((8, 1.1), (10, 0.9))]
"""Subjects, measurements, those that tell, SD of the means, groups."""
WIDE = [(300, 100, 20, 0.9, 3), (300, 500, 40, 0.86, 4), (300, 500, 500, 0.25, 4), (150, 1000, 50, 1.0, 3)]
NOISE = [(300, 25), (300, 60), (300, 200), (100, 500)]


def cohort(setting: tuple[int, int, int, float, int], seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the measurements, the groups, and the mean distance of two groups."""
    n, p, q, sd, k = setting
    rng = np.random.default_rng([p, q, seed])
    groups, values = rng.integers(k, size=n), rng.normal(size=(n, p))
    means = rng.normal(size=(k, q)) * sd
    values[:, :q] += means[groups]
    return values, groups, float(np.mean([np.linalg.norm(means[a] - means[b]) for a in range(k) for b in range(a)]))


def fitted(values: np.ndarray, **options: object) -> MAPDP:
    """Return a fit of measurements."""
    names = [f"m{place}" for place in range(values.shape[1])]
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in names])
    frame = pd.DataFrame(values, columns=names)
    return MAPDP(schema, random_state=0, n_jobs=1, progress=False, **options).fit(frame)


def of_groups(task: tuple[tuple[int, int, int, float, int], int]) -> dict[str, object]:
    """Return the agreement of both searches and of K-means with the groups."""
    warnings.simplefilter("ignore")
    values, groups, distance = cohort(*task)
    peer = KMeans(task[0][4], n_init=10, random_state=0).fit_predict(values)
    ours = {"selected first": fitted(values), "all features": fitted(values, select_features=False)}
    row: dict[str, object] = {"setting": task[0], "distance": distance, "K-means": adjusted_rand_score(groups, peer)}
    return row | {name: adjusted_rand_score(groups, model.labels_) for name, model in ours.items()}


def of_noise(task: tuple[tuple[int, int], int]) -> dict[str, object]:
    """Return the number of subtypes in noise."""
    warnings.simplefilter("ignore")
    (n, p), seed = task
    values = np.random.default_rng([n, p, seed]).normal(size=(n, p))
    return {"setting": (n, p), "subtypes": fitted(values).n_clusters_}


def main() -> None:
    """Measure, print the page and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohorts", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    seeds = range(options.cohorts)
    with ProcessPoolExecutor(options.jobs) as pool:
        groups = pd.DataFrame(pool.map(of_groups, [(it, seed) for it in CLINIC for seed in seeds]))
        wide = pd.DataFrame(pool.map(of_groups, [(it, seed) for it in WIDE for seed in range(2)]))
        noise = pd.DataFrame(pool.map(of_noise, [(it, seed) for it in NOISE for seed in range(options.cohorts // 2)]))
    lines = [__doc__.split("\n\n")[0], "", __doc__.split("\n\n")[1].strip(), ""]
    names = ["selected first", "all features", "K-means"]
    lines += ["| subjects x measurements | that tell | distance | cohorts | mean ARI: selected first (the default) | "]
    lines[-1] += f"all features | K-means, K given | within {NEAR} of K-means |"
    lines += ["| --- " * 8 + "|"]
    for table, bounds in ((groups, (0.0, LEAST_DISTANCE, np.inf)), (wide, (0.0, np.inf))):
        for setting, rows in table.groupby("setting", sort=False):
            for low, high in pairwise(bounds):
                some = rows[rows["distance"].between(low, high, inclusive="left")]
                if len(some):
                    near = int((some["selected first"] >= some["K-means"] - NEAR).sum())
                    means = " | ".join(f"{some[name].mean():.2f}" for name in names)
                    between = f"{some['distance'].min():.1f} to {some['distance'].max():.1f}"
                    lines += [f"| {setting[0]} x {setting[1]} | {setting[2]} | {between} | {len(some)} | {means} | "]
                    lines[-1] += f"{near} of {len(some)} |"
    lines += ["", "Noise:", ""]
    for setting, rows in noise.groupby("setting", sort=False):
        one = int((rows["subtypes"] == 1).sum())
        lines += [f"- {setting[0]} x {setting[1]}: one group in {one} of {len(rows)} cohorts"]
    text = "\n".join(["# Wide tables", "", *lines, ""])
    print(text)
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
