"""Stability of clear groups, overlapping groups, slices of one continuum, and pieces of noise.

    python benchmarks/stability.py              # a first look: prints the table
    python benchmarks/stability.py --cohorts 2 --write      # what results/stability.md holds

Ten measurements of 300 subjects each. What a report would say is averaged over the subtypes of at least five subjects,
weighed by their sizes; a cohort in which one group is found has nothing to assess.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc

N, D, SAMPLES = 300, 10, 20
RESULTS = Path(__file__).parent / "results" / "stability.md"
FEWEST = 5


def groups(shift: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a kind of cohort: three groups whose means lie this far apart in half of the features, in SDs."""

    def drawn(rng: np.random.Generator) -> np.ndarray:
        group = rng.choice(3, N, p=(0.5, 0.3, 0.2))
        centres = shift * rng.permuted(np.tile(np.arange(3.0), (D, 1)), axis=1).T
        centres[:, D // 2 :] = 0.0
        return rng.normal(centres[group], 1.0)

    return drawn


def continuum(rng: np.random.Generator) -> np.ndarray:
    """Return a severity that runs through all features."""
    return rng.normal(size=(N, 1)) + 0.7 * rng.normal(size=(N, D))


def skewed_noise(rng: np.random.Generator) -> np.ndarray:
    """Return independent skewed columns, which a Gaussian likelihood describes by several clusters."""
    return rng.gamma(1.5, size=(N, D))


KINDS = {
    "three groups, 3 SD apart": groups(3.0),
    "three groups, 1.5 SD apart": groups(1.5),
    "three groups, 1 SD apart": groups(1.0),
    "one continuum (severity)": continuum,
    "skewed noise, declared Gaussian": skewed_noise,
}
ESTIMATORS = {"published": cc.methods.PublishedMAPDP, "MAPDP": cc.MAPDP}


def row(name: str, estimator: str, n_cohorts: int, *, whole_procedure: bool = False) -> str:
    """Return a row of the table."""
    found = []
    for seed in range(n_cohorts):
        frame = pd.DataFrame(KINDS[name](np.random.default_rng([seed, 7]))).rename(columns="x{}".format)
        schema = cc.FeatureSchema([cc.Feature(name=column, likelihood="gaussian") for column in frame])
        model = ESTIMATORS[estimator](schema, random_state=seed, progress=False).fit(frame)
        if model.n_clusters_ == 1:
            found.append({"subtypes": 1.0})
            continue
        began = time.perf_counter()
        stability = cc.stability.assess_stability(
            model, frame, SAMPLES, progress=False, whole_procedure=whole_procedure
        )
        large = stability.subtypes.query("size >= @FEWEST")
        means = {
            key: float(np.average(large[key], weights=large["size"]))
            for key in ("jaccard", "jaccard_by_chance", "dissolved")
        }
        found.append(
            {
                "subtypes": float(model.n_clusters_),
                **means,
                "same_number": stability.same_number,
                "lowest": float(stability.sensitivity["agreement"].min()),
                "seconds": time.perf_counter() - began,
            }
        )
    table = pd.DataFrame(found)
    one = f"{(table['subtypes'] == 1).mean():.2f}"
    keys = ["jaccard", "jaccard_by_chance", "dissolved", "same_number", "lowest"]
    means_shown = [f"{table[key].mean():.2f}" if key in table else "–" for key in keys]
    seconds = f"{table['seconds'].mean():.1f}" if "seconds" in table else "–"
    called = f"{estimator}, whole procedure" if whole_procedure else estimator
    return f"| {name} | {called} | {table['subtypes'].mean():.1f} | {one} | {' | '.join(means_shown)} | {seconds} |"


def main() -> None:
    """Measure, print the page, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    head = (
        *("cohort", "model", "subtypes", "one group", "Jaccard in halves", "by chance", "dissolved"),
        *("as many clusters in halves", "lowest agreement under other settings", "seconds"),
    )
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in KINDS:
            lines += [row(name, estimator, options.cohorts) for estimator in ESTIMATORS]
            lines.append(row(name, "MAPDP", options.cohorts, whole_procedure=True))
    text = (
        "# Would the subtypes come out again?\n\n"
        f"{N} subjects, {D} measurements, {options.cohorts} cohorts of each kind, {SAMPLES} halves of "
        "each; made by `benchmarks/stability.py`. Means over the cohorts in which several "
        "subtypes were found, of subtypes of at least 5 subjects, weighed by size. What comes out again need not be a "
        "kind: slices of a continuum can do so as well. Whole procedure: everything that the fit chose from the data "
        "is chosen anew in each half.\n\n" + "\n".join(lines) + "\n"
    )
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
