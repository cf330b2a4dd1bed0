"""Instruments of psychiatry, addiction, sleep, work and quality of life: names, lowest and highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
phq 9 | phq9 total : 0 27 1
phq 8 : 0 24 1
phq 15 : 0 30 1
phq 2 : 0 6 1
gad 7 : 0 21 1
gad 2 : 0 6 1
hads : 0 42 1
hads a | hads d | hadsa | hadsd | hads anxiety | hads depression | hads angst : 0 21 1
bdi | bdi ii | bdi 2 | beck : 0 63 1
bai : 0 63 1
hamd | ham d | hdrs | hamd 17 | hdrs 17 | hrsd : 0 52 1
hama | ham a : 0 56 1
madrs : 0 60 1
ymrs : 0 60 1
cesd | ces d : 0 60 1
epds : 0 30 1
pcl 5 : 0 80 1
audit : 0 40 1
audit c : 0 12 1
fagerstrom | ftnd : 0 10 1
isi : 0 28 1
psqi : 0 21 1
ess | epworth : 0 24 1
stop bang | stopbang : 0 8 1
fss | fatigue severity : 1 7 0
fss total | fss sum : 9 63 1
cfq 11 : 0 33 1
pss | pss 10 : 0 40 1
who 5 : 0 25 1
gaf : 1 100 1
panss : 30 210 1
bprs : 18 126 1
cgi | cgi s : 1 7 1
aims : 0 28 1
phq 4 : 0 12 1
pcl c | pcl 17 : 17 85 1
caps 5 : 0 80 1
ies r : 0 88 1
lsas | liebowitz : 0 144 1
spin social phobia : 0 68 1
pswq : 16 80 1
pdss : 0 28 1
y bocs | ybocs : 0 40 1
oci r : 0 72 1
stai s | stai t | stai state | stai trait | stai y 1 | stai y 2 : 20 80 1
qids | qids sr | qids 16 : 0 27 1
bhs | beck hopelessness : 0 20 1
swls : 5 35 1
k 10 | kessler 10 : 10 50 1
k 6 | kessler 6 : 0 24 1
ghq 12 : 0 36 1
ghq 28 : 0 84 1
srq 20 : 0 20 1
panss positive | panss p | panss pos | panss positiv : 7 49 1
panss negative | panss n | panss neg | panss negativ : 7 49 1
panss general | panss g : 16 112 1
cdss | calgary depression : 0 27 1
hcl 32 : 0 32 1
mdq : 0 13 1
wurs 25 : 0 100 1
asrs 18 : 0 72 1
ede q | edeq : 0 6 0
eat 26 : 0 78 1
scoff : 0 5 1
bes binge | binge eating scale : 0 46 1
ctq childhood | childhood trauma : 25 125 1
ucla loneliness : 20 80 1
tas 20 : 20 100 1
aq 10 : 0 10 1
aq 50 : 0 50 1
dos delirium | doss : 0 13 1
cam icu 7 : 0 7 1
nu desc | nudesc : 0 10 1
drs r 98 : 0 46 1
4 at : 0 12 1
pss 4 : 0 16 1
pss 14 : 0 56 1
lot r : 0 24 1
gse self efficacy | general self efficacy : 10 40 1
cd risc 10 : 0 40 1
cd risc | cd risc 25 : 0 100 1
mspss : 12 84 1
oslo 3 | osss 3 : 3 14 1
lsns 6 : 0 30 1
bis 11 | barratt : 30 120 1
ders : 36 180 1
csdd | cornell depression : 0 38 1
dast 10 : 0 10 1
dast 20 : 0 20 1
cudit r | cudit : 0 32 1
sadq : 0 60 1
severity of dependence : 0 15 1
ciwa | ciwa ar : 0 67 1
cows withdrawal | cows : 0 48 1
cage : 0 4 1
pacs craving : 0 30 1
pgsi : 0 27 1
sogs : 0 20 1
heaviness of smoking : 0 6 1
readiness ruler : 0 10 1
mmas 4 : 0 4 1
irls | rls | restless legs : 0 40 1
fosq 10 : 5 20 0
meq | morningness : 16 86 1
karasek demande | karasek demand | karasek demandes | jcq demand : 9 36 1
karasek latitude | jcq latitude | jcq control : 24 96 1
karasek soutien | karasek support | jcq support : 8 32 1
copsoq : 0 100 0
nasa tlx : 0 100 0
work ability index | wai work : 7 49 1
whoqol | whoqol bref : 0 100 0
whodas : 0 100 0
promis : 0 100 0
nhp : 0 100 0
sf 36 | sf 12 | pcs | mcs | sf 36 pcs | sf 36 mcs | sf 12 pcs | sf 12 mcs : 0 100 0
eq vas | eq 5 d vas | eq 5 d 5 l vas | eq 5 d 3 l vas : 0 100 0
eq 5 d index | eq5d utility | utility | eq 5 d 5 l index | eq 5 d 3 l index | eq 5 d 5 l utility : -1 1 0
paid 5 : 0 20 1
findrisc : 0 26 1
predimed | medas : 0 14 1
mediterranean diet : 0 14 1
clarke hypoglycaemia | clarke hypo : 0 7 1
gold hypo : 1 7 1
"""
