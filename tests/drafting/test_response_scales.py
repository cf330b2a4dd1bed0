"""The response scales of common questionnaires: each gets its order, either way round, or none; never a wrong one."""

from __future__ import annotations

import random

from scored import scored

from clinclust.drafting.orders import in_order
from clinclust.drafting.orders.words import level_in_doubt

ORDERED = """
en KCCQ limited: Not at all limited; Slightly limited; Moderately limited; Quite a bit limited; Extremely limited
en KCCQ short: Not at all; Slightly; Moderately; Quite a bit; Extremely
en KCCQ mixed: Extremely; Quite a bit; Moderately; Slightly; Not at all limited
en KCCQ bother: Not at all bothersome; Slightly bothersome; Quite a bit bothersome; Extremely bothersome
en FACIT: Not at all; A little bit; Somewhat; Quite a bit; Very much
en SF36 health: Poor; Fair; Good; Very good; Excellent
en SF36 pain: None; Very mild; Mild; Moderate; Severe; Very severe
en SF36 limit: Not at all; Slightly; Moderately; Quite a bit; Extremely
en SF36 lim3: No, not limited at all; Yes, limited a little; Yes, limited a lot
en SF36 time: None of the time; A little of the time; Some of the time; Most of the time; All of the time
en SF36 change: Much worse; Somewhat worse; About the same; Somewhat better; Much better
en PHQ: Not at all; Several days; More than half the days; Nearly every day
en EQ5D: No problems; Slight problems; Moderate problems; Severe problems; Unable
en EQ5D anx: not anxious; slightly anxious; moderately anxious; severely anxious; extremely anxious
en Likert: Strongly disagree; Disagree; Neither agree nor disagree; Agree; Strongly agree
en Likert6: Strongly disagree; Disagree; Slightly disagree; Slightly agree; Agree; Strongly agree
en Likert7: Strongly disagree; Disagree; Somewhat disagree; Neutral; Somewhat agree; Agree; Strongly agree
en WHODAS: None; Mild; Moderate; Severe; Extreme or cannot do
en EORTC: Not at all; A little; Quite a bit; Very much
en HADS: Not at all; Occasionally; A lot of the time; Most of the time
en PROMIS: Never; Rarely; Sometimes; Often; Always
en PROMIS diff: Without any difficulty; With a little difficulty; With some difficulty; Unable to do
en PROMIS amt: Not at all; A little bit; Somewhat; Quite a bit; Very much
en DLQI: Not at all; A little; A lot; Very much
en WOMAC: None; Mild; Moderate; Severe; Extreme
en ISI: None; Mild; Moderate; Severe; Very severe
en selfrated: Very bad; Bad; Fair; Good; Very good
en educ: primary school; secondary school; college; university
en educ2: none; primary; secondary; tertiary
en educ3: Less than high school; High school; Some college; Bachelor; Master
en smoke: never; former; current
en NRS: no pain; mild pain; moderate pain; severe pain; worst possible pain
en QOL: very poor; poor; neither poor nor good; good; very good
en satisf: very dissatisfied; dissatisfied; neither satisfied nor dissatisfied; satisfied; very satisfied
en some: none; some; moderate; a lot
en fairly: not at all; a little; fairly; very
en fairly bad: very bad; fairly bad; fairly good; very good
en never4: never; sometimes; often; always
en never4b: never; almost never; sometimes; fairly often; very often
en occ: never; rarely; occasionally; frequently; always
de EORTC: überhaupt nicht; wenig; mäßig; sehr
de SF36: schlecht; weniger gut; gut; sehr gut; ausgezeichnet
de SF36 pain: keine; sehr leicht; leicht; mäßig; stark; sehr stark
de SF36 lim: überhaupt nicht; etwas; mäßig; ziemlich; sehr
de SF36 time: nie; selten; manchmal; ziemlich oft; meistens; immer
de PHQ: überhaupt nicht; an einzelnen Tagen; an mehr als der Hälfte der Tage; beinahe jeden Tag
de EQ5D: keine Probleme; leichte Probleme; mäßige Probleme; große Probleme; nicht in der Lage
de FACIT: überhaupt nicht; ein wenig; mäßig; ziemlich; sehr
de Likert: stimme überhaupt nicht zu; stimme eher nicht zu; teils/teils; stimme eher zu; stimme voll zu
de zu: trifft nicht zu; trifft eher nicht zu; trifft eher zu; trifft zu
de WHODAS: keine; geringe; mäßige; starke; sehr starke
de bes: gar nicht; wenig; mittelmäßig; ziemlich; außerordentlich
de PANAS: gar nicht; ein bisschen; einigermaßen; erheblich; äußerst
de freq: nie; selten; gelegentlich; häufig; immer
de freq2: nie; selten; manchmal; oft; sehr oft
de educ: Hauptschule; Realschule; Abitur; Hochschule
de smoke: nie; früher; aktuell
de HADS: überhaupt nicht; gelegentlich; oft; meistens
de schwer: leicht; mittelschwer; schwer; sehr schwer
de gut: sehr schlecht; schlecht; mittelmäßig; gut; sehr gut
de zufr: sehr unzufrieden; unzufrieden; weder noch; zufrieden; sehr zufrieden
fr EORTC: Pas du tout; Un peu; Assez; Beaucoup
fr SF36: Mauvaise; Médiocre; Bonne; Très bonne; Excellente
fr SF36 lim: Pas du tout; Un petit peu; Moyennement; Beaucoup; Enormément
fr PHQ: Jamais; Plusieurs jours; Plus de la moitié du temps; Presque tous les jours
fr Likert: Pas du tout d'accord; Pas d'accord; Ni d'accord ni pas d'accord; D'accord; Tout à fait d'accord
fr Likert4: Pas du tout d'accord; Plutôt pas d'accord; Plutôt d'accord; Tout à fait d'accord
fr freq: jamais; rarement; parfois; souvent; toujours
fr FACIT: Pas du tout; Un peu; Moyennement; Beaucoup; Énormément
fr smoke: jamais; ancien; actuel
fr educ: primaire; collège; lycée; université
fr quite: pas du tout; peu; assez; très
fr assez bon: mauvais; assez bon; bon; très bon
es EORTC: En absoluto; Un poco; Bastante; Mucho
es SF36: Mala; Regular; Buena; Muy buena; Excelente
es SF36 lim: Nada; Un poco; Regular; Bastante; Mucho
es PHQ: Nunca; Varios días; Más de la mitad de los días; Casi todos los días
es Likert: Totalmente en desacuerdo; En desacuerdo; Ni de acuerdo ni en desacuerdo; De acuerdo; Totalmente de acuerdo
es freq: nunca; rara vez; a veces; a menudo; siempre
es freq2: nunca; pocas veces; algunas veces; muchas veces; siempre
es freq3: nunca; casi nunca; a veces; bastante a menudo; muy a menudo
es bast: nada; poco; bastante; mucho
es bast5: nada; algo; bastante; mucho; muchísimo
es FACIT: Nada; Un poco; Algo; Mucho; Muchísimo
es WHODAS: Ninguna; Leve; Moderada; Severa; Extrema
es educ: sin estudios; primarios; secundarios; universitarios
es smoke: nunca; exfumador; fumador
it EORTC: No; Un po'; Parecchio; Moltissimo
it EORTC2: Per niente; Poco; Abbastanza; Molto
it SF36: Scadente; Passabile; Buona; Molto buona; Eccellente
it PHQ: Mai; Alcuni giorni; Più della metà dei giorni; Quasi tutti i giorni
it Likert: Fortemente in disaccordo; In disaccordo; Né d'accordo né in disaccordo; D'accordo; Fortemente d'accordo
it freq: mai; raramente; qualche volta; spesso; sempre
it freq2: mai; raramente; talvolta; spesso; sempre
it disc2: scarso; discreto; buono; ottimo
it disc3: insufficiente; sufficiente; discreto; buono; ottimo
it EQ5D: nessun problema; lievi problemi; moderati problemi; gravi problemi; non sono in grado
it FACIT: Per niente; Un po'; Abbastanza; Molto; Moltissimo
it smoke: mai; ex fumatore; fumatore
"""

