import pickle
import warnings

import pandas as pd
import pandera.pandas as pa
import pytest
from cases import cases_beside, read_beside
from hypothesis import given
from pandera.decorators import check_input
from pandera.errors import SchemaErrors
from schema_strategies import schemas

from clinclust.errors import CohortError, CohortWarning, SchemaError
from clinclust.schema import Feature, FeatureSchema, validation
from clinclust.schema.reading import read_column
from schemas import stored_schema


def column(dtype, *checks, nullable=True, **fields):
    metadata = {"clinclust": fields.pop("metadata")}
    return pa.Column(dtype, list(checks), nullable=nullable, metadata=metadata, **fields)


def schema_of(**columns):
    return FeatureSchema.from_pandera(pa.DataFrameSchema(columns))


@given(schemas())
def test_a_schema_survives_the_way_through_pandera(schema):
    assert FeatureSchema.from_pandera(schema.to_pandera()) == schema


def test_columns_carry_their_metadata():
    schema = FeatureSchema([Feature(name="x", likelihood="binomial", trials=4, label="X")], title="t")
    compiled = schema.to_pandera()
    assert compiled.columns["x"].metadata == {"clinclust": {"likelihood": "binomial", "trials": 4, "label": "X"}}
    assert compiled.title == "t"
    assert compiled.strict is True


def checks_of(**stated):
    """Return checks of pandera by their names: a list is the values of `isin`, or the ends of a range."""
    return [getattr(pa.Check, name)(*(value if name == "in_range" else [value])) for name, value in stated.items()]


@pytest.mark.parametrize(("checks", "metadata", "feature"), cases_beside(__file__, "checks_of_pandera"))
def test_checks_that_a_feature_can_express_become_its_fields(checks, metadata, feature):
    schema = schema_of(x=column(None, *checks_of(**checks), metadata=metadata))
    assert schema["x"] == Feature(name="x", **metadata | feature)
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


def test_values_without_an_order_become_sorted_levels():
    schema = schema_of(x=column(None, pa.Check.isin({"b", "a"}), metadata={"likelihood": "categorical"}))
    assert schema["x"].levels == ("a", "b")


@pytest.mark.parametrize(
    ("checks", "metadata"),
    [
        ([pa.Check.gt(0)], {"likelihood": "gaussian"}),
        ([pa.Check.in_range(0, 1, include_max=False)], {"likelihood": "gaussian"}),
        ([pa.Check.in_range(0, 3)], {"likelihood": "binomial", "trials": 4}),
        ([pa.Check.in_range(5, 9)], {"likelihood": "gaussian", "minimum": 0}),
        ([pa.Check(lambda x: x % 2 == 0, error="even")], {"likelihood": "poisson"}),
        ([pa.Check.isin(["a", "b"])], {"likelihood": "categorical", "levels": ["a", "b", "c"]}),
        ([pa.Check.isin([1, 3])], {"likelihood": "poisson"}),
    ],
)
def test_checks_beyond_the_features_are_told_and_the_schema_is_read_without_them(checks, metadata):
    with pytest.warns(CohortWarning, match=r"not taken over: x: .*validate with your own schema first"):
        schema = schema_of(x=column(None, *checks, metadata=metadata))
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


def test_checks_of_the_whole_table_unique_columns_and_parsers_are_told():
    likelihood = {"metadata": {"likelihood": "gaussian"}}
    columns = {
        "low": column(float, **likelihood, parsers=pa.Parser(lambda s: s * 10, name="tens")),
        "high": column(float, **likelihood, unique=True),
    }
    user = pa.DataFrameSchema(
        columns, checks=pa.Check(lambda f: f["low"] <= f["high"]), parsers=pa.Parser(abs), drop_invalid_rows=True
    )
    with pytest.warns(CohortWarning) as caught:
        FeatureSchema.from_pandera(user)
    for words in ("low: tens", "high: unique", "table: checks", "table: parsers", "table: drop_invalid_rows"):
        assert words in str(caught[0].message)


