"""Ask which likelihood of a sum score makes the fewest artificial subtypes, and which still finds real ones.

    python benchmarks/sum_scores.py

Each cohort has ten scores of one shape. In noise, no score depends on a subtype: every subtype beyond the first is
artificial. With two subtypes, half of the scores differ between them. The draft follows the table that this writes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

import clinclust as cc

_RESULTS = Path(__file__).parent / "results" / "sum_scores.md"
_LIKELIHOODS = ("ordinal", "gaussian", "negative_binomial", "poisson", "binomial")
_MOST_SUBJECTS = {"poisson": 60, "binomial": 60}
"""The most subjects with which a likelihood is fitted: these two find tens of subtypes, in minutes."""
_N_SCORES, _N_COHORTS, _SHIFT = 10, 5, 0.9
Array = NDArray[np.float64]
Draw = Callable[[np.random.Generator, Array], Array]


def _item_response(steps: int, spread: float, middle: float) -> Draw:
    """Return a score that is a sum of answers whose ease varies among subjects: wider than a binomial."""

    def draw(rng: np.random.Generator, shift: Array) -> Array:
        ease = middle + spread * (rng.normal(size=shift.size) + shift)
        return rng.binomial(steps, 1.0 / (1.0 + np.exp(-ease))).astype(np.float64)

    return draw


_SHAPES: dict[str, tuple[int, Draw]] = {
    "0 to 10, middle": (10, _item_response(10, 1.0, 0.0)),
    "0 to 10, low": (10, _item_response(10, 1.2, -1.2)),
    "0 to 21, floor": (21, _item_response(21, 1.3, -1.8)),
    "0 to 30, ceiling": (30, _item_response(30, 1.2, 2.2)),
    "0 to 40, middle": (40, _item_response(40, 0.9, 0.0)),
    "0 to 68, low": (68, _item_response(68, 1.0, -0.6)),
    "0 to 40, binomial": (40, _item_response(40, 0.0, 0.0)),
}


def main() -> None:
    """Fit every likelihood to every shape, and write the table."""
    rows = [
        "# Likelihoods of sum scores",
        "",
        f"{_N_SCORES} scores of one shape, {_N_COHORTS} cohorts each. Noise: the mean number of subtypes found, where "
        f"one is right. Two subtypes: half of the scores differ by {_SHIFT} of their latent standard deviation; the "
        "mean adjusted Rand index.",
        "",
        "| score | subjects | found in | " + " | ".join(_LIKELIHOODS) + " |",
        "| --- | ---: | --- |" + " ---: |" * len(_LIKELIHOODS),
    ]
    for shape, (steps, draw) in _SHAPES.items():
        for n in (60, 100, 200, 1000):
            found = _measured(steps, draw, n)
            for kind, digits in (("noise", 1), ("two subtypes", 2)):
                if shape.endswith("binomial") and kind != "noise":
                    continue
                cells = " | ".join(
                    f"{np.mean(found[kind, name]):.{digits}f}" if found[kind, name] else "" for name in _LIKELIHOODS
                )
                rows.append(f"| {shape} | {n} | {kind} | {cells} |")
                print(rows[-1], flush=True)
    _RESULTS.write_text("\n".join([*rows, ""]), encoding="utf-8")


def _measured(steps: int, draw: Draw, n: int) -> dict[tuple[str, str], list[float]]:
    """Return the number of subtypes in noise, and the agreement with two subtypes, of each likelihood."""
    found = defaultdict(list)
    for cohort in range(_N_COHORTS):
        rng = np.random.default_rng([cohort, n, steps])
        group = np.arange(n) % 2
        for kind in ("noise", "two subtypes"):
            shifts = [
                (2 * group - 1) * _SHIFT * (kind != "noise" and score < _N_SCORES // 2) for score in range(_N_SCORES)
            ]
            frame = pd.DataFrame({f"s{score}": draw(rng, shift.astype(float)) for score, shift in enumerate(shifts)})
            for name in _LIKELIHOODS:
                if n > _MOST_SUBJECTS.get(name, n):
                    continue
                fields = {"trials": steps} if name in ("binomial", "ordinal") else {}
                schema = cc.FeatureSchema([cc.Feature(name=score, likelihood=name, **fields) for score in frame])
                model = cc.methods.PublishedMAPDP(schema, n_restarts=3, random_state=0).fit(frame)
                right = adjusted_rand_score(group, model.labels_)
                found[kind, name].append(model.n_clusters_ if kind == "noise" else right)
    return found


if __name__ == "__main__":
    main()
