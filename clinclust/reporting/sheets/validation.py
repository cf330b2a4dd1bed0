"""The page that says whether subtypes are found again in another cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinclust.reporting.layout import Column, Sheet, Table, as_value

if TYPE_CHECKING:
    from clinclust.stability import Validation

_COLUMNS = {
    "subtype": Column("Subtype", "0"),
    "share": Column("Cohort (%)", "0.0", ("Share of subjects", "")),
    "share_assigned": Column("Other, assigned (%)", "0.0", ("Share of subjects", "")),
    "share_found": Column("Other, nearest found (%)", "0.0", ("Share of subjects", "")),
    "band": Column("Found again"),
    "jaccard": Column("Jaccard", "0.00"),
    "jaccard_by_chance": Column("By chance", "0.00"),
    "jaccard_in_cohort": Column("Jaccard in the cohort", "0.00"),
    "profile_correlation": Column("Correlation of profiles", "0.00"),
}
_EXPLANATIONS = (
    "The subjects of the other cohort were assigned by the model, and independently clustered by the same procedure. "
    "Jaccard: of the subjects in an assigned subtype or in the nearest one found there, the share that is in both; "
    "from 0.75 a subtype is found again (Hennig 2007). By chance: the same with labels dealt out at random.",
    "Jaccard in the cohort: the subjects of the cohort assigned by the fit of the other one. Profiles are the means of "
    "the features, in standard deviations from those of the whole cohort.",
)


def validation_sheet(found: Validation) -> Sheet:
    """Return the section: the answer first, then a row for each subtype."""
    shares = [name for name in _COLUMNS if name.startswith("share")]
    table = found.subtypes.assign(**{name: 100.0 * found.subtypes[name] for name in shares})
    rows = [[as_value(cell) for cell in row] for row in table[list(_COLUMNS)].astype(object).to_numpy()]
    answer, *_ = found.summary.split("\n")
    tables = [Table("The subtypes in the other cohort", list(_COLUMNS.values()), rows)]
    return Sheet("Another cohort", [answer], tables, explanations=list(_EXPLANATIONS))
