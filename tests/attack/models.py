"""Attacks on saved models: damaged, and edited with checksums computed anew."""

import contextlib
import copy
import io
import json
import shutil
import warnings

import numpy as np
from cohorts import EVERY_LIKELIHOOD, mixed_cohort

import clinclust as cc
from attack.attempts import Attack
from attack.reading import LONGEST_MESSAGE
from clinclust.errors import InputError
from clinclust.files.writing import write_manifest

N = 60


class Saved:
    """A model that was fitted and saved, what it predicts, and a copy of its folder to damage."""

    def __init__(self, folder, **parameters):
        self.frame, schema, *_ = mixed_cohort(0, N, EVERY_LIKELIHOOD)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = cc.methods.PublishedMAPDP(schema, n_restarts=2, random_state=1, progress=False, **parameters).fit(
                self.frame
            )
        self.new = self.frame.sample(frac=1.0, random_state=9)
        self.expected = model.predict_proba(self.new)
        self.whole = model.save(folder / "whole")
        self.folder = folder / "damaged"
        self.files = sorted(path.name for path in self.whole.iterdir())
        self.content = {name: (self.whole / name).read_bytes() for name in self.files}

    def reset(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.whole, self.folder)

    def outcome(self, about):
        """Load the damaged folder: None if it is refused plainly, or predicts the same; else what is wrong."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = cc.MAPDP.load(self.folder)
                found = model.predict_proba(self.new)
                with contextlib.suppress(InputError):  # the order of the subjects can be read with the table only
                    _use(model, self.frame)
        except (InputError, FileNotFoundError) as error:
            said = str(error)
            if str(self.folder) not in said:
                return f"{about}: the message does not name the folder: {said[:200]!r}"
            return f"{about}: {len(said)} characters of message" if len(said) > LONGEST_MESSAGE else None
        except BaseException as error:
            return f"{about}: {type(error).__name__}: {str(error)[:200]}"
        if found.shape != self.expected.shape or not np.isfinite(found).all():
            return f"{about}: accepted, and predictions are not finite"
        return None if (found == self.expected).all() else f"{about}: accepted, and predictions differ"


def _use(model, frame):
    """Show a model that was accepted in every way that reads what a search found."""
    repr(model), repr(model.tree_)
    model._repr_html_()
    model.tree_.merges.to_string()
    cc.subtype_table(model, frame).to_html()


def flips(count, rng, folder):
    """Flip one bit, or replace one byte, of one of the files of a saved model."""
    saved = Saved(folder)
    for _ in range(count):
        saved.reset()
        name = str(rng.choice(saved.files))
        content = bytearray(saved.content[name])
        place = int(rng.integers(len(content)))
        before = content[place]
        content[place] = before ^ (1 << int(rng.integers(8))) if rng.random() < 0.5 else int(rng.integers(256))
        (saved.folder / name).write_bytes(content)
        yield saved.outcome(f"{name} byte {place} from {before} to {content[place]}")


# --- edits whose checksums were computed anew ---------------------------------------------------------------------

VALUES = (
    None, True, False, "", "text", "/etc/hostname", "labels_", -1, 0, 1, 2, 0.5, -0.5, 1e308, 5e-324, 10**30, 2**63,
    [], {}, [[[1]]], {"a": 1}, ["x"] * 50, "x" * 100_000, [None] * 7, [1e300] * 7,
)  # fmt: skip


def edits(count, rng, folder):
    """Change something in the text or the arrays of a model, and write the checksums that now belong to it."""
    variants = [
        Saved(folder / name, **parameters)
        for name, parameters in {
            "plain": {},
            "auto": {"coarsening": "auto"},
            "selected": {"select_features": True},
            "one": {"coarsening": 0.05},
        }.items()
    ]
    for attempt in range(count):
        saved = variants[attempt % len(variants)]
        saved.reset()
        about = _edit_text(saved, rng) if rng.random() < 0.5 else _edit_arrays(saved, rng)
        _seal(saved.folder)
        yield saved.outcome(f"{saved.folder.parent.name}: {about}")


def _seal(folder):
    """Write the checksums of the files as they are now."""
    write_manifest(folder, ["model.json", "model.npz"])


def _edit_text(saved, rng):
    text = json.loads(saved.content["model.json"])
    path, holder, key = _any_place(text, rng)
    way = str(rng.choice(["replace", "replace", "remove", "repeat", "add", "scale", "nest", "constant"]))
    old, depth = holder[key], 0
    if way == "remove":
        del holder[key]
    elif way == "repeat" and isinstance(old, list) and old:
        holder[key] = [*old, old[-1]]
    elif way == "add" and isinstance(old, dict):
        holder[key] = {**old, "more": 1}
    elif way == "scale" and type(old) in (int, float):
        holder[key] = old * 1.5 + 1
    elif way == "nest":
        depth = int(rng.choice([1, 3, 900, 100_000]))
        holder[key] = _MARK
    elif way == "constant":
        holder[key] = _MARK
    else:
        holder[key] = copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))])
    about = f"{way} {path}, from {str(old)[:40]!r}"
    constant = str(rng.choice(["NaN", "Infinity", "-Infinity", "1e999", "1" * 5_000, "0x1"]))
    nested = "[" * depth + json.dumps(old) + "]" * depth if depth else constant
    written = json.dumps(text, indent=1).replace(json.dumps(_MARK), nested)
    (saved.folder / "model.json").write_text(written, encoding="utf-8")
    return f"{about} to {nested[:40] if way in ('nest', 'constant') else _shown(holder, key)}"


_MARK = "put something that JSON cannot write here"


def _shown(holder, key):
    if isinstance(holder, dict) and key not in holder:
        return "nothing"
    return repr(holder[key])[:40] if isinstance(holder, dict) or key < len(holder) else "nothing"


def _any_place(text, rng):
    """Return the path of any value in a text, and the object and key that hold it."""
    path, holder, key = "", text, str(rng.choice(["fit", "fit", "fit", "fit", *text]))
    while True:
        path = f"{path}.{key}"
        value = holder[key]
        if not isinstance(value, dict | list) or not value or rng.random() < 0.25:
            return path, holder, key
        holder = value
        key = list(value)[int(rng.integers(len(value)))] if isinstance(value, dict) else int(rng.integers(len(value)))


def _edit_arrays(saved, rng):
    with np.load(io.BytesIO(saved.content["model.npz"])) as archive:
        arrays = dict(archive)
    name = str(rng.choice(sorted(arrays)))
    way = str(rng.choice(sorted(_ARRAY_WAYS)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _ARRAY_WAYS[way](arrays, name, rng)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, **arrays)
    (saved.folder / "model.npz").write_bytes(buffer.getvalue())
    return f"{way} of {name}"


def _put(value):
    def put(arrays, name, rng):
        flat = arrays[name].reshape(-1)
        if flat.size:
            flat[int(rng.integers(flat.size))] = np.array(value).astype(flat.dtype)

    return put


def _becomes(change):
    def become(arrays, name, rng):
        arrays[name] = change(arrays[name])

    return become


_ARRAY_WAYS = {
    "removal": lambda arrays, name, rng: arrays.pop(name),
    "another array": lambda arrays, name, rng: arrays.update(more=np.zeros(3)),
    "the values of another array": lambda arrays, name, rng: arrays.update(
        {name: arrays[str(rng.choice(sorted(arrays)))]}
    ),
    "object": _becomes(lambda array: array.astype(object)),
    "int8": _becomes(lambda array: array.astype(np.int8)),
    "float32": _becomes(lambda array: array.astype(np.float32)),
    "complex": _becomes(lambda array: array.astype(complex)),
    "text": _becomes(lambda array: array.astype(str)),
    "big-endian": _becomes(lambda array: array.astype(array.dtype.newbyteorder(">"))),
    "by column": _becomes(np.asfortranarray),
    "one row less": _becomes(lambda array: array[1:]),
    "one row more": _becomes(lambda array: np.concatenate([array, array[:1]])),
    "transposed": _becomes(lambda array: array.T),
    "one axis more": _becomes(lambda array: array[None]),
    "no values": _becomes(lambda array: array[:0]),
    "one number": _becomes(lambda array: np.array(3.0)),
    "a million zeros": _becomes(lambda array: np.zeros((1_000_000, *array.shape[1:]), array.dtype)),
    "one NaN": _put(np.nan),
    "one infinity": _put(np.inf),
    "one -1": _put(-1),
    "one 7": _put(7),
    "one 1e300": _put(1e300),
    "one 2**40": _put(2.0**40),
    "reversed": _becomes(lambda array: np.ascontiguousarray(array[::-1])),
}


ATTACKS = (
    Attack("saved model: flipped bits", flips, smoke=100, full=1_000),
    Attack("saved model: edited, with new checksums", edits, smoke=20, full=300),
)
