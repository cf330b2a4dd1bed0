"""Fits of Dask DataFrames against fits of the same tables in memory, and hostile partitions."""

import numpy as np
import pandas as pd
import pytest
from partitioned_tables import IDS, N, a_table, an_estimator, cut, dd, in_partitions

import clinclust as cc
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.errors import InputError
from clinclust.estimators import partitioned as fitting
from clinclust.files.row_choice import drawn
from clinclust.schema import validation


@pytest.fixture(scope="module", autouse=True)
def small_samples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "N_SAMPLED", 600)
        yield


@pytest.fixture(scope="module")
def cohort():
    return a_table()


@pytest.fixture(scope="module")
def in_memory(cohort):
    frame, schema = cohort
    return an_estimator(schema).fit(frame)


@pytest.fixture(scope="module")
def model(cohort):
    frame, schema = cohort
    return an_estimator(schema).fit(in_partitions(*cut(frame, 4)))


def test_a_fit_in_partitions_is_that_in_memory(cohort, in_memory, model):
    frame, schema = cohort
    labels = model.labels_.compute()
    assert model.n_clusters_ == in_memory.n_clusters_
    assert adjusted_rand_index(labels.to_numpy(), in_memory.labels_) >= 0.999
    assert model.log_joint_ == pytest.approx(in_memory.log_joint_, abs=0.1 * N / 1_000 + 0.5)
    joint = cc.log_joint(frame, labels.to_numpy(), schema, model.hyperparameters_, model.concentration_)
    assert model.log_joint_ == pytest.approx(joint, abs=1e-6)
    assert model.hyperparameters_["y0"]["kappa"] == pytest.approx(in_memory.hyperparameters_["y0"]["kappa"], rel=1e-9)
    pd.testing.assert_index_equal(labels.index, frame.index)
    np.testing.assert_array_equal(np.bincount(labels), model.cluster_sizes_)
    assert model.summary()["n"].tolist() == model.cluster_sizes_.tolist()
    np.testing.assert_array_equal(model.labels.compute(), labels + 1)
    by_name = cc.compare_subtypes(in_partitions(*cut(frame, 4)), model.labels, schema)
    assert by_name["subtype"].dropna().max() == model.n_clusters_  # categories are numbered from 1, as in memory


def test_the_same_partitions_give_the_same_bits_for_any_number_of_threads(cohort, model):
    frame, schema = cohort
    again = an_estimator(schema, n_jobs=2).fit(in_partitions(*cut(frame, 4)))
    assert again.log_joint_.hex() == model.log_joint_.hex()
    np.testing.assert_array_equal(again.clusters_.statistics, model.clusters_.statistics)
    np.testing.assert_array_equal(again.labels_.compute(), model.labels_.compute())


def test_predictions_are_those_of_each_partition(cohort, model):
    frame, _ = cohort
    table = in_partitions(frame.iloc[:500], frame.iloc[:0], frame.iloc[500:])
    np.testing.assert_array_equal(model.predict(table).compute(), model.predict(frame))
    np.testing.assert_array_equal(model.score_samples(table).compute(), model.score_samples(frame))
    np.testing.assert_array_equal(model.predict_proba(table).compute(), model.predict_proba(frame))
    pd.testing.assert_frame_equal(model.transform(table).compute(), model.transform(frame))
    pd.testing.assert_frame_equal(model.impute(table).compute(), model.impute(frame))


OF_ITS_COHORT = {
    "associations": lambda model, frame: cc.validated_associations(model, frame, progress=False),
    "check": lambda model, frame: cc.check.check_model(model, frame),
    "distinct": lambda model, frame: cc.distinct_subtypes(model, frame),
    "dominance": lambda model, frame: cc.comparisons.dominant_columns(model, frame),
    "drift": lambda model, frame: cc.drift.assess_drift(model, frame, frame),
    "imputations": lambda model, frame: model.multiple_imputations(frame, 1),
    "outcomes": lambda model, frame: cc.compare_outcomes(model, frame, "falls"),
    "report": lambda model, frame: cc.write_report(model, frame, "never.html"),
    "stability": lambda model, frame: cc.stability.assess_stability(model, frame, progress=False),
    "table": lambda model, frame: cc.subtype_table(model, frame),
    "unusual": lambda model, frame: cc.unusual_subjects(model, frame),
    "validation": lambda model, frame: cc.stability.validate_subtypes(model, frame, frame),
}


