"""Two shared reports are the same bytes if their cohorts or models differ in nothing that is shown.

This is the whole of it: a reader of such a file cannot tell the one from the other, whatever stands in which part.
"""

from __future__ import annotations

import zipfile

import numpy as np
import pandas as pd
import pytest
from scored import few

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells
from clinclust.files.row_choice import RowChoice
from clinclust.reporting.page import page
from clinclust.reporting.subtype_table import subtype_table

from .conftest import GENERATED
from .stand_in import associations_of, fitted, write_report

DRAWN = page.as_svg
SIZES = (70, 50)
GROUPS = np.repeat([0, 1], SIZES)
RARE = ("rare", "kind", "holes", "events")
# By group: yes of `rare`, "c" of `kind`, missing of `holes` (even, as half of the others say yes), and `events`.
FIRST = {"rare": (4, 3), "kind": (2, 5), "holes": (4, 6), "events": (3, 4)}
OTHERS = (
    {"rare": (1, 2)},
    {"rare": (2, 7)},
    {"kind": (5, 2)},
    {"holes": (2, 8)},
    {"holes": (8, 2)},
    {"events": (1, 6)},
    {"rare": (6, 1), "kind": (3, 4), "holes": (6, 6), "events": (9, 1)},
)


def by_group(values_of):
    return np.concatenate([np.asarray(values_of(group, size), dtype=object) for group, size in enumerate(SIZES)])


