"""Write the options of the search into command_line.md, from the declared parameters: ``python docs/options.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clinclust.estimators.parameters import MAPDPParameters, Option, PublishedParameters, declarations

PAGE = Path(__file__).parent / "command_line.md"
TABLE = re.compile(
    r"(?<=^\| option \| values \| default \| meaning \|\n\| --- \| --- \| --- \| --- \|\n)(\|.*\n)+", re.M
)
READ = {"share": "whole number or share", "": ""}


def rows() -> Iterator[str]:
    """Yield each parameter that is an option as a row of the table; the first sentence of its help is its meaning."""
    published = declarations(PublishedParameters)
    for name, declared in declarations(MAPDPParameters).items():
        if declared.option is None:
            continue
        values = _values(declared.option)
        if further := [word for word in published[name].option.words if word not in declared.option.words]:
            values += f"{'; also' if values else 'only'} with `--as-published`: `{', '.join(further)}`"
        default = "" if declared.default in (None, False) else f"`{declared.default}`"
        meaning = re.split(r"(?<=\.) (?=[A-Z'])", re.sub(r" \(`\w+_`\)", "", declared.help))[0]  # without attributes
        yield f"| `--{name.replace('_', '-')}` | {values} | {default} | {meaning} |\n"


def _values(option: Option) -> str:
    number = READ.get(option.reads, option.reads)
    return ", ".join([*(f"`{word}`" for word in option.words), *([number] if number else [])])


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub("".join(rows()), page), encoding="utf-8")
