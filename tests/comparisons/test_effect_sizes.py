"""Every effect size and its interval against R, statsmodels and SciPy on the raw values; coverage; edge cases."""

from __future__ import annotations

import numpy as np
import pytest
from one_column import compared, interval, only
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from clinclust.comparisons.differences import (
    Side,
    mean_difference,
    odds_ratio,
    ratio_of_means,
    risk_difference,
    standardised_mean,
    standardised_share,
    superiority,
)

TIGHT = {"rtol": 1e-10, "atol": 0}

score_test = test_proportions_2indep
score_test.__test__ = False  # statsmodels gave it a name that pytest takes for a test


def shares(yes_a, n_a, yes_b, n_b):
    """Comparisons of a yes/no column with these counts in two subtypes."""
    answers = np.repeat([1, 0, 1, 0], [yes_a, n_a - yes_a, yes_b, n_b - yes_b])
    return compared(answers, np.repeat([0, 1], [n_a, n_b]), likelihood="bernoulli")


def test_r_differences_of_means():
    # a <- c(4.1, 5.2, 6.3, 3.9, 5.5, 4.8, 6.1); b <- c(6.2, 7.9, 5.8, 9.4, 7.1); options(digits = 17)
    # c(mean(a) - mean(b), t.test(a, b)$conf.int)
    # v <- c(var(a), var(b)); f <- c(6, 4); s <- sqrt(mean(v)); d <- (mean(a) - mean(b)) / s
    # e <- sqrt(d^2 * sum(v^2 / f) / (8 * s^4) + sum(v / f) / s^2); d + c(0, -1, 1) * qnorm(.975) * e
    result = compared([4.1, 5.2, 6.3, 3.9, 5.5, 4.8, 6.1, 6.2, 7.9, 5.8, 9.4, 7.1], [0] * 7 + [1] * 5)
    expected = (-2.15142857142857213, -3.91889553345813857, -0.38396160939900553)
    np.testing.assert_allclose(interval(result, "difference"), expected, **TIGHT)
    expected = (-1.77970798306410116, -3.38622330378641889, -0.17319266234178343)
    np.testing.assert_allclose(interval(result, "standardised_difference"), expected, **TIGHT)


def test_r_shares():
    # p <- c(37/50, 9/30); options(digits = 17); w <- function(x, n) prop.test(x, n, correct = FALSE)$conf.int
    # i <- w(37, 50); j <- w(9, 30); d <- p[1] - p[2]
    # c(d, d - sqrt((p[1] - i[1])^2 + (j[2] - p[2])^2), d + sqrt((i[2] - p[1])^2 + (p[2] - j[1])^2))
    # g <- function(p, q) (p - q) / sqrt((p * (1 - p) + q * (1 - q)) / 2); d <- g(p[1], p[2])
    # c(d, d - sqrt((d - g(i[1], p[2]))^2 + (d - g(p[1], j[2]))^2),
    #   d + sqrt((g(i[2], p[2]) - d)^2 + (g(p[1], j[1]) - d)^2))
    result = shares(37, 50, 9, 30)
    expected = (0.44, 0.21567170282934087, 0.60745593272953091)
    np.testing.assert_allclose(interval(result, "difference"), expected, **TIGHT)
    expected = (0.98093151654896160, 0.43751284488631503, 1.51829172834969350)
    np.testing.assert_allclose(interval(result, "standardised_difference"), expected, **TIGHT)
    # Pearson's residuals of the model with this odds ratio:
    # f <- function(o) sum(residuals(glm(cbind(c(37, 9), c(13, 21)) ~ 1 + offset(c(log(o), 0)), family = binomial,
    #   control = list(epsilon = 1e-12)), "pearson")^2) - qchisq(.95, 1); o <- 37 * 21 / (13 * 9)
    # c(o, uniroot(f, c(1, o), tol = 1e-14)$root, uniroot(f, c(o, 100), tol = 1e-14)$root)
    expected = (6.6410256410256414, 2.4602439909939315, 17.9149081866991047)
    np.testing.assert_allclose(interval(result, "ratio"), expected, **TIGHT)


