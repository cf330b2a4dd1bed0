"""Time and memory of the default fit, which finds the number of subtypes, beside methods that are given it.

    python -m venv --system-site-packages peers && peers/bin/pip install stepmix kmodes
    peers/bin/python benchmarks/speed.py                                   # RESULTS.md: about half an hour
    peers/bin/python benchmarks/speed.py --sizes 5000 --grow --widen       # sooner

The cohorts are those of `peer_cohorts`, so far apart that an oracle reaches an adjusted Rand index of .995. Each run
has a process of its own, which reads the table, warms up (imports, compilation) on 300 subjects, and is timed from the
table to the labels: ours with validation and encoding, K-means without the making of its indicator columns. All may
use every processor. Contestants take turns, and ratios are taken within a turn. A method that is not installed is left
out.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from peer_cohorts import WEIGHTS, PeerCohort, peer_cohort
from peers import kprototypes, stepmix
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.methods import PublishedMAPDP

RESULTS = Path(__file__).parent / "RESULTS.md"
ORACLE = 0.995
K = WEIGHTS.size
N_FEATURES = 50
WIDENED = 100_000
"""Subjects of the cohorts with more or fewer features."""
OURS = "clinclust, K unknown"
REFERENCE = "KMeans, 1 start"

Prepared = tuple[Callable[[], Any], Callable[[Any], np.ndarray]]


def default_fit(cohort: PeerCohort, **parameters: Any) -> Prepared:
    """Return the default fit of a validated table."""
    frame = cohort.schema.validate(cohort.frame)
    return lambda: PublishedMAPDP(cohort.schema, random_state=0, progress=False, **parameters).fit(
        frame
    ), lambda fit: fit.labels_


def indicators(cohort: PeerCohort) -> np.ndarray:
    """Return the table with an indicator column for each level, numbers standardised."""
    columns = []
    for feature in cohort.schema.features:
        column = cohort.frame[feature.name]
        if feature.levels is not None:
            columns += [(column == level).to_numpy(dtype=np.float64) for level in feature.levels]
        elif feature.likelihood == "bernoulli":
            columns.append(column.to_numpy(dtype=np.float64))
        else:
            columns.append(((column - column.mean()) / column.std()).to_numpy(dtype=np.float64))
    return np.column_stack(columns)


def k_means(cohort: PeerCohort, n_starts: int) -> Prepared:
    """Return K-means of the indicators."""
    from sklearn.cluster import KMeans

    table = indicators(cohort)
    return lambda: KMeans(K, n_init=n_starts, random_state=0).fit(table), lambda fit: fit.labels_


def gaussian_mixture(cohort: PeerCohort) -> Prepared:
    """Return scikit-learn's Dirichlet process mixture of Gaussians of the indicators, with up to ten components."""
    from sklearn.mixture import BayesianGaussianMixture

    table = indicators(cohort)
    model = BayesianGaussianMixture(n_components=10, covariance_type="diag", random_state=0)
    return lambda: model.fit_predict(table), lambda labels: labels


CONTESTANTS: dict[str, tuple[str, int, Callable[[PeerCohort], Prepared]]] = {
    OURS: ("clinclust", 3_000_000, default_fit),
    "with coarsening and outlying values": (
        "clinclust",
        500_000,
        lambda cohort: default_fit(cohort, coarsening="auto"),
    ),
    REFERENCE: ("sklearn", 500_000, lambda cohort: k_means(cohort, 1)),
    "KMeans, 10 starts": ("sklearn", 500_000, lambda cohort: k_means(cohort, 10)),
    "the paper's algorithm, our kernels": ("clinclust", 50_000, lambda cohort: default_fit(cohort, init="single")),
    "BayesianGaussianMixture, up to 10": ("sklearn", 50_000, gaussian_mixture),
    "StepMix, 1 start": ("stepmix", 50_000, lambda cohort: (lambda: stepmix(cohort, 1), lambda labels: labels)),
    "KPrototypes, 1 start": ("kmodes", 50_000, lambda cohort: (lambda: kprototypes(cohort), lambda labels: labels)),
}


def widened(cohort: PeerCohort, n_features: int, seed: int) -> PeerCohort:
    """Return a cohort with that many features: the first ones, or copies of all, each shuffled within the subtypes."""
    rng = np.random.default_rng(seed)
    order, place = np.argsort(cohort.groups, kind="stable"), np.arange(cohort.groups.size)
    columns, features = {}, []
    for index in range(n_features):
        feature = cohort.schema.features[index % len(cohort.schema.features)]
        column = cohort.frame[feature.name]
        if index >= len(cohort.schema.features):
            shuffled = order[np.lexsort((rng.random(order.size), cohort.groups[order]))]
            place[order] = shuffled
            column = column.iloc[place].set_axis(cohort.frame.index)
        name = f"{feature.name}_{index}"
        columns[name] = column
        features.append(Feature(**{**feature.content(), "name": name}))
    return replace(cohort, frame=pd.DataFrame(columns), schema=FeatureSchema(features))


