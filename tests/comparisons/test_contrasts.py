"""The test of all subtypes at once: against R, SciPy and certified values; ties, no spread, tiny groups, the choice."""

from __future__ import annotations

from fractions import Fraction
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from one_column import compared, only
from scipy import stats

from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.differences import contrast_of, is_skewed
from clinclust.errors import SchemaError
from clinclust.schema import Feature, FeatureSchema

TIGHT = {"rtol": 1e-10, "atol": 0}
NAN = np.nan


def contrast(groups, kind):
    """Contrast lists of values, one for each group."""
    labels = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return contrast_of(np.concatenate([*groups, []]).astype(float), labels, kind)


def counted(table, kind="counts"):
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
    found = counted([[12, 30, 18], [28, 20, 22]])
    assert found.test == "chi-squared"
    np.testing.assert_allclose(found[1:], (8.0785714285714274, 2, NAN, 0.017610046528997583), **TIGHT)
    # fisher.test(rbind(c(3, 9), c(7, 1)))$p.value
    found = counted([[3, 9], [7, 1]])
    assert found.test == "Fisher's exact"
    assert np.isnan(found[1:4]).all()
    np.testing.assert_allclose(found.p, 0.019766611097880426, **TIGHT)
    # fisher.test(rbind(c(3, 9, 1), c(8, 2, 4)))$p.value; four standard errors of 9,999 simulated tables
    found = counted([[3, 9, 1], [8, 2, 4]])
    assert found.test == "Fisher's exact (simulated)"
    assert found.p == pytest.approx(0.014423954173583707, abs=4 * np.sqrt(0.0144 * 0.9856 / 9999))


def test_the_simulation_is_scipys_where_scipy_has_one():
    table = np.array([[3, 9, 1, 4], [8, 2, 4, 9], [1, 0, 2, 3]])
    method = stats.MonteCarloMethod(n_resamples=40_000, rng=np.random.default_rng(1))
    expected = stats.fisher_exact(table, method=method).pvalue
    assert counted(table).p == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 9999))


def test_a_rare_level_of_a_large_cohort_is_simulated_fast():
    table = np.array([[9, 1, 1, 1, 0], [200_000, 150_000, 75_000, 50_000, 25_000]])
    found = counted(table)
    assert calls_of(counted, table) < 1.1 * calls_of(counted, np.vstack([table[0], table[1] // 100]))
    assert found.test == "Fisher's exact (simulated)"
    # rbinom-like limit: 12 subjects fall into the groups by their sizes.
    sizes = table.sum(axis=0)
    draws = np.random.default_rng(2).multinomial(12, sizes / sizes.sum(), 40_000)
    likely = stats.multinomial(12, sizes / sizes.sum()).logpmf
    expected = (likely(draws) <= likely(table[0]) + 1e-9).mean()
    assert found.p == pytest.approx(expected, abs=0.025)


def test_the_simulated_p_of_the_likeliest_table_is_1():
    assert counted([[2, 2, 2], [2, 2, 2]]).p == 1


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


@pytest.mark.parametrize("replicates", [21, 201, 2001])
@pytest.mark.parametrize(("offset", "digits"), [(1, 15), (10**6, 10.1), (10**12, 4.1)])
def test_certified_f_statistics(offset, digits, replicates):
    groups = simon_lesage(offset, replicates)
    found = contrast(groups, "student")
    assert (found.df, found.df2) == (8, 9 * (replicates - 1))
    assert found.statistic == pytest.approx(replicates, rel=10**-digits)
    # Doubles do not hold more digits of the certified value; of what they hold none is lost.
    assert found.statistic == pytest.approx(exact_f(groups), rel=1e-14)


@pytest.mark.parametrize(
    ("name", "digits"), [("SiRstv", 12.9), ("AtmWtAg", 10.1), *[(f"SmLs0{i}", 4.1) for i in range(1, 10)]]
)
def test_certified_f_statistics_of_nists_files(name, digits):
    # Certified values and data as SciPy ships them, from https://www.itl.nist.gov/div898/strd/anova/anova.html
    path = resources.files("scipy.stats").joinpath(f"tests/data/nist_anova/{name}.dat")
    if not path.is_file():
        pytest.skip("this SciPy comes without its test data")
    lines = path.read_text().splitlines()
    (certified,) = (float(line.split()[-1]) for line in lines if line.startswith("Between"))
    treatments, values = np.array([line.split() for line in lines[60:] if line.strip()], dtype=float).T
    found = contrast_of(values, treatments.astype(np.int64) - 1, "student")
    statistic = found.statistic**2 if found.test == "Student's t" else found.statistic
    assert statistic == pytest.approx(certified, rel=10**-digits)


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
    [
        [],
        [[]],
        [[], []],
        [[1, 2, 3]],
        [[1, 1, 1], [1, 1, 1]],
        [[0, 0], [0, 0], [0, 0, 0]],
        [[NAN, NAN], [1, 2, NAN]],
    ],
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
    assert counted(thin) == counted(full)


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


def test_the_caller_overrules_the_schema_and_the_schema_the_default():
    rng = np.random.default_rng(8)
    values, labels = rng.lognormal(0, 1, 60), np.arange(60) % 3
    of = {
        (in_schema, by_caller): only(
            compared(values, labels, contrast=in_schema, contrasts=by_caller and {"x": by_caller}), kind="contrast"
        ).test
        for in_schema in (None, "student")
        for by_caller in (None, "welch")
    }
    assert list(of.values()) == ["Kruskal-Wallis", "Welch's ANOVA", "ANOVA", "Welch's ANOVA"]


def test_everything_wrong_with_the_choice_is_said_at_once():
    schema = FeatureSchema(
        [
            Feature(name="id", role="id"),
            Feature(name="age", likelihood="gaussian"),
            Feature(name="sex", likelihood="categorical", levels=["f", "m"]),
        ]
    )
    frame = pd.DataFrame({"id": ["a", "b"], "age": ["1", "2"], "sex": ["f", "m"]})
    choice = {"aeg": "rank", "id": "rank", "age": "anova", "sex": "student", 3: "rank"}
    with pytest.raises(ValueError, match="contrasts cannot be used") as error:
        compare_subtypes(frame, [0, 1], schema, contrasts=choice)
    assert str(error.value).splitlines()[1:] == [
        "  - aeg: no such feature. Did you mean 'age'?",
        "  - id: is not compared (its role)",
        "  - age: must be one of welch, student, rank, counts, not 'anova'",
        "  - sex: categorical cannot be contrasted by student (only by counts)",
        "  - 3: no such feature.",
    ]
    with pytest.raises(ValueError, match="contrasts must be a dictionary by feature"):
        compare_subtypes(frame, [0, 1], schema, contrasts="rank")


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
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    result = compare_subtypes(frame, labels, schema, significance_level=0.05).query("kind == 'contrast'")
    np.testing.assert_allclose(result.q[:5], stats.false_discovery_control(result.p[:5]), **TIGHT)
    assert result.significant[:5].tolist() == (result.p[:5] <= 0.05).tolist()
    assert np.isnan(result.q.iloc[5])
    assert result.significant.iloc[5] is pd.NA
    assert result.test.iloc[5] is pd.NA
    assert (result.n == 80).all()
