"""Instruments of rheumatology, orthopaedics and dermatology: names, lowest and highest total, step."""

from __future__ import annotations

__all__ = ["LISTED"]

LISTED = """
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
dlqi | cdlqi : 0 30 1
pasi : 0 72 0
easi : 0 72 0
scorad : 0 103 0
poem : 0 28 1
uas 7 : 0 42 1
iga | pga : 0 4 1
fitzpatrick : 1 6 1
tjc 28 | sjc 28 : 0 28 1
tjc 68 : 0 68 1
sjc 66 : 0 66 1
chaq : 0 3 0.125
bvas : 0 63 1
slicc | slicc damage | sdi slicc : 0 46 1
rapid 3 : 0 30 0
essdai : 0 123 1
esspri : 0 10 0
fiqr | fiq | fiq r : 0 100 0
wpi | widespread pain : 0 19 1
symptom severity scale : 0 12 1
mases : 0 13 1
leeds enthesitis | lei enthesitis : 0 6 1
sparcc enthesitis : 0 16 1
jadas 10 : 0 40 0
jadas 27 : 0 57 0
msasss : 0 72 1
mrss | rodnan | modified rodnan : 0 51 1
beighton : 0 9 1
lequesne : 0 24 0.5
aofas : 0 100 1
atrs : 0 100 1
visa a | visa p : 0 100 1
tegner : 0 10 1
ucla activity : 1 10 1
oss shoulder | oxford shoulder : 0 48 1
oes elbow | oxford elbow : 0 48 1
simple shoulder | sst shoulder : 0 12 1
ases | prwe | mhq : 0 100 0
mayo elbow | meps : 0 100 5
mayo wrist : 0 100 5
fjs | forgotten joint | fjs 12 : 0 100 0
merle d aubigne : 0 18 1
lefs : 0 80 1
faos : 0 100 0
oswestry : 0 100 2
risser : 0 5 1
pfirrmann : 1 5 1
outerbridge : 0 4 1
goutallier : 0 4 1
srs 22 : 1 5 0
steinbrocker : 1 4 1
pest psoriasis : 0 5 1
napsi : 0 80 1
skindex 29 | skindex 16 : 0 100 0
uct urticaria | urticaria control test : 0 16 1
aect : 0 16 1
vasi : 0 100 0
masi : 0 48 0
gags : 0 44 1
hdss : 1 4 1
hurley : 1 3 1
"""