def test_r_ratio_of_rates():
    # y <- c(0, 2, 1, 0, 3, 5, 0, 1, 1, 4, 2, 6, 3, 3); k <- factor(rep(1:2, c(8, 6)), levels = 2:1)
    # m <- glm(y ~ k, family = poisson, control = list(epsilon = 1e-12)); X <- model.matrix(m)
    # r <- residuals(m, "response") / sqrt(1 - hatvalues(m)); B <- solve(crossprod(X * sqrt(fitted(m))))
    # e <- sqrt((B %*% crossprod(X * r) %*% B)[2, 2])   # the sandwich, HC2
    # q <- qt(.975, t.test(y[1:8] / mean(y[1:8]), y[9:14] / mean(y[9:14]))$parameter)
    # exp(coef(m)[2] + c(0, -1, 1) * q * e)
    counts = [0, 2, 1, 0, 3, 5, 0, 1, 1, 4, 2, 6, 3, 3]
    for likelihood in ("poisson", "geometric"):
        result = compared(counts, [0] * 8 + [1] * 6, likelihood=likelihood)
        expected = (0.47368421052631571, 0.16585114596025383, 1.35288019870366671)
        np.testing.assert_allclose(interval(result, "ratio"), expected, **TIGHT)


def test_r_ratio_of_rates_where_nobody_counts_anything():
    # y <- c(4, 2, 6, 3, 3, 0); u <- -log(.025) / 8
    # l <- mean(y) * exp(-qt(.975, 5) * sd(y) / sqrt(6) / mean(y)); u / sqrt(l * (2 * mean(y) - l))
    labels = [0] * 8 + [1] * 6
    result = compared([0] * 8 + [4, 2, 6, 3, 3, 0], labels, likelihood="poisson")
    np.testing.assert_allclose(interval(result, "ratio"), (0, 0, 0.1778656926084638), **TIGHT)
    result = compared([0] * 8 + [4, 2, 6, 3, 3, 0], 1 - np.array(labels), likelihood="poisson")
    np.testing.assert_allclose(interval(result, "ratio"), (np.inf, 1 / 0.1778656926084638, np.inf), **TIGHT)


def test_r_ratio_of_means_and_superiority():
    # a <- c(.4, 3.1, 8.2, 1.7, 1.7, 6.4); b <- c(2.2, 1.1, 1.7, .3, .9, .2, 4.0); options(digits = 17)
    # e <- sqrt(var(a) / 6 / mean(a)^2 + var(b) / 7 / mean(b)^2)
    # mean(a) / mean(b) * exp(c(0, -1, 1) * qt(.975, t.test(a / mean(a), b / mean(b))$parameter) * e)
    values = [0.4, 3.1, 8.2, 1.7, 1.7, 6.4, 2.2, 1.1, 1.7, 0.3, 0.9, 0.2, 4.0]
    result = compared(values, [0] * 6 + [1] * 7, likelihood="exponential")
    expected = (2.4118589743589745, 0.83037873545265262, 7.00531391741980247)
    np.testing.assert_allclose(interval(result, "ratio"), expected, **TIGHT)
    # theta <- wilcox.test(a, b, exact = FALSE)$statistic / 42
    # A <- rank(c(a, b))[1:6] - rank(a); B <- rank(c(a, b))[7:13] - rank(b)
    # u <- var(A / 7) / 6; v <- var(B / 6) / 7; df <- (u + v)^2 / (u^2 / 5 + v^2 / 6)
    # c(theta, plogis(qlogis(theta) + c(-1, 1) * qt(.975, df) * sqrt(u + v) / (theta * (1 - theta))))
    expected = (0.73809523809523814, 0.34347908824629514, 0.93819723989774895)
    np.testing.assert_allclose(interval(result, "superiority"), expected, **TIGHT)


@pytest.mark.parametrize("counts", [(37, 50, 9, 30), (0, 20, 7, 25), (20, 20, 7, 25), (1, 400, 30, 60), (5, 9, 9, 9)])
def test_statsmodels_shares(counts):
    result = shares(*counts)
    expected = confint_proportions_2indep(*counts, method="newcomb", compare="diff")
    np.testing.assert_allclose(interval(result, "difference")[1:], expected, **TIGHT)
    _, *ends = interval(result, "ratio")
    for end in ends:
        if 0 < end < np.inf:
            with np.errstate(divide="ignore"):  # statsmodels divides by an empty cell on its way
                score = score_test(
                    *counts, value=end, compare="odds-ratio", method="score", correction=False, return_results=True
                )
            assert score.pvalue == pytest.approx(0.05, rel=1e-9)


