# ruff: noqa: E501 - tables of cases read best with one case a line
"""Numbers that too many subjects share for a measurement are told; ties by rounding and limits are not."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.looks import looks_of
from clinclust.drafting.suspected_codes import suspected_codes
from clinclust.schema import Feature, FeatureSchema

N = 1000


def drawn(kind, rng, n=N):
    """Return one column of measurements or counts, in whole numbers or with one decimal."""
    return {
        "poisson": lambda: rng.poisson(90, n),
        "lognormal": lambda: np.exp(rng.normal(5.3, 0.5, n)).round(),
        "decimals": lambda: np.exp(rng.normal(2, 1, n)).round(1),
        "normal": lambda: rng.normal(95, 15, n).round(),
        "overdispersed": lambda: rng.negative_binomial(1, 0.02, n),
        "heaped": lambda: np.where(rng.random(n) < 0.5, 10 * rng.normal(10, 2, n).round(), rng.normal(100, 18, n)).round(),
        "percentiles": lambda: np.clip(np.round(100 * rng.beta(0.6, 0.6, n)), 1, 99),
        "saturation": lambda: np.clip(100 - rng.gamma(1.5, 2, n), 60, 100).round(),
    }[kind]().astype(float)  # fmt: skip


def suspected(values):
    numbers, counts = np.unique(values, return_counts=True)
    return suspected_codes(numbers, counts)


KINDS = ("poisson", "lognormal", "decimals", "normal", "overdispersed", "heaped", "percentiles", "saturation")


@scored(KINDS)
@scored(range(10))
def test_no_code_is_seen_where_none_is(kind, seed):
    assert suspected(drawn(kind, np.random.default_rng(seed))) == []


@scored([("lognormal", 999), ("lognormal", 99), ("decimals", 99.9), ("normal", 0), ("overdispersed", 999)])
def test_a_code_of_one_subject_in_twenty_is_seen_inside_and_above_the_range(kind, code):
    rng = np.random.default_rng(3)
    (found,) = suspected(np.where(rng.random(N) < 0.05, code, drawn(kind, rng)))
    assert found.code == code


@given(st.integers(0, 2**32), st.sampled_from([0.5, 2.0, 100.0]))
def test_what_is_seen_does_not_depend_on_the_order_or_on_how_cells_are_counted(seed, weight):
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(300) < 0.06, 999.0, drawn("lognormal", rng, 300))
    assert suspected(values) == suspected(rng.permutation(values))
    assert suspected(values) == suspected_codes(values, np.ones(300, dtype=np.int64))


def test_the_draft_tells_a_code_inside_the_range_and_leaves_out_one_far_above():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "platelets": np.where(rng.random(N) < 0.05, 999, np.exp(rng.normal(5.3, 0.5, N)).round()),
            "age": np.where(rng.random(N) < 0.06, 99, rng.integers(18, 90, N)),
            "weight": np.where(rng.random(N) < 0.05, 0, rng.normal(75, 12, N).round(1)),
        }
    )
    schema = draft_schema(frame)
    assert 'write `missing_codes: ["999"]`' in schema.comments["platelets"]
    assert schema["platelets"].missing_codes == ()
    assert schema["age"].missing_codes == ("99",)
    assert "'99': apart from all other values, and taken for missing" in schema.comments["age"]
    assert schema["weight"].missing_codes == ("0",)
    assert "'0': taken for missing" in schema.comments["weight"]


@scored([("month", 88), ("day", 99), ("year_of_diagnosis", 9999), ("day", 77)])
def test_codes_in_the_parts_of_a_date_are_missing_and_told(column, codes):
    rng = np.random.default_rng(0)
    low, high = {"month": (1, 12), "day": (1, 31)}.get(column, (1950, 2020))
    frame = pd.DataFrame({column: np.where(rng.random(300) < 0.05, codes, rng.integers(low, high + 1, 300))})
    schema = draft_schema(frame)
    assert schema[column].missing_codes == (str(codes),)
    assert "taken for missing" in schema.comments[column]


def test_a_schema_without_the_code_is_told_of_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.where(rng.random(N) < 0.05, 999, drawn("lognormal", rng))})
    schema = FeatureSchema([Feature(name="x", likelihood="gaussian", transform="log")])
    (found,) = looks_of(table, schema.validate(table, warn=False), schema)
    assert "have exactly 999" in found.what
    assert 'missing_codes: ["999"]' in found.repair
