"""Surprisal of the tokens of a Doc, in bits, under a language model, a proper grammar, or a belief network.

`token._.surprisal` is -log2 of the probability of a token given the tokens before it in its sentence, under the
pipeline's `language_model` if it has one, otherwise under the model of the component that wrote the Doc's trees. It is
stored in `doc.spans[key].attrs["surprisal"]`, one number for each token, nan for white space. A component stores it
while parsing if `output.surprisal` is true; otherwise the component with this key and the Doc's vocabulary computes and
stores it at the first access. `attrs["end_surprisal"]` has the surprisal of the end of each sentence. All numbers of a
sentence sum to -log2 of its probability (with a network: of the probability of the trees in its beam). Spectral
grammars have no surprisal.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc, Token

from spacy_lpcfg.components.doc.pipe_registry import SurprisalModel, find_pipe
from spacy_lpcfg.components.doc.sentences import sentence_bounds, texts_of, words_of
from spacy_lpcfg.components.doc.tree_group import KEYS, LANGUAGE_MODEL_KEY, attributes, set_attributes


def doc_surprisal(doc: Doc, model: SurprisalModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the surprisal of each token and of the end of each sentence, given the tokens before it in the sentence.

    doc (Doc): A Doc, which counts as one sentence if it has no sentence boundaries. It has to be tokenised like the
        text that the model learned from.
    model (LanguageModel or component): A model from `spacy-lpcfg learn lm` or `spacy_lpcfg.language_model.fit`, or a
        component such as `nlp.get_pipe("lpcfg_parser")`.
    RETURNS (float64, (n_tokens,)), (float64, (n_sentences,)): Bits; nan for white space, for words that a language
        model does not know, and for the end of a sentence without words.
    RAISES (ValueError): If the model has no surprisal, as a spectral grammar.
    """
    words = [words_of(doc, start, end) for start, end in sentence_bounds(doc)]
    return surprisal_of_words(len(doc), words, [texts_of(doc, positions) for positions in words], model)


def surprisal_of_words(
    n_tokens: int, words: Sequence[Sequence[int]], texts: Sequence[Sequence[str]], model: SurprisalModel
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the surprisal of tokens and of the ends of sentences, as `doc_surprisal` returns them.

    n_tokens (int): The number of tokens of the Doc.
    words (sequence of sequence of int): The token positions of the words of each sentence.
    texts (sequence of sequence of str): The texts of these words.
    model (SurprisalModel): The model.
    RETURNS (float64, (n_tokens,)), (float64, (n_sentences,)): Bits; nan for white space and sentences without words.
    """
    tokens, ends = np.full(n_tokens, np.nan), np.full(len(words), np.nan)
    for i, (positions, sentence) in enumerate(zip(words, texts, strict=True)):
        if positions:
            bits = model.surprisal(sentence)
            tokens[positions], ends[i] = bits[:-1], bits[-1]
    return tokens, ends


def set_surprisal(doc: Doc, key: str, model: SurprisalModel) -> None:
    """Compute the surprisal of tokens and of ends of sentences, and write them to the attrs of `doc.spans[key]`.

    RAISES (ValueError): If the model has no surprisal.
    """
    tokens, ends = doc_surprisal(doc, model)
    set_attributes(doc, key, surprisal=tokens, end_surprisal=ends)


# The extension attribute -------------------------------------------------------------------------


def surprisal_of(token: Token) -> float:
    """Return the surprisal of a token in bits, nan for white space: `token._.surprisal`.

    If the Doc has no surprisal yet, the component that parsed it computes and stores it.

    RAISES (ValueError): If the Doc has no surprisal, and no component with its vocabulary can compute it.
    """
    doc = token.doc
    keys = [key for key in dict.fromkeys((LANGUAGE_MODEL_KEY, *KEYS, *sorted(doc.spans))) if key in doc.spans]
    stored = next((key for key in keys if attributes(doc, key, 0, 0).surprisal is not None), None)
    if stored is None:
        stored = next((key for key in keys if _try_to_store(doc, key)), None)
    if stored is None:
        raise ValueError(
            "This Doc has no surprisal. Parse it by an 'isbn_parser', or by an 'lpcfg_parser' with one proper grammar, "
            "keep the pipeline as long as you ask, or set `output.surprisal = true` in the component's config, so that "
            "it is written to the Doc; or add a 'language_model' to the pipeline, which always writes it."
        )
    return float(_surprisal_at(token, stored)[token.i])


def _try_to_store(doc: Doc, key: str) -> bool:
    """Compute and store surprisal with the component that writes to a key; return False if no component can."""
    pipe = find_pipe(doc, key)
    if pipe is None:
        return False
    try:
        set_surprisal(doc, key, pipe)
    except ValueError:  # a spectral grammar, for example, has no surprisal
        return False
    return True


def _surprisal_at(token: Token, key: str) -> np.ndarray:
    doc = token.doc
    bits = attributes(doc, key, token.i, token.i + 1).surprisal
    assert bits is not None
    if len(bits) != len(doc):
        raise ValueError(
            f"doc.spans[{key!r}] needs {len(doc)} numbers of surprisal, but its attrs have {len(bits)}: tokens "
            "changed after parsing. Parse the text again."
        )
    return bits
