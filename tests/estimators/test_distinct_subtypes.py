"""Distinct subtypes: what they are made of, what they depend on, and what is refused."""

import re
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, gaussian_schema, mixed_cohort, quick_fit, severity_cohort, with_blocks
from scored import few
from test_cut import merged_log_joint

from clinclust import MAPDP, CohortWarning, Feature, FeatureSchema, distinct_subtypes
from clinclust.engine.problem.problem import log_joint as joint_of
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.errors import InputError
from clinclust.estimators.distinct_subtypes import DistinctSubtypes
from clinclust.estimators.fit import DISTINCT_LEVEL
from clinclust.estimators.subtype_model import cohort_of, fitted_problem

fitted = partial(quick_fit, n_restarts=4)


@pytest.fixture(scope="module")
def three():
    frame, schema, groups = severity_cohort(0, n_groups=3)
    model = fitted(frame, schema)
    assert model.n_clusters_ > 3  # the severity is sliced inside the groups
    return model, frame, groups, distinct_subtypes(model, frame, n_draws=40)


def same(one, other):
    assert (one.labels == other.labels).all()
    pd.testing.assert_frame_equal(one.joins, other.joins, check_exact=True)


# --- what is found ------------------------------------------------------------------------------------------------


def half_at_12_years(seed, n=240):
    """Return measurements with a common factor, one of which is years at school: half of the people have 12."""
    rng = np.random.default_rng(seed)
    values = 0.5 * rng.normal(size=(n, 1)) + np.sqrt(0.75) * rng.normal(size=(n, 6))
    values[:, 0] = np.where(np.abs(values[:, 0]) < 0.69, 12.0, np.round(12.0 + 2.6 * values[:, 0]))
    return pd.DataFrame(values, columns=["school", *"bcdef"])


@pytest.mark.parametrize("seed", few([1, 2, 5, 6, 7], 2))
def test_a_value_that_half_of_the_people_have_makes_no_subtype(seed):
    """The division is in the tree alone, and the main axis of draws hides it: it is begun in them too."""
    frame = half_at_12_years(seed)
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    assert MAPDP(schema, random_state=seed, progress=False).fit(frame).n_clusters_ == 1


def answers_that_depend_on_one_another(seed, n=500):
    """Return ten nominal answers, each of which depends on another one alone."""
    rng = np.random.default_rng(seed)
    answers = [rng.integers(3, size=n)]
    for place in range(1, 10):
        of_other = rng.normal(0.0, 1.2, (3, 3))[answers[rng.integers(place)]]
        answers.append((of_other + rng.gumbel(size=(n, 3))).argmax(axis=1))
    return pd.DataFrame({f"answer {place}": [f"level {code}" for code in codes] for place, codes in enumerate(answers)})


@pytest.mark.parametrize("seed", few(range(6), 1))
def test_nominal_columns_that_depend_on_one_another_make_no_kinds(seed):
    frame = answers_that_depend_on_one_another(seed)
    levels = ("level 0", "level 1", "level 2")
    schema = FeatureSchema([Feature(name=name, likelihood="categorical", levels=levels) for name in frame])
    model = MAPDP(schema, random_state=seed, progress=False).fit(frame)
    assert len(np.unique(model.kinds_)) == 1


@pytest.mark.simulation
def test_members_of_distinct_groups_are_clearly_of_theirs(three):
    model, *_, distinct = three
    sides = distinct.joins.loc[distinct.joins["distinct"], ["first", "second"]]
    for first, second in sides.itertuples(index=False):
        shares = [model.membership_[:, np.array(side) - 1].sum(axis=1) for side in (first, second)]
        for side, own, other in ((first, *shares), (second, *shares[::-1])):
            members = np.isin(model.labels_ + 1, side)
            assert (own >= 0.95 * (own + other))[members].mean() >= 0.2


def curved_cohort(seed, n=240):
    """Return the values of six features that bend along one severity."""
    rng = np.random.default_rng(seed)
    t = rng.normal(size=(n, 1))
    curvature = 0.5 * np.array([1, 1, 1, -1, -1, -1])
    return t + curvature * (t**2 - 1.0) + 0.5 * rng.normal(size=(n, 6))


