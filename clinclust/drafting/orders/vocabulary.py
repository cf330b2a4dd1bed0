"""The words of ordered levels in English, German, French, Spanish, Italian, Dutch and Portuguese.

The tables stand in the modules beside this one; each holds one kind of order. A line has a rank, and the phrases of
that rank in all languages; phrases are written without accents, and in one gender and number. Ranks only order the
phrases of one table, and 0 is its middle, from which adverbs lead away (`very`) or towards which they lead
(`slightly`). `words.py` has the rules that use them.
"""

from __future__ import annotations

from clinclust.drafting.orders import degrees, findings, judgements, persons

__all__ = [
    "ABSENT",
    "ADVERBS",
    "COMPLAINTS",
    "GRADED",
    "LETTER_GRADED",
    "NEGATIONS",
    "ORDERS",
    "SOUND",
    "UNABLE",
    "UNIPOLAR",
    "UNMOVED",
]

ABSENT = (
    "none; no; absent; not present; nil; nothing; without; free; never; no response; nie; niemals; jamais; nunca; "
    "mai; nooit; keine; kein; nicht vorhanden; ohne; frei; nein; fehlend; nicht nachweisbar; aucun; aucune; nul; "
    "nulle; sans; non; pas; rien; ninguno; ninguna; ausente; nulo; sin; nada; nessuno; nessuna; assente; nullo; "
    "nulla; senza; niente; geen; afwezig; zonder; nee; niets; nenhum; nenhuma; nao; sem"
)
"""Words for the absence of what is graded: the lowest level of every order that is `UNIPOLAR`, and of grades."""

COMPLAINTS = (
    "symptoms; symptom; complaints; signs; pain; limitation; impairment; restriction; disability; difficulty; "
    "problems; activity; symptome; beschwerden; zeichen; schmerzen; schmerz; einschrankung; behinderung; aktivitat; "
    "probleme; symptomes; signes; douleur; gene; limitation; handicap; plainte; activite; sintomas; signos; dolor; "
    "limitacion; molestias; discapacidad; actividad; sintomi; segni; dolore; limitazione; disturbi; attivita; "
    "klachten; beperking; dor; limitacao; queixas"
)
"""What is graded though the other levels do not say it: `no symptoms` beside `mild` and `severe`."""

SOUND = (
    "normal; good; well; healthy; intact; preserved; stable; full; unimpaired; unremarkable; gut; unauffallig; "
    "erhalten; gesund; uneingeschrankt; bon; bien; conserve; sain; bueno; conservado; sano; buono; bene; "
    "conservato; goed; gezond; behouden; bom; bem; preservado; normaal; normale"
)
"""Words for a state without the impairment that other levels grade: `gut` beside `reduziert`, `stark reduziert`."""

ORDERS: tuple[tuple[str, dict[float, str]], ...] = (
    ("level", degrees.LEVEL),
    ("amount", degrees.AMOUNT),
    ("size", degrees.SIZE),
    ("frequency", degrees.FREQUENCY),
    ("quality", degrees.QUALITY),
    ("agreement", judgements.AGREEMENT),
    ("assent", judgements.ASSENT),
    ("satisfaction", judgements.SATISFACTION),
    ("change", judgements.CHANGE),
    ("chance", judgements.CHANCE),
    ("ease", judgements.EASE),
    ("smoking", persons.SMOKING),
    ("education", persons.EDUCATION),
    ("education in french", persons.EDUCATION_IN_FRENCH),
    ("weight", persons.WEIGHT),
    ("frailty", persons.FRAILTY),
    ("dependence", persons.DEPENDENCE),
    ("response", judgements.RESPONSE),
    ("differentiation", findings.DIFFERENTIATION),
    ("age", persons.AGE),
    ("sign", findings.SIGN),
    ("course", findings.COURSE),
    ("extent", findings.EXTENT),
    ("glucose tolerance", findings.GLUCOSE),
    ("function", findings.FUNCTION),
    ("place", findings.PLACE),
    ("presence", findings.PRESENCE),
    ("consciousness", persons.CONSCIOUSNESS),
    ("depth", findings.DEPTH),
    ("cognition", findings.COGNITION),
    ("bone density", findings.BONE),
    ("blood pressure", findings.BLOOD_PRESSURE),
    ("dysplasia", findings.DYSPLASIA),
    ("liver", findings.LIVER),
    ("plasma cells", findings.MYELOMA),
    ("albuminuria", findings.ALBUMINURIA),
    ("retinopathy", findings.RETINOPATHY),
    ("breathing", findings.BREATHING),
    ("reach", findings.REACH),
    ("fitness", persons.FITNESS),
    ("nutrition", persons.NUTRITION),
    ("exertion", findings.EXERTION),
    ("direction", findings.DIRECTION),
    ("activity", findings.ACTIVITY),
    ("abnormality", findings.ABNORMALITY),
)
"""The kinds of order; a column whose levels are in two of them is ordered by the first."""