def cohort_of(counts):
    def yes(group, size, number):
        return np.arange(size) < number

    def kind(group, size):
        n_rare = counts["kind"][group]
        return ["c"] * n_rare + ["a"] * (size // 2) + ["b"] * (size - size // 2 - n_rare)

    def holes(group, size):
        n_missing = counts["holes"][group]
        return [None] * n_missing + [0, 1] * ((size - n_missing) // 2)

    rng = np.random.default_rng(5)
    columns = {
        "rare": by_group(lambda group, size: yes(group, size, counts["rare"][group]).astype(int)),
        "kind": by_group(kind),
        "holes": by_group(holes),
        "events": by_group(lambda group, size: yes(group, size, counts["events"][group]).astype(int)),
        "pressure": rng.normal(130 + 9 * GROUPS, 12),
        "falls": rng.poisson(1.0 + GROUPS),
    }
    for place in range(6):
        columns[f"common{place}"] = by_group(
            lambda group, size, n=place: yes(group, size, 20 + n + 2 * group).astype(int)
        )
    kinds = {"kind": "categorical", "events": "poisson", "pressure": "gaussian", "falls": "poisson"}
    levels = {"kind": {"levels": ("a", "b", "c")}}
    schema = FeatureSchema(
        [Feature(name=name, likelihood=kinds.get(name, "bernoulli"), **levels.get(name, {})) for name in columns]
    )
    return pd.DataFrame(columns), schema


def report(folder, suffix, counts, model_of, **options):
    frame, schema = cohort_of(FIRST | counts)
    folder.mkdir(exist_ok=True)
    path = folder / f"report.{suffix}"
    model = model_of(schema)
    write_report(model, frame, path, suppress=10, generated=GENERATED, **options)
    return path.read_bytes()


def given(schema):
    return Partition(GROUPS, schema, made_by="a clinician")


@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_that_differ_in_withheld_counts_only_are_the_same(tmp_path, suffix, some):
    first = report(tmp_path, suffix, {}, given)
    for counts in some(OTHERS[::-1], few=1):
        assert report(tmp_path, suffix, counts, given) == first, counts
    assert report(tmp_path, suffix, {"rare": (30, 24)}, given) != first


def test_the_counts_are_withheld_indeed():
    frame, schema = cohort_of(FIRST)
    shared = suppress_small_cells(compare_subtypes(frame, GROUPS, schema))
    assert set(shared.loc[shared["suppressed"], "feature"]) == set(RARE)


@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_of_fits_that_differ_in_what_withheld_features_tell_are_the_same(tmp_path, suffix):
    def fit(schema, relevance):
        model = fitted(schema, GROUPS)
        model.feature_relevance_ = pd.Series(np.linspace(30, 5, len(schema)), index=[f.name for f in schema])
        for name in RARE:
            model.feature_relevance_[name] = relevance
            model.hyperparameters_[name] = {"a": relevance, "b": 1.0}
        model.feature_relevance_ = model.feature_relevance_.sort_values(ascending=False)
        return model

    least, most = (report(tmp_path, suffix, {}, lambda schema, nats=nats: fit(schema, nats)) for nats in (-3.0, 99.0))
    assert least == most


def any_fit(seed):
    """A fit of which all that is no function of released counts depends on the seed, and settings that were stated."""

    def fit(schema):
        rng = np.random.default_rng(seed)
        model = fitted(schema, GROUPS)
        names = [feature.name for feature in schema]
        own = 0.5 + 0.5 * rng.random(len(GROUPS))
        model.membership_ = np.where(np.eye(2)[GROUPS] == 1, own[:, None], 1 - own[:, None])
        model.feature_relevance_ = pd.Series(np.linspace(30, 5, len(names)), index=names)
        model.feature_relevance_[list(RARE)] = rng.normal(0, 30, len(RARE))
        model.hyperparameters_ = {name: {"a": rng.random(), "b": rng.random()} for name in names}
        model.restarts_["log_joint"] -= 50 * rng.random(len(model.restarts_))
        model.restarts_["ari_to_best"] = rng.random(len(model.restarts_))
        model.restarts_ = pd.concat([model.restarts_] * (1 + seed), ignore_index=True)
        model.log_joint_ = model.restarts_["log_joint"].max()
        model.given = {"concentration": "map", "coarsening": "auto"}
        model.concentration_, model.coarsening_ = rng.random(2)
        model.tuning_ = pd.DataFrame({"concentration": rng.random(2 + seed)})
        return model

    return fit


@pytest.mark.parametrize("suffix", few(["json", "xlsx", "html"], 1))
def test_reports_of_fits_that_differ_in_all_but_released_counts_are_the_same(tmp_path, suffix):
    first = report(tmp_path, suffix, {}, any_fit(0))
    for seed, counts in ((1, {}), (2, OTHERS[-1])):
        assert report(tmp_path, suffix, counts, any_fit(seed)) == first


def described_otherwise(counts):
    """The same cohort and schema, with other words of few subjects, and other conditions that hold of them."""
    frame, schema = cohort_of(FIRST)
    few = counts["words"]
    frame["kind"] = frame["kind"].where(frame["kind"] != "c", few[0])
    more = {
        "kind": {"levels": ("a", "b", few[0]), "missing_codes": (few[1],), "synonyms": {few[2]: "a"}},
        "rare": {"asked_if": f"ward == '{few[1]}'", "description": f"0 = no; 1 = {few[0]}; 9 = {few[1]}"},
        "pressure": {"minimum": counts["ends"][0], "maximum": counts["ends"][1]},
    }
    features = [Feature(**{**feature.content(), **more.get(feature.name, {})}) for feature in schema]
    return frame, FeatureSchema(features, missing_codes=(few[3],), rows=RowChoice(where=f"`Patient ID` != '{few[4]}'"))


@pytest.mark.parametrize(
    ("suffix", "round_to"),
    [
        *(("html", None), ("xlsx", 5), ("docx", 5)),
        *(pytest.param(suffix, None, marks=pytest.mark.simulation) for suffix in ("xlsx", "docx", "csv", "md", "tex")),
    ],
)
def test_reports_and_tables_with_other_words_of_few_are_the_same(tmp_path, suffix, round_to, monkeypatch):
    monkeypatch.setattr(page, "as_svg", DRAWN)  # a figure has words, too
    written = []
    words = (("crack", "refused (HIV ward)", "jawohl", "n/a since the fire", "Smith"), tuple("vwxyz"))
    for said, ends in zip(words, ((31.5, 403), (-5, 999)), strict=True):
        frame, schema = described_otherwise({"words": said, "ends": ends})
        path = tmp_path / f"report.{suffix}"
        if suffix in ("xlsx", "html"):
            write_report(given(schema), frame, path, suppress=10, round_to=round_to, generated=GENERATED)
        else:
            comparisons = compare_subtypes(frame, GROUPS, schema)
            subtype_table(suppress_small_cells(comparisons, rounding=round_to)).save(path)
        written.append(path.read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("suffix", few(["json", "html", "xlsx"], 2))
def test_what_is_not_listed_is_withheld(tmp_path, suffix, monkeypatch):
    """A new sheet, column or fact, until somebody lists it."""
    from clinclust.reporting import report as writing
    from clinclust.reporting.layout import Column, Sheet, Table

    def with_more(sheet):
        more = [
            Table(
                table.caption,
                [*table.columns, Column("New", "any")],
                [
                    *([*row, 0.7315] for row in table.rows),
                    *([["New fact", 0.7315, 0.7315]] if table.columns[0].title == "Item" else []),
                ],
            )
            for table in sheet.tables
        ]
        return Sheet(sheet.name, sheet.notes, more)

    made = writing._sheets

    def sheets(*args, **kwargs):
        new = Sheet("New sheet", ["0.7315"], [Table("New", [Column("Feature")], [["0.7315"]])])
        return [*map(with_more, made(*args, **kwargs)), new]

    monkeypatch.setattr(writing, "_sheets", sheets)
    for suppress in (10, None):
        frame, schema = cohort_of(FIRST)
        path = write_report(given(schema), frame, tmp_path / f"r.{suffix}", suppress=suppress, generated=GENERATED)
        assert ("0.7315" in everything_in(path)) == (suppress is None)


def everything_in(path):
    if path.suffix in (".html", ".json"):
        return path.read_text(encoding="utf-8")
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_that_differ_in_withheld_associations_are_the_same(tmp_path, suffix):
    def with_p(p, test, grade):
        _, schema = cohort_of(FIRST)
        model = fitted(schema, GROUPS)
        associations = associations_of(model)
        withheld = associations["feature"].isin(RARE)
        associations.loc[withheld, ["p", "statistic"]] = p
        associations.loc[withheld, "test"] = test
        associations.loc[withheld, "grade"] = grade
        associations["remark"] = pd.NA
        return report(tmp_path, suffix, {}, lambda schema: model, associations=associations)

    assert with_p(0.9, "chi-squared", "not shown") == with_p(1e-9, "Fisher's exact", "differs")
