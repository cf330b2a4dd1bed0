"""Texts that write numbers or levels in other ways than the program does."""

import io
from html import unescape

import numpy as np
import pandas as pd
import pytest
from cases import cases_beside
from hypothesis import given
from hypothesis import strategies as st

import clinclust as cc
from clinclust.errors import CohortError, SchemaError
from clinclust.likelihoods import REGISTRY
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.feature import few_of_the_rest, numbers_of_levels, of_wholes, pairs_of_parts
from schemas import stored_schema


def read(cells, **fields):
    schema = FeatureSchema([Feature(name="x", **{"likelihood": "gaussian", **fields})])
    return schema.validate(pd.DataFrame({"x": cells}), warn=False)["x"].tolist()


@pytest.mark.parametrize(("fields", "cell", "number"), cases_beside(__file__, "written"))
def test_a_declared_way_of_writing_is_read(fields, cell, number):
    assert read([cell, "7"], **fields) == [number, 7.0]


@pytest.mark.parametrize("cell", ["<5", "> 1"])
def test_a_censored_value_can_be_missing(cell):
    assert pd.isna(read([cell, "7"], censored="missing")[0])


@pytest.mark.parametrize(("fields", "cell", "repair"), cases_beside(__file__, "undeclared"))
def test_what_is_not_declared_is_an_error_that_says_what_to_declare(fields, cell, repair):
    with pytest.raises(CohortError) as error:
        read([cell, "7"], **fields)
    assert repair in str(error.value)


def test_synonyms_are_other_texts_of_a_level():
    found = read(
        ["ja", "no", "Y", ""], likelihood="bernoulli", levels=["no", "yes"], synonyms={"ja": "yes", "Y": "yes"}
    )
    assert found[:3] == ["yes", "no", "yes"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        *cases_beside(__file__, "contradictions"),
        ({"decimal": ",", "role": "id", "likelihood": None}, "an id is not modelled"),
    ],
)
def test_declarations_that_contradict_each_other_are_refused(fields, words):
    with pytest.raises(SchemaError, match="x: ") as error:
        Feature(name="x", **{"likelihood": "gaussian", **fields})
    assert words in str(error.value)


@given(st.floats(-1e9, 1e9), st.sampled_from([",", "."]), st.sampled_from([None, " ", "'"]))
def test_a_number_written_with_marks_is_read_back(number, decimal, thousands):
    number = round(number, 2)
    text = f"{number:,.2f}" if thousands else f"{number:.2f}"
    text = text.replace(",", "t").replace(".", decimal).replace("t", thousands or "")
    assert read([text, "7"], decimal=decimal, thousands=thousands)[0] == number


@pytest.mark.parametrize("mark", ["1", "-", ".", "<", "10.5", "", " ", 3])
def test_a_mark_cannot_be_a_part_of_a_number(mark):
    with pytest.raises(SchemaError, match="marks: "):
        Feature(name="x", likelihood="gaussian", marks=[mark])


# --- levels that are numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("levels", "numbers", "step"), cases_beside(__file__, "level_numbers"))
def test_levels_that_are_numbers_are_these_numbers(levels, numbers, step):
    found = numbers_of_levels(tuple(levels))
    assert found.numbers == tuple(numbers)
    assert found.step == pytest.approx(step, abs=0)
    assert found.ends == (min(numbers), max(numbers))


@pytest.mark.parametrize("levels", cases_beside(__file__, "level_words"))
def test_levels_that_are_not_all_numbers_of_one_kind_are_words(levels):
    assert numbers_of_levels(levels) is None


@given(st.sets(st.integers(-999, 999), min_size=2, max_size=12), st.integers(0, 2))
def test_every_number_is_whole_steps_above_the_lowest(numbers, decimals):
    written = [f"{number / 10**decimals:.{decimals}f}" for number in sorted(numbers)]
    found = numbers_of_levels(tuple(written))
    assert found.numbers == tuple(map(float, written))
    steps = (np.array(found.numbers) - found.ends[0]) / found.step
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    assert np.gcd.reduce(np.rint(steps).astype(int)) == 1


