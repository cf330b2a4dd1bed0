"""The words of ordered levels in English, German, French, Spanish, Italian, Dutch and Portuguese.

Each table holds one kind of order. A line has a rank, and the phrases of that rank in all languages; phrases are
written without accents, and in one gender and number. Ranks only order the phrases of one table, and 0 is its middle,
from which adverbs lead away (`very`) or towards which they lead (`slightly`). `words.py` has the rules that use them.
"""

from __future__ import annotations

__all__ = ["ABSENT", "ADVERBS", "GRADED", "LETTER_GRADED", "NEGATIONS", "ORDERS", "SOUND", "UNIPOLAR"]

ABSENT = (
    "none; no; absent; not present; nil; nothing; without; free; never; no response; nie; niemals; jamais; nunca; "
    "mai; nooit; keine; kein; nicht vorhanden; ohne; frei; nein; fehlend; nicht nachweisbar; aucun; aucune; nul; "
    "nulle; sans; non; pas; rien; ninguno; ninguna; ausente; nulo; sin; nada; nessuno; nessuna; assente; nullo; "
    "nulla; senza; niente; geen; afwezig; zonder; nee; niets; nenhum; nenhuma; nao; sem"
)
"""Words for the absence of what is graded: the lowest level of every order that is `UNIPOLAR`, and of grades."""

SOUND = (
    "normal; good; well; healthy; intact; preserved; stable; full; unimpaired; unremarkable; gut; unauffallig; "
    "erhalten; gesund; uneingeschrankt; bon; bien; conserve; sain; bueno; conservado; sano; buono; bene; "
    "conservato; goed; gezond; behouden; bom; bem; preservado; normaal; normale"
)
"""Words for a state without the impairment that other levels grade: `gut` beside `reduziert`, `stark reduziert`."""

