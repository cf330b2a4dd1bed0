"""Texts that have an order, and texts that have none."""

import itertools

from scored import scored

from clinclust.drafting.orders import in_order

ORDERED = [
    ["none", "mild", "moderate", "severe"],
    ["No", "Mild", "Severe"],
    ["keine", "leicht", "mittel", "schwer"],
    ["aucune", "légère", "modérée", "sévère"],
    ["ninguno", "leve", "moderado", "grave"],
    ["never", "sometimes", "often"],
    ["nie", "selten", "manchmal", "oft", "immer"],
    ["jamais", "rarement", "parfois", "souvent", "toujours"],
    ["poor", "fair", "good", "very good", "excellent"],
    ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
    ["low", "normal", "high"],
    ["I", "II", "III", "IV"],
    ["0", "I", "II", "III", "IV"],
    ["Stage I", "Stage IIa", "Stage IIb", "Stage IV"],
    ["T1", "T1a", "T2", "T3", "T4"],
    ["grade 1", "grade 2", "grade 3"],
    ["1", "2", "3a", "3b", "4"],
    ["NYHA II", "NYHA III", "NYHA IV"],
    ["0 - none", "1 - some", "2 - much"],
    ["0: keine", "1: etwas", "2: viel"],
    ["1 (low)", "2 (middle)", "3 (top)"],
    ["-", "+", "++", "+++"],
    ["0", "1+", "2+", "3+"],
    ["negative", "trace", "1+", "2+"],
    ["<30", "30-39", "40-49", ">=50"],
    ["under 18", "18 to 64", "65+"],
    ["18-29", "30-44", "45-59", "60 and over"],
    ["<1.5", "1.5-2.5", ">2.5 mg"],
    ["underweight", "normal", "overweight", "obese"],
    ["none", "primary", "secondary", "university"],
    ["kaum", "etwas", "ziemlich", "sehr"],
    ["überhaupt nicht", "ein wenig", "mäßig", "stark", "sehr stark"],
    ["no symptoms", "mild symptoms", "moderate symptoms", "severe symptoms"],
    ["no symptoms", "mild", "moderate", "severe"],
    ["keine Beschwerden", "leicht", "mittel", "schwer"],
    ["remission", "low", "moderate", "high"],
    ["Remission", "niedrig", "mäßig", "hoch"],
    ["Remission", "niedrige Aktivität", "mäßige Aktivität", "hohe Aktivität"],
    ["rémission", "faible", "modérée", "élevée"],
    ["remisión", "baja", "moderada", "alta"],
    ["remissione", "bassa", "moderata", "alta"],
    ["0", "traces", "+", "++", "+++"],
    ["neg", "tr", "1+", "2+", "3+"],
    ["neg.", "Spur", "+", "++", "+++"],
    ["keine", "(+)", "+", "++"],
    ["ausente", "leve", "moderado", "grave"],
    ["A1", "A2", "A3"],
    ["T1a", "T1b", "T2", "T3"],
    ["G1", "G2", "G3"],
    ["I", "I-II", "II", "II-III", "III"],
    ["NYHA I", "NYHA I-II", "NYHA II", "NYHA II/III", "NYHA III"],
    ["1", "1-2", "2", "2-3", "3"],
    ["EF <40%", "EF 40-49%", "EF >=50%"],
    ["<40%", "40-49%", ">=50%"],
    ["<40", "40-59", "60+"],
    ["normal", "grenzwertig", "pathologisch"],
    ["gut", "mäßig", "schlecht differenziert"],
]
UNORDERED = [
    (["rigid", "tremor", "mixed"], "phenotype"),
    (["A", "B", "AB", "O"], "blood group"),
    (["School 1", "School 2", "School 3"], "school"),
    (["type 1", "type 2", "gestational"], "diabetes"),
    (["type 1", "type 2", "type 3"], "diabetes"),
    (["A1", "B2", "C3"], "code"),
    (["1", "2", "3"], "hospital"),
    (["L1", "L2", "L5"], "level"),
    (["HPV16", "HPV18", "HPV31"], "x"),
    (["Team I", "Team II", "Team III"], "x"),
    (["I", "II", "me"], "x"),
    (["none", "None", "mild"], "x"),  # two spellings of one level tie
    (["mild", "often", "severe"], "x"),
    (["2019-01", "2019-02", "2020-01"], "month"),
    (["no sabe", "leve", "grave"], "x"),  # who does not know has not less than a mild pain
    (["keine Angabe", "leicht", "schwer"], "x"),
    (["L1", "L1-L2", "L2"], "x"),
    (["I", "I-III", "II"], "x"),  # a range over several grades lies nowhere between
    (["1", "1/2", "2"], "x"),
    (["trace", "(+)", "+"], "x"),
    (["single", "married", "divorced"], "marital"),
    (["left", "right", "both"], "side"),
    (["A", "B", "C"], "group"),
    (["mild", "severe", "other"], "x"),
    (["no", "yes", "sometimes"], "x"),
    (["morning", "noon", "evening"], "x"),
    (["3+4", "4+3", "4+4"], "x"),
    (["home", "rehab", "died"], "discharge"),
    (["alcohol", "VHC", "VHB"], "cause"),
    (["assente", "secca", "produttiva"], "tosse"),
    (["A", "V", "P"], "x"),
    (["School 1", "School 2", "School 3"], "school"),
    (["dengue", "dengue com sinais de alarme", "zika"], "x"),
    (["stable angina", "unstable angina", "infarction"], "x"),
    (["none", "hypertension", "cancer"], "comorbidity"),
    (["knee", "thigh", "foot"], "site"),
    (["none", "bone", "muscle"], "metastases"),
    (["A", "B", "C"], "posición de la mano"),
]


@scored(ORDERED)
def test_levels_that_have_an_order_are_ordered_whatever_order_they_come_in(levels):
    for shuffled in itertools.islice(itertools.permutations(levels), 0, None, 7):
        found = in_order(list(shuffled), "x")
        assert found is not None
        assert found[0] == levels


@scored(UNORDERED)
def test_levels_without_an_order_are_not_given_one(levels, name):
    assert in_order(levels, name) is None
