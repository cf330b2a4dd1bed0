"""Reports of a tree that was tested: what they say, show and withhold, and that nothing changes without a test."""

import io
import json
import re
from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cohorts import quick_fit, severity_cohort
from hypothesis import given
from hypothesis import strategies as st

import clinclust as cc
from clinclust.disclosure.counts import Rule
from clinclust.estimators.fit import JOIN_DTYPES, SubtypeTree, TreeTest
from clinclust.estimators.subtype_model import FittedCohort
from clinclust.reporting.assignments import tabulate_assignments, write_inert_csv
from clinclust.reporting.divisions import divisions_of, find_answer
from clinclust.reporting.layout import WITHHELD, name_together
from clinclust.reporting.page import illustrations
from clinclust.reporting.report import facts_of_fit, summarise_fit
from clinclust.reporting.sheets.divisions import divisions_table, on_the_test, p_in_words, verdict
from clinclust.reporting.sheets.methods import methods
from clinclust.reporting.sheets.overview import cautions, overview, trust
from clinclust.reporting.sheets.subjects import assignments_sheets, continuum_table

from .conftest import GENERATED
from .stand_in import compared, write_report
from .stand_in import fitted as stand_in

NAMES = {1: "Mild & <b>shaky</b>", 2: "=HYPERLINK($x^2$)"}


@cache
def case_of(n_groups):
    frame, schema, _ = severity_cohort(0, n_groups=n_groups)
    model = quick_fit(frame, schema)
    return model, frame, cc.distinct_subtypes(model, frame, n_draws=40)


@pytest.fixture
def three():
    return case_of(3)


@pytest.fixture
def one():
    return case_of(1)


def findings_of(model, frame, names=None, suppress=None):
    findings = compared(model, frame, names=names or {})
    return findings if suppress is None else findings.for_sharing(Rule(suppress))


def shown(case, names=None, suppress=None):
    model, frame, distinct = case
    return findings_of(model.cut(distinct), frame, names, suppress)


def report(findings, folder, suffix, **options):
    cohort, options = findings.cohort, {"names": findings.names, "generated": GENERATED} | options
    return write_report(cohort.model, cohort.table, folder / f"report{suffix}", **options)


# --- what is said -------------------------------------------------------------------------------------------------


def test_the_table_says_who_was_divided_from_whom_and_how_sure(three):
    model, _, distinct = three
    findings = shown(three, NAMES)
    (table,) = divisions_table(findings)
    at = {column.title if not column.group[0] else f"{column.group[0]} {column.title}": place
          for place, column in enumerate(table.columns)}  # fmt: skip
    joins = distinct.joins
    assert len(table.rows) == len(joins) >= 3
    assert not joins["accepted"].all()
    by_sizes = {(row.first_size, row.second_size): row for row in joins.itertuples()}
    for row in table.rows:
        join = by_sizes[row[at["Subjects One side"]], row[at["Subjects Other side"]]]
        assert row[at["Evidence (nats)"]] == join.gain
        assert row[at["In one population (nats) Mean"]] == join.expected
        assert row[at["In one population (nats) SD"]] == join.expected_sd
        assert row[at["Excess (nats)"]] == pytest.approx(join.excess)
        assert row[at["p"]] == (join.p if join.p >= 1 / 40 else "< 0.025")
        assert (row[at["p, any shape"]] is None) == np.isnan(join.p_any_shape)
        assert row[at["Result"]] == ("one continuum", "graded", "distinct")[int(join.accepted) + int(join.distinct)]
        for side, name in ((join.first, row[0]), (join.second, row[1])):
            below = np.unique(distinct.labels[np.isin(model.labels_ + 1, side)]) + 1
            if join.accepted:
                assert name == name_together([findings.name(subtype) for subtype in below], most=6)
            else:
                assert name in {f"{part} of {findings.name(below[0])}" for part in ("a part", "the rest")}
    assert [row[at["Division"]] for row in table.rows] == list(range(1, len(joins) + 1))


