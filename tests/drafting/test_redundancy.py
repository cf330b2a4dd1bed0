"""Columns that repeat each other are recognised, whatever they are called and however they are written."""

import numpy as np
import pandas as pd
import pytest
from scored import scored

from clinclust.drafting.draft import draft_columns
from clinclust.drafting.redundancy import Redundancy, applied, looks, redundancies
from clinclust.schema import Feature, FeatureSchema

N = 300


def found_in(columns):
    """Return the schema and the findings of a table, drafted as a clinician's would be."""
    frame = pd.DataFrame(columns)
    schema, _ = draft_columns(frame)
    return schema, redundancies(schema.validate(frame, warn=False), schema)


def numbers(seed=0, scale=10.0, n=N):
    return np.random.default_rng(seed).normal(100.0, scale, n).round(1)


EXACT = np.random.default_rng(1).normal(37, 1, N)
TEMPERATURE = EXACT.round(1)
AGE = np.random.default_rng(2).integers(18, 90, N)
REGION = np.random.default_rng(3).choice(list("abcd"), N)
SEX = np.random.default_rng(4).choice(["f", "m"], N)
STAGE = np.random.default_rng(5).integers(0, 5, N)
TWINS = {
    "copy": (AGE, AGE.copy()),
    "another unit": (TEMPERATURE, TEMPERATURE * 1.8 + 32),
    "another unit, both rounded": (TEMPERATURE, (EXACT * 1.8 + 32).round(1)),
    "a factor, both rounded": (numbers().round(0), (numbers() * 0.0259).round(2)),
    "logarithm": (numbers(), np.log10(numbers())),
    "reversed scale": (STAGE, 4 - STAGE),
    "reversed measurement": (numbers(), 200 - numbers()),
    "other names": (REGION, pd.Series(REGION).map({"a": "x", "b": "y", "c": "w", "d": "z"}).to_numpy()),
    "codes for texts": (SEX, np.where(SEX == "f", 1, 2)),
}


@pytest.mark.parametrize("gaps", [0.0, 0.03])
@pytest.mark.parametrize("case", TWINS)
def test_twins_are_found_however_they_are_recoded(case, gaps):
    one, other = (pd.Series(column).astype(object) for column in TWINS[case])
    holes = np.random.default_rng(9).random((2, N)) < gaps
    schema, found = found_in({"one": one.mask(holes[0]), "noise": numbers(7), "other": other.mask(holes[1])})
    assert [(twin.columns, twin.proposal) for twin in found] == [(("one", "other"), "keep one")]
    assert f"in all {N - holes.any(axis=0).sum()} subjects" in found[0].reason
    assert found[0].kind in ("identical", "opposite")
    roles = {feature.name: feature.role for feature in applied(schema, found)}
    assert sorted(roles.values()) == ["cluster", "cluster", "describe"]
    assert roles[found[0].keep] == "cluster"


def test_of_twins_the_most_complete_is_kept_then_the_finest():
    fine = numbers()
    gappy = pd.Series(fine).mask(np.arange(N) < 10)
    _, found = found_in({"gappy": gappy, "coarse": fine.round(0), "fine": fine})
    assert [twin.keep for twin in found] == ["fine"]
    assert found[0].described == ("gappy", "coarse")


def test_twins_that_fill_each_others_gaps_are_joined_not_dropped():
    values = numbers()
    first, second = pd.Series(values).mask(np.arange(N) < 100), pd.Series(values).mask(np.arange(N) >= 200)
    _, found = found_in({"site_a": first, "site_b": second})
    assert [twin.proposal for twin in found] == ["block"]
    assert "join them into one column" in found[0].reason


