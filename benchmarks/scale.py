"""Fits of tables in partitions beside the fit in memory, and beside K-means in batches.

    python benchmarks/scale.py                                # 100,000 and 1,000,000 subjects
    python benchmarks/scale.py --subjects 100000 1000000 10000000 --most-in-memory 1000000 --results

Five groups of 45, 25, 15, 10 and 5 percent in 50 features: 15 yes or no, 15 scales of 0 to 4, 5 categorical and 15
measurements, with 5% of the values missing. The table is a folder of parquet files of 100,000 subjects each. The
default `MAPDP` is fitted to it in memory (`pandas.read_parquet`), in files of this machine (`dask.dataframe`, no
client, two threads), and on one and two Dask workers of one thread. MiniBatchKMeans (scikit-learn) is given K, reads
the files three times (`partial_fit`, three epochs) and then assigns, with standardised numbers and means for missing
values.

Each row is a process of its own. Seconds are of the fit and of all labels, without imports and compilation; processor
seconds and peak memory (resident set) include worker processes, the latter the largest of them. Wall seconds also hold
what else the machine does. Bytes by scan are those of the clusters sent to all partitions and of the sums sent back.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import clinclust as cc

PER_FILE = 100_000
SIZES = (0.45, 0.25, 0.15, 0.10, 0.05)
N_YES, N_SCALES, N_NAMED, N_MEASURED = 15, 15, 5, 15
LEVELS = ("a", "b", "c", "d")
KINDS = ("in memory", "files", "1 worker", "2 workers", "MiniBatchKMeans")
RESULTS = Path(__file__).parent / "results" / "scale.md"


def schema() -> cc.FeatureSchema:
    """Return the schema of the table."""
    features = [cc.Feature(name=f"yes{i}", likelihood="bernoulli") for i in range(N_YES)]
    features += [cc.Feature(name=f"scale{i}", likelihood="binomial", trials=4) for i in range(N_SCALES)]
    features += [cc.Feature(name=f"named{i}", likelihood="categorical", levels=LEVELS) for i in range(N_NAMED)]
    features += [cc.Feature(name=f"measured{i}", likelihood="gaussian") for i in range(N_MEASURED)]
    return cc.FeatureSchema([*features, cc.Feature(name="group", role="describe", likelihood="binomial", trials=4)])


def drawn(n_subjects: int, number: int) -> pd.DataFrame:
    """Draw the subjects of one file."""
    shape, rng = np.random.default_rng(7), np.random.default_rng([7, number])
    groups = rng.choice(len(SIZES), size=n_subjects, p=SIZES)
    columns: dict[str, Any] = {}
    for i in range(N_YES):
        columns[f"yes{i}"] = (rng.random(n_subjects) < shape.beta(2.0, 2.0, len(SIZES))[groups]).astype(float)
    for i in range(N_SCALES):
        columns[f"scale{i}"] = rng.binomial(4, shape.beta(3.0, 3.0, len(SIZES))[groups]).astype(float)
    named = np.array(LEVELS, dtype=object)
    for i in range(N_NAMED):
        cumulative = shape.dirichlet(np.full(len(LEVELS), 2.0), len(SIZES)).cumsum(axis=1)[groups]
        columns[f"named{i}"] = named[np.minimum((rng.random((n_subjects, 1)) > cumulative).sum(axis=1), 3)]
    for i in range(N_MEASURED):
        columns[f"measured{i}"] = rng.normal(shape.normal(0.0, 1.0, len(SIZES))[groups], 1.0)
    frame = pd.DataFrame(columns).mask(rng.random((n_subjects, len(columns))) < 0.05)
    return frame.assign(group=groups)


def write(folder: Path, n_subjects: int) -> None:
    """Write the table."""
    for number, first in enumerate(range(0, n_subjects, PER_FILE)):
        frame = drawn(min(PER_FILE, n_subjects - first), number)
        frame.to_parquet(folder / f"{number:05d}.parquet", index=False)


def peak() -> float:
    """Return the peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def processor() -> float:
    """Return the processor seconds of this process."""
    return time.process_time()