def graded_cohort():
    """Return a group of which six features bend along a severity and one far from it, the schema, and who is far."""
    values = curved_cohort(0)
    far = np.arange(240) < 80
    values[far] = 9.0 * np.array([1, -1, 1, -1, 1, -1]) + 0.7 * np.random.default_rng(9).normal(size=(80, 6))
    schema = gaussian_schema("abcdef")
    return pd.DataFrame(values, columns=schema.names), schema, far.astype(np.int64)


@pytest.fixture(scope="module")
def graded():
    frame, schema, far = graded_cohort()
    model = fitted(frame, schema, coarsening=0.6, n_restarts=2)
    return model, far, distinct_subtypes(model, frame, n_draws=40)


@pytest.mark.simulation
def test_a_group_that_bends_is_divided_into_grades_beside_a_distinct_one(graded):
    _, far, distinct = graded
    assert distinct.n_distinct == 2 < distinct.n_subtypes
    np.testing.assert_array_equal(distinct.distinct, far)
    assert distinct.joins["distinct"].tolist()[:2] == [True, False]
    assert distinct.joins["accepted"].tolist()[:2] == [True, True]
    assert f"{distinct.n_subtypes} subtypes, 2 distinct, made" in distinct.summary


@pytest.mark.simulation
def test_a_continuum_is_rarely_divided():
    divided = 0
    for seed in range(10):
        frame, schema, _ = severity_cohort(seed, n=120)
        model = fitted(frame, schema, n_restarts=2)
        assert model.n_clusters_ > 1
        divided += distinct_subtypes(model, frame, n_draws=40).n_subtypes > 1
    assert divided <= 2


def test_a_gross_row_is_no_subtype():
    frame, schema, _ = severity_cohort(2, n_groups=2)
    rng, values = np.random.default_rng(2), frame.to_numpy(dtype=float, copy=True)
    values[:1] *= rng.uniform(30.0, 60.0, size=(1, 1))  # a unit, and a decimal mark
    gross = pd.DataFrame(values, columns=frame.columns)
    model = fitted(gross, schema, n_restarts=2)
    assert model.cluster_sizes_.min() == 1
    distinct = distinct_subtypes(model, gross, n_draws=20)
    assert np.bincount(distinct.labels).min() > 1


def in_unions(labels, of):
    """Return whether labels are unions of others, numbered by decreasing size."""
    sizes = np.bincount(labels)
    assert labels.dtype == np.int64
    whole = all(np.unique(labels[of == k]).size == 1 for k in range(of.max() + 1))
    return whole and sizes.min() > 0 and (np.diff(sizes) <= 0).all()


def test_tested_subtypes_are_unions_of_subtypes_and_distinct_ones_of_these(three, graded):
    for model, distinct in ((three[0], three[3]), graded[::2]):
        assert in_unions(distinct.labels, model.labels_)
        assert in_unions(distinct.distinct, distinct.labels)
        assert distinct.n_distinct == distinct.distinct.max() + 1 <= distinct.n_subtypes
        assert distinct.tree is model.tree_


def test_the_joins_say_what_was_tested(three):
    model, _, _, distinct = three
    joins = distinct.joins
    merges = {row.first + row.second: row for row in model.tree_.merges.itertuples()}
    for row in joins.itertuples():
        merge = merges[row.first + row.second]
        sizes = [np.isin(model.labels_ + 1, side).sum() for side in (row.first, row.second)]
        assert [row.first_size, row.second_size] == sizes
        assert row.n_tested == merge.size == sum(sizes)
        assert row.n_clusters == len(row.first + row.second)
        assert 2 <= row.n_parts <= max(row.n_clusters, 3)
        assert row.excess == pytest.approx(row.gain - row.expected)
        assert row.accepted == (row.p < 0.05)
    assert joins["accepted"].sum() == distinct.n_subtypes - 1
    assert len(joins.iloc[0]["first"] + joins.iloc[0]["second"]) == model.n_clusters_  # the root comes first
    # only the sides of an accepted join are tested
    tested = [set(row.first + row.second) for row in joins.itertuples()]
    accepted = [set(side) for row in joins[joins["accepted"]].itertuples() for side in (row.first, row.second)]
    assert all(one in accepted for one in tested[1:])


