"""Two simulated cohorts, one continuum and one with two diseases, and what the tree of each says.

``python examples/how_many_subtypes/run.py`` prints what was found and draws ``trees.png``. Both cohorts hold 300 people
with eight measurements, all of which rise with one severity. In the second cohort half of the people have another
disease, which shifts five of the measurements up or down, whatever its severity.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc

HERE = Path(__file__).parent
N_SUBJECTS, N_MEASUREMENTS = 300, 8
SHIFTS = np.array([2.0, -2.0, 2.0, -2.0, 2.0, 0.0, 0.0, 0.0])
"""What the second disease adds to each measurement, in standard deviations within a disease and a severity."""


def cohort(seed: int, *, two_diseases: bool) -> pd.DataFrame:
    """Draw a cohort of people who differ by severity and, if wanted, by disease."""
    rng = np.random.default_rng(seed)
    severity = rng.normal(size=(N_SUBJECTS, 1))
    values = 1.2 * severity + rng.normal(size=(N_SUBJECTS, N_MEASUREMENTS))
    if two_diseases:
        values += SHIFTS * (np.arange(N_SUBJECTS) % 2)[:, None]
    return pd.DataFrame(values.round(2), columns=[f"measurement {number + 1}" for number in range(N_MEASUREMENTS)])


def main() -> None:
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)

    figure = Figure(figsize=(9.5, 6.2), layout="constrained")
    for part, two_diseases in zip(figure.subfigures(2, 1, height_ratios=(4, 5)), (False, True), strict=True):
        frame = cohort(1, two_diseases=two_diseases)
        schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
        model = cc.MAPDP(schema, random_state=0).fit(frame)
        title = "Two diseases, each of any severity" if two_diseases else "One disease of any severity"
        print(f"{title}: {model.subtype_of_.size} groups told apart, {model.n_clusters_} distinct")
        print(model.tree_test_.joins[["first_size", "second_size", "gain", "expected", "p", "accepted"]].round(3))
        cc.plots.plot_tree(model, ax=part.subplots())
        part.suptitle(title, x=0.01, ha="left", fontweight="bold")
    figure.savefig(out / "trees.png", dpi=110)


if __name__ == "__main__":
    main()