def test_a_reader_is_shown_the_numbers_and_the_model_the_ranks():
    estrogen = cc.Feature(name="er", likelihood="ordinal", levels=["0", "60", "70"], unit="%")
    column = pd.Series(["70", None, "0"], dtype=pd.CategoricalDtype(["0", "60", "70"], ordered=True))
    np.testing.assert_array_equal(estrogen.scores(column), [2, np.nan, 0])
    np.testing.assert_array_equal(estrogen.described(column), [70, np.nan, 0])
    assert (estrogen.ends, estrogen.scored) == ((0, 70), None)


@pytest.mark.parametrize(
    ("fields", "ends", "told"),
    [
        ({"likelihood": "ordinal", "levels": ["none", "mild", "severe"]}, (0, 2), "0 (none)–2 (severe)"),
        ({"likelihood": "binomial", "minimum": 1, "maximum": 4}, (1, 4), None),
        ({"likelihood": "binomial", "trials": 4}, (0, 4), None),
        ({"likelihood": "binomial", "levels": ["1", "1.5", "2"]}, (1, 2), None),
        ({"likelihood": "categorical", "levels": ["1", "2"]}, None, None),
        ({"likelihood": "gaussian"}, None, None),
    ],
)
def test_the_ends_of_a_scale_are_told_as_its_column_writes_them(fields, ends, told):
    feature = cc.Feature(name="x", **fields)
    assert (feature.ends, feature.scored) == (ends, told)


@pytest.fixture
def two_scales():
    """Two subtypes of 50: oestrogen receptors in percent, and a severity in words."""
    rng = np.random.default_rng(0)
    low = np.repeat([True, False], 50)
    levels, words = ["0", "60", "70", "80", "90", "100"], ["none", "slight", "mild", "moderate", "marked", "severe"]
    frame = pd.DataFrame(
        {
            "er": np.where(low, rng.choice(levels[:3], 100), rng.choice(levels[3:], 100)),
            "severity": np.where(low, rng.choice(words[:2], 100), rng.choice(words[2:], 100)),
        }
    )
    schema = cc.FeatureSchema(
        [
            cc.Feature(name="er", label="ER in %", likelihood="ordinal", levels=levels),
            cc.Feature(name="severity", label="Severity", likelihood="ordinal", levels=words),
        ]
    )
    return frame, low, schema


def test_table_page_and_workbook_print_levels_and_say_what_scores_are(two_scales, tmp_path):
    import openpyxl

    frame, low, schema = two_scales
    numbers, labels = frame["er"].astype(float), 1 - low.astype(int)
    for name in ("subtypes.html", "subtypes.xlsx"):
        cc.write_report(cc.Partition(labels, schema, made_by="a clinician"), frame, tmp_path / name, progress=False)
    table = unescape(cc.subtype_table(cc.compare_subtypes(frame, labels, schema)).to_html())
    line = next(line for line in table.split("<tr>") if "ER in %" in line)
    for rows in (slice(None), low, ~low):
        q1, median, q3 = np.quantile(numbers[rows], (0.25, 0.5, 0.75))
        assert f"{median:g} [{q1:g}, {q3:g}]" in line
    page = (tmp_path / "subtypes.html").read_text(encoding="utf-8")
    assert f"↑ER in %, {numbers[~low].median():.0f} ({numbers.median():.0f})" in page
    assert all("Severity, 0 (none)–5 (severe), mean (SD)" in text for text in (table, page))
    rows = list(openpyxl.load_workbook(tmp_path / "subtypes.xlsx")["Data"].values)
    cells = [cell for row in rows if "ER in %" in row and row[0] == "Summary" for cell in row]
    assert any(isinstance(cell, (int, float)) and cell == pytest.approx(numbers[low].mean()) for cell in cells)


# --- features with point masses ---------------------------------------------------------------------------------------


