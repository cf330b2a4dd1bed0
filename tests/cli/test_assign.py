"""`clinclust assign` and `clinclust impute`: subtypes of new subjects, explained, and missing cells filled."""

import io
import shutil
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cases import read_beside
from command_line import QUICK, Text, cohort, new_subjects
from inert_texts import original_text
from scored import scored

from clinclust import MAPDP
from clinclust.methods import PublishedMAPDP
from schemas import stored_schema

ASSIGN = "assign new.csv --model out"


def read_text(text):
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


@pytest.fixture
def assign(fit, run):
    """Return a function from new subjects to their table and the messages."""

    def assigned(frame, options="", code=0):
        frame.to_csv("new.csv", index=False)
        out, err = run(f"{ASSIGN} {options}", code=code)
        return read_text(out), err

    return assigned


# --- the subtypes -----------------------------------------------------------------------------------------------------
@pytest.mark.simulation
def test_the_assignments_say_what_the_model_says(fitted):
    model = MAPDP.load(fitted)
    rows = pd.read_csv(fitted / "assignments.csv")
    before = ["who", "subtype", "probability", "assigned", "few_subjects"]
    subtypes = [f"subtype_{k}" for k in range(1, model.n_clusters_ + 1)]
    assert list(rows) == [*before, *subtypes, "none_of_these", "continuum_score", "speaks_for_it"]
    assert rows["subtype"].tolist() == (model.labels_ + 1).tolist()
    shares = rows[subtypes].to_numpy()
    np.testing.assert_array_equal(shares, model.membership_)
    assert rows["probability"].tolist() == shares[np.arange(40), model.labels_].tolist()
    assert rows["who"].tolist()[:3] == ['\'=HYPERLINK("http://x")', "-12", "p002"]


@pytest.mark.parametrize("shuffled", [False, True])
def test_the_table_of_the_fit_is_assigned_what_the_fit_found(fit, run, shuffled):
    frame = cohort().sample(frac=1, random_state=2) if shuffled else cohort()
    frame.to_csv("new.csv", index=False)
    assert len(run(f"{ASSIGN} --out assigned.csv").err.notes) == 1
    header, *rows = Path("assigned.csv").read_text(encoding="utf-8").splitlines()
    fit_header, *fit_rows = Path("out/assignments.csv").read_text(encoding="utf-8").splitlines()
    assert header == fit_header
    assert rows == [fit_rows[place] for place in frame.index]


def test_a_part_of_the_table_of_the_fit_counts_as_new_subjects(fit, assign):
    """Nothing in a saved model tells a single subject of the cohort from another person."""
    table, err = assign(cohort().head(39))
    assert err == ""
    assert list(table) == list(pd.read_csv("out/assignments.csv"))
    shares = table[["subtype_1", "subtype_2", "none_of_these"]].astype(float).to_numpy()
    np.testing.assert_array_equal(shares, MAPDP.load("out").predict_proba(cohort().head(39)))
    assert assign(cohort().drop(columns="who"))[1] == ""


def test_new_subjects_are_assigned_by_name_of_column(assign):
    new = {"crp": [40.0, 60.0, 1e9, None], "stage": [0, 4, None, None], "extra": "x"}
    table, err = assign(pd.DataFrame({**new, "tremor": ["no", "yes", "no", None], "falls": [1, 13, None, None]}))
    (note,) = err.notes
    assert "(5)" in note  # the row without a value
    assert table["row"].tolist() == ["2", "3", "4", "5"]  # as a spreadsheet counts
    assert table["subtype"].tolist() == ["1", "2", "0", "1"]
    shares = table[["subtype_1", "subtype_2", "none_of_these"]].astype(float)
    assert float(table.loc[2, "probability"]) == shares.loc[2, "none_of_these"] > 0.9
    assert shares.loc[3, "subtype_1"] == pytest.approx(24 / 43)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


# --- values that the model does not know ------------------------------------------------------------------------------

ODD = read_beside(__file__)["odd_values"]


