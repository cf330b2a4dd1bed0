"""Rows of a subject become its level, trend, last value and spread, as a linear mixed model says."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from cases import read_beside

from clinclust import CohortWarning, FeatureSchema, draft_schema, read_cohort
from clinclust.errors import InputError, SchemaError
from clinclust.files.text_table import notes_of
from clinclust.methods import PublishedMAPDP

ALL = ["mean", "slope", "last", "spread"]
CHOICE = {"one_row_per": "id", "time": "month"}


def visits(seed=0, n=60, n_visits=(5, 6), months=None):
    """Return values of lines that differ between subjects; `months` are those of each, by default irregular ones."""
    rng = np.random.default_rng(seed)
    counts = np.full(n, len(months)) if months is not None else rng.integers(*n_visits, n)
    subject = np.repeat(np.arange(n), counts)
    month = np.tile(months, n) if months is not None else rng.uniform(0, 48, subject.size).round(2)
    level, slope = rng.multivariate_normal([70.0, -0.3], [[100.0, 1.5], [1.5, 0.09]], n).T
    egfr = level[subject] + slope[subject] * month + rng.normal(0, 4, subject.size)
    return pd.DataFrame({"id": [f"p{k:03d}" for k in subject], "month": month, "egfr": egfr})


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a table and reads it with the summaries of `egfr`, by subject."""

    def of(frame, summaries=ALL, **choice):
        frame.to_csv(tmp_path / "visits.csv", index=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CohortWarning)
            table = read_cohort(tmp_path / "visits.csv", **CHOICE | {"summarise": {"egfr": summaries}} | choice)
        return table.set_index("id").sort_index()

    return of


def trend_of(table):
    """Return the trend that was estimated."""
    return table.attrs["rows_taken"]["choice"]["trends"]["egfr"]


def numbers(table):
    """Return the summaries, float64 (N, 4)."""
    return table[[f"egfr {summary}" for summary in ALL]].to_numpy(np.float64)


@pytest.mark.parametrize("months", [[0, 6, 12, 24, 30], None], ids=["balanced", "irregular"])
def test_levels_and_slopes_are_those_of_statsmodels(read, months):
    frame = visits(n=80, months=months, n_visits=(1, 9))
    table = read(frame)
    trend = trend_of(table)
    decades = frame.assign(time=(frame["month"] - trend["at"]) / 10)  # a unit in which MixedLM converges
    model = smf.mixedlm("egfr ~ time", decades, groups="id", re_formula="~time").fit(reml=True)
    assert model.converged
    covariance = model.cov_re.to_numpy()
    sds = np.sqrt(np.diag(covariance))
    assert trend["at"] == pytest.approx(frame["month"].mean(), abs=1e-4)
    estimates = [trend["sd_mean"], trend["sd_slope"] * 10, trend["sd_residual"], trend["correlation"]]
    assert estimates == pytest.approx([*sds, np.sqrt(model.scale), covariance[0, 1] / sds.prod()], rel=1e-4)
    level, slope = (pd.DataFrame(model.random_effects).T + model.fe_params.to_numpy()).to_numpy().T
    assert table["egfr mean"].to_numpy() == pytest.approx(level, abs=2e-3)
    has_slope = table["egfr slope"].notna().to_numpy()
    assert table["egfr slope"].to_numpy()[has_slope] == pytest.approx(slope[has_slope] / 10, abs=2e-4)


def test_last_values_and_spreads_are_those_of_own_lines(read):
    frame = visits(n_visits=(1, 7))
    table = read(frame)
    for name, one in frame.sort_values("month").groupby("id"):
        assert table.loc[name, "egfr last"] == pytest.approx(one["egfr"].iloc[-1])
        rest = np.polyfit(one["month"], one["egfr"], 1, full=True)[1] if len(one) > 2 else []
        expected = np.sqrt(rest[0] / (len(one) - 2)) if len(rest) else np.nan
        assert table.loc[name, "egfr spread"] == pytest.approx(expected, nan_ok=True)


@pytest.mark.simulation
def test_the_order_of_rows_and_the_names_of_subjects_change_nothing(read):
    frame = visits(n=12, n_visits=(1, 6))
    table = read(frame)
    assert np.array_equal(numbers(read(frame.sample(frac=1, random_state=0))), numbers(table), equal_nan=True)
    names = {name: f"q{99 - int(name[1:])}" for name in table.index}
    renamed = read(frame.assign(id=frame["id"].map(names))).loc[list(names.values())]
    assert numbers(renamed) == pytest.approx(numbers(table), abs=1e-3, nan_ok=True)


