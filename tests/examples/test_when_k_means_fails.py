"""The data sets of the paper's Table 1 are what they say, and a small size of the table follows its laws."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::clinclust.errors.CohortWarning")
SCRIPTS = Path(__file__).parents[2] / "examples" / "papers"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(SCRIPTS))
    try:
        return importlib.import_module("when_k_means_fails")
    finally:
        sys.path.remove(str(SCRIPTS))


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