@pytest.mark.parametrize("ask", OF_ITS_COHORT.values(), ids=OF_ITS_COHORT)
def test_what_needs_the_cohort_in_memory_says_how_to_get_a_sample_of_it(ask, cohort, model):
    for frame in (cohort[0], model.in_sample()[1]):
        with pytest.raises(InputError, match=r"in_sample\(\) gives a model and a table in memory"):
            ask(model, frame)


def test_neither_partitions_nor_the_order_of_identified_rows_choose_the_sample(cohort):
    frame, _ = cohort
    whole = drawn(frame, IDS, 0, 0.3, 7)
    assert 0.2 < whole.mean() < 0.4
    parts = [drawn(part, IDS, 999, 0.3, 7) for part in cut(frame, 5)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    shuffled = frame.sample(frac=1.0, random_state=1)
    np.testing.assert_array_equal(shuffled.index[drawn(shuffled, IDS, 0, 0.3, 7)].sort_values(), frame.index[whole])
    by_number = drawn(frame, (), 0, 0.3, 7)
    starts = np.cumsum([0, *map(len, cut(frame, 5))])
    parts = [drawn(part, (), start, 0.3, 7) for part, start in zip(cut(frame, 5), starts, strict=False)]
    np.testing.assert_array_equal(np.concatenate(parts), by_number)
    assert drawn(frame, (), 0, 1.0, 7).all()


def test_the_sample_that_is_checked_is_that_of_the_fit(cohort, monkeypatch):
    frame, schema = cohort
    monkeypatch.setattr(validation, "N_SAMPLED", 600)
    numbers = frame["patient"].str[1:].astype(float)
    parts = cut(frame.assign(patient=numbers), 2)
    parts[1] = parts[1].assign(patient=numbers[len(parts[0]) :].map(" {:.0f}".format))
    table = in_partitions(parts[0], frame.iloc[:0], parts[1])
    found = validation.validated_sample(table, schema, progress=False)
    assert found.n_of_all == N
    fitted = an_estimator(schema).fit(table).in_sample()[1]
    np.testing.assert_array_equal(found.rows.index, fitted.index)


def hostile(frame):
    """Return tables with the same subjects in partitions that are hard to read, by what is hard."""
    parts = cut(frame, 4)
    changed = [part.copy() for part in parts]
    changed[0]["named"] = changed[0]["named"].astype("category")
    changed[1]["named"] = pd.Categorical(changed[1]["named"], categories=["c", "b", "a"])
    changed[2]["named"] = changed[2]["named"].astype("string")
    changed[2]["yes1"] = changed[2]["yes1"].astype(object)
    changed[3]["falls"] = changed[3]["falls"].map(lambda number: "" if np.isnan(number) else f"{number:.0f}")
    return {
        "one partition": [frame],
        "empty partitions": [parts[0].iloc[:0], *parts[:2], parts[0].iloc[:0], *parts[2:], parts[3].iloc[:0]],
        "types that differ": changed,
        "other orders of columns": [part[part.columns[:: 1 - 2 * (place % 2)]] for place, part in enumerate(parts)],
        "an index that repeats": [part.set_axis(np.zeros(len(part)), axis="index") for part in parts],
        "an index without order": cut(frame.set_axis(np.random.default_rng(0).permutation(N), axis="index"), 4),
        "divisions": dd.from_pandas(frame, npartitions=4),
    }


@pytest.mark.simulation
def test_hostile_partitions_change_nothing(cohort, model, some):
    frame, schema = cohort
    labels = model.labels_.compute().to_numpy()
    for name, parts in some(hostile(frame).items(), 3):
        table = in_partitions(*parts) if isinstance(parts, list) else parts
        fitted = an_estimator(schema).fit(table)
        found = fitted.labels_.compute()
        np.testing.assert_array_equal(found.to_numpy(), labels, err_msg=name)
        index = np.concatenate([part.index for part in parts]) if isinstance(parts, list) else frame.index
        np.testing.assert_array_equal(found.index, index, err_msg=name)


@pytest.mark.simulation
def test_values_missing_in_one_partition_and_levels_absent_from_the_sample(cohort, monkeypatch):
    frame, schema = cohort
    monkeypatch.setattr(fitting, "N_SAMPLED", 300)
    parts = [part.copy() for part in cut(frame, 4)]
    parts[1]["y0"] = np.nan
    parts[2][["named", "falls"]] = None
    outside = np.flatnonzero(~drawn(parts[3], IDS, 0, 300 / N, 0))[0]
    parts[3].iloc[outside, parts[3].columns.get_loc("falls")] = 77.0
    fitted = an_estimator(schema, outlying_share=0.01).fit(in_partitions(*parts))
    assert adjusted_rand_index(fitted.labels_.compute().to_numpy(), an_estimator(schema).fit(frame).labels_) > 0.8
    assert fitted.clusters_.sizes.sum() == N


def test_all_failures_of_all_partitions_are_one_report(cohort):
    frame, schema = cohort
    parts = [part.astype({"yes1": object}) for part in cut(frame, 4)]
    parts[1].iloc[3, parts[1].columns.get_loc("yes1")] = "seven"
    parts[3].iloc[5, parts[3].columns.get_loc("named")] = "z"
    with pytest.raises(cc.CohortError) as caught:
        an_estimator(schema).fit(in_partitions(*(part.drop(columns="y2") for part in parts)))
    failures = caught.value.failures
    assert failures["column"].tolist() == ["y2", "yes1", "named"]
    assert failures["partition"].tolist() == [-1, 1, 3]
    assert failures["first_rows"].tolist()[1:] == [[303], [905]]
    assert "yes1 (partition 1): expected a number; 1 row (first: 303) holds 'seven'" in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"init": np.zeros(N, dtype=int), "missing": "mode"},
            "init as labels, missing='mode': needs the table in memory",
        ),
        ({"min_size": 700}, "at least 700 subjects in a subtype were asked for"),
    ],
)
def test_what_needs_the_whole_table_is_refused(cohort, parameters, message):
    frame, schema = cohort
    with pytest.raises(InputError, match=message):
        an_estimator(schema, **parameters).fit(in_partitions(*cut(frame, 2)))


