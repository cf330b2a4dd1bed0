"""Instruments of clinical practice by the names of their columns: the range and the step of their total.

A name is evidence beside the values, which must agree with it. Ranges are those of the published instruments, as their
manuals and first descriptions give them; the comment of each group names where they stand together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clinclust.drafting.names import words_of

__all__ = ["Instrument", "instrument_of"]


@dataclass(frozen=True)
class Instrument:
    """An instrument: what it is called, its lowest and highest total, and the step between totals.

    A step of 0 means that it is a measurement: its totals are computed, or read from a line.
    """

    called: str
    low: float
    high: float
    step: float = 1.0

    def in_use(self, numbers: NDArray[np.float64]) -> Instrument:
        """Return the instrument as it was used: whole numbers 0 to 10 are steps, also of a line of 100 mm."""
        on_steps = bool((np.floor(numbers) == numbers).all())
        if (self.low, self.high, self.step) == (0, 100, 0) and on_steps and numbers.max() <= _SHORT_LINE:
            return replace(self, high=_SHORT_LINE, step=1.0)
        return self


_SHORT_LINE = 10.0
# Each line: names with their words apart, then lowest, highest, step. A longer name is tried before a shorter one.
_LISTED = """
nrs | painnrs | pain nrs | nrs pain | schmerz nrs | numeric rating scale | pain now : 0 10 1
vas | eva | pain vas | vas pain : 0 100 0
phq 9 | phq9 total : 0 27 1
phq 8 : 0 24 1
phq 15 : 0 30 1
phq 2 : 0 6 1
gad 7 : 0 21 1
gad 2 : 0 6 1
hads : 0 42 1
hads a | hads d | hads anxiety | hads depression | hads angst : 0 21 1
bdi | bdi ii | bdi 2 | beck : 0 63 1
bai : 0 63 1
hamd | ham d | hdrs | hamd 17 | hdrs 17 | hrsd : 0 52 1
hama | ham a : 0 56 1
madrs : 0 60 1
ymrs : 0 60 1
cesd | ces d : 0 60 1
gds | gds 15 : 0 15 1
gds 30 : 0 30 1
epds : 0 30 1
pcl 5 : 0 80 1
audit : 0 40 1
audit c : 0 12 1
fagerstrom | ftnd : 0 10 1
isi : 0 28 1
psqi : 0 21 1
ess | epworth : 0 24 1
stop bang | stopbang : 0 8 1
fss : 1 7 0
mmse | mmst | mmt | mini mental : 0 30 1
moca : 0 30 1
cdr sb | cdrsb : 0 18 0.5
dem tect | demtect : 0 18 1
adas cog : 0 70 0
edss : 0 10 0.5
hoehn yahr | hoehn und yahr | hy stage : 0 5 0.5
updrs 1 | updrs i : 0 52 1
updrs 2 | updrs ii : 0 52 1
updrs 3 | updrs iii | updrs motor : 0 132 1
updrs 4 | updrs iv : 0 24 1
updrs | mds updrs | updrs total : 0 260 1
alsfrs | alsfrs r : 0 48 1
gcs | glasgow : 3 15 1
mrs | rankin | modified rankin : 0 6 1
nihss : 0 42 1
aspects : 0 10 1
hit 6 : 36 78 1
midas : 0 270 1
barthel | barthel index : 0 100 5
adl | katz | adl katz | katz adl : 0 6 0.5
iadl | lawton | iadl lawton : 0 8 1
fim : 18 126 1
tinetti | poma : 0 28 1
sppb : 0 12 1
berg | bbs : 0 56 1
mna : 0 30 0.5
mna sf : 0 14 1
nrs 2002 : 0 7 1
must : 0 6 1
braden : 6 23 1
norton : 5 20 1
cfs | clinical frailty scale | rockwood : 1 9 1
g 8 : 0 17 0.5
gir : 1 6 1
haq | haq di : 0 3 0.125
das 28 | das28 crp | das28 esr | das : 0 10 0
cdai : 0 76 0
sdai : 0 86 0
basdai | basfi | basmi : 0 10 0
asdas : 0 10 0
sledai : 0 105 1
womac pain | womac douleur | womac schmerz | womac dolor : 0 20 1
womac stiffness | womac raideur | womac steifigkeit | womac rigidez : 0 8 1
womac function | womac fonction | womac funktion | womac funcion : 0 68 1
womac | womac total : 0 96 1
oxford hip | oxford knee | ohs | oks : 0 48 1
harris | hhs : 0 100 0
koos | hoos | lysholm | ikdc | constant | dash | quickdash | odi | ndi : 0 100 0
roland morris | rmdq : 0 24 1
kellgren | kellgren lawrence | kl grade : 0 4 1
sf 36 | sf 12 | pcs | mcs | eq vas | eq 5 d vas : 0 100 0
eq 5 d index | eq5d utility | utility : -1 1 0
dlqi | cdlqi : 0 30 1
pasi : 0 72 0
easi : 0 72 0
scorad : 0 103 0
poem : 0 28 1
uas 7 : 0 42 1
iga | pga : 0 4 1
fitzpatrick : 1 6 1
cat | copd assessment test : 0 40 1
mmrc | mrc dyspnoea | mmrc dyspnoe : 0 4 1
act | asthma control test : 5 25 1
acq : 0 6 0
sgrq : 0 100 0
borg : 0 10 0.5
bode : 0 10 1
curb 65 | curb : 0 5 1
crb 65 : 0 4 1
psi port : 0 395 1
nyha | nyha class | nyha klasse : 1 4 1
ccs angina : 0 4 1
killip : 1 4 1
chads 2 | chads : 0 6 1
cha 2 ds 2 vasc | cha 2 ds 2 va sc | chadsvasc | cha 2 ds 2 vasc score | chads vasc | chadvasc : 0 9 1
has bled | hasbled : 0 9 1
grace : 0 372 1
timi : 0 7 1
heart score : 0 10 1
euroscore : 0 100 0
wells : -2 12.5 0.5
kccq : 0 100 0
mlhfq : 0 105 1
ecog | ecog ps | who ps | performance status : 0 5 1
kps | karnofsky : 0 100 10
gleason : 2 10 1
ipss : 0 35 1
iief | iief 5 | shim : 0 25 1
child pugh | child pugh score | child score : 5 15 1
meld | meld na : 6 40 1
ranson : 0 11 1
mayo | mayo score : 0 12 1
harvey bradshaw | hbi : 0 50 1
cdai crohn : 0 700 0
glasgow blatchford | gbs : 0 23 1
rockall : 0 11 1
apgar : 0 10 1
bishop : 0 13 1
silverman : 0 10 1
sofa : 0 24 1
qsofa : 0 3 1
apache | apache ii | apache 2 : 0 71 1
saps | saps ii | saps 2 : 0 163 1
rass : -5 4 1
iss : 0 75 1
news | news 2 : 0 20 1
mews : 0 14 1
asa | asa class | asa klasse : 1 6 1
mallampati : 1 4 1
aldrete : 0 10 1
charlson | cci | charlson index : 0 37 1
elixhauser : 0 31 1
tjc 28 | sjc 28 : 0 28 1
tjc 68 : 0 68 1
sjc 66 : 0 66 1
mfis : 0 84 1
facit fatigue | facit f : 0 52 1
cfq 11 : 0 33 1
pss | pss 10 : 0 40 1
who 5 : 0 25 1
gaf : 1 100 1
panss : 30 210 1
bprs : 18 126 1
cgi | cgi s : 1 7 1
aims : 0 28 1
"""


def _known() -> dict[tuple[str, ...], Instrument]:
    known = {}
    for line in _LISTED.strip().splitlines():
        names, ends = line.rsplit(":", 1)
        low, high, step = map(float, ends.split())
        for name in names.split("|"):
            called = names.split("|")[0].strip().upper()
            known[tuple(words_of(name.strip()))] = Instrument(called, low, high, step)
    return known


_KNOWN = _known()
_LONGEST = max(map(len, _KNOWN))
_OF_A_TOTAL_WORDS = (
    "total sum summe score skala scale value wert gesamt punkte points index class klasse grade stage at bl "
    "baseline t visit v pre post admission aufnahme ingreso entree discharge entlassung alta sortie day days d "
    "tag month months m mo w week weeks y year min max worst best now today mean current aktuell basal inicial "
    "initial final fu followup follow up before after vor nach avant apres antes despues raw ii 0 rest movement "
    "night gesamtwert gesamtscore puntuacion punteggio totale puntaje escala echelle schaal ruhe belastung "
    "general"
)
_OF_A_TOTAL = frozenset(_OF_A_TOTAL_WORDS.split())
"""What may stand beside the name of an instrument whose total the column holds."""
_MINUTES = frozenset(["apgar", "aldrete", "gcs", "nrs", "vas", "eva", "mrs", "rass", "pain"])
"""Instruments behind whose name a number counts minutes or visits, and not items."""
_WORD_ALONE = frozenset(
    ["act", "cat", "mayo", "must", "constant", "grace", "news", "das", "fis", "heart", "aims", "dash"]
)
_DIGITS = re.compile(r"[0-9]+")


def instrument_of(name: str) -> Instrument | None:
    """Return the instrument whose total a column holds, by its name; None if no name is known, or for one of its items.

    Examples
    --------
    >>> from clinclust.drafting.instruments import instrument_of
    >>> instrument_of("MMSE_baseline")
    Instrument(called='MMSE', low=0.0, high=30.0, step=1.0)
    >>> instrument_of("phq9_3") is None  # an item
    True
    """
    words = words_of(name)
    for length in range(min(_LONGEST, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            found = _KNOWN.get(tuple(words[start : start + length]))
            if found is not None:
                rest = words[:start] + words[start + length :]
                return found if _is_total(words[start : start + length], rest) else None
    return None


def _is_total(named: list[str], rest: list[str]) -> bool:
    """Return whether what stands beside the name of an instrument belongs to a total: `baseline`, `total`, `90 d`."""
    numbers = [word for word in rest if _DIGITS.fullmatch(word)]
    texts = [word for word in rest if not _DIGITS.fullmatch(word)]
    beside = all(word in _OF_A_TOTAL or len(word) == 1 for word in texts)
    if named[0] in _WORD_ALONE and len(named) == 1:
        return not rest or (beside and not numbers)
    is_item = bool(numbers) and not texts and named[0] not in _MINUTES
    if named[0] in _MINUTES or named[0] == "schmerz":
        return True
    return beside and not is_item
