"""Time of the recommended fit beside the plain one, and beside six fits of StepMix, which are to choose the number.

    python benchmarks/recommended.py                      # a first look: one cohort of each kind and distance
    python benchmarks/recommended.py --cohorts 3 --write  # what results/recommended.md holds: some minutes

The recommended fit is ``MAPDP(schema)``, the plain one ``MAPDP(schema, n_clusters=None, coarsening=1.0)``: one search
whose clusters are not tested. StepMix, if it is installed, fits one to six classes from one start each; counts are
Gaussians there. Cohorts have four groups, 5 or 7 SD apart; of mixed columns, 10% of the values are missing. Times are
processor seconds of one thread in one process; the three take turns within a cohort, and ratios are taken within it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pandas as pd
from commits import describe_commit
from continuum_cohorts import measured

from clinclust import MAPDP, Feature, FeatureSchema

RESULTS = Path(__file__).parent / "results" / "recommended.md"
SIZES = ((500, 12), (2_000, 50))
KINDS = {
    "measurements": ("gaussian",),
    "mixed": ("gaussian", "bernoulli", "ordinal", "gaussian", "negative_binomial", "bernoulli"),
}
DISTANCES = (5.0, 7.0)
WEIGHTS = (0.4, 0.3, 0.2, 0.1)
MISSING, MOST_CLASSES = 0.1, 6


def cohort(
    n_subjects: int, n_features: int, kind: str, distance: float, seed: int
) -> tuple[pd.DataFrame, FeatureSchema]:
    """Draw four groups whose centres are that many SD apart on average, before numbers become findings and counts."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(WEIGHTS), n_features))
    apart = [np.linalg.norm(one - other) for place, one in enumerate(centres) for other in centres[:place]]
    centres *= distance / np.mean(apart)
    values = centres[rng.choice(len(WEIGHTS), n_subjects, p=WEIGHTS)] + rng.normal(size=(n_subjects, n_features))
    columns, features = {}, []
    for place, column in enumerate(values.T):
        likelihood = KINDS[kind][place % len(KINDS[kind])]
        ends = {"minimum": 0, "maximum": 4} if likelihood == "ordinal" else {}
        columns[f"x{place}"] = measured(column, likelihood)
        features.append(Feature(name=f"x{place}", likelihood=likelihood, **ends))
    frame = pd.DataFrame(columns)
    return (frame.mask(rng.random(frame.shape) < MISSING) if kind == "mixed" else frame), FeatureSchema(features)


def stepmix(frame: pd.DataFrame, schema: FeatureSchema) -> None:
    """Fit StepMix with one to six classes."""
    from stepmix import StepMix

    models, suffix = {"bernoulli": "bernoulli", "ordinal": "categorical"}, "_nan" if frame.isna().any(axis=None) else ""
    of_model: dict[str, list[str]] = {}
    for feature in schema.features:
        of_model.setdefault(models.get(str(feature.likelihood), "gaussian_diag") + suffix, []).append(feature.name)
    measurement = {model: {"model": model, "n_columns": len(names)} for model, names in of_model.items()}
    values = frame[[name for names in of_model.values() for name in names]].to_numpy(dtype=np.float64)
    for n_classes in range(1, MOST_CLASSES + 1):
        StepMix(n_classes, measurement=measurement, n_init=1, random_state=0, verbose=0, progress_bar=0).fit(values)


def seconds(fit: Callable[..., object], *given: object) -> float:
    """Return the processor seconds of a fit."""
    began = time.process_time()
    fit(*given)
    return time.process_time() - began


def measure(n_cohorts: int) -> pd.DataFrame:
    """Return one row for each cohort, with the seconds of each fit."""
    alone = {"random_state": 0, "n_jobs": 1, "progress": False}
    has_peer, rows = importlib.util.find_spec("stepmix") is not None, []
    tasks = [(*SIZES[0], kind, DISTANCES[0], -1) for kind in KINDS]  # the first ones compile, and are not counted
    tasks += [
        (*size, kind, at, seed) for size in SIZES for kind in KINDS for at in DISTANCES for seed in range(n_cohorts)
    ]
    for n_subjects, n_features, kind, distance, seed in tasks:
        frame, schema = cohort(n_subjects, n_features, kind, distance, seed + 1)
        row = {"size": f"{n_subjects:,} x {n_features}", "kind": kind}
        row["recommended"] = seconds(MAPDP(schema, **alone).fit, frame)
        row["plain"] = seconds(MAPDP(schema, n_clusters=None, coarsening=1.0, **alone).fit, frame)
        row["stepmix"] = seconds(stepmix, frame, schema) if has_peer else np.nan
        if seed >= 0:
            rows.append(row)
            print(row, flush=True)
    return pd.DataFrame(rows)


def ratio_of(part: pd.DataFrame, other: str) -> str:
    """Return the median and the range of the ratio of the recommended fit to another."""
    ratios = part["recommended"] / part[other]
    return "" if ratios.isna().all() else f"{ratios.median():.2f} ({ratios.min():.2f} to {ratios.max():.2f})"


def page(rows: pd.DataFrame, n_cohorts: int) -> str:
    """Return the page of results."""
    lines = ["# The recommended fit beside the plain one", "", *(__doc__ or "").split("\n\n")[2].splitlines(), ""]
    lines += [f"{n_cohorts} cohorts of each distance; ratios are medians, with their range.", ""]
    lines += ["| cohorts | recommended, s | / plain | / six fits of StepMix |", "| --- | ---: | ---: | ---: |"]
    for (size, kind), part in rows.groupby(["size", "kind"], sort=False):
        time_of = f"{part['recommended'].median():.2f}"
        lines.append(f"| {size}, {kind} | {time_of} | {ratio_of(part, 'plain')} | {ratio_of(part, 'stepmix')} |")
    return "\n".join([*lines, "", describe_commit(), ""])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=1, help="cohorts of each size, kind and distance")
    parser.add_argument("--write", action="store_true", help="write the page, instead of printing it only")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    text = page(measure(options.cohorts), options.cohorts)
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
