"""Instruments of cognition and neurology: their names, lowest and highest total, and step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
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
gcs | glasgow | glasgow coma | glasgow koma : 3 15 1
gcs eye | gcs eyes | gcs augen : 1 4 1
gcs verbal : 1 5 1
gcs motor | gcs motorik : 1 6 1
mfis : 0 84 1
mrs | rankin | modified rankin : 0 6 1
nihss : 0 42 1
aspects : 0 10 1
hit 6 : 36 78 1
midas : 0 270 1
6 cit : 0 28 1
amts : 0 10 1
ace iii | ace 3 | ace r : 0 100 1
slums : 0 30 1
qmci : 0 100 1
mini cog | minicog : 0 5 1
rudas : 0 30 1
cdr | cdr global : 0 3 0.5
npi | npi total : 0 144 1
npi q : 0 36 1
faq pfeffer | pfeffer : 0 30 1
zarit | zbi : 0 88 1
adcs adl : 0 78 1
iqcode : 1 5 0
nmsq | nms quest : 0 30 1
nmss : 0 360 1
pdq 39 | pdq 8 : 0 100 0
fogq | fog q : 0 24 1
nfogq : 0 28 1
twstrs : 0 85 1
bfmdrs : 0 120 0
sara ataxia | sara : 0 40 0.5
icars : 0 100 1
uhdrs motor | uhdrs tms : 0 124 1
tfc | total functional capacity : 0 13 1
sdmt : 0 110 0
fsmc : 20 100 1
incat : 0 10 1
onls : 0 12 1
mg adl | mgadl : 0 24 1
qmg : 0 39 1
mgc | mg composite : 0 50 1
mg qol 15 r | mgqol 15 r : 0 30 1
mrc sum | mrc sum score | mrc ss : 0 60 1
mrc power | mrc strength | mrc grade : 0 5 1
modified ashworth | ashworth : 0 4 1
fugl meyer ue | fma ue | fugl meyer arm : 0 66 1
fugl meyer le | fma le | fugl meyer leg : 0 34 1
arat : 0 57 1
rivermead | rmi : 0 15 1
gose | gos e : 1 8 1
gos | glasgow outcome : 1 5 1
crs r : 0 23 1
four score : 0 16 1
ich score : 0 6 1
hunt hess | hunt and hess | hunt und hess : 0 5 1
modified fisher | fisher grade : 0 4 1
wfns : 1 5 1
abcd 2 | abcd 2 score : 0 7 1
rope score : 0 10 1
spetzler | spetzler martin : 1 5 1
ilae : 1 6 1
qolie 31 | qolie 89 : 0 100 0
nddi e : 6 24 1
asc 12 : 0 24 1
joa : 0 17 1
mjoa | m joa : 0 18 1
nurick : 0 5 1
asia motor : 0 100 1
scim : 0 100 1
tcss | toronto neuropathy : 0 19 1
neuropathy disability score : 0 10 1
house brackmann : 1 6 1
sunnybrook : 0 100 1
gmfcs : 1 5 1
macs | manual ability : 1 5 1
cfcs : 1 5 1
"""
