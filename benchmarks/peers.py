"""Compare the default fit, which finds the number of subtypes, with methods that are given it.

    python -m venv --system-site-packages peers && peers/bin/pip install stepmix pomegranate kmodes
    peers/bin/python benchmarks/peers.py

A peer that is not installed is skipped, and the report says so. The cohorts are those of `peer_cohorts`. Every run has
a process of its own, with one thread, after a warm-up on a small cohort, so that neither imports nor compilation are
timed; reading and validating the table is. Runs are interleaved: all contestants on one cohort, then the next cohort.
Each run is appended to benchmarks/results/peers.jsonl as it ends, and a run that is there already is not repeated:
delete the file to begin anew.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from peer_cohorts import WEIGHTS, PeerCohort, peer_cohort
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, log_joint
from clinclust.methods import PublishedMAPDP

Array = NDArray[np.float64]
Labels = NDArray[np.int64]

K = WEIGHTS.size
RESULTS = Path(__file__).parent / "results"
RUNS = RESULTS / "peers.jsonl"
N_WARM_UP = 200


class Sample(NamedTuple):
    """Which cohorts to draw."""

    n_subjects: int
    missing: float
    n_seeds: int

    @property
    def title(self) -> str:
        """The heading of its column."""
        return f"{self.n_subjects:,}" + (f", {self.missing:.0%} missing" if self.missing else "")


SAMPLES = (Sample(500, 0.0, 3), Sample(5_000, 0.0, 3), Sample(5_000, 0.1, 3), Sample(50_000, 0.0, 1))


def default_fit(cohort: PeerCohort, n_restarts: int | None = None) -> MAPDP:
    """Return the default fit: the number of subtypes unknown, the scales categorical."""
    model = PublishedMAPDP(cohort.schema, random_state=0, n_jobs=1, progress=False)
    if n_restarts is not None:
        model.set_params(n_restarts=n_restarts)
    return model.fit(cohort.frame)


def stepmix(cohort: PeerCohort, n_starts: int) -> Labels:
    """Fit StepMix by EM; it has no counts, so they are categories here, which serves it better than Gaussians."""
    from stepmix import StepMix

    values = _coded(cohort)
    suffix = "_nan" if np.isnan(values).any() else ""
    n_levels, n_counts, n_gaussian = (len(_columns(cohort, name)) for name in ("levels", "poisson", "gaussian"))
    measurement = {
        "levels": {"model": f"categorical{suffix}", "n_columns": n_levels},
        "counts": {"model": f"categorical{suffix}", "n_columns": n_counts},
        "measurements": {"model": f"gaussian_diag{suffix}", "n_columns": n_gaussian},
    }
    model = StepMix(K, measurement=measurement, n_init=n_starts, random_state=0, verbose=0, progress_bar=0)
    return np.asarray(model.fit(values).predict(values))


def pomegranate(cohort: PeerCohort) -> Labels:
    """Fit pomegranate's mixture of independent components by EM."""
    import torch
    from pomegranate.distributions import Categorical, IndependentComponents, Normal, Poisson
    from pomegranate.gmm import GeneralMixtureModel

    class Levels(Categorical):  # type: ignore[misc]
        """A categorical of a column of a float table: pomegranate's own uses the values as indices."""

        def log_probability(self, X: torch.Tensor) -> torch.Tensor:
            if isinstance(X, torch.masked.MaskedTensor):
                return super().log_probability(torch.masked.MaskedTensor(X.get_data().long(), X.get_mask()))
            return super().log_probability(X.long())

    values = torch.tensor(_coded(cohort), dtype=torch.float32)
    observed = ~values.isnan()
    # Masked is how pomegranate wants missing values.
    table = values if observed.all() else torch.masked.MaskedTensor(values.nan_to_num(), observed)

    def component() -> IndependentComponents:
        levels = [Levels(n_categories=len(feature.levels or "01")) for feature in _columns(cohort, "levels")]
        counts = [Poisson() for _ in _columns(cohort, "poisson")]
        return IndependentComponents(levels + counts + [Normal(covariance_type="diag") for _ in range(5)])

    model = GeneralMixtureModel([component() for _ in range(K)], max_iter=1000, random_state=0)
    return np.asarray(model.fit(table).predict(table))


