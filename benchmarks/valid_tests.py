"""How often tests after clustering are wrong, and how often they find what is there.

Cohorts of 400 subjects are clustered as they are, and every feature is tested twice: naively, by the descriptive
contrast against the subtypes that it helped to form, and validly, by `validated_associations` against subtypes found
without it. A test is wrong if p is at most .05 for a feature that is independent of all others; how often p is at most
.001 shows the tail, which adjusted p-values come from.

Shares are over the tests made; where a cohort is one subtype, none is made. *Believed*: significant and not marked as
doubtful, which is what a report shows as validated. The standard error takes the tests of one cohort as one draw.

Run it with ``python benchmarks/valid_tests.py``; it takes forty minutes on two processors, prints the table, and writes
it to benchmarks/results/valid_tests.md. ``--cohorts 50 --only pairs`` is sooner. ``--as-published`` fits with
`MAPDP.as_published`, which has more subtypes to test, and writes to benchmarks/results/valid_tests_as_published.md.
"""

from __future__ import annotations

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tested_cohorts import SCENARIOS

from clinclust import MAPDP, FeatureSchema, compare_subtypes, validated_associations

SIGNIFICANCE_LEVEL, TAIL = 0.05, 0.001
RESULTS = Path(__file__).parent / "results"
METHODS = ("refit", "cross-fit")
FEW = 10
"""Cohorts with tests below which their number stands in the place of a standard error."""


def measured(task: tuple[str, int, bool]) -> list[dict[str, Any]]:
    """Return one row for each counted feature of one cohort."""
    warnings.simplefilter("ignore")
    name, seed, as_published = task
    place = list(SCENARIOS).index(name)
    drawn = SCENARIOS[name](np.random.default_rng([place, seed]))
    schema, frame = FeatureSchema(drawn.features), pd.DataFrame(drawn.columns)
    frame = schema.validate(frame.astype(object).where(frame.notna(), None) if frame.isna().any(axis=None) else frame)
    # From given labels there is no refinement, which among noise would take most of the time.
    begin = np.random.default_rng(seed).integers(8, size=len(frame))
    make = MAPDP.as_published if as_published else MAPDP
    model = make(schema, n_restarts=2, init=begin, random_state=seed, n_jobs=1, progress=False).fit(frame)
    naive = compare_subtypes(frame, model.labels_, schema).query("kind == 'contrast'").set_index("feature")["p"]
    rows = []
    for method in METHODS:
        found = validated_associations(model, frame, method=method, n_jobs=1, progress=False).set_index("feature")
        rows += [
            {
                "scenario": name,
                "seed": seed,
                "method": method,
                "n_clusters": model.n_clusters_,
                "naive": naive[feature],
                "valid": found.loc[feature, "p"],
                "doubtful": bool(found["doubtful"].fillna(False)[feature]),
                "agreement": found.loc[feature, "agreement"],
            }
            for feature in drawn.counted
        ]
    return rows


def share(frame: pd.DataFrame, column: str, level: float = SIGNIFICANCE_LEVEL) -> str:
    """Return the share of p at most `level` among the tests made, with its standard error."""
    made = frame[frame[column].notna()]
    if made.empty:
        return "no tests"
    by_cohort = made.assign(hit=made[column] <= level).groupby("seed")["hit"].agg(["sum", "size"])
    estimate = by_cohort["sum"].sum() / by_cohort["size"].sum()
    if len(by_cohort) < FEW:
        return f"{estimate:.3f} ({len(by_cohort)} cohort{'s'[: len(by_cohort) != 1]})"
    error = np.sqrt(((by_cohort["sum"] - estimate * by_cohort["size"]) ** 2).sum()) / by_cohort["size"].sum()
    return f"{estimate:.3f} ± {error:.3f}"


def report(rows: pd.DataFrame, *, as_published: bool) -> str:
    """Return the page."""
    rows = rows.assign(believed=rows["valid"].mask(rows["doubtful"] & rows["valid"].notna(), 1.0))
    lines = [
        f"# Tests after clustering{', the model as published' if as_published else ''}",
        "",
        *"\n".join((__doc__ or "").split("\n\n")[1:3]).splitlines(),
        "",
        "*Doubtful*: the share of the refitted tests that are marked, and of the significant ones in brackets.",
        "*Agreement*: the median adjusted Rand index of the subtypes found without a feature with the reported ones.",
        "",
        "| features that are counted | cohorts | subtypes (median) | naive | valid, refitted | p ≤ .001 "
        "| tests made | believed | doubtful | agreement | valid, cross-fitted | believed |",
        f"|{' --- |' * 12}",
    ]
    for name in SCENARIOS:
        part = rows[rows["scenario"] == name]
        if part.empty:
            continue
        refit, cross = (part[part["method"] == method] for method in METHODS)
        made = refit[refit["valid"].notna()]
        significant = made[made["valid"] <= SIGNIFICANCE_LEVEL]
        doubtful = f"{made['doubtful'].mean():.3f} ({significant['doubtful'].mean():.2f})" if len(made) else "–"
        agreement = f"{made['agreement'].median():.2f}" if made["agreement"].notna().any() else "–"
        lines.append(
            f"| {name} | {refit['seed'].nunique()} | {refit['n_clusters'].median():.0f} | {share(refit, 'naive')} "
            f"| {share(refit, 'valid')} | {share(refit, 'valid', TAIL)} "
            f"| {refit['valid'].notna().mean():.0%} | {share(refit, 'believed')} "
            f"| {doubtful.replace('nan', '–')} | {agreement} | {share(cross, 'valid')} | {share(cross, 'believed')} |"
        )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba"))
    return "\n".join([*lines, "", f"Measured with {packages}.", ""])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--as-published", action="store_true", help="fit with `MAPDP.as_published`")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    name = "valid_tests_as_published.md" if options.as_published else "valid_tests.md"
    options.output = options.output or RESULTS / name
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for name in SCENARIOS:
            if options.only in name:
                tasks = [(name, seed, options.as_published) for seed in range(options.cohorts)]
                rows += [row for found in pool.map(measured, tasks, chunksize=10) for row in found]
                options.output.write_text(
                    report(pd.DataFrame(rows), as_published=options.as_published), encoding="utf-8"
                )
                print(options.output.read_text(encoding="utf-8").splitlines()[-3], flush=True)


if __name__ == "__main__":
    main()