def test_page_and_workbook_say_it_in_the_same_words(three, tmp_path):
    findings = shown(three)
    said = [*verdict(findings), *on_the_test(findings)]
    assert len(said) == 4
    for number in (r"\b40 cohorts", r"\b0\.05\b", r"\b10 subjects"):
        assert re.search(number, " ".join(said))
    assert set(said[1:]) <= set(trust(findings).explanations)
    assert trust(findings).notes[0] == said[0]
    rows = dict(overview(findings).tables[1].rows)
    assert rows["More than a continuum?"].startswith("Yes")
    book = openpyxl.load_workbook(report(findings, tmp_path, ".xlsx"))
    column = [row[0] for row in book["Trust"].iter_rows(values_only=True)]
    assert " ".join(said[0].split()) in " ".join(" ".join(map(str, filter(None, column))).split())
    assert "Divisions tested" in column


def test_one_continuum_gets_a_score(one):
    model, frame, _ = one
    findings = shown(one)
    assert len(findings.sizes) == 1
    assert overview(findings).notes[0].startswith("One group of 160 subjects: ")
    score = cc.continuum_score(model, frame)
    (sheet,) = assignments_sheets(findings)
    (table,) = sheet.tables
    assert table.columns[-1].title == "Continuum score"
    assert [row[-1] for row in table.rows] == score.tolist()
    (table,) = continuum_table(findings)
    assert len(table.rows) == 5
    assert all(direction == "higher" and 0.5 < correlation < 1 for _, direction, correlation in table.rows)


def test_the_csv_of_assignments_has_the_score_of_a_continuum_alone(one, three):
    for (model, frame, distinct), has_score in ((one, True), (three, False)):
        for each in (model, model.cut(distinct)):
            stream = io.StringIO()
            write_inert_csv(tabulate_assignments(FittedCohort(each, frame)), stream)
            stream.seek(0)
            table = pd.read_csv(stream)
            if has_score and each is not model:
                np.testing.assert_allclose(table["continuum_score"], cc.continuum_score(model, frame))
            else:
                assert table["continuum_score"].isna().all()


def test_the_page_of_one_group_shows_what_changes_along_its_score(one):
    findings = shown(one)
    score = findings.continuum.score.copy()
    score[0] = np.nan
    score = np.maximum(score, np.sort(score)[58])  # equal scores are in one group
    findings.__dict__["continuum"] = replace(findings.continuum, score=score)
    assert assignments_sheets(findings)[0].tables[0].rows[0][-1] is None  # a missing score is an empty cell
    figure, of_division = illustrations(findings)
    assert of_division.name == "divisions"
    ax = figure.draw()
    assert (figure.section, figure.name) == ("Overview", "continuum")
    sizes = [int(label.get_text().rsplit(" ", 1)[1]) for label in ax.get_xticklabels()]
    assert sum(sizes) == np.isfinite(score).sum()
    assert sizes[0] >= 59
    drawn = np.ma.filled(ax.collections[0].get_array(), np.nan)
    (table,) = continuum_table(findings)
    assert [label.get_text() for label in ax.get_yticklabels()][:5] == [row[0] for row in table.rows]
    assert (drawn[:, 0] < 0).all()
    assert (drawn[:, -1] > 0).all()
    assert illustrations(shown(one, suppress=5)) == []


def test_one_group_that_the_search_found_needs_no_division():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    model = quick_fit(frame, n_clusters="distinct", coarsening=0.5)
    assert model.subtype_of_.size == 1
    findings = findings_of(model, frame)
    assert "there was no division to test" in verdict(findings)[0]
    assert (divisions_table(findings), on_the_test(findings)) == ([], [])
    assert illustrations(findings) == []  # these features are independent, and the score orders subjects by chance
    assert overview(findings).explanations[0] == "Next: the Subtype table."
    assert "No division was tested" in methods(findings).paragraphs["Distinct subtypes"]


