"""compare_subtypes against SciPy on the raw values, R and certified data; weights, point masses, edge cases."""

import math

import numpy as np
import pandas as pd
import pytest
from calls import calls_of
from cohorts import gaussian_schema
from command_line import refused
from one_column import compared, only
from reporting.stand_in import fitted_cohort, gathered
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import DescrStatsW

import clinclust as cc
from clinclust.cli import main
from clinclust.comparisons import compare_subtypes
from clinclust.comparisons.differences import Contrast, combined
from clinclust.comparisons.frame import decimals_of_mean
from clinclust.disclosure.counts import feature_counts
from clinclust.errors import InputError
from clinclust.reporting.compared import Compared, decimals_of
from clinclust.roles import REASONS
from clinclust.schema import Feature, FeatureSchema
from schemas import stored_schema

TIGHT = {"rtol": 1e-10, "atol": 0}


def gaussian(values, labels, min_size=3, **kwargs):
    """Comparisons of one Gaussian column named x."""
    return compared(np.asarray(values, dtype=float), labels, min_size=min_size, **kwargs)


@pytest.fixture(scope="module")
def cohort():
    """150 subjects in clusters of 80, 50, 15, 5, one feature of each kind with 10% missing."""
    rng = np.random.default_rng(20160926)
    labels = rng.permutation(np.repeat([0, 1, 2, 3], [80, 50, 15, 5]))
    N = len(labels)
    frame = pd.DataFrame(
        {
            "patient": [f"{i:03d}" for i in range(N)],
            "tremor": np.where(rng.random(N) < 0.2 + 0.2 * labels, "yes", "no"),
            "flag": rng.integers(0, 2, N),
            "face": rng.binomial(4, 0.3 + 0.1 * labels),
            "stage": rng.choice(["0", "1", "1.5", "2"], N),
            "state": rng.integers(1, 5, N),
            "phenotype": rng.choice(["rigid", "tremor", "mixed"], N),
            "falls": rng.poisson(1 + labels),
            "visits": rng.geometric(0.4, N) - 1,
            "years": rng.exponential(3 + labels),
            "pressure": rng.normal(130 + 5 * labels, 15),
            "probability": rng.normal(80 - labels, 6),
        }
    ).astype(object)
    values = frame.drop(columns="patient")
    frame[values.columns] = values.mask(rng.random(values.shape) < 0.1)
    schema = stored_schema("compared_with_scipy")
    return frame, labels, schema, compare_subtypes(frame, labels, schema, min_size=10)


def raw_values(frame, schema):
    """Feature, level and numbers, worked out without clinclust: levels by hand, everything else a cast."""
    for feature in schema:
        column = frame.get(feature.name)
        if feature.role == "id":
            continue
        if feature.likelihood == "categorical":
            for level in feature.levels:
                yield feature.name, level, (column == level).astype(float).where(column.notna()).to_numpy()
        elif feature.levels:
            # All levels of this cohort but these two are numbers.
            numbers = column.replace({"no": "0", "yes": "1"}).astype(float).to_numpy()
            yield feature.name, "yes" if feature.name == "tremor" else None, numbers
        else:
            yield feature.name, "1" if feature.name == "flag" else None, column.astype(float).to_numpy()


def test_every_test_agrees_with_scipy_on_the_raw_values(cohort):
    frame, labels, schema, result = cohort
    pooled = {"years": "student", "flag": "student"}
    features = [feature.model_copy(update={"contrast": pooled.get(feature.name)}) for feature in schema]
    asked = compare_subtypes(frame, labels, FeatureSchema(features), min_size=10)
    tests = pd.concat([result, asked[asked.feature.isin(["years", "flag"])]])
    tests, checked = tests[tests.kind == "test"], 0
    for feature, level, values in raw_values(frame, schema):
        rows = tests[(tests.feature == feature) & (tests.level.fillna("") == (level or ""))]
        for row in rows.itertuples():
            a, b = (values[(labels == s - 1) & ~np.isnan(values)] for s in (row.subtype, row.versus))
            if row.test == "mid_p":
                exact = stats.hypergeom(len(a) + len(b), int(a.sum() + b.sum()), len(a))
                tails = exact.cdf(a.sum()), exact.sf(a.sum() - 1)
                p = 2 * min(tails) - exact.pmf(a.sum())
                assert row.p == pytest.approx(min(p, 1))
            else:
                expected = stats.ttest_ind(a, b, equal_var=row.test == "student")
                p, found = expected.pvalue, (row.statistic, row.df, row.p)
                np.testing.assert_allclose(found, (expected.statistic, expected.df, p), **TIGHT)
            shares = level is not None
            spread = np.sqrt(np.mean([np.var(side, ddof=0 if shares else 1) for side in (a, b)]))
            np.testing.assert_allclose(row.standardised_difference, (a.mean() - b.mean()) / spread, **TIGHT)
            assert row.n == len(a) + len(b)
            assert row.n + row.missing == np.isin(labels, [row.subtype - 1, row.versus - 1]).sum()
            assert row.significant == (p <= 0.01)
            checked += 1
    n_shares = sum(level is not None for _, level, _ in raw_values(frame, schema))
    assert checked == len(tests) == (13 + n_shares + 3) * 3
    assert (tests.test == "student").sum() == 2 * 3


