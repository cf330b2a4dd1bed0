"""Random schemas and random tables, as hostile as files from practice."""

# ruff: noqa: E501 - tables of cases read best with one case a line

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from clinclust.files.row_choice import RowChoice
from clinclust.likelihoods import REGISTRY
from clinclust.roles import NEEDS_LIKELIHOOD, REASONS
from clinclust.schema import Feature, FeatureSchema
from clinclust.schema.reading import block_key

AWKWARD = [
    "no", "NO", "yes", "y", "on", "null", "~", "1", "1.0", "012", "0x10", "1e5", "1_000", "12:30", "2020-01-01", ".inf",
    "=cmd|' /C calc'!A0", "<b>x</b>", "a: b", "a #b", "- a", "[a", "{a}", "'", '"', "\\", "%", "@x", "&a", "*a", "!t",
    "|", ">", "?", "a\nb", "a\r\nb", "tab\there", "\x85x", "\u2028x", "\ufeffx", "\x00x", "\x7f", "é", "😀", "１", "<<", "=",
]  # fmt: skip
texts = st.one_of(st.sampled_from(AWKWARD), st.text(min_size=1, max_size=12)).filter(lambda text: text.strip() != "")
levels_text = texts.map(str.strip).filter(bool)
optional_text = st.none() | texts
positive = st.floats(1e-3, 1e6)


@st.composite
def features(draw, name, role=None):
    role = role or draw(st.sampled_from(["cluster", "cluster", "describe", "id", "ignore", *REASONS]))
    fields = {"name": name, "role": role}
    for key in ("label", "unit", "section", "block", "description"):
        fields[key] = draw(optional_text)
    fields["asked_if"] = draw(optional_text)
    fields["missing_codes"] = draw(st.lists(texts.map(lambda text: text.strip() + "?!"), max_size=2, unique=True))
    if role in NEEDS_LIKELIHOOD or (role in REASONS and draw(st.booleans())):
        fields["complete"] = draw(st.booleans())
        fields |= draw(st.sampled_from(list(REGISTRY)).flatmap(modelled))
        fields["contrast"] = draw(st.sampled_from([None, *REGISTRY[fields["likelihood"]].contrasts]))
    return Feature(**fields)


def level_lists(size):
    return st.lists(levels_text, min_size=size[0], max_size=size[1], unique=True)


@st.composite
def modelled(draw, likelihood):
    fields, traits = {"likelihood": likelihood}, REGISTRY[likelihood]
    if traits.is_yes_no:
        fields["levels"] = draw(st.none() | level_lists((2, 2)))
    elif traits.is_scale:
        kind = draw(st.sampled_from(["trials", "levels", "range"]))
        if kind == "trials":
            fields["trials"] = draw(st.integers(1, 100))
        elif kind == "levels":
            fields["levels"] = draw(level_lists((2, 6)))
        else:
            fields["minimum"] = draw(st.integers(-50, 50))
            fields["maximum"] = fields["minimum"] + draw(st.integers(1, 20))
    elif "levels" in traits.takes:
        fields["levels"] = draw(level_lists((2, 6)))
    if traits.is_real:
        fields["transform"] = draw(st.sampled_from([None, "log", "log1p", "sqrt"]))
        fields["minimum"] = draw(st.none() | st.floats(-1e12, 1e12))
    if "levels" not in fields or fields["levels"] is None:
        fields["decimal"] = draw(st.sampled_from([None, None, "."]))
        fields["thousands"] = draw(st.sampled_from([None, None, ",", "'", " "]))
        fields["marks"] = draw(st.sampled_from([(), (), ("H", "~"), ("ca.",)]))
        fields["censored"] = draw(st.sampled_from([None, None, "limit", "half", "missing"]))
        if "spike" in traits.takes:
            fields["spike"] = draw(st.sampled_from([(), (), (0.0,), (7.0, -1.0)]))
            sides = [(), (), ("below",), ("above", "below")] if fields["censored"] is None else [()]
            fields["limit"] = draw(st.sampled_from(sides))
        fields["synonyms"] = draw(st.none() | st.dictionaries(levels_text.map("{}§".format), st.just("1"), min_size=1))
    else:
        meant = st.sampled_from(fields["levels"])
        fields["synonyms"] = draw(st.none() | st.dictionaries(levels_text.map("{}§".format), meant, min_size=1))
    lengths = traits.hyperparameter_lengths(Feature(name="x", **fields))
    stated = {
        name: positive if length is None else st.lists(positive, min_size=length, max_size=length)
        for name, length in lengths.items()
    }
    fields["prior"] = draw(st.none() | st.fixed_dictionaries({}, optional=stated).filter(bool))
    return fields


