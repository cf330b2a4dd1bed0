"""What holds of every public function of a table: other libraries, other orders of rows, other rows, other models."""

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow
import pytest
from cohorts import quick_fit

import clinclust as cc
from clinclust import check, comparisons, drift, methods, stability
from clinclust.arguments import in_pandas
from clinclust.errors import InputError

RNG = np.random.default_rng(3)
FRAIL = RNG.random(60) < 0.4
FRAME = pd.DataFrame(
    {
        "gait": np.append(RNG.normal(1.2 - 0.6 * FRAIL[1:], 0.1).round(3), np.nan),
        "falls": RNG.poisson(1 + 6 * FRAIL),
        "sex": np.where(RNG.random(60) < 0.5, "female", "male"),
        "died": np.where(RNG.random(60) < 0.3, "yes", "no"),
    }
)
SCHEMA = cc.FeatureSchema(
    [
        cc.Feature(name="gait", likelihood="gaussian"),
        cc.Feature(name="falls", likelihood="poisson"),
        cc.Feature(name="sex", likelihood="bernoulli", levels=["female", "male"]),
    ],
    other_columns="ignore",
)


def of_polars(frame):
    return pytest.importorskip("polars").from_pandas(frame)


@pytest.fixture(scope="module")
def model():
    return quick_fit(FRAME, SCHEMA, n_restarts=1)


CALLS = {
    "draft_schema": lambda model, frame: cc.draft_schema(frame, progress=False).to_yaml(),
    "validate": lambda model, frame: SCHEMA.validate(frame),
    "fit": lambda model, frame: quick_fit(frame, SCHEMA, n_restarts=1).labels,
    "fit of another method": lambda model, frame: methods.KMeans(SCHEMA, n_clusters=2).fit(frame).labels,
    "predict_proba": lambda model, frame: model.predict_proba(frame),
    "explain": lambda model, frame: model.explain(frame[:3]),
    "impute": lambda model, frame: model.impute(frame),
    "log_joint": lambda model, frame: cc.log_joint(
        frame, model.labels_, model.schema_, model.hyperparameters_, concentration=3.0
    ),
    "compare_subtypes": lambda model, frame: cc.compare_subtypes(frame, model.labels, SCHEMA),
    "check_model": lambda model, frame: check.check_model(model, frame).advice,
    "assess_drift": lambda model, frame: drift.assess_drift(model, frame, frame[:40]).features,
    "unusual_subjects": lambda model, frame: cc.unusual_subjects(model, frame),
    "dominant_columns": lambda model, frame: comparisons.dominant_columns(model, frame),
    "compare_outcomes": lambda model, frame: cc.compare_outcomes(model, frame, "died"),
}


PYARROW = pyarrow.Table.from_pandas


@pytest.mark.parametrize(
    ("call", "other"),
    [*((call, of_polars) for call in CALLS), *((call, PYARROW) for call in ("draft_schema", "validate", "fit"))],
)
def test_a_table_of_another_library_gives_what_pandas_gives(model, call, other):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.CohortWarning)
        ours, theirs = CALLS[call](model, FRAME), CALLS[call](model, other(FRAME))
    if isinstance(ours, pd.DataFrame | pd.Series):
        assert ours.to_csv() == theirs.to_csv()
    else:
        np.testing.assert_array_equal(ours, theirs)


def test_whole_numbers_beside_missing_ones_stay_exact():
    large = 2**60 + 1
    table = pyarrow.table({"patient": [large, None], "score": [1.5, None], "ward": ["a", None]})
    frame = in_pandas(table)
    assert int(frame["patient"][0]) == large  # a float would be equal to it
    assert frame["patient"].isna().tolist() == frame["score"].isna().tolist() == frame["ward"].isna().tolist()
    schema = cc.FeatureSchema([cc.Feature(name="patient", role="id")], other_columns="ignore")
    assert schema.validate(table[:1])["patient"].tolist() == [str(large)]


def test_what_holds_no_rows_or_has_no_columns_is_refused_in_the_same_words(model):
    polars = pytest.importorskip("polars")
    for call in (CALLS["fit"], CALLS["validate"], CALLS["draft_schema"], CALLS["compare_subtypes"]):
        with pytest.raises(InputError, match="LazyFrame of polars holds no rows yet: pass what its collect"):
            call(model, of_polars(FRAME).lazy())
    column = polars.Series([1, 2])
    assert in_pandas(column) is column
    words = "must be a table of pandas, polars or pyarrow with one row for each subject"
    for call in (CALLS["validate"], CALLS["draft_schema"], CALLS["compare_subtypes"]):
        with pytest.raises((TypeError, InputError), match=words):
            call(model, column)
    with pytest.raises(InputError, match=words):
        CALLS["fit"](model, {"gait": [1.0]})


