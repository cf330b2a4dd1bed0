"""Words of agreement, assent, satisfaction, change, chance, ease and response, by rank; see `vocabulary.py`."""

from __future__ import annotations

__all__ = ["AGREEMENT", "ASSENT", "CHANCE", "CHANGE", "EASE", "RESPONSE", "SATISFACTION"]

AGREEMENT = {
    -4.0: "trifft gar nicht zu; trifft uberhaupt nicht zu; stimme gar nicht zu; stimme uberhaupt nicht zu; pas du "
    "tout d accord; helemaal oneens; helemaal niet mee eens",
    -2.0: "disagree; stimme nicht zu; trifft nicht zu; ablehnend; lehne ab; pas d accord; en desacuerdo; "
    "desacuerdo; in disaccordo; disaccordo; oneens; mee oneens; discordo; desaccord",
    -1.0: "trifft eher nicht zu; stimme eher nicht zu; trifft wenig zu; plutot pas d accord; rather disagree; "
    "mostly disagree; tend to disagree; algo en desacuerdo",
    0.0: "neutral; undecided; neither agree nor disagree; neither; unsure; teils teils; weder noch; unentschieden; "
    "neutre; ni d accord ni pas d accord; sans opinion; ni de acuerdo ni en desacuerdo; indiferente; neutro; "
    "neutrale; ne d accordo ne in disaccordo; neutraal; nem concordo nem discordo; indifferent",
    1.0: "trifft eher zu; stimme eher zu; plutot d accord; rather agree; mostly agree; tend to agree; algo de acuerdo",
    2.0: "agree; stimme zu; trifft zu; zustimmend; d accord; de acuerdo; d accordo; accordo; eens; mee eens; concordo",
    4.0: "trifft voll zu; trifft genau zu; stimme voll zu; trifft vollig zu; trifft voll und ganz zu; tout a fait "
    "d accord; stimme vollig zu",
}

ASSENT = {
    -4.0: "definitely not; certainly not; certainly no; auf keinen fall; absolutely not; definitely no; no "
    "definitely not; not at all; gar nicht; uberhaupt nicht; pas du tout; non pas du tout; en absoluto; no en "
    "absoluto; per niente; per nulla; assolutamente no; helemaal niet; zeker niet; de modo nenhum; nada; "
    "absolut nicht; certamente no; seguro que no; de jeito nenhum",
    -3.0: "no; nein; non; nee; nao",
    -1.0: "probably not; rather no; rather not; mostly no; not really; eher nein; eher nicht; wahrscheinlich nicht; "
    "plutot non; plutot pas; probablement pas; mas bien no; probablemente no; piuttosto no; probabilmente no; "
    "eerder niet; eerder nee; waarschijnlijk niet; provavelmente nao; mais nao do que sim; nicht wirklich; "
    "pas vraiment; non proprio; no realmente; niet echt",
    0.0: "maybe; perhaps; possibly; vielleicht; moglicherweise; peut etre; quizas; tal vez; forse; talvez; "
    "misschien; partly; partially; partial; to some extent; somewhat; teilweise; teils; zum teil; en partie; "
    "partiellement; parcialmente; em parte; in parte; parzialmente; gedeeltelijk; deels; un peu; un poco; mas "
    "o menos; piu o meno; a bit; a little; incomplete",
    1.0: "probably; probably yes; rather yes; mostly; mostly yes; eher ja; wahrscheinlich; wahrscheinlich ja; "
    "plutot oui; probablement; mas bien si; piuttosto si; probabilmente; eerder wel; eerder ja; "
    "waarschijnlijk wel; provavelmente; provavelmente sim; meistens; uberwiegend",
    3.0: "yes; ja; oui; si; sim; wel",
    4.0: "definitely; definitely yes; certainly; yes definitely; absolutely; fully; completely; auf jeden fall; "
    "voll und ganz; ganz sicher; vollig; tout a fait; oui tout a fait; absolument; por supuesto; totalmente; "
    "completamente; del tutto; assolutamente; assolutamente si; zeker; zeker wel; helemaal; com certeza; "
    "absolutamente; sin duda; certamente; bestimmt; entierement; very much so",
}

SATISFACTION = {
    -2.0: "dissatisfied; unsatisfied; unhappy; unzufrieden; insatisfait; mecontent; insatisfecho; insoddisfatto; "
    "ontevreden; insatisfeito",
    0.0: "neutral; neither; neither satisfied nor dissatisfied; weder noch; teils teils; neutre; indiferente; "
    "neutro; neutrale; neutraal; mixed",
    2.0: "satisfied; happy; zufrieden; satisfait; content; satisfecho; soddisfatto; tevreden; satisfeito",
    5.0: "delighted; begeistert; ravi; encantado",
}