def kmeans(cohort: PeerCohort) -> Labels:
    """Fit K-means to standardised numbers and indicators of the levels, the best of 10 starts."""
    from sklearn.cluster import KMeans

    values = _coded(cohort)
    n_levels = len(_columns(cohort, "levels"))
    indicators = [column[:, None] == np.unique(column)[1:] for column in values[:, :20].T]
    indicators += [column[:, None] == np.unique(column) for column in values[:, 20:n_levels].T]
    table = np.hstack([*indicators, _standardised(values[:, n_levels:])]).astype(np.float64)
    return np.asarray(KMeans(K, n_init=10, random_state=0).fit_predict(table))


def kprototypes(cohort: PeerCohort) -> Labels:
    """Fit K-prototypes to levels and standardised numbers, one start."""
    from kmodes.kprototypes import KPrototypes

    values = _coded(cohort)
    n_levels = len(_columns(cohort, "levels"))
    values[:, n_levels:] = _standardised(values[:, n_levels:])
    model = KPrototypes(K, n_init=1, random_state=0)
    return np.asarray(model.fit_predict(values, categorical=list(range(n_levels))))


class Contestant(NamedTuple):
    """A method."""

    title: str
    labels: Callable[[PeerCohort], Labels | MAPDP]
    module: str


CONTESTANTS = (
    Contestant("clinclust, K unknown", default_fit, "clinclust"),
    Contestant("StepMix, 1 start", lambda cohort: stepmix(cohort, 1), "stepmix"),
    Contestant("StepMix, 10 starts", lambda cohort: stepmix(cohort, 10), "stepmix"),
    Contestant("pomegranate", pomegranate, "pomegranate"),
    Contestant("KMeans, one-hot, 10 starts", kmeans, "sklearn"),
    Contestant("KPrototypes, 1 start", kprototypes, "kmodes"),
)


def _columns(cohort: PeerCohort, kind: str) -> list[Any]:
    """Return the features of a kind; they come in the order levels (bernoulli and categorical), poisson, gaussian."""
    likelihoods = ("bernoulli", "categorical") if kind == "levels" else (kind,)
    return [feature for feature in cohort.schema.features if feature.likelihood in likelihoods]


def _coded(cohort: PeerCohort) -> Array:
    """Return the table as numbers, levels counted from 0, NaN = missing."""
    columns = []
    for feature in cohort.schema.features:
        column = cohort.frame[feature.name]
        if feature.levels:
            column = column.map({level: code for code, level in enumerate(feature.levels)})
        columns.append(column.to_numpy(dtype=np.float64))
    return np.column_stack(columns)


def _standardised(values: Array) -> Array:
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def _in_child(pipe: Connection, index: int, sample: Sample, seed: int, n_restarts: int | None) -> None:
    """Run one contestant on one cohort and send what came of it."""
    warnings.simplefilter("ignore")
    contestant = CONTESTANTS[index]
    fit: Callable[[PeerCohort], Labels | MAPDP] = contestant.labels
    if index == 0:
        fit = lambda cohort: default_fit(cohort, n_restarts)  # noqa: E731
    outcome: dict[str, Any] = {}
    try:
        cohort = peer_cohort(sample.n_subjects, seed, missing=sample.missing)
        fit(peer_cohort(N_WARM_UP, seed, missing=sample.missing))
        pipe.send("ready")
        began, worked = time.perf_counter(), time.process_time()
        found = fit(cohort)
        outcome["cpu_seconds"] = time.process_time() - worked
        outcome["seconds"] = time.perf_counter() - began
        if isinstance(found, MAPDP):
            outcome["log_joint"] = found.log_joint_
            outcome["log_joint_of_truth"] = log_joint(cohort.frame, cohort.groups, cohort.schema)
            found = found.labels_
        outcome["n_clusters"] = int(np.unique(found).size)
        outcome["ari"] = float(adjusted_rand_score(cohort.groups, found))
    except Exception as error:  # a peer may fail in any way, and that is a result (the warm-up fails likewise)
        outcome |= {"failed": type(error).__name__, "because": " ".join(str(error).split())[:200]}
        pipe.send("ready")
    pipe.send(outcome)


