"""Stability of clear groups, overlapping groups, slices of one continuum, and pieces of noise.

    python benchmarks/stability.py              # a first look: prints the table
    python benchmarks/stability.py --cohorts 2 --write      # what results/stability.md holds
    python benchmarks/stability.py --groups 60 --write      # its section on groups, such as sexes

Ten measurements of 300 subjects each. What a report would say is averaged over the subtypes of at least five subjects,
weighed by their sizes; a cohort in which one group is found has nothing to assess.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.stability.invariance import compare_given_subtype

N, D, SAMPLES = 300, 10, 20
RESULTS = Path(__file__).parent / "results" / "stability.md"
FEWEST = 5


def groups(shift: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Return a kind of cohort: three groups whose means lie this far apart in half of the features, in SDs."""

    def drawn(rng: np.random.Generator) -> np.ndarray:
        group = rng.choice(3, N, p=(0.5, 0.3, 0.2))
        centres = shift * rng.permuted(np.tile(np.arange(3.0), (D, 1)), axis=1).T
        centres[:, D // 2 :] = 0.0
        return rng.normal(centres[group], 1.0)

    return drawn


def continuum(rng: np.random.Generator) -> np.ndarray:
    """Return a severity that runs through all features."""
    return rng.normal(size=(N, 1)) + 0.7 * rng.normal(size=(N, D))


def skewed_noise(rng: np.random.Generator) -> np.ndarray:
    """Return independent skewed columns, which a Gaussian likelihood describes by several clusters."""
    return rng.gamma(1.5, size=(N, D))


KINDS = {
    "three groups, 3 SD apart": groups(3.0),
    "three groups, 1.5 SD apart": groups(1.5),
    "three groups, 1 SD apart": groups(1.0),
    "one continuum (severity)": continuum,
    "skewed noise, declared Gaussian": skewed_noise,
}
ESTIMATORS = {"published": cc.methods.PublishedMAPDP, "MAPDP": cc.MAPDP}


def row(name: str, estimator: str, n_cohorts: int, *, whole_procedure: bool = False) -> str:
    """Return a row of the table."""
    found = []
    for seed in range(n_cohorts):
        frame = pd.DataFrame(KINDS[name](np.random.default_rng([seed, 7]))).rename(columns="x{}".format)
        schema = cc.FeatureSchema([cc.Feature(name=column, likelihood="gaussian") for column in frame])
        model = ESTIMATORS[estimator](schema, random_state=seed, progress=False).fit(frame)
        if model.n_clusters_ == 1:
            found.append({"subtypes": 1.0})
            continue
        began = time.perf_counter()
        stability = cc.stability.assess_stability(
            model, frame, SAMPLES, progress=False, whole_procedure=whole_procedure
        )
        large = stability.subtypes.query("size >= @FEWEST")
        means = {
            key: float(np.average(large[key], weights=large["size"]))
            for key in ("jaccard", "jaccard_by_chance", "dissolved")
        }
        found.append(
            {
                "subtypes": float(model.n_clusters_),
                **means,
                "same_number": stability.same_number,
                "lowest": float(stability.sensitivity["agreement"].min()),
                "seconds": time.perf_counter() - began,
            }
        )
    table = pd.DataFrame(found)
    one = f"{(table['subtypes'] == 1).mean():.2f}"
    keys = ["jaccard", "jaccard_by_chance", "dissolved", "same_number", "lowest"]
    means_shown = [f"{table[key].mean():.2f}" if key in table else "–" for key in keys]
    seconds = f"{table['seconds'].mean():.1f}" if "seconds" in table else "–"
    called = f"{estimator}, whole procedure" if whole_procedure else estimator
    return f"| {name} | {called} | {table['subtypes'].mean():.1f} | {one} | {' | '.join(means_shown)} | {seconds} |"


SECTION = "\n## Are they the same in groups?\n\n"


def draw_sexes(seed: int, shift: float) -> tuple[pd.DataFrame, cc.FeatureSchema]:
    """Return 600 subjects of three subtypes with other shares in each sex; the first column is shifted in men."""
    rng = np.random.default_rng([seed, 11])
    is_man = rng.random(600) < 0.5
    subtype = np.where(is_man, rng.choice(3, 600, p=(0.2, 0.3, 0.5)), rng.choice(3, 600, p=(0.5, 0.3, 0.2)))
    values = rng.normal(0.0, 0.9, (3, 8))[subtype] + rng.normal(size=(600, 8))
    values[:, 0] += shift * is_man
    frame = pd.DataFrame(values).rename(columns="x{}".format)
    frame["x1"], frame["x5"] = frame["x1"] > 0.0, frame["x5"] > 0.0
    frame["x2"], frame["x6"] = (frame[name].add(2.0).round().clip(0.0, 4.0) for name in ("x2", "x6"))
    schema = cc.FeatureSchema(
        cc.Feature(name=name, likelihood="bernoulli")
        if name in ("x1", "x5")
        else cc.Feature(name=name, likelihood="ordinal", trials=4)
        if name in ("x2", "x6")
        else cc.Feature(name=name, likelihood="gaussian")
        for name in frame
    )
    return frame.astype(float).assign(sex=np.where(is_man, "m", "f")), schema


def compare_sexes(n_cohorts: int, shift: float) -> str:
    """Return a row of the table of groups."""
    found, seed = list[list[float]](), 0
    while len(found) < n_cohorts:
        frame, schema = draw_sexes(seed, shift)
        seed += 1
        model = cc.MAPDP(schema, random_state=0, n_restarts=3, progress=False).fit(frame[schema.names])
        if model.tree_.n_subtypes < 3:
            continue
        model = model.cut(3)
        if model.cluster_sizes_.min() < 40:
            continue
        table = cc.stability.assess_invariance(model, frame, "sex").features
        certain, sex = np.eye(3)[model.labels_], (frame["sex"] == "m").to_numpy(dtype=np.int64)
        columns = [frame[name].to_numpy() for name in schema.names]
        naive = [compare_given_subtype(column, sex, model.labels_, certain).p for column in columns]
        others, is_low = table.iloc[1:], np.array(naive)[1:] < 0.05
        both = [(others[name] < 0.05).mean() for name in ("p_uniform", "p_non_uniform")]
        is_named = table["q"] < 0.05
        found.append([*both, *is_low.mean(axis=0), float(is_named.iloc[0]), is_named.iloc[1:].mean()])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(n_cohorts)
    cells = [f"{value:.3f} ({se:.3f})" for value, se in zip(mean, error, strict=True)]
    return f"| {shift:g} | {' | '.join(cells)} |"


def write_groups(n_cohorts: int) -> str:
    """Return the section on groups."""
    head = ("shift of x0", "p uniform", "p non-uniform", "as assigned, uniform", "as assigned, non-uniform")
    head = (*head, "x0 named", "others named")
    rows = [compare_sexes(n_cohorts, shift) for shift in (0.0, 0.5)]
    return (
        f"600 subjects of three subtypes that overlap, {n_cohorts} cohorts a row; the sexes have shares of .5, .3 "
        "and .2, or .2, .3 and .5. Eight columns (measurements, yes/no, scales), of which the first is shifted in men, "
        "in SDs inside a subtype. Of the seven others: how often p was below .05, by `assess_invariance` and with the "
        "members as assigned, and how often q was. In parentheses standard errors over cohorts; cohorts in which the "
        "fit found fewer than three groups, or one of fewer than 40 subjects, are left out.\n\n"
        + "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *rows])
        + "\n"
    )


def main() -> None:
    """Measure, print the page, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=2)
    parser.add_argument("--groups", type=int, metavar="COHORTS")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    page, _, section = RESULTS.read_text(encoding="utf-8").partition(SECTION)
    if options.groups:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            section = write_groups(options.groups)
        print(section)
        if options.write:
            RESULTS.write_text(page + SECTION + section, encoding="utf-8")
        return
    head = (
        *("cohort", "model", "subtypes", "one group", "Jaccard in halves", "by chance", "dissolved"),
        *("as many clusters in halves", "lowest agreement under other settings", "seconds"),
    )
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in KINDS:
            lines += [row(name, estimator, options.cohorts) for estimator in ESTIMATORS]
            lines.append(row(name, "MAPDP", options.cohorts, whole_procedure=True))
    text = (
        "# Would the subtypes come out again?\n\n"
        f"{N} subjects, {D} measurements, {options.cohorts} cohorts of each kind, {SAMPLES} halves of "
        "each; made by `benchmarks/stability.py`. Means over the cohorts in which several "
        "subtypes were found, of subtypes of at least 5 subjects, weighed by size. What comes out again need not be a "
        "kind: slices of a continuum can do so as well. Whole procedure: everything that the fit chose from the data "
        "is chosen anew in each half.\n\n" + "\n".join(lines) + "\n"
    )
    print(text)
    if options.write:
        RESULTS.write_text(text + SECTION + section, encoding="utf-8")


if __name__ == "__main__":
    main()
