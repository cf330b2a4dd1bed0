"""Measure the level of the test of `distinct_subtypes`, at the root and inside groups.

    python benchmarks/continuum_levels.py --cohorts 10 --groups 2                       # a first look
    python benchmarks/continuum_levels.py --cohorts 200 --groups 30 --jobs 2 --write    # results/continuum_levels.md

The root is tested without a fit: all subjects, up to four parts. This is the worst case, because no cohort is spared by
a fit that finds one cluster. `--keep FOLDER` keeps the rows of each kind, and a later run goes on from there.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clinclust import distinct_subtypes
from clinclust.engine.continuum import tested_node
from clinclust.engine.continuum.tested_node import (
    DrawPlan,
    Node,
    NodeTest,
    RunningTest,
    are_few,
    best_division,
    distance_in,
    is_discrete,
    p_of_gap_between,
)
from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.plan import Threads
from clinclust.estimators.distinct_subtypes import FAR
from clinclust.estimators.fit import DISTINCT_LEVEL, SHAPE_COUNTS
from clinclust.estimators.subtype_model import cohort_of, fitted_problem
from clinclust.methods import PublishedMAPDP

sys.path.insert(0, str(Path(__file__).parent))
from one_population_cohorts import (
    CLASSES,
    COVERED,
    GROUPS,
    IN_MIXED_FEATURES,
    NOT_COVERED,
    OUTGROWN,
    cohort_of_groups,
    cohort_of_one,
)

RESULTS = Path(__file__).parent / "results" / "continuum_levels.md"
N_SUBJECTS = (200, 500, 2000)
MANY = 2000
"""Number of subjects of which a third of the cohorts are tested."""
CHECKED = ("severity, mixed, 10% missing", 200)
"""The population in which the short cuts of this benchmark are checked."""
OF_CLASSES = (200, 300)
LEVEL, DRAWS, PARTS = 0.05, 100, 4
CONCENTRATION = 3.0
FITS_OF_GROUPS: list[tuple[str, float | str]] = [(kind, "auto") for kind in GROUPS] + [(list(GROUPS)[-1], 1.0)]
"""Kinds of groups, each with the coarsening of its fit."""
OF_A_GROUP = 0.1
"""Share of a group from which on a subtype holds a part of it; share of others up to which a node is one group."""

Row = dict[str, Any]
Labels = NDArray[np.int64]


def result_of(problem: Problem, members: Labels, seed: int, *, any_shape: bool = False) -> tuple[NodeTest, int]:
    """Return the test of these subjects against one continuum, or one that bends, and the number of draws it made."""
    drawn: list[int] = []
    with Threads(1) as pool:
        level = DISTINCT_LEVEL / SHAPE_COUNTS if any_shape else LEVEL
        plan = DrawPlan(DRAWS, level, pool, Event(), lambda: drawn.append(1), any_shape=any_shape)
        node = Node(members, np.zeros(members.size, dtype=np.int64), PARTS)
        found = RunningTest(problem, node, plan, np.random.SeedSequence(seed)).ended()
    return found, len(drawn)


def p_of_any_shape(problem: Problem, straight: float, seed: int) -> float:
    """Return p of all subjects against a continuum of any shape, as `distinct_subtypes` has it; halves are the best.

    `straight` is their p against one with constant correlations.
    """
    everybody = np.arange(problem.cohort.n_subjects)
    node = Node(everybody, best_division(problem).labels, PARTS)
    p = p_of_gap_between(problem, node, np.random.SeedSequence(seed), DISTINCT_LEVEL)
    is_far = distance_in(problem, node) >= FAR
    if p >= DISTINCT_LEVEL and is_far and not are_few(is_discrete(problem.cohort)):
        smoothed = result_of(problem, everybody, seed, any_shape=True)[0].p
        p = min(p, max(straight, SHAPE_COUNTS * smoothed))
    return min(p, 1.0)


def at_the_root(task: tuple[str, int, int]) -> list[Row]:
    """Test all subjects of a cohort of one population."""
    warnings.simplefilter("ignore")
    kind, n_subjects, seed = task
    frame, schema, _ = cohort_of_one(seed, kind, n_subjects)
    problem = pose(schema.validate(frame, warn=False), schema, None, CONCENTRATION)
    found, n_draws = result_of(problem, np.arange(n_subjects), seed)
    row: Row = {
        "kind": kind,
        "n": n_subjects,
        "seed": seed,
        "z": found.z,
        "p": found.p,
        "draws": n_draws,
        "p_any_shape": 1.0,
    }
    if found.p < LEVEL:
        row["p_any_shape"] = p_of_any_shape(problem, found.p, seed)
    if (kind, n_subjects) == CHECKED:
        with mock.patch.object(tested_node, "_CHECKPOINTS", ()):
            row["p_of_all"] = result_of(problem, np.arange(n_subjects), seed)[0].p
        model = PublishedMAPDP(schema, n_restarts=2, n_jobs=1, random_state=seed, progress=False).fit(frame)
        joins = distinct_subtypes(model, frame, n_jobs=1).joins
        row["p_of_fit"] = float(joins["p"].iloc[0]) if len(joins) else 1.0
    return [row]


def inside_groups(task: tuple[str, float | str, int]) -> list[Row]:
    """Fit and test a cohort of groups: one row for the cohort, each join, and each group as it is known to be."""
    warnings.simplefilter("ignore")
    kind, coarsening, seed = task
    frame, schema, groups = cohort_of_groups(seed, kind)
    model = PublishedMAPDP(
        schema, coarsening=coarsening, n_restarts=3, n_jobs=1, random_state=seed, progress=False
    ).fit(frame)
    distinct = distinct_subtypes(model, frame, DRAWS, n_jobs=1)
    shares = pd.crosstab(groups, distinct.labels, normalize="index").to_numpy()
    is_divided = bool(((shares > OF_A_GROUP).sum(axis=1) > 1).any())
    rows: list[Row] = [{"what": "cohort", "n_found": distinct.n_subtypes, "is_divided": is_divided}]
    for join in distinct.joins.to_dict("records"):
        below = np.isin(model.labels_ + 1, join["first"] + join["second"])
        rows.append({"what": of_groups(groups, below), "p": join["p"]})
    problem = fitted_problem(model.fit_, cohort_of(model, frame).table, 1.0)
    for group in range(shares.shape[0]):
        members = np.flatnonzero(groups[problem.cohort.order] == group)
        rows.append({"what": "group", "p": result_of(problem, members, seed)[0].p})
    return [{"kind": kind, "coarsening": str(coarsening), "seed": seed, **row} for row in rows]


def of_groups(groups: Labels, below: NDArray[np.bool_]) -> str:
    """Return what a join is made of."""
    held, sizes = np.bincount(groups[below], minlength=int(groups.max()) + 1), np.bincount(groups)
    if held.max() < (1.0 - OF_A_GROUP) * held.sum():
        return "several groups"
    at = int(held.argmax())
    return "whole group" if held[at] >= (1.0 - OF_A_GROUP) * sizes[at] else "part of a group"


def share(values: pd.Series) -> str:
    """Return a share with its standard error."""
    if not len(values):
        return "-"
    mean = float(values.mean())
    return f"{mean:.3f} ({np.sqrt(mean * (1.0 - mean) / len(values)):.3f})"


def table_of_roots(rows: pd.DataFrame, kinds: list[str], sizes: tuple[int, ...] = N_SUBJECTS) -> str:
    """Return the Markdown table of the level at the root."""
    heading = ["one population", "N", "divided (SE)", "called distinct (SE)", "z: mean", "SD", "largest", "draws"]
    lines = ["| " + " | ".join(heading) + " |", "| --- " * len(heading) + "|"]
    for kind in kinds:
        for n_subjects in sizes:
            part = rows[(rows["kind"] == kind) & (rows["n"] == n_subjects)]
            z = [f"{value:.2f}" for value in (part["z"].mean(), part["z"].std(), part["z"].max())]
            cells = [
                kind,
                str(n_subjects),
                share(part["p"] < LEVEL),
                share(part["p_any_shape"] < DISTINCT_LEVEL),
                *z,
                f"{part['draws'].mean():.0f}",
            ]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def table_of_groups(rows: pd.DataFrame) -> str:
    """Return the Markdown table of the level inside groups."""
    heading = [
        "groups",
        "coarsening",
        "cohorts with the right number",
        "cohorts in which a group is divided",
        "p < .05 (SE): joins of a whole group",
        "of a part of one",
        "of several",
        "groups as they are",
    ]
    lines = ["| " + " | ".join(heading) + " |", "| --- " * len(heading) + "|"]
    for kind, coarsening in FITS_OF_GROUPS:
        part = rows[(rows["kind"] == kind) & (rows["coarsening"].astype(str) == str(coarsening))]
        cohorts = part[part["what"] == "cohort"]
        cells = [kind, str(coarsening), share(cohorts["n_found"] == GROUPS[kind][1])]
        cells.append(share(cohorts["is_divided"].astype(bool)))
        for what in ("whole group", "part of a group", "several groups", "group"):
            p = part.loc[part["what"] == what, "p"]
            cells.append(f"{share(p < LEVEL)} of {len(p)}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def checked(rows: pd.DataFrame) -> str:
    """Return what the short cuts change."""
    part = rows[(rows["kind"] == CHECKED[0]) & (rows["n"] == CHECKED[1])]
    early = int(((part["p"] < LEVEL) != (part["p_of_all"] < LEVEL)).sum())
    return (
        f"Checked in {len(part)} cohorts of “{CHECKED[0]}”, N = {CHECKED[1]}: all {DRAWS} draws change {early} "
        f"decisions (share of p < .05: {share(part['p_of_all'] < LEVEL)}), and with the tree of a fit (two restarts) "
        f"the share divided is {share(part['p_of_fit'] < LEVEL)}."
    )


def page(roots: pd.DataFrame, groups: pd.DataFrame) -> str:
    """Return the page of results."""
    return "\n".join(
        [
            "# How often one population is divided",
            "",
            f"{roots['seed'].nunique()} cohorts of each kind, a third of 2,000 subjects; 12 features, at most {DRAWS} "
            "draws; made by `benchmarks/continuum_levels.py`. Divided: p < .05 against one continuum; called distinct: "
            f"and p < {DISTINCT_LEVEL:g} against one of any shape. All subjects are tested, in up to four parts. In "
            "brackets: the standard error of a share; 0 of 60 is at most .05 with 95% confidence. Draws: their mean "
            "number.",
            "",
            "One population that a Gaussian copula describes:",
            "",
            table_of_roots(roots, list(COVERED)),
            "",
            "One population that it does not describe:",
            "",
            table_of_roots(roots, list(NOT_COVERED)),
            "",
            "The same in mixed features with missing values:",
            "",
            table_of_roots(roots, [*IN_MIXED_FEATURES, *OUTGROWN]),
            "",
            "Two classes that overlap, which should be divided:",
            "",
            table_of_roots(roots, list(CLASSES), OF_CLASSES),
            "",
            checked(roots),
            "",
            f"Groups that are a continuum each, {groups['seed'].nunique()} cohorts of each kind. A group is divided if "
            "two subtypes hold a tenth of it or more each. A join is of one group if nine tenths of its subjects are, "
            "and of a whole one if it holds nine tenths of that group. The last column tests the true groups.",
            "",
            table_of_groups(groups),
            "",
        ]
    )


def collected(
    pool: ProcessPoolExecutor, work: Callable[[Any], list[Row]], kinds: list[Any], n_cohorts: int, keep: Path | None
) -> pd.DataFrame:
    """Return the rows of all cohorts of all kinds; keep those of each kind as soon as they are there."""
    found = []
    for kind in kinds:
        path = keep / f"{'_'.join(map(str, kind))}.jsonl".replace("%", "").replace(" ", "_") if keep else None
        if path is not None and path.exists():
            found.append(pd.read_json(path, lines=True))
            continue
        began = time.perf_counter()
        rows = pd.DataFrame(
            [
                row
                for rows in pool.map(work, [(*kind, seed) for seed in range(n_cohorts // shared(kind))])
                for row in rows
            ]
        )
        print(*kind, f"{time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        if path is not None:
            rows.to_json(path, orient="records", lines=True)
        found.append(rows)
    return pd.concat(found, ignore_index=True)


def shared(kind: tuple[Any, ...]) -> int:
    """Return by how much fewer cohorts of a kind are tested."""
    return 3 if kind[1] == MANY else 1


def main() -> None:
    """Test the cohorts, print the tables and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=10, help="cohorts of each kind of one population")
    parser.add_argument("--groups", type=int, default=2, help="cohorts of each kind of groups")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="an existing folder for the rows of each kind, to go on from later")
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    ones = [(kind, n) for n in N_SUBJECTS for kind in (*COVERED, *NOT_COVERED, *IN_MIXED_FEATURES, *OUTGROWN)]
    ones += [(kind, n) for n in OF_CLASSES for kind in CLASSES]
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        roots = collected(pool, at_the_root, ones, options.cohorts, options.keep)
        groups = collected(pool, inside_groups, FITS_OF_GROUPS, options.groups, options.keep)
    found = page(roots, groups)
    print(found)
    if options.write:
        RESULTS.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