def in_child(pipe: Connection, name: str, n_subjects: int, n_features: int, seed: int) -> None:
    """Run one contestant and send what came of it."""
    warnings.simplefilter("ignore")
    prepare = CONTESTANTS[name][2]
    warm_up, _ = prepare(peer_cohort(300, seed, oracle_ari=ORACLE))
    warm_up()
    cohort = peer_cohort(n_subjects, seed, oracle_ari=ORACLE)
    if n_features != N_FEATURES:
        cohort = widened(cohort, n_features, seed)
    run, labels_of = prepare(cohort)
    before = _resident()
    began, worked = time.perf_counter(), time.process_time()
    found = run()
    outcome = {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - worked,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0 - before,
    }
    labels = labels_of(found)
    outcome["n_clusters"] = int(np.unique(labels).size)
    outcome["ari"] = float(adjusted_rand_score(cohort.groups, labels))
    if isinstance(found, MAPDP):
        outcome["log_joint"] = found.log_joint_
    pipe.send(outcome)


def _resident() -> float:
    """Return the megabytes this process has in memory now, which becomes its peak so far where Linux allows."""
    Path("/proc/self/clear_refs").write_text("5")
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def measure(sizes: list[int], n_turns: int, timeout: float) -> pd.DataFrame:
    """Run all contestants in turn."""
    rows = []
    for n_subjects in sizes:
        for turn in range(n_turns):
            for name, (module, at_most, _) in CONTESTANTS.items():
                if n_subjects > at_most or importlib.util.find_spec(module) is None:
                    continue
                outcome = outcome_of(name, n_subjects, N_FEATURES, turn, timeout)
                rows.append({"n_subjects": n_subjects, "turn": turn, "method": name, **outcome})
                print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def outcome_of(name: str, n_subjects: int, n_features: int, seed: int, timeout: float) -> dict[str, Any]:
    """Run one contestant in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(theirs, name, n_subjects, n_features, seed))
    child.start()
    theirs.close()
    try:
        outcome = dict(ours.recv()) if ours.poll(timeout) else {"failed": f"over {timeout:.0f} s"}
    except EOFError:
        outcome = {"failed": "failed"}
    child.kill()
    child.join()
    return outcome


def scaling(cells: list[tuple[int, int]], what: str, timeout: float) -> list[str]:
    """Return how long our fit takes as subjects or features, the one that varies, grow in number."""
    times, grown = [], []
    for n_subjects, n_features in cells:
        outcome = outcome_of(OURS, n_subjects, n_features, 0, timeout)
        print(n_subjects, n_features, outcome, flush=True)
        if "failed" not in outcome:
            times.append(outcome["seconds"])
            grown.append(n_subjects if what == "subjects" else n_features)
    if len(times) < 2:
        return []
    slope = np.polyfit(np.log(grown), np.log(times), 1)[0]
    listed = ", ".join(f"{count:,}: {seconds:.1f} s" for count, seconds in zip(grown, times, strict=True))
    fixed = f"{N_FEATURES} features" if what == "subjects" else f"{cells[0][0]:,} subjects"
    return [f"By number of {what}, {fixed}: {listed}; log-log slope {slope:.2f}.", ""]


def report(frame: pd.DataFrame, growth: list[str]) -> str:
    """Return the Markdown page."""
    lines = [
        "# Time and memory",
        "",
        *(__doc__ or "").split("\n\n")[2].splitlines(),
        "",
        "Seconds are medians over the turns, in brackets from the fastest to the slowest; memory is what the fit added",
        "to the process at its peak; ratios are medians of the ratios within each turn.",
        "",
    ]
    for n_subjects, part in frame.groupby("n_subjects") if len(frame) else ():
        lines += [
            f"## {n_subjects:,} subjects, 50 features",
            "",
            "| method | seconds | CPU seconds | times as long as ours | peak MB | K | ARI |",
            "| --- | --- | --- | --- | --- | --- | --- |",
        ]
        ours = part[part["method"] == OURS].set_index("turn")["seconds"]
        for name in CONTESTANTS:
            runs = part[part["method"] == name].set_index("turn")
            if runs.empty:
                continue
            if "failed" in runs and runs["failed"].notna().all():
                lines.append(f"| {name} | {runs['failed'].iloc[0]} | | | | | |")
                continue
            seconds = runs["seconds"].dropna()
            ratio = float((seconds / ours.reindex(seconds.index)).median())
            spread = f" ({seconds.min():.2f} to {seconds.max():.2f})" if seconds.size > 1 else ""
            clusters = ", ".join(str(int(found)) for found in sorted(runs["n_clusters"].dropna().unique()))
            lines.append(
                f"| {name} | {seconds.median():.2f}{spread} | {runs['cpu_seconds'].median():.1f} | {ratio:.2f} "
                f"| {runs['megabytes'].median():.0f} | {clusters} | {runs['ari'].mean():.3f} |"
            )
        lines.append("")
    if growth:
        lines += ["## Growth of our fit", "", *growth]
    packages = []
    for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn", "stepmix", "kmodes"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return "\n".join([*lines, f"Measured on two shared cores with {', '.join(packages)}.", ""])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[5_000, 50_000, 500_000])
    parser.add_argument("--grow", nargs="*", type=int, default=[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000])
    parser.add_argument("--widen", nargs="*", type=int, default=[50, 100, 200, 400])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=900.0, help="seconds after which a run is given up")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    frame = measure(options.sizes, options.turns, options.timeout)
    growth = scaling([(size, N_FEATURES) for size in options.grow], "subjects", options.timeout)
    growth += scaling([(WIDENED, width) for width in options.widen], "features", options.timeout)
    text = report(frame, growth)
    options.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
