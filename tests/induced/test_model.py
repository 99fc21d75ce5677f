"""Models that were learned from raw text: what they save, and what they refuse to read."""

import numpy as np
import pytest
from stored_models import SENTENCE, model

from spacy_lpcfg.induced.model import Induced
from spacy_lpcfg.parsing.model import ModelError
from spacy_lpcfg.storage.container import pack


def test_model_keeps_all_of_its_members():
    induced = model("induced")
    again = Induced.from_bytes(induced.to_bytes())
    for member, same in zip(induced.members, again.members, strict=True):
        assert same.tags.tags(SENTENCE) == member.tags.tags(SENTENCE)
        assert same.tags.fine(SENTENCE) == member.tags.fine(SENTENCE)
        assert same.grammar.vocabulary == member.grammar.vocabulary
    np.testing.assert_array_equal(again.posteriors([SENTENCE])[0], induced.posteriors([SENTENCE])[0])


def test_model_averages_posteriors():
    induced = model("induced")
    both = [member.posteriors([SENTENCE])[0] for member in induced.members]
    np.testing.assert_allclose(induced.posteriors([SENTENCE])[0], (both[0] + both[1]) / 2)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_members", 0),
        ("n_members", 3),
        ("0.words", ("a", "a", "b")),
        ("0.tags", ("C1", "C2")),
        ("0.names", '{"C1": 1}'),
        ("1.root", np.ones((3, 1)) / 3),
        ("1.root", np.array([1.0, 0.0, 0.0])),
    ],
)
def test_model_refuses_what_is_inconsistent(field, value):
    values = {**model("induced").to_values(), field: value}
    with pytest.raises(ModelError):
        Induced.from_bytes(pack(Induced.kind, Induced.version, values))
