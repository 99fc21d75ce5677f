"""Surprisal of the tokens of a Doc, in bits: under a language model, a proper grammar, or a belief network.

`token._.surprisal` is -log2 of the probability of a token after those before it in its sentence: by the pipeline's
`language_model`, if it has one, or else by the component that wrote the Doc's trees. It is in
`doc.spans[key].attrs["surprisal"]`, one number a token and nan for white space, where the component writes it
(`output.surprisal = true`); otherwise it is computed when it is first asked for, by the component of that key that
shares the Doc's vocabulary, and written there. `attrs["end_surprisal"]` has that of the end of each sentence. A
sentence's numbers and that of its end sum up to -log2 of its probability: by a grammar, or by the beam of a network.
Ensembles, combinations and spectral grammars have none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc, Token

from spacy_lpcfg.components.doc.pipe_registry import SurprisalModel, find_pipe
from spacy_lpcfg.components.doc.sentences import sentence_bounds, texts_of, words_of
from spacy_lpcfg.components.doc.tree_group import KEYS, LANGUAGE_MODEL_KEY, group_at

_SURPRISAL, _END = "surprisal", "end_surprisal"


def token_surprisal(doc: Doc, model: SurprisalModel) -> np.ndarray:
    """Return the surprisal of every token given those before it in its sentence.

    doc (Doc): A Doc with sentence boundaries, or else of one sentence. Its tokenizer has to split words as those of the
        text that the model was learned from are.
    model (LanguageModel or parser): A model that `spacy-lpcfg learn lm` saves or `spacy_lpcfg.language_model.fit`
        makes, or what `nlp.get_pipe("lpcfg_parser").ready_parser()` gives.
    RETURNS (float64, (n_tokens,)): Bits; nan for white space and for words that a language model does not know.
    """
    return doc_surprisal(doc, model)[0]


def doc_surprisal(doc: Doc, model: SurprisalModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the surprisal of every token, as `token_surprisal`, and of the end of every sentence.

    RETURNS (float64, (n_tokens,)), (float64, (n_sentences,)): Bits; nan for a sentence without words.
    """
    words = [words_of(doc, start, end) for start, end in sentence_bounds(doc)]
    attrs = surprisal_attrs(len(doc), words, [texts_of(doc, positions) for positions in words], model)
    return attrs[_SURPRISAL], attrs[_END]


def surprisal_attrs(
    n_tokens: int, words: Sequence[Sequence[int]], texts: Sequence[Sequence[str]], model: SurprisalModel
) -> dict[str, np.ndarray]:
    """Compute the attrs "surprisal" and "end_surprisal" of a Doc, as `doc_surprisal` returns them.

    words (sequence of sequence of int): Positions of the words of each sentence; texts: the words.
    """
    tokens, ends = np.full(n_tokens, np.nan), np.full(len(words), np.nan)
    for i, (positions, sentence) in enumerate(zip(words, texts, strict=True)):
        if positions:
            bits = model.surprisal(sentence)
            tokens[positions], ends[i] = bits[:-1], bits[-1]
    return {_SURPRISAL: tokens, _END: ends}


def set_surprisal(doc: Doc, key: str, model: SurprisalModel) -> None:
    """Write the surprisal of the tokens and of the ends of sentences to the attrs of `doc.spans[key]`."""
    group = group_at(doc, key, 0, None)
    group.attrs[_SURPRISAL], group.attrs[_END] = doc_surprisal(doc, model)


# The extension attribute -------------------------------------------------------------------------


def surprisal_of(token: Token) -> float:
    """Return the surprisal of a token in bits; nan for white space.
    RAISES (ValueError): If the Doc has none, and no component that shares its vocabulary wrote its trees.
    """
    doc = token.doc
    keys = [key for key in dict.fromkeys((LANGUAGE_MODEL_KEY, *KEYS, *sorted(doc.spans))) if key in doc.spans]
    known = next((key for key in keys if _SURPRISAL in group_at(doc, key).attrs), None)
    if known is None:
        known = next((key for key in keys if _was_written(doc, key)), None)
    if known is None:
        raise ValueError(
            "This Doc has no surprisal. Parse it by an 'isbn_parser', or by an 'lpcfg_parser' with one proper grammar, "
            "keep the pipeline as long as you ask, or set `output.surprisal = true` in the component's config, so that "
            "it is written to the Doc; or add a 'language_model' to the pipeline, which always writes it."
        )
    return float(_surprisal_at(token, known)[token.i])


def _was_written(doc: Doc, key: str) -> bool:
    """Write the surprisal by the component of a key, if there is one with surprisal; return whether there was."""
    pipe = find_pipe(doc, key)
    if pipe is None:
        return False
    try:
        set_surprisal(doc, key, pipe.ready_parser())
    except ValueError:  # an ensemble, for example, has no surprisal
        return False
    return True


def _surprisal_at(token: Token, key: str) -> np.ndarray:
    doc = token.doc
    bits = group_at(doc, key, token.i, token.i + 1).attrs[_SURPRISAL]
    if len(bits) != len(doc):
        raise ValueError(
            f"doc.spans[{key!r}] needs {len(doc)} numbers of surprisal, but its attrs have {len(bits)}: tokens "
            "changed after parsing. Parse the text again."
        )
    return bits
