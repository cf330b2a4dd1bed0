"""Three sites find what the pooled table gives, and nothing that they send grows with their subjects."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scored import few

import clinclust as cc
from clinclust.engine.search.settle import adjusted_rand_index
from clinclust.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "sites"
sys.path.insert(0, str(EXAMPLE))
from coordinator import fit_at_sites  # noqa: E402
from three_sites import SCHEMA, Wire, three_tables  # noqa: E402


def an_estimator(**parameters):
    given = {"random_state": 0, "progress": False, "n_jobs": 1, "n_restarts": 1}
    return cc.methods.PublishedMAPDP(SCHEMA, **(given | parameters))


def fitted(tables, n_restarts=1, **options):
    wires = [Wire(cc.Site(table, SCHEMA, **options)) for table in tables]
    return fit_at_sites(an_estimator(n_restarts=n_restarts), wires), wires


def arrays_in(text):
    return [len(found.split(",")) for found in re.findall(r"\[([^][]*)\]", text)]


def test_clusters_are_divided_across_sites_until_that_raises_the_joint_no_more():
    model, wires = fitted(three_tables(0, apart=3.5, scale=0.15))
    asked = [question for question, _, _ in wires[0].crossed]
    assert "propose" in asked  # the search came to divisions
    assert model.n_clusters_ >= 3
    assert (np.diff(model.log_joint_trace_) > -1e-6).all()


@pytest.mark.simulation
def test_sites_find_the_pooled_partition_with_a_group_that_the_first_has_not():
    tables = three_tables(0, apart=3.5, scale=0.4)
    pooled = pd.concat(tables, ignore_index=True)
    expected = an_estimator(n_restarts=2).fit(pooled)
    model, wires = fitted(tables, n_restarts=2, fewest=1)
    labels = np.concatenate([wire.site.labels for wire in wires]) - 1
    assert model.n_clusters_ == expected.n_clusters_ == 4
    assert adjusted_rand_index(labels, expected.labels_) >= 0.999
    given = SCHEMA, expected.hyperparameters_, expected.concentration_
    validated = SCHEMA.validate(pooled, warn=False)
    assert cc.log_joint(validated, labels, *given) == pytest.approx(expected.log_joint_, abs=0.1 * len(pooled) / 1_000)
    assert (np.diff(model.log_joint_trace_) >= 0.0).all()
    assert model.cluster_sizes_.tolist() == np.bincount(labels).tolist()
    np.testing.assert_array_equal(model.predict(tables[1]), wires[1].site.labels - 1)


@pytest.mark.simulation
@pytest.mark.parametrize("fewest", few([10, 1], 1))
def test_no_message_grows_with_the_subjects(fewest):
    longest = []
    for scale in (0.15, 0.4):
        tables = three_tables(1, apart=3.5, scale=scale)
        _, wires = fitted(tables, fewest=fewest)
        crossed = [message for wire in wires for message in wire.crossed]
        assert {question for question, _, _ in crossed} >= {"describe", "first", "begin", "move", "propose", "keep"}
        lengths = [n for _, there, back in crossed for n in arrays_in(there) + arrays_in(back)]
        assert max(lengths) < min(map(len, tables))
        longest.append(max(lengths))
        text = "".join(back for _, _, back in crossed)
        assert not any(patient in text for table in tables for patient in table["patient"])
    assert longest[0] == longest[1]


@pytest.mark.simulation
def test_a_threshold_leaves_no_small_group():
    tables = three_tables(2, apart=1.5, scale=0.2)
    _, wires = fitted(tables)
    assert min(np.bincount(wire.site._cells.of_subjects).min() for wire in wires) >= 10
    _, wires = fitted(tables, fewest=1)
    assert min(np.bincount(wire.site._cells.of_subjects).min() for wire in wires) < 10


class Failing:
    def __init__(self, site, question):
        self.site, self.question = site, question

    def ask(self, question, **sent):
        if question == self.question:
            raise ValueError("patient a0001 has crp 512")
        return self.site.ask(question, **sent)


@pytest.mark.simulation
@pytest.mark.parametrize("question", ["describe", "encode", "move"])
def test_a_site_that_fails_ends_the_fit_with_one_error_that_holds_no_value(question):
    sites = [cc.Site(table, SCHEMA) for table in three_tables(0, scale=0.2)]
    sites[1] = Failing(sites[1], question)
    model = an_estimator()
    with pytest.raises(InputError, match=f"site 2 of 3 failed at the question '{question}'") as raised:
        fit_at_sites(model, sites)
    assert "512" not in str(raised.value)
    assert not hasattr(model, "fit_")


def test_what_sites_cannot_do_is_refused():
    tables = three_tables(0, scale=0.2)
    sites = [cc.Site(table, SCHEMA) for table in tables]
    with pytest.raises(InputError, match="estimates no outliers"):
        fit_at_sites(an_estimator(outlying_share=0.1), sites)
    with pytest.raises(InputError, match="select_features: needs the table in memory"):
        fit_at_sites(an_estimator(select_features=True), sites)
    other = cc.Site(tables[1], cc.FeatureSchema([*SCHEMA.features[:-1]], other_columns="ignore"))
    with pytest.raises(InputError, match="the schemas of the sites"):
        fit_at_sites(an_estimator(), [sites[0], other])


@pytest.mark.simulation
def test_the_example_prints_what_its_page_shows(capsys):
    import runpy

    runpy.run_path(str(EXAMPLE / "run.py"), run_name="__main__")
    shown = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() in shown
