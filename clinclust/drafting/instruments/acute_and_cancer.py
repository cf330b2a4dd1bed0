"""Instruments of emergency and intensive care, anaesthesia and oncology: names, lowest and highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
ecog | ecog ps | who ps | performance status : 0 5 1
kps | karnofsky : 0 100 10
gleason : 2 10 1
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
facit fatigue | facit f : 0 52 1
ais : 0 6 1
niss : 0 75 1
absi : 2 18 1
mgap : 3 29 1
sirs : 0 4 1
isth dic | dic isth : 0 8 1
4 t score | hit 4 t : 0 8 1
hscore : 0 337 1
murray : 0 4 0
cpis : 0 12 1
mods score : 0 24 1
ramsay : 1 6 1
riker : 1 7 1
esi triage | emergency severity | ctas | triage level : 1 5 1
apfel : 0 4 1
ariscat : 0 123 1
surgical apgar : 0 10 1
cormack | cormack lehane : 1 4 1
pelod 2 : 0 33 1
prism iii | prism 3 : 0 74 1
ctcae | ctc grade | ctc : 0 5 1
rtog : 0 5 1
deauville : 1 5 1
ipi lymphoma | ipi score : 0 5 1
flipi : 0 5 1
hasenclever : 0 7 1
dipss : 0 6 1
bi rads | birads : 0 6 1
pi rads | pirads : 1 5 1
ti rads | tirads : 1 5 1
li rads | lirads : 1 5 1
o rads | orads : 0 5 1
lung rads : 0 4 1
isup | isup grade | grade group : 1 5 1
nottingham score : 3 9 1
allred : 0 8 1
lansky : 0 100 10
mascc : 0 26 1
fact g : 0 108 1
fact b : 0 148 1
qlq c 30 | eortc : 0 100 0
fuhrman : 1 4 1
sins spine | spinal instability neoplastic : 0 18 1
tokuhashi : 0 15 1
mirels : 4 12 1
"""
