"""Cells of a site: what can be computed from sums of groups is a sum of cells, none of which is small."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clinclust.engine.search.partitioned import Cells


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), fewest=st.integers(1, 12), rounds=st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_no_cell_becomes_small_whatever_groups_are_asked_for(seed, n, fewest, rounds):
    rng = np.random.default_rng(seed)
    observed = rng.random((n, 3)) < 0.7
    cells = Cells(observed, fewest)
    for _ in range(rounds):
        labels = cells.permitted(rng.integers(0, rng.integers(1, 5), n))
        before = cells.of_subjects.copy()
        cells.divide(labels)
        assert len(set(zip(before, labels, strict=True))) == cells.of_subjects.max() + 1
        n_values = np.array([observed[cells.of_subjects == cell].sum(axis=0) for cell in np.unique(cells.of_subjects)])
        sizes = np.bincount(cells.of_subjects)
        if sizes.size > 1:
            assert sizes.min() >= fewest
            assert not ((n_values > 0) & (n_values < fewest)).any()


def test_without_a_threshold_labels_are_as_given_and_a_small_part_joins_the_largest_of_its_cell():
    labels = np.repeat([0, 1, 2], [10, 3, 5])
    observed = np.ones((18, 1), dtype=bool)
    np.testing.assert_array_equal(Cells(observed, 1).permitted(labels), labels)
    np.testing.assert_array_equal(Cells(observed, 4).permitted(labels), np.repeat([0, 0, 2], [10, 3, 5]))
    sparse = observed.copy()
    sparse[13:15] = False  # three values are left in the group of five
    np.testing.assert_array_equal(Cells(sparse, 4).permitted(labels), np.zeros(18))
    cells = Cells(observed, 4)
    cells.divide(np.repeat([0, 1], [9, 9]))  # one of the ten is now in another cell: by itself, it stays with that
    np.testing.assert_array_equal(cells.permitted(labels), np.repeat([0, 2], [9, 9]))