def test_another_number_of_subtypes_is_told_from_the_distinct_ones(three):
    model, frame, distinct = three
    found = model.cut(distinct)
    for number in (2, model.n_clusters_):
        findings = findings_of(found.cut(number), frame)
        assert f"This report shows {number} subtypes instead" in verdict(findings)[0]
        assert "degrees of one" in cautions(findings)[0]
        assert len(divisions_table(findings)[0].rows) == len(distinct.joins)
    parts = [side for each in findings_of(found.cut(2), frame).divisions for side in each.branches]
    assert any(side.startswith("a part of Subtype") for side in parts)


def test_what_only_other_data_can_tell_follows_from_the_test(three, findings):
    (said,) = cautions(shown(three))
    assert said.startswith("Whether subtypes are kinds of a disease, only other data can tell")
    findings_with_doubt = shown(three)
    divisions = [replace(each, p=0.04 if each.is_accepted else each.p) for each in findings_with_doubt.divisions]
    findings_with_doubt.__dict__["divisions"] = divisions
    (said,) = cautions(findings_with_doubt)
    assert said.startswith("Where this is least clear, p = 0.04. Whether")
    (said,) = cautions(findings)
    assert "Whether subtypes are kinds of a disease or degrees of one, only other data can tell" in said
    assert said in trust(findings).notes


WORDS = {0.0: "fewer than 1 in 200", 0.0065: "6 in 1,000", 0.01: "1 in 100", 0.234: "23 in 100", 0.5: "50 in 100"}


@pytest.mark.parametrize(("p", "words"), WORDS.items())
def test_p_in_words(p, words):
    assert p_in_words(p, 200).replace("\N{NO-BREAK SPACE}", " ") == words


def graded():
    model, frame, distinct = with_distinct(case_of(3), 1)
    return model.cut(distinct), frame


def with_distinct(case, n_distinct):
    """The case with only the first accepted divisions distinct."""
    model, frame, distinct = case
    joins = distinct.test.joins.copy()
    joins.loc[joins.index[joins["accepted"]][n_distinct:], ["p_any_shape", "distinct"]] = 0.31, False
    return model, frame, replace(distinct, test=replace(distinct.test, joins=joins))


CASES = {"kinds": [1, 1, 1], "grades": [1, 2], "degrees": [3], "continuum": [1], "asked": [1, 1, 1], "untested": None}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("suppress", [None, 5])
def test_every_place_counts_kinds_and_grades_alike(three, one, kind, suppress, tmp_path):
    case = one if kind == "continuum" else with_distinct(three, {"grades": 1, "degrees": 0}.get(kind, 2))
    model, frame, distinct = case
    model, n_grades, asked = model if kind == "untested" else model.cut(distinct), CASES[kind], None
    if kind == "asked":
        model, asked = model.cut(2), 2
    findings = findings_of(model, frame, None, suppress)
    page, rows = overview(findings).notes[0], overview(findings).tables[0].rows
    path = report(findings, tmp_path, ".json", suppress=suppress)
    told = [json.loads(path.read_text("utf-8"))["answer"], facts_of_fit(model, asked)["answer"]]
    assert [answer["n_grades"] and sorted(answer["n_grades"]) for answer in told] == [n_grades] * 2
    assert told[0]["said"] == page
    assert told[1]["said"] == summarise_fit(model, asked)[0]
    texts = [page, told[1]["said"], *verdict(findings)]
    texts += [] if n_grades is None else [methods(findings).paragraphs["Distinct subtypes"]]
    counted = "not tested" if n_grades is None else "one continuum" if sum(n_grades) == 1 else f"{len(n_grades)} kinds"
    counted = "3 groups" if n_grades == [3] else counted
    assert all(counted in text for text in texts), texts
    assert all(("one of them in 2 grades" in text) == (kind == "grades") for text in texts)
    codes = [str(row[0]).partition(":")[0] for row in rows] if len(findings.sizes) > 1 else []
    if kind != "grades":
        assert codes in ([], [str(code) for code in model.codes_])
        return
    (place,) = [place for place, code in enumerate(codes) if code.startswith("Kind")]
    assert [*codes[:place], *codes[place + 1 :]] == model.codes_
    assert codes[place] == f"Kind {codes[place + 1][0]}"
    graded = [f"{division.number}: {division.title}" for division in findings.divisions if division.result == "graded"]
    assert all(named in " ".join(cautions(findings)) for named in graded)
    assert rows[place][1] == rows[place + 1][1] + rows[place + 2][1]
    grades = [
        frame[model.labels_ == label].mean(numeric_only=True) - frame.mean(numeric_only=True)
        for label in (place, place + 1)
    ]
    marks = [re.match("([↑↓])([^,]+), ", mark).groups() for mark in rows[place][3].split("\n")]
    assert marks
    for arrow, feature in marks:
        assert all((grade[feature] > 0) == (arrow == "↑") for grade in grades)


