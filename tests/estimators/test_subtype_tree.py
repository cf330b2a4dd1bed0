"""The subtype tree: every join against the joints of the partitions before and after it."""

import numpy as np
import pandas as pd
import pytest
from cohorts import LIKELIHOODS, mixed_cohort, quick_fit
from scipy.stats import norm
from scored import few

from clinclust import information_criteria, log_joint
from clinclust.estimators.fit import SubtypeTree


def fitted(seed, coarsening=1.0):
    frame, schema, _, _ = mixed_cohort(seed, n=70, likelihoods=LIKELIHOODS * 2, n_groups=4)
    model = quick_fit(frame, schema, coarsening=coarsening, n_restarts=3)
    return frame, schema, model


@pytest.mark.parametrize("coarsening", few([0.5, 1.0], 1))
def test_the_evidence_of_a_join_is_the_difference_of_the_joints_of_two_cuts(coarsening):
    frame, schema, model = fitted(3, coarsening)
    tree = model.tree_
    assert tree.n_subtypes == model.n_clusters_ >= 3

    def joint(n_subtypes):
        return log_joint(
            frame, tree.subtype_of(n_subtypes)[tree.labels], schema, model.hyperparameters_, 3.0, coarsening=coarsening
        )

    assert joint(tree.n_subtypes) == pytest.approx(model.log_joint_, abs=1e-8)
    for merge in tree.merges.itertuples():
        assert merge.evidence == pytest.approx(joint(merge.n_subtypes + 1) - joint(merge.n_subtypes), abs=1e-7)
    assert tree.evidence[0] > 0


def test_each_join_is_the_cheapest_of_all():
    frame, schema, model = fitted(5)
    tree = model.tree_
    for merge in tree.merges.itertuples():
        labels = tree.subtype_of(merge.n_subtypes + 1)[tree.labels]
        before = log_joint(frame, labels, schema, model.hyperparameters_)
        others = [
            before - log_joint(frame, np.where(labels == b, a, labels), schema, model.hyperparameters_)
            for a in range(merge.n_subtypes + 1)
            for b in range(a)
        ]
        assert merge.evidence == pytest.approx(min(others), abs=1e-7)


def test_cuts_nest_and_are_numbered_by_size():
    frame, _, model = fitted(3)
    tree = model.tree_
    assert (tree.subtype_of(tree.n_subtypes)[tree.labels] == model.labels_).all()
    for n_subtypes in range(1, tree.n_subtypes + 1):
        labels = tree.subtype_of(n_subtypes)[tree.labels]
        assert (labels.dtype, labels.shape) == (np.int64, (len(frame),))
        sizes = np.bincount(labels)
        assert sizes.size == n_subtypes
        assert (np.diff(sizes) <= 0).all()
        if n_subtypes > 1:  # every subtype lies in one of the coarser cut
            assert (
                np.unique(np.stack([labels, tree.subtype_of(n_subtypes - 1)[tree.labels]]), axis=1).shape[1]
                == n_subtypes
            )
    merges = tree.merges
    assert merges["size"].iloc[-1] == len(frame)
    assert sorted(merges["first"].iloc[-1] + merges["second"].iloc[-1]) == list(range(1, tree.n_subtypes + 1))
    assert merges["step"].tolist() == list(range(1, tree.n_subtypes))


def test_groups_are_numbered_by_size_whatever_the_order_of_the_evidence():
    labels = np.repeat(np.arange(4), [5, 4, 3, 2])
    tree = SubtypeTree(labels, np.array([[2, 3], [0, 1], [4, 5]]), np.array([7.0, 3.0, 5.0]))
    assert tree.subtype_of(2)[tree.labels].tolist() == [0] * 9 + [1] * 5
    assert tree.subtype_of(3)[tree.labels].tolist() == [0] * 5 + [2] * 4 + [1] * 5
    assert "3, 4 with 1, 2: 5.0 nats" in repr(tree)


def test_one_subtype_is_a_tree_without_joins():
    tree = SubtypeTree(np.zeros(6, dtype=np.int64), np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    assert tree.subtype_of(1)[tree.labels].tolist() == [0] * 6
    assert len(tree.merges) == 0


@pytest.mark.parametrize("n_subtypes", [0, 4, 2.0, True, "2", None])
def test_a_cut_must_be_a_number_of_subtypes(n_subtypes):
    tree = SubtypeTree(np.array([0, 1, 2]), np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="from 1 to 3"):
        tree.subtype_of(n_subtypes)[tree.labels]


def test_information_criteria_are_those_of_normal_densities_and_ask_for_the_groups():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 250)
    frame = pd.DataFrame(rng.normal(size=(500, 3)) + 5.0 * group[:, None], columns=list("abc"))
    model = quick_fit(frame)
    table = information_criteria(model, frame).set_index("n_subtypes")
    assert table["n_parameters"].tolist() == [7 * k - 1 for k in table.index]
    for k, parts in ((1, [frame]), (2, [frame[group == 0], frame[group == 1]])):
        logs = [np.log(len(it) / 500) + norm(it.mean(), it.std(ddof=0)).logpdf(it).sum(axis=1) for it in parts]
        log_likelihood = sum(part.sum() for part in logs)
        assert table.loc[k, "log_likelihood"] == pytest.approx(log_likelihood, abs=3.0)
    np.testing.assert_allclose(table["bic"], table["n_parameters"] * np.log(500) - 2.0 * table["log_likelihood"])
    uncertain = (1.0 - table["relative_entropy"]) * 500 * np.log(table.index.to_numpy())
    np.testing.assert_allclose(table["icl"], table["bic"] + 2.0 * uncertain, atol=1e-9)
    assert table["bic"].idxmin() == table["icl"].idxmin() == 2