def test_every_summary_agrees_with_numpy_on_the_raw_values(cohort):
    frame, labels, schema, result = cohort
    summaries = result[result.kind == "summary"]
    checked = 0
    for feature, level, values in raw_values(frame, schema):
        for row in summaries[
            (summaries.feature == feature) & (summaries.level.fillna("") == (level or ""))
        ].itertuples():
            group = values if row.subtype == 0 else values[labels == row.subtype - 1]
            found = group[~np.isnan(group)]
            assert (row.n, row.missing) == (len(found), len(group) - len(found))
            expected = (found.mean(), found.std(ddof=1), *np.quantile(found, (0.5, 0.25, 0.75)))
            np.testing.assert_allclose((row.mean, row.sd, row.median, row.q1, row.q3), expected, **TIGHT)
            count = result.loc[row.Index, "count"]
            if level is None:
                assert count is pd.NA
                assert np.isnan(row.percent)
            else:
                assert count == found.sum()
                assert row.percent == pytest.approx(100 * found.mean())
            checked += 1
    assert checked == len(summaries) == 13 * 5


def test_the_columns_their_order_and_the_scales(cohort):
    *_, result = cohort
    assert " ".join(result.columns) == (
        "kind feature label section unit role likelihood level subtype versus n missing mean sd median q1 q3 "
        "count percent minimum maximum test statistic df df2 p q standardised_difference significant "
        "measure estimate lower upper whole suppressed step scored at_ends part"
    )
    scales = result.drop_duplicates("feature").set_index("feature")[["minimum", "maximum"]]
    assert scales.loc["face"].tolist() == [0, 4]
    assert scales.loc["stage"].tolist() == [0, 2]
    assert scales.loc["state"].tolist() == [1, 4]
    assert scales.drop(["face", "stage", "state"]).isna().all(axis=None)
    assert result.feature.drop_duplicates().tolist()[:2] == ["tremor", "flag"]
    assert set(result[result.feature == "tremor"].label) == {"Tremor"}
    assert set(result[result.feature == "probability"].role) == {"describe"}
    assert result[result.feature == "phenotype"].level.dropna().drop_duplicates().tolist() == [
        "tremor",
        "rigid",
        "mixed",
    ]


def test_q_is_benjamini_hochberg_over_the_tests_of_one_name_without_the_untestable(cohort):
    frame, labels, schema, _ = cohort
    frame = frame.assign(years=frame.years.where(labels != 2))  # nothing to test against subtype 3
    tests = compare_subtypes(frame, labels, schema, min_size=10).query("kind == 'test'")
    for name, n_untestable in (("mid_p", 0), ("welch", 2)):
        p, q = tests.loc[tests.test == name, ["p", "q"]].to_numpy().T
        tested = ~np.isnan(p)
        assert (~tested).sum() == n_untestable
        np.testing.assert_allclose(q[tested], multipletests(p[tested], method="fdr_bh")[1], **TIGHT)
        assert np.isnan(q[~tested]).all()
    assert tests[tests.p.isna()].significant.isna().all()


def test_certified_mean_and_sd_survive_a_large_offset():
    # NIST StRD NumAcc4: 10000000.2, then 10000000.1 and 10000000.3 500 times over; certified sd 0.1. What
    # doubles hold of the deviations at this size limits any program to about 8 digits.
    values = np.array([10000000.2] + [10000000.1, 10000000.3] * 500)
    row = only(gaussian(values, np.zeros(1001, dtype=int)), subtype=1)
    assert row["mean"] == pytest.approx(10000000.2, rel=1e-15)
    assert row.sd == pytest.approx(0.1, rel=1e-7)


