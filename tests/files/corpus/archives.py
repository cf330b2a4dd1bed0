"""Tables packed with gzip or zip."""

import gzip
import io
import zipfile

from corpus.messy_file import MessyFile
from corpus.sheets import CELLS, xlsx
from corpus.texts import LAB, LAB_TEXT


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return buffer.getvalue()


def workbook_in_zip(path):
    inner = path.with_name("inner.xlsx")
    xlsx(CELLS)(inner)
    path.write_bytes(zipped(cohort_xlsx=inner.read_bytes()))


ARCHIVES = (
    MessyFile("gzip", "lab.csv.gz", gzip.compress(LAB_TEXT.encode()), LAB),
    MessyFile("gzip that is not said", "lab.csv", gzip.compress(LAB_TEXT.encode()), LAB),
    MessyFile("gzip of tabs", "lab.tsv.gz", gzip.compress(LAB_TEXT.replace(",", "\t").encode()), LAB),
    MessyFile("half of gzip", "lab.csv.gz", gzip.compress(LAB_TEXT.encode())[:-12], refused="gzip .* cannot be read"),
    MessyFile("text under the name of gzip", "lab.csv.gz", LAB_TEXT, refused="not a gz file: give it the name"),
    MessyFile("a bomb", "lab.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 40_000_000), refused="no table does"),
    MessyFile("zip", "lab.zip", zipped(export__lab_csv=LAB_TEXT), LAB, ("read 'export/lab.csv', the one file",)),
    MessyFile(
        "zip of a Mac",
        "lab.zip",
        zipped(lab_csv=LAB_TEXT, **{"__MACOSX____lab_csv": "x"}).replace(b"/MACOSX//lab", b"__MACOSX/lab"),
        LAB,
        ("read 'lab.csv', the one file",),
    ),
    MessyFile("zip of a workbook", "lab.zip", workbook_in_zip, LAB, ("read 'cohort.xlsx', the one file",)),
    MessyFile(
        "zip of two", "lab.zip", zipped(a_csv=LAB_TEXT, b_csv=LAB_TEXT), refused="holds 'a.csv', 'b.csv', and one"
    ),
    MessyFile("zip of nothing", "lab.zip", zipped(), refused="no file|not a zip file"),
    MessyFile("twice", "lab.csv.gz", gzip.compress(gzip.compress(LAB_TEXT.encode())), refused="packed twice"),
    MessyFile("text under the name of zip", "lab.zip", LAB_TEXT, refused="not a zip file"),
)