def test_subtypes_of_too_few_subjects_are_named_and_not_counted(three):
    graded, distinct = (shown(with_distinct(three, number)).fit for number in (1, 2))
    (_, single), (_, first) = sorted((len(kind), kind[0] + 1) for kind in graded.grades)
    for fit, few, basis, n_grades in (
        (distinct, [3], "kinds", [1, 1]),
        (distinct, [2, 3], "alone", [1]),
        (distinct, [1, 2, 3], "kinds", [1, 1, 1]),
        (graded, [single], "degrees", [2]),
        (graded, [first], "kinds", [1, 1]),
    ):
        answer = find_answer(fit, fit.codes_, few)
        assert (answer.basis, answer.facts()["n_grades"]) == (basis, n_grades)
        named = re.findall(r"\((\d.*?)\)", answer.sentence(160, []))
        assert named == [" and ".join(str(fit.codes_[subtype - 1]) for subtype in few)] * (len(few) < 3)


# --- what is drawn ------------------------------------------------------------------------------------------------


def test_the_figure_draws_each_join_by_its_result_and_names_the_subtypes(three):
    model, _, distinct = three
    cut = model.cut(distinct)
    ax = cc.plots.plot_tree(cut, names={1: "$x^2$"})
    joins = [line for line in ax.lines if len(line.get_xdata()) == 4]
    widths = [(line.get_linewidth(), line.get_linestyle()) for line in joins]
    n_accepted = int(distinct.joins["accepted"].sum())
    n_rejected = len(distinct.joins) - n_accepted
    assert len(joins) == model.n_clusters_ - 1
    assert widths.count((3.0, "-")) == n_accepted
    assert widths.count((1.0, "-")) == n_rejected
    assert widths.count((1.0, ":")) == model.n_clusters_ - 1 - n_accepted - n_rejected
    names = ["$x^2$", "Subtype 2", "Subtype 3"]
    assert {label.get_text() for label in ax.get_yticklabels()} == {
        f"group {group + 1} in {names[subtype]} (n = {size:,})"
        for group, (subtype, size) in enumerate(zip(cut.subtype_of_, np.bincount(model.labels_), strict=True))
    }
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    results = [text.get_text().partition(": ")[2].partition(",")[0] for text in ax.texts]
    assert results.count("distinct") == n_accepted
    assert results.count("one continuum") == n_rejected


def test_kinds_leave_a_gap_under_the_curve_of_one_peak_and_a_continuum_leaves_none(three, one):
    filled = []
    for model, frame, distinct in (three, one):
        ax = cc.plots.plot_divisions(model.cut(distinct), frame, names={1: "$x^2$"}, at_most=1)
        (panel,), join = ax.child_axes, distinct.joins.iloc[0]
        assert panel.get_title(loc="left") == f"Division 1: {'distinct' if join.distinct else 'one continuum'}"
        assert [text.get_text().rpartition(" = ")[2] for text in panel.texts] == [
            str(join.first_size),
            str(join.second_size),
        ]
        assert not any(text.get_parse_math() for text in panel.texts)
        (below, edges, _), (counts, _, above) = (stairs.get_data() for stairs in panel.patches)
        assert counts.sum() == len(frame)
        assert below.sum() == above.sum() == pytest.approx(join.first_size, abs=2)
        along, curve = panel.lines[0].get_data()
        peaks = [curve[along < 0].max(), curve[along > 0].max()]
        assert np.interp(0, along, curve) > 0.9 * min(peaks)  # no valley between the branches
        assert np.trapezoid(curve, along) / np.diff(edges)[0] == pytest.approx(len(frame), rel=0.1)
        middle = counts[np.abs(edges[1:] + edges[:-1]) < 1.4]
        filled.append(middle.mean() / np.interp(0, along, curve))
    assert filled[0] < 0.5 < filled[1]
    with pytest.raises(ValueError, match="needs a tree that was tested"):
        cc.plots.plot_divisions(three[0], three[1])


