"""A parser whose trees a decoder chooses by the posteriors of another parser."""

from __future__ import annotations

from spacy_lpcfg.parsing.decodings import TreeDecoder
from spacy_lpcfg.parsing.protocol import Sentence, SentenceParser, WrappingParser
from spacy_lpcfg.parsing.query import Query
from spacy_lpcfg.parsing.result import PARSED, UNCONSTRAINED, Parse, Posteriors
from spacy_lpcfg.trees.tree import Span


class DecodingParser(WrappingParser):
    """A parser whose trees a decoder chooses by the posteriors of another parser; any number of threads may share one.

    parser (SentenceParser): Gives the posteriors, and all other answers.
    decoder (TreeDecoder): Chooses brackets and tags.
    """

    def __init__(self, parser: SentenceParser, decoder: TreeDecoder) -> None:
        super().__init__(parser)
        self._decoder = decoder

    def parse(self, query: Sentence) -> Parse:
        """Return the decoder's tree, or the other parser's where that has a single tree or the decoder's is refused.

        A decoder's tree is refused if no bracket may span the sentence, or if it breaks constraints; it may satisfy
        constraints that no tree of the other parser satisfies.

        RAISES (ValueError): As `Query`.
        """
        query = Query.of(query)
        reading = self.backing.read(query)
        posteriors = reading.posteriors
        if posteriors.is_of_one:
            return reading.parse or self.backing.parse(query)
        tree = self._tree(query, posteriors)
        if tree is None:
            return self.backing.parse(query)
        spans, tags = tree
        return posteriors.parse_of(
            query.words,
            tags,
            spans,
            given=query.certain_tags,
            log_probability=reading.log_probability,
            status=PARSED if reading.status == UNCONSTRAINED else reading.status,
        )

    def _tree(self, query: Query, posteriors: Posteriors) -> tuple[list[Span], list[str]] | None:
        """Choose brackets and tags; None if no bracket may span the sentence, or constraints are not met."""
        constraints = query.constraints
        if constraints:
            posteriors = Posteriors(constraints.within(posteriors.brackets), posteriors.tags)
        if not any(end - start == len(query.words) for start, end, _ in posteriors.brackets):
            return None
        certain = [span for span, p in posteriors.brackets.items() if constraints and p == 1.0]
        spans, tags = self._decoder.tree(query.words, posteriors, certain)
        return (spans, tags) if constraints.allow(spans) else None
