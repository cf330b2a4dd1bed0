"""Instruments of children, birth, ear, nose, throat, eyes and teeth: names, lowest and highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
apgar : 0 10 1
bishop : 0 13 1
silverman : 0 10 1
downes : 0 10 1
ballard : -10 50 1
snappe ii : 0 162 1
crib ii | crib 2 : 0 27 1
sarnat : 1 3 1
nips : 0 7 1
pipp : 0 21 1
cries pain : 0 10 1
comfort b : 6 30 1
westley : 0 17 1
pram asthma : 0 12 1
rdai : 0 17 1
gorelick : 0 10 1
pucai : 0 85 5
pcdai : 0 100 2.5
yale observation : 6 30 1
sdq | sdq total : 0 40 1
sdq emotional | sdq conduct | sdq hyperactivity | sdq peer | sdq prosocial : 0 10 1
snap iv 26 : 0 78 1
adhd rs | adhd rs iv | adhd rs 5 : 0 54 1
m chat r | mchat r : 0 20 1
scq : 0 39 1
cars autism | cars : 15 60 0.5
ados css : 1 10 1
ygtss : 0 100 1
ygtss tic | ygtss total tic : 0 50 1
scared : 0 82 1
cdi depression : 0 54 1
cdi 2 : 0 56 1
mfq : 0 66 1
smfq : 0 26 1
cy bocs | cybocs : 0 40 1
psc 17 : 0 34 1
psc 35 : 0 70 1
cgas | c gas : 1 100 1
pedsql | peds ql : 0 100 0
cshq : 33 99 1
osa 18 : 18 126 1
strongkids : 0 5 1
stamp nutrition : 0 9 1
thi | tinnitus handicap : 0 100 2
dhi : 0 100 2
hhie s : 0 40 2
hhie : 0 100 2
snot 22 : 0 110 1
vhi | vhi 30 : 0 120 1
vhi 10 : 0 40 1
reflux symptom index : 0 45 1
reflux finding : 0 26 1
eat 10 : 0 40 1
nose score | nose obstruction : 0 100 5
lund mackay : 0 24 1
centor : 0 4 1
mcisaac : -1 5 1
brodsky : 0 4 1
fois : 1 7 1
penetration aspiration : 1 8 1
guss : 0 20 1
tnss : 0 12 1
rqlq : 0 6 0
osdi : 0 100 0
vfq 25 : 0 100 0
efron : 0 4 1
oxford staining : 0 5 1
deq 5 : 0 22 1
etdrs letters : 0 100 1
shaffer : 0 4 1
dmft | dmf t | dmf | cpo d | cpod | cao d | dmft index : 0 32 1
deft | dmft deciduous | ceo d | ceod : 0 20 1
ohip 14 : 0 56 1
gohai : 12 60 1
ohi s : 0 6 0
gingival index | plaque index : 0 3 0
cpi community | cpitn : 0 4 1
corah | dental anxiety corah : 4 20 1
mdas : 5 25 1
cfss ds : 15 75 1
bewe : 0 18 1
icdas : 0 6 1
xerostomia inventory : 11 55 1
iotn : 1 5 1
"""
