"""The innermost loops against NumPy."""

import llvmlite
import numpy as np
import pytest
from llvmlite import ir
from numba import njit
from scipy.stats import betabinom

from clinclust.engine.kernels import lanes
from clinclust.engine.kernels.lanes import eight_binomials
from clinclust.engine.kernels.plain import padded

_LLVMLITE = tuple(int(part) for part in llvmlite.__version__.split(".")[:2])


@njit
def _log(numbers):
    lanes.log_in_place(numbers, numbers.size)


@njit
def _rows(scores, weights, first, table, codes, start, count):
    lanes.add_rows(scores, weights, first, table, table.shape[1], codes, start, count)


@njit
def _highest(scores, count):
    return lanes.highest(scores, count)


@njit
def _sum_of_rows(table, codes, start, count):
    return lanes.sum_rows(table, codes, start, count)


@njit
def _terms(scores, first, coefficients, column, z):
    lanes.add_log_terms(scores, first, coefficients, column, coefficients.shape[2], z)


@njit
def _products(scores, first, coefficients, columns, count, values):
    lanes.add_log_products(scores, first, coefficients, columns, count, coefficients.shape[2], values)


@njit
def _sum(values, coefficients, start, least):
    return lanes.sum_log_terms(values, coefficients, start, values.size, least)


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (1, 8), (8, 8), (9, 16), (215, 216)])
def test_padding(length, expected):
    assert padded(length) == expected


def test_the_logarithm_is_right_to_the_last_place():
    rng = np.random.default_rng(0)
    numbers = np.concatenate(
        [
            np.exp(rng.uniform(-700.0, 700.0, 40_000)),
            1.0 + rng.normal(0.0, 1e-3, 40_000),
            [1.0, np.sqrt(0.5), np.sqrt(2.0), 2.0, np.nextafter(1.0, 0.0), np.finfo(float).max, np.finfo(float).tiny],
        ]
    )
    numbers = np.concatenate([numbers, np.ones(padded(numbers.size) - numbers.size)])
    found = numbers.copy()
    _log(found)
    expected = np.log(numbers)
    assert (np.abs(found - expected) <= np.spacing(np.abs(expected))).all()
    assert (found[numbers == 1.0] == 0.0).all()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 20])
@pytest.mark.parametrize("first", [0, 8])
def test_rows_add_up(first, count):
    rng = np.random.default_rng(count)
    table, codes = rng.normal(size=(30, 16)), rng.integers(30, size=(3, 20)).astype(np.int32)
    scores, weights = rng.normal(size=(2, 16))
    expected = scores.copy()
    expected[first : first + 8] = (weights + table[codes[1, :count]].sum(axis=0))[first : first + 8]
    _rows(scores, weights, first, table, codes, 20, count)
    np.testing.assert_allclose(scores, expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 24])
def test_the_highest_score(count):
    scores = np.random.default_rng(count).normal(size=24)
    assert _highest(scores, count) == scores[: padded(count)].max(initial=-np.inf)


@pytest.mark.parametrize("count", [0, 1, 3, 4, 9, 20])
def test_entries_are_summed(count):
    rng = np.random.default_rng(count)
    table, codes = rng.normal(size=30), rng.integers(30, size=(3, 20)).astype(np.int32)
    assert _sum_of_rows(table, codes, 20, count) == pytest.approx(table[codes[1, :count]].sum(), abs=1e-14)


def test_log_terms_of_one_value():
    rng = np.random.default_rng(0)
    coefficients, scores = rng.gamma(2.0, size=(3, 4, 16)), np.zeros(16)
    _terms(scores, 8, coefficients, 2, -1.7)
    c = coefficients[2, :, 8:]
    np.testing.assert_allclose(scores[8:], c[0] - c[1] * np.log1p(c[2] * (-1.7 - c[3]) ** 2), rtol=1e-14)
    assert (scores[:8] == 0.0).all()


