"""What the figures draw is what the numbers say; every text of the data is drawn as it stands."""

from inspect import signature

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from cohorts import gaussian_schema
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import clinclust.plots
from clinclust import Feature, FeatureSchema, compare_subtypes
from clinclust.errors import shortened
from clinclust.methods import PublishedMAPDP
from clinclust.plots import plot_effects, plot_profile, plot_tree
from clinclust.reporting.compared import Compared
from clinclust.reporting.layout import HIGH, LOW

from .stand_in import fitted
from .test_page import contrast


@pytest.fixture
def frame(findings):
    return findings.cohort.table


def wide_case(K, N=120, D=1, missing=0.0):
    """A model and comparisons of K subtypes and D features."""
    rng = np.random.default_rng(K)
    labels = np.arange(N) % K
    schema = FeatureSchema([Feature(name=f"x{d}", likelihood="gaussian", label=f"Feature {d}") for d in range(D)])
    values = rng.normal(size=(N, D)) + labels[:, None] * rng.normal(size=D)
    values[rng.random(values.shape) < missing] = np.nan
    frame = pd.DataFrame(values, columns=schema.names)
    return fitted(schema, labels), compare_subtypes(schema.validate(frame, warn=False), labels, schema)


def all_figures(model, comparisons, names=None):
    return [
        plot_profile(model, comparisons, names=names),
        plot_effects(model, comparisons, names=names),
        plot_tree(model, names=names),
    ]