@contextmanager
def workers(n: int) -> Iterator[Any]:
    """Run Dask workers of one thread, as processes of their own; None for 0."""
    if n == 0:
        yield None
        return
    from distributed import Client, LocalCluster

    given = {"n_workers": n, "threads_per_worker": 1, "processes": True, "dashboard_address": None, "memory_limit": 0}
    with LocalCluster(**given) as cluster, Client(cluster) as client:
        yield client


def counted_bytes(counts: list[int]) -> None:
    """Note the bytes of each scan: clusters sent to, and sums sent back from, each partition."""
    from clinclust.engine.search.partitioned import Partitioned, ScanResult

    scan = Partitioned.scan

    def counting(self: Partitioned, minimum_gain: float) -> ScanResult:
        found = scan(self, minimum_gain)
        sent = len(pickle.dumps((self.problem.model, self.clusters.sums, minimum_gain)))
        counts.append(len(self.shards) * (sent + len(pickle.dumps((found.sizes, found.statistics)))))
        return found

    Partitioned.scan = counting  # type: ignore[method-assign]


def warmed_up(folder: Path, client: Any) -> None:
    """Compile, or load what was compiled."""
    frame = drawn(3_000, 10**6).drop(columns="group")
    small = cc.FeatureSchema([feature for feature in schema() if feature.name != "group"])
    cc.MAPDP(small, random_state=0, progress=False, n_jobs=1).fit(frame)
    if client is not None:
        client.run(_warm, frame, small)


def _warm(frame: pd.DataFrame, small: cc.FeatureSchema) -> None:
    cc.MAPDP(small, random_state=0, progress=False, n_jobs=1).fit(frame)


def fitted(kind: str, folder: Path, jobs: int) -> dict[str, Any]:
    """Fit in one of the ways; return what was measured."""
    n_workers = int(kind[0]) if kind.endswith(("worker", "workers")) else 0
    counts: list[int] = []
    counted_bytes(counts)
    with workers(n_workers) as client:
        warmed_up(folder, client)
        started, cpu = time.perf_counter(), processor()
        of_workers = sum(client.run(processor).values()) if client else 0.0
        model = cc.MAPDP(schema(), random_state=0, progress=False, n_jobs=jobs)
        if kind == "in memory":
            model.fit(pd.read_parquet(folder))
            labels, clusters = model.labels_, model.cluster_labels_
        else:
            import dask.dataframe as dd

            model.fit(dd.read_parquet(folder))
            labels = model.labels_.compute().to_numpy()
            clusters = labels
        measured = {
            "wall": time.perf_counter() - started,
            "cpu": processor() - cpu + (sum(client.run(processor).values()) - of_workers if client else 0.0),
            "peak": peak(),
            "peak_worker": max(client.run(peak).values()) if client else np.nan,
            "bytes": float(np.mean(counts)) if counts else np.nan,
            "scans": len(counts),
            "K": model.n_clusters_,
            "J": int(model.subtype_of_.size),
            "joint": model.log_joint_,
        }
    np.save(folder.parent / f"{kind}.npy", labels)
    del clusters
    return measured


