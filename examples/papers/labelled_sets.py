"""The labelled data sets of the papers: wine and iris of scikit-learn, and four that mlbench ships.

    python examples/papers/labelled_sets.py           # to look at it
    python examples/papers/labelled_sets.py --write   # reports/papers/labelled_sets.md

Tables 2 and 3 of Raykov, Boukouvalas and Little (2014), and the rows of Table 1 of Kulis and Jordan (2012). The prior
of the note is set from the data: the mean of each feature, kappa = 10 / N, shape 1, and as rate the variance. The
concentration is the one of a grid with the highest log joint (appendix A.3, its second way). The note does not print
its grid. The Parkinson's set of the note is in neither package.

Breast cancer (the original Wisconsin set), soybean, Pima and vehicle are read from the R package mlbench
(`apt-get install r-cran-mlbench`, `pip install pyreadr`), and left out without it.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pages import arguments, finish, gather, table
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine

import clinclust as cc
from clinclust.methods.hard_limits import dp_means, penalty_for

MLBENCH = Path("/usr/lib/R/site-library/mlbench/data")
OF_MLBENCH = {
    "breast cancer": ("BreastCancer", "Class", 699),
    "soybean": ("Soybean", "Class", 307),  # of 683: the training set, of which the papers have the complete rows
    "pima": ("PimaIndiansDiabetes", "diabetes", 768),
    "vehicle": ("Vehicle", "Class", 846),
}
"""File, column of the groups, and first rows of each set; subjects with missing values are left out."""
NAMES = ("wine", "iris", *(OF_MLBENCH if find_spec("pyreadr") and MLBENCH.is_dir() else ()))
GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
N_SINGLE = 10
"""Single runs of the paper's start with a wider prior, whose mean is shown."""
Labels = NDArray[np.int64]
Array = NDArray[np.float64]

RAW, SCALED, K_MEANS = "DP-means", "DP-means, standardised", "K-means"
START, WIDER, SEARCH, GIBBS = "MAP-DP, the paper's start", "single runs, kappa = 1", "MAP-DP", "Gibbs, mean over draws"
DEFAULT, DISTINCT = "MAP-DP, default prior", "MAP-DP, distinct subtypes"
PRINTED = {
    "wine": {RAW: "0.42", GIBBS: "0.72 (0.06)", START: "0.86"},
    "iris": {RAW: "0.76", GIBBS: "0.75 (0.06)", START: "0.76"},
    "breast cancer": {RAW: "0.75", GIBBS: "0.70 (0.01)", START: "0.71"},
    "soybean": {RAW: "0.36", GIBBS: "0.49 (0.00)", START: "0.40"},
    "pima": {RAW: "0.03", GIBBS: "0.07 (0.01)", START: "0.07"},
    "vehicle": {RAW: "0.21", GIBBS: "0.15 (0.02)", START: "0.15"},
}
"""NMI in Table 2 of the note; for Gibbs sampling with two standard deviations."""
PRINTED_SWEEPS = {
    "wine": ("19", "11", "2,365"),
    "iris": ("8", "5", "1,543"),
    "breast cancer": ("8", "8", "939"),
    "soybean": ("14", "9", "10,000+"),
    "pima": ("20", "17", "1,189"),
    "vehicle": ("12", "9", "939"),
}
"""Iterations of DP-means, MAP-DPM and Gibbs sampling in Table 3 of the note."""
KULIS_JORDAN = {
    "wine": ("0.41", "0.43", "0.42"),
    "iris": ("0.75", "0.76", "0.73"),
    "soybean": ("0.72", "0.66", "0.73"),
    "pima": ("0.02", "0.03", "0.02"),
    "vehicle": ("0.18", "0.18", "0.17"),
}
"""NMI of DP-means, K-means and Gibbs sampling in Table 1 of Kulis and Jordan."""


def read(name: str) -> tuple[Array, Labels]:
    """Return the values, float64 (N, D), and the groups, int64 (N,), of a data set."""
    if name not in OF_MLBENCH:
        values, groups = {"wine": load_wine, "iris": load_iris}[name](return_X_y=True)
        return values, groups.astype(np.int64)
    import pyreadr

    file, group, n = OF_MLBENCH[name]
    frame = next(iter(pyreadr.read_r(MLBENCH / f"{file}.rda").values())).iloc[:n].dropna()
    values = frame.drop(columns=[group, "Id"], errors="ignore").astype(str).astype(float)
    return values.to_numpy(), pd.factorize(frame[group])[0].astype(np.int64)


def prior_of(frame: pd.DataFrame, kappa: float) -> dict[str, dict[str, float]]:
    """Return the prior of the note, with what its mean is worth in subjects."""
    return {
        str(name): {"mean": column.mean(), "kappa": kappa, "shape": 1.0, "rate": column.var(ddof=0)}
        for name, column in frame.items()
    }