CHANGE = {
    -5.0: "died; dead; verstorben; decede; fallecido; deceduto; overleden",
    -2.0: "worse; worsened; deteriorated; progressive; progression; declined; schlechter; verschlechtert; pire; "
    "moins bien; aggrave; peor; peggio; peggiorato; slechter; verslechterd; pior; empeorado; verschlimmert; "
    "worsening; deterioration; progredient; progress; krankheitsprogress; progresion; aggravation; degrade; "
    "empeoramiento; empeora; peggioramento; achteruitgegaan; piorou; agravado; declining; decreased; "
    "abnehmend; rising symptoms",
    0.0: "unchanged; no change; same; stable; about the same; unverandert; gleich; stabil; inchange; identique; "
    "sin cambios; igual; estable; invariato; uguale; stabile; onveranderd; gelijk; stabiel; inalterado; "
    "estavel; gleichbleibend; unverandert gleich; stationary; stationar; stationnaire; estacionario; "
    "stazionario; stationair; sans changement; sem alteracao; nessun cambiamento; geen verandering; keine "
    "veranderung; hetzelfde; idem; mantenido; mantido; nao alterado; equal; plateau",
    2.0: "better; improved; improvement; besser; verbessert; gebessert; mieux; ameliore; mejor; mejorado; meglio; "
    "migliorato; beter; verbeterd; melhor; improving; improves; verbesserung; rucklaufig; regredient; "
    "regression; amelioration; miglioramento; verbetering; melhorou; melhorado; vooruitgegaan; mieux qu "
    "avant; increased function; relieved",
    4.0: "resolved; recovered; cured; geheilt; gueri; curado; guarito; genezen; remission; resuelto; symptom free; "
    "beschwerdefrei; symptomfrei; asintomatico; asymptomatic; resolution; resolucion; risoluzione; completely "
    "recovered; volledig hersteld; hersteld; vollstandig genesen; genesen; gueri completement; recuperado; "
    "totalmente recuperado; complete recovery; full recovery; disparu; curato; resolvido; aufgelost",
}

CHANCE = {
    -6.0: "no; nein; non; nee; nao; ruled out; absent; negative",
    -4.0: "impossible; excluded; ausgeschlossen; exclu; imposible; impossibile; uitgesloten",
    -2.0: "unlikely; improbable; unwahrscheinlich; peu probable; improbabile; onwaarschijnlijk; improvavel; "
    "doubtful; low suspicion; improvable; poco probable; poco probabile; pouco provavel; peu vraisemblable; "
    "not likely",
    0.0: "possible; neutral; moglich; posible; possibile; mogelijk; possivel; suspected; uncertain; verdacht; "
    "suspicion; suspicious; verdachtig; suspect; sospechoso; sospetto; suspeito; eventuell; verdacht auf; "
    "fraglich; dubious",
    2.0: "likely; probable; wahrscheinlich; probabile; waarschijnlijk; provavel; highly suspected; vermutlich; "
    "wahrscheinlich ja; vraisemblable; verosimil; presumed; presumptive",
    4.0: "definite; certain; confirmed; sicher; gesichert; certaine; confirme; seguro; cierto; confirmado; certo; "
    "confermato; zeker; definitivo; proven; proved; established; bestatigt; nachgewiesen; certainly; "
    "verified; bevestigd; vast; probado; comprovado; bewiesen; yes; ja; oui; si; sim",
}

EASE = {
    -5.0: "no difficulty; without difficulty; without any difficulty; keine schwierigkeiten; aucune difficulte; sin "
    "dificultad; nessuna "
    "difficolta; geen moeite; sem dificuldade; independent",
    -3.0: "with a little difficulty; a little difficulty",
    -2.0: "easy; some difficulty; with some difficulty; einige schwierigkeiten; leicht; facile; un peu de "
    "difficulte; facil; alguna "
    "dificultad; makkelijk",
    2.0: "difficult; hard; much difficulty; with much difficulty; schwierig; grosse schwierigkeiten; difficile; "
    "beaucoup de difficulte; "
    "dificil; mucha dificultad; moeilijk",
    5.0: "unable; unable to do; impossible; unmoglich; nicht moglich; incapable; incapaz; imposible; incapace; "
    "onmogelijk; impossivel; cannot do",
}

RESPONSE = {
    -2.0: "none; no; no response; non responder; nonresponder; refractory; progressive disease; kein ansprechen; "
    "refraktar; aucune; ninguna; nessuna; geen; nenhuma; pd; unvaccinated; ungeimpft; no remission",
    -1.0: "poor; stable; stable disease; stabil; sd; minor response; minimal response; schlecht; minimal; minor",
    0.0: "partial; moderate; partial response; incomplete; partial remission; teilremission; partiell; "
    "unvollstandig; partielle; partiel; incomplet; incompleto; parcial; incompleta; parziale; gedeeltelijk; "
    "onvolledig; pr; mixed",
    1.0: "good; near complete; very good partial response; vgpr; gut",
    2.0: "complete; full; complete response; complete remission; vollremission; komplett; vollstandig; complet; "
    "completo; completa; volledig; cr",
}