def k_means(folder: Path) -> dict[str, Any]:
    """Fit K-means in batches."""
    from sklearn.cluster import MiniBatchKMeans

    files = sorted(folder.glob("*.parquet"))
    started, cpu = time.perf_counter(), processor()

    def numbers(file: Path) -> np.ndarray:
        frame = pd.read_parquet(file).drop(columns="group")
        named = pd.get_dummies(frame.select_dtypes(exclude="number"))
        return np.hstack([frame.select_dtypes("number").to_numpy(), named.to_numpy(float)])

    first = numbers(files[0])
    means, scales = np.nanmean(first, axis=0), np.nanstd(first, axis=0)
    model = MiniBatchKMeans(len(SIZES), random_state=0, batch_size=10_000, n_init=10)

    def batches(file: Path) -> np.ndarray:
        standard = (numbers(file) - means) / scales
        return np.where(np.isnan(standard), 0.0, standard)

    for _ in range(3):
        for file in files:
            batch = batches(file)
            for rows in np.array_split(np.arange(len(batch)), max(1, len(batch) // 10_000)):
                model.partial_fit(batch[rows])
    labels = np.concatenate([model.predict(batches(file)) for file in files])
    np.save(folder.parent / "MiniBatchKMeans.npy", labels)
    return {"wall": time.perf_counter() - started, "cpu": processor() - cpu, "peak": peak(), "K": len(SIZES)}


def main() -> None:
    """Print the table, and write it if asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--most-in-memory", type=int, default=1_000_000)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--results", action="store_true", help="write results/scale.md")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        kind, folder = given.one[0], Path(given.one[1])
        print(json.dumps(k_means(folder) if kind == "MiniBatchKMeans" else fitted(kind, folder, 2)))
        return
    lines = ["# Tables in partitions", "", *str(__doc__).split("\n\n", 2)[2].strip().splitlines(), "", *header()]
    print("\n".join(header()), flush=True)
    for n_subjects in given.subjects:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "table"
            folder.mkdir()
            write(folder, n_subjects)
            kinds = [kind for kind in given.kinds if kind != "in memory" or n_subjects <= given.most_in_memory]
            for line in rows(n_subjects, folder, kinds):
                lines.append(line)
                print(line, flush=True)
    if given.results:
        RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def header() -> list[str]:
    """Return the head of the table."""
    names = ["subjects", "way", "wall s", "processor s", "/ in memory", "peak MB", "peak MB of a worker"]
    names += ["scans", "kB by scan", "clusters", "subtypes", "log joint", "less than in memory", "ARI to memory", "ARI"]
    return [f"| {' | '.join(names)} |", f"| --- | --- |{' ---: |' * (len(names) - 2)}"]


def rows(n_subjects: int, folder: Path, kinds: list[str]) -> Iterator[str]:
    """Yield the rows of one table."""
    from clinclust.engine.search.settle import adjusted_rand_index

    groups = np.concatenate([pd.read_parquet(file, columns=["group"])["group"] for file in sorted(folder.iterdir())])
    memory: dict[str, Any] | None = None
    for kind in kinds:
        command = [sys.executable, __file__, "--one", kind, str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))  # noqa: S603
        if done.returncode:
            yield f"| {n_subjects:,} | {kind} | failed: {done.stderr.strip().splitlines()[-1][:200]} |"
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        labels = np.load(folder.parent / f"{kind}.npy")
        memory = found if kind == "in memory" else memory
        to_memory = np.load(folder.parent / "in memory.npy") if memory else None
        number = "{:,.1f}".format
        has_joint = memory is not None and "joint" in found
        cells = [
            f"{n_subjects:,}",
            kind,
            number(found["wall"]),
            number(found["cpu"]),
            f"{found['cpu'] / memory['cpu']:.2f}" if memory else "",
            f"{found['peak']:,.0f}",
            f"{found['peak_worker']:,.0f}" if found.get("peak_worker", np.nan) == found.get("peak_worker") else "",
            f"{found['scans']}" if found.get("scans") else "",
            f"{found['bytes'] / 1024:,.0f}" if found.get("scans") else "",
            str(found.get("J", "")),
            str(found["K"]),
            f"{found['joint']:,.2f}" if "joint" in found else "",
            f"{memory['joint'] - found['joint']:.2f}" if has_joint and memory else "",
            f"{adjusted_rand_index(labels, to_memory):.5f}" if to_memory is not None else "",
            f"{adjusted_rand_index(labels, groups):.4f}",
        ]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
