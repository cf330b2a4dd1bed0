"""The texts of `hostile_texts.toml`: what would be alive in an output, by the kind of output."""

import tomllib
from pathlib import Path

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ON_TERMINALS = _TEXTS["terminal"]
IN_REPORTS = list(dict.fromkeys([*_TEXTS["report"], *_TEXTS["outputs"], *ON_TERMINALS]))
IN_TABLES = list(dict.fromkeys([*IN_REPORTS, *_TEXTS["table"]]))
IN_WORKBOOKS = _TEXTS["workbook"]
