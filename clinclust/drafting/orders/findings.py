"""Words of findings and diseases: signs, extent, depth, function, paths to a disease; see `vocabulary.py`."""

from __future__ import annotations

__all__ = [
    "ABNORMALITY",
    "ACTIVITY",
    "ALBUMINURIA",
    "BLOOD_PRESSURE",
    "BONE",
    "BREATHING",
    "COGNITION",
    "COURSE",
    "DEPTH",
    "DIFFERENTIATION",
    "DIRECTION",
    "DYSPLASIA",
    "EXERTION",
    "EXTENT",
    "FUNCTION",
    "GLUCOSE",
    "LIVER",
    "MYELOMA",
    "PLACE",
    "PRESENCE",
    "REACH",
    "RETINOPATHY",
    "SIGN",
]

DIFFERENTIATION = {
    0.0: "well differentiated; well; gut differenziert; gut; bien differencie; bien diferenciado; ben differenziato",
    1.0: "moderately differentiated; moderately; moderate; massig differenziert; moyennement differencie; "
    "moderadamente diferenciado; moderatamente differenziato; maßig",
    2.0: "poorly differentiated; poorly; poor; schlecht differenziert; schlecht; gering differenziert; "
    "peu differencie; pobremente diferenciado; poco diferenciado; scarsamente differenziato",
    3.0: "undifferentiated; anaplastic; undifferenziert; anaplastisch; indifferencie; indiferenciado; indifferenziato",
}

SIGN = {
    -2.0: "negative; neg; non reactive; negativ; negatif; negativo; negatief",
    -1.0: "trace; borderline; equivocal; weak; weakly positive; indeterminate; grenzwertig; schwach; schwach "
    "positiv; douteux; faible; faiblement positif; limite; dudoso; debil; debil positivo; indeterminado; "
    "dubbio; debole; zwak; zwak positief; fraco",
    1.0: "positive; pos; moderate; reactive; positiv; positif; positivo; positief",
    2.5: "strongly positive; strong; stark positiv; stark; fortement positif; fort; fuertemente positivo; fuerte; "
    "fortemente positivo; forte; sterk positief; sterk; high positive",
}

COURSE = {
    -1.0: "early; initial; acute; recent; fruh; akut; precoce; aigu; agudo; temprano; acuto; vroeg; beginning; "
    "beginnend; inicial; incipient; debut; iniziale; inicio; onset; neu",
    0.0: "intermediate; middle; mid; subacute; subakut; intermediaire; subaigu; subagudo; intermedio; subacuto",
    1.0: "late; advanced; chronic; spat; fortgeschritten; chronisch; tardif; avance; chronique; tardio; avanzado; "
    "cronico; tardivo; avanzato; laat; gevorderd",
    2.0: "end stage; terminal; endstadium",
}

EXTENT = {
    -2.0: "in situ; carcinoma in situ",
    -1.0: "localized; localised; local; focal; limited; confined; lokal; lokalisiert; umschrieben; localise; "
    "localizado; localizzato; gelokaliseerd; begrenzt",
    0.0: "regional; locally advanced; segmental; multifocal; lokal fortgeschritten; regionar; localement avance; "
    "localmente avanzado; localmente avanzato",
    2.0: "distant; metastatic; disseminated; diffuse; extensive; generalised; generalized; metastasiert; "
    "disseminiert; diffus; fernmetastasen; metastatique; metastasico; metastatico; diffuso; generalisiert; "
    "generalizado",
}

GLUCOSE = {
    0.0: "normal; normoglycaemia; normoglycemia; nein; no; none; normal glucose tolerance; ngt",
    1.0: "prediabetes; pre diabetes; prediabetic; impaired; igt; ifg; impaired glucose tolerance; pradiabetes; "
    "impaired fasting glucose; intolerant; intolerance au glucose; intolerancia; gestorte glukosetoleranz; "
    "gestort; gestoord; alterata; alterada; indeterminate; borderline; iga",
    2.0: "diabetes; diabetic; dm; t2d; t2dm; cfrd; ptdm; nodat; diabetes mellitus; type 2 diabetes; overt "
    "diabetes; diabetes tipo 2; dm2; niddm; manifester diabetes; t1dm",
}

