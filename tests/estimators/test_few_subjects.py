"""A floor for the size of subtypes: nobody is left out, what is distinct stays, what is hardly distinct is merged."""

import math
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of, wild_cohort, with_groups
from hypothesis import given
from hypothesis import strategies as st
from scored import few
from test_cut import QUICK, assert_same, assert_says_the_same, fitted, merged_log_joint, plain
from test_saving import edited, with_the_right_salt

import clinclust as cc
from clinclust import MAPDP
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.errors import InputError
from clinclust.estimators.distinct_subtypes import WEAK_EVIDENCE, _in_subjects
from clinclust.estimators.fit import JOIN_DTYPES, TreeTest, evidence_between, n_standing
from clinclust.methods import PublishedMAPDP

__all__ = ["fitted", "plain"]  # fixtures

FLOOR = 20


@pytest.fixture(scope="module")
def wild():
    frame = wild_cohort(25)
    return PublishedMAPDP(gaussian_schema(frame), **QUICK).fit(frame), frame


def with_test(model, accepted):
    """Return the model as if its tree had been tested with this result: the steps of the joins that were accepted."""
    tree, ahead, rows = model.tree_, [2 * model.subtype_of_.size - 2], []
    while ahead:
        step = ahead.pop(0) - tree.n_subtypes + 1
        if step < 1:
            continue
        is_accepted = step in accepted
        row = {"step": step, "p": 0.01 if is_accepted else 0.5, "accepted": is_accepted}
        rows.append(dict.fromkeys(JOIN_DTYPES, 1) | {"distinct": False} | row)
        ahead += tree.joins[step - 1].tolist() if is_accepted else []
    test = TreeTest(pd.DataFrame(rows).astype(JOIN_DTYPES), 100, 0.05, 0)
    assert not test.problems(tree)
    assert {row["step"] for row in rows if row["accepted"]} == set(accepted)
    copy = model.cut(None)
    copy.fit_ = replace(copy.fit_, tree_test_=test)
    return copy


def groups(cut):
    """Return the clusters of each subtype."""
    return [np.flatnonzero(cut.subtype_of_ == subtype).tolist() for subtype in range(cut.n_clusters_)]


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("floor", few([3, 20, 0.3, 2, 8, 50, 0.02], 3))
def test_nobody_is_left_out_and_only_small_subtypes_are_merged(floor, wild, fitted):
    for model, frame in (wild, fitted):
        for k in (None, *range(1, model.n_clusters_ + 1)):
            before, cut = model.cut(k), model.cut(k, min_size=floor)
            assert cut.labels_.shape == (len(frame),)
            assert cut.cluster_sizes_.sum() == len(frame)
            assert (cut.labels_ == cut.subtype_of_[model.labels_]).all()
            assert (np.diff(cut.cluster_sizes_) <= 0).all()
            assert cut.min_size_ == (floor if isinstance(floor, int) else math.ceil(floor * len(frame) - 1e-9))
            assert (cut.untested_ == (cut.cluster_sizes_ < cut.min_size_)).all()
            assert cut.log_joint_ == model.log_joint_
            assert merged_log_joint(cut) <= merged_log_joint(before) + 1e-9 <= model.log_joint_ + 1e-9
            large = [set(found) for found in groups(before) if model.clusters_.sizes[found].sum() >= cut.min_size_]
            assert all(sum(found <= set(group) for found in large) <= 1 for group in groups(cut))
            for one in groups(before):  # no subtype is divided
                assert sum(bool(set(one) & set(group)) for group in groups(cut)) == 1


def test_small_subtypes_stay_where_the_joint_tells_them_apart(wild):
    """By the public log joint: every merger that was left undone costs at least 5 nats, every one made costs less."""
    model, frame = wild
    cut = model.cut(None, min_size=FLOOR)
    assert model.n_clusters_ > cut.n_clusters_ > (~cut.untested_).sum() == 2
    assert model.log_joint_ - merged_log_joint(cut) < (model.n_clusters_ - cut.n_clusters_) * WEAK_EVIDENCE

    def joint(labels):
        return cc.log_joint(frame, labels, model.schema_, model.hyperparameters_)

    whole = joint(cut.labels_)
    assert whole == pytest.approx(merged_log_joint(cut), abs=1e-7)
    for first, second in combinations(range(cut.n_clusters_), 2):
        if cut.untested_[[first, second]].any():
            merged = np.where(cut.labels_ == second, first, cut.labels_)
            assert whole - joint(pd.factorize(merged)[0]) >= WEAK_EVIDENCE


