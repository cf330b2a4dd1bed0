"""Odd arguments of every public function: each is used, or refused by its name."""

import inspect
import re
import warnings
from functools import partial

import numpy as np
import pandas as pd

import clinclust
from attack.attempts import Attack
from attack.odd_arguments import odd_value, shown
from clinclust.errors import InputError, MissingPackageError

_REFUSALS = (InputError, TypeError, OSError, MissingPackageError)


def _sound_calls(folder):
    """Return every public function with arguments that it accepts, and methods of a model, by name."""
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 2
    frame = pd.DataFrame({"gait": rng.normal(20 * groups, 1), "falls": rng.poisson(1 + 20 * groups)})
    schema = clinclust.FeatureSchema(
        [clinclust.Feature(name="gait", likelihood="gaussian"), clinclust.Feature(name="falls", likelihood="poisson")]
    )
    quick = {"n_restarts": 1, "n_jobs": 1, "random_state": 0, "progress": False}
    model = clinclust.methods.PublishedMAPDP(schema, **quick).fit(frame)
    labels = model.labels_
    comparisons = clinclust.compare_subtypes(frame, labels, schema)
    suppressed = clinclust.suppress_small_cells(comparisons)
    associations = clinclust.validated_associations(model, frame, n_restarts=1, n_jobs=1, progress=False)
    frame.to_csv(folder / "cohort.csv", index=False)

    def fit(X, **parameters):
        return clinclust.methods.PublishedMAPDP(**{"schema": schema, **quick, **parameters}).fit(X)

    every_parameter = clinclust.methods.PublishedMAPDP(schema, **quick).get_params()
    compared = {"model": model, "comparisons": comparisons}
    wider = clinclust.FeatureSchema(list(schema), other_columns="ignore")
    of_wider = clinclust.methods.PublishedMAPDP(wider, **quick).fit(frame)
    with_outcome = frame.assign(fell=rng.integers(2, size=60), weeks=rng.exponential(9, 60) + 0.1)
    return {
        "MAPDP.fit": (fit, {"X": frame, **every_parameter}),
        "MAPDP.predict": (model.predict, {"X": frame}),
        "MAPDP.score_samples": (model.score_samples, {"X": frame}),
        "MAPDP.impute": (model.impute, {"frame": frame}),
        "MAPDP.multiple_imputations": (
            model.multiple_imputations,
            {"frame": frame, "m": 2, "n_sweeps": 1, "random_state": 0},
        ),
        "MAPDP.save": (model.save, {"folder": folder / "model"}),
        "MAPDP.load": (clinclust.MAPDP.load, {"folder": folder / "no model"}),
        "Feature": (clinclust.Feature, {"name": "gait", "role": "cluster", "likelihood": "gaussian", "prior": None}),
        "FeatureSchema": (clinclust.FeatureSchema, {"features": list(schema), "title": "t", "missing_codes": ("",)}),
        "FeatureSchema.validate": (schema.validate, {"frame": frame}),
        "Partition": (clinclust.Partition, {"labels": labels, "schema": schema, "made_by": "us"}),
        "audit_disclosure": (
            clinclust.disclosure.audit_disclosure,
            {
                **{"comparisons": suppressed, "threshold": 10, "rounding": None, "missing_is_harmless": False},
                **{"truth": None, "sizes": None},
            },
        ),
        "compare_outcomes": (
            clinclust.compare_outcomes,
            {
                **{"model": of_wider, "frame": with_outcome, "outcome": "fell", "time": None, "entry": None},
                **{"event": None, "covariates": [], "versus": 1},
            },
        ),
        "survival_curves": (
            clinclust.outcomes.survival_curves,
            {
                **{"model": of_wider, "frame": with_outcome, "outcome": "fell", "time": "weeks", "event": "1"},
                "entry": None,
            },
        ),
        "subtype_predictors": (
            clinclust.subtype_predictors,
            {"model": of_wider, "frame": with_outcome, "predictors": ["weeks"], "versus": 1},
        ),
        "compare_subtypes": (
            clinclust.compare_subtypes,
            {"frame": frame, "labels": labels, "schema": schema, "min_size": 3},
        ),
        "draft_schema": (clinclust.draft_schema, {"frame": frame}),
        "log_joint": (
            clinclust.log_joint,
            {"frame": frame, "labels": labels, "schema": schema, "hyperparameters": None, "concentration": 3.0},
        ),
        "plot_effects": (clinclust.plots.plot_effects, {**compared, "names": None, "at_most": 5, "ax": None}),
        "plot_profile": (clinclust.plots.plot_profile, {**compared, "names": None, "at_most": 5, "ax": None}),
        "assess_stability": (
            clinclust.stability.assess_stability,
            {
                **{"model": model, "frame": frame, "n_halves": 1, "random_state": 0},
                **{"n_jobs": 1, "progress": False, "whole_procedure": False},
            },
        ),
        "assess_drift": (
            clinclust.drift.assess_drift,
            {"model": model, "frame": frame, "new": frame.iloc[::2], "random_state": 0},
        ),
        "compare_methods": (
            clinclust.methods.compare_methods,
            {
                "frame": frame,
                "schema": schema,
                "model": model,
                "methods": ["Mean shift"],
                "n_resamples": 1,
                "random_state": 0,
                "progress": False,
            },
        ),
        "compare_partitions": (clinclust.comparisons.compare_partitions, {"first": labels, "second": model}),
        "check_model": (clinclust.check.check_model, {"model": model, "frame": frame, "random_state": 0}),
        "unusual_subjects": (clinclust.unusual_subjects, {"model": model, "frame": frame, "random_state": 0}),
        "continuum_score": (clinclust.continuum_score, {"model": model, "frame": frame}),
        "information_criteria": (clinclust.information_criteria, {"model": model, "frame": frame}),
        "distinct_subtypes": (
            clinclust.distinct_subtypes,
            {"model": model, "frame": frame, "n_draws": 20, "significance_level": 0.05, "random_state": 0, "n_jobs": 1},
        ),
        "plot_tree": (clinclust.plots.plot_tree, {"model": model, "ax": None}),
        "pool_estimates": (
            clinclust.pool_estimates,
            {"estimates": [1.0, 1.2], "variances": [0.1, 0.2], "df_complete": 20, "level": 0.95},
        ),
        "read_cohort": (clinclust.read_cohort, {"path": folder / "cohort.csv", "sheet": None, "encoding": None}),
        "subtype_table": (
            clinclust.subtype_table,
            {
                **{"comparisons": comparisons, "frame": None, "associations": None, "names": None, "features": None},
                **{"subtypes": None, "between": None, "summaries": None, "title": None},
            },
        ),
        "suppress_small_cells": (
            clinclust.suppress_small_cells,
            {
                **{"comparisons": comparisons, "threshold": 10, "rounding": None, "missing_is_harmless": False},
                **{"min_n": None},
            },
        ),
        "validated_associations": (
            clinclust.validated_associations,
            {"model": model, "frame": frame, "n_restarts": 1, "n_jobs": 1, "persons": None},
        ),
        "withhold_associations": (
            clinclust.disclosure.withhold_associations,
            {"associations": associations, "suppressed": suppressed},
        ),
        "dominant_columns": (clinclust.comparisons.dominant_columns, {"model": model, "frame": frame}),
        "write_report": (
            clinclust.write_report,
            {
                **{"model": model, "frame": frame, "path": folder / "report.html", "language": "en"},
                **{"associations": None, "names": None, "min_size": 3, "suppress": None, "generated": None},
                **{"round_to": None, "missing_is_harmless": False, "min_n": None, "stability": None},
                **{"posterior": False, "other_methods": None, "overwrite": True},
            },
        ),
    }


