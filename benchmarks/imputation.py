"""Impute missing values: how far off, and how often a 90% interval holds the value, beside other imputers.

    python benchmarks/imputation.py              # what results/imputation.md holds: one mask of each kind
    python benchmarks/imputation.py --seeds 4    # more of them

All methods get the same numbers: laboratory values as logarithms, unordered levels as indicators. miceforest takes part
if it is installed (6.0.5 needs lightgbm below 4.6). What draws several imputations takes the most time, and gets one
mask of each cohort.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from imputation_cohorts import COHORTS, erased, levels_of
from imputers import HAS_FORESTS, METHODS, SLOW, Found, Task

RESULTS = Path(__file__).parent / "results" / "imputation.md"
SHARES, MECHANISMS = (0.1, 0.3, 0.5), ("at random", "by size")
OURS, AIM = "clinclust", (0.88, 0.92)
TITLES = {
    "error": "Error of numbers (root mean square, in standard deviations)",
    "wrong": "Share of wrong levels",
    "held": "90% intervals of measurements that hold the value",
    "held, whole numbers": "90% intervals of counts and scales that hold the value",
}
ABOUT = """# Imputed values and their intervals

Made by `benchmarks/imputation.py`. *groups*: 300 subjects in four groups, 16 features of every kind; *continuum*: 300
subjects of one population, two factors through the same features; *diabetes* (442 subjects, 10 features) and *wine*
(178, 13) of scikit-learn. Values are missing completely at random, or *by size*: the larger, the more often.

The intervals of clinclust lie between quantiles of a hundred draws. Methods with five draws have one mask of each
cohort (30%, at random), the mean of the draws, and intervals of Student's t from them; scikit-learn's imputers have no
intervals otherwise.
"""


def judged(task: Task, found: Found) -> dict[str, float]:
    """Return the errors of one completed table, and how many of its intervals hold the value."""
    values, lower, upper = found
    errors, wrong, held, held_whole = [], [], [], []
    for feature in task.schema:
        rows = task.where[feature.name].to_numpy()
        true = feature.transformed(task.truth[feature.name])
        guess = values[feature.name].to_numpy(dtype=float)
        if levels_of(feature):
            wrong.append((guess != true)[rows])
            continue
        errors.append(np.sqrt(np.mean(np.square(guess - true)[rows])) / true.std())
        if lower is not None and upper is not None:
            within = (lower[feature.name].to_numpy(float) <= true) & (true <= upper[feature.name].to_numpy(float))
            (held_whole if feature.traits.is_whole else held).append(within[rows])
    return {
        "error": float(np.mean(errors)),
        "wrong": float(np.concatenate(wrong).mean()) if wrong else np.nan,
        "held": float(np.concatenate(held).mean()) if held else np.nan,
        "held, whole numbers": float(np.concatenate(held_whole).mean()) if held_whole else np.nan,
    }


def runs(n_seeds: int) -> Iterator[dict[str, Any]]:
    """Yield one row for each cohort, share, mechanism, mask and method."""
    for name, share, mechanism, seed in product(COHORTS, SHARES, MECHANISMS, range(n_seeds)):
        rng = np.random.default_rng([seed, round(100 * share), mechanism == "by size", len(name)])
        frame, schema = COHORTS[name](rng)
        seen, where = erased(frame, share, mechanism, rng)
        task = Task(schema.validate(seen, warn=False), schema.validate(frame, warn=False), where, schema)
        for method, function in METHODS.items():
            if method in SLOW and (seed, share, mechanism) != (0, 0.3, "at random"):
                continue
            if method.startswith("miceforest") and not HAS_FORESTS:
                continue
            began = time.perf_counter()
            found = judged(task, function(task))
            seconds = time.perf_counter() - began
            yield {"cohort": name, "share": share, "mechanism": mechanism, "method": method, "s": seconds, **found}


def shown(value: float) -> str:
    """Return a number with two digits; nothing for a missing one."""
    return "" if np.isnan(value) else f"{value:.2f}"


def table_of(rows: pd.DataFrame, what: str, mechanism: str) -> list[str]:
    """Return the lines of a table of one number: a row for each method, a column for each cohort and share."""
    part = rows[(rows["mechanism"] == mechanism) & rows[what].notna()]
    heads = [(cohort, share) for cohort in COHORTS for share in SHARES if (part["cohort"] == cohort).any()]
    means = part.groupby(["method", "cohort", "share"])[what].mean()
    lines = [f"| method | {' | '.join(f'{cohort} {share:.0%}' for cohort, share in heads)} |"]
    lines.append("| --- |" + " --- |" * len(heads))
    for method in METHODS:
        cells = [means.get((method, *head), np.nan) for head in heads]
        if not np.isnan(cells).all():
            lines.append(f"| {method} | {' | '.join(map(shown, cells))} |")
    return lines


def in_short(rows: pd.DataFrame) -> list[str]:
    """Return how many of our intervals hold the value, by what is missing and the kind of feature."""
    lines = []
    for what, kind in (("held", "measurements"), ("held, whole numbers", "counts and scales")):
        for mechanism in MECHANISMS:
            part = rows[(rows["method"] == OURS) & (rows["mechanism"] == mechanism)]
            means = part.groupby(["cohort", "share"])[what].mean().dropna()
            low, high = AIM
            outside = (
                f"{int((means < low).sum())} of {len(means)} below {low}, {int((means > high).sum())} above {high}"
            )
            lines.append(
                f"- Of our 90% intervals of {kind}, missing {mechanism}, {means.mean():.3f} hold the value, from "
                f"{means.min():.2f} to {means.max():.2f} by cohort and share: {outside}."
            )
    means = rows[rows["mechanism"] == "at random"].groupby(["cohort", "method"])["error"].mean()
    for cohort in COHORTS:
        errors = ", ".join(f"{method} {means[cohort, method]:.2f}" for method in METHODS if method not in SLOW)
        lines.append(f"- Error of numbers in {cohort}, missing at random, mean over the shares: {errors}.")
    return lines


def written(rows: pd.DataFrame, n_seeds: int) -> str:
    """Return the page of results."""
    lines = [ABOUT, f"Masks of each kind: {n_seeds}.", "", "## In short", "", *in_short(rows), ""]
    for what, title in TITLES.items():
        for mechanism in MECHANISMS:
            lines += [f"## {title}, missing {mechanism}", "", *table_of(rows, what, mechanism), ""]
    seconds = rows.groupby("method", sort=False)["s"].mean()
    lines += [
        "## Seconds",
        "",
        "The mean of one table, with the fit in the first: "
        f"{', '.join(f'{method}: {mean:.2f}' for method, mean in seconds.items())}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="masks of each kind")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.perf_counter()
    rows = pd.DataFrame(list(runs(options.seeds)))
    page = written(rows, options.seeds)
    print(page)
    print(f"{time.perf_counter() - began:.0f} s")
    RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
