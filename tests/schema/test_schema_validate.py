import contextlib
import gc
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from cohorts import gaussian_schema
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from schema_strategies import cohorts
from scored import scored

from clinclust.errors import CohortError, CohortWarning
from clinclust.schema import Feature, FeatureSchema, kept_out
from schemas import stored_schema

SCHEMA = stored_schema("every_kind")
TEXT = pd.DataFrame(read_beside(__file__)["text_table"])


def with_column(**columns):
    return TEXT.assign(**columns)


def test_text_becomes_typed_columns_in_schema_order():
    frame = SCHEMA.validate(TEXT[TEXT.columns[::-1]])
    assert list(frame.columns) == [name for name in SCHEMA.names if name != "note"]
    assert frame["id"].tolist() == ["001", "002", "003", "1E5"]
    assert frame["id"].dtype == pd.StringDtype(na_value=np.nan)
    assert frame["tremor"].dtype == pd.CategoricalDtype(["no", "yes"], ordered=True)
    assert list(frame["stage"].cat.categories) == ["0", "1", "1.5", "2"]
    assert frame["stage"].cat.ordered
    assert not frame["type"].cat.ordered
    assert frame["tremor"].tolist()[3] == "yes"
    for name, values in {
        "smoker": [0, 1, None, 1],
        "face": [0, 4, None, 2],
        "rank": [1, 5, None, 3],
        "falls": [0, 12, None, 100],
    }.items():
        assert_frame_equal(frame[[name]], pd.DataFrame({name: pd.array(values, dtype="Int64")}))
    for name, values in {"years": [0, 1.5, np.nan, 0.5], "crp": [0.1, 3, np.nan, 0.001]}.items():
        assert_frame_equal(frame[[name]], pd.DataFrame({name: np.array(values, dtype=float)}))


def test_typed_columns_are_accepted_in_every_shape():
    frame = TEXT.assign(
        tremor=pd.Categorical(["no", "yes", None, "yes"], categories=["maybe", "yes", "no"]),
        smoker=pd.array([False, True, None, True], dtype="boolean"),
        face=[0.0, 4.0, np.nan, 2.0],
        stage=[0.0, 1.5, np.nan, 2.0],
        rank=pd.array([1, 5, None, 3], dtype="Int8"),
        falls=[0, 12, -9, 100],
        years=pd.Series([0, "1.5", None, np.float32(0.5)], dtype=object),
        crp=[0.1, 3, None, 0.001],
    )
    assert_frame_equal(SCHEMA.validate(frame), SCHEMA.validate(TEXT))


def test_bool_columns_match_levels_by_their_text():
    schema = FeatureSchema([Feature(name="x", likelihood="bernoulli", levels=["False", "True"])])
    frame = schema.validate(pd.DataFrame({"x": [True, False]}))
    assert frame["x"].tolist() == ["True", "False"]
    mixed = schema.validate(pd.DataFrame({"x": pd.Series([True, None, "False"], dtype=object)}))
    assert mixed["x"].isna().tolist() == [False, True, False]


def test_equal_categories_in_another_order_are_not_taken_for_the_levels():
    schema = FeatureSchema([Feature(name="x", likelihood="categorical", levels=["b", "a"])])
    frame = schema.validate(pd.DataFrame({"x": pd.Categorical(["a", "b", "a"], categories=["a", "b"])}))
    assert frame["x"].tolist() == ["a", "b", "a"]
    assert schema["x"].scores(frame["x"]).tolist() == [1, 0, 1]