WITH_SPIKE = [name for name, likelihood in REGISTRY.items() if "spike" in likelihood.takes]
SCHEMA = stored_schema("parts")
TABLE = pd.DataFrame(
    {
        "crp": ["0", "<5", "3 mg/L", "", "1.5"],
        "falls": [0, 1, None, 3, 0],
        "bnp": ["<=2", "7", "> 200", "8", "9"],
        "age": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
)


def test_measurements_durations_and_counts_may_have_a_spike():
    assert WITH_SPIKE == ["poisson", "geometric", "negative_binomial", "exponential", "gaussian"]


def test_values_beyond_a_limit_are_infinite_and_a_validated_table_stays_as_it_is():
    frame = SCHEMA.validate(TABLE)
    assert frame["crp"].tolist()[:3] == [0.0, -np.inf, 3.0]
    assert frame["bnp"].tolist() == [-np.inf, 7.0, np.inf, 8.0, 9.0]
    assert str(frame["falls"].dtype) == "Int64"
    assert SCHEMA.validate(frame).equals(frame)
    written = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str)
    assert SCHEMA.validate(written).equals(frame)


def test_the_parts_are_columns_of_their_own():
    frame = SCHEMA.validate(TABLE)
    at, amount = SCHEMA["crp"].parts
    assert (at.name, at.likelihood, at.levels) == ("crp: spike", "categorical", ("other", "below the limit", "0"))
    assert (amount.name, amount.likelihood, amount.title) == (
        "crp: rest",
        "gaussian",
        "crp, if not below the limit or 0",
    )
    np.testing.assert_array_equal(at.scores(frame["crp"]), [2, 1, 0, np.nan, 0])
    np.testing.assert_allclose(amount.transformed(frame["crp"]), np.log([np.nan, np.nan, 3.0, np.nan, 1.5]))
    assert SCHEMA["falls"].parts[1].lowest == 1.0  # counts that cannot be 0 are counted from 1
    assert SCHEMA["age"].parts == (SCHEMA["age"],)
    assert pairs_of_parts(SCHEMA.parts) == [(0, 1), (2, 3), (4, 5)]
    wholes, sums = of_wholes(SCHEMA.parts, np.arange(7.0))
    assert [whole.name for whole in wholes] == list(SCHEMA.names)
    assert sums.tolist() == [1.0, 5.0, 9.0, 6.0]


@pytest.mark.parametrize(("fields", "said"), cases_beside(__file__, "no_point_mass"))
def test_what_cannot_be_a_point_mass_is_refused(fields, said):
    with pytest.raises(cc.SchemaError) as error:
        cc.Feature(name="a", **fields)
    assert said in str(error.value)


def test_no_feature_may_have_the_name_of_a_part():
    features = [cc.Feature(name="a", likelihood="gaussian", spike=0), cc.Feature(name="a: rest", likelihood="gaussian")]
    with pytest.raises(cc.SchemaError, match="name of a part of 'a'"):
        cc.FeatureSchema(features)


def test_errors_say_how_a_point_mass_is_declared():
    plain = cc.FeatureSchema([cc.Feature(name="a", likelihood="gaussian", transform="log")])
    with pytest.raises(cc.CohortError, match="declare `spike: 0`"):
        plain.validate(pd.DataFrame({"a": [0.0, 0.0, 1.0]}))
    with pytest.raises(cc.CohortError, match="limit: below"):
        plain.validate(pd.DataFrame({"a": ["<5", "7"]}))
    with pytest.raises(cc.CohortError, match="a number"):  # only the declared side is a limit
        SCHEMA.validate(TABLE.assign(crp=[">5", "1", "2", "3", "4"]))
    with pytest.raises(cc.CohortError, match=r"or 0 \(spike\)"):
        SCHEMA.validate(TABLE.assign(crp=["-1", "1", "2", "3", "4"]))


def test_few_amounts_form_no_subtypes():
    amount = cc.Feature(name="a", likelihood="gaussian", spike=0).parts[1]
    enough, few = (pd.Series(np.r_[np.zeros(200 - n), np.arange(1.0, n + 1)]) for n in (60, 20))
    assert few_of_the_rest(amount, enough) == ""
    assert few_of_the_rest(amount, few).startswith("20 of 200 values")
    assert few_of_the_rest(amount, pd.Series(np.arange(1.0, 20))) == ""  # nobody is at the spike
