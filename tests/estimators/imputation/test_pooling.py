"""Rubin's rules: the numbers of mice, and limits."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import clinclust as cc
from clinclust.errors import InputError

# R> imp <- mice(mammalsleep, maxit = 10); fit1 <- with(imp, lm(sws ~ log10(bw) + odi)); pool(fit1); summary(pool(fit1))
# (vignette "Convergence and pooling" of mice): m = 5, dfcom = 59.
MICE_PRINTED = pd.DataFrame(
    [
        [10.0739157, 0.71206627, 0.83964136, 1.7196359, 7.805051, 0.5859203, 0.6625659, 7.682102, 6.666925e-05],
        [-1.4513424, 0.10052200, 0.30175131, 0.4626236, 4.277824, 0.7827132, 0.8424252, -2.133811, 9.530451e-02],
        [-0.5504494, 0.08902854, 0.01146902, 0.1027914, 40.480414, 0.1338909, 0.1737299, -1.716876, 9.364526e-02],
    ],
    columns=["estimate", "within", "between", "total", "df", "lambda", "fmi", "t", "p"],
    index=["(Intercept)", "log10(bw)", "odi"],
)


def with_variance(centre, variance, m):
    """Return m numbers with this mean and variance (divisor m - 1)."""
    places = np.arange(m) - (m - 1) / 2.0
    return centre + places / places.std(ddof=1) * np.sqrt(variance)


def test_the_numbers_are_those_that_mice_prints():
    estimates = pd.DataFrame(
        {name: with_variance(row["estimate"], row["between"], 5) for name, row in MICE_PRINTED.iterrows()}
    )
    variances = pd.DataFrame([MICE_PRINTED["within"]] * 5)
    pooled = cc.pool_estimates(estimates, variances, df_complete=59)
    pd.testing.assert_frame_equal(pooled[list(MICE_PRINTED)], MICE_PRINTED, rtol=2e-6, check_names=False)
    assert pooled.index.tolist() == MICE_PRINTED.index.tolist()
    expected = stats.t(pooled["df"]).ppf(0.975) * pooled["se"]
    np.testing.assert_allclose(pooled["upper"] - pooled["estimate"], expected, rtol=1e-12)
    np.testing.assert_allclose(pooled["estimate"] - pooled["lower"], expected, rtol=1e-12)


def test_equal_estimates_have_no_variance_between_and_lose_nothing():
    pooled = cc.pool_estimates([3.0] * 4, [1.0, 2.0, 3.0, 2.0]).iloc[0]
    assert (pooled["between"], pooled["lambda"], pooled["fmi"]) == (0.0, 0.0, 0.0)
    assert (pooled["total"], pooled["df"]) == (2.0, np.inf)
    assert pooled["p"] == pytest.approx(2.0 * stats.norm.sf(3.0 / np.sqrt(2.0)))
    small = cc.pool_estimates([3.0] * 4, [1.0] * 4, df_complete=10).iloc[0]
    assert small["df"] == pytest.approx(11 / 13 * 10)  # Barnard and Rubin (1999), eq. 3, without missing values


def test_without_complete_degrees_of_freedom_they_are_those_of_rubin():
    large = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7]).iloc[0]
    within, between = 0.6, np.var([1.0, 2.0, 4.0], ddof=1)
    assert large["df"] == pytest.approx(2 * (1 + within / (4 / 3 * between)) ** 2)  # Rubin (1987), eq. 3.1.6
    nearly = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7], df_complete=1e9).iloc[0]
    assert nearly["df"] == pytest.approx(large["df"], rel=1e-6)
    few = cc.pool_estimates([1.0, 2.0, 4.0], [0.5, 0.6, 0.7], df_complete=5).iloc[0]
    assert few["df"] < min(large["df"], 5)
    assert few["upper"] - few["lower"] > large["upper"] - large["lower"]


def test_an_estimate_is_pooled_the_same_alone_and_beside_others():
    rng = np.random.default_rng(1)
    estimates, variances = rng.normal(size=(7, 3)), rng.gamma(2.0, size=(7, 3))
    together = cc.pool_estimates(estimates, variances, df_complete=30, level=0.8)
    for place in range(3):
        alone = cc.pool_estimates(estimates[:, place], variances[:, place], df_complete=30, level=0.8)
        pd.testing.assert_frame_equal(alone, together.iloc[[place]].reset_index(drop=True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], [1.0]), "at least two imputations"),
        (([1.0, 2.0], [1.0, 2.0, 3.0]), "one shape"),
        (([1.0, np.nan], [1.0, 1.0]), "estimates must be finite"),
        (([1.0, 2.0], [1.0, 0.0]), "variances must be above 0"),
        ((["a", "b"], [1.0, 1.0]), "estimates must be numbers"),
        ((np.ones((2, 2, 2)), np.ones((2, 2, 2))), "shape"),
        (([pd.Series([1.0], index=["a"]), pd.Series([1.0], index=["b"])], [1.0, 1.0]), "same index"),
    ],
)
def test_what_cannot_be_pooled_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        cc.pool_estimates(*arguments)


def test_all_problems_are_told_at_once():
    with pytest.raises(InputError, match=r"df_complete must be above 0, not -1.*level must be above 0"):
        cc.pool_estimates([1.0, 2.0], [1.0, 1.0], df_complete=-1, level=1.5)
