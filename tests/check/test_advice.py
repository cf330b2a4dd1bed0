"""Which features are advised to be one block: those that all depend on each other, and are not most of all."""

from itertools import combinations

import pandas as pd
import pytest

import clinclust as cc
from clinclust.check.check import COLUMNS_OF_CHECKS, advice_of
from clinclust.estimators.fitting import NOTHING_COMPARED

NAMES = list("abcdefgh")
SCHEMA = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in NAMES])


def blocks(correlations, schema=SCHEMA, p=1e-6):
    """Return the block of each feature that is advised one, and the rows of the advice."""
    pairs = pd.DataFrame(
        [(*pair, correlations.get("".join(pair), 0.0)) for pair in combinations(schema.names, 2)],
        columns=["first", "second", "correlation"],
    ).assign(p_of_largest=p)
    pairs = pairs.loc[pairs["correlation"].abs().sort_values(ascending=False).index]
    compared = pd.DataFrame({"feature": schema.names, "evidence": 0.0, "schema_line": None, "is_misfit": False})
    checks = pd.DataFrame(columns=COLUMNS_OF_CHECKS).astype({"p": float, "distance": float})
    advice, mended = advice_of(schema, compared, checks, pairs)
    return {name: feature.block for name, feature in mended.items()}, advice


def test_the_columns_are_those_of_the_comparison():
    assert {"feature", "evidence", "schema_line", "is_misfit"} <= set(NOTHING_COMPARED.columns)


def test_all_pairs_of_a_block_depend_on_each_other():
    found, advice = blocks({"ab": 0.7, "ac": 0.6, "bc": -0.55, "ef": 0.5})
    assert found == dict.fromkeys("abc", "depends_1") | dict.fromkeys("ef", "depends_2")
    assert advice["problem"].tolist()[0] == "depends on b, c inside the subtypes"
    assert advice["evidence"].iloc[0] == "r = 0.70 of a and b"


def test_the_ends_of_a_chain_are_in_no_common_block():
    found, advice = blocks({"ab": 0.8, "bc": 0.6, "cd": 0.7})
    assert found == dict.fromkeys("ab", "depends_1") | dict.fromkeys("cd", "depends_2")
    assert advice["feature"].tolist() == list("abcd")


def test_what_depends_too_weakly_for_a_block_is_told_without_a_line():
    found, advice = blocks({"ab": 0.7, "bc": 0.4, "ef": 0.3})
    assert found == dict.fromkeys("ab", "depends_1")
    advice = advice.set_index("feature")
    assert advice["line"].isna().to_dict() == {"a": False, "b": False, "c": True, "e": True, "f": True}
    assert advice.loc["c", "problem"] == "depends on b inside the subtypes"
    assert advice.loc["c", "evidence"] == "r = 0.40 of b and c"


def test_a_feature_with_two_problems_has_one_line_that_mends_both():
    pairs = pd.DataFrame([("a", "b", 0.9, 1e-9)], columns=["first", "second", "correlation", "p_of_largest"])
    compared = pd.DataFrame({"feature": NAMES, "declared": "gaussian", "better": "of the log", "evidence": 50.0})
    compared["schema_line"] = [f"- {{name: {name}, likelihood: gaussian, transform: log}}" for name in NAMES]
    compared["is_misfit"] = compared["feature"] == "a"
    compared.loc[1:, "evidence"] = 0.0
    checks = pd.DataFrame(columns=COLUMNS_OF_CHECKS).astype({"p": float, "distance": float})
    advice, mended = advice_of(SCHEMA, compared, checks, pairs)
    lines = advice.loc[advice["feature"] == "a", "line"]
    assert set(lines) == {"- {name: a, likelihood: gaussian, transform: log, block: depends_1}"}
    assert len(lines) == 2
    assert (mended["a"].transform, mended["a"].block) == ("log", "depends_1")


@pytest.mark.parametrize(("r", "p"), [(0.29, 1e-6), (0.9, 0.02)])
def test_what_is_weak_or_may_be_chance_is_no_block(r, p):
    found, advice = blocks({"ab": r}, p=p)
    assert found == {}
    assert advice.empty


def test_dependence_of_more_than_half_of_the_features_is_told_and_is_no_block():
    found, advice = blocks({"".join(pair): 0.6 for pair in combinations("abcde", 2)})
    assert found == {}
    assert advice["feature"].tolist() == list("abcde")
    assert advice["line"].isna().all()
    found, _ = blocks({"".join(pair): 0.6 for pair in combinations("abcd", 2)})
    assert set(found) == set("abcd")


def test_a_feature_joins_the_block_that_another_has():
    schema = SCHEMA.with_changed(
        [cc.Feature(**(f.content() | ({"block": "lipids"} if f.name == "a" else {}))) for f in SCHEMA]
    )
    found, advice = blocks({"ab": 0.6}, schema=schema)
    assert found == {"b": "lipids"}
    assert advice["feature"].tolist() == ["b"]


def test_many_names_are_not_all_listed():
    schema = cc.FeatureSchema([cc.Feature(name=f"f{n:02d}", likelihood="gaussian") for n in range(20)])
    pairs = {f"{one}{two}": 0.6 for one, two in combinations(schema.names[:8], 2)}
    _, advice = blocks(pairs, schema=schema)
    assert advice["problem"].iloc[0] == "depends on f01, f02, f03, f04, f05 and 2 more inside the subtypes"
