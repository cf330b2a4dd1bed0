"""Words of the state of a person: habits, education, weight, age, dependence, consciousness; see `vocabulary.py`."""

from __future__ import annotations

__all__ = [
    "AGE",
    "CONSCIOUSNESS",
    "DEPENDENCE",
    "EDUCATION",
    "EDUCATION_IN_FRENCH",
    "FITNESS",
    "FRAILTY",
    "NUTRITION",
    "SMOKING",
    "WEIGHT",
]

SMOKING = {
    0.0: "never; never smoker; never smoked; non smoker; nonsmoker; nie; nieraucher; jamais; non fumeur; nunca; "
    "nunca fumador; no fumador; mai; non fumatore; nooit; niet roker; nunca fumou; nao fumador; never "
    "drinker; abstinent",
    1.0: "former; ex; past; previous; quit; former smoker; ex smoker; past smoker; exsmoker; ehemals; ehemalig; "
    "fruher; exraucher; ex raucher; ancien; ancien fumeur; ex fumeur; sevre; exfumador; ex fumador; antiguo; "
    "ex fumatore; voormalig; gestopt; ex roker",
    2.0: "current; present; active; current smoker; active smoker; smoker; aktuell; raucher; aktiv; actuel; actif; "
    "fumeur; fumeur actif; actual; activo; fumador; fumador actual; fumador activo; attuale; fumatore; "
    "huidig; roker; atual",
}

EDUCATION = {
    0.0: "none; no schooling; no formal education; illiterate; ohne abschluss; kein abschluss; kein "
    "schulabschluss; ohne; aucun; sans diplome; sin estudios; ninguno; analfabeto; nessuno; geen; sem "
    "escolaridade; sans; sin; no qualifications; no education; sin estudios formales; nenhuma; senza titolo; "
    "geen opleiding; ohne schulabschluss; no school; analphabet",
    1.0: "primary; primary school; elementary; elementary school; basic; grundschule; volksschule; "
    "primario; primarios; primaria; elementare; basisschool; lagere school; basisonderwijs; fundamental; "
    "estudios primarios; ensino fundamental; primary education; licenza elementare; lager onderwijs; "
    "fundamental incompleto; educacion primaria; basisopleiding; primarschule; 1o ciclo; "
    "alfabetizado; less than high school; some high school",
    2.0: "lower secondary; middle school; junior high; hauptschule; hauptschulabschluss; media; "
    "licenza media; lbo; vmbo; mittelschule; secundaria basica; eso; fundamental completo; licenza media "
    "inferiore; ciclo basico; secundaria incompleta; middle; onderbouw; lower secondary "
    "education; mavo; vmbo mavo; secondaria inferiore; scuola media",
    3.0: "secondary; high school; secondary school; upper secondary; realschule; mittlere reife; "
    "realschulabschluss; secundario; secundarios; secundaria; bachillerato; scuola "
    "superiore; diploma; middelbaar; havo; ensino medio; estudios secundarios; secondario; middelbare school; "
    "gcse; o level; ged; high school diploma; hs; high school graduate; secondary education; ensino medio "
    "incompleto; secondaria superiore; mittlerer abschluss; secundaria completa; middelbaar onderwijs; "
    "educacion secundaria; liceo; sekundarschule",
    4.0: "vocational; some college; apprenticeship; technical; abitur; fachabitur; matura; "
    "berufsausbildung; lehre; formacion profesional; fp; mbo; tecnico; vwo; a level; as level; associate "
    "degree; associate; post secondary; hochschulreife; fachhochschulreife; ausbildung; ensino medio "
    "completo; ensino tecnico; btec; nvq; apprentice; diploma superiore; ciclo "
    "formativo; middelbaar beroepsonderwijs; further education; trade; gymnasium; vmbo mbo; meister",
    4.3: "college",
    4.6: "hbo; fachhochschule; short cycle tertiary",
    5.0: "tertiary; university; higher education; higher; bachelor; college degree; graduate; hochschule; "
    "universitat; studium; universitario; universitarios; universitaria; "
    "universita; laurea; universiteit; superior; estudios universitarios; licenciatura; hochschulabschluss; "
    "degree; undergraduate; undergraduate degree; bachelor s degree; bachelor degree; university degree; "
    "akademisch; ensino superior; superior completo; estudios "
    "superiores; wo; hoger onderwijs; hoger; laureato; universitaire studies; hbo wo; fh uni; uni; "
    "studium abgeschlossen; graduacao; grado; educacion superior",
    6.0: "postgraduate; master; masters; postgrado; specializzazione; mestrado; pos graduacao; postgraduate "
    "degree; master s degree; graduate degree; graduate school; magister; posgrado; post laurea; pos "
    "graduado; advanced degree; higher degree; posgraduado; master degree",
    7.0: "doctorate; phd; doctoral; promotion; doctorado; dottorato; doutorado",
}

