"""Tools that users know, on the same tables, none told more than its usual user tells it.

    python benchmarks/same_tables.py           # prints the table of results/same_tables.md

clinclust and HDBSCAN find the number of groups: all subtypes, and kinds, which no continuum explains, without their
grades. Latent classes, by `LatentClasses`, have it by BIC (1 to 8, three starts each); K-prototypes has no rule, and is
given the true one (of numbers alone it is K-means). K-prototypes and HDBSCAN need a table without gaps: medians and
most frequent levels fill it. HDBSCAN gets standardised numbers and indicators, and takes a twentieth of the subjects
for the smallest cluster. VarSelLCM, which finds the number and selects features, is an R package that could not be
installed here. In the simulated tables, features are independent within groups, as clinclust and latent classes assume.
"""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from commits import describe_commit
from continuum_cohorts import Setting, continuum_cohort
from numpy.typing import NDArray
from peer_cohorts import peer_cohort
from sklearn.cluster import HDBSCAN
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_moons

import clinclust as cc
from clinclust import methods
from clinclust.methods.method import encode, fill_missing, standardise, transform_column

HERE = Path(__file__).parents[1]
TOOLS = ("clinclust", "clinclust, kinds", "latent classes, BIC", "K-prototypes, true K", "HDBSCAN")
Labels = NDArray[np.int64]


def tables() -> Iterator[tuple[str, pd.DataFrame, cc.FeatureSchema, Labels]]:
    """Yield each table with its name, schema and groups."""
    clinic = runpy.run_path(str(HERE / "docs" / "clinic.py"))
    rng = np.random.default_rng(7)
    groups = rng.permutation(np.repeat(np.arange(3), (70, 60, 50)))
    frame = clinic["as_exported"](clinic["drawn"](groups, rng), rng)
    schema = cc.draft_schema(frame, progress=False)
    yield "clinic (simulated): 180 × 11, mixed, gaps", schema.validate(frame, warn=False), schema, groups
    made = peer_cohort(500, 0)
    yield "peers (simulated): 500 × 50, mixed", made.schema.validate(made.frame, warn=False), made.schema, made.groups
    schema = cc.FeatureSchema.from_yaml(HERE / "schemas" / "parkinsonism.yaml")
    folder = HERE / "examples" / "parkinsonism"
    truth = pd.read_csv(folder / "true_groups.csv")["group"].to_numpy()
    frame = schema.validate(cc.read_cohort(folder / "cohort.csv"), warn=False)
    yield "parkinsonism (simulated): 527 × 215, mixed, gaps", frame, schema, truth
    for name, load in (("wine", load_wine), ("iris", load_iris), ("breast cancer", load_breast_cancer)):
        values, groups = load(return_X_y=True)
        yield f"{name}: {values.shape[0]} × {values.shape[1]}, numbers", *_numbers(values), groups
    values, groups = make_moons(500, noise=0.06, random_state=0)
    yield "two moons: 500 × 2, numbers", *_numbers(values), groups
    frame, schema, groups = continuum_cohort(0, Setting(400))
    yield "one severity (simulated): 400 × 16, numbers", frame, schema, groups


def _numbers(values: NDArray[np.float64]) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(values.shape[1])])
    return frame, cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])


def has_levels(feature: cc.Feature) -> bool:
    """Return whether values can only be equal or not."""
    return feature.traits.is_nominal or feature.traits.is_yes_no


def k_prototypes(frame: pd.DataFrame, features: list[cc.Feature], k: int) -> Labels:
    """Return the clusters of kmodes; half a standardised number is as much as a level."""
    from kmodes.kprototypes import KPrototypes

    features = sorted(features, key=has_levels)
    values = [fill_missing(transform_column(frame, it), by_frequency=has_levels(it)) for it in features]
    n_numbers = sum(not has_levels(it) for it in features)
    table = np.column_stack([*map(standardise, values[:n_numbers]), *values[n_numbers:]])
    model = KPrototypes(k, init="Huang", gamma=0.5, n_init=10, random_state=0)
    return np.asarray(model.fit_predict(table, categorical=list(range(n_numbers, len(features)))), dtype=np.int64)


def ways(frame: pd.DataFrame, schema: cc.FeatureSchema, k: int) -> list[Callable[[], Labels]]:
    """Return a function of each tool that returns the labels, -1 for none."""
    features = [feature for feature in schema.clustered_parts if len(frame[feature.column].dropna().unique()) > 1]
    means = methods.KMeans(schema, n_clusters=k, random_state=0)
    least, model = len(frame) // 20, cc.MAPDP(schema, random_state=0, n_jobs=1, progress=False)
    return [
        lambda: model.fit(frame).labels_,
        lambda: pd.factorize(model.kinds_)[0],
        lambda: methods.LatentClasses(schema, max_clusters=8, n_restarts=3, random_state=0).fit(frame).labels_,
        lambda: k_prototypes(frame, features, k) if any(map(has_levels, features)) else means.fit(frame).labels_,
        lambda: HDBSCAN(min_cluster_size=least).fit(encode(frame, features).matrix).labels_,
    ]


def cell(find: Callable[[], Labels], groups: Labels) -> str:
    """Return K, the adjusted Rand index and the share in no cluster of one tool on one table."""
    labels = np.asarray(find(), dtype=np.int64)
    k, noise = np.unique(labels[labels >= 0]).size, np.mean(labels < 0)
    alone = np.where(labels < 0, labels.max() + 1, labels)
    agreement = cc.comparisons.compare_partitions(groups, alone)["adjusted_rand"]
    words = f"{k} / {agreement:.2f}" if np.unique(groups).size > 1 else f"{k} / –"
    return words + (f", {noise:.0%} in none" if noise else "")


def main() -> None:
    """Print the page of results."""
    warnings.simplefilter("ignore")
    print("# The same tables by tools that users know\n\n" + __doc__.split("\n\n", 2)[2].replace("\n", " ") + "\n")
    print("Subtypes / adjusted Rand index with the known groups, those in no cluster counted as one:\n")
    print("| table | groups | " + " | ".join(TOOLS) + " |\n| --- | --- |" + " --- |" * len(TOOLS))
    for name, frame, schema, groups in tables():
        k = np.unique(groups).size
        cells = [cell(find, groups) for find in ways(frame, schema, k)]
        print(f"| {name} | {k} | " + " | ".join(cells) + " |", flush=True)
    print(f"\n{describe_commit()}")


if __name__ == "__main__":
    main()
