"""Surprisal of the tokens of a Doc, in bits: under a language model, by a proper grammar, or by a belief network.

`token._.surprisal` is -log2 of the probability of a token after those before it in its sentence, by the component that
wrote the Doc's trees. It is in `doc.spans[key].attrs["surprisal"]`, one number a token and nan for white space, where
the component writes it (`surprisal = true`); otherwise it is computed when it is first asked for, by the component of
that key that shares the Doc's vocabulary, and written there. `attrs["end_surprisal"]` has that of the end of each
sentence. A sentence's numbers and that of its end sum up to -log2 of its probability: by a grammar, or by the beam of
a network. Ensembles, combinations and spectral grammars have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from spacy.tokens import Doc, Token

from spacy_lpcfg.components.asked import pipe_of
from spacy_lpcfg.components.constituents import KEYS, sentence_bounds, texts_of, words_of
from spacy_lpcfg.components.tree_group import group_at

_SURPRISAL, _END = "surprisal", "end_surprisal"


class Surprised(Protocol):
    """What has an expectation of the next word: a `LanguageModel`, or the `ready_parser()` of a parsing component."""

    def surprisal(self, words: Sequence[str]) -> np.ndarray:
        """Bits of each word of a sentence, and of its end, float64 (n_words + 1,)."""
        ...


def token_surprisal(doc: Doc, model: Surprised) -> np.ndarray:
    """-log2 of the probability of every token after those before it in its sentence.

    doc (Doc): with sentence boundaries, or else one sentence. Its tokenizer has to split words as those of the text
        that the model was learned from are.
    model (LanguageModel or parser): as `spacy-lpcfg learn lm` saves it, or `spacy_lpcfg.language_model.fit` makes it;
        or what `nlp.get_pipe("lpcfg_parser").ready_parser()` gives.
    RETURNS (float64, (n_tokens,)): bits; nan for white space and for words that a language model does not know.
    """
    return doc_surprisal(doc, model)[0]


def doc_surprisal(doc: Doc, model: Surprised) -> tuple[np.ndarray, np.ndarray]:
    """The surprisal of every token, as `token_surprisal`, and of the end of every sentence.

    RETURNS (float64, (n_tokens,)), (float64, (n_sentences,)): bits; nan for a sentence without words.
    """
    bounds = sentence_bounds(doc)
    tokens, ends = np.full(len(doc), np.nan), np.full(len(bounds), np.nan)
    for i, (start, end) in enumerate(bounds):
        words = words_of(doc, start, end)
        if words:
            bits = model.surprisal(texts_of(doc, words))
            tokens[words], ends[i] = bits[:-1], bits[-1]
    return tokens, ends


def set_surprisal(doc: Doc, key: str, model: Surprised) -> None:
    """Write the surprisal of the tokens and of the ends of sentences to the attrs of `doc.spans[key]`."""
    group = group_at(doc, key, 0, None)
    group.attrs[_SURPRISAL], group.attrs[_END] = doc_surprisal(doc, model)


# The extension attribute -------------------------------------------------------------------------


def register_surprisal() -> None:
    """Register `token._.surprisal`, if nobody else holds the name."""
    if not Token.has_extension(_SURPRISAL):
        Token.set_extension(_SURPRISAL, getter=surprisal_of)


def surprisal_of(token: Token) -> float:
    """The surprisal of a token in bits; nan for white space.

    Raises ValueError if the Doc has none and there is no component that shares its vocabulary and wrote its trees.
    """
    doc = token.doc
    keys = [key for key in dict.fromkeys((*KEYS, *sorted(doc.spans))) if key in doc.spans]
    known = next((key for key in keys if _SURPRISAL in group_at(doc, key).attrs), None)
    if known is None:
        known = next((key for key in keys if _asked(doc, key)), None)
    if known is None:
        raise ValueError(
            "This Doc has no surprisal. Parse it by an 'isbn_parser', or by an 'lpcfg_parser' with one proper grammar, "
            "keep the pipeline as long as you ask, or set `surprisal = true` in the component's config, so that it is "
            "written to the Doc."
        )
    return float(_checked(token, known)[token.i])


def _asked(doc: Doc, key: str) -> bool:
    """Write the surprisal by the component of a key, if there is one that knows."""
    pipe = pipe_of(doc, key)
    if pipe is None:
        return False
    try:
        set_surprisal(doc, key, pipe.ready_parser())
    except ValueError:  # such as of an ensemble, which has no surprisal
        return False
    return True


def _checked(token: Token, key: str) -> np.ndarray:
    doc = token.doc
    found = group_at(doc, key, token.i, token.i + 1).attrs[_SURPRISAL]
    if len(found) != len(doc):
        raise ValueError(
            f"doc.spans[{key!r}] needs {len(doc)} numbers of surprisal, but its attrs have {len(found)}: tokens "
            "changed after parsing. Parse the text again."
        )
    return found
