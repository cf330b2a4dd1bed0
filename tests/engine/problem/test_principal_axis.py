"""The first principal axis of subjects."""

import numpy as np
import pandas as pd
import pytest
from problems import problem_of

from clinclust.engine.problem import encoding
from clinclust.engine.problem.encoding import principal_axis


def arrays_of(n_subjects):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(n_subjects, 1)) * [3, -2, 1, 1, 0.5] + rng.normal(size=(n_subjects, 5))
    return problem_of(pd.DataFrame(values, columns=list("abcde"))).cohort.arrays


@pytest.fixture
def arrays():
    return arrays_of(80)


@pytest.mark.parametrize(("n_subjects", "most"), [(80, 500), (80, 2), (4, 500), (2, 500)])
def test_it_is_the_first_singular_vector_of_the_standardised_columns(monkeypatch, n_subjects, most):
    """By the products of columns, by Lanczos iterations, or by the products of rows."""
    monkeypatch.setattr(encoding, "_MANY_COLUMNS", most)
    arrays = arrays_of(n_subjects)
    values = arrays.values
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    along, _, loadings = np.linalg.svd(standard, full_matrices=False)
    exact = along[:, 0] * np.sign(loadings[0][np.abs(loadings[0]).argmax()])
    found = principal_axis(arrays)
    np.testing.assert_allclose(found / np.linalg.norm(found), exact, atol=1e-6)
    np.testing.assert_array_equal(found, principal_axis(arrays))


def test_a_search_begins_near_it(arrays):
    exact = principal_axis(arrays)
    about = [principal_axis(arrays, np.random.default_rng(seed)) for seed in range(3)]
    assert all(abs(np.corrcoef(exact, one)[0, 1]) > 0.95 for one in about)
    assert not np.array_equal(about[0], about[1])
