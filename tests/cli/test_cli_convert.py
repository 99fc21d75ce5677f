"""`convert`: trees of sentences with dependencies, and trees that cannot be written."""

import pytest
from commands import SAMPLE, run


def test_cli_convert_makes_trees_of_dependencies_by_a_model(pcfg_model, tmp_path):
    """Of files and folders, in any format."""
    (tmp_path / "corpus").mkdir()
    spoken = tmp_path / "corpus" / "a.conllu"
    rows = [("The", "DET", "DT", 2, "det"), ("ferry", "NOUN", "NN", 3, "nsubj"), ("left", "VERB", "VBD", 0, "root")]
    lines = [
        f"{i}\t{word}\t_\t{part}\t{tag}\t_\t{head}\t{name}\t_\t_"
        for i, (word, part, tag, head, name) in enumerate(rows, start=1)
    ]
    spoken.write_text("\n".join([*lines, ""]))
    by = ("--by", pcfg_model)
    assert "1 tree; left out 0 with local trees" in run("convert", spoken, "-o", tmp_path / "out.mrg", *by).stderr
    assert (tmp_path / "out.mrg").read_text() == "(S (NP (DT The) (NN ferry)) (VP (VBD left)))\n"
    like = tmp_path / "like.mrg"
    for trees, n_unknown in (("(S (NP (DT a) (NN b)) (VP (VBD c)))", 0), ("(S (NN b))", 1)):
        like.write_text(trees)
        done = run("convert", spoken, "-o", tmp_path / "liked.mrg", *by, "--like", like, "--force", code=n_unknown)
        assert f"left out {n_unknown} with local trees" in done.stderr
    run("convert", tmp_path / "corpus", "-o", tmp_path / "out.conllu", *by)
    assert "ferry\t_\tNOUN\tNN\t_\t3" in (tmp_path / "out.conllu").read_text()
    for option in (("--like", like), ("--jobs", 2)):
        assert "by --by" in run("convert", like, "-o", tmp_path / "b.mrg", *option, code=2).stderr
    refused = run("convert", SAMPLE / "train.mrg", "-o", tmp_path / "b.mrg", *by, code=1).stderr
    assert "Expected .conllu files for --by" in refused
    refused = run("convert", pcfg_model, "-o", tmp_path / "b.mrg", *by, code=1).stderr
    assert "Expected files that end in .conllu or .conllu.gz" in refused


def test_cli_convert_skips_sentences_that_cannot_get_a_tree(pcfg_model, tmp_path, new_file):
    """Heads that are no numbers, and too many words; a word with a blank is legal in Universal Dependencies."""

    def row(i: int, word: str, head: object) -> str:
        return f"{i}\t{word}\t_\tNUM\tCD\t_\t{head}\tdep\t_\t_"

    long = [row(i, "a", i - 1) for i in range(1, 502)]
    bad = new_file("bad.conllu", "\n".join([row(1, "1 000", 0), "", row(1, "a", "1" * 5_000), "", *long, ""]))
    convert = ("convert", bad, "-o", tmp_path / "out.mrg", "--by", pcfg_model)
    assert "bad.conllu:3: Expected the number of a head" in run(*convert, code=1).stderr
    assert "2 broken trees were skipped" in run(*convert, "--skip-bad").stderr
    assert "(CD 1_000)" in (tmp_path / "out.mrg").read_text()
    bad.write_text("\n".join([*long, ""]))
    assert "1 broken tree was skipped" in run(*convert, "--skip-bad", "--force", code=1).stderr


@pytest.mark.parametrize("output", ["out.mrg", "out.jsonl", "out.spacy", "out.tex"])
def test_cli_convert_names_the_tree_that_has_half_a_character(tmp_path, new_file, output):
    bad = new_file("bad.jsonl", '{"tree": "(NP (NN \\ud83c\\udf27))"}\n{"tree": "(NP (NN \\ud800))"}\n')
    refused = run("convert", bad, "-o", tmp_path / output, code=1).stderr
    assert "bad.jsonl:2: Expected characters, but got half of one: '\\ud800'" in refused
    assert "1 broken tree was skipped" in run("convert", bad, "-o", tmp_path / output, "--skip-bad").stderr
