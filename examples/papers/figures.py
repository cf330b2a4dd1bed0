"""Figures 1 to 6 of Raykov et al. 2016 redrawn: the six data sets, and what K-means and MAP-DP make of them.

    python examples/papers/figures.py           # reports/papers/figures.md and its six pictures

Each data set is the first draw of `when_k_means_fails.py`.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure
from pages import RESULTS, finish
from scipy.optimize import linear_sum_assignment
from when_k_means_fails import DATA_SETS, DataSet, Labels, drawn, k_means, map_dp

import clinclust as cc

COLOURS = np.array(["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"])
"""Okabe and Ito's, which readers with colour-blindness tell apart."""
TEXTS = (
    "Radii that differ: K-means cuts the wide cluster in two, and joins the narrow ones.",
    "Sizes that differ: 69, 29 and 2 % of the points. K-means cuts the large cluster; the small one is lost in it.",
    "Two pairs of outliers, far outside of the picture. K-means spends clusters on them.",
    "Ellipses, one of them turned: K-means cuts across.",
    "Ellipses that lie far apart: both methods are right.",
    "Ellipses that overlap: K-means cuts where MAP-DP follows the shapes.",
)


def matched(labels: Labels, groups: Labels) -> Labels:
    """Return the number of the group that each cluster stands for, or one of nobody's, int64 (K,)."""
    shared = np.zeros((labels.max() + 1, max(labels.max(), groups.max()) + 1))
    np.add.at(shared, (labels, groups), 1.0)
    return linear_sum_assignment(-shared)[1].astype(np.int64)


def drawn_figure(place: int, data_set: DataSet, n: int) -> tuple[Figure, list[str]]:
    """Return the picture of one data set, and the agreement and K of both methods."""
    points, groups = drawn(data_set, n, np.random.default_rng([0, place]))
    found = {"the groups": groups, "K-means, K = 3": k_means(points, 0)[0], "MAP-DP": map_dp(points, 0)[0]}
    figure = Figure(figsize=(9.0, 3.1), layout="constrained")
    main = points[groups < 3]
    low, high = main.min(axis=0) - 0.5, main.max(axis=0) + 0.5
    told = []
    for axes, (title, labels) in zip(figure.subplots(1, 3, sharex=True, sharey=True), found.items(), strict=True):
        axes.scatter(*points.T, s=2.0, c=COLOURS[matched(labels, groups)[labels] % COLOURS.size], linewidths=0.0)
        k = int(np.unique(labels).size)
        nmi = cc.comparisons.compare_partitions(groups, labels)["normalised_mutual_information"]
        is_truth = title == "the groups"
        axes.set_title(title if is_truth else f"{title}: NMI {nmi:.2f}, {k} clusters", fontsize=9)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        axes.tick_params(labelsize=7)
        told += [] if is_truth else [f"{title} {nmi:.2f} ({k} clusters)"]
    return figure, told


def main() -> None:
    """Draw all figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=4000, help="points of a data set (default: 4000)")
    options = parser.parse_args()
    lines = [
        "# Figures 1 to 6 of the paper, redrawn",
        "",
        "Made by `python examples/papers/figures.py`. Each row: the groups that the points were drawn from, what "
        "K-means finds that is told K = 3, and what MAP-DP finds that is not. A cluster has the colour of the group "
        "that it matches best. NMI: normalised mutual information with the groups; printed is Table 1 of the paper, "
        "whose draws are others.",
    ]
    RESULTS.mkdir(parents=True, exist_ok=True)
    for place, data_set in enumerate(DATA_SETS):
        figure, told = drawn_figure(place, data_set, options.points)
        name = f"figure_{place + 1}.png"
        figure.savefig(RESULTS / name, dpi=90)
        printed = f"printed {data_set.printed[0]:.2f} and {data_set.printed[1]:.2f}"
        alternative = f"{data_set.section}: the groups, K-means and MAP-DP"
        lines += ["", f"## Figure {place + 1}: section {data_set.section}", "", TEXTS[place]]
        lines += [f"NMI: {', '.join(told)}; {printed}.", "", f"![{alternative}]({name})"]
    finish(lines, "figures", write=True)


if __name__ == "__main__":
    main()
