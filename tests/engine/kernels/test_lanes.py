"""The innermost loops: as vector instructions they are those of NumPy, and as plain Python they have the same bits."""

import importlib.util

import llvmlite
import numpy as np
import pytest
from llvmlite import ir
from numba import njit
from scored import scored

from clinclust.engine.kernels import compiled, lanes
from clinclust.engine.kernels.compiled import padded

_LLVMLITE = tuple(int(part) for part in llvmlite.__version__.split(".")[:2])
COUNTS = [1, 2, 3, 7, 8, 9, 16, 17, 24, 40]
LOOPS = ("add_rows", "sum_rows", "highest", "add_log_terms", "add_log_products", "sum_log_terms", "log_in_place")


def loops_with(compiling, flat):
    """Return the loops by name, from a copy of their module in which functions are compiled like this."""
    place = importlib.util.spec_from_file_location("copy_of_lanes", lanes.__file__)
    copy = importlib.util.module_from_spec(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "inlined", compiling)
        patch.setattr(compiled, "flat", flat)
        place.loader.exec_module(copy)
    return {name: getattr(copy, name) for name in LOOPS}


VECTORS = loops_with(njit(error_model="numpy"), compiled.flat)
TWINS = loops_with(np.errstate(all="ignore"), compiled._part_of)


def same_bits(one, other):
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    assert (np.isnan(one) == np.isnan(other)).all()
    seen = ~np.isnan(one)
    assert one[seen].tobytes() == other[seen].tobytes()


def number(name, *arguments):
    """Return the number that a loop computes, after its twin has computed the same."""
    found = VECTORS[name](*arguments)
    same_bits(found, TWINS[name](*arguments))
    return found


def changed(name, array, *arguments):
    """Return an array after a loop has changed it, and its twin in the same way."""
    results = [array.copy(), array.copy()]
    for loops, result in zip((VECTORS, TWINS), results, strict=True):
        loops[name](result, *arguments)
    same_bits(*results)
    assert results[0].tobytes() != array.tobytes()
    return results[0]


def coefficients_of(rng, n_features, capacity, n_clusters):
    """Return (D, 4, C) coefficients; columns after the last cluster are idle: nothing has been written to them."""
    coefficients = rng.gamma(2.0, size=(n_features, 4, capacity)) * 10.0 ** rng.integers(-2, 3, size=(n_features, 1, 1))
    coefficients[:, 3] -= 1.0
    coefficients[:, :, n_clusters:] = 0.0
    return coefficients


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (1, 8), (8, 8), (9, 16), (215, 216)])
def test_padding(length, expected):
    assert padded(length) == expected


def test_the_logarithm_is_right_to_the_last_place():
    rng = np.random.default_rng(0)
    around = np.append(np.exp(rng.uniform(-700.0, 700.0, 4000)), 1.0 + rng.normal(0.0, 1e-3, 4000))
    limits = [1.0, np.sqrt(0.5), np.sqrt(2.0), 2.0, np.nextafter(1.0, 0.0), np.nextafter(np.sqrt(0.5), 0.0)]
    numbers = np.concatenate([around, limits, [np.finfo(float).max, np.finfo(float).tiny]])
    logs = changed("log_in_place", numbers, numbers.size)
    assert (np.abs(logs - np.log(numbers)) <= np.spacing(np.abs(np.log(numbers)))).all()
    assert (logs[numbers == 1.0] == 0.0).all()
    # What has no logarithm comes in where a level is impossible, and is not read afterwards; its bits are the same too.
    changed("log_in_place", np.array([0.0, -1.0, np.inf, np.nan, 5e-324, 1.0, 2.0, 3.0]), 8)


@scored([0, *COUNTS])
def test_rows_and_entries_add_up(count):
    rng = np.random.default_rng(count)
    table, codes = rng.normal(size=(60, 16)), rng.integers(60, size=(3, 40)).astype(np.int32)
    weights = rng.normal(size=16)
    weights[13:] = -np.inf  # idle
    table[7, 3], table[9, 5] = np.inf, np.nan
    expected = weights + table[codes[1, :count]].sum(axis=0)
    for first in (0, 8):
        scores = changed("add_rows", np.zeros(16), weights, first, table, 16, codes, 40, count)
        here = slice(first, first + 8)
        np.testing.assert_allclose(scores[here], expected[here], rtol=1e-14, atol=1e-13)
        assert (np.delete(scores, np.arange(first, first + 8)) == 0.0).all()
    row = np.ascontiguousarray(table[:, 0])
    assert number("sum_rows", row, codes, 40, count) == pytest.approx(row[codes[1, :count]].sum(), abs=1e-13)


