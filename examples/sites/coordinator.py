"""The fit of subjects at several sites, of whom only statistics are sent (`Site`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pandas as pd
from search_at_sites import AtSites, answer_of, numbered, search_sites

import clinclust as cc
from clinclust.engine.kernels.compiled import announcing_compilation
from clinclust.engine.problem.problem import Clusters
from clinclust.engine.search.partitioned import WholeCohort
from clinclust.engine.search.plan import Budget, SearchPlan
from clinclust.engine.search.settle import groups_by_decreasing_size
from clinclust.errors import InputError
from clinclust.estimators.fit import Fit, PartitionedFit, SubtypeTree
from clinclust.estimators.parameters import seed_of
from clinclust.estimators.partitioned import problem_of_model, refuse_unusable
from clinclust.estimators.saving import software_versions
from clinclust.estimators.settings import Settings


def fit_at_sites(model: cc.MAPDP, sites: Sequence[Any]) -> cc.MAPDP:
    """Fit a model to the subjects at sites, and return it; it holds statistics only, and predicts at any of them.

    A site is a `Site`, or an object whose `ask` sends the question to one. The first site gives the scales, priors,
    block weights and coarsening, and tests the tree. Raises InputError for parameters that need rows, schemas that
    differ, and a site that fails.
    """
    settings = Settings.of(model)
    model.fit_, model._rows = _fit(settings, sites), None
    return model


def _fit(settings: Settings, sites: Sequence[Any]) -> PartitionedFit:
    refuse_unusable(settings, "and these subjects are at sites; leave it out")
    schema, seed = settings.schema, int(seed_of(settings.random_state))
    if schema is None or settings.outlying_share:
        raise InputError("a fit at sites needs the schema of all of them, and estimates no outliers (outlying_share=0)")
    asked = tuple(site.ask for site in sites)
    everyone = range(len(sites))
    found = [answer_of(asked, number, "describe") for number in everyone]
    if any(answer["schema"] != schema.fingerprint for answer in found):
        raise InputError("the schemas of the sites, or of the model, differ; give all the same file")
    n_subjects = sum(answer["n_subjects"] for answer in found)
    bits = np.max([answer["bits"] for answer in found], axis=0).tolist()
    sent = {field.name: getattr(settings, field.name) for field in fields(settings) if field.name != "schema"}
    sent |= {"random_state": seed, "outlying_share": 0.0, "progress": False}
    with announcing_compilation():
        n_observed = np.sum([answer["n_observed"] for answer in found], axis=0).tolist()
        model = answer_of(asked, 0, "first", settings=sent, n_observed=n_observed)
        missing = {part.name: np.array([np.nan]) for part in schema.clustered_parts}
        problem = problem_of_model(schema, bits, model, missing)
        encoded = [answer_of(asked, number, "encode", bits=bits, **model) for number in everyone]
        n_used = np.sum([answer["n_observed"] for answer in encoded], axis=0)
        log_base = sum(answer["log_base"] for answer in encoded)
        of_tables = problem.cohort
        cohort = WholeCohort(of_tables.encoding, of_tables.arrays, log_base, of_tables.order, n_subjects, n_used)
        begun = [answer_of(asked, number, "begin", n_restarts=settings.n_restarts, seed=seed) for number in everyone]
        begins = AtSites.apart(replace(problem, cohort=cohort), asked, begun).merged()
        plan = SearchPlan(max_sweeps=settings.max_sweeps, budget=Budget(settings.max_seconds))
        result = search_sites(begins, plan, np.random.default_rng(seed))
        return _fit_of(settings, seed, result.cohort, result.trace, n_subjects, plan)


def _fit_of(
    settings: Settings, seed: int, found: AtSites, trace: list[float], n_subjects: int, plan: SearchPlan
) -> PartitionedFit:
    at_first = answer_of(found.sites, 0, "end", labels=found.labels[0], n_subjects=n_subjects)
    present = at_first["clusters"]
    absent = np.setdiff1d(np.arange(found.n_clusters), present)
    absent = absent[np.argsort(-found.clusters.sizes[absent])]
    found = found.renamed(numbered(np.concatenate([present, absent]), found.n_clusters))
    sizes, statistics = found.clusters.sums
    n_first = int(at_first["subtype_of"].max()) + 1
    groups = np.append(at_first["subtype_of"], n_first + np.arange(absent.size))
    subtype_of = groups_by_decreasing_size(groups, sizes.astype(np.int64))
    found.asked("keep", subtype_of=subtype_of)
    encoding, model = found.problem.cohort.encoding, found.problem.model
    included = np.ones(len(encoding.features), dtype=np.bool_)
    clusters = Clusters(encoding, model, sizes, statistics, included, 0.0, at_first["temperature"])
    tree = SubtypeTree(np.empty(0, dtype=np.int64), at_first["joins"], at_first["evidence"])
    held: dict[str, Any] = dict.fromkeys(field.name for field in fields(Fit))
    held |= {
        "schema_": settings.schema,
        "random_seed_": seed,
        "clusters_": clusters,
        "subtype_of_": subtype_of,
        "log_joint_": trace[-1],
        "log_joint_trace_": np.array(trace),
        "leave_one_out_nll_": np.nan,
        "hyperparameters_": found.problem.hyperparameters,
        "uninformative_": {},
        "tree_": tree,
        "tuning_": pd.DataFrame(),
        "versions_": software_versions(),
        "stopped_early_": plan.budget.cut_short,
        "min_size_": at_first["min_size"],
    }
    return PartitionedFit(**held, in_sample_=None, sample_=None)  # type: ignore[arg-type]
