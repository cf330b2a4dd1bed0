"""Roles say what a column is for, and why one forms no subtypes; `with_roles` undoes it."""

import pandas as pd
import pytest
from cases import cases_beside
from cohorts import gaussian_schema
from hypothesis import given
from hypothesis import strategies as st
from schema_strategies import cohorts

from clinclust import Feature, FeatureSchema, SchemaError, draft_schema
from clinclust.files.row_choice import RowChoice
from clinclust.files.text_table import ColumnNotes, add_notes
from clinclust.roles import REASONS, ROLES
from clinclust.schema.yaml_files import on_unused

COHORT = pd.DataFrame({"who": ["a", "b", "c"], "x": ["1", "2", "4"], "y": ["0.5", "", "2"]})


def schema_of(role, **fields):
    return FeatureSchema(
        [
            Feature(name="who", role="id"),
            Feature(name="x", likelihood="gaussian"),
            Feature(name="y", role=role, **fields),
        ]
    )


@pytest.mark.parametrize("role", REASONS)
def test_with_a_likelihood_a_reason_is_described(role):
    said, plain = schema_of(role, likelihood="gaussian"), schema_of("describe", likelihood="gaussian")
    pd.testing.assert_frame_equal(said.validate(COHORT), plain.validate(COHORT))
    assert [feature.name for feature in said.described] == ["y"]
    assert said.reported == (said["x"], said["y"])
    with pytest.raises(ValueError, match="a column of this name"):
        said.validate(COHORT.drop(columns="y"))


@pytest.mark.parametrize("role", REASONS)
def test_without_a_likelihood_a_reason_is_ignored(role):
    said, plain = schema_of(role), schema_of("ignore")
    for table in (COHORT, COHORT.assign(y="anything"), COHORT.drop(columns="y")):
        validated = said.validate(table)
        pd.testing.assert_frame_equal(validated, plain.validate(table))
        pd.testing.assert_frame_equal(said.validate(validated), validated)
    assert said.described == ()
    assert said["y"].is_ignored


@pytest.mark.parametrize("role", REASONS)
def test_fields_of_a_likelihood_are_not_dropped_in_silence(role):
    with pytest.raises(SchemaError, match="trials: says nothing without a likelihood"):
        Feature(name="y", role=role, trials=4)


@given(cohorts())
def test_each_feature_has_one_use(cohort):
    schema, table = cohort
    for feature in schema:
        assert feature.is_clustered + feature.is_described + feature.is_id + feature.is_ignored == 1
    kept = [feature.name for feature in schema if not feature.is_ignored]
    assert list(schema.validate(table, warn=False)) == kept
    again = FeatureSchema.from_pandera(schema.to_pandera())
    assert [feature.role for feature in again] == [feature.role for feature in schema]


@given(cohorts(), st.data())
def test_roles_change_nothing_else_and_can_be_undone(cohort, data):
    schema, _ = cohort
    modelled = [feature.name for feature in schema.reported]
    chosen = data.draw(st.lists(st.sampled_from(modelled), unique=True)) if modelled else []
    roles = {name: data.draw(st.sampled_from(["describe", "ignore", *REASONS])) for name in chosen}
    schema.comments.update(dict.fromkeys(chosen, "why"))
    changed = schema.with_roles(roles)
    assert {feature.name: feature.role for feature in changed} == {
        feature.name: roles.get(feature.name, feature.role) for feature in schema
    }
    assert changed.comments == schema.comments
    assert changed.with_roles({name: schema[name].role for name in chosen}) == schema


def test_roles_are_given_by_name_or_by_mapping():
    schema = gaussian_schema(("self", "roles", "CRP (mg/L)"))
    changed = schema.with_roles({"CRP (mg/L)": "outcome"}, self="arm", roles="time")
    assert [feature.role for feature in changed] == ["arm", "time", "outcome"]
    assert schema.with_roles() == schema


def test_everything_wrong_with_roles_is_said_at_once():
    with pytest.raises(SchemaError) as found:
        schema_of("ignore").with_roles(xx="cluster", x="outcom", z="time")
    assert len(found.value.problems) == 3
    for said in ("xx: there is no such column. Did you mean 'x'?", "Did you mean 'outcome'?", "z: there is no"):
        assert said in str(found.value)


@pytest.mark.parametrize("role", ["cluster", "describe"])
def test_a_column_without_likelihood_is_not_modelled_and_the_error_says_what_to_write(role):
    with pytest.raises(SchemaError, match=f"y: role {role} needs a likelihood.*likelihood: gaussian"):
        schema_of("time").with_roles(y=role)


