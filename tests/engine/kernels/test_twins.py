"""The innermost loops as vector instructions and as plain Python: the same bits."""

import numpy as np
from numba import njit
from scored import scored

from clinclust.engine.kernels import lanes, plain
from clinclust.engine.kernels.plain import padded

COUNTS = [*range(1, 18), 23, 24, 25, 39, 40]


def _both(name):
    """Return two functions that Python can call: the vector one, and its twin."""

    def called(function):
        @njit(error_model="numpy")
        def call(*arguments):
            return function(*arguments)

        return call

    return called(getattr(lanes, name)), called(getattr(plain, name))


add_rows, sum_rows, highest = _both("add_rows"), _both("sum_rows"), _both("highest")
add_log_terms, add_log_products = _both("add_log_terms"), _both("add_log_products")
sum_log_terms, log_in_place = _both("sum_log_terms"), _both("log_in_place")
eight_binomials = _both("eight_binomials")


def _same_bits(one, other):
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    assert (np.isnan(one) == np.isnan(other)).all()
    seen = ~np.isnan(one)
    assert one[seen].tobytes() == other[seen].tobytes()


def _in_place(twins, array, *arguments):
    """Assert that both change an array, their first argument, to the same bits."""
    results = [array.copy(), array.copy()]
    for function, result in zip(twins, results, strict=True):
        function(result, *arguments)
    _same_bits(*results)
    assert results[0].tobytes() != array.tobytes()


def _coefficients(rng, n_features, capacity, n_clusters):
    """Return (D, 4, C) coefficients; columns after the last cluster are idle: nothing has been written to them."""
    coefficients = rng.gamma(2.0, size=(n_features, 4, capacity)) * 10.0 ** rng.integers(-2, 3, size=(n_features, 1, 1))
    coefficients[:, 3] -= 1.0
    coefficients[:, :, n_clusters:] = 0.0
    return coefficients


@scored([0, *COUNTS])
def test_sums_of_rows(count):
    rng = np.random.default_rng(count)
    table, codes = rng.normal(size=(60, 16)), rng.integers(60, size=(3, 40)).astype(np.int32)
    weights = rng.normal(size=16)
    weights[13:] = -np.inf  # idle
    table[7, 3], table[9, 5] = np.inf, np.nan
    for first in (0, 8):
        _in_place(add_rows, np.zeros(16), weights, first, table, 16, codes, 40, count)
    row = np.ascontiguousarray(table[:, 0])
    _same_bits(*(function(row, codes, 40, count) for function in sum_rows))


@scored([0, *COUNTS])
def test_the_highest(count):
    scores = np.random.default_rng(count).normal(size=padded(count))
    scores[1::5] = -np.inf
    _same_bits(*(function(scores, count) for function in highest))


@scored([-1.7, 0.0, 1e-300, 1e150, np.nan])
def test_log_terms_of_one_value(z):
    rng = np.random.default_rng(0)
    coefficients = _coefficients(rng, 3, 16, 13)
    for first in (0, 8):
        _in_place(add_log_terms, rng.normal(size=16), first, coefficients, 2, 16, z)


@scored(COUNTS)
def test_log_terms_of_features_that_share_an_exponent(count):
    rng = np.random.default_rng(count)
    coefficients = _coefficients(rng, 40, 16, 13)
    columns, values = rng.permutation(40), rng.normal(size=40) * 10.0 ** rng.integers(-3, 120, size=40)
    values[columns[2::7]] = np.nan
    for first in (0, 8):
        _in_place(add_log_products, rng.normal(size=16), first, coefficients, columns, count, 16, values)


@scored(COUNTS)
def test_log_terms_of_many_values(count):
    rng = np.random.default_rng(count)
    width = padded(count)
    values, coefficients = np.full(width, np.nan), np.zeros((2, 4, width))
    values[:count], coefficients[:, :, :count] = rng.normal(size=count), rng.random((2, 4, count))
    coefficients[:, 2] *= 0.02
    values[3::7] = np.nan
    start = 4 * width
    found = [function(values, coefficients, start, width, 1e-3) for function in sum_log_terms]
    _same_bits(*found)
    assert np.isfinite(found[0])
    coefficients[1, 2, 0] = 0.9995 / (values[0] - coefficients[1, 3, 0]) ** 2
    assert all(np.isnan(function(values, coefficients, start, width, 1e-3)) for function in sum_log_terms)


def test_no_values_at_all():
    nothing = np.full(8, np.nan)
    _same_bits(*(function(nothing, np.zeros(32), 0, 8, 1e-3) for function in sum_log_terms))


@scored([*COUNTS, 4000])
def test_logarithms(count):
    rng = np.random.default_rng(count)
    numbers = np.exp(rng.uniform(-700.0, 700.0, padded(count)))
    numbers[1::3] = 1.0 + rng.normal(0.0, 1e-3, numbers[1::3].size)
    limits = [np.sqrt(0.5), np.nextafter(np.sqrt(0.5), 0.0), np.sqrt(2.0), np.finfo(float).max, np.finfo(float).tiny]
    # What has no logarithm comes in where a level is impossible, and is not read afterwards; its bits are the same too.
    limits += [0.0, -1.0, np.inf, np.nan, 5e-324]
    numbers[: len(limits)] = limits[: numbers.size]
    _in_place(log_in_place, numbers, count)


@scored(range(1, 17))
def test_eight_binomials(n):
    rng = np.random.default_rng(n)
    prior, sums = rng.gamma(2.0, size=(8, 2)), rng.integers(0, 3 * n, size=(8, 2)).astype(float)
    prior[0], sums[0] = 1.0, 0.0  # nobody, under a prior whose factors without one subject are 0
    results = []
    for function in eight_binomials:
        numbers, left_numbers = np.empty((2, 8, n + 1))
        function(prior, sums, n, numbers, left_numbers, np.empty(16 * (n + 1)))
        results.append((numbers, left_numbers))
    _same_bits(*results)