def test_adding_a_constant_or_changing_the_unit_changes_no_test():
    rng = np.random.default_rng(1)
    values, labels = rng.normal(size=60), np.arange(60) % 3
    columns = ["statistic", "df", "p", "q", "standardised_difference"]
    expected = gaussian(values, labels)[columns]
    for changed in (values * 1e-100, values * 1e99, values + 1e3):
        pd.testing.assert_frame_equal(gaussian(changed, labels)[columns], expected, rtol=1e-9)


def test_spread_on_one_side_only_is_tested():
    values, groups = [2, 2, 2, 2, 3, 4, 6], [0] * 4 + [1] * 3
    # a <- rep(2, 4); b <- c(3, 4, 6); options(digits = 17)
    # for (e in c(TRUE, FALSE)) {
    #   t <- t.test(a, b, var.equal = e); print(c(t$statistic, t$parameter, t$p.value)) }
    for test, expected in {
        "student": (-3.162277660168379059, 5, 0.025031015818452955),
        "welch": (-2.645751311064590270, 2, 0.11808289631180315),
    }.items():
        row = only(gaussian(values, groups, contrast=test), test=test)
        np.testing.assert_allclose((row.statistic, row.df, row.p), expected, **TIGHT)


def test_small_subtypes_are_summarised_but_not_tested():
    values, labels = np.arange(9.0), [0, 0, 0, 0, 1, 1, 1, 2, 2]
    tests = gaussian(values, labels).query("kind == 'test'")
    assert set(zip(tests.subtype, tests.versus, strict=True)) == {(1, 2)}
    assert set(gaussian(values, labels).query("kind == 'summary'").subtype) == {0, 1, 2, 3}
    assert len(gaussian(values, labels, min_size=2).query("kind == 'test'")) == 3
    assert gaussian(values, labels, min_size=5).query("kind == 'test'").empty


def test_one_subtype_has_summaries_only():
    result = gaussian([1, 2, 3], [0, 0, 0])
    assert result.kind.tolist() == ["summary", "summary", "contrast"]
    assert np.isnan(only(result, kind="contrast").p)


def test_the_significance_level_is_used():
    values = [1.0, 2, 3, 4, 3, 4, 5, 6]
    p = only(gaussian(values, [0] * 4 + [1] * 4), test="welch").p
    for level in (p * 0.999, p * 1.001):
        row = only(gaussian(values, [0] * 4 + [1] * 4, significance_level=level), test="welch")
        assert bool(row.significant) == (p <= level)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "one label for each of the 4 rows"),
        ([[0, 1], [0, 1]], "one label for each of the 4 rows"),
        ([0, 1, 1, -1], r"not be negative or missing; 1 are \(first: row 3\)"),
        ([0.0, 0.5, 1.0, 1.0], "whole numbers"),
        ([True, False, True, True], "whole numbers"),
        ([0, 1, None, 1], "whole numbers"),
        (pd.Series([0, 1, 0, 1], index=[3, 2, 1, 0]), "index differs"),
    ],
)
def test_unusable_labels_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        compare_subtypes(pd.DataFrame({"x": [1.0, 2, 3, 4]}), labels, gaussian_schema("x"))


@pytest.mark.parametrize("unusable", [{"min_size": 0}, {"significance_level": 0}, {"significance_level": 1.5}])
def test_unusable_settings_are_refused(unusable):
    with pytest.raises(ValueError, match=next(iter(unusable))):
        gaussian([1, 2, 3, 4], [0, 0, 1, 1], **unusable)


def test_the_number_of_subjects_costs_no_calls():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(2000, 30))).rename(columns="x{}".format)
    schema = gaussian_schema(frame)
    labels = np.arange(2000) % 5
    result = compare_subtypes(frame, labels, schema)
    assert (result.kind == "test").sum() == 30 * 10
    few = calls_of(compare_subtypes, frame[:500], labels[:500], schema)
    assert calls_of(compare_subtypes, frame, labels, schema) < 1.1 * few


@pytest.mark.parametrize("as_given", [list, np.array, pd.Series, lambda names: pd.Series(names, dtype="string")])
def test_names_of_groups_are_numbered_in_order(as_given):
    values, names = np.random.default_rng(0).normal(size=60), np.repeat(["b", "a", "c"], 20).tolist()
    schema, frame = gaussian_schema("x"), pd.DataFrame({"x": values})
    numbers = compare_subtypes(frame, np.repeat([1, 0, 2], 20), schema)
    pd.testing.assert_frame_equal(compare_subtypes(frame, as_given(names), schema), numbers)
    numbered = [{"a": "2", "b": "10", "c": "101"}[name] for name in names]
    pd.testing.assert_frame_equal(compare_subtypes(frame, as_given(numbered), schema), numbers)
    ordered = pd.Categorical(names, categories=["b", "unused", "a", "c"])
    found = compare_subtypes(frame, ordered, schema)
    assert sorted(set(found["subtype"].dropna())) == [0, 1, 3, 4]
    means = found[found["kind"] == "summary"].set_index("subtype")["mean"]
    assert means[3] == pytest.approx(values[20:40].mean())