_LEVEL = {
    -2.0: "low; decreased; reduced; below normal; niedrig; erniedrigt; vermindert; bas; diminue; abaisse; bajo; "
    "disminuido; basso; ridotto; diminuito; laag; verlaagd; baixo; diminuido",
    0.0: "normal; medium; moderate; intermediate; average; mittel; mittelmassig; moyen; moderado; medio; moderato; "
    "normaal; gemiddeld; middel; modere; normale; mittelgradig; massig",
    2.0: "high; increased; elevated; raised; above normal; hoch; erhoht; eleve; haut; augmente; alto; elevado; "
    "aumentado; elevato; aumentato; hoog; verhoogd",
}
_AMOUNT = {
    -5.0: "none; no; absent; normal; not at all; nil; clear; gar nicht; uberhaupt nicht; unauffallig; pas du tout; "
    "nada; en absoluto; per niente; per nulla; helemaal niet; niet; normaal; normale; de modo nenhum",
    -4.0: "minimal; trace; traces; questionable; borderline; equivocal; subclinical; fraglich; grenzwertig; spuren; "
    "minime; douteux; trazas; minimo; dudoso; indicios; tracce; dubbio; sporen; minimaal; twijfelachtig; "
    "vestigios; duvidoso; inactive; inaktiv; sedentary; sitzend; sedentaire; sedentario",
    -2.8: "a little; a little bit; slight; slightly; few; wenig; ein wenig; un peu; peu; poco; un poco; un po; een "
    "beetje; weinig; um pouco; pouco; somewhat; a bit",
    -2.5: "gering; geringgradig; occasional; gelegentlich; faible; escaso; scarso; occasionnel; ocasional",
    -2.0: "mild; mildly; light; low; minor; background; leicht; leichtgradig; niedrig; etwas; leger; bas; leve; "
    "ligero; bajo; lieve; leggero; basso; licht; laag; ligeiro; baixo; superficial",
    -1.0: "some; einige; quelques; algunos; alcuni; enkele; alguns",
    0.0: "moderate; moderately; medium; intermediate; average; middle; partial; mittel; mittelgradig; massig; "
    "moderat; mittelschwer; mittelstark; modere; moyen; moyennement; moderement; intermediaire; partiel; "
    "moderado; medio; intermedio; regular; moderato; media; matig; gemiddeld; middel; intermediario; massig "
    "stark; moderadamente; moderatamente",
    1.5: "considerable; marked; moderately severe; quite a bit; prominent; major; pronounced; most; ziemlich; "
    "ausgepragt; deutlich; erheblich; marque; important; assez; marcado; importante; bastante; marcato; "
    "abbastanza; notevole; parecchio; aanzienlijk; tamelijk; behoorlijk; duidelijk; acentuado",
    2.5: "severe; severely; vigorous; strong; strongly; high; heavy; a lot; much; many; serious; great; intense; "
    "stark; schwer; hoch; viel; hochgradig; schwerwiegend; sehr; fort; eleve; haut; beaucoup; grave; lourd; "
    "severo; alto; mucho; intenso; fuerte; a tension; tenso; molto; forte; elevato; tanto; ernstig; hoog; zwaar; "
    "veel; sterk; erg; muito; elevado; heel veel; tendu; tense; gespannt",
    5.0: "extreme; extremely; profound; critical; maximal; maximum; life threatening; unbearable; very much; "
    "complete; total; all; active; extrem; unertraglich; massiv; lebensbedrohlich; vollstandig; enormement; "
    "insupportable; massif; complet; muchisimo; extremo; maximo; insoportable; completo; estremo; moltissimo; "
    "insopportabile; massimo; extreem; enorm; ondraaglijk; volledig; muitissimo; insuportavel; alle; tous; todos; "
    "tutti; end stage; unable; unable to do",
}
_SIZE = {
    -4.0: "tiny; punctate; winzig; minuscule; diminuto; minuscolo; piepklein",
    -2.0: "small; short; klein; kurz; petit; court; pequeno; corto; piccolo; breve; kort; curto",
    0.0: "medium; moderate; mittel; mittelgross; moyen; moyenne; mediano; medio; middelgroot; middel; intermediate",
    2.0: "large; big; long; gross; lang; grand; gros; grande; largo; groot; lungo; longo",
    4.0: "huge; giant; riesig; geant; gigante; enorme; reusachtig",
}
_FREQUENCY = {
    -5.0: "never; not at all; none of the time; no; nie; niemals; gar nicht; jamais; nunca; mai; nooit",
    -4.0: "hardly ever; kaum; fast nie; presque jamais; casi nunca; quasi mai; bijna nooit; quase nunca",
    -3.0: "rarely; seldom; a little of the time; selten; seltener; rarement; raramente; rara vez; raro; zelden; poco",
    -1.5: "occasionally; now and then; gelegentlich; hin und wieder; occasionnellement; de temps en temps; "
    "ocasionalmente; de vez en cuando; occasionalmente; ogni tanto; af en toe; de vez em quando",
    -1.0: "sometimes; some of the time; several days; manchmal; zeitweise; an einzelnen tagen; parfois; quelquefois; "
    "plusieurs jours; a veces; algunas veces; varios dias; a volte; qualche volta; alcuni giorni; soms; as vezes; "
    "algumas vezes; intermittent; intermittierend; intermittente",
    2.0: "often; frequently; more than half the days; a good bit of the time; oft; haufig; an mehr als der "
    "halfte der tage; souvent; frequemment; plus de la moitie du temps; a menudo; con frecuencia; frecuentemente; "
    "mas de la mitad de los dias; spesso; frequentemente; vaak; dikwijls; muitas vezes",
    3.0: "usually; most of the time; generally; regularly; meistens; regelmassig; la plupart du temps; generalement; "
    "regulierement; la mayor parte del tiempo; normalmente; di solito; meestal; geralmente; habitualmente; "
    "regelmatig",
    4.0: "nearly every day; daily or almost daily; almost daily; beinahe jeden tag; fast taglich; fast jeden tag; "
    "presque tous les jours; casi todos los dias; quasi ogni giorno; bijna elke dag; quase todos os dias",
    4.2: "almost always; fast immer; presque toujours; casi siempre; quasi sempre; bijna altijd; quase sempre",
    5.0: "always; constantly; continuously; all of the time; every day; daily; immer; standig; dauernd; "
    "taglich; jeden tag; toujours; constamment; en permanence; tous les jours; quotidien; siempre; "
    "constantemente; diariamente; todos los dias; sempre; ogni giorno; altijd; voortdurend; dagelijks; todos os "
    "dias; continuo; permanent; permanente",
}
_QUALITY = {
    -5.0: "terrible; awful; very poor; critical; miserabel; katastrophal; execrable; pesimo; pessimo; slecht "
    "tot zeer slecht",
    -2.0: "poor; bad; inadequate; schlecht; mauvais; mal; malo; cattivo; scadente; scarso; male; slecht; mau; ruim; "
    "insufficient; mangelhaft; ungenugend; insuffisant; insuficiente; insufficiente; onvoldoende",
    -1.0: "reduced; impaired; not so good; weniger gut; reduziert; ausreichend; eingeschrankt; altere; mediocre; "
    "deteriorado; regular tirando a malo; ridotto; verminderd; passable",
    0.0: "fair; moderate; average; neither good nor bad; acceptable; mittel; mittelmassig; zufriedenstellend; "
    "massig; moyen; correct; regular; aceptable; discreto; medio; matig; redelijk; razoavel; so so; neutral; "
    "mediano",
    1.0: "satisfactory; sufficient; adequate; befriedigend; satisfaisant; suffisant; sufficiente; voldoende; "
    "satisfatorio; satisfactorio; assez bon; ziemlich gut; suficiente",
    2.0: "good; well; gut; bon; bien; bueno; buen; buono; bene; goed; bom; bem",
    4.5: "excellent; outstanding; optimal; perfect; ausgezeichnet; hervorragend; excelente; eccellente; ottimo; "
    "uitstekend; otimo; optimo; parfait; perfecto",
}
_AGREEMENT = {
    -2.0: "disagree; stimme nicht zu; trifft nicht zu; ablehnend; lehne ab; pas d accord; en desacuerdo; "
    "desacuerdo; in disaccordo; disaccordo; oneens; mee oneens; discordo; desaccord",
    -1.0: "trifft eher nicht zu; stimme eher nicht zu; trifft wenig zu; plutot pas d accord; rather disagree; mostly "
    "disagree; tend to disagree; algo en desacuerdo",
    0.0: "neutral; undecided; neither agree nor disagree; neither; unsure; teils teils; weder noch; unentschieden; "
    "neutre; ni d accord ni pas d accord; sans opinion; ni de acuerdo ni en desacuerdo; indiferente; neutro; "
    "neutrale; ne d accordo ne in disaccordo; neutraal; nem concordo nem discordo; indifferent",
    1.0: "trifft eher zu; stimme eher zu; plutot d accord; rather agree; mostly agree; tend to agree; algo de acuerdo",
    2.0: "agree; stimme zu; trifft zu; zustimmend; d accord; de acuerdo; d accordo; accordo; eens; mee eens; concordo",
    4.0: "trifft voll zu; trifft genau zu; stimme voll zu; trifft vollig zu; trifft voll und ganz zu; tout a fait d "
    "accord; stimme vollig zu",
    -4.0: "trifft gar nicht zu; trifft uberhaupt nicht zu; stimme gar nicht zu; stimme uberhaupt nicht zu; pas "
    "du tout d accord; helemaal oneens; helemaal niet mee eens",
}
_SATISFACTION = {
    -2.0: "dissatisfied; unsatisfied; unhappy; unzufrieden; insatisfait; mecontent; insatisfecho; insoddisfatto; "
    "ontevreden; insatisfeito",
    0.0: "neutral; neither; neither satisfied nor dissatisfied; weder noch; teils teils; neutre; indiferente; "
    "neutro; neutrale; neutraal; mixed",
    2.0: "satisfied; happy; zufrieden; satisfait; content; satisfecho; soddisfatto; tevreden; satisfeito",
    5.0: "delighted; begeistert; ravi; encantado",
}
_CHANGE = {
    -2.0: "worse; worsened; deteriorated; progressive; progression; declined; schlechter; verschlechtert; pire; "
    "moins bien; aggrave; peor; peggio; peggiorato; slechter; verslechterd; pior; empeorado",
    0.0: "unchanged; no change; same; stable; about the same; unverandert; gleich; stabil; inchange; identique; sin "
    "cambios; igual; estable; invariato; uguale; stabile; onveranderd; gelijk; stabiel; inalterado; estavel",
    2.0: "better; improved; improvement; besser; verbessert; gebessert; mieux; ameliore; mejor; mejorado; meglio; "
    "migliorato; beter; verbeterd; melhor",
    4.0: "resolved; recovered; cured; geheilt; gueri; curado; guarito; genezen; remission; resuelto",
}
_CHANCE = {
    -4.0: "impossible; excluded; ausgeschlossen; exclu; imposible; impossibile; uitgesloten",
    -2.0: "unlikely; improbable; unwahrscheinlich; peu probable; improbabile; onwaarschijnlijk; improvavel; doubtful",
    0.0: "possible; neutral; moglich; posible; possibile; mogelijk; possivel; suspected; uncertain",
    2.0: "likely; probable; wahrscheinlich; probabile; waarschijnlijk; provavel",
    4.0: "definite; certain; confirmed; sicher; gesichert; certaine; confirme; seguro; cierto; confirmado; certo; "
    "confermato; zeker; definitivo; proven",
}
_EASE = {
    -5.0: "no difficulty; without difficulty; keine schwierigkeiten; aucune difficulte; sin dificultad; nessuna "
    "difficolta; geen moeite; sem dificuldade; independent",
    -2.0: "easy; some difficulty; einige schwierigkeiten; leicht; facile; un peu de difficulte; facil; alguna "
    "dificultad; makkelijk",
    2.0: "difficult; hard; much difficulty; schwierig; grosse schwierigkeiten; difficile; beaucoup de difficulte; "
    "dificil; mucha dificultad; moeilijk",
    5.0: "unable; unable to do; impossible; unmoglich; nicht moglich; incapable; incapaz; imposible; incapace; "
    "onmogelijk; impossivel; cannot do",
}
_SMOKING = {
    0.0: "never; never smoker; never smoked; non smoker; nonsmoker; nie; nieraucher; jamais; non fumeur; "
    "nunca; nunca fumador; no fumador; mai; non fumatore; nooit; niet roker; nunca fumou; nao fumador; never "
    "drinker; abstinent",
    1.0: "former; ex; past; previous; quit; former smoker; ex smoker; past smoker; exsmoker; ehemals; ehemalig; "
    "fruher; exraucher; ex raucher; ancien; ancien fumeur; ex fumeur; sevre; exfumador; ex fumador; antiguo; ex "
    "fumatore; voormalig; gestopt; ex roker",
    2.0: "current; present; active; current smoker; active smoker; smoker; aktuell; raucher; aktiv; actuel; actif; "
    "fumeur; fumeur actif; actual; activo; fumador; fumador actual; fumador activo; attuale; fumatore; huidig; "
    "roker; atual",
}
_EDUCATION = {
    0.0: "none; no schooling; no formal education; illiterate; ohne abschluss; kein abschluss; kein schulabschluss; "
    "ohne; aucun; sans diplome; sin estudios; ninguno; analfabeto; nessuno; geen; sem escolaridade; sans; sin",
    1.0: "primary; primary school; elementary; elementary school; basic; grundschule; volksschule; primaire; "
    "primario; primarios; primaria; elementare; basisschool; lagere school; basisonderwijs; fundamental; estudios "
    "primarios; ensino fundamental",
    2.0: "lower secondary; middle school; junior high; hauptschule; hauptschulabschluss; college; brevet; media; "
    "licenza media; lbo; vmbo; mittelschule; secundaria basica; eso",
    3.0: "secondary; high school; secondary school; upper secondary; realschule; mittlere reife; realschulabschluss; "
    "secondaire; lycee; secundario; secundarios; secundaria; bachillerato; scuola superiore; diploma; middelbaar; "
    "havo; ensino medio; estudios secundarios; secondario; middelbare school",
    4.0: "vocational; some college; apprenticeship; technical; abitur; fachabitur; matura; bac; baccalaureat; "
    "berufsausbildung; lehre; formacion profesional; fp; mbo; tecnico; vwo",
    4.6: "hbo; fachhochschule; short cycle tertiary; iut; bts",
    5.0: "tertiary; university; higher education; higher; bachelor; college degree; graduate; hochschule; "
    "universitat; studium; universitaire; superieur; licence; universitario; universitarios; universitaria; "
    "universita; laurea; universiteit; superior; estudios universitarios; licenciatura; hochschulabschluss",
    6.0: "postgraduate; master; masters; postgrado; specializzazione; mestrado; pos graduacao",
    7.0: "doctorate; phd; doctoral; promotion; doctorat; doctorado; dottorato; doutorado",
}
_WEIGHT = {
    -2.0: "underweight; untergewicht; insuffisance ponderale; maigreur; bajo peso; sottopeso; ondergewicht; baixo peso",
    0.0: "normal; normal weight; healthy weight; healthy; normalgewicht; poids normal; normopeso; peso normal; "
    "normaal gewicht; corpulence normale",
    2.0: "overweight; ubergewicht; surpoids; sobrepeso; sovrappeso; overgewicht; pre obese; preobese",
    3.0: "obese; obesity; adipositas; obesite; obesidad; obesita; obesitas; obesidade; obeso; adipos; fettleibig",
    5.0: "morbidly obese; severely obese; morbid obesity; severe obesity; adipositas per magna; obesite morbide; "
    "obesidad morbida; obesita grave; obesidade morbida",
}
_FRAILTY = {
    0.0: "robust; fit; non frail; not frail; nicht gebrechlich; robuste; robusto; niet kwetsbaar",
    1.0: "prefrail; pre frail; vulnerable; pra frail; prafrail; prefragile; pre fragile; prefragil; vulnerabel",
    2.0: "frail; gebrechlich; fragile; fragil; kwetsbaar",
}
_DEPENDENCE = {
    -5.0: "independent; autonomous; self caring; alone; selbstandig; selbststandig; unabhangig; autonome; "
    "independant; seul; autonomo; independiente; solo; indipendente; zelfstandig; onafhankelijk; independente; "
    "ohne hilfe; sans aide; sin ayuda; senza aiuto; zonder hulp; sem ajuda",
    -3.0: "supervision; with supervision; needs supervision; unter aufsicht; surveillance; supervisione; "
    "toezicht; with aid; with device; mit hilfsmittel; hilfsmittel; avec aide technique; con baston; hulpmiddel",
    -2.0: "needs some help; some help; minimal assistance; with help; wenig hilfe; geringe hilfe; aide ponctuelle; "
    "ayuda minima; poca ayuda; aiuto minimo; weinig hulp",
    -1.0: "walks with aid; with walking aid; walking aid; cane; crutches; walker; mit gehhilfe; gehhilfe; "
    "rollator; mit rollator; avec canne; canne; deambulateur; con muletas; con andador; con deambulatore; met "
    "rollator",
    0.0: "partially dependent; partly dependent; semi dependent; partial assistance; moderate assistance; assisted; "
    "teilweise hilfe; teilweise selbstandig; teilweise abhangig; hilfsbedurftig; aide partielle; semi dependant; "
    "partiellement dependant; ayuda parcial; parcialmente dependiente; parzialmente dipendente; aiuto parziale; "
    "gedeeltelijk afhankelijk; ajuda parcial; parcialmente dependente; mit hilfe; avec aide; con ayuda; con "
    "aiuto; met hulp",
    2.0: "dependent; full assistance; total assistance; abhangig; pflegebedurftig; unselbstandig; dependant; aide "
    "totale; dependiente; ayuda total; dipendente; aiuto totale; afhankelijk; dependente; ajuda total; "
    "vollstandige hilfe",
    3.0: "wheelchair; wheelchair bound; rollstuhl; im rollstuhl; fauteuil roulant; silla de ruedas; "
    "carrozzina; sedia a rotelle; rolstoel; cadeira de rodas",
    4.0: "bedbound; fully dependent; totally dependent; completely dependent; bedridden; vollstandig abhangig; "
    "bettlagerig; grabataire; alite; totalmente dependiente; encamado; totalmente dipendente; allettato; "
    "bedlegerig; acamado; bed bound",
}
_RESPONSE = {
    -2.0: "none; no; no response; non responder; nonresponder; refractory; progressive disease; kein ansprechen; "
    "refraktar; aucune; ninguna; nessuna; geen; nenhuma; pd; unvaccinated; ungeimpft; no remission",
    -1.0: "poor; stable; stable disease; stabil; sd; minor response; minimal response; schlecht",
    0.0: "partial; moderate; partial response; incomplete; partial remission; teilremission; partiell; "
    "unvollstandig; partielle; partiel; incomplet; incompleto; parcial; incompleta; parziale; gedeeltelijk; "
    "onvolledig; pr; mixed",
    1.0: "good; near complete; very good partial response; vgpr; gut",
    2.0: "complete; full; complete response; complete remission; vollremission; komplett; vollstandig; complet; "
    "completo; completa; volledig; cr",
}
_DIFFERENTIATION = {
    0.0: "well differentiated; well; gut differenziert; bien differencie; bien diferenciado; ben differenziato",
    1.0: "moderately differentiated; moderately; moderate; massig differenziert; moyennement differencie; "
    "moderadamente diferenciado; moderatamente differenziato; maßig",
    2.0: "poorly differentiated; poorly; poor; schlecht differenziert; gering differenziert; peu differencie; "
    "pobremente diferenciado; poco diferenciado; scarsamente differenziato",
    3.0: "undifferentiated; anaplastic; undifferenziert; anaplastisch; indifferencie; indiferenciado; indifferenziato",
}
_AGE = {
    -3.0: "newborn; neonate; neonatal; neugeborenes; nouveau ne; recien nacido; neonato",
    -2.5: "infant; baby; saugling; nourrisson; lactante; lattante; zuigeling; toddler; kleinkind",
    -2.0: "child; children; childhood; pediatric; kind; enfant; nino; bambino; crianca",
    -1.0: "adolescent; teenager; jugendlicher; jugendlich; adolescente",
    -0.5: "young; young adult; jung; jeune; joven; giovane; jong; jovem",
    0.0: "adult; middle aged; middle age; erwachsen; erwachsener; adulte; adulto; volwassen",
    1.0: "elderly; old; older; senior; alt; age; anciano; anziano; ouder; idoso; mayor",
    2.0: "very old; oldest old; hochbetagt; grand age",
}
_SIGN = {
    -2.0: "negative; neg; non reactive; negativ; negatif; negativo; negatief",
    -1.0: "trace; borderline; equivocal; weak; weakly positive; indeterminate; grenzwertig; schwach; schwach "
    "positiv; douteux; faible; faiblement positif; limite; dudoso; debil; debil positivo; indeterminado; dubbio; "
    "debole; zwak; zwak positief; fraco",
    1.0: "positive; pos; moderate; reactive; positiv; positif; positivo; positief",
    2.5: "strongly positive; strong; stark positiv; stark; fortement positif; fort; fuertemente positivo; fuerte; "
    "fortemente positivo; forte; sterk positief; sterk; high positive",
}
_COURSE = {
    -1.0: "early; initial; acute; recent; fruh; akut; precoce; aigu; agudo; temprano; acuto; vroeg; beginning; "
    "beginnend; inicial",
    0.0: "intermediate; middle; mid; subacute; subakut; intermediaire; subaigu; subagudo; intermedio; subacuto",
    1.0: "late; advanced; chronic; spat; fortgeschritten; chronisch; tardif; avance; chronique; tardio; avanzado; "
    "cronico; tardivo; avanzato; laat; gevorderd",
    2.0: "end stage; terminal; endstadium",
}
_EXTENT = {
    -2.0: "in situ; carcinoma in situ",
    -1.0: "localized; localised; local; focal; limited; confined; lokal; lokalisiert; umschrieben; localise; "
    "localizado; localizzato; gelokaliseerd; begrenzt",
    0.0: "regional; locally advanced; segmental; multifocal; lokal fortgeschritten; regionar; localement avance; "
    "localmente avanzado; localmente avanzato",
    2.0: "distant; metastatic; disseminated; diffuse; extensive; generalised; generalized; metastasiert; "
    "disseminiert; diffus; fernmetastasen; metastatique; metastasico; metastatico; diffuso; generalisiert; "
    "generalizado",
}
_GLUCOSE = {
    0.0: "normal; normoglycaemia; normoglycemia; nein; no; none; normal glucose tolerance; ngt",
    1.0: "prediabetes; pre diabetes; prediabetic; impaired; igt; ifg; impaired glucose tolerance; pradiabetes",
    2.0: "diabetes; diabetic; dm; t2d; t2dm",
}
_FUNCTION = {
    -2.0: "normal; preserved; erhalten; conserve; conservada; conservata; behouden",
    -1.0: "mildly reduced; mid range; midrange; mildly impaired; borderline; leicht reduziert; leicht eingeschrankt; "
    "mrange; moderement alteree; hfmref",
    0.0: "moderately reduced; moderately impaired; mittelgradig reduziert; mittelgradig eingeschrankt; reduced; "
    "reduziert; alteree; reducida",
    1.0: "severely reduced; severely impaired; hochgradig reduziert; hochgradig eingeschrankt; schwer eingeschrankt",
}
_PLACE = {
    1.0: "first; 1st; erste; erstens; 1er; premier; primero; primo; eerste; primeiro; 1a; 1o; 1e",
    2.0: "second; 2nd; zweite; 2eme; deuxieme; segundo; secondo; tweede; 2a; 2o; 2e",
    3.0: "third; 3rd; dritte; 3eme; troisieme; tercero; terzo; derde; terceiro; 3a; 3o; 3e",
    4.0: "fourth; 4th; vierte; 4eme; quatrieme; cuarto; quarto; vierde; 4a; 4o; 4e",
    5.0: "fifth; 5th; funfte; 5eme; cinquieme; quinto; vijfde; 5a; 5o; 5e",
    6.0: "sixth; 6th; 6eme",
}

