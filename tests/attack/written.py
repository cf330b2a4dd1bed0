"""Everything that the package writes, as functions of a path: small, so that it can be killed hundreds of times."""

from datetime import UTC, datetime
from functools import cache

import numpy as np
import pandas as pd
from reporting.stand_in import gathered

import clinclust as cc
from clinclust.cli.outputs import FILES_OF_A_FIT
from clinclust.files.writing import MANIFEST, write_manifest, write_together
from clinclust.reporting.assignments import assignment_table, write_inert_csv
from clinclust.reporting.report import write_findings

_MOMENT = datetime(2026, 1, 2, tzinfo=UTC)


@cache
def _findings(seed=0):
    """Return the findings of a fit of a small cohort; the table of assignments; the subtype table."""
    rng = np.random.default_rng(0)
    schema = cc.FeatureSchema(
        [cc.Feature(name="who", role="id"), *(cc.Feature(name=f"f{i}", likelihood="poisson") for i in range(3))]
    )
    groups = np.repeat([0, 1], 12)
    frame = pd.DataFrame({f"f{i}": rng.poisson(1 + 9 * groups) for i in range(3)})
    frame.insert(0, "who", [f"p{row}" for row in range(24)])
    frame = schema.validate(frame, warn=False)
    model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=seed).fit(frame)
    findings = gathered(model, frame)
    table = assignment_table(frame, schema, model.labels_, model.membership_)
    return findings, table, cc.subtype_table(findings.comparisons)


def _fit_folder(path, seed=1):
    """Write the folder of a fit; that of seed 0 has a page that the other lacks, and other files of the same names."""
    findings, table, _ = _findings(seed)
    with write_together(path, replacing=FILES_OF_A_FIT) as folder:
        findings.cohort.model.save(folder)
        write_inert_csv(table.assign(seed=seed), folder / "assignments.csv")
        if not seed:
            (folder / "subtypes.html").write_text("of the earlier run", encoding="utf-8")
        write_manifest(folder, sorted(file.name for file in folder.iterdir() if file.name != MANIFEST))


WRITERS = {
    "report.xlsx": lambda path: write_findings(_findings()[0], path, _MOMENT),
    "report.html": lambda path: write_findings(_findings()[0], path, _MOMENT),
    "table.docx": lambda path: _findings()[2].save(path),
    "table.xlsx": lambda path: _findings()[2].save(path),
    "table.html": lambda path: _findings()[2].save(path),
    "table.csv": lambda path: _findings()[2].save(path),
    "assignments.csv": lambda path: write_inert_csv(_findings()[1], path),
    "schema.yaml": lambda path: _findings()[0].cohort.schema.to_yaml(path),
    "model folder": lambda path: _findings(1)[0].cohort.model.save(path),
    "fit folder": _fit_folder,
}
"""By name of what is written, the function that writes it to a path."""


def write_earlier(name, path):
    """Write what a run has left that came before, and that the writer of this name replaces."""
    if name == "fit folder":
        _fit_folder(path, seed=0)
    elif name == "model folder":
        _findings(0)[0].cohort.model.save(path)
    else:
        path.write_text("of the earlier run", encoding="utf-8")