FUNCTION = {
    -2.0: "normal; preserved; erhalten; conserve; conservada; conservata; behouden",
    -1.0: "mildly reduced; mid range; midrange; mildly impaired; borderline; leicht reduziert; leicht "
    "eingeschrankt; mrange; moderement alteree; hfmref; low normal; subnormal; leicht vermindert; mild "
    "dysfunction; disfuncion leve; disfunzione lieve; eingeschrankt; impaired",
    0.0: "moderately reduced; moderately impaired; mittelgradig reduziert; mittelgradig eingeschrankt; reduced; "
    "reduziert; alteree; reducida; depressed; verminderd; gestoord; alterata; alterada; diminuee; ridotta; "
    "reduzida; deprimida; moderate dysfunction",
    1.0: "severely reduced; severely impaired; hochgradig reduziert; hochgradig eingeschrankt; schwer eingeschrankt",
    2.0: "absent; none; anuric; aufgehoben; abolida; assente; abolie; ausgefallen; fehlend; loss; verlust",
}

PLACE = {
    1.0: "first; 1st; erste; erstens; 1er; premier; primero; primo; eerste; primeiro; 1a; 1o; 1e",
    2.0: "second; 2nd; zweite; 2eme; deuxieme; segundo; secondo; tweede; 2a; 2o; 2e",
    3.0: "third; 3rd; dritte; 3eme; troisieme; tercero; terzo; derde; terceiro; 3a; 3o; 3e",
    4.0: "fourth; 4th; vierte; 4eme; quatrieme; cuarto; quarto; vierde; 4a; 4o; 4e",
    5.0: "fifth; 5th; funfte; 5eme; cinquieme; quinto; vijfde; 5a; 5o; 5e",
    6.0: "sixth; 6th; 6eme",
}

PRESENCE = {
    -2.0: "absent; missing; not present; no; none; lost; fehlend; fehlt; nicht vorhanden; keine; erloschen; "
    "ausgefallen; aufgehoben; aboli; nul; ausente; abolido; perdido; assente; abolito; afwezig; niet "
    "aanwezig; ontbrekend; areflexia; nicht tastbar; non palpable; no palpable",
    -0.5: "barely present; questionable; fraglich; minimal; traces; dubbio",
    0.0: "partial; partially; partly; partially present; diminished; decreased; reduced; weak; impaired; limited; "
    "some; teilweise; teilweise vorhanden; partiell; vermindert; abgeschwacht; reduziert; eingeschrankt; "
    "schwach; partiellement; diminue; reduit; faible; altere; parcial; parcialmente; disminuido; debil; "
    "reducido; deteriorado; parziale; parzialmente; diminuito; ridotto; debole; gedeeltelijk; verminderd; "
    "zwak; diminuido; reduzido; fraco; incomplete; unvollstandig; hypoactive; abgeschwacht tastbar",
    2.0: "present; full; fully present; normal; complete; intact; preserved; palpable; vorhanden; voll; "
    "vollstandig; erhalten; tastbar; present partout; conserve; conservado; conservato; palpabile; aanwezig; "
    "volledig; behouden; normaal; preservado; palpavel; kraftig tastbar",
    3.0: "increased; exaggerated; brisk; gesteigert; lebhaft; vif; exagere; aumentado; exaltado; vivace; "
    "aumentato; verhoogd; hyperactive; vivo",
}

DEPTH = {
    -2.0: "superficial; epidermal; epidermic; oberflachlich; superficiel; oppervlakkig; first degree; "
    "intraepithelial; mucosal; mukosal",
    -1.0: "superficial partial; superficial partial thickness; superficial dermal; oberflachlich dermal; dermique "
    "superficiel; dermico superficial; oberflachlich zweitgradig; submucosal; submukosal; dermal",
    0.0: "partial; partial thickness; intermediate; intermediaire; intermedio; subcutaneous; subkutan; subcutaneo",
    1.0: "deep partial; deep partial thickness; deep dermal; tief dermal; dermique profond; dermico profundo; "
    "dermico profondo; deep; tief; profond; profundo; diep; muscular; transmural",
    2.0: "full; full thickness; subdermal; subdermique; subdermico; a tutto spessore; espesor total; epaisseur "
    "complete; vollschichtig; volledige dikte; serosal; very deep",
}

COGNITION = {
    0.0: "normal; unauffallig; normale; normaal; no; none; healthy; gesund; sano; cognitively normal; cn; no "
    "dementia; keine demenz; cognitively unimpaired",
    0.5: "subjective cognitive decline; scd; subjective complaints",
    1.0: "mci; mild cognitive impairment; cognitive impairment; impaired; leichte kognitive storung; tcl; "
    "deterioro cognitivo leve; dcl; declinio cognitivo leve",
    2.0: "dementia; demenz; demence; demencia; demenza; dementie; major neurocognitive disorder; ad; alzheimer",
}

BONE = {
    0.0: "normal; unauffallig; normale; normaal; no; none; healthy; gesund; sano",
    1.0: "osteopenia; osteopenie; osteopenico; low bone mass",
    2.0: "osteoporosis; osteoporose; osteoporosi; osteoporotic",
    3.0: "severe osteoporosis; established osteoporosis; manifeste osteoporose",
}