def test_the_odds_ratio_leaves_out_1_exactly_where_the_chi_squared_test_rejects():
    n_a, n_b = 40, 61
    agreed = {True: 0, False: 0}
    for yes_a in range(0, n_a + 1, 3):
        for yes_b in range(1, n_b):
            side_a, side_b = (
                Side(np.array(n * 1.0), np.array(yes / n), None) for yes, n in ((yes_a, n_a), (yes_b, n_b))
            )
            effect = odds_ratio(side_a, side_b)
            table = [[yes_a, n_a - yes_a], [yes_b, n_b - yes_b]]
            rejected = stats.chi2_contingency(table, correction=False).pvalue < 0.05
            assert rejected == (not effect.lower <= 1 <= effect.upper)
            agreed[rejected] += 1
    assert min(agreed.values()) > 100


def test_scipy_and_statsmodels_on_raw_values():
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.integers(0, 5, 30), rng.integers(0, 9, 21), rng.integers(2, 6, 44)])
    labels = np.repeat([0, 1, 2], [30, 21, 44])
    scale = compared(values, labels, likelihood="binomial")
    counts = compared(values, labels, likelihood="geometric")
    for subtype, versus in ((1, 2), (1, 3), (2, 3), (1, 0), (2, 0), (3, 0)):
        a = values[labels == subtype - 1]
        b = values[labels == versus - 1] if versus else values[labels != subtype - 1]
        expected = CompareMeans(DescrStatsW(a), DescrStatsW(b)).tconfint_diff(usevar="unequal")
        found = interval(scale, "difference", subtype, versus)
        np.testing.assert_allclose(found, (a.mean() - b.mean(), *expected), **TIGHT)
        # Brunner and Munzel's statistic says how large their variance is, its p how many degrees of freedom.
        theta, lower, upper = interval(counts, "superiority", subtype, versus)
        greater = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
        test = stats.brunnermunzel(b, a)
        error = (greater - 0.5) / test.statistic / (greater * (1 - greater))
        logit = np.log(np.array([lower, upper]) / (1 - np.array([lower, upper])))
        np.testing.assert_allclose(theta, greater, **TIGHT)
        np.testing.assert_allclose(logit.mean(), np.log(theta / (1 - theta)), rtol=1e-9)
        quantile = np.diff(logit)[0] / 2 / abs(error)
        df = placement_df(a, b)
        np.testing.assert_allclose(2 * stats.t.sf(abs(test.statistic), df), test.pvalue, rtol=1e-9)
        np.testing.assert_allclose(quantile, stats.t.ppf(0.975, df), rtol=1e-9)


def placement_df(a, b):
    """Satterthwaite's degrees of freedom of the shares of the other side that lie below each value."""
    below = [
        np.var([np.mean(y < x) + np.mean(y == x) / 2 for x in one], ddof=1) / len(one) for one, y in ((a, b), (b, a))
    ]
    return sum(below) ** 2 / (below[0] ** 2 / (len(a) - 1) + below[1] ** 2 / (len(b) - 1))


def test_the_standardised_difference_of_many_shares_is_the_delta_method():
    a, b = (Side(np.array(4e8), np.array(p), None) for p in (0.2, 0.55))
    effect = standardised_share(a, b)

    def size(p):
        return (p[0] - p[1]) / np.sqrt((p * (1 - p)).mean())

    p, step = np.array([0.2, 0.55]), 1e-5
    slopes = [(size(p + step * unit) - size(p - step * unit)) / (2 * step) for unit in np.eye(2)]
    error = np.sqrt((np.square(slopes) * p * (1 - p) / 4e8).sum())
    np.testing.assert_allclose((effect.upper - effect.lower) / 2, 1.959964 * error, rtol=1e-4)


