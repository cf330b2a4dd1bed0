"""Withheld counts cannot be found, exact or rounded, and nothing is withheld that need not be."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of
from hypothesis import example, given
from hypothesis import strategies as st
from scored import scored
from true_names import with_true_levels

from clinclust import Feature, FeatureSchema, compare_subtypes, suppress_small_cells
from clinclust.disclosure import audit_disclosure
from clinclust.disclosure.counts import rounded
from clinclust.reporting.findings import with_pooled_means

from .test_attacker import compositions

SUMMARIES = ["n", "missing", "count", "percent", "mean", "sd", "median", "q1", "q3"]
TESTS = ["statistic", "df", "df2", "p", "q", "standardised_difference", "significant", "estimate", "lower", "upper"]


def of_counts(table, levels=None, likelihood=None):
    """Comparisons of one feature x from its counts: levels and missing values by subtypes."""
    return of_features({"x": table}, levels, likelihood)


def of_features(tables, levels=None, likelihood=None):
    """The same of several features of the same subjects."""
    tables = {name: np.asarray(table) for name, table in tables.items()}
    first = next(iter(tables.values()))
    levels = levels or [f"level {row}" for row in range(len(first) - 1)]
    columns = {name: np.concatenate([np.repeat([*levels, None], n) for n in table.T]) for name, table in tables.items()}
    kind = likelihood or ("bernoulli" if len(levels) == 2 else "categorical")
    schema = FeatureSchema([Feature(name=name, likelihood=kind, levels=tuple(levels)) for name in tables])
    return compare_subtypes(pd.DataFrame(columns), np.repeat(np.arange(first.shape[1]), first.sum(axis=0)), schema)


def numbered(groups):
    """Labels 0, 1, ... by decreasing size, as a model gives them."""
    _, groups, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[groups]


def summary(frame, column, subtype, level=None):
    rows = frame[(frame["kind"] == "summary") & (frame["subtype"] == subtype)]
    return rows[rows["level"] == level][column].item() if level else rows[column].iloc[0]


def disclosed(frame, **options):
    found = audit_disclosure(frame, **options)
    return found[found["disclosed"]]


def primary_only(frame, threshold=10):
    """What a hurried person does: blank the small counts, and only these."""
    broken = frame.copy()
    of_counts = broken["kind"] == "summary"
    for column in ("n", "missing", "count"):
        broken.loc[of_counts & broken[column].between(1, threshold - 1), column] = pd.NA
    broken.loc[broken["count"].isna(), ["percent", "mean", "sd"]] = np.nan
    broken.loc[broken["kind"] != "summary", ["n", "missing", *TESTS[:-4]]] = pd.NA
    broken.loc[broken["kind"] != "summary", ["estimate", "lower", "upper"]] = np.nan
    return broken


@pytest.fixture(scope="module")
def whole():
    return of_counts([[60, 40], [60, 90], [5, 7]], ["no", "yes"])


def test_counts_that_follow_from_their_margins_are_withheld_too():
    whole = of_counts([[60, 40, 20], [4, 30, 40], [30, 30, 30], [0, 0, 0]])
    sizes = {0: 284, 1: 94, 2: 100, 3: 90}
    broken = disclosed(primary_only(whole), sizes=sizes)
    assert broken["cell"].tolist() == ["level 1"]
    assert broken[["lowest", "highest"]].to_numpy().tolist() == [[4, 4]]
    shared = suppress_small_cells(whole)
    assert disclosed(shared, truth=whole).empty
    assert disclosed(shared, sizes=sizes).empty
    # Four cells, the least there is: a small one needs another in its row and one in its column.
    withheld = shared["count"].isna() & (shared["kind"] == "summary")
    assert withheld.sum() == 4
    assert pd.isna(summary(shared, "count", 1, "level 1"))


def test_missing_values_are_counts_too_and_shares_stay(whole):
    shared = suppress_small_cells(whole)
    found = audit_disclosure(shared, truth=whole)
    assert not found["disclosed"].any()
    missing = found[(found["cell"] == "missing") & (found["subtype"] == 1)].iloc[0]
    assert missing["value"] == 5
    assert missing["lowest"] <= 5
    assert missing["highest"] >= 15
    assert pd.isna(summary(shared, "n", 1))
    assert summary(shared, "mean", 1) == 0.5
    assert pd.isna(summary(shared, "percent", 1))
    assert pd.isna(summary(shared, "mean", 0))


@pytest.mark.parametrize(("column", "reason"), [("count", "interval"), ("n", "shown")])
def test_a_number_left_beside_a_withheld_one_is_found(column, reason, whole):
    shared = suppress_small_cells(whole)
    first = (shared["kind"] == "summary") & (shared["subtype"] == 1)
    shared.loc[first, column] = whole.loc[first, column]
    shared.loc[first & (column == "n"), "missing"] = 5
    found = disclosed(shared, truth=whole)
    assert set(found["reason"]) == {reason}
    assert set(found["subtype"]) == {1}


def test_a_test_left_beside_a_withheld_count_is_found(whole):
    shared = suppress_small_cells(whole)
    assert shared.loc[shared["kind"] != "summary", TESTS].isna().all(axis=None)
    shared.loc[shared["test"] == "welch", "df"] = 240.6
    assert set(disclosed(shared, truth=whole)["reason"]) == {"test"}


def test_a_small_subtype_goes_with_the_smallest_of_the_others():
    whole = of_counts([[60, 30, 20, 2], [60, 40, 20, 3], [0, 0, 0, 0]], ["no", "yes"])
    shared = suppress_small_cells(whole)
    found = audit_disclosure(shared, truth=whole)
    assert not found["disclosed"].any()
    sizes = found[found["cell"] == "size"].set_index("subtype")
    assert sizes[["lowest", "highest"]].to_numpy().tolist() == [[23, 44], [1, 22]]
    of_withheld = shared[shared["subtype"].isin([3, 4])]
    assert set(of_withheld["kind"]) == {"summary"}
    assert of_withheld[SUMMARIES].isna().all(axis=None)
    assert of_withheld["suppressed"].all()
    # The two large ones are compared as before; all at once they are not.
    pair = (shared["kind"] == "test") & (shared["subtype"] == 1) & (shared["versus"] == 2)
    assert shared.loc[pair, "p"].notna().all()
    assert shared.loc[shared["kind"] == "contrast", TESTS].isna().all(axis=None)
    shared.loc[shared["kind"] == "contrast", "n"] = 170
    assert (audit_disclosure(shared, truth=whole)["reason"] == "test").any()


def test_a_cohort_can_be_too_small():
    with pytest.raises(ValueError, match="15 subjects in subtypes of 9, 6 cannot be shared"):
        suppress_small_cells(of_counts([[5, 3], [4, 3], [0, 0]], ["no", "yes"]))


def test_zero_can_say_something_of_everybody():
    whole = of_counts([[0, 40, 50], [60, 40, 50], [0, 0, 0]], ["no", "yes"])
    assert not suppress_small_cells(whole)["suppressed"].any()
    assert set(disclosed(whole, zero_is_disclosive=True)["cell"]) == {"not yes"}
    shared = suppress_small_cells(whole, zero_is_disclosive=True)
    assert pd.isna(summary(shared, "count", 1))
    assert disclosed(shared, truth=whole, zero_is_disclosive=True).empty


def test_means_of_few_values_are_withheld_and_do_not_follow_from_the_others():
    rng = np.random.default_rng(0)
    values = rng.normal(50, 9, 120)
    values[5:40] = np.nan  # five values are left in the first subtype
    whole = compare_subtypes(pd.DataFrame({"x": values}), np.repeat([0, 1, 2], 40), schema_of(["x"]))
    shared = suppress_small_cells(whole)
    for subtype in (0, 1):
        for column in ("mean", "sd", "median", "q1", "q3"):
            assert np.isnan(summary(shared, column, subtype))
    assert summary(shared, "mean", 2) == float(f"{summary(whole, 'mean', 2):.2f}")
    assert disclosed(shared, truth=whole).empty


def test_rounded_events_have_no_sd_from_which_their_total_follows():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], (70, 50))
    frame = pd.DataFrame({"falls": rng.binomial(1, 0.3 + 0.4 * groups), "x": rng.normal(size=120)})
    whole = compare_subtypes(frame, groups, schema_of([], falls="poisson", x="gaussian"))
    shared = suppress_small_cells(whole, rounding=5)
    falls = shared[(shared["feature"] == "falls") & (shared["subtype"] > 0) & (shared["kind"] == "summary")]
    assert (falls["mean"] * falls["n"] % 5).round(9).isin([0, 5]).all()
    assert falls["sd"].isna().all()
    of_x = shared[(shared["feature"] == "x") & (shared["subtype"] > 0) & (shared["kind"] == "summary")]
    assert of_x["sd"].notna().all()


def printed(before, after, column):
    """Whether what stays of a column prints as it was."""
    there = after[column].notna().to_numpy()
    a = before[column].to_numpy(dtype=float, na_value=np.nan)[there]
    b = after[column].to_numpy(dtype=float, na_value=np.nan)[there]
    spread = np.nanmax(np.abs(before["sd"].to_numpy(dtype=float)))
    error = 0.0051 + 0.006 * spread if column in ("mean", "sd") else 0.0
    if column in ("median", "q1", "q3"):
        error = np.nanmax((before["q3"] - before["q1"]).to_numpy(dtype=float, na_value=np.nan)) / 8  # half a step
    with np.errstate(invalid="ignore"):  # infinite effects
        return (a == b) | (np.abs(a - b) <= error + 1e-9)


@given(
    seed=st.integers(0, 10**6),
    n_groups=st.integers(2, 4),
    n_levels=st.integers(2, 4),
    missing=st.sampled_from([0.0, 0.03, 0.2]),
    zero=st.booleans(),
    rounding=st.sampled_from([None, None, 5]),
)
def test_nothing_withheld_can_be_found_and_nothing_else_is_changed(seed, n_groups, n_levels, missing, zero, rounding):
    rng = np.random.default_rng(seed)
    N = 150
    groups = numbered(rng.choice(n_groups, N, p=rng.dirichlet(np.full(n_groups, 4.0))))
    levels = [f"level {level}" for level in range(n_levels)]
    shares = rng.dirichlet(np.full(n_levels, 0.7), n_groups)
    columns = {
        "nominal": np.array([rng.choice(levels, p=shares[group]) for group in groups], dtype=object),
        "answer": np.where(rng.random(N) < rng.beta(0.5, 0.5, n_groups)[groups], "yes", "no").astype(object),
        "falls": rng.poisson(1 + 2 * groups).astype(object),
        "pressure": rng.normal(130, 12, N).astype(object),
    }
    for column in columns.values():
        column[rng.random(N) < missing] = None
    schema = FeatureSchema(
        [
            Feature(name="nominal", likelihood="categorical", levels=tuple(levels)),
            Feature(name="answer", likelihood="bernoulli", levels=("no", "yes")),
            Feature(name="falls", likelihood="poisson"),
            Feature(name="pressure", likelihood="gaussian"),
        ]
    )
    whole = compare_subtypes(pd.DataFrame(columns), groups, schema)
    rule = {"zero_is_disclosive": zero, "rounding": rounding}
    shared = suppress_small_cells(whole, **rule)
    assert disclosed(shared, truth=whole, **rule).empty
    assert (whole["suppressed"] == False).all()  # noqa: E712 - the input is left alone
    if rounding is None:
        key = ["kind", "feature", "level", "subtype", "versus", "test", "measure"]
        shared = with_true_levels(shared, whole)
        before = shared[key].merge(whole, on=key, how="left")
        touched = set(shared.loc[shared["suppressed"], "feature"])
        for column in (*SUMMARIES, *TESTS):
            lost = before[column].notna().to_numpy() & shared[column].isna().to_numpy()
            assert not (lost & ~shared["suppressed"].to_numpy(dtype=bool)).any()
        for feature in columns:
            own = (shared["feature"] == feature).to_numpy()
            if feature not in touched:
                same = [column for column in whole.columns if column not in ("q", "mean", "sd", "median", "q1", "q3")]
                pd.testing.assert_frame_equal(before[own][same], shared[own][same])
            unchanged = [column for column in (*SUMMARIES, *TESTS) if column != "q"]
            assert all(printed(before[own], shared[own], column).all() for column in unchanged)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"threshold": 1}, "threshold must be at least 2"), ({"rounding": 2}, "rounding must be a base of at least 3")],
)
def test_options_that_cannot_be_used(options, said, whole):
    for function in (suppress_small_cells, audit_disclosure):
        with pytest.raises(ValueError, match=said):
            function(whole, **options)


def test_what_is_withheld_already_is_refused(whole):
    with pytest.raises(ValueError, match="withheld numbers already"):
        suppress_small_cells(suppress_small_cells(whole))


@pytest.mark.parametrize("seed", [6, 14, 21])
def test_whole_numbers_count_as_whole_whatever_their_likelihood(seed):
    """Ages in whole years, modelled as Gaussian: mean and SD of whole numbers tell how many were observed."""
    rng = np.random.default_rng(seed)
    sizes = [60, 44, int(rng.integers(15, 44))]
    groups = np.repeat([0, 1, 2], sizes)
    age = np.rint(rng.normal(62, 9, sum(sizes)))
    age[np.flatnonzero(groups == rng.integers(3))[: rng.integers(1, 10)]] = np.nan
    whole = compare_subtypes(pd.DataFrame({"age": age}), groups, schema_of(["age"]))
    assert whole["whole"].all()
    taken_for_real = suppress_small_cells(whole.assign(whole=False)).assign(whole=True)
    assert not disclosed(taken_for_real, truth=whole).empty
    assert disclosed(suppress_small_cells(whole), truth=whole).empty


THRESHOLD = 3
NUMBERS = ("n", "missing", "count", "percent", "mean")
DECIMALS = {"percent": 1, "mean": 2}


def every_table(sizes, n_rows):
    """All tables (tables, rows, groups) of these sizes; the first group is all subjects."""
    columns = product(*(compositions(size, n_rows) for size in sizes))
    tables = np.array(list(columns), dtype=float).transpose(0, 2, 1)
    return np.concatenate([tables.sum(axis=2, keepdims=True), tables], axis=2)


def printed_numbers(tables, n_shown_levels):
    """What a report prints of each table: arrays (tables, levels, groups) by name."""
    levels, missing = tables[:, :n_shown_levels], tables[:, -1:]
    n = tables[:, :-1].sum(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        share = levels / n
    values = {"n": n, "missing": missing, "count": levels, "percent": 100 * share, "mean": share}
    return {name: np.broadcast_to(each, levels.shape) for name, each in values.items()}


def shown_of(shared):
    """The numbers that a frame of two groups shows, by name: (rows, all subjects and groups)."""
    rows = shared[shared["kind"] == "summary"]
    return {name: rows[name].to_numpy(dtype=float, na_value=np.nan).reshape(-1, 3) for name in NUMBERS}


def agreeing(tables, shown):
    """The tables that print every number that is shown."""
    found = np.ones(len(tables), dtype=bool)
    for name, values in printed_numbers(tables, len(shown["n"])).items():
        error = 0.5 * 10.0 ** -DECIMALS[name] if name in DECIMALS else 0.0
        with np.errstate(invalid="ignore"):
            same = np.abs(values - shown[name]) <= error + 1e-9
        found &= (same | np.isnan(shown[name])).all(axis=(1, 2))
    return tables[found]


@pytest.mark.simulation
@given(st.lists(st.integers(0, 6), min_size=6, max_size=6), st.booleans())
def test_small_counts_of_levels_cannot_be_found_with_n_and_missing(cells, two_levels):
    table = np.array(cells).reshape(3, 2)
    sizes = table.sum(axis=0)
    table[0] += np.maximum(THRESHOLD + 1 - sizes, 0)  # no small subtype
    table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    if not two_levels:
        table = np.vstack([table[:1], table[1:2], np.minimum(table[2:] + 1, 4), table[2:]])
    if table[:-1].sum() < THRESHOLD:
        return
    whole = of_counts(table, ["no", "yes"] if two_levels else None)
    shared = suppress_small_cells(whole, threshold=THRESHOLD, missing_is_harmless=True)
    shown = shown_of(shared)
    # The yes/no feature shows its second level.
    order = [1, 0, 2] if two_levels else list(range(len(table)))
    truth = np.hstack([table.sum(axis=1, keepdims=True), table])[order]
    possible = agreeing(every_table(table.sum(axis=0), len(table)), shown)
    observed = possible[:, :-1].sum(axis=1)
    low, high = (np.vstack([end(possible, axis=0)[:-1], end(observed, axis=0)]) for end in (np.min, np.max))
    sensitive = np.vstack([truth[:-1], truth[:-1].sum(axis=0)])
    sensitive = (sensitive >= 1) & (sensitive < THRESHOLD)
    assert ((high - low)[sensitive] >= THRESHOLD).all()
    assert not audit_disclosure(shared, threshold=THRESHOLD, missing_is_harmless=True, truth=whole)["disclosed"].any()


def test_a_small_number_of_missing_values_is_shown_where_it_is_harmless(whole):
    shared = suppress_small_cells(whole, missing_is_harmless=True)
    assert summary(shared, "missing", 1) == 5
    assert summary(shared, "n", 1) == 120
    assert not shared["suppressed"].any()
    assert set(audit_disclosure(shared, truth=whole)["cell"]) == {"missing"}
    assert audit_disclosure(shared, truth=whole, missing_is_harmless=True).empty


def test_few_observed_values_are_withheld_all_the_same():
    whole = of_counts([[40, 4], [90, 3], [7, 90]], ["no", "yes"])
    shared = suppress_small_cells(whole, missing_is_harmless=True)
    assert pd.isna(summary(shared, "n", 2))
    assert pd.isna(summary(shared, "missing", 2))
    assert not audit_disclosure(shared, truth=whole, missing_is_harmless=True)["disclosed"].any()
    assert audit_disclosure(whole, missing_is_harmless=True)["disclosed"].any()


@pytest.mark.parametrize("n_second", [20, 29, 30])
def test_means_of_fewer_values_than_asked_are_withheld(n_second):
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 50)
    values = rng.normal(50, 9, 150)
    values[50 : 100 - n_second] = np.nan
    answers = np.where(np.arange(150) % 2 == 0, "yes", "no").astype(object)
    answers[np.isnan(values)] = None
    schema = schema_of(["x"], answer={"likelihood": "bernoulli", "levels": ("no", "yes")})
    whole = compare_subtypes(pd.DataFrame({"x": values, "answer": answers}), groups, schema)
    shared = suppress_small_cells(whole, min_n=30)
    is_withheld = n_second < 30
    own = shared[(shared["kind"] == "summary") & (shared["feature"] == "x")].set_index("subtype")
    for column in ("mean", "sd", "median", "q1", "q3"):
        # Of all subjects too: with their mean, that of the second subtype would follow from the others.
        assert own[column].isna().to_dict() == {0: is_withheld, 1: False, 2: is_withheld, 3: False}
    assert own["n"].notna().all()
    share = shared[(shared["kind"] == "summary") & (shared["feature"] == "answer")]
    assert share["mean"].notna().all()
    assert not suppress_small_cells(whole)["suppressed"].any()


def test_a_threshold_for_means_below_that_of_counts_is_refused(whole):
    with pytest.raises(ValueError, match="min_n must be at least the threshold, 10, not 9"):
        suppress_small_cells(whole, min_n=9)


BASE = 5


def rounding_to(sizes):
    """All tables (tables, 3 rows, all subjects and two groups) whose sizes round to the same as these."""
    near = [[size for size in range(1, 20) if rounded(size, BASE) == rounded(each, BASE)] for each in sizes]
    tables = np.concatenate([every_table((a, b), 3) for a in near[0] for b in near[1] if a >= b])
    return tables[rounded(tables[:, :, 0].sum(axis=1), BASE) == rounded(sum(sizes), BASE)]


def counts_that_agree(shared, sizes, n_shown_levels):
    """All tables (tables, 3 rows and observed, groups) with the rounded numbers shown."""
    possible = rounding_to(sizes)
    exact = {
        "n": possible[:, :2].sum(axis=1)[:, None],
        "missing": possible[:, 2:],
        "count": possible[:, :n_shown_levels],
    }
    agrees = np.ones(len(possible), dtype=bool)
    for name, counts in exact.items():
        shown = shown_of(shared)[name]
        agrees &= (np.isnan(shown) | (rounded(counts, BASE) == shown)).all(axis=(1, 2))
    return np.concatenate([possible, possible[:, :2].sum(axis=1)[:, None]], axis=1)[agrees]


def is_protected(counts, table):
    """Whether the interval of every small count of a table (3 rows, two groups) is long enough."""
    truth = np.hstack([table.sum(axis=1, keepdims=True), table])
    truth = np.vstack([truth, truth[:2].sum(axis=0)])
    return (np.ptp(counts, axis=0)[(truth >= 1) & (truth < THRESHOLD)] >= BASE // 2).all()


CELLS = st.lists(st.integers(0, 5), min_size=6, max_size=6)
RULE = {"threshold": THRESHOLD, "rounding": BASE}


@scored(
    [
        ([0, 0, 0, 3, 1, 5], False),  # the sizes of both groups and their sum bound each other
        ([0, 2, 3, 1, 0, 4], True),
    ]
)
def test_no_small_count_is_known_closely_with_rounded_sizes(cells, two_levels):
    rounded_sizes_protect(cells, two_levels)


@pytest.mark.simulation
@given(CELLS, st.booleans())
def test_no_small_count_of_any_table_is_known_closely_with_rounded_sizes(cells, two_levels):
    rounded_sizes_protect(cells, two_levels)


def rounded_sizes_protect(cells, two_levels):
    table = np.array(cells).reshape(3, 2)
    table[0] += np.maximum(4 - table.sum(axis=0), 0)
    table = table[:, np.argsort(-table.sum(axis=0), kind="stable")]
    whole = of_counts(table, ["no", "yes"]) if two_levels else of_counts(table, ["a", "b"], "categorical")
    shared = suppress_small_cells(whole, **RULE)
    order = [1, 0, 2] if two_levels else [0, 1, 2]  # a yes/no feature shows its second level
    counts = counts_that_agree(shared, table.sum(axis=0).tolist(), 1 if two_levels else 2)
    assert len(counts) > 0
    assert is_protected(counts, table[order])
    assert not audit_disclosure(shared, truth=whole, **RULE)["disclosed"].any()


@pytest.mark.simulation
@example([0, 0, 1, 1, 5, 5], [0, 0, 2, 3, 0, 0])  # each feature alone protects what both together do not
@example([0, 0, 0, 3, 0, 0], [0, 0, 2, 2, 5, 0])  # a subtype without observed values
@given(CELLS, CELLS)
def test_no_small_count_is_known_closely_with_the_sizes_that_other_features_tell(cells, others):
    tables = np.array([cells, others]).reshape(2, 3, 2)
    sizes = np.maximum(tables.sum(axis=1).max(axis=0), 4)
    tables[:, 2] += sizes - tables.sum(axis=1)
    tables = tables[:, :, np.argsort(-sizes, kind="stable")]
    whole = of_features(dict(zip("xy", tables, strict=True)), ["a", "b"], "categorical")
    shared = suppress_small_cells(whole, **RULE)
    agreeing = [counts_that_agree(part, np.sort(sizes)[::-1].tolist(), 2) for _, part in shared.groupby("feature")]
    possible = set.intersection(*({tuple(counts) for counts in each[:, :3].sum(axis=1)} for each in agreeing))
    for each, table in zip(agreeing, tables, strict=True):
        assert is_protected(each[[tuple(counts) in possible for counts in each[:, :3].sum(axis=1)]], table)
    assert not audit_disclosure(shared, truth=whole, **RULE)["disclosed"].any()


def test_rounded_numbers_do_not_tell_that_nobody_has_a_value():
    nobody, somebody = (of_counts([[a, 3], [0, 3], [7 - a, 2]], ["a", "b"], "categorical") for a in (0, 1))
    shared = [suppress_small_cells(whole, **RULE) for whole in (nobody, somebody)]
    pd.testing.assert_frame_equal(*(each[each["kind"] == "summary"] for each in shared))


def test_the_sizes_of_a_rounded_frame_are_rounded_and_known_to_the_audit():
    whole = of_counts([[52, 21, 22], [41, 43, 44], [3, 2, 5]], ["no", "yes"])
    shared = suppress_small_cells(whole, rounding=BASE)
    summaries = shared[shared["kind"] == "summary"]
    assert summaries["size"].tolist() == [235, 95, 65, 70]
    assert summaries["suppressed"].all()
    assert not audit_disclosure(shared, rounding=BASE)["disclosed"].any()


def test_the_mean_of_all_is_pooled_from_what_is_shown():
    rng = np.random.default_rng(3)
    groups = np.repeat([0, 1, 2], [82, 51, 38])
    values = rng.normal(40 + 9 * groups, 6.0)
    values[::9] = np.nan
    whole = compare_subtypes(pd.DataFrame({"x": values}), groups, schema_of(["x"]))
    shared = suppress_small_cells(whole, rounding=BASE)
    shared = shared[shared["kind"] == "summary"].reset_index(drop=True)
    assert np.isnan(shared["mean"][0])
    pooled = with_pooled_means(shared)
    each = [rng.normal(size=int(n)) for n in shared["n"][1:]]
    each = [
        mean + sd * (values - values.mean()) / values.std(ddof=1)
        for values, mean, sd in zip(each, shared["mean"][1:], shared["sd"][1:], strict=True)
    ]
    assert pooled["mean"][0] == pytest.approx(np.concatenate(each).mean())
    assert pooled["sd"][0] == pytest.approx(np.concatenate(each).std(ddof=1))
    assert abs(pooled["mean"][0] - whole["mean"][0]) < 1.0
    without = shared.assign(mean=shared["mean"].mask(shared["subtype"] == 2))
    pd.testing.assert_frame_equal(with_pooled_means(without), without)
