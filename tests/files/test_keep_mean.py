"""The mean of the rows of each subject: exact, within its values, written as its column, and of measurements only."""

import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinclust import read_cohort
from clinclust.errors import CohortWarning, InputError
from clinclust.files.selection.chosen_rows import chosen_rows
from clinclust.files.selection.row_choice import ChoiceError, RowChoice
from clinclust.files.text_table import TableRead

rng = np.random.default_rng(0)
N, VISITS = 40, 3
IDS = np.repeat([f"p{k:02d}" for k in range(N)], VISITS)


def decimals(numbers, n=1, mark="."):
    return [f"{number:.{n}f}".replace(".", mark) for number in numbers]


def whole(numbers):
    return [f"{number:.0f}" for number in numbers]


def visits(**columns):
    return pd.DataFrame({"id": IDS, "crp": decimals(rng.lognormal(1, 0.5, N * VISITS))} | columns)


def read(folder, frame, **options):
    path = folder / "visits.csv"
    frame.to_csv(path, index=False, sep=";")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CohortWarning)
        found = read_cohort(path, one_row_per="id", keep="mean", **options)
    return found, [str(warning.message).removeprefix("visits.csv: ") for warning in caught]


def averaged(frame):
    return frame.attrs["rows_taken"]["choice"]["averaged"]


texts = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(-999, 999, places=2).map(str),
    st.integers(0, 9).map(str),
    st.sampled_from(["", "NA", "n.d.", "1e2", "+3", "007", ".5", "0.10"]),
)
rows = st.lists(st.tuples(st.sampled_from("abc"), texts), min_size=1, max_size=12)


def means_of(cells, order=None):
    frame = pd.DataFrame(cells, columns=["id", "x"], dtype=str).iloc[order if order is not None else slice(None)]
    choice = RowChoice(one_row_per="id", keep="mean", averaged=("x",))
    kept, taken = chosen_rows(TableRead(frame.reset_index(drop=True)), choice)
    assert taken.counts.further == len(frame) - len(kept.frame)
    return dict(kept.frame.itertuples(index=False))


def values_of(cells, who):
    return [Fraction(text) for whose, text in cells if whose == who and text not in ("", "NA", "n.d.")]


@given(rows.filter(lambda cells: any(values_of(cells, who) for who in "abc")))
def test_a_mean_is_the_exact_one_rounded_to_the_decimals_of_its_column(cells):
    found = means_of(cells)
    n = max(len(text.partition(".")[2]) for _, text in cells if text != "n.d.")
    for who, text in found.items():
        values = values_of(cells, who)
        if not values:
            assert text == next(cell for whose, cell in cells if whose == who)
        elif len(set(values)) == 1:
            assert text in {cell for whose, cell in cells if whose == who}
            assert Fraction(text) == values[0]
        else:
            assert min(values) <= Fraction(text) <= max(values)
            assert Fraction(text) == round(sum(values) / len(values), n)
            assert len(text.partition(".")[2]) == n


