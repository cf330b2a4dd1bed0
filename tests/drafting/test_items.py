"""Items of one instrument are one block; subscales, other stems and unrelated numbered columns are not."""

import numpy as np
import pandas as pd
import pytest
from scored import scored

from clinclust.drafting.draft import draft_columns
from clinclust.drafting.redundancy import looks, redundancies

N = 400


def items(names, rho, seed=0, *, factor=None, n=N, top=3):
    """Return columns of answers 0 .. top that measure one factor."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=n) if factor is None else factor
    cuts = np.linspace(-0.7, 1.3, top)
    return {
        name: np.digitize(np.sqrt(rho) * factor + np.sqrt(1 - rho) * rng.normal(size=n) + rng.uniform(-0.3, 0.3), cuts)
        for name in names
    }


def blocks(columns):
    frame = pd.DataFrame(columns).astype(str)
    schema, _ = draft_columns(frame)
    found = redundancies(schema.validate(frame, warn=False), schema)
    return [sorted(one.columns) for one in found if one.block], found, schema


def noise(seed=50):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(60, 10, N).round(1) for name in ("age", "sbp", "hb", "bmi")}


STEMS = {
    "PHQ1 .. PHQ9": [f"PHQ{i}" for i in range(1, 10)],
    "isi_1 ..": [f"isi_{i}" for i in range(1, 8)],
    "q1 ..": [f"q{i}" for i in range(1, 6)],
    "Item 1 ..": [f"Item {i}" for i in range(1, 11)],
    "MDS 3.1 ..": [f"MDS 3.{i}" for i in range(1, 19)],
    "phq1_interest ..": ["phq1_interest", "phq2_mood", "phq3_sleep", "phq4_energy"],
}


@scored([0.35, 0.5, 0.7])
@scored(STEMS)
def test_items_of_one_factor_are_one_block_with_the_reason(rho, stem):
    found, findings, _ = blocks({**items(STEMS[stem], rho), **noise()})
    assert found == [sorted(STEMS[stem])]
    assert "items of one instrument by their names and their scale; mean rank correlation" in findings[0].reason


def test_a_reversed_item_belongs_to_its_instrument():
    columns = items(STEMS["PHQ1 .. PHQ9"], 0.5)
    columns["PHQ4"] = 3 - columns["PHQ4"]
    assert blocks({**columns, **noise()})[0] == [sorted(columns)]


def test_a_total_makes_items_certain_even_where_they_hardly_correlate():
    columns = items(STEMS["isi_1 .."], 0.02)
    assert blocks({**columns, **noise()})[0] == []
    total = {"isi_total": sum(columns.values())}
    found, findings, _ = blocks({**columns, **total, **noise()})
    assert found == [sorted(columns)]
    assert any("their total is isi_total" in one.reason for one in findings)


@pytest.mark.parametrize("between", [0.0, 0.2])
def test_subscales_that_hardly_depend_on_each_other_are_a_block_each(between):
    rng = np.random.default_rng(3)
    shared = rng.normal(size=N)
    one, other = (np.sqrt(between) * shared + np.sqrt(1 - between) * rng.normal(size=N) for _ in range(2))
    first, second = [f"hads{i}" for i in range(1, 8)], [f"hads{i}" for i in range(8, 15)]
    columns = {**items(first, 0.55, 1, factor=one), **items(second, 0.55, 2, factor=other)}
    assert blocks({**columns, **noise()})[0] == [sorted(first), sorted(second)]


def test_instruments_of_other_stems_stay_apart():
    severity = np.random.default_rng(4).normal(size=N)
    columns = {
        **items(["P1", "P2", "P3", "P4"], 0.5, 1, factor=severity),
        **items(["N1", "N2", "N3"], 0.5, 2, factor=severity),
    }
    assert blocks({**columns, **noise()})[0] == [["P1", "P2", "P3", "P4"], ["N1", "N2", "N3"]]


@scored(range(5))
@scored([[f"phq{i}" for i in range(1, 10)], [f"item{i}" for i in range(1, 21)]])
def test_unrelated_numbered_columns_are_no_block(seed, names):
    assert blocks({**items(names, 0.0, seed), **noise(50 + seed)})[0] == []


def test_numbered_columns_that_are_no_items_are_left():
    assert blocks({**items([f"snp{i}" for i in range(1, 9)], 0.3), **noise()})[0] == []


def test_items_of_another_scale_are_left_out_of_the_block():
    columns = items(STEMS["PHQ1 .. PHQ9"], 0.5)
    long = items(["PHQ10"], 0.5, 9, top=10)
    assert blocks({**columns, **long, **noise()})[0] == [sorted(columns)]


def test_a_schema_without_the_block_gets_the_line_to_write():
    _, findings, schema = blocks({**items(STEMS["PHQ1 .. PHQ9"], 0.5), **noise()})
    told = looks(findings, schema)
    assert [look.repair.split(" on the lines of ")[0] for look in told] == ["write block: phq"]
    assert set(told[0].columns) == set(STEMS["PHQ1 .. PHQ9"])
