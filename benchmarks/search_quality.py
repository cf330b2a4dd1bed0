"""How close one default fit comes to the best partition anybody has found.

    python benchmarks/search_quality.py --reference   # hours: fifty restarts and long refinement of every cohort
    python benchmarks/search_quality.py               # one default fit of every cohort, and the report

Cohorts: those of `reference_cohorts`, and scikit-learn's wine, iris and breast cancer as Gaussian features. The best
known log joint of a cohort is the highest that any run of this script ever reached. Each run is appended to
results/search_quality.jsonl as it ends; a run that is there already is not repeated, so delete the default ones after a
change of the search, and keep the long ones.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from reference_cohorts import N_COHORTS, reference_cohort
from sklearn import datasets

from clinclust.engine.problem.problem import Problem, pose
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import run_restarts, search_starts
from clinclust.methods import PublishedMAPDP
from clinclust.schema.feature_schema import schema_for_array

RESULTS = Path(__file__).parent / "results"
RUNS = RESULTS / "search_quality.jsonl"
REAL = ("wine", "iris", "breast_cancer")
N_LONG, LONG_PATIENCE, LONG_SEED = 50, 12, 20_161
N_REAL_SEEDS = 5


def table_and_schema(cohort: str) -> tuple[pd.DataFrame, Any]:
    """Return a cohort by name."""
    if cohort in REAL:
        values = getattr(datasets, f"load_{cohort}")().data
        schema = schema_for_array(values)
        return pd.DataFrame(values, columns=list(schema.names)), schema
    frame, schema, _ = reference_cohort(int(cohort))
    return frame, schema


def posed(cohort: str) -> Problem:
    """Return what the default fit of a cohort maximises."""
    frame, schema = table_and_schema(cohort)
    return pose(schema.validate(frame, warn=False), schema, None, 3.0)


def long_run(cohort: str, n_jobs: int) -> dict[str, Any]:
    """Search from fifty starts, and refine with patience."""
    problem = posed(cohort)
    plan = SearchPlan(
        seed=LONG_SEED,
        n_restarts=N_LONG,
        max_sweeps=1000,
        n_jobs=n_jobs,
        often_enough=N_LONG + 1,
        patience=LONG_PATIENCE,
    )
    restarts = run_restarts(problem, search_starts(problem.cohort.n_subjects, plan.seeds), plan)
    best = max(restarts, key=lambda restart: restart.log_joint)
    return {
        "log_joint": best.log_joint,
        "n_clusters": int(best.labels.max()) + 1,
        "n_at_best": sum(restart.log_joint > best.log_joint - 1e-6 for restart in restarts[:N_LONG]),
        "best_alone": max(restart.log_joint for restart in restarts[:N_LONG]),
    }


def default_run(cohort: str, seed: int, n_jobs: int) -> dict[str, Any]:
    """Fit with the defaults."""
    frame, schema = table_and_schema(cohort)
    model = PublishedMAPDP(schema, random_state=seed, n_jobs=n_jobs, progress=False).fit(frame)
    return {"log_joint": model.log_joint_, "n_clusters": model.n_clusters_, "searches": len(model.restarts_)}


def runs() -> list[dict[str, Any]]:
    """Return every run there is."""
    return [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []


def measure(tasks: list[tuple[str, str, int]], n_jobs: int) -> None:
    """Run what has not been run yet: (cohort, kind, seed)."""
    done = {(run["cohort"], run["kind"], run["seed"]) for run in runs()}
    for cohort, kind, seed in tasks:
        if (cohort, kind, seed) in done:
            continue
        began = time.perf_counter()
        found = long_run(cohort, n_jobs) if kind == "long" else default_run(cohort, seed, n_jobs)
        run = {"cohort": cohort, "kind": kind, "seed": seed, **found, "seconds": time.perf_counter() - began}
        print(json.dumps(run), flush=True)
        with RUNS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")


def report() -> str:
    """Return the Markdown report of the runs there are."""
    frame = pd.DataFrame(runs())
    best = frame.groupby("cohort")["log_joint"].max()
    default = frame[frame["kind"] == "default"].copy()
    default["short"] = default["cohort"].map(best) - default["log_joint"]
    simulated = default[~default["cohort"].isin(REAL)]
    lines = [
        "# How close one default fit comes to the best partition known",
        "",
        f"{len(simulated)} default fits of {simulated['cohort'].nunique()} simulated mixed cohorts "
        "(`reference_cohorts.py`) beside a long run of each: fifty restarts, recombined and perturbed with patience "
        f"{LONG_PATIENCE}. Within 0.01 nats of the best log joint known: {(simulated['short'] < 0.01).mean():.1%}; "
        f"within 2 nats: {(simulated['short'] < 2.0).mean():.1%}. Median time of a fit "
        f"{simulated['seconds'].median():.1f} s, of a long run "
        f"{frame.loc[frame['kind'] == 'long', 'seconds'].median():.0f} s.",
        "",
        "| cohort | subjects x features | K | best known | of 50 restarts at it | default fit short by | seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for run in simulated.sort_values("cohort", key=lambda names: names.astype(int)).itertuples():
        table, _ = table_and_schema(run.cohort)
        long = frame[(frame["cohort"] == run.cohort) & (frame["kind"] == "long")]
        at_best = [long_run.n_at_best for long_run in long.itertuples() if long_run.log_joint > best[run.cohort] - 1e-6]
        cells = [
            f"{run.cohort}",
            f"{table.shape[0]} x {table.shape[1]}",
            f"{run.n_clusters}",
            f"{best[run.cohort]:.3f}",
            f"{at_best[0]:.0f}" if at_best else "0",
            f"{max(run.short, 0.0):.3f}",
            f"{run.seconds:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "Gaussian features with the default prior (mean = sample mean, kappa = 10 / N, shape 1, rate = variance), "
        "concentration 3:",
        "",
        "| cohort | seed | K | log joint | best known | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for run in default[default["cohort"].isin(REAL)].sort_values(["cohort", "seed"]).itertuples():
        cells = [run.cohort, run.seed, run.n_clusters, f"{run.log_joint:.3f}", f"{best[run.cohort]:.3f}"]
        lines.append(f"| {' | '.join(map(str, cells))} | {run.seconds:.1f} |")
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn"))
    return "\n".join([*lines, "", f"Measured with {packages}, on a shared machine.", ""])


def main() -> None:
    """Run what is asked for and has not been run, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", action="store_true", help="the long runs")
    parser.add_argument("--cohorts", nargs="*", help="which, by number or name (all)")
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(exist_ok=True)
    cohorts = options.cohorts or [*map(str, range(N_COHORTS)), *REAL]
    if options.reference:
        measure([(cohort, "long", 0) for cohort in cohorts], options.jobs)
        return
    measure(
        [(cohort, "default", seed) for cohort in cohorts for seed in range(N_REAL_SEEDS if cohort in REAL else 1)],
        options.jobs,
    )
    (RESULTS / "search_quality.md").write_text(report(), encoding="utf-8")
    print(report())


if __name__ == "__main__":
    main()