@pytest.mark.parametrize("levels", [["0", "1", "1.5", "2"], ["2.0", "1.50", "+1", "00"]])
def test_the_number_of_a_level_is_this_level_however_it_is_written(levels):
    features = [Feature(name="x", likelihood="categorical", levels=levels, missing_codes=["-9"])]
    schema = FeatureSchema(features, missing_codes=["", "99"])
    ways = {level: [level, f"{float(level):.2f}", f"{float(level):g}", f"0{float(level)}"] for level in levels}
    cells = [(level, way) for level, given in ways.items() for way in given]
    frame = schema.validate(pd.DataFrame({"x": [way for _, way in cells]}))
    assert frame["x"].tolist() == [level for level, _ in cells]
    absent = ["-9.0", "99.0", "99", "", "-9", None]
    assert schema.validate(pd.DataFrame({"x": [*levels, *absent]}))["x"].isna().tolist() == [False] * 4 + [True] * 6
    with pytest.raises(CohortError, match="4 rows"):
        schema.validate(pd.DataFrame({"x": ["2.01", "inf", "nan", "-9.5"]}))


def test_a_number_that_two_levels_write_is_neither():
    schema = FeatureSchema(
        [Feature(name="x", likelihood="categorical", levels=["1", "01", "2"], missing_codes=["2.0"])]
    )
    assert schema.validate(pd.DataFrame({"x": ["1", "01", "2", "2.0"]}))["x"].tolist()[:3] == ["1", "01", "2"]
    with pytest.raises(CohortError, match="2 rows"):
        schema.validate(pd.DataFrame({"x": ["1.0", "2.00"]}))


def test_one_true_and_one_are_three_different_cells():
    schema = FeatureSchema([Feature(name="x", likelihood="categorical", levels=["1", "True", "1.5"])])
    frame = schema.validate(pd.DataFrame({"x": pd.Series([1, True, 1.0, 1.5, "1"], dtype=object)}))
    assert frame["x"].tolist() == ["1", "True", "1", "1.5", "1"]


# name of the column, cells that take its place, what the one failure must say: those that no file of cases can hold
MORE_CELLS = [
    ("id", ["1", "", None, "3"], "identifier in every row", 2, [1, 2], [], "Fill"),
    ("tremor", [True, False, None, True], "one of the levels", 3, [0, 1, 3], [True, False], "missing_codes"),
    ("type", pd.Categorical(["rigid", "x", "x", "mixed"]), "one of the levels", 2, [1, 2], ["x"], "levels"),
    ("falls", [np.inf, 0, 1, 2], "a finite number", 1, [0], [np.inf], "Correct"),
    ("years", pd.date_range("2020", periods=4), "a number", 4, [0, 1, 2, 3], None, "Dates and times"),
    ("years", pd.timedelta_range("1D", periods=4), "a number", 4, [0, 1, 2, 3], None, "Correct"),
    ("years", [1 + 2j, 1, 2, 3], "a number", 4, [0, 1, 2, 3], None, "Correct"),
    ("crp", [b"5", "2", "3", "4"], "a number", 1, [0], ["b'5'"], "Correct"),
    ("score", [-np.inf, 0, 1, 2], "a finite number", 1, [0], [-np.inf], "Correct"),
]


@scored([*cases_beside(__file__, "cells"), *MORE_CELLS])
def test_a_malformed_column_gives_its_one_failure(name, cells, expected, rows, first_rows, examples, repair):
    with pytest.raises(CohortError) as caught:
        SCHEMA.validate(with_column(**{name: cells}))
    assert len(caught.value.failures) == 1
    failure = caught.value.failures.iloc[0]
    assert failure["column"] == name
    assert expected in failure["expected"]
    assert failure["rows"] == rows
    assert failure["first_rows"] == first_rows
    if examples is not None:
        assert failure["examples"] == examples
    assert repair in failure["repair"]
    assert name in str(caught.value)