@pytest.mark.simulation
def test_a_shift_or_another_unit_changes_the_summaries_alike(read):
    frame = visits(n_visits=(1, 7))
    usual = numbers(read(frame))
    shifted = frame.assign(month=frame["month"] + 500, egfr=frame["egfr"] + 1000)
    scaled = frame.assign(month=frame["month"] / 12, egfr=frame["egfr"] / 10)
    for changed, factors, added in (
        (shifted, [1, 1, 1, 1], [1000, 0, 1000, 0]),
        (scaled, [0.1, 1.2, 0.1, 0.1], [0] * 4),
    ):
        assert numbers(read(changed)) == pytest.approx(usual * factors + added, abs=3e-3, nan_ok=True)


def test_what_too_few_visits_cannot_tell_is_missing(read):
    frame = visits()
    few = pd.DataFrame(
        {
            "id": ["one", "two", "two", "same", "same", "same"],
            "month": [24, 3, 9, 5, 5, 5],
            "egfr": [30, 40, 60, 1, 2, 6],
        }
    )
    none = pd.DataFrame({"id": ["none", "untimed"], "month": [7, None], "egfr": [None, 70]})
    table = read(pd.concat([frame, few, none]))
    present = {name: "".join("01"[int(here)] for here in table.notna().loc[name]) for name in [*few["id"], *none["id"]]}
    assert present == {"one": "1010", "two": "1110", "same": "1010", "none": "0000", "untimed": "0000"}
    assert table.loc["same", "egfr last"] == 3
    assert 30 < table.loc["one", "egfr mean"] < trend_of(table)["mean"]  # drawn towards the mean line
    assert trend_of(read(pd.concat([frame, none]))) == trend_of(read(frame))


def test_constant_values_and_lines_without_noise_are_themselves(read):
    month = np.tile([0.0, 1.0, 4.0], 3)
    frame = pd.DataFrame({"id": np.repeat(["a", "b", "c"], 3), "month": month, "egfr": 7.1})
    assert numbers(read(frame)) == pytest.approx(np.tile([7.1, 0, 7.1, 0], (3, 1)))
    exact = frame.assign(egfr=np.repeat([1.0, 2, 4], 3) + np.repeat([2.0, -1, 0], 3) * month)
    single = pd.DataFrame({"id": ["d"], "month": [2.0], "egfr": [5.0]})
    table = read(pd.concat([exact, single]))
    at = trend_of(table)["at"]
    assert table["egfr mean"].to_numpy()[:3] == pytest.approx([1 + 2 * at, 2 - at, 4], abs=1e-4)
    assert table["egfr slope"].to_numpy()[:3] == pytest.approx([2, -1, 0], abs=1e-4)
    assert np.isfinite(table.loc["d", "egfr mean"])


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_subjects_are_summarised(read, n):
    frame = visits(n=n, months=[0, 5, 9, 14])
    own = [np.polyfit(one["month"] - 7, one["egfr"], 1) for _, one in frame.groupby("id")]
    table = read(frame)
    assert trend_of(table)["at"] == 7
    middle = [np.mean(own, axis=0)] * n
    fitted = table[["egfr slope", "egfr mean"]].to_numpy()
    assert (np.abs(fitted - middle) <= np.abs(np.array(own) - middle) + 1e-3).all()


def test_two_visits_each_give_own_lines_and_a_remark(tmp_path):
    frame = visits(months=[0, 10])
    frame.to_csv(tmp_path / "visits.csv", index=False)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        table = read_cohort(tmp_path / "visits.csv", **CHOICE, summarise={"egfr": ["slope"]})
    assert any("nothing tells change from noise" in str(warning.message) for warning in issued)
    ends = frame.pivot_table(values="egfr", index="id", columns="month")
    assert table["egfr slope"].to_numpy() == pytest.approx(((ends[10] - ends[0]) / 10).to_numpy(), abs=1e-4)


def test_summaries_take_the_place_of_their_column_and_the_time_goes(read):
    frame = visits(n=6).assign(sex="f", lab=1.5)
    frame.loc[0, "sex"] = "first in the file"
    frame.loc[0, "month"] = 60
    table = read(frame, ["slope", "mean"], only=["id", "month", "egfr", "sex"], keep="last")
    assert list(table) == ["egfr slope", "egfr mean", "sex"]
    assert table["sex"].tolist() == ["first in the file", *["f"] * 5]  # the last by time
    notes = notes_of(table)
    assert (notes["egfr slope"].label, notes["egfr slope"].block) == ("slope of egfr per month", "egfr")
    drafted = draft_schema(table.reset_index())
    assert {feature.name: (feature.role, feature.block) for feature in drafted if "egfr" in feature.name} == {
        "egfr slope": ("cluster", "egfr"),
        "egfr mean": ("cluster", "egfr"),
    }