def test_evidence_of_a_pair_is_what_its_merger_loses(fitted):
    model, _ = fitted
    pairs = list(combinations(range(model.n_clusters_), 2))
    lost = []
    for first, second in pairs:
        merged = np.where(model.subtype_of_ == second, first, model.subtype_of_)
        lost.append(model.log_joint_ - merged_log_joint(with_groups(model, merged)))
    np.testing.assert_allclose(evidence_between(model.subtypes_.pooled, np.array(pairs)), lost, rtol=1e-9, atol=1e-7)


@pytest.mark.simulation
def test_the_order_of_operations_does_not_matter(wild):
    model, frame = wild
    assert_same(model.cut(2).cut(None, min_size=FLOOR), model.cut(None, min_size=FLOOR))
    assert_same(model.cut(None, min_size=FLOOR).cut(3, min_size=5), model.cut(3, min_size=5))
    assert_same(model.cut(3, min_size=FLOOR).cut(None), model)
    asked = PublishedMAPDP(model.schema, **QUICK, min_size=FLOOR).fit(frame)
    assert_same(asked, model.cut(None, min_size=FLOOR))
    assert_says_the_same(asked, model.cut(None, min_size=FLOOR), frame)
    assert asked.get_params() == model.cut(None, min_size=FLOOR).get_params()
    five = PublishedMAPDP(model.schema, **QUICK, n_clusters=5, min_size=np.int64(FLOOR)).fit(frame)
    assert_same(five, model.cut(5, min_size=FLOOR))
    share = model.cut(None, min_size=0.1)
    assert share.min_size_ == 19  # of 182
    assert share.min_size == 0.1


def test_a_small_subtype_still_takes_new_subjects(wild):
    model, frame = wild
    cut = model.cut(None, min_size=FLOOR)
    told = cut.predict(frame)
    assert set(np.flatnonzero(cut.untested_)) <= set(told.tolist())
    np.testing.assert_allclose(cut.score_samples(frame), model.score_samples(frame))


# --- the test of the tree decides -------------------------------------------------------------------------------------


def test_what_the_test_takes_for_one_continuum_is_merged_whatever_the_evidence(wild):
    model, _ = wild
    last = model.n_clusters_ - 1
    one = with_test(model, []).cut(None, min_size=FLOOR)
    assert model.tree_.evidence[3:].min() > 4 * WEAK_EVIDENCE
    assert not one.untested_.any()
    assert sorted(one.cluster_sizes_.tolist())[0] >= FLOOR
    two = with_test(model, [last]).cut(None, min_size=FLOOR)
    sides = model.tree_.group_of(model.tree_.joins[-1].tolist())
    for group in groups(two):
        assert len(set(sides[group])) == 1  # nothing is merged across the division that is distinct
    small = [size for size in np.bincount(sides[model.labels_]) if size < FLOOR]
    assert two.cluster_sizes_[two.untested_].tolist() == small
    assert small


def test_what_the_test_finds_distinct_is_never_merged(wild):
    model, _ = wild
    every = with_test(model, range(1, model.n_clusters_))
    for number in (None, "distinct"):
        assert adjusted_rand_index(every.cut(number, min_size=FLOOR).subtype_of_, model.subtype_of_) == 1.0
    # A subtype that lies in several distinct ones is not merged with a part of one of them.
    assert (every.cut(3, min_size=FLOOR).subtype_of_ == model.cut(3).subtype_of_).all()


@pytest.mark.simulation
def test_distinct_subtypes_of_a_fit_keep_a_small_one(wild):
    model, frame = wild
    found = MAPDP(model.schema, **QUICK, block_weights=None, min_size=FLOOR).fit(frame)
    free = found.cut("distinct")
    assert found.cluster_sizes_.tolist() == free.cluster_sizes_.tolist()
    assert found.untested_.tolist() == (free.cluster_sizes_ < FLOOR).tolist()
    assert found.untested_.any()
    assert_same(cc.MAPDP.cut(found, cc.distinct_subtypes(found, frame), min_size=FLOOR), found)


# --- the floor in subjects --------------------------------------------------------------------------------------------


@given(st.integers(1, 500).map(lambda thousandths: Decimal(thousandths) / 1000), st.integers(2, 3000))
def test_a_share_is_the_decimal_as_it_was_written(share, n_subjects):
    assert _in_subjects(float(share), n_subjects) == max(1, math.ceil(share * n_subjects))