def test_a_map_draws_each_subject_near_those_of_its_subtype(three, monkeypatch):
    model, frame, _ = three
    frame = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.1)
    model = quick_fit(frame, model.schema_)
    model = model.cut(cc.distinct_subtypes(model, frame, n_draws=40))
    dotted = [line.get_xydata()[::3] for line in cc.plots.plot_map(model, frame).lines]
    assert sum(map(len, dotted)) == len(frame)
    centres = np.array([points.mean(axis=0) for points in dotted])
    for number, points in enumerate(dotted):
        nearest = np.linalg.norm(points[:, None] - centres, axis=2).argmin(axis=1)
        assert np.mean(nearest == number) > 0.9
    monkeypatch.setattr("clinclust.reporting.figures.subjects._MOST_SUBJECTS", 40)
    ax = cc.plots.plot_map(model, frame, names={1: "$x^2$"})
    assert sum(len(line.get_xydata()) for line in ax.lines) == 3 * 40
    assert ax.get_xlabel().endswith("40 of 160 subjects")
    assert [text.get_text() for text in ax.texts] == ["$x^2$", "2", "3"]


def test_a_page_draws_each_division_and_a_shared_one_no_subjects(three):
    findings = shown(three, NAMES)
    figures = {figure.name: figure for figure in illustrations(findings)}
    assert [*figures] == ["profile", "effects", "divisions", "map", "tree"]
    assert {figure.name for figure in illustrations(shown(three, suppress=5))} == {"profile", "effects"}
    panels = figures["divisions"].draw().child_axes
    drawn = [panel.get_title(loc="left") for panel in panels]
    assert drawn == [f"Division {each.number}: {each.result}" for each in findings.divisions]


def hand_made(n_tips, accepted_steps, subtype_of=None):
    """Return a fitted stand-in of a caterpillar tree, tested from the root until a step that is not accepted."""
    schema = cc.FeatureSchema([cc.Feature(name="a", likelihood="gaussian")])
    labels = np.repeat(np.arange(n_tips), 12)
    model = stand_in(schema, labels)
    row = dict.fromkeys(JOIN_DTYPES, 12)
    rows = []
    for step in range(n_tips - 1, 0, -1):
        accepted = step in accepted_steps
        rows.append(row | {"step": step, "gain": 90.0 + step, "expected": -3.0, "expected_sd": 4.0,
                           "p": 0.001 if accepted else 0.4, "accepted": accepted})  # fmt: skip
        if not accepted:
            break
    model.tree_test_ = TreeTest(pd.DataFrame(rows).astype(JOIN_DTYPES), 20, 0.05, 0)
    return model