def test_one_subtype_needs_no_test(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(80, 4)), columns=list("abcd"))
    model = fitted(frame, gaussian_schema(frame), coarsening=0.5, n_clusters="distinct")
    assert (model.n_clusters_, len(model.tree_test_.joins)) == (1, 0)
    assert len(MAPDP.load(model.save(tmp_path / "model")).tree_test_.joins) == 0
    distinct = distinct_subtypes(model, frame)
    assert (distinct.n_subtypes, len(distinct.joins)) == (1, 0)
    assert (distinct.labels == 0).all()
    assert "found one subtype" in repr(distinct)


def test_fewer_than_ten_subjects_are_one_subtype(tmp_path):
    frame, schema, groups = severity_cohort(3, n=9, n_groups=3, separation=60.0)
    model = fitted(frame, schema, init=groups, n_clusters="distinct")
    assert (model.n_clusters_, model.cluster_labels_.max() + 1, len(model.tree_test_.joins)) == (1, 3, 0)
    np.testing.assert_array_equal(MAPDP.load(model.save(tmp_path / "model")).labels_, model.labels_)
    model = model.cut(None)
    assert model.n_clusters_ == 3
    assert distinct_subtypes(model, frame).n_subtypes == 1
    frame, schema, groups = severity_cohort(3, n=12, n_groups=3, separation=60.0)
    model = fitted(frame, schema, init=groups)
    assert len(distinct_subtypes(model, frame).joins) > 0


@pytest.mark.simulation
def test_a_stricter_level_accepts_no_more(three, monkeypatch):
    monkeypatch.setattr("clinclust.engine.continuum.tested_node._CHECKPOINTS", ())  # the level decides when draws end
    model, frame, _, _ = three
    distinct = distinct_subtypes(model, frame, n_draws=40)
    assert distinct_subtypes(model, frame, n_draws=40, significance_level=1e-300).n_subtypes == 1
    loose = distinct_subtypes(model, frame, n_draws=40, significance_level=0.9999)
    assert loose.n_subtypes > distinct.n_subtypes
    shared = loose.joins.merge(distinct.joins, on=["first", "second"])
    assert (shared["p_x"] == shared["p_y"]).all()  # the test of a join does not depend on the others
    assert len(shared) == len(distinct.joins)


@pytest.mark.simulation
@pytest.mark.parametrize("coarsening", few(["auto", 1.0], 1))
def test_every_likelihood_and_missing_values_are_tested(coarsening):
    frame, schema, _, groups = mixed_cohort(4, 150, EVERY_LIKELIHOOD, n_groups=2, missing=0.2)
    model = fitted(frame, schema, coarsening=coarsening)
    distinct = distinct_subtypes(model, frame, n_draws=30)
    assert adjusted_rand_index(distinct.labels, groups) >= adjusted_rand_index(model.labels_, groups) - 0.02
    assert np.isfinite(distinct.joins[["gain", "expected", "expected_sd", "z", "p"]]).all().all()


# --- what it depends on -------------------------------------------------------------------------------------------


def test_the_seed_is_that_of_the_model_or_the_given_one_and_threads_change_no_bit(three):
    model, frame, _, distinct = three
    assert distinct.test.random_seed == model.random_seed_
    same(distinct_subtypes(model, frame, n_draws=40, random_state=model.random_seed_, n_jobs=1), distinct)
    other = distinct_subtypes(model, frame, n_draws=20, random_state=5)
    assert other.test.random_seed == 5
    assert not np.array_equal(other.joins["expected"], distinct.joins["expected"])
    assert (other.labels == distinct.labels).all()  # nothing here is near the level


@pytest.mark.simulation
def test_the_order_of_rows_and_the_names_of_columns_change_nothing(three):
    model, frame, _, distinct = three
    order = np.random.default_rng(0).permutation(len(frame))
    again = fitted(frame.iloc[order], model.schema_)
    assert (again.labels_ == model.labels_[order]).all()
    found = distinct_subtypes(again, frame.iloc[order], n_draws=40)
    assert (found.labels == distinct.labels[order]).all()
    pd.testing.assert_frame_equal(found.joins, distinct.joins, check_exact=True)

    renamed = frame.rename(columns=lambda name: f"{name} of the subject")
    same(distinct_subtypes(fitted(renamed, gaussian_schema(renamed)), renamed, n_draws=40), distinct)


