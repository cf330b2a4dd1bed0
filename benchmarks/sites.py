"""What somebody who sees all sums that sites have sent can compute of single subjects, and what a threshold costs.

    python benchmarks/sites.py --results        # two minutes

Three simulated sites (`examples/sites/three_sites.py`) of 1,200, 800 and 400 subjects fit one model. The attacker sees
every answer, and knows which subjects of a site were counted together each time. A value is known exactly if the sum of
the one subject is a linear combination of the sums that were sent: the test by the row space of Yang, Luo and Li (2025,
arXiv:2511.07073), for each feature among the subjects in whom it is observed. The attack is made: measurements are
computed from the answers, and compared with the truth.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import clinclust as cc
from clinclust.arrays import Array, Labels, Mask, Whole
from clinclust.engine.search.settle import adjusted_rand_index

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "sites"))
from coordinator import fit_at_sites
from three_sites import SCHEMA, three_tables

RESULTS = Path(__file__).parent / "results" / "sites.md"
SEEDS = range(3)
CASES = [(apart, fewest, 0.0) for apart in (2.5, 1.5) for fewest in (1, 2, 5, 10, 20)]
CASES += [(1.5, 1, unit) for unit in (0.1, 1.0, 10.0)]


class Watched(cc.Site):
    """A site that remembers which subjects it counted together in each answer, and may round sums of measurements."""

    unit = 0.0

    def __init__(self, table: pd.DataFrame, **options: Any) -> None:
        super().__init__(table, SCHEMA, **options)
        self.sent: list[tuple[Labels, Array]] = []

    def _sent(self, labels: Labels, n_clusters: int = 0) -> dict[str, Any]:
        answer = super()._sent(labels, n_clusters)
        for _, _, start in self.measurements() if self.unit else ():
            sums = slice(start + 1, start + 3)  # after the number of values, their sum and sum of squares
            answer["statistics"][:, sums] = self.unit * np.round(answer["statistics"][:, sums] / self.unit)
        self.sent.append((labels.copy(), answer["statistics"].copy()))
        return answer

    def columns(self) -> list[tuple[Mask, Any]]:
        """Return where each feature is observed, bool (n,), and its values."""
        columns = [self._frame[feature.name] for feature in SCHEMA.clustered]
        return [(column.notna().to_numpy(), column.to_numpy()) for column in columns]

    def measurements(self) -> list[tuple[int, Array, int]]:
        """Return the place in the schema of each measurement, its values in standard deviations, and its statistics."""
        cohort = self._problem.cohort
        places = {feature.name: place for place, feature in enumerate(SCHEMA.clustered)}
        columns = cohort.arrays.values.T
        continuous = list(zip(cohort.encoding.features, cohort.encoding.statistic_start, strict=False))[-len(columns) :]
        return [
            (places[feature.name], column, int(start))
            for (feature, start), column in zip(continuous, columns, strict=True)
            if feature.likelihood == "gaussian"
        ]


def combinations(labelings: list[Labels]) -> tuple[Whole, Mask, Array, list[tuple[int, int]]]:
    """Return the cell of each subject, whether the sum of each cell is known, and the combination that gives it.

    Combinations are (cells, sums); last is the labeling and the cluster of each of the sums.
    """
    cells, of_subjects = np.unique(np.stack(labelings), axis=1, return_inverse=True)
    sums = [(number, int(cluster)) for number, row in enumerate(cells) for cluster in np.unique(row)]
    groups = np.array([cells[number] == cluster for number, cluster in sums], dtype=float)
    inverse = np.linalg.pinv(groups)
    is_known = np.isclose((inverse @ groups).diagonal(), 1.0, rtol=0.0, atol=1e-9)
    return of_subjects.reshape(-1), is_known, inverse, sums


def known(site: Watched, labelings: list[Labels]) -> tuple[Mask, Mask, Mask]:
    """Return the values, bool (D, n), known exactly, but for the order of two, and because all in a cell are equal."""
    columns = site.columns()
    exactly, in_pairs, as_equal = (np.zeros((len(columns), labelings[0].size), dtype=np.bool_) for _ in range(3))
    for feature, (observed, values) in enumerate(columns):
        rows = np.flatnonzero(observed)
        of_subjects, is_known, _, _ = combinations([labels[rows] for labels in labelings])
        n_values = np.bincount(of_subjects)
        n_levels = pd.Series(values[rows]).groupby(of_subjects).nunique().to_numpy()
        for found, cells in ((exactly, n_values == 1), (in_pairs, n_values == 2), (as_equal, n_levels == 1)):
            found[feature, rows] = (is_known & cells)[of_subjects]
    return exactly, in_pairs, as_equal & ~exactly


def errors(site: Watched, exactly: Mask) -> list[float]:
    """Return the errors of the measurements that are computed from the answers, in standard deviations."""
    found: list[float] = []
    for place, values, start in site.measurements():
        rows = np.flatnonzero(~np.isnan(values))
        of_subjects, _, inverse, sums = combinations([labels[rows] for labels, _ in site.sent])
        seen = np.array([site.sent[number][1][cluster, start + 1] for number, cluster in sums])
        computed = (inverse @ seen)[of_subjects]
        found += np.abs(computed - values[rows])[exactly[place, rows]].tolist()
    return found


def attacked(site: Watched) -> tuple[Whole, list[float]]:
    """Return counts of subjects and of values that are known, and the errors of measurements."""
    labelings = [labels for labels, _ in site.sent]
    by_two = np.zeros(len(site.labels), dtype=np.bool_)
    for two in pairwise(labelings):
        by_two |= known(site, list(two))[0].any(axis=0)
    exactly, in_pairs, as_equal = known(site, labelings)
    by_all = exactly.any(axis=0)
    pairs = (in_pairs.any(axis=0) & ~by_all).sum()
    n_values = sum(int(observed.sum()) for observed, _ in site.columns())
    counts = np.array([by_two.sum(), by_all.sum(), pairs, exactly.sum(), as_equal.sum(), n_values])
    return counts, errors(site, exactly)


def estimator() -> cc.MAPDP:
    """Return a model whose search ends with the clusters."""
    return cc.MAPDP(SCHEMA, n_clusters=None, outlying_share=0.0, calibrate=False, random_state=0, progress=False)


def row(apart: float, fewest: int, unit: float, pooled: dict[tuple[int, float], cc.MAPDP]) -> str:
    """Return a line of the table."""
    found, answers, wrong = np.zeros(6, dtype=np.int64), 0, list[float]()
    lost, agreements, clusters = [], [], []
    for seed in SEEDS:
        tables = three_tables(seed, apart)
        everybody = SCHEMA.validate(pd.concat(tables, ignore_index=True), warn=False)
        if (seed, apart) not in pooled:
            pooled[seed, apart] = estimator().fit(everybody)
        expected = pooled[seed, apart]
        sites = [Watched(table, fewest=fewest) for table in tables]
        for site in sites:
            site.unit = unit
        model = fit_at_sites(estimator(), sites)
        labels = np.concatenate([site.labels for site in sites]) - 1
        given = {"concentration": expected.concentration_, "coarsening": expected.coarsening_}
        joints = [
            cc.log_joint(everybody, each, SCHEMA, expected.hyperparameters_, **given)
            for each in (expected.labels_, labels)
        ]
        lost.append(1_000 * (joints[0] - joints[1]) / len(everybody))
        agreements.append(adjusted_rand_index(labels, expected.labels_))
        clusters.append(f"{model.n_clusters_} ({expected.n_clusters_})")
        answers += sum(len(site.sent) for site in sites)
        for site in sites:
            counts, own = attacked(site)
            found += counts
            wrong += own
    by_two, by_all, pairs, exact, equal, n_values = found.tolist()
    shown = [apart, fewest, unit or "", ", ".join(clusters), f"{np.mean(agreements):.4f}", f"{np.mean(lost):.2f}"]
    shown += [answers, by_two, by_all, pairs, f"{exact / n_values:.2%}", f"{np.median(wrong):.1g}" if wrong else ""]
    return "| " + " | ".join(map(str, [*shown, f"{equal / n_values:.2%}"])) + " |"


HEADINGS = (
    "groups apart (SD)",
    "fewest",
    "sums rounded to (SD)",
    "clusters (pooled)",
    "ARI to pooled",
    "nats lost per 1,000",
    "answers with sums",
    "subjects known by two answers",
    "by all answers",
    "more in pairs",
    "values known",
    "error (SD)",
    "values known because all are equal",
)
TEXT = """# What the sums that sites send show of single subjects