@pytest.mark.simulation
@pytest.mark.parametrize("n_tips", [2, 3, 12, 30])
def test_the_figure_is_readable_with_few_and_many_clusters(n_tips):
    """No two texts lie on each other, and all of them are on the figure."""
    ax = cc.plots.plot_tree(hand_made(n_tips, set(range(n_tips // 2, n_tips))))
    figure = ax.figure
    figure.draw_without_rendering()
    texts = [*ax.get_yticklabels(), *ax.texts]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    assert len(boxes) == 2 * n_tips - 1
    for place, box in enumerate(boxes):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
        assert not any(box.shrunk(0.9, 0.9).overlaps(other.shrunk(0.9, 0.9)) for other in boxes[:place])


@given(st.lists(st.integers(0, 3), min_size=2, max_size=9), st.randoms(use_true_random=False))
def test_sides_are_named_by_the_subtypes_that_lie_on_them(subtype_of, random):
    _, subtype_of = np.unique(subtype_of, return_inverse=True)
    n = subtype_of.size
    ahead, joins = list(range(n)), []
    while len(ahead) > 1:
        random.shuffle(ahead)
        joins.append((ahead.pop(), ahead.pop()))
        ahead.append(n + len(joins) - 1)
    tree = SubtypeTree(np.arange(n), np.array(joins), np.ones(n - 1))
    rows = [dict.fromkeys(JOIN_DTYPES, 1) | {"step": step + 1} for step in range(n - 1)]
    test = TreeTest(pd.DataFrame(rows).astype(JOIN_DTYPES), 20, 0.05, 0)
    fit = SimpleNamespace(tree_=tree, tree_test_=test, subtype_of_=subtype_of)
    found = divisions_of(fit, {k + 1: f"<{k}>" for k in range(4)})
    assert sorted(each.node for each in found) == list(range(n, 2 * n - 1))
    assert found[0].node == 2 * n - 2
    members = tree.members()
    for each in found:
        for place, (side, node) in enumerate(zip(each.branches, tree.joins[each.node - n], strict=True)):
            below = list(members[node])
            assert {int(k) for k in re.findall(r"<(\d)>", side)} == set(subtype_of[below].tolist())
            whole = np.isin(subtype_of, subtype_of[below]).sum() == len(below)
            assert ("part of" not in side and "the rest of" not in side) == whole
            if each.subtypes is not None:
                assert whole
                assert set(each.subtypes[place]) == set((subtype_of[below] + 1).tolist())


# --- what is withheld, and what names may hold --------------------------------------------------------------------


def test_a_shared_report_has_results_and_no_evidence(three, one, tmp_path):
    for case in (three, one):
        private, shared = shown(case), shown(case, suppress=5)
        assert any(each.sizes for each in private.divisions)
        (table,) = divisions_table(shared)
        for row, each in zip(table.rows, private.divisions, strict=True):
            assert row[:4] == [*each.branches, each.number, each.result]
            assert len(row) == len(table.columns) == 6
            if each.subtypes is None:
                assert row[4:6] == ["[c]", "[c]"]
            else:
                assert row[4:6] == list(each.sizes)  # no size is small here
        assert "tree" not in [each.name for each in illustrations(shared)]
        page = report(private, tmp_path, ".html", suppress=5).read_text(encoding="utf-8")
        assert page.count("Divisions tested</caption>") == 1
        for each in private.divisions:
            for number in (each.gain, each.expected, each.excess):
                assert f">{number:.1f}</td>" not in page
        whole = report(private, tmp_path, ".html").read_text(encoding="utf-8")
        assert f">{private.divisions[0].gain:.1f}</td>" in whole
        assert "Continuum score</th>" not in page
        for correlation in [] if private.continuum is None else private.continuum.correlations.iloc[:5]:
            assert f'<td class="n">{correlation:.2f}</td>' not in page


def test_a_withheld_size_is_withheld_in_sums_too(three):
    shared = shown(three).for_sharing(Rule(5))
    shared.__dict__["sizes"] = {1: 54, 2: WITHHELD, 3: WITHHELD}
    for row, each in zip(divisions_table(shared)[0].rows, shared.divisions, strict=True):
        for cell, side in zip(row[4:6], each.subtypes or ((), ()), strict=True):
            assert (cell == "[c]") == (each.subtypes is None or bool({2, 3} & set(side)))


def test_names_run_nothing(three, tmp_path):
    findings = shown(three, {1: "<script>alert(1)</script>", 2: "=1+1", 3: "a\x1b[31m\u202eb"})
    page = report(findings, tmp_path, ".html").read_text(encoding="utf-8")
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert not set("\x1b\u202e") & set(page)
    book = openpyxl.load_workbook(report(findings, tmp_path, ".xlsx"))
    for sheet in book:
        assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)


# --- without a test -----------------------------------------------------------------------------------------------