OPTIONS = {
    "plain": {},
    "coarsened": {"coarsening": 0.7},
    "outlying": {"outlying_share": 0.02},
    "selected": {"select_features": True},
    "greedy": {"hyperparameters": "greedy"},
    "concentration": {"concentration": "map"},
    "no powers": {"block_weights": None},
}


@pytest.mark.simulation
@pytest.mark.parametrize("option", few(OPTIONS, 5))
def test_the_problem_is_the_one_that_the_fit_solved(option):
    frame, schema, _, _ = mixed_cohort(2, 120, EVERY_LIKELIHOOD * 2, n_groups=3)
    if option == "selected":
        noise = [f"noise {place}" for place in range(12)]
        frame[noise] = np.random.default_rng(0).normal(size=(120, 12))
        schema = FeatureSchema([*schema, *(Feature(name=name, likelihood="gaussian") for name in noise)])
    if option == "outlying":
        frame.iloc[3, list(schema.names).index("gaussian_8")] = 400.0
    schema = with_blocks(schema)
    model = fitted(frame, schema, **OPTIONS[option])
    problem = fitted_problem(model.fit_, cohort_of(model, frame).table, model.coarsening_)
    labels = model.labels_[problem.cohort.order]
    found = joint_of(problem, problem.partition(labels))
    if option == "selected":
        from clinclust.engine.joint_estimates.resolution import log_inclusion

        n_selected = len(model.selected_features_)
        assert 0 < n_selected < len(schema)
        assert [one.name in model.selected_features_ for one in problem.cohort.encoding.features] == [True] * n_selected
        found += log_inclusion(n_selected, len(schema))
    if option == "outlying":
        assert model.outliers_.any()
    assert found == pytest.approx(model.log_joint_, abs=1e-6)


@pytest.mark.simulation
def test_features_that_are_not_clustered_on_or_not_selected_change_nothing(three):
    model, frame, _, distinct = three
    noise = np.random.default_rng(0).normal(size=(len(frame), 3))
    wider = frame.assign(outcome=noise[:, 0], constant=1.0)
    more = [
        Feature(name="outcome", likelihood="gaussian", role="describe"),
        Feature(name="constant", likelihood="gaussian"),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        widened = fitted(wider, FeatureSchema([*model.schema_, *more]))
    same(distinct_subtypes(widened, wider, n_draws=40), distinct)


@pytest.mark.simulation
def test_powers_of_blocks_count_in_the_subjects_and_in_the_draws(monkeypatch):
    from clinclust.engine.continuum import tested_node

    frame, schema, _ = severity_cohort(0, n_groups=2)
    blocks = [Feature(name=one.name, likelihood="gaussian", block="b" if one.name > "x3" else None) for one in schema]
    model = fitted(frame, FeatureSchema(blocks), block_weights={"b": 0.3})
    powers = []
    of_part = tested_node.profile
    monkeypatch.setattr(tested_node, "profile", lambda part, *rest: powers.append(part.model) or of_part(part, *rest))
    distinct_subtypes(model, frame, n_draws=20)
    assert len(powers) >= 21
    assert {tuple(sorted(one.powers)) for one in powers} == {(0.3,) * 4 + (1.0,) * 4}
    assert {one.coarsening for one in powers} == {1.0}


# --- what is shown and refused ------------------------------------------------------------------------------------


def test_a_continuum_says_so():
    frame, schema, _ = severity_cohort(1, n=120)
    model = fitted(frame, schema, n_restarts=2)
    distinct = distinct_subtypes(model, frame, n_draws=20)
    assert (distinct.n_subtypes, distinct.n_distinct) == (1, 1)
    assert "One subtype: one continuous population explains the" in repr(distinct)


def test_everything_wrong_is_said_at_once(three):
    model, frame, _, _ = three
    said = "n_draws must .* 20, not 19; significance_level must .*, not 1.0; random_state must .*; n_jobs must "
    with pytest.raises(InputError, match=said):
        distinct_subtypes(model, frame.iloc[:50], n_draws=19, significance_level=1.0, random_state=-1, n_jobs=0)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, np.nan, True, "0.05", None])
def test_levels_outside_are_refused(three, level):
    with pytest.raises(InputError, match="significance_level must be a number above 0 and below 1"):
        distinct_subtypes(three[0], three[1], significance_level=level)