@pytest.mark.parametrize("what", ODD)
def test_one_odd_value_costs_one_subject_its_subtype_or_is_taken_for_missing(assign, what):
    column, value = ODD[what]
    expected, _ = assign(new_subjects())
    table, err = assign(new_subjects(**{column: (7, value)}), code=3)
    assert table["who"].tolist() == expected["who"].tolist()
    assert table["assigned"].tolist() == ["no" if place == 7 else "yes" for place in range(30)]
    assert (table.loc[7].drop(["who", "assigned"]) == "").all()
    assert table.drop(index=7).equals(expected.drop(index=7))
    assert err.lacks(f"{column}: 9) --unseen") == []
    assert repr(str(value)) in err
    assert "missing_codes" not in err, "the schema of a saved model cannot be changed"

    expected, _ = assign(new_subjects(**{column: (7, "NA")}))
    table, err = assign(new_subjects(**{column: (7, value)}), "--unseen missing")
    assert table.equals(expected)
    (note,) = err.notes
    assert f"{column} (row 9)" in note
    assert str(value) not in note.replace("row 9", "")


@scored(["", "--unseen missing"])
def test_a_table_without_a_column_is_refused(options, fit, must_refuse):
    new_subjects().drop(columns="stage").to_csv("new.csv", index=False)
    message = must_refuse(f"{ASSIGN} --out x.csv {options}", naming="stage:")
    assert "--unseen" not in message  # it is no repair


@scored([{"crp": "see note"}, {"tremor": "mild"}])
def test_if_nobody_can_be_assigned_the_table_is_refused(odd, fit, must_refuse):
    new_subjects().assign(**odd).to_csv("new.csv", index=False)
    (column, value), *_ = odd.items()
    message = must_refuse(f"{ASSIGN} --out x.csv", naming=f"{column}: 30 2, 3, 4, 5, 6)")
    assert repr(value) in message


def test_a_refused_value_names_those_of_its_form_that_are_missing(here, run):
    table = cohort(60)
    table["lvef"] = [str(30 + row % 30) for row in range(60)]
    table.loc[:3, "lvef"] = ["20-25%", "25-30%", "30-35%", "n.a."]
    table.to_csv("cohort.csv", index=False)
    run("draft cohort.csv --out lvef.yaml")
    run(f"fit cohort.csv --schema lvef.yaml --out out {QUICK}")
    for value, others in (("40-45%", ["'20-25%'", "'25-30%'", "'30-35%'"]), ("see note", [])):
        table.head(8).assign(lvef=[value, *["50"] * 7]).to_csv("new.csv", index=False)
        err = run(ASSIGN, code=3).err
        assert [form for form in ("'20-25%'", "'25-30%'", "'30-35%'", "'n.a.'") if form in err] == others
        assert "--unseen" in err.options
        assert "`unseen`" not in err


# --- new subjects beside the cohort -----------------------------------------------------------------------------------

DRIFT = f"{ASSIGN} --cohort cohort.csv"


@pytest.mark.simulation
def test_the_comparison_goes_where_the_table_does_not(fit, run):
    new_subjects().to_csv("new.csv", index=False)
    out, err = run(DRIFT)
    assert len(read_text(out)) == 30
    lines = [line.removeprefix("clinclust: ").strip() for line in err.splitlines()]
    assert err.splitlines()[0].lacks("30 40") == []
    out, err = run(f"{DRIFT} --out given.csv")
    assert out.splitlines()[1:] == lines
    assert "given.csv" in out.splitlines()[0]
    assert err == ""
    out, err = run(f"{DRIFT} --quiet")
    assert (len(read_text(out)), err) == (30, "")  # results for programs are no words
    # Rows and columns that are chosen of the new table are not chosen of the cohort.
    assert run(f"{DRIFT} --where 'falls >= 5' --drop age").err.lacks("40.") == []


def test_the_comparison_names_features_and_no_subject_or_value(fit, assign):
    frame = new_subjects(stage=(7, 9), crp=(3, 5000.5))
    plain, _ = assign(frame, code=3)
    table, err = assign(frame, "--cohort cohort.csv", code=3)
    assert table.equals(plain)
    summary = Text(err[: err.rindex("clinclust: ")])
    assert summary.lacks("stage (1 (+") == []
    assert not any(who in summary for who in frame["who"])
    assert "5000" not in summary