def test_what_forms_no_subtypes_is_said_with_the_reason_and_how_to_undo_it():
    features = [Feature(name=role, role=role, likelihood=None if role == "id" else "poisson") for role in ROLES]
    said = on_unused(FeatureSchema(features))
    assert said == (
        "Not used to form subtypes: adjust (adjust), arm (arm), outcome (outcome), time (time), site (site), "
        "describe (describe), ignore (ignore). To use one, give it `role: cluster`."
    )
    assert on_unused(FeatureSchema(features), most=2) == (
        "Not used to form subtypes: adjust (adjust), arm (arm) and 5 more. To use one, give it `role: cluster`."
    )
    assert on_unused(FeatureSchema([Feature(name="x", likelihood="poisson")])) == ""


def test_a_written_schema_begins_with_what_forms_no_subtypes():
    schema = schema_of("time").with_roles(x="outcome")
    text = schema.to_yaml()
    assert text.startswith(
        "# Not used to form subtypes: x (outcome), y (time). To use one, give it `role: cluster`.\nclinclust: 1"
    )
    assert FeatureSchema.from_yaml(text) == schema


@given(cohorts(), st.data())
def test_a_replaced_field_changes_one_feature_only(cohort, data):
    schema, _ = cohort
    name = data.draw(st.sampled_from(schema.names))
    changed = schema.replace(name, label="Another title")
    assert changed[name] == Feature(**{**schema[name].content(), "label": "Another title"})
    assert [feature for feature in changed if feature.name != name] == [f for f in schema if f.name != name]
    assert changed.replace(name, label=schema[name].label) == schema


def test_a_feature_that_cannot_be_declared_so_is_not_replaced():
    schema = FeatureSchema([Feature(name="crp", likelihood="gaussian")])
    with pytest.raises(SchemaError, match="transform"):
        schema.replace("crp", transform="unknown")
    with pytest.raises(SchemaError, match="crp: a feature cannot be renamed"):
        schema.replace("crp", name="other")
    with pytest.raises(KeyError):
        schema.replace("crq", label="x")


# --- a schema says which rows are the cohort, and refuses what says nothing of rows ----------------------------------


TEXT = """\
clinclust: 1
rows: {rows}
features:
  - {{name: falls, likelihood: poisson}}
"""
FEATURES = [Feature(name="falls", likelihood="poisson")]


@pytest.mark.parametrize(("rows", "problem"), cases_beside(__file__, "no_rows"))
def test_what_chooses_no_rows_is_refused_with_its_line(rows, problem):
    with pytest.raises(SchemaError, match=problem):
        FeatureSchema.from_yaml(TEXT.format(rows=rows))


def test_rows_are_given_as_a_dictionary_too():
    choice = RowChoice(where="visit == 'a'", one_row_per="Record ID", by="date", dates="day-first")
    schema = FeatureSchema(FEATURES, rows=choice.as_dict())
    assert schema.rows == choice
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema != FeatureSchema(FEATURES)
    assert schema.fingerprint != FeatureSchema(FEATURES).fingerprint
    with pytest.raises(SchemaError, match="rows: must say which rows"):
        FeatureSchema(FEATURES, rows=["visit"])


@pytest.mark.parametrize(("one", "other", "agree"), cases_beside(__file__, "row_choices"))
def test_choices_agree_if_they_choose_the_same(one, other, agree):
    assert RowChoice(**one).agrees_with(RowChoice(**other)) is agree
    assert RowChoice(**other).agrees_with(RowChoice(**one)) is agree


def test_a_choice_is_said_in_words_that_command_no_terminal():
    choice = RowChoice(one_row_per="id", keep="last", by="seen")
    assert choice.in_words() == "one row for each id, the last by seen"
    assert not {"\x1b", "\n"} & set(RowChoice(one_row_per="a\x1b[31m\nb").in_words())


def test_blocks_that_differ_by_case_or_spaces_are_refused():
    text = """\
clinclust: 1
features:
  - {name: systolic, likelihood: gaussian, block: RR}
  - {name: diastolic, likelihood: gaussian, block: rr}
  - {name: pulse, likelihood: gaussian, block: r r}
"""
    with pytest.raises(SchemaError) as refused:
        FeatureSchema.from_yaml(text)
    said = "differs from the block 'RR' above by case or spaces only, and would be another block"
    assert [problem.partition(said)[0] for problem in refused.value.problems] == [
        "line 4: diastolic: block: 'rr' ",
        "line 5: pulse: block: 'r r' ",
    ]
    with pytest.raises(SchemaError, match="block: 'rr' differs"):
        FeatureSchema([Feature(name=name, likelihood="gaussian", block=name) for name in ("RR", "rr")])


def test_a_draft_writes_a_block_in_one_way():
    frame = pd.DataFrame({name: [f"{k % 7}.{k % 3}" for k in range(30)] for name in ("one", "two")})
    add_notes(frame, {"one": ColumnNotes(block="RR", kind="number"), "two": ColumnNotes(block="rr", kind="number")})
    assert {feature.block for feature in draft_schema(frame)} == {"RR"}