ORDERS: tuple[tuple[str, dict[float, str]], ...] = (
    ("level", _LEVEL),
    ("amount", _AMOUNT),
    ("size", _SIZE),
    ("frequency", _FREQUENCY),
    ("quality", _QUALITY),
    ("agreement", _AGREEMENT),
    ("satisfaction", _SATISFACTION),
    ("change", _CHANGE),
    ("chance", _CHANCE),
    ("ease", _EASE),
    ("smoking", _SMOKING),
    ("education", _EDUCATION),
    ("weight", _WEIGHT),
    ("frailty", _FRAILTY),
    ("dependence", _DEPENDENCE),
    ("response", _RESPONSE),
    ("differentiation", _DIFFERENTIATION),
    ("age", _AGE),
    ("sign", _SIGN),
    ("course", _COURSE),
    ("extent", _EXTENT),
    ("glucose tolerance", _GLUCOSE),
    ("function", _FUNCTION),
    ("place", _PLACE),
)
"""The kinds of order; a column whose levels are in two of them is ordered by the first."""

UNIPOLAR = frozenset({"amount", "size", "extent", "ease", "response", "education", "frequency", "sign", "course"})
"""The kinds in which the absence of what is graded lies below all levels."""

ADVERBS = {
    0.3: "slightly; a bit; minimally; hardly; kaum; un petit peu; apenas; appena; nauwelijks; borderline",
    0.5: "somewhat; a little; mildly; partly; pre; leicht; etwas; ein wenig; wenig; bedingt; un peu; peu; "
    "legerement; algo; un poco; ligeramente; poco; un po; leggermente; enigszins; een beetje; um pouco; pouco; "
    "ligeiramente; gering; geringgradig; licht; lichtgradig; mild",
    0.7: "rather; fairly; quite; partially; eher; teilweise; ziemlich; plutot; assez; partiellement; bastante; "
    "parcialmente; abbastanza; piuttosto; parzialmente; vrij; tamelijk; redelijk; gedeeltelijk; relativamente; "
    "mostly",
    0.8: "moderately; massig; mittelgradig; mittel; moderement; moyennement; moderadamente; medianamente; "
    "moderatamente; matig; moderate",
    0.85: "almost; nearly; near; fast; beinahe; nahezu; presque; quasiment; casi; quasi; bijna; quase; weitgehend; "
    "largely; mainly",
    1.5: "markedly; considerably; deutlich; erheblich; nettement; claramente; nettamente; duidelijk; marcadamente; "
    "important",
    1.6: "very; strongly; highly; severely; much; severe; sehr; stark; schwer; hochgradig; tres; fort; fortement; "
    "beaucoup; bien; muy; mucho; fuertemente; molto; fortemente; zeer; erg; heel; sterk; ernstig; muito; "
    "gravemente; severement; severamente; severo; grave",
    1.8: "extremely; ausserst; extrem; extremement; sumamente; extremadamente; estremamente; uiterst; extremamente; "
    "very much; massively; massiv",
    2.0: "completely; totally; fully; absolutely; entirely; vollig; voll; ganz; vollkommen; voll und ganz; "
    "vollstandig; komplett; totalement; completement; tout a fait; entierement; totalmente; completamente; del "
    "tutto; helemaal; volledig; geheel",
}
"""Adverbs, by how far from the middle of the order they move the word behind them (1 is the word alone)."""
NEGATIONS = {
    -0.5: "not very; not so; nicht sehr; nicht so; pas tres; no muy; non molto; niet zo; niet erg; nao muito; not "
    "really",
    -1.0: "not; nicht; pas; non; no; niet; nao; un; eher nicht; plutot pas",
    -2.0: "not at all; gar nicht; uberhaupt nicht; pas du tout; en absoluto; nada; per niente; per nulla; affatto; "
    "helemaal niet; de modo nenhum; absolutely not",
}
"""Words that turn the word behind them into its opposite, and how far on the other side of the middle that lies."""

