"""Files of SPSS, Stata and SAS, as pyreadstat and pandas write them."""

import datetime

import numpy as np
import pandas as pd

from corpus.messy_file import MessyFile, spss, stored

STATISTICAL_FILES = (
    *stored("statistical_files")[0],
    MessyFile(
        "SPSS with dates and leading zeros",
        "c.sav",
        spss({"id": ["001", "002"], "seen": [datetime.date(2024, 5, 31), None]}),
        [["id", "seen"], ["001", "2024-05-31"], ["002", ""]],
        notes={"seen": {"kind": "date"}},
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
    MessyFile("damaged SPSS", "c.sav", b"$FL2" + b"x" * 300, refused="this file of SPSS cannot be read"),
)