BLOOD_PRESSURE = {
    -1.0: "optimal; hypotension; low",
    0.0: "normal; unauffallig; normale; normaal; no; none; healthy; gesund; sano; normotension; normotensive; "
    "normotensiv; normotenso",
    0.5: "high normal; elevated; hochnormal; prehypertension; pre hypertension; borderline",
    2.0: "hypertension; hypertonie; hypertensive; hypertensiv; ipertensione; hipertension; hypertensie; hipertensao",
}

DYSPLASIA = {
    0.0: "normal; unauffallig; normale; normaal; no; none; healthy; gesund; sano; no dysplasia; nilm; negative",
    0.5: "indefinite; ascus; asc us; hyperplasia",
    1.0: "low grade dysplasia; low grade; lgd; lsil; mild dysplasia; displasia lieve; displasia leve; displasia de "
    "bajo grado",
    2.0: "high grade dysplasia; high grade; hgd; hsil; severe dysplasia; displasia grave; displasia de alto grado; "
    "carcinoma in situ",
    3.0: "carcinoma; cancer; karzinom; invasive carcinoma; invasive; adenocarcinoma",
}

LIVER = {
    0.0: "normal; unauffallig; normale; normaal; no; none; healthy; gesund; sano",
    1.0: "steatosis; steatose; bland steatosis; esteatosis; steatosi; esteatose; fatty liver; nafl; fettleber",
    2.0: "steatohepatitis; nash; mash; esteatohepatitis; steatoepatite",
    2.5: "fibrosis; fibrose; fibrosi; advanced fibrosis",
    3.0: "cirrhosis; zirrhose; cirrhose; cirrosis; cirrosi; cirrose; compensated cirrhosis",
    4.0: "decompensated cirrhosis; decompensated; dekompensierte zirrhose; hcc",
}

MYELOMA = {
    1.0: "mgus",
    2.0: "smoldering; smouldering; smm; smoldering myeloma; smouldering myeloma",
    3.0: "myeloma; multiple myeloma; mm; active myeloma",
}

ALBUMINURIA = {
    0.0: "normoalbuminuria; normo; normal; normoalbuminurica; a1; none",
    1.0: "microalbuminuria; micro; mikro; mikroalbuminurie; microalbuminurica",
    2.0: "macroalbuminuria; macro; makro; makroalbuminurie; overt albuminuria",
    3.0: "nephrotic; nephrotisch; nephrotique; nefrotico; nephrotic range; nefrotisch",
}

RETINOPATHY = {
    0.0: "none; no dr; no retinopathy; no; keine; absent; aucune; ausente; assente; geen; sin retinopatia; r0; normal",
    0.5: "background; hintergrund",
    1.0: "mild npdr; mild nonproliferative; npdr; npdr mild; rdnp leve; rdnp; nichtproliferativ; non "
    "proliferative; nonproliferative; nicht proliferativ; non proliferante; no proliferativa; niet "
    "proliferatief; nao proliferativa",
    2.0: "moderate npdr; moderate nonproliferative; npdr moderate; rdnp moderada; massige npdr",
    3.0: "severe npdr; severe nonproliferative; npdr severe; rdnp severa; rdnp grave; schwere npdr; "
    "preproliferative; pre proliferative; praproliferativ",
    4.0: "pdr; proliferative; rdp; proliferante; proliferatief",
}

BREATHING = {
    0.0: "none; no; room air; ambient air; air; no support; raumluft; keine; air ambiant; aucun; aire ambiente; "
    "ninguno; aria ambiente; nessuno; kamerlucht; geen; ar ambiente; nenhum; spontaneous; spontan",
    1.0: "oxygen; low flow; low flow oxygen; nasal cannula; nasal oxygen; o2; nasal prongs; sauerstoff; "
    "nasenbrille; o2 nasal; lunettes; oxigeno; canula nasal; gafas nasales; ossigeno; occhialini; zuurstof; "
    "neusbril; cateter nasal; conventional oxygen",
    1.5: "mask; face mask; masque; mascarilla; maschera; mascara; venturi; reservoir mask; reservorio",
    2.0: "high flow; hfnc; high flow nasal cannula; hfno; hfnt; high flow oxygen; optiflow; oaf; ohd; high flow "
    "nasal oxygen; nhf",
    3.0: "cpap; niv; bipap; non invasive ventilation; noninvasive; nicht invasive beatmung; vni; vmni; niet "
    "invasief; noninvasive ventilation; non invasive; ncpap; vpp",
    4.0: "imv; intubated; invasive ventilation; mechanical ventilation; intubation; ventilated; invasive beatmung; "
    "intubiert; ventilation invasive; vm; vmi; ventilacion mecanica; ventilazione invasiva; invasive; "
    "invasief; ventilacao mecanica; iot; beatmet; intubado; intubato; vent; ventilator",
    5.0: "ecmo",
}