def dp_means_with(values: Array, k: int) -> tuple[Labels, int]:
    """Return the clusters of DP-means with a penalty that gives k of them, and its iterations.

    The search begins at the farthest-first penalty, and takes the nearest one on a fine grid that gives k clusters, or
    the number nearest to k that any gives.
    """
    start, nearest = penalty_for(values, k), None
    for factor in sorted(np.geomspace(0.05, 20.0, 241), key=lambda one: abs(np.log(one))):
        labels, trace = dp_means(values, float(start * factor))
        distance = abs(int(labels.max()) + 1 - k)
        if nearest is None or distance < nearest[0]:
            nearest = distance, labels, len(trace)
        if not distance:
            break
    assert nearest is not None
    return nearest[1], nearest[2]


def run(task: tuple[int, int]) -> list[dict[str, object]]:
    """Return one row for each way on one data set."""
    place, max_sweeps = task
    name = NAMES[place]
    values, groups = read(name)
    frame = pd.DataFrame(values, columns=[f"x{column}" for column in range(values.shape[1])])
    schema = cc.FeatureSchema([cc.Feature(name=column, likelihood="gaussian") for column in frame])
    true_k = int(groups.max()) + 1
    rows: list[dict[str, object]] = []

    def keep(way: str, began: float, labels: Labels, sweeps: int = 0, **facts: object) -> None:
        seconds = time.perf_counter() - began
        agreement = cc.comparisons.compare_partitions(groups, labels)
        found = {"data": name, "true K": true_k, "way": way, "K": np.unique(labels).size, "sweeps": sweeps}
        measures = {"NMI": agreement["normalised_mutual_information"], "ARI": agreement["adjusted_rand"]}
        rows.append(found | measures | {"seconds": seconds} | facts)

    began = time.perf_counter()
    keep(RAW, began, *dp_means_with(values, true_k))
    began = time.perf_counter()
    spread = np.where(values.std(axis=0) > 0.0, values.std(axis=0), 1.0)
    keep(SCALED, began, *dp_means_with((values - values.mean(axis=0)) / spread, true_k))
    began = time.perf_counter()
    keep(K_MEANS, began, KMeans(true_k, n_init=10, random_state=0).fit(values).labels_)
    alike = {"random_state": 0, "n_jobs": 1, "progress": False}
    noted = {"hyperparameters": prior_of(frame, 10.0 / len(frame))}
    from_one = {"init": "single", "n_restarts": 10}
    ways: dict[str, dict[str, Any]] = {START: {**noted, **from_one}, SEARCH: noted, DEFAULT: {}}
    for way, options in ways.items():
        began = time.perf_counter()
        fits = (cc.methods.PublishedMAPDP(schema, concentration=each, **alike, **options).fit(frame) for each in GRID)
        model = max(fits, key=lambda each: each.log_joint_)
        best = model.restarts_.sort_values("log_joint", ascending=False).iloc[0]
        keep(way, began, model.labels_, int(best["sweeps"]), concentration=model.concentration_, joint=model.log_joint_)
        if way == SEARCH:
            chosen = model.concentration_
    began = time.perf_counter()
    wider = {"hyperparameters": prior_of(frame, 1.0), "concentration": 1.0, "init": "single", "n_restarts": 1}
    single = [
        cc.methods.PublishedMAPDP(schema, **{**alike, **wider, "random_state": run}).fit(frame)
        for run in range(N_SINGLE)
    ]
    each = [cc.comparisons.compare_partitions(groups, model) for model in single]
    keep(WIDER, began, single[0].labels_)
    rows[-1] |= {"NMI": float(np.mean([one["normalised_mutual_information"] for one in each]))}
    rows[-1] |= {"most": float(np.max([one["normalised_mutual_information"] for one in each]))}
    rows[-1] |= {"K": float(np.mean([model.n_clusters_ for model in single]))}
    began = time.perf_counter()
    keep(DISTINCT, began, cc.MAPDP(schema, **alike).fit(frame).labels_)
    began = time.perf_counter()
    chains = cc.GibbsDP(
        schema, hyperparameters=noted["hyperparameters"], concentration=chosen, max_sweeps=max_sweeps, **alike
    ).fit(frame)
    draws = chains.draws_[np.linspace(0, len(chains.draws_) - 1, min(200, len(chains.draws_))).astype(int)]
    each = [cc.comparisons.compare_partitions(groups, np.asarray(draw, dtype=np.int64)) for draw in draws]
    keep(GIBBS, began, chains.labels_, chains.n_sweeps_)
    rows[-1]["NMI"] = float(np.mean([one["normalised_mutual_information"] for one in each]))
    rows[-1]["spread"] = 2.0 * float(np.std([one["normalised_mutual_information"] for one in each]))
    rows[-1]["ARI"] = float(np.mean([one["adjusted_rand"] for one in each]))
    rows[-1]["K"] = float(np.mean([np.unique(draw).size for draw in draws]))
    return rows


