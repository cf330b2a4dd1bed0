"""Words of how much, how large, how often, how good and how likely something is, by rank; see `vocabulary.py`."""

from __future__ import annotations

__all__ = ["AMOUNT", "FREQUENCY", "LEVEL", "QUALITY", "SIZE"]

LEVEL = {
    -2.0: "low; decreased; reduced; below normal; niedrig; erniedrigt; vermindert; bas; diminue; abaisse; bajo; "
    "disminuido; basso; ridotto; diminuito; laag; verlaagd; baixo; diminuido",
    0.0: "normal; medium; moderate; intermediate; average; mittel; mittelmassig; moyen; moderado; medio; moderato; "
    "normaal; gemiddeld; middel; modere; normale; mittelgradig; massig; "
    "mid; middle; mediano; mitte",
    2.0: "high; increased; elevated; raised; above normal; hoch; hohe; erhoht; eleve; haut; augmente; alto; elevado; "
    "aumentado; elevato; aumentato; hoog; verhoogd",
}

AMOUNT = {
    -5.0: "none; no; absent; normal; not at all; nil; clear; gar nicht; uberhaupt nicht; unauffallig; pas du tout; "
    "nada; en absoluto; per niente; per nulla; helemaal niet; niet; normaal; normale; de modo nenhum; not "
    "true; no pain; absence; absence de; fehlt; asymptomatic; asymptomatisch; asymptomatique; asintomatico; "
    "no not limited at all; nein uberhaupt nicht eingeschrankt; non pas du tout limite; no no me limita nada; "
    "no per nulla limitato; nee helemaal niet beperkt; nao nao me limita nada",
    -4.0: "minimal; trace; traces; questionable; borderline; equivocal; subclinical; fraglich; grenzwertig; spuren; "
    "minime; douteux; trazas; minimo; dudoso; indicios; tracce; dubbio; sporen; minimaal; twijfelachtig; "
    "vestigios; duvidoso; inactive; inaktiv; sedentary; sitzend; sedentaire; sedentario; very mild; very "
    "little; mild discomfort; muy poco; tres peu; molto poco; muito pouco; sehr wenig; heel weinig; hardly; "
    "kaum; barely; apenas; a penas; appena; nauwelijks; quase nada; casi nada; quasi niente; presque rien; "
    "doubtful",
    -2.8: "a little; a little bit; slight; slightly; few; wenig; ein wenig; un peu; peu; poco; un poco; un po; een "
    "beetje; weinig; um pouco; pouco; a bit; slight degree; schwach; debil; debole; zwak; "
    "fraco; faiblement; ligeramente; leggermente; ligeiramente; lichtjes; legerement; "
    "pequena; iets; un petit peu; ein bisschen; "
    "yes limited a little; ja etwas eingeschrankt; oui un peu limite; si me limita un poco; "
    "si parzialmente limitato; ja een beetje beperkt; sim me limita um pouco",
    -2.5: "gering; geringgradig; occasional; gelegentlich; faible; escaso; scarso; occasionnel; ocasional; scant; "
    "scanty; sparse; sparlich; schaars; rare secretions",
    -2.0: "mild; mildly; light; low; minor; background; leicht; leichtgradig; niedrig; etwas; leger; bas; leve; "
    "ligero; bajo; lieve; leggero; basso; licht; laag; ligeiro; baixo; superficial; menor; mineur; kleiner; "
    "sporadic; spurlich",
    -1.2: "somewhat; algo; enigszins; discreto",
    -1.0: "some; einige; quelques; algunos; alcuni; enkele; alguns; limited; limitado; limitato; beperkt; begrenzt; "
    "limite; isolated; vereinzelt; isole",
    -0.5: "einigermassen",
    0.0: "moderate; moderately; medium; intermediate; average; middle; partial; mittel; mittelgradig; massig; "
    "moderat; mittelschwer; mittelstark; modere; moyen; moyennement; moderement; intermediaire; partiel; "
    "moderado; medio; intermedio; regular; moderato; media; matig; gemiddeld; middel; intermediario; massig "
    "stark; moderadamente; moderatamente; mesurado; mittelmassig; medianamente; middelmatig; "
    "mediamente; gemassigt; gewoon; usual",
    1.5: "considerable; marked; moderately severe; quite a bit; prominent; major; pronounced; most; ziemlich; "
    "ausgepragt; deutlich; erheblich; marque; important; assez; marcado; importante; bastante; marcato; "
    "abbastanza; notevole; parecchio; aanzienlijk; tamelijk; behoorlijk; duidelijk; acentuado; considerably; "
    "markedly; substantial; relevant; notable; moderate severe; sustancial; betrachtlich; nennenswert; "
    "marcadamente; erhoht; fairly; pretty much; verstarkt; mayor; majeur; maggiore; maior; groter; aumentado; "
    "beduidend",
    2.5: "severe; severely; vigorous; strong; strongly; high; heavy; a lot; much; many; serious; great; intense; "
    "stark; schwer; hoch; viel; hochgradig; schwerwiegend; sehr; fort; eleve; haut; beaucoup; grave; lourd; "
    "tres; muy; zeer; grosse; severo; alto; mucho; intenso; fuerte; a tension; tenso; molto; forte; elevato; tanto; "
    "ernstig; hoog; "
    "zwaar; veel; sterk; erg; muito; elevado; heel veel; tendu; tense; gespannt; intensive; intensif; "
    "intensief; abundant; copious; profuse; abondant; abbondante; reichlich; overvloedig; massive bleeding; "
    "ausgedehnt; intensely; intensamente; heftig; hevig; violent; very; kraftig; importantissimo; bastante "
    "forte; gran; pesado; "
    "yes limited a lot; ja stark eingeschrankt; oui beaucoup limite; si me limita mucho; "
    "si molto limitato; ja ernstig beperkt; sim me limita muito",
    5.0: "extreme; extremely; profound; critical; maximal; maximum; life threatening; unbearable; very much; "
    "complete; total; all; active; extrem; unertraglich; massiv; lebensbedrohlich; vollstandig; enormement; "
    "insupportable; massif; complet; muchisimo; extremo; maximo; insoportable; completo; estremo; moltissimo; "
    "insopportabile; massimo; extreem; enorm; ondraaglijk; volledig; muitissimo; insuportavel; alle; tous; "
    "todos; tutti; end stage; unable; unable to do; excessive; excessif; excesivo; eccessivo; overmatig; "
    "ubermassig; exzessiv; extremement; extremamente; extremadamente; estremamente; uiterst; ausserst; "
    "nicht in der lage; ich bin nicht in der lage; cannot do; can not do; ausserordentlich; non sono in grado; "
    "soy incapaz; overwhelming; worst possible; sehr stark; sehr viel; heel erg; maximalmente; muito intenso; totally; "
    "totalmente; gravissimo; completely; fulminant; devastating; incapacitating; incapacitante; invalidant; "
    "disabling; critico; kritisch; critique; kritiek",
}