def test_intervals_hold_what_they_promise():
    # 20,000 draws: the simulation itself is good to 0.003.
    rng, draws = np.random.default_rng(5), 20_000

    def side(values):
        return Side(np.full(draws, float(values.shape[1])), values.mean(axis=1), values.var(axis=1, ddof=1))

    def check(effect, truth, low=0.93):
        share = np.mean((effect.lower <= truth) & (truth <= effect.upper))
        assert low < share < 0.98, share

    for (n_a, p_a), (n_b, p_b) in [((30, 0.1), (500, 0.3)), ((200, 0.02), (300, 0.05)), ((100, 0.9), (100, 0.1))]:
        a, b = (
            Side(np.full(draws, float(n)), rng.binomial(n, p, draws) / n, None) for n, p in ((n_a, p_a), (n_b, p_b))
        )
        spread = np.sqrt((p_a * (1 - p_a) + p_b * (1 - p_b)) / 2)
        check(standardised_share(a, b), (p_a - p_b) / spread)
        check(risk_difference(a, b), p_a - p_b)
        check(odds_ratio(a, b), p_a / (1 - p_a) / (p_b / (1 - p_b)))
    for n_a, sd_a, n_b, sd_b in [(10, 1, 200, 3), (200, 1, 10, 3), (40, 1, 40, 1)]:
        a, b = side(rng.normal(1, sd_a, (draws, n_a))), side(rng.normal(0, sd_b, (draws, n_b)))
        check(mean_difference(a, b), 1)
        check(standardised_mean(a, b), 1 / np.sqrt((sd_a**2 + sd_b**2) / 2))
    for n_a, mean_a, n_b, mean_b in [(20, 0.1, 300, 1), (50, 2, 50, 1)]:  # the first of them is often all zeros
        for draw in (rng.poisson, lambda mean, size: rng.geometric(1 / (1 + mean), size) - 1):
            a, b = side(draw(mean_a, (draws, n_a))), side(draw(mean_b, (draws, n_b)))
            check(ratio_of_means(a, b), mean_a / mean_b)


@pytest.mark.parametrize(("n_a", "n_b", "mean_a"), [(15, 300, 3), (300, 15, 3), (30, 30, 12)])
def test_the_interval_of_superiority_holds_what_it_promises(n_a, n_b, mean_a):
    rng, draws = np.random.default_rng(6), 1500
    groups, comparison = np.repeat([0, 1], [n_a, n_b]), np.array([[0, 1]])
    held = 0
    for _ in range(draws):
        values = np.concatenate([rng.exponential(mean_a, n_a), rng.exponential(1, n_b)])
        effect = superiority(values, groups, comparison)
        held += effect.lower[0] <= mean_a / (1 + mean_a) <= effect.upper[0]
    assert 0.925 < held / draws < 0.98


def test_separate_sides_have_a_superiority_of_1_and_newcombes_lower_end():
    # n <- 4; m <- 3; f <- function(t) (1 - t)^2 - qnorm(.975)^2 * t * (1 - t) / (n * m) *
    #   (1 + ((n + m) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t)))
    # uniroot(f, c(.01, 1 - 1e-9), tol = 1e-15)$root
    result = compared([5.0, 6, 7, 7, 1, 2, 2], [0] * 4 + [1] * 3, contrasts={"x": "rank"})
    np.testing.assert_allclose(interval(result, "superiority"), (1, 0.53969166719672723, 1), rtol=1e-9)
    result = compared([1.0, 2, 2, 5, 6, 7, 7], [0] * 3 + [1] * 4, contrasts={"x": "rank"})
    np.testing.assert_allclose(interval(result, "superiority"), (0, 0, 1 - 0.53969166719672723), rtol=1e-9)


