""""""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from schema_strategies import messy_frames
from scipy import integrate, stats
from scored import scored

from clinclust import SchemaError
from clinclust.drafting import draft, draft_schema
from clinclust.drafting.column import Proposal
from clinclust.errors import CohortError, CohortWarning, InputError
from clinclust.files.text_table import ColumnNotes, add_notes
from clinclust.likelihoods import REGISTRY
from clinclust.roles import REASONS
from clinclust.schema import Feature, FeatureSchema

# ruff: noqa: E501 - tables of cases read best with one case a line


N = 400
rng = np.random.default_rng(1)
COLUMNS = {
    "patient_id": ([f"P{row:03}" for row in range(N)], {"role": "id"}),
    "row": (range(1, N + 1), {"role": "id"}),
    "sex": (rng.choice(["male", "female"], N), {"likelihood": "bernoulli", "levels": ("female", "male")}),
    "tremor": (rng.choice(["Yes", "No"], N), {"likelihood": "bernoulli", "levels": ("No", "Yes")}),
    "smoker": (rng.integers(0, 2, N), {"likelihood": "bernoulli", "levels": None}),
    "sex_code": (rng.integers(1, 3, N), {"likelihood": "bernoulli", "levels": ("1", "2")}),
    "flag": (rng.random(N) < 0.3, {"likelihood": "bernoulli", "levels": ("False", "True")}),
    "thin_scale": (rng.binomial(4, 0.4, N), {"likelihood": "binomial", "trials": 4}),
    "real_scale": (rng.choice(5, N, p=[0.4, 0.1, 0.1, 0.1, 0.3]), {"likelihood": "ordinal"}),
    "from_one": (1 + rng.binomial(6, 0.5, N), {"likelihood": "binomial", "levels": tuple("1234567")}),
    "half_steps": (rng.choice([1, 1.5, 2, 2.5], N), {"likelihood": "ordinal"}),
    "falls": (rng.poisson(2, N), {"likelihood": "poisson"}),
    "attacks": (rng.geometric(0.25, N) - 1, {"likelihood": "geometric"}),
    "years": (rng.exponential(5, N), {"likelihood": "exponential"}),
    "crp": (np.exp(rng.normal(size=N)), {"likelihood": "gaussian", "transform": "log"}),
    "pressure": (rng.normal(120, 15, N).round(1), {"likelihood": "gaussian", "transform": None}),
    "change": (rng.normal(0, 1, N), {"likelihood": "gaussian", "transform": None}),
    "severity": (rng.choice(["mild", "severe", "moderate"], N, p=[0.5, 0.4, 0.1]), {"levels": ("mild", "moderate", "severe")}),
    "phenotype": (rng.choice(["rigid", "mixed", "other"], N), {"likelihood": "categorical"}),
    "born": (pd.date_range("1950-01-01", periods=N).strftime("%Y-%m-%d"), {"role": "time"}),
    "seen": (pd.date_range("1950-01-01", periods=N), {"role": "time"}),
    "note": ([f"seen in clinic, remark number {row}" for row in range(N)], {"role": "ignore"}),
    "constant": (["a"] * N, {"role": "ignore"}),
    "empty": ([""] * N, {"role": "ignore"}),
    "comma": (rng.choice(["1,5", "2,25", "3", "4,5", "-7,125"], N), {"likelihood": "gaussian", "decimal": ","}),
}  # fmt: skip
FRAME = pd.DataFrame({name: cells for name, (cells, _) in COLUMNS.items()})


@scored(COLUMNS)
@scored([False, True])
def test_a_column_is_drafted_as_what_it_is(name, as_text):
    frame = FRAME[[name]].astype(str) if as_text else FRAME[[name]]
    schema = draft_schema(frame)
    for field, value in COLUMNS[name][1].items():
        assert getattr(schema[name], field) == value
    assert schema.comments[name]
    if as_text and schema[name].likelihood is not None:
        assert schema[name].likelihood == draft_schema(FRAME[[name]])[name].likelihood


def test_levels_are_written_as_the_table_writes_them():
    typed = draft_schema(FRAME[["half_steps"]])["half_steps"]
    text = draft_schema(FRAME[["half_steps"]].astype(str))["half_steps"]
    assert (typed.levels, text.levels) == (("1", "1.5", "2", "2.5"), ("1.0", "1.5", "2.0", "2.5"))


def test_features_stand_in_the_order_of_the_table_and_reasons_say_what_was_seen():
    schema = draft_schema(FRAME)
    assert schema.names == list(FRAME.columns)
    assert schema.comments["real_scale"] == "5 steps of a scale"
    assert schema.comments["crp"] == "a measurement, right-skewed, gaussian on the log scale"
    assert schema.comments["pressure"] == "a measurement, gaussian"
    assert "'male' counts as yes" in schema.comments["sex"]