def test_a_table_without_rows_is_refused(cohort, model):
    frame, schema = cohort
    nothing = in_partitions(frame.iloc[:0], frame.iloc[:0])
    for asked in (an_estimator(schema).fit, model.predict):
        with pytest.raises(InputError, match="no rows in any of its partitions"):
            asked(nothing)


def test_reports_are_of_the_sample(in_memory, model):
    sampled, sample = model.in_sample()
    assert sampled.labels_.size == len(sample)
    np.testing.assert_array_equal(sampled.labels_, model.labels_.compute().loc[sample.index])
    assert cc.compare_subtypes(sample, sampled.labels, sampled.schema_) is not None
    with pytest.raises(InputError, match="in memory"):
        in_memory.in_sample()
    coarse = model.cut(2)
    assert coarse.n_clusters_ == 2
    assert coarse.cluster_sizes_.sum() == N
    assert f"of {N:,} subjects" in model._repr_html_()


def test_a_saved_model_predicts_with_the_clusters_of_all_subjects(cohort, model, tmp_path):
    frame, _ = cohort
    loaded = cc.MAPDP.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(frame))
    assert loaded.cluster_sizes_.tolist() == model.cluster_sizes_.tolist()
    assert loaded.log_joint_ == model.log_joint_
    assert loaded.cut(2).subtype_of_.tolist() == model.cut(2).subtype_of_.tolist()
    assert not hasattr(loaded, "labels_")
    with pytest.raises(InputError, match="does not hold its sample"):
        loaded.in_sample()
    whole = model.fit_.all_subjects
    with pytest.raises(InputError, match="fewer or smaller than those of the sample"):
        type(model.fit_).of(model.fit_.in_sample_, whole._replace(sizes=whole.sizes - N // 2))


def test_a_schema_is_drafted_from_a_sample(cohort):
    frame, _ = cohort
    with pytest.warns(cc.CohortWarning, match="drafted from a sample"):
        fitted = an_estimator(None).fit(in_partitions(*cut(frame.drop(columns="patient"), 3)))
    assert fitted.schema_.names == list(frame.columns[1:])


@pytest.mark.simulation
def test_the_recommended_way_in_partitions_is_that_in_memory():
    frame, schema = a_table(5, 30_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "N_SAMPLED", 8_000)
        fitted = cc.MAPDP(schema, random_state=0, progress=False).fit(in_partitions(*cut(frame, 5)))
    expected = cc.MAPDP(schema, random_state=0, progress=False).fit(frame)
    assert fitted.n_clusters_ == expected.n_clusters_
    assert adjusted_rand_index(fitted.labels_.compute().to_numpy(), expected.labels_) >= 0.999
    assert fitted.log_joint_ == pytest.approx(expected.log_joint_, abs=0.1 * 30.0)