REACH = {
    0.0: "none; no; geen; keine; aucune; ninguna; nessuna; nenhuma; lumbar only; back only",
    1.0: "to buttock; tot bil; bis gesass; jusqu a la fesse; hasta gluteo; hasta nalga; fino al gluteo; ate a nadega",
    2.0: "to thigh; tot bovenbeen; bis oberschenkel; jusqu a la cuisse; hasta muslo; fino alla coscia",
    3.0: "to knee; tot knie; bis knie; jusqu au genou; hasta rodilla; fino al ginocchio; above knee",
    4.0: "below knee; onder knie; sous le genou; unterhalb knie; unter knie; sotto il ginocchio; debajo de la "
    "rodilla; to calf",
    5.0: "to foot; tot voet; bis fuss; jusqu au pied; hasta pie; fino al piede",
}

EXERTION = {
    0.0: "none; no; never; keine; nie; aucune; pas; ninguna; nessuna; geen; nenhuma; ausente; assente; absent; no "
    "dyspnoea",
    1.0: "on severe exertion; on strenuous exertion; heavy exertion; bei starker belastung; bei schwerer "
    "belastung; a l effort important; grandes esfuerzos; a grandes esfuerzos; a grandi sforzi; aos grandes "
    "esforcos; bij zware inspanning; effort intense",
    2.0: "on exertion; exertional; exertion; with exertion; on effort; bei belastung; belastung; "
    "belastungsdyspnoe; a l effort; d effort; effort; de esfuerzo; al esfuerzo; con esfuerzo; da sforzo; "
    "sotto sforzo; bij inspanning; inspanning; aos esforcos; de esforco; ao esforco; with activity; on "
    "moderate exertion",
    3.0: "on mild exertion; on minimal exertion; on slight exertion; bei leichter belastung; bei geringer "
    "belastung; a l effort minime; a pequenos esfuerzos; pequenos esfuerzos; a minimi sforzi; aos pequenos "
    "esforcos; bij lichte inspanning; minimos esfuerzos; de minimos esfuerzos",
    4.0: "at rest; rest; in ruhe; ruhe; ruhedyspnoe; au repos; de repos; en reposo; de reposo; reposo; a riposo; "
    "in rust; em repouso; de repouso; orthopnoea; orthopnoe; orthopnea; continuous",
}
DIRECTION = {
    -2.0: "lost; loss; decrease; decreased; fallen; reduced; less; lower; abgenommen; abnahme; verlust; gesunken; "
    "weniger; perte; baisse; diminue; perdida; disminucion; disminuido; bajada; perdita; calo; diminuito; "
    "afgenomen; gedaald; afname; perda; diminuido; diminuicao; down",
    0.0: "stable; unchanged; same; no change; stabil; gleich; unverandert; inchange; estable; igual; sin cambios; "
    "stabile; invariato; uguale; stabiel; gelijk; onveranderd; estavel; inalterado",
    2.0: "gained; gain; increase; increased; risen; more; higher; zugenommen; zunahme; gestiegen; mehr; prise; "
    "hausse; augmente; ganancia; aumento; aumentado; subida; aumentato; toegenomen; gestegen; toename; ganho; "
    "up",
}

ACTIVITY = {
    -4.0: "remission; remision; remissione; remissie; remissao; in remission; en remission; en remision; "
    "in remissione; clinical remission; inactive; inaktiv; inactif; inactivo; inattivo",
    -2.0: "low; mild; minimal; slight; niedrig; gering; leicht; faible; bas; legere; bajo; leve; basso; bassa; lieve; "
    "laag; licht; baixo",
    0.0: "moderate; medium; intermediate; massig; mittel; moderat; modere; moyen; moderado; medio; moderato; matig",
    2.0: "high; severe; hoch; hohe; stark; schwer; eleve; haut; forte; alto; elevado; grave; severo; elevato; "
    "hoog; ernstig",
}

ABNORMALITY = {
    0.0: "normal; unauffallig; normale; normaal; within normal limits; im normbereich; sin alteraciones",
    1.0: "borderline; equivocal; grenzwertig; kontrollbedurftig; limite; douteux; dudoso; dubbio; grensgeval; "
    "limitrofe",
    2.0: "abnormal; pathological; pathologic; auffallig; pathologisch; anormal; pathologique; patologico; anormale; "
    "alterado; alterato; afwijkend",
}
