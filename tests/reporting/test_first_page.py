"""The first page is true: its numbers are those of the subtype table, and it calls validated what was validated."""

import re
from dataclasses import replace

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cases import cases_beside, read_beside
from cohorts import gaussian_schema, quick_fit
from hypothesis import given, reject
from hypothesis import strategies as st

import clinclust as cc
from clinclust.disclosure.counts import Rule
from clinclust.errors import InputError
from clinclust.reporting.layout import percent
from clinclust.reporting.report import summarise_fit
from clinclust.reporting.sheets.associations import Grades, association_table, count_in_words, grades_of
from clinclust.reporting.sheets.overview import cautions, find_near_columns, overview, searches_sentence, trust

from .stand_in import compared, fitted, gathered

NUMBER = r"−?[\d.]+(?:E[−+]\d+)?"
MARK = re.compile(
    rf"(?P<arrow>[↑↓])(?P<title>.+?), (?P<here>{NUMBER})(?P<sign>%?) "
    rf"\((?:in (?P<other>\d+): )?(?P<all>{NUMBER})(?P=sign)\)(?P<unit> .+)?"
)

# --- numbers ----------------------------------------------------------------------------------------------------------


def cohort_of(rng, labels):
    """A column of every likelihood and transform; each shape lies apart in some draws and hardly in others."""
    n, apart = labels.size, rng.normal(0, rng.choice([0.1, 1.0]), size=(8, labels.max() + 1))
    size = [np.exp(part[labels]) for part in apart]
    share = [1 / (1 + np.exp(-2 * part[labels])) for part in apart]
    spread = np.exp(rng.normal(0, 1.2, labels.max() + 1))[labels]  # means and medians can order subtypes differently
    logs = [rng.normal(part[labels], spread).clip(max=200.0) for part in apart[2:4]]  # a column holds at most 1e100
    skewed = rng.exponential(1, n) ** 2 * spread + apart[1][labels]
    words, sexes = ("none", "mild", "severe"), ("male", "female")
    table = {
        "yes": ("bernoulli", {"levels": ("no", "yes")}, np.where(rng.random(n) < share[0], "yes", "no")),
        "sex": ("bernoulli", {"levels": sexes}, np.where(rng.random(n) < share[1], "female", "male")),
        "scale": ("binomial", {"trials": 4}, rng.binomial(4, share[2])),
        "words": ("ordinal", {"levels": words}, np.array(words)[rng.binomial(2, share[3])]),
        "kind": ("categorical", {"levels": ("a", "b", "c")}, rng.choice(["a", "b", "c"], n)),
        "counts": ("poisson", {}, rng.poisson(3 * size[4])),
        "long": ("geometric", {"unit": "visits"}, rng.geometric(0.5 / (0.5 + size[5])) - 1),
        "wide": ("negative_binomial", {}, rng.negative_binomial(0.4, 0.4 / (0.4 + size[6]))),
        "years": ("exponential", {"unit": "years"}, rng.exponential(size[7])),
        "measured": ("gaussian", {"unit": "mmHg"}, rng.normal(apart[0][labels], 1)),
        "skewed": ("gaussian", {"unit": "g/L"}, skewed),
        "log": ("gaussian", {"transform": "log", "unit": "mg/L"}, np.exp(logs[0])),
        "log1p": ("gaussian", {"transform": "log1p"}, np.floor(np.exp(logs[1]))),
        "sqrt": ("gaussian", {"transform": "sqrt"}, rng.normal(4, 1, n) ** 2 * size[4]),
        "tiny": ("gaussian", {}, rng.normal(3e-9, 1e-10, n) * size[5]),
        "alike": ("gaussian", {}, np.full(n, 7.0)),
    }
    features = [
        cc.Feature(name=name, likelihood=likelihood, label=f"The {name}", **more)
        for name, (likelihood, more, _) in table.items()
    ]
    return pd.DataFrame({name: values for name, (*_, values) in table.items()}), cc.FeatureSchema(features)


