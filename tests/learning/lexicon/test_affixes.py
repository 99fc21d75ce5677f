"""Signatures of unknown words that are learned from a treebank."""

from collections import Counter
from itertools import islice
from math import log

import pytest
from commands import SAMPLE
from hypothesis import given
from hypothesis import strategies as st

from spacy_lpcfg.grammar import Grammar
from spacy_lpcfg.learning import LexicalSettings, TreebankPCFG
from spacy_lpcfg.learning.lexicon.affixes import COST, FEWEST, chosen_affixes
from spacy_lpcfg.models.kinds import make_parser
from spacy_lpcfg.trees import parse_trees, read_trees
from spacy_lpcfg.words.signatures import UNKNOWN, affix_backoff, backoff_of, is_signature, signature_backoff

LEARNED = LexicalSettings(signatures="learned")


@pytest.mark.parametrize(
    ("word", "sentence_initial", "names"),
    [
        ("abc", False, ["abc", "<form:LATIN -bc>", "<form:LATIN -c>", "<form:LATIN>", UNKNOWN]),
        ("Ab", True, ["Ab", "ab", "<form:Init LATIN -b>", "<form:Init LATIN>", "<form:any case LATIN>", UNKNOWN]),
        ("見る", False, ["見る", "<form:CJK HIRAGANA -る>", "<form:CJK HIRAGANA>", UNKNOWN]),
        ("19", False, ["19", "<form:num -9>", "<form:num>", UNKNOWN]),
        ("-LRB-", False, ["-LRB-", "(", "<form:punct>", UNKNOWN]),
        ("", False, ["", "<form:punct>", UNKNOWN]),
    ],
)
def test_affix_backoff_goes_from_the_word_to_the_signature_of_all(word, sentence_initial, names):
    assert affix_backoff(word, sentence_initial) == names


@given(st.text(), st.booleans())
def test_affix_backoff_of_any_text(word, sentence_initial):
    names = affix_backoff(word, sentence_initial)
    assert (names[0], names[-1]) == (word, UNKNOWN)
    assert len(set(names[1:])) == len(names[1:]) <= 10


def slowly_chosen(tags: dict[tuple[str, bool], Counter[str]]) -> set[str]:
    """The definition, name by name: whether it is chosen depends on the next shorter one that is."""
    chains = {key: [name for name in affix_backoff(*key) if is_signature(name)] for key in tags}

    def counts(name: str) -> Counter[str]:
        return sum((tags[key] for key, chain in chains.items() if name in chain), Counter())

    def is_chosen(name: str) -> bool:
        if name == UNKNOWN:
            return True
        chain = next(chain for chain in chains.values() if name in chain)
        nearest = next(each for each in chain[chain.index(name) + 1 :] if is_chosen(each))
        own, broader = counts(name), counts(nearest)
        n, n_all = sum(own.values()), sum(broader.values())
        gain = sum(k * log((k / n) / (broader[tag] / n_all)) for tag, k in own.items())
        return n_all > n >= FEWEST and gain > COST * max(1, len(own) - 1) * log(n) / 2

    return {name for chain in chains.values() for name in chain if is_chosen(name)}


WORDS = st.builds("".join, st.lists(st.sampled_from(["a", "b", "A"]), min_size=1, max_size=4))


@given(
    st.dictionaries(
        st.tuples(WORDS, st.just(False)),
        st.dictionaries(st.sampled_from("NVD"), st.integers(1, 60), min_size=1).map(Counter),
        min_size=1,
        max_size=12,
    )
)
def test_affixes_are_chosen_as_defined(tags):
    assert chosen_affixes(tags) == slowly_chosen(tags)


def test_affixes_are_those_that_tell_tags():
    """-ur is a noun and -ar a verb, whatever is before it; -r tells nothing."""
    words = [
        (f"{first}{second}{end}", tag)
        for first in "bdfg"
        for second in "aeio"
        for end, tag in (("ur", "N"), ("ar", "V"))
    ]
    chosen = chosen_affixes({(word, False): Counter({tag: 5}) for word, tag in words})
    assert chosen == {UNKNOWN, "<form:LATIN -ur>", "<form:LATIN -ar>"}


def test_affixes_of_a_treebank_tell_tags_of_unknown_words():
    nouns = [f"(S (N {first}{second}ur) (V {first}{second}ar))" for first in "bdfgklm" for second in "aeioy"]
    grammar = TreebankPCFG(lexical=LEARNED).fit(parse_trees("\n".join(nouns * 2)))
    parse = make_parser(grammar).parse(["hestur", "ganar"])
    assert parse.tree.tags == ["N", "V"]
    assert grammar.lexicon.terminals[grammar.lexicon.terminal("hestur", False)] == "<form:LATIN -ur>"
    assert make_parser(Grammar.from_bytes(grammar.to_bytes())).parse(["hestur", "ganar"]).tree == parse.tree


def test_affixes_leave_english_grammars_what_they_are():
    trees = list(islice(read_trees(SAMPLE / "train.mrg"), 60))
    english, learned = TreebankPCFG().fit(trees), TreebankPCFG(lexical=LEARNED).fit(trees)
    assert backoff_of(english.lexicon.terminals) is signature_backoff
    assert not any(name.startswith("<form:") for name in english.lexicon.terminals)
    assert not {name for name in learned.lexicon.terminals if name.startswith("<form ")}
