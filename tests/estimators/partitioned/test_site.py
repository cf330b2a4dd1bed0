"""A site answers a hostile coordinator with sums of many subjects only, and refuses what it cannot withhold."""

import numpy as np
import pandas as pd
import pytest
from cohorts import schema_of

import clinclust as cc
from clinclust.errors import InputError

SCHEMA = schema_of(["crp"], falls="poisson")


def a_site(n=60, **options):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"crp": rng.normal(size=n), "falls": rng.poisson(2.0, n)})
    frame.loc[0, "crp"] = 25.0
    return cc.Site(frame, SCHEMA, **options), frame


def encoded(site):
    model = {"centres": [0.0, 0.0], "scales": [1.0, 1.0], "prior": [2.0, 1.0, 0.0, 0.1, 1.0, 1.0]}
    numbers = {"powers": [1.0, 1.0], "concentration": 3.0, "coarsening": 1.0}
    return site.ask("encode", bits=[0, 4], features=["falls", "crp"], **model, **numbers)


def around(points):
    """Return a question: divide all subjects into clusters near these values of crp."""
    points = np.asarray(points)
    falls = np.column_stack([np.full(points.size, 20.0), np.full(points.size, 40.0)])
    crp = np.column_stack([np.full(points.size, 20.0), 20 * points, 20 * (points**2 + 0.01)])
    sums = {"sizes": np.full(points.size, 20.0), "statistics": np.hstack([falls, crp])}
    return {"labels": 0, "cluster": np.zeros(points.size, dtype=int), **sums}


@pytest.mark.parametrize(("options", "smallest"), [({"fewest": 1}, 1), ({}, 10)])
def test_clusters_made_to_isolate_one_subject_do_so_only_if_the_site_allows_it(options, smallest):
    site, frame = a_site(**options)
    assert encoded(site)["n_observed"].tolist() == [60, 60]
    isolated = site.ask("divide", **around([0.0, 25.0]))
    sizes = isolated["sizes"]
    assert sizes[sizes > 0].min() == (1 if smallest == 1 else 60)
    if smallest == 1:
        assert isolated["statistics"][1, 3] == pytest.approx(frame["crp"][0])
    for split in np.linspace(-2.0, 2.0, 40):  # a search for values by counts of who lies above
        found = site.ask("divide", **around([split - 1, split + 1]))
        sizes = np.append(sizes, found["sizes"])
    cells = np.bincount(site._cells.of_subjects)
    assert cells.min() >= smallest
    assert (cells == 1).any() == (smallest == 1)
    assert sizes[sizes > 0].min() >= smallest


def test_what_cannot_be_withheld_is_refused_before_anything_is_sent():
    site, frame = a_site()
    frame.loc[4:, "falls"] = np.nan
    with pytest.raises(InputError, match=r"only 4 values of falls, and sums of fewer than 10 \(`fewest`\)"):
        cc.Site(frame, SCHEMA)
    assert cc.Site(frame, SCHEMA, fewest=4).ask("describe")["n_observed"] == [60, 4]
    with pytest.raises(InputError, match="only 5 subjects, 5 values of crp"):
        a_site(5)
    with pytest.raises(cc.CohortError, match="falls"):
        cc.Site(frame.assign(falls="many"), SCHEMA)
    for question in ("__init__", "sent", "labels"):
        with pytest.raises(InputError, match="a site is asked describe, first"):
            site.ask(question)


@pytest.mark.parametrize("fewest", [float("nan"), 0, -1, True, 2.5, "10", None])
def test_a_threshold_that_withholds_nothing_by_mistake_is_refused(fewest):
    with pytest.raises(InputError, match="fewest must be a whole number from 1"):
        a_site(fewest=fewest)


@pytest.mark.parametrize(
    ("question", "sent", "named"),
    [
        (None, {}, "not NoneType"),
        ("begin", {"n_restarts": 1, "seed": 0}, "'encode'"),
        ("end", {"labels": 0}, "'first'.*'encode'.*n_subjects"),
        ("encode", {"bits": [0, 4], "features": ["falls", "crp"]}, "centres, coarsening"),
        ("describe", {"rows": 3}, "rows"),
    ],
)
def test_a_question_out_of_order_or_incomplete_is_refused_and_can_be_asked_again(question, sent, named):
    site, _ = a_site()
    with pytest.raises(InputError, match=named):
        site.ask(question, **sent)
    encoded(site)
    with pytest.raises(InputError, match="labels"):
        site.ask("rename", labels=7, numbers=[0])


def test_a_site_answers_in_one_fit_only():
    site, _ = a_site()
    encoded(site)
    with pytest.raises(InputError, match=r"'encode' was asked before: a `Site` answers in one fit"):
        encoded(site)
    site.ask("keep", labels=0, subtype_of=np.array([0]))
    with pytest.raises(InputError, match="'rename' was asked before"):
        site.ask("rename", labels=0, numbers=[0])


def test_a_move_that_is_withheld_is_not_told_by_new_or_emptied_clusters():
    site, _ = a_site()
    encoded(site)
    alone = around([0.0])["statistics"]  # in which crp 25 is alone, and would open a cluster
    found = site.ask("move", labels=0, sizes=np.array([60.0]), statistics=alone, least=1e-9)
    assert found["sizes"].tolist() == [60.0]
    open_site, _ = a_site(fewest=1)
    encoded(open_site)
    assert open_site.ask("move", labels=0, sizes=np.array([60.0]), statistics=alone, least=1e-9)["sizes"].size > 1


def test_the_largest_count_is_told_by_its_bits():
    assert a_site()[0].ask("describe")["bits"] == [0, 3]