def report(rows: pd.DataFrame, command: str) -> list[str]:
    """Return the page of results."""
    found = dict(rows.set_index(["data", "way"]).iterrows())
    names = list(dict.fromkeys(rows["data"]))
    ways = (RAW, START, WIDER, SEARCH, GIBBS, SCALED, DEFAULT, DISTINCT)
    models = (START, WIDER, SEARCH, GIBBS, DEFAULT, DISTINCT)

    def nmi(name: str, way: str) -> str:
        row = found[name, way]
        ours = f"{row['NMI']:.2f}" + (f" ({row['spread']:.2f})" if way == GIBBS else "")
        ours += f", at most {row['most']:.2f}" if way == WIDER else ""
        printed = PRINTED[name].get(way)
        return ours if printed is None else f"{ours}; printed {printed}"

    return [
        "# Labelled data sets: Tables 2 and 3 of the note of 2014, and Table 1 of Kulis and Jordan",
        "",
        f"Made by `{command}`. Wine and iris ship with scikit-learn; the original Wisconsin breast cancer data, the "
        "training set of soybean, Pima and vehicle with the R package mlbench. Subjects with missing values are left "
        "out, which leaves 683 tumours, and 266 soybeans as in the note. Levels count as numbers.",
        "",
        "## Normalised mutual information with the labels (Table 2 of the note)",
        "",
        *table(["data", *ways], [[name, *(nmi(name, way) for way in ways)] for name in names]),
        "",
        "Prior and concentration are from the data as the note says, DP-means has a penalty that gives the true "
        "number of groups (or the number nearest to it), and Gibbs sampling two standard deviations over its draws. "
        "DP-means takes the features as they are, so that the one with the largest numbers decides; standardised, it "
        f"is another method. `{DEFAULT}` differs from the note in the prior alone, and `{DISTINCT}` is what "
        "`clinclust fit` does: it coarsens the likelihood where features depend on each other within groups, and joins "
        "what is no more than a continuum.",
        "",
        "On the breast cancer data, DP-means and the paper's start give the printed figures. Of soybean the note's "
        "DP-means is far from ours, and from the .72 that Kulis and Jordan print.",
        "",
        "With the prior that the note prints, hardly a wine leaves the one cluster of the paper's start: alone it is "
        "judged by a density whose variance is 18 times that of the data in each of 13 features; where the best of "
        "ten runs and of the grid leaves it, it ends "
        f"{found['wine', SEARCH]['joint'] - found['wine', START]['joint']:.0f} nats below the search. With a mean "
        "that is worth one subject in the place of 10 / N, and a concentration of 1, single runs reach the printed "
        "figure. The search needs no such choice.",
        "",
        "## Number of clusters",
        "",
        *table(
            ["data", "groups", *models, "concentration of MAP-DP"],
            [
                [
                    name,
                    f"{found[name, SEARCH]['true K']:.0f}",
                    *(f"{found[name, way]['K']:.0f}" for way in models),
                    f"{found[name, SEARCH]['concentration']:g}",
                ]
                for name in names
            ],
        ),
        "",
        "The better search raises the log joint over the paper's start by "
        + ", ".join(f"{found[name, SEARCH]['joint'] - found[name, START]['joint']:.0f} ({name})" for name in names)
        + " nats. Where features depend on each other within groups, as in the breast cancer data, a higher joint of "
        "independent features is more clusters, and less agreement with the labels: what is maximised fits the data "
        "better than the labels do. That is what the coarsening of the default fit is for.",
        "",
        "## Iterations (Table 3 of the note)",
        "",
        *table(
            ["data", RAW, START, "Gibbs", "seconds: MAP-DP over the grid", "Gibbs"],
            [
                [
                    name,
                    *(
                        f"{found[name, way]['sweeps']:.0f} ({printed})"
                        for way, printed in zip((RAW, START, GIBBS), PRINTED_SWEEPS[name], strict=True)
                    ),
                    *(f"{found[name, way]['seconds']:.2f}" for way in (SEARCH, GIBBS)),
                ]
                for name in names
            ],
        ),
        "",
        "## Table 1 of Kulis and Jordan",
        "",
        *table(
            ["data", "DP-means (printed)", "K-means (printed)", "their Gibbs sampler, printed"],
            [
                [
                    name,
                    f"{found[name, RAW]['NMI']:.2f} ({KULIS_JORDAN[name][0]})",
                    f"{found[name, K_MEANS]['NMI']:.2f} ({KULIS_JORDAN[name][1]})",
                    KULIS_JORDAN[name][2],
                ]
                for name in names
                if name in KULIS_JORDAN
            ],
        ),
    ]


def main() -> None:
    """Run all data sets, and print the page or write it."""
    options = arguments(__doc__, "sweeps", 2000).parse_args()
    rows = gather(run, [(place, options.sweeps) for place in range(len(NAMES))], options.n_jobs)
    finish(report(rows, "python examples/papers/labelled_sets.py"), "labelled_sets", write=options.write)


if __name__ == "__main__":
    main()