@pytest.mark.parametrize("count", [1, 2, 5, 6])
def test_log_terms_of_features_that_share_an_exponent(count):
    rng = np.random.default_rng(count)
    coefficients, scores = rng.gamma(2.0, size=(6, 4, 16)), rng.normal(size=16)
    coefficients[:, 1] = coefficients[0, 1]
    columns, values = rng.permutation(6), rng.normal(size=6) * 10.0 ** rng.integers(-3, 120, size=6)
    values[columns[2]] = np.nan
    expected = scores.copy()
    for column in columns[:count][np.arange(count) != 2]:
        c = coefficients[column, :, 8:]
        expected[8:] += c[0] - c[1] * np.log1p(c[2] * (values[column] - c[3]) ** 2)
    _products(scores, 8, coefficients, columns, count, values)
    np.testing.assert_allclose(scores, expected, rtol=1e-13)


def test_log_terms_of_many_values_skip_the_missing_and_tell_when_digits_are_lost():
    rng = np.random.default_rng(0)
    values, coefficients = rng.normal(size=16), rng.random((2, 4, 16))
    values[[3, 11]] = np.nan
    coefficients[:, 2] *= 0.02
    c0, c1, c2, c3 = coefficients[1]
    expected = np.nansum(c0 + c1 * np.log(1.0 - c2 * (values - c3) ** 2))
    assert _sum(values, coefficients, 64, 1e-3) == pytest.approx(expected, rel=1e-13)
    coefficients[1, 2, 3] = 1e9  # of a missing value, which does not matter
    assert _sum(values, coefficients, 64, 1e-3) == pytest.approx(expected, rel=1e-13)
    for lost in (0.9995, 1.5):
        coefficients[1, 2, 5] = lost / (values[5] - c3[5]) ** 2
        assert np.isnan(_sum(values, coefficients, 64, 1e-3))


@njit
def _binomials(prior, sums, n, numbers, left_numbers, work):
    eight_binomials(prior, sums, n, numbers, left_numbers, work)


@pytest.mark.parametrize("n", [1, 2, 4, 16])
def test_eight_binomials_at_a_time(n):
    rng = np.random.default_rng(n)
    prior, sums = rng.gamma(2.0, size=(8, 2)), rng.integers(0, 3 * n, size=(8, 2)).astype(float)
    numbers, left_numbers = np.empty((2, 8, n + 1))
    _binomials(prior, sums, n, numbers, left_numbers, np.empty(16 * (n + 1)))
    for feature, (a, b) in enumerate(prior + sums):
        x = np.arange(n + 1)
        np.testing.assert_allclose(numbers[feature], betabinom(n, a, b).pmf(x), rtol=1e-12)
        for level in x:
            possible = sums[feature, 0] >= level and sums[feature, 1] >= n - level
            without = betabinom(n, a - level, b - n + level).pmf(level) if possible else 1.0
            assert left_numbers[feature, level] == pytest.approx(without, rel=1e-11)


@pytest.mark.skipif(_LLVMLITE < (0, 45), reason="there LLVM itself has typed pointers")
def test_pointers_need_no_types(monkeypatch):
    """As they will have none in a later llvmlite."""
    address_of = lanes.memory_of

    def without_type(context, builder, kind, array):
        whole = builder.ptrtoint(address_of(context, builder, kind, array), ir.IntType(64))
        address = builder.inttoptr(whole, ir.PointerType())
        assert not hasattr(address.type, "pointee")
        return address

    monkeypatch.setattr(lanes, "memory_of", without_type)
    for function in (_log, _rows, _highest, _sum_of_rows, _terms, _products, _sum, _binomials):
        monkeypatch.setitem(globals(), function.__name__, njit(function.py_func))
    test_the_logarithm_is_right_to_the_last_place()
    test_rows_add_up(8, 7)
    test_the_highest_score(9)
    test_entries_are_summed(9)
    test_log_terms_of_one_value()
    test_log_terms_of_features_that_share_an_exponent(5)
    test_log_terms_of_many_values_skip_the_missing_and_tell_when_digits_are_lost()
    test_eight_binomials_at_a_time(4)
