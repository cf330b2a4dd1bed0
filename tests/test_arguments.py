"""Arguments of the wrong kind are refused by name, all at once, before anything else happens."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import clinclust
from clinclust.arguments import BY_FEATURE, LABELS, accepting
from clinclust.errors import InputError

calls = []


@accepting(labels=LABELS, contrasts=BY_FEATURE)
def function(
    frame: "pd.DataFrame",
    labels,
    *,
    names: "Mapping[Any, str] | None" = None,
    at_most: "int | None" = 30,
    contrasts=None,
):
    """Say what came."""
    calls.append(at_most)
    return len(frame)


def test_everything_wrong_is_said_at_once():
    calls.clear()
    with pytest.raises(InputError) as caught:
        function([1, 2], "ab", names={1.5: "x"}, at_most=2.5)
    assert str(caught.value) == (
        "frame must be a table of pandas, polars or pyarrow with one row for each subject, not list; "
        "labels must be one label for each subject, not 'ab'; "
        "names must be a dictionary from the number or code of a subtype, such as 1 or '1b', to its name, not dict; "
        "at_most must be a whole number, not 2.5"
    )
    assert calls == []


def test_what_is_right_passes_unchanged():
    frame = pd.DataFrame({"a": [1, 2]})
    for labels in ([0, 1], (0, 1), np.array([0, 1]), pd.Series(["a", "b"]), pd.Categorical(["a", "b"])):
        assert function(frame, labels, names={np.int64(1): "x", "2b": "y"}, at_most=np.int32(3)) == 2
    assert function(frame, [0, 1], names=None, at_most=30) == 2  # the defaults, whatever they are
    assert function.__name__ == "function"
    assert function.__doc__ == "Say what came."


@pytest.mark.parametrize("text", ["a value of a patient " * 10, {"who": "a value"}, ["a value"]])
def test_no_long_text_and_no_collection_is_shown(text):
    with pytest.raises(InputError) as caught:
        clinclust.compare_subtypes(text, [0], text)
    assert "value" not in str(caught.value)
