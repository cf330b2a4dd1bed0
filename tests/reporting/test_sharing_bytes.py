"""Two reports made for sharing are the same bytes if their cohorts differ in nothing that is shown.

This is the whole of it: a reader of such a file cannot tell the one from the other, whatever stands in which part.
Either small counts are withheld, or all are rounded besides.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from cases import read_beside
from cohorts import quick_fit
from scored import few

from clinclust import Feature, FeatureSchema, Partition, compare_subtypes, suppress_small_cells
from clinclust import reporting as reports
from clinclust.files.row_choice import RowChoice
from clinclust.reporting import page
from clinclust.reporting.subtype_table import subtype_table

from .conftest import GENERATED
from .stand_in import associations_of, everything_in, fitted, write_report

DRAWN = page.as_svg


class Cohort(NamedTuple):
    frame: pd.DataFrame
    schema: FeatureSchema
    labels: np.ndarray


def cohort_of(sizes, columns, likelihoods):
    """Return a cohort of two subtypes. A column has missing values by subtype, and a function of subtype and n."""
    frame = pd.DataFrame()
    for name, (missing, values_of) in columns.items():
        parts = []
        for group, (size, n_missing) in enumerate(zip(sizes, missing, strict=True)):
            values = list(values_of(group, size - n_missing))
            assert len(values) == size - n_missing
            parts += [*values, *[None] * n_missing]
        frame[name] = pd.Series(parts, dtype=object)
    levels = {"categorical": {"levels": ("a", "b", "c")}}
    kinds = {name: likelihoods.get(name, "bernoulli") for name in frame}
    schema = FeatureSchema(
        [Feature(name=name, likelihood=kind, **levels.get(kind, {})) for name, kind in kinds.items()]
    )
    return Cohort(frame, schema, np.repeat([0, 1], sizes))


NOTHING = (0, 0)


def yes(counts):
    """Return the values of a column with so many of 1 in each subtype."""
    return lambda group, n: [1] * counts[group] + [0] * (n - counts[group])


# --- two cohorts that differ in withheld counts, and two that differ in counts that round to the same -----------------


def withheld_cohort(counts):
    """Of `counts`, by subtype: yes of `rare`, "c" of `kind`, missing of `holes`, and `events`."""
    sizes = (70, 50)
    rng = np.random.default_rng(5)
    columns = {
        "rare": (NOTHING, yes(counts["rare"])),
        "kind": (NOTHING, lambda group, n: (["c"] * counts["kind"][group] + ["a"] * (n // 2) + ["b"] * n)[:n]),
        "holes": (counts["holes"], lambda group, n: [0, 1] * (n // 2)),
        "events": (NOTHING, yes(counts["events"])),
        "pressure": (NOTHING, lambda group, n: rng.normal(130 + 9 * group, 12, n)),
        "falls": (NOTHING, lambda group, n: rng.poisson(1 + group, n)),
    }
    columns |= {f"common{place}": (NOTHING, yes((20 + place, 22 + place))) for place in range(6)}
    likelihoods = {"kind": "categorical", "events": "poisson", "pressure": "gaussian", "falls": "poisson"}
    return cohort_of(sizes, columns, likelihoods)


def rounded_cohort(counts):
    """Of `counts`, by subtype: subjects, missing values of four features, yes of two, "a" of `kind`, more `events`."""

    def events(group, n):
        """About half have 60 events, so that n hardly changes the SD; more than half, so that they are the median."""
        n_high = (36, 28)[group]
        return [60 + counts["events"][group]] + [60] * (n_high - 1) + [0] * (n - n_high)

    def measured(group, n):
        """Two values as often as each other around the mean, so that n changes neither mean nor SD as printed."""
        middle = [100.0 + 20 * group] * (n % 2)
        return [90.0 + 20 * group] * (n // 2) + [110.0 + 20 * group] * (n // 2) + middle

    def kind(group, n):
        return ["a"] * counts["level"][group] + ["b"] * 10 + ["c"] * (n - counts["level"][group] - 10)

    columns = {
        "answer": (counts["missing"], yes(counts["yes"])),
        "rare": (NOTHING, yes(counts["rare"])),
        "kind": (counts["level_missing"], kind),
        "falls": (counts["events_missing"], events),
        "pressure": (counts["values_missing"], measured),
        "common": (NOTHING, yes((20, 30))),
    }
    likelihoods = {"kind": "categorical", "falls": "poisson", "pressure": "gaussian"}
    return cohort_of(counts["size"], columns, likelihoods)


class Law(NamedTuple):
    """Cohorts of which all reports with these options are the same, and counts of another that is not."""

    cohort: object
    first: dict
    others: tuple
    shown: dict
    options: dict

    def of(self, counts):
        return self.cohort(self.first | counts)


def law_of(name, cohort):
    return Law(cohort, **read_beside(__file__)[name])


RARE = ("rare", "kind", "holes", "events")
WITHHELD = law_of("withheld", withheld_cohort)
ROUNDED = law_of("rounded", rounded_cohort)
LAWS = pytest.mark.parametrize("law", [WITHHELD, ROUNDED], ids=["withheld", "rounded"])


def given(schema, labels):
    return Partition(labels, schema, made_by="a clinician")


def report(folder, suffix, law, counts, model_of=given, **options):
    frame, schema, labels = law.of(counts)
    path = folder / f"report.{suffix}"
    write_report(model_of(schema, labels), frame, path, generated=GENERATED, **law.options, **options)
    return path.read_bytes()


def test_the_counts_are_withheld_indeed():
    frame, schema, labels = WITHHELD.of({})
    shared = suppress_small_cells(compare_subtypes(frame, labels, schema))
    assert set(shared.loc[shared["suppressed"], "feature"]) == set(RARE)


# --- two fits ---------------------------------------------------------------------------------------------------------


def any_fit(seed, law):
    """A fit of which all that is no function of released counts depends on the seed, and settings that were stated."""

    def fit(schema, labels):
        rng = np.random.default_rng(seed)
        model = fitted(schema, labels)
        names = [feature.name for feature in schema]
        if law is WITHHELD:
            own = 0.5 + 0.5 * rng.random(len(labels))
            model.membership_ = np.where(np.eye(2)[labels] == 1, own[:, None], 1 - own[:, None])
            model.feature_relevance_ = pd.Series(np.linspace(30, 5, len(names)), index=names)
            model.feature_relevance_[list(RARE)] = rng.normal(0, 30, len(RARE))
            model.feature_relevance_ = model.feature_relevance_.sort_values(ascending=False)
        else:
            model.feature_relevance_ = pd.Series(rng.normal(20, 30, len(names)), index=rng.permutation(names))
            model.uninformative_ = {"rare": "the same value in every subject observed"} if seed else {}
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


@LAWS
@pytest.mark.parametrize("suffix", few(["json", "xlsx", "html"], 2))
def test_reports_of_cohorts_and_fits_that_differ_in_nothing_shown_are_the_same(tmp_path, law, suffix, some):
    first = report(tmp_path, suffix, law, {}, any_fit(0, law))
    for seed, counts in enumerate([{}, *some(law.others[::-1], few=1)], start=1):
        assert report(tmp_path, suffix, law, counts, any_fit(seed, law)) == first, counts
    assert report(tmp_path, suffix, law, law.shown, any_fit(0, law)) != first


def with_markers(counts):
    """The cohort with two features to cluster on: odd numbers of observed values around two means far apart."""
    frame, schema, labels = ROUNDED.of(counts)

    def values(group, n):
        return [sign + (-400.0, 500.0)[group] for sign in (-1.0, 1.0)] * (n // 2) + [(-400.0, 500.0)[group]]

    sizes = np.bincount(labels)
    marker = cohort_of(sizes, {"marker": (1 - sizes % 2, values)}, {"marker": "gaussian"}).frame["marker"].to_numpy()
    # What the first does not know of a subject, the second does.
    frame["marker"], frame["second"] = marker, np.concatenate([marker[labels == group][::-1] for group in (0, 1)])
    described = [Feature(**{**vars(feature), "role": "describe"}) for feature in schema]
    markers = [Feature(name=name, likelihood="gaussian") for name in ("marker", "second")]
    return frame, FeatureSchema([*described, *markers]), labels


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_of_searches_with_the_same_rounded_counts_are_the_same(tmp_path, suffix, some):
    written = []
    for counts in ({}, *some([ROUNDED.others[place] for place in (-1, 0, 1)], few=1)):
        frame, schema, labels = with_markers(counts)
        model = quick_fit(frame, schema, n_clusters=2, n_jobs=1)
        np.testing.assert_array_equal(model.labels_, labels)
        path = tmp_path / f"report.{suffix}"
        reports.write_report(model, frame, path, **ROUNDED.options, generated=GENERATED, progress=False, overwrite=True)
        written.append(path.read_bytes())
    assert all(each == written[0] for each in written[1:])


# --- words, and what nobody listed ------------------------------------------------------------------------------------


def described_otherwise(counts):
    """The same cohort and schema, with other words of few subjects, and other conditions that hold of them."""
    frame, schema, _ = WITHHELD.of({})
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
    few([("html", None), ("xlsx", 5), ("docx", 5), ("xlsx", None), ("docx", None), ("csv", None)], 1),
)
def test_reports_and_tables_with_other_words_of_few_are_the_same(tmp_path, suffix, round_to, monkeypatch):
    monkeypatch.setattr(page, "as_svg", DRAWN)  # a figure has words, too
    written = []
    words = (("crack", "refused (HIV ward)", "jawohl", "n/a since the fire", "Smith"), tuple("vwxyz"))
    for said, ends in zip(words, ((31.5, 403), (-5, 999)), strict=True):
        frame, schema = described_otherwise({"words": said, "ends": ends})
        path = tmp_path / f"report.{suffix}"
        if suffix in ("xlsx", "html"):
            model = given(schema, WITHHELD.of({}).labels)
            write_report(model, frame, path, suppress=10, round_to=round_to, generated=GENERATED)
        else:
            comparisons = compare_subtypes(frame, WITHHELD.of({}).labels, schema)
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
        frame, schema, labels = WITHHELD.of({})
        model = given(schema, labels)
        path = write_report(model, frame, tmp_path / f"r.{suffix}", suppress=suppress, generated=GENERATED)
        assert ("0.7315" in everything_in(path)) == (suppress is None)


@pytest.mark.simulation
@pytest.mark.parametrize("suffix", few(["xlsx", "html", "json"], 1))
def test_reports_that_differ_in_withheld_associations_are_the_same(tmp_path, suffix):
    def with_p(p, test, grade):
        _, schema, labels = WITHHELD.of({})
        model = fitted(schema, labels)
        associations = associations_of(model)
        withheld = associations["feature"].isin(RARE)
        associations.loc[withheld, ["p", "statistic"]] = p
        associations.loc[withheld, "test"] = test
        associations.loc[withheld, "grade"] = grade
        associations["remark"] = pd.NA
        return report(tmp_path, suffix, WITHHELD, {}, lambda *_: model, associations=associations)

    assert with_p(0.9, "chi-squared", "not shown") == with_p(1e-9, "Fisher's exact", "differs")
