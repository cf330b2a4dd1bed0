"""Find and describe disease subtypes in a clinical cohort; public names are imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust import check as check
    from clinclust import comparisons as comparisons
    from clinclust import disclosure as disclosure
    from clinclust import drift as drift
    from clinclust import methods as methods
    from clinclust import outcomes as outcomes
    from clinclust import plots as plots
    from clinclust import stability as stability
    from clinclust.associations import validated_associations as validated_associations
    from clinclust.comparisons import compare_subtypes as compare_subtypes
    from clinclust.disclosure import suppress_small_cells as suppress_small_cells
    from clinclust.drafting import draft_schema as draft_schema
    from clinclust.errors import CohortError as CohortError
    from clinclust.errors import CohortWarning as CohortWarning
    from clinclust.errors import SchemaError as SchemaError
    from clinclust.estimators.distinct_subtypes import distinct_subtypes as distinct_subtypes
    from clinclust.estimators.estimator import Partition as Partition
    from clinclust.estimators.explanation import unusual_subjects as unusual_subjects
    from clinclust.estimators.gibbs import GibbsDP as GibbsDP
    from clinclust.estimators.imputation.tables import pool_estimates as pool_estimates
    from clinclust.estimators.joint import log_joint as log_joint
    from clinclust.estimators.joint import resolution_path as resolution_path
    from clinclust.estimators.mapdp import MAPDP as MAPDP
    from clinclust.estimators.partitioned.site import Site as Site
    from clinclust.outcomes import compare_outcomes as compare_outcomes
    from clinclust.outcomes import subtype_predictors as subtype_predictors
    from clinclust.reading import read_cohort as read_cohort
    from clinclust.reporting import write_report as write_report
    from clinclust.reporting.assignments import continuum_score as continuum_score
    from clinclust.reporting.subtype_table import subtype_table as subtype_table
    from clinclust.schema import Feature as Feature
    from clinclust.schema import FeatureSchema as FeatureSchema

__version__ = "0.1.0"

_SUBMODULES = ("check", "comparisons", "disclosure", "drift", "methods", "outcomes", "plots", "stability")
_HOME = {
    "CohortError": "clinclust.errors",
    "CohortWarning": "clinclust.errors",
    "SchemaError": "clinclust.errors",
    "Feature": "clinclust.schema",
    "FeatureSchema": "clinclust.schema",
    "GibbsDP": "clinclust.estimators.gibbs",
    "MAPDP": "clinclust.estimators.mapdp",
    "Partition": "clinclust.estimators.estimator",
    "Site": "clinclust.estimators.partitioned.site",
    "compare_outcomes": "clinclust.outcomes",
    "compare_subtypes": "clinclust.comparisons",
    "continuum_score": "clinclust.reporting.assignments",
    "distinct_subtypes": "clinclust.estimators.distinct_subtypes",
    "draft_schema": "clinclust.drafting",
    "log_joint": "clinclust.estimators.joint",
    "pool_estimates": "clinclust.estimators.imputation.tables",
    "read_cohort": "clinclust.reading",
    "resolution_path": "clinclust.estimators.joint",
    "subtype_predictors": "clinclust.outcomes",
    "subtype_table": "clinclust.reporting.subtype_table",
    "suppress_small_cells": "clinclust.disclosure",
    "unusual_subjects": "clinclust.estimators.explanation",
    "validated_associations": "clinclust.associations",
    "write_report": "clinclust.reporting",
}
__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return import_module(f"clinclust.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'clinclust' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBMODULES, "__version__"])
