"""Ask for the true number of subtypes where the model is a little wrong; cut the fit, or search on.

    python benchmarks/number_asked_for.py                        # a first look: two cohorts of each kind
    python benchmarks/number_asked_for.py --cohorts 10 --jobs 2  # what results/number_asked_for.md holds

The cohorts are those of `robustness.py`. A peer that is given the number, K-means, runs on the same tables. Where a fit
found fewer clusters than the true number, the fit itself counts, and the page says how often.
"""

from __future__ import annotations

import argparse
import platform
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from clinclust import FeatureSchema
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.methods import PublishedMAPDP

sys.path.insert(0, str(Path(__file__).parent))
from robust_cohorts import FLAVOURS, robust_cohort

RESULTS = Path(__file__).parent / "results" / "number_asked_for.md"
RULES = {
    "plain": "`PublishedMAPDP()`, the number left open",
    "plain, cut": "the same fit, `model.cut(K)`",
    "plain, cut, searched on": "a search that starts at these subtypes, `PublishedMAPDP(init=...)`",
    "auto": '`PublishedMAPDP(coarsening="auto")`, the number left open',
    "auto, cut": "the same fit, `model.cut(K)`",
    "K-means": "scikit-learn, K given, the best of 10 starts: indicators of levels, numbers standardised, medians for "
    "missing values",
}


def k_means(frame: pd.DataFrame, schema: FeatureSchema, n_clusters: int) -> np.ndarray:
    """Return the labels of K-means."""
    from sklearn.cluster import KMeans

    columns = []
    for feature in schema.features:
        values = frame[feature.name]
        if feature.levels:
            columns += [(values == level).to_numpy(dtype=float) for level in feature.levels]
        else:
            numbers = values.astype(float).fillna(values.astype(float).median())
            columns.append(((numbers - numbers.mean()) / numbers.std()).to_numpy())
    return KMeans(n_clusters, n_init=10, random_state=0).fit_predict(np.column_stack(columns)).astype(np.int64)


def compared(task: tuple[int, str, int]) -> list[dict[str, object]]:
    """Return one row for each rule in one cohort."""
    warnings.simplefilter("ignore")
    seed, flavour, n_restarts = task
    frame, schema, truth = robust_cohort(seed, flavour)
    n_true = np.unique(truth).size
    settings = {"n_restarts": n_restarts, "n_jobs": 1, "random_state": seed, "progress": False}
    found = {}
    for name, coarsening in (("plain", 1.0), ("auto", "auto")):
        model = PublishedMAPDP(schema, coarsening=coarsening, **settings).fit(frame)
        found[name] = model.labels_
        found[f"{name}, cut"] = model.cut(min(n_true, model.n_clusters_)).labels_
    on = PublishedMAPDP(schema, init=found["plain, cut"], **(settings | {"n_restarts": 1})).fit(frame)
    found["plain, cut, searched on"] = on.labels_
    found["K-means"] = k_means(frame, schema, n_true)
    return [
        {
            "seed": seed,
            "flavour": flavour,
            "rule": rule,
            "n_true": n_true,
            "n_found": int(labels.max()) + 1,
            "ari": adjusted_rand_index(labels, truth),
        }
        for rule, labels in found.items()
    ]


def report(rows: pd.DataFrame, n_restarts: int) -> str:
    """Return the page of results."""
    lines = ["| rule | " + " | ".join(FLAVOURS) + " |", "| --- |" + " --- |" * len(FLAVOURS)]
    for rule in RULES:
        cells = []
        for flavour in FLAVOURS:
            part = rows[(rows["rule"] == rule) & (rows["flavour"] == flavour)]
            right = int((part["n_found"] == part["n_true"]).sum())
            cells.append(f"{part['ari'].mean():.3f} ({right} of {len(part)})")
        lines.append(f"| {rule} | " + " | ".join(cells) + " |")
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn"))
    return "\n".join(
        [
            "# The true number of subtypes, asked for",
            "",
            f"{rows['seed'].nunique()} cohorts in each of {len(FLAVOURS)} flavours, seeds from {rows['seed'].min()}, "
            f"{n_restarts} restarts; made by `benchmarks/number_asked_for.py`.",
            "",
            *[f"- {name}: {meaning}" for name, meaning in FLAVOURS.items()],
            "",
            "Each cell: mean adjusted Rand index with the truth (cohorts with the true number of subtypes; a cut has "
            "another one only where the search found fewer).",
            "",
            *lines,
            "",
            *[f"- {rule}: {meaning}" for rule, meaning in RULES.items()],
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
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    tasks = [
        (options.first_seed + index, flavour, options.restarts)
        for index in range(options.cohorts)
        for flavour in FLAVOURS
    ]
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for done in pool.map(compared, tasks):
            rows += done
            print(pd.DataFrame(done).round(3).to_string(index=False), flush=True)
    text = report(pd.DataFrame(rows), options.restarts)
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