# the whole table, what the failures must say: (column, words)
MALFORMED_TABLES = [
    (TEXT.drop(columns="crp"), [("crp", "There is no such column")]),
    (TEXT.rename(columns={"crp": "CRP "}), [("crp", "Did you mean 'CRP '"), ("CRP ", "Did you mean 'crp'")]),
    (TEXT.assign(extra=1), [("extra", "other_columns: ignore")]),
    (TEXT.set_axis([*TEXT.columns[:-1], 7], axis=1), [("7", "role: ignore")]),
    (pd.concat([TEXT, TEXT["crp"]], axis=1), [("crp", "2 columns of this name")]),
    (TEXT.assign(a=1, b=2).rename(columns={"b": "a"}), [("a", "2 columns"), ("a", "other_columns")]),
    (TEXT.iloc[:0], [("the table", "Check how the file was read")]),
    (pd.DataFrame(), [("the table", "Check how the file was read")]),
    (pd.concat({"a": TEXT}, axis=1), [("the table", "Join the names")]),
]


@pytest.mark.parametrize(("frame", "failures"), MALFORMED_TABLES)
def test_a_malformed_table_names_the_column_and_the_repair(frame, failures):
    with pytest.raises(CohortError) as caught:
        SCHEMA.validate(frame)
    found = caught.value.failures
    assert list(found["column"]) == [column for column, _ in failures]
    for repair, (_, words) in zip(found["repair"], failures, strict=True):
        assert words in repair


@pytest.mark.parametrize("frame", [None, [[1]], np.zeros((2, 2)), pd.Series([1]), {"a": [1]}, "cohort.csv"])
def test_anything_but_a_frame_is_a_type_error(frame):
    with pytest.raises(TypeError, match="frame must be a table of pandas, polars or pyarrow"):
        SCHEMA.validate(frame)


def test_everything_that_is_wrong_is_reported_at_once_in_schema_order():
    frame = TEXT.drop(columns="years").assign(face=["x", "9", "1.5", "2"], tremor="maybe", extra=1, id="a")
    with pytest.raises(CohortError) as caught:
        SCHEMA.validate(frame)
    columns = list(caught.value.failures["column"])
    assert columns == ["id", "tremor", "face", "face", "face", "years", "extra"]


def test_many_failures_make_a_short_message():
    schema = FeatureSchema([Feature(name="x", likelihood="poisson"), Feature(name="y", likelihood="gaussian")])
    frame = pd.DataFrame({"x": np.full(20_000, -1), "y": [f"bad {row}" for row in range(20_000)]})
    with pytest.raises(CohortError) as caught:
        schema.validate(frame)
    assert len(str(caught.value)) < 1000
    assert caught.value.failures["rows"].tolist() == [20_000, 20_000]
    assert [len(rows) for rows in caught.value.failures["first_rows"]] == [5, 5]
    assert [len(examples) for examples in caught.value.failures["examples"]] == [1, 3]


@pytest.mark.parametrize("index", [["a", "a", "b", "a"], pd.MultiIndex.from_tuples([(1, 2)] * 4), [3, 1, 1, 0]])
def test_any_index_is_kept_and_named_in_failures(index):
    frame = TEXT.set_axis(index, axis=0)
    assert SCHEMA.validate(frame).index.equals(frame.index)
    with pytest.raises(CohortError) as caught:
        SCHEMA.validate(frame.assign(face=["0", "1", "x", "x"]))
    failure = caught.value.failures.iloc[0]
    assert failure["rows"] == 2
    assert failure["first_rows"] == list(frame.index[2:])


def test_a_combination_of_ids_may_repeat_in_its_parts():
    schema = FeatureSchema([Feature(name="site", role="id"), Feature(name="nr", role="id")])
    schema.validate(pd.DataFrame({"site": ["a", "a", "b"], "nr": [1, 2, 1]}))
    with pytest.raises(CohortError, match="different site and nr") as caught:
        schema.validate(pd.DataFrame({"site": ["a", "a", "b"], "nr": [1, 1.0, 1]}))
    assert caught.value.failures.iloc[0]["examples"] == ["a / 1"]


def test_a_complete_feature_refuses_missing_values():
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian", complete=True, missing_codes=["-9"])])
    with pytest.raises(CohortError, match="a value in every row"):
        schema.validate(pd.DataFrame({"x": ["1", "-9", ""]}))


