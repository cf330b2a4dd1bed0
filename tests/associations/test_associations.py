"""Tests of features against subtypes that they did not form."""

from threading import Event

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from scipy import stats
from scored import few
from sklearn.metrics import adjusted_rand_score

import clinclust as cc
from clinclust.associations import refit as refits
from clinclust.associations.refit import AsReported, Subtypes, as_many, effects, refit, without
from clinclust.comparisons.differences import contrast_of
from clinclust.engine.problem.problem import pose
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import adjusted_rand_index, by_decreasing_size, merge_tree
from clinclust.estimators.fit import SubtypeTree
from clinclust.estimators.fitting import search

# Exponential values are declared Gaussian where several subtypes must be found in noise.
pytestmark = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")

PLAN = SearchPlan(seed=3, n_restarts=3, n_jobs=1, refine=False, divide=False)
TWO = AsReported(2, 2, 2, 30)


def cohort(seed=0, n=240, shift=2.0, n_informative=4):
    """Two halves that differ in some normal features; noise of other kinds; one described feature."""
    rng = np.random.default_rng(seed)
    half = np.arange(n) % 2
    columns = {f"marker{i}": rng.normal(size=n) + shift * half for i in range(n_informative)}
    columns["noise"] = rng.normal(size=n)
    columns["count"] = rng.poisson(2.0, n).astype(float)
    columns["kind"] = rng.choice(3, n).astype(float)
    columns["outcome"] = rng.normal(size=n) + half
    frame = pd.DataFrame(columns)
    frame = frame.mask(rng.random(frame.shape) < 0.05)
    kind = {"likelihood": "categorical", "levels": ("0", "1", "2")}
    more = {"noise": {"label": "Noise"}, "count": "poisson", "kind": kind}
    schema = schema_of(frame, **more, outcome={"role": "describe"})
    frame["kind"] = frame["kind"].map({0.0: "0", 1.0: "1", 2.0: "2"})
    return schema.validate(frame), schema


@pytest.fixture(scope="module")
def fitted():
    frame, schema = cohort(n=800)
    return quick_fit(frame, schema, n_restarts=3), frame


@pytest.fixture(scope="module")
def found(fitted):
    return cc.validated_associations(*fitted, n_restarts=2, progress=False)


def test_what_forms_the_subtypes_is_found_and_noise_is_not(fitted, found):
    rows, (model, frame) = found.set_index("feature"), fitted
    markers = [f"marker{i}" for i in range(4)]
    assert (rows.loc[markers, "p"] < 1e-6).all()
    assert (rows.loc[["noise", "count", "kind"], "p"] > 0.01).all()
    assert (rows.loc[markers, "method"] == "refit").all()
    assert (rows.loc[rows["p"] < 1e-6, "grade"] == "differs beyond dependence").mean() > 0.5
    np.testing.assert_allclose(rows["q"], stats.false_discovery_control(rows["p"].to_numpy()))
    row, labels = rows.loc["outcome"], model.labels_
    expected = contrast_of(frame["outcome"].to_numpy(float), labels, "welch")  # described: the subtypes of the model
    assert (row["method"], row["test"], row["statistic"], row["p"]) == ("direct", *expected[:2], expected.p)
    assert row["n"] == frame["outcome"].notna().sum()


@pytest.mark.parametrize("feature", few(["marker0", "kind", "noise", "count"], 2))
def test_the_refit_knows_nothing_of_the_feature_left_out(feature):
    frame, schema = cohort()
    other = frame.copy()
    other[feature] = frame[feature].sample(frac=1.0, random_state=9).array
    labels = []
    for table in (frame, other):
        problem = pose(table, schema, {}, 3.0)
        left_out = np.array([encoded.name == feature for encoded in problem.cohort.encoding.features])
        scores = [encoded.scores(table[encoded.name]) for encoded in problem.cohort.encoding.features]
        values = pd.DataFrame(np.column_stack(scores)[problem.cohort.order])
        reduced, order = without(problem, left_out, values)
        found = np.empty(len(table), dtype=np.int64)
        found[problem.cohort.order[order]] = refit(reduced, PLAN, TWO)
        labels.append(found)
    np.testing.assert_array_equal(*labels)


