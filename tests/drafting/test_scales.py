"""Totals of known instruments, counts by name, durations in two units, and what must not change a draft."""

import functools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.instruments import instrument_of
from clinclust.likelihoods import traits_of

rng = np.random.default_rng(11)
N = 300
LEVELS = {
    "pain": ["none", "mild", "moderate", "severe"],
    "stage": ["I", "IIA", "IIB", "III", "IV"],
    "grade": ["G1", "G2", "G3"],
    "risk": ["low risk", "intermediate risk", "high risk"],
    "alcohol": ["never", "monthly or less", "2-4 times a month", "daily"],
    "income": ["<10k", "10k-20k", "20k-40k", ">40k"],
    "drugs_today": ["0", "1", "2", "3+"],
    "Child": ["A", "B", "C"],
}
UNKNOWN = ["NK", "n.d.", "k.A.", "weiß nicht", "ne sait pas", "NS/NC", "not done", "refused", "prefer not to say"]
UNKNOWN += ["sconosciuto", "onbekend", "ignorado", "unknown", "not assessed"]


def drafted(cells, name="x"):
    frame = pd.DataFrame({name: cells})
    schema = draft_schema(frame)
    return schema[name], schema.comments[name], schema.validate(frame, warn=False).get(name)


def some(levels, n=N):
    draw = np.random.default_rng(list("".join(levels).encode()))  # other columns are drawn apart from this one
    return np.r_[levels, draw.choice(levels, n - len(levels))].astype(object)


@scored(LEVELS)
def test_a_scale_without_a_word_for_unknown_has_its_levels(name):
    assert drafted(some(LEVELS[name]), name)[0].levels == tuple(LEVELS[name])


@scored(LEVELS)
@scored(UNKNOWN)
def test_a_word_for_unknown_leaves_a_scale_a_scale_and_is_told(name, word):
    cells = some(LEVELS[name])
    cells[[5, 50, 150]] = word
    feature, comment, read = drafted(cells, name)
    assert traits_of(feature.likelihood).is_scale
    assert feature.levels == tuple(LEVELS[name])
    assert feature.missing_codes == (word,)
    assert repr(word) in comment
    assert read.isna().sum() == 3


@scored(UNKNOWN)
@scored([("no", "yes"), ("nein", "ja"), ("non", "oui"), ("No", "Si"), ("nee", "ja"), ("não", "sim")])
def test_a_word_for_unknown_leaves_yes_and_no_what_they_are(word, no, yes):
    cells = some((no, yes))
    cells[[5, 50, 150]] = word
    feature, comment, _ = drafted(cells, "lipodystrophy")
    assert (feature.likelihood, feature.levels, feature.missing_codes) == ("bernoulli", (no, yes), (word,))
    assert repr(word) in comment


def test_an_answer_that_may_be_one_is_kept():
    assert drafted(some(["F", "M", "X"]), "sex")[0].levels == ("F", "M", "X")
    assert drafted(some(["I", "II", "III", "other"]), "stage")[0].missing_codes == ()


def mixed_table():
    return pd.DataFrame(
        {
            **{name: some(levels) for name, levels in LEVELS.items()},
            "answer": rng.choice(["Yes", "yes", "YES", "no", "No", "unk"], N),
            "mmse": 30 - np.clip(rng.poisson(4, N), 0, 30),
            "falls": rng.poisson(1, N),
            "sleep_dur": [f"{h}h{m:02}" for h, m in zip(rng.integers(4, 9, N), rng.integers(0, 60, N), strict=True)],
            "crp": np.where(rng.random(N) < 0.2, "<5", np.round(rng.gamma(2, 9, N), 1).astype(str)),
            "city": rng.choice(["Lyon", "Bron", "Paris"], N),
        }
    )


@functools.cache
def draft_of_mixed():
    return draft_schema(MIXED)


@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_rows_does_not_change_a_draft(seed):
    frame = MIXED.iloc[np.random.default_rng(seed).permutation(N)].reset_index(drop=True)
    schema = draft_schema(frame)
    assert schema == draft_of_mixed()
    assert schema.comments == draft_of_mixed().comments


MIXED = mixed_table()


@scored([("MMSE", 0, 30), ("moca_baseline", 0, 30), ("NRS_Ruhe", 0, 10), ("phq9_total", 0, 27), ("GCS", 3, 15),
     ("mrs_90d", 0, 6), ("apgar5", 0, 10), ("CHA2DS2-VASc", 0, 9), ("WOMAC_raideur", 0, 8), ("sofa", 0, 24)],
)  # fmt: skip
def test_a_total_has_the_range_of_its_instrument(name, low, high):
    rng = np.random.default_rng(11)
    values = np.clip(rng.binomial(high - low, 0.4, 2000) + low, low, high - 1)  # the highest does not occur
    feature, comment, _ = drafted(values, name)
    assert traits_of(feature.likelihood).is_scale
    given_range = (0, feature.trials) if feature.trials is not None else (feature.minimum, feature.maximum)
    assert given_range == (low, high)
    assert "by the name of the column" in comment


def test_a_value_off_the_scale_of_an_instrument_is_told_and_kept():
    feature, comment, read = drafted(np.append(rng.integers(10, 31, N), 34), "mmse")
    assert "MMSE is a scale 0 to 30, but the column holds '34'" in comment
    assert "LOOK" in comment
    assert feature.likelihood is not None
    assert read.notna().all()


