"""The package as other programs use it: threads, and two commands that must agree."""

import io
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import matplotlib as mpl
import numpy as np
import pandas as pd
from cases import read_beside

from attack.attempts import Attack, ran
from clinclust import FeatureSchema, compare_subtypes, write_report
from clinclust.methods import PublishedMAPDP
from clinclust.plots import plot_effects, plot_profile, plot_tree

# --- threads ---------------------------------------------------------------------------------------------------------


def _report(model, frame, path):
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    write_report(model, frame, path, associations=None, generated=moment, overwrite=True)
    return path.read_bytes()


def _figure(draw, *about):
    written = io.BytesIO()
    draw(*about).figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()


def _threads(count, rng, folder):
    X = np.random.default_rng(0).normal(size=(40, 3)) + 3.0 * (np.arange(40) % 2)[:, None]
    model = PublishedMAPDP(n_restarts=2, random_state=0, progress=False).fit(X)
    frame = pd.DataFrame(X, columns=list(model.schema_.names))
    comparisons = compare_subtypes(frame, model.labels_, model.schema_)
    tasks = {
        "page": lambda number: _report(model, frame, folder / f"{number}.html"),
        "workbook": lambda number: _report(model, frame, folder / f"{number}.xlsx"),
        "profile": lambda number: _figure(plot_profile, model, comparisons),
        "effects": lambda number: _figure(plot_effects, model, comparisons),
        "tree": lambda number: _figure(plot_tree, model),
    }
    with mpl.rc_context({"svg.hashsalt": "attack"}), ThreadPoolExecutor(2) as pool:
        alone = {name: task("alone") for name, task in tasks.items()}
        settings, filters = dict(mpl.rcParams), list(warnings.filters)
        for number in range(count):
            pair = [str(name) for name in rng.choice(list(tasks), 2)]
            futures = [pool.submit(tasks[name], f"{number}-{place}") for place, name in enumerate(pair)]
            same = [future.result() == alone[name] for future, name in zip(futures, pair, strict=True)]
            if not all(same):
                yield f"{' beside '.join(pair)}: other bytes than alone"
            elif dict(mpl.rcParams) != settings or warnings.filters != filters:
                yield f"{' beside '.join(pair)}: settings of matplotlib or filters of warnings are left changed"
            else:
                yield None


# --- check and fit ---------------------------------------------------------------------------------------------------

_FEATURES = read_beside(__file__)["features"]
_WRONG = ("many", "9", "-1", "1e999", "inf", "2020-01-01", "NaN", "nan", "0x1", "1,5")


def _column(name, values, rng, n):
    """Return a column: constant, empty, nearly so, wrong or sound."""
    if name == "who":
        return [f"p{number}" for number in range(n)]
    kind = rng.choice(["sound", "constant", "empty", "one value", "wrong"], p=[0.4, 0.25, 0.15, 0.1, 0.1])
    column = [str(value) for value in rng.choice(values, n)]
    if kind == "constant":
        column = [values[0] if rng.random() < 0.8 else "" for _ in range(n)]
    elif kind in ("empty", "one value"):
        column = [""] * n
    if kind == "one value":
        column[rng.integers(n)] = values[0]
    if kind == "wrong":
        column[rng.integers(n)] = str(rng.choice(_WRONG))
    return column


def _verdicts(count, rng, folder):
    table, schema = folder / "cohort.csv", folder / "schema.yaml"
    for number in range(count):
        n = int(rng.choice([1, 2, 3, 8]))
        chosen = [str(name) for name in rng.permutation(list(_FEATURES))[: rng.integers(1, 5)]]
        lines = ["clinclust: 1", "features:", *(f"  - {_FEATURES[name][0]}" for name in chosen)]
        schema.write_text("\n".join(lines), encoding="utf-8")
        frame = pd.DataFrame({name: _column(name, _FEATURES[name][1], rng, n) for name in chosen})
        frame.to_csv(table, index=False)
        assert FeatureSchema.from_yaml(schema)
        checked, _, check_said = ran("check", table, "--schema", schema)
        options = ("--n-restarts", 1, "--n-jobs", 1, "--random-state", 0, "--associations", "none")
        fitted, _, fit_said = ran("fit", table, "--schema", schema, "--out", folder / f"out{number}", *options)
        about = f"{frame.to_dict('list')}"[:300]
        if checked != fitted or checked not in (0, 2):
            yield f"check ends with {checked}, fit with {fitted}: {about}"
        elif checked == 2 and check_said != fit_said:
            yield f"check says {check_said[:200]!r}, fit says {fit_said[:200]!r}: {about}"
        elif not set(check_said.splitlines()) <= set(fit_said.splitlines()):
            yield f"check notes {check_said[:200]!r}, fit does not: {about}"
        else:
            yield None


ATTACKS = (
    Attack("two reports or figures at once", _threads, smoke=1, full=100),
    Attack("check and fit of the same table", _verdicts, smoke=2, full=100),
)