def test_a_large_cohort_is_searched_among_a_sample_in_the_refits_too(monkeypatch):
    frame, schema = cohort()
    problem = pose(frame, schema, {}, 3.0)
    among_all = search(problem, PLAN)
    assert not any(restart.start.startswith("sample: ") for restart in among_all.restarts)
    monkeypatch.setattr("clinclust.estimators.fitting.LARGE", 200)
    monkeypatch.setattr("clinclust.engine.search.settle.N_SAMPLED", 100)
    assert all(restart.start.startswith("sample: ") for restart in search(problem, PLAN).restarts)
    found = refit(problem, PLAN, TWO)
    assert adjusted_rand_index(found, by_decreasing_size(among_all.winner.labels)) > 0.9


@pytest.mark.simulation
def test_neither_threads_nor_the_order_of_the_table_change_anything(fitted):
    model, frame = fitted
    options = {"n_restarts": 3}
    expected = cc.validated_associations(model, frame, n_jobs=1, **options)
    pd.testing.assert_frame_equal(cc.validated_associations(model, frame, n_jobs=2, **options), expected)
    shuffled = frame.sample(frac=1.0, random_state=1)
    again = quick_fit(shuffled, model.schema_, n_restarts=3)
    found = cc.validated_associations(again, shuffled, **options)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-10)


def test_a_saved_model_gives_the_same(fitted, found, tmp_path):
    model, frame = fitted
    model.save(tmp_path)
    pd.testing.assert_frame_equal(cc.validated_associations(cc.MAPDP.load(tmp_path), frame, n_restarts=2), found)


def pairs(n=400, seed=4, block=None):
    """Ten exponential features, taken for Gaussian, in pairs whose normal scores correlate at .7."""
    rng = np.random.default_rng(seed)
    normal = np.sqrt(0.7) * np.repeat(rng.normal(size=(n, 5)), 2, axis=1) + np.sqrt(0.3) * rng.normal(size=(n, 10))
    frame = pd.DataFrame(stats.expon.isf(stats.norm.sf(normal))).rename(columns="x{}".format)
    features = [
        cc.Feature(name=name, likelihood="gaussian", block=block and block.format(i // 2))
        for i, name in enumerate(frame)
    ]
    return frame, cc.FeatureSchema(features)


def quick(schema, frame, **options):
    begin = np.random.default_rng(0).integers(6, size=len(frame))
    return quick_fit(frame, schema, n_restarts=1, init=begin, **options)


@pytest.mark.simulation
def test_dependence_that_no_block_declares_is_said_beside_p():
    frame, schema = pairs()
    found = cc.validated_associations(quick(schema, frame), frame)
    assert not (found["grade"] == "differs beyond dependence").any()
    assert (found["p"] < 0.05).mean() > 0.5
    named = found["remark"].str.extract(r"its relation to other features, most to (x\d) \(r = 0\.")[0].dropna()
    assert len(named) >= 3
    assert [int(other[1]) ^ 1 for other in named] == named.index.tolist()  # each names the other one of its pair


def test_a_block_is_left_out_as_a_whole():
    frame, schema = pairs(block="pair {}")
    found = cc.validated_associations(quick(schema, frame), frame)
    assert found["left_out"].tolist() == [f"x{i + 1 - 2 * (i % 2)}" for i in range(10)]
    assert found["grade"].isin(["not shown", "not tested"]).all()
    assert (found["p"] > 1e-3).all()


@pytest.mark.simulation
def test_many_features_are_left_out_a_few_at_a_time_and_blocks_as_a_whole():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], 30)
    frame = pd.DataFrame({f"x{i}": rng.normal(3.0 * groups) for i in range(60)})
    blocks = {"x0": "b", "x1": "b"}
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian", block=blocks.get(name)) for name in frame])
    model = quick(schema, frame)
    left_out = cc.validated_associations(model, frame, n_restarts=1).set_index("feature")["left_out"]
    together = {frozenset([name, *others.split("; ")]) for name, others in left_out.items()}
    assert len(together) == 24
    assert sorted(name for group in together for name in group) == sorted(frame)  # each is left out of one search
    assert any({"x0", "x1"} <= group for group in together)


