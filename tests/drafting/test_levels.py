"""The order of levels: texts that have one, texts that have none, and which of two counts as yes."""

import itertools

import pandas as pd
from scored import scored

from clinclust.drafting import draft_schema
from clinclust.drafting.kinds import order_of, ordered_pair

ORDERED = [
    ["none", "mild", "moderate", "severe"],
    ["Tis", "T1", "T2"],
    ["keine", "leicht", "mittel", "schwer"],
    ["aucune", "légère", "modérée", "sévère"],
    ["ninguno", "leve", "moderado", "grave"],
    ["None", "Some", "Freq"],
    ["Never", "Occas", "Regul", "Heavy"],
    ["nie", "selten", "manchmal", "oft", "immer"],
    ["poor", "fair", "good", "very good", "excellent"],
    ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    ["low", "normal", "high"],
    ["low risk", "medium risk", "high risk"],
    ["no symptoms", "mild", "moderate", "severe"],
    ["LT HIGH SCHOOL", "HIGH SCHOOL", "JUNIOR COLLEGE", "BACHELOR", "GRADUATE"],
    ["None", "Stupor", "Coma"],
    ["-", "+", "++", "+++"],
    ["0", "1+", "2+", "3+"],
    ["I", "II", "III", "IV"],
    ["0", "I", "II", "III", "IV"],
    ["Stage I", "Stage IIa", "Stage IIb", "Stage IV"],
    ["T1", "T1a", "T2", "T3", "T4"],
    ["1", "2", "3a", "3b", "4"],
    ["0 - none", "1 - some", "2 - much"],
    ["1_Good", "2_Fair", "3_Poor"],
    ["<30", "30-39", "40-49", ">=50"],
    ["under 18", "18 to 64", "65+"],
    ["18.5_to_24.9", "25_to_29.9", "30_or_more"],
    ["<5000", "5000-9999", "10000+"],
    ["Under 2,600", "2,600 to 5,200", "5,200 to 10,400", "Above 10,400"],
    ["1", "2", "3", "4", "more than 4"],
    ["LT 8 yrs", "8-12 yrs", "MT 12 yrs"],
    ["do not watch", "<1", "1", "2", "5+"],
    ["<1.000,50 EUR", "1.000,50 - 2.000 EUR", ">2.000 EUR"],
    ["1 cup", "2 cups", "3 cups"],
]
UNORDERED = [
    ["rigid", "tremor", "mixed"],
    ["A", "B", "AB", "O"],
    ["School 1", "School 2", "School 3"],
    ["A1", "B2", "C3"],
    ["HPV16", "HPV18", "HPV31"],
    ["Team I", "Team II", "Team III"],
    ["none", "None", "mild"],  # two spellings of one level tie
    ["mild", "often", "severe"],
    ["single", "married", "divorced"],
    ["left", "right", "both"],
    ["mild", "severe", "other"],
    ["home", "rehab", "died"],
    ["stable angina", "unstable angina", "infarction"],
    ["none", "hypertension", "cancer"],
    ["Protestant", "none", "others"],
    ["2 weeks", "6 months", "1 year"],  # their numbers alone do not order them
]
PAIRS = [
    ("no", "yes"),
    ("0_no", "1_yes"),
    ("2_no", "1_yes"),
    ("nein", "ja"),
    ("female", "male"),
    ("absent", "present"),
    ("alive", "dead"),
    ("not married", "married"),
    ("nonsmoker", "smoker"),
    ("None", "Modern"),
    ("<=60", ">60"),
    ("<6m", ">6m"),
    ("0-2", "3+"),
    ("poor", "good"),
    ("benign", "malignant"),
]


@scored(ORDERED)
def test_levels_that_have_an_order_are_ordered_whatever_order_they_come_in(levels):
    for shuffled in itertools.islice(itertools.permutations(levels), 0, None, 7):
        found = order_of(shuffled)
        assert found is not None
        assert [shuffled[place] for place in found] == levels


@scored(UNORDERED)
def test_levels_without_an_order_are_not_given_one(levels):
    assert order_of(levels) is None


@scored(PAIRS)
def test_the_second_of_two_levels_counts_as_yes(no, yes):
    assert ordered_pair([no, yes]) == ordered_pair([yes, no]) == [no, yes]


@scored([([8140, 8500, 8520, 8522], "categorical"), ([0, 5, 10, 20, 40], "ordinal"), ([81, 100, 160, 325], "gaussian")])
def test_few_whole_numbers_far_apart_are_codes_and_doses_are_none(values, likelihood):
    assert draft_schema(pd.DataFrame({"x": values * 40}))["x"].likelihood == likelihood