EDUCATION_IN_FRENCH = {
    0.0: "aucun; sans; sans diplome; aucun diplome; analphabete; non scolarise; illettre",
    1.0: "primaire; ecole primaire; elementaire; certificat d etudes; cep",
    2.0: "college; brevet; brevet des colleges; bepc",
    2.5: "cap bep; cap; bep",
    3.0: "lycee",
    4.0: "bac; baccalaureat",
    4.6: "bac 2; iut; bts; dut",
    5.0: "universite; universitaire; superieur; enseignement superieur; etudes superieures; licence; bac 3",
    6.0: "master; bac 5; maitrise",
    7.0: "doctorat",
}
"""In a table of its own: a *collège* comes before the *lycée*, and a college after the secondary school."""

WEIGHT = {
    -2.0: "underweight; untergewicht; insuffisance ponderale; maigreur; bajo peso; sottopeso; ondergewicht; baixo peso",
    0.0: "normal; normal weight; healthy weight; healthy; normalgewicht; poids normal; normopeso; peso normal; "
    "normaal gewicht; corpulence normale",
    2.0: "overweight; ubergewicht; surpoids; sobrepeso; sovrappeso; overgewicht; pre obese; preobese",
    3.0: "obese; obesity; adipositas; obesite; obesidad; obesita; obesitas; obesidade; obeso; adipos; fettleibig",
    5.0: "morbidly obese; severely obese; morbid obesity; severe obesity; adipositas per magna; obesite morbide; "
    "obesidad morbida; obesita grave; obesidade morbida",
}

FRAILTY = {
    0.0: "robust; fit; non frail; not frail; nicht gebrechlich; robuste; robusto; niet kwetsbaar",
    1.0: "prefrail; pre frail; vulnerable; pra frail; prafrail; prefragile; pre fragile; prefragil; vulnerabel",
    2.0: "frail; gebrechlich; fragile; fragil; kwetsbaar",
}

DEPENDENCE = {
    -5.0: "independent; autonomous; self caring; alone; selbstandig; selbststandig; unabhangig; autonome; "
    "independant; seul; autonomo; independiente; solo; indipendente; zelfstandig; onafhankelijk; "
    "independente; ohne hilfe; sans aide; sin ayuda; senza aiuto; zonder hulp; sem ajuda",
    -3.0: "supervision; with supervision; needs supervision; unter aufsicht; surveillance; supervisione; toezicht; "
    "with aid; with device; mit hilfsmittel; hilfsmittel; avec aide technique; con baston; hulpmiddel; met "
    "hulpmiddel; met loophulpmiddel; con ausili; con ausilio; con ayuda tecnica; com auxilio; com "
    "dispositivo; avec une aide technique; with assistive device",
    -2.0: "needs some help; some help; minimal assistance; with help; wenig hilfe; geringe hilfe; aide ponctuelle; "
    "ayuda minima; poca ayuda; aiuto minimo; weinig hulp",
    -1.0: "walks with aid; with walking aid; walking aid; cane; crutches; walker; mit gehhilfe; gehhilfe; rollator; "
    "mit rollator; avec canne; canne; deambulateur; con muletas; con andador; con deambulatore; met rollator",
    0.0: "partially dependent; partly dependent; semi dependent; partial assistance; moderate assistance; "
    "assisted; teilweise hilfe; teilweise selbstandig; teilweise abhangig; hilfsbedurftig; aide partielle; "
    "semi dependant; partiellement dependant; ayuda parcial; parcialmente dependiente; parzialmente "
    "dipendente; aiuto parziale; gedeeltelijk afhankelijk; ajuda parcial; parcialmente dependente; mit hilfe; "
    "avec aide; con ayuda; con aiuto; met hulp",
    2.0: "dependent; full assistance; total assistance; abhangig; pflegebedurftig; unselbstandig; dependant; aide "
    "totale; dependiente; ayuda total; dipendente; aiuto totale; afhankelijk; dependente; ajuda total; "
    "vollstandige hilfe",
    3.0: "wheelchair; wheelchair bound; rollstuhl; im rollstuhl; fauteuil roulant; silla de ruedas; carrozzina; "
    "sedia a rotelle; rolstoel; cadeira de rodas",
    4.0: "bedbound; fully dependent; totally dependent; completely dependent; bedridden; vollstandig abhangig; "
    "bettlagerig; grabataire; alite; totalmente dependiente; encamado; totalmente dipendente; allettato; "
    "bedlegerig; acamado; bed bound",
}

