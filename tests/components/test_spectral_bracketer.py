"""The component `spectral_bracketer`: learning from tags, bracketing anything, saving, and the settings."""

from functools import partial

import numpy as np
import pytest
import spacy
from commands import sample_part
from pipelines import SAMPLE, annotations
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lpcfg.bracketing import CCA, SpectralBracketer
from spacy_lpcfg.bracketing.tagged import TaggedSentence, read_tagged
from spacy_lpcfg.bracketing.tags import is_punctuation
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.view import doc_constituency
from spacy_lpcfg.components.spectral_bracketer import BRACKET, KEY
from spacy_lpcfg.components.training.corpus import Treebank
from spacy_lpcfg.components.training.tagged_text import TaggedText, tagged_doc
from spacy_lpcfg.components.training.vocab_vectors import VocabVectors
from spacy_lpcfg.trees import parse_trees

SETTINGS = {"m": 3, "embedding": {"size": 10}}
LEARNER = {"@misc": "spacy-lpcfg.Learner.v1", "name": "bracketer", "variant": "paper", "settings": SETTINGS}
SENTENCES = [
    "Ilse/NNP opened/VBD the/DT bakery/NN at/IN five/CD ,/, because/IN men/NNS wanted/VBD bread/NN ./.",
    "\"/`` Did/VBD you/PRP lock/VB the/DT shed/NN ?/. \"/''",
    "Go/VB",
    "./.",
]


def pipeline(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("spectral_bracketer", config={"learner": LEARNER, "attr": "tag", **config})
    return nlp


def text(limit: int = 300) -> TaggedText:
    return TaggedText(SAMPLE / "train.mrg", limit=limit)


def sentence_of(line: str) -> TaggedSentence:
    return TaggedSentence(*zip(*(item.rsplit("/", 1) for item in line.split()), strict=True))


@pytest.fixture(scope="module")
def nlp():
    nlp = pipeline()
    nlp.initialize(lambda: text()(nlp))
    return nlp


def docs_of(nlp) -> list[Doc]:
    """Some Docs of one sentence, one of two with white space, and one without words."""
    docs = [tagged_doc(nlp.vocab, sentence_of(line)) for line in SENTENCES]
    words = ["\n", "The", "ferry", " ", "left", ".", "Who", "sold", "it", "?"]
    tags = ["_SP", "DT", "NN", "_SP", "VBD", ".", "WP", "VBD", "PRP", "."]
    docs.append(Doc(nlp.vocab, words=words, tags=tags, sent_starts=[i in (0, 6) for i in range(10)]))
    return [*docs, Doc(nlp.vocab), Doc(nlp.vocab, words=["\n"], sent_starts=[1])]


def test_bracketer_brackets_as_the_library_does_with_what_it_learned(nlp):
    learner = SpectralBracketer.variant("paper", m=3, embedding=CCA(size=10, roots=False))
    sentences = [sentence for _, sentence in zip(range(300), read_tagged(SAMPLE / "train.mrg"), strict=False)]
    library = learner.fit(lambda: sentences)
    for sentence in sentences[:20]:
        doc = nlp(tagged_doc(nlp.vocab, sentence))
        wanted = library.bracket(*sentence)
        assert [(span.start, span.end) for span in doc.spans[KEY]] == list(wanted.spans)
        assert doc.spans[KEY].attrs["scores"].tolist() == pytest.approx(wanted.scores)
        assert nlp.get_pipe("spectral_bracketer").bracket(*sentence) == wanted


def test_bracketer_learns_from_a_stream(nlp):
    """The text is read from the start each time, and what was read is not kept."""
    seen = []

    def examples():
        seen.append(0)
        for eg in text()(nlp):
            seen[-1] += 1
            yield eg

    other = pipeline()
    other.initialize(examples)
    assert set(seen[1:]) <= {1, 300}
    assert 300 in seen
    for one, same in zip(nlp.pipe(docs_of(nlp)), other.pipe(docs_of(other)), strict=True):
        assert annotations(one) == annotations(same)


def test_bracketer_never_sees_brackets(nlp):
    """Trees of the reference Docs make no difference, whatever they are."""
    other = pipeline()
    other.initialize(lambda: Treebank(SAMPLE / "train.mrg", limit=300, gold_tags=True)(other))
    for one, same in zip(nlp.pipe(docs_of(nlp)), other.pipe(docs_of(other)), strict=True):
        assert annotations(one) == annotations(same)


def test_bracketer_learns_from_universal_tags():
    nlp = pipeline(attr="pos")
    nlp.initialize(lambda: text(150)(nlp))
    doc = nlp(tagged_doc(nlp.vocab, sentence_of(SENTENCES[0])))
    assert doc.spans[KEY].attrs["tags"][:3] == ["PROPN", "VERB", "DET"]
    assert trees(doc, KEY)[0].tags[:3] == ["PROPN", "VERB", "DET"]


def test_bracketer_takes_a_text_of_its_own(nlp, tmp_path):
    streamed = pipeline()
    sample_part(tmp_path / "text", "train", 300)
    streamed.config["training"]["max_epochs"] = -1
    streamed.config["initialize"]["components"]["spectral_bracketer"] = {
        "sentences": {"@readers": "spacy-lpcfg.tagged_sentences.v1", "path": str(tmp_path / "text")}
    }
    streamed.initialize()
    for mine, theirs in zip(nlp.pipe(docs_of(nlp)), streamed.pipe(docs_of(streamed)), strict=True):
        assert annotations(mine) == annotations(theirs)


def test_bracketer_uses_the_vectors_of_the_vocabulary():
    settings = {**SETTINGS, "embedding": {"@misc": "spacy-lpcfg.VocabVectors.v1", "size": 8}}
    nlp = pipeline(learner={**LEARNER, "settings": settings})
    with pytest.raises(match="has none"):
        nlp.initialize(lambda: text(100)(nlp))
    random = np.random.default_rng(0)
    vectors = {}
    for sentence in read_tagged(SAMPLE / "train.mrg"):
        for word in sentence.words:
            if word not in vectors:
                vectors[word] = random.normal(size=12).astype(np.float32)
                nlp.vocab.set_vector(word, vectors[word])
    found = VocabVectors(8).of(nlp.vocab)
    assert all(np.array_equal(vectors[word], row) for word, row in zip(found.words, found.vectors, strict=True))
    assert len(found.words) == len(vectors)
    nlp.initialize(lambda: text(100)(nlp))
    assert nlp.get_pipe("spectral_bracketer").learner.embedding == VocabVectors(8)
    assert nlp(docs_of(nlp)[0]).spans[KEY]


def test_bracketer_without_text_says_what_it_needs():
    nlp = pipeline()
    with pytest.raises(ValueError, match=r"found no text.*TaggedText\.v1"):
        nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["\n"]), Doc(nlp.vocab, words=["\n"]))])
    with pytest.raises(ValueError, match=r"no tags to learn from.*token\.tag_\. Give nlp\.initialize get_examples"):
        nlp.initialize()
    with pytest.raises(ValueError, match="no bracketer yet"):
        nlp.get_pipe("spectral_bracketer").bracket(["Go"], ["VB"])
    with pytest.raises(ValueError, match="Expected"):
        nlp.initialize(lambda: text(2)(nlp))


