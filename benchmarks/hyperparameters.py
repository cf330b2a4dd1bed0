"""Compare ways to set hyperparameters and concentration: held-out density, number of clusters, agreement with truth.

Run ``python benchmarks/hyperparameters.py``; it writes ``benchmarks/results/hyperparameters.md``. A third of the
subjects is held out for the density; clusters and agreement are those of the other two thirds.
"""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from clinclust import Feature, FeatureSchema
from clinclust.methods import PublishedMAPDP

WAYS = {
    "default": {},
    "greedy": {"hyperparameters": "greedy"},
    "concentration map": {"concentration": "map"},
    "concentration cross-validation": {"concentration": "cross-validation"},
}
N_RESTARTS = 3


def mixed(seed: int, n_subjects: int, n_features: int, n_groups: int) -> tuple[pd.DataFrame, FeatureSchema, np.ndarray]:
    """Return a simulated cohort of scores, counts and measurements, a tenth missing, a third of the features idle."""
    rng = np.random.default_rng([7, seed])
    groups = rng.choice(n_groups, size=n_subjects, p=rng.dirichlet(np.full(n_groups, 5.0)))
    features, columns = [], {}
    for number in range(n_features):
        effect = (rng.normal(0.0, 0.8, n_groups) * (number % 3 > 0))[groups]
        name = f"x{number}"
        if number % 4 < 2:
            values = rng.binomial(4 if number % 4 else 1, 1.0 / (1.0 + np.exp(-effect))).astype(float)
            features.append(Feature(name=name, likelihood="binomial", trials=4 if number % 4 else 1))
        elif number % 4 == 2:
            values = rng.poisson(np.exp(1.0 + 0.6 * effect)).astype(float)
            features.append(Feature(name=name, likelihood="poisson"))
        else:
            values = rng.normal(effect, 0.8)
            features.append(Feature(name=name, likelihood="gaussian"))
        values[rng.random(n_subjects) < 0.1] = np.nan
        columns[name] = values
    return pd.DataFrame(columns), FeatureSchema(features), groups


def cohorts() -> dict[str, list[tuple[pd.DataFrame, FeatureSchema, np.ndarray]]]:
    """Return the cohorts by name; several of one name are averaged."""
    found = {
        "mixed, N 300, D 20, K 3": [mixed(seed, 300, 20, 3) for seed in range(5)],
        "mixed, N 1,000, D 24, K 5": [mixed(seed, 1000, 24, 5) for seed in range(5)],
    }
    for name, load in (("iris", load_iris), ("wine", load_wine), ("breast cancer", load_breast_cancer)):
        X, labels = load(return_X_y=True)
        frame = pd.DataFrame(X, columns=[f"x{number}" for number in range(X.shape[1])])
        schema = FeatureSchema([Feature(name=column, likelihood="gaussian") for column in frame])
        found[name] = [(frame, schema, labels)]
    return found


def results() -> pd.DataFrame:
    """Return one row for each cohort and way."""
    rows = []
    for name, several in cohorts().items():
        for way, parameters in WAYS.items():
            scores = []
            for seed, (frame, schema, truth) in enumerate(several):
                held_out = np.random.default_rng(seed).permutation(len(frame)) % 3 == 0
                began = time.perf_counter()
                model = PublishedMAPDP(
                    schema, n_restarts=N_RESTARTS, n_jobs=1, random_state=seed, progress=False, **parameters
                ).fit(frame[~held_out])
                seconds = time.perf_counter() - began
                agreement = adjusted_rand_score(truth[~held_out], model.labels_)
                density = model.score(frame[held_out])
                scores.append([density, model.n_clusters_, agreement, model.concentration_, seconds])
            rows.append([name, way, *np.mean(scores, axis=0)])
            print(rows[-1], flush=True)
    columns = ["cohort", "way", "held-out density", "K", "ARI", "N0", "seconds"]
    return pd.DataFrame(rows, columns=columns)


def markdown(table: pd.DataFrame) -> str:
    """Return the table as Markdown, with the versions it was made with."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba", "scikit-learn"))
    lines = [
        "# Hyperparameters and concentration",
        "",
        "Held-out density: mean log predictive density of a held-out subject, in nats, higher is better. "
        f"K, ARI and N0: of the fit to the other two thirds, {N_RESTARTS} restarts.",
        "",
        "| " + " | ".join(table.columns) + " |",
        "|" + " --- |" * table.shape[1],
    ]
    for row in table.itertuples(index=False):
        name, way, density, k, agreement, concentration, seconds = row
        lines.append(
            f"| {name} | {way} | {density:.3f} | {k:.1f} | {agreement:.2f} | {concentration:.2f} | {seconds:.1f} |"
        )
    return "\n".join([*lines, "", f"Made with {packages}.", ""])


if __name__ == "__main__":
    text = markdown(results())
    print(text)
    path = Path(__file__).parent / "results" / "hyperparameters.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
