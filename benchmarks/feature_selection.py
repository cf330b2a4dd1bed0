"""Hundreds of irrelevant features: what they do to the clusters, and what selecting features undoes.

Cohorts of 400 subjects in five subtypes (35, 30, 20, 10 and 5 %), with 20 informative binary features, whose chances in
each subtype are drawn from Beta(c, c), and 400 irrelevant ones, whose chance, the same for everybody, is uniform on
[0.1, 0.9]. The smaller c, the further apart the subtypes. Measured over ten cohorts each:

- all features: `PublishedMAPDP()`;
- selecting: `PublishedMAPDP(select_features=True)`;
- the default: `MAPDP()`, which selects in a wide table, and whose subtypes are tested;
- informative only: `PublishedMAPDP()` of the 20 informative features alone, the ceiling of any selection;
- true parameters: every subject in its most probable subtype when weights and chances are known.

One more set of cohorts has no informative feature at all: there is nothing to find, and one cluster is right.

Run it with ``python benchmarks/feature_selection.py``; it takes about half an hour on one processor. It prints the
tables and writes them to benchmarks/results/feature_selection.md.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pandas as pd
from commits import describe_commit
from sklearn.metrics import adjusted_rand_score

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.methods import PublishedMAPDP

N_SUBJECTS, N_INFORMATIVE, N_IRRELEVANT = 400, 20, 400
WEIGHTS = np.array([0.35, 0.3, 0.2, 0.1, 0.05])
SPREADS = (0.4, 1.0)
N_COHORTS = 10
RESULT = Path(__file__).parent / "results" / "feature_selection.md"


def cohort(seed: int, spread: float, n_informative: int = N_INFORMATIVE) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return a table (informative features s.., irrelevant ones x..), the subtypes, and the chances of the s.."""
    rng = np.random.default_rng([7, seed])
    subtypes = rng.choice(WEIGHTS.size, p=WEIGHTS, size=N_SUBJECTS)
    chances = rng.beta(spread, spread, size=(WEIGHTS.size, n_informative))
    shared = rng.uniform(0.1, 0.9, size=N_IRRELEVANT)
    values = np.hstack(
        [rng.random((N_SUBJECTS, n_informative)) < chances[subtypes], rng.random((N_SUBJECTS, N_IRRELEVANT)) < shared]
    )
    names = [f"s{i:02d}" for i in range(n_informative)] + [f"x{i:03d}" for i in range(N_IRRELEVANT)]
    order = rng.permutation(len(names))
    return pd.DataFrame(values[:, order].astype(float), columns=np.array(names)[order]), subtypes, chances


def fit(frame: pd.DataFrame, estimator: type[MAPDP] = PublishedMAPDP, **parameters: bool) -> tuple[MAPDP, float]:
    """Return a fitted model and the seconds of the processors it took."""
    schema = FeatureSchema([Feature(name=name, likelihood="bernoulli") for name in frame])
    began = time.process_time()
    model = estimator(schema, random_state=0, n_jobs=1, progress=False, **parameters).fit(frame)
    return model, time.process_time() - began


def most_probable(frame: pd.DataFrame, chances: np.ndarray) -> np.ndarray:
    """Return the most probable subtype of every subject, parameters known."""
    values = frame[[f"s{i:02d}" for i in range(chances.shape[1])]].to_numpy()
    log_odds = np.log(WEIGHTS) + values @ np.log(chances.T) + (1.0 - values) @ np.log1p(-chances.T)
    return np.asarray(log_odds.argmax(axis=1))


def measure(spread: float) -> str:
    """Return a Markdown table of the mean over cohorts of one spread."""
    rows: dict[str, list[tuple[float, ...]]] = {}
    for seed in range(N_COHORTS):
        frame, subtypes, chances = cohort(seed, spread)
        informative = [name for name in frame if name.startswith("s")]
        fits = {
            "all features": fit(frame),
            "selecting": fit(frame, select_features=True),
            "the default": fit(frame, MAPDP),
            "informative only": fit(frame[informative]),
        }
        for name, (model, seconds) in fits.items():
            right = sum(feature in informative for feature in model.selected_features_)
            wrong = len(model.selected_features_) - right
            agreement = adjusted_rand_score(subtypes, model.labels_)
            rows.setdefault(name, []).append((agreement, model.n_clusters_, right, wrong, seconds))
        known = most_probable(frame, chances)
        rows.setdefault("true parameters", []).append(
            (adjusted_rand_score(subtypes, known), np.unique(known).size, np.nan, np.nan, np.nan)
        )
    lines = [
        "| fit | mean ARI | lowest ARI | mean K | informative included | irrelevant included | CPU seconds a fit |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, measured in rows.items():
        mean, lowest = np.mean(measured, axis=0), np.min(measured, axis=0)[0]
        cells = [f"{mean[0]:.2f}", f"{lowest:.2f}", *("" if np.isnan(m) else f"{m:.1f}" for m in mean[1:])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure_nothing() -> str:
    """Return a sentence on cohorts without any informative feature."""
    models = [fit(cohort(seed, 1.0, n_informative=0)[0], select_features=True)[0] for seed in range(N_COHORTS)]
    clusters = sum(model.n_clusters_ > 1 for model in models)
    features = sum(len(model.selected_features_) for model in models)
    return (
        f"Without any informative feature, selecting finds more than one cluster in {clusters} of {N_COHORTS} cohorts, "
        f"and includes {features} features in all of them together."
    )


def main() -> None:
    """Measure, print and write."""
    parts = ["# Feature selection", "", *(__doc__ or "").split("\n\n")[1].splitlines(), ""]
    for spread in SPREADS:
        parts += [f"## c = {spread}", "", measure(spread), ""]
        print("\n".join(parts[-4:]), flush=True)
    parts += ["## Nothing to find", "", measure_nothing(), ""]
    parts += [describe_commit(), ""]
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text("\n".join(parts), encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
