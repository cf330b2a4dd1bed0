"""What a shared report gives away besides counts: words and ends of few subjects, fingerprints, sizes.

Each attack reads every text, attribute and byte of a workbook and a page, and takes no code from what withholds.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import Counter
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
from sizes_attacker import sizes_found

import clinclust as cc
from clinclust.files.row_choice import RowChoice

__all__ = ["LEAKS", "leaks_found"]

LEAKS = {
    "words and ends of scales that one to nine subjects have": "reading every text and attribute",
    "withheld conditions on rows": "guessing them, and looking for the fingerprint of the schema",
    "exact sizes of groups, with `round_to=5`": "excluding sizes by means, SDs and medians of whole numbers",
}
_WORDS, _CONDITIONS, _SIZES = LEAKS
_SCALE = 211
_END = 7919.5


def leaks_found(seed: int, folder: Path, suppress: int | None = 10) -> dict[str, Counter[str]]:
    """Return, by leak, how many secrets of a report were tried, and how many were found."""
    frame, schema, secrets, guesses = _cohort(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = cc.methods.PublishedMAPDP(schema, n_restarts=2, n_jobs=1, random_state=seed, progress=False).fit(frame)
        paths = [folder / f"leaks.{suffix}" for suffix in ("xlsx", "html")]
        for path in paths:
            cc.write_report(fit, frame, path, suppress=suppress, associations=None, progress=False, overwrite=True)
        exact, _, groups = sizes_found(seed, folder)
    texts = [text for path in paths for text in _texts(path)]
    joined = "\n".join(texts)
    return {
        _WORDS: Counter(tried=len(secrets), found=sum(bool(re.search(secret, joined)) for secret in secrets)),
        _CONDITIONS: Counter(tried=1, found=int(any(guess.fingerprint in joined for guess in guesses))),
        _SIZES: Counter(tried=groups, found=exact),
    }


def _cohort(seed: int) -> tuple[pd.DataFrame, cc.FeatureSchema, list[str], list[cc.FeatureSchema]]:
    """Return a cohort with words of few, its schema, patterns of what few have, and guesses at the schema."""
    rng = np.random.default_rng([seed, 6])
    words = ["".join(rng.choice(list("bcdfghjklmnpqrstvwxz"), 9)) for _ in range(5)]
    level, code, synonym, everywhere, other = words
    n = int(rng.integers(80, 160))
    groups = np.arange(n) // (n // 2 + 1)
    columns: dict[str, np.ndarray] = {}
    features = []
    for place in range(4):
        # Half have the answer of their group, so that each level is common in one of them or rare in both.
        few = rng.choice(5, n, p=[0.3, 0.3, 0.3, 0.06, 0.04])
        columns[f"scale{place}"] = np.where(rng.random(n) < 0.5, 2 * groups, few)
        features.append(cc.Feature(name=f"scale{place}", likelihood="ordinal", trials=4))
    columns["kind"] = np.where(rng.random(n) < 0.5, "pear", "plum").astype(object)
    columns["kind"][: rng.integers(1, 9)] = level
    columns["kind"][9:11] = code, synonym
    kinds = {"levels": ("pear", "plum", level), "missing_codes": (code,), "synonyms": {synonym: "pear"}}
    kinds |= {"asked_if": f"ward is {other}", "description": f"1 = pear; 9 = {other}"}
    features.append(cc.Feature(name="kind", likelihood="categorical", **kinds))
    columns["beds"] = rng.binomial(3, 0.3 + 0.3 * groups)
    columns["beds"][int(rng.integers(n))] = _SCALE
    features.append(cc.Feature(name="beds", likelihood="binomial", role="describe", trials=_SCALE))
    columns["weight"] = rng.normal(70 + 20 * groups, 4).round(1)
    features.append(cc.Feature(name="weight", likelihood="gaussian", maximum=_END))
    names = [f"Patient {rng.integers(10_000)}" for _ in range(42)]

    def schema(name: str) -> cc.FeatureSchema:
        return cc.FeatureSchema(
            features, missing_codes=(everywhere,), rows=RowChoice(where=f"`Patient ID` != '{name}'")
        )

    secrets = [level, code, everywhere, other, rf"(?<![\d.]){_SCALE}(?![\d.])", re.escape(str(_END))]
    return pd.DataFrame(columns), schema(names[20]), secrets, [schema(name) for name in names]


def _texts(path: Path) -> list[str]:
    """Return every text and every attribute of a workbook or page, but the addresses of cells."""
    if path.suffix == ".html":
        parts = [path.read_text(encoding="utf-8")]
    else:
        with zipfile.ZipFile(path) as archive:
            parts = [archive.read(name).decode("utf-8", "replace") for name in archive.namelist()]
    found = [each for part in parts for each in re.findall(r'>([^<>]+)<|(?<! r)(?<! s)="([^"]*)"', part)]
    return [unescape(text) for pair in found for text in pair if text]
