"""A scale whose ends are known by its name is drafted with them, so that a later patient at its end can be assigned."""

import numpy as np
import pandas as pd

import clinclust as cc


def test_a_model_of_a_known_scale_takes_steps_that_no_subject_of_the_fit_had():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"pain_nrs": np.minimum(rng.binomial(10, 0.45, 300), 8), "other": rng.binomial(8, 0.5, 300)})
    schema = cc.draft_schema(frame)
    assert (schema["pain_nrs"].lowest, schema["pain_nrs"].n_trials) == (0, 10)
    assert "a scale 0 to 10" in schema.comments["pain_nrs"]
    assert (schema["other"].lowest, schema["other"].n_trials) == (frame["other"].min(), np.ptp(frame["other"]))
    model = cc.MAPDP(schema, random_state=0, n_restarts=2, progress=False).fit(frame)
    model.predict(pd.DataFrame({"pain_nrs": [9, 10], "other": [4, 5]}))