def test_yes_no_columns_that_are_opposites_say_so():
    male = np.random.default_rng(0).integers(0, 2, N)
    _, found = found_in({"male": male, "female": 1 - male})
    assert [(twin.kind, twin.proposal) for twin in found] == [("opposite", "keep one")]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        (AGE, AGE // 10 * 10),
        (AGE, np.digitize(AGE, [40, 65]).astype(int)),
        (np.random.default_rng(0).poisson(3, N), (np.random.default_rng(0).poisson(3, N) >= 4).astype(int)),
        (numbers(), (numbers() < 92.0).astype(int)),
        (numbers(), ((numbers() < 92.0) | (numbers() > 105.0)).astype(int)),
        (REGION, np.isin(REGION, ["a", "c"]).astype(int)),
    ],
    ids=["decade", "age group", "four or more", "cut-off", "outside a range", "coarser levels"],
)
def test_a_function_of_one_column_is_described(source, result):
    schema, found = found_in({"coarse": result, "noise": numbers(8), "fine": source})
    assert [(one.kind, one.described) for one in found] == [("function", ("coarse",))]
    assert applied(schema, found)["coarse"].role == "describe"
    assert applied(schema, found)["fine"].role == "cluster"
    assert found[0].reason in applied(schema, found).comments["coarse"]


def computed():
    rng = np.random.default_rng(0)
    severity = rng.normal(size=N)
    items = {f"i_{name}": np.clip(np.round(1.5 + severity * 0.7 + rng.normal(size=N)), 0, 4) for name in "abcdefghij"}
    height = rng.normal(170, 9, N).round()
    weight = (height - 100 + rng.normal(0, 12, N)).round(1)
    ldl, hdl, fat = rng.normal(120, 30, N).round(), rng.normal(50, 12, N).round(), rng.lognormal(4.8, 0.4, N).round()
    before = rng.normal(size=N).round(2)
    after = (before * 0.6 + rng.normal(size=N)).round(2)
    return {
        "total": ({**items, "total": sum(items.values())}, "the sum of"),
        "mean": ({**items, "average": sum(items.values()) / 10}, "the mean of"),
        "index": (
            {"bmi": (weight / (height / 100) ** 2).round(1), "weight": weight, "height": height},
            "computed from",
        ),
        "formula": ({"one": ldl, "two": hdl, "fat": fat, "yield": (ldl + hdl + fat / 5).round()}, "a weighted sum of"),
        "ratio": ({"ldl": ldl, "hdl": hdl, "quotient": (ldl / hdl).round(2)}, "a ratio of"),
        "change": ({"before": before, "after": after, "change": (after - before).round(2)}, "a difference of"),
    }


@pytest.mark.parametrize(
    ("case", "result"),
    [
        ("total", "total"),
        ("mean", "average"),
        ("index", "bmi"),
        ("formula", "yield"),
        ("ratio", "quotient"),
        ("change", "change"),
    ],
)
def test_what_is_computed_from_others_is_described(case, result):
    columns, said = computed()[case]
    _, found = found_in({**columns, "noise": numbers(8)})
    derived = [one for one in found if one.kind == "arithmetic"]
    assert [one.described for one in derived] == [(result,)]
    assert set(derived[0].columns) == set(columns)
    assert said in derived[0].reason


def test_a_typing_error_does_not_hide_a_total():
    columns, _ = computed()["total"]
    columns["total"][[3, 50]] = [39, 0]
    derived = [one for one in found_in(columns)[1] if one.kind == "arithmetic"]
    assert [one.described for one in derived] == [("total",)]
    assert f"{N - 2} of {N} subjects" in derived[0].reason


def test_parts_of_a_whole_are_a_block():
    shares = (np.random.default_rng(0).dirichlet([3, 4, 2, 1], N) * 100).round(1)
    _, found = found_in({f"share_{name}": shares[:, i] for i, name in enumerate(["neut", "lymph", "mono", "eos"])})
    assert [(one.kind, one.proposal, one.block) for one in found] == [("composition", "block", "share")]


def test_dummies_of_one_question_are_a_block():
    group = np.random.default_rng(0).integers(0, 4, N)
    dummies = {f"race_{name}": (group == i).astype(int) for i, name in enumerate(["white", "black", "asian", "other"])}
    schema, found = found_in({"weight": numbers(), **dummies})
    assert [(one.kind, one.block, one.columns) for one in found] == [("one question", "race", tuple(dummies))]
    assert {applied(schema, found)[name].block for name in dummies} == {"race"}


