"""Schema files that are malformed, or have one wrong letter: refused with the line, the file and the right key."""

from pathlib import Path

from cases import cases_beside, read_beside

from attack.attempts import Attack
from attack.reading import outcome_of
from clinclust import FeatureSchema
from schemas import stored_text

_SOUND = stored_text("malformed")
_LINES = _SOUND.splitlines()

# Words that the format knows, each with the number of the line it stands on. A typo in any of them is told; one in a
# name or a text of the user's own is a name or a text, and checked against the table only.
_WORDS = [(line, word) for line, words in read_beside(__file__)["words"] for word in words.split()]
_KNOWN = cases_beside(Path(__file__).parents[1] / "schema" / "cases.toml", "yaml")
_LETTERS = "abcdefghijklmnopqrstuvwxyz_"


def _typo(word, rng):
    """Return the word with one letter changed, left out, doubled, added or exchanged with the next."""
    while True:
        at, letter = int(rng.integers(0, len(word))), _LETTERS[int(rng.integers(0, len(_LETTERS)))]
        wrong = (
            word[:at] + letter + word[at + 1 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + letter + word[at:],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            word[:at] + word[at].upper() + word[at + 1 :],
        )[int(rng.integers(0, 6))]
        if wrong != word:
            return wrong


def _typos(count, rng, folder):
    path = folder / "schema.yaml"
    path.write_text(_SOUND)
    assert len(FeatureSchema.from_yaml(path)) == 10
    for place in range(count):
        line, word = _WORDS[place % len(_WORDS)]
        wrong, lines = _typo(word, rng), list(_LINES)
        lines[line] = lines[line].replace(word, wrong, 1)
        path.write_text("\n".join(lines) + "\n")
        _, _, message, broken = outcome_of(FeatureSchema.from_yaml, path)
        if broken is None and message is None:
            broken = f"{wrong} for {word} was accepted"
        elif broken is None and not (f"line {line + 1}: " in message and wrong in message and f"'{word}'" in message):
            broken = f"{wrong} for {word}: {message:.300}"
        yield broken


def _feature(rng, *fields):
    """Return a schema in which a feature has other fields: YAML between braces."""
    lines = list(_LINES)
    lines[int(rng.integers(5, len(lines)))] = f"  - {{{', '.join(fields)}}}"
    return "\n".join(lines) + "\n"


def _known(rng):
    """Return one of the texts that the tests of schemas know, whose message they know too."""
    return _KNOWN[int(rng.integers(0, len(_KNOWN)))][0]


def _deep(rng):
    depth, opening = int(rng.integers(10, 100_000)), "[{"[int(rng.integers(0, 2))]
    return _feature(rng, "name: x", "prior: " + ("{a: " if opening == "{" else "[") * depth)


def _laughs(rng):
    lines = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10) if k else 'ha'}]" for k in range(9)]
    return "\n".join([*lines, _SOUND])


def _long(rng):
    word = "x" * int(rng.integers(10_000, 3_000_000))
    fields = (
        f"name: {word}, likelihood: poison",
        f"name: a, {word}: 3",
        f"name: a, likelihood: {word}",
        f"name: a, likelihood: binomial, trials: {word}",
        f"name: a, likelihood: categorical, levels: [{word}, {word}]",
        f"name: a, likelihood: gaussian, prior: {{{word}: 1}}",
        f"name: a, likelihood: gaussian, role: {word}",
    )
    return _feature(rng, fields[int(rng.integers(0, len(fields)))])


def _many(rng):
    lines = [f"  - {{name: f{int(rng.integers(0, 9))}, likelihod: poisson, {k}: 3}}" for k in range(500)]
    return _SOUND + "\n".join(lines) + "\n"


def _noise(rng):
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return rng.bytes(int(rng.integers(1, 3000)))
    if kind == 1:
        return _SOUND.encode("utf-16")
    if kind == 2:
        return _SOUND.replace("Parkinsonism", "Ärzte").encode("latin-1")
    return b"\0" * 4096


MAKERS = (_known, _deep, _laughs, _long, _many, _noise)


def _malformed(count, rng, folder):
    path = folder / "schema.yaml"
    for place in range(count):
        maker = MAKERS[place % len(MAKERS)]
        content = maker(rng)
        path.write_bytes(content if isinstance(content, bytes) else content.encode(errors="surrogatepass"))
        _, _, message, broken = outcome_of(FeatureSchema.from_yaml, path)
        if broken is None and message is None:
            broken = f"accepted: {content[:200]!r}"
        elif broken is None and "line " not in message:
            broken = f"no line: {message[:200]}"
        yield broken and f"{maker.__name__}: {broken} (try {place})"


ATTACKS = (
    Attack("malformed schemas", _malformed, smoke=5 * len(MAKERS), full=440),
    Attack("typos in a schema", _typos, smoke=len(_WORDS), full=8 * len(_WORDS)),
)
