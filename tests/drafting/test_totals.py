"""Totals and means of items are found where answers are missing, and only where they are exact."""

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting.draft import draft_columns
from clinclust.drafting.redundancy import applied, redundancies

N = 200


def answered(rng, k, missing):
    """Return k items from 0 to 3 of one severity, with missing answers, and two columns of the same range beside."""
    severity = rng.normal(size=(N, 1))
    answers = np.clip(np.round(1.2 + 0.8 * severity + 0.8 * rng.normal(size=(N, k))), 0, 3)
    answers[rng.random((N, k)) < missing] = np.nan
    return answers


def by_rule(rule, answers, k):
    seen = (~np.isnan(answers)).sum(axis=1)
    total = np.nansum(answers, axis=1)
    mean = np.where(seen > 0, total / np.maximum(seen, 1), np.nan)
    return {"total": np.where(seen > 0, total, np.nan), "mean": mean.round(2), "prorated": (mean * k).round(1)}[rule]


def found_in(columns):
    frame = pd.DataFrame(columns).astype(object).where(lambda cells: cells.notna(), None)
    schema, _ = draft_columns(frame)
    return schema, redundancies(schema.validate(frame, warn=False), schema)


@given(st.integers(0, 2**32), st.sampled_from(["total", "mean", "prorated"]), st.integers(5, 10), st.integers(0, 2))
def test_every_rule_is_found_whatever_stands_beside_the_items(seed, rule, k, n_reversed):
    rng = np.random.default_rng(seed)
    answers = answered(rng, k, 0.1)
    given = answers.copy()
    given[:, :n_reversed] = 3 - given[:, :n_reversed]
    beside = {name: rng.integers(0, 4, N).astype(float) for name in ("mobility", "stage")}
    columns = {**{f"item {place}": column for place, column in enumerate(given.T)}, **beside}
    schema, found = found_in({**columns, "result": by_rule(rule, answers, k)})
    (one,) = [one for one in found if "result" in one.described]
    assert one.kind == "arithmetic"
    assert set(one.columns) == {"result", *(f"item {place}" for place in range(k))}
    assert {"total": "the total of the", "mean": "the mean of the", "prorated": "made up for"}[rule] in one.reason
    assert applied(schema, found)["result"].role == "describe"


@scored(range(8))
def test_a_score_that_only_resembles_the_total_is_none(seed):
    rng = np.random.default_rng(seed)
    answers = answered(rng, 8, 0.1)
    near = by_rule("total", answers, 8) + rng.choice([-1, 0, 0, 1], N)
    _, found = found_in({**{f"item {place}": column for place, column in enumerate(answers.T)}, "result": near})
    assert not [one for one in found if one.kind == "arithmetic"]