def test_dummies_without_the_reference_level_are_a_block_by_their_names():
    group = np.random.default_rng(0).integers(0, 4, N)
    dummies = {f"race_{name}": (group == i).astype(int) for i, name in enumerate(["white", "black", "asian"])}
    assert [one.kind for one in found_in(dummies)[1]] == ["one question"]
    unnamed = dict(zip(["fever", "rash", "cough"], dummies.values(), strict=True))
    assert found_in(unnamed)[1] == []


def test_boxes_of_a_questionnaire_are_a_block():
    rng = np.random.default_rng(0)
    boxes = {f"drugs___{i}": (rng.random(N) < 0.3).astype(int) for i in range(4)}
    assert [(one.kind, one.block) for one in found_in(boxes)[1]] == [("one question", "drugs")]


def test_repeated_pressures_are_a_block_with_their_name():
    rng = np.random.default_rng(0)
    pressure = rng.normal(130, 18, N)
    columns = {f"sbp{visit}": (pressure + rng.normal(0, 8, N)).round() for visit in range(1, 5)}
    columns |= {"pulse": numbers(3), "glucose": numbers(4)}
    schema, found = found_in(columns)
    assert [(one.kind, one.columns) for one in found] == [("repeated", ("sbp1", "sbp2", "sbp3", "sbp4"))]
    assert found[0].block == "blood pressure"
    assert [look.repair for look in looks(found, schema)] == [
        "write block: blood pressure on the lines of sbp1, sbp2, sbp3, sbp4"
    ]


def test_names_lower_the_dependence_that_is_needed():
    rng = np.random.default_rng(0)
    shared = rng.normal(size=N)
    pair = [(np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=N)).round(2) for _ in range(2)]
    rest = {"glucose": numbers(4), "pulse": numbers(5)}
    assert found_in({"ferritin": pair[0], "albumin": pair[1], **rest})[1] == []
    _, found = found_in({"systolic": pair[0], "diastolic": pair[1], **rest})
    assert [one.block for one in found] == ["blood pressure"]
    _, found = found_in({"grip_left": pair[0], "grip_right": pair[1], **rest})
    assert [one.block for one in found] == ["grip"]


@scored(range(6))
@scored([2, 4])
def test_subtypes_however_far_apart_are_no_repeated_measurement(seed, n_groups):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=N)
    centres = rng.normal(size=(n_groups, 12)) * 4
    values = (centres[groups] + rng.normal(size=(N, 12))).round(2)
    correlation = np.abs(np.corrcoef(values.T)[np.triu_indices(12, 1)])
    assert correlation.max() > 0.6  # the correlation alone would call them blocks
    assert found_in({name: values[:, i] for i, name in enumerate("abcdefghijkl")})[1] == []


@scored(["diagnosis", "Died", "outcome", "class", "Todesfall", "décès", "diagnóstico", "target"])
def test_an_outcome_that_depends_on_the_features_is_described_with_its_twins(name):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, N)
    columns = {f"lab {i}": (group * 2 + rng.normal(size=N)).round(2) for i in range(4)}
    schema, found = found_in({**columns, name: group, "other_code": np.where(group == 1, "P", "Q")})
    described = {one for finding in found if finding.kind == "outcome" for one in finding.described}
    assert described == {name, "other_code"}
    assert {feature.name for feature in applied(schema, found).described} == described


@scored(range(6))
def test_subtypes_seen_in_scales_and_yes_no_features_are_no_repeated_measurement(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(2, size=N)
    values = rng.normal(size=(2, 20))[groups] * 1.6 + rng.normal(size=(N, 20))
    columns = {}
    for i, name in enumerate("abcdefghijklmnopqrst"):
        cuts = ([0.6], [0.3, 0.55, 0.75, 0.9], [])[i % 3]
        columns[name] = np.digitize(values[:, i], np.quantile(values[:, i], cuts)) if cuts else values[:, i].round(2)
    assert [one for one in found_in(columns)[1] if one.block] == []


@scored(["blood_group", "risk_class", "age_at_diagnosis", "family_history_of_death", "gene"])
def test_a_feature_with_a_word_of_an_outcome_stays(name):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, N)
    columns = {f"lab {i}": (group * 2 + rng.normal(size=N)).round(2) for i in range(4)}
    assert [one.kind for one in found_in({**columns, name: group})[1]] == []


