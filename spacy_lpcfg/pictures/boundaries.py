"""Drawings of prosodic boundaries: a bar after each word, which is longer the stronger the boundary there is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spacy_lpcfg.pictures.drawing import BLUE, draw_text, is_right_to_left, svg_element, text_width
from spacy_lpcfg.queries.boundaries import SENTENCE_END, Boundary

_GAP = 14.0  # between words
_TOP, _STEP = 28.0, 9.0  # where bars begin, and their length for each level


def boundaries_svg(words: Sequence[str], boundaries: Sequence[Boundary]) -> str:
    """Draw the words of a sentence with a bar at each prosodic boundary.

    The length of a bar shows the level of the boundary (1 to 4), the number beside it the salience (its index in the
    prosodic tree).

    words (sequence of str, (n_words,)): The words of the sentence.
    boundaries (sequence of Boundary, (n_words,)): The boundary after each word.
    RETURNS (str): An SVG element, which can also be saved as a file.
    """
    edges = list(accumulate((text_width(word, 15.0) + _GAP for word in words), initial=0.0))
    drawn, back = [], -1 if is_right_to_left(words) else 1
    if back == -1:
        edges = [edges[-1] + 4 - edge for edge in edges]
    for word, boundary, before, after in zip(words, boundaries, edges[:-1], edges[1:], strict=True):
        drawn.append(draw_text((before + after) / 2, 14.0, word))
        if boundary.level:
            height = _STEP * boundary.level
            drawn.append(
                f'<rect x="{after - 2:.1f}" y="{_TOP:.0f}" width="4" height="{height:.0f}" rx="2" fill="{BLUE}"/>'
                + draw_text(after - 14 * back, _TOP + height - 5, str(boundary.salience), 'font-size="11"')
            )
    return svg_element(max(edges) + 4, _TOP + _STEP * SENTENCE_END + 4, "".join(drawn), " ".join(words))
