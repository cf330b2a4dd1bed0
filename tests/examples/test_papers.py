"""The scripts that make the papers' tables again: they draw what the papers say, and small sizes follow laws."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest, multivariate_normal

pytestmark = pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
SCRIPTS = Path(__file__).parents[2] / "examples" / "papers"


def script(name):
    """Return a script as a module, with its folder where Python would find the others."""
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(SCRIPTS))


def test_every_script_is_named_on_the_page_and_has_results():
    pages = (SCRIPTS / "README.md").read_text("utf-8")
    results = SCRIPTS.parents[1] / "reports" / "papers"
    for path in SCRIPTS.glob("*.py"):
        if path.stem != "pages":
            assert f"[`{path.name}`]({path.name})" in pages
            assert f"python examples/papers/{path.name}" in (results / f"{path.stem}.md").read_text("utf-8")
    for line in (results / "figures.md").read_text("utf-8").splitlines():
        if line.startswith("!["):
            assert (results / line.partition("](")[2].rstrip(")")).is_file()


@pytest.mark.simulation
def test_cohorts_of_the_model_are_drawn_from_its_prior():
    cohorts = script("crp_cohorts")
    drawn = [cohorts.drawn(120, np.random.default_rng(seed)) for seed in range(200)]
    numbers = [np.unique(one.groups).size for one in drawn]
    expected = sum(3.0 / (3.0 + i) for i in range(120))
    assert np.mean(numbers) == pytest.approx(expected, abs=4.0 * np.std(numbers) / np.sqrt(200))
    # The first value of each cohort is from the marginal: Student's t with 2 degrees around 1, with a scale of
    # sqrt(rate (kappa + 1) / (kappa shape)).
    firsts = np.array([one.frame["x"].iloc[0] for one in drawn])
    assert kstest((firsts - 1.0) / np.sqrt(10.0 * 1.1 / 0.1), "t", args=(2,)).pvalue > 0.001


@pytest.mark.simulation
def test_a_small_table_of_cohorts_of_the_model():
    cohorts = script("crp_cohorts")
    rows = pd.DataFrame([row for seed in (0, 1) for row in cohorts.run((seed, 80, 60))])
    joints = rows.pivot_table("log joint", "seed", "way")
    assert (joints[cohorts.SEARCH] >= joints[cohorts.START] - 1e-9).all()
    assert (joints[cohorts.SEARCH] >= joints[cohorts.TRUTH]).all()
    assert rows["NMI"].between(0.0, 1.0 + 1e-12).all()
    page = "\n".join(cohorts.report(rows, "python crp_cohorts.py"))
    assert all(f"| {name} | " in page for name in cohorts.PRINTED)
    assert "nan" not in page


def test_labelled_sets_by_dp_means_are_the_printed_ones():
    """Wine and iris as they are, with the penalty that gives three clusters: .42 and .76 in both papers."""
    sets = script("labelled_sets")
    for name, printed in (("wine", 0.42), ("iris", 0.76)):
        values, groups = sets.read(name)
        labels, _ = sets.dp_means_with(values, 3)
        found = sets.cc.comparisons.compare_partitions(groups, labels)["normalised_mutual_information"]
        assert found == pytest.approx(printed, abs=0.01)


@pytest.mark.simulation
def test_the_page_of_labelled_sets_has_every_cell():
    sets = script("labelled_sets")
    rows = pd.DataFrame(sets.run((1, 60)))
    rows = pd.concat([rows.assign(data=name) for name in sets.PRINTED])
    page = "\n".join(sets.report(rows, "python labelled_sets.py"))
    assert "printed 0.75 (0.06)" in page
    assert "nan" not in page


@pytest.mark.simulation
def test_a_small_revisiting_of_k_means():
    revisiting = script("revisiting_k_means")
    rows = revisiting.three_gaussians(7) + revisiting.large_matrix(600)
    rows += [
        row | {"part": "gibbs", "most": 500, "nmi": 0.9, "K": 3, "seconds": 1.0, "converged": True} for row in [{}]
    ]
    sets = revisiting.many_sets(0, 12)
    found = pd.DataFrame(sets).set_index("way")["nmi"]
    assert found["true parameters, and which groups a set has"] > found["true parameters, sets unknown"]
    assert found["hard HDP"] > 0.6
    three = pd.DataFrame(rows).query("part == 'three'")
    assert three["nmi"].between(0.7, 1.0).all()
    page = "\n".join(revisiting.report(pd.DataFrame(rows + sets), "python revisiting_k_means.py"))
    assert "| hard HDP | " in page
    assert "nan" not in page


def test_simulations_of_the_comparison_study_are_as_it_says():
    study = script("comparison_study")
    rng = np.random.default_rng(0)
    points, groups, _ = study.curved(rng)
    shares = np.bincount(groups) / 300
    np.testing.assert_allclose(shares, [1 / 2, 1 / 3, 1 / 6], atol=0.1)
    parabola = points[groups == 0]
    residual = parabola[:, 1] - parabola[:, 0] - parabola[:, 0] ** 2
    assert kstest(residual, "norm").pvalue > 0.001
    points, groups, reachable = study.crossed(rng)
    for group, rho in ((0, 0.8), (1, -0.8)):
        assert np.corrcoef(points[groups == group].T)[0, 1] == pytest.approx(rho, abs=0.1)
    density = [
        share * multivariate_normal([1, 1], [[4, 16 * rho], [16 * rho, 64]]).pdf(points)
        for share, rho in ((0.75, 0.8), (0.25, -0.8))
    ]
    assert reachable.tolist() == (density[1] > density[0]).astype(int).tolist()
    assert np.bincount(study.with_outliers(rng)[1]).tolist() == [100, 100, 5]
    assert np.bincount(study.grid(rng)[1]).tolist() == [50] * 25


@pytest.mark.simulation
def test_a_small_table_of_the_comparison_study():
    study = script("comparison_study")
    rows = study.simulated("3", 0) + study.timed(120, 2, 0)
    found = pd.DataFrame(rows[: -len([row for row in rows if "seconds" in row])])
    truth = found[found["way"] == study.TRUTH]["HA"].iloc[0]
    assert found["HA"].max() <= truth + 0.05
    assert found[found["way"] == study.DIAGONAL]["K"].iloc[0] == 3
    page = "\n".join(study.report(pd.DataFrame(rows), "python comparison_study.py"))
    assert "| K-means++ | silhouette | " in page
    assert "nan" not in page
    assert all(len(figures) == len(study.MEASURES) for both in study.PRINTED.values() for figures in both)


@pytest.mark.simulation
def test_a_figure_shows_each_cluster_in_the_colour_of_its_group():
    figures = script("figures")
    groups = np.repeat([0, 1, 2], 20)
    assert figures.matched(np.repeat([2, 0, 1], 20), groups).tolist() == [1, 2, 0]
    figure, told = figures.drawn_figure(4, figures.DATA_SETS[4], 300)
    assert len(figure.axes) == 3
    assert told[1] == "MAP-DP 1.00 (3 clusters)"


# --- the data sets of the paper's Table 1 are what they say, and a small size of the table follows its laws -----------


@pytest.fixture(scope="module")
def example():
    return script("when_k_means_fails")


def test_data_sets_have_the_shares_and_outliers_of_the_paper(example):
    for place, data_set in enumerate(example.DATA_SETS):
        points, groups = example.drawn(data_set, 4000, np.random.default_rng(place))
        assert points.shape == (4000, 2)
        sizes = np.bincount(groups)
        np.testing.assert_allclose(sizes[:3] / sizes[:3].sum(), data_set.shares, atol=0.001)
        assert sizes[3:].tolist() == [2] * len(data_set.outliers)
        for group, (mean, shape) in enumerate(zip(data_set.means, data_set.covariances, strict=True)):
            members = points[groups == group]
            covariance = example.covariance_of(shape)
            assert np.linalg.det(covariance) == pytest.approx((shape[0] * shape[1]) ** 2)
            np.testing.assert_allclose(members.mean(axis=0), mean, atol=6.0 * max(shape) / np.sqrt(len(members)))
            spread = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
            np.testing.assert_allclose(np.cov(members.T) / spread, covariance / spread, atol=0.5)


@pytest.mark.simulation
def test_a_small_table_has_every_method_and_no_sweep_loses(example):
    rows = pd.DataFrame([row for place in (3, 4) for row in example.run((place, 0, 240))])
    ours, paths = (rows[rows["way"] == way].set_index("place") for way in ("MAP-DP", "MAP-DP, the paper's start"))
    assert (ours["k"] == 3).all()
    assert (ours["nmi"] >= paths["nmi"] - 1e-9).all()
    assert (ours["nmi"] > 0.85).all()
    assert rows["nmi"].dropna().between(0.0, 1.0 + 1e-12).all()
    page = "\n".join(example.report(rows, "python when_k_means_fails.py"))
    assert page.count("\n| 5.5 elliptical, far apart |") == 3
    assert page.count("\n| 5.4 elliptical, one rotated |") == 3
    assert "nan" not in page
