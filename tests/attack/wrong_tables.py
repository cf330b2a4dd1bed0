"""Attacks on everything that takes a model together with the table that it was fitted on."""

import warnings

import numpy as np
import pandas as pd

import clinclust as cc
from attack.attempts import Attack, ran
from attack.models import LONGEST, N, Saved, cohort
from clinclust.errors import InputError


def wrong_tables(count, rng, folder):
    """Ask for a subtype table, a report and associations of a table that is not, or not quite, the model's."""
    saved = Saved(folder)
    model = cc.MAPDP.load(saved.whole)
    right = {way: make(model, saved, saved.frame, folder) for way, make in ENTRIES.items()}
    for attempt in range(count):
        change = list(CHANGES)[attempt % len(CHANGES)]
        way = list(ENTRIES)[attempt // len(CHANGES) % len(ENTRIES)]
        frame = CHANGES[change](saved.frame.copy(), rng)
        about = f"{way} of a table with {change}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cc.CohortWarning)
                found = ENTRIES[way](model, saved, frame, folder)
        except InputError as error:
            long = len(str(error)) > LONGEST
            yield f"{about}: {len(str(error))} characters of message" if long else None
        except BaseException as error:
            yield f"{about}: {type(error).__name__}: {str(error)[:200]}"
        else:
            yield None if found == right[way] else f"{about}: accepted, and the results differ"


def _command(model, saved, frame, folder):
    """Return what `clinclust table` writes."""
    given, out = folder / "given.csv", folder / "table.csv"
    frame.to_csv(given, index=False)
    code, _, told = ran("table", given, "--model", saved.whole, "--out", out, "--overwrite")
    if code == 2 and given.name in told and "Traceback" not in told:
        raise InputError(told)
    if code != 0:
        raise AssertionError(f"exit {code}: {told[:150]}")
    return out.read_text(encoding="utf-8")


def _report(model, saved, frame, folder):
    from datetime import UTC, datetime

    day = datetime(2020, 1, 1, tzinfo=UTC)
    path = cc.write_report(model, frame, folder / "report.html", associations=None, generated=day, overwrite=True)
    return path.read_text(encoding="utf-8")


ENTRIES = {
    "table command": _command,
    "subtype table": lambda model, saved, frame, folder: cc.subtype_table(model, frame).to_html(),
    "associations": lambda model, saved, frame, folder: cc.validated_associations(
        model, frame, n_restarts=1, progress=False
    ).to_csv(),
    "report": _report,
}


def _one_cell(frame, rng):
    """Give one subject a value of another subject, which is possible but not the subject's own."""
    while True:
        row, other, column = *rng.integers(N, size=2).tolist(), str(rng.choice(frame.columns[1:]))
        if frame.loc[row, column] != frame.loc[other, column]:
            frame.loc[row, column] = frame.loc[other, column]
            return frame


def _swapped_cells(frame, rng):
    """Exchange the values of two subjects in one column, so that every column holds the same values."""
    while True:
        row, other, column = *rng.integers(N, size=2).tolist(), str(rng.choice(frame.columns[1:]))
        are_alike = frame.iloc[row, 1:].equals(frame.iloc[other, 1:])
        if frame.loc[row, column] != frame.loc[other, column] and not are_alike:
            frame.loc[[row, other], column] = frame.loc[[other, row], column].to_numpy()
            return frame


CHANGES = {
    "no change": lambda frame, rng: frame,
    "other order of rows": lambda frame, rng: frame.sample(frac=1.0, random_state=int(rng.integers(2**31))),
    "sorted rows": lambda frame, rng: frame.sort_values(str(rng.choice(frame.columns)), kind="stable"),
    "other order, numbered anew": lambda frame, rng: frame.iloc[rng.permutation(N)].reset_index(drop=True),
    "other order of columns": lambda frame, rng: frame.iloc[:, rng.permutation(frame.shape[1])],
    "one cell changed": _one_cell,
    "two cells exchanged": _swapped_cells,
    "one column in another order": lambda frame, rng: frame.assign(falls=rng.permutation(frame["falls"])),
    "other subjects": lambda frame, rng: cohort(int(rng.integers(1, 2**31))),
    "one row replaced": lambda frame, rng: pd.concat([frame.iloc[1:], cohort(5).iloc[:1]]),
    "one row twice": lambda frame, rng: pd.concat([frame.iloc[:-1], frame.iloc[:1].assign(who="another")]),
    "one row less": lambda frame, rng: frame.iloc[1:],
    "one row more": lambda frame, rng: pd.concat([frame, frame.iloc[:1].assign(who="another")]),
    "a column renamed": lambda frame, rng: frame.rename(columns={"falls": "fell"}),
    "two columns exchanged": lambda frame, rng: frame.rename(columns={"age": "crp", "crp": "age"}),
    "a value removed": lambda frame, rng: frame.assign(crp=frame["crp"].where(np.arange(N) != int(rng.integers(N)))),
    "other identifiers": lambda frame, rng: frame.assign(who=[f"q{row}" for row in range(N)]),
}

ATTACKS = (Attack("a table that is not the model's", wrong_tables, smoke=12, full=204),)
