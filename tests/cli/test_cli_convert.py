"""`convert --by`: trees of sentences with dependencies."""

from commands import SAMPLE, run


def test_cli_convert_makes_trees_of_dependencies_by_a_model(tmp_path):
    spoken = tmp_path / "a.conllu"
    rows = [("The", "DET", "DT", 2, "det"), ("ferry", "NOUN", "NN", 3, "nsubj"), ("left", "VERB", "VBD", 0, "root")]
    lines = [
        f"{i}\t{word}\t_\t{part}\t{tag}\t_\t{head}\t{name}\t_\t_"
        for i, (word, part, tag, head, name) in enumerate(rows, start=1)
    ]
    spoken.write_text("\n".join([*lines, ""]))
    run("learn", "lpcfg", SAMPLE / "train.mrg", "--method", "pcfg", "--output", tmp_path / "model")
    result = run("convert", spoken, tmp_path / "out.mrg", "--by", tmp_path / "model")
    assert (tmp_path / "out.mrg").read_text() == "(ROOT (S (NP (DT The) (NN ferry)) (VP (VBD left))))\n"
    assert "1 trees; left out 0 with local trees" in result.stderr
    refused = run("convert", SAMPLE / "train.mrg", tmp_path / "b.mrg", "--by", tmp_path / "model", code=1)
    assert "Expected .conllu files for --by" in refused.stderr
