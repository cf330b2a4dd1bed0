import os
from contextlib import suppress

import pytest
import yaml
from cases import cases_beside
from hypothesis import given
from hypothesis import strategies as st
from schema_strategies import AWKWARD, schemas
from scored import scored

from clinclust.errors import SchemaError
from clinclust.schema import Feature, FeatureSchema
from schemas import stored_text

COHORT = stored_text("documented")


def one(feature, head="clinclust: 1\n"):
    return f"{head}features:\n  - {feature}\n"


@scored(cases_beside(__file__, "yaml"))
def test_malformed_yaml_is_a_schema_error_with_line_and_essential_words(text, words):
    with pytest.raises(SchemaError) as caught:
        FeatureSchema.from_yaml(text)
    for word in words:
        assert word in str(caught.value)
    assert all(problem.startswith("line ") for problem in caught.value.problems)


@pytest.mark.parametrize("last", ["decimal: ,", "min: 0", "min:", "lable: yes"])
def test_a_comma_that_is_no_value_and_an_unknown_key_are_told_once(last):
    with pytest.raises(SchemaError) as caught:
        FeatureSchema.from_yaml(one(f"{{name: crp, likelihood: gaussian, {last}}}"))
    assert len(caught.value.problems) == 1


@given(st.text("[]{}'\"#:,- \n\tab%“”", max_size=60))
def test_whatever_is_written_is_refused_as_a_schema_or_read(text):
    with suppress(SchemaError):  # anything else is a bug
        FeatureSchema.from_yaml(f"clinclust: 1\nfeatures:\n  - {{name: a, likelihood: poisson}}\n{text}")


def test_the_schema_of_the_documentation_reads_and_comes_back():
    schema = FeatureSchema.from_yaml(COHORT)
    assert schema.title == "Parkinsonism cohort"
    assert schema.missing_codes == ("", "NA", "-9")
    assert schema["tremor_at_rest"].levels == ("no", "yes")
    assert schema["crp"].missing_codes == ("-9", "99.5")
    assert [feature.name for feature in schema.ids] == ["patient_id"]
    assert [feature.name for feature in schema.described] == ["probability_of_pd"]
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


def test_a_feature_stays_on_one_line_with_its_remarks_above_it():
    schema = FeatureSchema.from_yaml(COHORT)
    before = schema.fingerprint
    schema.comments["crp"] = "first\nsecond \x1b[31m"
    lines = schema.to_yaml().splitlines()
    at = next(number for number, line in enumerate(lines) if "name: crp" in line)
    assert lines[at - 2 : at] == ["  # first", "  # second  [31m"]
    assert len(lines) == 1 + 4 + len(schema) + 2
    assert schema.fingerprint == before
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


@given(schemas())
def test_yaml_is_lossless_whatever_the_text(schema):
    text = schema.to_yaml()
    again = FeatureSchema.from_yaml(text)
    assert again == schema
    assert again.to_yaml() == text
    assert again.fingerprint == schema.fingerprint


@scored(AWKWARD)
def test_a_common_yaml_reader_sees_the_same_text(word):
    feature = Feature(name=word, likelihood="categorical", levels=[word.strip(), "other"], label=word)
    seen = yaml.safe_load(FeatureSchema([feature], title=word).to_yaml())
    assert seen["title"] == seen["features"][0]["name"] == seen["features"][0]["label"] == word
    assert seen["features"][0]["levels"] == [word.strip(), "other"]


def test_files_are_written_and_read(tmp_path):
    schema = FeatureSchema.from_yaml(COHORT)
    path = tmp_path / "é schema.yaml"
    assert schema.to_yaml(path) == path.read_text("utf-8")
    assert FeatureSchema.from_yaml(path) == FeatureSchema.from_yaml(str(path)) == schema
    path.write_bytes(b"\xef\xbb\xbf" + COHORT.replace("\n", "\r\n").encode())
    assert FeatureSchema.from_yaml(path) == schema


def test_a_file_that_is_not_there_or_not_utf8(tmp_path):
    with pytest.raises(FileNotFoundError):
        FeatureSchema.from_yaml("nowhere.yaml")
    with pytest.raises(SchemaError, match="line 1"):
        FeatureSchema.from_yaml("é" * 200)  # too long for the name of a file
    path = tmp_path / "latin.yaml"
    utf16 = COHORT.encode("utf-16")
    for content, line in ((b"clinclust: 1\ntitle: caf\xe9\n", 2), (utf16, 1), (b"\0" * 4096, 1)):
        path.write_bytes(content)
        with pytest.raises(SchemaError, match=rf"line {line}.*(UTF-8|character)"):
            FeatureSchema.from_yaml(path)
    path.write_bytes(b"")
    with pytest.raises(SchemaError, match="empty"):
        FeatureSchema.from_yaml(path)


def test_a_name_declared_twice_is_listed_with_all_other_problems():
    head = 'clinclust: 1\ntitle: 5\nother_columns: ignor\nmissing_codes: ["NA"]\n'
    text = one(
        "{name: a, likelihod: poisson}\n"
        "  - {name: a, likelihood: poisson}\n"
        "  - {name: a, likelihood: binomial, trials: x}\n"
        '  - {name: b, likelihood: bernoulli, levels: ["x", "NA"]}',
        head,
    )
    with pytest.raises(SchemaError) as caught:
        FeatureSchema.from_yaml(text)
    assert [problem.split(": ")[:2] for problem in caught.value.problems] == [
        ["line 2", "title"],
        ["line 3", "other_columns"],
        ["line 6", "a"],  # likelihod
        ["line 7", "a"],
        ["line 8", "a"],  # twice
        ["line 8", "a"],  # trials
        ["line 9", "b"],
    ]
    assert sum("two features have this name" in problem for problem in caught.value.problems) == 2


def test_the_message_names_the_file_and_stays_short(tmp_path):
    path = tmp_path / "motor signs.yaml"
    long = "x" * 100_000
    path.write_text(
        one(f"{{name: {long}, likelihod: poisson}}\n" + f"  - {{name: b, likelihood: {long}, {long}: 1}}\n" * 10)
    )
    with pytest.raises(SchemaError) as caught:
        FeatureSchema.from_yaml(path)
    assert "motor signs.yaml" in str(caught.value)
    assert len(str(caught.value)) < 4000
    path.write_text(one("{name: b, likelihood: poison}\n" + "  - {name: b, likelihood: poison}\n" * 500))
    with pytest.raises(SchemaError, match=r"^The feature schema motor signs\.yaml has 1,?001 problems:") as caught:
        FeatureSchema.from_yaml(path)
    assert len(str(caught.value)) < 4000
    assert len(caught.value.problems) == 1001
    assert caught.value.source == "motor signs.yaml"


def test_a_schema_file_that_is_none_is_refused_at_once(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        FeatureSchema.from_yaml(tmp_path)
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match=r"pipe\.yaml is a pipe or a device"):
        FeatureSchema.from_yaml(pipe)
    path = tmp_path / "table.yaml"
    path.write_bytes(b"a" * (11 * 2**20))
    with pytest.raises(SchemaError, match=r"table\.yaml.*\n.*larger than 10 MB"):
        FeatureSchema.from_yaml(path)


def test_a_scale_that_is_too_long_is_not_advised_to_be_binomial():
    with pytest.raises(SchemaError, match="at most 200 steps, not 900; declare a longer scale gaussian"):
        Feature(name="a", likelihood="ordinal", trials=900)
