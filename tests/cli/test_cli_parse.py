"""`parse` reads and writes Docs, JSON lines and tables, n-best trees and marginals, in several processes."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
import spacy
from commands import RUNNER, json_in, run, stderr_of, trees_in
from spacy.tokens import DocBin

from spacy_lpcfg.components.cli import lpcfg_cli
from spacy_lpcfg.components.doc.read import trees
from spacy_lpcfg.components.doc.tree_group import KEY
from spacy_lpcfg.trees import parse_trees, read_trees

TEXT = "The shop (open every day) sells tools. Did you see it?\n\nIt rained.\n"
WORDS = [
    ["The", "shop", "(", "open", "every", "day", ")", "sells", "tools", "."],
    ["Did", "you", "see", "it", "?"],
    ["It", "rained", "."],
]


def table_in(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)]


@pytest.fixture(scope="module")
def parses(pcfg_model):
    """The Docs of the text by the library, and the component."""
    nlp = spacy.load(pcfg_model)
    return list(nlp.pipe(filter(None, TEXT.splitlines()))), nlp.get_pipe("lpcfg_parser")


def test_cli_parse_json_has_what_docs_have(pcfg_model, parses):
    found = json_in(run("parse", pcfg_model, "-", "--format", "jsonl", text=TEXT).stdout)
    docs, _ = parses
    assert [each["words"] for each in found] == WORDS
    sentences = [tree for doc in docs for tree in trees(doc)]
    assert [each["tree"] for each in found] == [str(tree) for tree in sentences]
    assert [each["tags"] for each in found] == [tree.tags for tree in sentences]
    for each, tree in zip(found, sentences, strict=True):
        assert [(span["start"], span["end"], span["label"]) for span in each["spans"]] == tree.spans()
        assert each["status"] == "parsed"
        assert "n_best" not in each
    scores = [span["score"] for each in found for span in each["spans"]]
    wanted = np.concatenate([doc.spans[KEY].attrs["scores"] for doc in docs])
    np.testing.assert_allclose(scores, wanted, atol=1e-6)
    logs = np.concatenate([doc.spans[KEY].attrs["log_probabilities"] for doc in docs])
    np.testing.assert_allclose([each["log_probability"] for each in found], logs)
    probabilities = [root.probability for doc in docs for root in doc._.constituency]
    np.testing.assert_allclose([each["probability"] for each in found], probabilities)


def test_cli_parse_table_has_a_row_for_each_span(pcfg_model):
    found = json_in(run("parse", pcfg_model, "-", "--format", "jsonl", text=TEXT).stdout)
    rows = table_in(run("parse", pcfg_model, "-", "--format", "tsv", text=TEXT).stdout)
    columns = "file document line sentence sent_id start end label score start_char end_char text"
    assert [*rows[0]] == columns.split()
    wanted = [({**each, **span}, span["score"]) for each in found for span in each["spans"]]
    for row, (span, score) in zip(rows, wanted, strict=True):
        assert float(row.pop("score")) == pytest.approx(score, abs=1e-5)
        assert row == {name: "" if span[name] is None else str(span[name]) for name in row}


def test_cli_parse_spells_words_of_text_as_a_treebank_does_and_given_ones_as_they_came(pcfg_model):
    text = '“ Go ” ‘ now ’ " ( [ {\n'
    came = text.split()
    (of_text,) = json_in(run("parse", pcfg_model, "-", "--format", "jsonl", text=text).stdout)
    (of_tokens,) = json_in(run("parse", pcfg_model, "-", "--input", "tokens", "--format", "jsonl", text=text).stdout)
    assert of_text["words"] == of_tokens["words"] == came
    (tree,) = trees_in(of_text["tree"])
    assert tree.words == ["``", "Go", "''", "‘", "now", "’", "``", "-LRB-", "-LSB-", "-LCB-"]
    (tree,) = trees_in(of_tokens["tree"])
    assert tree.words == [*came[:-3], "-LRB-", "[", "{"]


def test_cli_parse_keeps_empty_sentences_of_words(pcfg_model):
    text = "It rained .\n\nIt left\n"
    first, empty, last = json_in(
        run("parse", pcfg_model, "-", "--input", "tokens", "--format", "jsonl", text=text).stdout
    )
    assert (first["words"], last["words"]) == (["It", "rained", "."], ["It", "left"])
    assert empty == {
        "file": "<stdin>", "document": 1, "line": 2, "sentence": 2, "sent_id": None,
        "start_char": 12, "end_char": 12, "text": "", "start_chars": [], "end_chars": [],
            "words": [], "tags": [], "tree": None, "spans": [], "status": "empty", "log_probability": None,
            "probability": None,
    }  # fmt: skip
    rows = table_in(run("parse", pcfg_model, "-", "--input", "tokens", "--format", "tsv", text=text).stdout)
    assert {row["sentence"] for row in rows} == {"1", "3"}


def test_cli_parse_n_best_are_those_of_the_component(pcfg_model, parses):
    docs, component = parses
    wanted = [analyses for doc in docs for analyses in component.n_best(doc, 4, tag_variants=False)]
    found = json_in(run("parse", pcfg_model, "-", "--n-best", 4, "--format", "jsonl", text=TEXT).stdout)
    rows = table_in(run("parse", pcfg_model, "-", "--n-best", 4, "--format", "tsv", text=TEXT).stdout)
    blocks = run("parse", pcfg_model, "-", "--n-best", 4, text=TEXT).stdout.split("\n\n")
    assert [*rows[0]][5:10] == ["rank", "probability", "log_probability", "tree", "difference"]
    assert blocks[-1] == ""
    for number, (each, analyses, block) in enumerate(zip(found, wanted, blocks, strict=False), start=1):
        own = [row for row in rows if row["sentence"] == str(number)]
        texts = [str(one.tree) for one in analyses]
        assert [one["tree"] for one in each["n_best"]] == texts
        assert [row["tree"] for row in own] == texts
        assert [line.split("\t")[1] for line in block.splitlines()] == texts
        assert [int(row["rank"]) for row in own] == list(range(1, len(texts) + 1))
        for one, row, line, analysis in zip(each["n_best"], own, block.splitlines(), analyses, strict=True):
            assert one["log_probability"] == pytest.approx(analysis.log_probability)
            assert one["probability"] == pytest.approx(analysis.probability)
            assert float(row["probability"]) == pytest.approx(analysis.probability, rel=1e-5)
            assert float(row["log_probability"]) == pytest.approx(analysis.log_probability, abs=1e-5)
            assert float(line.split("\t")[0]) == pytest.approx(analysis.probability, rel=1e-5)


def test_cli_parse_n_best_say_how_they_differ_from_the_first():
    """By the English model, which has several tags for put."""
    text, options = "They put the pan on the stove in the kitchen.", ("--n-best", 3)
    first = [line.split("\t") for line in run("parse", "en", text, *options).stdout.splitlines() if line]
    assert [len(line) for line in first] == [2, 3, 3]
    assert len({tuple(tree.spans()) for line in first for tree in parse_trees(line[1])}) == 3
    assert "+" in first[1][2]
    (found,) = json_in(run("parse", "en", text, *options, "--format", "jsonl").stdout)
    assert (found["n_best"][0]["added"], found["n_best"][0]["missing"]) == ([], [])
    assert {*found["n_best"][1]["added"][0]} == {"start", "end", "label", "start_char", "end_char", "text"}


def test_cli_parse_marginals_are_those_of_the_component(pcfg_model, parses):
    docs, component = parses
    wanted = [posteriors for doc in docs for posteriors in component.posteriors(doc)]
    found = json_in(run("parse", pcfg_model, "-", "--marginals", "--format", "jsonl", text=TEXT).stdout)
    rows = table_in(run("parse", pcfg_model, "-", "--marginals", "--format", "tsv", text=TEXT).stdout)
    for number, (each, posteriors) in enumerate(zip(found, wanted, strict=True), start=1):
        spans = {(one["start"], one["end"], one["label"]): one["score"] for one in each["marginals"]["spans"]}
        assert spans == pytest.approx(posteriors.brackets, abs=1e-6)
        own = [row for row in rows if row["sentence"] == str(number)]
        table = {(int(row["start"]), int(row["end"]), row["label"]): float(row["score"]) for row in own}
        assert table == pytest.approx(posteriors.brackets, abs=1e-5)
        for of_word, tags in zip(each["marginals"]["tags"], posteriors.tags, strict=True):
            assert of_word == pytest.approx(tags, abs=1e-6)
        for span in each["spans"]:
            assert spans[span["start"], span["end"], span["label"]] == pytest.approx(span["score"], abs=1e-5)


def test_cli_parse_reads_and_writes_docs(pcfg_model, parses, sample_folder, tmp_path):
    docs, _ = parses
    run("parse", pcfg_model, "-", "-o", tmp_path / "text.spacy", text=TEXT)
    found = list(DocBin().from_disk(tmp_path / "text.spacy").get_docs(spacy.blank("en").vocab))
    assert [doc.text for doc in found] == [doc.text for doc in docs]
    assert [trees(doc) for doc in found] == [trees(doc) for doc in docs]
    for one, other in zip(found, docs, strict=True):
        assert one.spans[KEY].attrs["scores"].tolist() == other.spans[KEY].attrs["scores"].tolist()
    again = run("parse", pcfg_model, tmp_path / "text.spacy").stdout
    assert again == run("parse", pcfg_model, "-", text=TEXT).stdout
    data = (tmp_path / "text.spacy").read_bytes()
    result = RUNNER.invoke(lpcfg_cli, ["parse", str(pcfg_model), "-", "--input", "spacy"], input=data)
    assert result.stdout == again
    run("convert", sample_folder / "dev.mrg", "-o", tmp_path / "dev.spacy", "--n-sents", 7)
    run("parse", pcfg_model, tmp_path / "dev.spacy", "-o", tmp_path / "parsed.spacy")
    run("parse", pcfg_model, sample_folder / "dev.mrg", "--input", "trees", "-o", tmp_path / "parsed.mrg")
    docs_f, trees_f = (
        json.loads(run("evaluate", tmp_path / "dev.spacy", tmp_path / f"parsed.{end}", "--json").stdout)["evalb_f"]
        for end in ("spacy", "mrg")
    )
    assert docs_f == pytest.approx(trees_f, abs=1)  # quotation marks are not spelled alike


@pytest.mark.parametrize(
    ("kind", "more"),
    [("text", ()), ("tokens", ("--n-best", 2, "--marginals", "--format", "jsonl")), ("trees", ("--format", "json"))],
)
def test_cli_parse_is_the_same_in_processes(pcfg_model, sample_folder, kind, more):
    """There are more sentences than are parsed at once."""
    trees = sample_folder / "dev.mrg"
    lines = "".join(f"{' '.join(tree.words[:8])}\n" for tree in read_trees(trees)) * 2
    text = trees.read_text("utf-8") * 2 if kind == "trees" else lines
    alone, together = (
        run("parse", pcfg_model, "-", "--input", kind, *more, "--n-process", n, text=text).stdout for n in (1, 2)
    )
    assert alone == together
    assert len(alone.splitlines()) >= 40
    error = run("parse", pcfg_model, "-", "--input", "tagged", "--n-process", 2, text="A/DT\nb\n", code=1).stderr
    assert "<stdin>:2: Expected word/TAG" in error


def test_cli_parse_reads_a_stream(pcfg_model, monkeypatch):
    """No more of the input is taken than the output so far needs, but for a batch or two."""
    from spacy_lpcfg.components.cli.shared import inputs, processes, runs
    from spacy_lpcfg.components.cli.shared.pipelines import find_parser, load_pipeline

    taken = []

    def lines(path):
        for i in range(1000):
            taken.append(i)
            yield "It rained ."

    monkeypatch.setattr(inputs, "read_lines", lines)
    nlp = load_pipeline(str(pcfg_model))
    component = find_parser(nlp)
    next(runs.Run(nlp, component.name, inputs.Source("-", "tokens")).parsed())
    assert len(taken) <= 2 * processes._BATCH


def test_cli_parse_takes_the_first_parser_that_is_not_disabled(pcfg_model, isbn_model, tmp_path):
    nlp = spacy.load(pcfg_model)
    nlp.add_pipe("isbn_parser", source=spacy.load(isbn_model))
    options = ("-", "--input", "tokens", "--format", "jsonl")
    for disabled, model in ((), pcfg_model), (("lpcfg_parser",), isbn_model):
        with nlp.select_pipes(disable=disabled):
            nlp.to_disk(tmp_path / "both")
        found = run("parse", tmp_path / "both", *options, text="It rained .\n").stdout
        assert found == run("parse", model, *options, text="It rained .\n").stdout


def test_cli_parse_writes_brackets_as_json(bracketer_model):
    text = "The/DT dog/NN barked/VBD ./.\n"
    (found,) = json_in(run("parse", bracketer_model, "-", "--format", "jsonl", text=text).stdout)
    assert found["words"] == ["The", "dog", "barked", "."]
    assert {span["label"] for span in found["spans"]} == {"X"}
    assert all(0 <= span["score"] <= 1 for span in found["spans"])
    assert (found["log_probability"], "tag_scores" in found) == (None, False)


# surprisal and sample ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pcfg_model", "isbn_model"])
def test_cli_surprisal_is_that_of_the_component(request, name):
    model = request.getfixturevalue(name)
    nlp = spacy.load(model)
    component = nlp.get_pipe(nlp.pipe_names[-1])
    docs = [nlp.make_doc(line) for line in filter(None, TEXT.splitlines())]
    wanted = [bits for doc in docs for bits in component.surprisals(nlp.get_pipe("lpcfg_sentencizer")(doc))]
    rows = table_in(run("surprisal", model, "-", text=TEXT).stdout)
    assert [*rows[0]][5:] == ["position", "word", "bits", "start_char", "end_char"]
    assert [row["word"] for row in rows] == [word for words in WORDS for word in [*words, "</s>"]]
    assert [row["position"] for row in rows] == [str(i) for words in WORDS for i in range(1, len(words) + 2)]
    np.testing.assert_allclose([float(row["bits"]) for row in rows], np.concatenate(wanted), atol=1e-3)
    for row in rows:
        assert TEXT[int(row["start_char"]) : int(row["end_char"])] == row["word"].replace("</s>", "")
    found = json_in(run("surprisal", model, "-", "--format", "jsonl", "--n-process", 2, text=TEXT).stdout)
    assert [each["words"] for each in found] == WORDS
    for each, bits in zip(found, wanted, strict=True):
        np.testing.assert_allclose([*each["bits"], each["end"]], bits, atol=1e-4)


def test_cli_samples_of_sentences_are_those_of_the_component(pcfg_model, parses):
    docs, component = parses
    wanted = [trees for doc in docs for trees in component.samples(doc, 5, seed=3)]
    blocks = run("sample", pcfg_model, "-", "-n", 5, "--seed", 3, text=TEXT).stdout.split("\n\n")
    assert blocks.pop() == ""
    assert [block.splitlines() for block in blocks] == [[str(tree) for tree in trees] for trees in wanted]


def test_cli_samples_sentences_from_the_grammar(pcfg_model):
    found = run("sample", pcfg_model, "-n", 20, "--max-words", 8, "--seed", 1).stdout
    drawn = trees_in(found)
    assert len(drawn) == 20
    assert all(tree.label != "ROOT" and len(tree) <= 8 for tree in drawn)
    words = run("sample", pcfg_model, "-n", 20, "--max-words", 8, "--seed", 1, "--format", "words").stdout
    assert words.splitlines() == [" ".join(tree.words) for tree in drawn]
    assert found != run("sample", pcfg_model, "-n", 20, "--max-words", 8, "--seed", 2).stdout


def test_cli_parse_takes_a_model_of_the_package_beside_a_folder_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "en-fast").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("parse", "en-fast", "It rained.").stdout.startswith("(S (NP (PRP It))")


# Words between blanks


def test_cli_surprisal_of_words_is_the_sum_of_their_tokens(pcfg_model, tmp_path):
    text = "The shop (open every day)  sells tools. Did you see it?\n"
    tokens = table_in(run("surprisal", pcfg_model, "-", text=text).stdout)
    rows = table_in(run("surprisal", pcfg_model, "-", "--by", "word", text=text).stdout)
    assert [*rows[0]][5:] == ["position", "word", "bits", "previous_bits", "length", "start_char", "end_char"]
    assert [row["word"] for row in rows] == text.split()
    assert [text[int(row["start_char"]) : int(row["end_char"])] for row in rows] == text.split()
    places = [(row["sentence"], row["position"]) for row in rows]
    assert places == [("1", str(i)) for i in range(1, 8)] + [("2", str(i)) for i in range(1, 5)]
    bits = {row["word"]: float(row["bits"]) for row in tokens[:-1]}
    for joined in (["(", "open"], ["day", ")"], ["tools", "."]):
        (row,) = (row for row in rows if row["word"] == "".join(joined))
        assert float(row["bits"]) == pytest.approx(sum(bits[word] for word in joined), abs=2e-4)
    of_words = [row["bits"] for row in rows]
    assert [row["previous_bits"] for row in rows] == ["NA", *of_words[:6], "NA", *of_words[7:10]]
    assert [row["length"] for row in rows][:3] == ["3", "4", "4"]


def test_cli_surprisal_of_words_that_are_given_is_theirs(pcfg_model):
    text = "Did you see it ?\n"
    found = json_in(run("surprisal", pcfg_model, "-", "--input", "tokens", "--format", "jsonl", text=text).stdout)
    by_word = ["surprisal", pcfg_model, "-", "--input", "tokens", "--format", "jsonl", "--by", "word"]
    assert json_in(run(*by_word, text=text).stdout) == found


def test_cli_surprisal_of_words_has_their_frequencies(pcfg_model, new_file):
    counts = new_file("counts.tsv", "did\t8\nIt\t1\nit\t999989\n")
    by_word = ["surprisal", pcfg_model, "-", "--by", "word", "--frequencies", counts]
    rows = table_in(run(*by_word, text="Did you see it?").stdout)
    unseen = math.log10(1e9 / 1_000_000)
    wanted = [unseen + math.log10(9), unseen, unseen, unseen + math.log10(999_991)]
    assert [float(row["zipf"]) for row in rows] == pytest.approx(wanted, abs=1e-4)
    for line in ("word", "word\tx", "\t3", "word\t-1", "word\tnan"):
        counts.write_text(f"a\t1\n{line}\n")
        assert f"{counts}:2: expected a word and its count" in stderr_of(run(*by_word, text="It.", code=1))
    counts.write_text("")
    assert "nothing in it" in run(*by_word, text="It.", code=1).stderr
    assert "--by word" in run("surprisal", pcfg_model, "-", "--frequencies", counts, text="It.", code=2).stderr
    counts.unlink()
    assert "does not exist" in run(*by_word, text="It.", code=2).stderr


# What is sure