WITHOUT_AN_ORDER = """
en SF36 true: Definitely false; Mostly false; Don't know; Mostly true; Definitely true
en HADS2: Hardly at all; Only a little; Not quite so much; Definitely as much
en smoke2: non-smoker; ex-smoker; light smoker; heavy smoker
en a few: none; a few; some; many
en quite: not at all; slightly; quite; very
fr EQ5D: aucun problème; problèmes légers; problèmes modérés; problèmes sévères; incapable
es EQ5D: no tengo problemas; problemas leves; problemas moderados; problemas graves; soy incapaz
it SF36 lim: Per nulla; Leggermente; Un po'; Molto; Moltissimo
it disc: assente; lieve; discreta; notevole
it educ: elementare; media; superiore; laurea
es disc: ausente; discreto; moderado; severo
en regard: none; mild; fair; severe
en fair2: poor; fair; moderate; good
"""

IN_DOUBT = """
discreta: assente; lieve; discreta; notevole
slight: none; slight; mild; severe
gering: keine; gering; leicht; stark
occasionally: never; occasionally; sometimes; always
assez: pas du tout; moyennement; assez; beaucoup
abbastanza: per niente; moderatamente; abbastanza; molto
regelmäßig: nie; oft; regelmäßig; immer
vocational: primary; secondary; vocational; university
mäßig: schlecht; ausreichend; mäßig; gut
"""


def _scales(listed):
    scales = []
    for line in listed.strip().splitlines():
        name, _, levels = line.partition(": ")
        scales.append((name, levels.split("; ")))
    return scales


def _shuffled(levels):
    return random.Random(1).sample(levels, len(levels))


@scored(_scales(ORDERED))
def test_a_known_response_scale_has_its_order_either_way_round(scale, levels):
    found, _ = in_order(_shuffled(levels), "q1")
    assert found in (levels, levels[::-1])


@scored(_scales(ORDERED))
def test_a_response_scale_of_which_one_answer_was_never_given_is_not_ordered_wrongly(scale, levels):
    for left_out in range(len(levels) if len(levels) > 3 else 0):
        given = levels[:left_out] + levels[left_out + 1 :]
        found = in_order(_shuffled(given), "q1")
        assert found is None or found[0] in (given, given[::-1])


@scored(_scales(WITHOUT_AN_ORDER))
def test_a_response_scale_of_which_one_word_is_unknown_has_no_order(scale, levels):
    assert in_order(_shuffled(levels), "q1") is None


@scored(_scales(IN_DOUBT))
def test_levels_whose_words_may_change_places_have_no_order_and_it_is_said_which(word, levels):
    doubted = level_in_doubt(levels)
    assert doubted is not None
    assert in_order(_shuffled(levels), "q1") is None
    without = [level for level in levels if level != word]
    assert in_order(without, "q1")[0] == without
    assert level_in_doubt(without) is None
