# ruff: noqa: E501 - tables of cases read best with one case a line
"""The second look at a table that fits its schema."""

import numpy as np
import pandas as pd
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.looks import looks_of
from clinclust.schema import Feature, FeatureSchema

rng = np.random.default_rng(4)
N = 300


def look(cells, **fields):
    schema = FeatureSchema([Feature(name="x", **fields)])
    table = pd.DataFrame({"x": cells})
    return looks_of(table, schema.validate(table, warn=False), schema)


@scored(
    [
        (np.where(rng.random(N) < 0.7, np.nan, rng.normal(size=N)), {"likelihood": "gaussian"}, "missing", "describe"),
        (rng.poisson(1, N), {"likelihood": "gaussian"}, "exactly", "likelihood: negative_binomial"),
        (np.where(rng.random(N) < 0.3, 0.0, rng.gamma(3, 2.5, N)), {"likelihood": "exponential"}, "exactly 0", "describe"),
        (
            rng.choice(["mild", "severe", "none"], N), {"likelihood": "categorical", "levels": ["mild", "none", "severe"]},
            "order", "likelihood: ordinal, levels: [none, mild, severe]",
        ),
        (
            ["a", "b"] * 148 + ["c"] * 4, {"likelihood": "categorical", "levels": ["a", "b", "c"]},
            "fewer than 5 subjects have 'c'", "synonyms: {c: ...}",
        ),
        (rng.choice([0, 4], N), {"likelihood": "binomial", "trials": 4}, "not spread as a binomial", "likelihood: ordinal"),
        (np.append(rng.normal(37, 1, N), 370).round(1), {"likelihood": "gaussian"}, "1 value lies far from all others", "missing_codes"),
        (np.append(rng.poisson(2, N), [400, 900]), {"likelihood": "poisson"}, "2 values lie far from all others, such as 400", "missing_codes"),
    ],
)  # fmt: skip
def test_what_may_make_subtypes_that_are_none_is_told_with_the_line_to_write(cells, fields, what, repair):
    (found,) = look(cells, **fields)
    assert found.columns == ("x",)
    assert what in found.what
    assert repair in found.repair


@scored(
    [
        (rng.normal(size=N), {"likelihood": "gaussian"}),
        (rng.normal(120, 15, N).round(), {"likelihood": "gaussian"}),
        (rng.poisson(2, N), {"likelihood": "poisson"}),
        (rng.binomial(4, 0.5, N), {"likelihood": "binomial", "trials": 4}),
        (np.where(rng.random(N) < 0.5, rng.binomial(4, 0.4, N), rng.binomial(4, 0.6, N)), {"likelihood": "binomial", "trials": 4}),
        (rng.choice([0, 4], N), {"likelihood": "ordinal", "trials": 4}),
        (rng.choice(["tremor", "rigid", "mixed"], N), {"likelihood": "categorical", "levels": ["tremor", "rigid", "mixed"]}),
        (rng.poisson(1, N), {"likelihood": "gaussian", "role": "describe"}),
        (rng.exponential(3, N), {"likelihood": "exponential"}),
    ],
)  # fmt: skip
def test_what_is_declared_rightly_deserves_no_look(cells, fields):
    assert look(cells, **fields) == []


def test_an_ignored_identifier_that_repeats_is_told():
    schema = FeatureSchema([Feature(name="patient_id", role="ignore"), Feature(name="x", likelihood="gaussian")])
    table = pd.DataFrame({"patient_id": np.repeat(np.arange(60), 3), "x": rng.normal(size=180)})
    table["visit_month"] = np.tile(["0", "6", "12"], 60)
    schema = FeatureSchema(schema.features, other_columns="ignore")
    (found,) = looks_of(table, schema.validate(table), schema)
    assert "60 of 60 subjects have several rows (up to 3 with the same 'patient_id')" in found.what
    assert "in the order of --by visit_month, or the rows of one visit, --where 'visit_month ==" in found.what
    assert found.what in draft_schema(table).comments["patient_id"]
    assert "--one-row-per patient_id (the first;" in found.what


def test_values_that_a_spreadsheet_turned_into_dates_are_told_with_their_rows():
    texts = ["1/2", "2/3", "3/4"] * 10
    texts[4], texts[9] = "02. Mrz", "1-Feb"
    schema = draft_schema(pd.DataFrame({"id": [f"p{k}" for k in range(30)], "ratio": texts, "month": ["May"] * 30}))
    assert "rows 4, 9 hold" in schema.comments["ratio"]
    assert "02. Mrz" in schema.comments["ratio"]
    assert "export the table again" in schema.comments["ratio"]
    assert "spreadsheet" not in schema.comments["month"] + schema.comments["id"]