@scored([0, *COUNTS])
def test_the_highest_score(count):
    scores = np.random.default_rng(count).normal(size=padded(count) + 8)
    scores[1::5] = -np.inf
    assert number("highest", scores, count) == scores[: padded(count)].max(initial=-np.inf)


@scored([-1.7, 0.3, 2.9, 11.1, 47.3, 0.0, 1e-300, 1e150, np.nan])
def test_log_terms_of_one_value(z):
    rng = np.random.default_rng(0)
    coefficients, before = coefficients_of(rng, 3, 16, 13), rng.normal(size=16)
    for first in (0, 8):
        scores = changed("add_log_terms", before, first, coefficients, 2, 16, z)
        here = slice(first, first + 8)
        c = coefficients[2, :, here]
        expected = before[here] + c[0] - c[1] * np.log1p(c[2] * (z - c[3]) ** 2)
        if abs(z) < 1e100:
            np.testing.assert_allclose(scores[here], expected, rtol=1e-13, atol=1e-13)
        untouched = np.delete(np.arange(16), np.arange(first, first + 8))
        assert (scores[untouched] == before[untouched]).all()


@scored(COUNTS)
def test_log_terms_of_features_that_share_an_exponent(count):
    rng = np.random.default_rng(count)
    coefficients, before = coefficients_of(rng, 40, 16, 13), rng.normal(size=16)
    coefficients[:, 1] = coefficients[0, 1]
    columns, values = rng.permutation(40), rng.normal(size=40) * 10.0 ** rng.integers(-3, 120, size=40)
    values[columns[2::7]] = np.nan
    for first in (0, 8):
        scores = changed("add_log_products", before, first, coefficients, columns, count, 16, values)
        here = slice(first, first + 8)
        expected = before[here].copy()
        for column in columns[:count][~np.isnan(values[columns[:count]])]:
            c = coefficients[column, :, here]
            expected += c[0] - c[1] * np.log1p(c[2] * (values[column] - c[3]) ** 2)
        np.testing.assert_allclose(scores[here], expected, rtol=1e-12, atol=1e-12)


@scored(COUNTS)
def test_log_terms_of_many_values_skip_the_missing_and_tell_when_digits_are_lost(count):
    rng = np.random.default_rng(count)
    width = padded(count)
    values, coefficients = np.full(width, np.nan), np.zeros((2, 4, width))
    values[:count], coefficients[:, :, :count] = rng.normal(size=count), rng.random((2, 4, count))
    coefficients[:, 2] *= 0.02
    values[3::7] = np.nan
    c0, c1, c2, c3 = coefficients[1]
    expected = np.nansum(c0 + c1 * np.log(1.0 - c2 * (values - c3) ** 2))
    arguments = (values, coefficients, 4 * width, width, 1e-3)
    assert number("sum_log_terms", *arguments) == pytest.approx(expected, rel=1e-12)
    if count > 3:
        coefficients[1, 2, 3] = 1e9  # of a missing value, which does not matter
        assert number("sum_log_terms", *arguments) == pytest.approx(expected, rel=1e-12)
    for lost in (0.9995, 1.5):
        coefficients[1, 2, 0] = lost / (values[0] - coefficients[1, 3, 0]) ** 2
        assert np.isnan(number("sum_log_terms", *arguments))
    assert number("sum_log_terms", np.full(8, np.nan), np.zeros(32), 0, 8, 1e-3) == 0.0


@pytest.mark.skipif(_LLVMLITE < (0, 45), reason="there LLVM itself has typed pointers")
def test_pointers_need_no_types(monkeypatch):
    """As they will have none in a later llvmlite."""
    place_of = compiled._place

    def without_type(builder, numbers, index):
        address = builder.inttoptr(builder.ptrtoint(numbers, ir.IntType(64)), ir.PointerType())
        assert not hasattr(address.type, "pointee")
        return place_of(builder, address, index)

    monkeypatch.setattr(compiled, "_place", without_type)
    monkeypatch.setitem(globals(), "VECTORS", loops_with(njit(error_model="numpy"), compiled.flat))
    test_the_logarithm_is_right_to_the_last_place()
    test_rows_and_entries_add_up()
    test_the_highest_score()
    test_log_terms_of_one_value()
    test_log_terms_of_features_that_share_an_exponent()
    test_log_terms_of_many_values_skip_the_missing_and_tell_when_digits_are_lost()
