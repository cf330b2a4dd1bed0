"""`max_seconds`: a fit that it ends is complete, and says that it was ended."""

import warnings

import numpy as np
import pandas as pd
import pytest
from problems import problem_of
from scored import few

import clinclust as cc
from clinclust.engine.search import plan
from clinclust.engine.search.plan import SearchPlan
from clinclust.engine.search.settle import settle
from clinclust.errors import InputError
from clinclust.estimators import fitting as search

# Exponential values are declared Gaussian here, because many partitions of them are nearly tied.
pytestmark = pytest.mark.filterwarnings("ignore:.* described clearly better by another likelihood")

SOON = 1e-9
OPTIONS = {
    "default": {},
    "paper's start": {"init": "single"},
    "coarsening auto": {"coarsening": "auto"},
    "outlying": {"outlying_share": 0.02},
    "selection": {"select_features": True},
    "concentration map": {"concentration": "map"},
    "cross-validation": {"concentration": "cross-validation"},
    "greedy": {"hyperparameters": "greedy"},
}


def continuum(n=90, n_features=5):
    """Return skewed values with many nearly tied partitions."""
    return np.random.default_rng(2).exponential(size=(n, n_features))


def stopped(values, **options):
    with pytest.warns(cc.CohortWarning, match="ended by its time limit"):
        return cc.methods.PublishedMAPDP(random_state=0, max_seconds=SOON, progress=False, **options).fit(values)


def assert_fixed_point(model, values, most=1e-6):
    frame = pd.DataFrame(values, columns=list(model.schema_.names))
    numbers = {"concentration": model.concentration_, "coarsening": model.coarsening_}
    problem = problem_of(frame, model.schema_, model.hyperparameters_, **numbers)
    labels = model.labels_[problem.cohort.order]
    order = np.random.default_rng(0).permutation(labels.size)
    after = settle(problem, labels, order, 1, SearchPlan().cancelled)
    assert after.converged or most > 1e-6
    assert after.trace[-1] == pytest.approx(model.log_joint_, abs=most)


@pytest.mark.simulation
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("n_jobs", [2, 1])
def test_a_fit_that_is_ended_at_once_is_complete(options, n_jobs):
    values = continuum()
    model = stopped(values, n_jobs=n_jobs, **options)
    assert model.stopped_early_
    assert (np.diff(model.log_joint_trace_) >= -1e-9).all()
    assert model.log_joint_trace_[-1] == pytest.approx(model.log_joint_)
    assert model.membership_.shape == (90, model.n_clusters_)
    assert model.restarts_["converged"].iloc[model.restarts_["log_joint"].argmax()]
    if not {"outlying_share", "select_features"} & set(options) and model.outlying_share_ == 0.0:
        assert_fixed_point(model, values)


def test_a_sampled_search_that_is_ended_is_complete(monkeypatch):
    monkeypatch.setattr(search, "LARGE", 2000)
    monkeypatch.setattr("clinclust.engine.search.settle.N_SAMPLED", 500)
    values = continuum(3000)
    model = stopped(values)
    assert model.restarts_["start"].str.startswith("sample: ").all()
    assert_fixed_point(model, values, 0.1)  # a round of scans of 3,000 subjects that gains less than .03 is the last


def test_time_that_suffices_changes_nothing():
    values = continuum(80, 3)
    free = cc.methods.PublishedMAPDP(random_state=0).fit(values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".* described clearly better by another likelihood")
        limited = cc.methods.PublishedMAPDP(random_state=0, max_seconds=1e9).fit(values)
    assert not free.stopped_early_
    assert not limited.stopped_early_
    assert limited.restarts_["log_joint"].tolist() == free.restarts_["log_joint"].tolist()


@pytest.mark.parametrize("questions", few([1, 40, 1000], 1))
def test_more_time_never_gives_a_worse_partition(questions, monkeypatch):
    values, asked = continuum(), [0]
    model = cc.methods.PublishedMAPDP(random_state=0, n_jobs=1)
    longest = model.fit(values).log_joint_

    def used_up(self):
        asked[0] += 1
        self.cut_short = asked[0] > questions
        return self.cut_short

    monkeypatch.setattr(plan.Budget, "used_up", used_up)
    shorter = stopped(values, n_jobs=1)
    assert_fixed_point(shorter, values)
    assert shorter.log_joint_ <= longest
    assert questions > 1 or shorter.log_joint_ < longest


def test_reports_and_saved_models_say_it(tmp_path):
    model = stopped(continuum(100, 3))
    frame = pd.DataFrame(continuum(100, 3), columns=list(model.schema_.names))
    page = cc.write_report(model, frame, tmp_path / "report.html", associations=None).read_text(encoding="utf-8")
    assert page.count("ended by its time limit") >= 2
    loaded = cc.MAPDP.load(model.save(tmp_path / "model"))
    assert loaded.stopped_early_ is True
    assert loaded.max_seconds == SOON


@pytest.mark.parametrize("seconds", [0, -1, "60", np.nan, np.inf, True])
def test_other_limits_are_refused(seconds):
    with pytest.raises(InputError, match="max_seconds must be a number of seconds above 0 or None"):
        cc.methods.PublishedMAPDP(max_seconds=seconds).fit(continuum(20, 2))