def test_what_may_be_of_another_kind_says_how_probable_it_is_and_what_else_it_could_be():
    """Among few values from 0 on, counts and the steps of a scale look alike."""
    cells = [0] * 40 + [1] * 40 + [2] * 22 + [3] * 8 + [4] * 4 + [5] * 2
    comment = draft_schema(pd.DataFrame({"x": cells})).comments["x"]
    first, look = comment.splitlines()
    assert 0.3 < float(first.rpartition("probability ")[2]) < 0.8
    assert look.startswith("LOOK: otherwise likelihood: ")


@given(messy_frames())
def test_a_draft_validates_its_own_table_and_survives_yaml(frame):
    before = frame.copy(deep=True)
    schema = draft_schema(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CohortWarning)
        schema.validate(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert sorted(schema.names) == sorted(frame.columns)
    assert set(schema.comments) == set(frame.columns)
    assert not any("a fault of clinclust" in comment for comment in schema.comments.values())
    assert FeatureSchema.from_yaml(schema.to_yaml()) == schema


def _raise(column):
    raise KeyError(column.name)


@pytest.mark.parametrize(
    "faulty",
    [
        _raise,
        lambda column: Proposal({"likelihood": "gaussian", "levels": ["a"]}),
        lambda column: Proposal({"likelihood": "gaussian"}),
    ],
)
def test_a_fault_of_the_draft_in_one_column_costs_no_other(monkeypatch, faulty):
    """A fault is planted for one column: the others are drafted as without it."""
    sound, table = draft.proposed, FRAME[["tremor", "crp", "severity"]]

    def planted(column, **options):
        return faulty(column) if column.name == "severity" else sound(column, **options)

    expected = draft_schema(table, progress=False)
    monkeypatch.setattr(draft, "proposed", planted)
    schema = draft_schema(table, progress=False)
    assert (schema["tremor"], schema["crp"]) == (expected["tremor"], expected["crp"])
    schema.validate(table)
    assert schema["severity"].role == "ignore"
    assert "LOOK: no better draft of this column was found" in schema.comments["severity"]


@given(messy_frames())
def test_a_draft_that_fails_in_all_columns_is_valid(frame):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(draft, "proposed", lambda column, **_: _raise(column))
        schema = draft_schema(frame, progress=False)
    schema.validate(frame, warn=False)
    assert {feature.likelihood for feature in schema} <= {"categorical", None}


@scored(
    [
        (pd.DataFrame(), "at least one row"),
        (pd.DataFrame(index=range(3)), "at least one column"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "one column of this name"),
        (pd.DataFrame([[1, 2]], columns=[1, 5]), "a column name that is text"),
        (pd.DataFrame([[1]], columns=[" "]), "a column name that is text"),
    ]
)
def test_a_table_that_no_schema_can_describe_is_a_cohort_error(frame, words):
    with pytest.raises(CohortError, match=words):
        draft_schema(frame)


def test_a_table_of_too_many_columns_is_refused_at_once():
    frame = pd.DataFrame(np.zeros((2, 5_001), dtype=int), columns=[f"g{place}" for place in range(5_001)])
    with pytest.raises(InputError, match=r"the table has 5,001 columns, and at most 5,000 .*: keep those"):
        draft_schema(frame)


def test_anything_but_a_frame_is_a_type_error():
    with pytest.raises(TypeError, match="frame must be a table of pandas, polars or pyarrow"):
        draft_schema([[1]])


def log_integral(density, low, high, **options):
    return np.log(integrate.quad(density, low, high, **options)[0])


def evidence(name, values, **fields):
    """Return what a draft compares: the log marginal of all values under the weak prior."""
    return REGISTRY[name].of(Feature(name="x", likelihood=name, **fields)).evidence(values)


def test_log_marginals_are_the_integrals_that_they_stand_for():
    x = np.array([0.0, 2, 1, 5])
    scale = lambda p: np.prod(stats.binom.pmf(x, 5, p))  # noqa: E731
    assert evidence("binomial", x, trials=5) == pytest.approx(log_integral(scale, 0, 1))
    first = lambda p: np.prod(stats.geom.pmf(x + 1, p))  # noqa: E731
    assert evidence("geometric", x) == pytest.approx(log_integral(first, 0, 1))
    prior = stats.gamma(1, scale=x.mean())
    count = lambda rate: np.prod(stats.poisson.pmf(x, rate)) * prior.pdf(rate)  # noqa: E731
    assert evidence("poisson", x) == pytest.approx(log_integral(count, 0, 50))
    prior_rate = stats.gamma(1, scale=1 / x.mean())
    wait = lambda rate: np.prod(stats.expon.pdf(x, scale=1 / rate)) * prior_rate.pdf(rate)  # noqa: E731
    assert evidence("exponential", x) == pytest.approx(log_integral(wait, 1e-9, 50))


@pytest.mark.parametrize("slip", [7000.0, -7000.0])
def test_one_slip_of_the_pen_does_not_decide_how_a_measurement_is_modelled(slip):
    rng = np.random.default_rng(0)
    weight = rng.normal(70, 10, 300).round(1)
    weight[5] = slip
    feature = draft_schema(pd.DataFrame({"weight": weight}))["weight"]
    assert (feature.likelihood, feature.transform) == ("gaussian", None)


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_share_of_zeros_is_a_part_of_the_feature(share):
    rng = np.random.default_rng(0)
    years = np.where(rng.random(300) < share, 0, rng.gamma(4, 8, 300).round())
    feature = draft_schema(pd.DataFrame({"pack_years": years}))["pack_years"]
    assert (feature.likelihood, feature.spike) == ("gaussian", (0.0,))


def test_ties_of_computed_values_are_no_point_mass():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 60, 200)
    for values in ((scores - scores.mean()) / scores.std(), rng.integers(0, 5, (200, 6)).mean(axis=1)):
        assert draft_schema(pd.DataFrame({"x": values}))["x"].spike == ()