UNABLE = (
    "not possible; impossible; unable; cannot; nicht moglich; unmoglich; nicht durchfuhrbar; impossible a faire; "
    "incapable; "
    "no posible; imposible; incapaz; non possibile; impossibile; incapace; niet mogelijk; onmogelijk; nao possivel; "
    "impossivel"
)
"""Words for what cannot be done at all: above all degrees of how much it is impaired."""

UNIPOLAR = frozenset(
    ["amount", "size", "extent", "ease", "response", "education", "frequency", "sign", "course", "depth", "presence"]
)
"""The kinds in which the absence of what is graded lies below all levels."""

UNMOVED = "limited; limitado; limitato; limitada; limitata; limite; beperkt; begrenzt; eingeschrankt; reduced; impaired"
"""Words of small amounts that adverbs do not make smaller: whoever is very limited has much of a limitation."""

ADVERBS = {
    0.3: "slightly; a bit; minimally; hardly; kaum; un petit peu; apenas; appena; nauwelijks; borderline; iets; "
    "minimal; a little bit; un pelo",
    0.5: "somewhat; a little; mildly; partly; pre; leicht; etwas; ein wenig; wenig; bedingt; un peu; peu; "
    "legerement; algo; un poco; ligeramente; poco; un po; leggermente; enigszins; een beetje; um pouco; "
    "pouco; ligeiramente; gering; geringgradig; licht; lichtgradig; mild; massig viel; lichtelijk; "
    "discretamente; discretement; ein bisschen; een klein beetje; low",
    0.7: "rather; fairly; quite; partially; eher; teilweise; ziemlich; plutot; assez; partiellement; bastante; "
    "parcialmente; abbastanza; piuttosto; parzialmente; vrij; tamelijk; redelijk; gedeeltelijk; "
    "relativamente; mostly",
    0.8: "moderately; massig; mittelgradig; mittel; moderement; moyennement; moderadamente; medianamente; "
    "moderatamente; matig; moderate",
    0.85: "almost; nearly; near; fast; beinahe; nahezu; presque; quasiment; casi; quasi; bijna; quase; weitgehend; "
    "largely; mainly",
    1.2: "quite a bit; a good deal; bastante mas que poco; recht",
    1.5: "markedly; considerably; deutlich; erheblich; nettement; claramente; nettamente; duidelijk; marcadamente; "
    "important; veel; viel; a lot; assai; sustancialmente; notablemente; notevolmente; aanzienlijk; "
    "substantially; significantly; bastante mas; eindeutig; clearly; chiaramente",
    1.6: "very; strongly; highly; severely; much; severe; sehr; stark; schwer; hochgradig; tres; fort; fortement; "
    "beaucoup; bien; muy; mucho; fuertemente; molto; fortemente; zeer; erg; heel; sterk; ernstig; muito; "
    "gravemente; severement; severamente; severo; grave; certainly; definitely; sicher; certainement; "
    "certamente; ciertamente; zeker; particularly; grandement; enormemente; muitissimo; high; "
    "considerablemente",
    1.8: "extremely; ausserst; extrem; extremement; sumamente; extremadamente; estremamente; uiterst; "
    "extremamente; very much; massively; massiv; overwhelmingly; massivement; dramatically; zeer veel; sehr "
    "viel",
    2.0: "completely; totally; fully; absolutely; entirely; vollig; voll; ganz; vollkommen; voll und ganz; "
    "vollstandig; komplett; totalement; completement; tout a fait; entierement; totalmente; completamente; "
    "del tutto; helemaal; volledig; geheel",
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
    "mmrc mrc metavir fibrosis fib ishak steatosis year jahr annee curso anno klas klassenstufe semestre tasc forrest "
    "hinchey bosniak ashworth hurley wifi sarnat papile ivh rop vur tanner banff norwood ludwig nurick ecog "
    "mallampati cormack lehane deauville ishak borrmann spetzler fisher hunt wfns graf risser crowe tonnis kl icrs"
)
GRADED = frozenset(["", *_GRADED.split()])
"""What stands before the number of a grade: `Grade 2`, `NYHA III`, `T1`; nothing, where the number stands alone."""
_LETTER_GRADED = (
    "grade grad stage class level stadium stufe klasse stade classe niveau grado estadio clase nivel stadio "
    "livello graad grau estagio child pugh cdc bclc dukes binet gold okuda risk risiko risque riesgo asa kdigo "
    "albuminuria albuminurie note rating certainty evidence tanner rank tasc dukes forrest frankel asia ais weber "
    "gardner density densite dichte densidad densita density tirads birads angeles hoensbroeck abcd abcde ceap "
    "evidenz nivel preoperative banff severity schweregrad gravite gravedad gravita ernst "
    "gravidade"
)
LETTER_GRADED = frozenset(_LETTER_GRADED.split())
"""Words of names, or before a level, that say that single letters are grades: `Child` with A, B and C."""
