"""A wrong likelihood is announced with the line that mends it, and a right one is not."""

import warnings

import numpy as np
import oracles
import pandas as pd
import pytest
from cohorts import EVERY_LIKELIHOOD, feature, gaussian_schema, mixed_cohort, quick_fit, schema_of
from scored import few

import clinclust as cc
from clinclust.engine.problem.problem import ClusterTree, log_marginals_in_tree
from clinclust.errors import visible
from clinclust.estimators import fitting
from clinclust.estimators.fitting import alternatives_of, compared_likelihoods, warning_of_misfits
from clinclust.likelihoods import REGISTRY

BETTER = "described clearly better by another likelihood"
ATTACKS = {
    "five-point scales as binomial": (lambda rng: rng.integers(0, 5, 200), {"likelihood": "binomial", "trials": 4}),
    "counts that vary more as Poisson": (lambda rng: rng.negative_binomial(2, 1 / 3, 200), {"likelihood": "poisson"}),
    "lognormal as Gaussian": (lambda rng: rng.lognormal(0.0, 1.0, 200), {"likelihood": "gaussian"}),
}


def attack(name):
    """Return a table of noise, and the schema that declares it wrongly."""
    draw, fields = ATTACKS[name]
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{place}": draw(rng) for place in range(10)})
    return frame, cc.FeatureSchema([cc.Feature(name=column, **fields) for column in frame])


def fitted(schema, frame, **parameters):
    """Return a fitted model and its validated cohort, whatever is announced."""
    frame = schema.validate(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quick_fit(frame, schema, **{"n_restarts": 1, **parameters}), frame


@pytest.mark.simulation
@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_announced_can_be_written_into_the_schema_and_mends_it(name, tmp_path):
    frame, schema = attack(name)
    with pytest.warns(cc.CohortWarning, match=BETTER):
        wrong = quick_fit(frame, schema, n_restarts=1)
    compared = compared_likelihoods(wrong.fit_, schema.validate(frame))
    assert compared["is_misfit"].any()
    lines = dict(zip(compared["feature"], compared["schema_line"], strict=True))
    mended = [
        lines[one.name] or compared["schema_line"].iloc[0].replace(compared["feature"].iloc[0], one.name)
        for one in schema
    ]
    path = tmp_path / "schema.yaml"
    path.write_text("clinclust: 1\nfeatures:\n" + "".join(f"  {line}\n" for line in mended), encoding="utf-8")
    right = quick_fit(frame, cc.FeatureSchema.from_yaml(path), n_restarts=1)  # which warns of nothing
    assert right.n_clusters_ == 1 < wrong.n_clusters_


@pytest.mark.simulation
def test_a_right_declaration_in_a_large_cohort_is_not_announced():
    frame, schema, *_ = mixed_cohort(3, 2000, EVERY_LIKELIHOOD, n_groups=2)
    model = quick_fit(frame, schema, n_restarts=1)  # a warning is an error
    assert model.n_clusters_ == 2
    compared = compared_likelihoods(model.fit_, schema.validate(frame))
    assert not compared["is_misfit"].any()
    assert set(compared["feature"]) == set(frame)


@pytest.mark.parametrize("seed", few([2, 9, 20], 1))
def test_what_its_prior_costs_groups_that_lie_far_apart_is_no_misfit(seed):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 4, 100)
    columns = {f"x{place}": rng.normal(5.0 * rng.permutation(4)[group]) for place in range(3)}
    columns |= {f"y{place}": rng.exponential(6.0 ** rng.permutation(4)[group]) for place in range(5)}
    durations = {name: "exponential" for name in columns if name[0] == "y"}
    model, frame = fitted(schema_of(columns, **durations), pd.DataFrame(columns))
    assert model.n_clusters_ == 4
    assert not compared_likelihoods(model.fit_, frame)["is_misfit"].any()


@pytest.mark.parametrize("seed", few(range(4), 1))
def test_no_special_case_is_better_than_the_likelihood_that_holds_it(seed):
    """The geometric has dispersion 1, and the Poisson distribution is the limit of a negative binomial one."""
    rng = np.random.default_rng([seed, 3])
    group = np.repeat([0, 1, 2], [140, 130, 120])
    columns = {name: rng.normal(3.0 * group, 1.0) for name in "abc"}
    means = np.array([0.1, 6.0, 40.0])[group]  # far apart: the division is what the likelihoods must not be paid for
    columns |= {f"r{r:g}": rng.negative_binomial(r, r / (r + means)) for r in (1.0, 2.0, 5.0)}
    schema = schema_of("abc", **dict.fromkeys(("r1", "r2", "r5"), "negative_binomial"))
    model, frame = fitted(schema, pd.DataFrame(columns))
    assert model.n_clusters_ == 3
    compared = compared_likelihoods(model.fit_, frame).set_index("feature")
    assert (compared.loc[["r1", "r2", "r5"], "evidence"] < 5.0).all()


@pytest.mark.parametrize("name", EVERY_LIKELIHOOD)
def test_the_evidence_in_one_cluster_is_that_of_scipy(name):
    rng = np.random.default_rng(1)
    declared = feature("x", name)
    scores = REGISTRY[name].examples()[0].column(rng, np.arange(12) % 3, 3)
    likelihood = declared.traits.of(declared)
    tree, labels = tree_of_one(), np.zeros(12, dtype=np.int64)
    found = log_marginals_in_tree(likelihood, scores - declared.lowest, labels, tree)[:, 0]
    for theta, evidence in zip(likelihood.compared_hyperparameters(scores - declared.lowest), found, strict=True):
        if name == "negative_binomial" and theta[2] > 50.0:
            continue  # where the oracle's powers overflow
        assert evidence == pytest.approx(chained(name, likelihood.as_dict(theta), scores, declared.n_trials), rel=1e-9)


