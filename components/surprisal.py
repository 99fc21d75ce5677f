"""Surprisal of the tokens of a Doc under a language model."""

from __future__ import annotations

import numpy as np
from spacy.tokens import Doc

from spacy_lpcfg.components.constituents import sentence_bounds, texts_of, words_of
from spacy_lpcfg.language_model import LanguageModel


def token_surprisal(doc: Doc, model: LanguageModel) -> np.ndarray:
    """-log2 of the probability of every token after those before it in its sentence.

    doc (Doc): with sentence boundaries, or else one sentence. Its tokenizer has to split words as those of the text
        that the model was learned from are.
    model (LanguageModel): as `spacy-lpcfg learn lm` saves it, or `spacy_lpcfg.language_model.fit` makes it.
    RETURNS (float64, (n_tokens,)): bits; nan for white space and for words that the model does not know.
    """
    surprisal = np.full(len(doc), np.nan)
    for start, end in sentence_bounds(doc):
        words = words_of(doc, start, end)
        surprisal[words] = model.surprisal(texts_of(doc, words))[:-1]
    return surprisal