WEIGHED = cc.FeatureSchema(
    [
        cc.Feature(name="x", likelihood="gaussian"),
        cc.Feature(name="sex", likelihood="bernoulli", levels=("female", "male"), role="describe"),
        cc.Feature(name="kind", likelihood="categorical", levels=("a", "b", "c"), role="describe"),
        cc.Feature(name="visits", likelihood="poisson", spike=[0], role="describe"),
    ],
    other_columns="ignore",
)


@pytest.fixture
def weighed():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [35, 25])
    frame = pd.DataFrame({"x": rng.normal(8 * labels), "sex": rng.choice(["female", "male"], 60)})
    frame["kind"], frame["visits"] = rng.choice(["a", "b", "c"], 60), rng.poisson(1.0, 60)
    frame.loc[::7, "x"] = np.nan
    return frame.assign(weight=rng.exponential(size=60).round(3) + 0.1), labels


def test_summaries_are_those_of_statsmodels(weighed):
    frame, labels = weighed
    found = cc.compare_subtypes(frame, labels, WEIGHED, weights=frame["weight"])
    assert set(found["kind"]) == {"summary"}
    plain = cc.compare_subtypes(frame, labels, WEIGHED)
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


def test_what_has_no_valid_method_is_refused(weighed):
    frame, labels = weighed
    for weights, message in (
        (frame["weight"].iloc[::-1], "index differs"),
        (frame["weight"].to_numpy()[:5], "one number for each of the 60 rows"),
        (frame["weight"].where(frame.index > 1), "above 0 and not missing; 2 are not"),
        (-frame["weight"], "above 0"),
        (["x"] * 60, "must be numbers"),
    ):
        with pytest.raises(InputError, match=message):
            cc.compare_subtypes(frame, labels, WEIGHED, weights=weights)
    found = cc.compare_subtypes(frame, labels, WEIGHED, weights=frame["weight"])
    with pytest.raises(InputError, match="no rule of suppression"):
        cc.suppress_small_cells(found)
    with pytest.raises(InputError, match="columns: p cannot be used with weights"):
        cc.subtype_table(found, columns=["all", "subtypes", "p"])


def test_the_table_says_what_is_weighted_and_has_no_p(weighed, tmp_path, monkeypatch, capsys):
    frame, _ = weighed
    monkeypatch.chdir(tmp_path)
    frame["x"] = frame["x"].fillna(1.0)
    model = cc.methods.PublishedMAPDP(WEIGHED, random_state=0, progress=False).fit(frame)
    model.save("subtypes")
    frame.to_csv("cohort.csv", index=False)
    given = ["table", "cohort.csv", "--model", "subtypes"]
    assert main([*given, "--weights", "weight", "--out", "table.html"]) == 0
    text = (tmp_path / "table.html").read_text(encoding="utf-8")
    assert "Descriptive p" not in text
    assert "have sampling weights" in text
    exact = cc.compare_subtypes(frame, model.labels_, WEIGHED, weights=frame["weight"])
    row = exact[(exact["feature"] == "sex") & (exact["subtype"] == 1)].iloc[0]
    assert f"{row['count']} ({row['percent']:.0f}%)" in text
    share = frame["weight"][model.labels_ == 0].sum() / frame["weight"].sum()
    assert f"n = {(model.labels_ == 0).sum()} (weighted {100 * share:.1f}%)" in text
    assert f"(weighted {100 * share:.1f}%)".replace(".", "·") in cc.subtype_table(exact, style="lancet").to_html()
    capsys.readouterr()
    assert "no column 'wait'" in refused(capsys, *given, "--weights", "wait", "--out", "t.html")
    assert "cannot be used with --suppress" in refused(
        capsys, *given, "--weights", "weight", "--suppress", "5", "--out", "t.html"
    )


def test_rounded_counts_have_no_tests_either_and_are_not_weighted(weighed):
    frame, labels = weighed
    shared = cc.suppress_small_cells(cc.compare_subtypes(frame, labels, WEIGHED), threshold=3, rounding=5)
    assert "sampling weights" not in " ".join(note.text for note in cc.subtype_table(shared).notes)


