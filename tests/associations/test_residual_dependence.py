"""What the subtypes leave between features."""

import numpy as np
import pytest
from scipy import stats

from clinclust.associations.residual_dependence import residual_dependence
from clinclust.graded import graded, mid_ranks


def left(target, others, membership, nominal=False, nominal_others=None):
    flags = [False] * len(others) if nominal_others is None else nominal_others
    return residual_dependence(
        graded([(target, nominal)], mid_ranks), graded(zip(others, flags, strict=True), mid_ranks), membership
    )


def test_with_one_subtype_it_is_spearmans_correlation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    found = left(x, [y], np.ones((80, 1)))
    r, p = stats.spearmanr(x, y)
    np.testing.assert_allclose(found.correlation, r, rtol=1e-12)
    assert found.strongest == 0
    # Of one correlation, t and chi-squared say nearly the same; p is four times the smallest.
    assert found.p == pytest.approx(4 * min(p, stats.chi2.sf(78 * r**2, 1)), rel=1e-9)


def test_a_feature_without_order_counts_as_pearsons_chi_squared():
    rng = np.random.default_rng(1)
    kind, answer = rng.choice(3, 300), rng.integers(0, 2, 300).astype(float)
    table = np.array([[np.sum((kind == k) & (answer == a)) for a in (0, 1)] for k in range(3)])
    expected = stats.chi2_contingency(table, correction=False)
    own, other = graded([(answer, False)], mid_ranks), graded([(kind.astype(float), True)], mid_ranks)
    r2 = np.array([np.corrcoef(answer, column)[0, 1] ** 2 for column in other.columns.T])
    np.testing.assert_allclose(300 * (r2 * other.weights).sum(), expected.statistic / expected.dof, rtol=1e-12)
    found = residual_dependence(own, other, np.ones((300, 1)))
    # df = N - 2 in place of N, and four times the smallest of four p.
    assert found.p <= 4 * stats.chi2.sf(expected.statistic * 298 / 300, 2) + 1e-9


def test_what_the_subtypes_explain_is_no_dependence():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 600)
    x, y = (
        centre[labels] + rng.normal(size=600)
        for centre in ([0.0, 3.0, 6.0], [5.0, 0.0, 3.0])
        for centre in [np.array(centre)]
    )
    membership = np.eye(3)[labels]
    assert left(x, [y], np.ones((600, 1))).p < 1e-8
    assert left(x, [y], membership).p > 0.05
    assert left(x, [y + 0.5 * (x - x.mean())], membership).p < 1e-4


@pytest.mark.parametrize("turned", [False, True])
def test_a_feature_that_is_high_at_both_ends_of_another_depends_on_it(turned):
    rng = np.random.default_rng(7)
    x = rng.normal(size=300)
    bent = x**2 + 0.3 * rng.normal(size=300)
    assert abs(stats.spearmanr(x, bent).statistic) < 0.2
    target, other = (bent, x) if turned else (x, bent)
    assert left(target, [other, rng.normal(size=300)], np.ones((300, 1))).p < 1e-6
    labels = rng.integers(0, 2, 300)
    assert left(target + 3 * labels, [other + 3 * labels], np.eye(2)[labels]).p < 1e-6


def test_p_is_at_least_uniform_under_independence():
    rng = np.random.default_rng(3)
    p = []
    for _ in range(300):
        labels = rng.integers(0, 3, 150)
        table = rng.normal(size=(150, 12)) + rng.normal(size=(3, 12))[labels]
        table[:, 6:9] = table[:, 6:9] > 0.8
        table[rng.random(table.shape) < 0.1] = np.nan
        kind = rng.choice(4, 150).astype(float)
        others = [*table[:, 1:].T, kind]
        p.append(left(table[:, 0], others, np.eye(3)[labels], nominal_others=[False] * 11 + [True]).p)
    p = np.array(p)
    assert np.mean(p < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / p.size)
    assert np.mean(p < 0.5) > 0.25  # and not vacuous


def test_many_weak_correlations_add_up():
    rng = np.random.default_rng(4)
    common = rng.normal(size=300)
    others = [0.4 * common + rng.normal(size=300) for _ in range(40)]
    assert left(0.4 * common + rng.normal(size=300), others, np.ones((300, 1))).p < 0.01


def test_two_rare_answers_that_meet_once_prove_nothing():
    one, other = np.zeros(500), np.zeros(500)
    one[:3] = 1.0
    other[2:5] = 1.0
    found = left(one, [other], np.ones((500, 1)))
    assert np.isnan(found.p)
    assert found.strongest == -1


def test_a_constant_or_missing_feature_cannot_be_tested():
    rng = np.random.default_rng(5)
    values = rng.normal(size=50)
    for constant in (np.ones(50), np.full(50, np.nan)):
        assert np.isnan(left(constant, [values], np.ones((50, 1))).p)
        assert np.isnan(left(values, [constant], np.ones((50, 1))).p)
    labels = rng.integers(0, 2, 50)
    assert np.isnan(left(labels.astype(float), [values], np.eye(2)[labels]).p)  # nothing of it is left
