"""A parameter is declared once: the constructor, the checks, the help, the docstring and the documents follow."""

from inspect import signature

import pytest

from clinclust import MAPDP, GibbsDP
from clinclust.estimators.parameters import (
    MAPDPParameters,
    PublishedParameters,
    SamplerParameters,
    check_estimator,
    declarations,
    rules_of,
)
from clinclust.methods import PublishedMAPDP

ESTIMATORS = {MAPDP: MAPDPParameters, PublishedMAPDP: PublishedParameters, GibbsDP: SamplerParameters}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_constructor_and_the_docstring_are_those_of_the_declarations(estimator):
    declared = declarations(ESTIMATORS[estimator])
    constructor = signature(estimator).parameters
    assert {name: each.default for name, each in constructor.items()} == {
        name: each.default for name, each in declared.items()
    }
    assert estimator().get_params() == {name: each.default for name, each in declared.items()}
    for name, each in declared.items():
        assert f"\n{name} : {each.rule.allowed}" in estimator.__doc__
    assert "{parameters}" not in estimator.__doc__


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_default_can_be_used(estimator):
    check_estimator(estimator, estimator().get_params())
    for name, each in declarations(ESTIMATORS[estimator]).items():
        assert each.rule.problems(name, each.default) == []


def test_words_of_options_are_values_of_the_parameter():
    for estimator in (MAPDPParameters, PublishedParameters):
        for name, each in declarations(estimator).items():
            for word in each.option.words if each.option else ():
                value = {"none": None, "yes": True, "no": False}.get(word, word)
                assert rules_of(estimator)[name].accepts(value), (name, word)