def test_accepted_joins_below_distinct_ones_are_tested_against_a_continuum_that_bends(three, graded):
    for distinct in (three[3], graded[2]):
        joins, steps, root = distinct.joins, distinct.test.joins["step"].tolist(), 2 * distinct.tree.n_subtypes - 2
        assert (joins["distinct"] == (joins["p_any_shape"] < DISTINCT_LEVEL)).all()
        reached = {root}
        for step, row in zip(steps, joins.to_dict("records"), strict=True):
            node = distinct.tree.n_subtypes + step - 1
            assert np.isnan(row["p_any_shape"]) != (row["accepted"] and node in reached)
            reached |= set(distinct.tree.joins[step - 1].tolist()) if row["distinct"] else set()
    assert (
        graded[2].joins["p_any_shape"].notna().sum() == 2
    )  # the far group, and the first division of the one that bends


@pytest.mark.simulation
def test_a_skewed_severity_is_divided_and_not_distinct():
    rng = np.random.default_rng(0)
    severity = rng.exponential(size=(400, 1)) - 1.0
    frame = pd.DataFrame(severity + 0.6 * rng.normal(size=(400, 8)), columns=list("abcdefgh"))
    joins = distinct_subtypes(fitted(frame, gaussian_schema(frame), coarsening="auto"), frame).joins
    assert joins["p"][0] < 0.05 <= joins["p_any_shape"][0]


# --- MAPDP(n_clusters="distinct") -----------------------------------------------------------------------------------


@pytest.mark.simulation
def test_a_fit_that_asks_for_distinct_subtypes_is_the_plain_fit_tested_and_cut(three, tmp_path):
    model, frame, groups, _ = three
    asked = fitted(frame, model.schema_, n_clusters="distinct")
    distinct = distinct_subtypes(model, frame)
    assert asked.n_clusters_ == 3 == distinct.n_subtypes
    assert adjusted_rand_index(asked.labels_, groups) > 0.95
    np.testing.assert_array_equal(asked.cluster_labels_, model.labels_)
    np.testing.assert_array_equal(asked.labels_, distinct.labels)
    assert asked.log_joint_ == model.log_joint_ > merged_log_joint(asked)
    same(DistinctSubtypes(asked.tree_, asked.tree_test_), distinct)
    assert not hasattr(model, "tree_test_")

    loaded = MAPDP.load(asked.save(tmp_path / "model"))
    same(DistinctSubtypes(loaded.tree_, loaded.tree_test_), distinct)
    np.testing.assert_array_equal(loaded.predict(frame), asked.predict(frame))


def test_a_model_is_cut_where_its_tree_was_tested(three):
    model, _, _, distinct = three
    cut = model.cut(distinct)
    assert (cut.n_clusters, cut.n_clusters_) == ("distinct", 3)
    np.testing.assert_array_equal(cut.labels_, distinct.labels)
    assert cut.cut(None).n_clusters_ == model.n_clusters_
    np.testing.assert_array_equal(cut.cut(2).cut("distinct").labels_, cut.labels_)


def test_a_tree_that_was_not_tested_and_the_test_of_another_tree_are_refused(three):
    model, _, _, distinct = three
    with pytest.raises(InputError, match="was not tested at the fit"):
        model.cut("distinct")
    frame, schema, _ = severity_cohort(7)
    with pytest.raises(InputError, match="of another fit"):
        fitted(frame, schema).cut(distinct)
    with pytest.raises(InputError, match="'distinct', 'kinds' or a whole number"):
        fitted(frame, schema, n_clusters="real")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda joins: joins.assign(accepted=~joins["accepted"]), "significance level|above it"),
        (lambda joins: joins.assign(step=1), "above it"),
        (lambda joins: joins.iloc[:0], "no join"),
        (lambda joins: joins.iloc[[0, 0]], "significance level"),
        (lambda joins: joins.assign(distinct=True), "distinct"),
        (lambda joins: joins.assign(distinct=False), "distinct"),
        (lambda joins: joins.assign(distinct=True, p_any_shape=0.0), "distinct"),
    ],
)
def test_a_test_that_no_walk_makes_is_told(three, change, said):
    model, _, _, distinct = three
    test = distinct.test
    assert test.problems(model.tree_) == []
    changed = replace(test, joins=change(test.joins).reset_index(drop=True))
    assert re.search(said, "; ".join(changed.problems(model.tree_)))