_GRADED = (
    "grade grad a stage class level score step degree quartile tertile quintile decile nyha ckd asa ecog gold "
    "isup gleason birads rads who hoehn yahr t n pt ct pn cn yt ypt ypn g q k f stadium stufe klasse stade classe "
    "niveau grado estadio clase nivel cuartil quartil terzil quintil stadio livello graad grau estagio kwartiel "
    "killip ccs kellgren kl fontaine rutherford clark tanner mallampati fitzpatrick hurley wagner pirads tirads "
    "lirads bi ctcae figo garden gustilo child pugh binet rai okuda bclc dukes fototipo phototype hauttyp "
    "pflegegrad pflegestufe gir risk risiko risque riesgo rischio ps kps hgb line linie ligne linea phase fase "
    "zone rank tier tercile percentile band cycle dose dosis month category kategorie kdigo akin rifle cdr mrs "
    "mmrc mrc metavir fibrosis fib ishak steatosis"
)
GRADED = frozenset(["", *_GRADED.split()])
"""What stands before the number of a grade: `Grade 2`, `NYHA III`, `T1`; nothing, where the number stands alone."""
_LETTER_GRADED = (
    "grade grad stage class level stadium stufe klasse stade classe niveau grado estadio clase nivel stadio "
    "livello graad grau estagio child pugh cdc bclc dukes binet gold okuda risk risiko risque riesgo asa kdigo "
    "albuminuria albuminurie note rating certainty evidence tanner rank"
)
LETTER_GRADED = frozenset(_LETTER_GRADED.split())
"""Words of names, or before a level, that say that single letters are grades: `Child` with A, B and C."""