def _names_one_of(error, names):
    if isinstance(error, clinclust.CohortError | clinclust.SchemaError):  # they name the columns and keys at fault
        return True
    return any(re.search(rf"\b{re.escape(name)}\b", str(error)) for name in names)


def _outcome(name, call, odd):
    about = f"{name}({', '.join(f'{key}={shown(value)}' for key, value in odd.items())})"
    try:
        call()
    except _REFUSALS as error:
        if isinstance(error, OSError) or _names_one_of(error, odd):
            return None if len(str(error)) < 4000 else f"{about}: a message of {len(str(error))} characters"
        return f"{about}: {type(error).__name__} names no argument: {str(error)[:120]!r}"
    except Exception as error:
        return f"{about}: {type(error).__name__}: {str(error)[:120]!r}"
    return None


def _odd_arguments(count, rng, folder):
    calls = _sound_calls(folder)
    public = {name for name in clinclust.__all__ if not inspect.isclass(getattr(clinclust, name))}
    assert public <= set(calls), f"no sound call of {public - set(calls)}"
    names = list(calls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            name = names[number % len(names)]
            function, sound = calls[name]
            changed = rng.permutation(list(sound))[: rng.integers(1, 3)]
            odd = {str(key): odd_value(rng) for key in changed}
            yield _outcome(name, partial(function, **{**sound, **odd}), odd)


ATTACKS = (Attack("odd arguments of public functions", _odd_arguments, smoke=30, full=300),)