def test_what_cannot_be_compared_is_refused(fit, run, must_refuse):
    new_subjects().to_csv("new.csv", index=False)
    cohort().assign(crp="41").to_csv("changed.csv", index=False)
    for table in ("changed.csv", "absent.csv", "new.csv"):
        assert table in must_refuse(f"{ASSIGN} --cohort {table}")
    assert "cohort.csv" in run("assign cohort.csv --model out --cohort cohort.csv", code=2).err.splitlines()[-1]
    assert "changed.csv" in must_refuse("validate cohort.csv --cohort changed.csv --model out")


# --- what speaks for a subtype ----------------------------------------------------------------------------------------

COLUMN = "speaks_for_it"


def test_new_subjects_get_the_features_that_explain_names_first(fit, assign):
    plain, table = (assign(new_subjects(), options)[0] for options in ("", "--explain"))
    assert table.columns[-1] == COLUMN
    assert table.drop(columns=COLUMN).equals(plain.drop(columns=COLUMN))
    assert (plain[COLUMN] == "").all()
    reasons = MAPDP.load("out").explain(new_subjects())
    reasons = reasons[(reasons["log_odds"] > 0.05) & ~reasons["feature"].str.startswith("(")]
    for subject, text in enumerate(table[COLUMN]):
        strongest = reasons[reasons["subject"] == subject].iloc[0]
        assert f"Subtype {strongest['against']}: {strongest['feature']} {strongest['value']:g} (" in text.split(";")[0]


def test_who_is_not_assigned_has_an_empty_cell(assign):
    table, _ = assign(new_subjects(stage=(7, 9)), "--explain", code=3)
    assert table.index[table[COLUMN] == ""].tolist() == [7]
    seen, _ = assign(new_subjects(stage=(7, 9)), "--explain --unseen missing")
    assert "Subtype" in seen.loc[7, COLUMN]
    assert "stage" not in seen.loc[7, COLUMN]
    assert table.drop(index=7)[COLUMN].equals(seen.drop(index=7)[COLUMN])


def test_the_table_of_the_fit_is_explained_for_the_subtypes_of_the_fit(assign):
    table, _ = assign(cohort(), "--explain")
    against = table[COLUMN].str.extract(r"Subtype ([12]): \w+ ")[0]
    assert (against.astype(int) == 3 - table["subtype"].astype(int)).all()


def test_names_and_levels_of_the_data_become_no_formula_and_no_further_line(here, run):
    live, names = "=1+1", {"crp": "=cmd|x\n@y", "tremor": "+trem;=1"}
    table = cohort().rename(columns=names).drop(columns=["age", "falls", "stage", "who"])
    table[names["tremor"]] = table[names["tremor"]].replace("yes", live)
    table.to_csv("live.csv", index=False)
    run("draft live.csv --out live.yaml")
    run(f"fit live.csv --schema live.yaml --out out {QUICK}")
    table.head(30).to_csv("new.csv", index=False)
    out = run(f"{ASSIGN} --explain").out
    assert len(out.splitlines()) == 31
    texts = read_text(out)[COLUMN]
    assert texts.str.contains("tre", regex=False).any()
    assert not texts.str.contains(r"[;,|]\s*[=@]|[;,|]\s*\+(?![0-9])").any()
    assert texts.map(original_text).str.contains("=cmd|x").any()


# --- missing cells ----------------------------------------------------------------------------------------------------

SEPARATED = "grip; left"  # as filled columns are listed
IMPUTE = "impute cohort.csv --model out --quiet --out"


