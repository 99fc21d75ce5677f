"""Word vectors of a pipeline's vocabulary, for a bracketer to learn from."""

from dataclasses import dataclass

from spacy.vocab import Vocab
from thinc.api import to_numpy

from spacy_lpcfg.bracketing import GivenVectors
from spacy_lpcfg.bracketing.paper.embeddings import Chunks, Embedding


@dataclass(frozen=True)
class VocabVectors:
    """The word vectors that the vocabulary of a pipeline holds when a `spectral_bracketer` is initialized.

    In a config `spacy-lpcfg.VocabVectors.v1`, for the setting `embedding` of the learner "bracketer".

    size (int): Number of principal dimensions to which the vectors are projected; 0 for no projection.
    """

    size: int = GivenVectors.size

    def of(self, vocab: Vocab) -> GivenVectors:
        """Return the word vectors of a vocabulary.

        RAISES (ValueError): If the vocabulary has none.
        """
        rows = {vocab.strings[key]: row for key, row in vocab.vectors.key2row.items() if row >= 0}
        if not rows:
            raise ValueError(
                "Expected a vocabulary with a vector for each word, but this one has none: set [initialize] vectors to "
                "a pipeline with vectors, such as en_core_web_md, or leave out `embedding`: then they are learned."
            )
        return GivenVectors(tuple(rows), to_numpy(vocab.vectors.data)[list(rows.values())], self.size)

    def fit(self, chunks: Chunks, *, seed: int = 0) -> Embedding:
        """Raise ValueError: the component calls `of` with its vocabulary, and learns with the result."""
        raise ValueError(
            "Expected vectors of words, got those of a vocabulary that nobody has named: learn by the component "
            "spectral_bracketer, whose pipeline has one, or give GivenVectors."
        )