@pytest.mark.parametrize("bad", [1, 0, -3, 0.0, 0.51, 1.0, 20.0, "20", True, float("nan"), [2]])
def test_what_is_no_floor_is_refused(bad, plain):
    model, frame = plain
    said = r"^min_size must be a whole number of at least 2 \(subjects\), or a number above 0 and at most 0.5 \(share"
    with pytest.raises(InputError, match=said):
        model.cut(None, min_size=bad)
    with pytest.raises(InputError, match=said):
        PublishedMAPDP(model.schema, min_size=bad).fit(frame)
    with pytest.raises(InputError, match=r"^n_clusters must be .*; min_size must be "):
        model.cut(0, min_size=bad)


def test_a_floor_that_leaves_nothing_to_compare_is_refused_before_the_search(plain):
    (model, frame), said = plain, "61 subjects .* cohort has 120, .* give at most 60, or check"
    with pytest.raises(InputError, match=said):
        model.cut(None, min_size=61)
    with pytest.raises(InputError, match=said):
        PublishedMAPDP(model.schema, min_size=61).fit(frame)
    assert model.cut(None, min_size=60).min_size_ == 60
    with pytest.raises(InputError, match=r"the cohort has 3, .*; leave it out, or check"):
        PublishedMAPDP(model.schema, min_size=2).fit(frame.head(3))


# --- saving -----------------------------------------------------------------------------------------------------------


def test_an_edited_floor_is_refused(wild, tmp_path):
    folder = wild[0].cut(None, min_size=FLOOR).save(tmp_path / "model")
    for floor, said in ((3, "the subtypes are not those"), (0, "min_size_ is 0"), (183, "min_size_ is 183")):
        edited(lambda text, floor=floor: text["fit"].update(min_size_=floor))(folder)
        with pytest.raises(InputError, match=said):
            MAPDP.load(folder)
    edited(lambda text: text["fit"].update(min_size_=FLOOR))(folder)
    edited(lambda text: text["parameters"].update(min_size=1))(folder)
    with pytest.raises(InputError, match="min_size must be a whole number of at least 2"):
        MAPDP.load(folder)
    edited(lambda text: text["parameters"].update(min_size=FLOOR))(folder)
    with_the_right_salt(folder)
    assert MAPDP.load(folder).min_size_ == FLOOR


def test_remarks_are_of_size_and_of_the_loss_by_a_merger():
    """The oracle: few by counting, weak by the log joint of every partition with two subtypes merged."""
    rng = np.random.default_rng(5)
    seen = set()
    for seed in range(3):
        values = np.vstack([rng.normal(mean, 1, (n, 3)) for mean, n in ((0, 40), (2.2, 25), (9, 3), (-9, 6))])
        frame = pd.DataFrame(values, columns=list("abc"))
        schema = gaussian_schema(frame)
        model = quick_fit(frame, schema, random_state=seed)
        for cut in (model, model.cut(max(1, model.n_clusters_ - 1))):
            K = cut.n_clusters_
            whole = cc.log_joint(frame, cut.labels_, schema)
            loss = np.full((K, K), np.inf)
            for first, second in combinations(range(K), 2):
                merged = np.where(cut.labels_ == second, first, cut.labels_)
                loss[first, second] = loss[second, first] = whole - cc.log_joint(frame, merged, schema)
            few, weak = cut.cluster_sizes_ < 5, loss.min(axis=0) < 3.0
            expected = [("few",) * bool(a) + ("weak",) * bool(b) for a, b in zip(few, weak, strict=True)]
            assert cut.remarks_ == expected
            seen |= set(expected)
            assert 1 <= n_standing(cut.subtypes_) <= max(1, int((~few).sum()))
    assert {(), ("few",)} <= seen


@pytest.mark.simulation
def test_what_noise_buys_for_two_nats_does_not_stand():
    rng = np.random.default_rng(8)
    several = 0
    for seed in range(25):
        frame = pd.DataFrame({f"x{place}": rng.binomial(4, 0.3, 100) for place in range(10)})
        schema = schema_of([], **{name: {"likelihood": "binomial", "trials": 4} for name in frame})
        model = quick_fit(frame, schema, random_state=seed)
        several += model.n_clusters_ > 1
        assert n_standing(model.subtypes_) == 1
        assert all(model.remarks_) == (model.n_clusters_ > 1)
    assert several >= 2
