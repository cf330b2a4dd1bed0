"""Odd arguments of every public function: each is used, or refused by its name."""

import inspect
import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
from cohorts import schema_of

import clinclust as cc
from attack.attempts import Attack
from attack.odd_arguments import odd_value, shown
from clinclust.errors import InputError, MissingPackageError

_REFUSALS = (InputError, TypeError, OSError, MissingPackageError)


def _sound_calls(folder):
    """Return every public function with arguments that it accepts, and methods of a model."""
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 2
    frame = pd.DataFrame({"gait": rng.normal(20 * groups, 1), "falls": rng.poisson(1 + 20 * groups)})
    schema = schema_of(["gait"], falls="poisson")
    quick = {"n_restarts": 1, "n_jobs": 1, "random_state": 0, "progress": False}
    model = cc.methods.PublishedMAPDP(schema, **quick).fit(frame)
    labels = model.labels_
    comparisons = cc.compare_subtypes(frame, labels, schema)
    suppressed = cc.suppress_small_cells(comparisons)
    associations = cc.validated_associations(model, frame, n_restarts=1, n_jobs=1, progress=False)
    frame.to_csv(folder / "cohort.csv", index=False)

    def fit(X, **parameters):
        return cc.methods.PublishedMAPDP(**{"schema": schema, **quick, **parameters}).fit(X)

    every_parameter = cc.methods.PublishedMAPDP(schema, **quick).get_params()
    wider = cc.FeatureSchema(list(schema), other_columns="ignore")
    of_wider = cc.methods.PublishedMAPDP(wider, **quick).fit(frame)
    cohort, seeded = {"model": model, "frame": frame}, {"model": model, "frame": frame, "random_state": 0}
    with_outcome = frame.assign(fell=rng.integers(2, size=60), weeks=rng.exponential(9, 60) + 0.1)
    outcome = {"model": of_wider, "frame": with_outcome, "outcome": "fell", "entry": None}
    plotted = {"model": model, "comparisons": comparisons, "names": None, "at_most": 5, "ax": None}
    rule = {"threshold": 10, "rounding": None, "missing_is_harmless": False}
    words = {"names": None, "features": None, "subtypes": None, "between": None, "summaries": None, "title": None}
    sharing = {"suppress": None, "round_to": None, "missing_is_harmless": False, "min_n": None}
    written = {"path": folder / "report.html", "language": "en", "names": None, "min_size": 3, "generated": None}
    more = {"stability": None, "posterior": False, "other_methods": None, "associations": None, "overwrite": True}
    return [
        partial(fit, X=frame, **every_parameter),
        partial(model.predict, X=frame),
        partial(model.score_samples, X=frame),
        partial(model.impute, frame=frame),
        partial(model.multiple_imputations, frame=frame, m=2, n_sweeps=1, random_state=0),
        partial(model.save, folder=folder / "model"),
        partial(cc.MAPDP.load, folder=folder / "no model"),
        partial(cc.Feature, name="gait", role="cluster", likelihood="gaussian", prior=None),
        partial(cc.FeatureSchema, features=list(schema), title="t", missing_codes=("",)),
        partial(schema.validate, frame=frame),
        partial(cc.Partition, labels=labels, schema=schema, made_by="us"),
        partial(cc.disclosure.audit_disclosure, comparisons=suppressed, **rule, truth=None, sizes=None),
        partial(cc.compare_outcomes, **outcome, time=None, event=None, covariates=[], versus=1),
        partial(cc.outcomes.survival_curves, **outcome, time="weeks", event="1"),
        partial(cc.subtype_predictors, model=of_wider, frame=with_outcome, predictors=["weeks"], versus=1),
        partial(cc.compare_subtypes, frame=frame, labels=labels, schema=schema, min_size=3),
        partial(cc.draft_schema, frame=frame),
        partial(cc.log_joint, frame=frame, labels=labels, schema=schema, hyperparameters=None, concentration=3.0),
        partial(cc.plots.plot_effects, **plotted),
        partial(cc.plots.plot_profile, **plotted),
        partial(cc.plots.plot_tree, model=model, ax=None),
        partial(cc.stability.assess_stability, **seeded, n_halves=1, n_jobs=1, progress=False, whole_procedure=False),
        partial(cc.stability.assess_invariance, model=of_wider, frame=with_outcome, groups="fell"),
        partial(cc.drift.assess_drift, **seeded, new=frame.iloc[::2]),
        partial(
            cc.methods.compare_methods, **seeded, schema=schema, methods=["Mean shift"], n_resamples=1, progress=False
        ),
        partial(cc.comparisons.compare_partitions, first=labels, second=model),
        partial(cc.comparisons.dominant_columns, **cohort),
        partial(cc.check.check_model, **seeded),
        partial(cc.unusual_subjects, **seeded),
        partial(cc.continuum_score, **cohort),
        partial(cc.information_criteria, **cohort),
        partial(cc.distinct_subtypes, **seeded, n_draws=20, significance_level=0.05, n_jobs=1),
        partial(cc.pool_estimates, estimates=[1.0, 1.2], variances=[0.1, 0.2], df_complete=20, level=0.95),
        partial(cc.read_cohort, path=folder / "cohort.csv", sheet=None, encoding=None),
        partial(cc.subtype_table, comparisons=comparisons, frame=None, associations=None, **words),
        partial(cc.suppress_small_cells, comparisons=comparisons, **rule, min_n=None),
        partial(cc.validated_associations, **cohort, n_restarts=1, n_jobs=1, persons=None),
        partial(cc.disclosure.withhold_associations, associations=associations, suppressed=suppressed),
        partial(cc.write_report, **cohort, **sharing, **more, **written),
    ]


def _names_one_of(error, names):
    if isinstance(error, cc.CohortError | cc.SchemaError):  # they name the columns and keys at fault
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
    public = {name for name in cc.__all__ if not inspect.isclass(getattr(cc, name))}
    assert public <= (tried := {call.func.__name__ for call in calls}), f"no sound call of {public - tried}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(count):
            call = calls[number % len(calls)]
            changed = rng.permutation(list(call.keywords))[: rng.integers(1, 3)]
            odd = {str(key): odd_value(rng) for key in changed}
            yield _outcome(call.func.__qualname__, partial(call, **odd), odd)


ATTACKS = (Attack("odd arguments of public functions", _odd_arguments, smoke=30, full=300),)
