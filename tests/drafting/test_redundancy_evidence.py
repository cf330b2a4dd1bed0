"""A column is given up for evidence that chance does not give, and for no more than was seen."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, mixed_cohort
from redundant_columns import N, found_in, numbers
from scored import scored

from clinclust.drafting.kinds import step_of
from clinclust.drafting.redundancy import applied, formulas, looks, needed_evidence, redundancies, relation
from clinclust.schema import Feature, FeatureSchema


def evidence_of(x, y, *, x_ordered, y_ordered):
    """Return the evidence that y is determined by x, in nats; -inf if it is not."""
    said = relation(x, y, (x_ordered, y_ordered), (False, False))
    return -math.inf if said is None else said.evidence


@scored([(True, True), (True, False), (False, False)])
def test_the_evidence_bounds_the_probability_among_all_orders_of_y(x_ordered, y_ordered):
    x, y = np.array([0, 0, 1, 1, 2, 2, 3, 3.0]), np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    own = evidence_of(x, y, x_ordered=x_ordered, y_ordered=y_ordered)
    assert np.isfinite(own)
    orders = set(itertools.permutations(y))
    at_least = sum(evidence_of(x, np.array(order), x_ordered=x_ordered, y_ordered=y_ordered) >= own for order in orders)
    assert at_least / len(orders) <= math.exp(-own) * (1 + 1e-9)


def yes_no(n, n_yes):
    column = np.zeros(n)
    column[np.random.default_rng(0).permutation(n)[:n_yes]] = 1.0
    return column


@scored([(20, 10, 2, False), (20, 10, 50, False), (80, 40, 50, True), (200, 5, 20, False), (200, 60, 20, True)])
def test_two_yes_no_columns_that_agree_need_many_subjects(n, n_yes, n_columns, is_found):
    both = yes_no(n, n_yes)
    own = evidence_of(both, both, x_ordered=True, y_ordered=True)
    assert (own >= needed_evidence(n_columns)) == is_found


def test_every_further_column_asks_for_more_evidence():
    assert needed_evidence(10) < needed_evidence(100) < needed_evidence(100, 2)
    pair = {"a": yes_no(46, 23), "b": yes_no(46, 23)}
    beside = {f"c{i}": np.random.default_rng(i).normal(size=46) for i in range(60)}
    assert len(found_in(pair)[1]) == 1
    assert found_in({**pair, **beside})[1] == []


def test_a_column_with_a_value_for_each_subject_tells_nothing():
    rng = np.random.default_rng(0)
    assert found_in({"a": rng.normal(size=200), "b": rng.normal(size=200), "c": rng.integers(0, 2, 200)})[1] == []
    names = [f"s{i}" for i in range(100)]
    columns = {"who": np.repeat(names, 5), "sex": np.repeat(rng.integers(0, 2, 100), 5)}
    assert found_in(columns)[1] == []  # an identifier that nobody declared


def test_the_mean_of_a_district_is_more_than_its_name():
    district = np.random.default_rng(0).integers(0, 25, 500)
    income = np.random.default_rng(1).normal(size=25).round(3)[district]
    columns = {"district": np.array([f"d{i}" for i in range(25)])[district], "income": income}
    assert "district" not in {one.target for one in found_in(columns)[1] if one.described == ("income",)}


@pytest.mark.parametrize("n", [3, 8, 12, 30, 200])
def test_unrelated_columns_are_left(n):
    for seed in range(5):
        frame, schema, _, _ = mixed_cohort(seed, n, EVERY_LIKELIHOOD * 2, n_groups=1, missing=0.2)
        assert redundancies(schema.validate(frame, warn=False), schema) == []


@scored(range(6))
@scored([2, 4])
def test_subtypes_however_far_apart_determine_nothing(seed, n_groups):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=N)
    values = ((rng.normal(size=(n_groups, 12)) * 8)[groups] + rng.normal(size=(N, 12))).round(2)
    columns = {name: values[:, i] for i, name in enumerate("abcdefghijkl")}
    symptom = (groups == 0).astype(int) ^ (rng.random(N) < 0.02)
    assert [one for one in found_in({**columns, "symptom": symptom})[1] if one.described] == []


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


def test_that_nobody_was_asked_is_no_value():
    rng = np.random.default_rng(0)
    smokes = rng.integers(0, 2, N)
    kind = np.where(smokes == 1, rng.choice(["packets", "rolled"], N), None)
    columns = {"smokes": smokes, "kind": kind, "sex": rng.integers(0, 2, N)}
    assert found_in(columns)[1] == []


def test_only_what_is_clustered_on_is_described_and_described_columns_are_not_read():
    values = np.random.default_rng(0).integers(0, 30, 200)
    schema, found = found_in({"a": values, "b": values, "c": numbers(n=200)}, {"b": "describe"})
    assert found == []
    assert applied(schema, found) == schema


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 200)
    frame = pd.DataFrame({"age": age, "decade": age // 10, "a": rng.normal(size=200).round(3)})
    frame["sum"] = frame["a"] + 2.0 * age
    shuffled = frame.sample(frac=1.0, random_state=1)
    assert {one.target for one in found_in(frame)[1]} == {"decade", "sum"}
    assert [one.columns for one in found_in(shuffled)[1]] == [one.columns for one in found_in(frame)[1]]


def test_no_column_is_in_two_blocks_and_every_block_has_a_name_of_its_own():
    rng = np.random.default_rng(0)
    frame = {}
    for stem in ("income", "grip", "x"):
        shared = rng.normal(size=300)
        for i in range(3):
            frame[f"{stem}{i}"] = (shared + 0.3 * rng.normal(size=300)).round(2)
    found = found_in(frame)[1]
    members = [name for one in found if one.block for name in one.columns]
    assert sorted(members) == sorted(frame)
    assert [one.block for one in found] == ["income", "grip", "block 1"]


def test_hostile_names_stay_short_and_in_words():
    values = np.random.default_rng(0).normal(size=100)
    schema, found = found_in({f"{'n' * 300}{i}": values for i in range(40)})
    assert len(found) == 39
    for look in looks(found, schema):
        assert len(look.what) + len(look.repair) < 4000


def test_numbers_of_any_size_raise_nothing():
    rng = np.random.default_rng(0)
    scale = 10.0 ** rng.integers(-200, 200, 100)
    frame = pd.DataFrame({f"c{i}": rng.normal(size=100) * scale**0.5 for i in range(4)})
    schema = FeatureSchema([Feature(name=name, likelihood="gaussian") for name in frame])
    assert redundancies(schema.validate(frame), schema) == []


def test_a_formula_needs_the_columns_that_it_uses_and_no_others():
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.normal(50, 10, (200, 4)).round(1), np.zeros(200)])
    table[:, 4] = (table[:, 0] + table[:, 2] * 0.5).round(1)
    (formula,) = formulas(table, np.ones(5, dtype=bool))
    assert (formula.target, sorted(formula.sources), formula.how) == (4, [0, 2], "computed from")
    table[:, 4] = (table[:, 1] ** 2 / table[:, 3]).round(3)
    (formula,) = formulas(table, np.ones(5, dtype=bool))
    assert (formula.target, sorted(formula.sources), formula.how) == (4, [1, 3], "a product or ratio of")
    table[:, 4] = rng.normal(size=200)
    assert formulas(table, np.ones(5, dtype=bool)) == []


@scored([([1, 20, 3], 1.0), ([0.5, 2], 0.1), ([1.25, 3], 0.01), ([np.pi, 1], 0.0)])
def test_the_last_decimal_place_is_the_step(values, step):
    assert step_of(np.array(values, dtype=float)) == pytest.approx(step)


def test_large_tables_are_looked_at_in_a_sample():
    nodes = np.random.default_rng(0).poisson(3, 20_000).astype(float)
    found = found_in({"nodes": nodes, "many": (nodes >= 4).astype(int)})[1]
    assert [one.described for one in found if one.kind == "determined"] == [("many",)]
    assert "in all 4,000 subjects looked at" in found[0].reason
