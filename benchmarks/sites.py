"""What somebody who sees all sums that sites have sent can compute of single subjects, and what a threshold costs.

    python benchmarks/sites.py --results        # two minutes

Three simulated sites (`examples/sites/three_sites.py`) fit one model. The attacker sees every answer, and knows which
subjects of a site were counted together each time. A value is known exactly if the sum of the one subject is a linear
combination of the sums that were sent: the test by the row space of Yang, Luo and Li (2025, arXiv:2511.07073), for each
feature among the subjects in whom it is observed. Of two observed values, sum and sum of squares give both.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.engine.search.labels import adjusted_rand_index

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "sites"))
from coordinator import fit_at_sites  # noqa: E402
from three_sites import SCHEMA, three_tables  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "sites.md"
SEEDS = range(3)


class Watched(cc.Site):
    """A site that remembers which subjects it counted together in each answer, and may round its sums."""

    unit = 0.0

    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.sent = []

    def _sent(self, labels, n_clusters=0):
        self.sent.append(labels.copy())
        answer = super()._sent(labels, n_clusters)
        encoding = self._problem.cohort.encoding
        for feature, start in zip(encoding.features, encoding.statistic_start[:-1], strict=True):
            if self.unit and feature.likelihood == "gaussian":  # the number of values, their sum and sum of squares
                sums = slice(start + 1, start + 3)
                answer["statistics"][:, sums] = self.unit * np.round(answer["statistics"][:, sums] / self.unit)
        return answer

    @property
    def columns(self):
        """The observed values of each feature, bool (n,), with the values."""
        names = [feature.name for feature in SCHEMA.clustered]
        return [(self._frame[name].notna().to_numpy(), self._frame[name].to_numpy()) for name in names]


def cells_known(labelings):
    """Return the cell of each subject by several labelings, (M, n), and whether the sum of each cell is known."""
    cells, of_subjects = np.unique(np.stack(labelings), axis=1, return_inverse=True)
    of_subjects = of_subjects.reshape(-1)
    groups = [row == cluster for row in cells for cluster in np.unique(row)]
    _, sizes, basis = np.linalg.svd(np.array(groups, dtype=float), full_matrices=False)
    basis = basis[sizes > 1e-9 * sizes[0]]
    return of_subjects, (basis**2).sum(axis=0) > 1.0 - 1e-9


def known(labelings, columns):
    """Return the values known exactly, those known but for their order, and those known because all are equal."""
    exactly, in_pairs, as_equal = (np.zeros((len(columns), labelings[0].size), dtype=bool) for _ in range(3))
    for feature, (observed, values) in enumerate(columns):
        rows = np.flatnonzero(observed)
        of_subjects, is_known = cells_known([labels[rows] for labels in labelings])
        n_values = np.bincount(of_subjects)
        n_levels = pd.Series(values[rows]).groupby(of_subjects).nunique().to_numpy()
        for found, cells in ((exactly, n_values == 1), (in_pairs, n_values == 2), (as_equal, n_levels == 1)):
            found[feature, rows] = (is_known & cells)[of_subjects]
    return exactly, in_pairs, as_equal & ~exactly


def attacked(site):
    """Return how many subjects have a value known exactly by two answers in a row, by all answers, and more by pairs."""
    by_two = np.zeros(len(site.labels), dtype=bool)
    for two in zip(site.sent, site.sent[1:], strict=False):
        by_two |= known(two, site.columns)[0].any(axis=0)
    exactly, in_pairs, as_equal = known(site.sent, site.columns)
    by_all = exactly.any(axis=0)
    n_values = sum(observed.sum() for observed, _ in site.columns)
    pairs = (in_pairs.any(axis=0) & ~by_all).sum()
    return np.array([by_two.sum(), by_all.sum(), pairs, exactly.sum(), as_equal.sum(), n_values])


def estimator():
    """Return a model whose search ends with the clusters."""
    return cc.MAPDP(SCHEMA, n_clusters=None, outlying_share=0.0, calibrate=False, random_state=0, progress=False)


def row(apart, fewest, unit=0.0):
    """Return a line of the table."""
    found, answers, lost, agreements, clusters = np.zeros(6), 0, [], [], []
    for seed in SEEDS:
        tables = three_tables(seed, apart)
        pooled = pd.concat(tables, ignore_index=True)
        expected = POOLED.setdefault((seed, apart), None) or estimator().fit(pooled)
        POOLED[seed, apart] = expected
        sites = [Watched(table, SCHEMA, fewest=fewest) for table in tables]
        for site in sites:
            site.unit = unit
        model = fit_at_sites(estimator(), sites)
        labels = np.concatenate([site.labels for site in sites]) - 1
        validated = SCHEMA.validate(pooled, warn=False)
        joints = [
            cc.log_joint(
                validated,
                each,
                SCHEMA,
                expected.hyperparameters_,
                expected.concentration_,
                coarsening=expected.coarsening_,
            )
            for each in (expected.labels_, labels)
        ]
        lost.append(1_000 * (joints[0] - joints[1]) / len(pooled))
        agreements.append(adjusted_rand_index(labels, expected.labels_))
        clusters.append(f"{model.n_clusters_} ({expected.n_clusters_})")
        answers += sum(len(site.sent) for site in sites)
        found += sum(attacked(site) for site in sites)
    by_two, by_all, pairs, exact, equal, n_values = found.astype(int)
    shown = [
        apart,
        fewest,
        unit or "",
        ", ".join(clusters),
        f"{np.mean(agreements):.4f}",
        f"{np.mean(lost):.2f}",
        answers,
    ]
    shown += [by_two, by_all, pairs, f"{exact / n_values:.2%}", f"{equal / n_values:.2%}"]
    return "| " + " | ".join(map(str, shown)) + " |"


POOLED = {}
HEAD = """| groups apart (SD) | fewest | sums rounded to | clusters (pooled) | ARI to pooled | nats lost per 1,000 | answers \
| subjects with a value known by two answers | by all answers | more in pairs | values known exactly | because all are equal |
| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"""


def main():
    """Print the table, and write it with ``--results``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", action="store_true")
    asked = parser.parse_args()
    lines = [HEAD]
    print(HEAD)
    for given in [(apart, fewest) for apart in (2.5, 1.5) for fewest in (1, 2, 3, 5, 10, 20)] + [
        (1.5, 1, 0.1),
        (1.5, 1, 1.0),
    ]:
        lines.append(row(*given))
        print(lines[-1], flush=True)
    if asked.results:
        RESULTS.write_text(TEXT.format(table="\n".join(lines)), encoding="utf-8")


TEXT = """# What sums of sites show of single subjects

Made by `python benchmarks/sites.py --results`.

{table}
"""


if __name__ == "__main__":
    main()
