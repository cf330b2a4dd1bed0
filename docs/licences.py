"""Write licences.md, the licence of every package that clinclust needs: ``python docs/licences.py``.

Read from the metadata of what is installed, for the extras named in `EXTRAS`, with all that these need in turn.
"""

from __future__ import annotations

import re
import tomllib
from collections import deque
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, files, metadata, requires
from pathlib import Path

from packaging.requirements import Requirement

HERE = Path(__file__).parent
EXTRAS = ("formats", "parquet", "word", "methods")
CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
NAMED = {"2-clause BSD": "BSD-2-Clause"}
"""By the field `License`, where it is no SPDX expression."""
SPDX = re.compile(
    r"(MIT|MPL-2\.0|Apache-2\.0|BSD-[234]-Clause)( (AND|OR) (MIT|MPL-2\.0|Apache-2\.0|BSD-[234]-Clause))*"
)
BSD_3 = r"Neither the name|names of its\s+contributors"
"""What only the BSD licence of three clauses says; the classifier does not say which it is."""


def closure(named: Iterable[str]) -> Iterator[str]:
    """Yield the installed packages that requirements need, in turn, without extras of their own."""
    waiting, seen = deque(named), set()
    while waiting:
        requirement = Requirement(waiting.popleft())
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        extras = requirement.extras or {""}
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            continue
        try:
            needs = requires(name) or []
        except PackageNotFoundError:
            continue
        waiting += [need for need in needs if _applies(Requirement(need), extras)]
        if name not in seen:
            seen.add(name)
            yield name


def _applies(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in extras)


def licence(name: str) -> str:
    """Return the SPDX expression of an installed package."""
    about = metadata(name)
    if about["License-Expression"]:
        return about["License-Expression"]
    field = (about["License"] or "").strip()
    if field in NAMED or SPDX.fullmatch(field):
        return NAMED.get(field, field)
    named = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
    if found := [CLASSIFIERS[each] for each in named if each in CLASSIFIERS]:
        return " OR ".join(found)
    if any(re.search(BSD_3, text) for text in (field, *_texts(name))):
        return "BSD-3-Clause"
    raise SystemExit(f"{name}: the metadata name no licence")


def _texts(name: str) -> Iterator[str]:
    for file in files(name) or []:
        if re.search(r"licen[cs]e|copying", file.name, re.I) and ".dist-info" in str(file):
            yield file.locate().read_text(encoding="utf-8", errors="replace")


def main() -> None:
    """Write the page."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core = sorted(closure(project["dependencies"]))
    more = {extra: sorted(set(closure(project["optional-dependencies"][extra])) - set(core)) for extra in EXTRAS}
    lines = [
        "# What are the licences of the packages that clinclust needs?",
        "",
        f"clinclust itself is {project['license']} ([LICENSE](../LICENSE)). The table lists the packages that an",
        "installation requires, directly or through others, with the SPDX expressions in their metadata (`python",
        "docs/licences.py`). clinclust copies no code of theirs; a wheel may contain further libraries, under the",
        "terms in its metadata.",
        "",
        "| package | licence | needed by |",
        "| --- | --- | --- |",
        *(f"| {name} | {licence(name)} | clinclust |" for name in core),
        *(f"| {name} | {licence(name)} | `[{extra}]` |" for extra, names in more.items() for name in names),
        "",
    ]
    (HERE / "licences.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
