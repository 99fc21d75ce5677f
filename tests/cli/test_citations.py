"""Where sentences and words stand: the same fields from every command, and the characters that the server gives."""

import csv

import pytest
import spacy
from commands import json_in, run
from spacy.tokens import DocBin

from spacy_lpcfg.components.cli.shared.pipelines import load_pipeline
from spacy_lpcfg.components.serve.corenlp import CoreNLP

TEXT = 'She "left" (early).\n\n  It rained.  We stayed.\n'
PLACE = ("file", "document", "line", "sentence", "sent_id")
CONLLU = """\
# sent_id = fr.7
# text = Il parle du chat.
1	Il	il	PRON	_	_	2	nsubj	_	_
2	parle	parler	VERB	_	_	0	root	_	_
3-4	du	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	5	case	_	_
4	le	le	DET	_	_	5	det	_	_
5	chat	chat	NOUN	_	_	2	obl	_	SpaceAfter=No
6	.	.	PUNCT	_	_	2	punct	_	_

"""


@pytest.fixture
def file(new_file):
    return new_file("t.txt", TEXT)


def table(*command: object) -> list[dict[str, str]]:
    return [*csv.DictReader(run(*command, "--format", "csv").stdout.splitlines())]


def test_citations_are_those_of_the_server(pcfg_model, file):
    sentences = json_in(run("parse", pcfg_model, file, "--format", "jsonl").stdout)
    nlp = load_pipeline(str(pcfg_model))
    served = CoreNLP(nlp, nlp.get_pipe("lpcfg_parser")).annotate(TEXT, {"ssplit.eolonly": "true"})["sentences"]
    offsets = [
        (token["characterOffsetBegin"], token["characterOffsetEnd"]) for each in served for token in each["tokens"]
    ]
    found = [pair for each in sentences for pair in zip(each["start_chars"], each["end_chars"], strict=True)]
    assert found == offsets
    for each in sentences:
        assert [TEXT[s:e] for s, e in zip(each["start_chars"], each["end_chars"], strict=True)] == each["words"]
        for part in (each, *each["spans"]):
            assert part["text"] == TEXT[part["start_char"] : part["end_char"]]
    assert [[each[name] for name in PLACE] for each in sentences] == [
        [str(file), 1, 1, 1, None],
        [str(file), 1, 3, 2, None],
        [str(file), 1, 3, 3, None],
    ]
    assert [each["text"] for each in sentences] == ['She "left" (early).', "It rained.", "We stayed."]


def test_citations_of_all_commands_agree(pcfg_model, file):
    sentences = json_in(run("parse", pcfg_model, file, "--format", "jsonl").stdout)
    surprisals = json_in(run("surprisal", pcfg_model, file, "--format", "jsonl").stdout)
    shared = [*PLACE, "start_char", "end_char", "text", "words", "start_chars", "end_chars"]
    assert [[each[name] for name in shared] for each in sentences] == [
        [each[name] for name in shared] for each in surprisals
    ]
    (whole, *_) = json_in(run("search", "S", file, "--model", pcfg_model, "--format", "jsonl").stdout)
    assert [whole[name] for name in shared[:8]] == [sentences[0][name] for name in shared[:8]]
    assert whole["context"] == whole["text"]
    expected = {name: "" if value is None else str(value) for name, value in whole.items()}
    for command in (("parse", pcfg_model, file), ("search", "S", file, "--model", pcfg_model)):
        assert [table(*command)[0][name] for name in shared[:8]] == [expected[name] for name in shared[:8]]
    assert [table("surprisal", pcfg_model, file)[0][name] for name in ("line", "start_char", "end_char")] == [
        "1",
        "0",
        "3",
    ]
    shown = run("search", "PRP", file, "--model", pcfg_model).stdout.splitlines()
    assert [" ".join(line.split()) for line in shown] == ['1 [She] "left" (early).', "2 [It] rained.", "3 [We] stayed."]
    named = json_in(run("search", "S < (VP=vp < VBD)", file, "--model", pcfg_model, "--format", "jsonl").stdout)
    for match in named:
        vp = match["names"]["vp"]
        assert vp["text"] == TEXT[vp["start_char"] : vp["end_char"]]


def test_citations_have_the_ids_of_sentences_and_the_text_of_conllu(pcfg_model, tmp_path):
    path, docs, again = tmp_path / "a.conllu", tmp_path / "a.spacy", tmp_path / "b.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    (parsed,) = json_in(run("parse", pcfg_model, path, "--input", "trees", "--format", "jsonl").stdout)
    (found,) = json_in(run("search", "NP < DET", path, "--format", "jsonl").stdout)
    assert (parsed["sent_id"], parsed["text"]) == ("fr.7", "Il parle du chat.")
    assert (parsed["start_chars"], parsed["end_chars"]) == ([0, 3, 9, 9, 12, 16], [2, 8, 11, 11, 16, 17])
    assert (found["sent_id"], found["context"], found["text"]) == ("fr.7", "Il parle du chat.", "du chat")
    run("parse", pcfg_model, path, "--input", "trees", "-o", docs)
    for command in (("parse", pcfg_model), ("surprisal", pcfg_model)):
        (of_docs,) = json_in(run(*command, docs, "--format", "jsonl").stdout)
        assert [of_docs[name] for name in ("sent_id", "text", "end_chars")] == [
            parsed[name] for name in ("sent_id", "text", "end_chars")
        ]
    run("convert", docs, "-o", again)
    lines = again.read_text("utf-8").splitlines()
    assert lines[:2] == ["# sent_id = fr.7", "# text = Il parle du chat."]
    assert lines[4] == "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_"
    assert [line.partition("\t")[0] for line in lines if line.endswith("SpaceAfter=No")] == ["5"]
    (tmp_path / "ids.mrg").write_text("( (NP (NN Rain)) (ID CHAP1.5,3))\n", encoding="utf-8")
    run("convert", tmp_path / "ids.mrg", "-o", tmp_path / "ids.jsonl")
    for name in ("ids.mrg", "ids.jsonl"):
        run("convert", tmp_path / name, "-o", tmp_path / f"{name}.spacy")
    for name in ("ids.mrg", "ids.mrg.spacy", "ids.jsonl.spacy"):
        (rain,) = table("search", "NN", tmp_path / name)
        assert (rain["sent_id"], rain["text"]) == ("CHAP1.5,3", "Rain")


def test_citations_of_docs_have_their_numbers_and_ids(pcfg_model, tmp_path):
    nlp = spacy.blank("en")
    texts = [nlp("It rained."), nlp("We stayed. It left.")]
    texts[0].user_data["sent_ids"] = ["a.1"]
    DocBin(docs=texts, store_user_data=True).to_disk(tmp_path / "a.spacy")
    found = json_in(run("parse", pcfg_model, tmp_path / "a.spacy", "--format", "jsonl").stdout)
    assert [(each["document"], each["sentence"], each["sent_id"], each["start_char"]) for each in found] == [
        (1, 1, "a.1", 0),
        (2, 2, None, 0),
        (2, 3, None, 11),
    ]
