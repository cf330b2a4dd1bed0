"""Instruments of chest, heart, abdomen, kidney and urinary medicine: names, lowest and highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
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
ccq copd | clinical copd questionnaire : 0 6 0
c act | cact : 0 27 1
aqlq : 1 7 0
lcq | leicester cough : 3 21 0
brasfield : 0 25 1
bhalla : 0 25 1
faced : 0 7 1
bronchiectasis severity index : 0 26 1
dyspnea 12 | dyspnoea 12 : 0 36 1
gap index : 0 8 1
s pesi | spesi : 0 6 1
revised geneva | geneva score : 0 22 1
padua vte | padua prediction : 0 20 1
khorana : 0 6 1
villalta : 0 33 1
vcss : 0 30 1
rutherford : 0 6 1
fontaine : 1 4 1
wifi wound | wifi ischemia | wifi infection | wifi herida : 0 3 1
intermacs : 1 7 1
ehra : 1 4 1
rcri | lee index : 0 6 1
maggic : 0 50 1
h 2 fpef : 0 9 1
orbit bleeding : 0 7 1
atria bleeding : 0 10 1
hemorr 2 hages : 0 12 1
ehfscb 9 : 9 45 1
duke treadmill : -25 15 0
saq angina | seattle angina : 0 100 0
partial mayo : 0 9 1
uceis : 0 8 1
sccai : 0 19 1
ibdq : 32 224 1
sibdq : 10 70 1
gerdq : 0 18 1
eckardt : 0 12 1
ibs sss : 0 500 0
bristol | bristol stool | bsfs : 1 7 1
boston bowel | bbps : 0 9 1
wexner | cleveland incontinence : 0 20 1
vaizey : 0 24 1
lars score : 0 42 1
aims 65 : 0 5 1
bisap : 0 5 1
ctsi : 0 10 1
nafld activity score : 0 8 1
ishak : 0 6 1
metavir : 0 4 1
alvarado : 0 10 1
forns lille : 0 1 0
oabss : 0 15 1
iciq | iciq sf | iciq ui | iciq ui sf : 0 21 1
nih cpsi | nihcpsi : 0 43 1
ipss qol | qol ipss : 0 6 1
iief 15 : 5 75 1
renal nephrometry : 4 12 1
clavien | clavien dindo : 0 5 1
pfdi 20 : 0 300 0
fsfi : 2 36 0
ferriman | ferriman gallwey | mfg : 0 36 1
kupperman : 0 51 1
greene climacteric : 0 63 1
menopause rating : 0 44 1
w deq : 0 165 1
ehp 30 : 0 100 0
nugent : 0 10 1
biophysical profile : 0 10 2
"""
