"""Files of SPSS, Stata and SAS, as pyreadstat and pandas write them."""

import datetime

import numpy as np
import pandas as pd

from corpus.messy_file import MessyFile

DAY = datetime.date(2024, 5, 31)


def spss(columns, writer="write_sav", **more):
    def write(path):
        import pyreadstat

        getattr(pyreadstat, writer)(pd.DataFrame(columns), str(path), **more)

    return write


SEX = {1.0: "male", 2.0: "female"}
PAIN = {0.0: "none", 10.0: "worst"}
STAGE = {1.0: "mild", 2.0: "moderate", 3.0: "severe", 9.0: "refused"}
DECLARED = ": the file declares values that mean a missing one"

STATISTICAL_FILES = (
    MessyFile(
        "SPSS with labels of all values",
        "c.sav",
        spss(
            {"sex": [1.0, 2.0, np.nan], "age": [61.0, 48.5, 55.0]},
            column_labels={"sex": "Sex of the patient"},
            variable_value_labels={"sex": SEX},
            variable_measure={"sex": "nominal", "age": "scale"},
        ),
        [["sex", "age"], ["male", "61"], ["female", "48.5"], ["", "55"]],
        notes={
            "sex": {"label": "Sex of the patient", "levels": [["1", "male"], ["2", "female"]], "kind": "nominal"},
            "age": {"kind": "number"},
        },
    ),
    MessyFile(
        "SPSS with labels of the ends of a scale",
        "c.sav",
        spss({"id": ["a", "b"], "pain": [0.0, 4.0]}, variable_value_labels={"pain": PAIN}),
        [["id", "pain"], ["a", "0"], ["b", "4"]],
        ("pain: only some values have labels: read as codes",),
        notes={"pain": {"levels": [["0", "none"], ["10", "worst"]]}},
    ),
    MessyFile(
        "SPSS with a labelled value that the user declares missing",
        "c.zsav",
        spss(
            {"stage": [1.0, 3.0, 9.0], "n": [1.0, 2.0, 3.0]},
            compress=True,
            variable_value_labels={"stage": STAGE},
            missing_ranges={"stage": [9.0]},
            variable_measure={"stage": "ordinal"},
        ),
        [["stage", "n"], ["mild", "1"], ["severe", "2"], ["refused", "3"]],
        ("stage" + DECLARED,),
        notes={
            "stage": {
                "levels": [["1", "mild"], ["2", "moderate"], ["3", "severe"]],
                "kind": "ordinal",
                "missing_codes": ["refused"],
            }
        },
    ),
    MessyFile(
        "SPSS with a range of missing values",
        "c.sav",
        spss({"age": [61.0, -99.0, -9.0], "n": [1.0, 2.0, 3.0]}, missing_ranges={"age": [{"lo": -99, "hi": -1}]}),
        [["age", "n"], ["61", "1"], ["-99", "2"], ["-9", "3"]],
        ("age" + DECLARED,),
        notes={"age": {"missing_codes": ["-9", "-99"]}},
    ),
    MessyFile(
        "SPSS with two values of one label",
        "c.sav",
        spss({"x": [1.0, 2.0], "n": [1.0, 2.0]}, variable_value_labels={"x": {1.0: "yes", 2.0: "yes"}}),
        [["x", "n"], ["1", "1"], ["2", "2"]],
        ("x: two values have the same label: read as codes",),
    ),
    MessyFile(
        "SPSS with dates and leading zeros",
        "c.sav",
        spss({"id": ["001", "002"], "seen": [DAY, None]}),
        [["id", "seen"], ["001", "2024-05-31"], ["002", ""]],
        notes={"seen": {"kind": "date"}},
    ),
    MessyFile(
        "SPSS under the name of a csv",
        "c.csv",
        spss({"id": ["a"], "n": [1.0]}),
        [["id", "n"], ["a", "1"]],
        (r"an SPSS file \(.sav\), although its name ends in '.csv'",),
    ),
    MessyFile(
        "portable SPSS",
        "c.por",
        spss({"ID": ["a", "b"], "N": [1.0, 2.5]}, "write_por"),
        refused="a portable file of SPSS.* save it in SPSS as .sav",
    ),
    MessyFile(
        "Stata with labels, dates and single precision",
        "c.dta",
        lambda path: pd.DataFrame(
            {
                "sex": pd.Categorical(["male", "female", None], ["male", "female"]),
                "crp": np.array([0.1, 2.5, np.nan], dtype=np.float32),
                "seen": pd.to_datetime(["2024-05-31", None, "2024-06-01"]),
            }
        ).to_stata(
            path, write_index=False, convert_dates={"seen": "td"}, variable_labels={"crp": "C-reactive protein"}
        ),
        [["sex", "crp", "seen"], ["male", "0.1", "2024-05-31"], ["female", "2.5", ""], ["", "", "2024-06-01"]],
        notes={
            "sex": {"levels": [["0", "male"], ["1", "female"]]},
            "crp": {"label": "C-reactive protein"},
            "seen": {"kind": "date"},
        },
    ),
    MessyFile(
        "Stata with tagged missing values",
        "c.dta",
        spss({"x": [1, 2, "a"], "n": [1, 2, 3]}, "write_dta", missing_user_values={"x": ["a"]}),
        [["x", "n"], ["1", "1"], ["2", "2"], [".a", "3"]],
        ("x" + DECLARED,),
        notes={"x": {"missing_codes": [".a"]}},
    ),
    MessyFile(
        "SAS transport",
        "c.xpt",
        spss({"ID": ["a", "b"], "N": [1.0, np.nan]}, "write_xport", column_labels=["Subject", "Number"]),
        [["ID", "N"], ["a", "1"], ["b", ""]],
        notes={"ID": {"label": "Subject"}},
    ),
    MessyFile(
        "visits of SPSS, the first of each subject",
        "c.sav",
        spss({"id": ["a", "b", "a"], "visit": [2.0, 1.0, 1.0]}),
        [["id", "visit"], ["b", "1"], ["a", "1"]],
        ("2 of 3 rows are kept: the first by 'visit' of each 'id'",),
        options={"one_row_per": "id", "by": "visit"},
        numbers=[3, 4],
    ),
    MessyFile("damaged SPSS", "c.sav", b"$FL2" + b"x" * 300, refused="this file of SPSS cannot be read"),
    MessyFile("text under the name of SPSS", "c.sav", "a,b\n1,2\n", refused="not an SPSS file .*, but text"),
    MessyFile(
        "SPSS with an option for text",
        "c.sav",
        spss({"n": [1.0]}),
        refused="header_row=2 makes",
        options={"header_row": 2},
    ),
)