def test_which_feature_has_which_effect_sizes():
    values, labels = [1, 2, 3, 2, 4, 1, 1, 2, 3, 1], [0, 1] * 5
    of = {
        name: set(compared(values, labels, likelihood=name).query("kind == 'effect'").measure)
        for name in ("binomial", "poisson", "geometric", "exponential", "gaussian")
    }
    assert of["binomial"] == of["gaussian"] == {"standardised_difference", "difference"}
    assert of["poisson"] == {"standardised_difference", "ratio"}
    assert of["geometric"] == of["exponential"] == {"standardised_difference", "ratio", "superiority"}
    effects = compared(np.array(["a", "b"] * 5), [0, 1] * 5, likelihood="categorical", levels=["a", "b"])
    effects = effects.query("kind == 'effect'")
    assert set(effects.measure) == {"standardised_difference", "difference", "ratio"}
    assert set(effects.level) == {"a", "b"}
    skewed = compared(np.exp([0.1, 3, 0.2, 0.5, 0.3, 0.1, 0.2, 0.4, 0.1, 0.2]), labels)
    assert "superiority" in set(skewed.measure.dropna())


def test_everybody_else_includes_the_subtypes_that_are_too_small_to_compare():
    rng = np.random.default_rng(7)
    values, labels = rng.normal(size=40), np.repeat([0, 1, 2], [20, 17, 3])
    result = compared(values, labels, min_size=5).query("kind == 'effect' and measure == 'difference'")
    assert list(zip(result.subtype, result.versus, strict=True)) == [(1, 2), (1, 0), (2, 0)]
    row = only(result, subtype=2, versus=0)
    assert (row.n, row.missing) == (40, 0)
    assert row.estimate == pytest.approx(values[labels == 1].mean() - values[labels != 1].mean(), rel=1e-12)


def test_a_rest_below_the_smallest_size_is_not_compared_with():
    result = compared(np.arange(12.0), [0] * 10 + [1] * 2, min_size=3)
    assert result.query("kind == 'effect'").empty


@pytest.mark.parametrize("likelihood", ["gaussian", "binomial", "poisson"])
def test_no_spread_leaves_estimates_without_intervals(likelihood):
    result = compared([2, 2, 2, 5, 5, 5], [0, 0, 0, 1, 1, 1], likelihood=likelihood)
    assert interval(result, "standardised_difference")[0] == -np.inf
    name, expected = ("ratio", 0.4) if likelihood == "poisson" else ("difference", -3)
    assert interval(result, name)[0] == expected
    for measure in ("standardised_difference", name):
        assert np.isnan(interval(result, measure)[1:]).all()


def test_the_same_value_throughout():
    result = compared([2.0] * 6, [0, 0, 0, 1, 1, 1], contrasts={"x": "rank"})
    assert np.isnan(interval(result, "standardised_difference")).all()
    assert np.isnan(interval(result, "superiority")).all()
    assert interval(result, "difference")[0] == 0
    for yes in (0, 5):  # nobody, everybody: the difference is 0, and how large it could be is known
        result = shares(yes, 5, yes, 5)
        estimate, lower, upper = interval(result, "difference")
        assert estimate == 0
        assert -0.5 < lower < 0 < upper < 0.5
        assert np.isnan(interval(result, "ratio")).all()
    assert np.isnan(interval(compared([0] * 6, [0, 0, 0, 1, 1, 1], likelihood="poisson"), "ratio")).all()


def test_an_empty_cell_leaves_one_end_of_the_odds_ratio():
    estimate, lower, upper = interval(shares(0, 20, 7, 25), "ratio")
    assert (estimate, lower) == (0, 0)
    assert 0 < upper < 1
    estimate, lower, upper = interval(shares(20, 20, 7, 25), "ratio")
    assert (estimate, upper) == (np.inf, np.inf)
    assert 1 < lower < np.inf


@pytest.mark.parametrize("likelihood", ["gaussian", "binomial", "poisson", "geometric", "exponential", "bernoulli"])
@pytest.mark.parametrize("seen", [0, 1])
def test_fewer_than_two_observed_values_on_a_side_have_no_effect(likelihood, seen):
    values = np.array([1.0, 1, 1, np.nan, np.nan, np.nan])
    values[3 : 3 + seen] = 1.0
    if likelihood != "bernoulli":
        values[1] = 2.0
    effects = compared(values, [0, 0, 0, 1, 1, 1], likelihood=likelihood).query("kind == 'effect'")
    assert len(effects) >= 2 * 3
    assert effects[["estimate", "lower", "upper"]].isna().all(axis=None)