def test_where_nothing_is_left_to_test_against_the_row_says_so():
    frame, schema = pairs(block="all")
    found = cc.validated_associations(quick(schema, frame), frame)
    assert found["p"].isna().all()
    assert found["method"].isna().all()
    assert set(found["remark"]) == {"not tested: without it (and its block) no feature is left"}

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"two": rng.normal(size=80) + 9 * (np.arange(80) % 2), "noise": rng.normal(size=80), "same": 1.0}
    )
    schema = gaussian_schema(frame)
    with pytest.warns(cc.CohortWarning, match="same"):
        model = cc.methods.PublishedMAPDP(schema, random_state=0, progress=False).fit(frame)
    found = cc.validated_associations(model, frame).set_index("feature")
    assert model.n_clusters_ == 2
    assert found.loc["two", "remark"].startswith("not tested: without it there are other subtypes (agreement ")
    assert found.loc["two", "agreement"] < 0.1
    assert found.loc["two", "p"] > 0.01
    assert found.loc["same", "remark"].startswith("not tested: it has ")
    assert found.loc["noise", "p"] > 0.01


@pytest.mark.simulation
@pytest.mark.parametrize("options", [{"select_features": True}, {"outlying_share": 0.01}, {"coarsening": 0.5}])
def test_searches_that_find_more_than_the_partition_are_refitted_alike(options):
    frame, schema = cohort(n=120, shift=3.0)
    model = quick_fit(frame, schema, n_restarts=3, **options)
    found = cc.validated_associations(model, frame, n_restarts=3).set_index("feature")
    assert (found["p"].iloc[:4] < 1e-3).all()
    assert found.loc["noise", "p"] > 1e-3


@pytest.mark.simulation
def test_noise_that_is_split_is_not_found_significant():
    """Exponential noise taken for Gaussian: several subtypes, and naive tests that are nearly all significant."""
    naive, valid = [], []
    for seed in range(40):
        frame = pd.DataFrame(np.random.default_rng([5, seed]).exponential(size=(150, 5))).rename(columns="x{}".format)
        schema = gaussian_schema(frame)
        model = quick(schema, frame)
        naive += cc.compare_subtypes(frame, model.labels_, schema).query("kind == 'contrast'")["p"].tolist()
        valid += cc.validated_associations(model, frame, n_restarts=3, progress=False)["p"].dropna().tolist()
    assert np.mean(np.array(naive) < 0.05) > 0.6
    assert len(valid) > 150
    # Three standard errors of the share of 200 tests, which are close to independent, above the level.
    assert np.mean(np.array(valid) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(valid))


def test_everything_wrong_is_said_at_once(fitted):
    model, frame = fitted
    with pytest.raises(ValueError, match=r"n_restarts must be .* n_jobs .* random_state"):
        cc.validated_associations(model, frame, n_restarts=0, n_jobs=0, random_state=-1)
    with pytest.raises(ValueError, match=r"min_size must be .*; the table has 10 rows, but"):
        cc.validated_associations(model, frame.head(10), min_size=0)


def test_nothing_is_searched_for_where_the_cohort_is_one_subtype(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 4)) + 5.0 * (np.arange(80) % 2)[:, None], columns=list("abcd"))
    model = quick_fit(frame, cc.draft_schema(frame)).cut(1)
    monkeypatch.setattr(refits, "search", lambda *_: pytest.fail("a search was made"))
    rows = cc.validated_associations(model, frame)
    assert rows["p"].isna().all()
    assert rows["remark"].str.contains("there is one subtype only").all()
    assert (rows["n_subtypes"] == 1).all()


def test_why_a_described_feature_was_not_tested_is_told():
    rng = np.random.default_rng(0)
    half = np.arange(80) % 2
    frame = pd.DataFrame(rng.normal(size=(80, 4)) + 5.0 * half[:, None], columns=list("abcd"))
    frame["one_side"] = np.where(half == 1, rng.normal(size=80), np.nan)
    frame["same"] = 1.0
    model = quick_fit(frame, schema_of("abcd", one_side={"role": "describe"}, same={"role": "describe"}))
    remarks = cc.validated_associations(model, frame).set_index("feature")["remark"]
    assert remarks["one_side"] == "not tested: the observed values of the subtypes do not vary, or are too few"
    assert remarks["same"].startswith("not tested: the observed values of the subtypes do not vary")
    remarks = cc.validated_associations(model, frame, min_size=41).set_index("feature")["remark"]
    assert remarks["one_side"] == "not tested: fewer than two subtypes have 41 subjects"


# --- features that make the subtypes only together, and what a validated p is about -----------------------------------