@st.composite
def row_choices(draw):
    """Which rows a schema takes; often all."""
    texts_in_quotes = texts.filter(lambda text: "'" not in text).map("visit == '{}'".format)
    fields = {name: draw(st.none() | texts) for name in ("one_row_per", draw(st.sampled_from(["draw_by", "count"])))}
    fields["where"] = draw(st.none() | texts_in_quotes)
    if fields["one_row_per"] is not None:
        fields |= {"keep": draw(st.sampled_from(["first", "last"])), "by": draw(st.none() | texts)}
        if draw(st.booleans()):
            several = st.lists(st.sampled_from(["mean", "slope", "last"]), min_size=1, unique=True)
            fields |= {"time": draw(texts), "summarise": draw(st.dictionaries(texts, several, min_size=1, max_size=2))}
            numbers = st.fixed_dictionaries(dict.fromkeys(("at", "mean", "slope"), st.floats(-1e9, 1e9)))
            sizes = st.fixed_dictionaries(dict.fromkeys(("sd_mean", "sd_slope", "sd_residual"), st.floats(0, 1e9)))
            trend = st.builds(lambda one, two, r: one | two | {"correlation": r}, numbers, sizes, st.floats(-1, 1))
            fields["trends"] = {name: draw(trend) for name in fields["summarise"]}
    return RowChoice.from_dict({name: value for name, value in fields.items() if value is not None})


@st.composite
def schemas(draw):
    names = draw(st.lists(texts, min_size=1, max_size=5, unique=True))
    drawn = [draw(features(name)) for name in names]
    blocks = {block_key(feature.block): feature.block for feature in reversed(drawn) if feature.block}
    # Of the features in a block of multivariate Gaussians, the others leave it.
    together = {
        block_key(feature.block) for feature in drawn if feature.block and feature.likelihood == "multivariate_gaussian"
    }
    for place, feature in enumerate(drawn):
        if feature.block:
            leaves = block_key(feature.block) in together and feature.likelihood != "multivariate_gaussian"
            block = None if leaves else blocks[block_key(feature.block)]
            drawn[place] = Feature(**{**feature.content(), "block": block})
    return FeatureSchema(
        drawn,
        rows=draw(row_choices()),
        title=draw(optional_text),
        missing_codes=draw(st.sampled_from([[""], ["", "?!"], []])),
        other_columns=draw(st.sampled_from(["error", "ignore"])),
    )


def values_of(feature):
    """Cells that a feature accepts, as text."""
    missing = [] if feature.complete else ["", None]
    if feature.levels is not None:
        return st.sampled_from([*feature.levels, *missing])
    if feature.traits.is_continuous:
        lowest = -1e6 if feature.traits.is_real else 0.0
        low = max(feature.minimum if feature.minimum is not None else lowest, lowest)
        if feature.transform is not None:
            low = max(low, 0.001)
        numbers = st.floats(low, max(low, 1e6) + 1e6).map(repr)
    elif feature.traits.is_count:
        numbers = st.integers(0, int(feature.traits.largest)).map(str)
    else:
        numbers = st.integers(int(feature.lowest), int(feature.lowest) + feature.n_trials).map(str)
    return st.one_of(numbers, numbers, *([st.sampled_from(missing)] if missing else []))


@st.composite
def cohorts(draw):
    """A schema, and a table of text that it accepts."""
    schema = draw(schemas())
    rows = draw(st.integers(1, 6))
    table = {}
    for feature in schema:
        if feature.is_ignored:
            table[feature.name] = ["anything"] * rows
        elif feature.role == "id":
            table[feature.name] = [f"P{row:03}" for row in range(rows)]
        else:
            table[feature.name] = draw(st.lists(values_of(feature), min_size=rows, max_size=rows))
    if "" not in schema.missing_codes:
        table = {name: [None if cell == "" else cell for cell in cells] for name, cells in table.items()}
    return schema, pd.DataFrame(table, dtype=object)


messy_cells = st.one_of(
    st.none(),
    st.sampled_from(
        [float("nan"), pd.NA, pd.NaT, float("inf"), -9, 99, 999, 0, 1, 2, True, False, 1.5, -1, 1e300, 10**30]
    ),
    st.sampled_from(
        ["", " ", "NA", "n/a", ".", "yes", "no", "Yes", "<5", "1,5", "1e400", "inf", "nan", "0x10", "１", "1_000"]
    ),
    st.sampled_from([pd.Timestamp("2020-01-01"), np.float32(1.1), np.int8(3), 1 + 2j, (1, 2), b"x", "2020-01-01"]),
    st.integers(-3, 12),
    st.floats(),
    st.text(max_size=8),
)
messy_columns = st.sampled_from(
    [
        messy_cells,
        st.integers(0, 1),
        st.booleans(),
        st.integers(-2, 6),
        st.integers(0, 10**9).map(float),
        st.floats(allow_nan=True, allow_infinity=True),
        st.floats(0, 1e3).map(lambda value: round(value, 2)),
        st.sampled_from(["a", "b", "c", "", " a"]),
        st.sampled_from(["0", "1", "1.0", " 1", "NA"]),
        st.sampled_from([0, 1, 2, 3, 99, -9, None]),
        st.sampled_from(["mild", "severe", "Mild", "moderate"]),
        st.dates().map(pd.Timestamp),
        st.text(max_size=20),
    ]
)


@st.composite
def messy_frames(draw):
    rows = draw(st.integers(1, 30))
    names = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    table = {}
    for name in names:
        cells = draw(st.lists(draw(messy_columns), min_size=rows, max_size=rows))
        column = pd.Series(cells, dtype=object)
        kind = draw(st.sampled_from(["object", "infer", "category"]))
        if kind == "infer":
            column = column.infer_objects()
        elif kind == "category" and len(set(map(type, cells))) == 1:
            column = column.astype("category")
        table[name] = column
    return pd.DataFrame(table)
