"""A number below the middle has one colour, wherever a report shows it."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.colors import to_hex

import clinclust as cc
from clinclust.reporting.layout import HIGH, LOW, MIDDLE
from clinclust.reporting.workbook import diverging_scale


def test_figure_and_workbook_have_the_same_colours():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.normal(6.0 * (np.arange(60) % 2), 1.0) for name in ("crp", "hb")})
    schema = cc.FeatureSchema([cc.Feature(name=name, likelihood="gaussian") for name in frame])
    model = cc.methods.PublishedMAPDP(schema, random_state=0, progress=False).fit(frame)
    with mpl.rc_context({"backend": "agg"}):
        axes = cc.plots.plot_profile(model, cc.compare_subtypes(frame, model.labels_, schema))
    shown = axes.collections[0].get_cmap()
    assert [to_hex(shown(place)).upper().lstrip("#") for place in (0.0, 1.0)] == [LOW, HIGH]
    scale = diverging_scale().colorScale
    assert [colour.rgb[-6:] for colour in scale.color] == [LOW, MIDDLE, HIGH]
