"""Laws of orders: what must not change the order that is found, and orders made by rule that must be found."""

import itertools
import random

from hypothesis import assume, given
from hypothesis import strategies as st
from scored import scored

from clinclust.drafting.orders import in_order
from clinclust.drafting.orders.vocabulary import ADVERBS, NEGATIONS, ORDERS
from clinclust.drafting.orders.words import stems_of

WORDED = [
    ["none", "mild", "moderate", "severe"],
    ["low", "intermediate", "high"],
    ["keine", "leichte", "mäßige", "starke"],
    ["gering", "mittel", "hoch"],
    ["aucune", "légère", "modérée", "importante"],
    ["ninguno", "leve", "moderado", "intenso"],
    ["pequeña", "mediana", "grande"],
    ["piccolo", "medio", "grande"],
    ["assente", "lieve", "moderato", "grave"],
    ["geen", "licht", "matig", "ernstig"],
    ["nenhuma", "leve", "moderada", "intensa"],
    ["nunca", "às vezes", "sempre"],
    ["never", "rarely", "sometimes", "often", "always"],
    ["very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"],
    ["very poor", "poor", "fair", "good", "very good"],
    ["mild", "mild to moderate", "moderate", "moderate to severe", "severe"],
    ["clear", "almost clear", "mild", "moderate", "severe"],
    ["pas du tout", "un peu", "moyennement", "beaucoup", "énormément"],
    ["schlecht", "mäßig", "gut"],
    ["autonome", "aide partielle", "dépendant"],
    ["mai", "talvolta", "spesso", "sempre"],
    ["nada", "pouco", "moderadamente", "muito", "extremamente"],
    ["not at all", "slightly", "moderately", "considerably", "extremely"],
    ["nulo", "escaso", "moderado", "abundante"],
    ["aucune", "modérée", "intensive", "excessive"],
    ["fehlend", "teilweise", "vorhanden"],
    ["éveillé", "somnolent", "stuporeux", "comateux"],
    ["pas du tout", "plutôt non", "plutôt oui", "tout à fait"],
    ["nessuna", "da sforzo", "a riposo"],
    ["none", "scanty", "moderate", "copious"],
]
OTHERS = [
    (["stark reduziert", "reduziert", "leicht reduziert", "gut"], "AZ"),
    (["none", "background", "pre-proliferative", "proliferative"], "retinopathy"),
    (["no pain", "mild pain", "severe pain"], "x"),
    (["sin dolor", "dolor leve", "dolor intenso"], "x"),
    (["not satisfied", "somewhat satisfied", "satisfied", "very satisfied"], "x"),
    (["never", "monthly or less", "2-4 times a month", "2-3 times a week", "4+ times a week"], "x"),
    (["nie", "1x pro Woche", "2-3x pro Woche", "täglich"], "x"),
    (["jamais", "1 fois par mois", "1 fois par semaine", "tous les jours"], "x"),
    (["nunca", "1 vez por semana", "2-3 vezes por semana", "todos os dias"], "x"),
    (["not in past year", "less than monthly", "monthly", "weekly"], "x"),
    (["<100 m", "100-500 m", "500-1000 m", ">1000 m", "illimité"], "x"),
    (["under $20,000", "$20,000-$39,999", "$40,000 or more"], "income"),
    (["0", "1", "2", "3+"], "x"),
    (["1 or 2", "3 or 4", "5 or 6", "7 to 9", "10 or more"], "drinks"),
    (["1 week", "3 months", "2 years"], "x"),
    (["no", "grado 1", "grado 2", "grado 3"], "x"),
    (["Tis", "T1", "T1a", "T2"], "pT"),
    (["A", "B", "C"], "Child"),
    (["Child A", "Child B", "Child C"], "x"),
    (["A1", "A2", "B1", "B2", "C1"], "CDC"),
    (["first", "second", "third"], "x"),
    (["jamais", "quelques jours", "souvent", "en permanence"], "x"),
    (["geen", "microscopisch", "macroscopisch"], "hematurie"),
    (["not true", "somewhat true", "certainly true"], "x"),
    (["veel verslechterd", "iets verslechterd", "onveranderd", "veel verbeterd", "zeer veel verbeterd"], "x"),
    (["Verlust", "schlecht", "eingeschränkt", "gut"], "x"),
    (["inapte", "apte avec restrictions", "apte"], "avis"),
    (["dengue", "dengue com sinais de alarme", "dengue grave"], "x"),
    (["assente", "intermittente lieve", "persistente lieve", "persistente moderata-grave"], "rinite"),
    (["superficial", "superficial partial", "deep partial", "full thickness"], "burn"),
    (["no", "menor", "mayor"], "x"),
    (["none", "GCSE", "A-level", "degree", "postgraduate"], "x"),
    (["normal", "mild loss", "moderate loss", "severe loss", "profound loss"], "hearing"),
    (["Year 1", "Year 2", "Year 10"], "School year"),
    (["A", "V", "P", "U"], "x"),
    (["A", "B", "C", "D"], "TASC"),
    (["paroxysmal", "persistent", "permanent"], "AF"),
    (["normal", "leicht gestört", "stark gestört", "nicht möglich"], "Gang"),
    (["annuelle", "mensuelle", "hebdomadaire", "quotidienne"], "x"),
    (["incontinent", "occasional", "continent"], "x"),
    (["desnutrido", "en riesgo", "bien nutrido"], "x"),
    (["no, no me limita nada", "sí, me limita un poco", "sí, me limita mucho"], "x"),
    (["normal", "osteopenia", "osteoporosis"], "x"),
    (["geen", "tot bil", "tot knie", "onder knie"], "x"),
    (["underweight", "normal", "overweight", "obese class I", "obese class II"], "x"),
]
words = st.text("bcdfghklmnpqrtvwxz", min_size=4, max_size=9)


