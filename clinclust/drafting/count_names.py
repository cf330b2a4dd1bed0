"""Words of what is counted, by which the name of a column says that it is a count, in seven languages."""

from __future__ import annotations

__all__ = ["CALLED_COUNTS", "COUNTED_ENDINGS", "PERIODS"]

_OF_PEOPLE = (
    "children kinder enfants hijos figli kinderen filhos siblings geschwister births geburten parity paritat parite "
    "paridad parita pariteit paridade gravidity gravida gravidade gestaciones gestite gesta embarazos grossesses "
    "schwangerschaften pregnancies pregnancy abortions abortos aborti fehlgeburten miscarriages brothers sisters "
    "partners partner partenaires parejas household haushalt hogar foyer moradores residents bewohner habitants "
    "habitantes conviventi inwonenden huisgenoten contacts kontakte contactos contatti contatos convivientes hermanos "
    "fratelli irmaos broers zussen kids offspring livebirths lebendgeburten zwangerschappen gravidanze gestacoes "
    "partos parti accouchements miskramen personen personnes personas persone"
)
_OF_CARE = (
    "visits visites visitas visite besuche arztbesuche consultations consultas consulte consulten bezoeken admissions "
    "hospitalisations hospitalizations hospitalisationen hospitalizaciones ingresos ricoveri opnames internacoes "
    "internamentos aufenthalte readmissions rehospitalisations reingresos medications medikamente medicaments "
    "medicamentos farmaci farmacos medicijnen geneesmiddelen drugs drogues pills tabletten tablets comprimidos "
    "compresse comprimes capsules kapseln capsulas capsule gelules operations operationen operaties ops operaciones "
    "operacoes interventi interventions interventionen intervenciones surgeries cirugias cirurgias reoperations "
    "reinterventions reintervenciones reintervencoes reinterventi revisions revisionen procedures eingriffe ingrepen "
    "stays infiltrations injections injektionen injecties inyecciones iniezioni injecoes cycles zyklen cicli ciclos "
    "cycli sessions sitzungen seances sesiones sedute sessoes transfusions transfusionen transfusiones transfusies "
    "trasfusioni transfusoes transfused urgencias emergencias notfalle urgences accessi arztkontakte "
    "krankenhausaufenthalte doses dosen dosi gaben giften linee linien therapielinien lignes lineas linhas lijnen "
    "treatments behandlungen behandelingen traitements tratamientos trattamenti tratamentos therapien vortherapien "
    "therapies terapias terapie dialysen dialyses hemodialyses biopsies biopsien biopsias biopten scans labs "
    "untersuchungen examens exames esami ordered prescriptions rezepte ordonnances recetas prescrizioni recepten "
    "vaccinations vaccinaties impfungen vacunas vaccinazioni shots shocks schocks stents implants implantes "
    "implantate impianti implantaten courses curas kuren pansements cambios verbande medicazioni biologics dmards "
    "antihypertensives antihypertenseurs antibiotics catheters transfers verlegungen referrals uberweisungen "
    "concentrates konserven bags sachets puffs hubs pufs inhalations calls anrufe appels llamadas chiamate sessies "
    "prelievi ponctions punktionen punciones punture puncties detoxes entzuge entgiftungen extractions extraktionen"
)
_OF_EVENTS = (
    "falls sturze chutes caidas cadute quedas vallen valpartijen episodes episoden episodios episodi attacks anfalle "
    "aanvallen attacchi ataques crises crisis crisi seizures hypos hypoglycaemias hypoglycemias hypoglykamien "
    "hypoglycemies hipoglucemias ipoglicemie hipoglicemias exacerbations exazerbationen exacerbaciones exacerbaties "
    "riacutizzazioni exacerbacoes infections infektionen infecciones infezioni infeccoes infecties relapses schube "
    "poussees brotes rezidive recidives recidivas recidive ricadute recaidas rechutes terugvallen flares events "
    "ereignisse evenements eventos eventi gebeurtenissen attempts versuche tentatives intentos tentativi tentativas "
    "pogingen stools stuhle stuhlgange selles deposiciones scariche evacuacoes ontlastingen tried awakenings arousals "
    "micturitions miktionen mictions micciones minzioni nycturie nykturie exclusions suspensions arrests convictions "
    "absences fehltage absencias assenze complications komplikationen complicaciones complicanze complicacoes "
    "complicaties fractures frakturen fracturas fratture fraturas fracturen rejections abstossungen rejets rechazos "
    "rigetti rejeicoes bleeds blutungen saignements hemorragias emorragie bloedingen sangramentos strokes "
    "schlaganfalle accidents unfalle accidentes incidenti acidentes ongevallen apnoeas apneas apnoen cigarettes "
    "zigaretten cigarrillos cigs sigarette sigaretten cigarros drinks getranke bebidas bevande binges panikattacken "
    "vomissements migraines spells syncopes synkopen sincopes sincopi blackouts ohnmachten alarms errors fehler "
    "erreurs errores errori fouten aciertos aufwachen nachtmahlzeiten recurrences reinfections"
)
_OF_THINGS = (
    "nodes lk ganglions ganglios linfonodi lymphknoten lymfeklieren polyps polypen polypes polipos polipi metastases "
    "metastasen metastasi lesions lasionen lesiones lesioni lesoes laesies tumors tumoren tumeurs tumores tumori "
    "nodules knoten nodulos noduli cysts zysten quistes cisti oocytes oozyten ovocytes ovocitos ovociti eicellen "
    "embryos embryonen embryons embriones embrioni follicles follikel follicules foliculos follicoli teeth zahne "
    "dents dientes denti dentes tanden kiezen warts warzen verrues verrugas plaques ulcers ulzera ulceres ulceras "
    "ulcere wunden plaies naevi nevi calculs calculos calcoli stenen moles comorbidities comorbidites komorbiditaten "
    "comorbilidades comorbidita comorbidades comorbiditeiten diagnoses diagnosen diagnosticos diagnosi cups glasses "
    "glaser verres bottles flaschen bouteilles botellas portions portionen porciones porzioni meals mahlzeiten repas "
    "comidas pasti maaltijden mutations mutationen mutaciones mutazioni alleles joints "
    "gelenke articulaciones rooms zimmer pets haustiere tropfen drops pads vorlagen couches panales diapers windeln "
    "repetitions wiederholungen repeticiones ripetizioni"
)
_OF_NUMBER = (
    "number anzahl anz zahl nombre nb nbre numero num nro count counts aantal quantidade cantidad quante quanti "
    "wieviele conteo contagem recuento conteggio comptage telling"
)
_OF_DAYS = (
    "liegetage fehltage krankheitstage behandlungstage krankentage trinktage rauchtage kopfschmerztage schmerztage "
    "beatmungstage fiebertage therapietage arbeitstage abwesenheitstage krankenhaustage konsumtage urlaubstage "
    "migranetage intensivtage migrainedagen ziektedagen verzuimdagen ligdagen"
)
CALLED_COUNTS = " ".join((_OF_DAYS, _OF_NUMBER, _OF_PEOPLE, _OF_CARE, _OF_EVENTS, _OF_THINGS))
"""Words that say that a column is a count, which its values then only shape."""
COUNTED_ENDINGS = (
    "anzahl besuche aufenthalte medikamente operationen eingriffe episoden anfalle kontakte zyklen sitzungen gaben "
    "therapien behandlungen infektionen frakturen blutungen komplikationen schube transfusionen dialysen injektionen "
    "opnames behandelingen aanvallen sessies aantal bezoeken giften operaties"
)
"""How German and Dutch compounds end that name a count."""
PERIODS = (
    "day days week weeks month months year night wk tag woche monat jahr nacht jour jours semaine sem mois an annee "
    "nuit dia dias semana mes ano noche noite giorno settimana mese anno notte dag maand jaar 24h"
)
"""What stands behind `per`, `pro`, `par`, `por` or a stroke in the name of something that is counted a period."""
