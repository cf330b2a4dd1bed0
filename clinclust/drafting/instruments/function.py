"""Instruments of function, falls, nutrition, pain, palliative care and wounds: names, lowest, highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
nrs | painnrs | pain nrs | nrs pain | schmerz nrs | numeric rating scale | pain now : 0 10 1
vas | eva | pain vas | vas pain : 0 100 0
gds | gds 15 : 0 15 1
gds 30 : 0 30 1
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
esas total | esas score : 0 90 1
esas : 0 10 1
pps | palliative performance : 0 100 10
ppi palliative | palliative prognostic index : 0 15 0.5
ipos : 0 68 1
flacc | r flacc : 0 10 1
painad : 0 10 1
cpot : 0 8 1
behavioral pain scale | behavioural pain scale : 3 12 1
algoplus : 0 5 1
doloplus | doloplus 2 : 0 30 1
wong baker | faces pain | fps r : 0 10 1
distress thermometer : 0 10 1
dn 4 : 0 10 1
pain detect | paindetect : -1 38 1
lanss | s lanss : 0 24 1
npsi : 0 100 0
bpi severity | bpi interference : 0 10 0
pain catastrophizing | pain catastrophising : 0 52 1
tsk | tsk 17 | tampa : 17 68 1
tsk 11 : 11 44 1
fabq w | fabq work : 0 42 1
fabq pa : 0 24 1
psfs : 0 10 0
pain disability index : 0 70 1
central sensitization inventory : 0 100 1
start back : 0 9 1
orebro | ompsq 10 : 0 100 1
barthel 20 : 0 20 1
sarc f : 0 10 1
frail scale : 0 5 1
fried | fried phenotype | frailty phenotype : 0 5 1
tfi tilburg | tilburg : 0 15 1
gfi | groningen : 0 15 1
edmonton frail | edmonton frail scale : 0 17 1
prisma 7 : 0 7 1
isar : 0 6 1
ves 13 : 0 10 1
morse | morse fall : 0 125 5
stratify : 0 5 1
fes i : 16 64 1
short fes i : 7 28 1
abc balance : 0 100 0
dgi | dynamic gait : 0 24 1
fga | functional gait : 0 30 1
mini best | mini bestest : 0 28 1
functional ambulation | fac gait : 0 5 1
cirs g : 0 56 1
conut : 0 12 1
snaq appetite : 4 20 1
lace index : 0 19 1
hospital score : 0 13 1
push | push ulcer : 0 17 1
bwat : 13 65 1
resvech : 0 35 1
braden q : 7 28 1
wagner : 0 5 1
vancouver scar | vancouver scar scale | vss scar : 0 13 1
humpty dumpty : 7 23 1
"""