def row_labels(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


def column_labels(ax):
    return [tick.get_text() for tick in ax.get_xticklabels()]


def drawn_matrix(ax):
    """The numbers behind the colours, rows from the top, NaN where nothing is drawn."""
    return np.ma.filled(ax.collections[0].get_array(), np.nan)


def cell_texts(ax):
    """The text in each cell, as a matrix."""
    texts = np.full(drawn_matrix(ax).shape, "", dtype=object)
    for text in ax.texts:
        x, y = text.get_position()
        texts[int(y), int(x)] = text.get_text()
    return texts


# --- profile --------------------------------------------------------------------------------------------------------


def test_a_profile_draws_the_means_in_standard_deviations_of_all_subjects(model, frame, comparisons):
    ax = plot_profile(model, comparisons, at_most=100)
    titles, drawn = row_labels(ax), drawn_matrix(ax)
    for name in ("systolic", "falls"):
        values = model.schema_[name].scores(frame[name])
        place = titles.index(model.schema_[name].title)
        for label in range(3):
            expected = (np.nanmean(values[model.labels_ == label]) - np.nanmean(values)) / np.nanstd(values, ddof=1)
            assert drawn[place, label] == pytest.approx(expected, abs=1e-12)
    tremor = (frame["tremor"] == "yes").where(frame["tremor"].notna()).astype(float).to_numpy()
    expected = (np.nanmean(tremor[model.labels_ == 2]) - np.nanmean(tremor)) / np.nanstd(tremor, ddof=1)
    assert drawn[titles.index("Resting tremor (present and typical)"), 2] == pytest.approx(expected, abs=1e-12)
    assert {f"Motor phenotype: {level}" for level in ("tremor dominant", "rigid", "mixed")} <= set(titles)


def test_the_numbers_in_the_cells_are_those_of_the_colours(model, comparisons):
    ax = plot_profile(model, comparisons)
    for text, number in zip(cell_texts(ax).ravel(), drawn_matrix(ax).ravel(), strict=True):
        assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(number, abs=0.0501)
        assert not text.startswith(("-", "\N{MINUS SIGN}0.0"))
    mesh = ax.collections[0]
    blue, white, red = (mesh.to_rgba(value) for value in (1.5, 0.0, -1.5))
    assert blue[2] > blue[0]
    assert red[0] > red[2]
    assert min(white[:3]) > 0.9


def test_rows_are_ordered_by_relevance_and_the_rest_is_counted(model, comparisons):
    ax = plot_profile(model, comparisons, at_most=5)
    most = [model.schema_[name].title for name in model.feature_relevance_.index[:5]]
    clipped = [shortened(title, 44) for title in most]
    assert [label.split(":")[0].removesuffix(" ‡") for label in row_labels(ax)] == clipped
    assert "The 5 most relevant of 25 rows" in ax.get_xlabel()
    assert [heading.split("\n") for heading in column_labels(ax)] == [
        [f"Subtype {k + 1}", f"n = {size}"] for k, size in enumerate(model.cluster_sizes_)
    ]
    whole = plot_profile(model, comparisons, at_most=100)
    assert row_labels(whole)[-1] == "Probability of PD, as rated by a specialist † ‡"
    assert "† not clustered on" in whole.get_xlabel()
    assert "†" not in ax.get_xlabel()


def test_a_profile_leaves_out_what_most_subjects_lack_and_shows_what_medians_hide():
    labels = np.repeat([0, 1], 60)
    schema = gaussian_schema(("rare", "age"))
    schema = FeatureSchema([*schema, Feature(name="falls", likelihood="poisson")])
    place = np.arange(120)
    columns = {"rare": np.where(place % 5 < 2, place, np.nan), "age": place / 7}
    columns["falls"] = np.where(place % 60 < 20 * labels + 5, 9, 0)  # the median of both is 0
    frame = schema.validate(pd.DataFrame(columns), warn=False)
    model, comparisons = fitted(schema, labels), compare_subtypes(frame, labels, schema)
    ax = plot_profile(model, comparisons)
    assert set(row_labels(ax)) == {"age", "falls"}
    assert "1 more: too few subjects with a value" in ax.get_xlabel()
    assert abs(drawn_matrix(ax)[row_labels(ax).index("falls")]).min() > 0.2


def test_text_in_a_cell_stands_out_from_its_colour(model, comparisons):
    ax = plot_profile(model, comparisons)
    for text, number in zip(ax.texts, drawn_matrix(ax).ravel(), strict=True):
        assert contrast(text.get_color(), ax.collections[0].to_rgba(number)) >= 4.5


def test_the_ends_of_the_scale_have_the_colours_of_the_report(model, comparisons):
    colours = plot_profile(model, comparisons).collections[0].get_cmap()
    assert [to_hex(colours(place)).upper().lstrip("#") for place in (0.0, 1.0)] == [LOW, HIGH]


MEASURED = ("mean", "sd", "median", "q1", "q3", "count", "percent")


def withhold(comparisons, feature, subtype):
    """Comparisons in which the numbers of a feature in a subtype are withheld."""
    hidden = comparisons.copy()
    rows = (hidden["feature"] == feature) & (hidden["subtype"] == subtype) & hidden["kind"].isin(["summary", "effect"])
    for name in ("n", "missing", *MEASURED, "estimate", "lower", "upper"):
        hidden.loc[rows, name] = pd.NA if str(hidden[name].dtype) == "Int64" else np.nan
    hidden.loc[rows, "suppressed"] = True
    return hidden


def test_withheld_numbers_are_hatched_and_said_to_be(model, comparisons):
    hidden = withhold(comparisons, "systolic", 2)
    ax = plot_profile(model, hidden, at_most=100)
    row = row_labels(ax).index("Systolic blood pressure")
    column = [heading.startswith("Subtype 2") for heading in column_labels(ax)].index(True)
    assert np.isnan(drawn_matrix(ax)[row, column])
    assert np.isnan(drawn_matrix(ax)).sum() == 1
    assert cell_texts(ax)[row, column] == "[c]"
    patches = [patch for patch in ax.patches if isinstance(patch, Rectangle) and patch.get_hatch()]
    assert [(patch.get_x(), patch.get_y()) for patch in patches] == [(column, row)]
    assert "[c] withheld: few subjects" in ax.get_xlabel()


def test_a_size_that_is_withheld_everywhere_is_not_drawn(model, comparisons):
    hidden = comparisons
    for feature in comparisons["feature"].unique():
        hidden = withhold(hidden, feature, 3)
    assert column_labels(plot_profile(model, hidden))[2] == "Subtype 3\nn = [c]"
    assert Compared(hidden).sizes[3] is None
    assert np.isnan(drawn_matrix(plot_profile(model, hidden))[:, 2]).all()


# --- effects --------------------------------------------------------------------------------------------------------


def points_and_intervals(panel):
    """By row: estimate, lower, upper, filled."""
    points = {}
    for line in panel.lines:
        if line.get_marker() == "o":
            (x,), (y,) = line.get_data()
            points[y] = [x, line.get_markerfacecolor() != "none"]
    for collection in panel.collections:
        ((lower, y), (upper, _)) = collection.get_segments()[0]
        points[y] += [lower, upper]
    return points


def assert_effects_drawn(ax, effects, sign=1.0):
    titles = row_labels(ax)
    for panel, (_, of_subtype) in zip(ax.child_axes, effects, strict=True):
        by_title = {
            shortened(
                f"{row['label']}: {row['level']}" if row["likelihood"] == "categorical" else row["label"], 44
            ): row
            for row in of_subtype.to_dict("records")
        }
        drawn = points_and_intervals(panel)
        finite = 0
        for place, title in enumerate(titles):
            row = by_title[title.removesuffix(" †")]
            if not np.isfinite(row["estimate"]):
                assert place not in drawn
                continue
            finite += 1
            estimate, filled, lower, upper = drawn[place]
            assert estimate == sign * row["estimate"]
            assert (lower, upper) == tuple(sorted((sign * row["lower"], sign * row["upper"])))
            assert filled == (lower > 0 or upper < 0)
        assert finite == len(drawn) > 10


def test_effects_against_the_largest_subtype_are_those_of_the_pairs_turned_round(model, comparisons):
    pairs = comparisons[(comparisons["kind"] == "effect") & (comparisons["versus"] != 0)]
    ax = plot_effects(model, pd.concat([comparisons.query("kind == 'summary'"), pairs]))
    assert "from Subtype 1, with 95% intervals" in ax.get_title(loc="left")
    assert [panel.get_title() for panel in ax.child_axes] == ["Subtype 2", "Subtype 3"]
    of_measure = pairs[(pairs["measure"] == "standardised_difference") & (pairs["subtype"] == 1)]
    assert_effects_drawn(ax, list(of_measure.groupby("versus")), sign=-1.0)


def against_all_others(comparisons, measure="standardised_difference"):
    """Comparisons whose only effects are of each subtype against all other subjects."""
    pairs = comparisons[(comparisons["kind"] == "effect") & (comparisons["measure"] == "standardised_difference")]
    pairs = pairs[(pairs["versus"] != 0) & (pairs["subtype"] == 1)]
    first, second = pairs[pairs["versus"] == 2], pairs[pairs["versus"] == 3]
    rows = [first.assign(subtype=1, versus=0), second.assign(subtype=2, versus=0), first.assign(subtype=3, versus=0)]
    return pd.concat([comparisons[comparisons["kind"] != "effect"], *(row.assign(measure=measure) for row in rows)])


def test_effects_against_all_other_subjects_are_drawn_where_there_are_any(model, comparisons):
    others = against_all_others(comparisons)
    ax = plot_effects(model, others, names={2: "Tremor dominant"})
    assert "from all other subjects" in ax.get_title(loc="left")
    assert [panel.get_title() for panel in ax.child_axes] == ["Subtype 1", "Tremor dominant", "Subtype 3"]
    assert_effects_drawn(ax, list(others[others["kind"] == "effect"].groupby("subtype")))
    named = plot_effects(model, against_all_others(comparisons, "probability_of_superiority"))
    assert named.get_title(loc="left").startswith("Probability of superiority from all")


def test_effects_that_are_withheld_infinite_or_beyond_the_axis(model, comparisons):
    others = against_all_others(comparisons).reset_index(drop=True)
    effect = (others["kind"] == "effect") & (others["subtype"] == 1)
    others.loc[effect & (others["feature"] == "crp"), ["estimate", "lower", "upper"]] = np.nan
    others.loc[effect & (others["feature"] == "crp"), "suppressed"] = True
    others.loc[effect & (others["feature"] == "face"), ["estimate", "lower", "upper"]] = [-np.inf, np.nan, np.nan]
    others.loc[effect & (others["feature"] == "years"), "upper"] = 1e6
    others.loc[effect & (others["feature"] == "visits"), ["lower", "upper"]] = np.nan
    ax = plot_effects(model, others, at_most=100)
    panel, titles = ax.child_axes[0], row_labels(ax)
    place = titles.index("C-reactive protein")
    assert [text.get_text() for text in panel.texts if text.get_position()[1] == place] == ["[c]"]
    arrows = {line.get_ydata()[0]: line for line in panel.lines if line.get_marker() in "<>"}
    assert {titles[row] for row in arrows} == {"Facial expression", "Time since onset"}
    low, high = panel.get_xlim()
    assert arrows[titles.index("Facial expression")].get_xdata()[0] == low
    assert arrows[titles.index("Time since onset")].get_xdata()[0] == high < 10
    assert "[c] withheld" in ax.get_xlabel()
    assert "Arrow: infinite" in ax.get_xlabel()


def test_effects_that_there_are_not(model, comparisons):
    none = plot_effects(model, comparisons[comparisons["kind"] != "effect"])
    assert [text.get_text() for text in none.texts] == ["No two groups were compared"]


# --- for every figure -------------------------------------------------------------------------------------------------


@pytest.mark.simulation
@pytest.mark.parametrize(("K", "D", "missing"), [(1, 1, 0.0), (12, 215, 0.2), (9, 30, 0.2), (2, 3, 1.0)])
def test_any_number_of_subtypes_and_features_fits_on_the_figure(K, D, missing):
    model, comparisons = wide_case(K, D=D, missing=missing)
    for ax in all_figures(model, comparisons):
        figure = ax.figure
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert box.x0 > -0.01
        assert box.y0 > -0.01
        assert box.x1 < width + 0.01
        assert box.y1 < height + 0.01


def test_every_figure_takes_its_arguments_in_one_order():
    last = ["names", "at_most", "ax"]
    for name in clinclust.plots.__all__:
        drawn, options = [], []
        for parameter in signature(getattr(clinclust.plots, name)).parameters.values():
            (drawn if parameter.default is parameter.empty else options).append(parameter.name)
            assert (parameter.kind is parameter.KEYWORD_ONLY) == (parameter.default is not parameter.empty)
        one_result = len(drawn) == 1 and drawn[0] in ("model", "curves")
        assert one_result or drawn in (["model", "comparisons"], ["model", "frame"])
        assert options == [*(one for one in options if one not in last), *(one for one in last if one in options)]


def test_given_axes_are_drawn_on_and_no_pyplot_is_used(model, comparisons):
    draws = [
        lambda ax: plot_profile(model, comparisons, ax=ax),
        lambda ax: plot_effects(model, comparisons, ax=ax),
        lambda ax: plot_tree(model, ax=ax),
    ]
    for draw in draws:
        ax = Figure().add_subplot()
        assert draw(ax) is ax
    assert mpl._pylab_helpers.Gcf.get_num_fig_managers() == 0


def test_words_of_the_data_are_not_read_as_mathematics(model, comparisons):
    odd = "Cost in $ per $x_{1}$ \\alpha ^2\nand\tmore \u202e"
    plain = "Cost in $ per $x_{1}$ \\alpha ^2 and more \ufffd"
    schema = model.schema_
    renamed = FeatureSchema([f.model_copy(update={"label": odd}) for f in schema], title=schema.title)
    model = fitted(renamed, model.labels_)
    comparisons = comparisons.assign(label=odd)
    names = {1: "$\\frac{1}{2}$", 2: "_hidden", 3: "a $ b"}
    with mpl.rc_context({"text.usetex": True}):
        axes = all_figures(model, comparisons, names)
    for ax in axes:
        found = [text for text in ax.findobj(mpl.text.Text) if "$" in text.get_text() or "_" in text.get_text()]
        assert found
        for text in found:
            assert not text.get_parse_math()
            assert not text.get_usetex()
    assert set(row_labels(axes[1])) <= {plain, f"{plain} †"} | {label for label in row_labels(axes[1]) if ":" in label}
    panels = [panel.get_title() for panel in axes[1].child_axes]
    assert panels[0] in ("$\\frac{1}{2}$", "_hidden")
    assert column_labels(axes[0])[1].startswith("_hidden\n")


def test_long_words_are_shortened_not_cut():
    assert shortened("short", 10) == "short"
    assert shortened("a" * 11, 10) == "a" * 9 + "…"
    assert shortened("one two  three", 9) == "one two…"
    assert shortened("x" * 100_000, 5) == "xxxx…"
    assert shortened("病" * 5, 10) == "病" * 5
    assert shortened("病" * 6, 10) == "病" * 4 + "…"
    assert shortened("a\nb\x00c", 10) == "a b␀c"


def test_what_cannot_be_drawn_is_refused_in_words(model, comparisons):
    with pytest.raises(ValueError, match="the model is not fitted"):
        plot_tree(PublishedMAPDP())
    with pytest.raises(ValueError, match="the model is not fitted"):
        plot_profile(PublishedMAPDP(), comparisons)
    with pytest.raises(ValueError, match="names has 7, but the subtypes are 1, 2, 3"):
        plot_profile(model, comparisons, names={7: "x"})
    with pytest.raises(ValueError, match="must be what compare_subtypes returns"):
        plot_profile(model, pd.DataFrame({"a": [1]}))
    other, _ = wide_case(3)
    with pytest.raises(ValueError, match="nothing about x0, which the model was fitted on"):
        plot_profile(other, comparisons)
