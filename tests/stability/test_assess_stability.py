"""Stability: laws of the clusterwise Jaccard, and what stable and unstable subtypes get."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema, quick_fit, schema_of
from command_line import refused
from reporting.stand_in import sections_of

import clinclust as cc
from clinclust.cli import main
from clinclust.errors import CohortError, InputError
from clinclust.reporting.report import ReportOptions
from clinclust.stability.assess import TOO_FEW, band_of, clusterwise_jaccard, contingency


def cohort(shift, n=120, seed=0, n_features=5):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    values = pd.DataFrame(rng.normal(shift * group[:, None], 1.0, (n, n_features))).rename(columns="x{}".format)
    return values.mask(rng.random(values.shape) < 0.05)


fitted = partial(quick_fit, n_restarts=3)


def assessed(model, frame, n=12, **options):
    return cc.stability.assess_stability(model, frame, n, progress=False, **options)


@pytest.fixture(scope="module")
def clear():
    """Return the table, the model and the stability of three clear subtypes."""
    frame = cohort(6.0)
    model = fitted(frame)
    return frame, model, assessed(model, frame, 4)


@pytest.fixture(scope="module")
def near():
    """Return the table, the model and the stability of subtypes that lie near each other."""
    frame = cohort(1.2, n=90)
    model = fitted(frame)
    return frame, model, assessed(model, frame, 4, n_jobs=1)


@pytest.mark.parametrize("seed", range(2))
def test_agreement_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    reported, refitted = rng.integers(4, size=30), rng.integers(3, size=30)
    reported[reported == 3] = 0  # a subtype without subjects
    counts = contingency(reported, refitted, 4)
    for k, found in enumerate(clusterwise_jaccard(counts)):
        members = set(np.flatnonzero(reported == k))
        if not members:
            assert np.isnan(found)
            continue
        all_clusters = [set(np.flatnonzero(refitted == c)) for c in range(3)]
        assert found == pytest.approx(max(len(members & c) / len(members | c) for c in all_clusters))


def test_clear_subtypes_come_out_again(clear):
    _, _, found = clear
    assert found.subtypes["jaccard"].tolist() == [1.0, 1.0, 1.0]
    assert set(found.subtypes["band"]) == {"highly stable"}
    assert (found.subtypes["dissolved"] == 0.0).all()
    assert (found.subtypes["found_again"] == 1.0).all()
    assert (found.subtypes["jaccard_by_chance"] < 0.5).all()
    assert found.same_number == 1.0
    assert (found.sensitivity["agreement"] == 1.0).all()
    assert "Subtype 1 (40 subjects): highly stable (Jaccard 1.00, by chance 0." in found.summary
    assert repr(found).startswith("Stability(jaccard 1.00, 1.00, 1.00; 4 half-samples")


@pytest.mark.simulation
def test_a_division_of_noise_does_not_come_out_again():
    frame = cohort(0.0, n=120, n_features=4)
    # A prior that asks for narrow clusters cuts noise into pieces.
    narrow = {name: {"mean": 0.0, "kappa": 0.1, "shape": 200.0, "rate": 60.0} for name in frame}
    model = fitted(frame, hyperparameters=narrow)
    assert model.n_clusters_ > 2
    found = assessed(model, frame, 6)
    assert np.average(found.subtypes["jaccard"], weights=found.subtypes["size"]) < 0.65
    assert {"unstable", "dissolved"} & set(found.subtypes["band"])


def test_unions_of_clusters_are_compared_with_unions(clear):
    frame, model, _ = clear
    found = assessed(model.cut(2), frame, 4)
    assert len(found.subtypes) == 2
    assert (found.numbers["n_found"] == 3).all()
    assert found.same_number == 1.0
    assert (found.sensitivity["n_subtypes"] == 2).all()


@pytest.mark.simulation
def test_the_same_seed_gives_the_same_on_any_number_of_threads_in_any_order_of_the_table(near):
    frame, model, one = near
    with pytest.warns(cc.CohortWarning, match="another order"):
        shuffled = assessed(model, frame.sample(frac=1.0, random_state=1), 4, n_jobs=2)
    for name in ("subtypes", "numbers", "sensitivity"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(shuffled, name))
    changed = assessed(model, frame, 1, random_state=5)
    assert not changed.subtypes.equals(one.subtypes)


def test_numbers_add_up_and_every_setting_has_a_row(near):
    _, _, found = near
    assert found.numbers["share"].sum() == pytest.approx(1.0)
    assert found.sensitivity["change"].tolist() == [
        *(f"concentration {value}" for value in ("1/3", "3", "30")),
        *(f"seed {value}" for value in (1, 2, 3)),
    ]
    assert found.sensitivity["agreement"].between(-0.5, 1.0).all()


def test_bands_are_those_of_hennig():
    names = [band_of(value, 20).name for value in (1.0, 0.85, 0.849, 0.75, 0.749, 0.6, 0.599, 0.0)]
    assert names == [*["highly stable"] * 2, *["stable"] * 2, *["a pattern"] * 2, "unstable", "dissolved"]
    assert band_of(float("nan"), 20) == band_of(1.0, 4) == TOO_FEW


def test_what_cannot_be_assessed_is_refused(clear):
    frame, model, _ = clear
    with pytest.raises(InputError, match=r"n_halves must be .*; n_jobs must be .*; the table has 10 rows"):
        cc.stability.assess_stability(model, frame.head(10), 0, n_jobs=0)


@pytest.mark.simulation
def test_a_report_takes_the_stability_of_its_subtypes_and_a_shared_one_says_nothing_of_it(clear, tmp_path):
    frame, model, found = clear
    quick = {"associations": None, "stability": found}
    book = sections_of(cc.write_report(model, frame, tmp_path / "a.xlsx", **quick))
    assert sum("highly stable (1.00)" in str(cell.value) for row in book["Trust"].iter_rows() for cell in row) == 3
    shared = sections_of(cc.write_report(model, frame, tmp_path / "b.xlsx", suppress=5, **quick))
    assert not any("Comes out" in str(cell.value) for row in shared["Overview"].iter_rows() for cell in row)
    with pytest.raises(InputError, match=r"sizes \[40, 40, 40\], and the model has sizes \[80, 40\]"):
        cc.write_report(model.cut(2), frame, tmp_path / "c.html", stability=found)
    with pytest.raises(InputError, match="stability must be at least 1 sample"):
        cc.write_report(model, frame, tmp_path / "c.html", stability=0)


@pytest.mark.simulation
def test_the_whole_procedure_chooses_the_number_of_subtypes_again():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(160, 6)) + 1.5 * (np.arange(160) % 2)[:, None]
    frame = pd.DataFrame(values).rename(columns="x{}".format)
    model = cc.MAPDP(gaussian_schema(frame), n_restarts=2, random_state=0, progress=False).fit(frame)
    assert model.n_clusters_ == 2
    quick, whole = (assessed(model, frame, 5, whole_procedure=is_whole) for is_whole in (False, True))
    assert (whole.subtypes["jaccard"] <= quick.subtypes["jaccard"] + 0.02).all()
    halves = whole.numbers
    assert set(halves["n_found"]) <= {1, 2}
    assert whole.same_number == pytest.approx(halves.loc[halves["n_found"] == 2, "share"].sum())
    assert "As many subtypes in" in whole.summary
    again = assessed(model, frame, 5, whole_procedure=True, n_jobs=1)
    pd.testing.assert_frame_equal(again.subtypes, whole.subtypes)


def test_what_cannot_go_together_is_told():
    assert ReportOptions(whole_procedure=True).problems() == [
        "whole_procedure can be used only together with stability"
    ]


# --- subtypes in another cohort ---------------------------------------------------------------------------------------


MEANS = np.random.default_rng(3).normal(0.0, 1.4, (3, 8))
NAMES = [f"x{place}" for place in range(8)]
QUICK = {"random_state": 0, "n_jobs": 1, "progress": False}
SCHEMA = schema_of(NAMES, kind={"likelihood": "categorical", "levels": ("a", "b", "c")}, age={"role": "describe"})


def other_cohort(n, shares, seed):
    rng = np.random.default_rng(seed)
    group = rng.choice(len(shares), n, p=shares)
    frame = pd.DataFrame(MEANS[group] + rng.normal(size=(n, 8)), columns=NAMES).mask(rng.random((n, 8)) < 0.05)
    kinds = np.where(rng.random(n) < 0.6, group, rng.integers(3, size=n))
    return frame.assign(kind=np.array(["a", "b", "c"])[kinds], age=rng.normal(60, 9, n))


@pytest.fixture(scope="module")
def three():
    frame = other_cohort(300, [0.5, 0.3, 0.2], 0)
    return cc.MAPDP(SCHEMA, n_clusters=3, **QUICK).fit(frame), frame


def test_subtypes_of_the_same_population_are_found_again_whatever_their_shares(three):
    model, frame = three
    other = other_cohort(200, [0.2, 0.3, 0.5], 1).drop(columns="age")  # described columns are not needed
    found = cc.stability.validate_subtypes(model, frame, other, progress=False)
    table = found.subtypes
    assert (table["jaccard"] > 0.9).all()
    assert (table["profile_correlation"] > 0.8).all()
    assert sorted(table["nearest"]) == [1, 2, 3]
    assert table["share_assigned"].to_numpy() == pytest.approx([0.2, 0.3, 0.5], abs=0.1)
    assert table["share"].sum() == pytest.approx(1.0)
    assert "3 of 3 subtypes are found again in the other cohort of 200 subjects" in found.summary
    assert len(found.summary.split("\n")) == 4


def test_a_subtype_that_the_other_cohort_lacks_is_not_found(three):
    model, frame = three
    found = cc.stability.validate_subtypes(model, frame, other_cohort(200, [0.5, 0.5], 2), progress=False)
    assert (found.subtypes["band"] == "highly stable").tolist() == [True, True, False]
    assert found.n_found_again == 2


@pytest.mark.simulation
@pytest.mark.filterwarnings("ignore:.*lie beyond nearly all values:clinclust.CohortWarning")
def test_one_group_has_no_subtype_although_all_its_subjects_come_together(three):
    frame = three[1]
    model = cc.MAPDP(SCHEMA, n_restarts=2, **QUICK).fit(frame)
    found = cc.stability.validate_subtypes(model, frame, other_cohort(80, [1.0], 3), progress=False)
    assert (found.n_found, found.n_found_again) == (1, 0)
    assert set(found.subtypes["band"]) == {"not found"}
    assert "the same procedure finds one group" in found.summary


def test_tables_that_are_not_these_are_refused(three):
    model, frame = three
    with pytest.raises(InputError, match="rows"):
        cc.stability.validate_subtypes(model, frame.head(50), frame, progress=False)
    with pytest.raises(CohortError, match="x3"):
        cc.stability.validate_subtypes(model, frame, frame.drop(columns="x3"), progress=False)


@pytest.mark.simulation
def test_the_command_says_it_and_writes_one_page(three, tmp_path, monkeypatch, capsys):
    model, frame = three
    monkeypatch.chdir(tmp_path)
    model.save("subtypes")
    frame.to_csv("cohort.csv", index=False)
    other_cohort(120, [0.3, 0.3, 0.4], 4).to_csv("other.csv", index=False)
    given = ["validate", "other.csv", "--cohort", "cohort.csv", "--model", "subtypes"]
    assert main([*given, "--out", "page.html"]) == 0
    said = capsys.readouterr().out
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "3 of 3 subtypes are found again" in said
    assert "3 of 3 subtypes are found again" in page
    assert page.count("<tr>") >= 4
    assert main([*given, "--out", "table.csv"]) == 0
    assert pd.read_csv("table.csv")["jaccard"].min() > 0.8
    capsys.readouterr()
    frame.assign(x3="high").to_csv("other.csv", index=False)
    assert "--unseen" not in refused(capsys, *given, "--quiet")
