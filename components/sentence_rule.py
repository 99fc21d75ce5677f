"""Rule-based sentence boundaries by punctuation and line breaks, for a Doc that has none."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

import numpy as np
from spacy.language import Language
from spacy.pipeline import Sentencizer
from spacy.tokens import Doc

from spacy_lpcfg.cached import cached_property

FACTORY = "lpcfg_sentencizer"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOPS = frozenset(Sentencizer.default_punct_chars)
_STOP_RUN = re.compile(r"[.!?…‼⁇⁈⁉]+")
_REFERENCE = re.compile(r".+[.!?]\[\d+")  # what English tokenizers make of the first half of "left.[7]"
_STRAIGHT_QUOTES = "\"'"
_CLOSING = ("Pe", "Pf")  # Unicode categories of closing brackets and quotation marks
_QUOTING = ("Pi", "Pf")  # of quotation marks, which languages use in either direction
_BEFORE_OPENING = ("Ps", "Pi", "Pd")  # of opening brackets and quotation marks, and of dashes
_DASHES = frozenset({"—", "–", "--"})
_BULLETS = frozenset("-*•·●▪◦")
_NUMBERING = re.compile(r"\d{1,3}|[A-Za-z]|[ivxIVX]{1,4}")
_NUMBERED = re.compile(rf"(?:{_NUMBERING.pattern})[.)]")
_ABBREVIATION = re.compile(r"[^\W_].*\.")  # the tokenizer leaves a full stop at abbreviations that it knows
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")  # as p.a, whose last full stop it splits off
_MORE_ABBREVIATIONS = _words(  # whose full stop the tokenizer splits off
    "al approx assn ca capt cf ch chap col cpt dept ed eds eq eqs fig figs gen gov hon lt messrs mt pp prof rep rev "
    "sec sen sgt st trans univ vol vs"
)
_FIRST_WORDS = _words(
    "a after all although an and as at because before but for he her here his how i if in it its many most my no now "
    "on our she since so some that the their then there these they this those though we what when where while who why "
    "you your"
)
_SPEECH_VERBS = _words(
    "added answered asked called continued cried demanded exclaimed inquired murmured replied said says shouted "
    "thought whispered wondered"
)
_LETTER_WORDS = _words(
    "all best cheers cordially dear faithfully good greetings hello hey hi kind love many regards respectfully "
    "sincerely take thank thanks warm yours"
)
_LONGEST_LETTER_LINE = 7  # words and marks of a greeting or closing
_LONGEST_NAME_LINE = 3  # words and marks of a line that may be just a name


class PunctuationSentencizer:
    """A component that sets sentence boundaries by `sentence_starts`, unless the Doc has sentence boundaries."""

    def __call__(self, doc: Doc) -> Doc:
        if not doc.has_annotation("SENT_START"):
            set_sentence_starts(doc, sentence_starts(doc))
        return doc


@Language.factory(FACTORY, assigns=["token.is_sent_start", "doc.sents"])
def make_sentencizer(nlp: Language, name: str) -> PunctuationSentencizer:
    """Create the component `lpcfg_sentencizer`."""
    return PunctuationSentencizer()


def set_sentence_starts(doc: Doc, starts: Sequence[bool]) -> None:
    """Set the sentence boundaries of a Doc in linear time, faster than by `token.is_sent_start`.

    starts (sequence of bool, (n_tokens,)): Whether each token begins a sentence.
    """
    values: Any = np.where(starts, 1, -1).astype(np.uint64)
    doc.from_array(["SENT_START"], values)


def sentence_starts(doc: Doc) -> list[bool]:
    """Decide for each token whether it begins a sentence.

    A sentence ends at a blank line, and at punctuation with the quotation marks, parentheses and references that close
    after it. It does not end at abbreviations, initials and the numbers of a list, nor between a quotation and words
    such as "he said". Items of lists, and the greetings and closings of letters, are sentences if they stand on their
    own lines. White space belongs to the sentence before it.

    doc (Doc): The Doc, which is not changed; only its tokens and white space are read.
    RETURNS (list of bool, (n_tokens,)): Whether each token begins a sentence.
    """
    words = _Words.of(doc)
    starts = [i == 0 for i in range(len(doc))]
    first = line = last = 0
    while last < len(words.texts) - 1:
        stop, last = last, words.end_of_stop(last)
        is_end = words.ends_paragraph(last) or words.ends_line(line, last) or words.ends_sentence(first, stop, last)
        if words.line_breaks[last]:
            line = last + 1
        last += 1
        if is_end and last < len(words.texts):
            starts[words.positions[last]] = True
            first = last
    return starts


@dataclass
class _Words:
    """The words of a Doc, which are its tokens other than white space.

    texts (list of str): The text of each word.
    positions (list of int): The token position in the Doc of each word.
    spaced (list of bool): Whether white space follows each word.
    line_breaks (list of int): The number of line breaks that follow each word.
    """

    texts: list[str]
    positions: list[int]
    spaced: list[bool]
    line_breaks: list[int]

    @staticmethod
    def of(doc: Doc) -> "_Words":
        words = _Words([], [], [], [])
        for token in doc:
            if not token.is_space:
                words.texts.append(token.text)
                words.positions.append(token.i)
                words.spaced.append(bool(token.whitespace_))
                words.line_breaks.append(0)
            elif words.texts:
                words.spaced[-1] = True
                words.line_breaks[-1] += token.text.count("\n")
        return words

    @cached_property
    def closes(self) -> list[bool]:
        """Whether each word is a mark that closes a quotation or a parenthesis.

        Straight quotation marks alternately open and close within a paragraph, unless the white space around a mark
        tells which it does.
        """
        closes, is_open = [], dict.fromkeys(_STRAIGHT_QUOTES, False)
        for k, text in enumerate(self.texts):
            is_closer = is_open[text] if text in is_open else text == "''" or category(text[0]) in _CLOSING
            if text in is_open or category(text[0]) in _QUOTING:
                is_closer = self._closes_quotation(k, is_closer)
            closes.append(is_closer)
            if text in is_open:
                is_open[text] = not is_closer
            if self.ends_paragraph(k):
                is_open = dict.fromkeys(_STRAIGHT_QUOTES, False)
        return closes

    def _closes_quotation(self, k: int, is_closer: bool) -> bool:
        """Return whether a quotation mark closes, judging by the surrounding white space and the word before it.

        k (int): The position of the mark.
        is_closer (bool): The result if white space and word do not decide.
        """
        before, after = k == 0 or self.spaced[k - 1], self.spaced[k] or k == len(self.texts) - 1
        if before != after:
            return after
        if before:
            return is_closer
        if self.texts[k] in _STRAIGHT_QUOTES:
            return category(self.texts[k - 1][0]) not in _BEFORE_OPENING
        return is_closer or _is_stop_mark(self.texts[k - 1])

    def text(self, k: int) -> str:
        """Return the text of word `k`; "" if there is no such word."""
        return self.texts[k] if k < len(self.texts) else ""

    def end_of_stop(self, k: int) -> int:
        """Return the position of the last mark after a stop (a mark that may end a sentence).

        Such marks are further stops, closing marks, and references such as [1].

        k (int): The position of a word. It is returned if the word is no stop, or if no such mark follows.
        """
        if not self._is_stop(k):
            return k
        while k + 1 < len(self.texts) and not self.line_breaks[k]:
            if _is_stop_mark(self.texts[k + 1]) or self.closes[k + 1]:
                k += 1
            elif self.text(k + 1) == "[" and self.text(k + 2).isdecimal() and self.text(k + 3) == "]":
                k += 3
            else:
                break
        return k

    def ends_paragraph(self, k: int) -> bool:
        """Return whether a blank line follows word `k`."""
        return self.line_breaks[k] > 1

    def ends_line(self, line: int, k: int) -> bool:
        """Return whether a line break ends a sentence, as it does next to a greeting or closing, and before a list.

        line (int): The position of the first word of the line.
        k (int): The position of the word before the line break; False is returned if it is not followed by one.
        """
        if not self.line_breaks[k]:
            return False
        following = self.text(k + 1)
        if following in _BULLETS or _NUMBERED.fullmatch(following):
            return True
        if _NUMBERING.fullmatch(following) and self.text(k + 2) in (".", ")"):
            return True
        return self._is_letter_line(line, k) or self._is_letter_line(k + 1, self._end_of_line(k + 1))

    def _is_letter_line(self, line: int, end: int) -> bool:
        """Return whether a line, from its first word to its last, is a greeting or closing."""
        if end == len(self.texts) - 1 or self.texts[end] not in (",", "!"):
            return False
        if self.texts[line].lower() in _LETTER_WORDS:
            return end - line < _LONGEST_LETTER_LINE
        return end - line < _LONGEST_NAME_LINE and self.texts[line][0].isupper() and self.texts[end + 1][0].isupper()

    def _end_of_line(self, k: int) -> int:
        return next((end for end in range(k, len(self.texts)) if self.line_breaks[end]), len(self.texts) - 1)

    def ends_sentence(self, first: int, stop: int, last: int) -> bool:
        """Return whether the sentence ends after a stop (a mark that may end it) and the marks that follow.

        first (int): The position of the first word of the sentence.
        stop (int): The position of a word, which may be a stop.
        last (int): The position of the last mark after it, `end_of_stop(stop)`.
        """
        mark, following = self.texts[stop], self._following_word(last)
        if mark in _DASHES:  # in transcripts: a speaker breaks off
            return following != "I" and _is_first_word(following)
        if not self._is_stop(stop):
            return False
        if not _is_stop_mark(mark):
            ends = any(map(_is_stop_mark, self.texts[stop + 1 : last + 1]))
            return ends or _is_first_word(following)
        if mark == "." and last == stop and self._is_abbreviated(first, stop, following):
            return False
        if not self.spaced[last] and mark == "." and not following[:1].isupper():
            return False
        has_closed = any(self.closes[stop : last + 1])
        if following[:1].islower():
            return not has_closed and not mark.startswith(("..", "…"))
        return not has_closed or mark == "." or not self._tells_speaker(last)

    def _is_stop(self, k: int) -> bool:
        text = self.texts[k]
        return _is_stop_mark(text) or (text[-1] == "." and _ABBREVIATION.fullmatch(text) is not None)

    def _is_abbreviated(self, first: int, stop: int, following: str) -> bool:
        """Return whether a full stop only belongs to an abbreviation, or to the number of a list item."""
        if stop == first:
            return False
        before = self.texts[stop - 1]
        if _DOTTED.fullmatch(before):
            return not _is_first_word(following)
        return before.lower() in _MORE_ABBREVIATIONS or (stop - 1 == first and _NUMBERING.fullmatch(before) is not None)

    def _following_word(self, k: int) -> str:
        """Return the first of the next four words that begins with a letter or digit; "" if there is none."""
        return next((text for text in self.texts[k + 1 : k + 5] if text[0].isalnum()), "")

    def _tells_speaker(self, k: int) -> bool:
        """Return whether one of the next three words is a verb of speech such as "said"."""
        return not _SPEECH_VERBS.isdisjoint(text.lower() for text in self.texts[k + 1 : k + 4])


def _is_first_word(text: str) -> bool:
    """Return whether a word is capitalized and is listed among the words that often begin sentences."""
    return text[:1].isupper() and text.lower() in _FIRST_WORDS


def _is_stop_mark(text: str) -> bool:
    return text in _STOPS or _STOP_RUN.fullmatch(text) is not None or _REFERENCE.fullmatch(text) is not None