def test_columns_without_metadata_are_ignored_and_strict_decides_about_others():
    columns = {"a": pa.Column(int), "b": column(int, metadata={"likelihood": "poisson"})}
    with pytest.warns(CohortWarning, match="1 column without metadata for clinclust: a; not clustered on"):
        loose = FeatureSchema.from_pandera(pa.DataFrameSchema(columns))
    with pytest.warns(CohortWarning, match="draft_schema"):
        strict = FeatureSchema.from_pandera(pa.DataFrameSchema(columns, strict=True))
    assert loose["a"].role == "ignore"
    assert (loose.other_columns, strict.other_columns) == ("ignore", "error")


def test_not_nullable_means_complete():
    schema = schema_of(x=column(int, nullable=False, metadata={"likelihood": "poisson"}))
    assert schema["x"].complete
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema
    with pytest.raises(CohortError, match="a value in every row"):
        schema.validate(pd.DataFrame({"x": ["1", ""]}))


def test_a_single_unique_id_is_what_an_id_is_anyway():
    schema = schema_of(id=column(str, unique=True, metadata={"role": "id"}))
    assert FeatureSchema.from_yaml(schema.to_yaml()).ids == schema.ids


@pytest.mark.parametrize(
    ("columns", "arguments", "words"),
    [
        ({"x": column(int, metadata={"likelihod": "poisson"})}, {}, "x: likelihod: unknown key"),
        ({"x": column(int, metadata="poisson")}, {}, "x: metadata 'clinclust' must be a dict"),
        ({"x": column(int, metadata={"likelihood": "poisson"}, regex=True)}, {}, "x: a column given by a regular"),
        ({"x": pa.Column(int)}, {"metadata": {"clinclust": {"titel": "x"}}}, "Did you mean 'title'"),
        ({}, {}, "features: there are no features"),
    ],
)
def test_a_malformed_pandera_schema_is_a_schema_error(columns, arguments, words):
    with pytest.raises(SchemaError, match=words):
        FeatureSchema.from_pandera(pa.DataFrameSchema(columns, **arguments))


def test_anything_but_a_pandera_schema_is_a_type_error():
    with pytest.raises(TypeError, match=r"or DataFrameModel for pandas, not builtins\.dict"):
        FeatureSchema.from_pandera({"x": int})


@pytest.mark.parametrize("likelihood", ["bernoulli", "categorical", "ordinal"])
def test_categories_are_levels_unless_levels_are_given(likelihood):
    categories = pd.CategoricalDtype(["mild", "severe"], ordered=True)
    schema = schema_of(x=column(categories, metadata={"likelihood": likelihood}))
    assert schema["x"].levels == ("mild", "severe")
    given = {"likelihood": likelihood, "levels": ["severe", "mild"]}
    assert schema_of(x=column(categories, metadata=given))["x"].levels == ("severe", "mild")


def test_a_model_is_its_schema():
    class Cohort(pa.DataFrameModel):
        patient: int = pa.Field(unique=True, metadata={"clinclust": {"role": "id"}})
        crp: float = pa.Field(ge=0, nullable=True, metadata={"clinclust": {"likelihood": "gaussian"}})

    schema = FeatureSchema.from_pandera(Cohort)
    assert schema == FeatureSchema.from_pandera(Cohort.to_schema())
    assert schema.names == ["patient", "crp"]
    assert schema["crp"].minimum == 0.0


def test_validation_reads_each_column_once(monkeypatch):
    read = []

    def counted(feature, *arguments):
        read.append(feature.name)
        return read_column(feature, *arguments)

    monkeypatch.setattr(validation, "read_column", counted)
    fields = {"likelihood": "poisson", "minimum": 1, "complete": True}
    schema = FeatureSchema([Feature(name="id", role="id"), *(Feature(name=name, **fields) for name in "ab")])
    schema.validate(pd.DataFrame({"id": ["1", "2"], "b": ["1", "2"], "a": ["3", "4"]}))
    with pytest.raises(CohortError) as caught:
        schema.validate(pd.DataFrame({"id": ["1", "1"], "b": ["?", ""], "a": ["0.5", "0"]}))
    assert read == ["id", "a", "b"] * 2
    assert caught.value.failures["column"].tolist() == ["id", "a", "a", "b", "b"]


WHOLE = stored_schema("whole")
RAW = pd.DataFrame(read_beside(__file__)["raw_table"]).set_axis(["p", "p", "q"], axis="index")


