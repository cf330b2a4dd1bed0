"""Measure which columns have an absurdly far value, and the subtypes found where slips of the pen are among the values.

python benchmarks/far_values.py    # writes results/far_values.md
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.likelihoods.likelihood import without_far_values
from clinclust.methods import PublishedMAPDP

RESULTS = Path(__file__).parent / "results" / "far_values.md"
SIZES = (30, 200, 1500, 20_000)
TRIES = 300
SEEDS = 4
SHARES = ((0.0, 1.0), (0.001, 10.0), (0.01, 10.0), (0.03, 10.0), (0.01, 0.1), (0.002, 100.0))
"""Shares of values that are so many times too large."""
SLIPS = ((0, 0.0), (1, 50.0), (1, 999.0), (1, 1e6), (3, 50.0), (3, 999.0), (3, 1e6), (3, 1e12))
Column = Callable[[np.random.Generator, int], np.ndarray]
COLUMNS: dict[str, Column] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal, sigma 1": lambda rng, n: rng.lognormal(0, 1, n),
    "lognormal, sigma 2": lambda rng, n: rng.lognormal(0, 2, n),
    "lognormal, sigma 3": lambda rng, n: rng.lognormal(0, 3, n),
    "t, 2 degrees of freedom": lambda rng, n: rng.standard_t(2, n),
    "Cauchy": lambda rng, n: rng.standard_cauchy(n),
    "creatinine, 0.3% on dialysis": lambda rng, n: _creatinine(rng, n, 0.003),
    "creatinine, 1.5% on dialysis": lambda rng, n: _creatinine(rng, n, 0.015),
    "70% zeros, else lognormal": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.lognormal(2, 1, n)),
}


def _creatinine(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    return np.where(rng.random(n) < share, rng.normal(700, 150, n), rng.normal(80, 18, n))


def share_with_far_values(draw: Column, n: int) -> float:
    """Return the share of columns in which a value is far."""
    rng = np.random.default_rng(0)
    return float(np.mean([without_far_values(draw(rng, n)).size < n for _ in range(TRIES)]))


def agreement(seed: int, n_slips: int, slip: float, coarsening: float | str) -> float:
    """Return the adjusted Rand index of a fit, without the subjects with a slip: one in each of so many columns."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, 1500, p=[0.5, 0.3, 0.2])
    values = rng.normal(0, 0.85, (3, 12))[groups] + rng.normal(size=(1500, 12))
    right = np.ones(1500, dtype=bool)
    for column, row in enumerate(rng.choice(1500, 3, replace=False)[:n_slips]):
        values[row, column], right[row] = slip, False
    frame = pd.DataFrame(values).add_prefix("f")
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    model = PublishedMAPDP(schema, coarsening=coarsening, n_restarts=3, random_state=0, progress=False).fit(frame)
    return float(adjusted_rand_index(groups[right], model.labels_[right]))


def decimal_points(seed: int, share: float, factor: float) -> list[tuple[int, float]]:
    """Return the number of subtypes and the adjusted Rand index of a published and of a default fit."""
    rng = np.random.default_rng(seed)
    groups = rng.choice(3, 400, p=[0.5, 0.3, 0.2])
    means = np.zeros((3, 10))
    means[1, :4], means[2, 3:7] = 1.8, -1.8
    values = 140 + 15 * rng.normal(means[groups])
    values = np.where(rng.random(values.shape) < share, factor * values, values)
    frame = pd.DataFrame(values).add_prefix("f")
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    models = [make(schema, random_state=0, progress=False).fit(frame) for make in (PublishedMAPDP, MAPDP)]
    return [(model.n_clusters_, float(adjusted_rand_index(groups, model.labels_))) for model in models]


def main() -> None:
    """Write all tables."""
    warnings.simplefilter("ignore")
    lines = ["Share of columns in which a value is absurdly far (`clinclust/likelihoods/likelihood.py`), by size:", ""]
    lines += ["| column | " + " | ".join(f"{n:,}" for n in SIZES) + " |", "| --- |" + " --- |" * len(SIZES)]
    for name, draw in COLUMNS.items():
        shares = " | ".join(f"{share_with_far_values(draw, n):.1%}" for n in SIZES)
        lines.append(f"| {name} | {shares} |")
    lines += ["", f"Mean ARI over {SEEDS} cohorts of 1,500 subjects, 12 features N(m, 1) and three groups:", ""]
    lines += ['| slips | value | plain | `coarsening="auto"` |', "| --- | --- | --- | --- |"]
    for n_slips, slip in SLIPS:
        means = (np.mean([agreement(s, n_slips, slip, c) for s in range(SEEDS)]) for c in (1.0, "auto"))
        lines.append(f"| {n_slips} | {slip:g} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    lines += [
        "",
        f"Some values are so many times too large, in every feature: {SEEDS} cohorts of 400 subjects with 10 features "
        "N(140 + 15 m, 15²) and three groups. Each cell: mean number of subtypes, mean ARI of all subjects.",
        "",
        "| share | times | `PublishedMAPDP` | `MAPDP` |",
        "| --- | --- | --- | --- |",
    ]
    for share, factor in SHARES:
        found = np.array([decimal_points(seed, share, factor) for seed in range(SEEDS)]).mean(axis=0)
        lines.append(f"| {share:.1%} | {factor:g} | " + " | ".join(f"{k:.1f}, {ari:.2f}" for k, ari in found) + " |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