def test_labels_may_be_a_column_of_polars(model):
    labels = pytest.importorskip("polars").Series(np.where(FRAIL, "frail", "robust"))
    ours = cc.compare_subtypes(FRAME, np.asarray(labels), SCHEMA)
    pd.testing.assert_frame_equal(cc.compare_subtypes(of_polars(FRAME), labels, SCHEMA), ours)


QUICK = {"progress": False, "n_jobs": 1}
OF_A_FIT = {
    "check_model": lambda model, frame: check.check_model(model, frame).checks,
    "assess_drift": lambda model, frame: drift.assess_drift(model, frame, FRAME[:40]).features,
    "assess_invariance": lambda model, frame: stability.assess_invariance(model, frame, "died").features,
    "assess_stability": lambda model, frame: stability.assess_stability(model, frame, 1, **QUICK).subtypes,
    "continuum_score": lambda model, frame: cc.continuum_score(model, frame),
    "distinct_subtypes": lambda model, frame: cc.distinct_subtypes(model, frame, n_draws=20, n_jobs=1).joins,
    "unusual_subjects": lambda model, frame: cc.unusual_subjects(model, frame),
}


def tidy_report(model, frame):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.csv"
        return pd.read_csv(cc.write_report(model, frame, path, associations=None, progress=False))


OF_SUBTYPES = {
    "validated_associations": lambda model, frame: cc.validated_associations(model, frame, n_restarts=1, **QUICK),
    "multiple_imputations": lambda model, frame: model.multiple_imputations(frame, 1, n_sweeps=1, random_state=0)[0],
    "dominant_columns": lambda model, frame: comparisons.dominant_columns(model, frame),
    "compare_outcomes": lambda model, frame: cc.compare_outcomes(model, frame, "died"),
    "subtype_table": lambda model, frame: cc.subtype_table(model, frame).to_frame(),
    "write_report": tidy_report,
}


@pytest.mark.parametrize("name", OF_A_FIT | OF_SUBTYPES)
def test_rows_in_another_order_are_put_back_and_others_are_refused(model, name):
    call, mixed = (OF_A_FIT | OF_SUBTYPES)[name], FRAME.sample(frac=1.0, random_state=1)
    if name == "multiple_imputations":  # whose rows stay in the order in which they were given
        shuffled = call(model, mixed)
        assert shuffled.index.equals(mixed.index)
    else:
        with pytest.warns(cc.CohortWarning, match="another order"):
            shuffled = call(model, mixed)
    assert shuffled.sort_index().to_csv() == call(model, FRAME).sort_index().to_csv()
    with pytest.raises(InputError, match="the table has 59 rows, but the model was fitted on 60 subjects"):
        call(model, FRAME[1:])
    with pytest.raises(InputError, match="other subjects or other values"):
        call(model, FRAME.assign(falls=FRAME["falls"] + 1))
    with pytest.raises(InputError, match="not fitted"):
        call(methods.PublishedMAPDP(SCHEMA), FRAME)


@pytest.mark.parametrize("name", OF_A_FIT)
def test_what_reads_a_fit_takes_no_other_subtypes(model, name):
    with pytest.raises(InputError, match=f"{name} needs a fitted MAPDP; these subtypes were made by a clinician"):
        OF_A_FIT[name](cc.Partition(model.labels_, SCHEMA, made_by="a clinician"), FRAME)


RANDOM_STATES = {
    "multiple_imputations": lambda model, seed: model.multiple_imputations(FRAME, m=1, n_sweeps=1, random_state=seed)[
        0
    ],
    "check_model": lambda model, seed: check.check_model(model, FRAME, random_state=seed).checks,
    "unusual_subjects": lambda model, seed: cc.unusual_subjects(model, FRAME, random_state=seed),
    "fit": lambda model, seed: (
        cc.methods.PublishedMAPDP(SCHEMA, n_restarts=1, random_state=seed, progress=False).fit(FRAME).restarts_
    ),
}


@pytest.mark.parametrize("call", RANDOM_STATES.values(), ids=RANDOM_STATES)
def test_a_random_state_is_a_seed_that_moves_on(model, call):
    def drawn(state):
        return call(model, state).to_csv()

    state = np.random.RandomState(5)
    assert drawn(np.random.RandomState(5)) == drawn(state)
    assert state.get_state()[2] != np.random.RandomState(5).get_state()[2]
    drawn(np.random.default_rng(0))
    with pytest.raises(InputError, match="random_state must be a whole number from 0"):
        call(model, "5")
