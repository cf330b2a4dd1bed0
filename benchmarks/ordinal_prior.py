"""Count the clusters that ordinal features get from noise, and find three true clusters, under two priors.

    python benchmarks/ordinal_prior.py [replications]

Ten scales with 5, 7, 11 and 31 levels. Noise: levels equally frequent, falling, bell-shaped, or of random frequencies.
Signal: a normal value, shifted by the cluster, cut into levels with equal or random frequencies. The priors: the
default (the weight of a split grows with its depth), and the same weight of 4 subjects for every split, with means
halfway between the observed and equal frequencies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.priors import dirichlet_tree

_RESULTS = Path(__file__).parent / "results" / "ordinal_prior.md"
_COLUMNS = 10
_Scales = np.ndarray
_Cohort = tuple[np.ndarray, _Scales]


def _noise(frequencies: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., _Cohort]:
    def draw(rng: np.random.Generator, n: int, levels: int) -> _Cohort:
        columns = [rng.choice(levels, n, p=frequencies(rng, levels)) for _ in range(_COLUMNS)]
        return np.zeros(n, dtype=int), np.stack(columns, axis=1)

    return draw


def _falling(_: np.random.Generator, levels: int) -> np.ndarray:
    weights = 0.6 ** np.arange(levels)
    return np.asarray(weights / weights.sum())


def _bell(_: np.random.Generator, levels: int) -> np.ndarray:
    weights = np.exp(-0.5 * np.linspace(-2.5, 2.5, levels) ** 2)
    return np.asarray(weights / weights.sum())


def _shifted(frequencies: Callable[[np.random.Generator, int], np.ndarray]) -> Callable[..., _Cohort]:
    def draw(rng: np.random.Generator, n: int, levels: int) -> _Cohort:
        clusters = rng.integers(0, 3, n)
        values = rng.normal(0, 0.9, (3, _COLUMNS))[clusters] + rng.normal(size=(n, _COLUMNS))
        cut = [np.quantile(column, np.cumsum(frequencies(rng, levels))[:-1]) for column in values.T]
        return clusters, np.stack([np.searchsorted(c, v) for c, v in zip(cut, values.T, strict=True)], axis=1)

    return draw


def _even(_: np.random.Generator, levels: int) -> np.ndarray:
    return np.full(levels, 1.0 / levels)


def _random(rng: np.random.Generator, levels: int) -> np.ndarray:
    return rng.dirichlet(np.ones(levels))


_NOISE = {"even": _noise(_even), "falling": _noise(_falling), "bell": _noise(_bell), "random": _noise(_random)}
_SIGNAL = {"shift, even": _shifted(_even), "shift, random": _shifted(_random)}


def _same_weight(column: np.ndarray, levels: int) -> dict[str, list[float]]:
    """Return the prior whose splits all weigh 4 subjects."""
    frequencies = 0.5 / levels + 0.5 * np.bincount(column, minlength=levels) / column.size
    lower, upper = np.split(dirichlet_tree.halves(frequencies), 2)
    return {"lower": list(4.0 * lower / (lower + upper)), "upper": list(4.0 * upper / (lower + upper))}


def _fit(scales: _Scales, levels: int, same_weight: bool) -> cc.MAPDP:
    features = [
        cc.Feature(
            name=f"scale_{j}",
            likelihood="ordinal",
            trials=levels - 1,
            prior=_same_weight(scales[:, j], levels) if same_weight else {},
        )
        for j in range(_COLUMNS)
    ]
    schema = cc.FeatureSchema(features)
    frame = pd.DataFrame(scales, columns=[f"scale_{j}" for j in range(_COLUMNS)])
    return cc.methods.PublishedMAPDP(schema, random_state=0, progress=False, max_seconds=20).fit(schema.validate(frame))


def main() -> None:
    """Fit every kind of cohort under both priors, and write the means."""
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    titles = [*(f"noise, {kind}: K" for kind in _NOISE), *(f"{kind}: K (ARI)" for kind in _SIGNAL)]
    lines = [
        "# The default prior of ordinal features",
        "",
        f"Ten scales, means of {replications} cohorts. Noise has one cluster, signal three. Deeper weighs more: the"
        " default. Same weight: 4 subjects for every split. `python benchmarks/ordinal_prior.py`",
        "",
        f"| levels | subjects | prior | {' | '.join(titles)} |",
        f"| ---: | ---: | --- |{' ---: |' * len(titles)}",
    ]
    for levels in (5, 7, 11, 31):
        for n in (60, 150, 400):
            for same_weight in (True, False):
                cells = []
                for kind, draw in [*_NOISE.items(), *_SIGNAL.items()]:
                    found = []
                    for seed in range(replications):
                        truth, scales = draw(np.random.default_rng(seed), n, levels)
                        model = _fit(scales, levels, same_weight)
                        found.append((model.n_clusters_, adjusted_rand_score(truth, model.labels_)))
                    clusters, agreement = np.mean(found, axis=0)
                    cells.append(f"{clusters:.1f}" + (f" ({agreement:.2f})" if kind in _SIGNAL else ""))
                name = "same weight" if same_weight else "deeper weighs more"
                lines.append(f"| {levels} | {n} | {name} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    _RESULTS.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
