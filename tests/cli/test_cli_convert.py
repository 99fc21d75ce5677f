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


def test_cli_convert_reads_folders_of_dependencies_and_writes_any_format(tmp_path):
    (tmp_path / "corpus").mkdir()
    line = "1\tRain\t_\tNOUN\tNN\t_\t0\troot\t_\t_\n"
    (tmp_path / "corpus" / "a.conllu").write_text(line)
    run("learn", "lpcfg", SAMPLE / "train.mrg", "--method", "pcfg", "--output", tmp_path / "model")
    run("convert", tmp_path / "corpus", tmp_path / "out.conllu", "--by", tmp_path / "model")
    assert "Rain\t_\t_\tNN\t_\t0" in (tmp_path / "out.conllu").read_text()
    refused = run("convert", tmp_path / "model", tmp_path / "b.mrg", "--by", tmp_path / "model", code=1)
    assert "Expected files that end in .conllu or .conllu.gz" in refused.stderr
