"""What is no redundancy: chance, few subjects, rare values; against enumeration where that can be done."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from scored import scored

from clinclust.drafting.draft import draft_columns
from clinclust.drafting.redundancy import applied, looks, redundancies
from clinclust.drafting.redundancy.evidence import beyond_chance, told_by
from clinclust.drafting.redundancy.formula import formula_of, needed
from clinclust.drafting.redundancy.names import block_name, related
from clinclust.drafting.redundancy.rounding import step_of
from clinclust.schema import Feature, FeatureSchema


def found_in(columns):
    frame = pd.DataFrame(columns)
    schema, _ = draft_columns(frame)
    return redundancies(schema.validate(frame, warn=False), schema)


@pytest.mark.parametrize(("x_ordered", "y_ordered"), [(True, True), (True, False), (False, False)])
def test_the_evidence_bounds_the_probability_among_all_orders_of_y(x_ordered, y_ordered):
    x, y = np.array([0, 0, 1, 1, 2, 2, 3, 4, 4.0]), np.array([0, 0, 0, 0, 1, 1, 1, 2, 2.0])
    told = told_by(x, y, x_ordered=x_ordered, y_ordered=y_ordered)
    assert told is not None
    orders = set(itertools.permutations(y))
    at_least = 0
    for order in orders:
        other = told_by(x, np.array(order), x_ordered=x_ordered, y_ordered=y_ordered)
        at_least += other is not None and other.evidence >= told.evidence - 1e-9
    assert at_least / len(orders) <= math.exp(-told.evidence) * (1 + 1e-9)


def test_missing_values_of_either_column_are_left_out():
    x = np.tile([0.0, 1.0, 2.0], 20)
    y = (x > 0).astype(float)
    whole = told_by(x, y, x_ordered=True, y_ordered=True)
    x, y = np.append(x, [np.nan, 0.0, 1.0]), np.append(y, [1.0, np.nan, np.nan])
    assert told_by(x, y, x_ordered=True, y_ordered=True) == whole


def test_a_column_with_a_value_for_each_subject_tells_nothing():
    rng = np.random.default_rng(0)
    own, other = rng.permutation(200).astype(float), rng.integers(0, 2, 200).astype(float)
    told = told_by(own, other, x_ordered=True, y_ordered=True)
    assert told is not None
    assert not beyond_chance(told.evidence, 2)
    assert found_in({"a": rng.normal(size=200), "b": rng.normal(size=200), "c": rng.integers(0, 2, 200)}) == []


def test_rare_symptoms_that_coincide_are_left():
    rare = np.zeros(200, dtype=int)
    rare[[5, 60, 140]] = 1
    assert found_in({"rash": rare, "tremor": rare.copy(), "age": np.random.default_rng(0).normal(50, 9, 200)}) == []


@pytest.mark.parametrize("n", [3, 8, 12, 30, 200])
def test_unrelated_columns_are_left(n):
    for seed in range(5):
        frame, schema, _, _ = mixed_cohort(seed, n, EVERY_LIKELIHOOD * 2, n_groups=1, missing=0.2)
        assert redundancies(schema.validate(frame, warn=False), schema) == []


def test_columns_without_information_are_left():
    n = 60
    rng = np.random.default_rng(0)
    columns = {
        "constant": np.ones(n),
        "empty": np.full(n, np.nan),
        "first_half": np.where(np.arange(n) < 30, rng.normal(size=n), np.nan),
        "second_half": np.where(np.arange(n) < 30, np.nan, rng.normal(size=n)),
        "three": rng.integers(0, 3, n),
    }
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in columns])
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    assert redundancies(frame, schema) == []
    assert redundancies(frame[["constant"]], schema.restricted_to(["constant"])) == []


def test_roles_that_are_not_compared_are_left():
    values = np.random.default_rng(0).integers(0, 30, 200)
    schema = FeatureSchema(
        [
            Feature(name="a", likelihood="poisson"),
            Feature(name="b", role="describe", likelihood="poisson"),
            Feature(name="c", role="ignore"),
        ]
    )
    found = redundancies(schema.validate(pd.DataFrame({"a": values, "b": values, "c": values})), schema)
    assert [(one.columns, one.keep) for one in found] == [(("a", "b"), "a")]
    assert looks(found, schema) == []  # only one of them is clustered
    assert applied(schema, found) == schema


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 200)
    columns = {"age": age, "decade": age // 10, "a": rng.normal(size=200), "sum": 0.0}
    columns["sum"] = columns["a"] + 2.0 * age
    frame = pd.DataFrame(columns)
    schema, _ = draft_columns(frame)
    frame = schema.validate(frame)
    shuffled = frame.sample(frac=1.0, random_state=1)
    assert [one.columns for one in redundancies(frame, schema)] == [
        one.columns for one in redundancies(shuffled, schema)
    ]


def test_no_column_is_in_two_blocks_and_every_block_has_a_name_of_its_own():
    rng = np.random.default_rng(0)
    frame = {}
    for stem in ("income", "grip", "x"):
        shared = rng.normal(size=300)
        for i in range(3):
            frame[f"{stem}{i}"] = (shared + 0.4 * rng.normal(size=300)).round(2)
    found = found_in(frame)
    members = [name for one in found if one.block for name in one.columns]
    assert sorted(members) == sorted(frame)
    assert [one.block for one in found] == ["income", "grip", "block 1"]


def test_hostile_names_stay_short_and_in_words():
    values = np.random.default_rng(0).normal(size=100)
    long = {f"{'n' * 300}{i}": values for i in range(40)}
    frame = pd.DataFrame(long)
    schema, _ = draft_columns(frame)
    for look in looks(redundancies(schema.validate(frame), schema), schema):
        assert len(look.what) + len(look.repair) < 4000


def test_numbers_of_any_size_raise_nothing():
    rng = np.random.default_rng(0)
    scale = 10.0 ** rng.integers(-200, 200, 100)
    frame = pd.DataFrame({f"c{i}": rng.normal(size=100) * scale**0.5 for i in range(4)})
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    redundancies(schema.validate(frame), schema)


def test_a_formula_needs_the_columns_that_it_uses_and_no_others():
    rng = np.random.default_rng(0)
    others = rng.normal(50, 10, (200, 4)).round(1)
    target = (others[:, 0] + others[:, 2] * 0.5).round(1)
    assert needed(target, others, logs=False) == [0, 2]
    formula = formula_of(target, others[:, [0, 2]], logs=False)
    assert formula is not None
    np.testing.assert_allclose(formula.weights, [1.0, 0.5], atol=5e-3)
    assert formula_of(target + rng.normal(size=200), others, logs=False) is None
    power = (others[:, 1] ** 2 / others[:, 3]).round(3)
    found = formula_of(power, others[:, [1, 3]], logs=True)
    assert found is not None
    np.testing.assert_allclose(found.weights, [2.0, -1.0], atol=1e-2)


@scored([([1, 20, 3], 1.0), ([0.5, 2], 0.1), ([1.25, 3], 0.01), ([np.pi, 1], 0.0)])
def test_the_last_decimal_place_is_the_step(values, step):
    assert step_of(np.array(values, dtype=float)) == pytest.approx(step)


@scored(
    [
        ("sbp1", "sbp2", True),
        ("gripLeft", "grip_right", True),
        ("crp_baseline", "crp_week4", True),
        ("Systolic", "diastolic BP", True),
        ("mean radius", "worst radius", True),
        ("x1", "x2", False),
        ("item_1", "item_2", False),
        ("1960", "1961", True),
        ("alt", "ast", False),
    ],
)
def test_names_of_repetitions(one, other, same):
    assert related(one, other) is same
    assert related(other, one) is same


def test_names_of_blocks():
    assert block_name(["mean radius", "worst radius"], []) == "radius"
    assert block_name(["Left grip", "grip_R"], ["grip"]) == "grip 2"
    assert block_name(["alt", "ast"], ["block 1"]) == "block 2"


def test_large_tables_are_searched_in_a_sample_and_claimed_of_all():
    rng = np.random.default_rng(0)
    n = 20_000
    nodes = rng.poisson(3, n)
    frame = pd.DataFrame({"nodes": nodes, "many": (nodes >= 4).astype(int), "broken": (nodes >= 2).astype(int)})
    sampled = np.random.default_rng(0).permutation(n)[:4000]
    outside = np.setdiff1d(np.arange(n), sampled)[0]
    frame.loc[outside, "broken"] = 1 - frame.loc[outside, "broken"]
    schema, _ = draft_columns(frame)
    found = redundancies(schema.validate(frame), schema)
    assert [one.described for one in found if one.kind == "function"] == [("many",)]
    assert "in all 20,000 subjects" in found[0].reason
