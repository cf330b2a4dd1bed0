"""Agreement of partitions: scikit-learn's numbers, all pairs one by one, and laws."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import clinclust as cc
from clinclust.errors import InputError

SCIKIT_LEARN = {
    "adjusted_rand": metrics.adjusted_rand_score,
    "rand": metrics.rand_score,
    "fowlkes_mallows": metrics.fowlkes_mallows_score,
    "mutual_information": metrics.mutual_info_score,
    "normalised_mutual_information": metrics.normalized_mutual_info_score,
    "normalised_mutual_information_max": lambda *both: metrics.normalized_mutual_info_score(
        *both, average_method="max"
    ),
}
OF_ONE = ("mutual_information", "variation_of_information", "n_first", "n_second", "n_subjects")


@st.composite
def two_partitions(draw, least=1):
    n = draw(st.integers(least, 25))
    labels = st.lists(st.integers(0, draw(st.integers(0, 6))), min_size=n, max_size=n)
    return np.array(draw(labels)), np.array(draw(labels))


@given(two_partitions(least=2))
def test_measures_that_scikit_learn_has_are_the_same(both):
    found = cc.comparisons.compare_partitions(*both)
    equal = found["adjusted_rand"] == 1.0
    for name, theirs in SCIKIT_LEARN.items():
        singles = all(np.unique(labels).size == labels.size for labels in both)
        if name == "fowlkes_mallows" and singles:
            continue  # 0 in scikit-learn, although the partitions are equal
        expected = 1.0 if equal and name.startswith("normalised") else theirs(*both)
        assert found[name] == pytest.approx(expected, abs=1e-9), name


@given(two_partitions(least=2))
def test_pairs_one_by_one(both):
    first, second = both
    pairs = list(combinations(range(first.size), 2))
    a = sum(first[i] == first[j] and second[i] == second[j] for i, j in pairs)
    b = sum(first[i] == first[j] and second[i] != second[j] for i, j in pairs)
    c = sum(first[i] != first[j] and second[i] == second[j] for i, j in pairs)
    found = cc.comparisons.compare_partitions(first, second)
    assert found["rand"] == pytest.approx((len(pairs) - b - c) / len(pairs))
    assert found["jaccard"] == pytest.approx(a / (a + b + c) if a + b + c else 1.0)
    if (a + b) * (a + c):
        assert found["fowlkes_mallows"] == pytest.approx(a / ((a + b) * (a + c)) ** 0.5)
    table = pd.crosstab(first, second).to_numpy().astype(float)
    squares, of_first, of_second = ((x**2).sum() for x in (table, table.sum(axis=1), table.sum(axis=0)))
    by_chance = of_first * of_second / first.size**2
    if (of_first + of_second) / 2 > by_chance:
        expected = (squares - by_chance) / ((of_first + of_second) / 2 - by_chance)
        assert found["adjusted_rand_morey_agresti"] == pytest.approx(expected)


@given(two_partitions(), st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(both, random):
    first, second = both
    found = cc.comparisons.compare_partitions(first, second)
    turned = cc.comparisons.compare_partitions(second, first).rename({"n_first": "n_second", "n_second": "n_first"})
    pd.testing.assert_series_equal(found, turned[found.index], atol=1e-9)
    order = np.array(random.sample(range(first.size), first.size))
    renamed = cc.comparisons.compare_partitions(
        [f"group {-label}" for label in first[order]], pd.Series(second[order] * 7 - 1)
    )
    pd.testing.assert_series_equal(found, renamed, atol=1e-9)


@given(two_partitions())
def test_equal_partitions_have_one_and_others_less(both):
    same = cc.comparisons.compare_partitions(both[0], both[0] * 3 + 2).drop(list(OF_ONE))
    assert (same == 1.0).all()
    assert cc.comparisons.compare_partitions(both[0], both[0])["variation_of_information"] == 0.0
    found = cc.comparisons.compare_partitions(*both)
    is_equal = len({*zip(*both, strict=True)}) == np.unique(both[0]).size == np.unique(both[1]).size
    assert (found["variation_of_information"] < 1e-12) == is_equal
    assert (found.drop(list(OF_ONE)) <= 1.0 + 1e-12).all()


@given(st.integers(0, 2**32 - 1))
def test_the_variation_of_information_is_a_distance(seed):
    rng = np.random.default_rng(seed)
    one, two, three = rng.integers(4, size=(3, 15))

    def distance(first, second):
        return cc.comparisons.compare_partitions(first, second)["variation_of_information"]

    assert distance(one, three) <= distance(one, two) + distance(two, three) + 1e-9


def test_adjusted_measures_are_zero_by_chance_and_exact_for_many_subjects():
    rng = np.random.default_rng(0)
    first = np.repeat([0, 1, 2], [30, 20, 10])
    drawn = pd.DataFrame([cc.comparisons.compare_partitions(first, rng.permutation(first)) for _ in range(400)])
    assert abs(drawn["adjusted_rand"].mean()) < 3.0 * drawn["adjusted_rand"].std() / 20.0
    assert 0.0 < drawn["adjusted_rand_morey_agresti"].mean() < 0.05
    many = np.repeat([0, 1], [300_000, 200_000])
    other = np.roll(many, 1)
    found = cc.comparisons.compare_partitions(many, other)
    n = 500_000
    apart = 2 * (299_999 + 199_999)  # the two who changed sides, each with all others of both
    assert found["rand"] == pytest.approx(1.0 - apart / (n * (n - 1) / 2), rel=1e-12)


def test_models_can_be_given_and_what_cannot_be_compared_is_refused():
    schema = cc.FeatureSchema([cc.Feature(name="falls", likelihood="poisson")])
    groups = cc.Partition(["mild", "severe", "mild", "severe"], schema, made_by="a clinician")
    assert cc.comparisons.compare_partitions(groups, [0, 1, 0, 1])["adjusted_rand"] == 1.0
    for first, second, message in (
        (groups, [0, 1, 0], "second must be 4 labels"),
        (groups, [{}, 0, 1, 0], "second must be 4 labels, texts or numbers"),
        (groups, [0, 1, None, 1], "second: the label of 1 subject"),
        (cc.methods.PublishedMAPDP(schema), groups, "first is not fitted"),
        (np.zeros((2, 2)), groups, "first must be one label for each subject"),
        ([], [], "first holds no subject"),
    ):
        with pytest.raises(InputError, match=message):
            cc.comparisons.compare_partitions(first, second)