def test_a_compiled_schema_has_the_dtypes_ranges_and_nullability_of_the_validated_table():
    columns = WHOLE.to_pandera().columns
    assert {name: str(column.dtype) for name, column in columns.items() if column.dtype is not None} == {
        **dict.fromkeys(["id", "site"], str(pa.Column(str).dtype)),
        **dict.fromkeys(["séx", "stage"], "category"),
        **dict.fromkeys(["gait", "crp"], "float64"),
        **dict.fromkeys(["falls", "pain"], "Int64"),
    }
    assert [name for name, column in columns.items() if not column.nullable] == ["id", "site", "falls"]
    (in_range, *_) = columns["gait"].checks
    assert (in_range.name, in_range.statistics["min_value"], in_range.statistics["max_value"]) == ("in_range", 0, 5)
    assert columns["stage"].checks[0].statistics == {"allowed_values": ["I", "II", "III"]}
    assert columns["crp"].checks[-1].statistics == {"min_value": -5.0}  # of the spike, which is below the logs


def test_what_pandera_writes_of_a_compiled_schema_judges_validated_tables():
    typed = WHOLE.validate(RAW, warn=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that nothing is left out
        written = pa.DataFrameSchema.from_yaml(WHOLE.to_pandera().to_yaml())
    written.validate(typed, lazy=True)
    for column, value, check in (
        ("gait", 9.0, "0 to 5 (gaussian)"),
        ("pain", 11, "0 to 10 (binomial with 10 trials)"),
        ("falls", pd.NA, "not_nullable"),
        ("crp", -6.0, "greater than 0"),
    ):
        wrong = typed.reset_index(drop=True)
        wrong.loc[1, column] = value
        with pytest.raises(SchemaErrors) as caught:
            written.validate(wrong, lazy=True)
        (case,) = caught.value.failure_cases.to_dict("records")
        assert (case["column"], case["index"]) == (column, 1)
        assert check in case["check"]
    repeated = typed.reset_index(drop=True).assign(site="1")
    with pytest.raises(SchemaErrors):
        written.validate(repeated, lazy=True)


def test_a_compiled_schema_can_be_pickled_and_reads_raw_tables_afterwards():
    compiled = pickle.loads(pickle.dumps(WHOLE.to_pandera()))
    pd.testing.assert_frame_equal(compiled.validate(RAW.drop(columns="ward")), WHOLE.validate(RAW, warn=False))
    assert FeatureSchema.from_pandera(compiled) == WHOLE


def test_a_compiled_schema_stands_at_the_door_of_a_function():
    @check_input(WHOLE.to_pandera())
    def mean_gait(table):
        return table["gait"].mean()

    assert mean_gait(RAW.drop(columns="ward")) == 0.6
    with pytest.raises(CohortError, match="0 to 5"):
        mean_gait(RAW.drop(columns="ward").assign(gait="7"))


def test_a_compiled_schema_refuses_what_validate_refuses_with_all_repairs_and_the_names_of_pandera():
    bad = RAW.assign(gait=["9", "8", "1"], falls=["", "1", "1"]).drop(columns=["pain", "ward"])
    with pytest.raises(CohortError) as caught:
        WHOLE.validate(bad)
    with pytest.raises(CohortError) as theirs:
        WHOLE.to_pandera().validate(bad, lazy=True)
    pd.testing.assert_frame_equal(theirs.value.failures, caught.value.failures)
    found = caught.value.failure_cases.set_index("column")
    assert {"schema_context", "check", "failure_case", "index"} <= set(found)
    assert (found.loc["gait", "failure_case"], found.loc["gait", "index"]) == ("9", "p")
    assert (found.loc["falls", "failure_case"], found.loc["falls", "index"]) == (None, "p")
    assert found.loc["pain", "check"] == "a column of this name"


def test_a_column_or_check_that_is_added_to_a_compiled_schema_is_read():
    compiled = WHOLE.to_pandera().add_columns(
        {"age": column(float, pa.Check.ge(18), metadata={"likelihood": "gaussian"})}
    )
    compiled.columns["falls"].checks.append(pa.Check.le(9))
    schema = FeatureSchema.from_pandera(compiled)
    assert (schema["age"].minimum, schema["falls"].maximum, schema["falls"].minimum) == (18, 9, None)
    assert schema.restricted_to(WHOLE.names).replace("falls", maximum=None) == WHOLE.restricted_to(WHOLE.names)
