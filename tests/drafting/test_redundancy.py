"""What one column, or several, determine is described; what measures nearly the same is a block; names say little."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from redundant_columns import N, found_in, numbers
from scored import scored

from clinclust.drafting.redundancy import Redundancy, applied, looks, redundancies
from clinclust.schema import Feature, FeatureSchema

EXACT = np.random.default_rng(1).normal(37, 1, N)
TEMPERATURE = EXACT.round(1)
AGE = np.random.default_rng(2).integers(18, 90, N)
REGION = np.random.default_rng(3).choice(list("abcd"), N)
SEX = np.random.default_rng(4).choice(["f", "m"], N)
STAGE = np.random.default_rng(5).integers(0, 5, N)
TWINS = {
    "copy": (AGE, AGE.copy(), "equals"),
    "unit": (TEMPERATURE, TEMPERATURE * 1.8 + 32, "another unit"),
    "unit, both rounded": (TEMPERATURE, (EXACT * 1.8 + 32).round(1), "another unit"),
    "factor, both rounded": (numbers().round(0), (numbers() * 0.0259).round(2), "another unit"),
    "logarithm": (numbers(), np.log10(numbers()), "transform"),
    "reversed scale": (STAGE, 4 - STAGE, "transform"),
    "opposite": (AGE % 2, 1 - AGE % 2, "other names"),
    "other names": (REGION, pd.Series(REGION).map({"a": "x", "b": "y", "c": "w", "d": "z"}).to_numpy(), "other names"),
    "codes for texts": (SEX, np.where(SEX == "f", 1, 2), "other names"),
}


@scored(list(TWINS))
@scored([0.0, 0.03])
def test_of_twins_one_is_described_however_it_is_recoded(case, gaps):
    one, other, how = TWINS[case]
    holes = np.random.default_rng(9).random((2, N)) < gaps
    columns = {"one": pd.Series(one).astype(object).mask(holes[0]), "noise": numbers(7)}
    schema, found = found_in({**columns, "other": pd.Series(other).astype(object).mask(holes[1])})
    assert [twin.columns for twin in found] == [("one", "other")]
    assert how in found[0].reason
    assert f"in all {N - holes.any(axis=0).sum()} subjects" in found[0].reason
    changed = applied(schema, found)
    assert sorted(feature.role for feature in changed) == ["cluster", "cluster", "describe"]
    assert found[0].reason in changed.comments[found[0].target]


@scored(
    {
        "decade": (AGE, AGE // 10 * 10),
        "age group": (AGE, np.digitize(AGE, [40, 65])),
        "cut-off": (numbers(), (numbers() < 92.0).astype(int)),
        "words for bins": (numbers(), np.array(["middle", "high", "low"])[np.digitize(numbers(), [95, 108]) - 1]),
        "merged levels": (REGION, np.isin(REGION, ["a", "c"]).astype(int)),
        "a level": (STAGE, (STAGE == 2).astype(int)),
    }.items()
)
def test_a_coarser_form_is_described(case, columns):
    source, result = columns
    schema, found = found_in({"coarse": result, "noise": numbers(8), "fine": source})
    assert [(one.kind, one.described) for one in found] == [("determined", ("coarse",))]
    assert [feature.role for feature in applied(schema, found)] == ["describe", "cluster", "cluster"]


def test_of_twins_the_most_complete_is_kept_then_the_finest():
    fine = numbers()
    gappy = pd.Series(fine).mask(np.arange(N) < 10)
    _, found = found_in({"gappy": gappy, "coarse": fine.round(0), "fine": fine})
    assert {one.target for one in found} == {"gappy", "coarse"}


def test_what_others_have_no_value_for_is_a_block_and_not_given_up():
    values = numbers()
    first, second = pd.Series(values).mask(np.arange(N) < 100), pd.Series(values).mask(np.arange(N) >= 200)
    schema, found = found_in({"site_a": first, "site_b": second})
    assert [(one.block, one.described) for one in found] == [("site", ())]
    assert {feature.block for feature in applied(schema, found)} == {"site"}


@scored(["outcome", "arm", "time", "site"])
def test_a_copy_and_a_coarser_form_of_an_outcome_get_its_role(role):
    weight = np.random.default_rng(0).normal(3000, 500, N).round()
    columns = {"copy": weight / 1000, "low": (weight < 2500).astype(int), "weight": weight, "smoker": AGE % 2}
    schema, found = found_in(columns, {"weight": role})
    assert {one.target: one.role for one in found} == {"copy": role, "low": role}
    assert [look.repair for look in looks(found, schema)] == [
        f"write role: {role} on the line of {name}" for name in ("copy", "low")
    ]
    changed = applied(schema, found)
    assert (changed["low"].role, f"so its role is {role} too" in changed.comments["low"]) == (role, True)


def test_what_an_outcome_is_cut_from_stays_a_feature():
    _, found = found_in({"glucose": numbers(), "diabetes": (numbers() > 108).astype(int)}, {"diabetes": "outcome"})
    assert found == []


def computed():
    rng = np.random.default_rng(0)
    severity = rng.normal(size=N)
    items = {f"i_{name}": np.clip(np.round(1.5 + severity * 0.7 + rng.normal(size=N)), 0, 4) for name in "abcdefghij"}
    height = rng.normal(170, 9, N).round()
    weight = (height - 100 + rng.normal(0, 12, N)).round(1)
    ldl, hdl, fat = rng.normal(120, 30, N).round(), rng.normal(50, 12, N).round(), rng.lognormal(4.8, 0.4, N).round()
    before = rng.normal(size=N).round(2)
    after = (before * 0.6 + rng.normal(size=N)).round(2)
    shares = (rng.dirichlet([3, 4, 2, 1], N) * 100).round(1)
    return {
        "total": ({**items, "x": sum(items.values())}, "the sum of"),
        "mean": ({"x": sum(items.values()) / 10, **items}, "the mean of"),
        "index": (
            {"x": (weight / (height / 100) ** 2).round(1), "weight": weight, "height": height},
            "a product or ratio of",
        ),
        "formula": ({"one": ldl, "two": hdl, "fat": fat, "x": (ldl + hdl + fat / 5).round()}, "computed from"),
        "ratio": ({"x": (ldl / hdl).round(2), "ldl": ldl, "hdl": hdl}, "a product or ratio of"),
        "change": ({"before": before, "after": after, "x": (after - before).round(2)}, "computed from"),
        "part": ({"a": shares[:, 0], "b": shares[:, 1], "c": shares[:, 2], "x": shares[:, 3]}, "computed from"),
    }


@scored(computed().items())
def test_what_is_computed_from_others_is_described(name, case):
    columns, said = case
    schema, found = found_in({**columns, "noise": numbers(8)})
    assert [(one.kind, one.target) for one in found] == [("computed", "x")]
    assert set(found[0].columns) == set(columns)
    assert said in found[0].reason
    assert redundancies(schema.validate(pd.DataFrame({**columns, "noise": numbers(8)})), applied(schema, found)) == []


def test_a_typing_error_does_not_hide_a_total():
    columns, _ = computed()["total"]
    columns["x"][[3, 50]] = [39, 0]
    _, found = found_in(columns)
    assert [one.target for one in found] == ["x"]
    assert f"in {N - 2} of {N} subjects" in found[0].reason


@given(st.integers(0, 2**32), st.sampled_from(["total", "mean", "prorated"]), st.integers(5, 10), st.integers(0, 2))
def test_a_score_of_the_answered_items_is_found_whatever_stands_beside_them(seed, rule, k, n_reversed):
    rng = np.random.default_rng(seed)
    severity = rng.normal(size=(N, 1))
    answers = np.clip(np.round(1.2 + 0.8 * severity + 0.8 * rng.normal(size=(N, k))), 0, 3)
    answers[rng.random((N, k)) < 0.05] = np.nan
    seen = np.maximum((~np.isnan(answers)).sum(axis=1), 1)
    total = np.nansum(answers, axis=1)
    score = {"total": total, "mean": (total / seen).round(2), "prorated": (total / seen * k).round(1)}[rule]
    given_answers = np.where(np.arange(k) < n_reversed, 3 - answers, answers)
    columns = {f"c{place}": column for place, column in enumerate(given_answers.T)}
    beside = {name: rng.integers(0, 4, N).astype(float) for name in ("mobility", "stage")}
    _, found = found_in({**columns, **beside, "score": score})
    assert [one.columns for one in found if one.target == "score"] == [(*columns, "score")]


@scored(range(8))
def test_a_score_that_only_resembles_the_total_is_none(seed):
    rng = np.random.default_rng(seed)
    answers = np.clip(np.round(1.2 + 0.8 * rng.normal(size=(N, 1)) + 0.8 * rng.normal(size=(N, 8))), 0, 3)
    columns = {f"c{place}": column for place, column in enumerate(answers.T)}
    _, found = found_in({**columns, "score": answers.sum(axis=1) + rng.choice([-1, 0, 0, 1], N)})
    assert [one for one in found if one.described] == []


def test_columns_that_measure_nearly_the_same_are_one_block():
    rng = np.random.default_rng(0)
    pressure = rng.normal(130, 18, N)
    columns = {f"sbp{visit}": (pressure + rng.normal(0, 5, N)).round() for visit in range(1, 5)}
    schema, found = found_in({**columns, "pulse": numbers(3)})
    assert [(one.kind, one.columns, one.block) for one in found] == [("nearly the same", tuple(columns), "sbp")]
    assert [look.repair for look in looks(found, schema)] == ["write block: sbp on the lines of sbp1, sbp2, sbp3, sbp4"]
    assert looks(found, applied(schema, found)) == []


def answers(stem, loadings=(0.7,) * 6, cuts=(0.3, 1.0, 1.6), seed=0):
    """Return answers to the items stem1, stem2 ... that share a factor with these loadings."""
    rng = np.random.default_rng(seed)
    severity, of_item = rng.normal(size=(N, 1)), np.array(loadings)
    values = severity * of_item + np.sqrt(1.0 - of_item**2) * rng.normal(size=(N, of_item.size))
    return {f"{stem}{place}": column for place, column in enumerate(np.digitize(values, cuts).T, 1)}


OTHERS = {"age": AGE, "stage": STAGE, "crp": numbers(11), "hb": numbers(12)}
LETTERS = str.maketrans("123456", "abcdef")
UNLIKE = {name: column * place for place, (name, column) in enumerate(answers("lab").items(), 1)}


@scored(
    {
        "two scales": ({**answers("phq"), **OTHERS, **answers("gad", seed=1)}, ["gad", "phq"]),
        "reversed items": ({**answers("phq", (0.7, -0.7) * 3), **OTHERS}, ["phq"]),
        "yes or no": ({**answers("sym", (0.8,) * 6, [0.3]), **OTHERS}, ["sym"]),
        "of a larger instrument": ({**answers("PHQ9_"), **OTHERS}, ["PHQ"]),
        "independent": ({**answers("phq", (0.0,) * 6), **OTHERS}, []),
        "two items": ({**answers("phq", (0.8,) * 2), **OTHERS}, []),
        "all columns": (answers("V"), []),
        "nearly all columns": ({**answers("V"), "age": AGE, "crp": numbers(11)}, []),
        "no numbers": ({name.translate(LETTERS): column for name, column in answers("q").items()} | OTHERS, []),
        "other answers": ({**UNLIKE, **OTHERS}, []),
        "measurements": ({f"lab{place}": numbers(20) + numbers(place) for place in range(1, 6)} | OTHERS, []),
    }.items()
)
def test_items_of_one_scale_are_one_block(name, case):
    columns, blocks = case
    frame = pd.DataFrame(columns)
    likelihoods = {column: "poisson" if frame[column].nunique() < 12 else "gaussian" for column in frame}
    schema = FeatureSchema([Feature(name=column, likelihood=of) for column, of in likelihoods.items()])
    found = redundancies(schema.validate(frame, warn=False), schema)
    assert sorted(one.block for one in found) == blocks
    assert all("are items of one scale" in one.reason and len(one.columns) == 6 for one in found)


def test_fifty_subjects_must_have_both_values():
    pressure = numbers()
    second = pd.Series(pressure + numbers(2, 3.0)).where(np.arange(N) < 45)
    assert found_in({"a": pressure, "b": second})[1] == []
    assert len(found_in({"a": pressure, "b": second.fillna(pd.Series(pressure + numbers(3, 3.0)))})[1]) == 1


def test_what_a_schema_declares_stays():
    rng = np.random.default_rng(0)
    pressure = rng.normal(130, 18, N)
    columns = {f"sbp{visit}": (pressure + rng.normal(0, 5, N)).round() for visit in range(1, 4)} | {"pulse": numbers(3)}
    frame = pd.DataFrame(columns)
    features = [Feature(name=name, likelihood="gaussian", block="mine" if name == "sbp1" else None) for name in frame]
    schema = FeatureSchema(features, title="kept", missing_codes=["", "-1"])
    found = redundancies(schema.validate(frame), schema)
    changed = applied(schema, found)
    assert [changed[name].block for name in columns] == ["mine", "mine", "mine", None]
    assert (changed.title, changed.missing_codes) == ("kept", ("", "-1"))


def test_a_schema_that_deals_with_it_gives_no_look():
    schema, found = found_in({"one": AGE, "two": AGE, "noise": numbers()})
    assert [look.repair for look in looks(found, schema)] == ["write role: describe on the line of two"]
    assert looks(found, applied(schema, found)) == []
    same_block = FeatureSchema(
        [Feature(**{**feature.content(), "block": "age"}) if feature.name != "noise" else feature for feature in schema]
    )
    assert looks(found, same_block) == []
    assert applied(same_block, found) == same_block


def test_the_clustering_never_loses_its_last_column():
    schema = FeatureSchema([Feature(name="a", likelihood="poisson"), Feature(name="b", likelihood="poisson")])
    both = [Redundancy(("a", "b"), "determined", "said", name, role="describe") for name in ("a", "b")]
    assert len(applied(schema, both).clustered) == 1


@pytest.mark.parametrize("question", ["redundancy.relation", "redundancy.formulas", "hierarchy.linkage"])
def test_a_fault_in_one_comparison_costs_no_draft(question, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(f"{'scipy.cluster' if 'linkage' in question else 'clinclust.drafting'}.{question}", broken)
    near = numbers() + numbers(2, 2.0)
    _, found = found_in({"age": AGE, "copy": AGE, "a": numbers(), "b": near.round(1), "c": numbers(5)})
    kinds = {one.kind for one in found}
    assert ("determined" in kinds) == (question != "redundancy.relation")
    assert ("nearly the same" in kinds) == (question != "hierarchy.linkage")


def test_names_decide_nothing():
    columns, _ = computed()["index"]
    columns = {**columns, "age": AGE, "group": AGE // 10}
    plain = {f"c{place}": column for place, column in enumerate(columns.values())}
    numbered = dict(zip(columns, plain, strict=True))
    found, renamed = found_in(columns)[1], found_in(plain)[1]
    assert [one.target and numbered[one.target] for one in found] == [one.target for one in renamed]