@pytest.fixture(scope="module")
def point_masses():
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [120, 80])
    values = np.exp(rng.normal(group, 1.0))
    values[rng.random(200) < np.where(group, 0.1, 0.6)] = 0.0
    values[:4] = np.nan
    frame = pd.DataFrame({"crp": values, "age": rng.normal(size=200)})
    crp = cc.Feature(name="crp", likelihood="gaussian", transform="log", spike=0, label="CRP", unit="mg/L")
    schema = cc.FeatureSchema([crp, cc.Feature(name="age", likelihood="gaussian")])
    return frame, group, schema, cc.compare_subtypes(frame, group, schema)


def test_the_summaries_are_the_share_at_the_spike_and_the_other_values(point_masses):
    frame, group, _, result = point_masses
    rows = result[(result["kind"] == "summary") & (result["feature"] == "crp") & (result["subtype"] == 2)]
    own = frame["crp"][group == 1]
    at, rest = (rows[rows["part"] == part].iloc[0] for part in ("spike", "rest"))
    assert (at["level"], at["count"], at["n"]) == ("0", (own == 0).sum(), own.notna().sum())
    other = own[own > 0]
    assert (rest["n"], rest["missing"]) == (len(other), len(own) - len(other))
    assert rest["median"] == pytest.approx(np.median(other))
    assert rest["label"] == "CRP, if not 0"


def test_one_test_combines_both_parts(point_masses):
    frame, group, _, result = point_masses
    contrast = result[(result["kind"] == "contrast") & (result["feature"] == "crp")]
    table = pd.crosstab(frame["crp"].dropna() == 0, group[frame["crp"].notna()])
    other = [frame["crp"][(group == g) & (frame["crp"] > 0)] for g in (0, 1)]
    p = [stats.chi2_contingency(table, correction=False).pvalue, stats.mannwhitneyu(*other, method="asymptotic").pvalue]
    assert contrast["p"].tolist() == [pytest.approx(stats.combine_pvalues(p).pvalue)]
    assert np.isfinite(combined([Contrast(p=0.0), Contrast(p=0.5)]).statistic)  # a p of 0 is one too small for a float


@pytest.mark.parametrize("options", [{"threshold": 10}, {"threshold": 5}, {"rounding": 10}])
def test_a_small_count_at_the_spike_is_withheld_with_all_that_tells_it(point_masses, options):
    frame, group, schema, _ = point_masses
    few = frame["crp"].where((frame["crp"] > 0) | (np.arange(200) % 9 == 0), 1.5)
    truth = cc.compare_subtypes(frame.assign(crp=few), group, schema)
    shared = cc.suppress_small_cells(truth, **options)
    audit = cc.disclosure.audit_disclosure(shared, truth=truth, **options)
    assert not audit["disclosed"].any()
    rows = shared[(shared["kind"] == "summary") & (shared["feature"] == "crp")]
    at, rest = (rows[rows["part"] == part].set_index("subtype") for part in ("spike", "rest"))
    told = at["n"].astype(float) - at["count"].astype(float)
    shown = rest["n"].notna()
    np.testing.assert_array_equal(rest["n"][shown].astype(float), told[shown])  # a function of what is shown
    assert (told[~shown].isna() | (rest.index[~shown] == 0)).all()


@pytest.mark.simulation
def test_the_test_of_both_parts_holds_its_level():
    rng = np.random.default_rng(1)
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian", spike=0)])
    p = []
    for _ in range(200):
        values = rng.exponential(size=60) * (rng.random(60) < 0.5)
        result = cc.compare_subtypes(pd.DataFrame({"x": values}), rng.integers(3, size=60), schema)
        p.append(result.loc[result["kind"] == "contrast", "p"].iloc[0])
    assert np.mean(np.array(p) < 0.05) < 0.1


N_REASONS = 80
HALVES = np.arange(N_REASONS) % 2
RNG_OF_HALVES = np.random.default_rng(0)
TWO_HALVES = pd.DataFrame(
    {"x": RNG_OF_HALVES.normal(4.0 * HALVES), "y": RNG_OF_HALVES.normal(HALVES), "seen": ["2024-02-30"] * N_REASONS}
)


