"""Merge small clusters by their evidence: how many rare subtypes that swallows, and how many clusters of noise stay.

    python benchmarks/few_subjects.py               # a first look: two cohorts of each kind
    python benchmarks/few_subjects.py --cohorts 6   # what results/few_subjects.md holds

Each cohort has two large subtypes and a rare one of a few subjects. A small cluster of a fit is rare if most of its
subjects are, else it is noise. The bound of `MAPDP.min_size`, below which evidence is weak, is varied.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.estimators import distinct_subtypes

RESULTS = Path(__file__).parent / "results" / "few_subjects.md"
FLOOR, N_FEATURES, SIZES = 20, 8, (180, 100)
BOUNDS = (0.0, 2.0, distinct_subtypes.WEAK_EVIDENCE, 10.0, 20.0, np.inf)
KINDS = {
    "normal": "as the model says",
    "heavy tails": "Student's t with 4 degrees of freedom",
    "dependent": "one factor through all features, correlation .3",
}
RARE = tuple(product((2, 5, 10), (2.0, 3.0)))
"""Size of the rare subtype, and its distance in every feature from the nearest large one, in standard deviations."""


def cohort(seed: int, kind: str, n_rare: int, distance: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a cohort, and its true subtypes; 2 is the rare one."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [*SIZES, n_rare])
    signs = rng.choice([-1.0, 1.0], N_FEATURES)
    means = np.array([np.zeros(N_FEATURES), np.full(N_FEATURES, 2.0), distance * signs])
    noise = rng.standard_t(4, (truth.size, N_FEATURES)) if kind == "heavy tails" else rng.normal(size=(truth.size, 8))
    if kind == "dependent":
        noise = np.sqrt(0.7) * noise + np.sqrt(0.3) * rng.normal(size=(truth.size, 1))
    return pd.DataFrame(means[truth] + noise, columns=[f"x{place}" for place in range(N_FEATURES)]), truth


def small_clusters(task: tuple[int, str, int, float, float | str]) -> list[dict[str, object]]:
    """Return one row for each small cluster of a fit and each bound: whether it is rare, and whether it was merged."""
    seed, kind, n_rare, distance, coarsening = task
    frame, truth = cohort(seed, kind, n_rare, distance)
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    settings = {"coarsening": coarsening, "n_restarts": 4, "random_state": seed, "progress": False}
    model = cc.methods.PublishedMAPDP(schema, **settings).fit(frame)
    rows = []
    for bound in BOUNDS:
        distinct_subtypes.WEAK_EVIDENCE = bound
        cut = model.cut(None, min_size=FLOOR)
        for cluster in np.flatnonzero(model.cluster_sizes_ < FLOOR):
            members = model.labels_ == cluster
            is_large = not cut.untested_[cut.subtype_of_[cluster]]
            is_rare = (truth[members] == 2).mean() > 0.5
            rows.append({"kind": kind, "coarsening": coarsening, "bound": bound, "rare": is_rare, "merged": is_large})
    return rows


def written(rows: pd.DataFrame, n_cohorts: int) -> str:
    """Return the page of results."""
    lines = [
        "# Small clusters, merged by their evidence",
        "",
        f"{n_cohorts} cohorts of each kind and rare subtype ({len(RARE)} of them: 2, 5 or 10 subjects, 2 or 3 standard "
        f"deviations away in each of {N_FEATURES} features), with two large subtypes of {SIZES[0]} and {SIZES[1]}; "
        f"`min_size={FLOOR}`; made by `benchmarks/few_subjects.py`.",
        "",
        *(f"- {kind}: {meaning}" for kind, meaning in KINDS.items()),
        "",
        "Each cell: clusters below the floor that became part of a larger subtype, of those found. A rare cluster "
        "should not, a cluster of noise may.",
        "",
    ]
    names = ["0 (never)", *(f"{bound:g}" for bound in BOUNDS[1:-1]), "none (always)"]
    lines += [f"| cohorts | coarsening | clusters | {' | '.join(f'{name} nats' for name in names)} |"]
    lines += ["|" + " --- |" * (3 + len(BOUNDS))]
    for kind, coarsening, is_rare in product(KINDS, (1.0, "auto"), (True, False)):
        chosen = rows[(rows["kind"] == kind) & (rows["coarsening"] == coarsening) & (rows["rare"] == is_rare)]
        cells = [chosen.loc[chosen["bound"] == bound, "merged"] for bound in BOUNDS]
        told = " | ".join(f"{int(cell.sum())} of {len(cell)}" for cell in cells)
        lines.append(f"| {kind} | {coarsening} | {'rare' if is_rare else 'noise'} | {told} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Run the benchmark; write the page if it is large enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    n_cohorts = parser.parse_args().cohorts
    warnings.simplefilter("ignore")
    tasks = [
        (7000 + seed, kind, *rare, coarsening)
        for seed, kind, rare, coarsening in product(range(n_cohorts), KINDS, RARE, (1.0, "auto"))
    ]
    found = pd.DataFrame([row for task in tasks for row in small_clusters(task)])
    page = written(found, n_cohorts)
    print(page)
    if n_cohorts >= 6:
        RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
