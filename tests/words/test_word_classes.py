"""Classes of words from raw text."""

import numpy as np
import pytest

from spacy_lpcfg.words.learning import learn_classes

SLOTS = [["the", "a", "this"], ["zib", "zob", "zub", "zyb"], ["zab", "zeb", "zaab"]]
ORDER = [0, 1, 2, 0, 1]


def text(n: int = 300, seed: int = 0) -> tuple[tuple[str, ...], ...]:
    """Sentences of one pattern, in which words of a slot are exchangeable."""
    rng = np.random.default_rng(seed)
    return tuple(tuple(str(rng.choice(SLOTS[k])) for k in ORDER) for _ in range(n))


CLASSES = learn_classes(text(), 3)


def test_words_of_a_slot_are_a_class():
    found = [{CLASSES.of(word) for word in slot} for slot in SLOTS]
    assert sorted(map(tuple, found)) == [(1,), (2,), (3,)]
    assert CLASSES.n_classes == 4
    assert CLASSES.of("unheard") == CLASSES.of("") == 0
    assert CLASSES.of("Zib") == CLASSES.of("zib")


def test_capitals_of_beginnings_and_digits_do_not_count():
    capitals = [(words[0].capitalize(), *words[1:-1], f"{i}0", "Rome") for i, words in enumerate(text(200))]
    found = learn_classes(capitals, 4)
    assert {"the", "zib", "00", "000", "Rome"} <= set(found.words)
    assert not {"The", "rome"} & set(found.words)
    assert found.of("37") == found.of("00") != 0


@pytest.mark.parametrize("lines", [(), ((),), (("one", "line", "of", "text"),)])
def test_too_little_text_is_told(lines):
    with pytest.raises(ValueError, match=r"Expected at least 64 different words.*got 0 in .* Give more text"):
        learn_classes(lines, 64)
    with pytest.raises(ValueError, match="at least 2 classes"):
        learn_classes(text(), 1)