def results_of(role):
    features = [cc.Feature(name=name, likelihood="gaussian") for name in ("x", "y")]
    schema = cc.FeatureSchema([*features, cc.Feature(name="seen", role="time")]).with_roles(y=role)
    frame = schema.validate(TWO_HALVES)
    partition = cc.Partition(HALVES + 1, schema, made_by="a clinician")
    compared = cc.compare_subtypes(frame, HALVES + 1, schema)
    return compared, cc.validated_associations(partition, frame), cc.subtype_table(compared).to_html()


@pytest.fixture(scope="module")
def described():
    return results_of("describe")


@pytest.mark.parametrize("role", sorted(set(REASONS) - {"time"}))
def test_a_reason_is_treated_as_described(role, described):
    *frames, table = results_of(role)
    for found, plain in zip(frames, described[:2], strict=True):
        own = found["feature"] == "y"
        assert set(found.loc[own, "role"]) == {role}
        pd.testing.assert_frame_equal(found.assign(role=""), plain.assign(role=""))
    assert table == described[2]


def test_follow_up_times_are_summarised_and_not_tested(described):
    found = results_of("time")[0]
    of_time = found["feature"] == "y"
    assert found.loc[of_time, "p"].isna().all()
    assert found.loc[~of_time, "p"].notna().any()
    pd.testing.assert_frame_equal(
        found.loc[of_time, ["mean", "median", "sd", "n"]], described[0].loc[of_time, ["mean", "median", "sd", "n"]]
    )


@pytest.mark.parametrize(
    ("levels", "times", "is_counted"),
    [
        (("none", "mild", "severe"), (10, 8, 12), True),  # words, of which a mean says little
        (("0", "0.5", "1"), (30, 6, 4), True),  # edema: the quartiles are 0, 0 and 0
        (("0", "0.5", "1"), (29, 7, 4), False),
        (("i", "ii", "iii", "iv", "v", "x"), (50, 1, 1, 1, 1, 1), False),  # too long for a table
    ],
)
def test_levels_are_counted_of_scales_whose_mean_and_median_say_little(levels, times, is_counted):
    rng = np.random.default_rng(1)
    values = pd.Series(rng.permutation(np.repeat(np.array([*levels, None], dtype=object), [*times, 5])), name="x")
    labels = rng.integers(2, size=len(values))
    schema = FeatureSchema([Feature(name="x", likelihood="ordinal", levels=levels)])
    frame = compare_subtypes(values.to_frame(), labels, schema)
    rows = frame[frame["kind"] == "level"]
    assert len(rows) == 3 * len(levels) * is_counted
    for row in rows.to_dict("records"):
        here = values if row["subtype"] == 0 else values[labels == row["subtype"] - 1]
        assert (row["count"], row["n"], row["missing"]) == (
            (here == row["level"]).sum(),
            here.count(),
            here.isna().sum(),
        )
        assert row["percent"] == pytest.approx(100 * row["count"] / row["n"])
    weighted = compare_subtypes(values.to_frame(), labels, schema, weights=np.where(values == levels[0], 2.0, 1.0))
    of_sample = weighted.loc[weighted["kind"] == "level", "count"]
    assert of_sample.tolist() == rows["count"].tolist()
    others = [frame[frame["kind"] != "level"]["at_ends"].iloc[0], rows["at_ends"].count()]
    assert others == [min(times[0], times[-1]), 0]
    assert (cc.suppress_small_cells(frame)["kind"] != "level").all()
    audit = cc.disclosure.audit_disclosure(frame)
    assert audit["cell"].isin(levels).sum() == (rows["count"].between(1, 9)).sum()


# --- one rule for the decimals of means, whoever prints or judges them ------------------------------------------------


@pytest.mark.parametrize(
    ("spreads", "step", "decimals"),
    [
        ([14.9], None, 1),
        ([1.94], None, 2),
        ([5.0], None, 2),
        ([0.0018], None, 5),
        ([250.0], None, 0),
        ([math.nan, 14.9, 0.1], None, 1),  # the first that is shown
        ([math.nan], None, 2),
        ([], None, 2),
        ([0.0], None, 2),
        ([250.0], 0.5, 2),
        ([0.0056], 0.005, 4),
    ],
)
def test_the_rule(spreads, step, decimals):
    assert decimals_of_mean(spreads, step) == decimals


def test_subtype_table_and_audit_agree_on_every_feature():
    findings = gathered(*fitted_cohort())
    audited = {counts.name: counts.decimals for counts in feature_counts(findings.comparisons)}
    compared = Compared(findings.comparisons)
    printed = {name: decimals_of(feature, "mean") for name, feature in compared.features.items()}
    assert printed == audited
    assert len(set(printed.values())) > 2