@given(rows.filter(lambda cells: any(values_of(cells, who) for who in "abc")), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_change_a_mean(cells, random):
    order = list(range(len(cells)))
    random.shuffle(order)
    first, other = means_of(cells), means_of(cells, order)
    for who in first:
        if values_of(cells, who):
            assert Fraction(first[who]) == Fraction(other[who])


@given(
    st.lists(texts, min_size=1, max_size=6).filter(lambda cells: any(cell not in ("", "NA", "n.d.") for cell in cells))
)
def test_a_table_with_one_row_a_subject_is_unchanged(cells):
    frame = pd.DataFrame({"id": [f"p{k}" for k in range(len(cells))], "x": cells}, dtype=str)
    choice = RowChoice(one_row_per="id", keep="mean", averaged=("x",))
    kept, _ = chosen_rows(TableRead(frame.copy()), choice)
    pd.testing.assert_frame_equal(kept.frame, frame)


def test_means_are_written_in_the_notation_of_the_file_and_other_columns_keep_the_first_row(tmp_path):
    frame = visits(
        sbp=whole(120 + rng.normal(0, 20, N * VISITS)),
        crp=decimals(rng.lognormal(1, 0.5, N * VISITS), mark=","),
        platelets=[f"{number:,}".replace(",", ".") for number in rng.integers(150_000, 400_000, N * VISITS)],
        visit=np.tile(["3", "1", "2"], N),
        smoker=rng.choice(["yes", ""], N * VISITS),
    )
    found, told = read(tmp_path, frame, by="visit")
    assert averaged(found) == ["crp", "sbp", "platelets"]
    first = frame[frame["visit"] == "1"].set_index("id")
    assert found.index.tolist() == first.reset_index().index.map(lambda k: 3 * k + 1).tolist()
    assert found["smoker"].tolist() == first["smoker"].tolist()
    for name, mark, pattern in (("sbp", "", r"\d+"), ("crp", ",", r"\d+,\d"), ("platelets", "", r"\d{3}\.\d{3}")):
        plain = frame[name].str.replace(".", "", regex=False).str.replace(",", ".", regex=False).astype(float)
        means = plain.groupby(frame["id"], sort=False).mean()
        written = found[name].str.replace(".", "", regex=False).str.replace(",", ".", regex=False).astype(float)
        assert found[name].str.fullmatch(pattern).all()
        assert np.abs(written.to_numpy() - means.to_numpy()).max() <= (0.05 if mark else 0.5) + 1e-9
    assert "40 of 120 rows are kept: the first by 'visit' of each 'id'" in told
    assert "the mean of all rows of each 'id' is taken in 'crp', 'sbp', 'platelets'" in told
    assert "'smoker' is not averaged, and the value of the first row stays: the cells hold no numbers" in told


def spoiled(cells, *others):
    cells = list(cells)
    cells[3 : 3 + len(others)] = others
    return cells


BLOOD_PRESSURE = whole(np.clip(rng.normal(125, 12, N * VISITS), 90, 170))


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("stage", rng.integers(1, 6, N * VISITS).astype(str), "few different values"),
        ("hoehn_yahr", rng.choice(["1", "1.5", "2", "2.5"], N * VISITS), "few different values"),
        ("sbp", spoiled(BLOOD_PRESSURE, "999", "999"), "999 may stand for a missing value.*leave the cell empty"),
        ("sbp", spoiled(BLOOD_PRESSURE, "-9", "-9"), "-9 may stand for a missing value"),
        ("sbp", spoiled(BLOOD_PRESSURE, "0"), "0 may stand for a missing value|hardly possible"),
        ("troponin", spoiled(BLOOD_PRESSURE, "<5"), r"not all cells hold a number alone \(1 does not, first '<5'\)"),
        ("weight", spoiled(BLOOD_PRESSURE, "80 kg", "81 kg"), r"not all cells hold a number alone \(2 do not"),
        ("sodium", spoiled(BLOOD_PRESSURE, "137 H"), "not all cells hold a number alone"),
        ("diagnosed", rng.integers(1960, 2020, N * VISITS).astype(str), "calendar years"),
        ("postcode", rng.integers(10_000, 99_999, N * VISITS).astype(str), "to name, to date or to code"),
        ("sample", np.arange(5000, 5000 + N * VISITS).astype(str), "to name, to date or to code"),
        ("seen", [f"2020{1 + k % 12:02d}{1 + k % 28:02d}" for k in range(N * VISITS)], "to name, to date or to code"),
        ("visit_day", np.tile(np.arange(VISITS), N) + np.repeat(np.arange(N), VISITS), "number the visits"),
        ("note", [f"text {k}" for k in range(N * VISITS)], "no numbers"),
        ("dose", [f"{k},125" for k in range(1, N * VISITS + 1)], "say --decimal"),
    ],
)
def test_what_is_no_measurement_is_not_averaged_and_it_is_said_why(tmp_path, name, cells, why):
    frame = visits(**{name: np.asarray(cells).astype(str)})
    found, told = read(tmp_path, frame)
    assert averaged(found) == ["crp"]
    assert found[name].tolist() == frame.drop_duplicates("id")[name].tolist()
    (said,) = [remark for remark in told if remark.startswith(f"'{name}' is not averaged")]
    assert pd.Series([said]).str.contains(why).all()
    assert ("name all of them: --averaged crp" in told[-1]) == (name != "note")


def test_columns_that_are_the_same_in_all_rows_of_a_subject_are_not_told(tmp_path):
    found, told = read(tmp_path, visits(sex=np.repeat(rng.choice(["f", "m"], N), VISITS)))
    assert averaged(found) == ["crp"]
    assert not any("sex" in remark for remark in told)