def found(texts, name="x"):
    ordered = in_order(texts, name)
    return None if ordered is None else ordered[0]


@given(st.sampled_from([(levels, "x") for levels in WORDED] + OTHERS), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_how_the_levels_come(case, order):
    levels, name = case
    assert found(order.sample(levels, len(levels)), name) == levels


@given(st.sampled_from(WORDED), st.sampled_from([str.upper, str.title, str.casefold]))
def test_upper_and_lower_case_do_not_matter(levels, write):
    written = [write(level) for level in levels]
    assert found(random.Random(0).sample(written, len(written))) == written


@given(st.sampled_from(WORDED), words, words)
def test_words_that_all_levels_share_do_not_matter(levels, before, after):
    bare = {"none", "keine", "aucune", "ninguno", "assente", "geen", "nenhuma", "never", "nunca"}
    for write in (f"{before} {{}}", f"{{}} {after}", f"{before} {{}} {after}"):
        assert found([write.format(level) for level in levels[::-1]]) == [write.format(level) for level in levels]
        kept = [level if level in bare else write.format(level) for level in levels]
        assert found(kept[::-1]) == kept


@given(words)
def test_an_unknown_word_is_ordered_by_its_adverbs(word):
    assume(stems_of(word) not in [stems_of(each) for each in ("fast", "much")])
    for levels in (
        ["none", f"slightly {word}", f"moderately {word}", f"very {word}"],
        ["normal", f"leicht {word}", f"stark {word}"],
        [f"not {word}", f"a little {word}", word, f"extremely {word}"],
    ):
        assert found(levels[::-1]) == levels


@given(words, st.sampled_from(["with restrictions", "avec réserves", "con limitaciones"]))
def test_what_is_restricted_lies_between_a_word_and_its_denial(word, restricted):
    for denied in (f"not {word}", f"nicht {word}", f"un{word}"):
        levels = [denied, f"{word} {restricted}", word]
        assert found(levels[::-1]) == levels


@given(st.randoms(use_true_random=False))
def test_an_adverb_behind_another_leads_as_far_as_both(draw):
    levels = ["very slightly sore", "slightly sore", "sore", "very sore", "very strongly sore"]
    assert found(draw.sample(levels, len(levels))) == levels


@given(st.lists(st.integers(1, 999), min_size=2, max_size=8, unique=True), st.sampled_from(["", " years", " mg", "k"]))
def test_intervals_are_ordered_by_their_ends(cuts, unit):
    cuts = sorted(cuts)
    inner = [f"{low}-{high}{unit}" for low, high in itertools.pairwise(cuts)]
    for first, last in ((f"<{cuts[0]}{unit}", f">={cuts[-1]}{unit}"), (f"under {cuts[0]}{unit}", f"{cuts[-1]}{unit}+")):
        levels = [first, *inner, last]
        assert found(random.Random(1).sample(levels, len(levels))) == levels


@given(
    st.lists(st.integers(0, 12), min_size=3, max_size=8, unique=True), st.sampled_from(["{}+", "{} or more", ">={}"])
)
def test_the_last_of_numbered_levels_may_be_open(numbers, write):
    numbers = sorted(numbers)
    levels = [*map(str, numbers[:-1]), write.format(numbers[-1])]
    assert found(levels[::-1]) == levels


@scored([*ORDERS, ("adverbs", ADVERBS), ("negations", NEGATIONS)])
def test_no_phrase_of_one_order_has_two_ranks(name, phrases_of):
    ranks = {}
    for rank, phrases in phrases_of.items():
        for phrase in phrases.split(";"):
            assert ranks.setdefault(stems_of(phrase), rank) == rank, phrase


@scored(["a" * 80, "a " * 60 + "!", "1 " * 60, "1," * 60, "between " * 20, "5 " + "a" * 80 + "-"])
def test_no_text_keeps_the_search_for_an_order_busy(text):
    for other in ("b", "2-3", "<4", "grade 1"):
        found([text, f"{text} x", other])  # a pattern that tries every division of a text would not return