def _run(index: int, sample: Sample, seed: int, n_restarts: int | None, timeout: float) -> dict[str, Any]:
    """Run one contestant in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=_in_child, args=(theirs, index, sample, seed, n_restarts))
    child.start()
    theirs.close()
    try:
        ours.recv()
        if ours.poll(timeout):
            return dict(ours.recv())
        return {"failed": f"over {timeout:.0f} s"}
    except EOFError:
        return {"failed": "died"}
    finally:
        child.kill()
        child.join()


def _measure(samples: tuple[Sample, ...], n_restarts_of_largest: int | None, timeout: float) -> None:
    done = {_key(run) for run in _runs()}
    for sample in samples:
        for seed in range(sample.n_seeds):
            for index, contestant in enumerate(CONTESTANTS):
                if importlib.util.find_spec(contestant.module) is None:
                    continue
                run: dict[str, Any] = {"method": contestant.title, "cohort": sample.title, "seed": seed}
                if _key(run) in done:
                    continue
                few = index == 0 and sample.n_subjects >= 50_000
                n_restarts = n_restarts_of_largest if few else None
                if n_restarts is not None:
                    run["n_restarts"] = n_restarts
                run |= _run(index, sample, seed, n_restarts, timeout)
                print(json.dumps(run), flush=True)
                with RUNS.open("a") as file:
                    file.write(json.dumps(run) + "\n")


def _key(run: dict[str, Any]) -> tuple[str, str, int]:
    return run["method"], run["cohort"], run["seed"]


def _runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RUNS.read_text().splitlines()] if RUNS.exists() else []


def _cell(runs: pd.DataFrame, clock: str) -> str:
    """Return seconds / clusters / adjusted Rand index, means over the seeds, and all clusters where they differ."""
    if runs.empty:
        return "not run"
    ended = runs[runs["ari"].notna()]
    if ended.empty:
        return str(runs["failed"].iloc[0])
    clusters = sorted({int(n) for n in ended["n_clusters"]})
    seconds = ended[clock].mean()
    cell = f"{seconds:{'.2f' if seconds < 10 else '.0f'}} / {', '.join(map(str, clusters))} / {ended['ari'].mean():.3f}"
    return cell + (f" ({len(ended)} of {len(runs)} ended)" if len(ended) < len(runs) else "")


def _rows(rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return [lines[0], "| " + " | ".join(["---"] * len(rows[0])) + " |", *lines[1:]]


def _report() -> str:
    """Return the Markdown report of all runs there are."""
    runs = pd.DataFrame(_runs()).sort_values(["method", "seed"], kind="stable")
    for column in ("ari", "failed", "n_restarts"):
        if column not in runs:
            runs[column] = np.nan
    samples = [sample for sample in SAMPLES if (runs["cohort"] == sample.title).any()]
    seeds = {sample: sorted(runs.loc[runs["cohort"] == sample.title, "seed"].unique()) for sample in samples}
    oracle = {
        (sample.title, seed): peer_cohort(sample.n_subjects, int(seed), missing=sample.missing).oracle_ari
        for sample in samples
        for seed in seeds[sample]
    }
    mean_table = [
        ["", *(f"N = {sample.title} ({len(seeds[sample])} seed{'s' * (len(seeds[sample]) > 1)})" for sample in samples)]
    ]
    mean_oracle = [np.mean([oracle[sample.title, seed] for seed in seeds[sample]]) for sample in samples]
    mean_table.append(["all true parameters known", *(f"– / 5 / {ari:.3f}" for ari in mean_oracle)])
    seed_table = [["N", "seed", "oracle", *(contestant.title for contestant in CONTESTANTS)]]
    skipped = []
    for contestant in CONTESTANTS:
        own = runs[runs["method"] == contestant.title]
        if own.empty:
            skipped.append(contestant.title)
            continue
        mean_table.append(
            [contestant.title, *(_cell(own[own["cohort"] == sample.title], "cpu_seconds") for sample in samples)]
        )
    for sample in samples:
        for seed in seeds[sample]:
            here = runs[(runs["cohort"] == sample.title) & (runs["seed"] == seed)]
            cells = [_cell(here[here["method"] == contestant.title], "seconds") for contestant in CONTESTANTS]
            seed_table.append([sample.title, str(seed), f"{oracle[sample.title, seed]:.3f}", *cells])
    ours = runs[(runs["method"] == CONTESTANTS[0].title) & runs["ari"].notna()]
    ours = pd.concat([ours[ours["cohort"] == sample.title] for sample in samples])
    joint_table = [["N", "seed", "log joint found", "found - log joint of the true subtypes"]]
    for run in ours.itertuples():
        gain = run.log_joint - run.log_joint_of_truth
        joint_table.append([run.cohort, str(run.seed), f"{run.log_joint:.1f}", f"{gain:+.1f}"])
    fewer = ours[ours["n_restarts"].notna()]
    notes = [f"At N = {run.cohort} clinclust had {run.n_restarts:.0f} restarts." for run in fewer.itertuples()]
    notes += [f"Not installed, so skipped: {', '.join(skipped)}."] if skipped else []
    return "\n".join(
        [
            "# Methods that are given the number of subtypes, and clinclust, which is not",
            "",
            *_PREFACE.splitlines(),
            *notes,
            "",
            "CPU seconds / subtypes / adjusted Rand index, means over the seeds:",
            "",
            *_rows(mean_table),
            "",
            "Wall-clock seconds / subtypes / adjusted Rand index of every cohort:",
            "",
            *_rows(seed_table),
            "",
            "The log joint of what clinclust found, in nats. Above 0 in the last column, it is higher than that of the",
            "true subtypes:",
            "",
            *_rows(joint_table),
            "",
            ", ".join(f"{name} {version}" for name, version in _versions().items()) + ".",
            "",
        ]
    )


_PREFACE = """\
Simulated cohorts of 50 mixed columns with five subtypes (`peer_cohorts.py`). All but clinclust were told that there are
five. One thread each; imports and compilation are not timed. Other programs ran on the machine at the same time, so
that the CPU seconds say more than those of the clock, and a run given up for its time might have ended on an idle one.
StepMix has no counts: they are categories there. An error in place of numbers is how a method met missing values. Runs
of one method may be newer than those of another: to compare times, see `speed.py`."""


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn", "stepmix", "pomegranate", "kmodes"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Run what has not been run yet, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--timeout", type=float, default=1200.0, help="seconds after which a run is given up")
    parser.add_argument(
        "--restarts-of-largest", type=int, help="restarts of clinclust at 50,000 (its default if left out)"
    )
    parser.add_argument("--samples", type=int, nargs="*", help="which of the cohorts, by position from 0 (all)")
    parser.add_argument("--report", action="store_true", help="only write the report of the runs there are")
    arguments = parser.parse_args()
    # Set before any child starts: the libraries read them once.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    RESULTS.mkdir(exist_ok=True)
    chosen = range(len(SAMPLES)) if arguments.samples is None else arguments.samples
    if not arguments.report:
        _measure(tuple(SAMPLES[i] for i in chosen), arguments.restarts_of_largest, arguments.timeout)
    report = _report()
    (RESULTS / "peers.md").write_text(report)
    print(report)


if __name__ == "__main__":
    main()
