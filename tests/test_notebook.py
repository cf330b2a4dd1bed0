"""What a notebook shows of a model."""

from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from cohorts import quick_fit

from clinclust import MAPDP, Feature, FeatureSchema
from clinclust.errors import shortened
from clinclust.schema.feature_schema import html_block


class Cells:
    """Texts of the cells, and all others; fails unless each tag is closed."""

    def __init__(self, text):
        elements = list(ElementTree.fromstring(f"<body>{text}</body>").iter())
        self.tags = {element.tag for element in elements}
        self.cells = [element.text or "" for element in elements if element.tag in ("td", "th")]
        others = [element.text for element in elements if element.tag not in ("td", "th")]
        self.words = [text for text in others if text and text.strip()]


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(1)
    schema = FeatureSchema(
        [
            Feature(name="crp", likelihood="gaussian", unit="mg/L", label="C-reactive protein", minimum=-100),
            Feature(name="score", likelihood="binomial", minimum=1, maximum=5),
            Feature(name="sex", likelihood="bernoulli", levels=("female", "male"), section="Person"),
            Feature(name="same", likelihood="poisson"),
        ],
        title="Made up",
    )
    frame = pd.DataFrame(
        {
            "crp": np.r_[rng.normal(0, 1, 60), rng.normal(8, 1, 40)],
            "score": np.r_[rng.integers(1, 3, 60), rng.integers(4, 6, 40)],
            "sex": rng.choice(["female", "male"], 100),
            "same": 3,
        }
    )
    with pytest.warns(match="same"):
        return quick_fit(frame, schema)


def test_a_fitted_model_says_what_it_found(model):
    shown = Cells(model._repr_html_())
    assert shown.words[0] == "PublishedMAPDP: 2 subtypes of 100 subjects"
    summary = model.summary().round(2)
    expected = [("subtype", *summary.columns), *((str(row[0]), *map(str, row[1:])) for row in summary.itertuples())]
    assert shown.cells == [cell for row in expected for cell in row]
    assert shown.words[-1] == shortened(repr(model), 400)


def test_a_model_before_its_fit_says_so():
    shown = Cells(MAPDP(n_restarts=3)._repr_html_())
    assert shown.words == ["MAPDP, not fitted yet", "MAPDP(n_restarts=3)"]


def test_texts_are_escaped_and_long_ones_shortened():
    shown = Cells(html_block('<script>"', pd.DataFrame({"label": ["<b>" + "word " * 30]}), ""))
    assert shown.cells[1].startswith("<b>word")
    assert shown.cells[1].endswith("…")
    assert shown.words[0] == '<script>"'
    assert "b" not in shown.tags
