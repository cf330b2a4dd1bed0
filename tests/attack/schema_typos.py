"""Schema files that have one wrong letter: refused with the line, the file and the right key."""

from cases import read_beside

from attack.attempts import Attack
from attack.reading import outcome_of
from clinclust import FeatureSchema
from schemas import stored_text

_SOUND = stored_text("malformed")
_LINES = _SOUND.splitlines()

# Words that the format knows, each with the number of the line it stands on. A typo in any of them is told; one in a
# name or a text of the user's own is a name or a text, and checked against the table only.
_WORDS = [(line, word) for line, words in read_beside(__file__)["words"] for word in words.split()]
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


ATTACKS = (Attack("typos in a schema", _typos, smoke=len(_WORDS), full=8 * len(_WORDS)),)
