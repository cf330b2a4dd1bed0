"""Every contrast, effect size and interval against R, statsmodels, SciPy and certified values; coverage; edge cases."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from cohorts import gaussian_schema
from one_column import compared, interval, only
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.differences import EFFECTS, Side, contrast_of, is_skewed, mid_p
from clinclust.errors import SchemaError
from clinclust.schema import Feature

standardised_share, risk_difference, odds_ratio = EFFECTS["shares"].values()
standardised_mean, mean_difference = EFFECTS["means"].values()
ratio_of_means = EFFECTS["rates"]["ratio"]
TIGHT = {"rtol": 1e-10, "atol": 0}
NAN = np.nan


def contrast(groups, kind):
    """Contrast lists of values, one for each group."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return contrast_of(np.concatenate([*groups, []]).astype(float), labels, kind)


def contrast_of_table(table, kind="counts"):
    """Contrast a table of levels (rows) and groups (columns)."""
    levels, groups = np.indices(np.shape(table)).reshape(2, -1)
    return contrast_of(
        np.repeat(levels, np.ravel(table)).astype(float), np.repeat(groups, np.ravel(table)).astype(np.int64), kind
    )


# x <- c(2.1, 3.4, 1.9, 4.4, 2.2, 5.1, 6.0, 4.9, 7.5, 8.1, 6.6, 9.9, 7.0); g <- rep(1:3, c(4, 4, 5))
# y <- c(1, 2, 2, 5, 3, 3, 8, 2, 9, 9, 4, 11); h <- rep(1:3, each = 4); options(digits = 17)
# a <- c(1.1, 2.2, 0.4, 5.0, 3.1); b <- c(2.5, 6.2, 7.7, 4.8); d <- c(1, 2, 2, 5, 3); e <- c(2, 6, 7, 5)
# oneway.test(x ~ g, var.equal = TRUE); oneway.test(x ~ g); kruskal.test(y, h); wilcox.test(a, b)
# wilcox.test(d, e, exact = FALSE)   # statistic, degrees of freedom, p
X = [[2.1, 3.4, 1.9, 4.4], [2.2, 5.1, 6.0, 4.9], [7.5, 8.1, 6.6, 9.9, 7.0]]
Y = [[1, 2, 2, 5], [3, 3, 8, 2], [9, 9, 4, 11]]
R_RESULTS = [
    (X, "student", ("ANOVA", 14.8792771320360444, 2, 10, 0.0010065771814357634)),
    (X, "welch", ("Welch's ANOVA", 16.2359719819861965, 2, 6.2936605333967481, 0.0032767357216137178)),
    (Y, "rank", ("Kruskal-Wallis", 6.4035714285714258, 2, NAN, 0.040689479280496085)),
    ([[1.1, 2.2, 0.4, 5.0, 3.1], [2.5, 6.2, 7.7, 4.8]], "rank", ("Mann-Whitney", 3, NAN, NAN, 0.1111111111111111)),
    ([[1, 2, 2, 5, 3], [2, 6, 7, 5]], "rank", ("Mann-Whitney", 3.5, NAN, NAN, 0.13327700744249354)),
]


@pytest.mark.parametrize(("groups", "kind", "expected"), R_RESULTS)
def test_r(groups, kind, expected):
    found = contrast(groups, kind)
    assert found.test == expected[0]
    np.testing.assert_allclose(found[1:], expected[1:], **TIGHT)


def test_r_counts():
    # options(digits = 17); t <- chisq.test(rbind(c(12, 30, 18), c(28, 20, 22)), correct = FALSE)
    # c(t$statistic, t$parameter, t$p.value)
    found = contrast_of_table([[12, 30, 18], [28, 20, 22]])
    assert found.test == "chi-squared"
    np.testing.assert_allclose(found[1:], (8.0785714285714274, 2, NAN, 0.017610046528997583), **TIGHT)
    # fisher.test(rbind(c(3, 9), c(7, 1)))$p.value
    found = contrast_of_table([[3, 9], [7, 1]])
    assert found.test == "Fisher's exact"
    assert np.isnan(found[1:4]).all()
    np.testing.assert_allclose(found.p, 0.019766611097880426, **TIGHT)
    # fisher.test(rbind(c(3, 9, 1), c(8, 2, 4)))$p.value; four standard errors of 9,999 simulated tables
    found = contrast_of_table([[3, 9, 1], [8, 2, 4]])
    assert found.test == "Fisher's exact (simulated)"
    assert found.p == pytest.approx(0.014423954173583707, abs=4 * np.sqrt(0.0144 * 0.9856 / 9999))