AGE = {
    -3.0: "newborn; neonate; neonatal; neugeborenes; nouveau ne; recien nacido; neonato",
    -2.5: "infant; baby; saugling; nourrisson; lactante; lattante; zuigeling; toddler; kleinkind",
    -2.0: "child; children; childhood; pediatric; kind; enfant; nino; bambino; crianca",
    -1.0: "adolescent; teenager; jugendlicher; jugendlich; adolescente",
    -0.5: "young; young adult; jung; jeune; joven; giovane; jong; jovem",
    0.0: "adult; middle aged; middle age; erwachsen; erwachsener; adulte; adulto; volwassen",
    1.0: "elderly; old; older; senior; alt; age; anciano; anziano; ouder; idoso; mayor",
    2.0: "very old; oldest old; hochbetagt; grand age",
}

CONSCIOUSNESS = {
    0.0: "alert; awake; fully alert; oriented; clear; wach; klar; orientiert; wach und orientiert; eveille; "
    "vigile; conscient; conscience normale; despierto; lucido; sveglio; cosciente; orientato; wakker; helder; "
    "georienteerd; acordado; normal; conscious; orientado",
    1.0: "confused; disoriented; new confusion; verwirrt; desorientiert; confus; desoriente; desorientado; confuso "
    "e agitato; disorientato; verward; gedesorienteerd; agitated; delirious; delirant",
    2.0: "drowsy; somnolent; lethargic; sleepy; obtunded; voice; verbal; responds to voice; reacts to voice; "
    "schlafrig; benommen; lethargisch; obnubile; lethargique; somnoliento; letargico; obnubilado; sonnolento; "
    "soporoso; slaperig; sonolento; suf; assopito",
    3.0: "stuporous; stupor; soporous; pain; responds to pain; responsive to pain; stuporeux; estuporoso; "
    "soporeus; torporoso",
    4.0: "comatose; coma; unresponsive; unconscious; komatos; koma; bewusstlos; comateux; inconscient; "
    "incosciente; comateus; bewusteloos; non responsive; in coma; en coma",
}

FITNESS = {
    0.0: "unfit; temporarily unfit; inapte; no apto; non idoneo; inidoneo; ongeschikt; untauglich; nicht geeignet; "
    "nicht tauglich; inaptitude; not fit",
    1.0: "inapte temporaire; restricted; fit with restrictions; apte avec restrictions; apte avec reserves; apte "
    "avec amenagement; apto con restricciones; apto con limitaciones; apto com restricoes; idoneo con "
    "limitazioni; idoneo con prescrizioni; idoneo con restrizioni; geschikt met beperkingen; beperkt "
    "geschikt; bedingt tauglich; eingeschrankt tauglich; bedingt geeignet; apte partiel; tauglich mit "
    "auflagen; fit with limitations",
    2.0: "fit; apte; idoneo; geschikt; tauglich; geeignet; fully fit; fit for work",
}

NUTRITION = {
    -3.0: "cachectic; cachexia; kachektisch; kachexie; cachectique; caquectico; cachettico; cachectisch",
    -2.0: "malnourished; malnutrition; undernourished; mangelernahrt; mangelernahrung; denutri; denutrition; "
    "desnutrido; "
    "desnutricion; malnutrido; malnutrito; malnutrizione; ondervoed; ondervoeding; desnutricao; severely malnourished",
    -1.0: "at risk; at risk of malnutrition; risk; reduced; risiko; im risiko; reduziert; a risque; en riesgo; a "
    "rischio; "
    "risico; risico op ondervoeding; em risco",
    0.0: "normal; well nourished; good; normale; gut ernahrt; normaler ernahrungszustand; bien nourri; bon etat; "
    "bien nutrido; ben nutrito; goed gevoed; bem nutrido; normaal; eutrofico; gut",
    1.0: "overweight; ubergewichtig; ubergewicht; surpoids; sobrepeso; sovrappeso; overgewicht; overnourished",
    2.0: "obese; adipos; obeso; obesite; obesitas; obesita; obesidad; obesidade",
}