def sparse():
    """Return 80 patients with missing cells of every kind, a limit of detection, and identifiers that are formulas."""
    rng = np.random.default_rng(0)
    ill = np.repeat([0, 1], 40)
    frame = pd.DataFrame({"patient": [f"=P{number}" for number in range(80)], "age": (40 + 30 * ill).astype(object)})
    frame["crp"] = np.where(rng.random(80) < 0.4, "<5", np.round(rng.lognormal(2.5, 0.5, 80), 1).astype(str))
    frame["urea"], frame[SEPARATED] = rng.normal(5 + 7 * ill).round(1), rng.normal(ill).round(2)
    frame["sex"], frame["note"] = rng.choice(["female", "male"], 80), rng.choice(["@x", ""], 80)
    for name, every in {"age": 5, "crp": 4, "urea": 3, SEPARATED: 7, "sex": 6}.items():
        frame[name] = frame[name].mask(np.arange(80) % every == every - 1 - (name == "urea"))
    frame["age"] = frame["age"].astype("Int64")
    return frame


@pytest.fixture(scope="module")
def sparse_folder(tmp_path_factory):
    folder, frame = tmp_path_factory.mktemp("sparse"), sparse()
    frame.to_csv(folder / "cohort.csv", index=False)
    schema = stored_schema("sparse")
    PublishedMAPDP(schema, random_state=0, progress=False).fit(frame).save(folder / "out")
    return folder


@pytest.fixture
def gaps(sparse_folder, tmp_path, monkeypatch):
    """Stand in a copy of this folder, and return its table."""
    monkeypatch.chdir(shutil.copytree(sparse_folder, tmp_path / "sparse"))
    return sparse()


@pytest.mark.simulation
def test_missing_cells_are_filled_and_all_others_stay(gaps, run):
    out = run("impute cohort.csv --model out --out one.csv").out
    n_filled = int(gaps.drop(columns=["patient", "note"]).isna().sum().sum())
    assert [word for word in out.split() if word.isdecimal()] == ["80", str(n_filled), "5"]
    written = pd.read_csv("one.csv", dtype={"age": "Int64"})
    assert written.columns.tolist() == ["imputation", *gaps.columns, "filled_columns"]
    assert written["patient"].str.startswith("'=P").all()  # no formula
    for name in ("age", "crp", "urea", "sex", SEPARATED):
        assert written[name].notna().all()
        seen = gaps[name].notna()
        assert written.loc[seen, name].astype(str).tolist() == [str(cell) for cell in gaps.loc[seen, name]]
        assert (written["filled_columns"].fillna("").str.contains(name) == ~seen).all()
    assert set(written["sex"]) == {"female", "male"}
    drawn = written.loc[gaps["crp"].isna(), "crp"]
    assert (drawn == "<5").any()
    assert (pd.to_numeric(drawn[drawn != "<5"]) > 0).all()


@pytest.mark.simulation
def test_several_tables_stand_one_below_the_other_in_every_format(gaps, run):
    run(f"{IMPUTE} m.xlsx --tables 3")
    table = pd.read_excel("m.xlsx", engine="openpyxl", sheet_name="Completed")
    assert table["imputation"].value_counts().to_dict() == {1: 80, 2: 80, 3: 80}
    assert table["urea"].groupby(table["imputation"]).mean().nunique() == 3
    counts = pd.read_excel("m.xlsx", engine="openpyxl", sheet_name="Filled").set_index("column")
    assert counts["filled"].to_dict() == {name: int(gaps[name].isna().sum()) for name in counts.index}
    assert counts.loc["urea"].tolist() == [int(gaps["urea"].isna().sum()), 80]
    cell = openpyxl.load_workbook("m.xlsx")["Completed"]["B2"]
    assert (cell.value, cell.data_type) == ("=P0", "s")
    run(f"{IMPUTE} m.csv --tables 3")
    pd.testing.assert_series_equal(pd.read_csv("m.csv")["urea"], table["urea"])
    pytest.importorskip("pyarrow")
    run(f"{IMPUTE} m.parquet --tables 3")
    np.testing.assert_allclose(pd.read_parquet("m.parquet")["urea"], table["urea"])


def test_a_table_that_has_the_added_column_is_refused(gaps, must_refuse):
    gaps.assign(imputation=1).to_csv("cohort.csv", index=False)
    assert "'imputation'" in must_refuse(f"{IMPUTE} one.csv")