def test_named_columns_are_averaged_whatever_they_measure_and_doubts_are_told(tmp_path):
    frame = visits(stage=rng.integers(1, 6, N * VISITS).astype(str), sbp=spoiled(BLOOD_PRESSURE, "999", "999"))
    found, told = read(tmp_path, frame, averaged=["stage", "sbp"])
    assert averaged(found) == ["stage", "sbp"]
    assert found["crp"].tolist() == frame.drop_duplicates("id")["crp"].tolist()
    assert found["stage"].tolist() != frame.drop_duplicates("id")["stage"].tolist()
    assert any(remark.startswith("'sbp' is averaged, as --averaged says, but deserves a look: 999") for remark in told)
    assert not any("'stage' is" in remark for remark in told)


def test_all_that_is_wrong_with_named_columns_is_one_error(tmp_path):
    frame = visits(smoker="yes", troponin=spoiled(BLOOD_PRESSURE, "<5"))
    with pytest.raises(ChoiceError) as refused:
        read(tmp_path, frame, averaged=["smoker", "CRP", "troponin", "id"])
    said = str(refused.value)
    assert said.startswith(
        "visits.csv: --averaged: 'smoker' cannot be averaged: the cells hold no numbers; there is no "
    )
    assert all(
        part in said for part in ("Did you mean 'crp'", "'troponin' cannot be averaged", "'id' names the subjects")
    )
    with pytest.raises(ChoiceError) as refused:
        read(tmp_path, frame, averaged=[f"absent {k}" * 30 for k in range(500)])
    assert len(str(refused.value)) < 4000


def test_without_a_measurement_the_mean_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"--keep mean averages measurements, and there are none .*'stage' is not"):
        read(tmp_path, visits(stage=rng.integers(1, 6, N * VISITS).astype(str)), drop=["crp"])
    with pytest.raises(InputError, match=r"averaged names the columns .*: give --keep mean too"):
        read_cohort(tmp_path / "visits.csv", one_row_per="id", averaged=["crp"])


def test_columns_that_are_left_out_are_not_recorded_and_those_of_one_name_are_told_apart(tmp_path):
    frame = visits(sbp=BLOOD_PRESSURE, dbp=BLOOD_PRESSURE)
    found, _ = read(tmp_path, frame, drop=["dbp"])
    assert averaged(found) == ["crp", "sbp"]
    again, told = read(tmp_path, frame.assign(dbp="high"), drop=["dbp"], averaged=["crp", "sbp", "dbp"])
    assert again.to_numpy().tolist() == found.to_numpy().tolist()
    assert "the mean of all rows of each 'id' is taken in 'crp', 'sbp'" in told
    path = tmp_path / "twice.csv"
    frame.rename(columns={"dbp": "sbp"}).to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        found = read_cohort(path, one_row_per="id", keep="mean", drop=["sbp#2"])
        again = read_cohort(path, drop=["sbp#2"], **found.attrs["rows_taken"]["choice"])
    assert averaged(found) == ["crp", "sbp#1"]
    pd.testing.assert_frame_equal(found, again)


def test_all_columns_that_are_averaged_are_told_in_a_message_of_bounded_length(tmp_path):
    names = [f"laboratory value number {k} of many" for k in range(60)]
    for n in (12, 60):
        columns = {name: decimals(rng.normal(100, 10, N * VISITS)) for name in names[:n]}
        found, told = read(tmp_path, visits(**columns))
        said = next(remark for remark in told if "is taken in" in remark)
        assert len(said) < 4000
        assert all(name in said for name in names[:n]) is (n == 12)
        assert set(averaged(found)) <= {"crp", *names}


def test_columns_of_a_parquet_file_keep_their_types(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "id": IDS,
            "sbp": np.array(BLOOD_PRESSURE, dtype=np.int32),
            "crp": rng.lognormal(1, 0.5, N * VISITS).astype(np.float32),
            "hb": pd.array(rng.normal(13, 1, N * VISITS).round(1), dtype="Float64"),
            "seen": pd.date_range("2020-01-01", periods=N * VISITS),
        }
    )
    frame.loc[::7, "hb"] = pd.NA
    frame.to_parquet(tmp_path / "visits.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        found = read_cohort(tmp_path / "visits.parquet", one_row_per="id", keep="mean")
    assert averaged(found) == ["sbp", "crp", "hb"]
    assert found.dtypes.astype(str).tolist() == frame.dtypes.astype(str).tolist()
    for name, most in (("sbp", 0.5), ("crp", 1e-6), ("hb", 0.05)):
        values = frame[name].astype(float).groupby(frame["id"])
        mean = found[name].astype(float).to_numpy()
        np.testing.assert_allclose(mean, values.mean().to_numpy(), atol=most + 1e-9)
        assert (values.min().to_numpy() <= mean).all()
        assert (mean <= values.max().to_numpy()).all()
