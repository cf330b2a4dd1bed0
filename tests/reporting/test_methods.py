"""The methods section: only what was run, and nothing cited that was not."""

import dataclasses

import numpy as np
import pytest
from cases import cases_beside

from clinclust import Feature, FeatureSchema
from clinclust.disclosure.counts import Rule
from clinclust.reporting.sheets.methods import methods


def with_settings(findings, given=None, **attributes):
    model = dataclasses.replace(findings.cohort.model, given=given or {}, **attributes)
    return dataclasses.replace(findings, cohort=dataclasses.replace(findings.cohort, model=model))


def text_of(findings):
    return " ".join(methods(findings).paragraphs.values())


def test_every_work_that_is_cited_is_listed_and_no_other(findings):
    found = methods(findings)
    text = " ".join(found.paragraphs.values())
    for reference in found.references:
        author, year = reference.split()[0].rstrip(","), reference.split("(")[1][:4]
        assert author in text
        assert year in text
    assert found.references == sorted(found.references)
    assert any(reference.startswith("Raykov YP") for reference in found.references)
    assert not any("Miller JW" in reference or "Pitman" in reference for reference in found.references)


@pytest.mark.parametrize(("given", "attributes", "says", "cites"), cases_beside(__file__, "settings"))
def test_the_settings_are_told(findings, given, attributes, says, cites):
    changed = with_settings(findings, given, **attributes)
    assert says in text_of(changed)
    plain = text_of(with_settings(findings))
    assert says in plain or given or attributes
    if cites:
        assert any(reference.startswith(cites) for reference in methods(changed).references)


def test_a_shared_report_tells_the_concentration_that_was_stated_and_none_that_was_estimated(findings):
    for given, says in (("map", "[c], the mode of its posterior"), (2.5, "set to 2.5 in advance")):
        stated = with_settings(findings, {"concentration": given}, concentration_=2.5)
        assert says in text_of(stated.for_sharing(Rule(10)))


@pytest.mark.parametrize(("given", "how"), [({}, "taken from the dependence"), ({"pain": 0.2}, "set in advance")])
def test_blocks_tell_what_they_counted_for(findings, given, how):
    names = [feature.name for feature in findings.cohort.schema.clustered][:4]
    features = [
        Feature(**{**feature.content(), "block": "pain"}) if feature.name in names else feature
        for feature in findings.cohort.schema
    ]
    asked = {"block_weights": given} if given else {}
    changed = with_settings(findings, asked, schema_=FeatureSchema(features), block_weights_={"pain": 0.3})
    assert f"raised to a power that was {how}" in text_of(changed)
    assert "(pain, 4 features count for 1.2)" in text_of(changed)
    in_full = with_settings(findings, asked, schema_=FeatureSchema(features), block_weights_={"pain": 1.0})
    assert "pain" not in text_of(in_full)


def test_the_search_names_its_seed_and_what_it_found(findings):
    sentence = methods(findings).paragraphs["Search"]
    sizes = list(findings.sizes.values())
    assert "from 3 starts (different partitions; random seed 20160926)" in sentence
    assert "1 further search." in sentence
    assert f"3 subtypes of {sizes[0]}, {sizes[1]} and {sizes[2]} subjects (log joint −4321.10 nats)" in sentence


def test_associations_and_confidentiality_are_told_only_when_there_are_any(findings):
    assert "20 features by refit" not in text_of(dataclasses.replace(findings, associations=None))
    assert {"Associations", "Confidentiality"} & set(methods(findings).paragraphs) == {"Associations"}
    assert "21 features by refit" in text_of(findings)
    differing = findings.associations.assign(q=0.001, p_given_others=[0.5, *[0.001] * (len(findings.associations) - 1)])
    differing.loc[differing["p"].isna(), "q"] = np.nan
    said = text_of(dataclasses.replace(findings, associations=differing))
    n = differing["p"].notna().sum()
    assert f"At a q of at most 0.01, {n} features differ, {n - 1} of them beyond dependence" in said
    assert "undone" not in said
    undone = differing.assign(p_whatever_is_missing=[0.5, 0.5, *[np.nan] * (len(differing) - 2)])
    said = text_of(dataclasses.replace(findings, associations=undone))
    assert f"{n - 2} of them beyond dependence" in said
    assert "Of 2, the difference could be undone by what is missing." in said
    hidden = findings.comparisons.assign(suppressed=True)
    assert "[c]" in methods(dataclasses.replace(findings, comparisons=hidden)).paragraphs["Confidentiality"]