SIZE = {
    -4.0: "tiny; punctate; winzig; minuscule; diminuto; minuscolo; piepklein",
    -3.0: "micro; microscopic; mikroskopisch; microscopique; microscopisch; subcentimetric",
    -2.0: "small; short; klein; kurz; petit; court; pequeno; corto; piccolo; breve; kort; curto",
    0.0: "medium; moderate; mittel; mittelgross; moyen; moyenne; mediano; medio; middelgroot; middel; intermediate",
    2.0: "large; big; long; gross; lang; grand; gros; grande; largo; groot; lungo; longo; macro; macroscopic; "
    "makroskopisch; macroscopique; macroscopisch; gross haematuria; gross hematuria",
    4.0: "huge; giant; riesig; geant; gigante; enorme; reusachtig",
}

FREQUENCY = {
    -5.0: "never; not at all; uberhaupt nicht; none of the time; no; nie; niemals; gar nicht; jamais; nunca; mai; "
    "nooit; at no time; "
    "zu keinem zeitpunkt; em nenhum momento; a aucun moment; nessuna volta; ninguna vez; nenhuma vez; nunca o "
    "casi nunca; never or almost never; nessun giorno",
    -4.0: "hardly ever; kaum; fast nie; presque jamais; casi nunca; quasi mai; bijna nooit; quase nunca; "
    "practicamente nunca; almost never; rarissimamente; very rarely; sehr selten; tres rarement; muy "
    "raramente; molto raramente; zeer zelden",
    -3.0: "rarely; seldom; a little of the time; selten; seltener; rarement; raramente; rara vez; raro; zelden; "
    "poco; infrequently; infrequent; raramente o nunca; poche volte; pocas veces; poucas vezes; weinig; "
    "sporadisch; sporadic; pocos dias; peu souvent; non spesso; once or twice; einmal; une fois; una vez; una "
    "volta; eenmaal; once",
    -1.5: "occasionally; now and then; gelegentlich; hin und wieder; occasionnellement; de temps en temps; "
    "ocasionalmente; de vez en cuando; occasionalmente; ogni tanto; af en toe; de vez em quando; "
    "eventualmente; alguna vez; wel eens; ab und zu; bisweilen; sporadicamente; de temps a autre; de vez en "
    "vez; occasional; ocasional; occasionnel; paroxysmal; paroxystique; paroxistica; parossistica",
    -1.2: "from time to time",
    -1.0: "sometimes; some of the time; several days; manchmal; zeitweise; an einzelnen tagen; parfois; "
    "quelquefois; plusieurs jours; a veces; algunas veces; varios dias; a volte; qualche volta; alcuni "
    "giorni; soms; as vezes; algumas vezes; intermittent; intermittierend; intermittente; some days; a few "
    "days; quelques jours; einige tage; an einigen tagen; algunos dias; qualche giorno; enkele dagen; "
    "meerdere dagen; several times; talvolta; alle volte; zuweilen; teils; de loin en loin; a few times; less "
    "than half the days; occasionally bothered; episodisch; episodic; intermittently; intermitentemente; "
    "mensuel",
    1.4: "regelmatig",
    2.0: "often; frequently; more than half the days; a good bit of the time; oft; haufig; an mehr als der halfte "
    "der tage; souvent; frequemment; plus de la moitie du temps; a menudo; con frecuencia; muchas veces; "
    "frecuentemente; "
    "mas de la mitad de los dias; spesso; frequentemente; vaak; dikwijls; muitas vezes; frequent; fast die "
    "halfte; more than half the time; over half the time; meer dan de helft van de dagen; piu della meta dei "
    "giorni; mais da metade dos dias; repeatedly; wiederholt; veelvuldig; recurrent",
    2.5: "a lot of the time",
    3.0: "usually; most of the time; generally; regularly; meistens; regelmassig; la plupart du temps; "
    "generalement; regulierement; la mayor parte del tiempo; normalmente; di solito; meestal; geralmente; "
    "habitualmente; most days; die meisten tage; an den meisten tagen; la plupart des jours; la "
    "mayoria de los dias; quasi tutti i giorni; de meeste dagen; most times; very often; sehr oft; sehr "
    "haufig; tres souvent; muy a menudo; muy frecuentemente; molto spesso; heel vaak; zeer vaak; muito "
    "frequentemente; casi todo el tiempo; die meiste zeit; regularmente; regolarmente; gewoonlijk; "
    "usualmente; abitualmente; habituellement; gewohnlich; habitual; abituale; d habitude; de costumbre",
    4.0: "nearly every day; daily or almost daily; almost daily; beinahe jeden tag; fast taglich; fast jeden tag; "
    "presque tous les jours; casi todos los dias; quasi ogni giorno; bijna elke dag; quase todos os dias",
    4.2: "almost always; fast immer; presque toujours; casi siempre; quasi sempre; bijna altijd; quase sempre",
    4.6: "persistent; persistierend",
    5.0: "always; constantly; continuously; all of the time; every day; daily; immer; standig; dauernd; taglich; "
    "jeden tag; toujours; constamment; en permanence; tous les jours; quotidien; siempre; constantemente; "
    "diariamente; todos los dias; sempre; ogni giorno; altijd; voortdurend; dagelijks; todos os dias; "
    "continuo; permanent; permanente; constant; konstant; continuous; kontinuierlich; continuamente; "
    "perpetuo; tutto il tempo; todo el tiempo; o tempo todo; tout le temps; die ganze zeit; de hele tijd; "
    "every time; jedes mal; every night; jede nacht; permanently; tutti i giorni; cada dia; elke dag; ogni "
    "volta; permanentemente; round the clock",
}