@pytest.mark.parametrize(("fields", "bad", "good"), cases_beside(__file__, "transforms"))
def test_values_whose_transform_is_not_usable_are_failures(fields, bad, good):
    feature = Feature(name="x", **fields)
    schema = FeatureSchema([feature])
    frame = schema.validate(pd.DataFrame({"x": [good, 2.0]}))
    transformed = feature.transformed(frame["x"])
    assert np.isfinite(transformed).all()
    if feature.likelihood == "exponential":
        assert (transformed >= 0).all()
    with pytest.raises(CohortError):
        schema.validate(pd.DataFrame({"x": [bad, 2.0]}))


def test_uninformative_columns_are_one_warning_naming_them_all():
    frame = with_column(tremor="no", crp="", score="1")
    with pytest.warns(CohortWarning, match=r"2 columns.*tremor \(the same value.*crp \(no observed value") as caught:
        typed = SCHEMA.validate(frame)
    assert len(caught) == 1
    assert list(kept_out(typed, SCHEMA)) == ["tremor", "crp"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SCHEMA.validate(frame, warn=False)
        SCHEMA.validate(TEXT.iloc[:1])


def test_other_columns_may_be_ignored():
    schema = SCHEMA.restricted_to(["crp", "tremor"])
    assert schema.names == ["tremor", "crp"]
    assert list(schema.validate(TEXT).columns) == ["tremor", "crp"]
    assert list(schema.to_pandera().validate(TEXT).columns) == ["tremor", "crp"]
    with pytest.raises(KeyError, match="Did you mean 'crp'"):
        SCHEMA.restricted_to(["crb"])


def test_pandera_switched_off_does_not_switch_off_validation():
    import pandera.config

    with pandera.config.config_context(validation_enabled=False), pytest.raises(CohortError):
        SCHEMA.validate(with_column(face="x"))


@given(cohorts(), st.randoms())
def test_validate_is_idempotent_ignores_column_order_and_leaves_its_input_alone(cohort, random):
    schema, frame = cohort
    before = frame.copy(deep=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        typed = schema.validate(frame)
        again = schema.validate(typed)
        order = list(frame.columns)
        random.shuffle(order)
        shuffled = schema.validate(frame[order])
        alone = schema.to_pandera().validate(frame)
    assert_frame_equal(frame, before)
    assert_frame_equal(again, typed)
    assert_frame_equal(shuffled, typed)
    assert_frame_equal(alone[list(typed.columns)], typed, check_column_type=bool(len(typed.columns)))
    for feature in schema:
        if feature.likelihood is not None:
            assert feature.scores(typed[feature.name]).shape == (len(frame),)


@given(st.lists(st.one_of(st.floats(), st.text(max_size=6), st.integers(), st.booleans(), st.none()), min_size=1))
def test_a_number_is_read_as_python_reads_it_or_reported(cells):
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian")])
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    before = frame.copy(deep=True)
    with contextlib.suppress(CohortError):
        typed = schema.validate(frame, warn=False)
        for cell, value in zip(cells, typed["x"], strict=True):
            blank = cell is None or (isinstance(cell, str) and not cell.strip()) or cell != cell
            assert np.isnan(value) if blank else value == float(cell)
    assert_frame_equal(frame, before)


def test_validation_keeps_the_values_and_no_copies_of_the_table():
    n_rows, n_columns = 4_000, 15
    texts = [f"{value:.2f}" for value in np.random.default_rng(0).normal(size=n_rows)]
    frame = pd.DataFrame({f"x{place}": texts for place in range(n_columns)})
    schema = gaussian_schema(frame)
    schema.validate(frame.head(2))  # imports what it needs
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        validated = schema.validate(frame)
        in_use, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert len(validated) == n_rows
    assert in_use < 10 * n_rows * n_columns
    assert peak < 20 * n_rows * n_columns