def test_a_clustered_twin_of_a_described_outcome_gets_a_look():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, N)
    schema = FeatureSchema(
        [
            Feature(name="diagnosis", role="describe", likelihood="bernoulli"),
            Feature(name="icd", likelihood="categorical", levels=["C50", "D24"]),
            Feature(name="lab", likelihood="gaussian"),
        ]
    )
    columns = {"diagnosis": group, "icd": np.where(group, "C50", "D24"), "lab": group * 2 + rng.normal(size=N)}
    found = redundancies(schema.validate(pd.DataFrame(columns)), schema)
    assert [look.repair for look in looks(found, schema)] == ["write role: describe on the line of icd"]


def test_a_label_that_nothing_tells_stays_and_an_outcome_is_described():
    columns = {f"lab {i}": numbers(i) for i in range(4)}
    label = np.random.default_rng(9).integers(0, 2, N)
    assert found_in({**columns, "diagnosis": label})[1] == []
    assert [one.described for one in found_in({**columns, "died": label})[1]] == [("died",)]


def test_a_schema_that_deals_with_it_gives_no_look():
    columns = {"one": AGE, "two": AGE, "noise": numbers()}
    schema, found = found_in(columns)
    assert [look.repair for look in looks(found, schema)] == ["write role: describe on the line of two, and keep one"]
    assert looks(found, applied(schema, found)) == []
    same_block = FeatureSchema(
        [Feature(**{**feature.content(), "block": "age"}) if feature.name != "noise" else feature for feature in schema]
    )
    assert looks(found, same_block) == []
    assert applied(same_block, found) == same_block


def test_blocks_that_a_schema_declares_stay():
    rng = np.random.default_rng(0)
    pressure = rng.normal(130, 18, N)
    columns = {f"sbp{visit}": (pressure + rng.normal(0, 8, N)).round() for visit in range(1, 4)} | {"pulse": numbers(3)}
    frame = pd.DataFrame(columns)
    drafted, _ = draft_columns(frame)
    schema = FeatureSchema(
        [
            Feature(**{**feature.content(), "block": "mine"}) if feature.name == "sbp1" else feature
            for feature in drafted
        ],
        title="kept",
        missing_codes=["", "-1"],
    )
    found = redundancies(schema.validate(frame), schema)
    changed = applied(schema, found)
    assert [changed[name].block for name in columns] == ["mine", "mine", "mine", None]
    assert (changed.title, changed.missing_codes) == ("kept", ("", "-1"))
    assert looks(found, changed) == []


def test_the_clustering_never_loses_its_last_column():
    schema = FeatureSchema([Feature(name="a", likelihood="poisson"), Feature(name="b", likelihood="poisson")])
    everything = [
        Redundancy(("a", "b"), "outcome", "describe", "both", 1.0, described=("a", "b")),
    ]
    assert len(applied(schema, everything).clustered) == 1


def lipids():
    rng = np.random.default_rng(12)
    total, hdl = rng.normal(190, 35, N).round(), rng.normal(50, 10, N).round()
    triglycerides = np.exp(rng.normal(4.9, 0.4, N)).round()
    return {
        "LDL": (total - hdl - triglycerides / 5).round(),
        "total cholesterol": total,
        "HDL": hdl,
        "TG": triglycerides,
    }


@pytest.mark.parametrize("first", ["LDL", "total cholesterol", "HDL", "TG"])
def test_of_lipids_the_computed_one_is_described_in_any_order(first):
    columns = lipids()
    _, found = found_in({first: columns[first], **columns})
    assert [one.described for one in found] == [("LDL",)]


@pytest.mark.parametrize("described", ["LDL", "total cholesterol", "HDL", "TG"])
def test_a_formula_with_one_column_described_needs_no_advice(described):
    frame = pd.DataFrame(lipids())
    schema = FeatureSchema(
        [
            Feature(name=name, likelihood="gaussian", role="describe" if name == described else "cluster")
            for name in frame.columns
        ]
    )
    found = redundancies(schema.validate(frame, warn=False), schema)
    assert [one.kind for one in found] == ["arithmetic"]
    assert looks(found, schema) == []
    assert [feature.role for feature in applied(schema, found)].count("cluster") == 3
