"""How often tests after clustering are wrong, and how often they find what is there.

Cohorts of 400 subjects (or N) are clustered as they are, and every feature is tested twice: naively, by the descriptive
contrast against the subtypes that it helped to form, and validly, by `validated_associations` against subtypes found
without it. A test is wrong if p is at most .05 for a feature that is independent of all others; how often p is at most
.001 shows the tail, which adjusted p-values come from.

The test of a feature has a grade, at the level .05. *Differs*: q is at most .05, between subtypes found without it (of
a described feature, between those reported). *Beyond dependence*: it differs by more than its relation to the other
features explains, and could not be undone by what is missing. *Tested*: the share of features whose test has a grade;
the others have none, as everybody is of one subtype or other subtypes are found without them. Shares are over the
tested. The standard error takes the tests of one cohort as one draw.

Run it with ``python benchmarks/valid_tests.py``; it takes half an hour on two processors, prints the table, and writes
it to benchmarks/results/valid_tests.md. ``--cohorts 50 --only pairs`` is sooner. ``--as-published`` fits with
`PublishedMAPDP`, which has more subtypes to test, and writes to benchmarks/results/valid_tests_as_published.md.
"""

from __future__ import annotations

import argparse
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from commits import describe_commit
from tested_cohorts import SCENARIOS

from clinclust import MAPDP, FeatureSchema, Partition, compare_subtypes, validated_associations
from clinclust.errors import InputError
from clinclust.methods import PublishedMAPDP

SIGNIFICANCE_LEVEL, TAIL = 0.05, 0.001
RESULTS = Path(__file__).parent / "results"
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
    if drawn.given is not None:
        model: Any = Partition(drawn.given, schema, "the simulation")
    else:
        # From given labels there is no refinement, which among noise would take most of the time.
        begin = np.random.default_rng(seed).integers(8, size=len(frame))
        make = PublishedMAPDP if as_published else MAPDP
        asked = {} if drawn.n_clusters is None else {"n_clusters": drawn.n_clusters}
        made = make(schema, n_restarts=2, init=begin, random_state=seed, n_jobs=1, progress=False, **asked)
        try:
            model = made.fit(frame)
        except InputError:  # fewer groups than asked for
            return []
    naive = compare_subtypes(frame, model.labels_, schema).query("kind == 'contrast'").set_index("feature")["p"]
    found = validated_associations(
        model, frame, significance_level=SIGNIFICANCE_LEVEL, n_jobs=1, progress=False
    ).set_index("feature")
    return [
        {
            "scenario": name,
            "seed": seed,
            "n_subtypes": np.unique(model.labels_).size,
            "naive": naive[feature],
            "valid": found.loc[feature, "p"],
            "grade": found.loc[feature, "grade"],
            "agreement": found.loc[feature, "agreement"],
        }
        for feature in drawn.counted
    ]


def share(frame: pd.DataFrame, hits: pd.Series, of: pd.Series) -> str:
    """Return the share of `hits` in the rows `of`, with its standard error."""
    if not of.any():
        return "no tests"
    by_cohort = hits[of].groupby(frame.loc[of, "seed"]).agg(["sum", "size"])
    estimate = by_cohort["sum"].sum() / by_cohort["size"].sum()
    if len(by_cohort) < FEW:
        return f"{estimate:.3f} ({len(by_cohort)} cohort{'s'[: len(by_cohort) != 1]})"
    error = np.sqrt(((by_cohort["sum"] - estimate * by_cohort["size"]) ** 2).sum()) / by_cohort["size"].sum()
    return f"{estimate:.3f} ± {error:.3f}"


def graded(frame: pd.DataFrame) -> list[str]:
    """Return the shares of p at most .05, of what differs, and of what differs beyond dependence."""
    tested = frame["grade"] != "not tested"
    differs = frame["grade"].isin(["differs", "differs beyond dependence"])
    hits = [frame["valid"] <= SIGNIFICANCE_LEVEL, differs, frame["grade"] == "differs beyond dependence"]
    return [share(frame, each, tested) for each in hits]


def report(rows: pd.DataFrame, *, as_published: bool) -> str:
    """Return the page."""
    lines = [
        f"# Tests after clustering{', the model as published' if as_published else ''}",
        "",
        *"\n".join((__doc__ or "").split("\n\n")[1:3]).splitlines(),
        "",
        "*Agreement*: the median adjusted Rand index of the subtypes found without a feature with the reported ones.",
        "",
        "| features that are counted | cohorts | subtypes (median) | tested | agreement | naive p ≤ .05 | p ≤ .05 "
        "| p ≤ .001 | differs | beyond dependence |",
        f"|{' --- |' * 10}",
    ]
    for name in SCENARIOS:
        part = rows[rows["scenario"] == name]
        if part.empty:
            continue
        tested = part["grade"] != "not tested"
        agreement = f"{part['agreement'].median():.2f}" if part["agreement"].notna().any() else "–"
        p, differs, beyond = graded(part)
        naive = share(part, part["naive"] <= SIGNIFICANCE_LEVEL, part["naive"].notna())
        tail = share(part, part["valid"] <= TAIL, tested)
        cells = [name, f"{part['seed'].nunique()}", f"{part['n_subtypes'].median():.0f}", f"{tested.mean():.0%}"]
        cells += [agreement, naive, p, tail, differs, beyond]
        lines.append(f"| {' | '.join(cells)} |")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba"))
    return "\n".join([*lines, "", f"{describe_commit()} {packages}.", ""])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="scenarios whose name matches this regular expression")
    parser.add_argument("--as-published", action="store_true", help="fit with `PublishedMAPDP`")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    name = "valid_tests_as_published.md" if options.as_published else "valid_tests.md"
    options.output = options.output or RESULTS / name
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for name in SCENARIOS:
            if re.search(options.only, name):
                tasks = [(name, seed, options.as_published) for seed in range(options.cohorts)]
                rows += [row for found in pool.map(measured, tasks, chunksize=10) for row in found]
                options.output.write_text(
                    report(pd.DataFrame(rows), as_published=options.as_published), encoding="utf-8"
                )
                print(options.output.read_text(encoding="utf-8").splitlines()[-3], flush=True)


if __name__ == "__main__":
    main()
