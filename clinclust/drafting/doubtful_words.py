"""Texts that may mean a missing value, and are taken for one where all others have an order, or are no and yes.

`NK` may be a level of its own somewhere. Beside `I`, `II` and `III`, or beside `no` and `yes`, it is a value that is
not known; the draft says so, and that it may be a level.
"""

from __future__ import annotations

import re

import numpy as np

from clinclust.drafting.column import ObservedColumn
from clinclust.drafting.orders import in_order
from clinclust.drafting.yes_no import ranked_pair
from clinclust.files.cell_text import numbers_of
from clinclust.files.dictionaries.plain_text import words_of

__all__ = ["doubtful_words"]

_CODES = (
    "nk; n k; uk; ukn; unk; unkn; nd; n d; ne; n e; nr; n r; ni; ns; n s; nc; n c; ns nc; nb; n b; na; inc; desc; "
    "incon; nsp; nv; kd; k d; nt; n t; k a; dk; dnk; unbek; unb; ungekl; fragl; onb; wn; ign; inconnu e; desconh; "
    "sconosc; nsnr; nf; n f; nq; i g; ig; sr; s r; sd; s d; nsnc; non nota; entf; skip; miss; nvt"
)
_PHRASES = (
    "indeterminate; cannot be assessed; not assessable; not evaluable; unclassified; unclassifiable; ungraded; "
    "not graded; not staged; unstaged; unsure; not sure; pending; to be determined; tbd; inconclusive; invalid; "
    "n best; nicht best; n beurt; refused; refuse; refus; rather not say; no opinion; test not done; not checked; "
    "other unknown; not tested yet; "
    "nicht klassifizierbar; nicht bestimmbar; nicht bestimmt; unsicher; ausstehend; keine aussage; "
    "indetermine; non classable; non determine; en attente; en cours; indeterminado; no clasificable; no valorable; "
    "no evaluable; pendiente; non noto; sconosciuto; ignoto; non eseguito; non valutabile; non determinato; "
    "non disponibile; non so; in attesa; dato mancante; onbekend; niet bekend; weet niet; niet gedaan; "
    "niet beschikbaar; niet bepaald; geen antwoord; wil niet zeggen; desconhecido; nao sabe; nao realizado; nao feito; "
    "ignorado; sem informacao; nao disponivel; nao respondeu"
)
_DOUBTFUL = frozenset(" ".join(words_of(phrase)) for phrase in f"{_CODES}; {_PHRASES}".split(";"))
_NOT_ASSESSED = re.compile(r"[a-zA-Z]{0,3}[xX]")
"""How the TNM classification writes what cannot be assessed: `TX`, `Nx`, `GX`."""
_MOST = 3


def doubtful_words(column: ObservedColumn) -> tuple[list[str], str]:
    """Return the texts taken for missing because all others are ordered or a pair of answers, and what to look at.

    Parameters
    ----------
    column : ObservedColumn
        A column without the texts that certainly mean a missing value.
    """
    texts = column.texts
    doubtful = [text for text in texts if _is_doubtful(text) or _NOT_ASSESSED.fullmatch(text)]
    left = [text for text in texts if text not in doubtful]
    if len(left) == 2:  # beside `F` and `M`, `X` is an answer
        doubtful = [text for text in doubtful if _is_doubtful(text)]
        left = [text for text in texts if text not in doubtful]
    if not 0 < len(doubtful) <= _MOST or len(left) < 2 or np.isfinite(numbers_of(left)).all():
        return [], ""
    folded = list({" ".join(text.casefold().split()): text for text in left}.values())
    known = ranked_pair(folded) if len(folded) == 2 else in_order(folded, column.name)
    if known is None or in_order(texts, column.name) is not None:
        return [], ""
    n = int(sum(column.counts[column.texts.index(text)] for text in doubtful))
    beside = "two answers" if len(folded) == 2 else "levels that have an order"
    shown = ", ".join(map(repr, doubtful))
    look = f"{shown} ({n} subjects) taken for missing beside {beside}; if it is an answer, list it under `levels`"
    return doubtful, look


def _is_doubtful(text: str) -> bool:
    words = words_of(text)
    single = all(len(word) == 1 for word in words)  # `n.v.`
    return " ".join(words) in _DOUBTFUL or (single and "".join(words) in _DOUBTFUL)
