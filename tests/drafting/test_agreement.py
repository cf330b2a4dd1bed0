"""The draft agrees with the types that a person set by hand."""

import pytest
from typed_tables import drafted, shipped, simulated

import clinclust as cc


@pytest.mark.parametrize(
    "tables",
    [
        shipped,
        pytest.param(simulated, marks=pytest.mark.simulation),
        pytest.param(lambda: simulated(7), id="anew", marks=pytest.mark.simulation),
    ],
)
def test_nine_columns_in_ten_are_drafted_as_a_person_typed_them(tables):
    agree = []
    for _, frame, types in tables():
        schema = cc.draft_schema(frame)
        agree += [drafted(schema[name]) in typed for name, typed in types.items()]
        schema.validate(frame, warn=False)
    assert sum(agree) >= 0.9 * len(agree)


def test_a_count_of_lymph_nodes_is_no_measurement():
    """As a log Gaussian it made four subtypes of one count: no node, one, two to four, and five or more."""
    (_, frame, _) = next(item for item in simulated() if item[0] == "breast")
    schema = cc.draft_schema(frame)
    assert schema["positive_nodes"].likelihood == "negative_binomial"
    assert "many subjects share a value" in schema.comments["positive_nodes"]
    nodes = cc.MAPDP(schema.restricted_to(["positive_nodes"]), random_state=0).fit(frame)
    assert nodes.n_clusters_ == 1
