"""Are the probabilities of subtypes what they say? Reliability of `MAPDP` and `GibbsDP` on cohorts from their model.

    python benchmarks/calibration.py                          # a first look: one cohort of each overlap
    python benchmarks/calibration.py --cohorts 12 --write     # what results/calibration.md holds

Each cohort has three groups of 120, 90 and 60 subjects, six measurements and two yes/no features, independent given the
group, and a tenth of the values missing. Groups overlap a little, clearly or strongly: the distance of neighbouring
means is 2, 1.25 or 0.75 standard deviations in each measurement. New subjects come from the same groups, and every
tenth from a group that the cohort has not. A cluster stands for the group that most of its members come from.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc

SIZES = (120, 90, 60)
OVERLAPS = {"a little": 2.0, "clearly": 1.25, "strongly": 0.75}
BINS = (0.0, 0.05, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)
N_NEW, N_PAIRS, FEWEST = 300, 2000, 20
MOST_SWEEPS = 800
RESULTS = Path(__file__).parent / "results" / "calibration.md"
COLUMNS = ["overlap", "method", "cohort", "subtypes", "who", "claimed", "right"]
Claims = Iterator[tuple[str, float, bool]]


def drawn(group: np.ndarray, centres: np.ndarray, chances: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Draw the values of subjects of these groups; -1 is a group that the cohort has not."""
    values = rng.normal(centres[group], 1.0)
    frame = pd.DataFrame(values, columns=[f"measurement{j}" for j in range(values.shape[1])])
    answers = rng.random((group.size, chances.shape[1])) < chances[group]
    for j, answer in enumerate(answers.T):
        frame[f"sign{j}"] = answer.astype(float)
    return frame.mask(rng.random(frame.shape) < 0.1)


def cohort_of(shift: float, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]:
    """Return a cohort with its groups, and new subjects with theirs; -1 marks those of another group."""
    centres = shift * rng.permuted(np.tile(np.arange(3.0), (6, 1)), axis=1).T
    chances = rng.uniform(0.1, 0.9, (4, 2))
    centres = np.vstack([centres, rng.choice([-1.0, 1.0], 6) * 3.0 + shift])  # the last row is group -1
    group = np.repeat(np.arange(3), SIZES)
    new = rng.choice(3, N_NEW, p=np.array(SIZES) / sum(SIZES))
    new[rng.random(N_NEW) < 0.1] = -1
    return drawn(group, centres, chances, rng), group, drawn(new, centres, chances, rng), new


def claims(
    model: cc.MAPDP | cc.GibbsDP, group: np.ndarray, new_frame: pd.DataFrame, new_group: np.ndarray, seed: int
) -> Claims:
    """Yield about whom a probability is, the probability, and whether what it is about is true."""
    labels, own = model.labels_, np.asarray(model.membership_)
    stands_for = np.array([np.bincount(group[labels == k], minlength=3).argmax() for k in range(model.n_clusters_)])
    right = stands_for[own.argmax(axis=1)] == group
    yield from zip(["member"] * group.size, own.max(axis=1).tolist(), right.tolist(), strict=True)
    pairs = np.random.default_rng(seed).choice(group.size, (N_PAIRS, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if isinstance(model, cc.GibbsDP):
        together = (model.draws_[:, pairs[:, 0]] == model.draws_[:, pairs[:, 1]]).mean(axis=0)
    else:
        together = (own[pairs[:, 0]] * own[pairs[:, 1]]).sum(axis=1)
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    yield from zip(["pair of members"] * len(pairs), together.tolist(), same.tolist(), strict=True)
    found = model.predict_proba(new_frame)
    right = np.append(stands_for, -1)[found.argmax(axis=1)] == new_group
    yield from zip(["new subject"] * N_NEW, found.max(axis=1).tolist(), right.tolist(), strict=True)
    yield from zip(["none of these"] * N_NEW, found[:, -1].tolist(), (new_group == -1).tolist(), strict=True)


def measured(n_cohorts: int) -> pd.DataFrame:
    """Return one row for each probability."""
    rows = []
    for overlap, shift in OVERLAPS.items():
        for seed in range(n_cohorts):
            rng = np.random.default_rng([seed, int(100 * shift)])
            frame, group, new_frame, new_group = cohort_of(shift, rng)
            kinds = {"m": "gaussian", "s": "bernoulli"}
            schema = cc.FeatureSchema([cc.Feature(name=name, likelihood=kinds[name[0]]) for name in frame])
            models = {
                "MAPDP": cc.methods.PublishedMAPDP(schema, calibrate=True, random_state=seed, progress=False),
                "MAPDP as published": cc.methods.PublishedMAPDP(schema, random_state=seed, progress=False),
                "GibbsDP": cc.GibbsDP(schema, random_state=seed, progress=False, max_sweeps=MOST_SWEEPS),
            }
            for name, model in models.items():
                model.fit(frame)
                about = (overlap, name, seed, model.n_clusters_)
                rows += [(*about, *claim) for claim in claims(model, group, new_frame, new_group, seed)]
    return pd.DataFrame(rows, columns=COLUMNS)


def table(found: pd.DataFrame) -> str:
    """Return the reliability table."""
    found = found.assign(bin=np.digitize(found["claimed"], BINS[1:-1]))
    lines = []
    for (overlap, who, method), part in found.groupby(["overlap", "who", "method"], sort=False):
        each = part.groupby("bin").agg(claimed=("claimed", "mean"), right=("right", "mean"), n=("right", "size"))
        gap = float(((each["claimed"] - each["right"]).abs() * each["n"]).sum() / each["n"].sum())
        cells = [
            f"{row.claimed:.3f} / {row.right:.3f} ({row.n:,.0f})" if row.n >= FEWEST else f"({row.n:,.0f})"
            for row in each.reindex(range(len(BINS) - 1), fill_value=0).itertuples()
        ]
        subtypes = part.groupby("cohort")["subtypes"].first().mean()
        means = f"{part['claimed'].mean():.3f} | {part['right'].mean():.3f} | {gap:.3f}"
        lines.append(f"| {overlap} | {who} | {method} | {subtypes:.1f} | {means} | {' | '.join(cells)} |")
    bins = [f"{low:g} to {high:g}" for low, high in pairwise(BINS)]
    head = ["overlap", "probability of", "method", "subtypes", "claimed", "right", "gap", *bins]
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines])


def main() -> None:
    """Measure, print the page, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cohorts", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = table(measured(options.cohorts))
    text = (
        "# Are the probabilities of subtypes what they say?\n\n"
        f"{(__doc__ or '').strip().rpartition(chr(10) * 2)[2]}\n\n"
        f"{options.cohorts} cohorts of each overlap, made by `benchmarks/calibration.py`. Member and new subject: the "
        "probability of the most probable subtype, or of none of these; right if the subject is of its group. Pair of "
        "members: the probability that both are of one group. None of these: the probability of it for new subjects. "
        "Claimed and right: means. Gap: the mean absolute difference over the bins, weighed by their numbers. Cells: "
        f"claimed / right (number); fewer than {FEWEST} are not shown.\n\n{found}\n"
    )
    print(text)
    if options.write:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