def findings_of(frame, schema, labels, *, given_subtypes):
    frame = schema.validate(frame, warn=False)
    model = cc.Partition(labels, schema, made_by="a rule") if given_subtypes else fitted(schema, labels)
    return compared(model, frame)


@st.composite
def any_findings(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_subtypes = draw(st.integers(12, 130)), draw(st.integers(2, 4))
    labels = np.r_[np.arange(n_subtypes), rng.choice(n_subtypes, n - n_subtypes)]
    labels = np.argsort(-np.bincount(labels), kind="stable").argsort()[labels]
    frame, schema = cohort_of(rng, labels)
    frame = frame.astype(object).mask(rng.random(frame.shape) < draw(st.sampled_from([0.0, 0.1, 0.6])))
    findings = findings_of(frame, schema, labels, given_subtypes=draw(st.booleans()))
    if draw(st.booleans()):
        return findings
    try:
        return findings.for_sharing(Rule(3))
    except InputError:  # too few subjects to withhold anything
        reject()


def of_the_table(findings):
    """By title of a row of the profile: the summary in the subtype table, and its number by column, as printed."""
    counted = findings.comparisons.query("kind == 'level'")["feature"].unique()  # the page has their means
    table = cc.subtype_table(findings.comparisons, summaries=dict.fromkeys(counted, "mean"))
    profiles = findings.profiles
    places = [place for place, heading in enumerate(table.headings) if heading.lines[1:]]
    found = {}
    for name, level, title in zip(profiles.features, profiles.levels, profiles.titles, strict=True):
        rows = [row for row in table.rows if row.feature == name]
        (row,) = [row for row in rows if row.level == level] if any(row.is_level for row in rows) else rows
        texts = [row.cells[place].text for place in places]
        within = re.compile(r"\((.+)%\)" if row.summary == "n (%)" else r"(\S+)")
        found[title] = (row.summary, [match[1] if (match := within.search(text)) else text for text in texts])
    return found


def value(text):
    return float(text.replace("\N{MINUS SIGN}", "-"))


@given(any_findings())
def test_every_number_is_that_of_the_subtype_table(findings):
    every_number_that_marks_a_subtype_is_the_one_of_the_subtype_table(findings)
    the_profile_points_where_the_subtype_table_does(findings)
    sizes_and_missing_values_are_those_of_the_subtype_table(findings)


def every_number_that_marks_a_subtype_is_the_one_of_the_subtype_table(findings):
    table, rows = of_the_table(findings), overview(findings).tables[0].rows
    for place, row in enumerate(rows, start=1):
        if row[3] in ("–", "[c]", "too few subjects"):
            continue
        for text in row[3].split("\n"):
            mark = MARK.fullmatch(text)
            assert mark, text
            shown, numbers = table[mark["title"]]
            assert (mark["here"], mark["all"]) == (numbers[place], numbers[int(mark["other"] or 0)]), text
            assert (mark["arrow"] == "↑") == (value(mark["here"]) > value(mark["all"])), text
            assert (mark["sign"] == "%") == (shown == "n (%)")


@pytest.mark.parametrize("n_subtypes", [3, 8])
def test_proposed_names_tell_subtypes_apart_where_the_page_has_room(n_subtypes):
    """The first two lie apart in age first, and only the weight tells one from the other."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n_subtypes), 25)
    means = np.c_[np.where(labels < 2, 40.0, -10.0 * labels), np.choose(np.minimum(labels, 2), [-0.87, 0.87, 0.0])]
    frame = pd.DataFrame(rng.normal(means, 1.0), columns=["Age", "Weight"])
    rows = (page := overview(findings_of(frame, gaussian_schema(frame), labels, given_subtypes=True))).tables[0].rows
    assert all(row[3][0] in "↑↓–" for row in rows)
    cells = (str(cell) for table in page.tables for row in table.rows for cell in row)
    assert len(" ".join([*page.notes, *page.explanations, *cells]).split()) <= 146
    names = [row[0].partition(": ")[2] for row in rows]
    assert names[:2] == ["older, lighter", "older, heavier"]
    assert len({*filter(None, names)}) == len([*filter(None, names)])


@pytest.mark.parametrize(("n_values", "is_marked"), [(9, False), (13, False), (14, True)])
def test_marks_need_values_and_a_name_is_an_english_phrase(n_values, is_marked):
    rng, labels = np.random.default_rng(0), np.repeat([0, 1], [60, 40])
    few = 50.0 * labels + rng.random(100)
    few[60 + n_values :] = np.nan
    columns = {
        "alk_1": ("gaussian", {}, rng.normal(9 * labels)),
        "x_few": ("gaussian", {}, few),
        "low": ("gaussian", {}, rng.normal(-0.7 * labels)),
        "fatigue": ("categorical", {"levels": ("1.0", "2.0", "3.0")}, np.array(["1.0", "2.0", "3.0"])[labels]),
        "kidney disease": ("bernoulli", {"levels": ("no", "yes")}, np.where(rng.random(100) < labels, "yes", "no")),
    }
    features = [cc.Feature(name=name, likelihood=kind, **more) for name, (kind, more, _) in columns.items()]
    frame = pd.DataFrame({name: values for name, (*_, values) in columns.items()})
    findings = findings_of(frame, cc.FeatureSchema(features), labels, given_subtypes=True)
    (_, *first), (name, *second) = overview(findings).tables[0].rows
    assert name == "2: kidney disease"  # fatigue 2 and alk_1 are no words
    assert any("x_few" in mark for mark in (first[2] + second[2]).split("\n")) == is_marked
    assert "2.0 " not in second[2]
    assert [mark[0] for mark in second[2].split("\n")[:2]] == ["↑", "↓"]


def test_a_majority_near_everybody_has_marks_and_no_name():
    labels = np.repeat([0, 1], [130, 70])
    frame = pd.DataFrame({"urea": np.random.default_rng(0).normal(1.5 * labels)})
    healthy, ill = overview(findings_of(frame, gaussian_schema(frame), labels, given_subtypes=True)).tables[0].rows
    assert (healthy[0], healthy[3][:5], ill[0]) == ("1", "↓urea", "2: higher urea")


def test_subtypes_with_the_same_marks_say_how_they_differ():
    labels = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame({"urea": np.random.default_rng(0).normal(np.array([9, 12, -20])[labels])})
    rows = overview(findings_of(frame, gaussian_schema(frame), labels, given_subtypes=True)).tables[0].rows
    first, second, _ = (row[3].split("\n") for row in rows)
    assert len(first) == 1
    assert first[0][:5] == second[0][:5] == "↑urea"
    assert MARK.fullmatch(second[1])["other"] == "1"


def the_profile_points_where_the_subtype_table_does(findings):
    table, titles = of_the_table(findings), findings.profiles
    n_checked = 0
    for title, distances in zip(titles.titles, titles.standardised, strict=True):
        _, (everywhere, *inside) = table[title]
        for distance, number in zip(distances, inside, strict=True):
            if not {number, everywhere} & {"[c]", "–"} and number != everywhere:
                difference = value(number) - value(everywhere)
                assert np.isnan(distance) or np.sign(distance) in (0, np.sign(difference)), title
                n_checked += 1
    assert n_checked or findings.rule is not None


def sizes_and_missing_values_are_those_of_the_subtype_table(findings):
    table = cc.subtype_table(findings.comparisons)
    headings = [heading.lines[-1] for heading in table.headings if heading.lines[1:]][1:]
    for (_, size, share, *_), heading in zip(overview(findings).tables[0].rows, headings, strict=True):
        shown = "n = [c]" if size == "[c]" else f"n = {size} ({share:.1f}%)"
        assert heading in (shown, f"n = {size}", "n = [c]")  # without a percentage where the total is withheld
    found = " ".join(trust(findings).notes)
    if findings.rule is not None:
        assert "(missing values: [c])" in found
        return
    missing = sum(int(row.cells[0].text) for row in table.rows if not row.is_level)
    n_values = len(findings.cohort.table) * len(findings.features)
    assert (f"({percent(missing, n_values):.1f}% of their values" in found) == (missing > 0)
    assert ("(no value is missing)" in found) == (missing == 0)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_percentage_is_the_nearest_tenth(part, whole):
    said = percent(min(part, whole), whole)
    assert abs(said - 100 * min(part, whole) / max(whole, 1)) <= 0.05 + 1e-9
    assert f"{said:.1f}" == f"{said:.10f}".rstrip("0").ljust(len(f"{said:.1f}"), "0")


def test_console_page_and_tables_print_the_same_percentage():
    labels = np.repeat([0, 1], [291, 109])
    frame = pd.DataFrame({"x": np.arange(400.0), "y": np.arange(400.0) ** 2})
    findings = findings_of(frame, gaussian_schema(frame), labels, given_subtypes=False)
    model = findings.cohort.model
    model.n_clusters = None
    assert "1: 291 (72.8%), 2: 109 (27.3%)" in " ".join(summarise_fit(model))
    assert overview(findings).tables[0].rows[1][2] == 27.3
    assert "n = 109 (27.3%)" in {heading.lines[-1] for heading in cc.subtype_table(findings.comparisons).headings}


# --- what was validated -----------------------------------------------------------------------------------------------


TESTED = read_beside(__file__)["tested"]


def with_outcomes(findings, *outcomes):
    """Findings whose clustered features have these outcomes, in turn; the last goes on for the rest."""
    rows = findings.associations.copy()
    clustered = [feature.name for feature in findings.cohort.schema if findings.clustered_on(feature)]
    for place, name in enumerate(clustered):
        for column, value in TESTED[outcomes[min(place, len(outcomes) - 1)]].items():
            rows.loc[rows["feature"] == name, column] = value
    return replace(findings, associations=rows)


@pytest.mark.parametrize(("outcomes", "counts"), cases_beside(__file__, "grades"))
def test_the_first_page_and_trust_count_the_grades_alike(findings, outcomes, counts):
    found, counts = with_outcomes(findings, *outcomes), Grades(*counts)
    assert grades_of(found, found_from=True) == counts
    on_page_one = dict(overview(found).tables[1].rows)["Which features differ?"]
    begins = f"{counts.differing} of " + ("21" if counts.tested == 21 else f"{counts.tested} tested (21 ")
    assert on_page_one.startswith(begins if counts.tested else "none tested (21 ")
    assert any(note.endswith(on_page_one) for note in trust(found).notes)


def test_a_shared_first_page_counts_what_it_shows(findings):
    shared = with_outcomes(findings, "beyond").for_sharing(Rule(10))
    n_shown = sum(not findings.is_withheld(f) for f in findings.features) and sum(
        shared.clustered_on(f) and not shared.is_withheld(f) for f in shared.features
    )
    withheld = 21 - n_shown
    assert 0 < withheld < 21
    assert count_in_words(shared).startswith(f"{n_shown} of {n_shown} tested (21 ")


# --- words ------------------------------------------------------------------------------------------------------------


def test_the_workbook_opens_on_what_the_page_opens_on(findings, full_workbook_path):
    first = openpyxl.load_workbook(full_workbook_path).worksheets[0]
    assert first.title == "Overview"
    written = " ".join(" ".join(str(cell) for row in first.iter_rows(values_only=True) for cell in row if cell).split())
    sheet = overview(findings)
    for text in (*sheet.notes, *sheet.explanations, *(table.caption for table in sheet.tables)):
        assert " ".join(text.split()) in written
    place = [written.index(text) for text in (sheet.notes[0][:40], sheet.tables[0].caption, sheet.explanations[0][:40])]
    assert place == sorted(place)
    cells = [cell for row in first.iter_rows(values_only=True) for cell in row]
    for value in (value for table in sheet.tables for row in table.rows for value in row if value is not None):
        assert value in cells or any(value == pytest.approx(cell) for cell in cells if isinstance(cell, float))


def test_a_shared_page_explains_no_number_that_it_withholds(findings):
    shared = replace(findings, associations=None).for_sharing(Rule(10))
    nothing = replace(shared, comparisons=shared.comparisons.assign(suppressed=True))
    hidden = nothing.comparisons.copy()
    for name in ("mean", "median", "count", "percent", "q1", "q3"):
        hidden[name] = pd.NA if str(hidden[name].dtype) == "Int64" else np.nan
    sheet = overview(replace(nothing, comparisons=hidden))
    assert [row[3:] for row in sheet.tables[0].rows] == [["[c]"]] * 3
    assert "Clear:" not in " ".join(trust(shared).explanations)


@pytest.mark.simulation
def test_of_slices_of_one_continuum_nothing_is_validated():
    rng = np.random.default_rng(9)
    table = np.sqrt(0.5) * rng.normal(size=(300, 1)) + np.sqrt(0.5) * rng.normal(size=(300, 8))
    frame = pd.DataFrame(table).rename(columns="x{}".format)
    model = quick_fit(frame, n_clusters="distinct").cut(2)
    associations = cc.validated_associations(model, frame, n_restarts=2, progress=False)
    slices = compared(model, frame, associations=associations)
    assert count_in_words(slices).startswith(
        "The subtypes are slices of one continuum: whatever varies along it differs"
    )
    assert association_table(slices).notes[0].startswith("The test of the tree found one continuum")


# --- what a report says of how far to trust the subtypes, and of columns that are nearly the subtypes -----------------


@pytest.mark.parametrize("size", [9, 10])
def test_small_subtypes_are_named(size):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.vstack([rng.normal(0, 1, (40, 4)), rng.normal(9, 1, (size, 4))]), columns=list("abcd"))
    model = quick_fit(frame)
    assert model.cluster_sizes_.tolist() == [40, size]
    (said,) = cautions(compared(model, frame, names={2: "Rare"}))
    assert ("Fewer than 10 subjects (2 Rare)" in said) == (size < 10)


def findings_of_columns(columns, labels, roles, **options):
    frame = pd.DataFrame(columns)
    schema = cc.draft_schema(frame).with_roles(**roles)
    return gathered(cc.Partition(labels, schema, made_by="a rule"), frame, **options)


def cohort_of_a_sex(n_mistaken, n=400):
    rng = np.random.default_rng(0)
    labels = (np.arange(n) >= n // 2).astype(int)
    mistaken = labels.copy()
    mistaken[:n_mistaken] = 1
    mistaken[n - n_mistaken :] = 0
    columns = {f"x{place}": rng.normal(2.0 * labels, 1.0) for place in range(4)}
    return columns | {"a sex": np.where(mistaken, "male", "female")}, labels


def test_a_column_that_is_nearly_the_subtypes_comes_with_the_role_that_looks_beyond():
    columns, labels = cohort_of_a_sex(4)
    findings = findings_of_columns(columns, labels, {"a sex": "describe"})
    (column,) = find_near_columns(findings)
    assert (column.role, column.name) == ("adjust", "a sex")  # the features follow it
    assert "98% of 400" in column.sentence
    assert column.sentence in trust(findings).notes
    assert column.sentence in overview(findings).notes
    rng = np.random.default_rng(1)
    columns |= {f"x{place}": rng.normal(size=labels.size) for place in range(4)}
    (column,) = find_near_columns(findings_of_columns(columns, labels, {}))
    assert (column.role, column.name) == ("describe", "a sex")  # nothing else forms them


def test_a_shared_report_names_a_column_only_if_every_count_of_it_is_shown():
    for n_mistaken, is_said in ((4, False), (15, True)):
        columns, labels = cohort_of_a_sex(n_mistaken)
        assert find_near_columns(findings_of_columns(columns, labels, {"a sex": "describe"}))
        shared = findings_of_columns(columns, labels, {"a sex": "describe"}, suppress=10)
        assert bool(find_near_columns(shared)) == is_said
        rounded = findings_of_columns(columns, labels, {"a sex": "describe"}, suppress=10, round_to=5)
        assert not find_near_columns(rounded)
        assert not find_near_columns(findings_of_columns(columns, labels, {}, suppress=10))


def test_one_search_is_no_share_of_searches(findings):
    alone = replace(findings.fit, restarts_=findings.fit.restarts_.iloc[:1])
    assert searches_sentence(alone, alone.restarts_) == "One search was made."
    assert "searches ended" in searches_sentence(findings.fit, findings.searches)


@pytest.mark.parametrize(
    ("role", "features", "option"),
    [("describe", "follow it", "adjust"), ("cluster", "do not", "describe"), ("cluster", "follow it", "adjust")],
)
def test_the_first_page_names_the_column_before_the_features(role, features, option):
    columns, labels = cohort_of_a_sex(4 if features == "do not" or role == "describe" else 0)
    columns["sex"] = columns.pop("a sex")
    if features == "do not":
        columns |= {f"x{place}": np.random.default_rng(place).normal(size=labels.size) for place in range(4)}
    sheet = overview(findings_of_columns(columns, labels, {"sex": role}))
    assert re.match("sex(, which .*,)?( nearly)? tells the subtypes apart: right for", sheet.notes[1])
    assert ("which" in sheet.notes[1]) == (role == "describe")
    assert re.search(r"(of|all) 400 \(.*: 50%\)", sheet.notes[1])
    assert f"--{option} sex." in sheet.notes[1]
    depends = dict(sheet.tables[1].rows).get("Nearly one column?")
    assert depends == (None if role == "describe" else "Yes: sex.")
    columns.pop("sex")
    rows = dict(overview(findings_of_columns(columns, labels, {})).tables[1].rows)
    assert rows["Nearly one column?"] == "No."


def test_the_column_that_nearly_makes_one_division_is_named_with_its_people():
    """Sex divides the smaller two of three subtypes, and is no other name of all three."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [200, 60, 40])
    centres = 4.0 * np.c_[labels > 0, labels == 2][:, [0, 1] * 3]
    frame = pd.DataFrame(rng.normal(centres), columns=list("abcdef"))
    frame["sex"] = np.where(np.where(labels == 0, rng.random(300) < 0.5, labels == 2), "male", "female")
    schema = cc.draft_schema(frame).with_roles(sex="describe")
    model = cc.MAPDP(schema, random_state=0, n_restarts=2, progress=False).fit(frame)
    said = " ".join(overview(gathered(model, frame)).notes)
    assert re.search(r"sex.* tells .*: right for all 100 \(.*: 60%\)", said)


@pytest.mark.parametrize("share", [0.92, 0.96])
def test_low_sureness_is_said_and_is_that_of_the_table_and_of_the_model(findings, share):
    labels = findings.fit.labels_
    membership = np.where(labels[:, None] == np.arange(3), share, (1 - share) / 2)
    membership[:48] = np.eye(3)[labels[:48]]  # most of the largest are clear in any case
    model = replace(findings.fit, membership_=membership)
    found = replace(findings, cohort=replace(findings.cohort, model=model))
    clear = [row[4] for row in overview(found).tables[0].rows]
    assert clear == pytest.approx(model.summary()["clear"].tolist())
    few = [str(code) for code, percent in enumerate(clear, start=1) if percent < 50]
    said = " ".join(overview(found).notes)
    assert bool(few) == (share < 0.95) == ("is unsure" in said)
    assert all(code in said.partition("Membership of ")[2].partition(" is unsure")[0] for code in few)