def test_the_simulation_is_scipys_where_scipy_has_one():
    table = np.array([[3, 9, 1, 4], [8, 2, 4, 9], [1, 0, 2, 3]])
    method = stats.MonteCarloMethod(n_resamples=40_000, rng=np.random.default_rng(1))
    expected = stats.fisher_exact(table, method=method).pvalue
    assert contrast_of_table(table).p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 9999))


def test_a_rare_level_of_a_large_cohort_is_simulated_fast():
    table = np.array([[9, 1, 1, 1, 0], [200_000, 150_000, 75_000, 50_000, 25_000]])
    found = contrast_of_table(table)
    assert calls_of(contrast_of_table, table) < 1.1 * calls_of(
        contrast_of_table, np.vstack([table[0], table[1] // 100])
    )
    assert found.test == "Fisher's exact (simulated)"
    # rbinom-like limit: 12 subjects fall into the groups by their sizes.
    sizes = table.sum(axis=0)
    draws = np.random.default_rng(2).multinomial(12, sizes / sizes.sum(), 40_000)
    likely = stats.multinomial(12, sizes / sizes.sum()).logpmf
    expected = (likely(draws) <= likely(table[0]) + 1e-9).mean()
    assert found.p == pytest.approx(expected, abs=0.025)


def test_the_simulated_p_of_the_likeliest_table_is_1():
    assert contrast_of_table([[2, 2, 2], [2, 2, 2]]).p == 1


def test_a_small_side_against_a_large_one_is_ranked_fast():
    rng = np.random.default_rng(3)
    groups = [rng.normal(1, 1, 6), rng.normal(0, 1, 50_000)]
    found = contrast(groups, "rank")  # the exact test would take an hour
    expected = stats.mannwhitneyu(*groups, method="asymptotic")
    np.testing.assert_allclose((found.statistic, found.p), expected, **TIGHT)


def simon_lesage(offset, replicates):
    """Nine groups of NIST's SmLs01-09: of each value but the first every second lies 0.1 below, the others above.

    By the construction of Simon and Lesage (1989), which certifies F = `replicates` without any computation.
    """
    steps = np.array([0] + [-1, 1] * ((replicates - 1) // 2))
    return [[float(f"{offset}.{centre + step}") for step in steps] for centre in (4, 3, 5, 3, 5, 3, 5, 3, 5)]


def exact_f(groups):
    """F of the numbers as doubles hold them, in whole-number arithmetic."""
    groups = [[Fraction(value) for value in group] for group in groups]
    n = sum(map(len, groups))
    grand, means = sum(map(sum, groups)) / n, [sum(group) / len(group) for group in groups]
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means, strict=True))
    within = sum((value - mean) ** 2 for group, mean in zip(groups, means, strict=True) for value in group)
    return float(between / (len(groups) - 1) / (within / (n - len(groups))))


@pytest.mark.parametrize("replicates", [21, 2001])
@pytest.mark.parametrize(("offset", "digits"), [(1, 15), (10**6, 10.1), (10**12, 4.1)])
def test_certified_f_statistics(offset, digits, replicates):
    groups = simon_lesage(offset, replicates)
    found = contrast(groups, "student")
    assert (found.df, found.df2) == (8, 9 * (replicates - 1))
    assert found.statistic == pytest.approx(replicates, rel=10**-digits)
    # Doubles do not hold more digits of the certified value; of what they hold none is lost.
    assert found.statistic == pytest.approx(exact_f(groups), rel=1e-14)


def test_welch_without_spread_in_a_group_is_the_limit():
    rng = np.random.default_rng(4)
    others = [rng.normal(1, 2, 7), rng.normal(2, 1, 9)]
    found = contrast([[3.0] * 5, *others], "welch")
    for nearly in (1e-5, 1e-6):
        close = contrast([[3 - nearly, 3, 3, 3, 3 + nearly], *others], "welch")
        np.testing.assert_allclose(found[1:], close[1:], rtol=10 * nearly)
    two = [[3.0] * 5, [3.0] * 4, *others]
    found = contrast(two, "welch")
    wiggle = 1e-6 * np.array([-1, 0, 0, 0, 1])  # both of the same variance
    close = contrast([3 + wiggle, 3 + 1e-6 * np.sqrt(0.75) * np.array([-1, 0, 0, 1]), *others], "welch")
    np.testing.assert_allclose(found[1:], close[1:], rtol=1e-5)


@pytest.mark.parametrize("kind", ["student", "welch"])
def test_groups_without_spread_that_differ_are_the_limit(kind):
    for groups in ([[1.0] * 3, [2.0] * 3], [[1.0] * 3, [2.0] * 3, [2.0] * 4]):
        found = contrast(groups, kind)
        assert (abs(found.statistic), found.p) == (np.inf, 0)
    found = contrast([[1.0] * 3, [2.0] * 3, [2.0, 4.0, 9.0]], "welch")
    assert (found.statistic, found.df, found.p) == (np.inf, 2, 0)
    assert np.isnan(found.df2)


@pytest.mark.parametrize("kind", ["student", "welch", "rank", "counts"])
@pytest.mark.parametrize(
    "groups",
    [[], [[]], [[], []], [[1, 2, 3]], [[1, 1, 1], [1, 1, 1]], [[0, 0], [0, 0], [0, 0, 0]], [[NAN, NAN], [1, 2, NAN]]],
)
def test_nothing_to_contrast(groups, kind):
    found = contrast(groups, kind)
    assert found.test == ""
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize("kind", ["student", "welch", "rank"])
def test_a_group_with_one_observed_value_takes_no_part(kind):
    assert contrast([X[0], [100.0], X[1], [NAN] * 3, X[2]], kind) == contrast(X, kind)
    assert contrast([X[0], [100.0]], kind).test == ""


def test_levels_and_groups_that_nobody_has_take_no_part():
    full, thin = [[12, 30, 18], [28, 20, 22]], [[0, 0, 0, 0], [12, 0, 30, 18], [0, 0, 0, 0], [28, 0, 20, 22]]
    assert contrast_of_table(thin) == contrast_of_table(full)


@pytest.mark.parametrize("kind", ["student", "welch"])
@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_values_whose_squares_no_double_holds_are_untestable(kind, scale):
    for groups in (X, X[:2]):
        assert contrast([scale * np.array(group) for group in groups], kind).test == ""


def test_the_statistic_of_ranks_and_ties_is_scipys():
    rng = np.random.default_rng(5)
    groups = [rng.integers(0, 4, n).astype(float) for n in (12, 60, 33)]
    np.testing.assert_allclose(contrast(groups, "rank")[1::3], stats.kruskal(*groups), **TIGHT)
    found = contrast(groups[:2], "rank")
    expected = stats.mannwhitneyu(*groups[:2], method="asymptotic")
    np.testing.assert_allclose((found.statistic, found.p), expected, **TIGHT)


def test_the_default_is_chosen_by_likelihood_and_shape():
    rng = np.random.default_rng(6)
    labels = np.arange(90) % 3
    tests = {
        "gaussian": (rng.normal(size=90), "Welch's ANOVA"),
        "poisson": (rng.poisson(3, 90), "Welch's ANOVA"),
        "binomial": (rng.binomial(10, 0.4, 90), "Welch's ANOVA"),
        "exponential": (rng.exponential(size=90), "Kruskal-Wallis"),
        "geometric": (rng.geometric(0.3, 90), "Kruskal-Wallis"),
        "bernoulli": (rng.integers(0, 2, 90), "chi-squared"),
    }
    for likelihood, (values, test) in tests.items():
        assert only(compared(values, labels, likelihood=likelihood), kind="contrast").test == test
    assert only(compared(rng.lognormal(0, 1, 90), labels), kind="contrast").test == "Kruskal-Wallis"
    log = compared(1 + rng.random(90), labels, transform="log")
    assert only(log, kind="contrast").test == "Kruskal-Wallis"


def test_skewness_does_not_depend_on_unit_or_side():
    feature, values = Feature(name="x", likelihood="gaussian"), np.random.default_rng(7).lognormal(0, 1, 50)
    for changed in (values, -values, 1e200 * values, 1e-200 * values, np.append(values, NAN)):
        assert is_skewed(feature, changed)
    for plain in (np.arange(9.0), np.ones(5), np.array([1.0, 9.0]), np.full(4, NAN)):
        assert not is_skewed(feature, plain)


def test_the_schema_overrules_the_default():
    rng = np.random.default_rng(8)
    values, labels = rng.lognormal(0, 1, 60), np.arange(60) % 3
    tests = [only(compared(values, labels, contrast=kind), kind="contrast").test for kind in (None, "student", "welch")]
    assert tests == ["Kruskal-Wallis", "ANOVA", "Welch's ANOVA"]


def test_a_schema_refuses_a_contrast_that_does_not_fit():
    with pytest.raises(SchemaError, match=r"categorical cannot be contrasted by rank \(only by counts\)"):
        Feature(name="x", likelihood="categorical", levels=["a", "b"], contrast="rank")
    with pytest.raises(SchemaError, match="gaussian cannot be contrasted by counts"):
        Feature(name="x", likelihood="gaussian", contrast="counts")
    with pytest.raises(SchemaError, match=r"must be one of welch, .*Did you mean 'welch'\?"):
        Feature(name="x", likelihood="gaussian", contrast="welsh")
    with pytest.raises(SchemaError, match="contrast: an id is not modelled"):
        Feature(name="x", role="id", contrast="rank")


def test_q_and_significance_are_those_of_all_contrasts():
    rng = np.random.default_rng(9)
    labels = np.arange(80) % 4
    frame = pd.DataFrame({f"x{shift}": rng.normal(size=80) + 0.3 * shift * labels for shift in range(5)})
    frame["same"] = 1.0
    schema = gaussian_schema(frame)
    result = compare_subtypes(frame, labels, schema, significance_level=0.05).query("kind == 'contrast'")
    np.testing.assert_allclose(result.q[:5], stats.false_discovery_control(result.p[:5]), **TIGHT)
    assert result.significant[:5].tolist() == (result.p[:5] <= 0.05).tolist()
    assert np.isnan(result.q.iloc[5])
    assert result.significant.iloc[5] is pd.NA
    assert result.test.iloc[5] is pd.NA
    assert (result.n == 80).all()


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


def test_r_ratio_of_means():
    # a <- c(.4, 3.1, 8.2, 1.7, 1.7, 6.4); b <- c(2.2, 1.1, 1.7, .3, .9, .2, 4.0); options(digits = 17)
    # e <- sqrt(var(a) / 6 / mean(a)^2 + var(b) / 7 / mean(b)^2)
    # mean(a) / mean(b) * exp(c(0, -1, 1) * qt(.975, t.test(a / mean(a), b / mean(b))$parameter) * e)
    values = [0.4, 3.1, 8.2, 1.7, 1.7, 6.4, 2.2, 1.1, 1.7, 0.3, 0.9, 0.2, 4.0]
    result = compared(values, [0] * 6 + [1] * 7, likelihood="exponential")
    expected = (2.4118589743589745, 0.83037873545265262, 7.00531391741980247)
    np.testing.assert_allclose(interval(result, "ratio"), expected, **TIGHT)


@pytest.mark.parametrize("counts", [(37, 50, 9, 30), (0, 20, 7, 25), (20, 20, 7, 25), (1, 400, 30, 60), (5, 9, 9, 9)])
def test_statsmodels_shares(counts):
    result = shares(*counts)
    expected = confint_proportions_2indep(*counts, method="newcomb", compare="diff")
    np.testing.assert_allclose(interval(result, "difference")[1:], expected, **TIGHT)


def test_the_odds_ratio_leaves_out_1_exactly_where_its_test_rejects():
    yes_a, yes_b = (each.ravel().astype(float) for each in np.meshgrid(np.arange(0, 41, 2), np.arange(1, 61, 3)))
    a, b = Side(np.full(yes_a.shape, 40.0), yes_a / 40, None), Side(np.full(yes_a.shape, 61.0), yes_b / 61, None)
    effect, p = odds_ratio(a, b), mid_p(a, b).p
    rejected = p < 0.05
    assert min(rejected.sum(), (~rejected).sum()) > 30
    np.testing.assert_array_equal(rejected, (effect.lower > 1) | (effect.upper < 1))
    for place in range(0, yes_a.size, 7):
        exact = stats.hypergeom(101, int(yes_a[place] + yes_b[place]), 40)
        half = exact.pmf(yes_a[place]) / 2
        tails = exact.cdf(yes_a[place]) - half, exact.sf(yes_a[place]) + half
        assert p[place] == pytest.approx(min(2 * min(tails), 1), abs=1e-12)
        for end, side in ((effect.lower[place], 1), (effect.upper[place], -1)):
            if 0 < end < np.inf:
                at_end = stats.nchypergeom_fisher(101, int(yes_a[place] + yes_b[place]), 40, end)
                beyond = at_end.sf(yes_a[place]) if side > 0 else at_end.cdf(yes_a[place] - 1)
                assert beyond + at_end.pmf(yes_a[place]) / 2 == pytest.approx(0.025, rel=1e-6)


def test_scipy_and_statsmodels_on_raw_values():
    rng = np.random.default_rng(4)
    values = np.concatenate([rng.integers(0, 5, 30), rng.integers(0, 9, 21), rng.integers(2, 6, 44)])
    labels = np.repeat([0, 1, 2], [30, 21, 44])
    scale = compared(values, labels, likelihood="binomial")
    for subtype, versus in ((1, 2), (1, 3), (2, 3), (1, 0), (2, 0), (3, 0)):
        a = values[labels == subtype - 1]
        b = values[labels == versus - 1] if versus else values[labels != subtype - 1]
        expected = CompareMeans(DescrStatsW(a), DescrStatsW(b)).tconfint_diff(usevar="unequal")
        found = interval(scale, "difference", subtype, versus)
        np.testing.assert_allclose(found, (a.mean() - b.mean(), *expected), **TIGHT)


def test_the_standardised_difference_of_many_shares_is_the_delta_method():
    a, b = (Side(np.array(4e8), np.array(p), None) for p in (0.2, 0.55))
    effect = standardised_share(a, b)

    def size(p):
        return (p[0] - p[1]) / np.sqrt((p * (1 - p)).mean())

    p, step = np.array([0.2, 0.55]), 1e-5
    slopes = [(size(p + step * unit) - size(p - step * unit)) / (2 * step) for unit in np.eye(2)]
    error = np.sqrt((np.square(slopes) * p * (1 - p) / 4e8).sum())
    np.testing.assert_allclose((effect.upper - effect.lower) / 2, 1.959964 * error, rtol=1e-4)


@pytest.mark.simulation
def test_intervals_hold_what_they_promise():
    # 6,000 draws: the simulation itself is good to 0.006.
    rng, draws = np.random.default_rng(5), 6_000

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


def test_which_feature_has_which_effect_sizes():
    values, labels = [1, 2, 3, 2, 4, 1, 1, 2, 3, 1], [0, 1] * 5
    of = {
        name: set(compared(values, labels, likelihood=name).query("kind == 'effect'").measure)
        for name in ("binomial", "poisson", "geometric", "exponential", "gaussian")
    }
    assert of["binomial"] == of["gaussian"] == {"standardised_difference", "difference"}
    assert of["poisson"] == {"standardised_difference", "ratio"}
    assert of["geometric"] == of["exponential"] == {"standardised_difference", "ratio"}
    effects = compared(np.array(["a", "b"] * 5), [0, 1] * 5, likelihood="categorical", levels=["a", "b"])
    effects = effects.query("kind == 'effect'")
    assert set(effects.measure) == {"standardised_difference", "difference", "ratio"}
    assert set(effects.level) == {"a", "b"}


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
    result = compared([2.0] * 6, [0, 0, 0, 1, 1, 1], contrast="rank")
    assert np.isnan(interval(result, "standardised_difference")).all()
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