def test_bracketer_has_one_label(nlp):
    component = nlp.get_pipe("spectral_bracketer")
    assert component.labels == (BRACKET,)
    other = pipeline()
    other.config["initialize"]["components"]["spectral_bracketer"] = {"labels": ["NP"]}
    with pytest.raises(ValueError, match="among the labels"):
        other.initialize(lambda: text(3)(other))


def test_bracketer_writes_trees_that_others_read(nlp):
    doc = nlp(docs_of(nlp)[0])
    (tree,) = trees(doc, KEY)
    assert tree.words == [token.text for token in doc]
    assert tree.tags == [token.tag_ for token in doc]
    assert list(parse_trees(str(tree))) == [tree]
    (root,) = doc_constituency(doc, KEY)
    assert [child.label for child in root.children] == [BRACKET, "."]
    assert root.children[0].probability == 1
    nodes = [node for node in root.nodes() if node.labels]
    assert len(nodes) == len(doc.spans[KEY]) == 9
    spans = [(span.start, span.end) for span in doc.spans[KEY]]
    assert spans == sorted(set(spans), key=lambda span: (span[0], -span[1]))


def test_bracketer_brackets_are_binary_and_end_with_words(nlp):
    for doc in nlp.pipe(docs_of(nlp)):
        scores = doc.spans[KEY].attrs["scores"]
        assert (scores.dtype, len(scores)) == (np.float32, len(doc.spans[KEY]))
        assert np.all((scores >= 0) & (scores <= 1))
        for sent in doc.sents if len(doc) else ():
            words = [t for t in sent if not t.is_space and not is_punctuation(t.tag_, t.text)]
            inside = [span for span in doc.spans[KEY] if sent.start <= span.start < sent.end]
            assert len(inside) == max(len(words) - 1, 0)
            for span in inside:
                assert {span[0].i, span[-1].i} <= {word.i for word in words}
            if len(words) > 1:
                assert (inside[0].start, inside[0].end) == (words[0].i, words[-1].i + 1)


def test_bracketer_says_which_sentences_are_empty(nlp):
    status = [doc.spans[KEY].attrs["status"] for doc in nlp.pipe(docs_of(nlp))]
    assert status == [["parsed"], ["parsed"], ["parsed"], ["parsed"], ["parsed", "parsed"], [], ["empty"]]