def few_informative(seed, n=400, shift=1.5):
    """Four of 14 features make the subtypes together; without any of them the log joint prefers one subtype."""
    table = np.random.default_rng([14, seed]).normal(size=(n, 14))
    table[:, :4] += shift * np.repeat([0.0, 1.0], n // 2)[:, None]
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    return frame, gaussian_schema(frame)


def fitted_without(schema, frame, name):
    others = cc.FeatureSchema([feature for feature in schema if feature.name != name])
    return quick_fit(frame.drop(columns=name), others)


@pytest.mark.simulation
def test_features_that_make_the_subtypes_only_together_are_tested_too():
    found, alone = [], []
    for seed in range(5):
        frame, schema = few_informative(seed)
        model = quick_fit(frame, schema)
        assert model.n_clusters_ == 2
        rows = cc.validated_associations(model, frame, progress=False)
        assert (rows["n_subtypes"].dropna() == 2).all()
        found.append(rows.head(4))
        alone += [fitted_without(schema, frame, name).n_clusters_ == 1 for name in frame.columns[:4]]
    assert np.mean(alone) > 0.5
    rows = pd.concat(found)
    assert (rows["p"] < 1e-6).mean() > 0.9
    assert rows["agreement"].median() > 0.5
    assert (rows["effect"] > 0.3 * rows["effect_reported"]).mean() > 0.9


def test_effects_are_those_of_the_subtypes_found_without_the_feature():
    frame, _ = few_informative(0)
    reported = np.repeat([0, 1], 200)
    found = np.where(np.arange(400) < 20, 1 - reported, reported)[::-1]
    rows = np.arange(400)[::-1]
    fitted_without = Subtypes(rows, found)
    labels = found[np.argsort(rows)]
    x = frame["x0"].to_numpy()
    got = effects(x[:, None], reported, reported, fitted_without)
    assert got[0] == pytest.approx((x[200:].mean() - x[:200].mean()) / x.std())
    assert got[1] == pytest.approx((x[labels == 1].mean() - x[labels == 0].mean()) / x.std())
    swapped = effects(-x[:, None], reported, reported, fitted_without)  # the other one is higher, by as much
    assert swapped == pytest.approx(got)


@pytest.fixture(scope="module")
def one_and_two_odd_ones():
    """One population of 200 in which four features differ a little, and two odd subjects far away from all."""
    rng = np.random.default_rng(3)
    table = rng.normal(size=(202, 8))
    table[:100, :4] += 1.2
    table[200:] += np.array([[40.0], [-40.0]])
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    problem = pose(frame, gaussian_schema(frame), {}, 3.0)
    rows = problem.cohort.order
    return problem, np.where(rows < 200, 0, rows - 199), rows


@pytest.mark.simulation
def test_odd_subjects_do_not_stand_for_the_subtypes_that_are_missing(one_and_two_odd_ones):
    problem, clusters, rows = one_and_two_odd_ones
    found, subtype_of = as_many(problem, clusters, AsReported(2, 2, 2, 30), 0, Event())
    subtypes = subtype_of[found]
    assert (np.bincount(subtypes) >= 30).sum() == 2
    halves = subtypes[rows < 200] == np.bincount(subtypes).argmax()
    assert abs(np.corrcoef(halves, rows[rows < 200] < 100)[0, 1]) > 0.4
    assert subtype_of.max() + 1 == np.unique(subtypes).size


@pytest.mark.simulation
def test_what_is_merged_along_the_tree_keeps_its_clusters(one_and_two_odd_ones):
    problem, _, rows = one_and_two_odd_ones
    finer = rows // 60
    found, subtype_of = as_many(problem, finer, AsReported(2, 1, 1, 30), 0, Event())
    assert adjusted_rand_score(found, finer) == 1.0
    tree = SubtypeTree(found, *merge_tree(problem, found))
    assert adjusted_rand_score(subtype_of[found], tree.subtype_of(2)[found]) == 1.0


def test_nothing_is_divided_below_the_subjects_that_are_enough(one_and_two_odd_ones):
    problem, clusters, _ = one_and_two_odd_ones
    found, subtype_of = as_many(problem, clusters, AsReported(3, 3, 3, 150), 0, Event())
    assert adjusted_rand_score(subtype_of[found], clusters) == 1.0