def test_a_column_that_only_shares_the_name_of_an_instrument_is_drafted_by_its_values():
    _, comment, _ = drafted(rng.normal(400, 50, N).round(), "das")
    assert "LOOK" not in comment
    assert "not on its scale" in comment


@scored(["phq9_3", "updrs3_1", "womac_12", "category", "cat_owner", "act_type", "mustard"])
def test_items_and_other_columns_are_no_totals(name):
    assert instrument_of(name) is None


@pytest.mark.parametrize("mark", [".", ","])
def test_half_steps_are_levels_whatever_their_decimal_mark(mark):
    cells = [f"{value:g}".replace(".", mark) for value in rng.integers(0, 18, N) / 2]
    feature, _, read = drafted(cells, "EDSS")
    assert feature.likelihood == "ordinal"
    assert len(feature.levels) == 21
    assert [level.replace(mark, ".") for level in feature.levels] == [f"{value:g}" for value in np.arange(21) / 2]
    assert read.notna().all()


def test_few_subjects_make_a_long_total_a_measurement_and_the_reason_says_so():
    feature, comment, _ = drafted(rng.binomial(40, rng.beta(4, 4, 60)), "CAT")
    assert feature.likelihood == "gaussian"
    assert "with 60 subjects its 41 levels" in comment


def test_postal_codes_are_not_measured():
    feature, comment, _ = drafted([f"{code:05}" for code in rng.integers(1000, 99_999, N)], "PLZ")
    assert feature.role == "ignore"
    assert "postal codes" in comment


@scored(
    [
        ("cp", rng.integers(1, 5, N)),
        ("zip", rng.integers(1, 5, N)),
        ("zip_code_area_visits", rng.poisson(40, N)),
        ("income_zip", rng.normal(52_000, 9_000, N).round()),
        ("share_insured_zip", rng.normal(60, 9, N).round(1)),
        ("people_zip", np.exp(rng.normal(8, 1.5, N)).round()),
    ],
)
def test_a_name_alone_makes_no_postal_codes(name, cells):
    feature, comment, _ = drafted(cells, name)
    assert feature.role == "cluster"
    assert "postal" not in comment


@scored(["{0}", "SW{1} {2}AB", "{0}-0{2}"])
def test_postal_codes_without_their_first_zero_and_those_with_letters_are_known(form):
    rng = np.random.default_rng(11)
    cells = [form.format(code, code % 19, code % 7) for code in rng.integers(1000, 99_999, N).tolist()]
    assert "postal code" in drafted(cells, "home_zip")[1]


@scored(
    [
        (lambda part, rest: f"{part}h{rest:02}", "sleep_dur", "hours", 60),
        (lambda part, rest: f"{part} h {rest} min", "x", "hours", 60),
        (lambda part, rest: f"{part}:{rest:02}", "OP_Dauer", "hours", 60),
        (lambda part, rest: f"{part + 20}+{rest}", "semanas", "weeks", 7),
        (lambda part, rest: f"{part + 20}w{rest}d", "ga", "weeks", 7),
        (lambda part, rest: f"{part} y {rest} m", "age", "years", 12),
        (lambda part, rest: f"{part} Jahre {rest} Mon.", "Alter", "years", 12),
        (lambda part, rest: f"{part} ans et {rest} mois", "durée", "years", 12),
    ],
)
def test_durations_in_two_units_are_read_and_told(write, name, unit, n):
    rng = np.random.default_rng(11)
    parts, rests = rng.integers(1, 15, N), rng.integers(0, n, N)
    feature, comment, read = drafted([write(*pair) for pair in zip(parts, rests, strict=True)], name)
    assert traits_of(feature.likelihood).is_continuous
    assert feature.unit == unit
    assert "LOOK" in comment
    shift = 20 if unit == "weeks" else 0
    np.testing.assert_allclose(read.to_numpy(dtype=float), parts + shift + rests / n, rtol=1e-3)


@scored(
    [
        (["22:30", "23:15", "21:00"], "bedtime"),
        (["3+4", "4+3", "4+4"], "gleason"),
        (["1+0", "2+1", "3+0"], "gravidity"),
    ],
)
def test_times_of_day_patterns_and_parities_are_no_durations(cells, name):
    feature, _, _ = drafted(cells * 50, name)
    assert feature.unit is None


def test_an_ordered_categorical_keeps_its_order_and_says_so():
    levels = ["rosso", "verde", "blu"]
    cells = pd.Series(pd.Categorical(some(levels), categories=levels, ordered=True))
    feature, comment, _ = drafted(cells)
    assert feature.levels == tuple(levels)
    assert traits_of(feature.likelihood).is_scale
    assert "if they have no order" in comment
    assert drafted(cells.astype(str))[0].likelihood == "categorical"
    assert drafted(cells, "region")[0].likelihood == "categorical"


@scored(["rigidity_left_arm", "turning_in_bed", "pd_state_during_exam", "speech", "posture"])
def test_items_of_severity_are_scales_whatever_their_shape(name):
    steps = np.minimum(np.random.default_rng(0).poisson(0.9, 400), 4)
    assert traits_of(drafted([str(step) for step in steps], name)[0].likelihood).is_scale


@scored(["arm", "study_arm", "treatment arm", "hospital", "site_id", "birth state", "ward nr"])
def test_codes_are_known_by_names_that_say_nothing_else(name):
    codes = np.random.default_rng(0).integers(1, 6, 300)
    assert drafted([str(code) for code in codes], name)[0].likelihood == "categorical"
