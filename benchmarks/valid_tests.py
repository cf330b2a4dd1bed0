"""How often tests after clustering are wrong, and how often they find what is there.

Cohorts of 400 subjects are clustered as they are, and every feature is tested twice: naively, by the descriptive
contrast against the subtypes that it helped to form, and validly, by `validated_associations` against subtypes found
without it. A test is wrong if p is at most .05 for a feature that is independent of all others.

Shares are over the tests made: where nothing is left to test against, because without the feature everybody is of one
subtype, no test is made. The standard error takes the tests of one cohort as one draw.

Run it with ``python benchmarks/valid_tests.py``; it takes half an hour on two processors, prints the table, and writes
it to benchmarks/results/valid_tests.md. ``--cohorts 50 --only pairs`` is sooner. ``--recommended`` fits with
`MAPDP.recommended`, whose subtypes are tested, and writes to benchmarks/results/valid_tests_recommended.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clinclust import MAPDP, Feature, FeatureSchema, compare_subtypes, validated_associations

N_SUBJECTS, N_FEATURES = 400, 10
SIGNIFICANCE_LEVEL = 0.05
RESULTS = Path(__file__).parent / "results"


class Drawn(NamedTuple):
    """One cohort: its columns, what each is declared to be, and the features that are counted."""

    columns: dict[str, np.ndarray]
    features: list[Feature]
    counted: list[str]


def gaussian_noise(rng: np.random.Generator) -> Drawn:
    """Draw normal noise."""
    return _alike(rng.normal(size=(N_SUBJECTS, N_FEATURES)), "gaussian")


def exponential_noise(rng: np.random.Generator) -> Drawn:
    """Draw exponential noise."""
    return _alike(rng.exponential(size=(N_SUBJECTS, N_FEATURES)), "exponential")


def misdeclared(rng: np.random.Generator) -> Drawn:
    """Draw exponential noise that is declared Gaussian, which is split into many subtypes."""
    return _alike(rng.exponential(size=(N_SUBJECTS, N_FEATURES)), "gaussian")


def yes_no_noise(rng: np.random.Generator) -> Drawn:
    """Draw yes/no noise."""
    return _alike((rng.random((N_SUBJECTS, N_FEATURES)) < rng.uniform(0.1, 0.9, N_FEATURES)).astype(float), "bernoulli")


def mixed_noise(rng: np.random.Generator, shift: float = 0.0, n_informative: int = 0) -> Drawn:
    """Draw independent features of every likelihood, 10% missing; half of the cohort is shifted in some normal ones."""
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    columns: dict[str, np.ndarray] = {
        f"informative{i}": rng.normal(size=N_SUBJECTS) + shift * half for i in range(n_informative)
    }
    features = [Feature(name=name, likelihood="gaussian") for name in columns]
    noise: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
        "normal": (rng.normal(size=N_SUBJECTS), {"likelihood": "gaussian"}),
        "tailed": (rng.exponential(size=N_SUBJECTS), {"likelihood": "gaussian"}),
        "lognormal": (np.exp(rng.normal(size=N_SUBJECTS)), {"likelihood": "gaussian", "transform": "log"}),
        "duration": (rng.exponential(size=N_SUBJECTS), {"likelihood": "exponential"}),
        "count": (rng.poisson(2.0, N_SUBJECTS), {"likelihood": "poisson"}),
        "long_count": (rng.geometric(0.3, N_SUBJECTS) - 1, {"likelihood": "geometric"}),
        "scale": (rng.binomial(4, 0.3, N_SUBJECTS), {"likelihood": "binomial", "trials": 4}),
        "rare": (rng.random(N_SUBJECTS) < 0.05, {"likelihood": "bernoulli"}),
        "kind": (
            rng.choice(4, N_SUBJECTS, p=[0.6, 0.2, 0.15, 0.05]),
            {"likelihood": "categorical", "levels": list("0123")},
        ),
    }
    for name, (values, declared) in noise.items():
        values = np.where(rng.random(N_SUBJECTS) < 0.1, np.nan, values.astype(float))
        columns[name] = values
        features.append(Feature(name=name, **declared))
    return Drawn(columns, features, list(noise))


def beside_informative(rng: np.random.Generator) -> Drawn:
    """Draw noise of every kind beside five normal features that differ by 1.5 SD between the halves of the cohort."""
    return mixed_noise(rng, 1.5, 5)


def one_driver(rng: np.random.Generator) -> Drawn:
    """Draw normal noise beside one feature that alone makes the subtypes: its two halves are 6 SD apart."""
    drawn = gaussian_noise(rng)
    drawn.columns["x0"] = drawn.columns["x0"] + 6.0 * (rng.random(N_SUBJECTS) < 0.5)
    return drawn._replace(counted=[name for name in drawn.counted if name != "x0"])


def pairs(rng: np.random.Generator, *, declared: bool) -> Drawn:
    """Draw exponential features, declared Gaussian, in pairs whose ranks correlate at .7, as blocks or undeclared."""
    from scipy.special import ndtr

    shared = np.repeat(rng.normal(size=(N_SUBJECTS, N_FEATURES // 2)), 2, axis=1)
    normal = np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.normal(size=(N_SUBJECTS, N_FEATURES))
    drawn = _alike(-np.log(ndtr(-normal)), "gaussian")
    if not declared:
        return drawn
    blocks = [f"pair {place // 2}" for place in range(N_FEATURES)]
    named = zip(drawn.features, blocks, strict=True)
    return drawn._replace(features=[Feature(**{**feature.content(), "block": block}) for feature, block in named])


def correlated_noise(rng: np.random.Generator) -> Drawn:
    """Draw normal noise in which all pairs of features correlate at .3."""
    return _alike(
        np.sqrt(0.3) * rng.normal(size=(N_SUBJECTS, 1)) + np.sqrt(0.7) * rng.normal(size=(N_SUBJECTS, N_FEATURES)),
        "gaussian",
    )


def informative(rng: np.random.Generator, shift: float) -> Drawn:
    """Draw ten normal features of which five differ by so many SD between the halves of the cohort: these count."""
    drawn = gaussian_noise(rng)
    half = np.repeat([0.0, 1.0], N_SUBJECTS // 2)
    for place in range(5):
        drawn.columns[f"x{place}"] = drawn.columns[f"x{place}"] + shift * half
    return drawn._replace(counted=drawn.counted[:5])


def _alike(table: np.ndarray, likelihood: str) -> Drawn:
    names = [f"x{place}" for place in range(table.shape[1])]
    features = [Feature(name=name, likelihood=likelihood) for name in names]
    return Drawn(dict(zip(names, table.T, strict=True)), features, names)


SCENARIOS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "noise, normal": gaussian_noise,
    "noise, exponential": exponential_noise,
    "noise, exponential declared Gaussian": misdeclared,
    "noise, yes/no": yes_no_noise,
    "noise, of every likelihood, 10% missing": mixed_noise,
    "noise features beside five informative ones (1.5 SD)": beside_informative,
    "noise features beside one that alone makes the subtypes": one_driver,
    "noise pairs, r = .7, declared as blocks": partial(pairs, declared=True),
    "noise pairs, r = .7, undeclared": partial(pairs, declared=False),
    "noise, all pairs r = .3, undeclared": correlated_noise,
    "informative features, 0.7 SD: power": partial(informative, shift=0.7),
    "informative features, 1.5 SD: power": partial(informative, shift=1.5),
}
METHODS = ("refit", "cross-fit")


def measured(task: tuple[str, int, bool]) -> list[dict[str, Any]]:
    """Return one row for each counted feature of one cohort."""
    warnings.simplefilter("ignore")
    name, seed, recommended = task
    place = list(SCENARIOS).index(name)
    drawn = SCENARIOS[name](np.random.default_rng([place, seed]))
    schema, frame = FeatureSchema(drawn.features), pd.DataFrame(drawn.columns)
    frame = schema.validate(frame.astype(object).where(frame.notna(), None) if frame.isna().any(axis=None) else frame)
    # From given labels there is no refinement, which among noise would take most of the time.
    begin = np.random.default_rng(seed).integers(8, size=len(frame))
    make = MAPDP.recommended if recommended else MAPDP
    model = make(schema, n_restarts=2, init=begin, random_state=seed, n_jobs=1, progress=False).fit(frame)
    naive = compare_subtypes(frame, model.labels_, schema).query("kind == 'contrast'").set_index("feature")["p"]
    rows = []
    for method in METHODS:
        found = validated_associations(model, frame, method=method, n_jobs=1, progress=False).set_index("feature")
        rows += [
            {
                "scenario": name,
                "seed": seed,
                "method": method,
                "n_clusters": model.n_clusters_,
                "naive": naive[feature],
                "valid": found.loc[feature, "p"],
                "doubtful": found["doubtful"].fillna(False)[feature],
            }
            for feature in drawn.counted
        ]
    return rows


def share(frame: pd.DataFrame, column: str) -> str:
    """Return the share of p at most .05 among the tests made, with its standard error, in per cent."""
    made = frame[frame[column].notna()]
    if made.empty:
        return "no tests"
    by_cohort = made.assign(hit=made[column] <= SIGNIFICANCE_LEVEL).groupby("seed")["hit"].agg(["sum", "size"])
    estimate = by_cohort["sum"].sum() / by_cohort["size"].sum()
    error = np.sqrt(((by_cohort["sum"] - estimate * by_cohort["size"]) ** 2).sum()) / by_cohort["size"].sum()
    return f"{estimate:.3f} ± {error:.3f}"


def report(rows: pd.DataFrame, *, recommended: bool) -> str:
    """Return the page."""
    lines = [
        f"# Tests after clustering{', the recommended way' if recommended else ''}",
        "",
        *"\n".join((__doc__ or "").split("\n\n")[1:3]).splitlines(),
        "",
        "*Doubtful*: of the valid tests made, those that the check of residual dependence marks; of the significant",
        "ones in brackets.",
        "",
        "| features that are counted | cohorts | subtypes (median) | naive | valid, refitted | tests made "
        "| valid, cross-fitted | tests made | doubtful |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in SCENARIOS:
        part = rows[rows["scenario"] == name]
        if part.empty:
            continue
        refit, cross = (part[part["method"] == method] for method in METHODS)
        made = refit[refit["valid"].notna()]
        significant = made[made["valid"] <= SIGNIFICANCE_LEVEL]
        lines.append(
            f"| {name} | {refit['seed'].nunique()} | {refit['n_clusters'].median():.0f} | {share(refit, 'naive')} "
            f"| {share(refit, 'valid')} "
            f"| {refit['valid'].notna().mean():.0%} | {share(cross, 'valid')} | {cross['valid'].notna().mean():.0%} "
            f"| {made['doubtful'].mean():.3f} ({significant['doubtful'].mean():.2f}) |"
        )
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "pandas", "numba"))
    return "\n".join([*lines, "", f"Measured with {packages}.", ""])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--recommended", action="store_true", help="fit with `MAPDP.recommended`")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    name = "valid_tests_recommended.md" if options.recommended else "valid_tests.md"
    options.output = options.output or RESULTS / name
    options.output.parent.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for name in SCENARIOS:
            if options.only in name:
                tasks = [(name, seed, options.recommended) for seed in range(options.cohorts)]
                rows += [row for found in pool.map(measured, tasks, chunksize=10) for row in found]
                options.output.write_text(report(pd.DataFrame(rows), recommended=options.recommended), encoding="utf-8")
                print(options.output.read_text(encoding="utf-8").splitlines()[-3], flush=True)


if __name__ == "__main__":
    main()
