"""How long a fit and its associations take where many partitions are nearly tied, beside K-means.

    python benchmarks/near_ties.py                     # some minutes
    python benchmarks/near_ties.py --cohorts skewed    # those whose name begins so

Each cohort of `near_tied_cohorts` is fitted with the defaults and tested with `validated_associations`. K-means
(scikit-learn, ten starts) is given the number of clusters found, and runs on the same values, standardised, missing
ones replaced by the mean. Times are processor seconds, which colleagues on the same machine disturb less than a clock;
on two cores about half as many pass. The estimate is that of `clinclust.estimators.settings`, for the fit alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from near_tied_cohorts import NEAR_TIED

import clinclust as cc
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.plan import n_threads
from clinclust.estimators.settings import Settings, estimated_seconds

RESULTS = Path(__file__).parent / "results" / "near_ties.md"


def processor_seconds(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of some work, and the processor seconds of all threads that it took."""
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def standardised(table: pd.DataFrame) -> np.ndarray:
    """Return the standardised columns, missing values replaced by the mean."""
    return ((table - table.mean()) / table.std()).fillna(0.0).to_numpy(dtype=np.float64)


def k_means(values: np.ndarray, n_clusters: int) -> float:
    """Return the processor seconds of ten starts of K-means."""
    from sklearn.cluster import KMeans

    return processor_seconds(lambda: KMeans(n_clusters, n_init=10, random_state=0).fit(values))[1]


def measured(name: str) -> dict[str, Any]:
    """Return the row of one cohort."""
    table, schema = NEAR_TIED[name]()
    model = cc.methods.PublishedMAPDP(schema, random_state=0, progress=False)
    problem = pose(schema.validate(table, warn=False), schema, None, 3.0)
    estimate = estimated_seconds(problem, Settings.of(cc.methods.PublishedMAPDP(schema, n_jobs=1)), with_report=False)
    _, fit = processor_seconds(lambda: model.fit(table))
    _, tests = processor_seconds(lambda: cc.validated_associations(model, table, progress=False))
    peer = k_means(standardised(table), model.n_clusters_)
    return {
        "cohort": name,
        "subjects x features": f"{table.shape[0]:,} x {table.shape[1]}",
        "K": model.n_clusters_,
        "log joint": f"{model.log_joint_:.1f}",
        "searches": len(model.restarts_),
        "fit": f"{fit:.1f}",
        "estimated": f"{estimate:.1f}",
        "associations": f"{tests:.1f}",
        "K-means": f"{peer:.1f}",
        "fit / K-means": f"{fit / peer:.1f}",
    }


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", nargs="*", default=[""], help="beginnings of their names (default: all)")
    chosen = tuple(parser.parse_args().cohorts)
    warnings.simplefilter("ignore")
    cc.methods.PublishedMAPDP(random_state=0, progress=False).fit(
        np.random.default_rng(0).normal(size=(50, 2))
    )  # compiles or loads
    rows = [measured(name) for name in NEAR_TIED if name.startswith(chosen)]
    lines = [" | ".join(rows[0]), " | ".join("---" for _ in rows[0])]
    lines += [" | ".join(map(str, row.values())) for row in rows]
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn"))
    text = "\n".join(
        [
            "# Fits where many partitions are nearly tied",
            "",
            "Processor seconds of default fits and of their validated associations (`near_ties.py`).",
            "",
            *(f"| {line} |" for line in lines),
            "",
            f"Measured with {packages}, on {n_threads(None)} cores of a shared machine.",
            "",
        ]
    )
    print(text)
    if chosen == ("",):
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
