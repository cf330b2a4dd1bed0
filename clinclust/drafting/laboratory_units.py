"""Measurements that are reported in more than one unit: their names in five languages, and the conversions.

Left out are conversions by about as much as patients differ, such as tenfold creatinine on dialysis. The molar ones
follow from the molar masses (Young and Huth 1998, *SI Units for Clinical Measurement*).
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from clinclust.drafting.names import words_of

__all__ = ["FACTORS", "Conversion", "conversions_of"]


class Conversion(NamedTuple):
    """Two units of one measurement: a number in the upper unit is `factor` times that in the lower, plus `offset`."""

    names: str
    """Words of names, in lower case and without accents; a word may be two words of a name, joined."""
    lower: str
    upper: str
    usual: tuple[float, float]
    """Where the median of a cohort may lie, in the lower unit."""
    factor: float
    offset: float = 0.0


_HEIGHT = "height groesse grosse taille talla altezza statura korpergrosse estatura stature lengte altura"
_WEIGHT = "weight gewicht poids peso wt korpergewicht lichaamsgewicht"
_GLUCOSE = (
    "glucose gluc glukose glucosa glucosio glicose glu fpg fbg rbg bsl bgl bz gly glycemia glycaemia glicemia glucemia "
    "glycemie glykamie glykemie glukoza blutzucker blutglukose nuchternblutzucker nuchternglukose plasmaglukose"
)
_CHOLESTEROL = (
    "cholesterol cholesterin colesterol colesterolo colesterolemia cholesterolemie chol cholesterine hdl ldl vldl hdlc "
    "ldlc nonhdl gesamtcholesterin"
)
_TRIGLYCERIDES = "triglycerides triglyceride triglyzeride trigliceridos trigliceridi triglicerideos trig tg tgl tgs"
_CREATININE = (
    "creatinine kreatinin creatinina creatininemia creatininemie creatininaemia crea scr creat krea cr kreatinine"
)
_URIC = "uric urate urat harnsaure urico urique uricemia uricemie uricaemia urinezuur"
_UREA = "urea harnstoff uree uremie azotemia urinstoff ureum"
_CALCIUM = "calcium kalzium calcio calcemia calcemie kalzamie"
_HAEMOGLOBIN = "hemoglobin haemoglobin hamoglobin hemoglobina hemoglobine emoglobina hb hgb"
_VITAMIN_D = (
    "vitd vitamind vitamined vitaminad 25ohd 25oh 25ohvitd 25hydroxyvitamin calcidiol hydroxyvitamin vitd3 vitamind3"
)
_TESTOSTERONE = "testosterone testosteron testosterona testo"
_AGE = "age alter edad eta"
_ENZYMES = "alt ast ggt gpt got ldh ldl ap alp ck asat alat gammagt"
_CELLS = (
    "platelets platelet plt thrombocytes thrombozyten plaquettes plaquetas piastrine trombociti leukocytes leukozyten "
    "leucocytes leucocitos leucociti wbc"
)

_CONVERSIONS = (
    Conversion(_HEIGHT, "m", "cm", (0.9, 2.1), 100.0),
    Conversion(f"{_HEIGHT} waist hip bauchumfang", "inches", "cm", (20.0, 80.0), 2.54),
    Conversion(_WEIGHT, "kg", "lb", (45.0, 130.0), 2.2046),
    Conversion(f"{_WEIGHT} geburtsgewicht birthweight", "kg", "g", (0.5, 8.0), 1000.0),
    Conversion(_GLUCOSE, "mmol/L", "mg/dL", (3.5, 20.0), 18.016),
    Conversion(_GLUCOSE, "g/L", "mmol/L", (0.6, 3.6), 5.551),
    Conversion(_GLUCOSE, "g/L", "mg/dL", (0.6, 3.6), 100.0),
    Conversion(_CHOLESTEROL, "mmol/L", "mg/dL", (0.5, 9.0), 38.67),
    Conversion(_CHOLESTEROL, "g/L", "mmol/L", (0.2, 3.5), 2.586),
    Conversion(_CHOLESTEROL, "g/L", "mg/dL", (0.2, 3.5), 100.0),
    Conversion(_TRIGLYCERIDES, "mmol/L", "mg/dL", (0.4, 6.0), 88.57),
    Conversion(_TRIGLYCERIDES, "g/L", "mg/dL", (0.4, 6.0), 100.0),
    Conversion(_CREATININE, "mg/dL", "µmol/L", (0.3, 12.0), 88.42),
    Conversion(_URIC, "mg/dL", "µmol/L", (2.0, 12.0), 59.48),
    Conversion(_URIC, "mg/dL", "mg/L", (2.0, 12.0), 10.0),
    Conversion(_URIC, "mmol/L", "mg/dL", (0.1, 0.75), 16.81),
    Conversion("bilirubin bilirubina bilirubine bilirrubina bili", "mg/dL", "µmol/L", (0.2, 15.0), 17.1),
    Conversion(_UREA, "mmol/L", "mg/dL", (2.0, 40.0), 6.006),
    Conversion(_UREA, "g/L", "mmol/L", (0.1, 2.4), 16.65),
    Conversion("bun", "mmol/L", "mg/dL", (2.0, 40.0), 2.801),
    Conversion(_CALCIUM, "mmol/L", "mg/dL", (1.0, 3.5), 4.008),
    Conversion("phosphate phosphat phosphor phosphorus phosphore fosfato", "mmol/L", "mg/dL", (0.4, 3.0), 3.097),
    Conversion("magnesium magnesio", "mmol/L", "mg/dL", (0.4, 1.6), 2.431),
    Conversion("iron eisen fer hierro ferro sideremia serumeisen", "µmol/L", "µg/dL", (3.0, 60.0), 5.585),
    Conversion("lactate laktat lactato lattato lactatemie", "mmol/L", "mg/dL", (0.4, 10.0), 9.008),
    Conversion(_HAEMOGLOBIN, "mmol/L", "g/dL", (4.0, 12.0), 1.611),
    Conversion(_HAEMOGLOBIN, "g/dL", "g/L", (6.0, 19.0), 10.0),
    Conversion("albumin albumina albumine", "g/dL", "g/L", (1.5, 5.5), 10.0),
    Conversion(_VITAMIN_D, "ng/mL", "nmol/L", (5.0, 60.0), 2.496),
    Conversion("folate folat folsaure acidofolico folates", "ng/mL", "nmol/L", (2.0, 20.0), 2.266),
    Conversion(_TESTOSTERONE, "nmol/L", "ng/dL", (0.2, 45.0), 28.84),
    Conversion(_TESTOSTERONE, "ng/mL", "nmol/L", (0.05, 12.0), 3.467),
    Conversion(_TESTOSTERONE, "ng/mL", "ng/dL", (0.05, 12.0), 100.0),
    Conversion("estradiol oestradiol ostradiol estradiolo e2", "pg/mL", "pmol/L", (5.0, 500.0), 3.671),
    Conversion("progesterone progesteron progesterona", "ng/mL", "nmol/L", (0.1, 30.0), 3.18),
    Conversion("cortisol kortisol cortisolo", "µg/dL", "nmol/L", (2.0, 40.0), 27.59),
    Conversion("ft4 t4l t4libre freet4", "ng/dL", "pmol/L", (0.4, 4.0), 12.87),
    Conversion("cpeptide cpeptid cpeptido peptidec peptidoc", "nmol/L", "ng/mL", (0.05, 3.0), 3.02),
    Conversion("insulin insulina insuline", "µU/mL", "pmol/L", (2.0, 60.0), 6.0),
    Conversion("fibrinogen fibrinogeno fibrinogene", "g/L", "mg/dL", (1.0, 8.0), 100.0),
    Conversion(_CELLS, "10^9/L", "/µL", (1.0, 900.0), 1000.0),
    Conversion(_ENZYMES, "µkat/L", "U/L", (0.1, 20.0), 60.0),
    Conversion("hba1c a1c ghb hb1ac", "%", "mmol/mol", (4.0, 12.0), 10.929, -23.5),
    Conversion("temperature temp temperatur temperatura fieber", "°C", "°F", (33.0, 41.0), 1.8, 32.0),
    Conversion("sbp dbp systolic diastolic systolisch pressure pco2 po2 paco2", "kPa", "mmHg", (2.0, 30.0), 7.5006),
    Conversion(_AGE, "years", "months", (0.5, 90.0), 12.0),
    Conversion(_AGE, "years", "days", (0.5, 90.0), 365.25),
)  # fmt: skip
FACTORS = (2.2046, 2.496, 2.54, 2.801, 4.008, 10.0, 17.1, 18.016, 28.84, 38.67, 59.48, 88.42, 100.0, 1000.0)
"""The commonest factors, for measurements of unknown names: all factors together would lie near any number."""
_MORE_THAN_ONE_MEASUREMENT = ("hba1c", "a1c")
"""Names of measurements that hold the name of another: HbA1c is no haemoglobin."""


def conversions_of(name: str) -> list[Conversion]:
    """Return the conversions of a measurement of this name."""
    words = list(words_of(name))
    joined = [*words, *map("".join, pairwise(words)), "".join(words)]
    joined += map("".join, zip(words, words[1:], words[2:], strict=False))
    for telling in _MORE_THAN_ONE_MEASUREMENT:
        if telling in "".join(words):
            joined = [telling]
    found = set(joined)
    return [one for one in _CONVERSIONS if not found.isdisjoint(one.names.split())]