QUALITY = {
    -7.0: "verlust; lost; loss; failure; failed; transplantatverlust; perte; perdu; perdida; persa; perdita; "
    "verlies; versagen; transplantatversagen; ausfall; falla; falencia; perda; echec; fehlgeschlagen; "
    "mislukt; totalverlust; dead; fracaso; fallimento",
    -5.0: "terrible; awful; very poor; critical; miserabel; katastrophal; execrable; pesimo; pessimo; slecht tot "
    "zeer slecht; sehr schlecht; tres mauvais; muy malo; molto scarso; zeer slecht; muito ruim; muito mau",
    -2.0: "poor; bad; inadequate; schlecht; mauvais; mal; malo; cattivo; scadente; scarso; male; slecht; mau; ruim; "
    "insufficient; mangelhaft; ungenugend; insuffisant; insuficiente; insufficiente; onvoldoende; deficient; "
    "unsatisfactory; unbefriedigend; unzureichend; insatisfatorio; insatisfactorio; non satisfaisant; "
    "difettoso; decompensated; dekompensiert; decompense; descompensado; scompensato; gedecompenseerd",
    -1.0: "reduced; impaired; not so good; weniger gut; reduziert; ausreichend; eingeschrankt; altere; mediocre; "
    "passabile; "
    "deteriorado; regular tirando a malo; ridotto; verminderd; passable; suboptimal; beeintrachtigt; limited; "
    "limitado; limitata; limite; comprometido; compromesso; verminderte; decreased; below average; "
    "unterdurchschnittlich",
    0.0: "fair; moderate; average; neither good nor bad; neither poor nor good; neither bad nor good; acceptable; "
    "mittel; mittelmassig; zufriedenstellend; "
    "massig; moyen; correct; regular; aceptable; medio; matig; redelijk; razoavel; so so; neutral; "
    "mediano; durchschnittlich; so la la; okay; ok; nur massig; middelmatig; razonable; ordinary",
    1.0: "satisfactory; sufficient; adequate; befriedigend; satisfaisant; suffisant; sufficiente; voldoende; "
    "satisfatorio; satisfactorio; assez bon; ziemlich gut; suficiente; above average; uberdurchschnittlich; "
    "ruim voldoende; satisfacente; soddisfacente; adeguato; adecuado; adequado; compensated; kompensiert; "
    "compense; compensado; gecompenseerd; compensato",
    1.3: "discreto",
    2.0: "good; well; gut; bon; bien; bueno; buen; buono; bene; goed; bom; bem",
    3.0: "very good; sehr gut; tres bon; muy bueno; molto buono; zeer goed; muito bom; muito boa",
    4.5: "excellent; outstanding; optimal; perfect; ausgezeichnet; hervorragend; excelente; eccellente; ottimo; "
    "uitstekend; otimo; optimo; parfait; perfecto; exzellent; exceptional; ideal; uitmuntend; fantastic; "
    "perfekt",
}
