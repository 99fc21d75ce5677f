"""The benchmark of reading times joins words, tokens and times, and finds a regression."""

import csv
import json
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from paths import ROOT, SAMPLE

from benchmarks.papers import reading_times
from spacy_lpcfg.chart import Parser
from spacy_lpcfg.learning import Pivot
from spacy_lpcfg.trees import read_trees

WORDS = {1: ["We", "don't", "know", "it.", "'Go", "home.'"], 2: ["A", "half-read", "book", "fell."]}
TREES = """
(ROOT (S (NP (PRP We/1.1)) (VP (VBP do/1.2.1) (RB n't/1.2.2) (VP (VB know/1.3) (NP (PRP it/1.4.1)))) (. ./1.4.2)))
(ROOT (S (`` `/1.5.1) (NP (-NONE- *)) (VP (VB Go/1.5.2) (NP (NN home/1.6.1))) (. ./1.6.2) ('' '/1.6.3)))
(ROOT (S (NP (DT A/2.1) (JJ half-read/2.2.word) (NN book/2.3)) (VP (VBD fell/2.4.1)) (. ./2.4.2)))
"""


def write(path: Path, header: list[str], rows: list[list[object]], delimiter: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


@pytest.fixture
def stories(tmp_path) -> Path:
    places = [(story, i, word) for story, words in WORDS.items() for i, word in enumerate(words, start=1)]
    lines = [f"{story}.{i}.whole\t{word}\n{story}.{i}.word\t{word}\n" for story, i, word in places]
    (tmp_path / "words.tsv").write_text("".join(lines), encoding="utf-8")
    trees = tmp_path / "parses" / "penn" / "all-parses-aligned.txt.penn"
    trees.parent.mkdir(parents=True)
    trees.write_text(TREES, encoding="utf-8")
    means = [[word, i, story, 300 + 10 * story + i] for story, i, word in places]
    write(tmp_path / "naturalstories_RTS" / reading_times.MEANS, ["word", "zone", "item", "meanItemRT"], means, "\t")
    tokens = [[f" {word}" if i > 1 else word, "" if i == 1 else -np.log(2) * i, story - 1] for story, i, word in places]
    tokens[1:2] = [[" do", -np.log(2), 0], ["n't", -np.log(2), 0]]
    write(tmp_path / "probs" / "all_stories_gpt3.csv", ["token", "logprob", "story"], tokens, ",")
    return tmp_path


def test_reading_times_are_those_of_the_word_after(stories):
    """Means were made before the corpus was corrected; the corrected times of readers go before them."""
    corpus = reading_times.read_corpus(stories)
    assert corpus.texts == [word for words in WORDS.values() for word in words]
    assert corpus.tokens[1] == ["do", "n't"]
    assert corpus.tokens[5] == ["home", ".", "'"]
    assert corpus.sentences == [[0, 1, 2, 3], [4, 5], [6, 7, 8, 9]]
    np.testing.assert_array_equal(corpus.times, [np.nan, 311, 312, 313, 314, 315, np.nan, 321, 322, 323])
    rows = [["We", 1, 1, 200], ["We", 1, 1, 300], ["fell.", 4, 2, 150]]
    write(stories / "naturalstories_RTS" / reading_times.TIMES, ["word", "zone", "item", "RT"], rows, "\t")
    times = reading_times.read_corpus(stories).times
    assert (times[0], times[9], np.isnan(times).sum()) == (250, 150, 8)


def test_reading_times_need_a_tree_over_each_word(stories):
    path = stories / "parses" / "penn" / "all-parses-aligned.txt.penn"
    path.write_text(TREES.replace("(NN book/2.3)", ""), encoding="utf-8")
    with pytest.raises(ValueError, match=r"without a tree: .*story=2, word=3"):
        reading_times.read_corpus(stories)


def test_reading_times_join_the_tokens_of_gpt3(stories):
    corpus = reading_times.read_corpus(stories)
    np.testing.assert_allclose(reading_times.gpt3(stories, corpus), [0, 2, 3, 4, 5, 6, 0, 2, 3, 4])
    corpus.texts[2] = "knew"
    with pytest.raises(ValueError, match="Expected the words of"):
        reading_times.gpt3(stories, corpus)


def test_reading_times_add_up_the_surprisal_of_tokens(stories):
    """The parts of a grammar's surprisal add up to it, too; that of Brown's words is of "don't" as one."""
    corpus = reading_times.read_corpus(stories)
    grammar = Pivot(n_states=2, n_iterations=0).fit(read_trees(SAMPLE / "train.mrg"))
    bits, parts = reading_times.by_grammar(corpus, grammar)
    parser = Parser(grammar)
    for sentence in corpus.sentences:
        tokens = [token for i in sentence for token in corpus.tokens[i]]
        wanted = parser.surprisal(tokens)[:-1]
        if np.isfinite(wanted).all():
            assert bits[sentence].sum() == pytest.approx(wanted.sum())
            np.testing.assert_allclose(parts["syntactic"][sentence] + parts["lexical"][sentence], bits[sentence])
            assert np.all(parts["syntactic"][sentence] >= 0)
    assert np.isfinite(bits[corpus.sentences[0]]).all()
    assert reading_times._rejoined(["We", "do", "n't", ".", "''"]) == (["We", "don't", ".", "''"], [0, 1, 3, 4])


def test_regression_finds_what_slows_readers():
    rng = np.random.default_rng(0)
    n = 2_000
    stories, noise = np.repeat(np.arange(10), n // 10), rng.normal(size=n)
    bits, other = rng.normal(size=(2, n))
    times = 300 + 2 * bits + 3 * np.roll(bits, 1) + noise
    chosen = np.array([i for i in range(n) if i % 200 > 1])
    fitted = reading_times.Regression(times[chosen], stories[chosen], chosen, np.ones((len(chosen), 1)))
    found = reading_times.interval(fitted.gains([bits]))
    assert found[0] == pytest.approx(1000 * 0.5 * np.log(1 + 2**2 + 3**2), rel=0.1)
    assert found[1] < found[0] < found[2]
    assert abs(reading_times.interval(fitted.gains([other]))[0]) < 5
    assert abs(reading_times.interval(fitted.gains([other], [bits]))[0]) < 5
    np.testing.assert_allclose(fitted.effects(fitted.columns([bits])), [2, 3, 0], atol=0.1)


@pytest.fixture
def invented(tmp_path, monkeypatch) -> Path:
    """A folder with ten stories of sample sentences without punctuation, with random times; Brown is the same text."""
    rng = np.random.default_rng(0)
    trees = list(islice(read_trees(SAMPLE / "train.mrg"), 200))
    folder = tmp_path / "naturalstories"
    words, parses, times, tokens, brown = [], [], [], [], []
    for story in range(1, 11):
        number = 0
        for tree in trees[story - 1 :: 10]:
            leaves = [leaf for leaf in tree.leaves() if leaf.word.isalnum()]
            first, number = number + 1, number + len(leaves)
            numbered = list(enumerate(leaves, start=first))
            words += [f"{story}.{i}.whole\t{leaf.word}\n" for i, leaf in numbered]
            parses.append(f"(ROOT {' '.join(f'({leaf.label} {leaf.word}/{story}.{i})' for i, leaf in numbered)})\n")
            times += [[leaf.word, i, story, 300 + rng.normal()] for i, leaf in numbered]
            tokens += [[leaf.word if i == 1 else f" {leaf.word}", -rng.random(), story - 1] for i, leaf in numbered]
            brown.append(" ".join(f"{leaf.word}/{leaf.label}" for leaf in leaves) + "\n")
    write(folder / "naturalstories_RTS" / reading_times.MEANS, ["word", "zone", "item", "meanItemRT"], times, "\t")
    write(folder / "probs" / "all_stories_gpt3.csv", ["token", "logprob", "story"], tokens, ",")
    (folder / "parses" / "penn").mkdir(parents=True)
    (folder / "parses" / "penn" / "all-parses-aligned.txt.penn").write_text("".join(parses), encoding="utf-8")
    (folder / "words.tsv").write_text("".join(words), encoding="utf-8")
    (tmp_path / "brown.txt").write_text("".join(brown), encoding="utf-8")
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_notebook_of_reading_times_runs(invented, capsys):
    """Cell by cell on invented times, since the real ones may not be copied; it is stored without what it printed."""
    notebook = json.loads((ROOT / "examples" / "reading_times.ipynb").read_text("utf-8"))
    namespace: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            exec(compile("".join(cell["source"]), "reading_times.ipynb", "exec"), namespace)
    printed = capsys.readouterr().out
    assert [line.split(" nats")[0].split()[-2:-1] for line in printed.splitlines() if " nats, " in line] == [
        ["Brown"],
        ["Brown"],
        ["en"],
        ["GPT-3"],
    ]
    (invented / "naturalstories").rename(invented / "elsewhere")
    with pytest.raises(FileNotFoundError, match="Clone the reading times first"):
        exec("".join(notebook["cells"][1]["source"]), {})