@pytest.mark.parametrize("transform", ["log", "log1p", "sqrt"])
def test_the_evidence_of_a_transform_is_a_density_of_the_column(transform):
    x = np.random.default_rng(2).lognormal(1.0, 0.5, 15)
    y, slope = {
        "log": (np.log(x), 1.0 / x),
        "log1p": (np.log(1.0 + x), 1.0 / (1.0 + x)),
        "sqrt": (x**0.5, 0.5 * x**-0.5),
    }[transform]
    declared = cc.Feature(name="x", likelihood="gaussian", transform=transform)
    likelihood = declared.traits.of(declared)
    values, log_jacobian = declared.on_model_scale(x)
    found = log_marginals_in_tree(likelihood, values, np.zeros(15, dtype=np.int64), tree_of_one())[0, 0] + log_jacobian
    theta = likelihood.as_dict(likelihood.default_hyperparameters(y))
    assert found == pytest.approx(chained("gaussian", theta, y, None) + np.log(slope).sum(), rel=1e-9)


def chained(name, theta, values, trials):
    """Return the log probability of the values one after the other, by scipy."""
    total = 0.0
    for place, value in enumerate(values.tolist()):
        ahead = oracles.predictive(name, theta, values[:place], trials)
        is_density = name in ("gaussian", "exponential", "multivariate_gaussian")
        total += float(ahead.logpdf(value) if is_density else np.log(ahead.pmf(value)))
    return total


def tree_of_one():
    schema = cc.FeatureSchema([cc.Feature(name="x", likelihood="gaussian")])
    model, _ = fitted(schema, pd.DataFrame({"x": [1.0, 1.5, 2.0]}), concentration=1e-9)
    assert model.n_clusters_ == 1
    return ClusterTree(model.clusters_, model.tree_.joins, model.tree_.evidence)


def test_features_pay_together_what_a_division_costs():
    frame, schema, *_ = mixed_cohort(5, 300, n_groups=4)
    model, _ = fitted(schema, frame)
    clusters, tree = model.clusters_, model.tree_
    assert model.n_clusters_ > 2
    found = ClusterTree(clusters, tree.joins, tree.evidence)
    nodes = [clusters.pooled(np.zeros(clusters.sizes.size, dtype=np.int64))]  # the last join, by another way
    first, second = tree.members()[tree.joins[-1, 0]], tree.members()[tree.joins[-1, 1]]
    assert sorted(first + second) == list(range(model.n_clusters_))
    sides = clusters.pooled(np.isin(np.arange(model.n_clusters_), second).astype(np.int64))
    gains = sides.likelihood_terms().sum(axis=0) - nodes[0].likelihood_terms()[0]
    of_nodes = np.zeros((gains.size, 2 * model.n_clusters_ - 1))
    of_nodes[:, -1] = -gains
    charges = found.charges(of_nodes)[:, -1]
    assert charges.sum() == pytest.approx(gains.sum() - tree.evidence[-1], rel=1e-9)
    assert (charges[gains <= 0.0] == 0.0).all()


@pytest.mark.simulation
@pytest.mark.parametrize("most", [pytest.param(4000, marks=pytest.mark.simulation), 50])
def test_the_order_of_the_subjects_changes_nothing(most, monkeypatch):
    monkeypatch.setattr(fitting, "_MOST_SUBJECTS", most)
    frame, schema = attack("lognormal as Gaussian")
    shuffled = frame.sample(frac=1.0, random_state=1)
    tables = [
        compared_likelihoods(*(lambda pair: (pair[0].fit_, pair[1]))(fitted(schema, one))) for one in (frame, shuffled)
    ]
    pd.testing.assert_frame_equal(*tables, rtol=1e-9)
    assert tables[0]["n_values"].max() <= most


@pytest.mark.parametrize("name", EVERY_LIKELIHOOD)
def test_every_alternative_is_accepted_for_the_column(name):
    rng = np.random.default_rng(4)
    for example in REGISTRY[name].examples():
        declared = cc.Feature(name="x", likelihood=name, **example.fields, prior=None, label="X: y", complete=True)
        drawn = example.column(rng, np.arange(80) % 3, 3)
        for scores in (drawn, *(np.array(case)[~np.isnan(case)] for case in example.edge_cases)):
            for other in alternatives_of(declared, scores):
                assert (other.likelihood, other.transform) != (declared.likelihood, declared.transform)
                assert (other.name, other.label, other.complete) == ("x", "X: y", True)
                column = pd.DataFrame({"x": scores})
                if other.levels is None:
                    cc.FeatureSchema([other]).validate(column)  # which refuses what does not fit
                assert np.isfinite(other.on_model_scale(scores)[1])


def test_any_distribution_of_levels_has_no_alternative():
    for declared in (feature("x", "bernoulli"), feature("x", "categorical"), feature("x", "ordinal")):
        assert alternatives_of(declared, np.array([0.0, 1.0, 1.0])) == []


def test_the_warning_is_short_and_commands_no_terminal():
    rng = np.random.default_rng(0)
    names = [f"\x1b[31m{place}" + "long " * 60 for place in range(22)]
    frame = pd.DataFrame({name: rng.lognormal(0.0, 1.6, 40) for name in names})
    model, frame = fitted(gaussian_schema(names), frame)
    told = warning_of_misfits(compared_likelihoods(model.fit_, frame))
    assert len(told) < 4000
    assert told == visible(told)
    assert " more: the sheet Likelihoods of a report lists all" in told