Made by `python benchmarks/sites.py --results`. Each line is of three cohorts at three sites: 7,200 subjects and about
102,600 values in all. The last of four groups is missing at the first site.

- **fewest**: `Site.fewest`. **sums rounded**: sums and sums of squares of measurements, in multiples of this.
- **nats lost**: log joint of the pooled fit, less that of the sites' labels, under the pooled model.
- **subjects known**: some value of theirs is a linear combination of the sums sent, by two answers in a row, and by all
  answers. **more in pairs**: two subjects whose sum is known, and with the sum of squares both measurements.
- **values known**: share of all values that are known exactly if sums are not rounded. **error**: median error of the
  measurements among them, computed from the answers.
- **because all are equal**: values of a group whose sum is known, and all of whose members have the same value.

{table}
"""


def main() -> None:
    """Print the table, and write it with ``--results``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", action="store_true")
    asked, pooled = parser.parse_args(), dict[tuple[int, float], cc.MAPDP]()
    lines = [f"| {' | '.join(HEADINGS)} |", f"| {' | '.join(['---:'] * 3 + ['---'] + ['---:'] * 9)} |"]
    print("\n".join(lines))
    for given in CASES:
        lines.append(row(*given, pooled))
        print(lines[-1], flush=True)
    if asked.results:
        RESULTS.write_text(TEXT.format(table="\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