@pytest.mark.parametrize(
    ("words", "tags"),
    [
        (["Go"], ["VB"]),
        (["Go", "home"], ["VB", "NN"]),
        (["."], ["."]),
        (["(", ")", "--", "!"], ["-LRB-", "-RRB-", ":", "."]),
        (["a", "b", "c"], ["", "NEVERSEEN", "\u00e9"]),
        (["a", "b", "c"], ["NEVERSEEN"] * 3),
        (["\x00", "\U0001f600", "\ud7ff", "a" * 10_000], ["NN", "SYM", "FW", "NN"]),
        (["the", "old", "ferry", "and"] * 250, ["DT", "JJ", "NN", "CC"] * 250),
        (["a", ","] * 500, ["NN", ","] * 500),
        (["a"] * 1000, ["X"] * 1000),
    ],
)
def test_bracketer_never_fails_on_a_sentence(nlp, words, tags):
    doc = Doc(nlp.vocab, words=words, tags=tags, sent_starts=[i == 0 for i in range(len(words))])
    doc = nlp(doc)
    (tree,) = trees(doc, KEY)
    assert len(tree) == len(words)
    assert np.all(np.isfinite(doc.spans[KEY].attrs["scores"]))


def test_bracketer_maps_tags_when_it_learns_and_when_it_brackets(tmp_path):
    names = {"NN": "noun", "NNS": "noun", "NNP": "noun", "DT": "det", "VBD": "verb"}
    back = {"noun": "NOUN", "det": "DET", "verb": "VERB"}
    foreign, plain = pipeline(), pipeline()
    (tmp_path / "map").write_text("\n".join(map(" ".join, back.items())), encoding="utf-8")
    foreign.config["initialize"]["components"]["spectral_bracketer"] = {
        "mapping": {"@readers": "spacy-lpcfg.tag_map.v1", "path": str(tmp_path / "map")}
    }
    same = {tag: back[name] for tag, name in names.items()}

    def examples(nlp, mapping):
        for sentence in read_tagged(SAMPLE / "dev.mrg"):
            doc = tagged_doc(nlp.vocab, TaggedSentence(sentence.words, tuple(mapping.get(t, t) for t in sentence.tags)))
            yield Example(doc.copy(), doc)

    foreign.initialize(partial(examples, foreign, names))
    plain.initialize(partial(examples, plain, same))
    seen: set[str] = set()
    for eg, other in zip(examples(foreign, names), examples(plain, same), strict=True):
        assert annotations(foreign(eg.predicted))[:-1] == annotations(plain(other.predicted))[:-1]  # other tags
        seen.update(token.tag_ for token in eg.predicted)
    assert set(names.values()) < seen
    component = foreign.get_pipe("spectral_bracketer")
    assert component.bracket(["a", "b", "c"], ["det", "noun", "verb"]) == component.bracket(
        ["a", "b", "c"], ["DET", "NOUN", "VERB"]
    )


def test_bracketer_saves_any_mapping(with_settings, tmp_path):
    mapping = {tag: "PUNCT" for tag in ["$,", "$(", ":", "=", "#", ";", "``", "[", "@", '"', "A B", "\u00e9"]}
    nlp = with_settings()
    nlp.get_pipe("spectral_bracketer").mapping = mapping
    nlp.to_disk(tmp_path / "model")
    for loaded in (spacy.load(tmp_path / "model"), pipeline().from_bytes(nlp.to_bytes())):
        component = loaded.get_pipe("spectral_bracketer")
        assert component.mapping == mapping
        assert component.bracket(["a", "-", "b"], ["NN", "=", "NN"]).spans == ((0, 3),)


def test_bracketer_cuts_no_sentence_whose_mapped_tags_make_it_short(with_settings):
    nlp = with_settings()
    component = nlp.get_pipe("spectral_bracketer")
    component.max_words, component.mapping = 3, {"?": "PUNCT"}
    words = ["a", "-", "b", "-", "c"]
    doc = nlp(Doc(nlp.vocab, words=words, tags=["NN", "?", "NN", "?", "NN"], sent_starts=[1, 0, 0, 0, 0]))
    assert doc.spans[KEY].attrs["status"] == ["parsed"]


def test_bracketer_scores_a_pipeline(nlp):
    examples = list(Treebank(SAMPLE / "dev.mrg", limit=40, gold_tags=True)(nlp))
    scores = nlp.evaluate(examples)
    assert scores["brackets_n_sentences"] == 40
    assert 0.1 < scores["brackets_f"] == scores[f"spans_{KEY}_f"] < scores["brackets_f_with_sentence"] < 1
    assert 0.1 < scores["brackets_sentence_f"] < scores["brackets_sentence_f_with_sentence"] < 1


def test_bracketer_stands_beside_a_parser(nlp, sample_grammar):
    """The parser tags, and the bracketer takes its tags."""
    both = pipeline()
    both.add_pipe("lpcfg_sentencizer", first=True)
    both.add_pipe("lpcfg_parser", before="spectral_bracketer").learned = sample_grammar
    both.get_pipe("spectral_bracketer").learned = nlp.get_pipe("spectral_bracketer").learned
    doc = both("The old ferry was sold. Who left?")
    assert set(doc.spans) == {"constituents", KEY}
    assert [tree.tags for tree in trees(doc)] == [tree.tags for tree in trees(doc, KEY)]
    assert doc._.constituency[0].label == "S"