def test_dates_count_in_years_from_the_first_of_each_subject(read):
    frame = visits(n_visits=(2, 7))
    start = pd.Timestamp("2003-05-01") + pd.to_timedelta(frame["id"].str[1:].astype(int) * 50, unit="D")
    days = (frame["month"] * 30).round()
    frame["month"] = (start + pd.to_timedelta(days, unit="D")).dt.strftime("%d/%m/%Y")
    with pytest.raises(InputError, match="dates='day-first'"):
        read(frame.assign(month="03/04/2020"))
    by_date = read(frame)
    assert by_date.attrs["rows_taken"]["choice"]["dates"] == "day-first"
    years = (days - days.groupby(frame["id"]).transform("min")) / 365.25
    assert numbers(by_date) == pytest.approx(numbers(read(frame.assign(month=years))), abs=2e-3, nan_ok=True)
    assert notes_of(by_date)["egfr slope"].label == "slope of egfr per year"
    with pytest.raises(InputError, match="over dates, and 'month' holds numbers"):
        read(frame.assign(month=years), trends={"egfr": trend_of(by_date)})


def test_words_for_missing_values_and_decimal_commas_are_read(read):
    frame = visits().round(2)
    written = frame.astype({"egfr": str, "month": str})
    written.loc[[3, 8], "egfr"] = "NA"
    written["egfr"] = written["egfr"].str.replace(".", ",")
    frame.loc[[3, 8], "egfr"] = np.nan
    assert np.array_equal(numbers(read(written)), numbers(read(frame)), equal_nan=True)


WRONG = {
    **read_beside(__file__)["not_summarised"],
    "nothing to group by": ({"one_row_per": None}, "`summarise` needs `one_row_per`"),
    "no time": ({"time": None}, "`summarise` needs `time`"),
    "time alone": ({"summarise": None}, "`time` is for `summarise`"),
}


@pytest.mark.parametrize(("choice", "problem"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_summarised_is_refused_with_all_problems(read, choice, problem):
    frame = visits(n=3, months=[0, 6, 12]).assign(lab=1.5, visit="first", old=1, **{"old last": 2})
    frame["lab"] = ["2", "high", *["3"] * 7]
    with pytest.raises(InputError, match=f"(?s){problem}"):
        read(frame, ["mean"], **choice)


def test_the_repair_of_cells_that_are_no_numbers_works(read):
    frame = visits().round(1).astype({"egfr": str})
    frame.loc[[2, 7], "egfr"] = [">90", "haemolytic"]
    with pytest.raises(InputError) as refused:
        read(frame)
    condition = str(refused.value).rpartition("where=")[2].strip("'\"")
    repaired = read(frame, where=condition.replace("\\'", "'"))
    assert len(repaired) == 60


def test_a_schema_reads_new_subjects_by_the_mean_line_of_the_cohort(read):
    cohort = read(visits(n=80))
    schema = FeatureSchema.from_yaml(draft_schema(cohort.reset_index()).to_yaml())
    assert schema.rows.as_dict()["trends"]["egfr"] == trend_of(cohort)
    assert hash(schema) == hash(draft_schema(cohort.reset_index()))
    again = read(visits(n=80), **schema.rows.as_dict())
    assert np.array_equal(numbers(again), numbers(cohort), equal_nan=True)
    newcomer = read(visits(n=80).iloc[:1], **schema.rows.as_dict())
    assert newcomer["egfr slope"].isna().all()
    assert np.isfinite(newcomer["egfr mean"]).all()
    with pytest.raises(SchemaError, match="rows: trends must be"):
        FeatureSchema.from_yaml(schema.to_yaml().replace("correlation: ", "correlation: 7"))
    with pytest.raises(SchemaError, match=r"summarise must be a dictionary such as"):
        FeatureSchema.from_yaml(schema.to_yaml().replace("{egfr: [mean, slope, last, spread]}", "egfr"))


@pytest.mark.simulation
def test_a_model_warns_of_new_subjects_that_were_summarised_by_themselves(read):
    cohort = read(visits(n=80), ["mean", "slope"]).reset_index()
    model = PublishedMAPDP(draft_schema(cohort), random_state=0, n_restarts=1, progress=False).fit(cohort)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CohortWarning)
        model.predict(read(visits(seed=1), **model.schema_.rows.as_dict()).reset_index())
    with pytest.warns(CohortWarning, match="not by the mean lines of the cohort"):
        model.predict(read(visits(seed=1), ["mean", "slope"]).reset_index())
