"""Find and describe disease subtypes in a clinical cohort; public names are imported when first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clinclust.associations import validated_associations
    from clinclust.comparisons import compare_partitions, compare_subtypes, dominant_columns
    from clinclust.disclosure import audit_disclosure, suppress_small_cells, withhold_associations
    from clinclust.drafting import draft_schema
    from clinclust.drift import Drift, assess_drift
    from clinclust.errors import CohortError, CohortWarning, SchemaError
    from clinclust.estimators.distinct_subtypes import DistinctSubtypes, distinct_subtypes
    from clinclust.estimators.gibbs import GibbsDP
    from clinclust.estimators.joint import log_joint
    from clinclust.estimators.mapdp import MAPDP
    from clinclust.estimators.multiple_imputation import pool_estimates
    from clinclust.estimators.partition import Partition
    from clinclust.estimators.resolution_path import resolution_path
    from clinclust.estimators.unusual import unusual_subjects
    from clinclust.method_comparison import MethodComparison, compare_methods
    from clinclust.model_check import ModelCheck, check_model
    from clinclust.reading import read_cohort
    from clinclust.reporting import write_report
    from clinclust.reporting.continuum_score import continuum_score
    from clinclust.reporting.figures import (
        plot_certainty,
        plot_effects,
        plot_explanation,
        plot_missing,
        plot_profile,
        plot_relevance,
        plot_resolution_path,
        plot_restarts,
        plot_tree,
    )
    from clinclust.reporting.subtype_table import subtype_table
    from clinclust.schema import Feature, FeatureSchema
    from clinclust.stability import Stability, assess_stability

__version__ = "0.1.0"

_HOME = {
    "CohortError": "clinclust.errors",
    "CohortWarning": "clinclust.errors",
    "SchemaError": "clinclust.errors",
    "DistinctSubtypes": "clinclust.estimators.distinct_subtypes",
    "Drift": "clinclust.drift",
    "Feature": "clinclust.schema",
    "FeatureSchema": "clinclust.schema",
    "GibbsDP": "clinclust.estimators.gibbs",
    "MAPDP": "clinclust.estimators.mapdp",
    "MethodComparison": "clinclust.method_comparison",
    "ModelCheck": "clinclust.model_check",
    "Stability": "clinclust.stability",
    "check_model": "clinclust.model_check",
    "Partition": "clinclust.estimators.partition",
    "assess_drift": "clinclust.drift",
    "assess_stability": "clinclust.stability",
    "audit_disclosure": "clinclust.disclosure",
    "compare_methods": "clinclust.method_comparison",
    "compare_partitions": "clinclust.comparisons",
    "compare_subtypes": "clinclust.comparisons",
    "continuum_score": "clinclust.reporting.continuum_score",
    "dominant_columns": "clinclust.comparisons",
    "distinct_subtypes": "clinclust.estimators.distinct_subtypes",
    "draft_schema": "clinclust.drafting",
    "log_joint": "clinclust.estimators.joint",
    "plot_certainty": "clinclust.reporting.figures",
    "plot_effects": "clinclust.reporting.figures",
    "plot_explanation": "clinclust.reporting.figures",
    "plot_missing": "clinclust.reporting.figures",
    "plot_profile": "clinclust.reporting.figures",
    "plot_relevance": "clinclust.reporting.figures",
    "plot_resolution_path": "clinclust.reporting.figures",
    "plot_restarts": "clinclust.reporting.figures",
    "plot_tree": "clinclust.reporting.figures",
    "pool_estimates": "clinclust.estimators.multiple_imputation",
    "read_cohort": "clinclust.reading",
    "resolution_path": "clinclust.estimators.resolution_path",
    "subtype_table": "clinclust.reporting.subtype_table",
    "suppress_small_cells": "clinclust.disclosure",
    "unusual_subjects": "clinclust.estimators.unusual",
    "validated_associations": "clinclust.associations",
    "withhold_associations": "clinclust.disclosure",
    "write_report": "clinclust.reporting",
}

__all__ = [
    "MAPDP",
    "CohortError",
    "CohortWarning",
    "DistinctSubtypes",
    "Drift",
    "Feature",
    "FeatureSchema",
    "GibbsDP",
    "MethodComparison",
    "ModelCheck",
    "Partition",
    "SchemaError",
    "Stability",
    "assess_drift",
    "assess_stability",
    "audit_disclosure",
    "check_model",
    "compare_methods",
    "compare_partitions",
    "compare_subtypes",
    "continuum_score",
    "distinct_subtypes",
    "dominant_columns",
    "draft_schema",
    "log_joint",
    "plot_certainty",
    "plot_effects",
    "plot_explanation",
    "plot_missing",
    "plot_profile",
    "plot_relevance",
    "plot_resolution_path",
    "plot_restarts",
    "plot_tree",
    "pool_estimates",
    "read_cohort",
    "resolution_path",
    "subtype_table",
    "suppress_small_cells",
    "unusual_subjects",
    "validated_associations",
    "withhold_associations",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'clinclust' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
