"""Sampling weights in descriptions: the numbers of statsmodels, and where no method is valid."""

import numpy as np
import pandas as pd
import pytest
from command_line import refused
from statsmodels.stats.weightstats import DescrStatsW

import clinclust as cc
from clinclust.cli import main
from clinclust.errors import InputError

SCHEMA = cc.FeatureSchema(
    [
        cc.Feature(name="x", likelihood="gaussian"),
        cc.Feature(name="sex", likelihood="bernoulli", levels=("female", "male"), role="describe"),
        cc.Feature(name="kind", likelihood="categorical", levels=("a", "b", "c"), role="describe"),
        cc.Feature(name="visits", likelihood="poisson", spike=[0], role="describe"),
    ],
    other_columns="ignore",
)


@pytest.fixture
def cohort():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [35, 25])
    frame = pd.DataFrame({"x": rng.normal(8 * labels), "sex": rng.choice(["female", "male"], 60)})
    frame["kind"], frame["visits"] = rng.choice(["a", "b", "c"], 60), rng.poisson(1.0, 60)
    frame.loc[::7, "x"] = np.nan
    return frame.assign(weight=rng.exponential(size=60).round(3) + 0.1), labels


def test_summaries_are_those_of_statsmodels(cohort):
    frame, labels = cohort
    found = cc.compare_subtypes(frame, labels, SCHEMA, weights=frame["weight"])
    assert set(found["kind"]) == {"summary"}
    plain = cc.compare_subtypes(frame, labels, SCHEMA)
    plain = plain[plain["kind"] == "summary"]
    pd.testing.assert_frame_equal(
        found[["feature", "level", "subtype", "n", "missing", "count"]].reset_index(drop=True),
        plain[["feature", "level", "subtype", "n", "missing", "count"]].reset_index(drop=True),
    )
    for subtype in (0, 1, 2):
        known = frame["x"].notna() & ((labels == subtype - 1) | (subtype == 0))
        exact = DescrStatsW(frame["x"][known], frame["weight"][known])
        row = found[(found["feature"] == "x") & (found["subtype"] == subtype)].iloc[0]
        assert row["mean"] == pytest.approx(exact.mean)
        assert row["sd"] == pytest.approx(exact.std * np.sqrt(known.sum() / (known.sum() - 1)))
        assert row[["q1", "median", "q3"]].tolist() == pytest.approx(exact.quantile([0.25, 0.5, 0.75]).tolist())
    women = found[(found["feature"] == "sex") & (found["subtype"] == 2)].iloc[0]
    share = frame["weight"][(labels == 1) & (frame["sex"] == "male")].sum() / frame["weight"][labels == 1].sum()
    assert women["percent"] == pytest.approx(100 * share)


def test_equal_weights_change_no_mean(cohort):
    frame, labels = cohort
    found = cc.compare_subtypes(frame, labels, SCHEMA, weights=np.full(60, 3.0))
    plain = cc.compare_subtypes(frame, labels, SCHEMA)
    plain = plain[plain["kind"] == "summary"].reset_index(drop=True)
    np.testing.assert_allclose(found["mean"].astype(float), plain["mean"].astype(float))
    np.testing.assert_allclose(found["sd"].astype(float), plain["sd"].astype(float))


def test_what_has_no_valid_method_is_refused(cohort):
    frame, labels = cohort
    for weights, message in (
        (frame["weight"].iloc[::-1], "index differs"),
        (frame["weight"].to_numpy()[:5], "one number for each of the 60 rows"),
        (frame["weight"].where(frame.index > 1), "above 0 and not missing; 2 are not"),
        (-frame["weight"], "above 0"),
        (["x"] * 60, "must be numbers"),
    ):
        with pytest.raises(InputError, match=message):
            cc.compare_subtypes(frame, labels, SCHEMA, weights=weights)
    found = cc.compare_subtypes(frame, labels, SCHEMA, weights=frame["weight"])
    with pytest.raises(InputError, match="no rule of suppression"):
        cc.suppress_small_cells(found)
    with pytest.raises(InputError, match="columns: p cannot be used with weights"):
        cc.subtype_table(found, columns=["all", "subtypes", "p"])
    model = cc.Partition(labels, SCHEMA, made_by="hand")
    with pytest.raises(InputError, match="comparisons have weights, and a report tests"):
        cc.write_report(model, frame, "report.html", comparisons=found)
    with pytest.raises(InputError, match="contrasts cannot be used with weights"):
        cc.compare_subtypes(frame, labels, SCHEMA, weights=frame["weight"], contrasts={"x": "rank"})


def test_the_table_says_what_is_weighted_and_has_no_p(cohort, tmp_path, monkeypatch, capsys):
    frame, _ = cohort
    monkeypatch.chdir(tmp_path)
    frame["x"] = frame["x"].fillna(1.0)
    model = cc.methods.PublishedMAPDP(SCHEMA, random_state=0, progress=False).fit(frame)
    model.save("subtypes")
    frame.to_csv("cohort.csv", index=False)
    given = ["table", "cohort.csv", "--model", "subtypes"]
    assert main([*given, "--weights", "weight", "--out", "table.md"]) == 0
    text = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "Descriptive p" not in text
    assert "have sampling weights" in text
    exact = cc.compare_subtypes(frame, model.labels_, SCHEMA, weights=frame["weight"])
    row = exact[(exact["feature"] == "sex") & (exact["subtype"] == 1)].iloc[0]
    assert f"{row['count']} ({row['percent']:.0f}%)" in text
    capsys.readouterr()
    assert "no column 'wait'" in refused(capsys, *given, "--weights", "wait", "--out", "t.md")
    assert "cannot be used with --suppress" in refused(
        capsys, *given, "--weights", "weight", "--suppress", "5", "--out", "t.md"
    )


def test_rounded_counts_have_no_tests_either_and_are_not_weighted(cohort):
    frame, labels = cohort
    shared = cc.suppress_small_cells(cc.compare_subtypes(frame, labels, SCHEMA), threshold=3, rounding=5)
    assert "sampling weights" not in " ".join(note.text for note in cc.subtype_table(shared).notes)