def test_large_numbers_with_a_small_spread_are_gaussian():
    values = np.random.default_rng(0).normal(1e9, 1e7, 300)
    assert draft_schema(pd.DataFrame({"x": values}))["x"].likelihood == "gaussian"


N_SUBJECTS = 120
RNG = np.random.default_rng(0)
COHORT = pd.DataFrame(
    {
        "case": [f"c{row}" for row in range(N_SUBJECTS)],
        "crp": RNG.normal(5, 1, N_SUBJECTS).round(2),
        "hb": RNG.normal(13, 1, N_SUBJECTS).round(2),
        "death": RNG.choice(["no", "yes"], N_SUBJECTS),
        "centre": RNG.choice(["A", "B", "C"], N_SUBJECTS),
        "seen": [f"2024-02-{row % 28 + 1:02}" for row in range(N_SUBJECTS)],
        "comment": [f"remark {row} of the ward" for row in range(N_SUBJECTS)],
    }
)

DRAFTED = draft_schema(COHORT, progress=False)


@pytest.mark.parametrize("role", ["cluster", "describe", "ignore", *REASONS])
@pytest.mark.parametrize("name", ["crp", "death", "centre"])
def test_a_role_is_kept_and_the_table_is_valid(name, role):
    schema = draft_schema(COHORT, roles={name: role}, progress=False)
    assert schema[name].role == role
    assert schema[name].likelihood is not None
    assert "`role: " not in schema.comments[name]
    schema.validate(COHORT, warn=False)


@pytest.mark.parametrize("roles", [{}, {"death": "cluster"}])
def test_roles_change_nothing_of_other_columns(roles):
    changed = draft_schema(COHORT, roles=roles, progress=False)
    for name in set(COHORT) - set(roles):
        assert (changed[name], changed.comments[name]) == (DRAFTED[name], DRAFTED.comments[name])


def test_a_column_is_used_for_its_values_though_its_file_leaves_it_out():
    table = COHORT[["crp", "hb", "death"]].copy()
    add_notes(table, {"death": ColumnNotes(label="Vital status", role="ignore", kind="text")})
    assert draft_schema(table, progress=False)["death"].likelihood is None
    schema = draft_schema(table, roles={"death": "cluster"}, progress=False)
    assert (schema["death"].levels, schema["death"].label) == (("no", "yes"), "Vital status")
    assert schema.comments["death"].startswith("drafted by its values; ")


def test_a_column_is_used_for_its_values_though_its_name_leaves_it_out():
    assert DRAFTED["seen"].likelihood is None
    seen = draft_schema(COHORT, roles={"seen": "cluster"}, progress=False)["seen"]
    assert (seen.role, len(seen.levels)) == ("cluster", 28)


def test_everything_wrong_is_said_before_anything_is_drafted():
    with pytest.raises(SchemaError) as found:
        draft_schema(COHORT, roles={"crpp": "cluster", "hb": "clustre"}, progress=False)
    assert [problem.partition(":")[0] for problem in found.value.problems] == ["crpp", "hb"]
    with pytest.raises(SchemaError) as found:
        draft_schema(COHORT, roles={"case": "cluster", "comment": "describe"}, progress=False)
    assert [problem.partition(":")[0] for problem in found.value.problems] == ["case", "comment"]


def test_a_table_whose_rows_are_measurements_is_to_be_turned():
    frame = pd.DataFrame(np.random.default_rng(0).normal(9, 2, (30, 40)), columns=[f"P{k}" for k in range(40)])
    frame.insert(0, "analyte", [f"{chr(97 + k % 26)}{k}" for k in range(30)])
    with pytest.warns(CohortWarning, match=r"ROWS ARE NOT PATIENTS.*set_index\('analyte'\)"):
        draft_schema(frame)
